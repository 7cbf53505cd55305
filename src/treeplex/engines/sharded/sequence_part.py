"""A trunk or shard of a compiled game that is cut: its learners, and conversion to whole checkpoints."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Final

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.engines.protocol import Array, Scheme
from treeplex.engines.sequence.arrays import Learner, Learner16, Matching, RuleLearner, Step
from treeplex.engines.sequence.cpu.operators import gradient
from treeplex.engines.sequence.cpu.treeplex import normalise
from treeplex.engines.sequence.cut import Side
from treeplex.engines.sequence.engine import SequenceEngine
from treeplex.engines.sequence.learners import steps
from treeplex.engines.sequence.rules import initial_memory
from treeplex.engines.sharded.session import files_of, opened_part
from treeplex.engines.sharded.shards import Message
from treeplex.kernels.calls import RuleCall
from treeplex.tensors import Tensors, check
from treeplex.updates.blocks import due, fold
from treeplex.updates.rule import Rule
from treeplex.updates.schedules import bounded, stretches, unit_before
from treeplex.updates.storage import STORAGES

Learners = tuple[Any, Any]

SIGNS: Final = (1.0, -1.0)


class SequencePart:
    """Learners and scratch of a trunk or shard."""

    def __init__(self, sides: tuple[Side, Side], storage: str, scheme: Scheme, payoffs: float) -> None:
        self.sides, self.storage, self.payoffs = sides, storage, payoffs  # ``payoffs``: range of the game's payoffs
        self.scheme = scheme._replace(weight=bounded(scheme.weight, storage))
        self.dtype = np.dtype("float32" if storage == "float32" else "float64")
        self.rules = [self._rule(side) for side in sides]
        self.rows = [side.rows for side in sides]
        self.stored: list[Any] = [rows._replace(data=rows.data.astype(self.dtype)) for rows in self.rows]  # pyright: ignore[reportArgumentType]
        self.values = [np.empty(max(len(side.places), 1), self.dtype) for side in sides]
        self.boundary = [np.zeros(len(side.infosets)) for side in sides]
        self.learners: Learners = self.fresh()

    def _rule(self, side: Side) -> Matching | RuleCall:
        rule = self.scheme.rule
        if isinstance(rule, Rule):
            return rule.call(self.payoffs, int(np.diff(side.first).max(initial=1)))
        return Matching(rule.predict)

    def learn(self, kernel: Callable[..., None], player: int, plan: Array, t: int) -> None:
        """Update a player with a kernel of ``sequence.cpu.cut``; raise if a rule that is a function fails."""
        side, rule, call = self.sides[player], self.scheme.rule, self.rules[player]
        here = self.stored[player], SIGNS[player], plan, self.learners[player], call
        kernel(side.treeplex, side.role, *here, self.values[player], self.boundary[player], self.step(t))
        if isinstance(rule, Rule) and isinstance(call, RuleCall):
            rule.check([call], f"in iteration {t:,}")

    def fresh(self) -> Learners:
        """Return learners with no regret, uniform strategies and no plans yet, and drop sums over earlier blocks."""
        self.earlier: list[Any] = [None, None]  # per player; arrays after the first block: ``updates.blocks``
        first, second = (self._fresh(side) for side in self.sides)
        return first, second

    def uniform(self) -> list[Floats]:
        """Uniform strategies of both players, in float64 with every storage."""
        return [normalised(side, np.zeros(max(len(side.places), 1))) for side in self.sides]

    def _fresh(self, side: Side) -> Any:
        size, scaled = max(len(side.places), 1), STORAGES[self.storage].scaled
        even = normalised(side, np.zeros(size))
        rest: list[Any] = [np.zeros(size, self.dtype), even.astype(self.dtype), np.zeros(size, self.dtype)]
        rule = self.scheme.rule
        if isinstance(rule, Rule):
            constants = rule.constants_of(self.payoffs)
            where = side.first[:-1], np.diff(side.first), int(side.first[-1])
            return RuleLearner(initial_memory(rule, *where, constants, self.dtype), *rest)
        if scaled:
            return Learner16(np.zeros(size, self.storage), np.zeros(len(side.infosets), np.float32), *rest)
        return Learner(np.zeros(size, self.dtype), *rest)

    def step(self, t: int) -> Step:
        """Return the numbers of iteration ``t``: weight and discounts."""
        now = steps(t - 1, 1, self.scheme.weight, self.scheme.rule)
        return Step(*(float(array[0]) for array in now))

    def fade(self, t: int) -> None:
        """Convert averages to the unit of the weights of iteration ``t``."""
        factor = stretches(self.scheme.weight, t - 1, 1)[0].fade
        self._multiply(factor)

    def _multiply(self, factor: float) -> None:
        known = [total for total in self.earlier if total is not None]
        for sums in (*(learner.average for learner in self.learners), *known) if factor != 1.0 else ():
            np.multiply(sums, factor, out=sums)

    def fold(self, t: int, player: int) -> None:
        """End a block of a player's averages if a block ends after iteration ``t``."""
        if due(t, self.storage):
            fold(self._earlier(player), self.learners[player].average)

    def _earlier(self, player: int) -> Array:
        if self.earlier[player] is None:
            self.earlier[player] = np.zeros_like(self.learners[player].average)
        return self.earlier[player]

    def in_units(self, iteration: int) -> None:
        """Convert averages from the checkpoint of an older version to the unit of their weights."""
        averages = [learner.average for learner in self.learners]
        self._multiply(unit_before(self.scheme.weight, iteration, averages))

    def strategies(self, iterate: str) -> list[Floats]:
        """Strategies of both players, in float64."""
        if iterate == "current":
            return [learner.strategy.astype(np.float64) for learner in self.learners]
        averages: list[Floats] = []
        for side, learner, earlier in zip(self.sides, self.learners, self.earlier, strict=True):
            average = learner.average.astype(np.float64)
            averages.append(normalised(side, average if earlier is None else earlier + average))
        return averages

    def gradients(self, plans: Sequence[Floats]) -> list[Floats]:
        """Gradients of both players against the other's plan, in float64."""
        values = [np.zeros(max(len(side.places), 1)) for side in self.sides]
        for player in (0, 1):
            gradient(self.rows[player], SIGNS[player], plans[1 - player], values[player])
        return values

    def tensors(self) -> Tensors:
        """Arrays of a checkpoint: the part's own numbers, and their places in the game."""
        tensors: Tensors = {}
        for player, side in enumerate(self.sides):
            for kind in ("places", "infosets", *(["memory"] if isinstance(self.scheme.rule, Rule) else [])):
                tensors[f"{kind}.{player}"] = self._own(side, kind)[1]
            for name, array in self.learners[player]._asdict().items():
                tensors[f"state.learners.{player}.{name}"] = np.ascontiguousarray(
                    array[self._own(side, _kind(name))[0]]
                )
            if self.earlier[player] is not None:
                tensors[f"state.earlier.{player}"] = own_of(side, self.earlier[player])
        return tensors

    def fill(self, tensors: Mapping[str, Array]) -> int:
        """Copy this part's numbers from a file and return the number of sequences that it has."""
        count = 0
        for player, side in enumerate(self.sides):
            arrays = {f"learners.{player}.{name}": one for name, one in self.learners[player]._asdict().items()}
            if f"state.earlier.{player}" in tensors:
                arrays[f"earlier.{player}"] = self._earlier(player)
            for name, array in arrays.items():
                saved, key = tensors[f"state.{name}"], f"{_kind(name)}.{player}"
                here, own = self._own(side, _kind(name))
                there = tensors[key] if key in tensors else np.arange(len(saved))
                at = np.searchsorted(there, own)
                matching = np.append(there, -1)[at] == own
                array[here[matching]] = saved[at[matching]]
                count += int(matching.sum()) if name.endswith("strategy") else 0
        return count

    def _own(self, side: Side, kind: str) -> tuple[Array, Array]:
        """Indices of the part's own numbers in an array of a learner, and in that of the whole game."""
        begin, end = side.own.tolist()
        if kind == "infosets":
            here = np.flatnonzero(_mine(side))
            return here, side.infosets[here]
        if kind == "memory" and isinstance(self.scheme.rule, Rule):
            rows = self.scheme.rule.memory
            return np.arange(rows * begin, rows * end, dtype=np.int64), _memory_indices(side, rows)
        return np.arange(begin, end, dtype=np.int64), own_sequences(side)

    @property
    def size(self) -> int:
        """Number of the part's own sequences."""
        return sum(int(side.own[1] - side.own[0]) for side in self.sides)


def filled(part: SequencePart, tensors: Mapping[str, Array], files: Sequence[Message], iteration: int) -> None:
    """Fill a part from all files; ValueError if some sequence is in none of them."""
    count = part.fill(tensors) if tensors else 0
    for file in files:
        with opened_part(file, iteration) as saved:
            count += part.fill(saved)
    if count != part.size:
        raise ValueError(f"it has {count:,} of {part.size:,} sequences")
    for name, array in part.tensors().items():
        check(array, name)
    part.in_units(iteration)


def join_game(
    game: CompiledGame, storage: str, scheme: Scheme, tensors: Mapping[str, Array], folder: Path | None
) -> Tensors:
    """Convert the checkpoint of a game that was cut to the checkpoint of one machine."""
    iteration, whole = int(tensors["state.iteration"].item()), Tensors()
    fresh = SequenceEngine(game, storage).tables(scheme)
    for player, learner in enumerate(fresh.learners):
        arrays = {f"state.learners.{player}.{name}": array for name, array in learner._asdict().items()}
        if f"state.earlier.{player}" in tensors:
            arrays[f"state.earlier.{player}"] = np.zeros_like(learner.average)
        for key, array in arrays.items():
            places = f"{_kind(key)}.{player}"
            array[tensors[places]] = tensors[key]
            for file in files_of(tensors, folder):
                with opened_part(file, iteration) as part:
                    array[part[places]] = part[key]
            whole[key] = array
    return whole | {"state.iteration": np.asarray(iteration)}


def normalised(side: Side, weights: Floats) -> Floats:
    """Strategies in proportion to weights; 1 for sequences that are in no infoset here."""
    made = np.ones(len(weights))
    normalise(side.treeplex, weights, made)
    return made


def _kind(name: str) -> str:
    """Kind of the indices of an array of a learner: "places" of sequences, "infosets", or "memory" of a rule."""
    return {"scale": "infosets", "memory": "memory"}.get(name.rpartition(".")[2], "places")


def _memory_indices(side: Side, rows: int) -> Array:
    """Indices of the memory of a part's own infosets in that of the whole game, where their order is the same."""
    begin, end = int(side.own[0]), int(side.own[1])
    first, actions = side.first[:-1][_mine(side)], np.diff(side.first)[_mine(side)]
    head = np.zeros(rows * (end - begin), dtype=np.int64)
    if len(head) and len(first):
        moved = rows * (side.places[first].astype(np.int64) - first)
        inside = slice(rows * (int(first[0]) - begin), None)  # before it: the empty sequence of the trunk
        head[inside] = np.repeat(moved, rows * actions)
    places: Array = head + np.arange(rows * begin, rows * end)
    return places


def _mine(side: Side) -> npt.NDArray[np.bool_]:
    """[I] Whether each infoset is one of the part's own; of the others only values are known."""
    return np.diff(side.first) > 0


def own_sequences(side: Side) -> Array:
    """Numbers in the game of a part's own sequences."""
    return side.places[side.own[0] : side.own[1]]


def own_of(side: Side, numbers: Array) -> Array:
    """Copy the entries of a part's own sequences."""
    return numbers[side.own[0] : side.own[1]].copy()
