"""Many games at once, here or on a cluster. Run me: python examples/batch.py [--out PICTURE.png] [--cluster ADDRESS]

One-card poker for decks of 3 to 60 cards, and what the first player loses in each: a job per deck. The same call with
cluster="auto" or an address sends the jobs to the machines of a Ray cluster; killed, it continues where it was.
"""

from argparse import ArgumentParser
from tempfile import TemporaryDirectory

import treeplex as tp
from treeplex.plots.plot import drawing

DECKS = (3, 4, 5, 6, 8, 10, 13, 20, 30, 60)


def main(out=None, cluster=None):
    jobs = [{"id": f"deck-{deck}", "game": f"one_card_poker(deck={deck})", "nash_conv": 1e-5} for deck in DECKS]
    with TemporaryDirectory() as folder:
        found = tp.batch(jobs, out=folder, cluster=cluster)
    values = [row.value for row in found.rows]
    for deck, row in zip(DECKS, found.rows, strict=True):
        print(f"{deck:3} cards: value {row.value:+.5f}, {row.status} after {row.iterations:,} iterations")
    if out:
        with drawing(out, (7, 3.6), "One-card poker: value for the first player, a job per deck", 1, 1) as (axes,):
            axes.plot(DECKS, values, marker="o")
            axes.set(xscale="log", xlabel="cards in the deck", ylabel="chips per hand", xticks=DECKS, xticklabels=DECKS)
            axes.minorticks_off()
    return found


if __name__ == "__main__":
    options = ArgumentParser(description=__doc__)
    options.add_argument("--out", help="where to save the picture")
    options.add_argument("--cluster", help="auto, or the address of a Ray cluster")
    main(options.parse_args().out, options.parse_args().cluster)
