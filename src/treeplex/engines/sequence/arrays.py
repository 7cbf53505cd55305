"""What kernels are told and what they keep: small integers and NamedTuples of arrays."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints

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


VARIANCE: Final = 0  # how Hedge chooses its rate
THEORY: Final = 1
MATCHING: Final = 2  # no Hedge but regret matching
LEAST_SPREAD: Final = 1e-6  # of the range of payoffs: what the spread of an infoset's values is taken to be at least

KROER_2015: Final = 0  # schemes of weights of the dilated entropy
KROER_2020: Final = 1
FARINA_2021: Final = 2

LONGEST_STEP: Final = 0.5  # of the excessive gap technique
SHORTEST_STEP: Final = 1e-12  # of the longest: taken untested, so that rounding cannot halve steps for ever
LAG: Final = 0.5  # weight of the lag in the bound of optimistic mirror descent
ROUNDING: Final = 1e-13  # what a smoothed value may be wrong by, relative to the numbers it is added up from
STEP_GROWTH: Final = 1.1  # how much longer the next step may be than the last


class HedgeLearner(NamedTuple):
    """What CFR with Hedge keeps for one player between iterations; all modified in place."""

    regret: Floats  # [S]
    average: Floats  # [S] weighted sum of sequence-form strategies played
    behaviour: Floats  # [S] the current strategy
    weights: Floats  # [S] the current strategy in sequence form
    mean: Floats  # [I] of v(I) over all iterations
    squares: Floats  # [I] sum of the squared distances of v(I) to its mean


class Odds(NamedTuple):
    """How walks with thresholds choose one player's strategies, and what they prune."""

    freedom: Floats  # [I] ln |A|
    span: Floats  # [I] Delta(I)
    limit: Floats  # [I] the threshold, to be divided by sqrt(t)
    kind: int  # VARIANCE, THEORY or MATCHING
    patience: float  # prune by regret where about this many iterations will be skipped; negative: never


class Gap(NamedTuple):
    """What the excessive gap technique keeps for one player; all arrays [S], modified in place."""

    plan: Floats  # the strategy that converges, in sequence form
    gradient: Floats  # what each sequence earns against the opponent's plan
    response: Floats  # the smoothed best response to it, in sequence form


class Entropy(NamedTuple):
    """The dilated entropy of one player's treeplex; see ``engines.sequence.reference.prox``."""

    weight: Floats  # [I] beta
    spread: Floats  # [I] ln |A|
    order: Ints  # [I] infosets by height: those with no own infoset below them first
    level: Ints  # [L + 1] where each height begins in ``order``


class Bench(NamedTuple):
    """Scratch of smoothed best responses."""

    below: Floats  # [S] zero between calls
    likely: Floats  # [S]
    best: Floats  # [I]
    total: Floats  # [I]


class GapScratch(NamedTuple):
    """Scratch of the excessive gap technique for one player; all arrays [S]."""

    bench: Bench
    against: Floats
    earned: Floats
    mixed: Floats
    answer: Floats
    next: Floats


class Pace(NamedTuple):
    """How far smoothing has come; modified in place."""

    smoothing: Floats  # [2] mu of each player
    value: Floats  # [2] of the smoothed best responses to the plans; their sum is the excessive gap, not positive
    step: Floats  # [1] tau of the next step


class Mirror(NamedTuple):
    """What mirror prox and optimistic mirror descent keep for one player; all arrays [S], modified in place."""

    dual: Floats  # gradients met so far, each times its step
    response: Floats  # the smoothed best response to them, in sequence form
    expected: Floats  # what the sequences are expected to earn next
    average: Floats  # plans played, each times its step


class MirrorScratch(NamedTuple):
    """Scratch of the same for one player; all arrays [S]."""

    bench: Bench
    moved: Floats
    played: Floats
    earned: Floats
    next: Floats


class Rate(NamedTuple):
    """How fast they learn; modified in place."""

    step: Floats  # [1] of the next iteration
    growth: Floats  # [1] how much longer the one after that may be
    bound: Floats  # [1] the potential, or what stands for it; it never grows
