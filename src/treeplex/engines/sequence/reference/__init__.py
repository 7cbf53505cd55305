"""The specification of the kernels in ``cpu``, equation by equation in NumPy."""
