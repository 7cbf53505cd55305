"""The kernels in Numba: no fastmath, cached on disk; each says what it stores and how many threads it uses."""
