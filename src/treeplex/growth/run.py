"""What growing games and hold'em spots have in common as runs: checks now and then, records, and the answer."""

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
from treeplex.tensors import count_of, number_of, record_of

RECORDS: Final = "records"  # the tensor that holds counts and lists as JSON text
FIRST_CHECK: Final = 10  # iterations
LATER: Final = 5  # checks come after 1 / LATER more iterations each

Records = dict[str, Any]
"""Counts and lists, as JSON."""


class RunningTree(Protocol):
    """What is solved and grows."""

    touched: int

    @property
    def iteration(self) -> int:
        """How many iterations have been done."""
        ...

    def advance(self, iterations: int) -> None:
        """Iterate."""
        ...


Tree = TypeVar("Tree", bound=RunningTree)
Kinds = tuple[type[NamedTuple], type[NamedTuple]]
"""The records of what was added, and of what was taken out."""


class GrowthRun(Generic[Tree]):
    """A growing tree, what was added to it and taken out, and how long checks took; modified in place."""

    def __init__(self, game: Tree) -> None:
        self.game = game
        self.additions: list[Any] = []
        self.removals: list[Any] = []
        self.growing = 0.0  # seconds


@dataclass(frozen=True)
class GrowthAlgorithm(Algorithm[Game, GrowthRun[Tree]], Generic[Game, Tree]):
    """CFR on a tree that grows as ``growth`` says."""

    growth: Growth

    iterates: ClassVar[tuple[str, ...]] = ("average", "current")  # which of them, ``growth.remove`` decides
    kinds: ClassVar[Kinds]

    def advance(self, game: Game, state: GrowthRun[Tree], iterations: int, stop: Stop = never) -> GrowthRun[Tree]:
        """As ``Algorithm``; at some iterations, check for sizes to add or to take out."""
        tree = state.game
        last = tree.iteration + iterations
        while tree.iteration < last and not stop():
            due = next_check(tree.iteration, self.growth.every)
            tree.advance(min(due, last) - tree.iteration)
            if tree.iteration == due:
                began = time.perf_counter()
                if self.growth.factor < math.inf:
                    state.additions += self._add(tree)
                state.removals += self._remove(tree)
                state.growing += time.perf_counter() - began
        return state

    @abstractmethod
    def _add(self, tree: Tree) -> Sequence[NamedTuple]:
        """Add what pays."""

    @abstractmethod
    def _remove(self, tree: Tree) -> Sequence[NamedTuple]:
        """Take out what is not used."""

    def work(self, game: Game, state: GrowthRun[Tree]) -> Work:
        """Histories or public nodes entered by iterations, recovery games and checks."""
        return Work(state.game.iteration, state.game.touched, additions=state.additions)

    def report(self, game: Game, state: GrowthRun[Tree], iterate: str) -> LiveReport:
        """As ``Algorithm``."""
        return LiveReport(
            partial(self._evaluate, state), partial(self._policy, game, state), partial(self._extras, game, state)
        )

    def _evaluate(self, state: GrowthRun[Tree]) -> Evaluation:
        """In the full game; beside it, NashConv if only sizes in the abstraction were legal."""
        found = self._measure(state.game)
        own = {"growing_seconds": state.growing, "sizes": len(state.additions), "removed": len(state.removals)}
        figures = own | dict(found.extra)
        return found._replace(extra={name: figures[name] for name in GrowthFigures._fields})

    @abstractmethod
    def _measure(self, tree: Tree) -> Evaluation:
        """In the full game; ``extra`` has the figures that do not stand in the state."""

    @abstractmethod
    def _policy(self, game: Game, state: GrowthRun[Tree]) -> object:
        """The strategies, for people."""

    @abstractmethod
    def _extras(self, game: Game, state: GrowthRun[Tree], evaluation: Evaluation) -> GrowthAnswer:
        """The sizes that were found, and how much each is used."""

    def save(self, state: GrowthRun[Tree]) -> Tensors:
        """As ``Algorithm``."""
        tensors, own = self._saved(state.game)
        own |= {
            "touched": state.game.touched,
            "growing": state.growing,
            "additions": [list(addition) for addition in state.additions],
            "removals": [list(removal) for removal in state.removals],
        }
        return tensors | {RECORDS: np.frombuffer(json.dumps(own).encode(), dtype=np.uint8)}

    @abstractmethod
    def _saved(self, tree: Tree) -> tuple[Tensors, Records]:
        """What a tree has learnt, and what else it is made of."""

    def restore(self, game: Game, tensors: Mapping[str, Array], seed: int = 0) -> GrowthRun[Tree]:
        """As ``Algorithm``."""
        state, saved = self.start(game, seed), json.loads(tensors[RECORDS].tobytes())
        self._restore(game, state.game, tensors, saved)
        state.game.touched, state.growing = count_of(saved["touched"]), number_of(saved["growing"])
        added, removed = self.kinds
        state.additions = [record_of(added, addition) for addition in saved["additions"]]
        state.removals = [record_of(removed, removal) for removal in saved["removals"]]
        return state

    @abstractmethod
    def _restore(self, game: Game, tree: Tree, tensors: Mapping[str, Array], saved: Records) -> None:
        """Bring a new tree to what was saved; ValueError or KeyError if that is not such a tree."""


def next_check(iteration: int, every: int) -> int:
    """The iteration of the next check after so many: a multiple of ``every``, or of 10, 20, ... and later a fifth more.

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
    """What the answer of a growing run has beside value and NashConv."""

    kinds: ClassVar[Kinds]
    growth: Growth
    evaluation: Evaluation
    additions: list[Any]
    removals: list[Any]

    def growth_summary(self, reading: str, found: Sequence[Any], **more: float) -> dict[str, Any]:
        """As JSON. ``reading``: whether sizes off the menu are told or read in secret."""
        return {
            "growth": growth_fields(self.growth),
            "nash_conv_in_abstraction": GrowthFigures.of(self.evaluation).nash_conv_in_abstraction,
            "reading": reading,
            **more,
            "removed": len(self.removals),
            "sizes": [one.addition._asdict() | dict(zip(one._fields[1:], one[1:], strict=True)) for one in found],
        }

    def tables(self) -> dict[str, Table]:
        """As ``Extras``."""
        added, removed = self.kinds
        tables = {"additions": records(added, self.additions)}
        return tables | ({"removals": records(removed, self.removals)} if self.growth.remove != "never" else {})

    def files(self) -> dict[str, str]:
        """As ``Extras``."""
        return super().files() | {
            "additions.parquet": "every size that was added: iteration, decision, size, why, and what adding it took",
            "removals.parquet": "every size that was taken out again: iteration, decision, size",
        }
