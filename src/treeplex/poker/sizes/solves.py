"""Games being solved further and further, and what is known of their values: certified intervals, all in float64.

A game's value to a player lies between what the player's average strategy guarantees and what the opponent's concedes,
both found by a best response; the interval is as wide as NashConv. What earlier looks proved stays proved.

A search is a list of steps: it asks one question after the other, and all that it knows are the answers. Whoever
replays the answers stands where the search stood, without computing anything. So a checkpoint of a search is the list
of answers, and what was learned in the games that it may still read or continue.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable, Mapping, Sequence
from functools import cached_property
from typing import Any, Final, Generic, NamedTuple, TypeVar

import numpy as np

from treeplex.algorithms.portfolio import SPOTS
from treeplex.algorithms.protocol import Algorithm, Array, Execution, Stop, Tensors, never
from treeplex.algorithms.registry import build
from treeplex.engines.boards.arrays import Sources
from treeplex.engines.boards.game import HoldemGame, load_spot
from treeplex.engines.boards.locks import no_locks
from treeplex.engines.boards.trees import copy_rows
from treeplex.errors import SolverError
from treeplex.games.holdem.spot import Spot
from treeplex.poker.views.reader import Reader
from treeplex.tensors import count_of, number_of

STORAGE: Final = "float64"
FIRST: Final = 20  # iterations before the first look
STEEP: Final = 2.0  # NashConv falls about like 1 / t^STEEP
LEAST, MOST = 1.05, 1.6  # the next look is at between LEAST and MOST times the iterations of the last
ENDLESS: Final = 200_000  # iterations

Result = TypeVar("Result")


class Solve:
    """One game, one player's value in it. The tree and what is learned are there once they are needed."""

    def __init__(self, spot: Spot, player: int, threads: int, like: Solve | None = None) -> None:
        """``like``: of a spot with the same cards."""
        self.spot, self.player, self.threads, self._like = spot, player, threads, like
        self.low, self.high = -math.inf, math.inf
        self._looked = 0  # iterations at the last look
        self._spent = 0  # passes times public nodes up to then
        self._state: Any = None

    @cached_property
    def game(self) -> HoldemGame:
        """The tree and its boards."""
        return load_spot(self.spot, like=None if self._like is None else self._like.game)

    @cached_property
    def nodes(self) -> int:
        """Public nodes of the tree."""
        return self.game.nodes

    @cached_property
    def bytes(self) -> int:
        """Memory that the solve takes."""
        return self.game.memory(STORAGE, threads=1)

    @property
    def width(self) -> float:
        """How much is not known."""
        return self.high - self.low

    @property
    def iterations(self) -> int:
        """Done so far."""
        return self._looked if self._state is None else self._state.iteration

    @property
    def work(self) -> int:
        """Passes times public nodes so far."""
        since = self.iterations - self._looked
        return self._spent + (2 * since * self.nodes if since else 0)

    @property
    def reader(self) -> Reader:
        """The average strategies so far."""
        reader: Reader = self._solver.report(self.game, self._state, "average").policy()
        return reader

    def due(self, width: float) -> int:
        """The iteration of the next look: where the interval should be that wide, as far as is known."""
        if not self._looked:
            return FIRST
        steps = (max(self.width, 1e-300) / width) ** (1.0 / STEEP)
        due = max(math.ceil(self._looked * min(max(steps, LEAST), MOST)), self._looked + 1)
        if due > ENDLESS:
            raise SolverError(f"{self.game.name} is not solved to {width:g} after {self._looked:,} iterations.")
        return due

    def advance(self, iterations: int, stop: Stop = never) -> None:
        """Iterate; ``stop`` may end it early."""
        if self._state is None:
            self._state = self._solver.start(self.game)
        self._state = self._solver.advance(self.game, self._state, iterations, stop)

    def look(self) -> None:
        """Find what the averages prove, by two best responses."""
        pot, values = self.spot.pot, self.reader.best_response_values()
        high, low = values[self.player], pot - values[1 - self.player]
        self.low, self.high = max(self.low, low), min(self.high, high)
        self._spent, self._looked = self.work + 2 * self.nodes, self.iterations

    @property
    def facts(self) -> list[float]:
        """What the last look left: all that those who do not read strategies need to know."""
        return [self.low, self.high, self._looked, self._spent, self.nodes, self.bytes]

    def learn(self, facts: Sequence[float]) -> None:
        """Take over the facts of an earlier process."""
        low, high, looked, spent, nodes, size = facts
        self.low, self.high = number_of(low), number_of(high)
        self._looked, self._spent = count_of(looked), count_of(spent)
        self.nodes, self.bytes = count_of(nodes), count_of(size)

    def save(self) -> Tensors:
        """Return what was learned, as named arrays; nothing before the first iteration."""
        return {} if self._state is None else self._solver.save(self._state)

    def restore(self, tensors: Mapping[str, Array]) -> None:
        """Continue where the arrays were saved."""
        state = self._solver.restore(self.game, tensors)
        if state.iteration < self._looked:
            raise ValueError("a game has fewer iterations than were evaluated")
        self._state = state

    def free(self) -> None:
        """Free the tree and what was learned; the facts stay."""
        self._state = None
        for name in ("game", "_solver"):
            vars(self).pop(name, None)

    @cached_property
    def _solver(self) -> Algorithm[Any, Any]:
        return build(SPOTS).open(self.game, Execution(storage=STORAGE, threads=self.threads))


def joined(rich: Solve, kept: Solve) -> Reader:
    """The rich game, in which the opponent plays as in the other one wherever that has the line."""
    other = 1 - rich.player
    numbers = rich.reader.sources[other].copy()
    copy_rows(rich.game, numbers, kept.game, kept.reader.sources[other], other)
    own = rich.reader.sources[rich.player]
    sources = Sources(numbers, own) if other == 0 else Sources(own, numbers)
    return Reader(rich.game, sources, no_locks(rich.game, STORAGE), STORAGE, rich.threads)


def concede(game: HoldemGame, player: int, known: list[Solve], threads: int) -> float:
    """What the opponent concedes in ``game`` by playing as in the first of the solved games that has the line.

    One best response: an upper bound on the value of ``game`` to ``player``. The opponent has the same actions in all.
    """
    other = 1 - player
    numbers, own = np.zeros(game.elements(other)), np.zeros(game.elements(player))
    for solved in reversed(known):
        copy_rows(game, numbers, solved.game, solved.reader.sources[other], other)
    sources = Sources(numbers, own) if other == 0 else Sources(own, numbers)
    return Reader(game, sources, no_locks(game, STORAGE), STORAGE, threads).best_response_value(player)


class Narrow(NamedTuple):
    """Solve a game until its interval is no wider than ``width``. The answer: ``Solve.facts``."""

    solve: Solve
    width: float
    stage: str


class Compute(NamedTuple):
    """Compute numbers, such as bounds from best responses."""

    numbers: Callable[[], list[float]]
    stage: str


Question = Narrow | Compute
Steps = Generator[Question, list[float], Result]
"""What asks questions, is sent the answers, and returns a result."""


def narrowed(solve: Solve, width: float, stage: str) -> Steps[Solve]:
    """Solve a game until its interval is no wider."""
    if solve.width > width:
        solve.learn((yield Narrow(solve, width, stage)))
    return solve


class StepWalk(Generic[Result]):
    """Steps that are being taken: the question at hand, the answers so far, and in the end the result."""

    def __init__(self, steps: Steps[Result], answers: Iterable[list[float]] = ()) -> None:
        """``answers``: of an earlier process, which are not computed again; ValueError if they are not answers."""
        self._steps, self.answers = steps, list[list[float]]()
        self.iterations = 0
        self.question: Question | None = None
        self.result: Result | None = None
        self._ask(lambda: next(steps))
        for answer in answers:
            if self.question is None or not all(type(x) in (int, float) and math.isfinite(x) for x in answer):
                raise ValueError("its answers are not those of such a search")
            self._answer(list(answer))

    def step(self, iterations: int, stop: Stop = never) -> None:
        """Go on with the question at hand: so many iterations at most, or a look at a game, or a computation."""
        question = self.question
        if isinstance(question, Compute):
            self._answer(question.numbers())
        elif question is not None:
            solve = question.solve
            before = solve.iterations
            due = solve.due(question.width)
            if before < due:
                solve.advance(min(iterations, due - before), stop)
                self.iterations += solve.iterations - before
                return
            solve.look()
            if solve.width <= question.width:
                self._answer(solve.facts)

    def _answer(self, answer: list[float]) -> None:
        self.answers.append(answer)
        self._ask(lambda: self._steps.send(answer))

    def _ask(self, ask: Callable[[], Question]) -> None:
        try:
            self.question = ask()
        except StopIteration as end:
            self.question, self.result = None, end.value
