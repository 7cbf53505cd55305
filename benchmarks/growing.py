"""What growing costs: adding by transfer over subgames of many sizes, adding by recovery, and what archiving saves.

    .venv/bin/python benchmarks/growing.py

Prints tables and writes benchmarks/growing.json. One process; minima over repetitions; a few minutes.
"""

from __future__ import annotations

import json
import platform
import time
from pathlib import Path

import numpy as np

import treeplex as tp
from treeplex.engines.public.game import RULES, GrowingGame
from treeplex.games.continuous import continuous_leduc_rules, menu_of
from treeplex.growth import add
from treeplex.growth.options import Growth

ROUNDS = 7


def transfer_costs() -> list[dict[str, float]]:
    """Seconds of one addition by transfer, by the number of actions (moves of either player) in the subgame."""
    rules = continuous_leduc_rules()
    found = []
    for count in (2, 3, 5):
        sizes = np.geomspace(0.01, 1.0, count).round(4).tolist()
        game = GrowingGame(rules, menu_of(rules, sizes), RULES["cfr"])
        game.advance(3)
        for line in ("bet1 call K bet1", "bet1 call K", "bet1", "check"):
            node = next(n for n in range(game.tree.count) if " ".join(game.line(n)) == line)
            costs = []
            for number in range(ROUNDS):  # the first make room in the arrays, which is not counted
                began = time.perf_counter()
                added = add.by_transfer(game, node, 0.7 + 0.01 * number)
                costs.append(time.perf_counter() - began)
            nodes = added.block.nodes
            actions = int(np.count_nonzero(nodes.mover[nodes.parent[1:]] >= 0)) * 3
            seconds = min(costs)
            began = time.perf_counter()
            game.advance(20)
            iteration = (time.perf_counter() - began) / 20
            found.append(
                {
                    "sizes": count,
                    "decision": line,
                    "actions": actions,
                    "microseconds": 1e6 * seconds,
                    "nanoseconds_per_action": 1e9 * seconds / actions,
                    "over_an_iteration": seconds / iteration,
                }
            )
    return sorted(found, key=lambda row: row["actions"])


def transfer_by_time() -> list[dict[str, float]]:
    """The same addition after more and more iterations: transfer does not depend on them, recovery does."""
    rules = continuous_leduc_rules()
    rows = []
    for iterations in (10, 100, 1000, 5000):
        row: dict[str, float] = {"iterations": iterations}
        for method in ("transfer", "recovery"):
            costs = []
            for _ in range(3):
                game = GrowingGame(rules, menu_of(rules, "branch-2"), RULES["cfr"])
                game.advance(iterations)
                began = time.perf_counter()
                add.METHODS[method](game, 0, 0.4)
                costs.append(time.perf_counter() - began)
            row[f"{method}_milliseconds"] = 1e3 * min(costs)
        rows.append(row)
    return rows


def shares(nodes: int) -> list[dict[str, float | str]]:
    """How much of a run is spent on checks for new actions and on adding them."""
    rows = []
    for method in ("recovery", "transfer"):
        solution = tp.grow("continuous_leduc", nodes=nodes, growth=Growth(method))
        last = solution.rows[-1]
        adding = sum(addition.seconds for addition in solution.additions)
        solving = last.seconds - last.evaluation_seconds
        rows.append(
            {
                "method": method,
                "seconds": solving,
                "sizes": len(solution.additions),
                "adding_share": adding / solving,
                "looking_share": (last.extra["growing_seconds"] - adding) / solving,
                "nodes_in_recovery_share": sum(a.recovery * a.histories for a in solution.additions)
                / last.nodes_touched,
            }
        )
    return rows


def archiving(iterations: int) -> list[dict[str, float]]:
    """Memory of the tree with and without an archive."""
    rows = []
    for patience in (0, 1):
        growth = Growth(archive=patience)
        solution = tp.grow("continuous_leduc", iterations=iterations, growth=growth)
        rows.append(
            {
                "patience": patience,
                "peak_bytes": max(row.extra["bytes"] for row in solution.rows),
                "peak_histories": max(row.extra["histories"] for row in solution.rows),
                "peak_archived": max(row.extra["archived"] for row in solution.rows),
                "seconds": solution.seconds,
                "nash_conv": solution.nash_conv,
            }
        )
    return rows


def main() -> None:
    tp.grow("continuous_leduc", iterations=100)  # compiles
    tp.grow("continuous_leduc", iterations=100, growth=Growth("transfer", algorithm="cfr+", archive=1))
    results = {
        "machine": f"{platform.machine()}, {platform.processor() or 'unknown processor'}",
        "transfer_by_subgame": transfer_costs(),
        "by_iterations": transfer_by_time(),
        "shares": shares(100_000_000),
        "archive": archiving(12_000),
    }
    for name, rows in results.items():
        if isinstance(rows, list):
            print(name)
            print("  " + "  ".join(rows[0]))
            for row in rows:
                print("  " + "  ".join(f"{v:.4g}" if isinstance(v, float) else str(v) for v in row.values()))
    Path(__file__).with_suffix(".json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
