"""Base class of runs on growing games and hold'em spots: periodic checks, records, and the solution."""

from __future__ import annotations

import json
import math
import time
from abc import abstractmethod
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar, Final, Generic, NamedTuple, Protocol, TypeVar

import numpy as np

from treeplex.algorithms.protocol import Algorithm, Array, Extras, Game, LiveReport, Stop, Tensors, Work, never
from treeplex.arrow import Table, records
from treeplex.engines.evaluation import Evaluation
from treeplex.growth.figures import GrowthFigures
from treeplex.growth.options import Growth, growth_fields
from treeplex.growth.rates import Rates
from treeplex.tensors import count_of, number_of, record_of

RECORDS: Final = "records"  # the tensor with counts and lists as JSON text
FIRST_CHECK: Final = 10  # iterations
LATER: Final = 5  # each later check comes after 1 / LATER more iterations

Records = dict[str, Any]
"""Counts and lists, as JSON values."""


class RunningTree(Protocol):
    """A game that is being solved while it grows."""

    touched: int

    @property
    def iteration(self) -> int:
        """Number of iterations done so far."""
        ...

    def advance(self, iterations: int) -> None:
        """Run iterations in place."""
        ...


Tree = TypeVar("Tree", bound=RunningTree)
Kinds = tuple[type[NamedTuple], type[NamedTuple]]
"""The record types of additions and of removals."""


class GrowthRun(Generic[Tree]):
    """A growing tree, its additions and removals, and the seconds spent on checks; modified in place."""

    def __init__(self, game: Tree, recent: int = 0) -> None:
        self.game, self.rates = game, Rates(recent)
        self.additions: list[Any] = []
        self.removals: list[Any] = []
        self.growing = 0.0  # seconds


@dataclass(frozen=True)
class GrowthAlgorithm(Algorithm[Game, GrowthRun[Tree]], Generic[Game, Tree]):
    """CFR on a tree that grows as ``growth`` specifies."""

    growth: Growth

    iterates: ClassVar[tuple[str, ...]] = ("average", "current")  # ``growth.remove`` decides which
    kinds: ClassVar[Kinds]

    def advance(self, game: Game, state: GrowthRun[Tree], iterations: int, stop: Stop = never) -> GrowthRun[Tree]:
        """As ``Algorithm``; at some iterations, check for sizes to add or to remove."""
        tree = state.game
        last = tree.iteration + iterations
        while tree.iteration < last and not stop():
            due = self._due(state)
            tree.advance(min(due, last) - tree.iteration)
            if tree.iteration == due:
                began = time.perf_counter()
                if self.growth.factor < math.inf:
                    state.additions += self._add(tree, state.rates)
                state.removals += self._remove(tree)
                state.growing += time.perf_counter() - began
        return state

    def _due(self, state: GrowthRun[Tree]) -> int:
        """Return the iteration of the next check."""
        return next_check(state.game.iteration, self.growth.every)

    @abstractmethod
    def _add(self, tree: Tree, rates: Rates) -> Sequence[NamedTuple]:
        """Add the sizes that pay."""

    @abstractmethod
    def _remove(self, tree: Tree) -> Sequence[NamedTuple]:
        """Remove the sizes that are not used."""

    def work(self, game: Game, state: GrowthRun[Tree]) -> Work:
        """Return the histories or public nodes entered by iterations, recovery games and checks."""
        return Work(state.game.iteration, state.game.touched, additions=state.additions)

    def report(self, game: Game, state: GrowthRun[Tree], iterate: str) -> LiveReport:
        """As ``Algorithm``."""
        return LiveReport(
            partial(self._evaluate, state), partial(self._policy, game, state), partial(self._extras, game, state)
        )

    def _evaluate(self, state: GrowthRun[Tree]) -> Evaluation:
        """Evaluate in the full game, with NashConv for the case that only sizes in the abstraction are legal."""
        evaluation = self._measure(state.game)
        own = {"growing_seconds": state.growing, "sizes": len(state.additions), "removed": len(state.removals)}
        figures = own | dict(evaluation.extra)
        return evaluation._replace(extra={name: figures[name] for name in GrowthFigures._fields})

    @abstractmethod
    def _measure(self, tree: Tree) -> Evaluation:
        """Evaluate in the full game; ``extra`` has the figures that are not in the state."""

    @abstractmethod
    def _policy(self, game: Game, state: GrowthRun[Tree]) -> object:
        """Return the strategies in readable form."""

    @abstractmethod
    def _extras(self, game: Game, state: GrowthRun[Tree], evaluation: Evaluation) -> GrowthAnswer:
        """Return the sizes found, with the frequency of each."""

    def save(self, state: GrowthRun[Tree]) -> Tensors:
        """As ``Algorithm``."""
        tensors, own = self._saved(state.game)
        own |= {
            "touched": state.game.touched,
            "growing": state.growing,
            "additions": [list(addition) for addition in state.additions],
            "removals": [list(removal) for removal in state.removals],
            "rates": [list(check) for check in state.rates.seen],
        }
        return tensors | {RECORDS: np.frombuffer(json.dumps(own).encode(), dtype=np.uint8)}

    @abstractmethod
    def _saved(self, tree: Tree) -> tuple[Tensors, Records]:
        """Return what a tree has learnt as arrays, and the rest as JSON."""

    def restore(self, game: Game, tensors: Mapping[str, Array], seed: int = 0) -> GrowthRun[Tree]:
        """As ``Algorithm``."""
        state, saved = self.start(game, seed), json.loads(tensors[RECORDS].tobytes())
        self._restore(game, state.game, tensors, saved)
        state.game.touched, state.growing = count_of(saved["touched"]), number_of(saved["growing"])
        state.rates.restore(saved.get("rates", []))  # older versions have none
        added, removed = self.kinds
        state.additions = [record_of(added, addition) for addition in saved["additions"]]
        state.removals = [record_of(removed, removal) for removal in saved["removals"]]
        return state

    @abstractmethod
    def _restore(self, game: Game, tree: Tree, tensors: Mapping[str, Array], saved: Records) -> None:
        """Fill a new tree from a checkpoint; raise ValueError or KeyError if it is not one of such a tree."""


def next_check(iteration: int, every: int) -> int:
    """Return the iteration of the next check: a multiple of ``every``, or 10, 20, ... and then a fifth more each.

    >>> [next_check(k, 0) for k in (0, 9, 10, 100, 110, 1000)]
    [10, 10, 20, 103, 123, 1081]
    """
    if every:
        return (iteration // every + 1) * every
    due = FIRST_CHECK
    while due <= iteration:
        due += max(FIRST_CHECK, due // LATER)
    return due


class GrowthAnswer(Extras):
    """Fields of a growing run's solution beyond value and NashConv."""

    kinds: ClassVar[Kinds]
    growth: Growth
    evaluation: Evaluation
    additions: list[Any]
    removals: list[Any]

    def growth_summary(self, reading: str, sizes: Sequence[Any], **more: float) -> dict[str, Any]:
        """Return JSON fields. ``reading``: whether the opponent knows sizes off the menu ("told") or not ("secret")."""
        return {
            "growth": growth_fields(self.growth),
            "nash_conv_in_abstraction": GrowthFigures.of(self.evaluation).nash_conv_in_abstraction,
            "reading": reading,
            **more,
            "removed": len(self.removals),
            "sizes": [size.addition._asdict() | dict(zip(size._fields[1:], size[1:], strict=True)) for size in sizes],
        }

    def tables(self) -> dict[str, Table]:
        """As ``Extras``."""
        added, removed = self.kinds
        tables = {"additions": records(added, self.additions)}
        return tables | ({"removals": records(removed, self.removals)} if self.growth.remove != "never" else {})

    def files(self) -> dict[str, str]:
        """As ``Extras``."""
        return super().files() | {
            "additions.parquet": "every size that was added: iteration, decision, size, reasons, and seconds",
            "removals.parquet": "every size that was removed: iteration, decision, size",
        }
