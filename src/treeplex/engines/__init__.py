"""One folder per representation of a game; in each: arrays, a NumPy reference and compiled kernels."""
