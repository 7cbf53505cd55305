"""Walks over one treeplex. Maths: ``engines.sequence.reference.treeplex``.

Storage and accumulation float64; one thread; no fastmath, so sums run in the order of the arrays.
"""

from __future__ import annotations

from treeplex.arrays import Floats
from treeplex.compile.treeplex import Treeplex
from treeplex.jit import kernel


@kernel
def sequence_weights(treeplex: Treeplex, behaviour: Floats, weights: Floats) -> None:
    """Strategy to sequence form, top-down; ``weights`` [S] is modified in place."""
    first, parent = treeplex
    weights[0] = 1.0
    for infoset in range(len(parent)):
        above = weights[parent[infoset]]
        for s in range(first[infoset], first[infoset + 1]):
            weights[s] = above * behaviour[s]


@kernel
def normalise(treeplex: Treeplex, weights: Floats, behaviour: Floats) -> None:
    """Non-negative weights [S] to a strategy [S], modified in place; uniform where they are all zero."""
    first = treeplex.first
    behaviour[0] = 1.0
    for infoset in range(len(first) - 1):
        total = 0.0
        for s in range(first[infoset], first[infoset + 1]):
            total += weights[s]
        for s in range(first[infoset], first[infoset + 1]):
            behaviour[s] = weights[s] / total if total > 0.0 else 1.0 / (first[infoset + 1] - first[infoset])


@kernel
def best_response(treeplex: Treeplex, values: Floats, choice: Floats) -> None:
    """Bottom-up maximum; ``values`` [S] (the gradient) and ``choice`` [S] are modified in place."""
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
