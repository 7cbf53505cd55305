"""Batches of jobs, each of them a run: reading, planning, execution and results."""
