"""Which histories a Monte Carlo iteration enters."""

from __future__ import annotations

from typing import NamedTuple


class External(NamedTuple):
    """All moves of the player who learns; the opponent's and chance's are sampled.

    Lanctot, Waugh, Zinkevich & Bowling (2009), section 3.2.
    """


class Outcome(NamedTuple):
    """A single path. The player who learns explores: every move with probability ``epsilon`` / width at least.

    Lanctot et al. (2009), section 3.1. ``rate``: how fast the baselines follow the sampled values (Schmid et al. 2019);
    0 is outcome sampling without baselines.
    """

    epsilon: float = 0.6
    rate: float = 0.5


class AverageStrategy(NamedTuple):
    """As ``External``, but a move of the player is tried with probability (beta + tau s) / (beta + sum s).

    That, or ``epsilon`` if it is more; s is the move's average so far. Gibson, Burch, Lanctot & Szafron (2012).
    """

    epsilon: float = 0.05
    tau: float = 1000.0
    beta: float = 1e6


class Chance(NamedTuple):
    """All moves of both players that the opponent of one who learns reaches; chance moves are sampled.

    Zinkevich et al. (2007), section 4. ``rule``: how a strategy comes from regrets (``engines.sampling.arrays``).
    """

    rule: int


class PureExternal(NamedTuple):
    """As ``External`` with pure strategies: the opponent's move is known and need not be sampled."""


class Reached(NamedTuple):
    """As ``Chance``, with all chance moves: nothing is sampled, and what nobody reaches is skipped.

    With pure strategies that is what they reach, and one move beside.
    """

    rule: int
