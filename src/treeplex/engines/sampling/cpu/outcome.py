"""Outcome sampling with learned baselines: one path per walk. Maths: ``engines.sampling.reference.sampling``.

Float64; one thread per stream; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.sampling.arrays import MATCH, Frames, LearnerTable, RegretLog, SamplerArrays
from treeplex.engines.sampling.columns import ACTOR, DRAWN, FACTOR, FIRST, NEXT, ONE, SCALE, START, WIDTH, ZERO
from treeplex.engines.sampling.cpu.frame import iterations, matched, observe, unpacked
from treeplex.engines.sampling.cpu.random import Counter, draw_move, uniform
from treeplex.engines.sampling.tree import CHANCE_NODE, TERMINAL_NODE, SampleTree
from treeplex.kernels.jit import Index, inlined, kernel


@kernel
def draw(odds: Floats, row: Index, width: Index, counter: Counter) -> Index:
    """Return a move with the probabilities in ``odds[row]``."""
    x, move = uniform(counter), ZERO
    for k in range(width):
        if odds[row, k] > 0.0:
            move = k
            x -= odds[row, k]
            if x < 0.0:
                break
    return move


@inlined
def walk(
    options: tuple[float, float], player: int, deal: Index, tree: SampleTree, mine: LearnerTable, theirs: LearnerTable,
    weight: float, average_weight: float, plus: bool, later: bool, log: RegretLog, frames: Frames, counter: Counter,
) -> int:  # fmt: skip
    """Walk one path for ``player``, down and up; return the number of nodes entered. ``options``: epsilon, rate.

    ``weight`` applies to regrets, ``average_weight`` to the average. ``util`` holds the probabilities of drawing, then
    the estimates.
    """
    epsilon, rate = options
    packed, factor, (_, threshold, alias), outcome, hands = tree
    stack, number, util, sigma = frames
    mine_regret, _, _, mine_baseline = mine
    regret, average, _, baseline = theirs
    deals, me = np.uint64(hands.shape[1]), np.uint64(player)
    node, depth, nodes, scale = ZERO, ZERO, 0, 1.0
    while True:
        nodes += 1
        actor, width, child = unpacked(packed, node)
        if actor == TERMINAL_NODE:
            value = factor[node, FACTOR] * outcome[child * deals + deal]
            break
        start = np.uint64(packed[node, START])
        if actor == CHANCE_NODE:
            node = child + draw_move(threshold, alias, start + deal * width, width, counter)
            continue
        start += np.uint64(hands[actor, deal]) * width
        if actor == me:
            matched(mine_regret, start, width, sigma, depth)
            for k in range(width):
                util[depth, k] = epsilon / np.float64(width) + (1.0 - epsilon) * sigma[depth, k]
        else:
            matched(regret, start, width, sigma, depth)
            for k in range(width):
                util[depth, k] = sigma[depth, k]
                average[start + k] += average_weight * scale * sigma[depth, k]
        move = draw(util, depth, width, counter)
        stack[depth, FIRST], stack[depth, WIDTH], stack[depth, NEXT], stack[depth, ACTOR] = start, width, move, actor
        number[depth, DRAWN], number[depth, SCALE] = util[depth, move], scale
        if actor == me:
            scale /= util[depth, move]
        depth += ONE
        node = child + move
    sign = 1.0 if player == 0 else -1.0
    while depth > ZERO:
        depth -= ONE
        start, width = np.uint64(stack[depth, FIRST]), np.uint64(stack[depth, WIDTH])
        move, own = np.uint64(stack[depth, NEXT]), np.uint64(stack[depth, ACTOR]) == me
        known = mine_baseline if own else baseline
        below = value
        for k in range(width):
            util[depth, k] = known[start + k] if rate > 0.0 else 0.0
        util[depth, move] += (below - util[depth, move]) / number[depth, DRAWN]
        value = 0.0
        for k in range(width):
            value += sigma[depth, k] * util[depth, k]
        if rate > 0.0:
            known[start + move] += rate * (below - known[start + move])
        if own:
            mass = weight * number[depth, SCALE] * sign
            observe(mine_regret, start, width, util, depth, mass, value, plus, later, log)
    return nodes


@kernel
def outcome_iterations(options: tuple[float, float], batch: SamplerArrays) -> None:
    """Run iterations of outcome sampling, as in ``frame.iterations``."""
    iterations(walk, options, MATCH, batch)
