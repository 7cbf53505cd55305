"""Runs passes over a subgame on a GPU: tables and working arrays there, launches, and recorded iterations."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.cuda.graphs import Stream
from treeplex.cuda.kernels import SIMULATED, cuda
from treeplex.engines.boards.arrays import BEST, HandLearner, Rule, Schedules, Sources
from treeplex.engines.boards.cuda.arrays import Clock, Facing, Learning
from treeplex.engines.boards.cuda.kernels import clear, collect, kernels, tick
from treeplex.engines.boards.cuda.meeting import LANES
from treeplex.engines.boards.cuda.tables import (
    MULTIPROCESSORS,
    SPARE,
    Level,
    Sizes,
    Tuning,
    levels_of,
    sizes_of,
)
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.locks import Frozen, fix
from treeplex.updates.storage import STORAGES

Array = npt.NDArray[Any]
Learners = tuple[HandLearner, HandLearner]

COLLECTING: Final = LANES if SIMULATED else 128  # threads of a block that adds up boards
PLANNED: Final = 1024  # iterations whose discounts and weights are kept on the GPU, to begin with
SMALL: Final = Tuning(threads=LANES, tile=8192, upper=LANES, enough=8)  # for the simulator


class Plan(NamedTuple):
    """Everything that a subgame needs on a GPU, still on the CPU: tables, and sizes of arrays."""

    levels: tuple[list[Level], list[Level]]  # as either player learns
    sizes: list[Sizes]
    scratch: int  # numbers of rows of tiles that shared memory does not hold
    bytes: int  # of tables and working arrays
    tuning: Tuning


def plan(game: HoldemGame, storage: str, tuning: Tuning | None = None) -> Plan:
    """Build the tables; nothing is allocated on the GPU yet."""
    work = STORAGES[storage].work
    chosen = tuning or (SMALL if SIMULATED else Tuning())
    pair = (levels_of(game, 0, work, LANES, chosen), levels_of(game, 1, work, LANES, chosen))
    sizes = sizes_of(game, pair)
    scratch = max(batch.apart * batch.shape.rows for levels in pair for batch in levels[-1].batches)
    numbers = scratch + sum(sum(size) for size in sizes)
    tables = sum(array.nbytes for levels in pair for level in levels for array in _arrays(level))
    return Plan(pair, sizes, scratch, numbers * np.dtype(work).itemsize + tables, chosen)


def learner_bytes(game: HoldemGame, storage: str, predict: bool) -> int:
    """Of regrets, averages, predicted regrets, times of updates, scales, and marks of locked decisions."""
    size, _, scaled = STORAGES[storage]
    numbers = sum(game.elements(player) for player in (0, 1)) * (3 if predict else 2) * size
    return numbers + sum(game.decisions(player) for player in (0, 1)) * (20 if scaled else 12)


def _unwatched(name: str) -> None:
    """Nobody is told."""


class BoardsOnGPU:
    """One subgame in one storage on the current GPU."""

    def __init__(self, game: HoldemGame, storage: str, planned: Plan | None = None) -> None:
        self.plan = planned or plan(game, storage)
        self.storage, self._work = storage, STORAGES[storage].work
        self.stream = Stream()
        self.widths = [len(game.weights(player)) for player in (0, 1)]
        self._levels = [[_sent(level) for level in levels] for levels in self.plan.levels]
        self._rows = [self._zeros(size.rows) for size in self.plan.sizes]
        self._alive = [self._zeros(size.alive) for size in self.plan.sizes]
        self._found = [self._zeros(size.found) for size in self.plan.sizes]
        self._scratch = self._zeros(self.plan.scratch)
        self._elements = [(game.elements(player), game.decisions(player)) for player in (0, 1)]
        self._start = [cuda.to_device(game.weights(player).astype(self._work)) for player in (0, 1)]
        self._lit = cuda.to_device(np.ones(1, self._work))
        self._none, self._no_scale = cuda.to_device(np.zeros(1, storage)), cuda.to_device(np.zeros(1, np.float32))
        self.frozen = self.sent_locks(fix(game, storage))
        self._clock = _new_clock(PLANNED)
        self._recorded: tuple[Any, Callable[[], None]] | None = None

    def sent_locks(self, frozen: Frozen) -> tuple[tuple[Any, Any], Sources]:
        """Locked decisions on the GPU."""
        first, second = (cuda.to_device(where) for where in frozen.where)
        return (first, second), Sources(*(cuda.to_device(_some(rows)) for rows in frozen.rows))

    def send(self, learners: Sequence[HandLearner]) -> Learners:
        """Learners on the GPU."""
        first, second = (HandLearner(*(cuda.to_device(_some(array)) for array in each)) for each in learners)
        return first, second

    def new_learners(self, predict: bool) -> Learners:
        """Nothing is known yet; of a game without locks."""
        scaled = STORAGES[self.storage].scaled
        made: list[HandLearner] = []
        for numbers, decisions in self._elements:
            scales, last = decisions if scaled else 0, zeros(decisions, np.int32)
            regret, average, predicted = (zeros(count, self.storage) for count in (numbers, numbers, predict * numbers))
            made.append(HandLearner(regret, average, predicted, last, *(zeros(scales, np.float32) for _ in range(2))))
        return made[0], made[1]

    def iterate(self, learners: Learners, rule: Rule, schedules: Schedules, first: int, count: int) -> None:
        """Iterations ``first`` + 1 to ``first`` + ``count``; the arrays of ``learners``, on the GPU, are modified."""
        self._tell(schedules, first)
        key = (id(learners[0].regret), rule, len(self._clock.weight))
        if count and (self._recorded is None or self._recorded[0] != key):
            self._iteration(learners, rule)  # compiles, which must not happen while launches are recorded
            self._recorded = (key, self.stream.recorded(lambda: self._iteration(learners, rule)))
            count -= 1
        if self._recorded is not None:
            for _ in range(count):
                self._recorded[1]()
        self.stream.wait()

    def half(self, learners: Learners, rule: Rule, schedules: Schedules, player: int, t: int) -> None:
        """One player's half of iteration ``t``."""
        self._tell(schedules, t)
        self._learn(learners, rule, player)
        self.stream.wait()

    def values(self, sources: Sources, passes: Sequence[tuple[int, int]]) -> Floats:
        """[passes, H] what passes (player, BEST or VALUE) find for the player's hands at the root."""
        found = np.zeros((len(passes), max(self.widths)))
        for n, (player, mode) in enumerate(passes):
            learning, facing = self._sides(sources, player)
            self.launch(player, facing, learning, Rule(0.0, True), learn=False, best=mode == BEST)
            self.stream.wait()
            found[n, : self.widths[player]] = self._found[0].copy_to_host()[: self.widths[player]]
        return found

    def launch(
        self, player: int, facing: Facing, learning: Learning, rule: Rule, *, learn: bool, best: bool,
        watch: Callable[[str], None] = _unwatched,
    ) -> None:  # fmt: skip
        """The launches of a pass, from the root and back; ``watch`` is told of each."""
        levels, code, number = (
            self._levels[player],
            kernels(self.storage, learn, self.plan.tuning.registers),
            self._work,
        )
        above, marks, stream = self._start[1 - player], self._lit, self.stream.numba
        upper, work = self.plan.tuning.upper, np.dtype(self._work).itemsize
        for depth, level in enumerate(levels[:-1]):
            units = level.batches[0].units
            code.down[len(units), upper, stream, SPARE * work](
                level.betting, level.cards, units, facing, self._clock, rule.prune, above, marks,
                number(level.chance), self._rows[depth], self._alive[depth],
            )  # fmt: skip
            above, marks = self._rows[depth], self._alive[depth]
            watch(f"down {depth}")
        level = levels[-1]
        for batch in level.batches:
            last, blocks = (code.last, len(batch.units)) if batch.inside else (code.last_apart, batch.apart)
            last[blocks, self.plan.tuning.threads, stream, batch.shared * work](
                level.betting, level.cards, batch.units, facing, learning, self._clock, rule.prune,
                number(rule.predict), best, level.roots, above, marks, number(level.chance), self._found[-1],
                self._scratch, batch.shape,
            )  # fmt: skip
            watch(f"last {len(batch.units)}")
        for depth in range(len(levels) - 2, -1, -1):
            level, batch = levels[depth], levels[depth].batches[0]
            grid = level.chances, -(-level.widest // COLLECTING)
            collect[grid, COLLECTING, stream](level.deals, self._found[depth + 1], self._rows[depth])
            watch(f"collect {depth}")
            code.up[len(batch.units), upper, stream, batch.shared * work](
                level.betting, level.cards, batch.units, learning, self._clock, number(rule.predict), best, level.roots,
                self._rows[depth], self._alive[depth], self._found[depth], batch.shape,
            )  # fmt: skip
            watch(f"up {depth}")

    def _iteration(self, learners: Learners, rule: Rule) -> None:
        tick[1, 1, self.stream.numba](self._clock)
        for player in (0, 1):
            self._learn(learners, rule, player)

    def _learn(self, learners: Learners, rule: Rule, player: int, watch: Callable[[str], None] = _unwatched) -> None:
        ours, theirs = learners[player], learners[1 - player]
        source = [each.predicted if rule.predict > 0.0 else each.regret for each in (ours, theirs)]
        (where, rows), other = self.frozen, 1 - player
        learning = Learning(
            source[0], ours.regret, ours.predicted, ours.last, ours.regret_scale, where[player], rows[player]
        )
        facing = Facing(source[1], theirs.average, theirs.average_scale, where[other], rows[other])
        self.launch(player, facing, learning, rule, learn=True, best=False, watch=watch)

    def _sides(self, sources: Sources, player: int) -> tuple[Learning, Facing]:
        """Both players of a pass that does not learn."""
        (where, rows), none, other = self.frozen, self._none, 1 - player
        learning = Learning(sources[player], none, none, self._clock.t, self._no_scale, where[player], rows[player])
        return learning, Facing(sources[other], none, self._no_scale, where[other], rows[other])

    def _tell(self, schedules: Schedules, t: int) -> None:
        """Discounts and weights, and the iteration before the next."""
        size = len(self._clock.weight)
        while size < len(schedules.weight):
            size *= 2
        if size > len(self._clock.weight):
            self._clock = _new_clock(size)
        given = np.ones((3, size))
        given[:, : len(schedules.weight)] = schedules
        clock: Any = self._clock
        for to, numbers in zip(clock[1:], given, strict=True):
            to.copy_to_device(numbers)
        clock.t.copy_to_device(np.array([t], np.int32))
        cuda.synchronize()  # copies are on another stream

    def _zeros(self, count: int) -> Any:
        return zeros(count, self._work)


def zeros(count: int, kind: Any) -> Any:
    """At least one, made on the GPU."""
    array = cuda.device_array(max(count, 1), np.dtype(kind))
    blocks, threads = (1, LANES) if SIMULATED else (16 * MULTIPROCESSORS, 256)
    clear[blocks, threads](array)
    return array


def _new_clock(size: int) -> Clock:
    return Clock(cuda.to_device(np.zeros(1, np.int32)), *(cuda.to_device(np.ones(size)) for _ in range(3)))


def _some(array: Array) -> Array:
    """An array with at least one number."""
    return array if len(array) else np.zeros(1, array.dtype)


def _arrays(level: Level) -> list[Array]:
    return [*level.betting, *level.cards, *(batch.units for batch in level.batches), *(level.deals or ())]


def _sent(level: Level) -> Level:
    """Its arrays on the GPU."""

    def sent(named: Any) -> Any:
        return named if named is None else type(named)(*(cuda.to_device(_some(array)) for array in named))

    batches = tuple(batch._replace(units=cuda.to_device(batch.units)) for batch in level.batches)
    return level._replace(
        betting=sent(level.betting), cards=sent(level.cards), batches=batches, deals=sent(level.deals)
    )
