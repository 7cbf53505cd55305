"""CFR on a hold'em spot that is cut after its first street: turn boards of a flop, or river boards of a turn.

The trunk is the first street. A shard has a run of boards of the second street with all below them: see
``engines.boards.cut``, which says why the bits are those of the whole spot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from treeplex.algorithms.cut.board_part import carry_part, fresh, played
from treeplex.algorithms.cut.board_plan import exchanged, ordered, planned
from treeplex.algorithms.cut.session import MANIFEST, Cutting, Session, files_of
from treeplex.algorithms.cut.shards import BEST, LEARN, VALUE, Given
from treeplex.algorithms.cut.trunk import Asked, Trunk
from treeplex.algorithms.holdem import HoldemCFR, Spotted, State, faded, folded, in_units, saved_room, sound
from treeplex.algorithms.protocol import Stop, Tensors, never
from treeplex.arrays import Floats
from treeplex.engines.boards import arrays as layout
from treeplex.engines.boards.arrays import DOWN, UP, Playing, Rule, Schedules, Sources, no_learner, plain_rule
from treeplex.engines.boards.cut import FIRST_STREET, Run, locked_part, whole
from treeplex.engines.boards.engine import engine
from treeplex.engines.boards.game import HoldemGame
from treeplex.errors import ParameterError
from treeplex.evaluation.exact import Evaluation
from treeplex.poker.views.reader import Reader, evaluated, taken
from treeplex.poker.views.view import View
from treeplex.tensors import check, leaves, restored
from treeplex.updates.schedules import stretches

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class CutHoldem(Trunk[HoldemGame, State]):
    """The trunk of a spot that is cut; a state has the first street alone."""

    solver: HoldemCFR  # what carries out the whole spot on one machine
    session: Session
    runs: tuple[Run, ...]  # boards of each shard

    def start(self, game: HoldemGame, seed: int = 0) -> State:
        """No regret yet, uniform strategies, in all shards."""
        self.session.start()
        return State(fresh(game, self.solver, FIRST_STREET), 0)

    def advance(self, game: HoldemGame, state: State, iterations: int, stop: Stop = never) -> State:
        """As ``Algorithm``: two calls of all shards per iteration."""
        last, storage = state.iteration + iterations, self.solver.storage
        playing = Playing(state.learners, self.solver.playing(state), locked_part(game, storage, FIRST_STREET))
        schedules = self.solver.schedules(last)
        for t in range(state.iteration + 1, last + 1):
            faded(state.learners, stretches(self.solver.weight, t - 1, 1)[0].fade, state.earlier)
            for player in (0, 1):
                step = (player, layout.UPDATE, t)
                self._pass(game, playing, self.solver.rule, step, schedules, LEARN, {}, t)
            state = State(state.learners, t, folded(state.learners, t, storage, state.earlier))
            if stop():
                break
        return state

    def evaluate(self, game: HoldemGame, strategies: Any, threads: int = 0) -> Evaluation:
        """As ``HoldemCFR``, by passes over all shards."""
        asked: Asked = strategies
        return evaluated(game, lambda passes: self.values(game, asked, passes))

    def values(self, game: HoldemGame, asked: Asked, passes: Sequence[tuple[int, int]]) -> Floats:
        """[passes, H] what passes (player, mode) find for the learner's hands at the root."""
        stub = no_learner(self.solver.storage)
        frozen = locked_part(game, self.solver.storage, FIRST_STREET)
        playing = Playing((stub, stub), self.sources(game, asked), frozen)
        names = {layout.BEST: BEST, layout.VALUE: VALUE}
        found = [
            self._pass(
                game,
                playing,
                plain_rule(),
                (player, mode, 0),
                None,
                f"{names[mode]} {asked.iterate}",
                {"iterate": asked.iterate},
                asked.state.iteration,
            )
            for player, mode in passes
        ]
        return np.concatenate(found)

    def policy(self, game: HoldemGame, strategies: Any) -> None:
        """None: it is browsed in the run folder, ``treeplex holdem show``."""
        return

    def extras(self, game: HoldemGame, state: State, strategies: Any, evaluation: Evaluation) -> CutSpotted:
        """As ``HoldemCFR``, and what was on the wire."""
        return CutSpotted(game, self, strategies, evaluation)

    def kept(self, state: State) -> Tensors:
        """As ``Trunk``."""
        return {name: np.ascontiguousarray(leaf) for name, leaf in leaves(state, "trunk")}

    def restore(self, game: HoldemGame, tensors: Mapping[str, Array], seed: int = 0) -> State:
        """As ``Algorithm``, from shards however many they were, or from what one machine has saved."""
        learners = fresh(game, self.solver, FIRST_STREET)
        if MANIFEST in tensors:
            files = files_of(tensors, self.session.folder)
            state = restored(State(learners, 0, saved_room(learners, tensors, "trunk")), "trunk", tensors)
            self.session.resumed(files)
        else:
            state = State(learners, int(tensors["state.iteration"].item()))
            state = carry_part(game, tensors, whole(game), state, FIRST_STREET)
            files = [self.session.whole_file(list(whole(game)))]
        check(sound(state), "state")
        in_units(state, self.solver.weight)
        self.session.restore(state.iteration, files)
        return state

    def parts(self, game: HoldemGame) -> str:
        """As ``Trunk``."""
        return f"{len(game.boards[1].texture)} {game.streets[1].name} boards over"

    def predicted_bytes(self, game: HoldemGame) -> int:
        """As ``Trunk``."""
        return sum(exchanged(game, self.runs, self.solver.storage, player) for player in (0, 1))

    def sources(self, game: HoldemGame, asked: Asked) -> Sources:
        """What strategies of the first street are shares of."""
        return played(game, self.solver, FIRST_STREET, asked.state, asked.iterate)

    def _pass(
        self,
        game: HoldemGame,
        playing: Playing,
        rule: Rule,
        step: tuple[int, int, int],
        schedules: Schedules | None,
        phase: str,
        words: Given,
        iteration: int,
    ) -> Floats:
        """Down the trunk, through all shards at once, and up again."""
        runner, player = engine(game, self.solver.storage, 1), step[0]
        with runner.busy:
            runner.run(playing, rule, [step], schedules=schedules, phase=DOWN)
            entry, alive = (array.copy() for array in runner.entering(player))
            told = {"entry": entry, "alive": alive, **words}
            answers = self.session.ask(iteration, player, phase, [told] * len(self.runs))
            found = runner.found(player)
            for run, answer in zip(self.runs, answers, strict=True):
                worth: Array = answer["found"]
                found[run.begin : run.end, : worth.shape[1]] = worth
            return runner.run(playing, rule, [step], schedules=schedules, keep=phase != LEARN, phase=UP)


class CutSpotted(Spotted):
    """What the answer of a spot that is cut has: the rest is in the run folder."""

    def __init__(self, game: HoldemGame, cut: CutHoldem, strategies: Asked, evaluation: Evaluation) -> None:
        solver = cut.solver
        trunk = Reader(
            game, cut.sources(game, strategies), locked_part(game, solver.storage, FIRST_STREET), solver.storage, 1
        )
        super().__init__(game, trunk, solver.memory(game), evaluation)
        self._cut, self._strategies = cut, strategies

    @cached_property
    def ev(self) -> tuple[float, float]:
        """As ``Spotted``."""
        first = self.evaluation.value
        if self.game.zero_sum:
            return first, self.game.spot.pot - first
        passes = [(1, layout.VALUE)]
        return first, taken(self.game, passes, self._cut.values(self.game, self._strategies, passes))[0]

    def at(self, line: str = "", player: int | str | None = None) -> View:
        """Refused: values of a node take all of the spot."""
        raise ParameterError("A spot that was solved on a cluster is browsed in its run folder: treeplex holdem show.")

    def summary(self) -> dict[str, Any]:
        """As ``Spotted``, and what was on the wire."""
        return super().summary() | self._cut.wire(self.game)

    def note(self) -> str:
        """As ``Extras``."""
        return self._cut.wire_note(self.game)

    def files(self) -> dict[str, str]:
        """As ``Extras``."""
        return super().files() | {"shards/": "the strategies below the cut: a file of each worker"}


def cut_spot(game: HoldemGame, solver: Any, cutting: Cutting, run: str, folder: Path | None) -> CutHoldem:
    """A spot cut into as many shards as there are workers; refused if they do not have the memory."""
    if len(game.streets) == 1:
        raise ParameterError("The option 'cluster' needs a flop or a turn: after the river there is nothing to cut.")
    runs = planned(game, solver, cutting)
    session = Session(cutting.shards, ordered(game, solver, cutting, runs), run, folder)
    if solver.backend == "cuda":
        from treeplex.algorithms.cut.cuda_boards import GPUCutHoldem  # noqa: PLC0415 - not without a GPU

        return GPUCutHoldem(solver, session, tuple(runs))
    return CutHoldem(solver, session, tuple(runs))
