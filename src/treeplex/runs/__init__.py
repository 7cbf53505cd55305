"""Runs of algorithms: request, loop, limits, evaluation schedule, log, checkpoint, folder, solution, resume."""

from treeplex.limits import Limits
from treeplex.runs.loop import Progress
from treeplex.runs.schema import Options
from treeplex.runs.solution import Solution

__all__ = ["Limits", "Options", "Progress", "Solution"]
