"""exp and log for whole arrays, in loops that compilers vectorise.

exp, for numbers that are not positive:

    exp(x) = 2^k exp(r),  k = round(x / ln 2),  |r| <= ln 2 / 2

with the Taylor polynomial of degree 13 for exp(r) (the next term is below 5e-18). The relative error is at most 3e-16,
and exp(0) is exactly 1. Below -230 the result is 0, and the true value is below 2e-100. As a probability it changes no
sum that it is added to, but its products would become denormal numbers, which are slow.

log, for numbers from 1 on:

    log(2^k (1 + j / 64) (1 + r)) = k ln 2 + log(1 + j / 64) + log(1 + r),  0 <= r < 1 / 64

with the Taylor polynomial of degree 8 for the last term (the next term is below 4e-16 r). The relative error is at
most 6e-16, and log(1) is exactly 0.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from treeplex.arrays import Floats
from treeplex.kernels.jit import kernel

LOWEST: Final = -230.0
LN2: Final = float(np.log(2.0))
PER_LN2: Final = 1.0 / LN2
LN2_HIGH: Final = float.fromhex("0x1.62e42fe8p-1")  # ln 2 to 30 bits: products with small whole numbers are exact
LN2_LOW: Final = float.fromhex("0x1.e8e7bcd5e4f1ep-31")  # the rest of ln 2
ROUNDER: Final = 1.5 * 2.0**52  # adding and subtracting it rounds to a whole number

MIDS: Final = 1.0 + np.arange(64) / 64
SHARES: Final = 1.0 / MIDS
LOGS: Final = np.log(MIDS)
MANTISSA: Final = 2**52 - 1
ONE: Final = 1023 * 2**52  # the bits of 1.0


@kernel
def exp_below_zero(x: float) -> float:
    """Return exp(x) for x <= 0."""
    near = max(x, LOWEST)
    k = (near * PER_LN2 + ROUNDER) - ROUNDER
    r = (near - k * LN2_HIGH) - k * LN2_LOW
    q = r * r
    high = (1.0 / 40320.0 + r * (1.0 / 362880.0)) + q * (
        (1.0 / 3628800.0 + r * (1.0 / 39916800.0)) + q * (1.0 / 479001600.0 + r * (1.0 / 6227020800.0))
    )
    middle = (1.0 / 24.0 + r * (1.0 / 120.0)) + q * ((1.0 / 720.0 + r * (1.0 / 5040.0)) + q * high)
    low = (0.5 + r * (1.0 / 6.0)) + q * middle
    power = np.int64((np.int64(k) + 1023) << 52).view(np.float64)
    answer = (1.0 + (r + q * low)) * power
    return answer if x >= LOWEST else 0.0


@kernel
def log_from_one(x: float) -> float:
    """Return log(x) for 1 <= x < inf."""
    bits = np.float64(x).view(np.int64)
    power = float((bits >> 52) - 1023)
    mantissa = np.int64((bits & MANTISSA) | ONE).view(np.float64)
    j = np.uint64((bits >> 46) & 63)
    r = (mantissa - MIDS[j]) * SHARES[j]
    tail = 0.2 + r * (-1.0 / 6.0 + r * (1.0 / 7.0 - r * 0.125))
    rest = r - r * r * (0.5 - r * (1.0 / 3.0 - r * (0.25 - r * tail)))
    return power * LN2 + LOGS[j] + rest


@kernel
def exp_all(values: Floats, count: int) -> None:
    """Replace the first ``count`` values, none of them positive, by their exp."""
    for i in range(np.uint64(count)):
        values[i] = exp_below_zero(values[i])


@kernel
def log_all(values: Floats, count: int) -> None:
    """Replace the first ``count`` values, none of them below one, by their log."""
    for i in range(np.uint64(count)):
        values[i] = log_from_one(values[i])
