"""Liar's dice with one six-sided die each, written as a user would: seven plain functions, nothing clever."""

from __future__ import annotations

from treeplex import CHANCE, TERMINAL

SIDES = 6
BIDS = [f"{quantity}-{face}" for quantity in (1, 2) for face in range(1, SIDES + 1)]
DICE = [str(face) for face in range(1, SIDES + 1)]


class PlainLiarsDice:
    """A history is (dice, bids): the dice rolled so far and the bids made, the last of which may be a call."""

    name = "plain_liars_dice"

    def root(self):
        return (), ()

    def mover(self, history):
        dice, bids = history
        if len(dice) < 2:
            return CHANCE
        return TERMINAL if bids and bids[-1] == "Liar" else len(bids) % 2

    def actions(self, history):
        dice, bids = history
        if len(dice) < 2:
            return DICE
        return [*BIDS[BIDS.index(bids[-1]) + 1 :], "Liar"] if bids else BIDS

    def probabilities(self, history):
        return [1 / SIDES] * SIDES

    def child(self, history, action):
        dice, bids = history
        return ((*dice, action), bids) if len(dice) < 2 else (dice, (*bids, action))

    def infoset(self, history):
        dice, bids = history
        return " ".join((dice[len(bids) % 2], *bids))

    def payoff(self, history):
        dice, bids = history
        quantity, face = bids[-2].split("-")
        holds = sum(die in (face, str(SIDES)) for die in dice) >= int(quantity)
        caller = (len(bids) - 1) % 2
        return 1.0 if holds == (caller == 1) else -1.0
