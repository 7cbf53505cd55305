"""Iterations to 0.1 % of the pot on ten random spots: `auto` and every named algorithm that solves spots.

    python benchmarks/holdem/portfolio.py --processes 16              # what is missing in the JSON file, then the table
    python benchmarks/holdem/portfolio.py --spots river-0 river-1     # some spots
    python benchmarks/holdem/portfolio.py --table                     # the table alone

The spots are drawn from SEED: five rivers, three turns and two small flops; board, ranges, stack and sizes. They are
not those by which the default of spots was found (``discounts.py``: other seeds). Strategies are evaluated after every
iteration from the tenth on, so iterations are exact and do not depend on the machine; every process solves on one
thread. What is known is in the JSON file and not run again, so it can be stopped at any time.
"""

from __future__ import annotations

import argparse
import json
import math
from concurrent.futures import FIRST_COMPLETED, ProcessPoolExecutor, wait
from multiprocessing import get_context
from pathlib import Path

import numpy as np

from treeplex.algorithms.cfr import CFR
from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import ALGORITHMS, build
from treeplex.files import replace_text
from treeplex.holdem import Spot, load_spot, sizes_for

STORED = Path(__file__).with_suffix(".json")
SEED = 2029
NAMES = (*(f"river-{k}" for k in range(5)), *(f"turn-{k}" for k in range(3)), *(f"flop-{k}" for k in range(2)))
TARGET = 0.1  # per cent of the pot
LAST = {"river": 3000, "turn": 1500, "flop": 600}  # iterations
FREE = 10  # iterations before the first evaluation
RANKS = "23456789TJQKA"
CARDS = {"river": 5, "turn": 4, "flop": 3}
KEEP = {"river": (0.3, 0.7), "turn": (0.12, 0.25), "flop": (0.04, 0.07)}  # share of the 169 kinds of hands
SIZES = {
    "river": ("33%, 75%, a", "50%, 100%, a", "25%, 50%, 75%, 125%, a"),
    "turn": ("50%, a", "33%, 75%, a", "66%, 125%"),
    "flop": ("50%", "75%"),
}
STACKS = {"river": (100, 180, 300, 450, 600), "turn": (100, 180, 300, 450), "flop": (100, 150)}


def spot_of(name: str) -> Spot:
    """The spot of that name."""
    street, _, number = name.partition("-")
    draw = np.random.default_rng([SEED, CARDS[street], int(number)])
    cards = [rank + suit for rank in RANKS for suit in "shdc"]
    board = " ".join(draw.choice(cards, CARDS[street], replace=False))
    keep = draw.uniform(*KEEP[street])

    def some_hands() -> str:
        hands = []
        for i in range(13):
            for j in range(13):
                kind = RANKS[max(i, j)] + RANKS[min(i, j)] + ("" if i == j else "s" if i > j else "o")
                if draw.random() < keep:
                    hands.append(f"{kind}:{draw.choice([0.25, 0.5, 1.0]):g}" if draw.random() < 0.4 else kind)
        return ",".join(hands)

    stack = float(draw.choice(STACKS[street]))
    return Spot(board, 100, stack, some_hands(), some_hands(), sizes_for(str(draw.choice(SIZES[street])), "60%, a"))


def candidates() -> list[str]:
    """`auto`, and the CFR family, which is what solves spots."""
    return ["auto", *(name for name, entry in ALGORITHMS.items() if isinstance(entry.build(), CFR))]


def measured(name: str, algorithm: str) -> dict[str, float | int | None]:
    """Iterations to the target, and how far it came."""
    game = load_spot(spot_of(name))
    solver = build(algorithm).open(game, Execution(storage="float32", threads=1))
    state, found, last = solver.start(game), math.inf, LAST[name.partition("-")[0]]
    while state.iteration < last and found > TARGET:
        state = solver.advance(game, state, FREE if state.iteration < FREE else 1)
        evaluated = solver.report(game, state, "average").evaluate(1)
        found = 100.0 * evaluated.exploitability / game.spot.pot
    return {"iterations": state.iteration if found <= TARGET else None, "last": state.iteration, "percent": found}


def key(spot: str, algorithm: str) -> str:
    return f"{spot} | {algorithm}"


def table(known: dict[str, dict[str, float | int | None]], spots: list[str]) -> str:
    """In Markdown: of every spot `auto`, the best named algorithm, and their ratio."""
    lines = ["| spot | `auto` | best | iterations | ratio |", "| --- | --- | --- | --- | --- |"]
    ratios: list[float] = []
    for spot in spots:
        found = {name: known[key(spot, name)]["iterations"] for name in candidates() if key(spot, name) in known}
        named = {name: count for name, count in found.items() if name != "auto" and count}
        if "auto" not in found or not named:
            continue
        best = min(named, key=lambda name: named[name])
        ratios.append((found["auto"] or math.inf) / named[best])
        lines.append(f"| {spot} | {found['auto'] or '-'} | {best} | {named[best]} | {ratios[-1]:.2f} |")
    if ratios:
        mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
        lines.append(
            f"\n{len(ratios)} spots: {mean:.2f} times the best in the geometric mean, {max(ratios):.2f} at worst."
        )
    return "\n".join(lines) + "\n"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--spots", nargs="*", default=list(NAMES), choices=NAMES)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--out", type=Path, default=STORED)
    parser.add_argument("--table", action="store_true", help="only print the table")
    given = parser.parse_args()
    known = json.loads(given.out.read_text()) if given.out.exists() else {}
    wanted = [(spot, name) for spot in reversed(given.spots) for name in candidates()]  # the largest first
    missing = [] if given.table else [pair for pair in wanted if key(*pair) not in known]
    with ProcessPoolExecutor(given.processes, mp_context=get_context("spawn")) as pool:
        flying = {pool.submit(measured, *pair): pair for pair in missing}
        while flying:
            for future in wait(flying, return_when=FIRST_COMPLETED).done:
                pair = flying.pop(future)
                known[key(*pair)] = future.result()
                replace_text(given.out, json.dumps(known, indent=1) + "\n")
                print(f"{key(*pair)}: {known[key(*pair)]}", flush=True)
    print(table(known, given.spots))


if __name__ == "__main__":
    main()
