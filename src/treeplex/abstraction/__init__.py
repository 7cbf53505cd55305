"""Change the game while solving it: let the sizes that matter be found, added, put aside and brought back."""

from treeplex.abstraction.grow import Addition, Grown, GrowthRow, Run
from treeplex.abstraction.options import Growth

__all__ = ["Addition", "Grown", "Growth", "GrowthRow", "Run"]
