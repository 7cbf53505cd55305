"""CFR on a compiled game that is cut into a trunk and shards: see ``engines.sequence.cut``, which says where.

One call of all shards per player and iteration: it brings the opponent's new plans of the trunk, from which a shard
makes its own, and takes back the values of what is right below the trunk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from treeplex.algorithms.cfr import CFR, PLAYED
from treeplex.algorithms.cut.sequence_part import SIGNS, Part, filled, own_places
from treeplex.algorithms.cut.session import MANIFEST, PROCESS, Cutting, Session, files_of, on_cpus, sized
from treeplex.algorithms.cut.shards import FINISH, GATHER, LEARN, VALUE, Given, Order
from treeplex.algorithms.cut.trunk import Asked, Trunk
from treeplex.algorithms.full_width import LearnerState
from treeplex.algorithms.protocol import Extras, Stop, Tensors, never
from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.compile.payoffs import Csr
from treeplex.engines.sequence.cpu import cut as kernels
from treeplex.engines.sequence.cpu.treeplex import realization_plan
from treeplex.engines.sequence.cut import CutGame, Side, cut_at
from treeplex.errors import ParameterError
from treeplex.evaluation.exact import Evaluation, in_payoffs
from treeplex.policies.policy import Policy
from treeplex.updates.turns import ALTERNATING

Array = npt.NDArray[Any]


@dataclass(frozen=True, eq=False)
class CutCFR(Trunk[CompiledGame, LearnerState]):
    """The trunk of a compiled game that is cut."""

    solver: CFR  # what carries out the whole game on one machine
    session: Session
    cut: CutGame
    trunk: Part

    def start(self, game: CompiledGame, seed: int = 0) -> LearnerState:
        """No regret yet, uniform strategies, in all shards."""
        trunk = self.trunk
        trunk.learners = trunk.fresh()
        plans = self._plans(trunk.uniform())
        for learner, plan in zip(trunk.learners, plans, strict=True):
            learner.plan[:] = plan
        self.session.start([self._known(plans, shard) for shard in range(len(self.cut.shards))])
        return LearnerState(trunk.learners, 0)

    def advance(self, game: CompiledGame, state: LearnerState, iterations: int, stop: Stop = never) -> LearnerState:
        """As ``Algorithm``: two calls of all shards per iteration, and one at the end."""
        for t in range(state.iteration + 1, state.iteration + iterations + 1):
            self.trunk.fade(t)
            for player in (0, 1):
                self._learn(t, player)
            for player in (0, 1):
                self.trunk.fold(t, player)
            state = LearnerState(self.trunk.learners, t)
            if stop():
                break
        self.session.ask(state.iteration, 1, FINISH, [self._known_of(1, k) for k in range(len(self.cut.shards))])
        return state

    def _learn(self, t: int, player: int) -> None:
        trunk, opponent = self.trunk, 1 - player
        given = [self._known_of(opponent, shard) for shard in range(len(self.cut.shards))]
        answers = self.session.ask(t, player, LEARN, given)
        plan = trunk.learners[opponent].plan
        for links, answer in zip(self.cut.links, answers, strict=True):
            plan[links[opponent].shown_here] = answer["shown"]
            trunk.boundary[player][links[player].boundary_here] = answer["boundary"]
        side = trunk.sides[player]
        kernels.learn_above(
            side.treeplex,
            side.role,
            trunk.stored[player],
            SIGNS[player],
            plan,
            trunk.learners[player],
            trunk.rule,
            trunk.values[player],
            trunk.boundary[player],
            trunk.step(t),
        )

    def _known_of(self, player: int, shard: int) -> Given:
        return {"plan": self.trunk.learners[player].plan[self.cut.links[shard][player].known]}

    def _known(self, plans: Sequence[Floats], shard: int) -> dict[str, Any]:
        return {f"plan.{player}": plans[player][self.cut.links[shard][player].known] for player in (0, 1)}

    def _plans(self, strategies: Sequence[Floats]) -> list[Floats]:
        """Of the trunk's own sequences, in float64."""
        plans = [np.zeros(len(strategy)) for strategy in strategies]
        for side, strategy, plan in zip(self.trunk.sides, strategies, plans, strict=True):
            realization_plan(side.treeplex, strategy, plan)
        return plans

    def evaluate(self, game: CompiledGame, strategies: Any, threads: int = 0) -> Evaluation:
        """As ``evaluate_strategies``, by one call of all shards: sums in the same order."""
        asked: Asked = strategies
        trunk, plans = self.trunk, self._plans(self.trunk.strategies(asked.iterate))
        words = {"iterate": asked.iterate}
        given = [self._known(plans, shard) | words for shard in range(len(self.cut.shards))]
        answers = self.session.ask(asked.state.iteration, 0, f"{VALUE} {asked.iterate}", given)
        products = np.zeros(game.treeplexes[0].sequences)
        boundary = [np.zeros(len(side.infosets)) for side in trunk.sides]
        for links, sides, answer in zip(self.cut.links, self.cut.shards, answers, strict=True):
            products[own_places(sides[0])] = answer["products"]
            for player in (0, 1):
                plans[player][links[player].shown_here] = answer[f"shown.{player}"]
                boundary[player][links[player].boundary_here] = answer[f"boundary.{player}"]
        values, own = trunk.gradients(plans), own_places(trunk.sides[0])
        products[own] = plans[0][: len(own)] * values[0][: len(own)]
        best: list[float] = []
        for side, found, told in zip(trunk.sides, values, boundary, strict=True):
            kernels.respond(side.treeplex, np.zeros_like(side.role), found, told)
            best.append(float(found[0]))
        return in_payoffs(game, float(kernels.added(products)), *best)

    def policy(self, game: CompiledGame, strategies: Any) -> Policy:
        """As ``Algorithm``: fetched from all shards."""
        asked: Asked = strategies
        whole = [np.ones(treeplex.sequences) for treeplex in game.treeplexes]
        words = [{"iterate": asked.iterate}] * len(self.cut.shards)
        answers = self.session.ask(asked.state.iteration, 0, f"{GATHER} {asked.iterate}", words)
        own = self.trunk.strategies(asked.iterate)
        for player in (0, 1):
            side = self.trunk.sides[player]
            whole[player][own_places(side)] = own[player][side.own[0] : side.own[1]]
            for sides, answer in zip(self.cut.shards, answers, strict=True):
                whole[player][own_places(sides[player])] = answer[f"strategy.{player}"]
        return Policy.of(game, (whole[0], whole[1]))

    def extras(self, game: CompiledGame, state: LearnerState, strategies: Any, evaluation: Evaluation) -> Extras:
        """What was on the wire."""
        return OnTheWire(self, game)

    def kept(self, state: LearnerState) -> Tensors:
        """As ``Trunk``."""
        return self.trunk.tensors() | {"state.iteration": np.asarray(state.iteration)}

    def restore(self, game: CompiledGame, tensors: Mapping[str, Array], seed: int = 0) -> LearnerState:
        """As ``Algorithm``, from shards however many they were, or from what one machine has saved."""
        iteration, trunk = int(tensors["state.iteration"].item()), self.trunk
        files = [self.session.whole_file([])]
        if MANIFEST in tensors:
            files += files_of(tensors, self.session.folder)
        trunk.learners = trunk.fresh()
        filled(trunk, tensors, files[1:], iteration)
        self.session.resumed(files)
        self.session.restore(iteration, files)
        return LearnerState(trunk.learners, iteration)

    def parts(self, game: CompiledGame) -> str:
        """As ``Trunk``."""
        largest = max(sum(int(side.own[1] - side.own[0]) for side in sides) for sides in self.cut.shards)
        return f"{self.trunk.size:,} sequences in the trunk and up to {largest:,} on each of"

    def predicted_bytes(self, game: CompiledGame) -> int:
        """As ``Trunk``."""
        total, size = 0, self.trunk.dtype.itemsize
        for links in self.cut.links:
            for player in (0, 1):
                own, other = links[player], links[1 - player]
                total += size * (len(other.known) + len(other.shown)) + 8 * len(own.boundary)
        return total


class OnTheWire(Extras):
    """What a run over workers has sent and received."""

    def __init__(self, cut: CutCFR, game: CompiledGame) -> None:
        self._cut, self._game = cut, game

    def summary(self) -> dict[str, Any]:
        """As ``Extras``."""
        return self._cut.wire(self._game)

    def note(self) -> str:
        """As ``Extras``."""
        return self._cut.wire_note(self._game)

    def files(self) -> dict[str, str]:
        """As ``Extras``."""
        return {"shards/": "what was learnt below the cut: a file of each worker"}


def cut_game(game: CompiledGame, solver: CFR, cutting: Cutting, run: str, folder: Path | None) -> CutCFR:
    """A game cut into as many shards as there are workers; refused if it cannot be, or if they lack the memory."""
    on_cpus(solver.backend)
    if solver.turns != ALTERNATING or solver.order != PLAYED:
        raise ParameterError("On a cluster updates alternate and averages take what is played: leave out turns, order.")
    if not isinstance(game.operator.rows, Csr):
        raise ParameterError(
            f"The payoffs of {game.name}, a game of many hands, are no sparse matrix, and only such games are cut;"
            " leave out 'cluster'."
        )
    parts = cut_at(game, cutting.workers)
    if parts is None:
        raise ParameterError(f"The game {game.name} has nothing below its first decisions to cut; leave out 'cluster'.")
    orders = [_order(sides, parts, k, solver, cutting) for k, sides in enumerate(parts.shards)]
    need = max(order.words["memory"] for order in orders)
    if cutting.memory is not None and need > cutting.memory:
        raise ParameterError(
            f"The game {game.name} takes {len(orders)} workers of {sized(need)}, but workers have"
            f" {sized(cutting.memory)}; give more workers or more worker_memory."
        )
    return CutCFR(solver, Session(cutting.shards, orders, run, folder), parts, Part(parts.trunk, solver))


def _order(sides: tuple[Side, Side], parts: CutGame, k: int, solver: CFR, cutting: Cutting) -> Order:
    arrays = {f"{player}.{name}": array for player, side in enumerate(sides) for name, array in side._asdict().items()}
    arrays |= {f"{player}.shown": parts.links[k][player].shown for player in (0, 1)}
    numbers = sum(len(side.places) for side in sides)
    memory = PROCESS + 2 * sum(array.nbytes for array in arrays.values()) + 10 * 8 * numbers
    words = {"algorithm": cutting.asked, "storage": solver.storage, "part": [k], "memory": memory}
    return Order("sequences", words, arrays)
