"""The recovery game of a new size (Brown & Sandholm 2015, section 3) on boards and rows of hands.

Player i has a new action at a decision, the head. What would the opponent have done behind it, had it always been
there? In the recovery game chance deals the heads with the opponent's average reach (5); i takes the average
counterfactual value of the head, or enters the subgame S behind the new action. Both learn S by CFR+.

It is played on a betting tree with one way to the head: the opponent's decisions on it play the average strategy and
leave the tree otherwise, i's lead on, and at the head i enters S or leaves. What leaving pays is added here, in NumPy,
because no terminal pays a different amount to every hand; kernels do all the rest.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, aligned
from treeplex.engines.boards.arrays import (
    ALL_LOCKED,
    UPDATE,
    HandLearner,
    Locked,
    PassRule,
    Playing,
    Schedules,
    Sources,
    no_learner,
)
from treeplex.engines.boards.engine import engine
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.locks import no_locks
from treeplex.engines.boards.rows import hand_rows, normalise
from treeplex.engines.boards.streets import Decision
from treeplex.engines.boards.trees import by_node, with_tree
from treeplex.games.holdem.betting import DECISION, NOTHING, Action, BettingNode

Array = npt.NDArray[Any]

LEAVE: Final = Action("leave")


class Head(NamedTuple):
    """A decision of a game at which an action is new."""

    game: HoldemGame
    way: list[BettingNode]  # decisions and chance nodes from the root to the head, both included
    action: int  # the new one


class Recovered(NamedTuple):
    """What was learnt behind a new action."""

    game: HoldemGame  # the recovery game; nodes of the subgame are those of the new game
    learners: tuple[HandLearner, HandLearner]
    value: Floats  # [N] the new action's average counterfactual value to every hand at the head
    weight: float  # of all iterations in the averages


def value_of(game: HoldemGame, sources: Sources, values: Array, depth: int, decision: Decision) -> Floats:
    """[N] the counterfactual value of a decision to its player's hands, from ``pass_over``."""
    player = decision.player
    rows = hand_rows(game, player)[depth, decision.texture]
    where = rows.actions(decision.slot, len(decision.node.actions))
    strategy = normalise(sources[player][where].astype(np.float64))
    return (strategy * values[where].astype(np.float64)).sum(axis=0)


def recover(
    head: Head, averages: Floats, alternative: Floats, iterations: int, storage: str, threads: int
) -> Recovered:
    """Play the recovery game. ``averages``: the opponent's in ``head.game``; ``alternative`` [N]: what staying pays."""
    root, gate = _tree(head)
    game, player = with_tree(head.game, root), gate.player
    learners = (_fresh(game, 0, storage), _fresh(game, 1, storage))
    frozen = _lock_way(head, game, root, averages, learners[1 - player], storage)
    depth, decision = by_node(game)[id(gate)]
    where = hand_rows(game, player)[depth, decision.texture].actions(decision.slot, 2)
    numbers = learners[player].regret
    playing = Playing(learners, Sources(learners[0].regret, learners[1].regret), frozen)
    runner, rule = engine(game, storage, threads), PassRule(0.0, prune=True)
    ones = np.ones(iterations + 1)
    schedules = Schedules(ones, 0.0 * ones, np.arange(iterations + 1.0))
    regret = np.zeros((2, len(alternative)))  # of leaving and of entering
    value, unit = np.zeros(len(alternative)), 1.0
    for t in range(1, iterations + 1):
        entering = normalise(regret)[1]
        numbers[where] = unit * np.stack([1.0 - entering, entering])
        before = numbers[where].astype(np.float64)
        runner.run(playing, rule, [(1 - player, UPDATE, t), (player, UPDATE, t)], schedules=schedules)
        learnt = numbers[where].astype(np.float64) - before
        worth = learnt[1] - learnt[0]  # leaving pays nothing in the tree
        expected = alternative + entering * (worth - alternative)
        regret = np.maximum(regret + np.stack([alternative, worth]) - expected, 0.0)
        value += t * worth
        unit = float(np.abs(worth).max(initial=0.0)) or 1.0  # so that differences lose no digits
    weight = float(schedules.weight.sum())
    return Recovered(game, learners, value / weight, weight)


def _tree(head: Head) -> tuple[BettingNode, BettingNode]:
    """The betting tree of the recovery game, and its gate."""
    last = head.way[-1]
    out = BettingNode(NOTHING, last.street, 0)
    gate = replace(last, actions=[LEAVE, last.actions[head.action]], children=[out, last.children[head.action]])
    below = gate
    for node, after in zip(reversed(head.way[:-1]), reversed(head.way[1:]), strict=True):
        at = [id(child) for child in node.children].index(id(after))
        if node.kind != DECISION:
            below = replace(node, actions=node.actions[at : at + 1], children=[below])
            continue
        taken = node.actions[at]
        away = [] if node.player == last.player else [LEAVE]
        children = [below, *(BettingNode(NOTHING, node.street, 0) for _ in away)]
        below = replace(node, actions=[taken, *away], children=children)
    return below, gate


def _fresh(game: HoldemGame, player: int, storage: str) -> HandLearner:
    regret, average = (aligned(game.elements(player), storage) for _ in range(2))
    return no_learner(storage)._replace(regret=regret, average=average, last=np.zeros(game.decisions(player), np.int32))


def _lock_way(
    head: Head, game: HoldemGame, root: BettingNode, averages: Floats, learner: HandLearner, storage: str
) -> Locked:
    """On the way to the head the opponent plays its average strategy: lead on, or leave."""
    opponent = 1 - head.way[-1].player
    where = no_locks(game, storage).where
    known, made = by_node(head.game), by_node(game)
    old, new = hand_rows(head.game, opponent), hand_rows(game, opponent)
    node = root
    for real, after in zip(head.way, head.way[1:], strict=False):
        if real.kind == DECISION and real.player == opponent:
            depth, source = known[id(real)]
            _, target = made[id(node)]
            rows = old[depth, source.texture].actions(source.slot, len(real.actions))
            taken = [id(child) for child in real.children].index(id(after))
            share = normalise(averages[rows].astype(np.float64))[taken]
            here = new[depth, target.texture]
            learner.regret[here.actions(target.slot, 2)] = np.stack([share, 1.0 - share])
            where[opponent][here.decision + target.number] = ALL_LOCKED
        node = node.children[0]
    none: Any = np.zeros(0, storage)
    return Locked(where, Sources(none, none))
