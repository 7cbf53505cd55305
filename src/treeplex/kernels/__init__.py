"""How kernels are compiled, cached and run: Numba on the CPU, vectors of 16 numbers, thread teams, CUDA."""
