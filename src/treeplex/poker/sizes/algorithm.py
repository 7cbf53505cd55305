"""The search for bet sizes as an algorithm: runs stop and continue it anywhere, to the same bits."""

from __future__ import annotations

import json
import math
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from functools import partial
from statistics import fmean
from typing import Any, ClassVar, Final

import numpy as np

from treeplex.algorithms.protocol import (
    Algorithm,
    Array,
    Cost,
    Execution,
    LiveReport,
    Stop,
    Tensors,
    Work,
    never,
    plain_execution,
)
from treeplex.engines.evaluation import Evaluation
from treeplex.poker.sizes.answer import Sizes
from treeplex.poker.sizes.problem import SizeSearch
from treeplex.poker.sizes.search import Search
from treeplex.poker.sizes.solves import Narrow, StepWalk
from treeplex.tensors import count_of

RECORDS: Final = "records"  # the tensor that holds answers and counts as JSON text


class Searching:
    """A search and its progress; modified in place."""

    def __init__(self, problem: SizeSearch, threads: int, answers: Iterable[list[float]] = ()) -> None:
        self.problem, self.threads = problem, threads
        self.search = Search(problem, threads)
        self.walk: StepWalk[Sizes] = StepWalk(self.search.run(), answers)
        self.overhead = 0.0  # seconds of the last ``advance`` that were not iterations

    @property
    def answer(self) -> Sizes:
        """The answer as far as it is known."""
        return self.walk.result or self.search.so_far()

    def __reduce__(self) -> tuple[Any, ...]:
        """Pickle as a checkpoint, since steps that wait for an answer cannot be pickled."""
        algorithm = ChoosingSizes(self.threads)
        return algorithm.restore, (self.problem, algorithm.save(self))


@dataclass(frozen=True)
class ChoosingSizes(Algorithm[SizeSearch, Searching]):
    """Solve games with and without sizes until the best sizes are proved. An iteration is one of any of these games."""

    threads: int = 0

    iterates: ClassVar[tuple[str, ...]] = ("average",)
    ends: ClassVar[bool] = True

    def open(self, game: SizeSearch, execution: Execution) -> ChoosingSizes:
        """As ``Algorithm``."""
        plain_execution(execution, threads=True)
        return replace(self, threads=execution.threads)

    def start(self, game: SizeSearch, seed: int = 0) -> Searching:
        """Return a search before its first solve."""
        return Searching(game, self.threads)

    def advance(self, game: SizeSearch, state: Searching, iterations: int, stop: Stop = never) -> Searching:
        """As ``Algorithm``. Work after an iteration, such as a best response, belongs to the next one."""
        walk, last = state.walk, state.walk.iterations + iterations
        state.overhead = 0.0
        while walk.question is not None and walk.iterations < last:
            began, before = time.perf_counter(), walk.iterations
            walk.step(last - before, stop)
            if walk.iterations == before:
                state.overhead += time.perf_counter() - began
            if stop():
                break
        if walk.question is None:
            for solve in state.search.solves.values():
                solve.free()
        return state

    def work(self, game: SizeSearch, state: Searching) -> Work:
        """As ``Algorithm``; nodes are public nodes times passes."""
        walk = state.walk
        stage = "" if walk.question is None else walk.question.stage
        finished = walk.question is None
        return Work(walk.iterations, state.search.work, finished=finished, overhead=state.overhead, stage=stage)

    def cost(self, game: SizeSearch) -> Cost:
        """As ``Algorithm``: rows of the log cost nothing, because they report what is known already."""
        return Cost(1.0, 0.0)

    def report(self, game: SizeSearch, state: Searching, iterate: str) -> LiveReport:
        """As ``Algorithm``: the best menu so far."""
        return LiveReport(partial(_evaluation, game, state), _no_policy, partial(_answer, state))

    def save(self, state: Searching) -> Tensors:
        """As ``Algorithm``: all answers so far, and the state of the games that the search may still use."""
        walk, question, tensors = state.walk, state.walk.question, Tensors()
        facts = question.solve.facts if isinstance(question, Narrow) and question.solve.iterations else None
        seen = facts is not None and math.isfinite(facts[0]) and math.isfinite(facts[1])
        record = {"answers": walk.answers, "iterations": walk.iterations, "current": facts if seen else None}
        if question is not None:
            for name, solve in state.search.solves.items():
                tensors |= {f"{name}/{key}": array for key, array in solve.save().items()}
        return tensors | {RECORDS: np.frombuffer(json.dumps(record).encode(), dtype=np.uint8)}

    def restore(self, game: SizeSearch, tensors: Mapping[str, Array], seed: int = 0) -> Searching:
        """As ``Algorithm``."""
        record: dict[str, Any] = json.loads(tensors[RECORDS].tobytes())
        state = Searching(game, self.threads, record["answers"])
        walk = state.walk
        walk.iterations = count_of(record["iterations"])
        if walk.question is None:
            return state
        current = walk.question.solve if isinstance(walk.question, Narrow) else None
        if current is not None and record["current"] is not None:
            current.learn(record["current"])
        saved: dict[str, dict[str, Array]] = {}
        for key, array in tensors.items():
            saved.setdefault(key.partition("/")[0], {})[key.partition("/")[2]] = array
        solves = state.search.solves
        if not saved.keys() <= solves.keys() | {RECORDS}:
            raise ValueError("it has games that such a search does not solve")
        for name, solve in solves.items():
            if name in saved or solve.iterations:
                solve.restore(saved.get(name, {}))
        return state


def _no_policy() -> None:
    """Return no strategies, since every menu has its own game."""


def _answer(state: Searching, evaluation: Evaluation) -> Sizes:
    """Return the best menu so far and its certified loss."""
    return state.answer


def _evaluation(game: SizeSearch, state: Searching) -> Evaluation:
    """Return player 0's chips with all candidates, the mean over spots, and the loss of the best menu so far."""
    answer = state.answer
    values = [fmean(spot.ev_rich) for spot in answer.spots]
    if game.candidates.player:
        values = [spot.pot - value for spot, value in zip(answer.spots, values, strict=True)]
    low, high = answer.loss_percent_of_pot
    extra = {"loss_at_least": low, "loss_at_most": high}
    return Evaluation(fmean(values), math.nan, (math.nan, math.nan), extra)
