"""Ranges as 1,326 numbers in PioSOLVER's order of hands: ``2d2c 2h2c 2h2d 2s2c ... AsAh``.

Hands are ordered by the higher card, then by the lower one, with cards numbered 2c 2d 2h 2s 3c ... As. The UPI command
``show_hand_order`` prints this order (piosolver.com/docs/upi/commands).
"""

from __future__ import annotations

from typing import Final

import numpy as np

from treeplex.arrays import Floats
from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.cards import HAND_CARDS, HANDS, hand_name
from treeplex.games.holdem.ranges import format_range

ORDER: Final = np.lexsort((HAND_CARDS[:, 1], HAND_CARDS[:, 0]))
"""[1326] treeplex's number of each of PioSOLVER's hands."""


def hand_order() -> str:
    """Return the names of all hands in PioSOLVER's order.

    >>> hand_order()[:24]
    '2d2c 2h2c 2h2d 2s2c 2s2d'
    """
    return " ".join(hand_name(int(hand)) for hand in ORDER)


def read_floats(text: str, name: str = "range") -> str:
    """Convert 1,326 weights from 0 to 1 to a range as text."""
    parts = text.replace(",", " ").split()
    if len(parts) != HANDS:
        raise ParameterError(f"The '{name}' parameter must be 1,326 numbers, one per hand, got {len(parts):,}.")
    try:
        in_pio_order = np.array(parts, dtype=np.float64)
    except ValueError:
        wrong = next(part for part in parts if not _is_number(part))
        raise ParameterError(
            f"The '{name}' parameter must be 1,326 numbers, one per hand, got {quoted(wrong)}."
        ) from None
    if not ((in_pio_order >= 0.0) & (in_pio_order <= 1.0)).all():
        wrong = parts[int(np.argmin((in_pio_order >= 0.0) & (in_pio_order <= 1.0)))]
        raise ParameterError(f"A weight in '{name}' must be a number from 0 to 1, got {quoted(wrong)}.")
    if not in_pio_order.any():
        raise ParameterError(f"The '{name}' parameter holds no hand with a positive weight.")
    weights = np.zeros(HANDS)
    weights[ORDER] = in_pio_order
    return format_range(weights)


def write_floats(weights: Floats) -> str:
    """Write weights [1326] in PioSOLVER's order, with all digits."""
    return " ".join(repr(x).removesuffix(".0") for x in weights[ORDER].tolist())


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True
