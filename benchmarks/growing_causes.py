"""Why growth does as it does on continuous Leduc: each cause that the documentation names, switched on and off.

    .venv/bin/python benchmarks/growing_causes.py                     # everything, about eight minutes
    .venv/bin/python benchmarks/growing_causes.py cfr+ --nodes 1e9    # one group

Groups: cfr+ (schedules for CFR+), rates (how fast regrets grow), early (where nodes go at first), excess (how R(S) is
read), start (sizes of new subgames), transfer (bumps), archive (what it changes), remove (the other two ways of section
6), plateau (what fixed abstractions come to), readings (excess and start without fixed abstractions, for
benchmarks/tables; with --nodes 3e9). Most print a table: NashConv in the full game by nodes touched, the mean and the
largest ratio to the best fixed abstraction of the same algorithm over snapshots from 1e6 nodes on (ten per factor of
ten), the largest ratio to the smallest NashConv so far, and the snapshots at which the best fixed one leads. The
switches replace functions of the product here; it has no such options.
"""

from __future__ import annotations

import argparse
import csv
import math
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import cache
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from treeplex.engines.public.game import RULES, GrowingGame
from treeplex.engines.public.tree import Block, GrowingTree
from treeplex.games.continuous import continuous_leduc_rules, menu_of
from treeplex.growth import add, dealt
from treeplex.growth.algorithm import Growing, GrowthState
from treeplex.growth.dealt import balance
from treeplex.growth.options import Growth
from treeplex.growth.remove import discard
from treeplex.growth.remove import mark as mark_sums
from treeplex.limits import Limits
from treeplex.papers.curves import dense_run
from treeplex.papers.saef_fig1 import at, plateaus
from treeplex.problems.loading import sized_game
from treeplex.runs.loop import RunOutcome

TABLES = Path(__file__).with_name("tables")
SHOWN = (3e6, 1e7, 3e7, 1e8, 3e8, 1e9, 3e9)
START = (0.01, 1.0)
FIXED = ("branch-2", "branch-3", "branch-5")


class Case(NamedTuple):
    """A run: its name, how it grows, from which sizes, and what is switched."""

    name: str
    growth: Growth
    sizes: str = "branch-2"
    switches: tuple[str, ...] = ()


def plus(**options: Any) -> Growth:
    return Growth(algorithm="cfr+", **options)


SLOW = {"factor": 1.01, "discount": "recommended", "per_check": 1}  # as for CFR

CASES: dict[str, list[Case]] = {
    "cfr+": [
        Case("as for CFR: (22), one per check, 1.01", plus(**SLOW)),
        Case("root of (22)", plus(**SLOW | {"discount": "root"})),
        Case("no discount", plus(**SLOW | {"discount": "bound"})),
        Case("all that pay", plus(**SLOW | {"per_check": 0})),
        Case("factor 1", plus(**SLOW | {"factor": 1.0})),
        Case("root, all that pay", plus(factor=1.01)),
        Case("root, factor 1", plus(per_check=1)),
        Case("root, all that pay, factor 1 (default)", plus()),
        Case("the same without discount", plus(discount="bound")),
        Case("the same with (22)", plus(discount="recommended")),
        Case("the same, checks every 2", plus(every=2)),
        Case("the same, checks every 10", plus(every=10)),
        Case("the same, checks every 20", plus(every=20)),
        Case("the same, factor 1.05", plus(factor=1.05)),
        Case("the same, best-response estimate", plus(estimate="best-response")),
        Case("the same, opponent's regrets kept", plus(), switches=("opponent",)),
        Case("the same, threshold for constant regrets", plus(), switches=("constant",)),
        Case("the same, from Branch-3", plus(), "branch-3"),
        Case("as for CFR, from Branch-3", plus(**SLOW), "branch-3"),
    ],
    "excess": [
        Case("excess over the best known action", Growth()),
        Case("at face value", Growth(), switches=("face",)),
        Case("excess, transfer", Growth("transfer")),
        Case("at face value, transfer", Growth("transfer"), switches=("face",)),
    ],
    "start": [
        Case("sizes found behind the nearest", Growth()),
        Case("the two start sizes", Growth(), switches=("start",)),
        Case("sizes found behind the nearest, CFR+", plus()),
        Case("the two start sizes, CFR+", plus(), switches=("start",)),
    ],
    "transfer": [
        Case("recovery", Growth()),
        Case("transfer", Growth("transfer")),
        Case("transfer, no discount", Growth("transfer", discount="bound")),
        Case("transfer, opponent's regrets kept", Growth("transfer"), switches=("opponent",)),
        Case("transfer, both", Growth("transfer", discount="bound"), switches=("opponent",)),
        Case("recovery, no discount", Growth(discount="bound")),
    ],
    "archive": [
        Case("never", Growth()),
        Case("after 1 check", Growth(archive=1)),
        Case("after 5 checks", Growth(archive=5)),
    ],
    "remove": [
        Case("cfr, never", Growth()),
        Case("cfr, discard", Growth(remove="discard")),
        Case("cfr+, never", plus()),
        Case("cfr+, discard", plus(remove="discard")),
        Case("cfr+, current", plus(remove="current")),
        Case("cfr+, current, from Branch-3, nothing added", plus(remove="current", factor=math.inf), "branch-3"),
    ],
}


# --- switches --------------------------------------------------------------------------------------------------------


def face(patch: pytest.MonkeyPatch) -> None:
    """R(S) is the regret of the new action itself, not by how much it exceeds the best one in the abstraction."""
    original = dealt.best_sizes
    patch.setattr(dealt, "best_sizes", lambda nodes, regret, *rest: original(nodes, np.zeros_like(regret), *rest))


def start(patch: pytest.MonkeyPatch) -> None:
    """A new subgame has the two sizes of the start only."""
    original = add._copied

    def copied(game: GrowingGame, source: int, size: float) -> Block:
        tree = GrowingTree(original(game, source, size))
        found = {n for n in range(1, tree.count) if tree.nodes.size[n] > 0.0 and tree.nodes.size[n] not in START}
        tree.remove([n for n in found if not found.intersection(tree.path(int(tree.nodes.parent[n])))])
        return Block(tree.nodes, tree.rows)

    patch.setattr(add, "_copied", copied)


def opponent(patch: pytest.MonkeyPatch) -> None:
    """The opponent begins in a new subgame with the regrets of the recovery game or of the neighbour, not with zero."""
    original = add._merge

    def merge(game: GrowingGame, node: int, block: Block, regret: Any, iterations: int) -> add.Added:
        mover, nodes = int(game.tree.nodes.mover[node]), block.nodes
        theirs = np.flatnonzero(~add._chosen_by(block, mover) & (nodes.mover[nodes.parent] == 1 - mover))
        kept = np.maximum(block.rows.regret[theirs], 0.0)
        added = original(game, node, block, regret, iterations)
        rows = game.tree.rows
        rows.regret[added.root + theirs] = kept
        add.rematch(game.tree.nodes, rows.regret, rows.strategy, added.root, game.tree.count)
        return added

    patch.setattr(add, "_merge", merge)


def constant(patch: pytest.MonkeyPatch) -> None:
    """Proposition 1 for regrets that do not grow inside: factor R(G) / |G| < (R(G) + R(S)) / (|G| + |S|)."""

    def needed(largest: Any, inside: int, added: Any, effective: float, factor: float) -> Any:
        return np.asarray(largest) * (factor * (1.0 + np.asarray(added) / inside) - 1.0)

    patch.setattr(dealt, "needed", needed)
    patch.setattr("treeplex.growth.check.needed", needed)


SWITCHES: dict[str, Callable[[pytest.MonkeyPatch], None]] = {
    "face": face,
    "start": start,
    "opponent": opponent,
    "constant": constant,
}


@contextmanager
def switched(names: tuple[str, ...]) -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        for name in names:
            SWITCHES[name](patch)
        yield


# --- runs ------------------------------------------------------------------------------------------------------------


def run(case: Case, nodes: int) -> RunOutcome[GrowthState]:
    with switched(case.switches):
        return dense_run(
            sized_game(f'continuous_leduc(sizes="{case.sizes}")'), Growing(case.growth), Limits(nodes=nodes)
        )


@cache
def best_fixed(algorithm: str, nodes: int) -> dict[float, float]:
    runs = [run(Case("", Growth(algorithm=algorithm, factor=math.inf), sizes), nodes) for sizes in FIXED]
    return {snapshot: min(at(run, snapshot) for run in runs) for snapshot in snapshots(nodes)}


def snapshots(nodes: int) -> list[float]:
    return [float(n) for n in np.geomspace(1e6, nodes, round(10 * math.log10(nodes / 1e6)) + 1)]


def intervals(marks: list[float], bad: list[bool]) -> str:
    """Where it is bad, as ranges of marks."""
    found: list[list[float]] = []
    for place, mark in enumerate(marks):
        if bad[place] and place and bad[place - 1]:
            found[-1][1] = mark
        elif bad[place]:
            found.append([mark, mark])
    return ", ".join(f"{low:.1e}" if low == high else f"{low:.1e} to {high:.1e}" for low, high in found) or "nowhere"


def largest_bump(run: RunOutcome[GrowthState]) -> tuple[float, float]:
    """The largest ratio of NashConv to the smallest so far, from 1e7 nodes on, and at how many nodes."""
    low, worst = math.inf, (0.0, 0.0)
    for row in run.rows:
        low = min(low, row.nash_conv)
        if row.nodes_touched >= 1e7:
            worst = max(worst, (row.nash_conv / low, float(row.nodes_touched)))
    return worst


def table(group: str, nodes: int) -> None:
    shown = [mark for mark in SHOWN if mark <= nodes]
    print(f"\n{group}: NashConv in the full game by nodes touched, to {nodes:.0e}")
    print(
        f"{'':44}"
        + "".join(f"{mark:>8.0e}" for mark in shown)
        + "   mean   worst   bump          sizes removed histories iterations weight  trails"
    )
    for algorithm in sorted({case.growth.algorithm for case in CASES[group]}):
        fixed = best_fixed(algorithm, nodes)
        near = [fixed[min(fixed, key=lambda mark: abs(math.log(mark / wanted)))] for wanted in shown]
        print(f"{'best fixed, ' + algorithm:44}" + "".join(f"{value:8.3f}" for value in near))
    for case in CASES[group]:
        found, fixed = run(case, nodes), best_fixed(case.growth.algorithm, nodes)
        ratios = [at(found, mark) / fixed[mark] for mark in fixed]
        last, (bump, place) = found.rows[-1], largest_bump(found)
        print(
            f"{case.name:44}"
            + "".join(f"{at(found, mark):8.3f}" for mark in shown)
            + f"{math.exp(float(np.mean(np.log(ratios)))):7.2f} {max(ratios):7.2f} {bump:6.1f} at {place:.1e}"
            f" {last.extra['sizes']:6,} {last.extra['removed']:7,} {last.extra['histories']:9,} {last.iteration:10,}"
            f" {last.extra['weight']:6.1g}  {intervals(list(fixed), [ratio > 1.0 for ratio in ratios])}",
            flush=True,
        )


def rates() -> None:
    """How regrets grow with T in fixed abstractions: a of squared regrets ~ T^(2a), and their level."""
    rules = continuous_leduc_rules()
    print("\nrates: root of the sum of squared positive regrets of player 0, and its exponent between iterations")
    print(f"{'':20}{'T = 250':>10}{'1000':>10}{'4000':>10}{'a':>16}")
    for sizes in ("branch-2", "branch-3"):
        for rule in ("cfr", "cfr+"):
            game, roots = GrowingGame(rules, menu_of(rules, sizes), RULES[rule]), []
            for iterations in (250, 1000, 4000):
                game.advance(iterations - game.iteration)
                roots.append(math.sqrt(float(balance(game).squares[0])))
            exponents = [math.log(later / earlier) / math.log(4.0) for earlier, later in pairwise(roots)]
            print(
                f"{sizes + ', ' + rule:20}"
                + "".join(f"{root:10.3g}" for root in roots)
                + "".join(f"{a:8.2f}" for a in exponents)
            )


def plateau() -> None:
    """What fixed abstractions come to by CFR+."""
    print("\nplateau: NashConv in the full game to which fixed abstractions converge, by CFR+")
    for name, (level, inside, touched) in plateaus().items():
        print(f"{name:10} {level:.4f} in the full game, {inside:.5f} in the abstraction, after {touched:.2g} nodes")


def readings(nodes: int, file: Path) -> None:
    """What the readings of R(S) and the sizes of new subgames come to, without the fixed abstractions, as a table."""
    rows = [
        ["run", "NashConv at the end", "sizes", "largest over the smallest so far"],
        ["---", "---:", "---:", "---:"],
    ]
    for case in dict.fromkeys([*CASES["excess"], *CASES["start"][1:]]):
        found = run(case, nodes)
        last, bump = found.rows[-1], largest_bump(found)[0]
        rows.append([case.name, f"{found.evaluation.nash_conv:.3f}", f"{last.extra['sizes']:,}", f"{bump:.1f}"])
        print(*rows[-1], sep=" | ", flush=True)
    with file.open("w", newline="", encoding="utf-8") as out:
        csv.writer(out, lineterminator="\n").writerows(rows)


def same_iterates(iterations: int = 3000) -> None:
    """Archiving changes no iterate: NashConv in a fixed abstraction, and the nodes that it takes."""
    print(f"\narchive: {iterations:,} iterations of fixed abstractions, without and with an archive")
    for sizes in FIXED[:2]:
        made = [
            dense_run(
                sized_game(f'continuous_leduc(sizes="{sizes}")'),
                Growing(Growth(factor=math.inf, archive=patience)),
                Limits(iterations=iterations),
            ).rows[-1]
            for patience in (0, 1)
        ]
        print(
            f"{sizes}: NashConv {made[0].nash_conv!r} and {made[1].nash_conv!r}; nodes {made[0].nodes_touched:,} and"
            f" {made[1].nodes_touched:,} ({made[1].nodes_touched / made[0].nodes_touched:.3f})"
        )


def early() -> None:
    """Why growth by CFR+ trails at first: where its nodes go, and how much of NashConv is inside the abstraction."""
    print("\nearly: CFR+, by nodes touched")
    print(f"{'':20}{'nodes':>8} iterations histories sizes  nodes in iterations  NashConv  in the abstraction")
    for case in (Case("growth", plus()), Case("Branch-3", plus(factor=math.inf), "branch-3")):
        game, solver = sized_game(f'continuous_leduc(sizes="{case.sizes}")'), Growing(case.growth)
        state, visited = solver.start(game), 0
        for nodes in (1e6, 3e6, 1e7, 2e7):
            while state.game.touched < nodes:
                visited += 2 * state.game.tree.histories
                solver.advance(game, state, 1)
            tree = state.game
            full, inside = (tree.measure(whole).nash_conv for whole in (True, False))
            print(
                f"{case.name:20}{nodes:8.0e} {tree.iteration:10,} {tree.tree.histories:9,} {len(state.additions):5,}"
                f" {visited / tree.touched:20.2f} {full:9.3f} {inside:19.3f}"
            )


def discarding() -> None:
    """What discarding the first half of 200 iterations does by itself."""
    for algorithm in ("cfr", "cfr+"):
        solver = Growing(Growth(algorithm=algorithm))
        game = sized_game("continuous_leduc")
        state = solver.advance(game, solver.start(game), 100)
        mark_sums(state.game)
        tree = solver.advance(game, state, 100).game
        before = tree.measure().nash_conv
        discard(tree)
        print(
            f"{algorithm}: NashConv {before:.3f} after 200 iterations, {tree.measure().nash_conv:.3f} of the last 100"
        )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("groups", nargs="*", default=[*CASES, "rates", "early", "plateau"])
    parser.add_argument("--nodes", type=float, default=1e9)
    arguments = parser.parse_args()
    for group in arguments.groups:
        if group == "rates":
            rates()
        elif group == "early":
            early()
        elif group == "plateau":
            plateau()
        elif group == "readings":
            readings(int(arguments.nodes), TABLES / "growing-readings.csv")
        else:
            if group == "archive":
                same_iterates()
            if group == "remove":
                discarding()
            table(group, int(arguments.nodes))


if __name__ == "__main__":
    main()
