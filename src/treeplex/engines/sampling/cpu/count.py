"""How many histories a game has left when some actions are taken out. One thread."""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Bytes
from treeplex.engines.sampling.tree import END, NATURE, WIDTH_BITS, SampleTree
from treeplex.jit import kernel

WIDE = 2**WIDTH_BITS - 1


@kernel
def histories(tree: SampleTree, kept: tuple[Bytes, Bytes]) -> int:
    """Histories after the deal, over all deals, that only sequences with ``kept`` [S] not 0 lead to."""
    word, _, chances, _, hands = tree
    stack = np.empty(len(word), dtype=np.int64)
    count = 0
    for deal in range(hands.shape[1]):
        stack[0], height = 0, 1
        while height > 0:
            height -= 1
            node = stack[height]
            count += 1
            code = word[node, 0]
            actor, width, child = code & 3, (code >> 2) & WIDE, code >> (2 + WIDTH_BITS)
            if actor == END:
                continue
            for k in range(width):
                if actor == NATURE:
                    goes = chances.probability[word[node, 1] + deal * width + k] > 0.0
                else:
                    mask = kept[0] if actor == 0 else kept[1]
                    goes = mask[word[node, 1] + hands[actor, deal] * width + k] != 0
                if goes:
                    stack[height] = child + k
                    height += 1
    return count
