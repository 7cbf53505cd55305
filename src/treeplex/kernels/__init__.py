"""The only compiled code. ``cpu`` holds the Numba kernels, ``reference`` their NumPy twins: the specification.

Kernels take arrays and scalars, write into arrays their caller allocated, and know nothing of the rest of treeplex.
Both folders have the same functions with the same arguments; tests compare them step by step.
"""
