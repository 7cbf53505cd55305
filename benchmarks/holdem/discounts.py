"""Iterations that discounts and weights need on random spots, and how often exploitability jumps.

    python benchmarks/holdem/discounts.py "1.5,0,0,4 1.4,0.5,100,4" --turns 20-25 --rivers 20-35 --last 600 --jobs 2

Each variant is alpha,beta,rise,gamma of ``dcfr``; the first is what the others are compared with. Spots are drawn by
number: board, ranges, stack and sizes. Every five iterations the average strategies are evaluated; a jump is a look
above 1.1 times the lowest one before it, counted from 0.5 % of the pot on.
"""

from __future__ import annotations

import argparse
from multiprocessing import get_context

import numpy as np

from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.holdem import Spot, load_spot, sizes_for

RANKS = "23456789TJQKA"
TARGETS = (0.5, 0.1, 0.05, 0.02)  # per cent of the pot
SIZES = {
    "turn": ("50%, a", "33%, 75%, a", "66%, 125%"),
    "river": ("33%, 75%, a", "50%, 100%, a", "25%, 50%, 75%, 125%, a"),
}


def random_spot(street: str, seed: int) -> Spot:
    draw = np.random.default_rng(seed)
    cards = [rank + suit for rank in RANKS for suit in "shdc"]
    board = " ".join(draw.choice(cards, {"turn": 4, "river": 5}[street], replace=False))
    keep = draw.uniform(0.15, 0.35) if street == "turn" else draw.uniform(0.3, 0.7)

    def some_hands() -> str:
        hands = []
        for i in range(13):
            for j in range(13):
                name = RANKS[max(i, j)] + RANKS[min(i, j)] + ("" if i == j else "s" if i > j else "o")
                if draw.random() < keep:
                    hands.append(f"{name}:{draw.choice([0.25, 0.5, 1.0]):g}" if draw.random() < 0.4 else name)
        return ",".join(hands)

    stack = float(draw.choice([100, 180, 300, 450, 600]))
    return Spot(board, 100, stack, some_hands(), some_hands(), sizes_for(str(draw.choice(SIZES[street])), "60%, a"))


def measured(task: tuple[str, str, int, int]) -> tuple[str, str, dict[float, int], float]:
    """Iterations to each target, and the largest jump."""
    variant, street, seed, last = task
    alpha, beta, rise, gamma = variant.split(",")
    game = load_spot(random_spot(street, seed))
    named = f"dcfr(alpha={alpha},beta={beta},rise={rise},gamma={gamma})"
    solver = build(named).open(game, Execution(storage="float32", threads=1))
    state, met, lowest, worst = solver.start(game), {}, np.inf, 1.0
    while state.iteration < last:
        state = solver.advance(game, state, 5)
        found = solver.report(game, state, "average").evaluate().exploitability / game.spot.pot * 100
        met |= {target: state.iteration for target in TARGETS if found <= target and target not in met}
        if lowest < TARGETS[0]:
            worst = max(worst, found / lowest)
        lowest = min(lowest, found)
    return variant, f"{street} {seed}", met, worst


def numbers(text: str) -> range:
    first, _, last = text.partition("-")
    return range(int(first), int(last or first) + 1)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("variants")
    parser.add_argument("--turns", type=numbers, default=range(20, 26))
    parser.add_argument("--rivers", type=numbers, default=range(20, 36))
    parser.add_argument("--last", type=int, default=600)
    parser.add_argument("--jobs", type=int, default=2)
    given = parser.parse_args()
    variants = given.variants.split()
    spots = [("turn", seed) for seed in given.turns] + [("river", seed) for seed in given.rivers]
    measured((variants[0], "river", 1, 5))  # compiles
    with get_context("fork").Pool(given.jobs) as pool:
        tasks = [(variant, *spot, given.last) for spot in spots for variant in variants]
        results = {(variant, spot): rest for variant, spot, *rest in pool.imap_unordered(measured, tasks, 1)}
    names = [f"{street} {seed}" for street, seed in spots]
    for variant in variants:
        line = []
        for target in TARGETS:
            pairs = [
                (results[variant, name][0].get(target), results[variants[0], name][0].get(target)) for name in names
            ]
            ratios = [ours / theirs for ours, theirs in pairs if ours and theirs]
            line.append(
                f"{target} %: {np.exp(np.mean(np.log(ratios))):.3f} ({len(ratios)})" if ratios else f"{target} %: -"
            )
        jumps = [results[variant, name][1] for name in names if results[variant, name][1] > 1.1]
        print(f"{variant:18}", *line, f" jumps {len(jumps)} of {len(names)}, largest {max(jumps, default=1.0):.2f}")


if __name__ == "__main__":
    main()
