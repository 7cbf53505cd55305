"""Reference implementation of walks in NumPy: the specification of the kernels."""
