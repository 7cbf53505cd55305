"""A part of a spot that is cut, the first street or a run of boards: what is learnt there, and whole checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from treeplex.algorithms.cut.session import files_of, opened_part
from treeplex.algorithms.holdem import HoldemCFR, State, saved_room, summed
from treeplex.algorithms.protocol import Tensors
from treeplex.engines.boards.arrays import HandLearner, Sources
from treeplex.engines.boards.cut import FIRST_STREET, Run, carry, locked_part, part_of, whole
from treeplex.engines.boards.game import HoldemGame
from treeplex.tensors import leaves, restored

Array = npt.NDArray[Any]


def fresh(game: HoldemGame, solver: HoldemCFR, run: Run) -> tuple[HandLearner, HandLearner]:
    """No regret in a part of ``game``; locked decisions as they are locked."""
    learners = solver.initial(part_of(game, run))
    locked_part(game, solver.storage, run, learners)
    return learners


def played(game: HoldemGame, solver: HoldemCFR, run: Run, state: State, iterate: str) -> Sources:
    """What strategies of a part are shares of: as ``HoldemCFR.strategies``."""
    if iterate == "current":
        return solver.playing(state)
    learners = summed(state)
    locked_part(game, solver.storage, run, learners)
    return Sources(learners[0].average, learners[1].average)


def arrays_of(tensors: Mapping[str, Array], player: int) -> dict[str, Array]:
    """A player's learner, as a file has it."""
    return {name: tensors[f"state.learners.{player}.{name}"] for name in HandLearner._fields}


def carry_part(game: HoldemGame, tensors: Mapping[str, Array], of: Run, target: State, to: Run) -> State:
    """Copy the arrays of a part's file into ``target``, which is modified in place."""
    earlier = target.earlier or saved_room(target.learners, tensors)
    for player, learner in enumerate(target.learners):
        carry(game, player, arrays_of(tensors, player), of, learner, to)
        if earlier:
            sums = {"average": tensors[f"state.earlier.{player}"]}
            carry(game, player, sums, of, learner._replace(average=earlier[player]), to)
    return target._replace(earlier=earlier)


def joined(game: HoldemGame, solver: HoldemCFR, tensors: Mapping[str, Array], folder: Path) -> Tensors:
    """What a cut game's checkpoint has, as one machine saves it."""
    fresh = solver.initial(part_of(game, FIRST_STREET))
    trunk = restored(State(fresh, 0, saved_room(fresh, tensors, "trunk")), "trunk", tensors)
    state = State(solver.initial(game), trunk.iteration)
    for file in files_of(tensors, folder):
        with opened_part(file, trunk.iteration) as part:
            state = carry_part(game, part, Run(*file["part"]), state, whole(game))
    state = carry_part(game, dict(leaves(trunk, "state")), FIRST_STREET, state, whole(game))
    return {name: np.ascontiguousarray(leaf) for name, leaf in leaves(state, "state")}
