"""Exact conversion of amounts to whole numbers of chips: 5.5 in chips of 0.01 is 550, without errors of floats."""

from __future__ import annotations

import math
import re
from decimal import Decimal
from fractions import Fraction
from typing import Final

from treeplex.errors import ParameterError, quoted
from treeplex.errors import real as as_number

SMALLEST_CHIP: Final = 1e-6
LARGEST: Final = 1e15  # amounts up to here are exact as floats
_PERCENT: Final = re.compile(r"([0-9]+(?:\.[0-9]*)?) ?%")


def real(name: str, value: object, low: float = 0.0, high: float = LARGEST) -> float:
    """Check a number from ``low`` to ``high``; whole numbers become int, so that they are written without a point."""
    number = as_number(value)
    if number is None or not low <= number <= high:
        raise ParameterError(f"The '{name}' parameter must be a number from {low:g} to {high:g}, got {quoted(value)}.")
    return int(number) if number == math.floor(number) else number


def share(name: str, value: object) -> float:
    """Check a number from 0 to 1, or a text such as ``"5%"``, and return it as a float."""
    percentage = _PERCENT.fullmatch(value.strip()) if isinstance(value, str) else None
    number = float(percentage[1]) / 100.0 if percentage else as_number(value)
    if number is None or not 0.0 <= number <= 1.0:
        per_cent = number is not None and not percentage and 1.0 < number <= 100.0
        fix = f'; write {number / 100.0:g}, or "{number:g}%"' if number is not None and per_cent else ""
        raise ParameterError(f"The '{name}' parameter must be a number from 0 to 1, got {quoted(value)}{fix}.")
    return float(number)


def percent_of_pot(what: str, text: str) -> float:
    """Parse a percentage of the pot.

    >>> percent_of_pot("option --lose", "0.1%pot")
    0.1
    """
    number = text.strip().lower().removesuffix("pot").rstrip().removesuffix("%").rstrip()
    try:
        return float(number)
    except ValueError:
        raise ParameterError(f"The {what} must be a percentage such as 0.1%pot, got {text!r:.80}.") from None


def whole_chips(name: str, amount: float, chip: float, low: int, high: int) -> int:
    """Convert ``amount`` to chips; raise ParameterError unless it is a whole number from ``low`` to ``high``."""
    chips = exact(amount) / exact(chip)
    if chips.denominator != 1:
        smaller = _decimals(amount)
        fix = f"; give a smaller chip, such as {format_amount(smaller)}" if smaller >= SMALLEST_CHIP else ""
        raise ParameterError(
            f"The '{name}' parameter must be a multiple of the chip of {format_amount(chip)}, got {amount!r}{fix}."
        )
    if not low <= chips <= high:
        raise ParameterError(
            f"The '{name}' parameter must be from {low} to {high:,} chips of {format_amount(chip)}, got {amount!r}."
        )
    return int(chips)


def ratio(amount: float, chip: float) -> float:
    """Convert ``amount`` to chips, rounded once."""
    return float(exact(amount) / exact(chip))


def times(chips: int, chip: float) -> float:
    """Convert chips to an amount, rounded once; an int if it is whole."""
    amount = chips * exact(chip)
    return int(amount) if amount.denominator == 1 else float(amount)


def format_amount(amount: float) -> str:
    """Format an amount as people write it.

    >>> format_amount(5.5), format_amount(330), format_amount(1e-05)
    ('5.5', '330', '0.00001')
    """
    return format(Decimal(repr(amount)), "f")


def exact(number: float) -> Fraction:
    """Return the decimal number that a float was written as."""
    return Fraction(repr(number))


def _decimals(amount: float) -> float:
    """Return the largest of 1, 0.1, 0.01, ... of which ``amount`` is a multiple."""
    exponent = Decimal(repr(amount)).normalize().as_tuple().exponent
    return times(1, float(Decimal(10) ** min(int(exponent), 0)))
