"""A part of a spot on a GPU: the same tables and passes as ``boards.part``, and the same checkpoints."""

from __future__ import annotations

from typing import Any

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.boards.arrays import Sources
from treeplex.engines.boards.cuda.cut import PartOnGPU, ShardOnGPU, ShardPass, TrunkOnGPU, shard_plan, trunk_plan
from treeplex.engines.boards.cuda.solver import (
    DeviceHandTables,
    averaged_sources,
    copy_to_host,
    fitting_plan,
    fold_on_device,
    sent_schedules,
)
from treeplex.engines.boards.cut import FIRST_STREET, BoardRun
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.part import AskShards, BoardPart
from treeplex.engines.boards.tables import Array, HandTables, array_counts, pass_rule, played_sources
from treeplex.engines.protocol import Scheme
from treeplex.updates.blocks import Earlier
from treeplex.updates.schedules import stretches


class CudaBoardPart(BoardPart):
    """A part of a spot in the memory of a GPU."""

    def __init__(self, game: HoldemGame, run: BoardRun, storage: str, index: int, scheme: Scheme) -> None:
        super().__init__(game, run, storage, 1, scheme)
        self.index = index
        trunk = run == FIRST_STREET
        planned = trunk_plan(game, storage) if trunk else shard_plan(game, run, storage)
        planned = fitting_plan(self.game, storage, scheme, index, planned)
        self.device: Any = (TrunkOnGPU if trunk else ShardOnGPU)(game, run, storage, planned)

    def tables(self) -> Any:
        """As ``BoardPart``."""
        return DeviceHandTables(self.device, self._part.fresh(array_counts(self.scheme)), 0)

    @property
    def _part(self) -> PartOnGPU:
        return self.device

    def host(self, tables: Any) -> HandTables:
        """As ``BoardPart``: copies."""
        return copy_to_host(self.device, tables, self.scheme)

    def send(self, tables: HandTables) -> Any:
        """As ``BoardPart``."""
        learners, iteration, earlier = tables
        part = self._part
        return DeviceHandTables(part, part.send(learners), iteration, part.send_earlier(earlier))

    def rescale(self, tables: Any, t: int) -> None:
        """As ``BoardPart``."""
        fade = stretches(self.weight, t - 1, 1)[0].fade
        if fade != 1.0:
            self._part.fade(tables.learners, fade, tables.earlier)

    def fold(self, tables: Any, t: int) -> Earlier:
        """As ``BoardPart``."""
        return fold_on_device(self.device, self.index, tables.learners, t, tables.earlier)

    def sources(self, tables: Any, iterate: str) -> Sources:
        """As ``BoardPart``, on the device."""
        if iterate == "current":
            return played_sources(tables.learners, self.scheme)
        return averaged_sources(self.device, tables.learners, tables.earlier)

    def host_sources(self, tables: Any, iterate: str) -> Sources:
        """As ``BoardPart``: copies."""
        return self._part.here(self.sources(tables, iterate))

    def learning(self, tables: Any, player: int, t: int) -> Any:
        """As ``BoardPart``."""
        known = sent_schedules(self.scheme, self.storage, t)
        return self._part.learns(tables.learners, pass_rule(self.scheme), known, player, t)

    def playing(self, sources: Sources, player: int, mode: int) -> Any:
        """As ``BoardPart``."""
        return self._part.plays(sources, player, mode)

    def through(self, step: Any, ask: AskShards) -> Floats:
        """As ``BoardPart``."""
        one: ShardPass = step
        entry, alive = self.device.down(one)
        values = self.device.up(one, np.concatenate([worth for _, _, worth in ask(entry, alive)]))
        return values[None]

    def below(self, step: Any, entry: Array, alive: Array) -> Array:
        """As ``BoardPart``."""
        return self.device.below(step, entry, alive)
