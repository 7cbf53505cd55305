"""Tables that are computed from what a program stores: benchmarks/*.json, and benchmarks/papers/*.csv.

``treeplex reproduce ID --out FOLDER`` writes the CSV files; those that a page shows are copied to benchmarks/papers.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

BENCHMARKS = Path(__file__).parents[1] / "benchmarks"
GIVEN_UP = 1_000_000  # iterations after which cfr-plus-fig1 gives up
SNAPSHOTS = (1e6, 1e7, 1e8, 1e9, 3e9, 3e10)  # nodes
CURVES = (
    "Branch-2",
    "Branch-3",
    "Branch-5",
    "Recovery-1.0",
    "Recovery-1.01",
    "Transfer",
    "Recovery-1.1",
    "Recovery-2.0",
)
LONGER = ", longer"


def markdown(head: Iterable[str], rows: Iterable[Iterable[str]], left: int = 1) -> str:
    """A table; the first columns are to the left, numbers to the right."""
    names = list(head)
    marks = ["---"] * left + ["---:"] * (len(names) - left)
    lines = [names, marks, *map(list, rows)]
    return "\n".join("|" + "|".join(f" {cell} " if cell else " " for cell in line) + "|" for line in lines)


def stored(name: str) -> Any:
    """A JSON file of benchmarks/."""
    return json.loads((BENCHMARKS / name).read_text(encoding="utf-8"))


def rows_of(name: str) -> list[dict[str, str]]:
    """A CSV file of benchmarks/papers."""
    with (BENCHMARKS / "papers" / f"{name}.csv").open(newline="", encoding="utf-8") as file:
        return list(csv.DictReader(file))


def two_digits(seconds: float) -> str:
    """Seconds with two digits."""
    if seconds >= 1.0:
        return f"{seconds:.1f}"
    return f"{seconds:.2f}" if seconds >= 0.01 else f"{seconds:.1g}"


HISTORIES = {"goofspiel(cards=5)": 26_931}  # of games that are not compiled there
FOUNDATION = {
    "compile liars_dice": "compile `liars_dice`, tree and matrix included",
    "walk liars_dice from plain Python": "the same game from seven plain Python functions",
    "compile kuhn_ext(3,20,7)": "compile `kuhn_ext(3,20,7)`, tree and matrix included",
    "lp goofspiel(cards=5)": "exact LP of `goofspiel(cards=5)`",
    "lp liars_dice": "exact LP of `liars_dice`",
    "nash_conv leduc5": "NashConv of a policy for `leduc5`",
}


def foundation() -> str:
    """Compiling, exact solving, evaluating."""
    tasks = {row["task"]: row for row in stored("foundation.json")}
    histories = {task.split()[1]: row["nodes"] for task, row in tasks.items() if "nodes" in row} | HISTORIES
    cells = (
        (words, f"{histories[task.split()[1]]:,}", two_digits(tasks[task]["seconds"]))
        for task, words in FOUNDATION.items()
    )
    return markdown(("", "histories", "seconds"), cells)


def own_game() -> str:
    """Compiling liar's dice from plain functions and by the fast path."""
    ways = {
        "walk liars_dice from plain Python": "seven plain functions (`benchmarks/plain_liars_dice.py`)",
        "compile liars_dice": "the [fast path](#card-and-dice-games-the-fast-path) (`liars_dice`), tree and matrix",
    }
    tasks = {row["task"]: row for row in stored("foundation.json")}
    cells = (
        (
            words,
            f"{tasks[task]['nodes']:,}",
            f"{two_digits(tasks[task]['seconds'])} s",
            f"{two_digits(tasks[task]['us_per_node'])} µs",
        )
        for task, words in ways.items()
    )
    return markdown(("rules", "histories", "compile", "per history"), cells)


def first_order() -> str:
    """Cost of an iteration of first-order methods over that of CFR+."""
    names, cells = ("hedge", "egt", "mirror-prox", "omd"), list[list[str]]()
    for game, cost in stored("first_order.json")["microseconds_an_iteration"].items():
        ratios = [f"{cost[name] / cost['cfr+']:.1f}" for name in names]
        cells.append([f"`{game}`", *ratios])
    return markdown(("iterations of `cfr+` per iteration", *(f"`{name}`" for name in names)), cells)


def cfr_plus_fig1() -> str:
    """Iterations to one millibet per hand, by deck."""
    head = (
        "deck",
        "faced: CFR",
        "CFR+",
        "ratio",
        "with d = 5",
        "ratio",
        "played: ratio",
        "next: ratio",
        "CFR+, current",
    )
    cells: list[list[str]] = []
    for row in rows_of("cfr-plus-fig1"):
        n = {key: int(value) for key, value in row.items()}
        faced, plus, delayed = n["cfr_faced"], n["cfr+_faced"], n["cfr+_faced_delayed"]
        current = "given up" if n["cfr+_current"] >= GIVEN_UP else f"{n['cfr+_current']:,}"
        others = [f"{n[f'cfr_{order}'] / n[f'cfr+_{order}']:.1f}" for order in ("played", "next")]
        ratios = [f"{plus:,}", f"{faced / plus:.1f}", f"{delayed:,}", f"{faced / delayed:.1f}"]
        cells.append([f"{n['deck']:,}", f"{faced:,}", *ratios, *others, current])
    return markdown(head, cells, left=0)


def rbp_fig1_ratios() -> str:
    """Nodes of partial over regret-based pruning, by NashConv; the last is where partial pruning ends."""
    found: dict[str, dict[str, str]] = {}
    for row in rows_of("rbp-fig1-ratios"):
        name = f"{ {'leduc': 'Leduc', 'leduc5': 'Leduc-5'}[row['game']] }, {row['algorithm'].upper()}"
        level = float(row["nash_conv"])
        found.setdefault(name, {})[f"{level:g}" if len(row["nash_conv"]) < 8 else f"end {level:.2g}"] = row["nodes"]
    levels = sorted({level for each in found.values() for level in each if "end" not in level}, key=float, reverse=True)
    cells = [
        [name, *(f"{float(each[level]):.1f}" if level in each else "" for level in levels), *last(each)]
        for name, each in found.items()
    ]
    return markdown(("NashConv", *levels, "at the end"), cells)


def last(ratios: dict[str, str]) -> list[str]:
    """The ratio at the end of a run, and the NashConv there."""
    return [f"{float(ratio):.1f} at {level.removeprefix('end ')}" for level, ratio in ratios.items() if "end" in level]


def saef_fig1() -> str:
    """NashConv in the full game by nodes touched."""
    runs: dict[str, list[dict[str, str]]] = {}
    for row in rows_of("saef-fig1"):
        runs.setdefault(row["curve"], []).append(row)

    def at(name: str, nodes: float) -> float | None:
        """NashConv by the run of usual length if it went so far, which ends with a row at its limit."""
        for run in (runs[name], runs.get(name + LONGER, [])):
            if run and float(run[-1]["nodes"]) >= 0.95 * nodes:
                return next(float(row["nash_conv"]) for row in reversed(run) if float(row["nodes"]) <= 1.001 * nodes)
        return None

    cells: list[list[str]] = []
    for nodes in SNAPSHOTS:
        found = {name: at(name, nodes) for name in CURVES}
        fixed = [value for name in CURVES[:3] if (value := found[name]) is not None]
        ours = found["Recovery-1.01"]
        share = f"{ours / min(fixed):.2f}" if ours is not None and len(fixed) == 3 else ""
        shown = ["" if value is None else f"{value:.3f}" for value in found.values()]
        cells.append([f"{nodes:.0e}".replace("e+0", "e").replace("e+", "e"), *shown, share])
    plateaus = {name: float(runs[name][0]["plateau"]) for name in CURVES[:3]}
    ours = next(value for nodes in reversed(SNAPSHOTS) if (value := at("Recovery-1.01", nodes)) is not None)
    cells.append(
        [
            "plateau",
            *(f"{plateaus[name]:.3f}" for name in CURVES[:3]),
            *[""] * 5,
            f"{ours / min(plateaus.values()):.2f}",
        ]
    )
    return markdown(("nodes", *CURVES, "Recovery-1.01 ÷ best fixed"), cells, left=0)


def pmccfr_table1() -> str:
    """Percent of the nodes of the tree per iteration."""
    found = rows_of("pmccfr-table1")
    games = list(dict.fromkeys(row["game"] for row in found))
    head = ["", "Leduc extension, paper", "ours, folds as published", "entered", "a fold loses the stake"]
    head += ["Kuhn extension, paper", "ours, bets 1, 2, 3, ...", "entered", "bets 1, 2, 4, ..."]
    cells: list[list[str]] = []
    for algorithm in ("CFR+", "CFR", "PCFR", "PMCCFR", "MCCFR"):
        line = [algorithm]
        for game in games:
            row = next(each for each in found if (each["game"], each["algorithm"]) == (game, algorithm))
            share = float(row["ours_percent"]) / float(row["ours"])
            values = (
                float(row["paper_percent"]),
                float(row["ours_percent"]),
                *(share * float(row[key]) for key in ("entered", "other")),
            )
            line += [f"{value:.2f}" if value >= 10.0 else f"{value:.3f}" for value in values]
        cells.append(line)
    return markdown(head, cells)


TABLES: dict[str, tuple[str, Callable[[], str]]] = {  # by name: the run whose data it reads, and the function
    "foundation": ("foundation", foundation),
    "own-game": ("foundation", own_game),
    "first-order": ("first-order", first_order),
    "cfr-plus-fig1": ("papers/cfr-plus-fig1", cfr_plus_fig1),
    "rbp-fig1-ratios": ("papers/rbp-fig1", rbp_fig1_ratios),
    "saef-fig1": ("papers/saef-fig1", saef_fig1),
    "pmccfr-table1": ("papers/pmccfr-table1", pmccfr_table1),
}
