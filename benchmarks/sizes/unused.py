"""How much of a grown tree is behind sizes that are hardly bet: what removal of sizes could save on hold'em at most.

python benchmarks/sizes/unused.py turn:0-4 [--seconds 10] [--least 0.001]

Sizes are added on the first street. A size counts as unused if it is chosen less often than ``--least`` at its decision
by the average strategies at the end.
"""

from __future__ import annotations

import argparse

from spots import spots

import treeplex as tp


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", help="such as turn:0-4")
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--least", type=float, default=0.001)
    given = parser.parse_args()
    kind, _, numbers = given.which.partition(":")
    first, _, last = numbers.partition("-")
    for number in range(int(first), int(last or first) + 1):
        spot = list(spots(kind))[number]
        spot = tp.holdem.make_spot({k: v for k, v in spot.summary().items() if k != "sizes"})
        found = tp.grow(spot, seconds=given.seconds, threads=1)
        unused, nodes = 0, 0
        for size in found.additions:
            played = found.policy.frequencies(size.decision)
            actions = [action.name for action in found.policy.at(size.decision).actions]
            if played[actions.index(size.action)] < given.least:
                unused, nodes = unused + 1, nodes + size.nodes
        total = found.policy.game.nodes
        print(
            f"{kind} {number}: {len(found.additions)} sizes added, {unused} unused, {nodes:,} of {total:,} nodes"
            f" ({100 * nodes / total:.0f} %)",
            flush=True,
        )


if __name__ == "__main__":
    main()
