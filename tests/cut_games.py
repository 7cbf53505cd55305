"""What tests of cut games share: runs on one machine and over shards, and whether they have the same bits."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

import treeplex as tp
from treeplex.algorithms.protocol import Execution
from treeplex.engines.sharded.session import Cutting
from treeplex.engines.sharded.shards import LostError, Message, Order, OutOfStepError, Stamp
from treeplex.games.holdem.spot import Spot, make_spot, sizes_for
from treeplex.runs.folder import RunFolder
from treeplex.runs.requests import solving
from treeplex.runs.solution import Solution
from treeplex.runs.solve import execute
from treeplex.runs.transport import ShardProxy

KNOWN: dict[str, Any] = json.loads((Path(__file__).parent / "holdem/spots.json").read_text(encoding="utf-8"))["spots"]

FLOP = Spot("Td 9d 6h", 200, 300, "AA,KK,QJs,T9s,98s,AdKd", "JJ,AQs,KTs,87s,76s", sizes_for("50%,a", "a"))
"""A flop of three streets, with few hands."""


def spot(name: str) -> Spot:
    """T and F1 of the spots with known results."""
    return make_spot(KNOWN[name])


def over(
    shards: Any, game: Any, algorithm: str, iterations: int, out: Path | None = None, workers: int = 3, **more: Any
) -> Solution:
    """A run over shards."""
    how = Cutting(shards, workers, 1, more.pop("memory", None))
    return execute(replace(solving(game, algorithm, iterations=iterations, out=out, **more), cutting=how))


def alone(game: Any, algorithm: str, iterations: int, **more: Any) -> Solution:
    """The same on one machine."""
    return tp.solve(game, algorithm, iterations=iterations, backend="cpu", **more)


def same(one: Solution, cut: Solution, folder: Path) -> None:
    """Every number that is learnt, every row of the log but its seconds, and the answer."""
    kept = RunFolder.open(folder)
    solver = one.solver.open(one.game, Execution("cpu", one.request.options.storage, folder=str(folder)))
    whole = kept.checkpoint(solver, one.game)  # what all shards have written, joined
    assert whole is not None
    assert cut.iterations == whole.state.iteration == one.iterations
    expected, found = one.solver.save(one.state), one.solver.save(whole.state)
    assert expected.keys() == found.keys()
    for name, array in expected.items():
        assert np.array_equal(array, found[name]), name
    assert cut.evaluation == one.evaluation
    told = [(row.iteration, row.nodes_touched, row.value, row.nash_conv) for row in cut.rows]
    assert told == [(row.iteration, row.nodes_touched, row.value, row.nash_conv) for row in one.rows]


class LocalShards:
    """All shards in this process, called one after the other."""

    def __init__(self) -> None:
        self._proxies: list[ShardProxy] = []

    def begin(self, orders: Sequence[Order]) -> None:
        """As ``Shards``."""
        self._proxies = self._proxies or [ShardProxy(order) for order in orders]

    def ask(self, stamp: Stamp, messages: Sequence[Message]) -> list[Message]:
        """As ``Shards``."""
        try:
            return [proxy.call(stamp, own) for proxy, own in zip(self._proxies, messages, strict=True)]
        except OutOfStepError as error:
            raise LostError(str(error)) from error

    def close(self) -> None:
        """As ``Shards``."""
        self._proxies = []


class Flaky(LocalShards):
    """Shards of which one is lost in some calls, with all it knows: before it has done what it was told, or after."""

    def __init__(self, calls: Sequence[int], after: bool = False) -> None:
        super().__init__()
        self.calls, self.after, self.count, self.lost = calls, after, 0, 0
        self.stamps: list[Stamp] = []

    def begin(self, orders: Sequence[Order]) -> None:
        self._proxies = [
            ShardProxy(order) if k >= len(self._proxies) or self._proxies[k] is None else self._proxies[k]
            for k, order in enumerate(orders)
        ]

    def ask(self, stamp: Stamp, messages: Sequence[Message]) -> list[Message]:
        self.count += 1
        self.stamps.append(stamp)
        if self.count in self.calls:
            if self.after:
                super().ask(stamp, messages)
            victim: Any = None
            self._proxies[self.count % len(self._proxies)] = victim
            self.lost += 1
            raise LostError("A shard is lost.")
        return super().ask(stamp, messages)
