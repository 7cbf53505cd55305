"""Kernels, their compilation, cache and threads: Numba on the CPU, vectors of 16 numbers, thread teams, CUDA."""
