"""Hold'em spots on a GPU. Checkpoints do not depend on the backend: either continues the other's."""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import ClassVar, Final, NamedTuple

from treeplex.arrays import Floats
from treeplex.engines.boards.arrays import Schedules, Sources
from treeplex.engines.boards.cuda.engine import BoardsOnGPU, Learners, SubgamePlan, here, learner_bytes, plan
from treeplex.engines.boards.evaluate import Passes
from treeplex.engines.boards.game import SMALLEST, HoldemGame
from treeplex.engines.boards.locks import fix
from treeplex.engines.boards.solver import BoardsEngine, HoldemProfile, SpotProfile
from treeplex.engines.boards.tables import (
    Array,
    HandTables,
    array_counts,
    astray,
    bounded_weight,
    new_learners,
    numbers_beside,
    pass_rule,
    played_sources,
    schedules,
)
from treeplex.engines.protocol import Cost, Engine, Scheme, Stop, never
from treeplex.kernels.cuda.found import GIB, require, require_memory
from treeplex.tensors import Tensors
from treeplex.updates import blocks
from treeplex.updates.blocks import Earlier
from treeplex.updates.rule import Rule, zero_memory
from treeplex.updates.schedules import stretches

LISTENING: Final = 0.25  # seconds between two questions whether to stop
SENT: Final = 1024  # iterations whose discounts and weights are sent at a time


class DeviceHandTables(NamedTuple):
    """What the next iteration needs, on the device."""

    device: BoardsOnGPU
    learners: Learners
    iteration: int
    earlier: Earlier = ()


class DeviceSpotProfile(HoldemProfile):
    """Strategies on the device."""

    def __init__(self, game: HoldemGame, device: BoardsOnGPU, sources: Sources) -> None:
        self.game, self.device, self.sources = game, device, sources

    def values(self, passes: Passes) -> Floats:
        """As ``HoldemProfile``, by passes of the device."""
        return self.device.values(self.sources, passes)

    def host(self) -> SpotProfile:
        """As ``Profile``."""
        return self._here(self.device.here(self.sources))

    @property
    def trunk(self) -> SpotProfile:
        """The strategies of the first street, on the host: a small part of what there is to copy."""
        street, hands = self.game.streets[0], self.game.boards[0].hands
        first, second = (street.slots(player) * int(hands[player].start[1]) for player in (0, 1))
        return self._here(Sources(here(self.sources[0], first), here(self.sources[1], second)))

    def _here(self, sources: Sources) -> SpotProfile:
        storage = self.device.storage
        return SpotProfile(self.game, sources, fix(self.game, storage), storage, 0)


def sent_schedules(scheme: Scheme, storage: str, last: int) -> Schedules:
    """Discounts and weights up to ``last`` and some more: they are sent once for many iterations."""
    return schedules(scheme, storage, -(-(last + 1) // SENT) * SENT - 1)


def fold_on_device(device: BoardsOnGPU, index: int, learners: Learners, iteration: int, earlier: Earlier) -> Earlier:
    """The sums of blocks after an iteration; rejected if the device has no room for them."""
    if not blocks.due(iteration, device.storage):
        return earlier
    if not earlier:
        need = 2 * sum(learner.average.nbytes for learner in learners)
        advice = f'a limit of {blocks.BEGIN:,} iterations or backend="cpu"'
        require_memory(require(index), need, f"Solving beyond iteration {blocks.BEGIN:,}", advice)
    return device.fold(learners, earlier)


def fitting_plan(game: HoldemGame, storage: str, scheme: Scheme, index: int, planned: SubgamePlan) -> SubgamePlan:
    """Return a plan; reject it if its tables, working arrays and learners do not fit on the device."""
    device = require(index)
    advice = "fewer or larger bet sizes, or narrower ranges"
    beside, least = numbers_beside(scheme), planned.bytes + learner_bytes(game, SMALLEST)
    if storage != SMALLEST and not beside and least <= device.free:
        advice = f'storage="{SMALLEST}" (which takes {least / GIB:,.1f} GiB) or backend="cpu"'
    need = planned.bytes + learner_bytes(game, storage, beside)
    require_memory(device, need, f"Solving {game.name} with {storage} numbers", advice)
    return planned


def copy_to_host(device: BoardsOnGPU, tables: DeviceHandTables, scheme: Scheme) -> HandTables:
    """Copy tables from the device."""
    earlier: Earlier = ()
    if tables.earlier:
        first, second = device.here(Sources(*tables.earlier))
        earlier = first, second
    return HandTables(device.fetched(tables.learners, array_counts(scheme)), tables.iteration, earlier)


def averaged_sources(device: BoardsOnGPU, learners: Learners, earlier: Earlier) -> Sources:
    """What average strategies are normalised from; locked hands as they are locked."""
    sources = device.averages(learners, earlier)
    device.hold([sources])
    return sources


@dataclass(frozen=True, eq=False)
class CudaBoardsEngine(Engine):
    """A hold'em spot on a GPU."""

    game: HoldemGame
    storage: str = "float32"
    device: int = 0
    prune: bool = True

    name: ClassVar = "boards"
    backend: ClassVar = "cuda"

    @property
    def cpu(self) -> BoardsEngine:
        """The engine that packs and unpacks the same tables."""
        return BoardsEngine(self.game, self.storage, prune=self.prune)

    @property
    def cost(self) -> Cost:
        """As ``Engine``."""
        return self.cpu.cost

    def memory(self, scheme: Scheme) -> int:
        """Bytes that a solve takes."""
        return self.cpu.memory(scheme)

    def check(self, scheme: Scheme) -> None:
        """As ``Engine``."""
        self.cpu.check(scheme)

    def tables(self, scheme: Scheme) -> DeviceHandTables:
        """As ``Engine``."""
        device = self._open(scheme)
        if isinstance(scheme.rule, Rule) and scheme.rule.start is not zero_memory:
            first, second = device.send(new_learners(self.game, self.storage, scheme))
        else:
            first, second = device.new_learners(array_counts(scheme))
        device.hold(list(zip(first[:3], second[:3], strict=True)))
        return DeviceHandTables(device, (first, second), 0)

    def _open(self, scheme: Scheme) -> BoardsOnGPU:
        planned = plan(self.game, self.storage)
        planned = fitting_plan(self.game, self.storage, scheme, self.device, planned)
        return BoardsOnGPU(self.game, self.storage, planned, scheme.rule if isinstance(scheme.rule, Rule) else None)

    def iterate(
        self, tables: DeviceHandTables, scheme: Scheme, iterations: int, stop: Stop = never
    ) -> DeviceHandTables:
        """As ``Engine``."""
        now, rule, weight = tables, pass_rule(scheme, prune=self.prune), bounded_weight(scheme, self.storage)
        count, known = 1, sent_schedules(scheme, self.storage, now.iteration + iterations)
        for stretch in stretches(weight, now.iteration, iterations, self.storage):
            last = now.iteration + stretch.iterations
            if stretch.fade != 1.0:
                now.device.fade(now.learners, stretch.fade, now.earlier)
            while now.iteration < last:
                count, began = min(count, last - now.iteration), time.perf_counter()
                now.device.iterate(now.learners, rule, known, now.iteration, count)
                if isinstance(scheme.rule, Rule) and now.device.astray():
                    raise astray(scheme.rule, now.device.astray())
                now = now._replace(iteration=now.iteration + count)
                folded = fold_on_device(now.device, self.device, now.learners, now.iteration, now.earlier)
                now = now._replace(earlier=folded)
                if stop():
                    return now
                count = max(min(int(LISTENING / (time.perf_counter() - began) * count), 4 * count), 1)
        return now

    def profile(self, tables: DeviceHandTables, scheme: Scheme, iterate: str) -> DeviceSpotProfile:
        """As ``Engine``."""
        if iterate == "current":
            sources = played_sources(tables.learners, scheme)
        else:
            sources = averaged_sources(tables.device, tables.learners, tables.earlier)
        return DeviceSpotProfile(self.game, tables.device, sources)

    def nodes(self, scheme: Scheme, iterations: int) -> int:
        """As ``Engine``."""
        return self.cpu.nodes(scheme, iterations)

    def pack(self, tables: DeviceHandTables, scheme: Scheme) -> Tensors:
        """As ``Engine``: what the CPU packs."""
        return self.cpu.pack(copy_to_host(tables.device, tables, scheme), scheme)

    def unpack(self, tensors: Mapping[str, Array], scheme: Scheme) -> DeviceHandTables:
        """As ``Engine``: whichever backend packed them."""
        tables, device = self.cpu.unpack(tensors, scheme), self._open(scheme)
        return DeviceHandTables(
            device, device.send(tables.learners), tables.iteration, device.send_earlier(tables.earlier)
        )
