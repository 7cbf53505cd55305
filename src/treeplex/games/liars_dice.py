"""Liar's dice for two: both players roll in secret and raise bids on all dice, until one calls the other a liar."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations_with_replacement
from math import factorial, prod
from typing import Final, NamedTuple

import numpy as np

from treeplex.arrays import Floats
from treeplex.errors import GameError
from treeplex.games.dealt import DealtGame, Settlement
from treeplex.games.parameters import integer, titled
from treeplex.games.protocol import TERMINAL

NO_BID: Final = -1
MOST_BIDS: Final = 32
LIAR: Final = "Liar"


class Bidding(NamedTuple):
    """A public state: the highest bid so far, the player to act, and whether the bid was called."""

    bid: int
    player: int
    called: bool


@dataclass(frozen=True)
class LiarsDice:
    """Dealt rules of liar's dice.

    Bids are "quantity-face", ordered by quantity, then face. The highest face is wild and counts as any face.

    A call wins if fewer dice than bid show the face. The winner gets 1. A player's roll is the multiset of their dice.
    """

    dice: int = 1
    sides: int = 6

    together: bool = False
    separator: str = " "
    ranked: bool = False

    def __post_init__(self) -> None:
        integer("dice", self.dice, 1, 10)
        integer("sides", self.sides, 1, 100)
        if 2 * self.dice * self.sides > MOST_BIDS:
            raise GameError(
                f"dice={self.dice} and sides={self.sides} make {2 * self.dice * self.sides} bids, and the tree grows as"
                f" 2 to that power; at most {MOST_BIDS} bids are possible."
            )

    @property
    def name(self) -> str:
        """The game with its parameters, unless they are one die of six sides."""
        return titled("liars_dice", self)

    def hands(self) -> tuple[Sequence[str], Sequence[str]]:
        """Return the possible rolls, as sorted faces."""
        return self._labels, self._labels

    def deal(self) -> Floats:
        """Return the probabilities of pairs of independent rolls."""
        orders = [factorial(self.dice) // prod(map(factorial, Counter(roll).values())) for roll in self._rolls]
        chance = np.array(orders, dtype=np.float64) / self.sides**self.dice
        return chance[:, None] * chance[None, :]

    def start(self) -> Bidding:
        """Return the state in which player 0 opens."""
        return Bidding(NO_BID, 0, False)

    def mover(self, public: Bidding) -> int:
        """Return the players in turn until a call."""
        return TERMINAL if public.called else public.player

    def actions(self, public: Bidding) -> Sequence[str]:
        """Return all higher bids, and the call of the last one."""
        higher = self._bids[public.bid + 1 :]
        return higher if public.bid == NO_BID else (*higher, LIAR)

    def next(self, public: Bidding, action: str) -> Bidding:
        """Return the state after a bid, which passes the turn, or after a call."""
        if action == LIAR:
            return public._replace(called=True)
        return Bidding(self._bids.index(action), 1 - public.player, False)

    def odds(self, public: Bidding) -> Floats:
        """Return an empty array, because no dice are rolled after the bidding starts."""
        return np.empty((0, len(self._rolls), len(self._rolls)))

    def settle(self, public: Bidding) -> Settlement:
        """Pay 1 to ``player``, who called, if the bid is false."""
        return Settlement(-1.0 if public.player == 0 else 1.0, public.bid)

    def outcome(self, table: Hashable) -> Floats:
        """Return 1 for pairs of rolls for which bid number ``table`` is true, otherwise -1."""
        assert isinstance(table, int)  # noqa: S101 - a bid's number, from settle
        quantity, face = divmod(table, self.sides)
        count = np.array([sum(die in (face + 1, self.sides) for die in roll) for roll in self._rolls])
        return np.where(count[:, None] + count[None, :] > quantity, 1.0, -1.0)

    @cached_property
    def _rolls(self) -> list[tuple[int, ...]]:
        return list(combinations_with_replacement(range(1, self.sides + 1), self.dice))

    @cached_property
    def _labels(self) -> tuple[str, ...]:
        return tuple(("" if self.sides < 10 else ".").join(map(str, roll)) for roll in self._rolls)

    @cached_property
    def _bids(self) -> tuple[str, ...]:
        return tuple(f"{q}-{face}" for q in range(1, 2 * self.dice + 1) for face in range(1, self.sides + 1))


def liars_dice(dice: int = 1, sides: int = 6) -> DealtGame:
    """Build liar's dice with ``dice`` dice of ``sides`` sides each."""
    return DealtGame(LiarsDice(dice, sides))
