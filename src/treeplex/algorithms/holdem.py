"""Counterfactual regret minimization on a hold'em spot: the same rules and weights as in every other game.

One iteration is one pass per player, in turn. The opponent's strategy is added to its average while a pass goes down,
as in Algorithm 1 of Tammelin (2014): player 0's average starts with its second strategy, player 1's with its first.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.algorithms.cfr import CFR, NEXT
from treeplex.algorithms.options import named
from treeplex.algorithms.protocol import Algorithm, Cost, Execution, Extras, Stop, Work, never
from treeplex.arrays import aligned
from treeplex.compile.memory import GIB, available
from treeplex.engines import backend_of
from treeplex.engines.boards.arrays import UPDATE, HandLearner, Playing, Rule, Schedules, Sources
from treeplex.engines.boards.engine import engine
from treeplex.engines.boards.game import HoldemGame, require_memory, threads_for
from treeplex.engines.boards.locks import fix
from treeplex.errors import GameError, ParameterError
from treeplex.evaluation.exact import Evaluation
from treeplex.poker.views.reader import Reader
from treeplex.poker.views.view import View
from treeplex.tensors import restored
from treeplex.updates import Minimizer, blocks
from treeplex.updates.blocks import Earlier
from treeplex.updates.schedules import Schedule, bounded, discounts_at, stretches, unit_before, weights_at
from treeplex.updates.storage import STORAGES
from treeplex.updates.turns import ALTERNATING

Array = npt.NDArray[Any]

LEARNING, PLAYING = 2.5, 1.75  # numbers read per action and hand by a pass that learns, and by one that does not
PASS: Final = 13_000.0  # numbers read by a pass that hardly has a hand to look at
OVERHEAD: Final = 350_000.0  # of one evaluation, in numbers read
RATE: Final = 2.0e9  # numbers read per second and core; 1.5e9 on large flops to 2.8e9 on rivers
MOST_ITERATIONS: Final = 10**8  # of a checkpoint: discounts of all of them are kept in memory
ITERATIONS: Final = {"0.5%pot": 90, "0.1%pot": 200}  # of the default algorithm, on flops, turns and rivers


class State(NamedTuple):
    """What the next iteration needs."""

    learners: tuple[HandLearner, HandLearner]
    iteration: int
    earlier: Earlier = ()


@dataclass(frozen=True)
class HoldemCFR(Algorithm[HoldemGame, State]):
    """CFR over public nodes with vectors of hands (Tammelin 2014, Algorithm 1)."""

    minimizer: Minimizer
    weight: Schedule
    storage: str = "float32"
    threads: int = 0
    prune: bool = True

    @property
    def stored_as(self) -> str:
        """As ``Algorithm``."""
        return self.storage

    def start(self, game: HoldemGame, seed: int = 0) -> State:
        """No regret yet, uniform strategies."""
        require_memory(game, self.storage, self.minimizer.predict > 0.0, self.threads)
        learners = self.initial(game)
        fix(game, self.storage, learners)
        return State(learners, 0)

    def advance(self, game: HoldemGame, state: State, iterations: int, stop: Stop = never) -> State:
        """As ``Algorithm``; the arrays of ``state`` are modified in place and belong to the state returned."""
        last = state.iteration + iterations
        playing = Playing(state.learners, self.playing(state), fix(game, self.storage))
        runner = engine(game, self.storage, self.threads)
        schedules, done, earlier = self.schedules(last), state.iteration, state.earlier
        for count, fade in stretches(self.weight, done, iterations, self.storage):
            faded(state.learners, fade, earlier)
            passes = [(player, UPDATE, t) for t in range(done + 1, done + count + 1) for player in (0, 1)]
            runner.run(playing, self.rule, passes, schedules=schedules)
            done += count
            earlier = folded(state.learners, done, self.storage, earlier)
        return State(state.learners, last, earlier)

    def work(self, game: HoldemGame, state: State) -> Work:
        """Public nodes, all of them in each of two passes; what pruning skips is counted all the same."""
        return Work(state.iteration, 2 * state.iteration * game.nodes)

    def strategies(self, game: HoldemGame, state: State, iterate: str) -> Sources:
        """What strategies are shares of: the sums of weighted strategies, or the regrets that are played from next.

        Where a decision is locked, the locked strategy is put in place of the sums.
        """
        if iterate == "current":
            return self.playing(state)
        learners = summed(state)
        if game.locks:
            fix(game, self.storage, learners)
        return Sources(learners[0].average, learners[1].average)

    def evaluate(self, game: HoldemGame, strategies: Any, threads: int = 0) -> Evaluation:
        """Value and NashConv in chips, exact for the strategies as they are stored."""
        return self.policy(game, strategies).evaluation()

    def policy(self, game: HoldemGame, strategies: Any) -> Any:
        """Browsed by line and hand: a table of all infosets would be too large."""
        return Reader(game, strategies, fix(game, self.storage), self.storage, self.threads)

    def extras(self, game: HoldemGame, state: State, strategies: Any, evaluation: Evaluation) -> Spotted:
        """EV of both players, equity, strategy at the root."""
        return Spotted(game, self.policy(game, strategies), self.memory(game), evaluation)

    def fingerprint(self, game: HoldemGame) -> str:
        """As ``Algorithm``."""
        return game.fingerprint

    def cost(self, game: HoldemGame) -> Cost:
        """As ``Algorithm``: two passes per iteration, three per evaluation, four with rake."""
        numbers = float(sum(game.elements(player) for player in (0, 1)))
        passes = 3.0 if game.zero_sum else 4.0
        return Cost(2.0 * (PASS + LEARNING * numbers), OVERHEAD + passes * (PASS + PLAYING * numbers))

    def restore(self, game: HoldemGame, tensors: Mapping[str, Array], seed: int = 0) -> State:
        """As ``Algorithm``: no regret was touched in an iteration that is yet to come."""
        fresh = self.start(game, seed)
        state = restored(fresh._replace(earlier=saved_room(fresh.learners, tensors)), "state", tensors)
        return in_units(sound(state), self.weight)

    def schedules(self, last: int) -> Schedules:
        """Discounts and weights of iterations 0 to ``last``."""
        t = np.arange(last + 1, dtype=np.float64)
        t[0] = 1.0  # there is no iteration 0; its numbers are never used
        return Schedules(*discounts_at(self.minimizer, t), weights_at(self.weight, t))

    @property
    def rule(self) -> Rule:
        """What else passes are told."""
        predict = self.minimizer.predict
        prune = self.prune and not predict  # a prediction changes also where nothing is gained
        return Rule(predict, prune)

    def memory(self, game: HoldemGame) -> int:
        """Bytes that a solve takes."""
        return game.memory(self.storage, self.minimizer.predict > 0.0, self.threads)

    def playing(self, state: State) -> Sources:
        """What the next strategies are shares of."""
        first, second = (learner.predicted if self.minimizer.predict else learner.regret for learner in state.learners)
        return Sources(first, second)

    def initial(self, game: HoldemGame) -> tuple[HandLearner, HandLearner]:
        """Both players before their first iteration."""
        return self._initial(game, 0), self._initial(game, 1)

    def _initial(self, game: HoldemGame, player: int) -> HandLearner:
        size, decisions = game.elements(player), game.decisions(player)
        scales = decisions if STORAGES[self.storage].scaled else 0
        sizes = (size, size, size if self.minimizer.predict else 0)
        regret, average, predicted = (aligned(count, self.storage) for count in sizes)
        last, scale, other = np.zeros(decisions, np.int32), np.zeros(scales, np.float32), np.zeros(scales, np.float32)
        return HandLearner(regret, average, predicted, last, scale, other)


def sound(state: State) -> State:
    """Return the state; raise ValueError if a regret is newer than the iteration, or there are too many iterations."""
    last = max(int(learner.last.max(initial=0)) for learner in state.learners)
    if not last <= state.iteration <= MOST_ITERATIONS:
        raise ValueError(f"its iteration is {state.iteration:,}, and a regret is of iteration {last:,}")
    return state


def faded(learners: tuple[HandLearner, HandLearner], factor: float, earlier: Earlier = ()) -> None:
    """Averages in the unit of the weights to come, in place; where numbers have a scale, that alone is multiplied."""
    if factor != 1.0:
        for sums in (*_fading(learners), *earlier):
            np.multiply(sums, factor, out=sums)


def _fading(learners: tuple[HandLearner, HandLearner]) -> list[Array]:
    return [each.average_scale if len(each.average_scale) else each.average for each in learners]


def in_units(state: State, weight: Schedule) -> State:
    """A state of a checkpoint with averages in the unit of their weights, in place."""
    faded(state.learners, unit_before(weight, state.iteration, _fading(state.learners)))
    return state


def folded(learners: tuple[HandLearner, HandLearner], iteration: int, storage: str, earlier: Earlier) -> Earlier:
    """The sums of blocks after an iteration (``updates.blocks``); averages are modified in place."""
    if not blocks.due(iteration, storage):
        return earlier
    averages = [learner.average for learner in learners]
    if not earlier:
        need, free = 2 * sum(average.nbytes for average in averages), available()
        if need > free:
            raise GameError(
                f"Averages of more than {blocks.BEGIN:,} iterations take {need / GIB:,.1f} GiB more, but only"
                f" {free / GIB:,.1f} GiB are free; limit the run to {blocks.BEGIN:,} iterations."
            )
    return blocks.folded(averages, earlier)


def summed(state: State) -> tuple[HandLearner, HandLearner]:
    """Learners with the sums over all iterations for averages."""
    first, second = state.learners
    averages = blocks.summed((first.average, second.average), state.earlier, first.average.dtype)
    return first._replace(average=averages[0]), second._replace(average=averages[1])


def saved_room(learners: tuple[HandLearner, HandLearner], tensors: Mapping[str, Array], name: str = "state") -> Earlier:
    """As ``blocks.saved_room``."""
    return blocks.saved_room([learner.average for learner in learners], tensors, name)


class Spotted(Extras):
    """What the answer of a spot has beside value and NashConv, in chips unless a name says otherwise."""

    def __init__(self, game: HoldemGame, reader: Reader, memory: int, evaluation: Evaluation) -> None:
        self.game, self.reader, self.memory, self.evaluation = game, reader, memory, evaluation

    @cached_property
    def ev(self) -> tuple[float, float]:
        """What each player takes of the pot on average."""
        first = self.evaluation.value
        return first, self.game.spot.pot - first if self.game.zero_sum else self.reader.value(1)

    @property
    def gains(self) -> tuple[float, float]:
        """What each player would gain by a best response, ``(oop, ip)``; NashConv is their sum."""
        first, second = (
            max(best - now, 0.0) for best, now in zip(self.evaluation.best_response_values, self.ev, strict=True)
        )
        return first, second

    @property
    def zero_sum(self) -> bool:
        """Is there no rake? With rake there is no value, and gains bound what is lost to a best response alone."""
        return self.game.zero_sum

    def at(self, line: str = "", player: int | str | None = None) -> View:
        """The decision that ``line`` leads to, as ``Reader.at``."""
        return self.reader.at(line, player)

    @cached_property
    def equity(self) -> tuple[float, float]:
        """Each player's share of the pot if nobody bets at all."""
        return self.reader.equity()

    @cached_property
    def root_strategy(self) -> dict[str, float]:
        """How often each action is taken first, over all hands."""
        actions = self.game.streets[0].decisions[0].node.actions
        return {action.name: x for action, x in zip(actions, self.reader.frequencies(), strict=True)}

    @property
    def percent_of_pot(self) -> float:
        """Exploitability in per cent of the pot."""
        return 100.0 * self.evaluation.exploitability / self.game.spot.pot

    def mbb(self, big_blind: float) -> float:
        """Exploitability in thousandths of a big blind of so many chips."""
        return 1000.0 * self.evaluation.exploitability / big_blind

    def summary(self) -> dict[str, Any]:
        """As ``Extras``. With rake there is no value, only what each player takes."""
        return ({} if self.zero_sum else {"value": None}) | {
            "zero_sum": self.zero_sum,
            "gains": list(self.gains),
            "board": self.game.name,
            "nodes": self.game.nodes,
            "bytes": self.memory,
            "ev": list(self.ev),
            "equity": list(self.equity),
            "exploitability_percent_of_pot": self.percent_of_pot,
            "root_strategy": self.root_strategy,
            "sizes": {street: self.game.spot.sizes.get(street, {}) for street in self.game.spot.streets},
        }

    def files(self) -> dict[str, str]:
        """As ``Extras``."""
        return {"checkpoint.safetensors": "the strategies: what `treeplex holdem show` reads and `resume` continues"}


def seconds_to_solve(game: HoldemGame, threads: int = 0) -> dict[str, float]:
    """About how long a solve takes, by exploitability: a guess within a factor of three, measured on one processor."""
    numbers = float(sum(game.elements(player) for player in (0, 1)))
    each = seconds_per_iteration(numbers) / threads_for(game, threads)
    return {target: count * each for target, count in ITERATIONS.items()}


def seconds_per_iteration(numbers: float) -> float:
    """About how long an iteration takes one thread; ``numbers``: actions times hands of all decisions."""
    return 2.0 * (PASS + LEARNING * numbers) / RATE


def on_boards(member: CFR, execution: Execution, game: HoldemGame | None = None) -> HoldemCFR:
    """A member of the CFR family as it is carried out on boards and rows of hands; ``auto`` looks at the ``game``.

    >>> from treeplex.algorithms.cfr import cfr_plus
    >>> on_boards(cfr_plus(delay=10), Execution()).minimizer
    RegretMatchingPlus(predict=0.0)
    """
    storage = execution.storage or "float32"
    named("storage", storage, STORAGES)
    if member.turns != ALTERNATING:
        raise ParameterError("Hold'em spots are solved with alternating updates; leave out turns=simultaneous.")
    if member.order == NEXT:
        raise ParameterError("On hold'em spots averages take the strategies that are faced; leave out order=next.")
    if member.minimizer.predict and STORAGES[storage].scaled:
        raise ParameterError(
            f"The 'storage' parameter must be float64 or float32 with predictive rules, got {storage!r}."
        )
    weight = bounded(member.weight, np.dtype(STORAGES[storage].work).name)
    solver = HoldemCFR(member.minimizer, weight, storage, execution.threads)
    numbers = solver.cost(game).iteration if game is not None else 0.0
    if backend_of("boards", execution.backend, numbers, execution.device) == "cuda":
        from treeplex.algorithms.holdem_cuda import on_gpu  # noqa: PLC0415 - not without a GPU

        return on_gpu(solver, execution)
    return solver
