"""The CFR family over the sequence form on a GPU. What is saved does not know of it: either backend goes on with it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np

from treeplex.algorithms.cfr import CFR
from treeplex.algorithms.full_width import FullWidth, LearnerState
from treeplex.algorithms.options import named
from treeplex.algorithms.protocol import Execution, Stop, Tensors, never
from treeplex.compile.game import CompiledGame
from treeplex.engines.sequence.arrays import Learner
from treeplex.engines.sequence.cuda.engine import STRETCH, Engine, device_bytes, laid_out
from treeplex.engines.sequence.learners import Strategies, normalised, steps
from treeplex.evaluation.exact import Evaluation, in_payoffs
from treeplex.kernels.cuda.found import advise_storage, require, require_memory
from treeplex.policies.policy import Policy
from treeplex.updates import blocks
from treeplex.updates.blocks import Earlier
from treeplex.updates.schedules import bounded, stretches
from treeplex.updates.storage import STORAGES

PLAYED_BEFORE = "cuda.played"


class DeviceState(NamedTuple):
    """What the next iteration needs, on the device."""

    engine: Engine
    empty: tuple[float, float]  # averages of the empty sequences
    iteration: int
    game: CompiledGame

    @property
    def learners(self) -> tuple[Learner, Learner]:
        """Copies in the game's order: what is told and saved."""
        regret, average, plan = (self.engine.fetched(name) for name in ("regret", "average", "plan"))
        played = self.engine.fetched("played") if self.engine.predict else regret
        strategy = normalised(self.game, (np.maximum(played[0], 0.0), np.maximum(played[1], 0.0)))
        for player in (0, 1):
            regret[player][0], plan[player][0], average[player][0] = 0.0, 1.0, self.empty[player]
        first, second = (
            Learner(regret[player], average[player], strategy[player].astype(regret[player].dtype), plan[player])
            for player in (0, 1)
        )
        return first, second

    @property
    def earlier(self) -> Earlier:
        """The same of sums over earlier blocks; that of the empty sequence is in ``learners``."""
        if self.engine.earlier is None:
            return ()
        first, second = self.engine.fetched("earlier")
        first[0] = second[0] = 0.0
        return first, second


class OnDevice(NamedTuple):
    """Strategies that have not been fetched; good until the state is advanced."""

    state: DeviceState
    iterate: str


@dataclass(frozen=True)
class CudaCFR(FullWidth[DeviceState]):
    """A member of the CFR family as a GPU carries it out."""

    member: CFR
    storage: str
    device: int

    @property
    def turns(self) -> int:  # pyright: ignore[reportIncompatibleVariableOverride]
        """The order of updates."""
        return self.member.turns

    @property
    def stored_as(self) -> str:
        """As ``Algorithm``."""
        return self.storage

    @property
    def backend(self) -> str:
        """As ``Algorithm``."""
        return "cuda"

    def start(self, game: CompiledGame, seed: int = 0) -> DeviceState:
        """No regret yet, uniform strategies."""
        return self.sent(game, self.member.start(game))

    def sent(self, game: CompiledGame, state: Any) -> DeviceState:
        """A state of the CPU's, on the device."""
        learners: tuple[Learner, Learner] = state.learners
        device, predict = require(self.device), self.member.minimizer.predict
        layout = laid_out(game, self.storage)
        need = device_bytes(layout, self.storage, predict > 0.0)
        advice = 'storage="float32" or backend="cpu"' if self.storage == "float64" else 'backend="cpu"'
        require_memory(device, need, f"Solving {game.name} with {self.storage} numbers", advice)
        engine = Engine(game, learners, self.storage, predict, self.turns, layout)
        first, second = (float(learner.average[0]) for learner in learners)
        if state.earlier:
            engine.load_earlier(state.earlier)
            first, second = first + float(state.earlier[0][0]), second + float(state.earlier[1][0])
        return DeviceState(engine, (first, second), state.iteration, game)

    def advance(self, game: CompiledGame, state: DeviceState, iterations: int, stop: Stop = never) -> DeviceState:
        """As ``Algorithm``; what ``state`` has on the device is modified in place."""
        for count, fade in stretches(self.member.weight, state.iteration, iterations, self.storage):
            if fade != 1.0:
                state.engine.fade(fade)
                state = state._replace(empty=(fade * state.empty[0], fade * state.empty[1]))
            last = state.iteration + count
            state = self._advanced(state, last, stop)
            if blocks.due(state.iteration, self.storage):
                self._fold(state.engine)
            if state.iteration < last:
                break
        return state

    def _fold(self, engine: Engine) -> None:
        """End a block of averages; refused if the device has no room for the sum of all blocks."""
        if engine.earlier is None:
            need, advice = (
                2 * engine.learning.average.nbytes,
                f'a limit of {blocks.BEGIN:,} iterations or backend="cpu"',
            )
            require_memory(require(self.device), need, f"Solving beyond iteration {blocks.BEGIN:,}", advice)
        engine.fold()

    def _advanced(self, state: DeviceState, last: int, stop: Stop) -> DeviceState:
        """After iteration ``last``, or sooner if ``stop()`` says so; weights have one unit."""
        while state.iteration < last:
            count = min(last - state.iteration, STRETCH)
            now = steps(state.iteration, count, self.member.weight, self.member.minimizer)
            weights = self._weights(now.weight, 0), self._weights(now.weight, 1)
            done = state.engine.advance(now, weights, stop)
            added = float(now.weight[:done].sum())
            empty = state.empty[0] + added, state.empty[1] + added
            state = state._replace(iteration=state.iteration + done, empty=empty)
            if done < count:
                break
        return state

    def _weights(self, weight: Any, player: int) -> tuple[float, Any]:
        """What the plan that is played weighs in the average, and what those weigh that the iterations make."""
        if self.member.adds_new(player):
            return 0.0, weight
        return float(weight[0]), np.append(weight[1:], 0.0)

    def average(self, game: CompiledGame, state: DeviceState) -> Strategies:
        """As ``Algorithm``."""
        first, second = state.learners
        return normalised(game, blocks.summed((first.average, second.average), state.earlier))

    def strategies(self, game: CompiledGame, state: DeviceState, iterate: str) -> Any:
        """As ``Algorithm``; they stay on the device until they are ``fetched``."""
        return OnDevice(state, iterate)

    def fetched(self, strategies: Any) -> Any:
        """As ``Algorithm``."""
        if not isinstance(strategies, OnDevice):
            return strategies
        state, iterate = strategies
        return super().strategies(state.game, state, iterate)

    def evaluate(self, game: CompiledGame, strategies: Any, threads: int = 0) -> Evaluation:
        """As ``Algorithm``; on the device, if that is where they are."""
        if not isinstance(strategies, OnDevice):
            return super().evaluate(game, strategies, threads)
        found = strategies.state.engine.evaluated(strategies.iterate)
        return in_payoffs(game, found.value, *found.best_responses)

    def policy(self, game: CompiledGame, strategies: Any) -> Policy:
        """As ``Algorithm``."""
        return super().policy(game, self.fetched(strategies))

    def save(self, state: DeviceState) -> Tensors:
        """As ``Algorithm``: what the CPU saves, and for predictive rules the bits that strategies are made of."""
        tensors = super().save(LearnerState(state.learners, state.iteration, state.earlier))  # pyright: ignore
        if state.engine.predict:
            for player, played in enumerate(state.engine.fetched("played")):
                tensors[f"{PLAYED_BEFORE}.{player}"] = played
        return tensors

    def restore(self, game: CompiledGame, tensors: Mapping[str, Any], seed: int = 0) -> DeviceState:
        """As ``Algorithm``: whichever backend saved it."""
        return self.sent(game, self.member.restore(game, tensors, seed))


def on_cuda(member: CFR, execution: Execution) -> CudaCFR:
    """A member of the CFR family as it is carried out on a GPU."""
    legal = {name: name for name, kept in STORAGES.items() if not kept.scaled}
    storage = named("storage", execution.storage or member.storage, legal)
    advise_storage(require(execution.device), storage)
    weight = bounded(member.weight, storage)
    return CudaCFR(replace(member, weight=weight, storage=storage), storage, execution.device)
