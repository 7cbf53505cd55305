"""Arrays over sequences on a GPU. Checkpoints do not depend on the backend: either continues the other's."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, pair
from treeplex.compile.game import CompiledGame
from treeplex.engines.evaluation import Evaluation
from treeplex.engines.protocol import Cost, Engine, Profile, Scheme, Stop, never, packed
from treeplex.engines.sequence.arrays import Learner, RuleLearner
from treeplex.engines.sequence.cuda.engine import STRETCH, device_bytes, laid_out
from treeplex.engines.sequence.cuda.engine import SequencesOnGPU as DeviceArrays
from treeplex.engines.sequence.engine import SequenceEngine, SequenceTables, TabularProfile, require_finite
from treeplex.engines.sequence.evaluate import in_payoffs
from treeplex.engines.sequence.learners import Learners, normalised, steps
from treeplex.errors import ParameterError
from treeplex.kernels.cuda.device import require, require_memory
from treeplex.tensors import Tensors, leaves
from treeplex.updates import blocks
from treeplex.updates.blocks import Earlier
from treeplex.updates.rule import Rule
from treeplex.updates.schedules import bounded, stretches
from treeplex.updates.storage import STORAGES
from treeplex.updates.turns import ALTERNATING

Array = npt.NDArray[Any]

PLAYED_BEFORE = "cuda.played"


class DeviceTables(NamedTuple):
    """What the next iteration needs, on the device."""

    device: DeviceArrays
    empty: tuple[float, float]  # averages of the empty sequences
    iteration: int
    game: CompiledGame

    @property
    def learners(self) -> Learners:
        """Copies in the game's order: what is reported and saved."""
        if self.device.rule is not None:
            return self._rule_learners()
        regret, average, plan = (self.device.fetched(name) for name in ("regret", "average", "plan"))
        played = self.device.fetched("played") if self.device.predict else regret
        strategy = normalised(self.game, (np.maximum(played[0], 0.0), np.maximum(played[1], 0.0)))
        for player in (0, 1):
            regret[player][0], plan[player][0], average[player][0] = 0.0, 1.0, self.empty[player]
        return pair(
            Learner(regret[player], average[player], strategy[player].astype(regret[player].dtype), plan[player])
            for player in (0, 1)
        )

    def _rule_learners(self) -> tuple[RuleLearner, RuleLearner]:
        average, plan, strategy = (self.device.fetched(name) for name in ("average", "plan", "played"))
        for player in (0, 1):
            strategy[player][0], plan[player][0], average[player][0] = 1.0, 1.0, self.empty[player]
        return pair(map(RuleLearner, self.device.memory(), average, strategy, plan))

    @property
    def earlier(self) -> Earlier:
        """Sums over earlier blocks; that of the empty sequence is in ``learners``."""
        if self.device.earlier is None:
            return ()
        first, second = self.device.fetched("earlier")
        first[0] = second[0] = 0.0
        return first, second


class DeviceProfile(Profile):
    """Strategies on the device; valid until the tables are iterated again."""

    def __init__(self, tables: DeviceTables, iterate: str) -> None:
        self.tables, self.iterate = tables, iterate

    def evaluate(self, threads: int = 0) -> Evaluation:
        """As ``Profile``, on the device."""
        found = self.tables.device.evaluated(self.iterate)
        return in_payoffs(self.tables.game, found.value, *found.best_responses)

    def host(self) -> TabularProfile:
        """As ``Profile``."""
        first, second = self.tables.learners
        require_finite((first.strategy, second.strategy), self.tables.iteration)
        if self.iterate == "current":
            strategies = first.strategy.astype(float), second.strategy.astype(float)
        else:
            sums = blocks.summed((first.average, second.average), self.tables.earlier)
            strategies = normalised(self.tables.game, sums)
        return TabularProfile(self.tables.game, strategies)


@dataclass(frozen=True, eq=False)
class CudaSequenceEngine(Engine):
    """A compiled game as tiles of 32 sequences on a GPU."""

    game: CompiledGame
    storage: str = "float64"
    device: int = 0

    name: ClassVar = "sequence"
    backend: ClassVar = "cuda"

    @property
    def cpu(self) -> SequenceEngine:
        """The engine that packs and unpacks the same tables."""
        return SequenceEngine(self.game, self.storage)

    @property
    def cost(self) -> Cost:
        """As ``Engine``: counted as on the CPU, so that the log has the same rows."""
        return self.cpu.cost

    def check(self, scheme: Scheme) -> None:
        """As ``Engine``: 16 bits are for CPUs."""
        if STORAGES[self.storage].scaled:
            legal = ", ".join(name for name, kept in STORAGES.items() if not kept.scaled)
            raise ParameterError(f"The 'storage' parameter must be one of {legal} on a GPU, got {self.storage!r}.")

    def tables(self, scheme: Scheme) -> DeviceTables:
        """As ``Engine``."""
        return self.send(self.cpu.tables(scheme), scheme)

    def send(self, tables: SequenceTables, scheme: Scheme) -> DeviceTables:
        """Copy tables of the CPU to the device."""
        device, rule = require(self.device), scheme.rule if isinstance(scheme.rule, Rule) else None
        predict = 0.0 if isinstance(scheme.rule, Rule) else scheme.rule.predict
        layout = laid_out(self.game, self.storage, bundled=rule is None)
        need = device_bytes(layout, self.storage, int(predict > 0.0) if rule is None else rule.memory)
        advice = 'storage="float32" or backend="cpu"' if self.storage == "float64" else 'backend="cpu"'
        require_memory(device, need, f"Solving {self.game.name} with {self.storage} numbers", advice)
        arrays = DeviceArrays(self.game, tables.learners, self.storage, predict, scheme.turns, layout, rule)
        first, second = (float(learner.average[0]) for learner in tables.learners)
        if tables.earlier:
            arrays.load_earlier(tables.earlier)
            first, second = first + float(tables.earlier[0][0]), second + float(tables.earlier[1][0])
        return DeviceTables(arrays, (first, second), tables.iteration, self.game)

    def iterate(self, tables: DeviceTables, scheme: Scheme, iterations: int, stop: Stop = never) -> DeviceTables:
        """As ``Engine``."""
        scheme = scheme._replace(weight=bounded(scheme.weight, self.storage))
        for count, fade in stretches(scheme.weight, tables.iteration, iterations, self.storage):
            if fade != 1.0:
                tables.device.fade(fade)
                tables = tables._replace(empty=(fade * tables.empty[0], fade * tables.empty[1]))
            last = tables.iteration + count
            tables = self._stretch(tables, scheme, last, stop)
            if blocks.due(tables.iteration, self.storage):
                self._fold(tables.device)
            if tables.iteration < last:
                break
        return tables

    def _fold(self, arrays: DeviceArrays) -> None:
        """End a block of averages; rejected if the device has no room for the sum of all blocks."""
        if arrays.earlier is None:
            need, advice = (
                2 * arrays.learning.average.nbytes,
                f'a limit of {blocks.BEGIN:,} iterations or backend="cpu"',
            )
            require_memory(require(self.device), need, f"Solving beyond iteration {blocks.BEGIN:,}", advice)
        arrays.fold()

    def _stretch(self, tables: DeviceTables, scheme: Scheme, last: int, stop: Stop) -> DeviceTables:
        """Iterate up to iteration ``last``, or less if ``stop()`` says so; weights have one unit."""
        while tables.iteration < last:
            count = min(last - tables.iteration, STRETCH)
            now = steps(tables.iteration, count, scheme.weight, scheme.rule)
            weights = _plan_weights(scheme, now.weight, 0), _plan_weights(scheme, now.weight, 1)
            done = tables.device.advance(now, weights, stop)
            added = float(now.weight[:done].sum())
            empty = tables.empty[0] + added, tables.empty[1] + added
            tables = tables._replace(iteration=tables.iteration + done, empty=empty)
            if done < count:
                break
        return tables

    def profile(self, tables: DeviceTables, scheme: Scheme, iterate: str) -> Profile:
        """As ``Engine``."""
        return DeviceProfile(tables, iterate)

    def nodes(self, scheme: Scheme, iterations: int) -> int:
        """As ``Engine``."""
        return self.cpu.nodes(scheme, iterations)

    def pack(self, tables: DeviceTables, scheme: Scheme) -> Tensors:
        """As ``Engine``: what the CPU packs, and for predictive rules the bits that strategies are made of."""
        host = SequenceTables(tables.learners, tables.iteration, tables.earlier)
        tensors = packed([*leaves(host, "state")])
        if tables.device.predict:
            for player, played in enumerate(tables.device.fetched("played")):
                tensors[f"{PLAYED_BEFORE}.{player}"] = played
        return tensors

    def unpack(self, tensors: Mapping[str, Array], scheme: Scheme) -> DeviceTables:
        """As ``Engine``: whichever backend packed them."""
        return self.send(self.cpu.unpack(tensors, scheme), scheme)


def _plan_weights(scheme: Scheme, weight: Floats, player: int) -> tuple[float, Floats]:
    """Weights in the average: of the plan that is played, and of those that the iterations make."""
    if scheme.adds_new(player, ALTERNATING):
        return 0.0, weight
    return float(weight[0]), np.append(weight[1:], 0.0)
