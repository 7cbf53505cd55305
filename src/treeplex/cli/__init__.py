"""The command line: results on stdout, as text or JSON lines; progress and errors on stderr."""

SOLVED, UNFINISHED, USAGE_ERROR = 0, 1, 2
"""Exit codes: done; stopped before the target or interrupted; wrong input, or output that cannot be written."""

answers: list[str] = []
"""JSON lines printed by this process. An error after the result does not replace it."""
