"""Iterations on a GPU: one game's arrays there, and the launches of an iteration, replayed as a CUDA graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.compile.payoffs import Csr
from treeplex.cuda.found import SIMULATED
from treeplex.cuda.graphs import Stream
from treeplex.cuda.kernels import BLOCK, LANES
from treeplex.cuda.memory import fetch, put, send, sent
from treeplex.engines.sequence.arrays import Learner
from treeplex.engines.sequence.cuda.arrays import Bundle, Learning, Range, Shape, Steps
from treeplex.engines.sequence.cuda.kernels import DOWN, FALL, UP, bundle_kernels, kernels
from treeplex.engines.sequence.cuda.layout import ACTIONS, CHILDREN, SHAPE, Layout, Side, lay_out
from treeplex.updates.turns import SIMULTANEOUS

Array = npt.NDArray[Any]
Stop = Callable[[], bool]

SMALL: Final = 128  # tiles of a game that one block works on by itself: meetings in a block are the cheapest
THREADS: Final = LANES if SIMULATED else 1024  # of that block
LAUNCH: Final = 500  # iterations of one launch of that block
RECORDED: Final = 16  # iterations of a graph, where they are short
SHORT: Final = 1_000_000  # places of a game whose iterations are
WAITING: Final = 32  # replays after which whoever wants to stop is heard
STRETCH: Final = 4096  # iterations that are told what they need at once


class Phase(NamedTuple):
    """Tiles that do not need each other."""

    kind: int
    begin: int
    end: int
    player: int
    form: int = 0  # of UP: which kernel


class Engine:
    """What a run keeps on the device, and how it goes on; ``steps`` as ``engines.sequence.arrays.Steps``."""

    def __init__(
        self, game: CompiledGame, learners: tuple[Learner, Learner], storage: str, predict: float, turns: int
    ) -> None:
        self.storage, self.predict, self.turns = storage, predict, turns
        self.layout = layout = laid_out(game, storage)
        self.stream = Stream()
        self.kernels = kernels(storage, predict > 0.0)
        self.shape = sent(Shape(layout.tiles, layout.above, layout.owner, layout.leave, layout.column, layout.value))
        self.learning = self._sent(learners)
        self.steps = Steps(
            send(np.zeros(1, np.int32)),
            *(send(np.zeros(size, storage)) for size in (STRETCH, STRETCH, 2 * STRETCH)),
        )
        self.phases = [phases_of(layout, player) for player in (0, 1)]
        bundled = any(side.bundles for side in layout.sides)
        self.alone = len(layout.tiles) <= SMALL and not bundled
        self.table = send(np.array([phase[:4] for phase in self._order()], dtype=np.int32).reshape(-1, 4))
        self.recorded = 1 if layout.places > SHORT or SIMULATED else RECORDED
        self._graphs: dict[int, Callable[[], None]] = {}
        self._compile()

    # --- what is kept -------------------------------------------------------------------------------------------------

    def _sent(self, learners: tuple[Learner, Learner]) -> Learning:
        layout, storage = self.layout, self.storage
        regret, average, plan = (self._laid(learners, name) for name in ("regret", "average", "plan"))
        for side in layout.sides:
            plan[side.place[0]], plan[side.place[0] + 1] = 1.0, 0.0
        d_regret = send(regret)
        played = send(self._laid(learners, "strategy")) if self.predict else d_regret
        return Learning(
            d_regret,
            send(average),
            send(plan),
            played,
            send(np.full(len(layout.above), -1.0, storage)),
            send(np.ones(layout.rows, np.uint8)),
            send(np.zeros(max(layout.slots, 1) * LANES, storage)),
            send(np.zeros(max(layout.spare, 1) * LANES, storage)),
        )

    def load(self, learners: tuple[Learner, Learner]) -> None:
        """Overwrite what is kept."""
        self.stream.wait()
        for name in ("regret", "average", "plan"):
            numbers = self._laid(learners, name)
            if name == "plan":
                for side in self.layout.sides:
                    numbers[side.place[0]] = 1.0
            put(numbers, getattr(self.learning, name))
        if self.predict:
            put(self._laid(learners, "strategy"), self.learning.played)
        put(np.ones(self.layout.rows, np.uint8), self.learning.reached)

    def _laid(self, learners: tuple[Learner, Learner], name: str) -> Array:
        out = np.zeros(self.layout.places, self.storage)
        for side, learner in zip(self.layout.sides, learners, strict=True):
            out[side.place[1:]] = getattr(learner, name)[1:]
        return out

    def fetched(self, name: str) -> tuple[Array, Array]:
        """Both players' numbers of ``Learning`` by sequence, in the game's order; of the empty one, whatever."""
        self.stream.wait()
        numbers = fetch(getattr(self.learning, name))
        return numbers[self.layout.sides[0].place], numbers[self.layout.sides[1].place]

    # --- iterations ---------------------------------------------------------------------------------------------------

    def advance(self, steps: Any, weights: tuple[tuple[float, Floats], tuple[float, Floats]], stop: Stop) -> int:
        """Iterations for each of ``steps``, or fewer if ``stop()`` says so; returns how many.

        ``weights``: for each player, what the plan that is played weighs in the average, and what the plans that are
        made weigh.
        """
        self.stream.wait()
        (first, one), (second, two) = weights
        put(steps.positive.astype(self.storage), self.steps.positive)
        put(steps.negative.astype(self.storage), self.steps.negative)
        put(np.stack((one, two), axis=1).ravel().astype(self.storage), self.steps.after)
        put(np.zeros(1, np.int32), self.steps.clock)
        self._launch_shares()
        if first or second:
            blocks = -(-self.layout.places // BLOCK)
            turn = int(self.layout.sides[1].place[0])
            self.kernels.enter[blocks, BLOCK, self.stream.numba](self.learning, turn, float(first), float(second))
        done, count = 0, len(steps.weight)
        while done < count:
            done += self._some(count - done)
            self.stream.wait()
            if stop():
                break
        return done

    def _some(self, left: int) -> int:
        """Launch some of the iterations that are left; returns how many."""
        if self.alone:
            count = min(left, LAUNCH)
            self.kernels.block[1, THREADS, self.stream.numba](
                self.shape, self.learning, self.steps, self.table, count, self.layout.unit, self.predict
            )
            return count
        size = self.recorded if left >= self.recorded else 1
        replays = min(left // size, WAITING)
        for _ in range(replays):
            self._graph(size)()
        return replays * size

    def _graph(self, size: int) -> Callable[[], None]:
        if size not in self._graphs:
            self._graphs[size] = self.stream.recorded(lambda: self._launch(size))
        return self._graphs[size]

    def _launch(self, size: int) -> None:
        """``size`` iterations, as launches one after the other."""
        for i in range(size):
            for phase in self._order():
                self.launch(phase, i)
        self.kernels.tick[1, LANES, self.stream.numba](self.steps, size)

    def _order(self) -> Iterator[Phase]:
        """The phases of an iteration."""
        (up_0, down_0), (up_1, down_1) = self.phases
        parts = (up_0, up_1, down_0, down_1) if self.turns == SIMULTANEOUS else (up_0, down_0, up_1, down_1)
        for part in parts:
            yield from part

    def launch(self, phase: Phase, iteration: int = 0) -> None:
        """One phase, with the bundles that belong to it."""
        kind, begin, end, player, form = phase
        own, stream = self.layout.sides[player], self.stream.numba
        bottom = (begin, end) == own.heights[0] and kind != FALL
        for bundle in own.bundles if bottom else ():
            made = bundle_kernels(self.storage, self.predict > 0.0, bundle.lengths)
            which = Bundle(*bundle[1:], player, iteration)
            blocks = -(-bundle.tiles * LANES // BLOCK)
            if kind == UP:
                made.up[blocks, BLOCK, stream](
                    self.shape, self.learning, self.steps, which, self.layout.unit, self.predict
                )
            else:
                made.down[blocks, BLOCK, stream](self.shape, self.learning, self.steps, which)
        if begin == end:
            return
        which, blocks = Range(begin, end, player, iteration), -(-(end - begin) * LANES // BLOCK)
        if kind == UP:
            self.kernels.up[form][blocks, BLOCK, stream](
                self.shape, self.learning, self.steps, which, self.layout.unit, self.predict
            )
        else:
            chosen = self.kernels.fall if kind == FALL else self.kernels.down
            chosen[blocks, BLOCK, stream](self.shape, self.learning, self.steps, which)

    def _launch_shares(self) -> None:
        tiles = len(self.layout.tiles)
        self.kernels.share[-(-tiles * LANES // BLOCK), BLOCK, self.stream.numba](self.shape, self.learning, tiles)

    def _compile(self) -> None:
        """Launch everything once without work, so that it can be recorded."""
        if SIMULATED:
            return
        stream = self.stream.numba
        nothing = Range(0, 0, 0, 0)
        for form in {phase.form for phase in self._order() if phase.kind == UP}:
            self.kernels.up[form][1, BLOCK, stream](
                self.shape, self.learning, self.steps, nothing, self.layout.unit, self.predict
            )
        for made in (self.kernels.down, self.kernels.fall):
            made[1, BLOCK, stream](self.shape, self.learning, self.steps, nothing)
        for lengths in {bundle.lengths for side in self.layout.sides for bundle in side.bundles}:
            made = bundle_kernels(self.storage, self.predict > 0.0, lengths)
            which = Bundle(0, 0, 0, 0, 0, 0)
            made.up[1, BLOCK, stream](self.shape, self.learning, self.steps, which, self.layout.unit, self.predict)
            made.down[1, BLOCK, stream](self.shape, self.learning, self.steps, which)
        self.kernels.tick[1, LANES, stream](self.steps, 0)
        self.stream.wait()

    @property
    def bytes(self) -> int:
        """What an iteration must move at least, filled-up entries included; see ``moved``."""
        return moved(self.layout, self.storage, self.predict > 0.0)


def phases_of(layout: Layout, player: int) -> tuple[list[Phase], list[Phase]]:
    """Bottom-up, and top-down."""
    side = layout.sides[player]
    tiles = layout.tiles.astype(np.int64)
    high = tiles[:, SHAPE] >> 6 & 63
    up: list[Phase] = []
    for begin, end in side.heights:
        several = bool((tiles[begin:end, ACTIONS] > high[begin:end]).any())
        children = bool(tiles[begin:end, CHILDREN].any())
        up.append(Phase(UP, begin, end, player, 2 if several else int(children)))
    down: list[Phase] = []
    if side.together < len(side.heights):
        down.append(Phase(FALL, side.heights[side.together][0], side.heights[-1][1], player))
    down += [Phase(DOWN, *side.heights[height], player) for height in reversed(range(side.together))]
    return up, down


def moved(layout: Layout, storage: str, predict: bool) -> int:
    """Bytes that an iteration reads and writes at least, if nothing is skipped; entries as they are filled up."""
    size = np.dtype(storage).itemsize
    sequences = sum(len(side.place) for side in layout.sides)
    infosets = sum(len(side.home) for side in layout.sides)
    bundled = sum(bundle.tiles for side in layout.sides for bundle in side.bundles) * LANES
    state = (9 if predict else 7) * size * sequences + (3 * size + 8) * infosets + 3 * size * (infosets - bundled)
    return state + len(layout.column) * (4 + layout.value.itemsize) + layout.tiles.nbytes * 2


def laid_out(game: Any, storage: str) -> Layout:
    """The layout of a game, from its sparse payoff matrix."""
    operator = game.operator if isinstance(game.operator.rows, Csr) else game.payoffs
    return lay_out(game.treeplexes, (operator.rows, operator.columns), storage)


__all__ = ["DOWN", "FALL", "UP", "Engine", "Phase", "Side", "laid_out", "moved", "phases_of"]
