"""Compiled kernels of the samplers."""
