"""CFR on a hold'em spot on a GPU. What is saved does not know of it: either backend goes on with it."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple, cast

from treeplex.algorithms.holdem import HoldemCFR, State
from treeplex.algorithms.protocol import Execution, Stop, Tensors, never
from treeplex.engines.boards.arrays import Schedules, Sources
from treeplex.engines.boards.cuda.engine import BoardsOnGPU, Learners, Plan, learner_bytes, plan
from treeplex.engines.boards.game import SMALLEST, HoldemGame
from treeplex.evaluation.exact import Evaluation
from treeplex.kernels.cuda.found import GIB, require, require_memory
from treeplex.poker.views.reader import evaluated
from treeplex.updates import blocks
from treeplex.updates.blocks import Earlier
from treeplex.updates.schedules import stretches

PATIENCE: Final = 0.25  # seconds between two questions whether to stop
TOLD: Final = 1024  # iterations whose discounts and weights are sent at a time


class DeviceState(NamedTuple):
    """What the next iteration needs, on the device."""

    engine: BoardsOnGPU
    learners: Learners
    iteration: int
    earlier: Earlier = ()


class OnDevice(NamedTuple):
    """Strategies that are still there."""

    engine: BoardsOnGPU
    sources: Sources


@dataclass(frozen=True)
class CudaHoldemCFR(HoldemCFR):
    """CFR over public nodes with vectors of hands as a GPU carries it out."""

    device: int = 0

    @property
    def backend(self) -> str:
        """As ``Algorithm``."""
        return "cuda"

    def start(self, game: HoldemGame, seed: int = 0) -> Any:
        """No regret yet, uniform strategies."""
        engine = self._engine(game)
        first, second = engine.new_learners(self.predicts)
        engine.hold(list(zip(first[:3], second[:3], strict=True)))
        return DeviceState(engine, (first, second), 0)

    def advance(self, game: HoldemGame, state: Any, iterations: int, stop: Stop = never) -> Any:
        """As ``Algorithm``; what ``state`` has on the device is modified in place."""
        now: DeviceState = state
        count, schedules = 1, self.told(now.iteration + iterations)
        for stretch in stretches(self.weight, now.iteration, iterations, self.storage):
            last = now.iteration + stretch.iterations
            if stretch.fade != 1.0:
                now.engine.fade(now.learners, stretch.fade, now.earlier)
            while now.iteration < last:
                count, began = min(count, last - now.iteration), time.perf_counter()
                now.engine.iterate(now.learners, self.rule, schedules, now.iteration, count)
                now = now._replace(iteration=now.iteration + count)
                now = now._replace(earlier=self.folded(now.engine, now, now.iteration))
                if stop():
                    return now
                count = max(min(int(PATIENCE / (time.perf_counter() - began) * count), 4 * count), 1)
        return now

    def strategies(self, game: HoldemGame, state: Any, iterate: str) -> Any:
        """As ``HoldemCFR``, on the device."""
        now: DeviceState = state
        if iterate == "current":
            return OnDevice(now.engine, self.playing(cast(State, now)))
        sources = now.engine.averages(now.learners, now.earlier)
        now.engine.hold([sources])
        return OnDevice(now.engine, sources)

    def fetched(self, strategies: Any) -> Any:
        """As ``Algorithm``: copies on the CPU."""
        return strategies.engine.here(strategies.sources) if isinstance(strategies, OnDevice) else strategies

    def evaluate(self, game: HoldemGame, strategies: Any, threads: int = 0) -> Evaluation:
        """As ``HoldemCFR``; strategies that were kept are evaluated on the CPU."""
        if not isinstance(strategies, OnDevice):
            return super().evaluate(game, strategies, threads)
        return evaluated(game, lambda passes: strategies.engine.values(strategies.sources, passes))

    def policy(self, game: HoldemGame, strategies: Any) -> Any:
        """As ``HoldemCFR``, of a copy."""
        return super().policy(game, self.fetched(strategies))

    def save(self, state: Any) -> Tensors:
        """As ``Algorithm``: what the CPU saves."""
        return super().save(self.brought(state.engine, state))

    def restore(self, game: HoldemGame, tensors: Mapping[str, Any], seed: int = 0) -> Any:
        """As ``Algorithm``: whichever backend saved it."""
        state = self.on_cpu.restore(game, tensors, seed)
        engine = self._engine(game)
        return DeviceState(engine, engine.send(state.learners), state.iteration, engine.send_earlier(state.earlier))

    def folded(self, engine: BoardsOnGPU, state: Any, iteration: int) -> Earlier:
        """As ``holdem.folded``, on the device."""
        if not blocks.due(iteration, self.storage):
            return state.earlier
        if not state.earlier:
            need = 2 * sum(learner.average.nbytes for learner in state.learners)
            advice = f'a limit of {blocks.BEGIN:,} iterations or backend="cpu"'
            require_memory(require(self.device), need, f"Solving beyond iteration {blocks.BEGIN:,}", advice)
        return engine.fold(state.learners, state.earlier)

    def brought(self, engine: BoardsOnGPU, state: Any) -> State:
        """Copy a state from the device to the CPU."""
        earlier: Any = state.earlier and tuple(engine.here(Sources(*state.earlier)))
        return State(engine.fetched(state.learners, self.predicts), state.iteration, earlier)

    @property
    def on_cpu(self) -> HoldemCFR:
        """The same on the CPU."""
        return HoldemCFR(self.minimizer, self.weight, self.storage, self.threads, self.prune)

    @property
    def predicts(self) -> bool:
        """Are there predicted regrets?"""
        return self.minimizer.predict > 0.0

    def told(self, last: int) -> Schedules:
        """Discounts and weights up to ``last`` and some more: they are sent once for many iterations."""
        return self.schedules(-(-(last + 1) // TOLD) * TOLD - 1)

    def _engine(self, game: HoldemGame) -> BoardsOnGPU:
        return BoardsOnGPU(game, self.storage, self.fitting(game, plan(game, self.storage)))

    def fitting(self, game: HoldemGame, planned: Plan) -> Plan:
        """A plan; a refusal if its tables and working arrays and what is learnt do not fit on the device."""
        device = require(self.device)
        advice = "fewer or larger bet sizes, or narrower ranges"
        least = planned.bytes + learner_bytes(game, SMALLEST, predict=False)
        if self.storage != SMALLEST and not self.predicts and least <= device.free:
            advice = f'storage="{SMALLEST}" (which takes {least / GIB:,.1f} GiB) or backend="cpu"'
        need = planned.bytes + learner_bytes(game, self.storage, self.predicts)
        require_memory(device, need, f"Solving {game.name} with {self.storage} numbers", advice)
        return planned


def on_gpu(solver: HoldemCFR, execution: Execution) -> CudaHoldemCFR:
    """What ``on_boards`` has made, as it is carried out on a GPU."""
    return CudaHoldemCFR(
        solver.minimizer, solver.weight, solver.storage, solver.threads, solver.prune, execution.device
    )
