"""Assemblies of minimizers, schedules and turns; the exact linear program; one run loop for all."""

from treeplex.runs.limits import Limits
from treeplex.algorithms.registry import ALGORITHMS
from treeplex.runs.run import Progress
from treeplex.runs.solution import Solution
from treeplex.runs.solve import Options, resume_run, solve_game

__all__ = ["ALGORITHMS", "Limits", "Options", "Progress", "Solution", "resume_run", "solve_game"]
