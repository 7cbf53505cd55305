"""Sets of histories that an iteration enters: all, the reached ones, the ones not pruned by regret, or a sample."""

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
    """Histories that a walk enters, and its treatment of those that a player does not reach."""

    partial: bool = True  # skip a subtree that neither player's opponent reaches
    respond: bool = False  # play best responses behind actions of regret at most -(U(I) - L(I))
    spread: Spread = "payoff"  # U(I) - L(I) of payoffs, or of counterfactual values, times chance's reach
    threshold: float = NEVER  # prune an action by regret if about this many iterations will be skipped
    bound: Bound = "payoff"  # upper bound on the value of a pruned action
    length: Length = "bound"  # length of a pruning: while (9) holds, or m of Theorem 1
    longest: int = 0  # most iterations of a pruning; 0: no limit
    stretch: float = 1.0  # factor of the regret in (9), and so roughly of the length of a pruning
    least: float = 0.0  # a smaller counterfactual reach counts as none
    nested: bool = False  # a pruning starts without visiting the subtree, and prunings inside it continue

    @property
    def pruning(self) -> Pruning:
        """Pruning parameters for the kernels."""
        longest, fixed = float(self.longest), self.length == "guaranteed"
        return Pruning(self.partial, self.respond, self.threshold, longest, fixed, self.stretch, self.least)


def full() -> Traversal:
    """Return a traversal that enters every history."""
    return Traversal(partial=False)


def partial(least: float = 0.0) -> Traversal:
    """Skip subtrees that the opponent does not reach; results stay the same (Brown & Sandholm 2015, section 1).

    ``least``: a smaller counterfactual reach counts as none, which changes results. Ju et al. (2023) take 1e-20.
    """
    return Traversal(least=least)


def zero_reach_response(spread: Spread = "payoff") -> Traversal:
    """Play a best response to the opponent's current strategy in histories that the player itself does not reach.

    It applies behind an action with R(I, a) <= -(U(I) - L(I)), so that the action stays unplayed (Brown & Sandholm
    2015, section 3). ``spread``: of payoffs, as in the paper, or of counterfactual values. The latter have chance's
    probability of reaching the node as a factor, so they are smaller, and just as sound.
    """
    return Traversal(respond=True, spread=spread)


def regret_based(
    threshold: float = 25.0, bound: Bound = "payoff", length: Length = "bound", longest: int = 0, stretch: float = 1.0
) -> Traversal:
    """Skip also the subtree behind an action of negative regret, until (9) says that it could have become positive.

    Section 4 of Brown & Sandholm (2015). ``threshold``: equation (10), 25 in the paper. ``bound``: U(I, a) is the
    highest payoff after the action, as in the paper, or the highest expected payoff if the opponent helped (mean over
    chance, maximum over actions). The latter is tighter and just as sound. ``length``: a pruning lasts as long as (9)
    allows, or for the m = floor(-R(I, a) / (U(I, a) - L(I))) iterations that Theorem 1 guarantees, which must then be
    more than ``threshold``. ``longest``: an upper bound on the length (section 4.1, "another option"); 0: none.
    ``stretch``: above 1, prunings last longer than (9) allows, by about this factor. The action could then have been
    played, so Theorem 1 does not hold.
    """
    return Traversal(threshold=threshold, bound=bound, length=length, longest=longest, stretch=stretch)


def nested_regret_based(
    threshold: float = 3.0, bound: Bound = "payoff", length: Length = "bound", longest: int = 0
) -> Traversal:
    """Regret-based pruning with prunings inside of prunings: ``engines.history.cpu.nested``."""
    return Traversal(threshold=threshold, bound=bound, length=length, longest=longest, nested=True)


@dataclass(frozen=True)
class External:
    """All moves of the learning player; moves of the opponent and of chance are sampled.

    Lanctot, Waugh, Zinkevich & Bowling (2009), section 3.2. ``rule``: as in ``Chance``.
    """

    rule: int = MATCH


@dataclass(frozen=True)
class Outcome:
    """A single path. The learning player explores every move with probability ``epsilon`` / width at least.

    Lanctot et al. (2009), section 3.1. ``rate``: speed at which the baselines follow the sampled values (Schmid et al.
    2019); 0 is outcome sampling without baselines.
    """

    epsilon: float = 0.6
    rate: float = 0.5


@dataclass(frozen=True)
class AverageStrategy:
    """As ``External``, but a move of the player is tried with probability (beta + tau s) / (beta + sum s).

    At least ``epsilon``; s is the move's average so far. Gibson, Burch, Lanctot & Szafron (2012).
    """

    epsilon: float = 0.05
    tau: float = 1000.0
    beta: float = 1e6


@dataclass(frozen=True)
class Chance:
    """All moves of both players that the learning player's opponent reaches; chance moves are sampled.

    Zinkevich et al. (2007), section 4. ``rule``: how regrets make a strategy (``engines.sampling.arrays``).
    """

    rule: int


@dataclass(frozen=True)
class PureExternal:
    """As ``External`` with pure strategies: the opponent's move is known and need not be sampled.

    ``predict``: fraction of the last values that an infoset expects to be added once more.
    """

    predict: float = 0.0


@dataclass(frozen=True)
class Reached:
    """As ``Chance``, with all chance moves: nothing is sampled, and histories that no player reaches are skipped.

    With pure strategies these are the reached histories, and one move beside them. ``predict``: as in ``PureExternal``,
    for pure strategies.
    """

    rule: int
    predict: float = 0.0


@dataclass(frozen=True)
class Drawn:
    """As ``External``, with pure strategies that are drawn from regret matching: Gibson (2014), Pure CFR."""


@dataclass(frozen=True)
class Public:
    """All moves of both players and all hands; public chance moves are sampled.

    Johanson, Bard, Lanctot, Gibson & Bowling (2012). In a game without a deal, all chance moves are sampled.
    """


Sampler = External | Outcome | AverageStrategy | Chance | PureExternal | Reached | Drawn | Public


class Effort(NamedTuple):
    """Cost of a walk: numbers read per node, and powers of widths.

    Numbers are in units of the time of a number read in order. Of a node's w moves, w**power are tried: by the learning
    player, by the opponent, by chance. Measured, and rounded down.
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
    Chance: Effort(6.0, opponent=1.0 / 3.0),  # the moves that the opponent plays
    Reached: Effort(7.0, chance=1.0),
    Drawn: Effort(2.9),
    Public: Effort(1.0, opponent=1.0),  # per deal
}
