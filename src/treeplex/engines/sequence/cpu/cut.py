"""Iterations and evaluations of a trunk and its shards: see ``engines.sequence.cut``.

These are the walks of ``cpu.learn`` over parts of a treeplex. Storage is that of the arrays, accumulation float64; one
thread; no fastmath. Learners, values and boundaries are modified in place.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Bytes, Floats
from treeplex.compile.payoffs import Csr
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.arrays import InfosetRun, Matching, Numbers, Step, WalkedLearner
from treeplex.engines.sequence.cpu.bottom_up import walk_up
from treeplex.engines.sequence.cpu.learn import learn_shared, walk_down
from treeplex.engines.sequence.cpu.operators import gradient
from treeplex.engines.sequence.partition import BOUNDARY
from treeplex.kernels.calls import RuleCall
from treeplex.kernels.jit import allocating_kernel, kernel


@kernel
def learn_below(
    treeplex: Treeplex, role: Bytes, rows: Csr, sign: float, opponent: Numbers, learner: WalkedLearner,
    rule: Matching | RuleCall, values: Numbers, boundary: Floats, step: Step,
) -> None:  # fmt: skip
    """Update regrets and next strategies of one player in a shard.

    Values of infosets right below the trunk go to ``boundary``.
    """
    gradient(rows, sign, opponent, values)
    walk_up(InfosetRun(treeplex, 0, len(treeplex.parent), boundary, 0), role, learner, rule, values, step)


@kernel
def follow_below(treeplex: Treeplex, learner: WalkedLearner, rule: Matching | RuleCall, step: Step) -> None:
    """Update averages and plans of a shard, from its strategies and from the known plans of the trunk."""
    walk_down(InfosetRun(treeplex, 0, len(treeplex.parent), None, 0), None, learner, rule, step)


@allocating_kernel
def learn_above(
    treeplex: Treeplex, role: Bytes, rows: Csr, sign: float, opponent: Numbers, learner: WalkedLearner,
    rule: Matching | RuleCall, values: Numbers, boundary: Floats, step: Step,
) -> None:  # fmt: skip
    """Update regrets, strategies, averages and plans of one player in the trunk.

    ``boundary`` has the values of infosets right below, from the shards; they are added in the game's order.
    """
    gradient(rows, sign, opponent, values)
    learn_shared(treeplex, role, np.arange(len(role), dtype=np.int32), boundary, learner, rule, values, step)


@kernel
def respond(treeplex: Treeplex, role: Bytes, values: Floats, boundary: Floats) -> None:
    """Compute the values of a best response bottom-up, in ``values``.

    In a shard, values of infosets on the boundary go to ``boundary``. In a trunk, infosets without sequences are those
    of the shards, and their values are read from ``boundary``.
    """
    first, parent = treeplex
    for infoset in range(len(parent) - 1, -1, -1):
        if first[infoset] == first[infoset + 1]:
            values[parent[infoset]] += boundary[infoset]
            continue
        best = values[first[infoset]]
        for s in range(first[infoset] + 1, first[infoset + 1]):
            best = max(best, values[s])
        if role[infoset] == BOUNDARY:
            boundary[infoset] = best
        else:
            values[parent[infoset]] += best


@kernel
def added(products: Floats) -> float:
    """Return the sum of ``products``, added in their order."""
    total = 0.0
    for product in products:
        total += product
    return total
