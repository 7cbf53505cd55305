"""One player's decision tree as two integer arrays, and its labels."""

from __future__ import annotations

from collections.abc import Generator
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints
from treeplex.arrow import Texts


class Treeplex(NamedTuple):
    """Infosets in topological order. Each owns a range of sequences and has a parent sequence.

    Sequence 0 is the empty one. Infoset ``i`` owns sequences ``first[i] .. first[i + 1] - 1``, one per action, and is
    reached after sequence ``parent[i] < first[i]``.
    """

    first: Ints  # [I + 1], first[0] = 1, first[I] = S
    parent: Ints  # [I]

    @property
    def infosets(self) -> int:
        """Number of infosets, ``I``."""
        return len(self.parent)

    @property
    def sequences(self) -> int:
        """Number of sequences, ``S``, including the empty one."""
        return int(self.first[-1])

    @property
    def actions(self) -> Ints:
        """[I] number of actions at each infoset."""
        return np.diff(self.first)

    def levels(self) -> Generator[npt.NDArray[np.int64]]:
        """Yield the infosets by the number of own decisions above them.

        Infosets of a level depend only on those of the levels before, so a level can be computed at once.
        """
        order = np.argsort(self.parent, kind="stable")
        below = np.append(0, np.cumsum(np.bincount(self.parent, minlength=self.sequences)))
        level = order[: below[1]]
        while len(level):
            yield level
            own = ranges(self.first[level], self.first[level + 1])
            level = order[ranges(below[own], below[own + 1])]

    def plan(self, strategy: Floats) -> Floats:
        """Return the realization plan of a strategy, level by level: no kernel has to be compiled for it."""
        plan = strategy.copy()
        for level in self.levels():
            own = ranges(self.first[level], self.first[level + 1])
            plan[own] *= np.repeat(plan[self.parent[level]], self.actions[level])
        return plan


def ranges(begin: npt.NDArray[np.integer], end: npt.NDArray[np.integer]) -> npt.NDArray[np.int64]:
    """Join the ranges of whole numbers from each ``begin`` to its ``end``."""
    counts = (end - begin).astype(np.int64)
    offsets = np.repeat(begin - np.cumsum(counts) + counts, counts)
    return offsets + np.arange(len(offsets))


class Labels(NamedTuple):
    """One player's labels of infosets, and the index of every sequence's action in the vocabulary."""

    infosets: Texts  # [I]
    actions: Ints  # [S], -1 for the empty sequence
