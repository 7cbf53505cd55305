"""Rules in NumPy, over all infosets of a treeplex or all hands of a row at once: the kernels' specification."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.updates.hedge import LEAST_RANGE, VARIANCE


def normalise_sequences(weights: Floats, first: Ints) -> Floats:
    """[S] ``normalise`` within each infoset, whose sequences begin at ``first`` [I + 1]; 1 for the empty sequence."""
    width = np.diff(first)
    total = np.add.reduceat(weights, first[:-1]) if len(width) else np.empty(0)
    out = np.ones(len(weights))
    out[1:] = normalise(weights[1:], np.repeat(total, width), np.repeat(width, width))
    return out


def matched(regret: Floats, tiny: float = 0.0) -> Floats:
    """[A, ...] regret matching along the first axis, for one infoset or for rows of hands."""
    positive = np.maximum(regret, 0.0)
    return normalise(positive, positive.sum(axis=0), len(regret), tiny)


def normalise(parts: Floats, total: Floats, width: Ints | int, tiny: float = 0.0) -> Floats:
    """Return non-negative parts over their total, 1 / width where it is zero; totals up to ``tiny`` count as zero."""
    some = total > tiny
    return np.where(some, parts / np.where(some, total, 1.0), 1.0 / width)


def matched_numbers(regret: Sequence[float]) -> list[float]:
    """Return ``matched`` of one infoset, with Python numbers; the sum runs from left to right, as in kernels."""
    positive = [max(r, 0.0) for r in regret]
    total = 0.0
    for r in positive:
        total += r
    return [r / total if total > 0.0 else 1.0 / len(positive) for r in positive]


def projected(numbers: Floats, floor: float) -> Floats:
    """Return P(x) = max(x - theta, 0) of smooth predictive regret matching+, by sorting: ``updates.smooth``."""
    if np.maximum(numbers, 0.0).sum() >= floor:
        return np.maximum(numbers, 0.0)
    theta = (np.cumsum(np.sort(numbers)[::-1]) - floor) / np.arange(1, len(numbers) + 1)  # of the k largest numbers
    return np.maximum(numbers - theta.max(), 0.0)


def step_size(rule: int, log_actions: float, payoff_range: float, squares: float, t: float) -> float:
    """Return Hedge's eta after t iterations: ``updates.hedge.step_size``."""
    if rule != VARIANCE:
        return float(np.sqrt(8.0 * log_actions / t) / payoff_range)
    width = 3.0 * np.sqrt(squares / t) if squares else payoff_range
    return float(np.sqrt(log_actions / t) / np.clip(width, LEAST_RANGE * payoff_range, payoff_range))
