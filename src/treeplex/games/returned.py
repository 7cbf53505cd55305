"""What rules return, checked: the one door for rules of users.

Whoever asks rules looks at the type first, which is cheap (``type(mover) is int``), and comes here with the rest:
what is legal after all is returned in the plain type, anything else is refused in a sentence that names method, place
and value. An exception that the rules raise themselves passes through with a note that says where.
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
"""Where the rules were asked, in words: made only when it is needed."""


def refuse(name: str, method: str, place: Place, value: object, law: str) -> NoReturn:
    """What ``method`` returned is not what it must."""
    raise GameError(f"{name}: {method} at {place()} returned {quoted(value)}; it must return {law}.")


def checked_mover(name: str, value: object, place: Place) -> int:
    """Who moves, as an int."""
    if not isinstance(value, Integral):
        refuse(name, "mover", place, value, MOVER)
    return int(value)


def checked_actions(name: str, value: object, place: Place) -> tuple[str, ...]:
    """Labels in an order of their own: a set has none, and a str would be taken letter by letter."""
    actions = listed(value)
    if actions is None or not all(map(is_label, actions)):
        refuse(name, "actions", place, value, ACTIONS)
    return tuple(actions)


def checked_label(name: str, value: object, place: Place) -> str:
    """An infoset's label."""
    if not is_label(value):
        refuse(name, "infoset", place, value, LABEL)
    return value


def checked_probabilities(name: str, value: object, place: Place) -> list[float]:
    """The numbers as floats; whether they are a distribution is for others to say."""
    parts = listed(value)
    numbers = [None] if parts is None else [number(part) for part in parts]
    if None in numbers:
        refuse(name, "probabilities", place, value, PROBABILITIES)
    return cast(list[float], numbers)


def checked_payoffs(name: str, value: object, place: Place) -> tuple[float, float]:
    """What both players get."""
    parts = listed(value)
    if parts is not None:
        shares = [number(part) for part in parts]
        if len(shares) != 2:
            raise GameError(f"{name} pays {len(shares)} players at {place()}; treeplex solves games of two players.")
    else:
        own = number(value)
        shares = [own, None if own is None else -own]
    first, second = shares
    if first is None or second is None:
        refuse(name, "payoff", place, value, PAYOFF)
    return first, second


def checked_table(name: str, method: str, value: object, place: Place, shape: tuple[int, ...]) -> Floats:
    """A NumPy array of finite numbers of this shape."""
    if not _is_numeric(value, shape):
        refuse(name, method, place, value, f"a NumPy array of numbers of the shape {' x '.join(map(str, shape))}")
    return cast(Floats, value)


def checked_settlement(name: str, value: object, place: Place) -> tuple[float, Hashable]:
    """Amount and table."""
    parts = listed(value)
    amount = number(parts[0]) if parts is not None and len(parts) == 2 else None
    if amount is None or parts is None or not math.isfinite(amount) or not isinstance(parts[1], Hashable):
        refuse(name, "settle", place, value, "Settlement(amount, table): a finite number and the name of a table")
    return amount, parts[1]


def is_label(value: object) -> TypeGuard[str]:
    """Text that can be stored: lone surrogates cannot."""
    if not isinstance(value, str):
        return False
    if not value.isascii():
        try:
            value.encode()
        except UnicodeEncodeError:
            return False
    return True


def number(value: object) -> float | None:
    """As a float, whatever its type of number; None for text and for what is no number."""
    if not isinstance(value, SupportsFloat | SupportsIndex):  # which text is not
        return None
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return None


def annotate(error: BaseException, asking: tuple[str, ...], place: Callable[[dict[str, Any]], str]) -> None:
    """Note on an exception of a user's rules which of their methods raised it, and where.

    ``asking``: the modules that ask the rules. ``place`` says where from the local variables of their function.
    """
    if isinstance(error, TreeplexError):
        return
    step, asked, within = error.__traceback__, "", dict[str, Any]()
    while step is not None:
        after: TracebackType | None = step.tb_next
        if step.tb_frame.f_globals.get("__name__") in asking and "history" in step.tb_frame.f_locals:
            within = step.tb_frame.f_locals
            asked = after.tb_frame.f_code.co_name if after is not None else ""
        step = after
    if within:
        method = f"in {asked}() of the rules, " if asked in METHODS else ""
        error.add_note(f"{method}at {place(within)}")


METHODS: Final = ("root", "mover", "actions", "probabilities", "child", "infoset", "payoff")


def listed(value: object) -> list[Any] | None:
    """The parts of what has an order: a list, a tuple, an array of one dimension; None for anything else, also text."""
    if isinstance(value, np.ndarray):
        return list(cast(Any, value)) if cast(Any, value).ndim == 1 else None
    return list(cast(Any, value)) if isinstance(value, Sequence) and not isinstance(value, str | bytes) else None


def _is_numeric(table: object, shape: tuple[int, ...]) -> bool:
    if not isinstance(table, np.ndarray):
        return False
    array = cast(Any, table)
    return array.dtype.kind in "biuf" and array.shape == shape and bool(np.isfinite(array).all())
