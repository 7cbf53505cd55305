"""One player's strategy in a policy, built from rows of a table that are gathered, checked and normalised."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pyarrow as pa

from treeplex import arrow
from treeplex.arrays import Floats, Ints, frozen
from treeplex.arrow import Indices, Texts
from treeplex.errors import quoted

TOLERANCE = 1e-6  # allowed error in the sum of an infoset's probabilities
EXACT = 1e-12  # up to this error they are not normalised

TYPES: arrow.Types = {"player": pa.int8(), "infoset": pa.string(), "action": pa.string(), "probability": pa.float64()}

Row = tuple[int, str, str, float]
"""Player, infoset, action, probability."""


@dataclass(frozen=True, eq=False)
class Strategy:
    """One player's strategy: infoset ``i`` plays ``actions[k]`` with ``probability[k]``, first[i] <= k < first[i+1].

    Entry 0 stands for the empty sequence, as in a treeplex.
    """

    infosets: Texts  # [I]
    first: Ints  # [I + 1]
    actions: Texts  # [S], "" for the empty sequence
    probability: Floats  # [S]

    @cached_property
    def index(self) -> dict[str, int]:
        """Index of every infoset by its label."""
        return {label: i for i, label in enumerate(arrow.unpacked(self.infosets))}

    def at(self, infoset: int) -> dict[str, float]:
        """Return the probabilities at an infoset by action."""
        own = slice(int(self.first[infoset]), int(self.first[infoset + 1]))
        return dict(zip(arrow.unpacked(self.actions[own]), self.probability[own].tolist(), strict=True))

    def same_as(self, other: Strategy) -> bool:
        """Whether both strategies have equal probabilities at the same infosets, in any order."""
        if self.infosets.equals(other.infosets) and self.actions.equals(other.actions):
            return bool(np.array_equal(self.probability, other.probability))
        if len(self.infosets) != len(other.infosets) or set(self.index) != set(other.index):
            return False
        return all(self.at(i) == other.at(other.index[label]) for label, i in self.index.items())


def gathered(table: arrow.Table) -> tuple[Strategy, Strategy]:
    """Build both players' strategies from rows in any order; raise ValueError if the rows are not strategies."""
    player = arrow.numbers(table, "player")
    if not np.isin(player, (0, 1)).all():
        raise ValueError("players must be 0 and 1")
    infoset, action = arrow.text_column(table, "infoset"), arrow.text_column(table, "action")
    probability = arrow.numbers(table, "probability")
    first, second = (
        _strategy(arrow.take(infoset, own), arrow.take(action, own), probability[own], p)
        for p, own in enumerate((np.flatnonzero(player == 0), np.flatnonzero(player == 1)))
    )
    return first, second


def _strategy(infoset: Texts, action: Texts, weights: Floats, player: int) -> Strategy:
    """Gather the rows of one player by infoset, in the order of first appearance."""
    labels, codes = arrow.grouped(infoset)
    order = np.argsort(codes, kind="stable")
    first = np.concatenate(([1], 1 + np.cumsum(np.bincount(codes, minlength=len(labels))))).astype(np.int32)
    actions = arrow.stacked([arrow.texts([""]), arrow.take(action, order)])
    probability = np.concatenate(([1.0], weights[order]))
    _distributions(labels, first, probability, player)
    pairs, _ = arrow.grouped(pairs_of(np.arange(len(labels)), first, actions))
    if len(pairs) != len(actions) - 1:
        raise ValueError(f"an infoset of player {player} lists an action twice")
    return Strategy(labels, frozen(first), actions, frozen(probability))


def _distributions(labels: Texts, first: Ints, probability: Floats, player: int) -> None:
    """Raise ValueError unless these are probability distributions, and normalise them, in place, if rounded."""
    if len(labels) == 0:
        return
    totals = np.add.reduceat(probability, first[:-1])
    lowest = np.minimum.reduceat(probability, first[:-1])
    wrong = np.flatnonzero(~(np.abs(totals - 1.0) <= TOLERANCE) | ~(lowest >= 0.0))
    if len(wrong):
        at = int(wrong[0])
        raise ValueError(
            f"at infoset {quoted(str(labels[at]))} of player {player} the probabilities are not a distribution: lowest"
            f" {lowest[at]:g}, sum {totals[at]:g}"
        )
    rough = np.abs(totals - 1.0) > EXACT
    probability[1:] /= np.repeat(np.where(rough, totals, 1.0), np.diff(first))


def pairs_of(infosets: Indices, first: Ints, actions: Texts) -> Texts:
    """[S - 1] infoset number and action of every sequence, as one string."""
    return arrow.joined(arrow.numerals(np.repeat(infosets, np.diff(first))), actions[1:], " ")
