"""Growth by actions of any compiled game: how much of the game is needed, and what it takes.

    .venv/bin/python benchmarks/growing_actions.py            # all games; half a minute
    .venv/bin/python benchmarks/growing_actions.py leduc      # one of them
    .venv/bin/python tools/figures.py --ran growing-actions  # then writes docs/theory/abstraction.md

Every game is solved by ``cfr+`` to a target, and grown from few actions to the same target in the whole game. Counts do
not depend on the machine. They are stored in benchmarks/growing_actions.json.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any

import numpy as np

import treeplex as tp
from treeplex.games.matrix import MatrixGame
from treeplex.games.random_tree import RandomTree

ROOT = Path(__file__).parents[1]
STORED = ROOT / "benchmarks" / "growing_actions.json"


def matrix(size: int) -> MatrixGame:
    """A matrix game of normal payoffs."""
    return MatrixGame(np.random.default_rng(1).normal(size=(size, size)).round(3).tolist(), name=f"matrix {size}")


GAMES: dict[str, tuple[str, Any, Any, float]] = {  # name: title, game, start, target
    "road": ("`toll_road.efg`", str(ROOT / "tests" / "data" / "efg" / "toll_road.efg"), "first", 1e-3),
    "kuhn": ("`openspiel:kuhn_poker`", "openspiel:kuhn_poker", "first", 1e-2),
    "leduc": ("`openspiel:leduc_poker`", "openspiel:leduc_poker", "Fold, Call", 1e-1),
    "dice": (
        "`openspiel:liars_dice(numdice=1,dice_sides=4)`",
        "openspiel:liars_dice(numdice=1,dice_sides=4)",
        "2",
        1e-2,
    ),
    "tree": ("`random_tree(seed=1,depth=6,width=6)`", RandomTree(seed=1, depth=6, width=6), "first", 1e-3),
    "matrix": ("normal payoffs, 150 x 150", matrix(150), 3, 1e-2),
}


def measured(title: str, source: Any, start: Any, target: float) -> dict[str, Any]:
    """Solve and grow one game."""
    game = tp.load(source)
    fixed = tp.solve(game, "cfr+", nash_conv=target)
    row = {"game": title, "start": str(start), "target": target, "histories": game.nodes, "fixed": fixed.nodes_touched}
    growth = tp.Growth(actions=start, algorithm="cfr+")
    grown = tp.grow(source if isinstance(source, str) else game, growth=growth, nash_conv=target, seconds=60.0)
    first = grown.rows[0]
    return row | {
        "status": grown.status,
        "nash_conv": grown.nash_conv,
        "first_nash_conv": first.nash_conv,
        "first_histories": first.extra["histories"],
        "last_histories": grown.grown.nodes,
        "actions": len(grown.additions),
        "nodes": grown.nodes_touched,
    }


def table(rows: list[dict[str, Any]]) -> str:
    """The table of the page."""
    lines = [
        "| game | start | NashConv at first | target | histories at first | at the end | of | nodes | without growth |",
        "| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |",
    ]
    for row in rows:
        figures = (row["first_histories"], row["last_histories"], row["histories"], row["nodes"], row["fixed"])
        missed = "" if row["status"] == "solved" else f" (missed: {row['nash_conv']:.2g})"
        counts = " | ".join(f"{figure:,}" for figure in figures)
        first = f"{row['first_nash_conv']:.3g}"
        lines.append(f"| {row['game']} | {row['start']} | {first} | {row['target']:g}{missed} | {counts} |")
    return "\n".join(lines)


def main() -> None:
    """Measure the games that are named, and store them."""
    stored = {row["game"]: row for row in json.loads(STORED.read_text())["rows"]} if STORED.exists() else {}
    for name in sys.argv[1:] or GAMES:
        row = measured(*GAMES[name])
        stored[row["game"]] = row
        print(json.dumps(row))
    rows = [stored[title] for title, *_ in GAMES.values() if title in stored]
    STORED.write_text(json.dumps({"rows": rows}, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
