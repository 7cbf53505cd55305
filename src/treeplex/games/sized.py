"""Games in which some actions have a size, any number of an interval, and the finite games that have a few of them.

``ActionMenu`` is what such rules say beside ``DealtRules``. ``Abstraction`` is the finite game that a choice of sizes
makes of them. ``treeplex.abstraction`` lets the choice grow while the game is being solved.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol, cast, runtime_checkable

from treeplex.arrays import Floats
from treeplex.errors import ParameterError, quoted
from treeplex.games.dealt import DealtRules, Public, Settlement
from treeplex.games.returned import Place, checked_actions, checked_mover, listed

DIGITS: Final = 6  # significant digits of a size, so that labels tell sizes apart
OTHERWISE: Final = "*"
"""The key of the sizes for lines that a mapping does not name."""

Sizes = Sequence[float] | Sequence[Sequence[float]] | Mapping[str, Sequence[float]]
"""Sizes to offer: everywhere; a list for each street; or by line, with ``"*"`` for lines that are not named."""


@runtime_checkable
class ActionMenu(DealtRules, Protocol):
    """Dealt rules in which a mover may also choose an action of any size in an interval.

    ``actions`` and ``next`` are about the actions without a size. Behind an action of size x every payoff is
    ``payoff_scale[0] + payoff_scale[1] * x`` times what it would be at a scale of one; only an answer that ends the
    game at once (a fold) may pay the same whatever the size. Regret transfer and the exact best response over the
    interval rest on this.
    """

    @property
    def payoff_scale(self) -> tuple[float, float]:
        """What a size multiplies payoffs by: a constant, and what is added for each unit of size."""
        ...

    def interval(self, public: Public) -> tuple[float, float] | None:
        """The least and the largest legal size here; None where no action has a size."""
        ...

    def sized(self, public: Public, size: float) -> Public:
        """The public state after the action of this size."""
        ...

    def word(self, public: Public) -> str:
        """What the action with a size is called here: "bet"."""
        ...

    def street(self, public: Public) -> int:
        """The number of the betting round, for sizes that are chosen by street."""
        ...


class _Seen(NamedTuple):
    """A public state and, where sizes depend on it, the line that led to it."""

    public: Public
    line: tuple[str, ...] | None


@dataclass(frozen=True)
class Menu:
    """Which sizes are in the abstraction, and where."""

    everywhere: tuple[float, ...] | None = None
    by_street: tuple[tuple[float, ...], ...] | None = None
    by_line: Mapping[str, tuple[float, ...]] | None = None

    @staticmethod
    def read(sizes: Any, low: float, high: float) -> Menu:
        """The menu that ``sizes`` describes; refused unless every size lies from ``low`` to ``high``."""
        if isinstance(sizes, Mapping):
            lines = cast(Mapping[Any, Any], sizes)
            if OTHERWISE not in lines:
                raise ParameterError(
                    f"The 'sizes' parameter by line must have an entry \"{OTHERWISE}\" for all other lines."
                )
            return Menu(by_line={str(line): _sizes(given, low, high) for line, given in lines.items()})
        parts = listed(sizes) or []
        if any(isinstance(part, list | tuple) for part in parts):
            return Menu(by_street=tuple(_sizes(given, low, high) for given in parts))
        return Menu(everywhere=_sizes(sizes, low, high))

    def at(self, rules: ActionMenu, public: Public, line: tuple[str, ...] | None) -> tuple[float, ...]:
        """The sizes in the abstraction in a state that such a line has led to; None: some line that is not named."""
        if self.by_line is not None:
            named = OTHERWISE if line is None else rules.separator.join(line)
            return self.by_line.get(named, self.by_line[OTHERWISE])
        if self.by_street is not None:
            return self.by_street[min(rules.street(public), len(self.by_street) - 1)]
        return self.everywhere or ()


@dataclass(frozen=True)
class Abstraction:
    """The finite game in which only the sizes of ``menu`` may be chosen: dealt rules like any other."""

    rules: ActionMenu
    menu: Menu
    name: str

    together: bool = False
    ranked: bool = False

    @property
    def separator(self) -> str:
        """That of the rules."""
        return self.rules.separator

    def hands(self) -> tuple[Sequence[str], Sequence[str]]:
        """Those of the rules."""
        return self.rules.hands()

    def deal(self) -> Floats:
        """That of the rules."""
        return self.rules.deal()

    def start(self) -> _Seen:
        """Nothing has been done yet."""
        return _Seen(self.rules.start(), () if self.menu.by_line is not None else None)

    def mover(self, public: _Seen) -> int:
        """Who moves."""
        return self.rules.mover(public.public)

    def actions(self, public: _Seen) -> Sequence[str]:
        """Actions without a size, then those of the sizes in the abstraction, smallest first."""
        plain = checked_actions(self.name, self.rules.actions(public.public), _place(public))
        return [*plain, *self._offered(public)]

    def next(self, public: _Seen, action: str) -> _Seen:
        """The state after ``action``."""
        size = self._offered(public).get(action)
        state = self.rules.next(public.public, action) if size is None else self.rules.sized(public.public, size)
        return _Seen(state, None if public.line is None else (*public.line, action))

    def odds(self, public: _Seen) -> Floats:
        """Those of the rules."""
        return self.rules.odds(public.public)

    def settle(self, public: _Seen) -> Settlement:
        """As the rules settle."""
        return self.rules.settle(public.public)

    def outcome(self, table: Hashable) -> Floats:
        """Those of the rules."""
        return self.rules.outcome(table)

    def _offered(self, public: _Seen) -> dict[str, float]:
        mover = checked_mover(self.name, self.rules.mover(public.public), _place(public))
        if mover < 0 or self.rules.interval(public.public) is None:
            return {}
        word = self.rules.word(public.public)
        return {sized_label(word, size): size for size in self.menu.at(self.rules, public.public, public.line)}


def _place(public: _Seen) -> Place:
    return lambda: f"public state {quoted(public.public)}"


def sized_label(word: str, size: float) -> str:
    """``bet0.5``."""
    return f"{word}{size:.{DIGITS}g}"


def rounded(size: float) -> float:
    """The size with as many digits as its label has."""
    return float(f"{size:.{DIGITS}g}")


def _sizes(given: Any, low: float, high: float) -> tuple[float, ...]:
    """In order and without repeats, each from ``low`` to ``high``."""
    numbers = listed(given) or []
    legal = [
        rounded(float(number))
        for number in numbers
        if isinstance(number, int | float) and not isinstance(number, bool) and low <= number <= high
    ]
    if not numbers or len(legal) < len(numbers):
        raise ParameterError(
            f"The 'sizes' parameter must list one or more numbers from {low:g} to {high:g}, got {quoted(given)}."
        )
    return tuple(sorted(set(legal)))
