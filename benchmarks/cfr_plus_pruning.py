"""Why regret-based pruning needs more iterations with CFR+: its parts, each alone.

    .venv/bin/python benchmarks/cfr_plus_pruning.py longest      iterations and nodes by the upper bound on a pruning
    .venv/bin/python benchmarks/cfr_plus_pruning.py parts        iterations by arrays, where no node costs anything

A pruning does two things to CFR+. The action is *held*: it is not played until (9) fails, while CFR+ forgets a negative
regret, and plays the action again, with the first positive instantaneous regret. And what lies below *stands still*,
until one best response is announced for it. ``parts`` runs CFR+ over arrays, where values are known at no cost, with

    plain       neither
    held        actions held while (9) allows; what lies below learns on
    held above  the same, but only actions with own moves below them
    still       below such an action nothing learns and a best response is announced at the end, but the action is
                played again as soon as its instantaneous regret is positive

and with ``--family cfr`` the same of CFR, where nothing is forgotten. It counts prunings, how many are of actions with
own moves below, their mean length, and in how many an instantaneous regret was positive, with the iterations that they
went on for after that.
"""

from __future__ import annotations

import argparse
from typing import Any

import numpy as np
from nested_pruning import Limits, Row, curve, where
from numba import njit

import treeplex as tp
from treeplex.engines.history.paths import paths
from treeplex.evaluation.exact import evaluate_strategies

PLAIN, HELD, STILL, ABOVE = range(4)
PARTS = {"plain": PLAIN, "held": HELD, "held above": ABOVE, "still": STILL}
GOALS = (1e-1, 1e-2, 1e-3, 1e-4)
LONGEST = (1, 2, 5, 25, 100, 1000, 0)
STARTS, INNER, SKIPPED, WANTED, WAITED = range(5)


@njit(cache=True)
def product(start: Any, column: Any, data: Any, plan: Any, out: Any) -> None:
    for row in range(len(start) - 1):
        total = 0.0
        for k in range(start[row], start[row + 1]):
            total += data[k] * plan[column[k]]
        out[row] = total


@njit(cache=True)
def realization(first: Any, parent: Any, strategy: Any, plan: Any) -> None:
    plan[0] = 1.0
    for i in range(len(parent)):
        for s in range(first[i], first[i + 1]):
            plan[s] = plan[parent[i]] * strategy[s]


@njit(cache=True)
def forgotten(regret: float, gain: float, plus: bool) -> float:
    return gain if plus and gain > 0.0 and regret <= 0.0 else regret + gain


@njit(cache=True)
def announce(first: Any, parent: Any, s: int, inside: Any, regret: Any, earned: Any, then: Any, pruned: Any) -> None:
    """A best response below ``s`` to what was played since. ``inside``: infosets below."""
    paid = np.zeros(len(regret))
    for i in range(len(parent) - 1, -1, -1):
        if not inside[i]:
            continue
        best = -np.inf
        for q in range(first[i], first[i + 1]):
            paid[q] += earned[q] - then[q]
            best = max(best, paid[q])
        for q in range(first[i], first[i + 1]):
            regret[q] += paid[q] - best
            pruned[q] = False
        paid[parent[i]] += best


@njit(cache=True)
def below(first: Any, parent: Any, owner: Any, s: int) -> Any:
    inside = np.zeros(len(parent), dtype=np.bool_)
    for i in range(len(parent)):
        above = parent[i]
        inside[i] = above == s or (above > 0 and inside[owner[above]])
    return inside


@njit(cache=True)
def learn(
    part: int, plus: bool, threshold: float, t: int, first: Any, parent: Any, owner: Any, best: Any, gradient: Any,
    reach: Any, strategy: Any, regret: Any, pruned: Any, limit: Any, missed: Any, wanted: Any,
    earned: Any, then: Any, total_reach: Any, total_value: Any, counts: Any,
) -> None:  # fmt: skip
    """One player's update; ``gradient`` is what each sequence's own terminals pay now."""
    infosets = len(parent)
    still = np.zeros(infosets, dtype=np.bool_)  # below a pruned action
    for i in range(infosets):
        above = parent[i]
        still[i] = part == STILL and above > 0 and (pruned[above] or still[owner[above]])
    value = gradient.copy()
    earned += gradient
    for i in range(infosets - 1, -1, -1):
        own = 0.0
        for s in range(first[i], first[i + 1]):
            own += strategy[s] * value[s]
        value[parent[i]] += own
        if still[i]:
            continue
        total_reach[i] += reach[i]
        total_value[i] += own
        for s in range(first[i], first[i + 1]):
            gain = value[s] - own
            if pruned[s]:
                missed[s] += gain
                counts[SKIPPED] += 1
                if gain > 0.0 and wanted[s] == 0:
                    wanted[s] = t
                    counts[WANTED] += 1
            else:
                regret[s] = forgotten(regret[s], gain, plus)
    for i in range(infosets):  # parents first, as in the paper's way
        if part == PLAIN or still[i]:
            continue
        for s in range(first[i], first[i + 1]):
            if not pruned[s]:
                continue
            if part != STILL and limit[s] + total_reach[i] * best[s] > total_value[i]:
                if wanted[s] > 0:
                    counts[WAITED] += t - wanted[s]
                after = regret[s] + missed[s]
                regret[s] = 0.0 if plus and missed[s] > 0.0 and after < 0.0 else after
                pruned[s] = False
            elif part == STILL and wanted[s] > 0:
                inside = below(first, parent, owner, s)
                announce(first, parent, s, inside, regret, earned, then, pruned)
                regret[s] = forgotten(regret[s], value[s] - own_value(first, i, strategy, value), plus)
                pruned[s] = False
                still = still & ~inside
        highest = 0.0
        for s in range(first[i], first[i + 1]):
            if not pruned[s]:
                highest = max(highest, regret[s])
        for s in range(first[i], first[i + 1]):
            drift = total_reach[i] * best[s] - total_value[i]
            if highest > 0.0 and not pruned[s] and regret[s] < 0.0 and -regret[s] * t > threshold * drift:
                inside = below(first, parent, owner, s)
                if part == ABOVE and not inside.any():
                    continue
                if part == STILL:
                    for j in range(infosets):  # what is pruned below ends
                        if inside[j] and not still[j]:
                            for q in range(first[j], first[j + 1]):
                                if pruned[q]:
                                    under = below(first, parent, owner, q)
                                    announce(first, parent, q, under, regret, earned, then, pruned)
                                    pruned[q] = False
                    then[s] = earned[s]
                    for j in range(infosets):
                        if inside[j]:
                            still[j] = True
                            then[first[j] : first[j + 1]] = earned[first[j] : first[j + 1]]
                pruned[s], missed[s], wanted[s] = True, 0.0, 0
                limit[s] = regret[s] - drift
                counts[STARTS] += 1
                counts[INNER] += inside.any()
    for i in range(infosets):
        if still[i]:
            continue
        total, width = 0.0, 0
        for s in range(first[i], first[i + 1]):
            if not pruned[s]:
                total += max(regret[s], 0.0)
                width += 1
        for s in range(first[i], first[i + 1]):
            share = max(regret[s], 0.0) / total if total > 0.0 else 1.0 / width
            strategy[s] = 0.0 if pruned[s] else share


@njit(cache=True)
def own_value(first: Any, i: int, strategy: Any, value: Any) -> float:
    total = 0.0
    for s in range(first[i], first[i + 1]):
        total += strategy[s] * value[s]
    return total


class Arrays:
    """CFR or CFR+ over arrays, with one part of pruning."""

    def __init__(self, game: Any, part: int, plus: bool, threshold: float, turns: str) -> None:
        self.game, self.part, self.plus, self.threshold, self.turns = game, part, plus, threshold, turns
        self.players: list[dict[str, Any]] = []
        self.counts = np.zeros(5, dtype=np.int64)
        for player, (treeplex, side) in enumerate(zip(game.treeplexes, paths(game).sides, strict=True)):
            matrix, size = game.payoffs[player], treeplex.sequences
            strategy = np.concatenate(([1.0], np.repeat(1.0 / treeplex.actions, treeplex.actions)))
            self.players.append(
                {
                    "matrix": matrix._replace(data=matrix.data * (1 - 2 * player)),
                    "side": side,
                    "treeplex": treeplex,
                    "strategy": strategy,
                    "sums": np.zeros(size),
                    "plan": np.zeros(size),
                    "state": [
                        np.zeros(size),  # regret
                        np.zeros(size, dtype=np.bool_),  # pruned
                        np.zeros(size),  # limit
                        np.zeros(size),  # missed
                        np.zeros(size, dtype=np.int64),  # wanted
                        np.zeros(size),  # earned
                        np.zeros(size),  # then
                        np.zeros(treeplex.infosets),  # total reach
                        np.zeros(treeplex.infosets),  # total value
                    ],
                }
            )

    def iterate(self, t: int) -> None:
        for one in self.players:
            realization(*one["treeplex"], one["strategy"], one["plan"])
            one["sums"] += one["plan"] * (t if self.plus else 1.0)
        for player, one in enumerate(self.players):
            other, side = self.players[1 - player], one["side"]
            gradient, reach = np.empty(one["treeplex"].sequences), np.empty(one["treeplex"].infosets)
            if self.turns == "alternating":
                realization(*other["treeplex"], other["strategy"], other["plan"])
            product(*one["matrix"], other["plan"], gradient)
            product(*side.reach_rows, other["plan"], reach)
            learn(
                self.part, self.plus, self.threshold, t, *one["treeplex"], side.owner, side.best, gradient, reach,
                one["strategy"], *one["state"], self.counts,
            )  # fmt: skip

    def nash_conv(self) -> float:
        from treeplex.engines.sequence.learners import normalised

        sums = self.players[0]["sums"], self.players[1]["sums"]
        return float(evaluate_strategies(self.game, normalised(self.game, sums)).nash_conv)


def parts(options: argparse.Namespace) -> None:
    game = tp.load(options.game)
    for name, part in PARTS.items():
        run = Arrays(game, part, options.family == "cfr+", options.threshold, options.turns)
        rows, t = list[Row](), 0
        while not rows or rows[-1].nash_conv > options.goals[-1]:
            for _ in range(max(1, int(t * 0.02))):
                t += 1
                run.iterate(t)
            found = run.nash_conv()
            rows.append(Row(t, 0, 0, 0.0, min(found, rows[-1].nash_conv) if rows else found))
            if t > options.most:
                break
        shown = "  ".join(f"{goal:.0e}: {where(rows, goal, 'iteration'):6.0f}" for goal in options.goals)
        starts, inner, skipped, wanted, waited = run.counts
        print(
            f"{name:10s} {shown}   {starts} prunings, {inner} with own moves below,"
            f" of {skipped / max(starts, 1):.0f} iterations;"
            f" in {100 * wanted / max(starts, 1):.0f} % a positive instantaneous regret,"
            f" then held for {waited / max(wanted, 1):.0f} more",
            flush=True,
        )


def longest(options: argparse.Namespace) -> None:
    game = tp.load(options.game)
    names = {"partial": f"{options.family}-partial(turns={options.turns})"}
    for walk in ("rbp", "nested-rbp"):
        for most in LONGEST:
            names[f"{walk}, {most or 'no bound'}"] = f"{options.family}-{walk}(longest={most},turns={options.turns})"
    base: list[Row] = []
    for label, name in names.items():
        rows = curve(game, name, Limits(goal=options.goals[-1], nodes=4e8))
        base = base or rows
        shown = "  ".join(
            f"{goal:.0e}: {where(rows, goal, 'iteration') / where(base, goal, 'iteration'):5.2f},"
            f" {where(base, goal, 'nodes') / where(rows, goal, 'nodes'):5.2f}"
            for goal in options.goals
        )
        print(f"{label:22s} {shown}   {100 * rows[-1].responses / rows[-1].nodes:.1f} % responses", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("what", choices=["longest", "parts"])
    parser.add_argument("--game", default="leduc")
    parser.add_argument("--family", default="cfr+", choices=["cfr", "cfr+"])
    parser.add_argument("--turns", default="alternating", choices=["alternating", "simultaneous"])
    parser.add_argument("--threshold", type=float, default=25.0)
    parser.add_argument("--goals", type=float, nargs="+", default=GOALS)
    parser.add_argument("--most", type=int, default=40000, help="iterations of parts")
    options = parser.parse_args()
    {"longest": longest, "parts": parts}[options.what](options)


if __name__ == "__main__":
    main()
