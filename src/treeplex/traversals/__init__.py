"""Which histories an iteration enters: all, those that somebody reaches, or those not pruned by regret."""

from treeplex.traversals.pruning import BOUNDS, Bound, Traversal, full, partial, regret_based, zero_reach_response

__all__ = ["BOUNDS", "Bound", "Traversal", "full", "partial", "regret_based", "zero_reach_response"]
