"""What an action is worth to a hand that takes it and then plays on well.

A hand's average strategy is weighted by its own reach. Behind an action that the hand (almost) never takes there is
hardly anything to average, so the average there is noise or uniform, and the value of playing it says nothing about
the action. Such an action is worth what the hand's best reply to the opponent's strategy takes after it:

    EV(h, a) = value of a if h plays its own strategy afterwards    where h takes a at least ``RARE`` of the time,
                                                                    and that is no worse than giving up afterwards
             = value of a if h plays its best reply afterwards      elsewhere

Frequencies count from the start of the spot: own reach times the probability of the action. The value is unknown (nan)
where locks keep the whole range from an action: the opponent has never met it there and so has learned no answer.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.games.holdem.betting import DECISION, Action, BettingNode

RARE: Final = 0.01
"""From 1 % on both values are equally near those of a solution 30 times as exact; below it the best reply is nearer."""


def action_values(node: BettingNode, taken: Floats, played: Floats, best: Floats, *, free: bool) -> Floats:
    """[actions, 1326] EV of taking each action and playing on well.

    ``taken`` [actions, 1326]: how often a hand takes the action, from the start on. ``played``, ``best`` [actions,
    1326]: EV if the hand plays its own strategy, or its best reply, after the action. ``free``: no decision is locked,
    so a hand can always give up, and whatever falls below that is rounding.
    """
    least = -np.array([[chips_put_in(node, action)] for action in node.actions])
    well = np.where((taken >= RARE) & (played >= least), played, best)
    return np.maximum(well, least) if free else well


def waiting_values(reach: Floats, played: Floats, best: Floats, *, free: bool) -> Floats:
    """[1326] EV of the hands of the player who is not to act; ``reach``: how often each gets here."""
    well = np.where((reach >= RARE) & (played >= 0.0), played, best)
    return np.maximum(well, 0.0) if free else well


def chips_put_in(node: BettingNode, action: Action) -> float:
    """Chips that an action adds to the pot: giving up afterwards loses no more than these."""
    if action.amount:
        return action.amount - (node.faced - node.to_call)
    return node.to_call if action.kind == "call" else 0.0


def answered(node: BettingNode, player: int) -> bool:
    """Does the opponent of ``player`` act anywhere below a node?"""
    waiting = [node]
    while waiting:
        below = waiting.pop()
        if below.kind == DECISION and below.player != player:
            return True
        waiting += below.children
    return False


def avoided(reach: Floats, strategy: Floats, locked: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """[actions] which actions locks keep the whole range from: all hands that get here are locked, none takes it."""
    here = reach > 0.0
    taken = np.count_nonzero(strategy[:, here] > 0.0, axis=1)
    return (taken == 0) & bool(locked[here].all())
