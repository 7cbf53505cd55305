"""Hedge, with dynamic thresholding: Brown, Kroer & Sandholm (2017), sections 2, 3 and 5.

    R^t(a) = R^{t-1}(a) + v(I, a) - v(I)
    sigma^{t+1}(a) = exp(eta R^t(a)) / sum over b of exp(eta R^t(b))                                                (8)
    sigma^{t+1}(a) = 0 if it is below d sqrt(ln |A|) / (sqrt(2) |A|^2 sqrt(t + 1)); then all are divided by their sum

    eta = sqrt(8 ln |A|) / (Delta(I) sqrt(t))                                       THEORY
    eta = sqrt(ln |A|) / (3 sqrt(VAR(I)) sqrt(t))                                   VARIANCE
    eta = sqrt(2 ln |A| / T) / Delta(I), in a run of T iterations                   KNOWN

VAR(I): the variance of the values v(I) of t iterations. Delta(I): the range of payoffs below I. The most likely action
is never cut. With d = 0 there is no threshold.

VARIANCE limits 3 sqrt(VAR(I)) to the interval from ``LEAST_RANGE`` times D to D, which preserves the guarantee of
convergence (the paper's footnote 1, which names no bounds). While nothing has varied it is D. D is not Delta(I) but the
range of the whole game, 2 max |u|, which needs no history tree. Replacing it by Delta(I) would change NashConv by up to
a sixth, in either direction.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from treeplex.arrays import Floats
from treeplex.kernels.jit import inlined, kernel
from treeplex.updates.exponential import exp_below_zero
from treeplex.updates.rule import Rule

VARIANCE: Final = 0  # step-size rules
THEORY: Final = 1
MATCHING: Final = 2  # regret matching instead of Hedge
KNOWN: Final = 3
LEAST_RANGE: Final = 1e-6  # lower bound of 3 sqrt(VAR(I)), relative to ``payoff_range``


@kernel
def step_size(rule: int, log_actions: float, payoff_range: float, squares: float, t: float) -> float:
    """Return eta after t iterations, with ``log_actions`` = ln |A|, ``payoff_range`` = D, ``squares`` = t VAR(I).

    THEORY, with D = Delta(I): sqrt(8 ln |A|) / (D sqrt(t)). VARIANCE, with D the range of the whole game:
    sqrt(ln |A|) / (3 sqrt(VAR(I)) sqrt(t)), where 3 sqrt(VAR(I)) is limited to [``LEAST_RANGE`` D, D], and is D while
    nothing has varied.
    """
    if rule == VARIANCE:
        width = payoff_range
        if squares > 0.0:
            width = min(max(3.0 * math.sqrt(squares / t), LEAST_RANGE * payoff_range), payoff_range)
        return math.sqrt(log_actions / t) / width
    return math.sqrt(8.0 * log_actions / t) / payoff_range


class HedgeForm(NamedTuple):
    """Parameters of the rule, for engines with their own loop for Hedge."""

    rate: int  # VARIANCE or THEORY
    d: float


class Constants(NamedTuple):
    """Constants of the rule: D, d, and T."""

    d: float
    rounds: int = 0

    def __call__(self, payoff_range: float) -> tuple[float, ...]:
        """Return D (1 if nothing is paid), d and T."""
        return payoff_range or 1.0, self.d, float(self.rounds)


def hedge(rate: int = VARIANCE, d: float = 0.0, rounds: int = 0) -> Rule:
    """Hedge with one of its step sizes; ``d`` above zero adds dynamic thresholding.

    Rows of memory with VARIANCE: R, the mean of v(I), and t VAR(I). With THEORY and KNOWN: R and Delta(I). All but R
    are the first numbers of their rows. ``rounds``: T of KNOWN.
    """
    if rate == KNOWN:
        return Rule("hedge", known, 2, Constants(d, rounds), checked=False, ranged=True)
    if rate == THEORY:
        return Rule("hedge", theory, 2, Constants(d), checked=False, ranged=True, form=HedgeForm(rate, d))
    return Rule("hedge", variance, 3, Constants(d), checked=False, form=HedgeForm(rate, d))


def variance(t: float, values: Floats, strategy: Floats, memory: Floats, constants: Floats) -> None:
    """Update an infoset by the equations above, with VARIANCE."""
    expected = value_of(values, strategy)
    deviation = expected - memory[1, 0]
    memory[1, 0] += deviation / t
    memory[2, 0] += deviation * (expected - memory[1, 0])
    eta = step_size(VARIANCE, math.log(len(values)), constants[0], memory[2, 0], t)
    weigh(values, strategy, memory[0], expected, eta, threshold(len(values), constants[1], t))


def theory(t: float, values: Floats, strategy: Floats, memory: Floats, constants: Floats) -> None:
    """Update an infoset by the equations above, with THEORY."""
    expected = value_of(values, strategy)
    eta = step_size(THEORY, math.log(len(values)), memory[1, 0], 0.0, t)
    weigh(values, strategy, memory[0], expected, eta, threshold(len(values), constants[1], t))


def known(t: float, values: Floats, strategy: Floats, memory: Floats, constants: Floats) -> None:
    """Update an infoset by the equations above, with KNOWN."""
    expected = value_of(values, strategy)
    eta = math.sqrt(2.0 * math.log(len(values)) / constants[2]) / memory[1, 0]
    weigh(values, strategy, memory[0], expected, eta, threshold(len(values), constants[1], t))


@inlined
def value_of(values: Floats, strategy: Floats) -> float:
    """Return v(I), the value of the strategy played."""
    expected = 0.0
    for a in range(len(values)):
        expected += strategy[a] * values[a]
    return expected


@inlined
def threshold(actions: int, d: float, t: float) -> float:
    """Return the threshold after iteration t: ``thresholds.hedge_threshold`` over sqrt(t + 1)."""
    limit = d * math.sqrt(math.log(actions)) / (math.sqrt(2.0) * float(actions * actions))
    return limit * (1.0 / math.sqrt(t + 1.0))


@inlined
def weigh(values: Floats, strategy: Floats, regret: Floats, expected: float, eta: float, least: float) -> None:
    """Compute the regrets after an iteration and the next strategy, whose probabilities below ``least`` are cut."""
    actions, best, total, remaining = len(values), -np.inf, 0.0, 0.0
    for a in range(actions):
        regret[a] += values[a] - expected
        best = max(best, regret[a])
    for a in range(actions):
        strategy[a] = exp_below_zero((regret[a] - best) * eta)
        total += strategy[a]
    for a in range(actions):
        strategy[a] = cut_below(strategy[a], least * total)
        remaining += strategy[a]
    for a in range(actions):
        strategy[a] /= remaining


@inlined
def cut_below(weight: float, least: float) -> float:
    """Return a softmax weight, or 0 if it is below ``least``. The best action has weight exp(0) = 1 and stays."""
    return 0.0 if weight < least and weight < 1.0 else weight
