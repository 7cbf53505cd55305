"""EV of an action for a hand that takes it and then plays on well.

A hand's average strategy is weighted by its own reach. After an action that the hand (almost) never takes there is
hardly anything to average. The average there is noise or uniform, and its value says nothing about the action.
The EV of such an action is the value of the hand's best response to the opponent's strategy after it:

    EV(h, a) = value of a if h plays its own strategy afterwards    where h takes a at least ``RARE`` of the time,
                                                                    and that is no worse than giving up afterwards
             = value of a if h plays a best response afterwards     elsewhere

Frequencies count from the start of the spot: own reach times the probability of the action. The value is unknown (nan)
where locks keep the whole range from taking an action: the opponent never faced it there and has learned no reply.
"""

from __future__ import annotations

from typing import Final

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.games.holdem.betting import DECISION, Action, BettingNode

RARE: Final = 0.01
"""From 1 % on, both values are equally close to a solution 30 times as exact; below, the best response is closer."""


def action_values(node: BettingNode, frequency: Floats, played: Floats, best: Floats, *, free: bool) -> Floats:
    """Return the EV [actions, 1326] of taking each action and playing on well.

    ``frequency`` [actions, 1326]: how often a hand takes the action, counted from the start of the spot. ``played``,
    ``best`` [actions, 1326]: EV if the hand plays its own strategy, or a best response, after the action. ``free``: no
    decision is locked, so a hand can always give up, and any value below that is rounding.
    """
    least = -np.array([[chips_put_in(node, action)] for action in node.actions])
    well = np.where((frequency >= RARE) & (played >= least), played, best)
    return np.maximum(well, least) if free else well


def waiting_values(reach: Floats, played: Floats, best: Floats, *, free: bool) -> Floats:
    """Return the EV [1326] of the waiting player's hands; ``reach`` is how often each hand gets here."""
    well = np.where((reach >= RARE) & (played >= 0.0), played, best)
    return np.maximum(well, 0.0) if free else well


def chips_put_in(node: BettingNode, action: Action) -> float:
    """Return the chips that an action adds to the pot, which bound the loss of giving up afterwards."""
    if action.amount:
        return action.amount - (node.faced - node.to_call)
    return node.to_call if action.kind == "call" else 0.0


def answered(node: BettingNode, player: int) -> bool:
    """Return whether the opponent of ``player`` acts anywhere below a node."""
    waiting = [node]
    while waiting:
        below = waiting.pop()
        if below.kind == DECISION and below.player != player:
            return True
        waiting += below.children
    return False


def avoided(reach: Floats, strategy: Floats, locked: npt.NDArray[np.bool_]) -> npt.NDArray[np.bool_]:
    """Return a mask [actions] of actions that locks exclude: all hands here are locked, and none takes the action."""
    here = reach > 0.0
    takers = np.count_nonzero(strategy[:, here] > 0.0, axis=1)
    return (takers == 0) & bool(locked[here].all())
