"""Games whose only secrets are the hands dealt at the start, such as poker and dice; all later moves are public.

The rules are functions of a *public state*, which contains only what still matters (who moves, the chips paid, the last
bid). ``DealtGame`` turns them into an ordinary ``Game``, history by history. ``treeplex.compiled`` turns them into
arrays without visiting histories one by one, because every deal is followed by the same public tree.
"""

from __future__ import annotations

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, Protocol, runtime_checkable

import numpy as np

from treeplex.arrays import Floats
from treeplex.games.protocol import CHANCE, name_of

Public = Any
"""A public state of dealt rules: any hashable object, opaque to treeplex."""


WON: Final = "won"
"""Name of the payoff table after a fold, when the hands do not matter."""


class Settlement(NamedTuple):
    """Player 0's payoff at a terminal: ``amount`` times the entry for the two hands in the table ``table``."""

    amount: float
    table: Hashable


@runtime_checkable
class DealtRules(Protocol):
    """Rules over public states. ``H0`` and ``H1`` are the numbers of hands that the players can hold."""

    @property
    def name(self) -> str:
        """The canonical name, ``name(parameter=value,...)``."""
        ...

    @property
    def together(self) -> bool:
        """Whether one chance move deals both hands; otherwise player 0's hand is dealt before player 1's."""
        ...

    @property
    def separator(self) -> str:
        """Text between the hand and the public moves in an infoset's label."""
        ...

    @property
    def ranked(self) -> bool:
        """Whether hands are distinct single cards 0, 1, ..., none public, and the higher card wins a showdown.

        The only tables are then ``WON`` and the showdown's, and pairs of hands are never listed.
        """
        ...

    def hands(self) -> tuple[Sequence[str], Sequence[str]]:
        """Labels of the hands that each player can hold."""
        ...

    def deal(self) -> Floats:
        """[H0, H1] probability of dealing both hands."""
        ...

    def start(self) -> Public:
        """The public state after the deal of the hands."""
        ...

    def mover(self, public: Public) -> int:
        """Return the mover: 0, 1, ``CHANCE`` for a public card, or ``TERMINAL``."""
        ...

    def actions(self, public: Public) -> Sequence[str]:
        """Labels of the moves, or of the public cards."""
        ...

    def next(self, public: Public, action: str) -> Public:
        """The public state after ``action``."""
        ...

    def odds(self, public: Public) -> Floats:
        """[A, H0, H1] probability of each public card given both hands; zero if the card is in a hand."""
        ...

    def settle(self, public: Public) -> Settlement:
        """Return the settlement of a terminal."""
        ...

    def outcome(self, table: Hashable) -> Floats:
        """[H0, H1] payoff table that a settlement names."""
        ...


class Dealt(NamedTuple):
    """A history: the hands dealt so far, the public state, and the public moves that led to it."""

    hands: tuple[int, ...]
    public: Public
    line: tuple[str, ...]


@dataclass(frozen=True)
class DealtGame:
    """Dealt rules as a ``Game``."""

    rules: DealtRules

    @property
    def name(self) -> str:
        """The canonical name of the rules."""
        return name_of(self.rules)

    @cached_property
    def _deal(self) -> Floats:
        return self.rules.deal()

    def root(self) -> Dealt:
        """Return the history before the deal."""
        return Dealt((), self.rules.start(), ())

    def mover(self, history: Dealt) -> int:
        """Return ``CHANCE`` until both hands are dealt, then the mover of the public rules."""
        return self.rules.mover(history.public) if len(history.hands) == 2 else CHANCE

    def actions(self, history: Dealt) -> Sequence[str]:
        """Return the public moves, or the hands or public cards that are still possible."""
        first, second = self.rules.hands()
        match history.hands:
            case ():
                if self.rules.together:
                    return [f"{first[a]},{second[b]}" for a, b in np.argwhere(self._deal > 0).tolist()]
                return [first[a] for a in np.flatnonzero(self._deal.sum(axis=1)).tolist()]
            case (hand,):
                return [second[b] for b in np.flatnonzero(self._deal[hand]).tolist()]
            case _:
                actions = self.rules.actions(history.public)
                if self.rules.mover(history.public) != CHANCE:
                    return actions
                return [action for action, odds in zip(actions, self._odds(history), strict=True) if odds > 0]

    def probabilities(self, history: Dealt) -> Sequence[float]:
        """Return the probabilities of the hands or public cards in ``actions``."""
        match history.hands:
            case ():
                chances = self._deal if self.rules.together else self._deal.sum(axis=1)
            case (hand,):
                chances = self._deal[hand] / self._deal[hand].sum()
            case _:
                chances = self._odds(history)
        return chances[chances > 0].tolist()

    def child(self, history: Dealt, action: str) -> Dealt:
        """Deal the next hand, or make a public move."""
        hands = history.hands
        if len(hands) == 2:
            return Dealt(hands, self.rules.next(history.public, action), (*history.line, action))
        names = self.rules.hands()
        if self.rules.together:
            first, second = action.split(",")
            return history._replace(hands=(names[0].index(first), names[1].index(second)))
        return history._replace(hands=(*hands, names[len(hands)].index(action)))

    def infoset(self, history: Dealt) -> str:
        """Join the mover's hand and all public moves."""
        player = self.rules.mover(history.public)
        hand = self.rules.hands()[player][history.hands[player]]
        return self.rules.separator.join((hand, *history.line))

    def payoff(self, history: Dealt) -> float:
        """Return player 0's payoff."""
        amount, table = self.rules.settle(history.public)
        return amount * float(self.rules.outcome(table)[history.hands[0], history.hands[1]])

    def _odds(self, history: Dealt) -> Floats:
        first, second = history.hands
        return self.rules.odds(history.public)[:, first, second]
