"""Parts of a subgame that is cut after its first street, on GPUs: the first street, or a run of boards with all below.

As ``boards.cut`` for the CPU. Kernels, their order and every sum are those of the whole subgame on one GPU, so its bits
are kept. Between the two parts go rows of the opponent's reach, those of chance nodes alone, with marks of rows that
have a hand, and values of boards as ``up`` leaves them: board after board, one row per street root.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.engines.boards.arrays import BEST, PassRule, Schedules, Sources
from treeplex.engines.boards.cuda.arrays import Facing, LearningPlayer
from treeplex.engines.boards.cuda.engine import BoardsOnGPU, Counts, Learners, SubgamePlan, here, plan, zeros
from treeplex.engines.boards.cuda.tables import Cut
from treeplex.engines.boards.cut import BoardRun, locked_part, part_of, told_part
from treeplex.engines.boards.game import HoldemGame
from treeplex.kernels.cuda.kernels import cuda

Array = npt.NDArray[Any]


class ShardPass(NamedTuple):
    """What one pass works with."""

    player: int
    learning: LearningPlayer
    facing: Facing
    rule: PassRule
    learn: bool
    best: bool


def trunk_plan(game: HoldemGame, storage: str) -> SubgamePlan:
    """Tables of the first street."""
    return plan(game, storage, cut=Cut(0, 1, game))


def shard_plan(game: HoldemGame, run: BoardRun, storage: str) -> SubgamePlan:
    """Tables of a run of boards and all below them."""
    return plan(part_of(game, run), storage, cut=Cut(1, len(game.streets), game))


class PartOnGPU(BoardsOnGPU):
    """What either part has: its locks, and passes one by one."""

    def __init__(self, game: HoldemGame, run: BoardRun, storage: str, planned: SubgamePlan) -> None:
        super().__init__(part_of(game, run), storage, planned)
        self.frozen = self.sent_locks(locked_part(game, storage, run))
        self._told_hands = self.sent_hands(told_part(game, storage, run))
        self._passes = 0

    def fresh(self, counts: Counts) -> Learners:
        """No regret; locked hands as they are locked."""
        first, second = self.new_learners(counts)
        self.hold(list(zip(first[:3], second[:3], strict=True)))
        return first, second

    def learns(self, learners: Learners, rule: PassRule, schedules: Schedules, player: int, t: int) -> ShardPass:
        """One player's half of iteration ``t``."""
        self._tell(schedules, t)
        return ShardPass(player, *self._learners(learners, rule, player), rule, learn=True, best=False)

    def plays(self, sources: Sources, player: int, mode: int) -> ShardPass:
        """A best response, or the value of strategies."""
        return ShardPass(player, *self._sides(sources, player), PassRule(0.0, True), learn=False, best=mode == BEST)

    def _begin(self) -> int:
        """The number of the pass that begins, which its marks have."""
        self._passes += 1
        self._send(self._clock[1:2], np.array([[self._passes]], np.int32))
        return self._passes


class TrunkOnGPU(PartOnGPU):
    """The first street."""

    def down(self, step: ShardPass) -> tuple[Array, Array]:
        """[X, H] the opponent's reach of every chance node, and [X] which of these rows have a hand."""
        player, stamp = step.player, self._begin()
        level, stride = self._levels[player][0], max(self.widths)
        self._launch([[self._down(player, 0, 0, step.facing, step.rule, step.learn)]])
        self.stream.wait()
        rows = here(self._rows[0], level.rows * stride).reshape(-1, stride)
        alive = here(self._alive[0], level.rows)[level.entry] == stamp
        return rows[level.entry, : self.widths[1 - player]], alive

    def up(self, step: ShardPass, found: Array) -> Floats:
        """[H] the value to the learner's hands at the root; ``found``: that of all boards of the second street."""
        player = step.player
        self._send([self._found[player][1][: found.size]], found.reshape(1, -1))
        self._launch([[self._up(player, 0, 0, step.learning, step.rule, step.learn, [step.best])]])
        self.stream.wait()
        return here(self._found[player][0], self.widths[player]).astype(np.float64)


class ShardOnGPU(PartOnGPU):
    """A run of boards of the second street with all below them."""

    def __init__(self, game: HoldemGame, run: BoardRun, storage: str, planned: SubgamePlan) -> None:
        super().__init__(game, run, storage, planned)
        roots = game.streets[1].roots
        self._entered = [
            (zeros(roots * self.widths[1 - player], self._work), zeros(roots, np.int32)) for player in (0, 1)
        ]

    def below(self, step: ShardPass, reach: Array, alive: Array) -> Array:
        """What its boards are worth to the learner, after the opponent's ``reach`` of every chance node above."""
        stamp, player = self._begin(), step.player
        entry, marks = self._entered[player]
        entry.copy_to_device(np.ascontiguousarray(reach).ravel())
        marks.copy_to_device(np.where(alive, stamp, 0).astype(np.int32))
        cuda.synchronize()  # copies are on another stream
        self._launch(self.launches(player, step.facing, step.learning, step.rule, learn=step.learn, best=[step.best]))
        self.stream.wait()
        return here(self._found[player][0], self.plan.sizes[player][0].found)
