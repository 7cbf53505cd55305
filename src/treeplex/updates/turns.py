"""The order in which the two players update."""

from __future__ import annotations

from typing import Final

ALTERNATING: Final = 0  # player 1 answers player 0's new strategy
SIMULTANEOUS: Final = 1  # both answer the other's old strategy
