"""Change the game while solving it: let the sizes that matter be found, added, put aside and brought back."""

from treeplex.runs.growth import Addition, GrowthRow, Progress
from treeplex.algorithms.growth.options import Growth
from treeplex.runs.growth_solution import GrownSolution, grow_game, is_growing_run, request, resume_growth

__all__ = [
    "Addition",
    "GrownSolution",
    "Growth",
    "GrowthRow",
    "Progress",
    "grow_game",
    "is_growing_run",
    "request",
    "resume_growth",
]
