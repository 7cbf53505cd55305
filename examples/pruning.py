"""What an iteration may skip. Run me: python examples/pruning.py [--out PICTURE.png]

Kuhn poker with many bet sizes, most of them bad. CFR visits everything, partial pruning what the opponent reaches,
regret-based pruning only what may still pay. Work is counted in nodes touched, as in Brown & Sandholm (2015).
"""

from argparse import ArgumentParser

import treeplex as tp
from treeplex.plots.plot import plot_convergence

NAMES = {
    "cfr-full": "everything",
    "cfr-partial": "partial pruning",
    "cfr-rbp": "regret-based pruning",
    "cfr-nested-rbp": "nested prunings kept",
}


def main(out=None):
    game = tp.load("kuhn_ext(3,10,4)")
    found = {name: tp.solve(game, name, iterations=3000) for name in NAMES}
    for name, solution in found.items():
        print(f"{NAMES[name]:22} NashConv {solution.nash_conv:.5f} after {solution.nodes_touched:12,} nodes")
    if out:
        logs = {NAMES[name]: solution.log for name, solution in found.items()}
        plot_convergence(logs, f"{game.name}: {game.nodes:,} histories, 3,000 iterations", out, ["nodes_touched"])
    return found


if __name__ == "__main__":
    options = ArgumentParser(description=__doc__)
    options.add_argument("--out", help="where to save the picture")
    main(options.parse_args().out)
