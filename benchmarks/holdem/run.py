"""treeplex and postflop-solver (Rust) on the same spots, taking turns in one run.

    python benchmarks/holdem/run.py SPOTS.json [--spots R,T,TB] [--rival BINARY] [--repeats 2] [--targets 0.5,0.1]

SPOTS.json has the spots (tests/holdem/spots.json will do). Without --rival only treeplex runs. To build the rival:
put ``rival/main.rs`` into ``examples/bench.rs`` of a checkout of postflop-solver and run
``RUSTFLAGS="-C target-cpu=native" cargo build --release --example bench``; the binary is
``target/release/examples/bench``.

Both sides look at exploitability every ten iterations, each with its own best response. Seconds are wall clock from the
first iteration to the look that meets the target, looks included; the best of the repeats is kept, and processor
seconds beside it, because other work on the machine disturbs those less.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import resource
import subprocess
import time
from pathlib import Path

from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.api import DEFAULT_SPOT_ALGORITHM
from treeplex.holdem import load_spot, make_spot

MOST = 2000


def ours(spot, storage: str, threads: int, targets: list[float]) -> dict:
    game = load_spot(spot)
    solver = build(DEFAULT_SPOT_ALGORITHM).open(game, Execution(storage=storage, threads=threads))
    warm = solver.start(game)
    solver.report(game, solver.advance(game, warm, 1), "average").evaluate()  # kernels are read from disk here
    state = solver.start(game)
    found: dict = {"bytes": game.stored(storage), "targets": {}}
    began, used, iterating = time.perf_counter(), time.process_time(), 0.0
    while state.iteration < MOST and len(found["targets"]) < len(targets):
        start = time.perf_counter()
        state = solver.advance(game, state, 10)
        iterating += time.perf_counter() - start
        percent = 100.0 * solver.report(game, state, "average").evaluate().exploitability / spot.pot
        for target in targets:
            if percent <= target and str(target) not in found["targets"]:
                seconds, cpu = time.perf_counter() - began, time.process_time() - used
                found["targets"][str(target)] = {"iterations": state.iteration, "seconds": seconds, "cpu": cpu}
    found["milliseconds_an_iteration"] = 1000.0 * iterating / state.iteration
    return found


def theirs(spot, storage: str, threads: int, targets: list[float], binary: str) -> dict:
    sizes = spot.sizes[spot.streets[-1]]["oop"]
    arguments = [
        spot.board,
        str(spot.pot),
        str(spot.effective_stack),
        spot.oop_range,
        spot.ip_range,
        sizes["bet"],
        sizes["raise"],
        spot.donk_sizes.get("river", "-"),
        str(spot.add_allin_threshold),
        str(spot.force_allin_threshold),
        str(spot.merging_threshold),
        str(int(storage == "int16")),
        str(min(targets)),
        str(MOST),
    ]
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    environment = os.environ | {"RAYON_NUM_THREADS": str(threads)}
    lines = subprocess.run([binary, *arguments], env=environment, capture_output=True, text=True, check=True).stdout
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    looks = [json.loads(line) for line in lines.splitlines()]
    cpu = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    found: dict = {"bytes": looks[-1]["bytes"], "targets": {}}
    for target in targets:
        met = [look for look in looks if look["percent"] <= target]
        if met:
            share = met[0]["iteration"] / looks[-1]["iteration"]
            found["targets"][str(target)] = {
                "iterations": met[0]["iteration"],
                "seconds": met[0]["seconds"],
                "cpu": cpu * share,
            }
    found["milliseconds_an_iteration"] = 1000.0 * looks[-1]["iterating"] / looks[-1]["iteration"]
    return found


def best(first: dict | None, second: dict) -> dict:
    """The better of two runs, number by number; iterations are the same in both."""
    if first is None:
        return second
    merged = dict(second)
    merged["milliseconds_an_iteration"] = min(first["milliseconds_an_iteration"], second["milliseconds_an_iteration"])
    merged["targets"] = {
        target: {key: min(numbers[key], first["targets"][target][key]) for key in numbers}
        for target, numbers in second["targets"].items()
    }
    return merged


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("spots_file")
    parser.add_argument("--spots", default="R,T,TB,F1")
    parser.add_argument("--rival")
    parser.add_argument("--repeats", type=int, default=2)
    parser.add_argument("--targets", default="0.5,0.1")
    parser.add_argument("--threads", default="1,2")
    parser.add_argument("--storage", default="float32,int16")
    parser.add_argument("--out", default=str(Path(__file__).parent / "results.json"))
    options = parser.parse_args()
    spots = json.loads(Path(options.spots_file).read_text())["spots"]
    targets = [float(target) for target in options.targets.split(",")]
    path = Path(options.out)
    runs: list[dict] = json.loads(path.read_text())["runs"] if path.exists() else []
    for name in options.spots.split(","):
        spot = make_spot(spots[name])
        for threads in map(int, options.threads.split(",")):
            for storage in options.storage.split(","):
                sides: dict = {"treeplex": None, "postflop-solver": None}
                for _ in range(options.repeats):
                    sides["treeplex"] = best(sides["treeplex"], ours(spot, storage, threads, targets))
                    if options.rival:
                        rival = theirs(spot, storage, threads, targets, options.rival)
                        sides["postflop-solver"] = best(sides["postflop-solver"], rival)
                row = {"spot": name, "threads": threads, "storage": storage, "load": os.getloadavg()[0], "sides": sides}
                key = (name, threads, storage)
                runs = [old for old in runs if (old["spot"], old["threads"], old["storage"]) != key] + [row]
                print(line(row), flush=True)
                about = {"machine": platform.processor() or platform.machine(), "cores": os.cpu_count()}
                path.write_text(json.dumps({"about": about, "runs": runs}, indent=1) + "\n")


def line(row: dict) -> str:
    parts = [f"{row['spot']:3} {row['threads']} {row['storage']:7} load {row['load']:.1f}"]
    us, them = row["sides"]["treeplex"], row["sides"]["postflop-solver"]
    for target, numbers in us["targets"].items():
        text = f"{target}%: {numbers['iterations']} in {numbers['seconds']:.3f} s (cpu {numbers['cpu']:.3f})"
        if them and target in them["targets"]:
            other = them["targets"][target]
            text += f" / {other['iterations']} in {other['seconds']:.3f} s (cpu {other['cpu']:.3f})"
            text += f" = {other['seconds'] / numbers['seconds']:.2f}x, cpu {other['cpu'] / numbers['cpu']:.2f}x"
        parts.append(text)
    return "   ".join(parts)


if __name__ == "__main__":
    main()
