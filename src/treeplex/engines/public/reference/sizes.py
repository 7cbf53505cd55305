"""The value of a size between two in the abstraction, as in the papers."""

from __future__ import annotations


def pseudo_harmonic(low: float, high: float, size: float) -> float:
    """Return the probability of mapping ``size`` to the lower of two sizes in the abstraction.

    Ganzfried & Sandholm (2013):

        f(x) = (B - x) (1 + A) / ((B - A) (1 + x))

    Sizes are fractions of the pot.
    """
    return (high - size) * (1.0 + low) / ((high - low) * (1.0 + size))


def value_between(
    low: float,
    high: float,
    fixed_low: float,
    slope_low: float,
    fixed_high: float,
    slope_high: float,
    payoff_scale: tuple[float, float],
    size: float,
) -> float:
    """Return the value of ``size`` against an opponent who maps it to ``low`` or ``high``.

    Mapped to one of these, its value is ``fixed + slope * scale(size)``: the opponent responds to that size, and the
    stakes are those of the real one.
    """
    scale = payoff_scale[0] + payoff_scale[1] * size
    to_low = pseudo_harmonic(low, high, size)
    return to_low * (fixed_low + slope_low * scale) + (1.0 - to_low) * (fixed_high + slope_high * scale)
