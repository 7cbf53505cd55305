"""Games in which some actions have a size from an interval or a list, and finite games with a few of these sizes.

``ActionMenu`` extends ``DealtRules`` by such actions. ``Abstraction`` is the finite game for a choice of sizes.
``treeplex.abstraction`` lets the choice grow while the game is being solved.
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

DIGITS: Final = 6  # significant digits of a size, so that labels of sizes differ
OTHERWISE: Final = "*"
"""Key of the sizes for all lines that a mapping does not name."""

Sizes = Sequence[float] | Sequence[Sequence[float]] | Mapping[str, Sequence[float]]
"""Sizes to offer: one list, a list per street, or lists by line, with ``"*"`` for lines that are not named."""


@runtime_checkable
class ActionMenu(DealtRules, Protocol):
    """Dealt rules in which a mover may also choose an action that has a size.

    ``actions`` and ``next`` refer to the actions without a size. The legal sizes are either any number in an interval
    (``IntervalMenu``) or a list of numbers at each state (``FiniteMenu``).
    """

    @property
    def payoff_scale(self) -> tuple[float, float] | None:
        """Factor of payoffs as a linear function of the size: its constant, and its slope per unit of size.

        Behind an action of size x every payoff is ``payoff_scale[0] + payoff_scale[1] * x`` times the payoff at a scale
        of one. Only a reply that ends the game at once (a fold) may have a payoff that does not depend on the size.
        Regret transfer and the exact best response over an interval rely on this. None means that payoffs are not
        proportional, for example because stacks are finite. The rules are then a ``FiniteMenu``.
        """
        ...

    def sized(self, public: Public, size: float) -> Public:
        """Return the public state after the action of this size."""
        ...

    def word(self, public: Public) -> str:
        """Return the name of the action with a size at this state, such as "bet"."""
        ...

    def street(self, public: Public) -> int:
        """Return the number of the betting round, for sizes that are chosen by street."""
        ...


@runtime_checkable
class IntervalMenu(ActionMenu, Protocol):
    """Rules with sizes from an interval, whose payoffs are proportional to ``payoff_scale``."""

    def interval(self, public: Public) -> tuple[float, float] | None:
        """Return the smallest and the largest legal size at this state; None if no action has a size."""
        ...


@runtime_checkable
class FiniteMenu(ActionMenu, Protocol):
    """Rules with finitely many sizes, after which any rules may apply. ``payoff_scale`` is None."""

    def candidates(self, public: Public) -> Sequence[float]:
        """Return the legal sizes at this state, positive numbers of at most six significant digits; may be empty."""
        ...

    def unit(self, public: Public) -> float:
        """Return the unit of sizes for action translation: in poker, the pot after a call."""
        ...

    def default(self, public: Public) -> str:
        """Return the action of a player whose abstraction has no decision here: in poker, check or call."""
        ...


def is_finite(rules: ActionMenu) -> TypeGuard[FiniteMenu]:
    """Whether the rules list the legal sizes; raise GameError if they have neither these nor ``payoff_scale``."""
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
    """Return the legal sizes at a state where a player moves, in order."""
    returned = rules.candidates(public)
    numbers = [number(each) for each in listed(returned) or []]
    sizes = [size for size in numbers if size is not None and 0.0 < size < math.inf and rounded(size) == size]
    if listed(returned) is None or len(set(sizes)) < len(numbers):
        law = f"positive numbers of {DIGITS} significant digits at most, all different"
        refuse(rules.name, "candidates", lambda: f"public state {quoted(public)}", returned, law)
    return tuple(sorted(sizes))


def interval_of(rules: ActionMenu, public: Public) -> tuple[float, float] | None:
    """Return the smallest and the largest legal size at a state where a player moves; None if there are no sizes."""
    if is_finite(rules):
        legal = candidates_of(rules, public)
        return (legal[0], legal[-1]) if legal else None
    return cast(IntervalMenu, rules).interval(public)


class _Seen(NamedTuple):
    """A public state and, if sizes depend on it, the line that led to it."""

    public: Public
    line: tuple[str, ...] | None


@dataclass(frozen=True)
class Menu:
    """The sizes of an abstraction: one list, lists by street, or lists by line."""

    everywhere: tuple[float, ...] | None = None
    by_street: tuple[tuple[float, ...], ...] | None = None
    by_line: Mapping[str, tuple[float, ...]] | None = None

    @staticmethod
    def read(sizes: object, low: float, high: float) -> Menu:
        """Build the menu for ``sizes``; raise ParameterError unless every size is from ``low`` to ``high``."""
        if isinstance(sizes, Mapping):
            lines = cast(Mapping[Any, Any], sizes)
            if OTHERWISE not in lines:
                raise ParameterError(
                    f"The 'sizes' parameter by line must have an entry \"{OTHERWISE}\" for all other lines."
                )
            return Menu(by_line={str(line): _sizes(own_sizes, low, high) for line, own_sizes in lines.items()})
        parts = listed(sizes) or []
        if any(isinstance(part, list | tuple) for part in parts):
            return Menu(by_street=tuple(_sizes(own_sizes, low, high) for own_sizes in parts))
        return Menu(everywhere=_sizes(sizes, low, high))

    def at(self, rules: ActionMenu, public: Public, line: tuple[str, ...] | None) -> tuple[float, ...]:
        """Return the sizes of the abstraction at a state after ``line``; None: a line that is not named.

        If the rules list the legal sizes, an illegal size becomes the nearest legal one.
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
    """Dealt rules of the finite game in which only the sizes of ``menu`` may be chosen."""

    rules: ActionMenu
    menu: Menu
    name: str

    together: bool = False
    ranked: bool = False

    @property
    def separator(self) -> str:
        """The separator of the rules."""
        return self.rules.separator

    def hands(self) -> tuple[Sequence[str], Sequence[str]]:
        """Return the hands of the rules."""
        return self.rules.hands()

    def deal(self) -> Floats:
        """Return the deal of the rules."""
        return self.rules.deal()

    def start(self) -> _Seen:
        """Return the state before any action."""
        return _Seen(self.rules.start(), () if self.menu.by_line is not None else None)

    def mover(self, public: _Seen) -> int:
        """Return the mover of the rules."""
        return self.rules.mover(public.public)

    def actions(self, public: _Seen) -> Sequence[str]:
        """Return the actions without a size, then those with the sizes of the abstraction, smallest first."""
        plain = checked_actions(self.name, self.rules.actions(public.public), _place(public))
        return [*plain, *self._offered(public)]

    def next(self, public: _Seen, action: str) -> _Seen:
        """Return the state after ``action``."""
        size = self._offered(public).get(action)
        state = self.rules.next(public.public, action) if size is None else self.rules.sized(public.public, size)
        return _Seen(state, None if public.line is None else (*public.line, action))

    def odds(self, public: _Seen) -> Floats:
        """Return the odds of the rules."""
        return self.rules.odds(public.public)

    def settle(self, public: _Seen) -> Settlement:
        """Return the settlement of the rules."""
        return self.rules.settle(public.public)

    def outcome(self, table: Hashable) -> Floats:
        """Return the payoff table of the rules."""
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
    """Format the label of an action with a size, such as ``bet0.5``."""
    return f"{word}{size:.{DIGITS}g}"


def rounded(size: float) -> float:
    """Round a size to the digits of its label."""
    return float(f"{size:.{DIGITS}g}")


def _sizes(sizes: object, low: float, high: float) -> tuple[float, ...]:
    """Check and sort sizes, each from ``low`` to ``high``, and drop repeats."""
    numbers = listed(sizes) or []
    legal = [
        rounded(float(number))
        for number in numbers
        if isinstance(number, int | float) and not isinstance(number, bool) and low <= number <= high
    ]
    if not numbers or len(legal) < len(numbers):
        raise ParameterError(
            f"The 'sizes' parameter must list one or more numbers from {low:g} to {high:g}, got {quoted(sizes)}."
        )
    return tuple(sorted(set(legal)))
