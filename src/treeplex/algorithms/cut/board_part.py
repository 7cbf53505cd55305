"""A part of a spot that is cut, the first street or a run of boards: what is learnt there, and whole checkpoints."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from treeplex.algorithms.cut.session import files_of, opened_part
from treeplex.algorithms.holdem import HoldemCFR, State
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
    locked_part(game, solver.storage, run, state.learners)
    return Sources(state.learners[0].average, state.learners[1].average)


def arrays_of(tensors: Mapping[str, Array], player: int) -> dict[str, Array]:
    """A player's learner, as a file has it."""
    return {name: tensors[f"state.learners.{player}.{name}"] for name in HandLearner._fields}


def joined(game: HoldemGame, solver: HoldemCFR, tensors: Mapping[str, Array], folder: Path) -> Tensors:
    """What a cut game's checkpoint has, as one machine saves it."""
    learners = solver.initial(game)
    trunk = restored(State(solver.initial(part_of(game, FIRST_STREET)), 0), "trunk", tensors)
    for player in (0, 1):
        for file in files_of(tensors, folder):
            with opened_part(file, trunk.iteration) as part:
                carry(game, player, arrays_of(part, player), Run(*file["part"]), learners[player], whole(game))
        own = trunk.learners[player]._asdict()
        carry(game, player, own, FIRST_STREET, learners[player], whole(game))
    return {name: np.ascontiguousarray(leaf) for name, leaf in leaves(State(learners, trunk.iteration), "state")}
