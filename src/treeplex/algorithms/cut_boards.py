"""CFR on a hold'em spot that is cut after its first street: turn boards of a flop, or river boards of a turn.

The trunk is the first street. A shard has a run of boards of the second street with all below them: see
``engines.boards.cut``, which says why the bits are those of the whole spot.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.algorithms.cut import (
    MANIFEST,
    PROCESS,
    Cutting,
    Session,
    files_of,
    opened_part,
    sized,
    split,
    wire_note,
    write_part,
)
from treeplex.algorithms.holdem import HoldemCFR, Spotted, State, faded
from treeplex.algorithms.protocol import Algorithm, Cost, Execution, Stop, Tensors, Work, never
from treeplex.algorithms.registry import build
from treeplex.algorithms.shards import BEST, LEARN, RESTORE, SAVE, START, VALUE, Given, Order, OutOfStepError, Stamp
from treeplex.arrays import Floats
from treeplex.engines.boards import arrays as layout
from treeplex.engines.boards.arrays import (
    BELOW,
    DOWN,
    UP,
    HandLearner,
    Playing,
    Rule,
    Schedules,
    Sources,
    no_learner,
    plain_rule,
)
from treeplex.engines.boards.cut import FIRST_STREET, Run, board_work, carry, locked_part, part_of, whole
from treeplex.engines.boards.engine import engine
from treeplex.engines.boards.game import HoldemGame, load_spot
from treeplex.engines.boards.streets import blocks_of
from treeplex.errors import ParameterError
from treeplex.evaluation.exact import Evaluation
from treeplex.evaluation.nodes import View
from treeplex.evaluation.spots import Reader, evaluated, taken
from treeplex.games.holdem.locks import make_locks
from treeplex.games.holdem.spot import make_spot
from treeplex.tensors import leaves, restored
from treeplex.updates.schedules import stretches
from treeplex.updates.storage import STORAGES
from treeplex.vectors import LANES

Array = npt.NDArray[Any]


class Asked(NamedTuple):
    """Strategies that are where the shards are."""

    state: State
    iterate: str  # "average" or "current"


@dataclass(frozen=True, eq=False)
class CutHoldem(Algorithm[HoldemGame, State]):
    """The trunk of a spot that is cut; a state has the first street alone."""

    iterates: ClassVar[tuple[str, ...]] = ("average", "current")

    solver: HoldemCFR  # what carries out the whole spot on one machine
    session: Session
    runs: tuple[Run, ...]  # boards of each shard

    @property
    def stored_as(self) -> str:
        """As ``Algorithm``."""
        return self.solver.storage

    def start(self, game: HoldemGame, seed: int = 0) -> State:
        """No regret yet, uniform strategies, in all shards."""
        self.session.start()
        return State(self._fresh(game), 0)

    def advance(self, game: HoldemGame, state: State, iterations: int, stop: Stop = never) -> State:
        """As ``Algorithm``: two calls of all shards per iteration."""
        last, storage = state.iteration + iterations, self.solver.storage
        playing = Playing(state.learners, self.solver.playing(state), locked_part(game, storage, FIRST_STREET))
        schedules = self.solver.schedules(last)
        for t in range(state.iteration + 1, last + 1):
            faded(state.learners, stretches(self.solver.weight, t - 1, 1)[0].fade)
            for player in (0, 1):
                step = (player, layout.UPDATE, t)
                self._pass(game, playing, self.solver.rule, step, schedules, LEARN, {}, t)
            state = State(state.learners, t)
            if stop():
                break
        return state

    def work(self, game: HoldemGame, state: State) -> Work:
        """As ``HoldemCFR``."""
        return self.solver.work(game, state)

    def strategies(self, game: HoldemGame, state: State, iterate: str) -> Asked:
        """As ``Algorithm``; they stay where they are."""
        return Asked(state, iterate)

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

    def fingerprint(self, game: HoldemGame) -> str:
        """As ``Algorithm``."""
        return game.fingerprint

    def cost(self, game: HoldemGame) -> Cost:
        """As ``HoldemCFR``, so that the log has the same rows."""
        return self.solver.cost(game)

    def counters(self, state: State) -> Mapping[str, int]:
        """What an iteration sends and receives, measured."""
        return {"bytes_per_iteration": self.session.bytes_per_iteration}

    def elsewhere(self) -> Algorithm[HoldemGame, State]:
        """As ``Algorithm``: refused."""
        raise ParameterError("A run over several machines is kept in the folder it was started with: give out=.")

    def save(self, state: State) -> Tensors:
        """As ``Algorithm``: shards write files of their own first."""
        named = self.session.save(state.iteration)
        return {name: np.ascontiguousarray(leaf) for name, leaf in leaves(state, "trunk")} | named

    def restore(self, game: HoldemGame, tensors: Mapping[str, Array], seed: int = 0) -> State:
        """As ``Algorithm``, from shards however many they were, or from what one machine has saved."""
        learners = self._fresh(game)
        if MANIFEST in tensors:
            files = files_of(tensors, self.session.folder)
            state = restored(State(learners, 0), "trunk", tensors)
            self.session.resumed(files)
        else:
            state = State(learners, int(tensors["state.iteration"].item()))
            for player in (0, 1):
                carry(game, player, _arrays(tensors, player), whole(game), learners[player], FIRST_STREET)
            files = [self.session.whole_file(list(whole(game)))]
        self.session.restore(state.iteration, files)
        return state

    def described(self, game: HoldemGame) -> str:
        """How it is cut, in a sentence."""
        boards, memory = len(game.boards[1].texture), max(order.words["memory"] for order in self.session.orders)
        return (
            f"{boards} {game.streets[1].name} boards over {len(self.runs)} worker{'s' * (len(self.runs) > 1)} of up to"
            f" {sized(memory)}, {sized(self.predicted_bytes(game))} on the wire per iteration."
        )

    def predicted_bytes(self, game: HoldemGame) -> int:
        """What an iteration sends and receives, counted before."""
        return sum(exchanged(game, self.runs, self.solver.storage, player) for player in (0, 1))

    def _fresh(self, game: HoldemGame) -> tuple[HandLearner, HandLearner]:
        learners = self.solver.initial(part_of(game, FIRST_STREET))
        locked_part(game, self.solver.storage, FIRST_STREET, learners)
        return learners

    def sources(self, game: HoldemGame, asked: Asked) -> Sources:
        """What strategies of the first street are shares of."""
        learners = asked.state.learners
        if asked.iterate == "current":
            return self.solver.playing(asked.state)
        locked_part(game, self.solver.storage, FIRST_STREET, learners)
        return Sources(learners[0].average, learners[1].average)

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

    @cached_property
    def root_strategy(self) -> dict[str, float]:
        """As ``Spotted``."""
        actions = self.game.streets[0].decisions[0].node.actions
        return {action.name: x for action, x in zip(actions, self.reader.frequencies(), strict=True)}

    def at(self, line: str = "", player: int | str | None = None) -> View:
        """Refused: values of a node take all of the spot."""
        raise ParameterError("A spot that was solved on a cluster is browsed in its run folder: treeplex holdem show.")

    def summary(self) -> dict[str, Any]:
        """As ``Spotted``, and what was on the wire."""
        return super().summary() | {
            "workers": len(self._cut.runs),
            "bytes_per_iteration": self._cut.session.bytes_per_iteration,
            "bytes_per_iteration_predicted": self._cut.predicted_bytes(self.game),
        }

    def note(self) -> str:
        """As ``Extras``."""
        counted, measured = self._cut.predicted_bytes(self.game), self._cut.session.bytes_per_iteration
        return wire_note(len(self._cut.runs), counted, measured)

    def files(self) -> dict[str, str]:
        """As ``Extras``."""
        return super().files() | {"shards/": "the strategies below the cut: a file of each worker"}


class BoardShard:
    """A run of boards of the second street, with what is learnt on them and below."""

    def __init__(self, order: Order) -> None:
        words = order.words
        self.whole = load_spot(make_spot(words["spot"]), locks=make_locks(words["locks"]))
        execution = Execution("cpu", words["storage"], words["threads"])
        self.solver: HoldemCFR = build(words["algorithm"]).prepared(self.whole, execution)  # pyright: ignore[reportAttributeAccessIssue]
        self.run = Run(*words["part"])
        self.game = part_of(self.whole, self.run)
        self.frozen = locked_part(self.whole, self.solver.storage, self.run)
        self.state = State(self._fresh(), 0)
        self.turn = 0  # whose pass is next

    def do(self, stamp: Stamp, given: Given) -> Given:
        """As ``Shard``."""
        if stamp.phase == START:
            self.state, self.turn = State(self._fresh(), 0), 0
        elif stamp.phase == RESTORE:
            self._restore(stamp, given["files"])
        elif stamp.phase == SAVE:
            tensors = {name: np.ascontiguousarray(leaf) for name, leaf in leaves(self.state, "state")}
            write_part(given["path"], stamp.run.partition("/")[0], self.state.iteration, list(self.run), tensors)
        elif stamp.phase == LEARN:
            return self._learn(stamp, given)
        else:
            return self._play(stamp, given)
        return {}

    def _learn(self, stamp: Stamp, given: Given) -> Given:
        if (stamp.iteration, stamp.player) != (self.state.iteration + 1, self.turn):
            raise OutOfStepError(
                f"The next pass is that of player {self.turn} in iteration {self.state.iteration + 1}, got {stamp}."
            )
        solver, t = self.solver, stamp.iteration
        if stamp.player == 0:
            faded(self.state.learners, stretches(solver.weight, t - 1, 1)[0].fade)
        playing = Playing(self.state.learners, solver.playing(self.state), self.frozen)
        found = self._below(playing, solver.rule, (stamp.player, layout.UPDATE, t), solver.schedules(t), given)
        self.turn = 1 - self.turn
        if self.turn == 0:
            self.state = State(self.state.learners, t)
        return found

    def _play(self, stamp: Stamp, given: Given) -> Given:
        """A best response, or the value of the strategies."""
        learners, stub = self.state.learners, no_learner(self.solver.storage)
        if given["iterate"] == "current":
            sources = self.solver.playing(self.state)
        else:
            locked_part(self.whole, self.solver.storage, self.run, learners)
            sources = Sources(learners[0].average, learners[1].average)
        mode = layout.BEST if stamp.phase.startswith(BEST) else layout.VALUE
        playing = Playing((stub, stub), sources, self.frozen)
        return self._below(playing, plain_rule(), (stamp.player, mode, 0), None, given)

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
        learners = self._fresh()
        for file in files:
            source = Run(*file["part"])
            if source.begin < self.run.end and self.run.begin < source.end:
                with opened_part(file, stamp.iteration) as tensors:
                    for player in (0, 1):
                        carry(self.whole, player, _arrays(tensors, player), source, learners[player], self.run)
        self.state, self.turn = State(learners, stamp.iteration), 0

    def _fresh(self) -> tuple[HandLearner, HandLearner]:
        learners = self.solver.initial(self.game)
        locked_part(self.whole, self.solver.storage, self.run, learners)
        return learners


def exchanged(game: HoldemGame, runs: Sequence[Run], storage: str, player: int) -> int:
    """Bytes that a pass of ``player`` sends to all shards and receives: reach of roots, and what boards are worth.

    The former goes to every shard as it is; so many shards more cost so much more, but the latter stays what it is.
    """
    size, blocks, first = np.dtype(STORAGES[storage].work).itemsize, blocks_of(game.streets[1]), game.streets[0]
    wide = int(game.boards[0].hands[1 - player].start[-1])
    sent = size * blocks * wide * LANES + first.roots + first.slots(1 - player)
    widths = np.diff(game.boards[1].hands[player].start)
    return sum(sent + size * blocks * LANES * (end - begin) * int(widths[begin:end].max()) for begin, end in runs)


def shard_memory(game: HoldemGame, solver: HoldemCFR, run: Run, threads: int) -> int:
    """Bytes that a worker takes for a run of boards."""
    predict = solver.minimizer.predict > 0.0
    return PROCESS + part_of(game, run).memory(solver.storage, predict, threads)


def cut_spot(game: HoldemGame, solver: HoldemCFR, cutting: Cutting, run: str, folder: Path | None) -> CutHoldem:
    """A spot cut into as many shards as there are workers; refused if they do not have the memory."""
    if len(game.streets) == 1:
        raise ParameterError("The option 'cluster' needs a flop or a turn: after the river there is nothing to cut.")
    if solver.backend != "cpu":
        raise ParameterError("Cut games are solved on CPUs: give backend=cpu with the option 'cluster'.")
    runs = planned(game, solver, cutting)
    orders = [
        Order(
            "boards",
            {
                "spot": game.spot.summary(),
                "locks": [lock._asdict() for lock in game.locks],
                "algorithm": cutting.asked,
                "storage": solver.storage,
                "threads": cutting.threads,
                "part": list(each),
                "memory": shard_memory(game, solver, each, cutting.threads),
            },
            {},
        )
        for each in runs
    ]
    return CutHoldem(solver, Session(cutting.shards, orders, run, folder), tuple(runs))


def planned(game: HoldemGame, solver: HoldemCFR, cutting: Cutting) -> list[Run]:
    """Which boards each worker has: so that the largest part is as small as can be."""
    work, most = board_work(game), cutting.memory
    fewest = min(cutting.workers, len(work))
    for count in range(fewest, (fewest if most is None else len(work)) + 1):
        runs = [Run(*each) for each in split(work, count)]
        need = max(shard_memory(game, solver, run, cutting.threads) for run in runs)
        if most is None or need <= most:
            if len(runs) <= cutting.workers:
                return runs
            raise ParameterError(
                f"{game.name} with {solver.storage} numbers takes {len(runs)} workers of {sized(most or 0)}, but there"
                f" {'is' if cutting.workers == 1 else 'are'} {cutting.workers}; give more workers, more worker_memory,"
                " or storage=int16."
            )
    need = max(shard_memory(game, solver, Run(board, board + 1), cutting.threads) for board in range(len(work)))
    raise ParameterError(
        f"One board of {game.name} with all below it takes a worker of {sized(need)}, but workers have"
        f" {sized(most or 0)}; give more with worker_memory, or storage=int16."
    )


def joined(game: HoldemGame, solver: HoldemCFR, tensors: Mapping[str, Array], folder: Path) -> Tensors:
    """What a cut game's checkpoint has, as one machine saves it."""
    learners, trunk = (
        solver.initial(game),
        restored(State(solver.initial(part_of(game, FIRST_STREET)), 0), "trunk", tensors),
    )
    for player in (0, 1):
        for file in files_of(tensors, folder):
            with opened_part(file, trunk.iteration) as part:
                carry(game, player, _arrays(part, player), Run(*file["part"]), learners[player], whole(game))
        own = trunk.learners[player]._asdict()
        carry(game, player, own, FIRST_STREET, learners[player], whole(game))
    return {name: np.ascontiguousarray(leaf) for name, leaf in leaves(State(learners, trunk.iteration), "state")}


def _arrays(tensors: Mapping[str, Array], player: int) -> dict[str, Array]:
    return {name: tensors[f"state.learners.{player}.{name}"] for name in HandLearner._fields}
