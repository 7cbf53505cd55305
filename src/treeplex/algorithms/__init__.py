"""Algorithms: update rules assembled with averaging weights and turns, the linear program, and the registry."""
