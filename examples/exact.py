"""The exact answer, and a certificate that needs no trust. Run me: python examples/exact.py [--out PICTURE.png]

The linear program finds an equilibrium of Leduc poker. Whoever doubts it takes the two strategies and answers each as
well as possible: what player 0 cannot be held below, and what player 1 cannot be beaten by. The value lies between, and
for the program's strategies there is nothing between. CFR+ closes in on it from both sides.
"""

from argparse import ArgumentParser

import treeplex as tp
from treeplex.plots.plot import drawing


def bracket(game, policy):
    """What player 0's strategy guarantees, and what player 1's concedes."""
    most, _ = tp.best_response(game, policy, player=0)
    least, _ = tp.best_response(game, policy, player=1)
    return -least, most


def main(out=None):
    game = tp.load("leduc")
    exact = tp.solve(game, "lp")
    low, high = bracket(game, exact.policy)
    print(f"value {exact.value:.12f}, certified to lie in [{low:.12f}, {high:.12f}]")
    counts, brackets = [10, 20, 30, 50, 100, 200, 300, 500, 1000], []
    for iterations in counts:
        brackets.append(bracket(game, tp.solve(game, "cfr+", iterations=iterations).policy))
        print(f"CFR+, {iterations:5,} iterations: [{brackets[-1][0]:+.4f}, {brackets[-1][1]:+.4f}]")
    if out:
        with drawing(out, (7, 3.6), "Leduc poker: where the value lies", 1, 1) as (axes,):
            below, above = zip(*brackets, strict=True)
            axes.fill_between(counts, below, above, alpha=0.25, label="certified by CFR+'s strategies")
            axes.axhline(exact.value, color="black", linewidth=1, label=f"linear program: {exact.value:.6f}")
            axes.set(xscale="log", xlabel="iterations", ylabel="chips per hand, player 0", ylim=(-0.5, 0.3))
            axes.legend(frameon=False)
    return (low, high), brackets


if __name__ == "__main__":
    options = ArgumentParser(description=__doc__)
    options.add_argument("--out", help="where to save the picture")
    main(options.parse_args().out)
