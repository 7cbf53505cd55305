"""The recovery game of a new size (Brown & Sandholm 2015, section 3) on boards and rows of hands.

Player i has a new action at a decision, the head. How would the opponent have played behind it, had it always existed?
In the recovery game chance deals the heads with the opponent's average reach (5). Player i takes the average
counterfactual value of the head, or enters the subgame S behind the new action. Both learn S by CFR+.

The game has a betting tree with one path to the head. The opponent's decisions on it play the average strategy and
leave the tree otherwise. Player i's decisions continue to the head, where i enters S or leaves. The payoff of leaving
is added here, in NumPy, because no terminal pays a different amount to every hand. Kernels do all the rest.
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
    path: list[BettingNode]  # decisions and chance nodes from the root to the head, both included
    action: int  # index of the new action


class Recovered(NamedTuple):
    """Result of a recovery game: tables behind a new action, and its value."""

    game: HoldemGame  # the recovery game; nodes of the subgame are those of the new game
    learners: tuple[HandLearner, HandLearner]
    value: Floats  # [N] the new action's average counterfactual value to every hand at the head
    weight: float  # weight of all iterations in the averages


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
    """Play the recovery game. ``averages``: the opponent's in ``head.game``; ``alternative`` [N]: value of staying."""
    root, gate = _tree(head)
    game, player = with_tree(head.game, root), gate.player
    learners = (_fresh(game, 0, storage), _fresh(game, 1, storage))
    frozen = _lock_path(head, game, root, averages, learners[1 - player], storage)
    depth, decision = by_node(game)[id(gate)]
    where = hand_rows(game, player)[depth, decision.texture].actions(decision.slot, 2)
    numbers = learners[player].regret
    playing = Playing(learners, Sources(learners[0].regret, learners[1].regret), frozen)
    runner, rule = engine(game, storage, threads), PassRule(0.0, prune=True)
    ones = np.ones(iterations + 1)
    schedules = Schedules(ones, 0.0 * ones, np.arange(iterations + 1.0))
    regret = np.zeros((2, len(alternative)))  # regrets of leaving and of entering
    value, unit = np.zeros(len(alternative)), 1.0
    for t in range(1, iterations + 1):
        entering = normalise(regret)[1]
        numbers[where] = unit * np.stack([1.0 - entering, entering])
        before = numbers[where].astype(np.float64)
        runner.run(playing, rule, [(1 - player, UPDATE, t), (player, UPDATE, t)], schedules=schedules)
        learnt = numbers[where].astype(np.float64) - before
        entered_value = learnt[1] - learnt[0]  # leaving pays nothing in the tree
        expected = alternative + entering * (entered_value - alternative)
        regret = np.maximum(regret + np.stack([alternative, entered_value]) - expected, 0.0)
        value += t * entered_value
        unit = float(np.abs(entered_value).max(initial=0.0)) or 1.0  # differences then lose no digits
    weight = float(schedules.weight.sum())
    return Recovered(game, learners, value / weight, weight)


def _tree(head: Head) -> tuple[BettingNode, BettingNode]:
    """Return the betting tree of the recovery game, and its gate."""
    last = head.path[-1]
    out = BettingNode(NOTHING, last.street, 0)
    gate = replace(last, actions=[LEAVE, last.actions[head.action]], children=[out, last.children[head.action]])
    below = gate
    for node, after in zip(reversed(head.path[:-1]), reversed(head.path[1:]), strict=True):
        at = [id(child) for child in node.children].index(id(after))
        if node.kind != DECISION:
            below = replace(node, actions=node.actions[at : at + 1], children=[below])
            continue
        next_action = node.actions[at]
        away = [] if node.player == last.player else [LEAVE]
        children = [below, *(BettingNode(NOTHING, node.street, 0) for _ in away)]
        below = replace(node, actions=[next_action, *away], children=children)
    return below, gate


def _fresh(game: HoldemGame, player: int, storage: str) -> HandLearner:
    regret, average = (aligned(game.elements(player), storage) for _ in range(2))
    return no_learner(storage)._replace(regret=regret, average=average, last=np.zeros(game.decisions(player), np.int32))


def _lock_path(
    head: Head, game: HoldemGame, root: BettingNode, averages: Floats, learner: HandLearner, storage: str
) -> Locked:
    """Make the opponent play its average strategy on the path to the head: continue, or leave."""
    opponent = 1 - head.path[-1].player
    where = no_locks(game, storage).where
    known, targets = by_node(head.game), by_node(game)
    old, new = hand_rows(head.game, opponent), hand_rows(game, opponent)
    node = root
    for real, after in zip(head.path, head.path[1:], strict=False):
        if real.kind == DECISION and real.player == opponent:
            depth, source = known[id(real)]
            _, target = targets[id(node)]
            rows = old[depth, source.texture].actions(source.slot, len(real.actions))
            next_action = [id(child) for child in real.children].index(id(after))
            probability = normalise(averages[rows].astype(np.float64))[next_action]
            here = new[depth, target.texture]
            learner.regret[here.actions(target.slot, 2)] = np.stack([probability, 1.0 - probability])
            where[opponent][here.decision + target.number] = ALL_LOCKED
        node = node.children[0]
    none: Any = np.zeros(0, storage)
    return Locked(where, Sources(none, none))
