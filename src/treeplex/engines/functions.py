"""Rules that are functions, for engines that gather the numbers of one infoset at a time."""

from __future__ import annotations

from typing import NamedTuple

from treeplex.arrays import Floats
from treeplex.kernels.calls import RuleCall


class FunctionTable(NamedTuple):
    """How kernels call one player's rule, and what it works on."""

    rule: RuleCall
    memory: Floats  # [rows * S] an infoset's numbers stand together, at ``rows`` times its first sequence
    scratch: Floats  # [(2 + rows) * A]
