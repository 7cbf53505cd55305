"""What every kernel must compute, in NumPy, for reading and for testing."""
