"""Compiled kernels of walks over the history tree."""
