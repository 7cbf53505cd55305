"""Hold'em spots on a GPU. Checkpoints do not depend on the backend: either resumes the other's."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar, Final

from treeplex.arrays import Floats
from treeplex.engines.boards.arrays import Sources
from treeplex.engines.boards.cuda.engine import BoardsOnGPU, fetch
from treeplex.engines.boards.cuda.part import CudaBoardPart
from treeplex.engines.boards.cut import BoardRun
from treeplex.engines.boards.evaluate import Passes
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.locks import fix
from treeplex.engines.boards.solver import HoldemProfile, SpotEngine, SpotProfile
from treeplex.engines.boards.tables import DeviceHandTables, pass_rule
from treeplex.engines.protocol import Scheme, Stop, never
from treeplex.tensors import Tensors
from treeplex.updates.schedules import stretches

LISTENING: Final = 0.25  # seconds between two calls of ``stop``


class DeviceSpotProfile(HoldemProfile):
    """Both players' strategies on the device."""

    def __init__(self, game: HoldemGame, device: BoardsOnGPU, sources: Sources) -> None:
        self.game, self.device, self.sources = game, device, sources

    def values(self, passes: Passes) -> Floats:
        """As ``HoldemProfile``, by passes of the device."""
        return self.device.values(self.sources, passes)

    def host(self) -> SpotProfile:
        """As ``Profile``."""
        return self._host_profile(self.device.fetch(self.sources))

    @property
    def trunk(self) -> SpotProfile:
        """Strategies of the first street on the host. They are a small part of all strategies."""
        street, hands = self.game.streets[0], self.game.boards[0].hands
        first, second = (street.slots(player) * int(hands[player].start[1]) for player in (0, 1))
        return self._host_profile(Sources(fetch(self.sources[0], first), fetch(self.sources[1], second)))

    def _host_profile(self, sources: Sources) -> SpotProfile:
        storage = self.device.storage
        return SpotProfile(self.game, sources, fix(self.game, storage), storage, 0)


@dataclass(frozen=True, eq=False)
class CudaBoardsEngine(SpotEngine):
    """A hold'em spot on a GPU."""

    device: int = 0
    prune: bool = True

    backend: ClassVar = "cuda"

    def part(self, scheme: Scheme, run: BoardRun | None = None) -> CudaBoardPart:
        """As ``SpotEngine``."""
        return CudaBoardPart(self.game, self.storage, self.device, scheme, run)

    def iterate(
        self, tables: DeviceHandTables, scheme: Scheme, iterations: int, stop: Stop = never
    ) -> DeviceHandTables:
        """As ``Engine``."""
        now, part, device = tables, tables.part, tables.part.device
        rule, known = pass_rule(scheme, prune=self.prune), part.schedules(now.iteration + iterations)
        count = 1
        for stretch in stretches(part.weight, now.iteration, iterations, self.storage):
            last = now.iteration + stretch.iterations
            part.fade(now, stretch.fade)
            while now.iteration < last:
                count, began = min(count, last - now.iteration), time.perf_counter()
                device.iterate(now.learners, rule, known, now.iteration, count)
                part.check(None)
                now = part.fold(now._replace(iteration=now.iteration + count))
                if stop():
                    return now
                count = max(min(int(LISTENING / (time.perf_counter() - began) * count), 4 * count), 1)
        return now

    def profile(self, tables: DeviceHandTables, scheme: Scheme, iterate: str) -> DeviceSpotProfile:
        """As ``Engine``."""
        return DeviceSpotProfile(self.game, tables.part.device, tables.part.sources(tables, iterate))

    def pack(self, tables: DeviceHandTables, scheme: Scheme) -> Tensors:
        """As ``Engine``, with the same arrays as on the CPU."""
        return tables.part.packed(tables)
