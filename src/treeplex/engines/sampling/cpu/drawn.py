"""External sampling with drawn pure strategies (Gibson's Pure CFR): nothing is multiplied by a probability.

The opponent plays a move drawn from its strategy, and only this move is counted in its average. The value of the
player's infoset is that of a move drawn likewise. Maths: ``engines.sampling.reference.drawn``. Float64; one thread per
stream; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.sampling.arrays import MATCH, Frames, LearnerTable, RegretLog, SamplerArrays
from treeplex.engines.sampling.columns import CHILD, FACTOR, FIRST, NEXT, ONE, START, WIDTH, ZERO
from treeplex.engines.sampling.cpu.frame import iterations, observe, push, unpacked
from treeplex.engines.sampling.cpu.random import Counter, draw_move, uniform
from treeplex.engines.sampling.tree import CHANCE_NODE, TERMINAL_NODE, SampleTree
from treeplex.kernels.jit import Index, inlined, kernel
from treeplex.updates.rules import positive, positive_sum


@kernel
def draw_matched(regret: Floats, start: Index, width: Index, counter: Counter) -> Index:
    """Draw a move by regret matching: uniformly without positive regret."""
    total = positive_sum(regret, start, start + width, None)
    if total <= 0.0:
        return np.uint64(uniform(counter) * np.float64(width))
    x, move = uniform(counter) * total, ZERO
    for s in range(start, start + width):  # without branches, because the move cannot be predicted
        x -= positive(regret[s])
        move += ONE if x >= 0.0 else ZERO
    if move == width:  # by rounding: take the last move of positive probability
        move -= ONE
        while regret[start + move] <= 0.0:
            move -= ONE
    return move


@inlined
def walk(
    options: tuple[()], player: int, deal: Index, tree: SampleTree, mine: LearnerTable, theirs: LearnerTable,
    weight: float, average_weight: float, plus: bool, later: bool, log: RegretLog, frames: Frames, counter: Counter,
) -> int:  # fmt: skip
    """Run one walk for ``player``; return the number of nodes entered.

    ``weight`` applies to regrets, ``average_weight`` to the average.
    """
    packed, factor, (_, threshold, alias), outcome, hands = tree
    stack, _, util, _ = frames
    regret, average, _, _ = theirs
    deals = np.uint64(hands.shape[1])
    own, other = np.uint64(hands[player, deal]), np.uint64(hands[1 - player, deal])
    me, sign = np.uint64(player), 1.0 if player == 0 else -1.0
    node, depth, nodes, value = ZERO, ZERO, 0, 0.0
    while True:
        while True:  # down
            nodes += 1
            actor, width, child = unpacked(packed, node)
            if actor == TERMINAL_NODE:
                value = sign * (factor[node, FACTOR] * outcome[child * deals + deal])
                break
            start = np.uint64(packed[node, START])
            if actor == CHANCE_NODE:
                node = child + draw_move(threshold, alias, start + deal * width, width, counter)
            elif actor == me:
                push(stack, depth, start + own * width, width, child)
                depth += ONE
                node = child
            else:
                start += other * width
                move = draw_matched(regret, start, width, counter)
                average[start + move] += average_weight
                node = child + move
        while depth > ZERO:  # up
            top = depth - ONE
            move, width = np.uint64(stack[top, NEXT]), np.uint64(stack[top, WIDTH])
            util[top, move] = value
            move += ONE
            if move < width:
                stack[top, NEXT] = move
                node = np.uint64(stack[top, CHILD]) + move
                break
            start = np.uint64(stack[top, FIRST])
            value = util[top, draw_matched(mine.regret, start, width, counter)]
            observe(mine.regret, start, width, util, top, weight, value, plus, later, log)
            depth = top
        if depth == ZERO:
            return nodes


@kernel
def drawn_iterations(options: tuple[()], batch: SamplerArrays) -> None:
    """Run iterations as in ``frame.iterations``."""
    iterations(walk, options, MATCH, batch)
