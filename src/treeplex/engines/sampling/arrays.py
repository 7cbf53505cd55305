"""State and scratch arrays of sampling kernels, and small integers that name rules."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Bytes, Floats, Ints
from treeplex.engines.sampling.tree import Longs, SampleTree, Sampling
from treeplex.kernels.calls import RuleCall

MATCH: Final = 0  # regret matching, uniform without positive regret
MATCH_OR_PICK: Final = 1  # regret matching, a random pure strategy without positive regret
PURE: Final = 2  # the action of the largest regret or value

NO_RULE: Final = RuleCall(
    np.uint64(0), np.uint64(0), np.zeros(1), np.full(3, -1, dtype=np.int64), np.zeros(1), np.zeros((1, 1))
)

BOTH: Final = 2  # stands for a player: both learn from one walk


class LearnerTable(NamedTuple):
    """Regrets and averages of one player, in the order of the sample tree; modified in place.

    Arrays that an algorithm does not use have length one.
    """

    regret: Floats  # [S] weighted sums of sampled regrets, or of values (pure strategies); strategies of a function
    average: Floats  # [S] weighted sums of strategies, by reach
    pick: Ints  # [S] at the first sequence of an infoset: the action a pure strategy plays
    baseline: Floats  # [S] running means of sampled values of player 0


class Frames(NamedTuple):
    """Scratch stack of the unfinished nodes on the path."""

    stack: Longs  # [depth, 6] FIRST, WIDTH, CHILD, NEXT, ACTOR, PLAYED
    number: Floats  # [depth, 4] SCALE and TOTAL or DRAWN; or REACH_0, REACH_1, REACH_CHANCE, MEAN
    util: Floats  # [depth, widest] values of a player's moves
    sigma: Floats  # [depth, widest] probabilities of these moves


class HandFrames(NamedTuple):
    """Scratch arrays of walks over public nodes times hands; H is the larger number of hands, D that of deals."""

    stack: Longs  # [depth, 6] FIRST, WIDTH, CHILD, NEXT, ACTOR, LEVEL
    depth: Longs  # [1] number of nodes on the stack
    hands: Longs  # [2] numbers of both players' hands
    chance: Floats  # [levels, D] probability of the deal and the public moves, over that of drawing these moves
    mass: Floats  # [levels, 2, H] sums of ``chance`` by hand of each player
    possible: Longs  # [levels] number of deals that the public moves allow
    reach: Floats  # [depth + 1, H] the opponent's reach
    sigma: Floats  # [depth, widest, H] strategies
    util: Floats  # [depth, widest, H] counterfactual values of moves
    value: Floats  # [H] counterfactual values of the last node
    row: Floats  # [1, widest] numbers of one hand


class RegretLog(NamedTuple):
    """Scratch log of instantaneous regrets that wait for the end of one or both walks; empty between iterations.

    For pure strategies only infosets are logged: ``regret`` and ``seen`` have length one.
    """

    regret: Floats  # [S]
    visited: Longs  # [I, 2] FIRST and WIDTH of the logged infosets
    seen: Bytes  # [S] at the first sequence: 1 if the infoset is in ``visited``
    filled: Longs  # [1] number of infosets in ``visited``
    rule: RuleCall  # used by a ``FunctionLog``
    memory: Floats  # [rows * S] of that rule; [2 * S] of a ``DiscountLog``: logarithms at an infoset's last update
    iteration: Floats  # [1] number of the iteration, for that rule; of a ``DiscountLog`` [1 + 2 T], see there


class FunctionLog(RegretLog):
    """A log of values, for a rule that is a function. It has its own type, so that kernels are compiled for it."""


class SamplerArrays(NamedTuple):
    """Arguments of a sampler's iterations. All arrays except the tree and the weights are modified in place."""

    tree: SampleTree
    pre_deal: int  # number of nodes that drawing a deal enters
    tables: tuple[LearnerTable, LearnerTable]
    weights: Floats  # [T] weights of the iterations in regrets, or in values
    average_weights: Floats  # [T] weights of the iterations in the averages
    plus: bool  # regrets are cut off at zero
    turns: int
    logs: tuple[RegretLog, RegretLog]
    frames: Frames
    counter: npt.NDArray[np.uint64]  # [1] state of the stream of random numbers
    nodes: Longs  # [2] number of nodes entered, and number evaluated but not entered


class DiscountLog(RegretLog):
    """A log of regrets that are discounted: ``cpu.discount``.

    ``iteration`` has the number of iterations begun in this call, then for each of them the logarithms of the products
    of all discounts before it, of positive and of other regrets.
    """


def table(sequences: int, *, pick: bool, baseline: bool) -> LearnerTable:
    """Return a table of zeros. The system allocates no memory for pages that are never touched."""
    return LearnerTable(
        np.zeros(sequences),
        np.zeros(sequences),
        np.zeros(sequences if pick else 1, dtype=np.int32),
        np.zeros(sequences if baseline else 1),
    )


def frames(sampling: Sampling) -> Frames:
    """Return a stack with room for the longest path."""
    depth, widest = sampling.deepest + 1, sampling.widest
    return Frames(
        np.empty((depth, 6), dtype=np.int64),
        np.empty((depth, 4)),
        np.empty((depth, widest)),
        np.empty((depth, widest)),
    )


def hand_frames(sampling: Sampling) -> HandFrames:
    """Return scratch arrays with room for the longest path, for all hands at once."""
    depth, widest, dealt = sampling.deepest + 1, sampling.widest, sampling.tree.hands
    hands, deals = int(dealt.max(initial=0)) + 1, dealt.shape[1]
    return HandFrames(
        stack=np.empty((depth, 6), dtype=np.int64),
        depth=np.zeros(1, dtype=np.int64),
        hands=dealt.max(axis=1).astype(np.int64) + 1,
        chance=np.empty((depth, deals)),
        mass=np.empty((depth, 2, hands)),
        possible=np.empty(depth, dtype=np.int64),
        reach=np.empty((depth + 1, hands)),
        sigma=np.empty((depth, widest, hands)),
        util=np.empty((depth, widest, hands)),
        value=np.empty(hands),
        row=np.empty((1, widest)),
    )


def log(sequences: int, *, regrets: bool) -> RegretLog:
    """Return an empty log, with room for regrets or only for infosets."""
    return RegretLog(*_waiting(sequences, sequences if regrets else 1), NO_RULE, np.zeros(1), np.zeros(1))


def function_log(sequences: int, rule: RuleCall, memory: Floats, done: int) -> FunctionLog:
    """Return an empty log after ``done`` iterations."""
    return FunctionLog(*_waiting(sequences, sequences), rule, memory, np.array([float(done)]))


def discount_log(sequences: int, regrets: bool, memory: Floats, logarithms: Floats) -> DiscountLog:
    """Return an empty log; ``logarithms``: [T, 2] of the products of discounts before each iteration."""
    waiting = _waiting(sequences, sequences if regrets else 1)
    return DiscountLog(*waiting, NO_RULE, memory, np.concatenate(([0.0], logarithms.ravel())))


def _waiting(sequences: int, waiting: int) -> tuple[Floats, Longs, Bytes, Longs]:
    return (
        np.zeros(waiting),
        np.empty((sequences, 2), dtype=np.int64),
        np.zeros(waiting, dtype=np.int8),
        np.zeros(1, dtype=np.int64),
    )
