"""State of full-width iterations, and the rules by which their infosets learn, as NamedTuples of arrays.

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
"""Numbers in the precision of the learners: float64 or float32."""


class Learner(NamedTuple):
    """State of CFR for one player between iterations; all arrays [S], float64 or float32, modified in place."""

    regret: npt.NDArray[Any]
    average: npt.NDArray[Any]  # weighted sum of the realization plans played
    strategy: npt.NDArray[Any]  # the current strategy
    plan: npt.NDArray[Any]  # realization plan of the current strategy


class Learner16(NamedTuple):
    """State of CFR for one player with regrets in 16 bits.

    Infoset i has the regrets ``scale[i] * regret[first[i]:first[i + 1]]``. Other fields are those of ``Learner``.
    """

    regret: npt.NDArray[np.int16]  # [S]
    scale: npt.NDArray[np.float32]  # [I]
    average: Floats  # [S]
    strategy: Floats  # [S]
    plan: Floats  # [S]


class RuleLearner(NamedTuple):
    """State of CFR for one player with a rule that is a function; float64 or float32, modified in place."""

    memory: npt.NDArray[Any]  # [rows S] the rule's [rows, A] numbers of infoset i begin at rows * first[i]
    average: npt.NDArray[Any]  # [S] weighted sum of the realization plans played
    strategy: npt.NDArray[Any]  # [S] the current strategy
    plan: npt.NDArray[Any]  # [S] realization plan of the current strategy


class Responder(NamedTuple):
    """A player of fictitious play; both arrays [S], modified in place."""

    plan: Floats  # the average of all best responses, as a realization plan
    response: Floats  # scratch: the last best response


class Matching(NamedTuple):
    """Regret matching in every infoset, with the discounts of a step."""

    predict: float  # fraction of the last instantaneous regret that is expected to come again


class MatchingAgainstBestResponse(NamedTuple):
    """Regret matching against an opponent who plays a best response to every strategy."""

    predict: float
    response: Floats  # [S] scratch: the player's own best response, as a realization plan


class HedgeRule(NamedTuple):
    """Hedge in every infoset of one player, as a walk that computes all exponentials at once: ``updates.hedge``."""

    log_actions: Floats  # [I] ln |A|
    payoff_range: float  # range of payoffs of the whole game
    limit: Floats  # [I] the threshold times sqrt(t + 1)
    rate: int  # VARIANCE or THEORY


WalkedLearner = Learner | Learner16 | RuleLearner
WalkedRule = Matching | MatchingAgainstBestResponse | HedgeRule | RuleCall
"""Rules of walks over infosets; the last two go with the last of the learners."""


class SequenceForm(NamedTuple):
    """A game, and scratch for gradients."""

    treeplexes: tuple[Treeplex, Treeplex]
    operator: Operator
    partitions: Partitions
    values: tuple[npt.NDArray[Any], npt.NDArray[Any]]  # [S] in the precision of the learners; modified in place

    @property
    def threads(self) -> int:
        """Number of threads that work on the game."""
        return 1 if self.partitions[0] is None else len(self.partitions[0].runs) - 1


class InfosetRun(NamedTuple):
    """A run of infosets of one treeplex for the walk of one thread; all infosets if there is no partition."""

    treeplex: Treeplex
    begin: int
    stop: int
    boundary: Floats | None  # [I] values of infosets on the boundary, modified in place; None without a partition
    thread: int


class Steps(NamedTuple):
    """Numbers that differ between iterations, for T iterations."""

    iteration: Floats  # [T] number of the iteration, from 1
    weight: Floats  # [T] weight of the iteration's strategies in the average
    positive: Floats  # [T] factor of positive regret after the iteration
    negative: Floats  # [T] factor of negative regret after the iteration


class Step(NamedTuple):
    """Numbers of one iteration; see ``Steps``."""

    iteration: float
    weight: float
    positive: float
    negative: float
