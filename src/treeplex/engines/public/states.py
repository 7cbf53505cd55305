"""Every public state of rules that list their sizes, once: the full game as a graph.

A public state and the public cards that are out determine what follows, so states are shared by the lines that lead to
them. New subgames, action translation and best responses in the full game are read off this graph; the rules are asked
once per state.
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

MOST: Final = 1_000_000  # public states, which would take gigabytes


@dataclass
class PublicState:
    """A public state, and the numbers of those that follow."""

    public: Public
    cards: int  # the public cards so far, as a number
    mover: int
    deals: int  # pairs of hands possible here
    plain: dict[str, int] = field(default_factory=dict[str, int])  # by action without a size, or public card
    sized: dict[float, int] = field(default_factory=dict[float, int])  # by legal size, in order
    word: str = ""  # what an action with a size is called here
    unit: float = 1.0  # the size that action translation counts as one
    default: str = ""  # the action without a size of a player who has no plan for this state
    amount: float = 0.0  # factor of the payoff table at a terminal
    table: int = NONE  # number of that table

    @property
    def sizes(self) -> tuple[float, ...]:
        """The legal sizes, in order."""
        return tuple(self.sized)


def every_state(
    rules: FiniteMenu,
    joint: Callable[[int], Floats],
    reveal: Callable[[int, Floats], int],
    table: Callable[[int, Hashable], int],
) -> list[PublicState]:
    """All states that any sizes lead to; the first is the start. Refused if they are too many to list.

    ``joint``, ``reveal`` and ``table`` number public cards and payoff tables.
    """
    listed: list[PublicState] = []
    known: dict[tuple[Public, int], int] = {}

    def numbered(public: Public, cards: int) -> int:
        found = known.setdefault((public, cards), len(listed))
        if found == len(listed):
            if found == MOST:
                raise GameError(
                    f"{rules.name} has more than {MOST:,} public states with all candidates, too many to grow; list"
                    " fewer sizes in 'candidates'."
                )
            deals = int(np.count_nonzero(joint(cards)))
            listed.append(PublicState(public, cards, rules.mover(public), deals))
        return found

    numbered(rules.start(), 0)
    done = 0
    while done < len(listed):
        state, done = listed[done], done + 1
        if state.mover == TERMINAL:
            state.amount, outcome = rules.settle(state.public)
            state.table = table(state.cards, outcome)
            continue
        odds = rules.odds(state.public) if state.mover == CHANCE else None
        for place, action in enumerate(rules.actions(state.public)):
            cards = state.cards if odds is None else reveal(state.cards, odds[place])
            state.plain[action] = numbered(rules.next(state.public, action), cards)
        if odds is None:
            _sizes(rules, state, numbered)
    return listed


def _sizes(rules: FiniteMenu, state: PublicState, numbered: Callable[[Public, int], int]) -> None:
    """What a player's state has beside actions without a size."""
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
