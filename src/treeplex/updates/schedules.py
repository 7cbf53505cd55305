"""Averaging weights: small pure functions of the iteration, counted from 1."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from treeplex.arrays import Floats

Schedule = Callable[[Floats], Floats]
"""Iteration numbers in, weights out."""


def uniform() -> Schedule:
    """w_t = 1."""
    return np.ones_like


def linear(delay: int = 0) -> Schedule:
    """w_t = max(t - delay, 0): section 2 of Tammelin (2014)."""
    return partial(_linear, delay)


def power(exponent: float) -> Schedule:
    """w_t = t^exponent. Multiplying the average by (t / (t + 1))^exponent after every iteration amounts to the same."""
    return partial(_power, exponent)


def log() -> Schedule:
    """w_t = ln(1 + t): between uniform and linear weights (Ju et al. 2023)."""
    return np.log1p


def _linear(delay: int, iteration: Floats) -> Floats:
    return np.maximum(iteration - delay, 0.0)


def _power(exponent: float, iteration: Floats) -> Floats:
    return iteration**exponent
