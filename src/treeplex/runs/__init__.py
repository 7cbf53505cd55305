"""One way to run: request, loop, limits, evaluation schedule, log, checkpoint, folder, solution, resume."""

from treeplex.runs.limits import Limits
from treeplex.runs.loop import Progress
from treeplex.runs.solution import Solution
from treeplex.runs.solve import Options

__all__ = ["Limits", "Options", "Progress", "Solution"]
