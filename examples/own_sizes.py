"""Poker whose bet sizes are found while it is solved. Run me: python examples/own_sizes.py [--out PICTURE.png]

Four cards, ten to king. Both players put in 1 and have 8 more; there is one round of betting. A bet or raise is any
number of whole chips on top of a call. The abstraction begins with two sizes, one chip and all-in; `treeplex.grow` adds
those that pay.
"""

from argparse import ArgumentParser
from typing import NamedTuple

import treeplex as tp
from treeplex.games.dealt import WON, Settlement
from treeplex.games.poker import NO_CARD, Card, OneCard
from treeplex.games.sized import Abstraction, Menu
from treeplex.plots.plot import drawing


class Chips(NamedTuple):
    """A public state."""

    player: int = 0  # whose turn it is
    paid: int = 1  # what the player to act has put in
    height: int = 1  # what the opponent has put in
    moves: int = 0  # how many have been made, up to 1: a second check ends the betting
    status: str = "betting"


class Stacks(OneCard):
    """One private card each (dealt, shown and compared by `OneCard`) and finite stacks."""

    together, separator, ranked = False, " ", False
    payoff_scale = None  # payoffs behind a bet are not proportional to it: what can follow depends on the stack

    def __init__(self, stack=9, ranks="TJQK"):
        self.name, self.stack = f"stacks of {stack}", stack
        self.deck = tuple(Card(label, rank, 1) for rank, label in enumerate(ranks))

    def start(self):
        return Chips()

    def actions(self, public):  # without a size
        return ("fold", "call") if public.height > public.paid else ("check",)

    def next(self, public, action):
        if action == "fold":
            return public._replace(player=1 - public.player, status="folded")
        if action == "check" and not public.moves:
            return public._replace(player=1, moves=1)
        return public._replace(paid=public.height, status="showdown")

    def candidates(self, public):  # the legal sizes: chips on top of a call
        return range(1, self.stack - public.height + 1)

    def sized(self, public, size):
        return Chips(1 - public.player, public.height, public.height + int(size), 1)

    def unit(self, public):  # sizes are compared as shares of the pot after a call
        return 2 * public.height

    def default(self, public):  # of a player who did not plan for this: never fold
        return self.actions(public)[-1]

    def word(self, public):
        return "raise" if public.height > public.paid else "bet"

    def street(self, public):
        return 0

    def settle(self, public):
        if public.status == "folded":
            return Settlement(public.paid * (1 if public.player == 0 else -1), WON)
        return Settlement(public.height, NO_CARD)


def main(out=None):
    rules = Stacks()
    start = Abstraction(rules, Menu(everywhere=(1, rules.stack - 1)), "stacks, two sizes")
    grown = tp.grow(start, iterations=1000, growth=tp.Growth(algorithm="cfr+"))
    every = tp.solve(Abstraction(rules, Menu(everywhere=tuple(range(1, rules.stack))), "stacks, all sizes"), "lp")
    few = tp.solve(start, "lp")
    print(f"value with two sizes {few.value:.4f}, grown {grown.value:.4f}, with all sizes {every.value:.4f}")
    print(f"NashConv in the full game {grown.nash_conv:.4f}; readings are kept {grown.reading}")
    for one in grown.found[:8]:
        new = one.addition
        print(f"player {new.player}  {new.decision or '(first)':16} {new.word} {new.size:g}, used {one.frequency:.1%}")
    if out:
        picture(grown, few.value, every.value, out)
    return few, grown, every


def picture(grown, few, every, out):
    """How good the grown menus are in the game with all sizes, and where the value of the game goes."""
    log = grown.log.to_pydict()
    with drawing(out, (9, 3.6), "Stacks of 9 chips: sizes found while solving", 1, 2) as (left, right):
        left.plot(log["iteration"], log["nash_conv"])
        left.set(xscale="log", yscale="log", xlabel="iterations", ylabel="NashConv, all sizes legal")
        right.plot(log["iteration"], log["value"], label="grown")
        right.axhline(few, color="#888888", linestyle=":", label="two sizes, exact")
        right.axhline(every, color="black", linewidth=1, label="all sizes, exact")
        right.set(xscale="log", xlabel="iterations", ylabel="value for player 0", ylim=(-0.12, 0.02))
        right.legend(frameon=False)


if __name__ == "__main__":
    options = ArgumentParser(description=__doc__)
    options.add_argument("--out", help="where to save the picture")
    main(options.parse_args().out)
