"""One folder per representation of a game, with arrays, a NumPy reference, and kernels for each backend it supports.

``protocol`` defines what an engine does, and ``open`` chooses one.
"""
