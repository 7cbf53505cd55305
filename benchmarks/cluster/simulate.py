"""How long an iteration takes over N nodes: a simulation, checked against runs on this machine.

    python benchmarks/cluster/simulate.py [--spots F1 T] [--checked 1 2] [--repeats 30] [--to PICTURE] [--json FILE]
    python benchmarks/cluster/simulate.py --drawn FILE --to PICTURE

Measured here, before the run over two workers that it is checked against: seconds of the trunk's phases and of a
worker's part, on one worker; and what Ray takes to carry a pass to one worker and to a further one, by the bytes of its
answer. Simulated from these: passes are synchronous, so a pass takes the trunk's phases, carrying, and the slowest
worker. Boards are cut as ``engines.sharded.session`` cuts them, so parts are not alike. Checked: runs with 1 and 2
workers, or as many as this machine has cores (--checked 1 2 4 8). Of other machines the wire is assumed. Times are the
least of all repeats, as on a machine with nothing else to do.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from measured import game_of, least, over, processor_seconds, seconds, started

from treeplex.cluster.shards import PIECES, pieces
from treeplex.cluster.shards import whole as whole_answer
from treeplex.engines.boards.cut import BoardRun, board_work, whole
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.sharded.board_plan import exchanged
from treeplex.engines.sharded.session import split
from treeplex.engines.sharded.shards import Message

NODES = (1, 2, 4, 8, 16, 32, 36, 48, 64)
SIZES = (2**10, 2**16, 2**18, 2**20, 2**22, 2**24)


class Wire(NamedTuple):
    """Between the trunk and all nodes."""

    sizes: tuple[int, ...]  # bytes that a worker answers
    first: tuple[float, ...]  # seconds that Ray takes for a pass of one worker, by size
    further: tuple[float, ...]  # and for every other one
    latency: float = 0.0  # seconds more of a pass, on a network
    bandwidth: float = math.inf  # bytes per second, of all nodes together: the trunk has one wire

    def seconds(self, nodes: int, size: int) -> float:
        """Of carrying a pass of so many bytes in all."""
        each = size / nodes
        first, further = (float(np.interp(each, self.sizes, own)) for own in (self.first, self.further))
        return self.latency + first + (nodes - 1) * further + size / self.bandwidth


class Speed(NamedTuple):
    """Of one node, of one thread."""

    trunk: float  # seconds of the trunk's phases of both passes
    number: float  # seconds of an iteration per number kept


LATENCY, BANDWIDTH = 1e-4, 10e9 / 8  # assumed: Ethernet of 10 Gbit/s


def simulated(game: HoldemGame, nodes: int, speed: Speed, wire: Wire) -> float:
    """Seconds of an iteration."""
    work = board_work(game)
    runs = [BoardRun(*each) for each in split(work, nodes)]
    slowest = max(int(work[begin:end].sum()) for begin, end in runs)
    return speed.trunk + carried(game, runs, wire) + slowest * speed.number


def carried(game: HoldemGame, runs: list[BoardRun], wire: Wire) -> float:
    """Seconds of both passes of an iteration on the wire."""
    return sum(wire.seconds(len(runs), exchanged(game, runs, "float32", player)) for player in (0, 1))


def measured(
    module: Any, game: HoldemGame, wire: Wire, checked: list[int], repeats: int
) -> tuple[Speed, dict[int, float], dict[int, float]]:
    """Speeds on one worker; seconds of an iteration over as many as there are cores; processor seconds of a worker."""
    found: dict[int, float] = {}
    spent: dict[int, float] = {}
    speed = Speed(0.0, 0.0)
    for workers in checked:
        with over(module, game, workers) as (cut, advance):
            advance(2)
            waited: list[float] = []
            ask = cut.session.shards.ask

            def timed(*arguments: Any, ask: Any = ask, waited: list[float] = waited) -> Any:
                began = time.perf_counter()
                answer = ask(*arguments)
                waited.append(time.perf_counter() - began)
                return answer

            cut.session.shards.ask = timed
            processes = cut.session.shards.processes.values()
            before = [processor_seconds(process) for process in processes]
            times = [seconds(advance, 1) for _ in range(repeats)]
            after = [processor_seconds(process) for process in processes]
            spent[workers] = max(b - a for a, b in zip(before, after, strict=True)) / repeats
            found[workers] = least(times)
            if workers == 1:
                pairs = [a + b for a, b in zip(waited[::2], waited[1::2], strict=True)]
                trunk = least([each - waits for each, waits in zip(times, pairs, strict=True)])
                rest = least(pairs) - carried(game, [whole(game)], wire)
                speed = Speed(trunk, rest / float(board_work(game).sum()))
    return speed, found, spent


class Echo:
    """A worker that has nothing to do."""

    def call(self, message: Message, size: int) -> tuple[Message, ...]:
        return pieces({"found": np.zeros(size, np.uint8)})


def wire_of(module: Any, repeats: int) -> Wire:
    """What passes take here that ``cluster.shards`` carries to a worker which has nothing to do.

    A further worker costs what the trunk's thread computes for it: calls go out, and answers are taken, one by one.
    """
    actor = module.remote(Echo).options(num_cpus=1).remote()
    call, given = actor.call.options(num_returns=PIECES), {"entry": np.zeros(2**12, np.float32)}
    first: list[float] = []
    further: list[float] = []
    for size in SIZES:
        each: list[float] = []
        own: list[float] = []
        for _ in range(2 * repeats):
            began, spent = time.perf_counter(), time.thread_time()
            whole_answer(module.get(call.remote(given, size)))
            each.append(time.perf_counter() - began)
            own.append(time.thread_time() - spent)
        first.append(least(each))
        further.append(least(own))
    module.kill(actor)
    return Wire(SIZES, tuple(first), tuple(further))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--spots", nargs="+", default=["F1", "T"])
    parser.add_argument("--checked", nargs="+", type=int, default=[1, 2], help="workers to run, 1 first")
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--to", type=Path, help="save the curves here")
    parser.add_argument("--json", type=Path, help="save the numbers here")
    parser.add_argument("--drawn", type=Path, metavar="FILE", help="run nothing; draw the numbers that --json saved")
    given = parser.parse_args()
    kept: dict[str, Any] = {}
    if given.drawn:
        draw(by_nodes(json.loads(given.drawn.read_text())["spots"]), given.to)
        return
    with started(max(given.checked)) as module:
        here = wire_of(module, given.repeats)
        away = here._replace(latency=LATENCY, bandwidth=BANDWIDTH)
        for size, first, further in zip(here.sizes, here.first, here.further, strict=True):
            print(f"a pass that answers {size:,} bytes: {1e3 * first:.2f} ms, {1e3 * further:.2f} per further worker")
        print()
        print(
            "| spot | nodes | simulated here, s/iteration | measured | processor of a worker | 10 Gbit/s | times one |"
        )
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for name in given.spots:
            game = game_of(name)
            speed, found, spent = measured(module, game, here, given.checked, given.repeats)
            curve = {nodes: simulated(game, nodes, speed, away) for nodes in sorted({*NODES, *given.checked})}
            near = {nodes: simulated(game, nodes, speed, here) for nodes in given.checked}
            for nodes, away_seconds in curve.items():
                cells = [f"{each[nodes]:.4f}" if nodes in near else "" for each in (near, found, spent)]
                row = [name, str(nodes), *cells, f"{away_seconds:.4f}", f"{curve[1] / away_seconds:.1f}"]
                print(f"| {' | '.join(row)} |", flush=True)
            kept[name] = {
                "measured": found,
                "processor": spent,
                "here": near,
                "ethernet": curve,
                "speed": speed._asdict(),
            }
    if given.json:
        wire = {"sizes": here.sizes, "first": here.first, "further": here.further}
        given.json.write_text(json.dumps({"wire": wire, "spots": kept}, indent=1))
    if given.to:
        draw(kept, given.to)


def by_nodes(spots: dict[str, Any]) -> dict[str, Any]:
    """As they were before they were saved: JSON has no whole numbers as keys."""
    curves = ("measured", "here", "ethernet")
    return {name: {key: {int(n): x for n, x in each[key].items()} for key in curves} for name, each in spots.items()}


def draw(kept: dict[str, Any], path: Path) -> None:
    mpl.use("Agg")
    from matplotlib import pyplot as plt

    figure, axes = plt.subplots(1, len(kept), figsize=(5.2 * len(kept), 4), squeeze=False)
    for axis, (name, each) in zip(axes[0], kept.items(), strict=True):
        nodes = [int(n) for n in each["ethernet"]]
        axis.loglog(nodes, list(each["ethernet"].values()), "-", color="tab:blue", label="simulated, 10 Gbit/s")
        axis.loglog(nodes, [each["ethernet"][nodes[0]] / n for n in nodes], ":", color="grey", label="if all were free")
        axis.loglog(*zip(*each["here"].items(), strict=True), "x", color="tab:orange", label="simulated here")
        axis.loglog(*zip(*each["measured"].items(), strict=True), "o", mfc="none", color="black", label="measured here")
        axis.set_title(f"{name}: an iteration of CFR+, one thread per node")
        axis.set_xlabel("nodes")
        axis.set_ylabel("seconds")
        shown = [n for n in nodes if n & (n - 1) == 0]  # powers of two
        axis.set_xticks(shown, [str(n) for n in shown])
        axis.minorticks_off()
        axis.legend()
    figure.tight_layout()
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
