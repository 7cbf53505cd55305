"""Walks over histories by level, which count the nodes they enter and skip irrelevant ones."""
