"""Counterfactual regret minimization over the sequence form. Maths: ``kernels.reference.cfr``.

Storage and accumulation float64; one thread; no fastmath. Work and bytes per iteration: every matrix entry is read
twice (12 bytes each time, plus a gathered weight), every sequence's five numbers are read and written once or twice.
"""

from __future__ import annotations

from treeplex.arrays import Floats
from treeplex.compiled.payoffs import Csr, Payoffs
from treeplex.compiled.treeplex import Treeplex
from treeplex.kernels.cpu.jit import kernel
from treeplex.kernels.rules import REGRET_MATCHING_PLUS, SIMULTANEOUS, Learner


@kernel
def _earn(matrix: Csr, opponent: Floats, values: Floats, sign: float) -> None:
    """values = sign * matrix opponent."""
    start, column, data = matrix
    for row in range(len(values)):
        total = 0.0
        for entry in range(start[row], start[row + 1]):
            total += data[entry] * opponent[column[entry]]
        values[row] = sign * total


@kernel
def _learn(treeplex: Treeplex, learner: Learner, values: Floats, weight: float, rule: int) -> None:
    """Average, regrets and next strategy of one player; ``learner`` and ``values`` are modified in place."""
    first, parent = treeplex
    regret, average, behaviour, weights = learner
    for infoset in range(len(parent) - 1, -1, -1):
        start, end = first[infoset], first[infoset + 1]
        expected = 0.0
        for s in range(start, end):
            expected += behaviour[s] * values[s]
        values[parent[infoset]] += expected
        positive = 0.0
        for s in range(start, end):
            r = regret[s] + (values[s] - expected)
            if r > 0.0:
                positive += r
            elif rule == REGRET_MATCHING_PLUS:
                r = 0.0
            regret[s] = r
            average[s] += weight * weights[s]
        for s in range(start, end):
            if positive > 0.0:
                behaviour[s] = max(regret[s], 0.0) / positive
            else:
                behaviour[s] = 1.0 / (end - start)
    average[0] += weight
    for infoset in range(len(parent)):
        above = weights[parent[infoset]]
        for s in range(first[infoset], first[infoset + 1]):
            weights[s] = above * behaviour[s]


@kernel
def cfr_iterations(
    treeplexes: tuple[Treeplex, Treeplex],
    payoffs: Payoffs,
    learners: tuple[Learner, Learner],
    values: tuple[Floats, Floats],
    averaging: Floats,
    rule: int,
    turns: int,
) -> None:
    """One iteration for each weight in ``averaging``; ``learners`` and the scratch ``values`` are modified in place."""
    for weight in averaging:
        _earn(payoffs.rows, learners[1].weights, values[0], 1.0)
        if turns == SIMULTANEOUS:
            _earn(payoffs.columns, learners[0].weights, values[1], -1.0)
        _learn(treeplexes[0], learners[0], values[0], weight, rule)
        if turns != SIMULTANEOUS:
            _earn(payoffs.columns, learners[0].weights, values[1], -1.0)
        _learn(treeplexes[1], learners[1], values[1], weight, rule)
