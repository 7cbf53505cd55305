"""Checks of the values that users' rules return.

Callers of rules first check the exact type, which is cheap (``type(mover) is int``), and pass other values here. Legal
values are returned in the plain type. Others raise GameError with method, position and value. An exception of the rules
themselves passes through, with a note of its position.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable, Sequence
from numbers import Integral
from types import TracebackType
from typing import Any, Final, NoReturn, SupportsFloat, SupportsIndex, TypeGuard, cast

import numpy as np

from treeplex.arrays import Floats
from treeplex.errors import GameError, TreeplexError, quoted

MOVER: Final = "0, 1, CHANCE or TERMINAL"
ACTIONS: Final = "a list or tuple of labels (str) that can be written as UTF-8"
PROBABILITIES: Final = "a list or tuple of numbers"
LABEL: Final = "a label (str) that can be written as UTF-8"
PAYOFF: Final = "a number, or one per player"

Place = Callable[[], str]
"""Function that describes the position at which the rules were called; only called for messages."""


def refuse(name: str, method: str, place: Place, value: object, law: str) -> NoReturn:
    """Raise GameError for a value returned by ``method`` that violates ``law``."""
    raise GameError(f"{name}: {method} at {place()} returned {quoted(value)}; it must return {law}.")


def checked_mover(name: str, value: object, place: Place) -> int:
    """Return the mover as an int."""
    if not isinstance(value, Integral):
        refuse(name, "mover", place, value, MOVER)
    return int(value)


def checked_actions(name: str, value: object, place: Place) -> tuple[str, ...]:
    """Return ordered labels; a set, which has no order, and a str, whose parts are letters, are rejected."""
    actions = listed(value)
    if actions is None or not all(map(is_label, actions)):
        refuse(name, "actions", place, value, ACTIONS)
    return tuple(actions)


def checked_label(name: str, value: object, place: Place) -> str:
    """Return the label of an infoset."""
    if not is_label(value):
        refuse(name, "infoset", place, value, LABEL)
    return value


def checked_probabilities(name: str, value: object, place: Place) -> list[float]:
    """Return the numbers as floats. Callers check that they are a distribution."""
    parts = listed(value)
    numbers = [None] if parts is None else [number(part) for part in parts]
    if None in numbers:
        refuse(name, "probabilities", place, value, PROBABILITIES)
    return cast(list[float], numbers)


def checked_payoffs(name: str, value: object, place: Place) -> tuple[float, float]:
    """Return the payoffs of both players."""
    parts = listed(value)
    if parts is not None:
        payoffs = [number(part) for part in parts]
        if len(payoffs) != 2:
            raise GameError(f"{name} pays {len(payoffs)} players at {place()}; treeplex solves games of two players.")
    else:
        own = number(value)
        payoffs = [own, None if own is None else -own]
    first, second = payoffs
    if first is None or second is None:
        refuse(name, "payoff", place, value, PAYOFF)
    return first, second


def checked_table(name: str, method: str, value: object, place: Place, shape: tuple[int, ...]) -> Floats:
    """Return a NumPy array of finite numbers of this shape."""
    if not _is_numeric(value, shape):
        refuse(name, method, place, value, f"a NumPy array of numbers of the shape {' x '.join(map(str, shape))}")
    return cast(Floats, value)


def checked_settlement(name: str, value: object, place: Place) -> tuple[float, Hashable]:
    """Return amount and table of a settlement."""
    parts = listed(value)
    amount = number(parts[0]) if parts is not None and len(parts) == 2 else None
    if amount is None or parts is None or not math.isfinite(amount) or not isinstance(parts[1], Hashable):
        refuse(name, "settle", place, value, "Settlement(amount, table): a finite number and the name of a table")
    return amount, parts[1]


def is_label(value: object) -> TypeGuard[str]:
    """Whether a value is text that can be stored, without lone surrogates."""
    if not isinstance(value, str):
        return False
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return False
    return True


def number(value: object) -> float | None:
    """Convert a number of any type to a float; None for text and for anything that is not a number."""
    if not isinstance(value, SupportsFloat | SupportsIndex):  # text is neither
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def annotate(error: BaseException, callers: tuple[str, ...], place: Callable[[dict[str, Any]], str]) -> None:
    """Add a note to an exception of a user's rules: the method that raised it, and the position.

    ``callers``: the modules that call the rules. ``place`` describes the position from the local variables of the
    function that called them.
    """
    if isinstance(error, TreeplexError):
        return
    step, called, within = error.__traceback__, "", dict[str, Any]()
    while step is not None:
        after: TracebackType | None = step.tb_next
        if step.tb_frame.f_globals.get("__name__") in callers and "history" in step.tb_frame.f_locals:
            within = step.tb_frame.f_locals
            called = after.tb_frame.f_code.co_name if after is not None else ""
        step = after
    if within:
        method = f"in {called}() of the rules, " if called in METHODS else ""
        error.add_note(f"{method}at {place(within)}")


METHODS: Final = ("root", "mover", "actions", "probabilities", "child", "infoset", "payoff")


def listed(value: object) -> list[Any] | None:
    """Return the parts of a list, a tuple or an array of one dimension; None for anything else, including text."""
    if isinstance(value, np.ndarray):
        return list(cast(Any, value)) if cast(Any, value).ndim == 1 else None
    return list(cast(Any, value)) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else None


def _is_numeric(table: object, shape: tuple[int, ...]) -> bool:
    if not isinstance(table, np.ndarray):
        return False
    array = cast(Any, table)
    return array.dtype.kind in "biuf" and array.shape == shape and bool(np.isfinite(array).all())
