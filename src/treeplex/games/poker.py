"""Small poker games with one private card each: Kuhn, Leduc and their larger relatives, as variants of one rule set.

Every game has an ante, one private card, and a round of betting. A public card precedes each further round. A variant
is a deck, an ante, a list of rounds and a ranking of hands.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import comb
from typing import Final, NamedTuple, cast

import numpy as np

from treeplex.arrays import Floats
from treeplex.errors import GameError
from treeplex.games.dealt import WON, DealtGame, Public, Settlement
from treeplex.games.parameters import boolean, choice, integer, title
from treeplex.games.protocol import CHANCE, TERMINAL

NO_CARD: Final = -1
NO_BET: Final = -1
MOST_LINES: Final = 10**8  # largest number of betting lines per round; more would not fit in memory


class Card(NamedTuple):
    """A kind of card: its label, rank, number of copies in the deck, and suit if suits matter."""

    label: str
    rank: int
    copies: int
    suit: int = 0


Ranking = Callable[[Card, tuple[Card, ...]], tuple[int, ...]]
"""Strength of a private card together with the public ones; the larger one wins."""


def pairs(card: Card, board: tuple[Card, ...]) -> tuple[int, ...]:
    """Rank hands: the higher card wins, and a pair with a public card beats all others."""
    return card.rank in [public.rank for public in board], card.rank


class Round(NamedTuple):
    """One round of betting.

    ``sizes``: amounts that a bet or raise may add to a call. With ``rising``, a size is instead the *total* bet of the
    round, and each bet must be a later size than the previous one.
    ``limit``: largest number of bets and raises in the round.
    """

    sizes: tuple[float, ...]
    limit: int
    rising: bool = False


class Pot(NamedTuple):
    """A public state, reduced to what the future depends on."""

    round: int
    board: tuple[int, ...]  # the public cards
    player: int  # player to act
    paid: tuple[float, float]  # chips that each player has put in
    before: float  # chips that each player had put in when this round began
    bets: int  # number of bets and raises in this round, or a larger number with the same future
    last: int  # the size of the last one, or NO_BET
    checked: bool  # whether the previous player has checked
    status: str  # "betting", "dealing", "folded" (by the player before) or "showdown"


class OneCard:
    """Common part of all poker with one private card each: the deck, the deal, and the winner of a showdown.

    A public state has the player to act as ``player`` while its ``status`` is "betting".
    """

    deck: tuple[Card, ...]
    ranking: Ranking = staticmethod(pairs)

    def hands(self) -> tuple[Sequence[str], Sequence[str]]:
        """Return the cards as hands, since each player has one."""
        return self._labels, self._labels

    def deal(self) -> Floats:
        """Return the probabilities of two cards drawn without replacement."""
        copies = np.array([card.copies for card in self.deck], dtype=np.float64)
        total = copies.sum()
        return copies[:, None] * (copies - np.eye(len(copies))) / (total * (total - 1.0))

    def mover(self, public: Public) -> int:
        """Return the player to act."""
        if public.status == "betting":
            return public.player
        return CHANCE if public.status == "dealing" else TERMINAL

    def odds(self, public: Public) -> Floats:
        """Return the odds of the public card, drawn from the deck without two private cards."""
        copies = np.array([card.copies for card in self.deck], dtype=np.float64)
        own = np.eye(len(copies))
        left = copies[:, None, None] - own[:, :, None] - own[:, None, :]
        return np.maximum(left, 0.0) / (copies.sum() - 2.0)

    def outcome(self, table: Hashable) -> Floats:
        """Return 1, 0 or -1 if player 0's hand wins, ties or loses.

        ``table``: the public cards, the only one, or NO_CARD.
        """
        if table == WON:
            return np.ones((len(self.deck), len(self.deck)))
        alone = () if table == NO_CARD else (table,)
        strength = self.strengths(cast(tuple[int, ...], table if isinstance(table, tuple) else alone))
        return np.sign(strength[:, None] - strength[None, :])

    def strengths(self, board: tuple[int, ...]) -> Floats:
        """[H] rank of every card's strength among the distinct strengths on a board."""
        known = self._ranked
        if board not in known:
            public = tuple(self.deck[card] for card in board)
            strengths = [self.ranking(card, public) for card in self.deck]
            ranks = {strength: rank for rank, strength in enumerate(sorted(set(strengths)))}
            known[board] = np.array([ranks[strength] for strength in strengths], dtype=np.float64)
        return known[board]

    @cached_property
    def _ranked(self) -> dict[tuple[int, ...], Floats]:
        """Cache of strengths by board."""
        return {}

    @cached_property
    def _labels(self) -> tuple[str, ...]:
        return tuple(card.label for card in self.deck)


@dataclass(frozen=True)
class Poker(OneCard):
    """Poker with one private card each. Player 0 acts first in every round; ``ranking`` decides which hand wins."""

    name: str
    deck: tuple[Card, ...]
    rounds: tuple[Round, ...]
    ante: float = 1.0
    together: bool = False
    separator: str = " "
    words: Mapping[str, str] | None = None  # other names for "fold", "check", "call", "bet", "raise"
    ranking: Ranking = pairs

    @property
    def ranked(self) -> bool:
        """Whether there are no public cards and all cards differ."""
        return len(self.rounds) == 1 and self.deck == _numbered(len(self.deck))

    def start(self) -> Pot:
        """Return the state in which both players have paid the ante."""
        return Pot(0, (), 0, (self.ante, self.ante), self.ante, 0, NO_BET, False, "betting")

    def actions(self, public: Pot) -> Sequence[str]:
        """Return fold and call after a bet, otherwise check, and bets or raises while the round allows."""
        if public.status == "dealing":
            return [self._labels[card] for card in self.left(public.board)]
        return list(self._moves(public))

    def left(self, board: tuple[int, ...]) -> list[int]:
        """Return the cards of which copies remain beside the public ones."""
        return [number for number, card in enumerate(self.deck) if card.copies > board.count(number)]

    def odds(self, public: Public) -> Floats:
        """Return the odds of the public card, drawn from the deck without private and public cards."""
        copies, own = np.array([card.copies for card in self.deck], dtype=np.float64), np.eye(len(self.deck))
        for card in public.board:
            copies[card] -= 1.0
        left = np.maximum(copies[:, None, None] - own[:, :, None] - own[:, None, :], 0.0)[self.left(public.board)]
        return left / left.sum(axis=0)

    def next(self, public: Pot, action: str) -> Pot:
        """Return the state after one move, or after the public card."""
        if public.status == "dealing":
            before = public.paid[0]
            card = self._labels.index(action)
            return Pot(public.round + 1, (*public.board, card), 0, public.paid, before, 0, NO_BET, False, "betting")
        move, size = self._moves(public)[action]
        other = 1 - public.player
        if move == "fold":
            return public._replace(player=other, status="folded")
        if move == "check" and not public.checked:
            return public._replace(player=other, checked=True)
        if move in ("check", "call"):
            settled = max(public.paid)
            status = "showdown" if public.round + 1 == len(self.rounds) else "dealing"
            return public._replace(player=0, paid=(settled, settled), status=status)
        betting = self.rounds[public.round]
        height = public.before if betting.rising else max(public.paid)
        stake = height + betting.sizes[size]
        paid = (stake, public.paid[1]) if public.player == 0 else (public.paid[0], stake)
        bets = public.bets + 1
        if betting.rising:  # sizes may run out before raises: make states with the same future equal
            bets = max(bets, betting.limit - (len(betting.sizes) - 1 - size))
        return public._replace(player=other, paid=paid, bets=bets, last=size)

    def settle(self, public: Pot) -> Settlement:
        """Pay what the player who folded has put in, or at a showdown what each player has put in."""
        if public.status == "folded":
            folder = 1 - public.player
            return Settlement(public.paid[folder] * (-1.0 if folder == 0 else 1.0), WON)
        return Settlement(public.paid[0], public.board)

    def _moves(self, public: Pot) -> dict[str, tuple[str, int]]:
        """Map the label of every legal move to (move, size)."""
        betting = self.rounds[public.round]
        facing = public.bets > 0
        moves = [("fold", NO_BET), ("call", NO_BET)] if facing else [("check", NO_BET)]
        if public.bets < betting.limit:
            lowest = public.last + 1 if betting.rising else 0
            moves += [("raise" if facing else "bet", size) for size in range(lowest, len(betting.sizes))]
        return {self._word(move, size, betting): (move, size) for move, size in moves}

    def _word(self, move: str, size: int, betting: Round) -> str:
        word = self.words.get(move, move) if self.words else move
        return word if size == NO_BET or len(betting.sizes) == 1 else f"{word}{betting.sizes[size]:g}"


def kuhn() -> DealtGame:
    """Kuhn poker: three cards, ante 1, one bet of 1. Labels are OpenSpiel's: "0pb" is card 0 after a pass and a bet."""
    words = {"fold": "p", "check": "p", "call": "b", "bet": "b"}
    return DealtGame(Poker("kuhn", _numbered(3), (Round((1.0,), 1),), separator="", words=words))


KUHN_SIZES: Final = ("steps", "doubled")
MOST_DOUBLED: Final = 50
"""Largest number of doubled bets; sums of more would not be exact."""


def kuhn_ext(cards: int = 3, bets: int = 1, raises: int = 1, sizes: str = "steps") -> DealtGame:
    """Build Kuhn poker with more cards, ``bets`` bet types, and at most ``raises`` bets per hand.

    Along a line the bet types rise strictly and mean the total bet, so a line is a rising sequence of types. One chance
    move deals both cards. This interpretation gives the paper's 4,967,263 nodes for (3, 20, 7). ``sizes``: the types
    are 1, 2, 3, ... chips ("steps") or 1, 2, 4, 8, ... ("doubled"; the authors' code).
    """
    integer("cards", cards, 2, 1000)
    betting, doubled = _rising(bets, raises), choice("sizes", sizes, KUHN_SIZES) == "doubled"
    if doubled:
        integer("bets", bets, 1, MOST_DOUBLED)
        betting = betting._replace(sizes=tuple(2.0**size for size in range(bets)))
    name = title("kuhn_ext", cards=cards, bets=bets, raises=raises, sizes=sizes if doubled else None)
    return DealtGame(Poker(name, _numbered(cards), (betting,), together=True))


def one_card_poker(deck: int = 13) -> DealtGame:
    """Build Kuhn poker with a deck of ``deck`` cards."""
    integer("deck", deck, 2, 100_000)
    name = title("one_card_poker", deck=deck if deck != 13 else None)
    return DealtGame(Poker(name, _numbered(deck), (Round((1.0,), 1),)))


LEDUC_SIZES: Final = {"rbp": (2.0, 4.0), "dt": (1.0, 2.0)}


def leduc(suits: bool = False, sizes: str = "rbp") -> DealtGame:
    """Build Leduc hold'em: J, Q, K twice each, ante 1, one public card, two rounds of at most two bets.

    With ``suits`` all six cards are distinct, as in OpenSpiel's ``leduc_poker``. Without, cards are ranks, the papers'
    form with 288 infosets. Both have the same value. ``sizes``: "rbp" (bets of 2, then of 4, as in most papers) or "dt"
    (1, then 2; the dynamic thresholding paper).
    """
    first, second = LEDUC_SIZES[choice("sizes", sizes, list(LEDUC_SIZES))]
    name = title("leduc", suits=True if boolean("suits", suits) else None, sizes=sizes if sizes != "rbp" else None)
    return DealtGame(Poker(name, court(suits), (Round((first,), 2), Round((second,), 2))))


LEDUC5_SIZES: Final = {
    "rbp": ((0.5, 1.0, 2.0, 4.0, 8.0), (1.0, 2.0, 4.0, 8.0, 16.0)),
    "dt": ((1.0, 2.0, 4.0, 8.0, 16.0), (2.0, 4.0, 8.0, 16.0, 32.0)),
}


def leduc5(sizes: str = "rbp") -> DealtGame:
    """Build Leduc hold'em by rank with five bet sizes and two bets per round.

    ``sizes``: "rbp" (0.5 ... 8, then 1 ... 16; the regret-based pruning paper) or "dt" (1 ... 16, then 2 ... 32; the
    dynamic thresholding paper).
    """
    first, second = LEDUC5_SIZES[choice("sizes", sizes, list(LEDUC5_SIZES))]
    name = title("leduc5", sizes=sizes if sizes != "rbp" else None)
    return DealtGame(Poker(name, court(), (Round(first, 2), Round(second, 2))))


def leduc_ext(cards: int = 3, bets: int = 1, raises: int = 1) -> DealtGame:
    """Build Leduc hold'em with two cards of each of ``cards`` ranks, and per round ``bets`` types, ``raises`` at most.

    As in ``kuhn_ext``, bet types rise along a round and mean its total bet: 2, 4, 6, ... in the first round and twice
    that in the second. The paper states no rules. Its 245,336 nodes for (5, 5, 1) are those of its authors' published
    code (CFVFP, ``GameLeduc5Pot``), where a player may fold without facing a bet and only a bet after a check can be
    raised. This game has ordinary betting, which gives 44,391.
    """
    integer("cards", cards, 2, 10_000)
    first = _rising(bets, raises, unit=2.0)
    second = _rising(bets, raises, unit=4.0)
    deck = tuple(card._replace(copies=2) for card in _numbered(cards))
    return DealtGame(Poker(title("leduc_ext", cards=cards, bets=bets, raises=raises), deck, (first, second)))


def _rising(bets: int, raises: int, unit: float = 1.0) -> Round:
    integer("bets", bets, 1, 1000)
    integer("raises", raises, 1, 1000)
    lines = sum(comb(bets, length) for length in range(min(raises, bets) + 1))
    if lines > MOST_LINES:
        raise GameError(
            f"bets={bets} and raises={raises} make over {MOST_LINES:,} betting lines per round; choose smaller ones."
        )
    return Round(tuple(unit * (size + 1) for size in range(bets)), raises, rising=True)


def _numbered(cards: int) -> tuple[Card, ...]:
    return tuple(Card(str(rank), rank, 1) for rank in range(cards))


def court(suits: bool = False) -> tuple[Card, ...]:
    """Return a deck of J, Q and K twice each; with ``suits`` the two cards of a rank are distinct."""
    if suits:
        return suited("JQK", "sh")
    return tuple(Card(label, rank, 2) for rank, label in enumerate("JQK"))


def suited(ranks: str, suits: str) -> tuple[Card, ...]:
    """Return a deck with one card of every rank, lowest first, in every suit."""
    return tuple(
        Card(rank + suit, height, 1, number) for height, rank in enumerate(ranks) for number, suit in enumerate(suits)
    )
