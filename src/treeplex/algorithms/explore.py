"""Learn a game from its rules, without compiling it, and estimate the answer's quality by sampled best responses."""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.algorithms.options import named
from treeplex.algorithms.protocol import Algorithm, Cost, Extras, LiveReport, Stop, Work, never
from treeplex.engines.evaluation import Evaluation
from treeplex.engines.sampling.on_the_fly import Estimate, InfosetRecord, Memory, OnTheFly, deep_recursion
from treeplex.errors import within
from treeplex.games.protocol import Game, name_of
from treeplex.policies.policy import Policy, Row
from treeplex.tensors import MOST, Tensors, checked
from treeplex.updates.reference import matched_numbers

Walker = Callable[[OnTheFly], Callable[[Memory, int, Any, float], float]]

WALKS: Final[dict[str, Walker]] = {
    "pure-mccfr": lambda rules: rules.pure,
    "mccfr-external": lambda rules: rules.external,
    "mccfr-outcome": lambda rules: rules.outcome,
}
"""Algorithms that can explore. Pure strategies are weighted by the logarithm of the iteration, the others evenly."""

CONFIDENCE: Final = 1.959963984540054  # standard errors of a two-sided interval of 95 %
RESPONSES: Final = 2_000
HUGE: Final = 1e300  # bound on regrets of a checkpoint, whose sums must stay finite


class Sampled(NamedTuple):
    """Sampled estimate of the quality of the averages."""

    value: Estimate  # player 0's payoff between the average strategies
    responses: tuple[Estimate, Estimate]  # each player's payoff with a response learnt by sampling, in new games


class ExploreState:
    """Learnt tables in dictionaries, and the random number state; modified in place."""

    def __init__(self, game: Game, seed: int) -> None:
        self.walker, self.iteration = OnTheFly(game, seed), 0
        self.memory: Memory = ({}, {})
        self.sampled: tuple[int, Sampled] | None = None  # iteration and estimate of the last evaluation


@dataclass(frozen=True)
class Exploring(Algorithm[Game, ExploreState]):
    """Monte Carlo CFR over the rules themselves."""

    name: str
    responses: int = RESPONSES

    iterates: ClassVar[tuple[str, ...]] = ("average",)

    def start(self, game: Game, seed: int = 0) -> ExploreState:
        """As ``Algorithm``: nothing visited yet."""
        return ExploreState(game, seed)

    def advance(self, game: Game, state: ExploreState, iterations: int, stop: Stop = never) -> ExploreState:
        """As ``Algorithm``: one walk per player and iteration."""
        walk, pure = WALKS[self.name](state.walker), self.name == "pure-mccfr"
        with deep_recursion():
            for _ in range(iterations):
                for player in (0, 1):
                    walk(state.memory, player, game.root(), math.log1p(state.iteration + 1.0) if pure else 1.0)
                state.iteration += 1
                if stop():
                    break
        return state

    def work(self, game: Game, state: ExploreState) -> Work:
        """As ``Algorithm``; evaluation is not counted."""
        return Work(state.iteration, state.walker.nodes)

    def report(self, game: Game, state: ExploreState, iterate: str) -> LiveReport:
        """As ``Algorithm``: estimates with their margins, and the number of infosets visited."""
        return LiveReport(
            partial(self._evaluate, game, state),
            partial(self._policy, game, state),
            partial(self._explored, game, state),
        )

    def _explored(self, game: Game, state: ExploreState, evaluation: Evaluation) -> ExploreExtras:
        """Return the estimates with their margins, and the infosets visited."""
        return ExploreExtras(self.sampled(game, state), state.memory)

    def _evaluate(self, game: Game, state: ExploreState) -> Evaluation:
        """Evaluate by sampled games. NashConv is unknown, only a lower bound is estimated."""
        sampled = self.sampled(game, state)
        explored = ExploreExtras(sampled, state.memory)
        extra = {"nash_conv_at_least": explored.nash_conv_at_least, "nash_conv_margin": explored.margin}
        first, second = (response.mean for response in sampled.responses)
        return Evaluation(sampled.value.mean, math.nan, (first, second), extra)

    def sampled(self, game: Game, state: ExploreState) -> Sampled:
        """Train a response of each player on ``responses`` walks, then let it play the same number of new games.

        Training enters no more histories than exploring did. Random numbers come from a copy of the state's generator,
        so evaluating a run does not change how it continues.
        """
        if state.sampled is None or state.sampled[0] != state.iteration:
            walker = state.walker.copy()
            with deep_recursion():
                state.sampled = state.iteration, _sampled(walker, state.memory, self.responses)
        return state.sampled[1]

    def _policy(self, game: Game, state: ExploreState) -> Policy:
        """Return the strategies of the infosets visited."""
        return Policy.from_rows(_rows(state.memory), name_of(game))

    def fingerprint(self, game: Game) -> str:
        """Return a hash of the name and the first choices. Such a game is too large to hash as a whole."""
        mover, actions = OnTheFly(game, 0).first_choices()
        words = [name_of(game), str(mover), *actions]
        return hashlib.blake2b("\n".join(words).encode(), digest_size=16).hexdigest()

    def cost(self, game: Game) -> Cost:
        """As ``Algorithm``: evaluated only at the end."""
        return Cost(1.0, math.inf)

    def save(self, state: ExploreState) -> Tensors:
        """As ``Algorithm``: infosets sorted by label."""
        counts = np.array([state.iteration, state.walker.nodes])
        tensors: Tensors = {"random": state.walker.random_state(), "counts": counts}
        for player, memory in enumerate(state.memory):
            labels = sorted(memory)
            entries = [memory[label] for label in labels]
            words = json.dumps([[label, entry.actions] for label, entry in zip(labels, entries, strict=True)])
            tensors[f"infosets.{player}"] = np.frombuffer(words.encode(), dtype=np.uint8)
            tensors[f"pick.{player}"] = np.array([entry.pick for entry in entries], dtype=np.int64)
            tensors[f"regret.{player}"] = np.array([x for entry in entries for x in entry.regret])
            tensors[f"average.{player}"] = np.array([x for entry in entries for x in entry.average])
        return tensors

    def restore(self, game: Game, tensors: Mapping[str, npt.NDArray[Any]], seed: int = 0) -> ExploreState:
        """As ``Algorithm``."""
        state = ExploreState(game, seed)
        fresh = state.walker.random_state()
        counts = checked("counts", tensors["counts"], np.int64, (2,), 0, MOST)
        state.iteration, state.walker.nodes = (int(x) for x in counts)
        state.walker.set_random_state(checked("random", tensors["random"], fresh.dtype, fresh.shape))
        for player, memory in enumerate(state.memory):
            infosets = _infosets(tensors[f"infosets.{player}"])
            size = sum(len(actions) for _, actions in infosets)
            name = f"regret.{player}"
            regret: list[float] = checked(name, tensors[name], np.float64, (size,), -HUGE, HUGE).tolist()
            name = f"average.{player}"
            average: list[float] = checked(name, tensors[name], np.float64, (size,), 0.0, HUGE).tolist()
            name = f"pick.{player}"
            picks: list[int] = checked(name, tensors[name], np.int64, (len(infosets),), 0).tolist()
            offset = 0
            for (label, actions), pick in zip(infosets, picks, strict=True):
                if pick >= len(actions):
                    raise ValueError(f"an infoset of player {player} picks an action that it does not have")
                memory[label] = InfosetRecord(actions, pick, known=False)
                memory[label].regret = regret[offset : offset + len(actions)]
                memory[label].average = average[offset : offset + len(actions)]
                offset += len(actions)
        return state


class ExploreExtras(Extras):
    """Results of an exploration. Its quality is estimated from sampled games, never exact, and labelled so."""

    def __init__(self, sampled: Sampled, memory: Memory) -> None:
        self.estimate, self.responses = sampled
        self.infosets = [len(entries) for entries in memory]

    @property
    def nash_conv_at_least(self) -> float:
        """Estimated lower bound of NashConv, never negative: sampled responses earn no more than best responses."""
        return max(self.responses[0].mean + self.responses[1].mean, 0.0)

    @property
    def margin(self) -> float:
        """Half the width of the 95 % interval of ``nash_conv_at_least``."""
        return CONFIDENCE * math.hypot(self.responses[0].error, self.responses[1].error)

    def summary(self) -> dict[str, Any]:
        """As ``Extras``."""
        return {
            "infosets": self.infosets,
            "value_sampled": self.estimate.mean,
            "value_margin": CONFIDENCE * self.estimate.error,
            "nash_conv_sampled_at_least": self.nash_conv_at_least,
            "nash_conv_margin": self.margin,
        }


def exploring(algorithm: str, responses: int = RESPONSES) -> Exploring:
    """Return the algorithm of that name, over rules that are not compiled."""
    named("algorithm", algorithm, WALKS)
    return Exploring(algorithm, within(int, "responses", responses, "an integer >= 2", 2))


def _sampled(walker: OnTheFly, memory: Memory, count: int) -> Sampled:
    """Return the value between the averages, and the payoff of each player's learnt response in new games."""
    estimates: list[Estimate] = []
    budget = walker.nodes // 2
    for player in (0, 1):
        answer: dict[str, InfosetRecord] = {}
        most = walker.nodes + budget
        for _ in range(count):
            walker.respond(memory, answer, player, walker.game.root())
            if walker.nodes >= most:
                break
        estimates.append(walker.mean_payoff(memory, answer, player, count))
    return Sampled(walker.mean_payoff(memory, None, 0, count), (estimates[0], estimates[1]))


def _infosets(saved: npt.NDArray[Any]) -> list[tuple[str, tuple[str, ...]]]:
    """Return labels and actions of infosets from JSON; raise ValueError if they are not texts, or not distinct."""
    entries: Any = json.loads(checked("infosets", saved, np.uint8).tobytes())
    infosets = [(str(label), tuple(str(action) for action in actions)) for label, actions in entries]
    distinct = all(actions and len(set(actions)) == len(actions) for _, actions in infosets)
    if not distinct or len(dict(infosets)) != len(infosets):
        raise ValueError("its infosets or their actions are not all different")
    return infosets


def _rows(memory: Memory) -> Iterator[Row]:
    for player, entries in enumerate(memory):
        for label in sorted(entries):
            entry = entries[label]
            for action, probability in zip(entry.actions, matched_numbers(entry.average), strict=True):
                yield player, label, action, probability
