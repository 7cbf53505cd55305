"""Vectors of 16 give the bits that NumPy gives number by number."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from treeplex.kernels.jit import kernel
from treeplex.kernels.vectors import (
    LANES,
    floor,
    fractions,
    gather,
    larger,
    largest,
    load,
    magnitude,
    narrowed,
    prefetch,
    some,
    spread,
    store,
    transpose,
    where,
    widened,
)

KINDS = (np.float32, np.float64)
STEP = 0x9E3779B9


@kernel
def computed(a: Any, b: Any, out: Any) -> None:
    """A little of everything, row by row of ``out``."""
    x, y = load(a, 0), load(b, 0)
    zero = spread(a.dtype.type(0.0))
    store(out, 0, x + y)
    store(out, 16, x - y)
    store(out, 32, x * y)
    store(out, 48, where(y > zero, x / where(y > zero, y, spread(a.dtype.type(1.0))), zero))
    store(out, 64, larger(x, y))
    total = zero
    for _ in range(3):
        total += x
    store(out, 80, total)
    prefetch(a, 1_000_000)


@kernel
def anything(a: Any, at: int) -> bool:
    return some(load(a, at) != spread(a.dtype.type(0.0)))


@kernel
def turned(out: Any, source: Any, rows: Any, first: int, times: int, shift: int) -> None:
    transpose(out, 0, source, rows, first, times, shift)


@kernel
def converted(whole: Any, numbers: Any, back: Any) -> None:
    store(numbers, 0, load(whole, 0))
    store(back, 0, load(numbers, 16))


@pytest.mark.parametrize("kind", KINDS)
def test_arithmetic(kind: type) -> None:
    draw = np.random.default_rng(1)
    a, b = draw.normal(size=LANES).astype(kind), draw.normal(size=LANES).astype(kind)
    out = np.zeros(6 * LANES, kind)
    computed(a, b, out)
    quotient = np.where(b > 0, a / np.where(b > 0, b, kind(1)), kind(0))
    np.testing.assert_array_equal(out.reshape(6, LANES), [a + b, a - b, a * b, quotient, np.maximum(a, b), (a + a) + a])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", range(0, LANES, 5))
def test_one_number_that_is_not_zero_is_seen(kind: type, place: int) -> None:
    a = np.zeros(2 * LANES, kind)
    a[LANES + place] = -1e-300 if kind is np.float64 else -1e-30
    assert not anything(a, 0)
    assert anything(a, LANES)


@pytest.mark.parametrize("kind", KINDS)
def test_a_square_is_turned_over(kind: type) -> None:
    source = np.arange(40 * LANES, dtype=kind)
    rows = np.random.default_rng(2).permutation(20).astype(np.uint16)
    out = np.zeros(LANES * LANES, kind)
    turned(out, source, rows, 2, LANES, 3)
    begins = [int(row) * LANES + 3 for row in rows[2 : 2 + LANES]]
    np.testing.assert_array_equal(out.reshape(LANES, LANES).T, [source[at : at + LANES] for at in begins])


@kernel
def summed(a: Any, out: Any) -> None:
    """a + a + a + ..., 1,000 times, in float64, rounded at the end."""
    like = load(a, 0)
    total = widened(like)
    for _ in range(999):
        total += widened(like)
    store(out, 0, narrowed(total, like))


@pytest.mark.parametrize("kind", KINDS)
def test_sums_in_float64(kind: type) -> None:
    a, out = np.random.default_rng(3).normal(size=LANES).astype(kind), np.zeros(LANES, kind)
    summed(a, out)
    total = np.cumsum(np.repeat(a.astype(np.float64)[None], 1000, axis=0), axis=0)[-1]
    np.testing.assert_array_equal(out, total.astype(kind))


def test_whole_numbers() -> None:
    whole = np.array([-32768, 32767, 0, -1, 7, *range(100, 111)], dtype=np.int16)
    numbers = np.concatenate([np.zeros(LANES), [-32768.0, 32767.0, -1.9, 1.9, 0.0], np.arange(11) + 0.5])
    numbers, back = numbers.astype(np.float32), np.zeros(LANES, np.int16)
    converted(whole, numbers, back)
    np.testing.assert_array_equal(numbers[:LANES], whole)
    np.testing.assert_array_equal(back, np.trunc(numbers[LANES:]))


def test_whole_numbers_stay_in_16_bits() -> None:
    numbers, back = np.full(2 * LANES, 40_000.0, np.float32), np.zeros(LANES, np.int16)
    numbers[LANES + 3] = -40_000.0
    converted(np.zeros(LANES, np.int16), numbers, back)
    assert back[3] == -(2**15)
    assert set(np.delete(back, 3)) == {2**15 - 1}


@kernel
def measured(a: Any, out: Any, seed: Any) -> Any:
    x = load(a, 0)
    store(out, 0, floor(x))
    store(out, 16, fractions(np.uint32(seed), x, STEP))
    return largest(magnitude(x))


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("place", range(LANES))
def test_the_largest_and_fractions(kind: type, place: int) -> None:
    a, out = np.random.default_rng(3).normal(size=LANES).astype(kind), np.zeros(2 * LANES, kind)
    a[place] = -100.5
    assert measured(a, out, 2**32 - 5) == 100.5
    np.testing.assert_array_equal(out[:LANES], np.floor(a))
    whole = (2**32 - 5 + np.arange(LANES) * STEP) % 2**32 // 2**8
    np.testing.assert_array_equal(out[LANES:], whole / 2**24)


@kernel
def gathered(source: Any, places: Any, out: Any) -> None:
    store(out, 0, gather(source, places, 16))


@pytest.mark.parametrize("index", [np.uint16, np.int32])
@pytest.mark.parametrize("kind", KINDS)
def test_numbers_are_gathered_from_their_places(kind, index) -> None:
    rng = np.random.default_rng(3)
    source, places = rng.standard_normal(2**16).astype(kind), rng.integers(0, 2**16, 48).astype(index)
    places[16:18] = 0, 2**16 - 1  # the sign of 16 bits is none
    out = np.zeros(LANES, kind)
    gathered(source, places, out)
    np.testing.assert_array_equal(out, source[places[16:32]])
