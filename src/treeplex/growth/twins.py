"""Actions of one infoset behind which the same can be played, for other payoffs: regret transfer (section 3.1)."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, NamedTuple

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.history import Index
from treeplex.compile.part import Masks, WholeGame
from treeplex.games.protocol import CHANCE, TERMINAL

EQUAL: Final = 1e-10
"""Largest part of a payoff vector that others need not explain."""


class Sequence(NamedTuple):
    """An action of an infoset, as a player and one of its sequences."""

    player: int
    number: int


@dataclass
class Twin:
    """How what may be played behind ``source`` is played behind ``action`` (the paper's S1 and S2).

    ``like`` maps sequences behind the action to those behind the source, and ``paid`` the source's terminals to the
    chance and payoff of the corresponding ones. ``extra`` are actions of the start that only ``action`` leads to.
    """

    source: Sequence
    action: Sequence
    like: dict[Sequence, Sequence] = field(default_factory=dict[Sequence, Sequence])
    paid: dict[int, float] = field(default_factory=dict[int, float])
    extra: set[Sequence] = field(default_factory=set[Sequence])


class SubgameMatcher:
    """Matches subgames by the labels of their actions, history by history."""

    def __init__(self, whole: WholeGame, masks: Masks) -> None:
        self.whole, self.masks = whole, masks
        tree = whole.tree
        self.children: dict[int, list[int]] = {}
        for node, above in enumerate(tree.parent.tolist()):
            self.children.setdefault(above, []).append(node)

    def twin(self, heads: Index, source: Sequence, action: Sequence) -> Twin | None:
        """Return how the subgame of ``source`` is repeated behind ``action``; None if that has fewer actions."""
        twin = Twin(source, action, {action: source})
        pairs: list[tuple[int, int]] = []
        for head in heads.tolist():
            below = {self._sequence(child, source.player): child for child in self.children[head]}
            pairs.append((below[source.number], below[action.number]))
        while pairs:
            below = self._matched(twin, *pairs.pop())
            if below is None:
                return None
            pairs += below
        return twin

    def _matched(self, twin: Twin, old: int, new: int) -> list[tuple[int, int]] | None:
        """Match two histories and return the pairs of their children; None if they do not match."""
        tree, whole = self.whole.tree, self.whole
        mover = int(tree.mover[old])
        ours, theirs = self._labels(old), self._labels(new)
        if tree.mover[new] != mover or (mover == CHANCE and ours.keys() != theirs.keys()):
            return None
        if mover == TERMINAL:
            twin.paid[old] = float(whole.chance[new] * tree.payoff[new])
        if mover < 0:
            return [(child, theirs[label]) for label, child in ours.items()]
        return self._chosen(twin, mover, ours, theirs)

    def _chosen(
        self, twin: Twin, mover: int, ours: dict[int, int], theirs: dict[int, int]
    ) -> list[tuple[int, int]] | None:
        """Match the actions of two decisions."""
        present = {label: child for label, child in ours.items() if self._present(child, mover)}
        if not present.keys() <= theirs.keys():
            return None
        for label, child in theirs.items():
            sequence = Sequence(mover, self._sequence(child, mover))
            if label in present:
                like = Sequence(mover, self._sequence(present[label], mover))
                if twin.like.setdefault(sequence, like) != like or sequence in twin.extra:
                    return None
            elif self._present(child, mover):
                if sequence in twin.like:
                    return None
                twin.extra.add(sequence)
        return [(child, theirs[label]) for label, child in present.items()]

    def _labels(self, node: int) -> dict[int, int]:
        return {int(self.whole.tree.action[child]): child for child in self.children.get(node, [])}

    def _sequence(self, node: int, player: int) -> int:
        return int(self.whole.sequence[player][node])

    def _present(self, node: int, player: int) -> bool:
        return bool(self.masks[player][self._sequence(node, player)])


def thetas(vectors: Floats) -> tuple[list[int], Floats]:
    """Return rows that span all rows of ``vectors``, and [rows, chosen] the coefficients of every row.

    Payoffs that are affine functions ``alpha theta + beta`` of a vector theta of K numbers span K + 1 dimensions, so
    K + 1 rows explain all others. The first row is always one of them, unless it is zero.
    """
    chosen: list[int] = []
    basis = np.zeros((0, vectors.shape[1]))
    for row, vector in enumerate(vectors):
        rest = vector - basis.T @ (basis @ vector)
        rest -= basis.T @ (basis @ rest)  # once more, since rounding leaves a part
        size = float(np.linalg.norm(rest))
        if size > EQUAL * max(float(np.linalg.norm(vector)), 1e-300):
            chosen.append(row)
            basis = np.vstack([basis, rest / size])
    if not chosen:
        return [], np.zeros((len(vectors), 0))
    coefficients: Floats = np.asarray(np.linalg.lstsq(vectors[chosen].T, vectors.T, rcond=None)[0], dtype=np.float64)
    return chosen, coefficients.T
