"""Browsing a solved spot: values of all nodes are in memory, and every view of one is a dictionary for JSON."""

from treeplex.poker.browse.opened import OpenedSpot, open_spot

__all__ = ["OpenedSpot", "open_spot"]
