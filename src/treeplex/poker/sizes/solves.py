"""Games being solved further and further, and what is known of their values: certified intervals, all in float64.

A game's value to a player lies between what the player's average strategy guarantees and what the opponent's concedes,
both found by a best response; the interval is as wide as NashConv. What earlier looks proved stays proved.
"""

from __future__ import annotations

import math
import time
from typing import Final

import numpy as np

from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.api import DEFAULT_SPOT_ALGORITHM
from treeplex.engines.boards.arrays import Sources
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.locks import no_locks
from treeplex.engines.boards.trees import copy_rows
from treeplex.errors import SolverError
from treeplex.poker.views.reader import Reader

STORAGE: Final = "float64"
FIRST: Final = 20  # iterations before the first look
STEEP: Final = 2.0  # NashConv falls about like 1 / t^STEEP
LEAST, MOST = 1.05, 1.6  # the next look is at between LEAST and MOST times the iterations of the last
PIECE: Final = 0.2  # seconds
ENDLESS: Final = 200_000  # iterations


class Solve:
    """One game, one player's value in it."""

    def __init__(self, game: HoldemGame, player: int, threads: int) -> None:
        self.game, self.player, self.threads = game, player, threads
        execution = Execution(storage=STORAGE, threads=threads)
        self._solver = build(DEFAULT_SPOT_ALGORITHM).open(game, execution)
        self._state = self._solver.start(game)
        self.low, self.high = -math.inf, math.inf
        self.work = 0  # passes times public nodes
        self._pace = float(FIRST)  # iterations in a piece

    @property
    def width(self) -> float:
        """How much is not known."""
        return self.high - self.low

    @property
    def iterations(self) -> int:
        """Done so far."""
        return self._state.iteration

    @property
    def reader(self) -> Reader:
        """The average strategies so far."""
        reader: Reader = self._solver.report(self.game, self._state, "average").policy()
        return reader

    def until(self, width: float) -> Solve:
        """Go on until the interval is no wider."""
        while self.width > width:
            count = max(self._next(width) - self.iterations, 1)
            if self.iterations + count > ENDLESS:
                raise SolverError(f"{self.game.name} is not solved to {width:g} after {self.iterations:,} iterations.")
            self._advance(count)
            self._look()
            self.work += self.game.nodes * (2 * count + 2)
        return self

    def _advance(self, count: int) -> None:
        """In pieces, so that Ctrl-C is heard."""
        last = self.iterations + count
        while self.iterations < last:
            began, done = time.perf_counter(), min(last - self.iterations, max(int(self._pace), 1))
            self._state = self._solver.advance(self.game, self._state, done)
            self._pace = done * PIECE / max(time.perf_counter() - began, 1e-9)

    def _look(self) -> None:
        pot, values = self.game.spot.pot, self.reader.best_response_values()
        high, low = values[self.player], pot - values[1 - self.player]
        self.low, self.high = max(self.low, low), min(self.high, high)

    def _next(self, width: float) -> int:
        """Where the interval should be that wide, with what is known of how it narrows."""
        if not self.iterations:
            return FIRST
        steps = (max(self.width, 1e-300) / width) ** (1.0 / STEEP)
        return math.ceil(self.iterations * min(max(steps, LEAST), MOST))


def joined(rich: Solve, kept: Solve) -> Reader:
    """The rich game, in which the opponent plays as in the other one wherever that has the line."""
    other = 1 - rich.player
    numbers = rich.reader.sources[other].copy()
    copy_rows(rich.game, numbers, kept.game, kept.reader.sources[other], other)
    own = rich.reader.sources[rich.player]
    sources = Sources(numbers, own) if other == 0 else Sources(own, numbers)
    return Reader(rich.game, sources, no_locks(rich.game, STORAGE), STORAGE, rich.threads)


def concede(game: HoldemGame, player: int, known: list[Solve], threads: int) -> float:
    """What the opponent concedes in ``game`` by playing as in the first of the solved games that has the line.

    One best response: an upper bound on the value of ``game`` to ``player``. The opponent has the same actions in all.
    """
    other = 1 - player
    numbers, own = np.zeros(game.elements(other)), np.zeros(game.elements(player))
    for solved in reversed(known):
        copy_rows(game, numbers, solved.game, solved.reader.sources[other], other)
    sources = Sources(numbers, own) if other == 0 else Sources(own, numbers)
    return Reader(game, sources, no_locks(game, STORAGE), STORAGE, threads).best_response_value(player)
