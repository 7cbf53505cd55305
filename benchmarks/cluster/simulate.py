"""How long an iteration takes over N nodes: a simulation, checked against runs on this machine.

    python benchmarks/cluster/simulate.py [--spots F1 T] [--repeats 30] [--to docs/images/cluster.png] [--json FILE]

Measured here: seconds of the trunk's phases, seconds of a worker's part of a pass, what a call of Ray takes, and how
fast arrays go through it. Simulated from these: passes are synchronous, so a pass takes the trunk's phases, one call,
the bytes of all workers over the trunk's wire, and the slowest worker. Boards are cut as ``algorithms.cut.session``
cuts them. Checked: runs with 1 and 2 workers (as many as this machine has cores). Of other machines the wire is
assumed. Times are the least of all repeats, as on a machine with nothing else to do.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any, NamedTuple

import matplotlib as mpl
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from measured import game_of, least, over, processor_seconds, seconds, started

from treeplex.algorithms.cut.board_plan import exchanged
from treeplex.algorithms.cut.session import split
from treeplex.engines.boards.cut import Run, board_work
from treeplex.engines.boards.game import HoldemGame

NODES = (1, 2, 4, 8, 16, 32, 36, 48, 64)
CHECKED = (1, 2)


class Wire(NamedTuple):
    """Between the trunk and all nodes."""

    call: float  # seconds that a call takes, without any bytes
    bandwidth: float  # bytes per second, of all nodes together: the trunk has one wire


class Speed(NamedTuple):
    """Of one node, of one thread."""

    trunk: float  # seconds of the trunk's phases of both passes
    number: float  # seconds of an iteration per number kept


ETHERNET = Wire(0.0, 10e9 / 8)  # assumed: 10 Gbit/s; a call is what was measured here and a tenth of a millisecond more


def simulated(game: HoldemGame, nodes: int, speed: Speed, wire: Wire) -> float:
    """Seconds of an iteration."""
    work = board_work(game)
    runs = [Run(*each) for each in split(work, nodes)]
    slowest = max(int(work[begin:end].sum()) for begin, end in runs)
    sent = sum(exchanged(game, runs, "float32", player) for player in (0, 1))
    return speed.trunk + 2 * wire.call + sent / wire.bandwidth + slowest * speed.number


def measured(module: Any, game: HoldemGame, repeats: int) -> tuple[Speed, dict[int, float], dict[int, float]]:
    """Speeds on one worker; seconds of an iteration over as many as there are cores; processor seconds of a worker."""
    found: dict[int, float] = {}
    trunk: dict[int, float] = {}
    spent: dict[int, float] = {}
    speed = Speed(0.0, 0.0)
    for workers in CHECKED:
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
            pairs = [a + b for a, b in zip(waited[::2], waited[1::2], strict=True)]
            trunk[workers] = max(found[workers] - least(pairs), 0.0)
            if workers == 1:
                numbers = float(board_work(game).sum())
                speed = Speed(trunk[1], (found[1] - trunk[1]) / numbers)
    return speed, found, spent


def wire_of(module: Any, repeats: int) -> Wire:
    """What a call of Ray takes here, and how fast arrays go there and back."""

    class Echo:
        def call(self, array: Any) -> Any:
            return array.copy()

    actor = module.remote(Echo).options(num_cpus=1).remote()
    times: dict[int, float] = {}
    for size in (2**10, 2**24):
        array = np.zeros(size, np.uint8)
        module.get(actor.call.remote(array))
        each: list[float] = []
        for _ in range(3 * repeats):
            began = time.perf_counter()
            np.copyto(array, module.get(actor.call.remote(module.put(array))))
            each.append(time.perf_counter() - began)
        times[size] = least(each)
    module.kill(actor)
    small, large = times
    return Wire(times[small], 2 * large / max(times[large] - times[small], 1e-9))


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--spots", nargs="+", default=["F1", "T"])
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--to", type=Path, help="save the curves here")
    parser.add_argument("--json", type=Path, help="save the numbers here")
    given = parser.parse_args()
    kept: dict[str, Any] = {}
    with started(max(CHECKED)) as module:
        here = wire_of(module, given.repeats)
        away = Wire(here.call + 1e-4, ETHERNET.bandwidth)
        print(f"a call of Ray here: {1e3 * here.call:.2f} ms; arrays there and back: {here.bandwidth / 1e9:.2f} GB/s\n")
        print(
            "| spot | nodes | simulated here, s/iteration | measured | processor of a worker | 10 Gbit/s | times one |"
        )
        print("| --- | --- | --- | --- | --- | --- | --- |")
        for name in given.spots:
            game = game_of(name)
            speed, found, spent = measured(module, game, given.repeats)
            speed = speed._replace(number=max(speed.number - 2 * here.call / float(board_work(game).sum()), 0.0))
            curve = {nodes: simulated(game, nodes, speed, away) for nodes in NODES}
            near = {nodes: simulated(game, nodes, speed, here) for nodes in CHECKED}
            for nodes in NODES:
                cells = [f"{each[nodes]:.4f}" if nodes in near else "" for each in (near, found, spent)]
                row = [name, str(nodes), *cells, f"{curve[nodes]:.4f}", f"{curve[1] / curve[nodes]:.1f}"]
                print(f"| {' | '.join(row)} |", flush=True)
            kept[name] = {
                "measured": found,
                "processor": spent,
                "here": near,
                "ethernet": curve,
                "speed": speed._asdict(),
            }
    if given.json:
        given.json.write_text(json.dumps({"call": here.call, "bandwidth": here.bandwidth, "spots": kept}, indent=1))
    if given.to:
        draw(kept, given.to)


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
