"""Rules that are functions, for engines that gather the numbers of one infoset at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.kernels.calls import RuleCall
from treeplex.updates.rule import Rule


class FunctionTable(NamedTuple):
    """How kernels call one player's rule, and what it works on."""

    rule: RuleCall
    memory: Floats  # [rows * S] an infoset's numbers stand together, at ``rows`` times its first sequence
    scratch: Floats  # [(2 + rows) * A] values, strategy and memory of one infoset


def initial_memory(rule: Rule, first: Ints, actions: Ints, sequences: int, constants: Floats) -> Floats:
    """[rows * S] The memory before the first iteration, of infosets that begin at ``first`` and have ``actions``."""
    memory = np.zeros(rule.memory * sequences)
    for width in np.unique(actions).tolist():
        numbers = rule.initial(width, constants).reshape(-1)
        if numbers.any():  # pages that are never touched take no memory
            begin = rule.memory * first[actions == width].astype(np.int64)
            memory[begin[:, None] + np.arange(len(numbers))] = numbers
    return memory
