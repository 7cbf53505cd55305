"""Which histories an iteration enters: all, those that somebody reaches, or those not pruned by regret."""

from treeplex.traversals.pruning import Full, Partial, RegretBased, Traversal

__all__ = ["Full", "Partial", "RegretBased", "Traversal"]
