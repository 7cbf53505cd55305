"""Reference implementation of growing public trees in NumPy: the specification of the kernels."""
