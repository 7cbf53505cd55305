"""All-in thresholds of other programs as ours: bets after which little is left become all-in.

Ours: a bet becomes all-in if, once it is called, what is left behind is at most so many times the pot. With pot P and
stack S at the start and x put in by the bettor since then, that is S - x <= r (P + 2 x).
"""

from __future__ import annotations


def force_of_share(share: float, pot: float, stack: float) -> float:
    """PioSOLVER: all-in from x = share * S on, so r = s (1 - share) / (1 + 2 s share) with s = S / P.

    >>> round(force_of_share(0.67, 180, 910), 3)
    0.215
    """
    return stack * (1.0 - share) / (pot + 2.0 * stack * share)


def share_of_force(force: float, pot: float, stack: float) -> float:
    """The inverse; at least 0, for what is all-in at once."""
    return max((stack - force * pot) / (stack * (1.0 + 2.0 * force)), 0.0)


def force_of_whole_share(share: float) -> float:
    """TexasSolver counts half the pot as put in: all-in from x + P / 2 = share (S + P / 2) on, r = (1 / share - 1) / 2.

    (``initial_effective_stack`` in its ``src/tools/Rule.cpp``.)
    """
    return (1.0 / share - 1.0) / 2.0


def whole_share_of_force(force: float) -> float:
    """The inverse."""
    return 1.0 / (1.0 + 2.0 * force)
