"""The command line: answers on stdout, in words or as JSON lines; progress and errors on stderr."""

SOLVED, UNFINISHED, USAGE_ERROR = 0, 1, 2
"""Exit codes: done; stopped before the target or interrupted; wrong input, or output that cannot be written."""

answers: list[str] = []
"""JSON lines that this process has printed: an error that comes after the answer does not take its place."""
