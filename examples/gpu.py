"""The same run on a processor and on a GPU. Run me: python examples/gpu.py [--out PICTURE.png]

One line differs: backend="cuda". Needs an NVIDIA GPU and the extra treeplex[cuda]; without them it says so and ends.
"""

from argparse import ArgumentParser

import treeplex as tp
from treeplex.errors import TreeplexError
from treeplex.plots.plot import drawing

GAMES = ("leduc5", "liars_dice", "kuhn_ext(3,20,7)")
SECONDS = 4.0


def rate(game, backend):
    """Iterations per second."""
    solution = tp.solve(game, "cfr+", seconds=SECONDS, backend=backend)
    return solution.iterations / (solution.seconds - solution.log["evaluation_seconds"][-1].as_py())


def main(out=None):
    try:
        tp.solve("kuhn", "cfr+", iterations=10, backend="cuda")
    except TreeplexError as error:
        print(f"No GPU can be used here: {error}")
        return None
    rates = {}
    for name in GAMES:
        game = tp.load(name)
        rates[name] = rate(game, "cpu"), rate(game, "cuda")
        print(f"{name:24} {rates[name][0]:12,.0f} it/s by processor {rates[name][1]:12,.0f} it/s by GPU")
    if out:
        picture(rates, out)
    return rates


def picture(rates, out):
    """Bars: a pair for each game."""
    with drawing(out, (7, 3.0), "CFR+ iterations per second", 1, 1) as (axes,):
        for place, (label, colour) in enumerate((("processor", "#7f8c8d"), ("GPU", "#76b900"))):
            places = [k + 0.4 * place - 0.2 for k in range(len(rates))]
            axes.barh(places, [pair[place] for pair in rates.values()], 0.38, color=colour, label=label)
        axes.set(xscale="log", xlim=(100, None), yticks=range(len(rates)), yticklabels=list(rates))
        axes.invert_yaxis()
        axes.legend(frameon=False)


if __name__ == "__main__":
    options = ArgumentParser(description=__doc__)
    options.add_argument("--out", help="where to save the picture")
    main(options.parse_args().out)
