"""Suits that can be exchanged: poker in which cards that no strategy needs to tell apart are one.

Renaming the suits changes no rule, so boards that differ by names alone are played alike, and so are hands that no
public card tells apart. On the last board a hand is worth what its strength is worth; so cards of one strength that
could not be told apart before are played alike, too. Nothing is lost: an equilibrium of the game with such classes,
played by every card of a class, is one of the whole game. (After Gilpin & Sandholm 2007, "Lossless abstraction of
imperfect information games"; merges are by these two reasons alone, and not searched for as theirs are.)

A class is called by the first of its cards, a board by its own: the suits are named in the order in which they
come up. So every infoset is one of the whole game that stands for those like it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any, NamedTuple

from treeplex.errors import GameError
from treeplex.games.dealt import Dealt, DealtGame
from treeplex.games.poker import Card, Poker, Pot

Board = tuple[int, ...]
"""Public cards, in the order in which they came."""


class HandClass(NamedTuple):
    """Private cards that are played alike on a board."""

    cards: tuple[int, ...]
    before: int  # number of their class on the board without its last card; 0 without a board
    strength: int  # place among the strengths on the board


@dataclass(frozen=True)
class Suits:
    """The classes of boards and hands of poker whose suits can be exchanged; boards are those with suits renamed."""

    rules: Poker

    def __post_init__(self) -> None:
        grid = {(card.rank, card.suit) for card in self.rules.deck}
        ranks, suits = ({card[k] for card in grid} for k in (0, 1))
        single = all(card.copies == 1 for card in self.rules.deck)
        if not single or not len(self.rules.deck) == len(grid) == len(ranks) * len(suits):
            raise GameError(f"{self.rules.name} has suits that cannot be exchanged: every rank must be in every suit.")

    @cached_property
    def suits(self) -> tuple[int, ...]:
        """Numbers of the suits, in the order in which new ones are named."""
        return tuple(sorted({card.suit for card in self.rules.deck}))

    def following(self, board: Board) -> list[tuple[int, int]]:
        """Cards that may come next, and for how many each stands: a new suit is named once for all."""
        deck, seen = self.rules.deck, self._seen(board)
        new = next((suit for suit in self.suits if suit not in seen), None)
        return [
            (card, 1 if deck[card].suit in seen else len(self.suits) - len(seen))
            for card in self.rules.left(board)
            if deck[card].suit in seen or deck[card].suit == new
        ]

    def classes(self, board: Board) -> list[HandClass]:
        """The classes of hands, by strength and then by the first card."""
        return self._known(board)[0]

    def class_of(self, board: Board) -> list[int]:
        """[cards] the class of every card on a board; -1: the card is on it."""
        return self._known(board)[1]

    def renamed(self, board: Board) -> tuple[Board, list[int]]:
        """A board of the whole game with suits named as they come up, and [cards] what each card is called then."""
        deck, seen = self.rules.deck, self._seen(board)
        order = [*seen, *(suit for suit in self.suits if suit not in seen)]
        name = dict(zip(order, self.suits, strict=True))
        number = {(card.rank, card.suit): place for place, card in enumerate(deck)}
        called = [number[card.rank, name[card.suit]] for card in deck]
        return tuple(called[card] for card in board), called

    def representative(self, hand: int, board: Board) -> tuple[int, Board]:
        """The hand and board that stand for these ones of the whole game."""
        shown, called = self.renamed(board)
        return self.classes(shown)[self.class_of(shown)[called[hand]]].cards[0], shown

    def _seen(self, board: Board) -> list[int]:
        """Suits on the board, in the order in which they came up."""
        return list(dict.fromkeys(self.rules.deck[card].suit for card in board))

    @cached_property
    def _classes(self) -> dict[Board, tuple[list[HandClass], list[int]]]:
        """By the boards that have been asked for."""
        return {}

    def _known(self, board: Board) -> tuple[list[HandClass], list[int]]:
        if board not in self._classes:
            deck, seen, last = self.rules.deck, self._seen(board), len(board) + 1 == len(self.rules.rounds)
            before = self.class_of(board[:-1]) if board else [0] * len(deck)
            strength: list[int] = [int(place) for place in self.rules.strengths(board)]
            members: dict[tuple[int, int, int], list[int]] = {}
            for card in self.rules.left(board):
                suit = deck[card].suit if deck[card].suit in seen else -1
                told = (strength[card], before[card], 0) if last else (strength[card], deck[card].rank, suit)
                members.setdefault(told, []).append(card)
            # Cards of a class were in one class before, because suits that are told apart stay so.
            found = sorted((key[0], cards) for key, cards in members.items())
            classes = [HandClass(tuple(cards), before[cards[0]], place) for place, cards in found]
            of = [-1] * len(deck)
            for number, kind in enumerate(classes):
                for card in kind.cards:
                    of[card] = number
            self._classes[board] = classes, of
        return self._classes[board]


class OneLine(Poker):
    """The public tree of poker along a single board: what all boards have in common; nobody asks it for deals."""

    @staticmethod
    def of(rules: Poker) -> OneLine:
        """That of these rules."""
        return OneLine(**{field.name: getattr(rules, field.name) for field in fields(rules)})

    def hands(self) -> tuple[Sequence[str], Sequence[str]]:
        """The classes there are at first."""
        labels = [self.deck[kind.cards[0]].label for kind in Suits(self).classes(())]
        return labels, labels

    def actions(self, public: Pot) -> Sequence[str]:
        """One public card, or the moves."""
        actions = super().actions(public)
        return actions[:1] if public.status == "dealing" else actions


@dataclass(frozen=True)
class FoldedGame(DealtGame):
    """Poker as a ``Game`` in which players see classes of cards: every history is one of the whole game."""

    rules: Poker
    whole: Poker
    """The same rules by the name of the game in which all cards are told apart."""

    @cached_property
    def suits(self) -> Suits:
        """The classes."""
        return Suits(self.rules)

    def infoset(self, history: Dealt) -> str:
        """The mover's class of hands and every public move, by the infoset of the whole game that stands for it."""
        public: Any = history.public
        hand = history.hands[self.mover(history)]
        return self.rules.separator.join(self._label(hand, public.board, history.line))

    def representative(self, label: str) -> str:
        """The infoset here that an infoset of the whole game belongs to.

        >>> from treeplex.games.rhode_island import rhode_island
        >>> rhode_island().representative("Kc check check 7d bet")
        'Kh check check 7s bet'
        """
        hand, *line = label.split(self.rules.separator)
        number = {card.label: place for place, card in enumerate(self.rules.deck)}
        board = tuple(number[move] for move in line if move in number)
        if hand not in number or number[hand] in board:
            raise GameError(
                f"{self.rules.name} has no infoset {label!r}: it must begin with a card that is not public."
            )
        return self.rules.separator.join(self._label(number[hand], board, tuple(line)))

    def _label(self, hand: int, board: Board, line: tuple[str, ...]) -> list[str]:
        deck: tuple[Card, ...] = self.rules.deck
        card, shown = self.suits.representative(hand, board)
        called = {deck[old].label: deck[new].label for old, new in zip(board, shown, strict=True)}
        return [deck[card].label, *(called.get(move, move) for move in line)]
