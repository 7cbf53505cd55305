"""Compiled kernels of growing public trees."""
