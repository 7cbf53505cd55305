"""`auto` against the best of the named algorithms, in seconds on one thread, to three accuracies.

    .venv/bin/python benchmarks/auto.py --save-games DIR                 # for a machine without OpenSpiel
    .venv/bin/python benchmarks/auto.py --games DIR --processes 15 --minutes 5
    .venv/bin/python benchmarks/auto.py --games DIR --processes 15 --minutes 5 --again   # auto alone, once more
    .venv/bin/python benchmarks/auto.py --games DIR --processes 8 --beside 3             # beside the best, in turns
    .venv/bin/python benchmarks/auto.py --table                          # write the table again

Accuracies are shares of the uniform policy's NashConv. To find the best algorithm, all candidates run with the same
time limit, four times as long each round, until one has reached every accuracy: the others cannot be better. Whoever is
a hundred times further off than the best at one limit is left out from the next one on. Then `auto` runs to each
accuracy. Seconds are those of the run loop: evaluations included, compilation of kernels not.

Seconds of one session may be half as many again as those of another. So in the end `--beside` runs `auto` and the best
named algorithms of each case once more, in turns and in the same pool; where that was done, the table has the least
seconds of these runs on both sides. Seconds of `cfr+` are those of the session before; to compare, they are multiplied
by what the best needs in one and in the other.

`--minutes` ends it in time, short runs first; the same command then goes on where it ended, from the JSON file. Every
process solves on one thread. The games in UNTOUCHED were set aside before anything was tuned; `--only` leaves them out.
"""

from __future__ import annotations

import argparse
import gzip
import json
import math
import multiprocessing
import os
import sys
import time
from collections.abc import Iterator
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parent / "portfolio"))

from games import CATALOG, OPENSPIEL, UNTOUCHED

HERE = Path(__file__).parent
TARGETS = (1e-3, 1e-5, 1e-8)
LIMITS = (0.5, 2.0, 8.0, 32.0, 120.0)  # seconds
HOPELESS = 100.0
CANDIDATES = (
    "cfr+",
    "dcfr",
    "lcfr",
    "pcfr+",
    "pdcfr+",
    "lp",
    "sapcfr+",
    "hs-dcfr",
    "hs-pcfr+",
    "cfr+-restarted",
    "pcfr+-restarted",
    "mirror-prox-restarted",
    "cfr+-hybrid",
    "cfr-hybrid",
    "egt",
    "omd",
    "warm-start",
    "mccfr-external",
    "pure-mccfr",
    "apcfr+",
    "stable-pcfr+",
    "smooth-pcfr+",
)
WIDE = 44  # letters of a game's name in the table
RIVAL = "cfr+"  # what `auto` is compared with, beside the best
RIVALS = 3  # named algorithms that run beside `auto`, if they take at most twice as long as the best
LONG = 5.0  # seconds: cases whose best takes longer are run once
PATIENCE = 4.0  # times the best's seconds, after which `auto` is given up
ENOUGH = 10.0  # times the best's seconds, after which the rival is
SHORTEST = 0.1  # seconds: cases in which the best algorithm needs less are left out


# What a worker does -------------------------------------------------------------------------------------------------

_LOADED: dict[str, Any] = {}


def loaded(path: str) -> tuple[Any, float]:
    """The game and its uniform policy's NashConv; the last one is kept."""
    import treeplex as tp
    from treeplex.algorithms.registry import build
    from treeplex.evaluation.exact import evaluate_strategies

    if path not in _LOADED:
        _LOADED.clear()
        game, rule = tp.load(path), build("cfr")
        _LOADED[path] = game, evaluate_strategies(game, rule.report(game, rule.start(game), "current").arrays).nash_conv
    return _LOADED[path]


def solved(path: str, name: str, targets: list[float], limit: float) -> dict[str, Any]:
    """Seconds to each accuracy, one after the other in one run; those that took too long are missing."""
    from treeplex.algorithms.protocol import Execution
    from treeplex.algorithms.registry import build
    from treeplex.errors import TreeplexError
    from treeplex.limits import Limits
    from treeplex.runs.checkpoint import Checkpoint
    from treeplex.runs.loop import run
    from treeplex.runs.schema import Options

    game, uniform = loaded(path)
    reached: dict[str, float] = {}
    told: dict[str, Any] = {"seconds": reached, "limit": limit, "share": math.inf, "nodes": game.nodes}
    if not uniform > 0.0:
        return told | {"error": "the uniform policy is an equilibrium"}
    try:
        point: Any = None
        for target in targets:
            solver: Any = build(name).open(game, Execution(threads=1, limits=Limits(target * uniform)))
            if name != "lp":  # kernels: compiled or read from the cache
                solver.advance(game, solver.start(game), 3)
            spent = 0.0 if point is None else point.seconds
            options = Options(nash_conv=target * uniform, seconds=max(limit - spent, 0.0), threads=1)
            found = run(game, solver, options, point)
            told["share"], told["iterations"] = found.evaluation.nash_conv / uniform, found.work.iterations
            if name == "auto":
                told["note"] = found.report.extras(found.evaluation).summary()
            if solver.work(game, found.state).finished:
                return told | {"seconds": reached | {f"{t:g}": found.seconds for t in targets if told["share"] <= t}}
            if found.status != "solved":
                break
            reached[f"{target:g}"] = found.seconds
            point = Checkpoint(found.state, found.rows, found.seconds, 0.0)
    except TreeplexError as error:
        told["error"] = str(error)
    return told


# Which work is left ---------------------------------------------------------------------------------------------------


def key(name: str, algorithm: str, limit: float) -> str:
    return f"{name} | {algorithm} | {limit:g}"


class Cells:
    """What is known so far."""

    def __init__(self, path: Path, candidates: tuple[str, ...], longest: float, alone: bool) -> None:
        self.path, self.candidates, self.alone = path, candidates, alone
        self.limits = [limit for limit in LIMITS if limit <= longest]
        self.known: dict[str, Any] = json.loads(path.read_text()) if path.exists() else {}

    def keep(self, name: str, answer: dict[str, Any]) -> None:
        self.known[name] = answer
        text = json.dumps(self.known, indent=1, default=str).replace("Infinity", "null")
        temporary = self.path.with_suffix(".tmp")
        temporary.write_text(text + "\n")
        temporary.replace(self.path)

    def open_targets(self, game: str, limit: float) -> list[float]:
        """Accuracies that nobody has reached below ``limit``."""
        earlier = [
            self.known.get(key(game, one, own), {}) for one in self.candidates for own in self.limits if own < limit
        ]
        return [target for target in TARGETS if not any(f"{target:g}" in one.get("seconds", {}) for one in earlier)]

    def best(self, game: str, target: float, names: tuple[str, ...] | None = None) -> tuple[float, str]:
        """The least seconds to an accuracy, and whose."""
        found = [
            (self.known[at]["seconds"][f"{target:g}"], one)
            for one in names or self.candidates
            for limit in self.limits
            if (at := key(game, one, limit)) in self.known and f"{target:g}" in self.known[at]["seconds"]
        ]
        return min(found, default=(math.inf, ""))

    def ranked(self, game: str, target: float) -> list[tuple[float, str]]:
        """Seconds of all named algorithms to an accuracy, the least first."""
        found = [(self.best(game, target, (one,))[0], one) for one in self.candidates]
        return sorted(one for one in found if one[0] < math.inf)

    def beside(self, game: str, target: float, names: tuple[str, ...]) -> tuple[float, str] | None:
        """The least seconds of runs side by side, and whose; infinite: not done in time; None: there are none."""
        cells = [(self.known.get(f"{game} | {one} | beside {target:g}"), one) for one in names]
        taken = [(math.inf if each is None else each, one) for cell, one in cells if cell for each in cell["all"]]
        return min(taken, default=None)

    def work(self, game: str) -> Iterator[tuple[str, list[float], float]]:
        """What may be done now for a game: algorithm, accuracies, limit."""
        settled = list(TARGETS)  # accuracies whose best algorithm is known
        for place, limit in enumerate([] if self.alone else self.limits):
            left = self.open_targets(game, limit)
            waiting = [one for one in self._still(game, place) if key(game, one, limit) not in self.known]
            if left and waiting:
                yield from ((one, list(TARGETS), limit) for one in waiting)
                settled = [target for target in TARGETS if target not in left]
            if waiting or not left:
                break
        for target in settled:
            best, _ = self.best(game, target)
            if best < math.inf and key(game, "auto", target) not in self.known:
                yield "auto", [target], min(max(PATIENCE * best, 1.0), 2.0 * self.limits[-1])
            slow = SHORTEST <= best < math.inf and math.isinf(self.best(game, target, (RIVAL,))[0])
            tried = max((own for own in self.limits if key(game, RIVAL, own) in self.known), default=0.0)
            if slow and not self.alone and tried < min(ENOUGH * best, self.limits[-1]):
                yield RIVAL, list(TARGETS), self.limits[-1]  # to say how much longer it takes

    def _still(self, game: str, place: int) -> list[str]:
        """Who is not hopeless and not done."""
        if place == 0:
            return list(self.candidates)
        last = {one: self.known.get(key(game, one, self.limits[place - 1])) for one in self._still(game, place - 1)}
        shares = {one: found["share"] for one, found in last.items() if found and found.get("share") is not None}
        bar = HOPELESS * max(min(shares.values(), default=math.inf), 1e-12)
        done = [one for one, found in last.items() if found and len(found["seconds"]) == len(TARGETS)]
        if any(found and "error" in found and "uniform" in found["error"] for found in last.values()):
            return []
        return [one for one in last if one not in done and (shares.get(one, math.inf) <= bar or one == "lp")]


def measure(cells: Cells, games: dict[str, str], processes: int, minutes: float) -> None:
    """Everything that is left, for so many minutes."""
    ends = time.monotonic() + 60.0 * minutes
    context = multiprocessing.get_context("spawn")
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[variable] = "1"
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        flying: dict[Future[dict[str, Any]], str] = {}
        while True:
            every = ((name, *work) for name in games for work in cells.work(name))
            for name, algorithm, targets, limit in sorted(every, key=lambda one: one[-1]):  # short ones first
                at = key(name, algorithm, targets[0] if algorithm == "auto" else limit)
                fits = time.monotonic() + limit < ends
                if at not in flying.values() and fits and len(flying) < processes:
                    flying[pool.submit(solved, games[name], algorithm, targets, limit)] = at
            if not flying:
                return
            done, _ = wait(flying, return_when=FIRST_COMPLETED)
            for future in done:
                at = flying.pop(future)
                try:
                    answer = future.result()
                except Exception as error:
                    answer = {"seconds": {}, "limit": 0.0, "share": math.inf, "error": repr(error)}
                cells.keep(at, answer)
                print(f"{at}: {answer['seconds']} {answer.get('error', '')}", flush=True)


def measure_beside(cells: Cells, games: dict[str, str], processes: int, minutes: float, rounds: int) -> None:
    """In each round `auto` and the best of the named algorithms, of all cases in which `auto` was measured."""
    ends = time.monotonic() + 60.0 * minutes
    work: list[tuple[int, float, str, str, float]] = []
    for name in games:
        for target in TARGETS:
            ranked = cells.ranked(name, target)
            if not ranked or ranked[0][0] < SHORTEST:
                continue
            rivals = [one for seconds, one in ranked[:RIVALS] if seconds <= 2.0 * ranked[0][0]]
            count = rounds if ranked[0][0] < LONG else 1
            work += [(k, -ranked[0][0], name, one, target) for k in range(count) for one in (*rivals, "auto")]
    context = multiprocessing.get_context("spawn")
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[variable] = "1"
    with ProcessPoolExecutor(processes, mp_context=context) as pool:
        flying: dict[Future[dict[str, Any]], str] = {}
        left = sorted(work)  # long ones first
        while left or flying:
            while left and len(flying) < processes:
                _, best, name, one, target = left.pop(0)
                limit = min(max(-PATIENCE * best, 1.0), 2.0 * LIMITS[-1])
                if time.monotonic() + limit < ends:
                    at = f"{name} | {one} | beside {target:g}"
                    flying[pool.submit(solved, games[name], one, [target], limit)] = at
            if flying:
                done, _ = wait(flying, return_when=FIRST_COMPLETED)
                for future in done:
                    at, answer = flying.pop(future), future.result()
                    before = cells.known.get(at, {"all": []})
                    taken = [*before["all"], answer["seconds"].get(at.rpartition(" ")[2])]
                    by = answer.get("note", {}).get("solved_by", "")
                    cells.keep(at, {"all": taken, "limit": answer["limit"], "solved_by": by})
                    print(f"{at}: {taken}", flush=True)


# The table ------------------------------------------------------------------------------------------------------------


def table(cells: Cells, names: list[str]) -> str:
    """In Markdown."""
    lines = [
        "# `auto` against the best of the named algorithms\n",
        "Seconds on one thread, written by `python benchmarks/auto.py`, which says how they were taken.\n",
        "| game | accuracy | best | seconds | `auto` | seconds | ratio | cfr+ |",
        "| --- | --- | --- | --- | --- | --- | --- | --- |",
    ]
    ratios: dict[bool, list[float]] = {False: [], True: []}  # infinite where `auto` was not done in time
    gains: list[float] = []
    for name in names:
        for target in TARGETS:
            seconds, best = cells.best(name, target)
            own = cells.known.get(key(name, "auto", target))
            aside, rivals = cells.beside(name, target, ("auto",)), cells.beside(name, target, cells.candidates)
            if (own is None and aside is None) or seconds < SHORTEST or math.isinf(seconds):
                continue
            own = own or {"seconds": {}, "limit": 0.0}
            ours = own["seconds"].get(f"{target:g}", math.inf)
            by = own.get("note", {}).get("solved_by", own.get("error", "?"))
            if aside is not None and rivals is not None and rivals[0] < math.inf:
                (ours, _), (seconds, best) = aside, rivals
                own = cells.known[f"{name} | auto | beside {target:g}"]
                by = own["solved_by"]
            plus, _ = cells.best(name, target, (RIVAL,))
            scale = seconds / cells.best(name, target)[0]  # of seconds beside `auto` to those of the session before
            tried = max((limit for limit in cells.limits if key(name, RIVAL, limit) in cells.known), default=0.0)
            ratios[name in UNTOUCHED].append(ours / seconds)
            gains.append(scale * (tried if math.isinf(plus) else plus) / (own["limit"] if math.isinf(ours) else ours))
            mark = " (untouched)" if name in UNTOUCHED else ""
            label = name if len(name) <= WIDE else f"{name[: WIDE - 1]}…"
            shown = f"{plus:.2f}" if plus < math.inf else f"> {tried:g}"
            lines.append(
                f"| `{label}`{mark} | {target:g} | {best} | {seconds:.2f} | {by} | {ours:.2f} | {ours / seconds:.2f} |"
                f" {shown} |"
            )
    for untouched, found in ratios.items():
        if found:
            found.sort()
            below = sum(ratio <= 2.0 for ratio in found) / len(found)
            mean = math.exp(sum(map(math.log, found)) / len(found))  # infinite with one that is
            who = "untouched games" if untouched else "games that were looked at"
            lines.append(
                f"\n{len(found)} cases of {who}: at most 2 times the best in {below:.0%}, at most {found[-1]:.2f} times"
                f" in all, {mean:.2f} times in the geometric mean."
            )
    if gains:
        mean = math.exp(sum(map(math.log, gains)) / len(gains))
        lines.append(f"\ncfr+ needs at least {mean:.1f} times as long in the geometric mean.")
    return "\n".join(lines) + "\n"


def page() -> str:
    """AUTO.md, from auto.json."""
    return table(Cells(HERE / "auto.json", CANDIDATES, LIMITS[-1], False), [*CATALOG, *OPENSPIEL])


def save_games(folder: Path) -> None:
    """Compile the games of OpenSpiel and keep them, packed."""
    import treeplex as tp

    folder.mkdir(parents=True, exist_ok=True)
    index: dict[str, str] = {}
    for place, name in enumerate(OPENSPIEL):
        index[name] = f"{place:02d}.safetensors.gz"
        if not (folder / index[name]).exists():
            with TemporaryDirectory() as scratch:
                file = Path(scratch) / "game.safetensors"
                tp.load(name).save(file)
                (folder / index[name]).write_bytes(gzip.compress(file.read_bytes(), 6))
        print(f"{index[name]}  {(folder / index[name]).stat().st_size:>12,}  {name}", flush=True)
    (folder / "index.json").write_text(json.dumps(index, indent=1) + "\n")


def unpacked(folder: Path, scratch: Path) -> dict[str, str]:
    """Where the games of OpenSpiel are, by name."""
    index: dict[str, str] = json.loads((folder / "index.json").read_text())
    for file in index.values():
        (scratch / file.removesuffix(".gz")).write_bytes(gzip.decompress((folder / file).read_bytes()))
    return {name: str(scratch / file.removesuffix(".gz")) for name, file in index.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--save-games", type=Path, metavar="DIR")
    parser.add_argument("--games", type=Path, metavar="DIR", help="where --save-games left those of OpenSpiel")
    parser.add_argument("--only", nargs="*", help="parts of games' names; none: all but the untouched")
    parser.add_argument("--candidates", nargs="*", default=list(CANDIDATES))
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--minutes", type=float, default=600.0)
    parser.add_argument("--longest", type=float, default=LIMITS[-1], help="seconds")
    parser.add_argument("--out", type=Path, default=HERE / "auto.json")
    parser.add_argument("--table", action="store_true", help="only write the table")
    parser.add_argument("--beside", type=int, default=0, metavar="ROUNDS", help="auto and the best once more, in turns")
    parser.add_argument("--again", action="store_true", help="forget what is known of auto, and run it alone")
    options = parser.parse_args()
    if options.save_games is not None:
        save_games(options.save_games)
        return
    names = [*CATALOG, *OPENSPIEL]
    if options.only is not None:
        parts = options.only or [""]
        names = [name for name in names if name not in UNTOUCHED and any(part in name for part in parts)]
    cells = Cells(options.out, tuple(options.candidates), options.longest, options.again)
    if options.again or options.beside:
        cells.known = {at: found for at, found in cells.known.items() if " | beside " not in at}
    if options.again:
        cells.known = {at: found for at, found in cells.known.items() if " | auto | " not in at}
    if not options.table:
        with TemporaryDirectory() as scratch:
            kept = {} if options.games is None else unpacked(options.games, Path(scratch))
            paths = {name: kept.get(name, name) for name in names}
            if options.beside:
                measure_beside(cells, paths, options.processes, options.minutes, options.beside)
            else:
                measure(cells, paths, options.processes, options.minutes)
    text = table(cells, names)
    options.out.with_name(f"{options.out.stem.upper()}.md").write_text(text)
    print(text)


if __name__ == "__main__":
    main()
