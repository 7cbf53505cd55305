"""A compiled game that is cut into a trunk and shards; see ``engines.sequence.cut`` for the cut.

There is one call of all shards per player and iteration. It sends the opponent's new plans of the trunk, from which a
shard makes its own plans. It returns the values of the infosets right below the trunk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.compile.payoffs import Csr
from treeplex.engines.evaluation import Evaluation
from treeplex.engines.protocol import PLAYED, Array, Profile, Scheme, Stop, never
from treeplex.engines.sequence.cpu import cut as kernels
from treeplex.engines.sequence.cpu.treeplex import realization_plan
from treeplex.engines.sequence.cut import CutGame, Side, cut_at
from treeplex.engines.sequence.engine import SequenceEngine, SequenceTables, TabularProfile
from treeplex.engines.sequence.evaluate import in_payoffs
from treeplex.engines.sequence.rules import payoff_range
from treeplex.engines.sharded.sequence_part import SequencePart, filled, own_sequences
from treeplex.engines.sharded.session import (
    MANIFEST,
    PROCESS,
    Cutting,
    ShardedEngine,
    ShardSession,
    files_of,
    sized,
)
from treeplex.engines.sharded.shards import FINISH, GATHER, LEARN, SEQUENCES, VALUE, Message, Order
from treeplex.errors import ParameterError
from treeplex.tensors import Tensors
from treeplex.updates.rule import Rule
from treeplex.updates.turns import ALTERNATING


class ShardedProfile(Profile):
    """Strategies of a game that stay in the memory of the trunk and the shards."""

    def __init__(self, engine: ShardedSequences, tables: SequenceTables, iterate: str) -> None:
        self.engine, self.tables, self.iterate, self.game = engine, tables, iterate, engine.game

    def evaluate(self, threads: int = 0) -> Evaluation:
        """As ``Profile``, by one call of all shards, with sums in the same order as on one machine."""
        return self.engine.evaluate(self.tables, self.iterate)

    def host(self) -> TabularProfile:
        """As ``Profile``: strategies are fetched from all shards."""
        return TabularProfile(self.game, self.engine.gather(self.tables, self.iterate))


@dataclass(frozen=True, eq=False)
class ShardedSequences(ShardedEngine):
    """The trunk of a compiled game that is cut."""

    inner: SequenceEngine  # the engine of the whole game on one machine
    cut: CutGame
    trunk: SequencePart

    name: ClassVar = "sharded sequences"

    @property
    def game(self) -> CompiledGame:
        """The whole game, trunk and shards."""
        return self.inner.game

    def tables(self, scheme: Scheme) -> SequenceTables:
        """As ``Engine``, and in all shards."""
        trunk = self.trunk
        trunk.learners = trunk.fresh()
        plans = self._plans(trunk.uniform())
        for learner, plan in zip(trunk.learners, plans, strict=True):
            learner.plan[:] = plan
        self.session.start([self._known(plans, shard) for shard in range(len(self.cut.shards))])
        return SequenceTables(trunk.learners, 0)

    def iterate(self, tables: SequenceTables, scheme: Scheme, iterations: int, stop: Stop = never) -> SequenceTables:
        """As ``Engine``: two calls of all shards per iteration, and one at the end."""
        for t in range(tables.iteration + 1, tables.iteration + iterations + 1):
            self.trunk.fade(t)
            for player in (0, 1):
                self._learn(t, player)
            for player in (0, 1):
                self.trunk.fold(t, player)
            tables = SequenceTables(self.trunk.learners, t)
            if stop():
                break
        self.session.ask(tables.iteration, 1, FINISH, [self._known_of(1, k) for k in range(len(self.cut.shards))])
        return tables

    def _learn(self, t: int, player: int) -> None:
        trunk, opponent = self.trunk, 1 - player
        messages = [self._known_of(opponent, shard) for shard in range(len(self.cut.shards))]
        answers = self.session.ask(t, player, LEARN, messages)
        plan = trunk.learners[opponent].plan
        for links, answer in zip(self.cut.links, answers, strict=True):
            plan[links[opponent].shown_here] = answer["shown"]
            trunk.boundary[player][links[player].boundary_here] = answer["boundary"]
        trunk.learn(kernels.learn_above, player, plan, t)

    def _known_of(self, player: int, shard: int) -> Message:
        return {"plan": self.trunk.learners[player].plan[self.cut.links[shard][player].known]}

    def _known(self, plans: Sequence[Floats], shard: int) -> dict[str, Any]:
        return {f"plan.{player}": plans[player][self.cut.links[shard][player].known] for player in (0, 1)}

    def _plans(self, strategies: Sequence[Floats]) -> list[Floats]:
        """Realization plans of the trunk's own sequences, in float64."""
        plans = [np.zeros(len(strategy)) for strategy in strategies]
        for side, strategy, plan in zip(self.trunk.sides, strategies, plans, strict=True):
            realization_plan(side.treeplex, strategy, plan)
        return plans

    def evaluate(self, tables: SequenceTables, iterate: str) -> Evaluation:
        """Compute value and best responses by one call of all shards."""
        trunk, plans = self.trunk, self._plans(self.trunk.strategies(iterate))
        words = {"iterate": iterate}
        messages = [self._known(plans, shard) | words for shard in range(len(self.cut.shards))]
        answers = self.session.ask(tables.iteration, 0, f"{VALUE} {iterate}", messages)
        products = np.zeros(self.game.treeplexes[0].sequences)
        boundary = [np.zeros(len(side.infosets)) for side in trunk.sides]
        for links, sides, answer in zip(self.cut.links, self.cut.shards, answers, strict=True):
            products[own_sequences(sides[0])] = answer["products"]
            for player in (0, 1):
                plans[player][links[player].shown_here] = answer[f"shown.{player}"]
                boundary[player][links[player].boundary_here] = answer[f"boundary.{player}"]
        values, own = trunk.gradients(plans), own_sequences(trunk.sides[0])
        products[own] = plans[0][: len(own)] * values[0][: len(own)]
        best: list[float] = []
        for side, numbers, edge in zip(trunk.sides, values, boundary, strict=True):
            kernels.respond(side.treeplex, np.zeros_like(side.role), numbers, edge)
            best.append(float(numbers[0]))
        return in_payoffs(self.game, float(kernels.added(products)), *best)

    def gather(self, tables: SequenceTables, iterate: str) -> tuple[Floats, Floats]:
        """Fetch both players' strategies of the whole game from all shards."""
        first, second = (np.ones(treeplex.sequences) for treeplex in self.game.treeplexes)
        words = [{"iterate": iterate}] * len(self.cut.shards)
        answers = self.session.ask(tables.iteration, 0, f"{GATHER} {iterate}", words)
        own = self.trunk.strategies(iterate)
        for player, whole in enumerate((first, second)):
            side = self.trunk.sides[player]
            whole[own_sequences(side)] = own[player][side.own[0] : side.own[1]]
            for sides, answer in zip(self.cut.shards, answers, strict=True):
                whole[own_sequences(sides[player])] = answer[f"strategy.{player}"]
        return first, second

    def profile(self, tables: SequenceTables, scheme: Scheme, iterate: str) -> ShardedProfile:
        """As ``Engine``."""
        return ShardedProfile(self, tables, iterate)

    def pack(self, tables: SequenceTables, scheme: Scheme) -> Tensors:
        """As ``Engine``: first all shards write files of their own."""
        manifest = self.session.save(tables.iteration)
        return self.trunk.tensors() | {"state.iteration": np.asarray(tables.iteration)} | manifest

    def unpack(self, tensors: Mapping[str, Array], scheme: Scheme) -> SequenceTables:
        """As ``Engine``, from the files of any number of shards, or from the checkpoint of one machine."""
        iteration, trunk = int(tensors["state.iteration"].item()), self.trunk
        files = [self.session.whole_file([])]
        if MANIFEST in tensors:
            files += files_of(tensors, self.session.folder)
        trunk.learners = trunk.fresh()
        filled(trunk, tensors, files[1:], iteration)
        self.session.restore(iteration, files)
        return SequenceTables(trunk.learners, iteration)

    @property
    def parts(self) -> str:
        """Numbers of sequences, as the beginning of a sentence that continues with the number of workers."""
        largest = max(sum(int(side.own[1] - side.own[0]) for side in sides) for sides in self.cut.shards)
        return f"{self.trunk.size:,} sequences in the trunk and up to {largest:,} on each of"

    @property
    def predicted_bytes(self) -> int:
        """Bytes sent and received per iteration, counted in advance."""
        total, size = 0, self.trunk.dtype.itemsize
        for links in self.cut.links:
            for player in (0, 1):
                own, other = links[player], links[1 - player]
                total += size * (len(other.known) + len(other.shown)) + 8 * len(own.boundary)
        return total

    @property
    def files(self) -> dict[str, str]:
        """Files that workers write into the run folder, with descriptions."""
        return {"shards/": "regrets and averages below the cut, one file per worker"}


def cut_game(inner: SequenceEngine, scheme: Scheme, cutting: Cutting, folder: Path | None) -> ShardedSequences:
    """Cut a game into at most as many shards as there are workers.

    Raises ParameterError if the game cannot be cut, or if the workers do not have the memory.
    """
    game = inner.game
    if inner.backend != "cpu":
        raise ParameterError(
            "With the option 'cluster' only hold'em spots are cut for GPUs; give backend=cpu for this game."
        )
    if scheme.turns != ALTERNATING or scheme.order != PLAYED:
        raise ParameterError(
            "On a cluster updates alternate and averages use the strategies played; leave out 'turns' and 'order'."
        )
    if not isinstance(game.operator.rows, Csr):
        raise ParameterError(
            f"Only games whose payoffs are a sparse matrix can be cut. Those of {game.name}, a game of many hands, are"
            " not a sparse matrix; leave out 'cluster'."
        )
    parts = cut_at(game, cutting.workers)
    if parts is None:
        raise ParameterError(f"The game {game.name} has nothing below its first decisions to cut; leave out 'cluster'.")
    payoffs = payoff_range(game)
    orders = [_order(sides, parts, k, inner.storage, scheme, payoffs) for k, sides in enumerate(parts.shards)]
    need = max(order.words["memory"] for order in orders)
    if cutting.memory is not None and need > cutting.memory:
        raise ParameterError(
            f"The game {game.name} takes {len(orders)} workers of {sized(need)}, but workers have"
            f" {sized(cutting.memory)}; give more workers or more worker_memory."
        )
    session = ShardSession(cutting.shards, orders, cutting.run, folder)
    return ShardedSequences(inner, session, parts, SequencePart(parts.trunk, inner.storage, scheme, payoffs))


def _order(sides: tuple[Side, Side], parts: CutGame, k: int, storage: str, scheme: Scheme, payoffs: float) -> Order:
    arrays = {f"{player}.{name}": array for player, side in enumerate(sides) for name, array in side._asdict().items()}
    arrays |= {f"{player}.shown": parts.links[k][player].shown for player in (0, 1)}
    numbers = sum(len(side.places) for side in sides)
    rows = scheme.rule.memory if isinstance(scheme.rule, Rule) else 1
    memory = PROCESS + 2 * sum(array.nbytes for array in arrays.values()) + (9 + rows) * 8 * numbers
    words = {"storage": storage, "part": [k], "memory": memory, "payoffs": payoffs}
    return Order(SEQUENCES, words, arrays, scheme=scheme)
