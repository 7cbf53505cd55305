"""Learn a game from its rules, without compiling it, and estimate how good the answer is by sampled best responses."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

from treeplex.errors import ParameterError
from treeplex.evaluation.policy import Policy, Row
from treeplex.games.protocol import Game, name_of
from treeplex.runs.limits import Limits
from treeplex.engines.sampling.on_the_fly import Entry, Estimate, Memory, OnTheFly, deep_recursion
from treeplex.algorithms.options import named

Walker = Callable[[OnTheFly], Callable[[Memory, int, Any, float], float]]

WALKS: Final[dict[str, Walker]] = {
    "pure-mccfr": lambda rules: rules.pure,
    "mccfr-external": lambda rules: rules.external,
    "mccfr-outcome": lambda rules: rules.outcome,
}
"""What can explore. Pure strategies are weighted by the logarithm of the iteration, the others evenly."""

CONFIDENCE: Final = 1.959963984540054  # standard errors of a two-sided interval of 95 %
BREATH: Final = 0.1  # seconds between two looks at the clock
RESPONSES: Final = 2_000


class Moment(NamedTuple):
    """What a progress line shows."""

    what: str  # "exploring", or "measuring"
    iteration: int
    seconds: float
    infosets: int


@dataclass(frozen=True)
class Exploration:
    """What was learnt. Its quality is estimated by games played, never exact, and says so."""

    game: str
    algorithm: str
    policy: Policy  # of the infosets visited
    iterations: int
    nodes_touched: int
    seconds: float
    seed: int
    status: str  # "iterations", "seconds", "nodes" or "interrupted"
    value: Estimate  # player 0's payoff between the average strategies
    responses: tuple[Estimate, Estimate]  # each player's payoff with a response learnt by sampling, in new games

    @property
    def nash_conv_at_least(self) -> float:
        """An estimate from below: responses learnt from samples earn no more than best ones."""
        return self.responses[0].mean + self.responses[1].mean

    @property
    def margin(self) -> float:
        """Half the width of the 95 % interval of ``nash_conv_at_least``."""
        return CONFIDENCE * math.hypot(self.responses[0].error, self.responses[1].error)

    def summary(self) -> dict[str, object]:
        """As ``treeplex explore --json`` prints it."""
        return {
            "game": self.game,
            "algorithm": self.algorithm,
            "iterations": self.iterations,
            "nodes_touched": self.nodes_touched,
            "seconds": self.seconds,
            "infosets": [len(strategy.infosets) for strategy in self.policy.strategies],
            "value_sampled": self.value.mean,
            "value_margin": CONFIDENCE * self.value.error,
            "nash_conv_sampled_at_least": self.nash_conv_at_least,
            "nash_conv_margin": self.margin,
            "status": self.status,
            "seed": self.seed,
        }


def explore_game(
    game: Game,
    algorithm: str,
    limits: Limits,
    seed: int = 0,
    responses: int = RESPONSES,
    watch: Callable[[Moment], None] | None = None,
) -> Exploration:
    """Sample until a limit is reached, then measure: ``responses`` walks of training a player, and as many games.

    Limits are on the exploration. Measuring comes after it, and training enters no more histories than exploring did. A
    Ctrl-C ends the exploration with the answer so far.
    """
    walk_of = named("algorithm", algorithm, WALKS)
    if limits.nash_conv is not None:
        raise ParameterError("The 'nash_conv' parameter is no limit here, because it is not known; give seconds.")
    if not limits.any:
        raise ParameterError("Say when to stop: give seconds, iterations or nodes.")
    if isinstance(responses, bool) or responses < 2:
        raise ParameterError(f"The 'responses' parameter must be a whole number from 2 up, got {responses!r}.")
    walker = OnTheFly(game, seed)
    memory: Memory = ({}, {})
    walk, pure = walk_of(walker), algorithm == "pure-mccfr"
    began = time.perf_counter()
    done, status, told = 0, "", began

    def tell(what: str, count: int) -> None:
        nonlocal told
        if watch and time.perf_counter() - told > BREATH:
            told = time.perf_counter()
            watch(Moment(what, count, told - began, len(memory[0]) + len(memory[1])))

    with deep_recursion():
        try:
            while not status:
                for player in (0, 1):
                    walk(memory, player, game.root(), math.log1p(done + 1.0) if pure else 1.0)
                done += 1
                tell("exploring", done)
                status = limits.reason(time.perf_counter() - began, done, walker.nodes)
        except KeyboardInterrupt:
            status = "interrupted"
        seconds, nodes = time.perf_counter() - began, walker.nodes
        value, answers = _measured(walker, memory, responses, lambda count: tell("measuring", count))
    return Exploration(
        game=name_of(game),
        algorithm=algorithm,
        policy=Policy.from_rows(_rows(memory), name_of(game)),
        iterations=done,
        nodes_touched=nodes,
        seconds=seconds,
        seed=seed,
        status=status,
        value=value,
        responses=answers,
    )


def _measured(
    walker: OnTheFly, memory: Memory, count: int, tell: Callable[[int], None]
) -> tuple[Estimate, tuple[Estimate, Estimate]]:
    """The value between the averages, and what a learnt response of each player earns in games it has not seen."""
    found: list[Estimate] = []
    budget = walker.nodes // 2
    for player in (0, 1):
        answer: dict[str, Entry] = {}
        most = walker.nodes + budget
        for number in range(count):
            walker.respond(memory, answer, player, walker.game.root())
            tell(number + 1)
            if walker.nodes >= most:
                break
        found.append(walker.mean_payoff(memory, answer, player, count))
    return walker.mean_payoff(memory, None, 0, count), (found[0], found[1])


def _rows(memory: Memory) -> Iterator[Row]:
    for player, entries in enumerate(memory):
        for label, entry in entries.items():
            total = sum(entry.average)
            for action, part in zip(entry.actions, entry.average, strict=True):
                yield player, label, action, part / total if total > 0.0 else 1.0 / len(entry.actions)
