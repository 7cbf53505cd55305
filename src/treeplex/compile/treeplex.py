"""One player's decision tree as two integer arrays, and its labels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeplex.arrays import Ints
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


class Labels(NamedTuple):
    """One player's labels of infosets, and the index of every sequence's action in the vocabulary."""

    infosets: Texts  # [I]
    actions: Ints  # [S], -1 for the empty sequence
