"""Runs passes over a subgame: arrays for the kernels, scratch space, and threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable, Sequence
from itertools import pairwise
from queue import SimpleQueue
from typing import Any, Final
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.engines.boards.arrays import (
    ROWS_OF_SUMS,
    STOP,
    UPDATE,
    Betting,
    BoardIndex,
    Level,
    Offsets,
    Player,
    Playing,
    Results,
    Rule,
    Schedules,
    Scratch,
    Snapshot,
    Tables,
    Worker,
)
from treeplex.engines.boards.cpu.addresses import new_table, tabled
from treeplex.engines.boards.cpu.passes import run_passes
from treeplex.engines.boards.cpu.threads import ABORTED, new_sync
from treeplex.engines.boards.game import HoldemGame
from treeplex.system import cores
from treeplex.updates.storage import STORAGES
from treeplex.vectors import LANES

Array = npt.NDArray[Any]
Task = Callable[[int], None]

LINES: Final = 128  # bytes that processors fetch together
MOST_STREETS: Final = 3
PART: Final = 6  # boards of the last street in a part, at most
THREADS_FROM: Final = 2**20  # numbers kept for both players, from which threads pay for their barriers


class Engine:
    """One subgame in one precision with some threads."""

    def __init__(self, game: HoldemGame, work: Any, threads: int) -> None:
        self._game = game
        self._work = np.dtype(work)
        self._threads = threads
        self._levels = [level._replace(betting=self._in_chips(level)) for level in game.levels]
        self.streets = len(game.streets)
        top, middle, last = self._scratch(0), self.streets // 2, self.streets - 1
        self._scratches = [(top, self._scratch(middle), self._scratch(last)) for _ in range(threads if last else 1)]
        boards, columns = (len(game.deals[1]), game.streets[1].roots * self._widest(1)) if last else (0, 0)
        self._found = aligned(boards * columns, self._work).reshape(boards, columns)
        self._part = parts_of(game)
        self._tiles = max(len(betting.tile) - 1 for betting in self._levels[2].betting)
        middle = self._scratches[0][1]
        kept = len(self._found) if self.streets == MOST_STREETS else 0
        self._sums = np.zeros((len(self._part), len(middle.gathered)), self._work)
        self._kept = aligned(kept * len(middle.reach), self._work).reshape(kept, len(middle.reach))
        self._alive = np.zeros((kept, len(middle.alive)), np.bool_)
        self._tables = [self._table(scratches) for scratches in self._scratches]
        self.start = (game.weights(0).astype(self._work), game.weights(1).astype(self._work))

    def run(
        self,
        playing: Playing,
        rule: Rule,
        passes: Sequence[tuple[int, int, int]],
        snapshot: Snapshot | None = None,
        start: tuple[Array, Array] | None = None,
        *,
        schedules: Schedules | None = None,
        keep: bool = False,
    ) -> Floats:
        """Passes (who learns, mode, iteration), one after the other, on all threads.

        Passes that learn need ``schedules``. With ``keep``, returns [passes, H] what each found for the learner's hands
        at the root, not divided by anything.
        """
        threads = self._threads if self.streets > 1 else 1
        given = schedules or Schedules(*np.ones((3, 1)))
        if any(mode == UPDATE and t >= len(given.weight) for _, mode, t in passes):
            raise ValueError("Passes that learn need discounts and weights of their iterations.")
        taken = snapshot or Snapshot(-1, -1, np.empty(0, self._work), np.empty(0, self._work))
        values = np.zeros((len(passes) if keep else 0, max(len(weights) for weights in self.start)))
        steps = np.array(passes, dtype=np.int64).reshape(-1, 3)
        stored = playing.source[0].dtype
        (where, locked), weights = playing.frozen, start or self.start
        players = [Player(*playing.learners[k], playing.source[k], where[k], locked[k], weights[k]) for k in (0, 1)]
        shared = (self._part, self._sums, self._kept, self._alive)
        sync = new_sync(len(self._found), max(len(self._part), len(self._found) * self._tiles), threads)
        results = Results(self._found, values, taken.reach, taken.value, *shared, sync)
        once = new_table()
        for k in (0, 1):
            tabled(once, k, players[k], self._work, stored)
        tabled(once, 0, results, self._work)
        tabled(once, 0, given, self._work)
        tables = [
            np.where(once, once, table) for table in self._tables
        ]  # each has rows of zeros where the other has none

        def work(k: int, passes: Offsets = steps, _alive: Any = (self, players, results, given)) -> None:
            """One thread. If it fails, the others do not wait. It keeps alive what tables have the addresses of."""
            try:
                table = Tables(tables[k], np.empty(0, self._work), np.empty(0, stored))
                worker, chosen = Worker(k, threads), (taken.level, taken.board)
                run_passes(table, self.streets, self._game.chances, rule, passes.copy(), worker, chosen)
            except BaseException:
                sync[ABORTED] = 1
                raise

        if threads == 1:
            work(0)
            return values
        with _HELPERS.busy:
            work(0, steps[:0])  # compiles, if need be, before others wait
            try:
                _HELPERS.run(work, threads)
            except BaseException:
                sync[ABORTED] = 1
                raise
        return values

    def rows(self, player: int) -> tuple[Array, Array]:
        """Reach rows of the opponent and value rows of ``player`` on the first street, after a pass of ``player``."""
        top = self._scratches[0][0]
        pairs = (top.reach, len(self.start[1 - player])), (top.value, len(self.start[player]))
        reach, value = (array[: len(array) // width * width].reshape(-1, width) for array, width in pairs)
        return reach, value

    def betting(self, depth: int, player: int) -> Betting:
        """The betting of a street as ``player`` learns."""
        return self._levels[0 if depth == 0 else 2 if depth == self.streets - 1 else 1].betting[player]

    def snapshot(self, depth: int, board: int, player: int) -> Snapshot:
        """Arrays for a copy of the rows of a board below the first street."""
        street, hands = self._game.streets[depth], self._game.boards[depth].hands
        rows = [street.roots + street.slots(who) for who in (0, 1)]
        width = [int(hands[who].start[board + 1] - hands[who].start[board]) for who in (0, 1)]
        other = 1 - player
        reach = np.zeros(rows[other] * width[other], self._work)
        value = np.zeros(rows[player] * width[player], self._work)
        return Snapshot(2 if depth == self.streets - 1 else 1, board, reach, value)

    def _widest(self, depth: int) -> int:
        return max(int(np.diff(hands.start).max()) for hands in self._game.boards[depth].hands)

    def _in_chips(self, level: Level) -> tuple[Betting, Betting]:
        """Amounts in the precision of the computation."""
        first, second = (each._replace(amount=each.amount.astype(self._work)) for each in level.betting)
        return first, second

    def _table(self, scratches: tuple[Scratch, Scratch, Scratch]) -> Offsets:
        """A thread's table, but for what differs from run to run."""
        table = new_table()
        for k, level in enumerate(self._levels):
            for player in (0, 1):
                tabled(table, 2 * k + player, level.betting[player], self._work)
                tabled(table, 2 * k + player, level.boards.hands[player], self._work)
            tabled(table, k, BoardIndex(*level.boards[1:]), self._work)
            tabled(table, k, scratches[k], self._work)
        return table

    def _scratch(self, depth: int) -> Scratch:
        street, width = self._game.streets[depth], self._widest(depth)
        rows = street.roots + max(street.slots(0), street.slots(1)) + 1  # the last one stays zero
        actions = max((len(decision.node.actions) for decision in street.decisions), default=1)
        lanes, square, sums = width * LANES, 2 * LANES**2, ROWS_OF_SUMS * LANES
        sizes = (rows * width, rows * width, actions * width, width, lanes, lanes, square, sums, street.roots * width)
        lane, count = aligned(4 * LANES, np.int64), len(street.terminals)
        lane[2 * LANES : 3 * LANES] = np.arange(LANES) * LANES
        return Scratch(
            *(aligned(size, self._work) for size in sizes),
            alive=aligned(rows, np.bool_),
            gathered=aligned(len(street.chance_nodes) * width, np.float64),
            lanes=lane,
            terminal=aligned(2 * count, np.int64).reshape(2, count),
            lane=aligned(2 * count, np.int64).reshape(2, count),
            chips=aligned(2 * count, self._work).reshape(2, count),
        )


def parts_of(game: HoldemGame) -> Offsets:
    """Boards of the second street in parts of a few boards of the third, so that threads are done at the same time."""
    if len(game.streets) < MOST_STREETS:
        return np.zeros((0, STOP + 1), np.int64)
    children = game.boards[1].child
    parts: list[tuple[int, int, int, int, int]] = []
    for board, (begin, end) in enumerate(pairwise(children.tolist())):
        first, count = len(parts), -(-(end - begin) // PART)
        cuts = [begin + (end - begin) * k // count for k in range(count + 1)]
        parts += [(board, card, last, first, first + count) for card, last in pairwise(cuts)]
    return np.array(parts, dtype=np.int64)


def aligned(count: int, dtype: Any) -> Array:
    """Zeros that start where a vector of the processor does, and share no pair of cache lines with other arrays."""
    size = count * np.dtype(dtype).itemsize
    raw = np.zeros(size + 2 * LINES, dtype=np.uint8)
    first = -raw.ctypes.data % LINES
    return raw[first : first + size].view(dtype)


class Helpers:
    """Threads that wait for work: to start them anew takes as long as a small subgame's iteration.

    Threads of one run meet at barriers, so ``busy`` keeps two runs from having half of them each.
    """

    def __init__(self) -> None:
        self.busy = threading.RLock()
        self._given: list[SimpleQueue[tuple[Task, int, SimpleQueue[BaseException | None]]]] = []

    def run(self, task: Task, threads: int) -> None:
        """``task(0)`` here, and ``task(1)``, ``task(2)``, ... beside it."""
        while len(self._given) < threads - 1:
            self._given.append(SimpleQueue())
            threading.Thread(target=_serve, args=(self._given[-1],), name="treeplex", daemon=True).start()
        done: SimpleQueue[BaseException | None] = SimpleQueue()
        for k in range(1, threads):
            self._given[k - 1].put((task, k, done))
        task(0)
        for failed in [done.get() for _ in range(1, threads)]:
            if failed is not None:
                raise failed


def _serve(given: SimpleQueue[tuple[Task, int, SimpleQueue[BaseException | None]]]) -> None:
    while True:
        task, k, done = given.get()
        failed = None
        try:
            task(k)
        except BaseException as error:
            failed = error
        done.put(failed)
        del task, done, failed


_HELPERS = Helpers()
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_HELPERS.__init__)  # a child has none of its parent's threads


_ENGINES: WeakKeyDictionary[HoldemGame, dict[tuple[str, int], Engine]] = WeakKeyDictionary()


def threads_for(game: HoldemGame, threads: int = 0) -> int:
    """As many as asked for; 0: all cores where they pay."""
    return threads or (cores() if sum(game.elements(player) for player in (0, 1)) >= THREADS_FROM else 1)


def engine(game: HoldemGame, storage: str, threads: int) -> Engine:
    """The engine for a storage; made once per game."""
    workers = threads_for(game, threads)
    known = _ENGINES.setdefault(game, {})
    work = STORAGES[storage].work
    key = (np.dtype(work).name, workers)
    if key not in known:
        known[key] = Engine(game, work, workers)
    return known[key]
