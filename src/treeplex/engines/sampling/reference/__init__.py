"""Reference implementation of the samplers: the specification of the kernels."""
