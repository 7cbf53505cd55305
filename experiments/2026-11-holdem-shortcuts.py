"""Other ways to fewer iterations, tried on random spots: a warm start from a coarser tree, last iterates, predictions.

    PYTHONPATH=benchmarks/holdem python experiments/2026-11-holdem-shortcuts.py --turns 100-105 --rivers 100-111 --jobs 2

Work to each target (per cent of the pot) over the default algorithm's, as a geometric mean over spots, and on how many
spots it is less. Work is iterations times numbers kept, the coarser tree's counted as well. "-": not on every spot
within the limit, which is three times the default's iterations.

Warm start: the spot is solved with one bet size, all-in and no other raise for some iterations. Then every decision of
the full tree whose line has a coarse one (each bet read as the nearest size) starts from regrets proportional to what
the coarse average plays there, as large as the pot times the square root of that many iterations times ``trust``, and
counts iterations on from there.
"""

from __future__ import annotations

import argparse
from dataclasses import replace
from multiprocessing import get_context
from typing import Any

import numpy as np
from discounts import random_spot

from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.api import DEFAULT_SPOT_ALGORITHM
from treeplex.engines.boards.trees import decisions_by_line
from treeplex.holdem import load_spot, sizes_for

TARGETS = (0.5, 0.1, 0.05)
STEP, MOST = 5, 1200
WAYS = (
    ("warm", 20, 0.1),
    ("warm", 20, 1.0),
    ("warm", 50, 0.1),
    ("warm", 50, 1.0),
    ("warm", 100, 1.0),
    ("algorithm", DEFAULT_SPOT_ALGORITHM, "current"),
    ("algorithm", "pcfr+", "average"),
    ("algorithm", "pcfr+", "current"),
    ("algorithm", "pdcfr+", "average"),
    ("algorithm", "pdcfr+", "current"),
    ("algorithm", "cfr+", "average"),
)


def to_targets(game, solver, state, iterate: str, most: int) -> dict[float, int]:
    """Iterations from here on until each target is met."""
    met: dict[float, int] = {}
    begun = state.iteration
    while len(met) < len(TARGETS) and state.iteration - begun < most:
        state = solver.advance(game, state, STEP)
        found = 100.0 * solver.report(game, state, iterate).evaluate().exploitability / game.spot.pot
        met |= {target: state.iteration - begun for target in TARGETS if found <= target and target not in met}
    return met


def paths(game) -> dict[tuple, Any]:
    """Decisions by the kinds and amounts of the actions that lead to them."""
    return {tuple((a.kind, a.amount) for a in line): found for line, found in decisions_by_line(game).items()}


def nearest(step: tuple[str, float], choices: list[tuple[str, float]]) -> tuple[str, float]:
    passive = ("fold", "check", "call")
    if step[0] in passive:
        return step
    sizes = [choice for choice in choices if choice[0] not in passive]
    return min(sizes, key=lambda choice: abs(choice[1] - step[1])) if sizes else step


def warm_start(game, solver, coarse, average, iterations: int, trust: float):
    """The state in which the full tree starts."""
    state = solver.start(game)
    size = trust * game.spot.pot * iterations**0.5
    known = paths(coarse)
    for path, (depth, decision) in paths(game).items():
        there: tuple = ()
        for step in path:
            if there not in known:
                break
            there = (*there, nearest(step, [(a.kind, a.amount) for a in known[there][1].node.actions]))
        if there not in known or len(there) != len(path):
            continue
        _, old = known[there]
        steps, olds = ([(a.kind, a.amount) for a in d.node.actions] for d in (decision, old))
        player = decision.player
        ours, theirs = game.boards[depth].hands[player], coarse.boards[depth].hands[player]
        for board in range(len(ours.held)):
            width = int(ours.start[board + 1] - ours.start[board])
            first = int(theirs.storage[board]) + old.slot * width
            rows = average[player][first : first + len(olds) * width].reshape(-1, width).astype(np.float64)
            played = rows / np.maximum(rows.sum(axis=0), 1e-30)
            start = int(ours.storage[board]) + decision.slot * width
            regret = state.learners[player].regret[start : start + len(steps) * width].reshape(-1, width)
            for row, step in zip(played, olds, strict=True):
                regret[steps.index(nearest(step, steps))] += size * row
            state.learners[player].last[int(ours.decision[board]) + decision.number] = iterations
    return state._replace(iteration=iterations)


def measured(task: tuple[str, int]) -> list[dict[float, float]]:
    """Work to each target: the default's first, then that of every way."""
    spot = random_spot(*task)
    game = load_spot(spot)
    numbers = sum(game.elements(player) for player in (0, 1))

    def made(name: str, of=game):
        return build(name).open(of, Execution(storage="float32", threads=1))

    solver = made(DEFAULT_SPOT_ALGORITHM)
    found: list[dict[float, float]] = [to_targets(game, solver, solver.start(game), "average", MOST)]
    most = 3 * max(found[0].values())
    coarse = load_spot(replace(spot, sizes=sizes_for("66%, a", "a")))
    share = sum(coarse.elements(player) for player in (0, 1)) / numbers
    for kind, first, second in WAYS:
        if kind == "algorithm":
            other = made(first)
            found.append(to_targets(game, other, other.start(game), second, most))
            continue
        small = made(DEFAULT_SPOT_ALGORITHM, coarse)
        average = small.report(coarse, small.advance(coarse, small.start(coarse), first), "average").arrays
        state = warm_start(game, solver, coarse, average, first, second)
        met = to_targets(game, solver, state, "average", most)
        found.append({target: t + first * share for target, t in met.items()})
    return found


def numbers_from(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--turns", default="100-105")
    parser.add_argument("--rivers", default="100-111")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    tasks = [("turn", k) for k in numbers_from(options.turns)] + [("river", k) for k in numbers_from(options.rivers)]
    with get_context("spawn").Pool(options.jobs) as pool:
        found = pool.map(measured, tasks, chunksize=1)
    print(f"{len(tasks)} spots; work over the default's to " + ", ".join(f"{target} %" for target in TARGETS))
    for k, way in enumerate(WAYS):
        cells = []
        for target in TARGETS:
            ratios = [spot[k + 1][target] / spot[0][target] for spot in found if target in spot[k + 1]]
            whole = len(ratios) == len(tasks)
            mean = f"{np.exp(np.mean(np.log(ratios))):.2f}" if whole else "-"
            cells.append(f"{mean} (less on {sum(ratio < 1.0 for ratio in ratios)})")
        print(" ".join(map(str, way)), ":", ", ".join(cells), flush=True)


if __name__ == "__main__":
    main()
