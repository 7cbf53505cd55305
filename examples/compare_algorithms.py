"""Which algorithm suits a game? Run me: python examples/compare_algorithms.py [--out PICTURE.png]

Goofspiel with four cards: five algorithms, each until NashConv is a hundred-thousandth of the uniform policy's.
"""

from argparse import ArgumentParser

import treeplex as tp


def main(out=None):
    names = ["cfr", "cfr+", "dcfr", "pcfr+", "cfr+-restarted"]
    found = tp.compare("goofspiel(cards=4)", names, accuracies=[1e-2, 1e-5], iterations=3000, seconds=5)
    print(f"fastest to 1e-5 of the uniform policy's NashConv: {found.ranking[0]}")
    head, rows = found.words()
    for row in [head, *rows]:
        print(*(f"{cell:>18}" for cell in row))
    if out:
        found.plot(out)
    return found


if __name__ == "__main__":
    options = ArgumentParser(description=__doc__)
    options.add_argument("--out", help="where to save the picture")
    main(options.parse_args().out)
