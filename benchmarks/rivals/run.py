"""treeplex, OpenSpiel and LiteEFG side by side, in one run: ``.venv/bin/python benchmarks/rivals/run.py``.

Writes results.json (everything, every round) and RESULTS.md (the tables) next to this file. See ../README.md.
"""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
import time
import venv
from contextlib import ExitStack
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, NamedTuple, Self

from report import write

HERE = Path(__file__).resolve().parent
RIVALS = HERE / ".venv"
SIDES = ("treeplex", "openspiel", "liteefg")
ALGORITHMS = ("cfr", "cfr+")
ROUNDS = 5
SPRINT = 0.6  # seconds per side and round
EQUAL = 1e-9  # NashConv of two sides may differ by this

TARGETS = (1e-3, 1e-4)  # NashConv
STRIDE = 10  # iterations between looks at NashConv on the way to a target
RACES = 3  # the first of them is the one that looks


class Duel(NamedTuple):
    """A game as either library knows it."""

    name: str
    ours: str
    theirs: str
    checked: tuple[int, ...] = (1, 2, 10)  # iterations after which NashConv is compared
    alike: tuple[int, int] = (10, 10)  # up to here it must equal OpenSpiel's, LiteEFG's; see RESULTS.md on goofspiel


def goofspiel(cards: int) -> str:
    rules = f"goofspiel(imp_info=True,num_cards={cards},points_order=descending)"
    return f"turn_based_simultaneous_game(game={rules})"


DUELS = (
    Duel("kuhn_poker", "kuhn", "kuhn_poker"),
    Duel("leduc_poker", "leduc(suits=true)", "leduc_poker"),
    Duel("liars_dice, 4 sides", "liars_dice(sides=4)", "liars_dice(dice_sides=4)"),
    Duel("liars_dice, 6 sides", "liars_dice(sides=6)", "liars_dice(dice_sides=6)", checked=(10,)),
    Duel("goofspiel, 4 cards", "goofspiel(cards=4)", goofspiel(4), alike=(2, 1)),
    Duel("goofspiel, 5 cards", "goofspiel(cards=5)", goofspiel(5), alike=(2, 1)),
)
LEDUC = DUELS[1]


class Worker:
    """A side in a process of its own; ``worker.advance(iterations=10)`` asks it and waits for the answer."""

    def __init__(self, side: str) -> None:
        home = {} if side == "treeplex" else {"HOME": str(RIVALS / "home")}
        python = sys.executable if side == "treeplex" else str(RIVALS / "bin" / "python")
        command = [python, str(HERE / "worker.py"), f"side_{side}"]
        self._side = side
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, env=os.environ | home
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._process.stdin.close()
        self._process.wait()

    def __getattr__(self, method: str) -> Any:
        def ask(**arguments: Any) -> Any:
            print(json.dumps({"do": method} | arguments), file=self._process.stdin, flush=True)
            answer = self._process.stdout.readline()
            if not answer:
                raise RuntimeError(f"The {self._side} worker died in {method}({arguments}).")
            return json.loads(answer)

        return ask


def environment() -> None:
    """The rivals' own virtual environment, made on first use."""
    wanted = (HERE / "requirements.txt").read_text()
    stamp = RIVALS / "installed.txt"
    if stamp.exists() and stamp.read_text() == wanted:
        return
    say("installing the rivals (minutes)")
    venv.create(RIVALS, clear=True, symlinks=True, with_pip=True)
    pip = [str(RIVALS / "bin" / "python"), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    subprocess.run([*pip, "-r", str(HERE / "requirements.txt")], check=True)
    (RIVALS / "home").mkdir(exist_ok=True)
    stamp.write_text(wanted)


def duel(game: Duel) -> dict[str, Any]:
    """Check that it is the same game and the same algorithm, then time all sides, round by round."""
    with ExitStack() as stack:
        workers = {side: stack.enter_context(Worker(side)) for side in SIDES}
        say(f"{game.name}: loading")
        sizes = {side: workers[side].load(game=game.ours if side == "treeplex" else game.theirs) for side in SIDES}
        if sizes["treeplex"] != sizes["openspiel"]:
            raise RuntimeError(f"{game.name} is not the same game: {sizes}")
        say(f"{game.name}: comparing iterates")
        checks = {algorithm: compare(workers, game, algorithm) for algorithm in ALGORITHMS}
        say(f"{game.name}: timing")
        rounds = {algorithm: timings(workers, algorithm) for algorithm in ALGORITHMS}
    return {
        "game": game.name,
        "specs": {"treeplex": game.ours, "openspiel": game.theirs, "liteefg": game.theirs},
        **sizes["treeplex"],
        "nash_conv": checks,
        "rounds": rounds,
        "seconds_per_iteration": {
            algorithm: {side: min(times) for side, times in by_side.items()} for algorithm, by_side in rounds.items()
        },
    }


def compare(workers: dict[str, Worker], game: Duel, algorithm: str) -> list[dict[str, Any]]:
    """NashConv of all sides after the same iterations; treeplex also plays LiteEFG's variant."""
    for worker in workers.values():
        worker.start(algorithm=algorithm)
    rows, done = [], 0
    for t in game.checked:
        row = {"iteration": t}
        for side, worker in workers.items():
            worker.advance(iterations=t - done)
            row[side] = worker.nash_conv()
        row["treeplex_as_liteefg"] = workers["treeplex"].liteefg_nash_conv(algorithm=algorithm, iterations=t)
        rows.append(row)
        done = t
        differences = (row["treeplex"] - row["openspiel"], row["treeplex_as_liteefg"] - row["liteefg"])
        if any(t <= upto and abs(gap) > EQUAL for upto, gap in zip(game.alike, differences, strict=True)):
            raise RuntimeError(f"{game.name}, {algorithm}: the sides differ after {t} iterations: {row}")
    return rows


def timings(workers: dict[str, Worker], algorithm: str) -> dict[str, list[float]]:
    """Seconds per iteration in each round: every side from its start, one after the other, the first one rotating."""
    seconds: dict[str, list[float]] = {side: [] for side in workers}
    for number in range(ROUNDS):
        for side in rotated(number):
            workers[side].start(algorithm=algorithm)
            seconds[side].append(workers[side].sprint(seconds=SPRINT))
    return seconds


def race() -> list[dict[str, Any]]:
    """CFR+ on leduc_poker to each target: how many iterations that takes, and how long those take."""
    with ExitStack() as stack:
        workers = {side: stack.enter_context(Worker(side)) for side in SIDES}
        for side, worker in workers.items():
            worker.load(game=LEDUC.ours if side == "treeplex" else LEDUC.theirs)
        say("race to the targets: counting iterations")
        looks = {side: look(worker) for side, worker in workers.items()}
        runs = {side: [[goal["clock"] for goal in goals]] for side, goals in looks.items()}
        say("race to the targets: timing")
        for number in range(1, RACES):
            for side in rotated(number):
                runs[side].append(rerun(workers[side], [goal["iterations"] for goal in looks[side]]))
    return [
        {
            "nash_conv": target,
            **{
                side: {
                    "iterations": looks[side][k]["iterations"],
                    "nash_conv": looks[side][k]["nash_conv"],
                    "seconds": min(clocks[k]["cpu"] for clocks in runs[side]),
                    "rounds": [clocks[k] for clocks in runs[side]],
                }
                for side in SIDES
            },
        }
        for k, target in enumerate(TARGETS)
    ]


def look(worker: Worker) -> list[dict[str, Any]]:
    """For each target the iterations done, the NashConv and the clock then, looking every ``STRIDE`` iterations."""
    worker.start(algorithm="cfr+")
    done, nash_conv, clock, goals = 0, float("inf"), {"cpu": 0.0, "wall": 0.0}, []
    for target in TARGETS:
        while nash_conv > target:
            clock = plus(clock, worker.timed(iterations=STRIDE))
            done += STRIDE
            nash_conv = worker.nash_conv()
        goals.append({"iterations": done, "nash_conv": nash_conv, "clock": clock})
    return goals


def rerun(worker: Worker, iterations: list[int]) -> list[dict[str, float]]:
    """The clock after each of these numbers of iterations, from a new start."""
    worker.start(algorithm="cfr+")
    done, clock, clocks = 0, {"cpu": 0.0, "wall": 0.0}, []
    for goal in iterations:
        clock = plus(clock, worker.timed(iterations=goal - done))
        done = goal
        clocks.append(clock)
    return clocks


def plus(clock: dict[str, float], more: dict[str, float]) -> dict[str, float]:
    return {kind: clock[kind] + more[kind] for kind in clock}


def whole_process() -> dict[str, Any]:
    """The command line in a new process, from nothing to NashConv 1e-4: wall clock, kernels already on disk."""
    options = ["solve", LEDUC.ours, "--algorithm", "cfr+", "--nash-conv", str(TARGETS[-1]), "--no-save", "--json"]
    rounds = []
    for _ in range(ROUNDS + 1):  # the first one fills the cache
        began = time.perf_counter()
        command = [str(Path(sys.executable).with_name("treeplex")), *options]
        done = subprocess.run(command, check=True, capture_output=True, text=True)
        rounds.append(time.perf_counter() - began)
    result = json.loads(done.stdout.splitlines()[-1])
    kept = {key: result[key] for key in ("iterations", "nash_conv", "status")}
    shown = " ".join(["treeplex", *(f'"{word}"' if "(" in word else word for word in options)])
    return {"command": shown, "seconds": min(rounds[1:]), "rounds": rounds[1:], "solving": result["seconds"], **kept}


def machine() -> dict[str, Any]:
    cpuinfo = Path("/proc/cpuinfo")
    models = [line for line in cpuinfo.read_text().splitlines() if "model name" in line] if cpuinfo.exists() else []
    model = models[0].partition(":")[2].strip() if models else platform.processor()
    return {"cpu": model, "cores": os.cpu_count(), "system": platform.system(), "python": platform.python_version()}


def versions() -> dict[str, str]:
    found: dict[str, str] = {}
    for side in SIDES:
        with Worker(side) as worker:
            found |= worker.versions()
    return found


def source() -> str:
    with Worker("treeplex") as worker:
        return worker.source()


def unchanged(before: str) -> None:
    if source() != before:
        raise RuntimeError("The source of treeplex changed during the run; run again when it does not.")


def rotated(number: int) -> tuple[str, ...]:
    start = number % len(SIDES)
    return SIDES[start:] + SIDES[:start]


def say(text: str) -> None:
    print(f"{time.strftime('%H:%M:%S')} {text}", file=sys.stderr)


def main() -> None:
    environment()
    began, load, fingerprint = time.perf_counter(), [os.getloadavg()[0]], source()
    results = {
        "date": datetime.now(UTC).date().isoformat(),
        "machine": machine(),
        "versions": versions(),
        "source": fingerprint,
        "games": [],
    }
    for game in DUELS:
        results["games"].append(duel(game))
        unchanged(fingerprint)
    results |= {"race": race(), "whole_process": whole_process()}
    unchanged(fingerprint)
    load.append(os.getloadavg()[0])
    results |= {"seconds": time.perf_counter() - began, "load_average": load}
    results |= {"rounds": ROUNDS, "sprint": SPRINT, "races": RACES}
    (HERE / "results.json").write_text(json.dumps(results, indent=1) + "\n")
    write(results)
    say(f"done in {results['seconds']:.0f} s: results.json, RESULTS.md")


if __name__ == "__main__":
    main()
