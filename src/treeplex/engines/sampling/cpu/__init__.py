"""Compiled kernels."""
