"""Sixteen bits: rows of hands are rounded down after a dither that is right on average (``updates.storage``)."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import example, given
from hypothesis import strategies as st
from numba import njit

from treeplex.kernels.vectors import LANES
from treeplex.updates.storage import AVERAGE, REGRET, dither_seed, largest_of, lattice, pack, packed

LARGEST = largest_of("int16")


@njit
def kept(numbers, out, place, t, array):
    return pack(numbers, out, dither_seed(place, t, array))


def stored(numbers: np.ndarray, place: int = 12_345_678_901, t: int = 7, array: int = AVERAGE) -> tuple:
    whole = np.zeros(-(-numbers.size // LANES) * LANES, np.float32)
    whole[: numbers.size] = numbers
    out = np.empty(whole.size, np.int16)
    scale = kept(whole, out, place, t, array)
    assert not out[numbers.size :].any()
    return out[: numbers.size], scale


@pytest.mark.parametrize("place", [0, 1, 16, 2**40 + 5])
@pytest.mark.parametrize("t", [1, 2, 3000, 2**31])
@pytest.mark.parametrize("array", [AVERAGE, REGRET])
def test_kernels_follow_the_specification(place, t, array) -> None:
    """Every number, if the specification adds in float32, too."""
    numbers = np.random.default_rng(t).uniform(-LARGEST, LARGEST, 500).astype(np.float32)
    numbers[0] = LARGEST
    out, scale = stored(numbers, place, t, array)
    expected, unit = packed(numbers, lattice(place, t, array, 500).astype(np.float32))
    np.testing.assert_array_equal(out, expected)
    assert scale == unit == 1.0


@given(st.integers(0, 2**20), st.floats(1e-20, 1e20), st.integers(1, 400))
@example(1893, 6746103.0, 258)  # -32768
def test_nothing_turns_and_nothing_is_off_by_a_unit(seed, scale, count) -> None:
    rng = np.random.default_rng(seed)
    numbers = (rng.standard_normal(count) * scale * (rng.random(count) < 0.7)).astype(np.float32)
    out, unit = stored(numbers, place=seed, t=seed + 1)
    assert np.all(out[numbers == 0] == 0)
    assert np.all(out[numbers > 0] >= 0)
    assert np.all(out[numbers < 0] <= 0)
    assert np.all(np.abs(out * np.float64(unit) - numbers) <= 1.01 * unit)
    if numbers.any():
        largest = np.abs(out.astype(np.int32)).max()
        assert LARGEST - 1 <= largest <= LARGEST + 1  # top * (LARGEST / top) is rounded


def test_rounding_is_right_on_average() -> None:
    """Over iterations: to the nearest would leave 0.3 of a unit at 0 for ever."""
    numbers = np.array([LARGEST, 0.3, 0.05, -0.3, 100.7, -2000.25])
    mean = np.mean([stored(numbers, t=t)[0] for t in range(1, 4001)], axis=0)
    np.testing.assert_allclose(mean, numbers, rtol=0, atol=4 * 0.5 / 4000**0.5)


def test_a_fading_average_fades() -> None:
    """What is never added to again is a smaller and smaller part of a sum whose weights grow like t^4."""
    start = 300
    numbers, total = np.array([LARGEST, 250.0]), 1.0
    for t in range(start, 3001):
        weight = 5 / t * total  # of iteration t, as t^4 has it
        numbers = numbers + np.array([weight * LARGEST, 0.0])
        out, scale = stored(numbers, t=t)
        numbers = out * np.float64(scale)
        total += weight
    assert numbers[1] / numbers[0] < 2 * 250 / LARGEST / total + 2 / LARGEST


def test_arrays_places_and_iterations_have_dithers_of_their_own() -> None:
    seeds = {float(lattice(place, t, array, 1)[0]) for place in range(8) for t in range(1, 9) for array in (1, 2)}
    assert len(seeds) == 8 * 8 * 2


def test_multiples_of_the_lattice_are_evenly_spread() -> None:
    """Of any 64 numbers that lie side by side, each sixteenth of [0, 1) gets three to five."""
    u = lattice(99, 5, REGRET, 1024)
    for first in range(0, 1024, 64):
        counts = np.histogram(u[first : first + 64], bins=16, range=(0, 1))[0]
        assert counts.min() >= 3
        assert counts.max() <= 5


def test_what_is_too_small_to_divide_by_is_stored_as_zero() -> None:
    numbers = np.array([1e-36, 0.0, -1e-37], np.float32)
    out, scale = stored(numbers)
    assert scale == 0.0
    assert not out.any()
    assert not packed(numbers.astype(np.float64))[0].any()
