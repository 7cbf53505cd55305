"""Menus that grow beside fixed ones: exploitability in the real game against work, seconds and memory.

    python benchmarks/sizes/growth.py turn:0-3 flop:0-1 [--threads N]      # curves, a line of results each; resumable
    python benchmarks/sizes/growth.py turn:0-3 --causes                    # growth with one thing changed
    python benchmarks/sizes/growth.py --report                             # tables, and docs/images/growth.png

The spots are those of ``spots.json``. Candidates: on turns both streets have all of them; on flops the flop has, and
later streets have one bet and two raises. Fixed menus have 1, 2, 3 and 5 bets; the rich tree has all candidates. All
are solved by the same algorithm in float32, on the same engine. *Work* is public nodes entered by passes, recovery
games and checks included. Snapshots are taken at 1/2^k of the work of 100 iterations of the rich tree. Seconds do not
count what measuring exploitability takes; everybody is measured in the same real game, with all candidates.
"""

from __future__ import annotations

import argparse
import json
import math
import time
from collections.abc import Iterable
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np
import pytest
from spots import USUAL_LATER, spots

import treeplex.growth.spots as spots_module
from treeplex.algorithms.protocol import Execution
from treeplex.api import DEFAULT_SPOT_ALGORITHM
from treeplex.games.holdem.candidates import BETS, RAISES, START_BETS, START_RAISES
from treeplex.growth.options import Growth, fitted_to_spot
from treeplex.growth.spot_algorithm import GrowingHoldem
from treeplex.holdem import Spot, load_spot
from treeplex.plots.plot import drawing

RESULTS = Path(__file__).parent / "results" / "growth.jsonl"
PICTURE = Path(__file__).parents[2] / "docs" / "images" / "growth.png"
MENUS = {  # bets and raises on streets with candidates
    "1 size": ("75%", "100%"),
    "2 sizes": ("50%, a", "a"),
    "3 sizes": ("33%, 75%, a", "60%, a"),
    "5 sizes": ("20%, 50%, 100%, 200%, a", "40%, 100%, a"),
    "rich": (BETS, RAISES),
    "grown": (START_BETS, START_RAISES),
}
FIXED = ("1 size", "2 sizes", "3 sizes", "5 sizes")
ITERATIONS = 100  # of the rich tree
SNAPSHOTS = 9
SHOWN = (("turn", 2), ("turn", 6), ("flop", 0))  # in the picture


def with_menu(spot: Spot, menu: tuple[str, str]) -> Spot:
    """Turns: on both streets; flops: on the flop."""
    asked = spot.streets if spot.street != "flop" else ("flop",)
    sizes = {}
    for street in spot.streets:
        bet, raise_ = menu if street in asked else USUAL_LATER
        sizes[street] = {player: {"bet": bet, "raise": raise_} for player in ("oop", "ip")}
    return replace(spot, sizes=sizes)


def sum_over_infosets(patch) -> None:
    """R(G) as in the paper: the sum over infosets of the largest positive regret, and R(S) without own weights."""
    overall = spots_module.GrowingSpot.balance

    def balance(self):
        state, largest = overall(self), np.zeros(2)
        left = self._fading(cuts=False)[0]
        for player in (0, 1):
            learner, rows = self.state.learners[player], spots_module.hand_rows(self.game, player)
            for depth, decision in spots_module._decisions(self.game, player):
                here = rows[depth, decision.texture]
                positive = np.maximum(learner.regret[spots_module._where(here, decision)], 0.0)
                aged = left[learner.last[here.decision + decision.number]]
                largest[player] += float((positive.max(axis=0) * aged) @ here.boards)
        return state._replace(largest=largest)

    patch.setattr(spots_module.GrowingSpot, "balance", balance)
    patch.setattr(spots_module, "_start_weights", lambda game, player: np.ones(spots_module.HANDS + 1))


def from_zero(patch) -> None:
    """The opponent begins behind a new size with regrets of zero, as in the paper."""
    original = spots_module.GrowingSpot._merge

    def merge(self, recovered, player):
        recovered.learners[1 - player].regret[:] = 0.0
        return original(self, recovered, player)

    patch.setattr(spots_module.GrowingSpot, "_merge", merge)


CAUSES = {  # growth with one thing changed
    "grown, R(G) summed over infosets": sum_over_infosets,
    "grown, 30 iterations of recovery at most": lambda patch: patch.setattr(spots_module, "MOST_RECOVERY", 30),
    "grown, the opponent from zero": from_zero,
    "grown, factor 1": 1.0,
    "grown, factor 1.5": 1.5,
    "grown, factor 2": 2.0,
}


def curve(spot: Spot, name: str, threads: int) -> list[dict]:
    change = CAUSES.get(name)
    with pytest.MonkeyPatch.context() as patch:
        if callable(change):
            change(patch)
        return measured(spot, name, change if isinstance(change, float) else 0.0, threads)


def measured(spot: Spot, name: str, factor: float, threads: int) -> list[dict]:
    rich = load_spot(with_menu(spot, MENUS["rich"])).nodes
    street = "all" if spot.street != "flop" else ""
    factor = factor if name.startswith("grown") else math.inf
    growth = fitted_to_spot(Growth(factor=factor, algorithm=DEFAULT_SPOT_ALGORITHM, street=street))
    game = load_spot(with_menu(spot, MENUS[name.partition(",")[0]]))
    solver = GrowingHoldem(growth).open(game, Execution(storage="float32", threads=threads))
    solver.advance(game, solver.start(game), 1)  # compiles
    state, seconds, iterating, rows = solver.start(game), 0.0, 0, []
    for k in range(SNAPSHOTS - 1, -1, -1):
        upto = 2 * ITERATIONS * rich / 2**k
        while state.game.touched + 2 * state.game.game.nodes <= upto:
            iterating += 2 * state.game.game.nodes
            began = time.perf_counter()
            state = solver.advance(game, state, 1)
            seconds += time.perf_counter() - began
        if not state.game.iteration:
            continue
        first, second = state.game.response_values()
        now = state.game.game
        rows.append(
            {
                "snapshot": k,
                "work": state.game.touched,
                "iterations": state.game.iteration,
                "seconds": seconds,
                "nodes": now.nodes,
                "bytes": now.memory("float32", threads=1),
                "sizes": len(state.additions),
                "work_of_iterations": iterating,
                "inside_percent_of_pot": 50.0 * solver.policy(game, state).evaluation().nash_conv / spot.pot,
                "exploitability_percent_of_pot": 50.0 * (first + second - spot.pot) / spot.pot,
            }
        )
        print(f"   {name} {rows[-1]}", flush=True)
    return rows


def known() -> dict[tuple[str, int, str], list[dict]]:
    if not RESULTS.exists():
        return {}
    lines = [json.loads(line) for line in RESULTS.read_text().splitlines()]
    return {(line["street"], line["number"], line["curve"]): line["rows"] for line in lines}


def run(street: str, number: int, threads: int, names: Iterable[str]) -> None:
    spot = spots(street)[number]
    for name in names:
        if (street, number, name) in known():
            continue
        print(street, number, name, flush=True)
        rows = curve(spot, name, threads)
        RESULTS.parent.mkdir(exist_ok=True)
        with RESULTS.open("a") as file:
            file.write(json.dumps({"street": street, "number": number, "curve": name, "rows": rows}) + "\n")


def exploitability(found: dict, spot: tuple[str, int], name: str) -> dict[int, float]:
    """By snapshot."""
    rows = found.get((*spot, name), [])
    return {row["snapshot"]: row["exploitability_percent_of_pot"] for row in rows}


def best_fixed(found: dict, spot: tuple[str, int]) -> dict[int, float]:
    curves = [exploitability(found, spot, name) for name in FIXED]
    return {k: min(each[k] for each in curves if k in each) for k in range(SNAPSHOTS)}


def report() -> None:
    """Tables in Markdown, and the picture."""
    found = known()
    which = sorted({key[:2] for key in found}, key=lambda key: (key[0] != "turn", key))
    snapshots = range(SNAPSHOTS - 1, -1, -1)
    print("grown ÷ best fixed menu, by work\n")
    print(f"| | {' | '.join(f'1/{2**k}' for k in snapshots)} |\n| --- |{' --- |' * SNAPSHOTS}")
    for spot in which:
        ours, fixed = exploitability(found, spot, "grown"), best_fixed(found, spot)
        cells = [f"{ours[k] / fixed[k]:.2f}" if k in ours else "" for k in snapshots]
        print(f"| {spot[0]} {spot[1]} | {' | '.join(cells)} |")
    print("\nat the end: exploitability in % of the pot; seconds; MB; from when on the rich tree is ahead for good\n")
    names = ("5 sizes", "rich", "grown")
    print("| | best fixed | rich | grown | seconds (5 sizes, rich, grown) | MB (the same) | rich ahead from |")
    print("| --- | --- | --- | --- | --- | --- | --- |")
    for spot in which:
        last = {name: found[(*spot, name)][-1] for name in names}
        ours, rich = exploitability(found, spot, "grown"), exploitability(found, spot, "rich")
        ahead = [k for k in rich if all(rich[j] < ours[j] for j in range(k + 1))]
        cells = [f"{best_fixed(found, spot)[0]:.2f}", f"{rich[0]:.2f}", f"{ours[0]:.2f}"]
        cells += [", ".join(f"{last[name]['seconds']:.1f}" for name in names)]
        cells += [", ".join(f"{last[name]['bytes'] / 1e6:.0f}" for name in names)]
        print(f"| {spot[0]} {spot[1]} | {' | '.join(cells)} | {f'1/{2 ** max(ahead)}' if ahead else 'never'} |")
    print("\ngrown, means over turns: exploitability inside the menus over all of it, work outside iterations, sizes\n")
    print("| work | inside | outside iterations | sizes |\n| --- | --- | --- | --- |")
    for k in snapshots:
        rows = [row for (street, _, name), each in found.items() for row in each
                if (street, name, row["snapshot"]) == ("turn", "grown", k)]  # fmt: skip
        inside = [row["inside_percent_of_pot"] / row["exploitability_percent_of_pot"] for row in rows]
        outside = [1.0 - row["work_of_iterations"] / row["work"] for row in rows]
        print(
            f"| 1/{2**k} | {np.mean(inside):.2f} | {np.mean(outside):.2f} | {np.mean([r['sizes'] for r in rows]):.0f} |"
        )
    causes(found)
    draw(found)


def causes(found: dict) -> None:
    """Exploitability over that of the best fixed menu: mean and largest over spots and snapshots, and at the end."""
    which = sorted({key[:2] for key in found if key[2] in CAUSES})
    names = ", ".join(f"{street} {number}" for street, number in which)
    print(f"\none thing changed, on {names}: over the best fixed menu from 1/64 on, and at the end\n")
    print("| | mean | largest | at the end, % of the pot |\n| --- | --- | --- | --- |")
    for name in ("grown", *CAUSES):
        curves = [(exploitability(found, spot, name), best_fixed(found, spot)) for spot in which]
        ratios = [ours[k] / fixed[k] for ours, fixed in curves for k in range(7) if k in ours]
        if ratios:
            ends = ", ".join(f"{ours[0]:.2f}" for ours, _ in curves if 0 in ours)
            print(f"| {name} | {np.exp(np.mean(np.log(ratios))):.2f} | {max(ratios):.2f} | {ends} |")


def draw(found: dict) -> None:
    title = "Menus that grow beside fixed ones: exploitability if every candidate may be bet, % of the pot"
    columns = (("work", "public nodes entered"), ("seconds", "seconds"), ("bytes", "bytes"))
    with drawing(PICTURE, (13, 10), title, len(SHOWN), len(columns)) as panels:
        for n, (spot, (column, label)) in enumerate(product(SHOWN, columns)):
            for name in MENUS:
                rows = found.get((*spot, name), [])
                style = {"linestyle": "--" if name in FIXED else "-", "linewidth": 2.4 if name == "grown" else 1.3}
                values = [one["exploitability_percent_of_pot"] for one in rows]
                panels[n].plot([one[column] for one in rows], values, marker=".", label=name, **style)
            panels[n].set(xscale="log", yscale="log", xlabel=label, ylabel=f"{spot[0]} {spot[1]}")
        panels[0].legend(frameon=False, fontsize=8)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("spots", nargs="*")
    parser.add_argument("--threads", type=int, default=0)
    parser.add_argument("--causes", action="store_true")
    parser.add_argument("--report", action="store_true")
    given = parser.parse_args()
    for part in given.spots:
        street, _, numbers = part.partition(":")
        low, _, high = numbers.partition("-")
        for number in range(int(low), int(high or low) + 1):
            run(street, number, given.threads, CAUSES if given.causes else MENUS)
    if given.report:
        report()


if __name__ == "__main__":
    main()
