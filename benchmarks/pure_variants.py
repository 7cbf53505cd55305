"""Pure CFR, its variants and its rivals: NashConv after the same nodes and after the same seconds.

    .venv/bin/python benchmarks/pure_variants.py           # prints the table, in about three minutes
    .venv/bin/python benchmarks/pure_variants.py --write   # and stores it in pure_variants.json
    .venv/bin/python tools/figures.py --ran pure-variants  # then writes PURE.md

Every algorithm runs for ``SECONDS`` of processor time on one thread, with each of ``SEEDS`` seeds, or once if it draws
no random numbers. Medians over seeds. Algorithms take turns, so that load on the machine affects all alike.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path
from statistics import median
from typing import Any

import treeplex as tp
from treeplex.algorithms.registry import build
from treeplex.papers.seeded_curves import Curve, curve, reached

HERE = Path(__file__).resolve().parent
SECONDS, SEEDS = 0.5, 3
GAMES = {"leduc": 2_000_000, "liars_dice(sides=4)": 2_000_000, "kuhn_ext(cards=4,bets=8,raises=4)": 2_000_000}
"""Number of nodes after which NashConv is compared, by game."""
ALGORITHMS = (
    "mccfr-external(weight=square)",
    "mccfr-chance(weight=square)",
    "mccfr-public(weight=square)",
    "gibson-pure-cfr",
    "gibson-pure-cfr(weight=square)",
    "pure-mccfr",
    "pure-mccfr(predict=1)",
    "pure-mccfr(regret=discounted,weight=uniform)",
    "pure-cfr",
    "pure-cfr(predict=1)",
    "pure-cfr(regret=discounted,weight=uniform,average=square)",
    "cfr-partial",
    "lazy-cfr(threshold=0.01)",
    "lazy-cfr(threshold=0.1)",
    "lazy-cfr(threshold=1)",
    "cfr+-partial",
    "lazy-cfr(threshold=0.1,regret=plus)",
)


MATRICES = (5, 20, 50)
"""Numbers of good actions of 100 x 100 matrices."""
SWITCHES = (
    "cfr+",
    *(f"warm-start(warmup={n})" for n in (1000, 4000, 10_000, 40_000)),
    "warm-start(switch=settled,warmup=40000)",
)
"""Warm starts with fixed numbers of iterations, and with the rule that looks at what is left."""


def warm_starts() -> list[dict[str, Any]]:
    """Return the seconds and nodes that warm starts take to the NashConv that CFR+ reaches in ``SECONDS``."""
    rows = list[dict[str, Any]]()
    for better in MATRICES:
        runs: dict[str, list[tuple[float, float]]] = {algorithm: [] for algorithm in SWITCHES}
        for seed in range(SEEDS):
            game = tp.load(f"gaussian_matrix(size=100,better={better},seed={seed})")
            curves = {algorithm: curve(game, build(algorithm), SECONDS, seed) for algorithm in SWITCHES}
            target = curves["cfr+"][-1].nash_conv
            for algorithm, points in curves.items():
                runs[algorithm].append((reached(points, target, "seconds"), reached(points, target, "nodes")))
        for algorithm, found in runs.items():
            seconds, nodes = (median(each[k] for each in found) for k in (0, 1))
            finite = seconds < float("inf")
            rows.append({
                "good": better, "algorithm": algorithm,
                "seconds": seconds if finite else None, "nodes": nodes if finite else None,
            })  # fmt: skip
    return rows


def measured(name: str, nodes: int) -> list[dict[str, Any]]:
    """Return a row for every algorithm on a game."""
    game, curves = tp.load(name), {algorithm: list[Curve]() for algorithm in ALGORITHMS}
    for seed in range(SEEDS):
        for algorithm in ALGORITHMS:
            assembled = build(algorithm)
            if seed == 0 or assembled.random:
                curves[algorithm].append(curve(game, assembled, SECONDS, seed))
    return [row(name, nodes, algorithm, found) for algorithm, found in curves.items()]


def row(name: str, nodes: int, algorithm: str, curves: list[Curve]) -> dict[str, Any]:
    """Return the medians of some runs of an algorithm."""
    same_nodes = [[point.nash_conv for point in each if point.nodes <= nodes <= each[-1].nodes] for each in curves]
    return {
        "game": name,
        "algorithm": algorithm,
        "nodes_per_iteration": median(each[-1].nodes / each[-1].iteration for each in curves),
        "ns_per_node": median(1e9 * each[-1].seconds / each[-1].nodes for each in curves),
        "after_nodes": median(each[-1] for each in same_nodes) if all(same_nodes) else None,
        "after_seconds": median(each[-1].nash_conv for each in curves),
    }


def table(results: dict[str, Any]) -> str:
    """PURE.md, from pure_variants.json."""
    lines = [
        "# Pure CFR, its variants and its rivals",
        "",
        f"NashConv after the same nodes, and after {results['seconds']:g} s of processor time on one thread.",
        f"Medians of {results['seeds']} seeds.",
        "",
        "| game | algorithm | nodes per iteration | ns per node | NashConv after the nodes | after the seconds |",
        "| --- | --- | ---: | ---: | ---: | ---: |",
    ]
    for each in results["rows"]:
        nodes = results["nodes"][each["game"]]
        after = "fewer nodes" if each["after_nodes"] is None else f"{each['after_nodes']:.2g}"
        lines.append(
            f"| `{each['game']}`, {nodes:,} nodes | `{each['algorithm']}` | {each['nodes_per_iteration']:,.1f}"
            f" | {each['ns_per_node']:.1f} | {after} | {each['after_seconds']:.2g} |"
        )
    lines += [
        "",
        f"Warm start on matrices of 100 × 100: to the NashConv that CFR+ reaches in {results['seconds']:g} s.",
        "",
        "| good actions | algorithm | seconds | nodes |",
        "| ---: | --- | ---: | ---: |",
    ]
    for each in results["warm_starts"]:
        took = "not reached | " if each["seconds"] is None else f"{each['seconds']:.3f} | {each['nodes']:,.0f}"
        lines.append(f"| {each['good']} | `{each['algorithm']}` | {took} |")
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="store the numbers in pure_variants.json")
    options = parser.parse_args()
    results = {
        "seconds": SECONDS,
        "seeds": SEEDS,
        "nodes": GAMES,
        "warm_starts": warm_starts(),
        "rows": [each for name, nodes in GAMES.items() for each in measured(name, nodes)],
    }
    print(table(results))
    if options.write:
        (HERE / "pure_variants.json").write_text(json.dumps(results, indent=1) + "\n")


if __name__ == "__main__":
    main()
