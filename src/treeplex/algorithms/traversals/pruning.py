"""Walks over the history tree: all of it, or with parts left out that cannot matter."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

Bound = Literal["payoff", "expected"]
BOUNDS: Final[dict[str, Bound]] = {"payoff": "payoff", "expected": "expected"}
NEVER: Final = -1.0
"""The threshold of a traversal that does not prune by regret."""


@dataclass(frozen=True)
class Traversal:
    """What a walk enters, and what it does where a player does not go."""

    partial: bool = True  # skip a subtree that neither player's opponent reaches
    respond: bool = False  # play best responses behind actions of regret at most -(U(I) - L(I))
    threshold: float = NEVER  # prune an action by its regret if about so many iterations will be skipped
    bound: Bound = "payoff"  # on what a pruned action could earn


def full() -> Traversal:
    """Enter every history."""
    return Traversal(partial=False)


def partial() -> Traversal:
    """Skip a subtree where the opponent's reach is zero: it changes nothing (Brown & Sandholm 2015, section 1)."""
    return Traversal()


def zero_reach_response() -> Traversal:
    """Play a best response to the opponent's current strategy in what a player does not reach itself.

    Behind an action with R(I, a) <= -(U(I) - L(I)), so that it stays unplayed (Brown & Sandholm 2015, section 3).
    """
    return Traversal(respond=True)


def regret_based(threshold: float = 25.0, bound: Bound = "payoff") -> Traversal:
    """Skip also what lies behind an action of negative regret, until (9) says that it could have become positive.

    Section 4 of Brown & Sandholm (2015); ``threshold``: equation (10), 25 in the paper. ``bound``: U(I, a) is the
    highest payoff after the action, as in the paper, or the highest expected payoff if the opponent helped (mean over
    chance, maximum over actions), which is tighter and just as sound.
    """
    return Traversal(threshold=threshold, bound=bound)
