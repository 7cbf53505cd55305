"""Averaging weights: small pure functions of the iteration, counted from 1.

Weights of ``falling`` soon leave the range of numbers, and high powers of the iteration that of float32. They are told
in units that are powers of two: averages are multiplied by the old unit over the new one when the unit changes, which
is at the same iterations however a run is cut into pieces, and loses no bit (``stretches``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.errors import ParameterError, quoted
from treeplex.updates import blocks
from treeplex.updates.protocol import Minimizer

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


def falling(start: float, horizon: int, *, power: bool = False) -> Schedule:
    """The weights that come from multiplying the average by (t / (t + 1))^gamma_t after every iteration t.

    gamma_t = start - 5 p, where p = min(t / horizon, 1): Zhang, McAleer & Sandholm (2024), equation (4). ``power``:
    t^gamma_t, what programs do that weigh by t^gamma; where gamma moves, that is not the same.
    """
    return Falling(start, horizon, power)


def ahead(schedule: Schedule) -> Schedule:
    """The weights that come from multiplying the average before iteration t adds to it, instead of after."""
    return schedule._replace(sooner=1) if isinstance(schedule, Falling) else partial(_ahead, schedule)


def log() -> Schedule:
    """w_t = ln(1 + t): between uniform and linear weights (Ju et al. 2023)."""
    return np.log1p


def progress(iteration: Floats, horizon: int) -> Floats:
    """How much of a run is done: t / horizon, and 1 afterwards."""
    return np.minimum(iteration / horizon, 1.0)


LATER: Final = np.unique((*np.arange(1.0, 1025.0), *np.exp2(np.arange(41.0))))
"""Iterations at one of which a weight that is not zero for ever is positive, whatever its period."""


def weights_at(schedule: Schedule, iteration: Floats) -> Floats:
    """The weights of some iterations, checked: a schedule may be a user's."""
    found = _one_each("weight", schedule(iteration.copy()), iteration)
    bad = np.flatnonzero(~((found >= 0.0) & np.isfinite(found)))
    if len(bad):
        came = f"{found[bad[0]]:g} for iteration {iteration[bad[0]]:,.0f}"
        raise ParameterError(f"The 'weight' parameter must give finite numbers >= 0, got {came}.")
    if len(found) and not found.any():
        with np.errstate(all="ignore"):
            if not np.any(schedule(LATER.copy())):
                raise ParameterError("The 'weight' parameter must give a positive number some time, got zero for ever.")
    return found


def discounts_at(minimizer: Minimizer, iteration: Floats) -> tuple[Floats, Floats]:
    """The discounts of some iterations, checked: a minimizer may be a user's."""
    positive, negative = minimizer.discounts(iteration)
    return _one_each("minimizer", positive, iteration), _one_each("minimizer", negative, iteration)


def _one_each(name: str, found: object, iteration: Floats) -> Floats:
    try:
        numbers = np.asarray(found, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.empty((0, 0))
    if numbers.shape != iteration.shape:
        count = "1 iteration" if len(iteration) == 1 else f"{len(iteration):,} iterations"
        raise ParameterError(
            f"The '{name}' parameter must give an array with one number per iteration, got {quoted(found)} for {count}."
        )
    return np.ascontiguousarray(numbers)


UNIT: Final = 32.0  # powers of two between two units
DROP: Final = 5.0  # by which gamma falls until the horizon
LARGE: Final = 96.0  # log2 of the weight from which on weights have units: sums in float32 end at 2^128
FAR: Final = 1e9  # iterations


class Falling(NamedTuple):
    """See ``falling``: w_t / 2^unit(t), with w_1 = 1 and w_{t+1} = w_t ((t + 1) / t)^gamma_t.

    ln w_t = sum over k < t of gamma_k ln((k + 1) / k). Up to t = horizon + 1 that is
    start ln t - (5 / horizon) (t ln t - ln t!), by parts, and afterwards gamma stays. With ``power``: w_t = t^gamma_t.
    """

    start: float
    horizon: int
    power: bool = False
    sooner: int = 0  # 1: the average is multiplied before it is added to, so that iteration t weighs w_{t+1}

    def __call__(self, iteration: Floats) -> Floats:
        """Between 1 and 2^32."""
        return np.exp2(self._log2(iteration) - self.unit(iteration))

    def unit(self, iteration: Floats) -> Floats:
        """A multiple of 32."""
        return UNIT * np.floor(self._log2(iteration) / UNIT)

    def _log2(self, iteration: Floats) -> Floats:
        from scipy.special import gammaln  # noqa: PLC0415 - takes time to load, seldom needed

        t = iteration + self.sooner
        if self.power:
            return (self.start - DROP * progress(t, self.horizon)) * np.log2(t)
        until = np.minimum(t, self.horizon + 1.0)
        fallen = until * np.log2(until) - gammaln(until + 1.0) / np.log(2.0)
        return self.start * np.log2(until) - DROP / self.horizon * fallen + (self.start - DROP) * np.log2(t / until)


class Bounded(NamedTuple):
    """Weights for sums in float32: w_t / 2^unit(t), which are those of ``schedule`` as long as they are not large."""

    schedule: Schedule

    def __call__(self, iteration: Floats) -> Floats:
        """Below 2^96."""
        return self.schedule(iteration) * np.exp2(-self.unit(iteration))

    def unit(self, iteration: Floats) -> Floats:
        """Zero, or a multiple of 32."""
        size = np.log2(np.maximum(self.schedule(iteration), 1.0))
        return np.where(size < LARGE, 0.0, UNIT * np.floor(size / UNIT))


def bounded(schedule: Schedule, storage: str) -> Schedule:
    """The same weights, in units if their sum may leave the range of ``storage``."""
    with np.errstate(all="ignore"):  # a user's weights may leave the range of floats so far on
        far = np.array([FAR])
        fits = isinstance(schedule, Falling | Bounded) or _one_each("weight", schedule(far), far)[0] < 2.0**LARGE
    return Bounded(schedule) if storage == "float32" and not fits else schedule


def unit_before(schedule: Schedule, iteration: int, sums: Iterable[npt.NDArray[Any]]) -> float:
    """What averages ``sums`` of a checkpoint are multiplied by: 1, unless it is of version 0.2 and weights are large.

    Weights had no units then, so the sums have at least their size, 2^96, where with units they stay below 2^64.
    """
    if not isinstance(schedule, Bounded) or iteration == 0:
        return 1.0
    unit = float(schedule.unit(np.array([float(iteration)]))[0])
    older = unit > 0.0 and max(float(each.max(initial=0.0)) for each in sums) > 2.0**80
    return 2.0**-unit if older else 1.0


class Stretch(NamedTuple):
    """Iterations whose weights have one unit, and which belong to one block of ``updates.blocks``."""

    iterations: int
    fade: float  # what averages are multiplied by before the first of them


def stretches(schedule: Schedule, done: int, count: int, storage: str = "float64") -> list[Stretch]:
    """The next ``count`` iterations, cut where the unit of their weights changes and where blocks of sums end.

    >>> stretches(linear(), 10, 90)
    [Stretch(iterations=90, fade=1.0)]
    >>> [stretch.iterations for stretch in stretches(falling(30.0, 1000), 10, 90)]
    [9, 21, 45, 15]
    """
    found: list[Stretch] = []
    for size, fade in _in_one_unit(schedule, done, count):
        first, *rest = blocks.pieces(done, size, storage)
        found += [Stretch(first, fade), *(Stretch(piece, 1.0) for piece in rest)]
        done += size
    return found


def _in_one_unit(schedule: Schedule, done: int, count: int) -> list[tuple[int, float]]:
    """Numbers of iterations whose weights have one unit, and what averages are multiplied by before them."""
    if not isinstance(schedule, Falling | Bounded) or count == 0:
        return [(count, 1.0)] if count else []
    unit = schedule.unit(np.arange(max(done, 1), done + count + 1, dtype=np.float64))
    unit = unit if done else np.append(unit[0], unit)
    first = np.flatnonzero(np.append(True, unit[2:] != unit[1:-1])) + 1  # places of iterations that begin a stretch
    sizes = np.diff(np.append(first, count + 1))
    fades = np.exp2(unit[first - 1] - unit[first])
    return list(zip(sizes.tolist(), fades.tolist(), strict=True))


def _ahead(schedule: Schedule, iteration: Floats) -> Floats:
    return schedule(iteration + 1.0)


def _linear(delay: int, iteration: Floats) -> Floats:
    return np.maximum(iteration - delay, 0.0)


def _power(exponent: float, iteration: Floats) -> Floats:
    return iteration**exponent
