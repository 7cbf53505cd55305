"""The kernels in Numba: float64 throughout, one thread, no fastmath, cached on disk."""
