"""Browse a solved spot: the values of all nodes are in memory, and every view is a dictionary for JSON."""

from treeplex.poker.browse.opened import OpenedSpot, open_spot

__all__ = ["OpenedSpot", "open_spot"]
