"""Number of histories of a game without some of its actions. One thread."""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Bytes
from treeplex.engines.sampling.columns import START, ZERO
from treeplex.engines.sampling.cpu.frame import unpacked
from treeplex.engines.sampling.tree import CHANCE_NODE, TERMINAL_NODE, SampleTree
from treeplex.kernels.jit import allocating_kernel


@allocating_kernel
def histories(tree: SampleTree, allowed: tuple[Bytes, Bytes]) -> int:
    """Return the number of histories after the deal, over all deals, on sequences whose ``allowed`` [S] is not 0."""
    packed, _, chances, _, hands = tree
    stack = np.empty(len(packed), dtype=np.uint64)
    count = 0
    for deal in range(np.uint64(hands.shape[1])):
        stack[0], height = ZERO, 1
        while height > 0:
            height -= 1
            node = stack[height]
            count += 1
            actor, width, child = unpacked(packed, node)
            if actor == TERMINAL_NODE:
                continue
            for k in range(width):
                start = np.uint64(packed[node, START])
                if actor == CHANCE_NODE:
                    goes = chances.probability[start + deal * width + k] > 0.0
                else:
                    mask = allowed[0] if actor == ZERO else allowed[1]
                    goes = mask[start + np.uint64(hands[actor, deal]) * width + k] != 0
                if goes:
                    stack[height] = child + k
                    height += 1
    return count
