"""Rules that are functions, for engines that gather the numbers of one infoset at a time."""

from __future__ import annotations

from typing import NamedTuple

from treeplex.arrays import Floats
from treeplex.kernels.calls import RuleCall


class FunctionTable(NamedTuple):
    """One player's rule as kernels call it, and the arrays it works on."""

    rule: RuleCall
    memory: Floats  # [rows * S] an infoset's numbers are contiguous, from ``rows`` times its first sequence on
