"""Plans of an abstraction's player in the real game, and the value of the best response to them.

The readings of a bet (``games.holdem.translation``) are the player's secret. Its plan in the real game is therefore the
mixture over readings. Let r_m be the probability, by the player's own actions, of being at a real node and reading it
as the abstract node m. Hand by hand and board by board,

    plan(a) = sum over m of r_m sigma_m(abstract action that becomes a)

A best response is one to this plan. A responder who knew the readings could only do better.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.compile.memory import GIB, available
from treeplex.engines.boards.arrays import RECORD_BEST, Playing, Sources, no_learner, plain_rule
from treeplex.engines.boards.engine import engine
from treeplex.engines.boards.evaluate import pot_shares
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.locks import no_locks
from treeplex.engines.boards.rows import HandRows, hand_rows, normalise
from treeplex.engines.boards.streets import Decision
from treeplex.engines.boards.trees import by_node, with_tree
from treeplex.errors import GameError
from treeplex.games.holdem.betting import CHANCE, DECISION, BettingNode
from treeplex.games.holdem.classes import EVERY_BOARD
from treeplex.games.holdem.translation import Reading, Real


def as_it_is(root: BettingNode) -> Real:
    """Return the tree of an abstraction as a real game without other sizes: every node is read as itself."""
    tree = Real(root, [Reading(root, 0, -1, 1.0)], exact=True)
    waiting = [tree]
    while waiting:
        real = waiting.pop()
        for number, child in enumerate(real.node.children):
            real.children.append(Real(child, [Reading(child, 0, number, 1.0)], exact=True))
        waiting += real.children
    return tree


class RealPlan(NamedTuple):
    """A player's plan in a real game."""

    game: HoldemGame
    player: int
    numbers: Floats  # strategies after normalising


def plan_of(game: HoldemGame, sources: Sources, player: int, tree: Real) -> RealPlan:
    """Return the plan of ``player`` with the average strategies of ``sources`` in the abstraction ``game``."""
    real = with_tree(game, tree.node)
    need, free = 8 * sum(real.elements(who) for who in (0, 1)), available()
    if need > free:
        raise GameError(
            f"The game with all candidates takes {need / GIB:,.1f} GiB, but only {free / GIB:,.1f} GiB are free; choose"
            " fewer candidates, or one street."
        )
    known, decisions = by_node(game), by_node(real)
    rows, placed_rows = hand_rows(game, player), hand_rows(real, player)
    numbers = np.zeros(real.elements(player))
    source = sources[player]
    start = np.where(placed_rows[0, EVERY_BOARD].boards > 0.0, 1.0, 0.0)
    waiting: list[tuple[Real, list[Floats]]] = [(tree, [start])]
    while waiting:
        at, reach = waiting.pop()
        if at.node.kind == CHANCE:
            for child in at.children:
                if child.node.kind == DECISION:  # else no player acts any more
                    depth, decision = decisions[id(child.node)]
                    above = placed_rows[depth, decision.texture].above
                    waiting.append((child, [each[above] for each in reach]))
            continue
        if at.node.kind != DECISION:
            continue
        depth, decision = decisions[id(at.node)]
        strategies = [
            _strategy(known, rows, source, one.node) if at.node.player == player else None for one in at.readings
        ]
        for number, child in enumerate(at.children):
            below: list[Floats] = []
            for _, before, action, probability in child.readings:
                strategy, own = strategies[before], reach[before]
                if strategy is not None and action >= 0:
                    own = own * strategy[action]
                below.append(own * probability if probability != 1.0 else own)
            if at.node.player == player:
                numbers[placed_rows[depth, decision.texture].at(decision.slot + number)] = sum(below)
            if child.node.kind in (CHANCE, DECISION):
                waiting.append((child, below))
    return RealPlan(real, player, numbers)


def _strategy(
    known: dict[int, tuple[int, Decision]],
    rows: dict[tuple[int, int], HandRows],
    source: Floats,
    node: BettingNode | None,
) -> Floats | None:
    """[actions, N] the abstract strategy at a reading."""
    if node is None:
        return None
    depth, decision = known[id(node)]
    return normalise(source[rows[depth, decision.texture].actions(decision.slot, len(node.actions))].astype(np.float64))


class Response(NamedTuple):
    """Result of a pass for a player."""

    value: float  # average payoff from the pot
    values: npt.NDArray[Any]  # counterfactual values of all its actions, where its numbers are stored


def best_response(plan: RealPlan, storage: str = "float64", threads: int = 0) -> Response:
    """Return the responder's best response to a plan, in the real game."""
    numbers, none = plan.numbers.astype(storage), np.zeros(0, storage)
    sources = Sources(numbers, none) if plan.player == 0 else Sources(none, numbers)
    return pass_over(plan.game, sources, 1 - plan.player, RECORD_BEST, storage, threads)


def pass_over(game: HoldemGame, sources: Sources, player: int, mode: int, storage: str, threads: int) -> Response:
    """Return the value to ``player`` and its action values: ``RECORD_VALUE`` or ``RECORD_BEST`` against ``sources``."""
    values, stub = np.zeros(game.elements(player), storage), no_learner(storage)
    learner = stub._replace(regret=values)
    playing = Playing((stub, learner) if player else (learner, stub), sources, no_locks(game, storage))
    results = engine(game, storage, threads).run(playing, plain_rule(), [(player, mode, 0)], keep=True)
    return Response(pot_shares(game, [(player, mode)], results)[0], values)
