"""One folder per representation of a game; in each: arrays, a NumPy reference, and kernels for the backends it has.

``protocol`` says what an engine does, ``open`` chooses one.
"""
