"""Graph of the full game, for rules that list their sizes: every public state, once.

The public state and the public cards dealt so far determine everything that follows, so lines that lead to the same
state share it. New subgames, action translation and best responses in the full game use this graph. The rules are
called once per state.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from typing import Final

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.public.arrays import NONE
from treeplex.errors import GameError, quoted
from treeplex.games.dealt import Public
from treeplex.games.protocol import CHANCE, TERMINAL
from treeplex.games.returned import number
from treeplex.games.sized import FiniteMenu, candidates_of

MOST: Final = 1_000_000  # public states; more would take gigabytes


@dataclass
class PublicState:
    """A public state, and the numbers of the states that follow."""

    public: Public
    cards: int  # number of the public cards dealt so far
    mover: int
    deals: int  # number of pairs of hands that are possible here
    plain: dict[str, int] = field(
        default_factory=dict[str, int]
    )  # next state by action without a size, or by public card
    sized: dict[float, int] = field(default_factory=dict[float, int])  # next state by legal size, in increasing order
    word: str = ""  # name of an action with a size here
    unit: float = 1.0  # the size that is one in action translation
    default: str = ""  # the action without a size of a player who has no plan for this state
    amount: float = 0.0  # factor of the payoff table at a terminal
    table: int = NONE  # number of the payoff table at a terminal

    @property
    def sizes(self) -> tuple[float, ...]:
        """The legal sizes, in increasing order."""
        return tuple(self.sized)


def every_state(
    rules: FiniteMenu,
    joint: Callable[[int], Floats],
    reveal: Callable[[int, Floats], int],
    table: Callable[[int, Hashable], int],
) -> list[PublicState]:
    """Return all states that any sizes lead to, beginning with the start; raise GameError if there are too many.

    ``joint``, ``reveal`` and ``table`` number public cards and payoff tables.
    """
    listed: list[PublicState] = []
    known: dict[tuple[Public, int], int] = {}

    def numbered(public: Public, cards: int) -> int:
        index = known.setdefault((public, cards), len(listed))
        if index == len(listed):
            if index == MOST:
                raise GameError(
                    f"{rules.name} has more than {MOST:,} public states with all candidates, too many to grow; list"
                    " fewer sizes in 'candidates'."
                )
            deals = int(np.count_nonzero(joint(cards)))
            listed.append(PublicState(public, cards, rules.mover(public), deals))
        return index

    numbered(rules.start(), 0)
    done = 0
    while done < len(listed):
        state, done = listed[done], done + 1
        if state.mover == TERMINAL:
            state.amount, outcome = rules.settle(state.public)
            state.table = table(state.cards, outcome)
            continue
        odds = rules.odds(state.public) if state.mover == CHANCE else None
        for k, action in enumerate(rules.actions(state.public)):
            cards = state.cards if odds is None else reveal(state.cards, odds[k])
            state.plain[action] = numbered(rules.next(state.public, action), cards)
        if odds is None:
            _sizes(rules, state, numbered)
    return listed


def _sizes(rules: FiniteMenu, state: PublicState, numbered: Callable[[Public, int], int]) -> None:
    """Fill in sizes, their name, the default action and the unit of a state in which a player moves."""
    public = state.public
    for size in candidates_of(rules, public):
        state.sized[size] = numbered(rules.sized(public, size), state.cards)
    state.word = rules.word(public) if state.sized else ""
    state.default = rules.default(public)
    if state.default not in state.plain:
        raise GameError(
            f"{rules.name}: default at public state {quoted(public)} returned {quoted(state.default)}; it must return"
            f" one of the actions without a size ({', '.join(state.plain)})."
        )
    unit = number(rules.unit(public))
    if unit is None or not 0.0 < unit < np.inf:
        raise GameError(
            f"{rules.name}: unit at public state {quoted(public)} returned {quoted(rules.unit(public))}; it must return"
            " a positive number."
        )
    state.unit = unit
