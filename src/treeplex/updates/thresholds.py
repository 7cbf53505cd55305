"""Dynamic thresholding: probabilities below a threshold become zero (Brown, Kroer & Sandholm 2017).

Around any rule, with sigma the strategy of the rule and sigma' the strategy that is played:

    sigma'^t(a) ~ sigma^t(a);  0 if that is below (C^2 - 1) / (2 C |A|^2 sqrt(t)), with C = 1 + d           Theorem 2

The most likely action is never cut. The rule learns as if it had played sigma, so its own bound on regret holds of
sigma. Iteration t cuts off less than (|A| - 1) times the threshold. With B(T) the bound of the rule, and Delta the
range of values, the regret of what is played is therefore at most

    B(T) + (C^2 - 1) (|A| - 1) / (C |A|^2) Delta sqrt(T)                                                   any rule

Differs from the paper in this: there regrets are those of sigma', as in ``rm-dt``. That has a bound for regret
matching and for rules that do not change if all values rise by the same number, such as Hedge. It would ruin a rule
that stores numbers in its strategy. With Hedge both are the same. Hedge has a threshold of its own: ``updates.hedge``.
"""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any, NamedTuple

import numba
import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.updates.rule import Rule, Update

Counts = npt.NDArray[np.integer] | int


def hedge_threshold(actions: Counts, d: float) -> Floats:
    """Return d sqrt(ln |A|) / (sqrt(2) |A|^2), to be divided by sqrt(t): Theorem 1 with C = 1 + d, and Figure 2."""
    return d * np.sqrt(np.log(actions)) / (np.sqrt(2.0) * np.square(actions, dtype=np.float64))


def matching_threshold(actions: Counts, d: float) -> Floats:
    """Return (C^2 - 1) / (2 C |A|^2) with C = 1 + d, to be divided by sqrt(t): Theorem 2."""
    c = 1.0 + d
    return (c * c - 1.0) / (2.0 * c * np.square(actions, dtype=np.float64))


class CutConstants(NamedTuple):
    """Constants of a thresholded rule: d, and those of the rule inside."""

    d: float
    inner: Rule

    def __call__(self, payoff_range: float) -> tuple[float, ...]:
        """Return d and the constants of the rule inside."""
        return self.d, *self.inner.constants_of(payoff_range).tolist()


class CutMemory(NamedTuple):
    """Initial memory of a thresholded rule."""

    inner: Rule

    def __call__(self, actions: int, rows: int, constants: Floats) -> Floats:
        """Return a row of zeros, for sigma - sigma', and the memory of the rule inside."""
        return np.concatenate((np.zeros((1, actions)), self.inner.initial(actions, constants[1:])))


def thresholded(rule: Rule, d: float) -> Rule:
    """Any rule with dynamic thresholding, as above. Rows of memory: sigma - sigma', then those of the rule."""
    update = _around(rule.update, rule.checked, rule.constants is not None)
    return Rule(
        f"{rule.name}-dt", update, 1 + rule.memory, CutConstants(d, rule), CutMemory(rule), checked=False, own=rule.own,
        ranged=rule.ranged, inner=rule,
    )  # fmt: skip


@lru_cache(maxsize=64)  # a rule is compiled once for all thresholds
def _around(rule: Update, checked: bool, constants: bool) -> Update:
    """Return the update above for the update of a rule with these options."""
    compiled: Any = numba.njit(rule, boundscheck=checked)

    def update(t: float, values: Floats, strategy: Floats, memory: Floats, numbers: Floats) -> None:
        actions, most, cut, remaining, c = len(values), 0.0, 0, 0.0, 1.0 + numbers[0]
        for a in range(actions):
            strategy[a] += memory[0, a]
        if constants:  # known at compile time
            compiled(t, values, strategy, memory[1:], numbers[1:])
        else:
            compiled(t, values, strategy, memory[1:])
        least = (c * c - 1.0) / (2.0 * c * float(actions * actions)) * (1.0 / math.sqrt(t + 1.0))
        for a in range(actions):
            most = max(most, strategy[a])
        for a in range(actions):
            memory[0, a] = strategy[a]
            if strategy[a] < least and strategy[a] < most:
                strategy[a] = 0.0
                cut += 1
            remaining += strategy[a]
        for a in range(actions):
            if cut > 0:
                strategy[a] /= remaining
            memory[0, a] -= strategy[a]

    return update


def cut(strategy: Floats, least: float) -> Floats:
    """Set probabilities below ``least`` to zero and divide the rest by its sum; the largest one is never cut."""
    weights = np.where((strategy < least) & (strategy < strategy.max()), 0.0, strategy)
    return weights / weights.sum()
