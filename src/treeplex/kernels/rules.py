"""Small integers by which kernels choose between rules, and the arrays they keep for a player."""

from __future__ import annotations

from typing import Final, NamedTuple

from treeplex.arrays import Floats

REGRET_MATCHING: Final = 0
REGRET_MATCHING_PLUS: Final = 1

ALTERNATING: Final = 0  # player 1 answers player 0's new strategy
SIMULTANEOUS: Final = 1  # both answer the other's old strategy


class Learner(NamedTuple):
    """What CFR keeps for one player between iterations; all arrays [S], modified in place."""

    regret: Floats
    average: Floats  # weighted sum of sequence-form strategies played
    behaviour: Floats  # the current strategy
    weights: Floats  # the current strategy in sequence form
