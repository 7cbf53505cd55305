"""Games that are solved ever further, with certified intervals of their values, all in float64.

A game's value to a player lies between what the player's average strategy guarantees and what the opponent's concedes.
A best response computes each bound, and the interval is as wide as NashConv. Earlier bounds stay valid.

A search is a list of steps: it asks one question after the other, and it depends only on the answers. Replaying the
answers restores the search without any computation. A checkpoint of a search is therefore the list of answers, and the
state of the games that the search may still read or continue.
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
FIRST: Final = 20  # iterations before the first evaluation
STEEP: Final = 2.0  # NashConv falls about like 1 / t^STEEP
LEAST, MOST = 1.05, 1.6  # factors from the iterations of one evaluation to the next
ENDLESS: Final = 200_000  # iterations

Result = TypeVar("Result")


class Solve:
    """One game and one player's value in it. The tree and the state are built when they are needed."""

    def __init__(self, spot: Spot, player: int, threads: int, like: Solve | None = None) -> None:
        """``like``: a solve of a spot with the same cards, whose boards are reused."""
        self.spot, self.player, self.threads, self._like = spot, player, threads, like
        self.low, self.high = -math.inf, math.inf
        self._evaluated_at = 0  # iterations at the last evaluation
        self._spent = 0  # passes times public nodes up to the last evaluation
        self._state: Any = None

    @cached_property
    def game(self) -> HoldemGame:
        """The tree with its boards."""
        return load_spot(self.spot, like=None if self._like is None else self._like.game)

    @cached_property
    def nodes(self) -> int:
        """Public nodes of the tree."""
        return self.game.nodes

    @cached_property
    def bytes(self) -> int:
        """Memory that the solve takes, in bytes."""
        return self.game.memory(STORAGE, threads=1)

    @property
    def width(self) -> float:
        """Width of the interval of the value."""
        return self.high - self.low

    @property
    def iterations(self) -> int:
        """Number of iterations so far."""
        return self._evaluated_at if self._state is None else self._state.iteration

    @property
    def work(self) -> int:
        """Passes times public nodes so far."""
        since = self.iterations - self._evaluated_at
        return self._spent + (2 * since * self.nodes if since else 0)

    @property
    def reader(self) -> Reader:
        """A reader of the average strategies so far."""
        reader: Reader = self._solver.report(self.game, self._state, "average").policy()
        return reader

    def due(self, width: float) -> int:
        """Return the iteration of the next evaluation, where the interval is expected to be ``width`` wide."""
        if not self._evaluated_at:
            return FIRST
        steps = (max(self.width, 1e-300) / width) ** (1.0 / STEEP)
        due = max(math.ceil(self._evaluated_at * min(max(steps, LEAST), MOST)), self._evaluated_at + 1)
        if due > ENDLESS:
            raise SolverError(f"{self.game.name} is not solved to {width:g} after {self._evaluated_at:,} iterations.")
        return due

    def advance(self, iterations: int, stop: Stop = never) -> None:
        """Run iterations; ``stop`` may end them early."""
        if self._state is None:
            self._state = self._solver.start(self.game)
        self._state = self._solver.advance(self.game, self._state, iterations, stop)

    def evaluate(self) -> None:
        """Update the interval of the value by two best responses to the averages."""
        pot, values = self.spot.pot, self.reader.best_response_values()
        high, low = values[self.player], pot - values[1 - self.player]
        self.low, self.high = max(self.low, low), min(self.high, high)
        self._spent, self._evaluated_at = self.work + 2 * self.nodes, self.iterations

    @property
    def facts(self) -> list[float]:
        """Results of the last evaluation: everything that a search needs without reading strategies."""
        return [self.low, self.high, self._evaluated_at, self._spent, self.nodes, self.bytes]

    def learn(self, facts: Sequence[float]) -> None:
        """Set the facts that an earlier process computed."""
        low, high, evaluated_at, spent, nodes, size = facts
        self.low, self.high = number_of(low), number_of(high)
        self._evaluated_at, self._spent = count_of(evaluated_at), count_of(spent)
        self.nodes, self.bytes = count_of(nodes), count_of(size)

    def save(self) -> Tensors:
        """Return the state as named arrays; no arrays before the first iteration."""
        return {} if self._state is None else self._solver.save(self._state)

    def restore(self, tensors: Mapping[str, Array]) -> None:
        """Restore the state from saved arrays."""
        state = self._solver.restore(self.game, tensors)
        if state.iteration < self._evaluated_at:
            raise ValueError("a game has fewer iterations than were evaluated")
        self._state = state

    def free(self) -> None:
        """Free the tree and the state; the facts stay."""
        self._state = None
        for name in ("game", "_solver"):
            vars(self).pop(name, None)

    @cached_property
    def _solver(self) -> Algorithm[Any, Any]:
        return build(SPOTS).open(self.game, Execution(storage=STORAGE, threads=self.threads))


def joined(rich: Solve, restricted: Solve) -> Reader:
    """Return a reader of the rich game whose opponent plays as in ``restricted`` wherever that game has the line."""
    other = 1 - rich.player
    numbers = rich.reader.sources[other].copy()
    copy_rows(rich.game, numbers, restricted.game, restricted.reader.sources[other], other)
    own = rich.reader.sources[rich.player]
    sources = Sources(numbers, own) if other == 0 else Sources(own, numbers)
    return Reader(rich.game, sources, no_locks(rich.game, STORAGE), STORAGE, rich.threads)


def concede(game: HoldemGame, player: int, known: list[Solve], threads: int) -> float:
    """Return an upper bound on the value of ``game`` to ``player``, by one best response.

    The opponent plays as in the first of the solved games that has the line. Its actions are the same in all games.
    """
    other = 1 - player
    numbers, own = np.zeros(game.elements(other)), np.zeros(game.elements(player))
    for solved in reversed(known):
        copy_rows(game, numbers, solved.game, solved.reader.sources[other], other)
    sources = Sources(numbers, own) if other == 0 else Sources(own, numbers)
    return Reader(game, sources, no_locks(game, STORAGE), STORAGE, threads).best_response_value(player)


class Narrow(NamedTuple):
    """A question: solve a game until its interval is at most ``width`` wide. The answer is ``Solve.facts``."""

    solve: Solve
    width: float
    stage: str


class Compute(NamedTuple):
    """A question: compute numbers, such as bounds from best responses."""

    numbers: Callable[[], list[float]]
    stage: str


Question = Narrow | Compute
Steps = Generator[Question, list[float], Result]
"""A generator that yields questions, receives the answers, and returns a result."""


def narrowed(solve: Solve, width: float, stage: str) -> Steps[Solve]:
    """Solve a game until its interval is at most ``width`` wide."""
    if solve.width > width:
        solve.learn((yield Narrow(solve, width, stage)))
    return solve


class StepWalk(Generic[Result]):
    """The execution of steps: the current question, the answers so far, and finally the result."""

    def __init__(self, steps: Steps[Result], answers: Iterable[list[float]] = ()) -> None:
        """``answers``: answers of an earlier process, to replay; raises ``ValueError`` if they do not fit the steps."""
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
        """Work on the current question: run at most ``iterations``, or evaluate a game, or compute numbers."""
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
            solve.evaluate()
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
