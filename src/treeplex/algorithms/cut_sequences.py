"""CFR on a compiled game that is cut into a trunk and shards: see ``engines.sequence.cut``, which says where.

One call of all shards per player and iteration: it brings the opponent's new plans of the trunk, from which a shard
makes its own, and takes back the values of what is right below the trunk.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.algorithms.cfr import CFR, PLAYED
from treeplex.algorithms.cut import (
    MANIFEST,
    PROCESS,
    Cutting,
    Session,
    files_of,
    opened_part,
    sized,
    wire_note,
    write_part,
)
from treeplex.algorithms.full_width import LearnerState
from treeplex.algorithms.protocol import Algorithm, Cost, Extras, Stop, Tensors, Work, never
from treeplex.algorithms.registry import build
from treeplex.algorithms.shards import (  # fmt: skip
    FINISH,
    GATHER,
    LEARN,
    RESTORE,
    SAVE,
    START,
    VALUE,
    Given,
    Order,
    OutOfStepError,
    Stamp,
)
from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.compile.payoffs import Csr
from treeplex.engines.sequence.arrays import Learner, Learner16, Matching, Step
from treeplex.engines.sequence.cpu import cut as kernels
from treeplex.engines.sequence.cpu.operators import gradient
from treeplex.engines.sequence.cut import CutGame, Side, cut_at
from treeplex.engines.sequence.learners import steps
from treeplex.engines.sequence.partition import BOUNDARY
from treeplex.errors import ParameterError
from treeplex.evaluation.exact import Evaluation, in_payoffs
from treeplex.evaluation.policy import Policy
from treeplex.updates.schedules import stretches
from treeplex.updates.storage import STORAGES
from treeplex.updates.turns import ALTERNATING

Array = npt.NDArray[Any]
Learners = tuple[Any, Any]

SIGNS: Final = (1.0, -1.0)


class Asked(NamedTuple):
    """Strategies that are where the shards are."""

    state: LearnerState
    iterate: str


class Part:
    """A trunk or shard with what is learnt there: learners, and scratch."""

    def __init__(self, sides: tuple[Side, Side], solver: CFR) -> None:
        self.sides, self.solver = sides, solver
        self.dtype = np.dtype("float32" if solver.storage == "float32" else "float64")
        self.rule = Matching(solver.minimizer.predict)
        self.rows = [side.rows for side in sides]
        self.stored: list[Any] = [rows._replace(data=rows.data.astype(self.dtype)) for rows in self.rows]  # pyright: ignore[reportArgumentType]
        self.values = [np.empty(max(len(side.places), 1), self.dtype) for side in sides]
        self.boundary = [np.zeros(len(side.infosets)) for side in sides]
        self.learners: Learners = self.fresh()

    def fresh(self) -> Learners:
        """No regret, uniform strategies; plans are not made yet."""
        first, second = (self._fresh(side) for side in self.sides)
        return first, second

    def uniform(self) -> list[Floats]:
        """Uniform strategies, in float64 whatever the storage."""
        return [_normalised(side, np.zeros(max(len(side.places), 1))) for side in self.sides]

    def _fresh(self, side: Side) -> Any:
        size, scaled = max(len(side.places), 1), STORAGES[self.solver.storage].scaled
        even = _normalised(side, np.zeros(size))
        rest: list[Any] = [np.zeros(size, self.dtype), even.astype(self.dtype), np.zeros(size, self.dtype)]
        if scaled:
            return Learner16(np.zeros(size, np.int16), np.zeros(len(side.infosets), np.float32), *rest)
        return Learner(np.zeros(size, self.dtype), *rest)

    def step(self, t: int) -> Step:
        """What iteration ``t`` is told."""
        now = steps(t - 1, 1, self.solver.weight, self.solver.minimizer)
        return Step(*(float(array[0]) for array in now))

    def fade(self, t: int) -> None:
        """Averages in the unit of the weights of iteration ``t``."""
        factor = stretches(self.solver.weight, t - 1, 1)[0].fade
        for learner in self.learners if factor != 1.0 else ():
            learner.average[:] *= factor

    def strategies(self, iterate: str) -> list[Floats]:
        """Of both players, in float64."""
        if iterate == "current":
            return [learner.strategy.astype(np.float64) for learner in self.learners]
        pairs = zip(self.sides, self.learners, strict=True)
        return [_normalised(side, learner.average.astype(np.float64)) for side, learner in pairs]

    def gradients(self, plans: Sequence[Floats]) -> list[Floats]:
        """Of both players against the other's plan, in float64."""
        found = [np.zeros(max(len(side.places), 1)) for side in self.sides]
        for player in (0, 1):
            gradient(self.rows[player], SIGNS[player], plans[1 - player], found[player])
        return found

    def tensors(self) -> Tensors:
        """What is kept of it: numbers that are its own, and where they are in the game."""
        found: Tensors = {}
        for player, side in enumerate(self.sides):
            begin, end = side.own.tolist()
            found[f"places.{player}"], found[f"infosets.{player}"] = side.places[begin:end], _own_infosets(side)
            for name, array in self.learners[player]._asdict().items():
                own = array[_mine(side)] if name == "scale" else array[begin:end]
                found[f"state.learners.{player}.{name}"] = np.ascontiguousarray(own)
        return found

    def fill(self, tensors: Mapping[str, Array]) -> int:
        """Take what a file has of it; returns how many numbers of sequences."""
        count = 0
        for player, side in enumerate(self.sides):
            begin, end = side.own.tolist()
            for name, array in self.learners[player]._asdict().items():
                by_infoset = name == "scale"
                given = tensors[f"state.learners.{player}.{name}"]
                key = f"{'infosets' if by_infoset else 'places'}.{player}"
                there = tensors[key] if key in tensors else np.arange(len(given))
                wanted = _own_infosets(side) if by_infoset else side.places[begin:end]
                at = np.searchsorted(there, wanted)
                met = np.append(there, -1)[at] == wanted
                here: Array = np.flatnonzero(_mine(side)) if by_infoset else np.arange(begin, end, dtype=np.int64)
                array[here[met]] = given[at[met]]
                count += int(met.sum()) if name == "regret" else 0
        return count

    @property
    def size(self) -> int:
        """Sequences that are its own."""
        return sum(int(side.own[1] - side.own[0]) for side in self.sides)


@dataclass(frozen=True, eq=False)
class CutCFR(Algorithm[CompiledGame, LearnerState]):
    """The trunk of a compiled game that is cut."""

    iterates: ClassVar[tuple[str, ...]] = ("average", "current")

    solver: CFR  # what carries out the whole game on one machine
    session: Session
    cut: CutGame
    trunk: Part

    @property
    def stored_as(self) -> str:
        """As ``Algorithm``."""
        return self.solver.storage

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
            plan[0] = 1.0
            kernels.plan_below(side.treeplex, strategy, plan)
        return plans

    def work(self, game: CompiledGame, state: LearnerState) -> Work:
        """As ``CFR``."""
        return self.solver.work(game, state)

    def strategies(self, game: CompiledGame, state: LearnerState, iterate: str) -> Asked:
        """As ``Algorithm``; they stay where they are."""
        return Asked(state, iterate)

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
            products[_own_places(sides[0])] = answer["products"]
            for player in (0, 1):
                plans[player][links[player].shown_here] = answer[f"shown.{player}"]
                boundary[player][links[player].boundary_here] = answer[f"boundary.{player}"]
        values, own = trunk.gradients(plans), _own_places(trunk.sides[0])
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
            whole[player][_own_places(side)] = own[player][side.own[0] : side.own[1]]
            for sides, answer in zip(self.cut.shards, answers, strict=True):
                whole[player][_own_places(sides[player])] = answer[f"strategy.{player}"]
        return Policy.of(game, (whole[0], whole[1]))

    def extras(self, game: CompiledGame, state: LearnerState, strategies: Any, evaluation: Evaluation) -> Extras:
        """What was on the wire."""
        return OnTheWire(self)

    def fingerprint(self, game: CompiledGame) -> str:
        """As ``Algorithm``."""
        return game.fingerprint

    def cost(self, game: CompiledGame) -> Cost:
        """As ``CFR``, so that the log has the same rows."""
        return self.solver.cost(game)

    def counters(self, state: LearnerState) -> Mapping[str, int]:
        """What an iteration sends and receives, measured."""
        return {"bytes_per_iteration": self.session.bytes_per_iteration}

    def elsewhere(self) -> Algorithm[CompiledGame, LearnerState]:
        """As ``Algorithm``: refused."""
        raise ParameterError("A run over several machines is kept in the folder it was started with: give out=.")

    def save(self, state: LearnerState) -> Tensors:
        """As ``Algorithm``: shards write files of their own first."""
        named = self.session.save(state.iteration)
        return self.trunk.tensors() | {"state.iteration": np.asarray(state.iteration)} | named

    def restore(self, game: CompiledGame, tensors: Mapping[str, Array], seed: int = 0) -> LearnerState:
        """As ``Algorithm``, from shards however many they were, or from what one machine has saved."""
        iteration, trunk = int(tensors["state.iteration"].item()), self.trunk
        files = [self.session.whole_file([])]
        if MANIFEST in tensors:
            files += files_of(tensors, self.session.folder)
        trunk.learners = trunk.fresh()
        _filled(trunk, tensors, files[1:], iteration)
        self.session.resumed(files)
        self.session.restore(iteration, files)
        return LearnerState(trunk.learners, iteration)

    def described(self, game: CompiledGame) -> str:
        """How it is cut, in a sentence."""
        sizes, memory = [_size(sides) for sides in self.cut.shards], self.session.orders
        return (
            f"{self.trunk.size:,} sequences in the trunk and up to {max(sizes):,} on each of {len(sizes)}"
            f" worker{'s' * (len(sizes) > 1)} of up to {sized(max(order.words['memory'] for order in memory))},"
            f" {sized(self.predicted_bytes())} on the wire per iteration."
        )

    def predicted_bytes(self) -> int:
        """What an iteration sends and receives, counted before."""
        total, size = 0, self.trunk.dtype.itemsize
        for links in self.cut.links:
            for player in (0, 1):
                own, other = links[player], links[1 - player]
                total += size * (len(other.known) + len(other.shown)) + 8 * len(own.boundary)
        return total


class OnTheWire(Extras):
    """What a run over workers has sent and received."""

    def __init__(self, cut: CutCFR) -> None:
        self._cut = cut

    def summary(self) -> dict[str, Any]:
        """As ``Extras``."""
        return {
            "workers": len(self._cut.cut.shards),
            "bytes_per_iteration": self._cut.session.bytes_per_iteration,
            "bytes_per_iteration_predicted": self._cut.predicted_bytes(),
        }

    def note(self) -> str:
        """As ``Extras``."""
        return wire_note(len(self._cut.cut.shards), self._cut.predicted_bytes(), self._cut.session.bytes_per_iteration)

    def files(self) -> dict[str, str]:
        """As ``Extras``."""
        return {"shards/": "what was learnt below the cut: a file of each worker"}


class SequenceShard:
    """Infosets below the trunk, with what is learnt there."""

    def __init__(self, order: Order) -> None:
        sides = [Side(**{name: order.arrays[f"{player}.{name}"] for name in Side._fields}) for player in (0, 1)]
        solver = build(order.words["algorithm"])
        if not isinstance(solver, CFR):
            raise TypeError(order.words["algorithm"])
        solver = CFR(solver.minimizer, solver.weight, solver.turns, order.words["storage"], 1, solver.order)
        self.part = Part((sides[0], sides[1]), solver)
        self.shown = [order.arrays[f"{player}.shown"] for player in (0, 1)]
        self.index, self.iteration, self.turn = order.words["part"], 0, 0
        self.behind: tuple[int, int] | None = None  # player and iteration whose plans and averages are still to be made

    def do(self, stamp: Stamp, given: Given) -> Given:
        """As ``Shard``."""
        phase = stamp.phase.partition(" ")[0]
        if phase == START:
            self._start(given)
        elif phase == RESTORE:
            self._restore(stamp, given["files"])
        elif phase == SAVE:
            tensors = self.part.tensors() | {"state.iteration": np.asarray(self.iteration)}
            write_part(given["path"], stamp.run.partition("/")[0], self.iteration, self.index, tensors)
        elif phase == LEARN:
            return self._learn(stamp, given)
        elif phase == FINISH:
            self._follow(1, given["plan"])
        elif phase == VALUE:
            return self._value(given)
        else:
            found = self.part.strategies(given["iterate"])
            return {f"strategy.{player}": _own(self.part.sides[player], found[player]) for player in (0, 1)}
        return {}

    def _start(self, given: Given) -> None:
        part = self.part
        part.learners = part.fresh()
        for plan, learner in zip(self._plans(part.uniform(), given), part.learners, strict=True):
            learner.plan[:] = plan
        self.iteration, self.turn, self.behind = 0, 0, None

    def _plans(self, strategies: Sequence[Floats], given: Given) -> list[Floats]:
        plans = [np.zeros(len(strategy)) for strategy in strategies]
        for player, side in enumerate(self.part.sides):
            plans[player][: side.own[0]] = given[f"plan.{player}"]
            kernels.plan_below(side.treeplex, strategies[player], plans[player])
        return plans

    def _follow(self, player: int, known: Array) -> None:
        """Plans and averages of a player, once those of the trunk are known."""
        side, learner = self.part.sides[player], self.part.learners[player]
        learner.plan[: side.own[0]] = known
        if self.behind is not None:
            who, t = self.behind
            if who != player:
                raise OutOfStepError(f"Plans of player {who} are to be made next, not those of player {player}.")
            kernels.follow_below(side.treeplex, learner, self.part.rule, self.part.step(t))
            self.behind = None

    def _learn(self, stamp: Stamp, given: Given) -> Given:
        if (stamp.iteration, stamp.player) != (self.iteration + 1, self.turn):
            raise OutOfStepError(
                f"The next pass is that of player {self.turn} in iteration {self.iteration + 1}, got {stamp}."
            )
        part, player, opponent = self.part, stamp.player, 1 - stamp.player
        self._follow(opponent, given["plan"])
        if player == 0:
            part.fade(stamp.iteration)
        side, plan = part.sides[player], part.learners[opponent].plan
        kernels.learn_below(
            side.treeplex,
            side.role,
            part.stored[player],
            SIGNS[player],
            plan,
            part.learners[player],
            part.rule,
            part.values[player],
            part.boundary[player],
            part.step(stamp.iteration),
        )
        self.behind, self.turn = (player, stamp.iteration), opponent
        if player == 1:
            self.iteration = stamp.iteration
        return {"shown": plan[self.shown[opponent]], "boundary": part.boundary[player][side.role == BOUNDARY]}

    def _value(self, given: Given) -> Given:
        part = self.part
        plans = self._plans(part.strategies(given["iterate"]), given)
        values = part.gradients(plans)
        found: dict[str, Any] = {"products": _own(part.sides[0], plans[0] * values[0])}
        for player, side in enumerate(part.sides):
            boundary = np.zeros(len(side.infosets))
            kernels.respond(side.treeplex, side.role, values[player], boundary)
            found[f"boundary.{player}"] = boundary[side.role == BOUNDARY]
            found[f"shown.{player}"] = plans[player][self.shown[player]]
        return found

    def _restore(self, stamp: Stamp, files: Sequence[Given]) -> None:
        self.part.learners = self.part.fresh()
        _filled(self.part, {}, files, stamp.iteration)
        self.iteration, self.turn, self.behind = stamp.iteration, 0, None


def cut_game(game: CompiledGame, solver: CFR, cutting: Cutting, run: str, folder: Path | None) -> CutCFR:
    """A game cut into as many shards as there are workers; refused if it cannot be, or if they lack the memory."""
    if solver.backend != "cpu":
        raise ParameterError("Cut games are solved on CPUs: give backend=cpu with the option 'cluster'.")
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


def _filled(part: Part, tensors: Mapping[str, Array], files: Sequence[Given], iteration: int) -> None:
    """Take what is needed from all files; ValueError if something is in none."""
    count = part.fill(tensors) if tensors else 0
    for file in files:
        with opened_part(file, iteration) as found:
            count += part.fill(found)
    if count != part.size:
        raise ValueError(f"it has {count:,} of {part.size:,} sequences")


def joined(game: CompiledGame, solver: CFR, tensors: Mapping[str, Array], folder: Path) -> Tensors:
    """What a cut game's checkpoint has, as one machine saves it."""
    iteration, whole = int(tensors["state.iteration"].item()), Tensors()
    state: Any = solver.start(game)
    for player, learner in enumerate(state.learners):
        for name, array in learner._asdict().items():
            key, places = f"state.learners.{player}.{name}", f"{'infosets' if name == 'scale' else 'places'}.{player}"
            array[tensors[places]] = tensors[key]
            for file in files_of(tensors, folder):
                with opened_part(file, iteration) as part:
                    array[part[places]] = part[key]
            whole[key] = array
    return whole | {"state.iteration": np.asarray(iteration)}


def _normalised(side: Side, weights: Floats) -> Floats:
    """Strategies in proportion to weights; 1 where there is nothing to choose."""
    made = np.ones(len(weights))
    kernels.normalise_below(side.treeplex, weights, made)
    return made


def _mine(side: Side) -> npt.NDArray[np.bool_]:
    """[I] infosets that are here, and not only told of."""
    return np.diff(side.first) > 0


def _own_infosets(side: Side) -> Array:
    return side.infosets[_mine(side)]


def _own_places(side: Side) -> Array:
    return side.places[side.own[0] : side.own[1]]


def _own(side: Side, numbers: Array) -> Array:
    return numbers[side.own[0] : side.own[1]].copy()


def _size(sides: tuple[Side, Side]) -> int:
    return sum(int(side.own[1] - side.own[0]) for side in sides)
