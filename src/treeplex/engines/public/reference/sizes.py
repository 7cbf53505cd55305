"""What a size between two offered ones is worth, as the papers say it."""

from __future__ import annotations


def pseudo_harmonic(low: float, high: float, size: float) -> float:
    """The probability of reading ``size`` as the lower of two offered sizes (Ganzfried & Sandholm 2013).

        f(x) = (B - x) (1 + A) / ((B - A) (1 + x))

    Sizes are fractions of the pot.
    """
    return (high - size) * (1.0 + low) / ((high - low) * (1.0 + size))


def worth(
    low: float,
    high: float,
    fixed_low: float,
    slope_low: float,
    fixed_high: float,
    slope_high: float,
    stretch: tuple[float, float],
    size: float,
) -> float:
    """What ``size`` earns against an opponent who reads it as ``low`` or as ``high``.

    Read as an offered size, it earns ``fixed + slope * theta(size)``: the answers are those to the offered size, the
    stakes those of the real one.
    """
    theta = stretch[0] + stretch[1] * size
    share = pseudo_harmonic(low, high, size)
    return share * (fixed_low + slope_low * theta) + (1.0 - share) * (fixed_high + slope_high * theta)
