"""What it costs to cut a spot over workers: N workers of one thread against N threads in one process.

    python benchmarks/cluster/overhead.py [--spots F1 T] [--workers 2] [--iterations 1] [--repeats 25] [--niceness 0]

Both are timed in turn, round after round. The overhead is the median of the rounds' ratios, and beside it that of
the least times, which other work on the machine disturbs less; bytes are those of arrays sent and received.

A second table has milliseconds of a pass, median and least: until the last worker begins, the work of the slowest one,
how much that is longer than the mean of all (the parts are not alike, or something else runs on a core), until the last
answer is here, and the trunk's own work before the next pass. Ray gives workers niceness 15; the other side has 0, and
so have workers here unless --niceness says otherwise.
"""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

sys.path.insert(0, str(Path(__file__).parent))
from measured import game_of, here, in_turn, least, median, over, started

from treeplex.cluster import shards
from treeplex.engines.sharded.shards import LEARN, Message


class Span(NamedTuple):
    """When something began and ended, by the clock of this machine."""

    began: float
    ended: float


class Timed(shards.ShardWorker):
    """A worker that remembers when it was at work."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self._spans: list[Span] = []

    def call(self, stamp: tuple[Any, ...], message: Message) -> tuple[Message, ...]:
        began = time.time()
        answer = super().call(stamp, message)
        if stamp[-1] == LEARN:
            self._spans.append(Span(began, time.time()))
        return answer

    def spans(self) -> list[Span]:
        return self._spans


class Asking(shards.RayShards):
    """Shards of which is known when passes were asked of them."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.spans: list[Span] = []

    def ask(self, stamp: Any, messages: Any) -> list[Message]:
        began = time.time()
        answers = super().ask(stamp, messages)
        if stamp.phase == LEARN:
            self.spans.append(Span(began, time.time()))
        return answers

    def workers(self) -> list[list[Span]]:
        """[worker][pass]"""
        return self._ray.get([actor.spans.remote() for actor in self._actors])


def phases(asked: list[Span], workers: list[list[Span]]) -> dict[str, list[float]]:
    """Seconds of each phase of each pass."""
    found: dict[str, list[float]] = {name: [] for name in ("ask", "begin", "slowest", "over the mean", "answer")}
    for span, *own in zip(asked, *workers, strict=True):
        work = [each.ended - each.began for each in own]
        found["ask"].append(span.ended - span.began)
        found["begin"].append(max(each.began for each in own) - span.began)
        found["slowest"].append(max(work))
        found["over the mean"].append(max(work) - sum(work) / len(work))
        found["answer"].append(span.ended - max(each.ended for each in own))
    between = [after.began - before.ended for before, after in zip(asked[::2], asked[1::2], strict=True)]
    return found | {"trunk": between}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--spots", nargs="+", default=["F1"])
    parser.add_argument("--workers", type=int, default=2)
    parser.add_argument("--iterations", type=int, default=1)
    parser.add_argument("--repeats", type=int, default=25)
    parser.add_argument("--niceness", type=int, default=0)
    given = parser.parse_args()
    vars(shards).update(Worker=Timed, RayShards=Asking)
    count, told = given.workers, []
    row(
        "spot",
        f"{count} threads, s/iteration",
        "least",
        f"{count} workers",
        "least",
        "overhead",
        "of the least",
        "bytes",
    )
    row(*["---"] * 8)
    with started(count) as module:
        for name in given.spots:
            game = game_of(name)
            with over(module, game, count) as (cut, advance):
                found = in_turn({"one": here(game, count), "cut": advance}, given.iterations, given.repeats)
                asking = cut.session.shards
                passes = 2 * given.iterations * given.repeats
                spans = [each[-passes:] for each in (asking.spans, *asking.workers())]
                sent = cut.session.bytes_per_iteration
            one, two = found["one"], found["cut"]
            ratios = median([b / a for a, b in zip(one, two, strict=True)]), least(two) / least(one)
            times = [f"{each(side):.4f}" for side in (one, two) for each in (median, least)]
            row(name, *times, *(f"{100 * (ratio - 1):+.1f} %" for ratio in ratios), f"{sent:,}")
            told += [(name, phase, each) for phase, each in phases(spans[0], spans[1:]).items()]
    print()
    row("spot", "of a pass", "median, ms", "least, ms")
    row(*["---"] * 4)
    for name, phase, each in told:
        row(name, phase, f"{1e3 * median(each):.2f}", f"{1e3 * least(each):.2f}")


def row(*cells: str) -> None:
    print(f"| {' | '.join(cells)} |", flush=True)


if __name__ == "__main__":
    main()
