"""Which histories an iteration enters: all, those that somebody reaches, those not pruned by regret, or a sample."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal, NamedTuple

from treeplex.engines.history.arrays import Pruning
from treeplex.engines.sampling.arrays import MATCH

Bound = Literal["payoff", "expected"]
BOUNDS: Final[dict[str, Bound]] = {"payoff": "payoff", "expected": "expected"}
Length = Literal["bound", "guaranteed"]
LENGTHS: Final[dict[str, Length]] = {"bound": "bound", "guaranteed": "guaranteed"}
Spread = Literal["payoff", "counterfactual"]
SPREADS: Final[dict[str, Spread]] = {"payoff": "payoff", "counterfactual": "counterfactual"}
NEVER: Final = -1.0
"""The threshold of a traversal that does not prune by regret."""


@dataclass(frozen=True)
class Traversal:
    """What a walk enters, and what it does where a player does not go."""

    partial: bool = True  # skip a subtree that neither player's opponent reaches
    respond: bool = False  # play best responses behind actions of regret at most -(U(I) - L(I))
    spread: Spread = "payoff"  # U(I) - L(I) of payoffs, or of counterfactual values: times chance's part of the reach
    threshold: float = NEVER  # prune an action by its regret if about so many iterations will be skipped
    bound: Bound = "payoff"  # on what a pruned action could earn
    length: Length = "bound"  # of a pruning: while (9) holds, or m of Theorem 1
    longest: int = 0  # and at most so many iterations; 0: no matter how many
    nested: bool = False  # a pruning begins without a look at what lies below, and what is pruned there stays so

    @property
    def pruning(self) -> Pruning:
        """What kernels are told of it."""
        longest, fixed = float(self.longest), self.length == "guaranteed"
        return Pruning(self.partial, self.respond, self.threshold, longest, fixed)


def full() -> Traversal:
    """Enter every history."""
    return Traversal(partial=False)


def partial() -> Traversal:
    """Skip a subtree where the opponent's reach is zero: it changes nothing (Brown & Sandholm 2015, section 1)."""
    return Traversal()


def zero_reach_response(spread: Spread = "payoff") -> Traversal:
    """Play a best response to the opponent's current strategy in what a player does not reach itself.

    Behind an action with R(I, a) <= -(U(I) - L(I)), so that it stays unplayed (Brown & Sandholm 2015, section 3).
    ``spread``: of payoffs, as in the paper, or of counterfactual values, which have chance's probability of coming
    there as a factor: smaller, and just as sound.
    """
    return Traversal(respond=True, spread=spread)


def regret_based(
    threshold: float = 25.0, bound: Bound = "payoff", length: Length = "bound", longest: int = 0
) -> Traversal:
    """Skip also what lies behind an action of negative regret, until (9) says that it could have become positive.

    Section 4 of Brown & Sandholm (2015); ``threshold``: equation (10), 25 in the paper. ``bound``: U(I, a) is the
    highest payoff after the action, as in the paper, or the highest expected payoff if the opponent helped (mean over
    chance, maximum over actions), which is tighter and just as sound. ``length``: a pruning lasts as long as (9)
    allows, or for the m = floor(-R(I, a) / (U(I, a) - L(I))) iterations that Theorem 1 guarantees, which must then be
    more than ``threshold``. ``longest``: an upper bound on it (section 4.1, "another option"); 0: none.
    """
    return Traversal(threshold=threshold, bound=bound, length=length, longest=longest)


def nested_regret_based(
    threshold: float = 3.0, bound: Bound = "payoff", length: Length = "bound", longest: int = 0
) -> Traversal:
    """The same with prunings inside of prunings: ``engines.history.cpu.nested``."""
    return Traversal(threshold=threshold, bound=bound, length=length, longest=longest, nested=True)


@dataclass(frozen=True)
class External:
    """All moves of the player who learns; the opponent's and chance's are sampled.

    Lanctot, Waugh, Zinkevich & Bowling (2009), section 3.2. ``rule``: as in ``Chance``.
    """

    rule: int = MATCH


@dataclass(frozen=True)
class Outcome:
    """A single path. The player who learns explores: every move with probability ``epsilon`` / width at least.

    Lanctot et al. (2009), section 3.1. ``rate``: how fast the baselines follow the sampled values (Schmid et al. 2019);
    0 is outcome sampling without baselines.
    """

    epsilon: float = 0.6
    rate: float = 0.5


@dataclass(frozen=True)
class AverageStrategy:
    """As ``External``, but a move of the player is tried with probability (beta + tau s) / (beta + sum s).

    That, or ``epsilon`` if it is more; s is the move's average so far. Gibson, Burch, Lanctot & Szafron (2012).
    """

    epsilon: float = 0.05
    tau: float = 1000.0
    beta: float = 1e6


@dataclass(frozen=True)
class Chance:
    """All moves of both players that the opponent of one who learns reaches; chance moves are sampled.

    Zinkevich et al. (2007), section 4. ``rule``: how a strategy comes from regrets (``engines.sampling.arrays``).
    """

    rule: int


@dataclass(frozen=True)
class PureExternal:
    """As ``External`` with pure strategies: the opponent's move is known and need not be sampled."""


@dataclass(frozen=True)
class Reached:
    """As ``Chance``, with all chance moves: nothing is sampled, and what nobody reaches is skipped.

    With pure strategies that is what they reach, and one move beside.
    """

    rule: int


Sampler = External | Outcome | AverageStrategy | Chance | PureExternal | Reached


class Effort(NamedTuple):
    """What a walk takes: numbers read per node, in the time of numbers read in order, and powers of widths.

    Of a node's w moves w**power are tried: by the player who learns, the opponent, chance. Measured, rounded down.
    """

    numbers: float
    own: float = 1.0
    opponent: float = 0.0
    chance: float = 0.0


EFFORT: Final[dict[type[Sampler], Effort]] = {
    External: Effort(4.0),
    AverageStrategy: Effort(5.0),
    Outcome: Effort(9.5, own=0.0),
    PureExternal: Effort(2.9),
    Chance: Effort(6.0, opponent=1.0 / 3.0),  # those that the opponent plays
    Reached: Effort(7.0, chance=1.0),
}
