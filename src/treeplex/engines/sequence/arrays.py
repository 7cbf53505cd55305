"""What full-width iterations keep, and the rules by which their infosets learn: NamedTuples of arrays.

The types of ``learner`` and ``rule`` choose the code when a kernel is compiled: ``cpu.learn``, ``reference.learn``.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.compile.game import Operator
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.partition import Partitions
from treeplex.kernels.calls import RuleCall

Numbers = npt.NDArray[Any]
"""In the precision of the learners: float64 or float32."""


class Learner(NamedTuple):
    """What CFR keeps for one player between iterations; all arrays [S], float64 or float32, modified in place."""

    regret: npt.NDArray[Any]
    average: npt.NDArray[Any]  # weighted sum of realization plans played
    strategy: npt.NDArray[Any]  # the current strategy
    plan: npt.NDArray[Any]  # its realization plan


class Learner16(NamedTuple):
    """As ``Learner``, with regrets in 16 bits: infoset i has regrets ``scale[i] * regret[first[i]:first[i + 1]]``."""

    regret: npt.NDArray[np.int16]  # [S]
    scale: npt.NDArray[np.float32]  # [I]
    average: Floats  # [S]
    strategy: Floats  # [S]
    plan: Floats  # [S]


class RuleLearner(NamedTuple):
    """What CFR keeps for one player with a rule that is a function; float64 or float32, modified in place."""

    memory: npt.NDArray[Any]  # [rows S] the rows of infoset i begin at rows * first[i]: [rows, A], as the rule has them
    average: npt.NDArray[Any]  # [S] weighted sum of realization plans played
    strategy: npt.NDArray[Any]  # [S] the current strategy
    plan: npt.NDArray[Any]  # [S] its realization plan


class Responder(NamedTuple):
    """A player of fictitious play; both arrays [S], modified in place."""

    plan: Floats  # the average of all best responses, as a realization plan
    response: Floats  # scratch: the last best response


class Matching(NamedTuple):
    """Regret matching in every infoset, with the discounts of a step."""

    predict: float  # how much of the last instantaneous regret is expected to come again


class MatchingAgainstBestResponse(NamedTuple):
    """Regret matching against an opponent who best responds to every strategy played."""

    predict: float
    response: Floats  # [S] scratch: the player's own best response, as a realization plan


class HedgeRule(NamedTuple):
    """Hedge in every infoset of one player, as a walk that takes all exponentials at once: ``updates.hedge``."""

    log_actions: Floats  # [I] ln |A|
    payoff_range: float  # of the whole game
    limit: Floats  # [I] the threshold, to be divided by sqrt(t + 1)
    rate: int  # VARIANCE or THEORY


WalkedLearner = Learner | Learner16 | RuleLearner
WalkedRule = Matching | MatchingAgainstBestResponse | HedgeRule | RuleCall
"""What walks over infosets take: the last two rules with the last learner."""


class SequenceForm(NamedTuple):
    """A game, and scratch for gradients."""

    treeplexes: tuple[Treeplex, Treeplex]
    operator: Operator
    partitions: Partitions
    values: tuple[npt.NDArray[Any], npt.NDArray[Any]]  # [S] in the precision of the learners; modified in place

    @property
    def threads(self) -> int:
        """How many work on it."""
        return 1 if self.partitions[0] is None else len(self.partitions[0].runs) - 1


class InfosetRun(NamedTuple):
    """A run of infosets of one treeplex that one thread walks over; without a partition, all of them."""

    treeplex: Treeplex
    begin: int
    stop: int
    boundary: Floats | None  # [I] values of infosets on the boundary, modified in place; None without a partition


class Steps(NamedTuple):
    """What differs between iterations, one number each."""

    iteration: Floats  # [T] counted from 1
    weight: Floats  # [T] of this iteration's strategies in the average
    positive: Floats  # [T] what positive regret is multiplied by afterwards
    negative: Floats  # [T] what negative regret is multiplied by afterwards


class Step(NamedTuple):
    """The same for one iteration."""

    iteration: float
    weight: float
    positive: float
    negative: float
