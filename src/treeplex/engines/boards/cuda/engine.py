"""Engine that runs passes over a subgame on a GPU: device arrays, launches, and recorded iterations."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.engines.boards.arrays import (
    BEST,
    FREE,
    Array,
    HandLearner,
    Locked,
    PassRule,
    Schedules,
    Sources,
    plain_rule,
)
from treeplex.engines.boards.cuda.arrays import Clock, Facing, LearningPlayer
from treeplex.engines.boards.cuda.barrier import LANES
from treeplex.engines.boards.cuda.called import called_up
from treeplex.engines.boards.cuda.kernels import clear, collect, keep, kernels, put, tick
from treeplex.engines.boards.cuda.tables import ArraySizes, Cut, DeviceStreet, Tuning, levels_of, sizes_of
from treeplex.engines.boards.cut import FIRST_STREET, BoardRun, part_of
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.locks import fix, locked_values
from treeplex.engines.boards.tables import constants_of
from treeplex.kernels.cuda.calls import Called, Calls
from treeplex.kernels.cuda.graphs import Stream
from treeplex.kernels.cuda.kernels import SIMULATED, cuda
from treeplex.kernels.cuda.memory import add, fade, fold
from treeplex.updates.blocks import BELOW, Earlier
from treeplex.updates.rule import Rule as CalledRule
from treeplex.updates.storage import STORAGES

Learners = tuple[HandLearner, HandLearner]
Counts = tuple[int, int, int]
"""Count of numbers per action and hand: regrets (or memory), averages, and numbers played apart from regrets."""

BLOCK: Final = LANES if SIMULATED else 128  # threads of a block that sums over boards
BLOCKS: Final = 1 if SIMULATED else 2112  # blocks of a launch that clears an array
MOST: Final = LANES if SIMULATED else 512  # most threads of a block that has all hands of a board
SPARE: Final = 32  # numbers of shared memory in which threads compute maxima
PLANNED: Final = 1024  # initial number of iterations whose discounts and weights are on the GPU
SMALL: Final = Tuning(threads=LANES, warps=1, run_bytes=2**16)  # for the simulator


class Launch(NamedTuple):
    """A kernel with the arguments of its launch."""

    name: str  # name of the kernel, with its street
    kernel: Any
    blocks: tuple[int, ...]
    threads: int
    shared: int  # bytes of shared memory
    arguments: tuple[Any, ...]

    def on(self, stream: object) -> None:
        """Launch the kernel on a stream."""
        self.kernel[self.blocks, self.threads, stream, self.shared](*self.arguments)


Launches = list[Launch]
Grid = tuple[tuple[int, int, int], int, int]  # blocks, threads, bytes of shared memory


class DevicePass(NamedTuple):
    """Arguments of one pass."""

    player: int
    learning: LearningPlayer
    facing: Facing
    rule: PassRule = plain_rule()
    best: Sequence[bool] = (False,)  # for each result: is it the learner's best response, or the value of its strategy?
    learn: bool = False


class SubgamePlan(NamedTuple):
    """All tables and array sizes that a subgame needs on a GPU, still in host memory."""

    levels: tuple[list[DeviceStreet], list[DeviceStreet]]  # when either player learns
    sizes: tuple[list[ArraySizes], list[ArraySizes]]
    either: list[ArraySizes]  # the larger of both players' sizes
    bytes: int  # bytes of tables and working arrays
    tuning: Tuning
    first: int  # first street; the reach of its roots is an input, unless it is the root's


def plan(game: HoldemGame, storage: str, tuning: Tuning | None = None, cut: Cut | None = None) -> SubgamePlan:
    """Build the tables, by default of all streets. Nothing is allocated on the GPU yet."""
    cut = cut or Cut(0, len(game.streets), game)
    work = STORAGES[storage].work
    chosen = tuning or (SMALL if SIMULATED else Tuning())
    pair = (levels_of(game, 0, work, LANES, chosen, cut), levels_of(game, 1, work, LANES, chosen, cut))
    sizes = (sizes_of(game, 0, pair[0], chosen.beside, cut), sizes_of(game, 1, pair[1], chosen.beside, cut))
    either = [ArraySizes(*(max(both) for both in zip(*two, strict=True))) for two in zip(*sizes, strict=True)]
    numbers = sum(size.rows + size.factors + 2 * size.root_values for size in either)
    tables = sum(array.nbytes for levels in pair for level in levels for array in _arrays(level))
    marks = 4 * sum(size.alive for size in either)
    return SubgamePlan(pair, sizes, either, numbers * np.dtype(work).itemsize + tables + marks, chosen, cut.first)


def part_plan(game: HoldemGame, storage: str, run: BoardRun | None) -> SubgamePlan:
    """Build the tables of the first street, of a run of boards and all boards below, or of all streets."""
    if run is None:
        return plan(game, storage)
    if run == FIRST_STREET:
        return plan(game, storage, cut=Cut(0, 1, game))
    return plan(part_of(game, run), storage, cut=Cut(1, len(game.streets), game))


def learner_bytes(game: HoldemGame, storage: str, beside: int = 0) -> int:
    """Bytes of learners: regrets, averages, ``beside`` more numbers per action, update times, scales, lock marks."""
    size, _, scaled = STORAGES[storage]
    numbers = sum(game.elements(player) for player in (0, 1)) * (2 + beside) * size
    return numbers + sum(game.decisions(player) for player in (0, 1)) * (20 if scaled else 12)


class BoardsOnGPU:
    """One subgame in one storage on the current GPU, or a part of a subgame that is cut after its first street.

    ``rule``: the rule that passes call to learn, if any. In a part (``boards.cut``), kernels, their order and every sum
    are those of the whole subgame, so results have the same bits. Parts exchange rows of the opponent's reach of chance
    nodes, with marks of rows that have a hand, and values of boards. Values are as ``up`` stores them: board after
    board, one row per street root.
    """

    def __init__(
        self, game: HoldemGame, storage: str, planned: SubgamePlan | None = None, rule: CalledRule | None = None
    ) -> None:
        self.plan = planned or plan(game, storage)
        self.storage, self._work = storage, STORAGES[storage].work
        self.stream = Stream()
        self.widths = [len(game.weights(player)) for player in (0, 1)]
        self._levels = [[_send_street(level) for level in levels] for levels in self.plan.levels]
        either = self.plan.either
        self._rows = [zeros(size.rows, self._work) for size in either]
        self._alive = [zeros(size.alive, np.int32) for size in either]
        self._factors = [zeros(size.factors, self._work) for size in either]
        self._root_values = [[zeros(size.root_values, self._work) for size in either] for _ in range(2)]
        self._hand_values = cuda.to_device(np.zeros((4, max(self.widths)), self._work))
        self._elements = [(game.elements(player), game.decisions(player)) for player in (0, 1)]
        self._start = [cuda.to_device(game.weights(player).astype(self._work)) for player in (0, 1)]
        self._none, self._no_scale = cuda.to_device(np.zeros(1, storage)), cuda.to_device(np.zeros(1, np.float32))
        frozen = fix(game, storage)
        self.locks = any((where != FREE).any() for where in frozen.where)  # without locks, kernels skip all checks
        first, second = (cuda.to_device(_nonempty(where if self.locks else where[:0])) for where in frozen.where)
        self.frozen = Locked((first, second), Sources(*(cuda.to_device(_nonempty(rows)) for rows in frozen.rows)))
        self._locked_values = [
            (cuda.to_device(_nonempty(positions)), cuda.to_device(_nonempty(numbers)), len(positions))
            for positions, numbers in locked_values(game, storage)
        ]
        self._sums: Sources | None = None  # sums over all blocks, for evaluations
        self._clock = _new_clock(PLANNED)
        self._entered = [(self._start[1 - player], self._clock.stamp) for player in (0, 1)]  # reach, and marks of rows
        if self.plan.first:
            roots = self._levels[0][0].roots
            self._entered = [
                (zeros(roots * self.widths[1 - player], self._work), zeros(roots, np.int32)) for player in (0, 1)
            ]
        self._schedules, self._now, self._passes = np.ones((3, 0)), 0, 0
        self._called = self._calls = None
        if rule is not None:
            self._called = Called(rule.update, rule.memory, rule.constants is not None, game.action_counts[-1])
            none = cuda.to_device(np.zeros(1, np.int32))
            self._calls = [Calls(cuda.to_device(_nonempty(each)), none) for each in constants_of(game, rule)]
        self._recorded: dict[str, tuple[object, Callable[[], None]]] = {}

    def send(self, learners: Sequence[HandLearner]) -> Learners:
        """Copy learners to the GPU."""
        first, second = (HandLearner(*(cuda.to_device(_nonempty(array)) for array in each)) for each in learners)
        return first, second

    def astray(self) -> int:
        """Return the first iteration in which the rule did not leave probabilities, or 0: ``kernels.cuda.calls``."""
        return 0 if self._calls is None else int(fetch(self._calls[0].astray, 1)[0])

    def new_learners(self, counts: Counts) -> Learners:
        """Allocate learners without anything learned yet, and without locks."""
        kinds = *[self.storage] * 3, np.int32, np.float32, np.float32
        first, second = (HandLearner(*map(zeros, lengths, kinds)) for lengths in self._lengths(counts))
        return first, second

    def _lengths(self, counts: Counts) -> list[tuple[int, ...]]:
        """Lengths of the arrays of both players' learners."""
        scaled = STORAGES[self.storage].scaled
        return [
            (*(count * numbers for count in counts), decisions, scaled * decisions, scaled * decisions)
            for numbers, decisions in self._elements
        ]

    def write_locks(self, targets: Iterable[tuple[Array, Array] | Sources]) -> None:
        """Write locked strategies into both players' arrays."""
        for pair in targets:
            for target, (positions, numbers, count), (size, _) in zip(
                pair, self._locked_values, self._elements, strict=True
            ):
                if count and len(target) == size:  # skips memory of several rows, which locked hands never use
                    put[-(-count // BLOCK), BLOCK, self.stream.numba](target, positions, numbers, count)
        self.stream.wait()

    def fetch_learners(self, learners: Learners, counts: Counts) -> Learners:
        """Copy learners to host arrays of the CPU engine's lengths."""
        pairs = zip(learners, self._lengths(counts), strict=True)
        first, second = (HandLearner(*map(fetch, learner, lengths)) for learner, lengths in pairs)
        return first, second

    def fade(self, learners: Learners, factor: float, earlier: Earlier = ()) -> None:
        """Multiply both players' averages, or in 16 bits the scales of their decisions, in place."""
        self.stream.wait()
        scaled = STORAGES[self.storage].scaled
        for sums in (*(each.average_scale if scaled else each.average for each in learners), *earlier):
            fade(sums, factor, self.stream.numba)

    def fold(self, learners: Learners, earlier: Earlier) -> Earlier:
        """End a block of both players' averages, like ``updates.blocks.folded``."""
        self.stream.wait()
        first, second = earlier or (zeros(len(learner.average), self.storage) for learner in learners)
        for total, learner in zip((first, second), learners, strict=True):
            fold(total, learner.average, BELOW, self.stream.numba)
        self.stream.wait()
        return first, second

    def send_earlier(self, earlier: Earlier) -> Earlier:
        """Copy sums over earlier blocks to the GPU."""
        return earlier and (cuda.to_device(_nonempty(earlier[0])), cuda.to_device(_nonempty(earlier[1])))

    def averages(self, learners: Learners, earlier: Earlier) -> Sources:
        """Return the sums that average strategies are normalised from. With ``earlier``, the next call reuses them."""
        first, second = (learner.average for learner in learners)
        if not earlier:
            return Sources(first, second)
        if self._sums is None:
            self._sums = Sources(*(zeros(len(total), self.storage) for total in earlier))
        for out, total, block in zip(self._sums, earlier, (first, second), strict=True):
            add(out, total, block, self.stream.numba)
        self.stream.wait()
        return self._sums

    def fetch(self, sources: Sources) -> Sources:
        """Copy numbers that strategies are normalised from to the host."""
        return Sources(*(fetch(array, size) for array, (size, _) in zip(sources, self._elements, strict=True)))

    def iterate(self, learners: Learners, rule: PassRule, schedules: Schedules, first: int, count: int) -> None:
        """Run iterations ``first`` + 1 to ``first`` + ``count``; arrays of ``learners`` are modified in place."""
        self.set_schedules(schedules, first)
        self._now += count
        key = (id(learners[0].regret), rule, len(self._clock.weight))
        self._repeat("iteration", key, partial(self._iteration, learners, rule), count)

    def values(self, sources: Sources, passes: Sequence[tuple[int, int]]) -> Floats:
        """Run up to four passes (player, BEST or VALUE). Return [passes, H] values of its hands at the root."""
        key = (*(id(source) for source in sources), tuple(passes), len(self._clock.weight))
        self._repeat("evaluation", key, partial(self._evaluate, sources, passes), 1)
        values: Floats = self._hand_values.copy_to_host()[: len(passes)].astype(np.float64)
        return values

    def _repeat(self, name: str, key: object, launches: Callable[[], None], count: int) -> None:
        """Run the launches recorded under a name ``count`` times. Record them first if ``key`` has changed."""
        if count and (name not in self._recorded or self._recorded[name][0] != key):
            launches()  # compiles kernels, which is not possible while launches are recorded
            self._recorded[name] = key, self.stream.recorded(launches)
            count -= 1
        for _ in range(count):
            self._recorded[name][1]()
        self.stream.wait()

    def launches(self, step: DevicePass) -> list[list[Launches]]:
        """Return the launches of a pass, from the root and back, in phases of launches that may run concurrently.

        A pass with two results goes down once and computes terminals once. The first result is in the learner's
        arrays, the second one in its opponent's.
        """
        levels = self._levels[step.player]
        last = len(levels) - 1
        phases = [[self._down(step, depth, 0)] for depth in range(last)]
        beside: list[Launches] = [[] for _ in range(self.plan.tuning.beside)]
        for n in range(len(levels[last].stretches)):
            beside[n % len(beside)] += self._down(step, last, n) + self._up(step, last, n)
        phases.append([these for these in beside if these])
        phases += [[self._up(step, depth, 0)] for depth in range(last - 1, -1, -1)]
        return phases

    def _launch(self, phases: list[list[Launches]]) -> None:
        for phase in phases:
            self.stream.side_by_side([partial(_one_by_one, these) for these in phase])

    def _down(self, step: DevicePass, depth: int, n: int) -> Launches:
        level, number = self._levels[step.player][depth], self._work
        begin, boards = level.stretches[n]
        above, marks = (self._rows[depth - 1], self._alive[depth - 1]) if depth else self._entered[step.player]
        each, grid = self._grid(level.roots, boards, level.widths[1], step.learn)
        arguments = (
            level.betting, level.cards, begin, each, step.facing, self._clock, step.rule.prune, above, marks,
            number(level.chance), self._rows[depth], self._alive[depth],
        )  # fmt: skip
        return [Launch(f"down {depth}", kernels(self.storage, step.learn, self.locks).down, *grid, arguments)]

    def _up(self, step: DevicePass, depth: int, n: int) -> Launches:
        level, number = self._levels[step.player][depth], self._work
        begin, boards = level.stretches[n]
        sums, deals, clock, learning, learn = level.sums, level.deals, self._clock, step.learning, step.learn
        code = kernels(self.storage, learn, self.locks)
        rows, alive, factors = (each[depth] for each in (self._rows, self._alive, self._factors))
        launches: Launches = []
        threads, shared = sums.warps * LANES, sums.warps * sums.size * np.dtype(number).itemsize
        blocks = sums.blocks + (-(-level.owns // threads) if learn else 0), boards
        if blocks[0]:
            counts = begin, level.groups, level.owns
            arguments = (level.betting, level.cards, *counts, rows, alive, learning, clock, factors, sums)
            launches.append(Launch(f"settle {depth}", code.settle, blocks, threads, shared, arguments))
        each, grid = self._grid(level.roots, boards, level.widths[0], learn)
        for k, best in enumerate(step.best):
            root_values = self._root_values[(step.player + k) % 2]
            if deals is not None:
                blocks, arguments = (level.chances, -(-level.widths[0] // BLOCK)), (deals, root_values[depth + 1], rows)
                launches.append(Launch(f"collect {depth}", collect, blocks, BLOCK, 0, arguments))
            up, more = code.up, number(step.rule.predict)
            if learn and self._called is not None and self._calls is not None:
                up, more = called_up(self.storage, self.locks, self._called), self._calls[step.player]
            arguments = (
                level.betting, level.cards, begin, each, level.owns, learning, clock, more, best, rows, alive, factors,
                root_values[depth],
            )  # fmt: skip
            launches.append(Launch(f"up {depth}", up, *grid, arguments))
        return launches

    def _grid(self, roots: int, boards: int, hands: int, learn: bool) -> tuple[int, Grid]:
        """Return street roots per block, and the grid. A block has all 16-bit numbers of a decision."""
        pairs = -(-hands // 2)
        parts = -(-pairs // self.plan.tuning.threads)
        threads = -(-pairs // parts // LANES) * LANES
        if learn and STORAGES[self.storage].scaled:
            threads, parts = min(-(-hands // LANES) * LANES, MOST), 1
        warps = boards * parts * threads // LANES  # warps per street root
        each = max(roots * warps // self.plan.tuning.crowd, 1)
        return each, ((parts, -(-roots // each), boards), threads, SPARE * np.dtype(self._work).itemsize)

    def _iteration(self, learners: Learners, rule: PassRule) -> None:
        for player in (0, 1):
            tick[1, 1, self.stream.numba](self._clock, 1 - player)
            self._launch(self.launches(self.learns(learners, rule, player)))

    def learns(self, learners: Learners, rule: PassRule, player: int) -> DevicePass:
        """Return the pass that is one player's half of an iteration."""
        ours, theirs = learners[player], learners[1 - player]
        apart = rule.predict > 0.0 or self._called is not None
        source = [each.predicted if apart else each.regret for each in (ours, theirs)]
        (where, rows), other = self.frozen, 1 - player
        learning = LearningPlayer(
            source[0], ours.regret, ours.predicted, ours.last, ours.regret_scale, where[player], rows[player]
        )
        facing = Facing(source[1], theirs.average, theirs.average_scale, where[other], rows[other])
        return DevicePass(player, learning, facing, rule, learn=True)

    def _evaluate(self, sources: Sources, passes: Sequence[tuple[int, int]]) -> None:
        for player in (0, 1):
            requests = [(n, mode == BEST) for n, (who, mode) in enumerate(passes) if who == player]
            for both in (requests[:2], requests[2:]):
                if both:
                    tick[1, 1, self.stream.numba](self._clock, 0)
                    self._launch(self.launches(self.plays(sources, player, [best for _, best in both])))
                for k, (n, _) in enumerate(both):
                    values, blocks = self._root_values[(player + k) % 2][0], -(-max(self.widths) // BLOCK)
                    keep[blocks, BLOCK, self.stream.numba](values, self.widths[player], n, self._hand_values)

    def plays(self, sources: Sources, player: int, best: Sequence[bool]) -> DevicePass:
        """Return the pass that computes best responses, or values of strategies."""
        (where, rows), none, other = self.frozen, self._none, 1 - player
        learning = LearningPlayer(
            sources[player], none, none, self._clock.t, self._no_scale, where[player], rows[player]
        )
        facing = Facing(sources[other], none, self._no_scale, where[other], rows[other])
        return DevicePass(player, learning, facing, best=best)

    def down(self, step: DevicePass) -> tuple[Array, Array]:
        """Run a pass down the first street.

        Return [X, H] the opponent's reach of every chance node, and [X] whether it has a hand.
        """
        player, stamp = step.player, self._begin()
        level, stride = self._levels[player][0], max(self.widths)
        self._launch([[self._down(step, 0, 0)]])
        self.stream.wait()
        rows = fetch(self._rows[0], level.rows * stride).reshape(-1, stride)
        alive = fetch(self._alive[0], level.rows)[level.entry] == stamp
        return rows[level.entry, : self.widths[1 - player]], alive

    def up(self, step: DevicePass, values: Array) -> Floats:
        """Run a pass up the first street from the values of all boards of the second street.

        Return [H] the values of the learner's hands at the root.
        """
        player = step.player
        self._send([self._root_values[player][1][: values.size]], values.reshape(1, -1))
        self._launch([[self._up(step, 0, 0)]])
        self.stream.wait()
        return fetch(self._root_values[player][0], self.widths[player]).astype(np.float64)

    def below(self, step: DevicePass, reach: Array, alive: Array) -> Array:
        """Return values of boards to the learner, from the opponent's ``reach`` of every chance node above them."""
        stamp, player = self._begin(), step.player
        marks = np.where(alive, stamp, 0).astype(np.int32)
        self._send(self._entered[player], [np.ascontiguousarray(reach).ravel(), marks])
        self._launch(self.launches(step))
        self.stream.wait()
        return fetch(self._root_values[player][0], self.plan.sizes[player][0].root_values)

    def _begin(self) -> int:
        """Begin a pass, and return its number, which is the value of its marks."""
        self._passes += 1
        self._send(self._clock[1:2], np.array([[self._passes]], np.int32))
        return self._passes

    def set_schedules(self, schedules: Schedules, t: int) -> None:
        """Set discounts, weights and the iteration before the next. Only changed numbers are sent."""
        count, size = len(schedules.weight), len(self._clock.weight)
        if not np.array_equal(self._schedules[:, :count], schedules):
            while size < count:
                size *= 2
            if size > len(self._clock.weight):
                self._clock = _new_clock(size)._replace(stamp=self._clock.stamp)
            rows = np.ones((3, size))
            rows[:, :count] = schedules
            self._send(self._clock[2:], rows)
            self._schedules, self._now = np.array(schedules), -1
        if self._now != t:
            self._send(self._clock[:1], np.array([[t]], np.int32))
            self._now = t

    def _send(self, arrays: Sequence[Any], rows: Sequence[Array] | Array) -> None:
        for to, row in zip(arrays, rows, strict=True):
            to.copy_to_device(row)
        cuda.synchronize()  # copies run on another stream


def _one_by_one(launches: Launches, stream: object) -> None:
    for launch in launches:
        launch.on(stream)


def zeros(count: int, kind: npt.DTypeLike) -> Any:
    """Allocate zeros on the GPU, at least one."""
    array = cuda.device_array(max(count, 1), np.dtype(kind))
    clear[BLOCKS, BLOCK](array)
    cuda.synchronize()  # ``clear`` runs on another stream
    return array


def fetch(array: Any, count: int) -> Array:
    """Copy the first ``count`` numbers of an array from the GPU, and only these."""
    numbers: Array = array[:count].copy_to_host() if count else np.zeros(0, array.dtype)
    return numbers


def _new_clock(size: int) -> Clock:
    return Clock(
        *(cuda.to_device(np.zeros(1, np.int32)) for _ in range(2)), *(cuda.to_device(np.ones(size)) for _ in range(3))
    )


def _nonempty(array: Array) -> Array:
    """Return an array with at least one number."""
    return array if len(array) else np.zeros((1, *array.shape[1:]), array.dtype)


def _arrays(level: DeviceStreet) -> list[Array]:
    return [*level.betting, *level.cards, *(level.deals or ())]


def _send_street(level: DeviceStreet) -> DeviceStreet:
    """Copy the arrays of a street to the GPU."""

    def send_arrays(named: Any) -> Any:
        return named if named is None else type(named)(*(cuda.to_device(_nonempty(array)) for array in named))

    return level._replace(
        betting=send_arrays(level.betting), cards=send_arrays(level.cards), deals=send_arrays(level.deals)
    )
