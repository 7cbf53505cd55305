"""The only compiled code. ``cpu`` holds the Numba kernels, ``reference`` their NumPy twins: the specification.

Kernels take arrays (and NamedTuples of arrays) and scalars, and write into arrays their caller allocated. Both folders
have the same functions with the same arguments; tests compare them step by step.
"""
