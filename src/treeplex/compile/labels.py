"""Names of infosets and actions."""

from __future__ import annotations

from typing import NamedTuple

from treeplex.arrays import Ints
from treeplex.arrow import Texts


class Labels(NamedTuple):
    """One player's labels: of every infoset, and for every sequence the number of its action in the vocabulary."""

    infosets: Texts  # [I]
    actions: Ints  # [S], -1 for the empty sequence
