"""Iterations on a GPU: one game's arrays there, and the launches of an iteration, replayed as a CUDA graph."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.compile.payoffs import Csr, Payoffs
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.arrays import RuleLearner, Steps
from treeplex.engines.sequence.cuda.arrays import DeviceSteps, RunArrays, Shape, TileRange
from treeplex.engines.sequence.cuda.bundles import bundle_kernels
from treeplex.engines.sequence.cuda.dealt import blocks_of as dealt_blocks
from treeplex.engines.sequence.cuda.dealt import deal_kernel
from treeplex.engines.sequence.cuda.evaluate import Evaluator, PairValues
from treeplex.engines.sequence.cuda.kernels import FALL, UP, kernels
from treeplex.engines.sequence.cuda.layout import DeviceLayout, lay_out, lay_out_dealt, no_payoffs
from treeplex.engines.sequence.cuda.plan import BLOCK_OF_PHASES, DEAL, LaunchPlan, Phase, PlanPart, blocks_of, launch_of
from treeplex.engines.sequence.learners import Learners
from treeplex.engines.sequence.rules import payoff_range
from treeplex.errors import ParameterError
from treeplex.kernels.cuda.calls import Called, Calls
from treeplex.kernels.cuda.device import SIMULATED
from treeplex.kernels.cuda.graphs import Stream
from treeplex.kernels.cuda.kernels import BLOCK, LANES
from treeplex.kernels.cuda.memory import add, fade, fetch, fold, put, send, sent
from treeplex.updates.blocks import BELOW
from treeplex.updates.rule import Rule

Array = npt.NDArray[Any]
Stop = Callable[[], bool]

THREADS: Final = LANES if SIMULATED else 1024  # of that block
LAUNCH: Final = 500  # iterations of one launch of that block
SIDE_BY_SIDE: Final = True  # may parts of a phase run at the same time?
RECORDED: Final = 16  # iterations of a graph, where they are short
SHORT: Final = 1_000_000  # places of a game whose iterations are
WAITING: Final = 32  # replays after which whoever wants to stop is heard
STRETCH: Final = 4096  # iterations that are told what they need at once


class SequencesOnGPU:
    """What a run keeps on the device, and how it goes on; ``steps`` as ``engines.sequence.arrays.Steps``."""

    def __init__(
        self,
        game: CompiledGame,
        learners: Learners,
        storage: str,
        predict: float,
        turns: int,
        layout: DeviceLayout,
        rule: Rule | None = None,
    ) -> None:
        self.game, self.storage, self.predict, self.turns, self.rule = game, storage, predict, turns, rule
        self._evaluator: Evaluator | None = None
        self.layout = layout
        self.stream = Stream()
        self.apart = predict > 0.0 or rule is not None  # is what is played kept beside regrets?
        called = None
        self.more: Any = predict  # what kernels that go up are handed
        if rule is not None:
            most = max(int(treeplex.actions.max(initial=1)) for treeplex in game.treeplexes)
            called = Called(rule.update, rule.memory, rule.constants is not None, most)
            constants = rule.constants_of(payoff_range(game))
            self.more = Calls(send(constants if len(constants) else np.zeros(1)), send(np.zeros(1, np.int32)))
        self.kernels = kernels(storage, predict > 0.0, layout.dealt is not None, called)
        self.dealt = [] if layout.dealt is None else [sent(side) for side in layout.dealt]
        tiles = layout.tiles.ravel()
        self.shape = sent(Shape(tiles, layout.above, layout.owner, layout.leave, layout.column, layout.value))
        self.learning = self._sent(learners)
        self.earlier: Any = None  # [P] sums of averages over earlier blocks: ``updates.blocks``
        self._sums: Any = None  # [P] with them, for evaluations
        self.steps = DeviceSteps(send(np.zeros(1, np.int32)), send(np.zeros(4 * STRETCH, storage)))
        self._clock, self._shares = 0, False  # as it is there; are shares those of what is played?
        self.plan = LaunchPlan(layout, turns)
        self.table = send(self.plan.table)
        self.recorded = 1 if layout.places > SHORT or SIMULATED else RECORDED
        self._graphs: dict[int, Callable[[], None]] = {}
        self._compile()

    # --- what is kept -------------------------------------------------------------------------------------------------

    def _sent(self, learners: Learners) -> RunArrays:
        layout, storage = self.layout, self.storage
        regret = self._laid_regrets(learners)
        average, plan = (self._laid(learners, name) for name in ("average", "plan"))
        for side in layout.sides:
            plan[side.place[0]], plan[side.place[0] + 1] = 1.0, 0.0
        d_regret = send(regret)
        played = send(self._laid(learners, "strategy")) if self.apart else d_regret
        return RunArrays(
            d_regret,
            send(average),
            send(plan),
            played,
            send(np.full(len(layout.above), -1.0, storage)),
            send(np.ones(layout.rows, np.uint8)),
            send(np.zeros(max(layout.slots, 1) * LANES, storage)),
            send(np.zeros(1 if layout.dealt is None else layout.places, storage)),
        )

    def _laid_regrets(self, learners: Learners) -> Array:
        """Regrets, or [rows, places] the memory of a rule."""
        if self.rule is None:
            return self._laid(learners, "regret")
        tables = [
            learner.memory[memory_places(treeplex, self.rule.memory)]
            for learner, treeplex in zip(learners, self.game.treeplexes, strict=True)
            if isinstance(learner, RuleLearner)
        ]
        rows = [self._placed([table[row] for table in tables]) for row in range(self.rule.memory)]
        return np.concatenate([*rows, np.zeros(0 if rows else 1, self.storage)])

    def memory(self) -> tuple[Array, Array]:
        """Both players' memory of the rule, in the game's order: what ``RuleLearner`` has."""
        self.stream.wait()
        rows = self.rule.memory if self.rule is not None else 0
        numbers = fetch(self.learning.regret)[: rows * self.layout.places].reshape(rows, self.layout.places)
        first, second = (np.zeros(rows * treeplex.sequences, self.storage) for treeplex in self.game.treeplexes)
        for out, side, treeplex in zip((first, second), self.layout.sides, self.game.treeplexes, strict=True):
            out[memory_places(treeplex, rows)[:, 1:]] = numbers[:, side.place[1:]]
        return first, second

    def load_earlier(self, earlier: tuple[Array, Array]) -> None:
        """Sums over earlier blocks, by sequence."""
        self._begin_blocks(self._placed(earlier))

    def _laid(self, learners: Learners, name: str) -> Array:
        return self._placed([getattr(learner, name) for learner in learners])

    def _placed(self, numbers: Sequence[Array]) -> Array:
        out = np.zeros(self.layout.places, self.storage)
        for side, own in zip(self.layout.sides, numbers, strict=True):
            out[side.place[1:]] = own[1:]
        return out

    def fetched(self, name: str) -> tuple[Array, Array]:
        """Both players' numbers of ``RunArrays`` by sequence, in the game's order; of the empty one, whatever.

        ``name`` may be "earlier", too.
        """
        self.stream.wait()
        numbers = fetch(self.earlier if name == "earlier" else getattr(self.learning, name))
        return numbers[self.layout.sides[0].place], numbers[self.layout.sides[1].place]

    def evaluated(self, iterate: str) -> PairValues:
        """Value and best responses of the average or the current strategies."""
        learning = self.learning
        if self.earlier is not None:
            add(self._sums, self.earlier, learning.average, self.stream.numba)
            learning = learning._replace(average=self._sums)
        if self._evaluator is None:
            sides = unmoved(self.game, self.layout)
            self._evaluator = Evaluator(self.layout, self.plan, self.stream, self.shape, learning, sides)
        return self._evaluator.found(iterate)

    def fade(self, factor: float) -> None:
        """Multiply both players' averages."""
        self.stream.wait()
        for sums in (self.learning.average, *([] if self.earlier is None else [self.earlier])):
            fade(sums, factor, self.stream.numba)

    def fold(self) -> None:
        """End a block of both players' averages."""
        self.stream.wait()
        earlier = (
            self._begin_blocks(np.zeros(self.layout.places, self.storage)) if self.earlier is None else self.earlier
        )
        fold(earlier, self.learning.average, BELOW, self.stream.numba)

    def _begin_blocks(self, earlier: Array) -> Array:
        self.earlier, self._sums, self._evaluator = send(earlier), send(earlier), None
        return self.earlier

    # --- iterations ---------------------------------------------------------------------------------------------------

    def advance(self, steps: Steps, weights: tuple[tuple[float, Floats], tuple[float, Floats]], stop: Stop) -> int:
        """Iterations for each of ``steps``, or fewer if ``stop()`` says so; returns how many.

        ``weights``: for each player, what the plan that is played weighs in the average, and what the plans that are
        made weigh.
        """
        self.stream.wait()
        (first, one), (second, two) = weights
        positive = steps.positive if self.rule is None else steps.iteration
        self.tell(np.stack((positive, steps.negative, one, two), axis=1))
        if first or second:
            blocks = -(-self.layout.places // BLOCK)
            turn = int(self.layout.sides[1].place[0])
            self.kernels.enter[blocks, BLOCK, self.stream.numba](self.learning, turn, float(first), float(second))
        done, count = 0, len(steps.weight)
        while done < count:
            done += self._some(count - done)
            self.stream.wait()
            self._check_calls()
            if stop():
                break
        self._clock = done
        return done

    def _check_calls(self) -> None:
        """Reject a rule that has left what are not probabilities."""
        iteration = 0 if self.rule is None else int(fetch(self.more.astray)[0])
        if self.rule is not None and iteration:
            raise ParameterError(
                f"The rule '{self.rule.name}' must leave probabilities that add up to 1 in 'strategy': at some infoset"
                f" it does not, in iteration {iteration:,}."
            )

    def tell(self, told: Floats) -> None:
        """What the next iterations need, [N, 4] as ``DeviceSteps.told``; the clock begins anew."""
        put(told.ravel().astype(self.storage), self.steps.told)
        if self._clock:
            self._tick(-self._clock)
            self._clock = 0
        if not self._shares:
            self._launch_shares()
            self._shares = True

    def _some(self, left: int) -> int:
        """Launch some of the iterations that are left; returns how many."""
        if self.plan.alone:
            count = min(left, LAUNCH)
            self._launch_block(0, len(self.plan.table), 0, count, self.stream.numba)
            self._tick(count)
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
            for phase in self.plan.phases:
                self.launch(phase, i)
        self._tick(size)

    def launch(self, phase: Phase, iteration: int = 0) -> None:
        """One phase."""
        if SIDE_BY_SIDE:
            self.stream.side_by_side([partial(self._launch_part, part, iteration) for part in phase])
        else:
            for part in phase:
                self._launch_part(part, iteration, self.stream.numba)

    def _launch_part(self, part: PlanPart, iteration: int, stream: object, *, idle: bool = False) -> None:
        """Launch a part, or its kernel without work."""
        if part.kind == BLOCK_OF_PHASES:
            self._launch_block(part.begin, part.end, iteration, 0 if idle else 1, stream)
            return
        shape, learning, steps = self.shape, self.learning, self.steps
        if part.kind == DEAL:
            own = self.dealt[part.player]
            deal_kernel(self.storage)[-(-len(own.own) // BLOCK), BLOCK, stream](own, learning.plan, learning.earned)
            return
        made = self.kernels
        if part.bundle >= 0:
            lengths = self.layout.sides[part.player].bundles[part.bundle].lengths
            up, down = bundle_kernels(self.storage, self.predict > 0.0, lengths)
        else:
            up, down = made.up[part.form], made.fall if part.kind == FALL else made.down
        blocks, which = launch_of(self.layout, part, iteration, idle)
        if part.kind == UP:
            up[blocks, BLOCK, stream](shape, learning, steps, which, self.layout.unit, self.more)
        else:
            down[blocks, BLOCK, stream](shape, learning, steps, which)

    def _launch_block(self, begin: int, end: int, iteration: int, count: int, stream: object) -> None:
        which = TileRange(begin, end, 0, iteration)
        self.kernels.block[1, THREADS, stream](
            self.shape, self.learning, self.steps, self.table, which, count, self.layout.unit, self.more
        )

    def _tick(self, count: int) -> None:
        self.kernels.tick[1, LANES, self.stream.numba](self.steps, count)

    def _launch_shares(self) -> None:
        tiles = len(self.layout.tiles)
        self.kernels.share[blocks_of(tiles), BLOCK, self.stream.numba](self.shape, self.learning, tiles)

    def _compile(self) -> None:
        """Launch everything once without work, so that it can be recorded."""
        if SIMULATED:
            return
        for part in [part for phase in self.plan.phases for part in phase]:
            self._launch_part(part, 0, self.stream.numba, idle=True)
        self._tick(0)
        self.stream.wait()


def memory_places(treeplex: Treeplex, rows: int) -> Array:
    """[rows, S] where ``RuleLearner.memory`` has the numbers of each sequence; the empty one has none."""
    first = treeplex.first.astype(np.int64)
    actions = np.diff(first)
    before = np.repeat(first[:-1], actions)
    places = np.zeros((rows, treeplex.sequences), np.int64)
    own = np.arange(treeplex.sequences)[first[0] :] - before
    places[:, first[0] :] = rows * before + np.arange(rows)[:, None] * np.repeat(actions, actions) + own
    return places


def device_bytes(layout: DeviceLayout, storage: str, beside: int) -> int:
    """What a game takes on the device, evaluations in float64 included, before anything is allocated there."""
    size, homes = np.dtype(storage).itemsize, len(layout.above)
    fixed = sum(array.nbytes for array in layout if isinstance(array, np.ndarray))
    if layout.dealt is not None:
        fixed += 2 * sum(array.nbytes for side in layout.dealt for array in side) + (size + 8) * layout.places
    slots = max(layout.slots, 1) * LANES
    learning = (3 + beside) * size * layout.places + size * (homes + slots) + layout.rows
    evaluation = 8 * (layout.rows + slots + layout.places + homes) + layout.rows
    return fixed + learning + evaluation


def laid_out(game: CompiledGame, storage: str, *, bundled: bool = True) -> DeviceLayout:
    """The layout of a game, with sums over hands in place of its payoff matrix where that is large."""
    blocks = dealt_blocks(game)
    if blocks is not None:
        return lay_out_dealt(game.treeplexes, blocks, bundled=bundled)
    return lay_out(game.treeplexes, payoff_sides(game), storage, bundled=bundled)


def unmoved(game: CompiledGame, layout: DeviceLayout) -> tuple[Csr, Csr]:
    """The payoff matrix, as far as it tells what is paid to a player that has not moved."""
    if layout.dealt is None:
        return payoff_sides(game)
    return no_payoffs(game.treeplexes[0]), no_payoffs(game.treeplexes[1])


def payoff_sides(game: CompiledGame) -> tuple[Csr, Csr]:
    """The sparse payoff matrix by player 0's sequences, and by player 1's."""
    operator = game.operator if isinstance(game.operator, Payoffs) else game.payoffs
    return operator.rows, operator.columns
