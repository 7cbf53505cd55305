"""Conversion of all-in thresholds of other programs: bets after which little is left become all-in.

In treeplex a bet becomes all-in if, after a call, the remaining stack is at most r times the pot. With pot P and stack
S at the start and x put in by the bettor since then, that is S - x <= r (P + 2 x).
"""

from __future__ import annotations


def force_of_share(share: float, pot: float, stack: float) -> float:
    """Convert PioSOLVER's threshold, all-in from x = share * S on, to r = s (1 - share) / (1 + 2 s share), s = S / P.

    >>> round(force_of_share(0.67, 180, 910), 3)
    0.215
    """
    return stack * (1.0 - share) / (pot + 2.0 * stack * share)


def share_of_force(force: float, pot: float, stack: float) -> float:
    """Convert r to PioSOLVER's threshold, the inverse of ``force_of_share``; at least 0, if every bet is all-in."""
    return max((stack - force * pot) / (stack * (1.0 + 2.0 * force)), 0.0)


def force_of_whole_share(share: float) -> float:
    """Convert TexasSolver's threshold to r = (1 / share - 1) / 2.

    TexasSolver counts half the pot as put in: all-in from x + P / 2 = share (S + P / 2) on
    (``initial_effective_stack`` in its ``src/tools/Rule.cpp``).
    """
    return (1.0 / share - 1.0) / 2.0


def whole_share_of_force(force: float) -> float:
    """Convert r to TexasSolver's threshold, the inverse of ``force_of_whole_share``."""
    return 1.0 / (1.0 + 2.0 * force)
