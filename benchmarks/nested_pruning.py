"""Regret-based pruning with nested prunings, against partial pruning and the paper's own way, in nodes and seconds.

    .venv/bin/python benchmarks/nested_pruning.py threshold      # which one, by games other than Leduc-5
    .venv/bin/python benchmarks/nested_pruning.py table          # all games, both turn orders, CFR and CFR+
    .venv/bin/python benchmarks/nested_pruning.py leduc5         # Leduc-5, CFR, simultaneous: goals down to 0.006
    .venv/bin/python benchmarks/nested_pruning.py leduc5 --families cfr+ --thresholds 3 10        # down to 0.001
    .venv/bin/python benchmarks/nested_pruning.py hedge          # Leduc-5 as in Brown, Kroer & Sandholm (2017): to 0.03

The goal on a game is what partial pruning reaches with ``--nodes`` nodes. Rows are five per cent of the iterations
apart; nodes and seconds where the best NashConv so far falls below the goal are interpolated in logarithms. Nodes do
not depend on the machine. Seconds are processor seconds of iterations alone, all of one game in one process; read them
as ratios.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from pathlib import Path
from typing import Any, NamedTuple

GAMES = ("leduc", "kuhn_ext(3,12,5)", "liars_dice(sides=5)", "goofspiel(cards=5)", "princess_and_monster")
ALL = (*GAMES, "leduc5")
THRESHOLDS = (1, 2, 3, 5, 7, 10, 15, 25, 50)
TURNS = ("simultaneous", "alternating")
FAMILIES = ("cfr", "cfr+")
LEDUC5_GOALS = {"cfr": (0.1, 0.03, 0.02, 0.01, 0.006), "cfr+": (0.1, 0.03, 0.01, 0.004, 0.002, 0.001)}
HEDGE_GOALS = (1.0, 0.3, 0.1, 0.05, 0.03)
HEDGES = (
    "hedge-dt(d=5,turns=simultaneous)",
    "hedge-dt-rbp(d=1,turns=simultaneous)",
    "hedge-dt-rbp(d=5,turns=simultaneous)",
    "hedge-dt-rbp(d=5,threshold=5,turns=simultaneous)",
    "hedge-dt-rbp(d=5,threshold=100,turns=simultaneous)",
)


class Row(NamedTuple):
    """How things stood."""

    iteration: int
    nodes: int
    responses: int
    seconds: float
    nash_conv: float  # the lowest so far


class Limits(NamedTuple):
    """When to stop: at a goal, or with the first row beyond these."""

    goal: float = 0.0
    nodes: float = math.inf
    seconds: float = math.inf


def curve(game: Any, name: str, limits: Limits) -> list[Row]:
    """Rows five per cent apart."""
    from treeplex.algorithms.registry import build
    from treeplex.evaluation.exact import evaluate_strategies

    algorithm: Any = build(name)
    algorithm.report(game, algorithm.advance(game, algorithm.start(game), 2), "average").evaluate()  # compiles
    state, rows, spent = algorithm.start(game), list[Row](), 0.0
    while True:
        step = max(1, int(state.iteration * 0.05))
        began = time.process_time()
        state = algorithm.advance(game, state, step)
        spent += time.process_time() - began
        found = float(evaluate_strategies(game, algorithm.report(game, state, "average").arrays).nash_conv)
        lowest = min(found, rows[-1].nash_conv) if rows else found
        nodes, responses = int(algorithm.work(game, state).nodes), int(getattr(state, "responses", 0))
        rows.append(Row(state.iteration, nodes, responses, spent, lowest))
        if lowest <= limits.goal or nodes > limits.nodes or spent > limits.seconds:
            return rows


def where(rows: list[Row], goal: float, field: str) -> float:
    """Nodes or seconds when the goal was reached; infinite if it was not."""
    before = None
    for row in rows:
        if row.nash_conv <= goal:
            there = float(getattr(row, field))
            if before is None or before.nash_conv == row.nash_conv:
                return there
            part = math.log(before.nash_conv / goal) / math.log(before.nash_conv / row.nash_conv)
            here = float(getattr(before, field))
            return math.exp(math.log(max(here, 1e-9)) * (1.0 - part) + math.log(max(there, 1e-9)) * part)
        before = row
    return math.inf


def choose(options: argparse.Namespace) -> dict[str, Any]:
    """Nodes of partial pruning over those of every threshold, and geometric means."""
    import treeplex as tp

    found: list[dict[str, Any]] = []
    for name in GAMES:
        game = tp.load(name)
        for family in options.families:
            for turns in TURNS:
                base = curve(game, f"{family}-partial(turns={turns})", Limits(nodes=options.nodes))
                goal = base[-1].nash_conv
                ratios: dict[str, float] = {}
                for threshold in options.thresholds:
                    rows = curve(
                        game,
                        f"{family}-nested-rbp(threshold={threshold},turns={turns})",
                        Limits(goal=goal, nodes=4.0 * options.nodes),
                    )
                    ratios[str(threshold)] = where(base, goal, "nodes") / where(rows, goal, "nodes")
                found.append({"game": name, "family": family, "turns": turns, "goal": goal, "ratios": ratios})
                shown = "  ".join(f"{key}: {value:.2f}" for key, value in ratios.items())
                print(f"{name:24s} {family:4s} {turns:12s} {goal:.2e}  {shown}", flush=True)
    means: dict[str, float] = {}
    for threshold in options.thresholds:
        logs = [math.log(max(row["ratios"][str(threshold)], 1e-3)) for row in found]
        means[str(threshold)] = math.exp(sum(logs) / len(logs))
    print("geometric mean:", "  ".join(f"{key}: {value:.3f}" for key, value in means.items()))
    best = max(means, key=lambda key: means[key])
    print(f"highest: {best}")
    return {"rows": found, "means": means, "highest": float(best)}


def table(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Nodes and seconds to partial pruning's NashConv: the paper's way, nested prunings, arrays."""
    import treeplex as tp

    out: list[dict[str, Any]] = []
    print(
        "| game | family | turns | NashConv | partial: nodes, s | `-rbp`: nodes ratio, s |"
        " `-nested-rbp`: nodes ratio, s | arrays, s |"
    )
    print("| --- | --- | --- | --- | --- | --- | --- | --- |")
    for name in options.games:
        game = tp.load(name)
        for family in options.families:
            for turns in TURNS:
                base = curve(game, f"{family}-partial(turns={turns})", Limits(nodes=options.nodes))
                goal = base[-1].nash_conv
                row: dict[str, Any] = {"game": name, "family": family, "turns": turns, "goal": goal}
                row["partial"] = {"nodes": where(base, goal, "nodes"), "seconds": where(base, goal, "seconds")}
                limits = Limits(goal=goal, nodes=4.0 * options.nodes)
                for walk in ("rbp", "nested-rbp"):
                    rows = curve(game, f"{family}-{walk}(turns={turns})", limits)
                    nodes = where(rows, goal, "nodes")
                    row[walk] = {
                        "nodes": nodes,
                        "seconds": where(rows, goal, "seconds"),
                        "responses": rows[-1].responses / rows[-1].nodes,
                        "ratio": row["partial"]["nodes"] / nodes,
                    }
                rows = curve(game, f"{family}(turns={turns})", Limits(goal=goal, seconds=60.0))
                row["arrays"] = {"seconds": where(rows, goal, "seconds")}
                out.append(row)
                partial, paper, nested = row["partial"], row["rbp"], row["nested-rbp"]
                print(
                    f"| `{name}` | `{family}` | {turns} | {goal:.1e} |"
                    f" {partial['nodes']:.1e}, {partial['seconds']:.2f} |"
                    f" {paper['ratio']:.2f}, {paper['seconds']:.2f} | {nested['ratio']:.2f}, {nested['seconds']:.2f} |"
                    f" {row['arrays']['seconds']:.2f} |",
                    flush=True,
                )
    return out


def leduc5(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Simultaneous: nodes of partial pruning over those of the others, by goal."""
    out: list[dict[str, Any]] = []
    for family in options.families:
        names = [f"{family}-partial(turns=simultaneous)", f"{family}-rbp(turns=simultaneous)"]
        names += [
            f"{family}-nested-rbp(threshold={threshold:g},turns=simultaneous)" for threshold in options.thresholds
        ]
        out += by_goals("leduc5", names, [goal for goal in LEDUC5_GOALS[family] if goal >= options.goal])
    return out


def hedge(options: argparse.Namespace) -> list[dict[str, Any]]:
    """Simultaneous: nodes of plain Hedge over those with thresholds and pruning, by goal."""
    names = ["hedge(turns=simultaneous)", *(options.algorithms or HEDGES)]
    return by_goals("leduc5(sizes=dt)", names, [goal for goal in HEDGE_GOALS if goal >= options.goal])


def by_goals(game_name: str, names: list[str], goals: list[float]) -> list[dict[str, Any]]:
    """Nodes of the first over those of the others, and nodes per iteration over the last quarter of its iterations."""
    import treeplex as tp

    game, base, out = tp.load(game_name), list[Row](), list[dict[str, Any]]()
    for name in names:
        rows = curve(game, name, Limits(goal=goals[-1]))
        base = base or rows
        found = [where(base, goal, "nodes") / where(rows, goal, "nodes") for goal in goals]
        last = rows[-1]
        early = next(row for row in rows if row.iteration >= 0.75 * last.iteration)
        late = (last.nodes - early.nodes) / max(last.iteration - early.iteration, 1)
        shown = "  ".join(f"{goal:g}: {ratio:.2f}" for goal, ratio in zip(goals, found, strict=True))
        print(
            f"{name:52s} {shown}  {last.iteration:,} iterations, {last.nodes:.2e} nodes,"
            f" {late:,.0f} per iteration late, {100 * last.responses / last.nodes:.0f} % responses,"
            f" {last.seconds:.0f} s",
            flush=True,
        )
        ratios = dict(zip(map(str, goals), found, strict=True))
        out.append({"algorithm": name, "ratios": ratios, "late_nodes": late, "last": last._asdict()})
    return out


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["threshold", "table", "leduc5", "hedge"])
    parser.add_argument("--nodes", type=float, default=1e8, help="of partial pruning, which set the goal")
    parser.add_argument("--goal", type=float, default=0.0, help="leduc5, hedge: none below")
    parser.add_argument("--algorithms", nargs="+", help="hedge: beside plain Hedge")
    parser.add_argument("--thresholds", type=float, nargs="+", default=THRESHOLDS)
    parser.add_argument("--families", nargs="+", default=FAMILIES, choices=FAMILIES)
    parser.add_argument("--games", nargs="+", default=ALL)
    parser.add_argument("--out", type=Path)
    options = parser.parse_args()
    found = {"threshold": choose, "table": table, "leduc5": leduc5, "hedge": hedge}[options.what](options)
    if options.out:
        options.out.write_text(json.dumps(found, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
