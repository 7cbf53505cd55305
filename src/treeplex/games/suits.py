"""Suit isomorphism: poker in which cards that no strategy needs to distinguish are merged.

Renaming the suits does not change the rules. So boards that differ only by the names of suits are played alike, and so
are hands that no public card distinguishes. On the last board the value of a hand depends only on its strength. So
cards of equal strength that were not distinguished before are also played alike. Nothing is lost: an equilibrium of the
game with such classes, played by every card of a class, is an equilibrium of the whole game. (After Gilpin & Sandholm
2007, "Lossless abstraction of imperfect information games"; their merges are searched for, these follow from the two
reasons above.)

A class is named by the first of its cards, and suits of a board are named in the order in which they appear. So every
infoset is one of the whole game, which represents the equivalent ones.
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
"""Public cards, in the order of the deal."""


class HandClass(NamedTuple):
    """A class of private cards that are played alike on a board."""

    cards: tuple[int, ...]
    before: int  # index of their class on the board without its last card; 0 without a board
    strength: int  # rank among the strengths on the board


@dataclass(frozen=True)
class Suits:
    """Classes of boards and hands of poker with exchangeable suits; boards have renamed suits."""

    rules: Poker

    def __post_init__(self) -> None:
        grid = {(card.rank, card.suit) for card in self.rules.deck}
        ranks, suits = ({card[k] for card in grid} for k in (0, 1))
        single = all(card.copies == 1 for card in self.rules.deck)
        if not single or not len(self.rules.deck) == len(grid) == len(ranks) * len(suits):
            raise GameError(f"{self.rules.name} has suits that cannot be exchanged: every rank must be in every suit.")

    @cached_property
    def suits(self) -> tuple[int, ...]:
        """Numbers of the suits, in the order in which renaming uses them."""
        return tuple(sorted({card.suit for card in self.rules.deck}))

    def following(self, board: Board) -> list[tuple[int, int]]:
        """Return the cards that may come next, and the number that each represents; new suits are merged."""
        deck, seen = self.rules.deck, self._seen(board)
        new = next((suit for suit in self.suits if suit not in seen), None)
        return [
            (card, 1 if deck[card].suit in seen else len(self.suits) - len(seen))
            for card in self.rules.left(board)
            if deck[card].suit in seen or deck[card].suit == new
        ]

    def classes(self, board: Board) -> list[HandClass]:
        """Return the classes of hands, by strength and then by the first card."""
        return self._known(board)[0]

    def class_of(self, board: Board) -> list[int]:
        """[cards] class of every card on a board; -1 if the card is on it."""
        return self._known(board)[1]

    def renamed(self, board: Board) -> tuple[Board, list[int]]:
        """Rename the suits of a board in order of appearance; return it, and [cards] the new name of each card."""
        deck, seen = self.rules.deck, self._seen(board)
        order = [*seen, *(suit for suit in self.suits if suit not in seen)]
        name = dict(zip(order, self.suits, strict=True))
        number = {(card.rank, card.suit): index for index, card in enumerate(deck)}
        called = [number[card.rank, name[card.suit]] for card in deck]
        return tuple(called[card] for card in board), called

    def representative(self, hand: int, board: Board) -> tuple[int, Board]:
        """Return the hand and board that represent these of the whole game."""
        shown, called = self.renamed(board)
        return self.classes(shown)[self.class_of(shown)[called[hand]]].cards[0], shown

    def _seen(self, board: Board) -> list[int]:
        """Return the suits on the board, in order of appearance."""
        return list(dict.fromkeys(self.rules.deck[card].suit for card in board))

    @cached_property
    def _classes(self) -> dict[Board, tuple[list[HandClass], list[int]]]:
        """Cache of classes by board."""
        return {}

    def _known(self, board: Board) -> tuple[list[HandClass], list[int]]:
        if board not in self._classes:
            deck, seen, last = self.rules.deck, self._seen(board), len(board) + 1 == len(self.rules.rounds)
            before = self.class_of(board[:-1]) if board else [0] * len(deck)
            strength: list[int] = [int(rank) for rank in self.rules.strengths(board)]
            members: dict[tuple[int, int, int], list[int]] = {}
            for card in self.rules.left(board):
                suit = deck[card].suit if deck[card].suit in seen else -1
                signature = (strength[card], before[card], 0) if last else (strength[card], deck[card].rank, suit)
                members.setdefault(signature, []).append(card)
            # Cards of a class were in one class before, because suits that are distinguished stay distinguished.
            by_strength = sorted((key[0], cards) for key, cards in members.items())
            classes = [HandClass(tuple(cards), before[cards[0]], rank) for rank, cards in by_strength]
            of = [-1] * len(deck)
            for number, kind in enumerate(classes):
                for card in kind.cards:
                    of[card] = number
            self._classes[board] = classes, of
        return self._classes[board]


class OneLine(Poker):
    """Poker rules for the public tree along a single board, the common part of all boards; deals are not used."""

    @staticmethod
    def of(rules: Poker) -> OneLine:
        """Build the rules along a single board from these rules."""
        return OneLine(**{field.name: getattr(rules, field.name) for field in fields(rules)})

    def hands(self) -> tuple[Sequence[str], Sequence[str]]:
        """Return the classes of hands before any public card."""
        labels = [self.deck[kind.cards[0]].label for kind in Suits(self).classes(())]
        return labels, labels

    def actions(self, public: Pot) -> Sequence[str]:
        """Return one public card, or the moves."""
        actions = super().actions(public)
        return actions[:1] if public.status == "dealing" else actions


@dataclass(frozen=True)
class FoldedGame(DealtGame):
    """Poker as a ``Game`` in which players see classes of cards; every history is one of the whole game."""

    rules: Poker
    whole: Poker
    """The rules under the name of the whole game, in which all cards are distinguished."""

    @cached_property
    def suits(self) -> Suits:
        """Classes of boards and hands."""
        return Suits(self.rules)

    def infoset(self, history: Dealt) -> str:
        """Join the mover's class and all public moves, as the infoset of the whole game that represents it."""
        public: Any = history.public
        hand = history.hands[self.mover(history)]
        return self.rules.separator.join(self._label(hand, public.board, history.line))

    def representative(self, label: str) -> str:
        """Return the infoset of this game that an infoset of the whole game belongs to.

        >>> from treeplex.games.rhode_island import rhode_island
        >>> rhode_island().representative("Kc check check 7d bet")
        'Kh check check 7s bet'
        """
        hand, *line = label.split(self.rules.separator)
        number = {card.label: index for index, card in enumerate(self.rules.deck)}
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
