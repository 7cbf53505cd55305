"""Threads that work on the same arrays inside kernels, and meet at barriers."""
