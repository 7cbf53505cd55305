"""An update rule of your own, raced against CFR+. Run me: python examples/own_minimizer.py [--out PICTURE.png]

The rule is Hedge: play actions in proportion to the exponential of what they would have earned so far. Its
step size is adapted at every infoset: the larger the differences seen there, the smaller the steps.
"""

from argparse import ArgumentParser

import numpy as np

import treeplex as tp
from treeplex.plots.plot import plot_convergence


@tp.minimizer(memory=2)
def own_hedge(t, values, strategy, memory):
    earned, seen = memory[0], memory[1]  # one number per action; of ``seen`` only the first is used
    seen[0] += (values.max() - values.min()) ** 2
    scale = np.sqrt(seen[0])
    for a in range(len(values)):
        earned[a] += values[a]
    if scale == 0.0:
        return  # all actions have earned the same so far: play on as before
    best, total = earned.max(), 0.0
    for a in range(len(values)):
        strategy[a] = np.exp(2.0 * (earned[a] - best) / scale)
        total += strategy[a]
    for a in range(len(values)):
        strategy[a] /= total


def main(out=None):
    found = {}
    for game in ("kuhn", "leduc"):
        for algorithm in (own_hedge, "cfr", "cfr+"):
            solution = found[game, algorithm] = tp.solve(game, algorithm, iterations=1000)
            print(f"{game:6} {solution.algorithm:9} NashConv {solution.nash_conv:.5f} after 1,000 iterations")
    if out:
        logs = {solution.algorithm: solution.log for (game, _), solution in found.items() if game == "leduc"}
        plot_convergence(logs, "leduc", out)
    return found


if __name__ == "__main__":
    options = ArgumentParser(description=__doc__)
    options.add_argument("--out", help="where to save the picture")
    main(options.parse_args().out)
