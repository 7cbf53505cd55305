"""Assemblies of minimizers, schedules and turns; the exact linear program; one run loop for all."""

from treeplex.solvers.limits import Limits
from treeplex.solvers.registry import ALGORITHMS
from treeplex.solvers.run import Progress
from treeplex.solvers.solution import Solution
from treeplex.solvers.solve import Options, resume_run, solve_game

__all__ = ["ALGORITHMS", "Limits", "Options", "Progress", "Solution", "resume_run", "solve_game"]
