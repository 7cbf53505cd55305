"""A spot on a GPU, or a part of it, with the tables, passes and checkpoints of ``boards.part``."""

from __future__ import annotations

from typing import Any, Final

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.boards.arrays import BEST, Schedules, Sources
from treeplex.engines.boards.cuda.engine import BoardsOnGPU, SubgamePlan, learner_bytes, part_plan
from treeplex.engines.boards.cut import BoardRun
from treeplex.engines.boards.game import SMALLEST, HoldemGame
from treeplex.engines.boards.part import AskShards, BoardPart
from treeplex.engines.boards.tables import (
    Array,
    DeviceHandTables,
    HandTables,
    Tables,
    array_counts,
    astray,
    new_learners,
    numbers_beside,
    pass_rule,
    schedules,
)
from treeplex.engines.protocol import Scheme
from treeplex.kernels.cuda.device import GIB, require, require_memory
from treeplex.updates import blocks
from treeplex.updates.blocks import Earlier
from treeplex.updates.rule import Rule, zero_memory

SENT: Final = 1024  # iterations whose discounts and weights are sent together


class CudaBoardPart(BoardPart):
    """A whole spot in the memory of a GPU, or a part of it."""

    def __init__(self, game: HoldemGame, storage: str, index: int, scheme: Scheme, run: BoardRun | None = None) -> None:
        super().__init__(game, storage, 0, scheme, run)
        self.index = index
        planned = part_plan(game, storage, run)
        self._check_memory(planned)
        self.device = BoardsOnGPU(self.game, storage, planned, scheme.rule if isinstance(scheme.rule, Rule) else None)

    def _check_memory(self, planned: SubgamePlan) -> None:
        """Reject a part whose tables, working arrays and learners do not fit on the device."""
        device, name = require(self.index), self.game.name
        advice = "fewer or larger bet sizes, or narrower ranges"
        beside, least = numbers_beside(self.scheme), planned.bytes + learner_bytes(self.game, SMALLEST)
        if self.storage != SMALLEST and not beside and least <= device.free:
            advice = f'storage="{SMALLEST}" (which takes {least / GIB:,.1f} GiB) or backend="cpu"'
        need = planned.bytes + learner_bytes(self.game, self.storage, beside)
        require_memory(device, need, f"Solving {name} with {self.storage} numbers", advice)

    def tables(self) -> DeviceHandTables:
        """As ``BoardPart``."""
        rule, device = self.scheme.rule, self.device
        if isinstance(rule, Rule) and rule.start is not zero_memory:
            first, second = device.send(new_learners(self.game, self.storage, self.scheme))
        else:
            first, second = device.new_learners(array_counts(self.scheme))
        device.write_locks(zip(first[:3], second[:3], strict=True))
        return DeviceHandTables((first, second), 0, (), self)

    def host(self, tables: Tables) -> HandTables:
        """As ``BoardPart``: copies."""
        earlier: Earlier = ()
        if tables.earlier:
            first, second = self.device.fetch(Sources(*tables.earlier))
            earlier = first, second
        learners = self.device.fetch_learners(tables.learners, array_counts(self.scheme))
        return HandTables(learners, tables.iteration, earlier)

    def send(self, tables: HandTables) -> DeviceHandTables:
        """As ``BoardPart``."""
        learners, earlier = self.device.send(tables.learners), self.device.send_earlier(tables.earlier)
        return DeviceHandTables(learners, tables.iteration, earlier, self)

    def fade(self, tables: Tables, factor: float) -> None:
        """As ``BoardPart``."""
        if factor != 1.0:
            self.device.fade(tables.learners, factor, tables.earlier)

    def fold_blocks(self, tables: Tables) -> Earlier:
        """As ``BoardPart``. Raises if the device does not have enough memory for the sums."""
        if not tables.earlier:
            need = 2 * sum(learner.average.nbytes for learner in tables.learners)
            advice = f'a limit of {blocks.BEGIN:,} iterations or backend="cpu"'
            require_memory(require(self.index), need, f"Solving beyond iteration {blocks.BEGIN:,}", advice)
        return self.device.fold(tables.learners, tables.earlier)

    def averages(self, tables: Tables) -> Sources:
        """As ``BoardPart``, on the device."""
        sources = self.device.averages(tables.learners, tables.earlier)
        self.device.write_locks([sources])
        return sources

    def host_sources(self, tables: Tables, iterate: str) -> Sources:
        """As ``BoardPart``: copies."""
        return self.device.fetch(self.sources(tables, iterate))

    def schedules(self, last: int) -> Schedules:
        """Return discounts and weights up to ``last`` and beyond, so that they are sent once for many iterations."""
        return schedules(self.scheme, self.storage, -(-(last + 1) // SENT) * SENT - 1)

    def learning(self, tables: Tables, player: int, t: int) -> Any:
        """As ``BoardPart``."""
        self.device.set_schedules(self.schedules(t), t)
        return self.device.learns(tables.learners, pass_rule(self.scheme), player)

    def check(self, step: Any) -> None:
        """As ``BoardPart``."""
        rule, iteration = self.scheme.rule, self.device.astray()
        if isinstance(rule, Rule) and iteration:
            raise astray(rule, iteration)

    def playing(self, sources: Sources, player: int, mode: int) -> Any:
        """As ``BoardPart``."""
        return self.device.plays(sources, player, [mode == BEST])

    def through(self, step: Any, ask: AskShards) -> Floats:
        """As ``BoardPart``."""
        entry, alive = self.device.down(step)
        return self.device.up(step, np.concatenate([part_values for _, _, part_values in ask(entry, alive)]))[None]

    def below(self, step: Any, entry: Array, alive: Array) -> Array:
        """As ``BoardPart``."""
        return self.device.below(step, entry, alive)
