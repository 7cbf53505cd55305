"""A shard of a spot that is cut: a run of boards of the second street with all below them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np

from treeplex.algorithms.cut.board_part import carry_part, fresh, played
from treeplex.algorithms.cut.session import opened_part, write_part
from treeplex.algorithms.cut.shards import BEST, LEARN, RESTORE, SAVE, START, Given, Order, Stamp, in_step
from treeplex.algorithms.holdem import State, faded, folded, in_units, sound
from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.engines.boards import arrays as layout
from treeplex.engines.boards.arrays import BELOW, Playing, Rule, Schedules, no_learner, plain_rule
from treeplex.engines.boards.cut import Run, locked_part, part_of
from treeplex.engines.boards.engine import engine
from treeplex.engines.boards.game import load_spot
from treeplex.games.holdem.locks import make_locks
from treeplex.games.holdem.spot import make_spot
from treeplex.tensors import check, leaves
from treeplex.updates.blocks import Earlier
from treeplex.updates.schedules import stretches


class BoardShard:
    """Keeps what is learnt on its boards and below."""

    backend: ClassVar = "cpu"

    def __init__(self, order: Order) -> None:
        words = order.words
        self.whole = load_spot(make_spot(words["spot"]), locks=make_locks(words["locks"]))
        execution = Execution(self.backend, words["storage"], words["threads"])
        self.solver: Any = build(words["algorithm"]).prepared(self.whole, execution)
        self.run = Run(*words["part"])
        self.game = part_of(self.whole, self.run)
        self.turn = 0  # whose pass is next
        self.prepare()
        self.state = State(self.fresh(), 0)

    def do(self, stamp: Stamp, given: Given) -> Given:
        """As ``Shard``."""
        if stamp.phase == START:
            self.state, self.turn = State(self.fresh(), 0), 0
        elif stamp.phase == RESTORE:
            self._restore(stamp, given["files"])
        elif stamp.phase == SAVE:
            tensors = {name: np.ascontiguousarray(leaf) for name, leaf in leaves(self.kept(), "state")}
            write_part(given["path"], stamp.run.partition("/")[0], self.state.iteration, list(self.run), tensors)
        elif stamp.phase == LEARN:
            return self._learn(stamp, given)
        else:
            return self._play(stamp, given)
        return {}

    def _learn(self, stamp: Stamp, given: Given) -> Given:
        in_step(stamp, self.state.iteration, self.turn)
        found = self.learn(stamp.player, stamp.iteration, given)
        self.turn = 1 - self.turn
        if self.turn == 0:
            self.state = State(self.state.learners, stamp.iteration, self.folded(stamp.iteration))
        return found

    def _play(self, stamp: Stamp, given: Given) -> Given:
        return self.play(stamp.player, layout.BEST if stamp.phase.startswith(BEST) else layout.VALUE, given)

    def prepare(self) -> None:
        """What passes need beside what is learnt."""
        self.frozen = locked_part(self.whole, self.solver.storage, self.run)

    def fresh(self) -> Any:
        """Learners without regret."""
        return fresh(self.whole, self.solver, self.run)

    def taken(self, learners: Any) -> Any:
        """Learners of a checkpoint, where passes have them."""
        return learners

    def taken_earlier(self, earlier: Earlier) -> Earlier:
        """The same of sums over earlier blocks."""
        return earlier

    def folded(self, t: int) -> Earlier:
        """Sums over blocks after iteration ``t``."""
        return folded(self.state.learners, t, self.solver.storage, self.state.earlier)

    def kept(self) -> State:
        """What a checkpoint has."""
        return self.state

    def learn(self, player: int, t: int, given: Given) -> Given:
        """One player's half of iteration ``t``."""
        solver = self.solver
        if player == 0:
            faded(self.state.learners, stretches(solver.weight, t - 1, 1)[0].fade, self.state.earlier)
        playing = Playing(self.state.learners, solver.playing(self.state), self.frozen)
        return self._below(playing, solver.rule, (player, layout.UPDATE, t), solver.schedules(t), given)

    def play(self, player: int, mode: int, given: Given) -> Given:
        """A best response, or the value of the strategies."""
        stub = no_learner(self.solver.storage)
        sources = played(self.whole, self.solver, self.run, self.state, given["iterate"])
        playing = Playing((stub, stub), sources, self.frozen)
        return self._below(playing, plain_rule(), (player, mode, 0), None, given)

    def _below(
        self, playing: Playing, rule: Rule, step: tuple[int, int, int], schedules: Schedules | None, given: Given
    ) -> Given:
        runner, player = engine(self.game, self.solver.storage, self.solver.threads), step[0]
        with runner.busy:
            for array, told in zip(runner.entering(player), (given["entry"], given["alive"]), strict=True):
                array[:] = told
            runner.run(playing, rule, [step], schedules=schedules, phase=BELOW)
            return {"found": runner.found(player).copy()}

    def _restore(self, stamp: Stamp, files: Sequence[Given]) -> None:
        state = State(fresh(self.whole, self.solver, self.run), stamp.iteration)
        for file in files:
            source = Run(*file["part"])
            if source.begin < self.run.end and self.run.begin < source.end:
                with opened_part(file, stamp.iteration) as tensors:
                    state = carry_part(self.whole, tensors, source, state, self.run)
        check(sound(state), "state")
        learners, iteration, earlier = in_units(state, self.solver.weight)
        self.state, self.turn = State(self.taken(learners), iteration, self.taken_earlier(earlier)), 0
