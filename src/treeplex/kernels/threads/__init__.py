"""Threads that work on the same arrays inside kernels and wait for each other at barriers."""
