"""What sampling kernels keep and what they work with: NamedTuples of arrays, small integers."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Bytes, Floats, Ints
from treeplex.engines.sampling.tree import Longs, SampleTree, Sampling
from treeplex.kernels.calls import RuleCall

MATCH: Final = 0  # regret matching, uniform without positive regret
MATCH_OR_PICK: Final = 1  # regret matching, a random pure strategy without positive regret
PURE: Final = 2  # the action of the greatest regret or value

NO_RULE: Final = RuleCall(np.uint64(0), np.uint64(0), np.zeros(1), np.full(3, -1, dtype=np.int64), np.zeros(1))

BOTH: Final = 2  # in place of a player: both learn from one walk


class LearnerTable(NamedTuple):
    """What one player has learnt, in the order of the sample tree; modified in place.

    Arrays that an algorithm does not use have length one.
    """

    regret: Floats  # [S] weighted sums of sampled regrets, or of values for pure strategies; of a function: strategies
    average: Floats  # [S] weighted sums of strategies, by reach
    pick: Ints  # [S] at the first sequence of an infoset: the action a pure strategy plays
    baseline: Floats  # [S] running means of sampled values, player 0's


class Frames(NamedTuple):
    """A stack of the nodes on the path that are not done yet; scratch."""

    place: Longs  # [depth, 6] FIRST, WIDTH, CHILD, NEXT, ACTOR, PLAYED
    number: Floats  # [depth, 4] SCALE and TOTAL or DRAWN; or REACH_0, REACH_1, REACH_CHANCE, MEAN
    util: Floats  # [depth, widest] values of a player's moves
    sigma: Floats  # [depth, widest] their probabilities


class RegretLog(NamedTuple):
    """Instantaneous regrets that wait until a walk, or both walks, are over; scratch, and empty between iterations.

    For pure strategies only the infosets wait: ``regret`` and ``seen`` have length one.
    """

    regret: Floats  # [S]
    visited: Longs  # [I, 2] FIRST and WIDTH of the infosets that wait
    seen: Bytes  # [S] at the first sequence: in ``visited`` already?
    filled: Longs  # [1] how many are in ``visited``
    rule: RuleCall  # of a ``FunctionLog``
    memory: Floats  # [rows * S] of that rule
    iteration: Floats  # [1] counted for that rule


class FunctionLog(RegretLog):
    """The same for a rule that is a function; what waits are values. A type of its own, as kernels are compiled."""


class SamplerArrays(NamedTuple):
    """What some iterations of a sampler work with; all but the tree and the weights is modified in place."""

    tree: SampleTree
    pre_deal: int  # nodes that drawing a deal enters
    tables: tuple[LearnerTable, LearnerTable]
    weights: Floats  # [T] of the iterations in regrets, or in values
    average_weights: Floats  # [T] in the averages
    plus: bool  # regrets are cut off at zero
    turns: int
    logs: tuple[RegretLog, RegretLog]
    frames: Frames
    counter: npt.NDArray[np.uint64]  # [1] where the stream of random numbers stands
    nodes: Longs  # [2] entered; looked at but not entered


def table(sequences: int, *, pick: bool, baseline: bool) -> LearnerTable:
    """Nothing learnt yet. Pages that are never touched take no memory."""
    return LearnerTable(
        np.zeros(sequences),
        np.zeros(sequences),
        np.zeros(sequences if pick else 1, dtype=np.int32),
        np.zeros(sequences if baseline else 1),
    )


def frames(sampling: Sampling) -> Frames:
    """Room for the longest path."""
    depth, widest = sampling.deepest + 1, sampling.widest
    return Frames(
        np.empty((depth, 6), dtype=np.int64),
        np.empty((depth, 4)),
        np.empty((depth, widest)),
        np.empty((depth, widest)),
    )


def log(sequences: int, *, regrets: bool) -> RegretLog:
    """Empty; with room for regrets, or for the names of infosets alone."""
    return RegretLog(*_waiting(sequences, sequences if regrets else 1), NO_RULE, np.zeros(1), np.zeros(1))


def function_log(sequences: int, rule: RuleCall, memory: Floats, done: int) -> FunctionLog:
    """Empty, after ``done`` iterations."""
    return FunctionLog(*_waiting(sequences, sequences), rule, memory, np.array([float(done)]))


def _waiting(sequences: int, waiting: int) -> tuple[Floats, Longs, Bytes, Longs]:
    return (
        np.zeros(waiting),
        np.empty((sequences, 2), dtype=np.int64),
        np.zeros(waiting, dtype=np.int8),
        np.zeros(1, dtype=np.int64),
    )
