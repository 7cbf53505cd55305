"""Averaging weights: small pure functions of the iteration, counted from 1.

Weights of ``falling`` soon leave the range of numbers, and high powers of the iteration leave that of float32. They are
expressed in units that are powers of two. When the unit changes, averages are multiplied by the old unit over the new
one, which loses no bit. Units change at the same iterations however a run is divided into calls (``stretches``).
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
"""Function from iteration numbers to weights."""


def uniform() -> Schedule:
    """Constant weights: w_t = 1."""
    return np.ones_like


def linear(delay: int = 0) -> Schedule:
    """Linear weights: w_t = max(t - delay, 0), section 2 of Tammelin (2014)."""
    return partial(_linear, delay)


def power(exponent: float) -> Schedule:
    """Powers: w_t = t^exponent, as if the average were multiplied by (t / (t + 1))^exponent after each iteration."""
    return partial(_power, exponent)


def falling(start: float, horizon: int, *, power: bool = False) -> Schedule:
    """Weights that result from multiplying the average by (t / (t + 1))^gamma_t after every iteration t.

    gamma_t = start - 5 p, where p = min(t / horizon, 1): Zhang, McAleer & Sandholm (2024), equation (4). ``power``:
    t^gamma_t, as in programs that weight by t^gamma; the two differ where gamma changes.
    """
    return Falling(start, horizon, power)


def ahead(schedule: Schedule) -> Schedule:
    """Weights that result from multiplying the average before iteration t adds to it, instead of after."""
    return schedule._replace(sooner=1) if isinstance(schedule, Falling) else partial(_ahead, schedule)


def log() -> Schedule:
    """Logarithmic weights: w_t = ln(1 + t), between uniform and linear ones (Ju et al. 2023)."""
    return np.log1p


def progress(iteration: Floats, horizon: int) -> Floats:
    """Return the completed fraction of a schedule: t / horizon, then 1."""
    return np.minimum(iteration / horizon, 1.0)


LATER: Final = np.unique((*np.arange(1.0, 1025.0), *np.exp2(np.arange(41.0))))
"""Iterations to test: a weight that is not zero forever is positive at one of them, whatever its period."""


def weights_at(schedule: Schedule, iteration: Floats) -> Floats:
    """Return the weights of some iterations, checked because a schedule may be a user's."""
    weights = _one_each("weight", schedule(iteration.copy()), iteration)
    bad = np.flatnonzero(~((weights >= 0.0) & np.isfinite(weights)))
    if len(bad):
        offending = f"{weights[bad[0]]:g} for iteration {iteration[bad[0]]:,.0f}"
        raise ParameterError(f"The 'weight' parameter must give finite numbers >= 0, got {offending}.")
    if len(weights) and not weights.any():
        with np.errstate(all="ignore"):
            if not np.any(schedule(LATER.copy())):
                raise ParameterError(
                    "The 'weight' parameter must give a positive number at some iteration, got only zeros."
                )
    return weights


def discounts_at(minimizer: Minimizer, iteration: Floats) -> tuple[Floats, Floats]:
    """Return the discounts of some iterations, checked because a minimizer may be a user's."""
    positive, negative = minimizer.discounts(iteration)
    return _one_each("minimizer", positive, iteration), _one_each("minimizer", negative, iteration)


def _one_each(name: str, values: object, iteration: Floats) -> Floats:
    try:
        numbers = np.asarray(values, dtype=np.float64)
    except (TypeError, ValueError):
        numbers = np.empty((0, 0))
    if numbers.shape != iteration.shape:
        count = "1 iteration" if len(iteration) == 1 else f"{len(iteration):,} iterations"
        raise ParameterError(
            f"The '{name}' parameter must give an array with one number per iteration, got {quoted(values)} for"
            f" {count}."
        )
    return np.ascontiguousarray(numbers)


UNIT: Final = 32.0  # powers of two between two units
DROP: Final = 5.0  # total fall of gamma until the horizon
LARGE: Final = 96.0  # log2 of the weight above which weights have units: float32 sums end at 2^128
FAR: Final = 1e9  # iterations


class Falling(NamedTuple):
    """See ``falling``: w_t / 2^unit(t), with w_1 = 1 and w_{t+1} = w_t ((t + 1) / t)^gamma_t.

    ln w_t = sum over k < t of gamma_k ln((k + 1) / k). Summation by parts gives, up to t = horizon + 1,
    start ln t - (5 / horizon) (t ln t - ln t!). Afterwards gamma is constant. With ``power``: w_t = t^gamma_t.
    """

    start: float
    horizon: int
    power: bool = False
    sooner: int = 0  # 1: the average is multiplied before an iteration adds to it, so iteration t weighs w_{t+1}

    def __call__(self, iteration: Floats) -> Floats:
        """Return weights between 1 and 2^32."""
        return np.exp2(self._log2(iteration) - self.unit(iteration))

    def unit(self, iteration: Floats) -> Floats:
        """Return the exponent of the unit, a multiple of 32."""
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
    """Weights for sums in float32: w_t / 2^unit(t), equal to those of ``schedule`` until they are large."""

    schedule: Schedule

    def __call__(self, iteration: Floats) -> Floats:
        """Return weights below 2^96."""
        return self.schedule(iteration) * np.exp2(-self.unit(iteration))

    def unit(self, iteration: Floats) -> Floats:
        """Return the exponent of the unit: zero, or a multiple of 32."""
        size = np.log2(np.maximum(self.schedule(iteration), 1.0))
        return np.where(size < LARGE, 0.0, UNIT * np.floor(size / UNIT))


def bounded(schedule: Schedule, storage: str) -> Schedule:
    """Return the schedule, with units if its sum may leave the range of ``storage``."""
    with np.errstate(all="ignore"):  # a user's weights may overflow at so late an iteration
        far = np.array([FAR])
        fits = isinstance(schedule, Falling | Bounded) or _one_each("weight", schedule(far), far)[0] < 2.0**LARGE
    return Bounded(schedule) if storage == "float32" and not fits else schedule


def unit_before(schedule: Schedule, iteration: int, sums: Iterable[npt.NDArray[Any]]) -> float:
    """Return the factor for averages ``sums`` of a checkpoint: 1, unless version 0.2 saved them with large weights.

    Weights had no units then, so such sums are at least 2^96, while sums with units stay below 2^64.
    """
    if not isinstance(schedule, Bounded) or iteration == 0:
        return 1.0
    unit = float(schedule.unit(np.array([float(iteration)]))[0])
    older = unit > 0.0 and max(float(each.max(initial=0.0)) for each in sums) > 2.0**80
    return 2.0**-unit if older else 1.0


class Stretch(NamedTuple):
    """Iterations whose weights have one unit, and which belong to one block of ``updates.blocks``."""

    iterations: int
    fade: float  # factor of averages before the first of them


def stretches(schedule: Schedule, done: int, count: int, storage: str = "float64") -> list[Stretch]:
    """Return the next ``count`` iterations, divided where the unit of their weights changes and where blocks end.

    >>> stretches(linear(), 10, 90)
    [Stretch(iterations=90, fade=1.0)]
    >>> [stretch.iterations for stretch in stretches(falling(30.0, 1000), 10, 90)]
    [9, 21, 45, 15]
    """
    result: list[Stretch] = []
    for size, fade in _in_one_unit(schedule, done, count):
        first, *rest = blocks.pieces(done, size, storage)
        result += [Stretch(first, fade), *(Stretch(piece, 1.0) for piece in rest)]
        done += size
    return result


def _in_one_unit(schedule: Schedule, done: int, count: int) -> list[tuple[int, float]]:
    """Return numbers of iterations whose weights have one unit, and the factor of averages before them."""
    if not isinstance(schedule, Falling | Bounded) or count == 0:
        return [(count, 1.0)] if count else []
    unit = schedule.unit(np.arange(max(done, 1), done + count + 1, dtype=np.float64))
    unit = unit if done else np.append(unit[0], unit)
    first = np.flatnonzero(np.append(True, unit[2:] != unit[1:-1])) + 1  # positions of iterations that begin a stretch
    sizes = np.diff(np.append(first, count + 1))
    fades = np.exp2(unit[first - 1] - unit[first])
    return list(zip(sizes.tolist(), fades.tolist(), strict=True))


def _ahead(schedule: Schedule, iteration: Floats) -> Floats:
    return schedule(iteration + 1.0)


def _linear(delay: int, iteration: Floats) -> Floats:
    return np.maximum(iteration - delay, 0.0)


def _power(exponent: float, iteration: Floats) -> Floats:
    return iteration**exponent
