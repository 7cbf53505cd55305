"""The trunk of a hold'em spot that is cut for GPUs: as ``boards``, with the first street on a GPU of its own."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.algorithms.cut.boards import CutHoldem
from treeplex.algorithms.cut.cuda_shard import learning, played
from treeplex.algorithms.cut.shards import BEST, LEARN, VALUE, Given
from treeplex.algorithms.cut.trunk import Asked
from treeplex.algorithms.holdem_cuda import CudaHoldemCFR
from treeplex.algorithms.protocol import Stop, Tensors, never
from treeplex.arrays import Floats
from treeplex.engines.boards import arrays as layout
from treeplex.engines.boards.arrays import Sources
from treeplex.engines.boards.cuda.cut import Pass, TrunkOnGPU, trunk_plan
from treeplex.engines.boards.cuda.engine import Learners
from treeplex.engines.boards.cut import FIRST_STREET, part_of
from treeplex.engines.boards.game import HoldemGame
from treeplex.updates.blocks import Earlier
from treeplex.updates.storage import STORAGES

Array = npt.NDArray[Any]


class TrunkState(NamedTuple):
    """What the next iteration needs of the first street, on the device."""

    engine: TrunkOnGPU
    learners: Learners
    iteration: int
    earlier: Earlier = ()


@dataclass(frozen=True, eq=False)
class GPUCutHoldem(CutHoldem):
    """The trunk of a spot that is cut for GPUs: the bits are those of one GPU."""

    solver: CudaHoldemCFR

    def start(self, game: HoldemGame, seed: int = 0) -> Any:
        """As ``CutHoldem``."""
        self.session.start()
        engine = self._engine(game)
        return TrunkState(engine, engine.fresh(self.solver.predicts), 0)

    def advance(self, game: HoldemGame, state: Any, iterations: int, stop: Stop = never) -> Any:
        """As ``CutHoldem``; what ``state`` has on the device is modified in place."""
        now: TrunkState = state
        for t in range(now.iteration + 1, now.iteration + iterations + 1):
            for player in (0, 1):
                step = learning(now.engine, self.solver, now, player, t)
                self._through(now.engine, step, LEARN, {}, t)
            now = TrunkState(now.engine, now.learners, t, self.solver.folded(now.engine, now, t))
            if stop():
                break
        return now

    def values(self, game: HoldemGame, asked: Asked, passes: Sequence[tuple[int, int]]) -> Floats:
        """As ``CutHoldem``."""
        now: TrunkState = asked.state
        sources = played(now.engine, self.solver, now, asked.iterate)
        found = np.zeros((len(passes), max(now.engine.widths)))
        for row, (player, mode) in zip(found, passes, strict=True):
            phase = f"{BEST if mode == layout.BEST else VALUE} {asked.iterate}"
            step, words = now.engine.plays(sources, player, mode), {"iterate": asked.iterate}
            worth = self._through(now.engine, step, phase, words, now.iteration)
            row[: len(worth)] = worth
        return found

    def kept(self, state: Any) -> Tensors:
        """As ``CutHoldem``: what CPUs save."""
        return super().kept(self.solver.brought(state.engine, state))

    def restore(self, game: HoldemGame, tensors: Mapping[str, Array], seed: int = 0) -> Any:
        """As ``CutHoldem``, whichever backend saved it."""
        state, engine = super().restore(game, tensors, seed), self._engine(game)
        return TrunkState(engine, engine.send(state.learners), state.iteration, engine.send_earlier(state.earlier))

    def predicted_bytes(self, game: HoldemGame) -> int:
        """As ``CutHoldem``: reach of chance nodes goes to every shard, values come once."""
        size, roots = np.dtype(STORAGES[self.solver.storage].work).itemsize, game.streets[1].roots
        total = 0
        for player in (0, 1):
            wide = int(game.boards[0].hands[1 - player].start[-1])
            total += len(self.runs) * roots * (size * wide + 1)
            total += size * roots * int(game.boards[1].hands[player].start[-1])
        return total

    def sources(self, game: HoldemGame, asked: Asked) -> Sources:
        """As ``CutHoldem``: copies."""
        now: TrunkState = asked.state
        return now.engine.here(played(now.engine, self.solver, now, asked.iterate))

    def _engine(self, game: HoldemGame) -> TrunkOnGPU:
        storage = self.solver.storage
        planned = self.solver.fitting(part_of(game, FIRST_STREET), trunk_plan(game, storage))
        return TrunkOnGPU(game, storage, planned)

    def _through(self, engine: TrunkOnGPU, step: Pass, phase: str, words: Given, iteration: int) -> Floats:
        """Down the trunk, through all shards at once, and up again."""
        entry, alive = engine.down(step)
        told = {"entry": entry, "alive": alive, **words}
        answers = self.session.ask(iteration, step.player, phase, [told] * len(self.runs))
        return engine.up(step, np.concatenate([answer["found"] for answer in answers]))
