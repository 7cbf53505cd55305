"""What kernels are told and what they keep: small integers and NamedTuples of arrays."""

from __future__ import annotations

from typing import Final, NamedTuple

from treeplex.arrays import Floats

ALTERNATING: Final = 0  # player 1 answers player 0's new strategy
SIMULTANEOUS: Final = 1  # both answer the other's old strategy


class Learner(NamedTuple):
    """What CFR keeps for one player between iterations; all arrays [S], modified in place."""

    regret: Floats
    average: Floats  # weighted sum of sequence-form strategies played
    behaviour: Floats  # the current strategy
    weights: Floats  # the current strategy in sequence form


class Steps(NamedTuple):
    """What differs between iterations, one number each."""

    weight: Floats  # [T] of this iteration's strategies in the average
    positive: Floats  # [T] what positive regret is multiplied by afterwards
    negative: Floats  # [T] what negative regret is multiplied by afterwards
