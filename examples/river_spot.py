"""A hold'em spot, from ranges to a report. Run me: python examples/river_spot.py [--out PICTURE.png]

Two ranges, a river, the bets that are allowed: how is it played, what is every hand worth, and how much would an
opponent gain who knew all of it? Then the same line over three rivers, as a report.
"""

from argparse import ArgumentParser
from pathlib import Path
from tempfile import TemporaryDirectory

import treeplex as tp

OOP = "22+,A2s+,K9s+,QTs+,J9s+,T8s+,97s+,87s,76s,AJo+,KQo"
IP = "JJ-22,AJs-A2s,K8s+,Q9s+,J9s+,T8s+,98s,87s,76s,65s,AQo-ATo,KJo+,QJo"
RIVERS = ("2c", "Td", "Qs")


def spot(river):
    sizes = tp.holdem.sizes_for("33%, 75%, a", "60%, a")
    return tp.Spot(board=f"Ks 9h 6d 3s {river}", pot=100, effective_stack=250, oop_range=OOP, ip_range=IP, sizes=sizes)


def main(out=None):
    found = tp.solve(spot(RIVERS[0]), exploitability="0.3%pot")
    oop, ip = found.ev
    print(f"exploitability {found.percent_of_pot:.2f} % of the pot; EV {oop:.1f} out of position, {ip:.1f} in position")
    view = found.at("")
    for name, share in view.totals().items():
        print(f"first action: {name:12} {share:6.1%}")
    for hand in ("KK", "AKs", "87s", "A5s"):
        row = view[hand]
        plays = ", ".join(f"{name} {share:.0%}" for name, share in zip(view.short_names, row.strategy, strict=True))
        print(f"{hand:4} {plays}; EV {row.value:.1f}")
    with TemporaryDirectory() as folder:
        runs = [Path(folder) / river for river in RIVERS]
        for river, run in zip(RIVERS, runs, strict=True):
            tp.solve(spot(river), exploitability="1%pot", out=run)
        for row in tp.holdem.report(runs, ["check"]).rows:
            print(f"{row.board}: checked {row.often:.0%} of the time; then EV {row.ev[0]:.1f} and {row.ev[1]:.1f}")
    if out:
        tp.holdem.plot_grid(view, out)
    return found


if __name__ == "__main__":
    options = ArgumentParser(description=__doc__)
    options.add_argument("--out", help="where to save the picture")
    main(options.parse_args().out)
