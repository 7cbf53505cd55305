"""Counterfactual regret minimization with several threads: the same bits as ``kernels.cpu.cfr``, whatever their number.

Each thread owns a run of rows of the operator and a run of infosets (``kernels.partition``); nothing is written by
two. Storage is that of the arrays, accumulation float64; no fastmath.
"""

from __future__ import annotations

import numpy as np
from numba import prange  # pyright: ignore[reportAttributeAccessIssue, reportUnknownVariableType]

from treeplex.arrays import Floats
from treeplex.compile.game import Operator
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.arrays import SIMULTANEOUS, TOP, Learner, Steps
from treeplex.engines.sequence.cpu.cfr import judge, reach
from treeplex.engines.sequence.cpu.operators import Side, earn_rows
from treeplex.engines.sequence.partition import Partition
from treeplex.jit import kernel, parallel_kernel


@parallel_kernel
def _earn(side: Side, cut: Partition, sign: float, opponent: Floats, values: Floats) -> None:
    for k in prange(len(cut.rows) - 1):
        earn_rows(side, sign, opponent, values, cut.rows[k], cut.rows[k + 1])


@parallel_kernel
def _judge_runs(
    treeplex: Treeplex,
    cut: Partition,
    learner: Learner,
    values: Floats,
    worth: Floats,
    positive: float,
    negative: float,
    predict: float,
) -> None:
    for k in prange(len(cut.runs) - 1):
        begin, stop = cut.runs[k], cut.runs[k + 1]
        judge(treeplex, cut.role, begin, stop, learner, values, worth, positive, negative, predict)


@parallel_kernel
def _reach_runs(treeplex: Treeplex, cut: Partition, learner: Learner, weight: float) -> None:
    for k in prange(len(cut.runs) - 1):
        reach(treeplex, cut.role, cut.runs[k], cut.runs[k + 1], learner, weight)


@kernel
def _learn(
    treeplex: Treeplex,
    cut: Partition,
    learner: Learner,
    values: Floats,
    worth: Floats,
    weight: float,
    positive: float,
    negative: float,
    predict: float,
) -> None:
    _judge_runs(treeplex, cut, learner, values, worth, positive, negative, predict)
    alone = np.zeros(len(treeplex.parent), dtype=np.int8)
    for place in range(len(cut.seam) - 1, -1, -1):
        infoset = cut.seam[place]
        if cut.role[infoset] == TOP:
            judge(treeplex, alone, infoset, infoset + 1, learner, values, worth, positive, negative, predict)
        else:
            values[treeplex.parent[infoset]] += worth[infoset]
    learner.average[0] += weight
    for infoset in cut.seam:
        if cut.role[infoset] == TOP:
            reach(treeplex, alone, infoset, infoset + 1, learner, weight)
    _reach_runs(treeplex, cut, learner, weight)


@kernel
def cfr_iterations_threads(
    treeplexes: tuple[Treeplex, Treeplex],
    operator: Operator,
    cuts: tuple[Partition, Partition],
    learners: tuple[Learner, Learner],
    values: tuple[Floats, Floats],
    worth: tuple[Floats, Floats],
    steps: Steps,
    predict: float,
    turns: int,
) -> None:
    """As ``cfr_iterations``; ``worth`` [I] of each player is scratch."""
    for t in range(len(steps.weight)):
        weight, positive, negative = steps.weight[t], steps.positive[t], steps.negative[t]
        _earn(operator.rows, cuts[0], 1.0, learners[1].weights, values[0])
        if turns == SIMULTANEOUS:
            _earn(operator.columns, cuts[1], -1.0, learners[0].weights, values[1])
        _learn(treeplexes[0], cuts[0], learners[0], values[0], worth[0], weight, positive, negative, predict)
        if turns != SIMULTANEOUS:
            _earn(operator.columns, cuts[1], -1.0, learners[0].weights, values[1])
        _learn(treeplexes[1], cuts[1], learners[1], values[1], worth[1], weight, positive, negative, predict)
