"""Walks over one treeplex: realization plans, strategies and best responses."""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.treeplex import Treeplex
from treeplex.updates.reference import normalise_sequences


def realization_plan(treeplex: Treeplex, strategy: Floats, plan: Floats) -> None:
    """Convert a strategy to the sequence form, top-down; ``plan`` [S] is modified in place.

    x(empty) = 1;  x(I, a) = x(parent of I) * strategy(I, a)
    """
    plan[0] = 1.0
    for infoset, above in enumerate(treeplex.parent):
        own = slice(treeplex.first[infoset], treeplex.first[infoset + 1])
        plan[own] = plan[above] * strategy[own]


def normalise(treeplex: Treeplex, weights: Floats, strategy: Floats) -> None:
    """Convert a realization plan, or any non-negative weights [S], to a strategy [S], modified in place.

    strategy(I, a) = x(I, a) / sum_b x(I, b), uniform where the sum is zero
    """
    strategy[:] = normalise_sequences(weights, treeplex.first)


def best_response(treeplex: Treeplex, values: Floats, choice: Floats) -> None:
    """Compute a best response bottom-up; ``values`` [S], the gradient, and ``choice`` [S] are modified in place.

    v(I) = max_a v(I, a);  v(parent of I) += v(I).  Afterwards values[0] is the value of the best response, and
    ``choice`` is the pure strategy that plays the first maximising action of every infoset.
    """
    choice[:] = 0.0
    choice[0] = 1.0
    first, parent = treeplex
    for infoset in range(len(parent) - 1, -1, -1):
        own = slice(first[infoset], first[infoset + 1])
        best = first[infoset] + int(np.argmax(values[own]))
        choice[best] = 1.0
        values[parent[infoset]] += values[best]
