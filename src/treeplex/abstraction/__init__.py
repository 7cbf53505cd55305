"""Change the game while solving it: let the sizes that matter be found, added, put aside and brought back."""

from treeplex.abstraction.grow import Addition, GrowthRow, Progress
from treeplex.abstraction.options import Growth
from treeplex.abstraction.solution import GrownSolution, grow_game, is_growing_run, request, resume_growth

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
