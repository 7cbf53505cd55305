"""What kernels are told and what they keep: small integers and NamedTuples of arrays."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats

ALTERNATING: Final = 0  # player 1 answers player 0's new strategy
SIMULTANEOUS: Final = 1  # both answer the other's old strategy

INNER: Final = 0  # an infoset that concerns one thread alone
HANDED: Final = 1  # one whose worth goes up to the seam
TOP: Final = 2  # one of the seam

LARGEST_16: Final = 32767.0  # what the largest regret of an infoset is stored as in 16 bits


class Learner(NamedTuple):
    """What CFR keeps for one player between iterations; all arrays [S], float64 or float32, modified in place."""

    regret: npt.NDArray[Any]
    average: npt.NDArray[Any]  # weighted sum of sequence-form strategies played
    behaviour: npt.NDArray[Any]  # the current strategy
    weights: npt.NDArray[Any]  # the current strategy in sequence form


class CompactLearner(NamedTuple):
    """As ``Learner``, with regrets in 16 bits: infoset i has regrets ``scale[i] * regret[first[i]:first[i + 1]]``."""

    regret: npt.NDArray[np.int16]  # [S]
    scale: npt.NDArray[np.float32]  # [I]
    average: Floats  # [S]
    behaviour: Floats  # [S]
    weights: Floats  # [S]


class Steps(NamedTuple):
    """What differs between iterations, one number each."""

    weight: Floats  # [T] of this iteration's strategies in the average
    positive: Floats  # [T] what positive regret is multiplied by afterwards
    negative: Floats  # [T] what negative regret is multiplied by afterwards
