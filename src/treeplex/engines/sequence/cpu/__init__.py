"""Compiled kernels of the sequence engine for the CPU."""
