"""Engine that runs passes over a subgame: arrays for the kernels, and threads."""

from __future__ import annotations

import os
import threading
from collections.abc import Sequence
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.engines.boards.arrays import (
    UPDATE,
    WHOLE,
    Array,
    Betting,
    BoardIndex,
    Level,
    Offsets,
    PassArrays,
    PassRule,
    PassWorker,
    PlayerArrays,
    Playing,
    Results,
    RuleCalls,
    Schedules,
    Snapshot,
    StreetScratch,
    no_calls,
)
from treeplex.engines.boards.cpu.addresses import new_table, write_row
from treeplex.engines.boards.cpu.passes import run_passes
from treeplex.engines.boards.cpu.tasks import new_board_sync
from treeplex.engines.boards.game import HoldemGame, threads_for
from treeplex.engines.boards.streets import blocks_of
from treeplex.engines.boards.working import new_scratch, new_shared, parts_of
from treeplex.kernels.threads.barrier import LINGER_POLLS, new_wake_flags
from treeplex.kernels.threads.helpers import HELPERS, TeamRun
from treeplex.kernels.vectors import LANES
from treeplex.system import cores
from treeplex.updates.storage import STORAGES


class PassTeam:
    """Threads that run passes over one subgame in one type of numbers, with their tables."""

    def __init__(
        self,
        streets: int,
        chances: tuple[float, float] | None,
        threads: int,
        work: npt.DTypeLike,
        stored: npt.DTypeLike,
    ) -> None:
        self.threads = threads
        self.tables = [new_table() for _ in range(threads)]
        self.wake_flags = new_wake_flags(threads, LINGER_POLLS if threads <= cores() else 0)
        self.current: TeamRun | None = None
        self._rest = (streets, chances)
        self._types = np.empty(0, work), np.empty(0, stored)

    def run(self, thread: int, *, alone: bool = False) -> None:
        """Run the passes in the tables, as one of the threads."""
        worker = PassWorker(thread, 1 if alone else self.threads)
        run_passes(PassArrays(self.tables[thread], *self._types), *self._rest, worker)


class SubgameEngine:
    """One subgame in one precision with some threads. It keeps only the arrays of the game alive."""

    def __init__(self, game: HoldemGame, work: npt.DTypeLike, threads: int) -> None:
        self.busy = threading.RLock()  # one run at a time, because all runs use the same arrays
        self.streets = len(game.streets)
        self._threads = threads if self.streets > 1 else 1
        self._work = np.dtype(work)
        self._levels = [level._replace(betting=self._in_chips(level)) for level in game.levels]
        self._boards, self._betting = game.boards, game.streets
        self._chances = game.chances if len(game.streets) > 1 else None
        made = game.streets, game.boards
        top, middle, last = new_scratch(*made, 0, self._work), self.streets // 2, self.streets - 1
        self._scratches = [
            (top, new_scratch(*made, middle, self._work), new_scratch(*made, last, self._work))
            for _ in range(self._threads)
        ]
        self._shared, self._part = new_shared(*made, self._work), parts_of(game.boards)
        self._tiles = max(len(betting.tile) - 1 for betting in self._levels[2].betting)
        self._tables = [self._table(scratches) for scratches in self._scratches]
        self._teams: dict[str, PassTeam] = {}
        self.start = (game.weights(0).astype(self._work), game.weights(1).astype(self._work))

    def run(
        self,
        playing: Playing,
        rule: PassRule,
        passes: Sequence[tuple[int, int, int]],
        snapshot: Snapshot | None = None,
        start: tuple[Array, Array] | None = None,
        *,
        schedules: Schedules | None = None,
        calls: RuleCalls | None = None,
        keep: bool = False,
        phase: int = WHOLE,
    ) -> Floats:
        """Run passes (learner, mode, iteration), one after the other, on all threads.

        Passes that learn need ``schedules``, and ``calls`` if they learn by a rule that is called. With ``keep``, the
        result is [passes, H] the values of the learner's hands at the root, not divided by anything. ``phase``: the
        part of a pass to run, if there is only one pass.
        """
        discounts, rule_calls = schedules or Schedules(*np.ones((3, 1))), calls or no_calls()
        if any(mode == UPDATE and t >= len(discounts.weight) for _, mode, t in passes):
            raise ValueError(
                "The 'schedules' parameter must have discounts and weights for every iteration of passes that learn."
            )
        copied = snapshot or Snapshot(-1, -1, np.empty(0, self._work), np.empty(0, self._work))
        values = np.zeros((len(passes) if keep else 0, max(len(weights) for weights in self.start)))
        stored = playing.source[0].dtype
        (where, locked), weights = playing.frozen, start or self.start
        players = [
            PlayerArrays(*playing.learners[k], playing.source[k], where[k], locked[k], weights[k]) for k in (0, 1)
        ]
        root_values, *shared = self._shared
        sync = new_board_sync(len(root_values), max(len(self._part), len(root_values) * self._tiles), self._threads)
        with self.busy:
            team = self._teams.get(stored.name) or PassTeam(
                self.streets, self._chances, self._threads, self._work, stored
            )
            results = Results(
                root_values,
                values,
                copied.reach,
                copied.value,
                self._part,
                *shared,
                passes=np.array([(*each, phase) for each in passes], dtype=np.int64).reshape(-1, 4),
                rule=np.array(rule, dtype=np.float64),
                chosen=np.array((copied.level, copied.board), dtype=np.int64),
                sync=sync,
                wake_flags=team.wake_flags,
            )
            if stored.name not in self._teams:  # kernels are compiled, if necessary, before threads wait for each other
                self._fill_tables(team, players, results._replace(passes=results.passes[:0]), discounts, rule_calls)
                team.run(0, alone=True)
                self._teams[stored.name] = team
            self._fill_tables(team, players, results, discounts, rule_calls)
            if self._threads == 1:
                team.run(0)
            else:
                HELPERS.run(team, sync, keep=(self, players, results, discounts, rule_calls))
        return values

    def entering(self, player: int) -> tuple[Array, Array]:
        """Reach that a pass of ``player`` sends to the second street after its first phase, and rows with any reach.

        Arrays are not copied: a pass that runs only the boards begins with the numbers written here.
        """
        top, (first, second) = self._scratches[0][0], self._betting[:2]
        size = blocks_of(second) * len(self.start[1 - player]) * LANES
        return top.entry[:size], top.alive[: first.roots + first.slots(1 - player)]

    def board_values(self, player: int) -> Array:
        """Values [B, .] to ``player`` of boards of the second street after a pass of that player; not copied."""
        width = int(np.diff(self._boards[1].hands[player].start).max())
        return self._shared.root_values[:, : blocks_of(self._betting[1]) * width * LANES]

    def rows(self, player: int) -> tuple[Array, Array]:
        """Reach rows of the opponent and value rows of ``player`` on the first street, after a pass of ``player``.

        They belong to the last run: acquire ``busy`` around the run and this call.
        """
        top = self._scratches[0][0]
        pairs = (top.reach, len(self.start[1 - player])), (top.value, len(self.start[player]))
        reach, value = (array[: len(array) // width * width].reshape(-1, width).copy() for array, width in pairs)
        return reach, value

    def betting(self, depth: int, player: int) -> Betting:
        """Return the betting of a street when ``player`` learns."""
        return self._levels[0 if depth == 0 else 2 if depth == self.streets - 1 else 1].betting[player]

    def snapshot(self, depth: int, board: int, player: int) -> Snapshot:
        """Allocate arrays for a copy of the rows of a board below the first street."""
        street, hands = self._betting[depth], self._boards[depth].hands
        rows = [street.roots + street.slots(who) for who in (0, 1)]
        width = [int(hands[who].start[board + 1] - hands[who].start[board]) for who in (0, 1)]
        other = 1 - player
        reach = np.zeros(rows[other] * width[other], self._work)
        value = np.zeros(rows[player] * width[player], self._work)
        return Snapshot(2 if depth == self.streets - 1 else 1, board, reach, value)

    def _fill_tables(
        self, team: PassTeam, players: list[PlayerArrays], results: Results, discounts: Schedules, rule_calls: RuleCalls
    ) -> None:
        """Write the arrays of a run into the tables of all threads."""
        once = new_table()
        for k in (0, 1):
            write_row(once, k, players[k], self._work, players[k].source.dtype)
        write_row(once, 0, results, self._work)
        write_row(once, 0, discounts, self._work)
        write_row(once, 0, rule_calls, self._work)
        for table, own in zip(team.tables, self._tables, strict=True):
            np.copyto(table, np.where(once, once, own))  # where one has rows, the other has zeros

    def _in_chips(self, level: Level) -> tuple[Betting, Betting]:
        """Return the betting with amounts in the precision of the computation."""
        first, second = (each._replace(amount=each.amount.astype(self._work)) for each in level.betting)
        return first, second

    def _table(self, scratches: tuple[StreetScratch, StreetScratch, StreetScratch]) -> Offsets:
        """Return a thread's table without the arrays that differ from run to run."""
        table = new_table()
        for k, level in enumerate(self._levels):
            for player in (0, 1):
                write_row(table, 2 * k + player, level.betting[player], self._work)
                write_row(table, 2 * k + player, level.boards.hands[player], self._work)
            write_row(table, k, BoardIndex(*level.boards[1:]), self._work)
            write_row(table, k, scratches[k], self._work)
        return table


_ENGINES: WeakKeyDictionary[HoldemGame, dict[tuple[str, int], SubgameEngine]] = WeakKeyDictionary()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_ENGINES.clear)  # threads that the child does not have may hold their locks


def engine(game: HoldemGame, storage: str, threads: int) -> SubgameEngine:
    """Return the engine for a storage. It is created once per game, precision and number of threads."""
    workers = threads_for(game, threads)
    known = _ENGINES.setdefault(game, {})
    work = STORAGES[storage].work
    key = (np.dtype(work).name, workers)
    with HELPERS.making:
        if key not in known:
            known[key] = SubgameEngine(game, work, workers)
        return known[key]
