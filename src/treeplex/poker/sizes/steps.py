"""A search as steps: it asks one question after the other, and all that it knows are the answers.

Whoever replays the answers stands where the search stood, without computing anything. So a checkpoint of a search is
the list of answers, and what was learned in the games that it may still read or continue.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Generator, Iterable
from typing import Generic, NamedTuple, TypeVar

from treeplex.algorithms.protocol import Stop, never
from treeplex.poker.sizes.solves import Solve

Result = TypeVar("Result")


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
