"""Does it pay to take bet sizes out of a growing hold'em spot again? The same work with and without removal.

python benchmarks/sizes/removal.py turn:0-4 [--nodes 3e7]

For every spot and way: sizes added and removed, public nodes and iterations at the end, exploitability in the real game
and inside the menus in per cent of the pot, and the share of nodes behind sizes that the answer bets less often than
once in a thousand times. "careless" removes these without asking whether they would be suggested again at once.
"""

from __future__ import annotations

import argparse
from contextlib import contextmanager

from spots import spots

import treeplex as tp
from treeplex.growth import spot_removal

WAYS = {
    "dcfr": tp.Growth(algorithm="dcfr(gamma=4)"),
    "dcfr, discard": tp.Growth(algorithm="dcfr(gamma=4)", remove="discard"),
    "dcfr, careless": tp.Growth(algorithm="dcfr(gamma=4)", remove="discard"),
    "cfr+": tp.Growth(algorithm="cfr+"),
    "cfr+, current": tp.Growth(algorithm="cfr+", remove="current"),
}


@contextmanager
def careless(yes: bool):
    """Nothing is asked before a size goes."""
    asked = spot_removal._missed
    if yes:
        spot_removal._missed = lambda trial, leaving: set()
    try:
        yield
    finally:
        spot_removal._missed = asked


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("which", help="such as turn:0-4")
    parser.add_argument("--nodes", type=float, default=3e7)
    given = parser.parse_args()
    kind, _, numbers = given.which.partition(":")
    first, _, last = numbers.partition("-")
    print("| spot | way | added | removed | nodes | iterations | real game, % | in the menus, % | hardly bet |")
    print("| --- | --- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for number in range(int(first), int(last or first) + 1):
        spot = list(spots(kind))[number]
        spot = tp.holdem.make_spot({k: v for k, v in spot.summary().items() if k != "sizes"})
        for way, growth in WAYS.items():
            with careless(way.endswith("careless")):
                found = tp.grow(spot, growth=growth, nodes=int(given.nodes), threads=1)
            end, pot, total = found.rows[-1], float(spot.pot), found.rows[-1].extra["histories"]
            rare = spot_removal.tops(spot_removal.unused(found.run.game))
            print(
                f"| {kind} {number} | {way} | {len(found.additions)} | {len(found.removals)} | {total:,} |"
                f" {end.iteration:,} | {found.percent_of_pot:.4f} |"
                f" {50 * end.extra['nash_conv_in_abstraction'] / pot:.4f} |"
                f" {100 * sum(one.nodes for one in rare) / total:.0f} % |",
                flush=True,
            )


if __name__ == "__main__":
    main()
