"""Find out what is bad by sampling, then solve what is left. Run me: python examples/warm_start.py [--out PICTURE.png]

A matrix of 100 x 100 in which five actions per player are good. Pure Monte Carlo CFR soon stops playing the others, and
CFR+ then has a matrix of a few actions. In safe mode an action comes back if it would pay (after Ju et al. 2023).
"""

from argparse import ArgumentParser

import treeplex as tp
from treeplex.plots.plot import plot_convergence


def main(out=None):
    game = tp.load("gaussian_matrix(size=100)")
    found = {name: tp.solve(game, name, iterations=20_000) for name in ("cfr+", "warm-start")}
    for name, solution in found.items():
        print(f"{name:10} NashConv {solution.nash_conv:.2e} after {solution.nodes_touched:14,} nodes touched")
    if out:
        logs = {name: solution.log for name, solution in found.items()}
        plot_convergence(logs, f"{game.name}, 20,000 iterations", out, ["nodes_touched"])
    return found


if __name__ == "__main__":
    options = ArgumentParser(description=__doc__)
    options.add_argument("--out", help="where to save the picture")
    main(options.parse_args().out)
