"""The same in NumPy: the specification."""
