"""Iterations of every rule to 1e-3, 1e-5 and 1e-8 of the uniform policy's NashConv, on twelve games; published claims.

    python benchmarks/rules.py --processes 16             # what is missing in rules.json, then all tables
    python benchmarks/rules.py --report                   # the tables alone, into RULES.md
    python benchmarks/rules.py --games kuhn leduc --rules cfr+ hs-dcfr --iterations 2000

Iterations do not depend on the machine or on what else it does, unless a cell runs into its limit on seconds, which is
told. Strategies are evaluated at every iteration up to 50, then at every fiftieth part more. A cell that is there for
the same limits is not run again, so the script can be stopped at any time.
"""

from __future__ import annotations

import argparse
import json
import math
import statistics
import sys
from collections.abc import Iterator, Sequence
from concurrent.futures import FIRST_COMPLETED, Future, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import treeplex as tp
from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.files import replace_text
from treeplex.runs.loop import run
from treeplex.runs.schema import Options

STORED = Path(__file__).with_suffix(".json")
ITERATIONS, SECONDS = 100_000, 300.0  # of a cell at most
TABLES = Path(__file__).with_name("RULES.md")
HEADING = """# Iterations of every rule on twelve games

Written by `python benchmarks/rules.py --report`, which says how they were counted. Where nothing stands, it was not
run. `hs-*` have a horizon of 1,000 iterations."""
ACCURACIES = (1e-3, 1e-5, 1e-8)
STEP = 1.02  # how much further each evaluation is than the one before
WATCHED = (100, 1000, 10_000)  # iterations whose NashConv is kept, too

GAMES = (
    "kuhn",
    "leduc",
    "leduc5",
    "leduc_ext(4,2,2)",
    "kuhn_ext(6,3,3)",
    "one_card_poker(deck=50)",
    "goofspiel(cards=4)",
    "goofspiel(cards=5)",
    "liars_dice(sides=4)",
    "liars_dice",
    "princess_and_monster",
    "gaussian_matrix(size=100)",
)
RULES = (
    "cfr",
    "cfr+",
    "cfr+(order=faced)",
    "lcfr",
    "dcfr",
    "dcfr(discount=before)",
    "pcfr+",
    "pdcfr+",
    "hs-dcfr",
    "hs-dcfr(gamma=15)",
    "hs-dcfr(weight=power)",
    "hs-pcfr+",
    "hs-pcfr+(gamma=15)",
    "hs-pcfr+(weight=power)",
    "sapcfr+",
    "sapcfr+(predict=0.16666666666666666)",
    "apcfr+",
    "stable-pcfr+",
    "stable-pcfr+(floor=0.01)",
    "smooth-pcfr+",
    "smooth-pcfr+(floor=0.01)",
    "cfr+-restarted",
    "pcfr+-restarted",
    "egt",
    "mirror-prox",
    "mirror-prox-restarted",
)
SAMPLED = ("mccfr-external", "mccfr-chance", "mccfr-outcome")
DRAWS = ("independent", "correlated")
SEEDS = range(5)
SAMPLED_GAMES = ("kuhn", "leduc")
SAMPLED_ITERATIONS = 20_000

HS_GAMES = ("kuhn", "leduc", "goofspiel(cards=4)", "liars_dice(sides=4)", "gaussian_matrix(size=100)")
"""Those of ours that Zhang, McAleer & Sandholm (2024) have, or have of the same kind."""
SAP_GAMES = ("kuhn", "leduc", "goofspiel(cards=4)", "goofspiel(cards=5)", "liars_dice(sides=4)", "liars_dice")
"""The same of Meng et al. (2025)."""


class Cell(NamedTuple):
    """One run."""

    game: str
    rule: str
    seed: int
    iterations: int
    seconds: float

    @property
    def key(self) -> str:
        """Under which it is stored."""
        return f"{self.game} | {self.rule} | seed {self.seed} | {self.iterations} iterations, {self.seconds:g} s"


def densely(rows: Sequence[Any], cost: Any, target: float | None) -> int:
    """Every iteration up to 50, then every fiftieth part more, and all of WATCHED."""
    last = rows[-1].iteration if rows else 0
    due = max(last + 1, math.floor(last * STEP))
    return min([due, *(t for t in WATCHED if t > last)])


def measured(cell: Cell) -> dict[str, Any]:
    """What a cell took."""
    game = tp.load(cell.game)
    algorithm: Any = build(cell.rule).open(game, Execution(threads=1))
    start = algorithm.start(game, cell.seed)
    uniform = algorithm.report(game, start, "current").evaluate(1).nash_conv
    if algorithm.random:  # begins with pure strategies
        uniform = tp.evaluate(game, tp.Policy.uniform(game)).nash_conv
    least = None if algorithm.random else min(ACCURACIES) * uniform
    options = Options(nash_conv=least, seconds=cell.seconds, iterations=cell.iterations, threads=1, seed=cell.seed)
    ended = run(game, algorithm, options, schedule=densely)
    found = [(row.iteration, row.nash_conv) for row in ended.rows]
    return {
        "reached": {f"{a:g}": next((t for t, gap in found if gap <= a * uniform), None) for a in ACCURACIES},
        "at": {str(t): gap for t, gap in found if t in WATCHED},
        "iterations": ended.work.iterations,
        "nash_conv": found[-1][1],
        "uniform": uniform,
        "status": ended.status,
    }


def cells(arguments: argparse.Namespace) -> Iterator[Cell]:
    """All that is asked for; the longest games last, so that something is seen soon."""
    for game in arguments.games:
        for rule in arguments.rules:
            yield Cell(game, rule, 0, arguments.iterations, arguments.seconds)
    for game in SAMPLED_GAMES:
        for rule in SAMPLED if game in arguments.games and arguments.sampled else ():
            for draws in DRAWS:
                for seed in SEEDS:
                    yield Cell(game, f"{rule}(chance={draws})", seed, SAMPLED_ITERATIONS, arguments.seconds)


def stored() -> dict[str, Any]:
    return json.loads(STORED.read_text(encoding="utf-8")) if STORED.exists() else {}


def keep(known: dict[str, Any]) -> None:
    lines = ",\n".join(f"{json.dumps(key)}: {json.dumps(known[key])}" for key in sorted(known))
    replace_text(STORED, "{\n" + lines + "\n}\n")


def fill(wanted: list[Cell], processes: int) -> None:
    """Run what is not stored, so many at a time; each answer is written at once."""
    known = stored()
    left = [cell for cell in wanted if cell.key not in known]
    with ProcessPoolExecutor(processes, mp_context=get_context("spawn")) as pool:
        going: dict[Future[Any], Cell] = {}
        done = 0
        while left or going:
            while left and len(going) < processes:
                cell = left.pop(0)
                going[pool.submit(measured, cell)] = cell
            for future in wait(going, return_when=FIRST_COMPLETED).done:
                cell, done = going.pop(future), done + 1
                try:
                    known[cell.key] = future.result()
                except tp.TreeplexError as error:
                    known[cell.key] = {"refused": str(error)}
                keep(known)
                print(f"{done} done, {len(left) + len(going)} left: {cell.key}", file=sys.stderr, flush=True)


# --- tables and claims ------------------------------------------------------------------------------------------------


def told(known: dict[str, Any], cell: Cell, accuracy: float) -> str:
    """Iterations; what was cut short by the clock is marked."""
    found = known.get(cell.key)
    if found is None:
        return ""
    if "refused" in found:
        return "refused"
    reached = found["reached"][f"{accuracy:g}"]
    if reached is not None:
        return f"{reached:,}"
    return f"> {found['iterations']:,}{' (time)' if found['status'] == 'seconds' else ''}"


def report(arguments: argparse.Namespace) -> Iterator[str]:
    """Lines of one table per accuracy, then of the claims."""
    known = stored()
    for accuracy in ACCURACIES:
        yield from ("", f"## Iterations to {accuracy:g} of the uniform policy's NashConv", "")
        yield f"| rule | {' | '.join(arguments.games)} |"
        yield f"| --- | {' | '.join('---:' for _ in arguments.games)} |"
        for rule in arguments.rules:
            row = [
                told(known, Cell(game, rule, 0, arguments.iterations, arguments.seconds), accuracy)
                for game in arguments.games
            ]
            yield f"| `{rule}` | {' | '.join(row)} |"
    yield from ("", "## Published claims", "", "| claim | game | here | holds |", "| --- | --- | --- | --- |")
    for line in claims(known, arguments):
        yield f"| {' | '.join(line)} |"


def page() -> str:
    """RULES.md, from rules.json."""
    arguments = argparse.Namespace(games=GAMES, rules=RULES, iterations=ITERATIONS, seconds=SECONDS)
    return f"{HEADING}\n" + "\n".join(report(arguments)) + "\n"


def claims(known: dict[str, Any], arguments: argparse.Namespace) -> Iterator[tuple[str, str, str, str]]:
    """(claim, game, what was found, whether it holds), for all that has been measured."""

    def after(game: str, rule: str, t: int = 1000) -> float | None:
        """NashConv after t iterations, or at the end of a run that was solved before."""
        found = known.get(Cell(game, rule, 0, arguments.iterations, arguments.seconds).key)
        if found is None or "refused" in found:
            return None
        return found["at"].get(str(t), found["nash_conv"] if found["status"] == "solved" else None)

    pairs = [("HS-DCFR(30)", "hs-dcfr", "dcfr", HS_GAMES), ("HS-DCFR(15)", "hs-dcfr(gamma=15)", "dcfr", HS_GAMES)]
    pairs += [("HS-DCFR(30), t^gamma_t", "hs-dcfr(weight=power)", "dcfr", HS_GAMES)]
    pairs += [("HS-PCFR+(30), t^gamma_t", "hs-pcfr+(weight=power)", "pcfr+", HS_GAMES)]
    pairs += [("HS-PCFR+(30)", "hs-pcfr+", "pcfr+", HS_GAMES), ("SAPCFR+", "sapcfr+", "pcfr+", SAP_GAMES)]
    pairs += [("APCFR+", "apcfr+", "pcfr+", SAP_GAMES)]
    for name, new, old, games in pairs:
        for game in games:
            one, two = after(game, new), after(game, old)
            if one is not None and two is not None:
                words = f"NashConv {one:.2g} instead of {two:.2g}"
                yield f"{name} is below {old} after 1,000 iterations", game, words, "yes" if one < two else "no"
    for game in SAMPLED_GAMES:
        for rule in SAMPLED:
            medians = [_median(known, game, f"{rule}(chance={draws})", arguments.seconds) for draws in DRAWS]
            if medians[0] is not None and medians[1] is not None:
                less = 1.0 - medians[1] / medians[0]
                words = f"{100 * less:.0f} % after {SAMPLED_ITERATIONS:,} iterations, medians of {len(SEEDS)} seeds"
                holds = "yes" if 0.19 <= less <= 0.54 else "more" if less > 0.54 else "no"
                yield f"{rule}: correlated draws lower exploitability by 19 to 54 %", game, words, holds


def _median(known: dict[str, Any], game: str, rule: str, seconds: float) -> float | None:
    found = [known.get(Cell(game, rule, seed, SAMPLED_ITERATIONS, seconds).key) for seed in SEEDS]
    return None if None in found else statistics.median(each["nash_conv"] for each in found if each)


def main() -> None:
    """Fill the table and print it."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])  # pyright: ignore[reportOptionalMemberAccess]
    parser.add_argument("--games", nargs="+", default=list(GAMES))
    parser.add_argument("--rules", nargs="+", default=list(RULES))
    parser.add_argument("--iterations", type=int, default=ITERATIONS, help="of a cell at most")
    parser.add_argument("--seconds", type=float, default=SECONDS, help="of a cell at most")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--no-sampled", dest="sampled", action="store_false", help="leave the samplers out")
    parser.add_argument("--report", action="store_true", help="write tables of what is stored, and run nothing")
    arguments = parser.parse_args()
    if not arguments.report:
        fill(list(cells(arguments)), arguments.processes)
    text = "\n".join(report(arguments))
    print(text)
    if arguments.report:
        replace_text(TABLES, f"{HEADING}\n{text}\n")


if __name__ == "__main__":
    main()
