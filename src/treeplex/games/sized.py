"""Games in which some actions have a size, of an interval or of a list, and the finite games that have a few of them.

``ActionMenu`` is what such rules say beside ``DealtRules``. ``Abstraction`` is the finite game that a choice of sizes
makes of them. ``treeplex.abstraction`` lets the choice grow while the game is being solved.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, Protocol, TypeGuard, cast, runtime_checkable

from treeplex.arrays import Floats
from treeplex.errors import GameError, ParameterError, quoted
from treeplex.games.dealt import DealtRules, Public, Settlement
from treeplex.games.mapping import nearest_legal
from treeplex.games.returned import Place, checked_actions, checked_mover, listed, number, refuse

DIGITS: Final = 6  # significant digits of a size, so that labels tell sizes apart
OTHERWISE: Final = "*"
"""The key of the sizes for lines that a mapping does not name."""

Sizes = Sequence[float] | Sequence[Sequence[float]] | Mapping[str, Sequence[float]]
"""Sizes to offer: everywhere; a list for each street; or by line, with ``"*"`` for lines that are not named."""


@runtime_checkable
class ActionMenu(DealtRules, Protocol):
    """Dealt rules in which a mover may also choose an action that has a size.

    ``actions`` and ``next`` are about the actions without a size. Which sizes are legal is said in one of two ways:
    ``IntervalMenu``, any number of an interval, or ``FiniteMenu``, some numbers at each state.
    """

    @property
    def payoff_scale(self) -> tuple[float, float] | None:
        """What a size multiplies payoffs by: a constant, and what is added for each unit of size.

        Behind an action of size x every payoff is ``payoff_scale[0] + payoff_scale[1] * x`` times what it would be at a
        scale of one; only an answer that ends the game at once (a fold) may pay the same whatever the size. Regret
        transfer and the exact best response over an interval rest on this. None: payoffs are not proportional to
        anything, as where stacks are finite; the rules are then a ``FiniteMenu``.
        """
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


@runtime_checkable
class IntervalMenu(ActionMenu, Protocol):
    """Rules with sizes from an interval, whose payoffs are proportional to ``payoff_scale``."""

    def interval(self, public: Public) -> tuple[float, float] | None:
        """The least and the largest legal size here; None where no action has a size."""
        ...


@runtime_checkable
class FiniteMenu(ActionMenu, Protocol):
    """Rules with finitely many sizes; what follows a size is whatever the rules say. ``payoff_scale`` is None."""

    def candidates(self, public: Public) -> Sequence[float]:
        """The legal sizes here, positive numbers of six significant digits at most; none where no action has a size."""
        ...

    def unit(self, public: Public) -> float:
        """The size that action translation counts as one: in poker, the pot after a call."""
        ...

    def default(self, public: Public) -> str:
        """The action without a size of a player whose abstraction has no decision here: in poker, check or call."""
        ...


def is_finite(rules: ActionMenu) -> TypeGuard[FiniteMenu]:
    """Do the rules list the legal sizes? Refused if they say neither which there are nor how payoffs scale."""
    if rules.payoff_scale is not None:
        return False
    missing = [name for name in ("candidates", "unit", "default") if not hasattr(rules, name)]
    if missing:
        raise GameError(
            f"{rules.name} has no payoff_scale and must then have the methods candidates, unit and default; "
            f"{missing[0]} is missing."
        )
    return True


def candidates_of(rules: FiniteMenu, public: Public) -> tuple[float, ...]:
    """The legal sizes at a state where a player moves, in order."""
    given = rules.candidates(public)
    numbers = [number(each) for each in listed(given) or []]
    sizes = [size for size in numbers if size is not None and 0.0 < size < math.inf and rounded(size) == size]
    if listed(given) is None or len(set(sizes)) < len(numbers):
        law = f"positive numbers of {DIGITS} significant digits at most, all different"
        refuse(rules.name, "candidates", lambda: f"public state {quoted(public)}", given, law)
    return tuple(sorted(sizes))


def interval_of(rules: ActionMenu, public: Public) -> tuple[float, float] | None:
    """The least and the largest legal size at a state where a player moves; None where no action has a size."""
    if is_finite(rules):
        legal = candidates_of(rules, public)
        return (legal[0], legal[-1]) if legal else None
    return cast(IntervalMenu, rules).interval(public)


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
    def read(sizes: object, low: float, high: float) -> Menu:
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
        """The sizes in the abstraction in a state that such a line has led to; None: some line that is not named.

        Where the rules list the legal sizes, one that is not legal here becomes the nearest one that is.
        """
        sizes = self._named(rules, public, line)
        if not is_finite(rules):
            return sizes
        legal = candidates_of(rules, public)
        return tuple(sorted({nearest_legal(size, legal) for size in sizes})) if legal else ()

    def _named(self, rules: ActionMenu, public: Public, line: tuple[str, ...] | None) -> tuple[float, ...]:
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
        if mover < 0 or interval_of(self.rules, public.public) is None:
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


def _sizes(given: object, low: float, high: float) -> tuple[float, ...]:
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
