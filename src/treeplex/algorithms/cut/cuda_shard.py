"""A shard of a spot that is cut, on a GPU: the same calls as ``board_shard``, and the same checkpoints."""

from __future__ import annotations

from typing import Any, ClassVar

from treeplex.algorithms.cut.board_shard import BoardShard
from treeplex.algorithms.cut.shards import Given
from treeplex.algorithms.holdem import State
from treeplex.algorithms.holdem_cuda import CudaHoldemCFR
from treeplex.engines.boards.arrays import Sources
from treeplex.engines.boards.cuda.cut import PartOnGPU, Pass, ShardOnGPU, shard_plan
from treeplex.updates.blocks import Earlier
from treeplex.updates.schedules import stretches


class GPUBoardShard(BoardShard):
    """Keeps what is learnt on its boards and below in the memory of a GPU."""

    backend: ClassVar = "cuda"
    solver: CudaHoldemCFR

    def prepare(self) -> None:
        """As ``BoardShard``; refused if it does not fit on the GPU."""
        planned = self.solver.fitting(self.game, shard_plan(self.whole, self.run, self.solver.storage))
        self.engine = ShardOnGPU(self.whole, self.run, self.solver.storage, planned)

    def fresh(self) -> Any:
        """As ``BoardShard``."""
        return self.engine.fresh(self.solver.predicts)

    def taken(self, learners: Any) -> Any:
        """As ``BoardShard``."""
        return self.engine.send(learners)

    def taken_earlier(self, earlier: Earlier) -> Earlier:
        """As ``BoardShard``."""
        return self.engine.send_earlier(earlier)

    def folded(self, t: int) -> Earlier:
        """As ``BoardShard``."""
        return self.solver.folded(self.engine, self.state, t)

    def kept(self) -> State:
        """As ``BoardShard``: copies."""
        return self.solver.brought(self.engine, self.state)

    def learn(self, player: int, t: int, given: Given) -> Given:
        """As ``BoardShard``."""
        return self._found(learning(self.engine, self.solver, self.state, player, t), given)

    def play(self, player: int, mode: int, given: Given) -> Given:
        """As ``BoardShard``."""
        sources = played(self.engine, self.solver, self.state, given["iterate"])
        return self._found(self.engine.plays(sources, player, mode), given)

    def _found(self, step: Pass, given: Given) -> Given:
        return {"found": self.engine.below(step, given["entry"], given["alive"])}


def learning(engine: PartOnGPU, solver: CudaHoldemCFR, state: Any, player: int, t: int) -> Pass:
    """One player's half of iteration ``t``; averages fade before the first."""
    fade = stretches(solver.weight, t - 1, 1)[0].fade
    if player == 0 and fade != 1.0:
        engine.fade(state.learners, fade, state.earlier)
    return engine.learns(state.learners, solver.rule, solver.told(t), player, t)


def played(engine: PartOnGPU, solver: CudaHoldemCFR, state: Any, iterate: str) -> Sources:
    """What strategies of a part are shares of: as ``CudaHoldemCFR.strategies``."""
    if iterate == "current":
        return solver.playing(state)
    sources = engine.averages(state.learners, state.earlier)
    engine.hold([sources])
    return sources
