"""Assemblies of minimizers, schedules and turns; the exact linear program; one run loop for all."""

from treeplex.solvers.registry import ALGORITHMS
from treeplex.solvers.run import Limits, Progress
from treeplex.solvers.solution import Solution
from treeplex.solvers.solve import solve_game

__all__ = ["ALGORITHMS", "Limits", "Progress", "Solution", "solve_game"]
