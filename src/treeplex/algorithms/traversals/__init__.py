"""Which histories an iteration enters: all, those that somebody reaches, those not pruned by regret, or a sample."""

from treeplex.algorithms.traversals.pruning import (
    BOUNDS,
    Bound,
    Traversal,
    full,
    partial,
    regret_based,
    zero_reach_response,
)
from treeplex.algorithms.traversals.sampling import AverageStrategy, Chance, External, Outcome, PureExternal, Reached

__all__ = [
    "BOUNDS",
    "AverageStrategy",
    "Bound",
    "Chance",
    "External",
    "Outcome",
    "PureExternal",
    "Reached",
    "Traversal",
    "full",
    "partial",
    "regret_based",
    "zero_reach_response",
]
