"""Walks over one treeplex. Maths: ``engines.sequence.reference.treeplex``.

Storage and accumulation float64; one thread; no fastmath, so sums run in the order of the arrays.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.treeplex import Treeplex
from treeplex.kernels.jit import kernel
from treeplex.updates.rules import normalise_span, positive_sum


@kernel
def realization_plan(treeplex: Treeplex, strategy: Floats, plan: Floats) -> None:
    """Convert a strategy to the sequence form, top-down; ``plan`` [S] is modified in place and may be ``strategy``."""
    plan[0] = 1.0
    extended_plan(treeplex, strategy, plan)


@kernel
def extended_plan(treeplex: Treeplex, strategy: Floats, plan: Floats) -> None:
    """Compute plans of the sequences of all infosets, top-down, in ``plan``.

    Sequences that belong to no infoset here must have their plans already.
    """
    first, parent = treeplex
    for infoset in range(len(parent)):
        above = plan[parent[infoset]]
        for s in range(first[infoset], first[infoset + 1]):
            plan[s] = above * strategy[s]


@kernel
def normalise(treeplex: Treeplex, weights: Floats, strategy: Floats) -> None:
    """Convert non-negative weights [S] to a strategy [S], modified in place; uniform where all weights are zero."""
    first = treeplex.first
    strategy[0] = 1.0
    start = np.uint64(first[0])
    for infoset in range(len(first) - 1):
        end = np.uint64(first[infoset + 1])
        normalise_span(weights, strategy, start, end, None, positive_sum(weights, start, end, None))
        start = end


@kernel
def best_response(treeplex: Treeplex, values: Floats, choice: Floats) -> None:
    """Compute a best response bottom-up; ``values`` [S] (the gradient) and ``choice`` [S] are modified in place."""
    first, parent = treeplex
    for s in range(len(choice)):
        choice[s] = 0.0
    choice[0] = 1.0
    for infoset in range(len(parent) - 1, -1, -1):
        best = first[infoset]
        for s in range(first[infoset] + 1, first[infoset + 1]):
            if values[s] > values[best]:
                best = s
        choice[best] = 1.0
        values[parent[infoset]] += values[best]


@kernel
def best_value(treeplex: Treeplex, values: Floats) -> float:
    """Return the value of a best response; ``values`` [S] (the gradient) is modified in place."""
    first, parent = treeplex
    for infoset in range(len(parent) - 1, -1, -1):
        best = values[first[infoset]]
        for s in range(first[infoset] + 1, first[infoset + 1]):
            best = max(best, values[s])
        values[parent[infoset]] += best
    return values[0]
