"""The recovery game of one missing action of any compiled game (Brown & Sandholm 2015, section 3)."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.algorithms.cfr import lcfr
from treeplex.arrays import Floats, pair
from treeplex.arrow import texts
from treeplex.compile.game import CompiledGame, Prebuilt
from treeplex.compile.history import HistoryTree, Index
from treeplex.compile.part import Behind, Masks, WholeGame
from treeplex.compile.payoffs import Payoffs
from treeplex.compile.treeplex import Labels, Treeplex
from treeplex.engines.sequence.engine import SequenceEngine

OPPONENT, MOVER = 0, 1
"""Players of a recovery game, whichever player the mover is in the whole game: the opponent learns first."""

STAY, ENTER = 1, 2
"""Sequences of the mover's first decision."""

SCHEME: Final = lcfr(order="faced").scheme


class Inside(NamedTuple):
    """Histories that a missing action would add, and the infosets that exist only behind it."""

    nodes: Index
    own: Index  # infosets of the mover
    other: Index  # infosets of the opponent
    actions: Index  # present sequences of ``own``
    answers: Index  # present sequences of ``other``

    @staticmethod
    def of(whole: WholeGame, masks: Masks, behind: Behind, player: int, action: int) -> Inside:
        """Return what ``action``, a sequence of ``player``, would add."""
        nodes, (tree, other) = behind.nodes(player, action), (whole.tree, 1 - player)
        own, theirs = (
            np.unique(tree.infoset[nodes[tree.mover[nodes] == mover]]).astype(np.intp) for mover in (player, other)
        )
        theirs = theirs[~behind.infosets[other][theirs]]  # infosets with present histories have their past
        return Inside(nodes, own, theirs, whole.within(player, own, masks), whole.within(other, theirs, masks))


class RecoverySums(NamedTuple):
    """Sums over the recovery game, in the weight of the past."""

    head: float  # regret of the new action
    regret: Floats  # [actions] regrets of the mover inside
    average: Floats  # [answers] summed realization plan of the opponent inside


def recover(
    whole: WholeGame, inside: Inside, player: int, action: int, staying: float, opponent: Floats, iterations: int
) -> RecoverySums:
    """Play the recovery game for some iterations and return its sums.

    ``opponent`` [S]: the opponent's realization plan, summed over the run; ``staying``: the mover's value of the head,
    summed alike. In every iteration the mover stays, for ``staying / iterations``, or enters. The opponent then plays
    what it has played where it has a past, and learns elsewhere. This is equation (5): chance deals the histories of
    the head with the opponent's summed reach.

    Differs from the paper in: linear CFR plays the game, where the paper plays CFR "or any other regret-minimization
    algorithm". Its sums weigh iteration k by 2 k / (iterations + 1), which leaves their total as it was. The new action
    need not lead to infosets that exist only behind it: infosets of the opponent that exist already keep their past.
    """
    game, base = _game(whole, inside, player, action, staying, opponent, iterations)
    engine = SequenceEngine(game, "float64", 1)
    tables = engine.iterate(engine.tables(SCHEME), SCHEME, iterations).host
    learners: Any = tables.learners
    learner, mover = learners
    regret: Floats = 2.0 * mover.regret  # linear CFR stores the sum of k r_k / (iterations + 1)
    plan = learner.average / learner.average[0]
    return RecoverySums(float(regret[ENTER] - regret[STAY]), regret[ENTER + 1 :], base * plan[1:])


def _game(
    whole: WholeGame, inside: Inside, player: int, action: int, staying: float, opponent: Floats, iterations: int
) -> tuple[CompiledGame, Floats]:
    """Return the recovery game, and [answers] the opponent's summed plan before its first decision inside."""
    other = 1 - player
    rows = np.concatenate(([action], inside.actions))
    entries = whole.matrix(player)[rows].tocoo()
    column = np.zeros(len(opponent), dtype=np.int64)
    column[inside.answers] = np.arange(1, 1 + len(inside.answers))
    parents = _parents(whole, other, inside.other, column)
    base, weight = np.zeros(len(inside.answers)), opponent.copy()
    for infoset, above in zip(inside.other.tolist(), parents.tolist(), strict=True):
        own = column[_span(whole, other, infoset, column)] - 1
        base[own] = base[above - 1] if above else opponent[whole.game.treeplexes[other].parent[infoset]]
    weight[inside.answers] = base
    paid = -entries.data * weight[entries.col] / iterations
    numbers = np.arange(ENTER, ENTER + len(rows))
    shape = 1 + len(inside.answers), 1 + ENTER + len(inside.actions)
    payoffs = Payoffs.gather(
        shape,
        np.append(column[entries.col], 0),
        np.append(numbers[entries.row], STAY),
        np.append(paid, -staying / iterations),
    )
    place = np.zeros(whole.game.treeplexes[player].sequences, dtype=np.int64)
    place[rows] = numbers
    gate = np.concatenate(([0], _parents(whole, player, inside.own, place)))
    treeplexes = (
        Treeplex(_firsts(whole, other, inside.other, column, 1), parents.astype(np.int32)),
        Treeplex(np.concatenate(([1], _firsts(whole, player, inside.own, place, 3))), gate.astype(np.int32)),
    )
    labels = pair(Labels(texts([""] * t.infosets), np.zeros(t.sequences, np.int32)) for t in treeplexes)
    largest = float(np.abs(payoffs.rows.data).max(initial=0.0))
    nodes = len(inside.nodes)
    game = CompiledGame("recovery", treeplexes, labels, (), nodes, nodes, largest, _no_tree, Prebuilt(payoffs))
    return game, base


def _span(whole: WholeGame, player: int, infoset: int, place: Index) -> Index:
    """Return the present sequences of an infoset inside."""
    first = whole.game.treeplexes[player].first
    own: Index = np.arange(int(first[infoset]), int(first[infoset + 1]))
    return own[place[own] > 0]


def _parents(whole: WholeGame, player: int, infosets: Index, place: Index) -> Index:
    """Return the new numbers of the parent sequences: those of the past are the empty one."""
    return place[whole.game.treeplexes[player].parent[infosets]]


def _firsts(whole: WholeGame, player: int, infosets: Index, place: Index, begin: int) -> npt.NDArray[np.int32]:
    """Return the first sequences of infosets, and the end, counted from ``begin``."""
    counts = [len(_span(whole, player, infoset, place)) for infoset in infosets.tolist()]
    return (begin + np.concatenate(([0], np.cumsum(counts)))).astype(np.int32)


def _no_tree() -> HistoryTree:
    raise NotImplementedError("A recovery game has no histories of its own.")
