"""Histories by level: traversals that count nodes and leave out what cannot matter."""
