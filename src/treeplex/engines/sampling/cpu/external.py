"""External sampling, and average-strategy sampling, which evaluates fewer moves.

Maths: ``engines.sampling.reference.sampling``. Float64; one thread per stream; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.engines.sampling.arrays import MATCH, Frames, LearnerTable, RegretLog, SamplerArrays
from treeplex.engines.sampling.columns import CHILD, FACTOR, FIRST, NEXT, ONE, SCALE, START, TOTAL, WIDTH, ZERO
from treeplex.engines.sampling.cpu.frame import iterations, observe, push, unpacked
from treeplex.engines.sampling.cpu.random import Counter, draw_move, uniform
from treeplex.engines.sampling.tree import CHANCE_NODE, TERMINAL_NODE, SampleTree
from treeplex.kernels.jit import Index, inlined, inlined_loop, kernel
from treeplex.updates.rules import positive, positive_sum


@kernel
def expected(regret: Floats, pick: Ints, rule: int, start: Index, width: Index, util: Floats, row: Index) -> float:
    """Return the mean value of an infoset's moves by positive regret; without any, the uniform mean or its pick's."""
    total, value = positive_sum(regret, start, start + width, None), 0.0
    if total > 0.0:
        for k in range(width):
            value += positive(float(regret[start + k])) * util[row, k]
        return value / total
    if rule != MATCH:
        return float(util[row, np.uint64(pick[start])])
    for k in range(width):
        value += util[row, k]
    return value / np.float64(width)


@kernel
def draw_opponent_move(
    regret: Floats, average: Floats, pick: Ints, rule: int, start: Index, width: Index, weight: float, counter: Counter
) -> Index:
    """Draw a move of the opponent by regret matching, and add its strategy, times ``weight``, to the average."""
    total = positive_sum(regret, start, start + width, None)
    if total <= 0.0:
        if rule != MATCH:
            move = np.uint64(pick[start])
            average[start + move] += weight
            return move
        even = weight / np.float64(width)
        for s in range(start, start + width):
            average[s] += even
        return np.uint64(uniform(counter) * np.float64(width))
    part, x, move = weight / total, uniform(counter) * total, ZERO
    for s in range(start, start + width):  # without branches, because the move cannot be predicted
        r = positive(regret[s])
        average[s] += part * r
        x -= r
        move += ONE if x >= 0.0 else ZERO
    if move == width:  # by rounding: take the last move of positive probability
        move -= ONE
        while regret[start + move] <= 0.0:
            move -= ONE
    return move


@kernel
def redraw(regret: Floats, pick: Ints, start: Index, width: Index, counter: Counter) -> None:
    """Pick a move at random for an infoset without positive regret."""
    if positive_sum(regret, start, start + width, None) <= 0.0:
        pick[start] = np.uint64(uniform(counter) * np.float64(width))


@inlined_loop
def _prior_mass(average: Floats, start: Index, width: Index, prior: float) -> float:
    """Return the prior plus the averages of all moves."""
    total = prior
    for s in range(start, start + width):
        total += average[s]
    return total


@inlined_loop
def _next_sampled(
    chances: tuple[float, float, float], average: Floats, frames: Frames, top: Index, move: Index, counter: Counter
) -> tuple[Index, float]:
    """Return the next sampled move from ``move`` on, and one over the probability of reaching its child.

    The moves before it count as zero. ``chances``: least, bonus, prior.
    """
    least, bonus, prior = chances
    stack, number, util, _ = frames
    start, width, scale = np.uint64(stack[top, FIRST]), np.uint64(stack[top, WIDTH]), number[top, SCALE]
    while move < width:
        odds = max(least, (prior + bonus * average[start + move]) / number[top, TOTAL])
        if odds >= 1.0:
            break
        if uniform(counter) < odds:
            scale /= odds
            break
        util[top, move] = 0.0
        move += ONE
    return move, scale


@inlined
def walk(
    options: tuple[float, float, float, int], player: int, deal: Index, tree: SampleTree, mine: LearnerTable,
    theirs: LearnerTable, weight: float, average_weight: float, plus: bool, later: bool, log: RegretLog,
    frames: Frames, counter: Counter,
) -> int:  # fmt: skip
    """Run one walk for ``player``; return the number of nodes entered. ``options``: least, bonus, prior, rule.

    Every move of the player is sampled with probability ``max(least, (prior + bonus * s) / (prior + sum s))``, where s
    is its average so far. If ``least`` is one, all moves are, which is external sampling. ``weight`` applies to
    regrets, ``average_weight`` to the average. ``rule`` determines the strategy without positive regret.
    """
    least, bonus, prior, rule = options
    packed, factor, (_, threshold, alias), outcome, hands = tree
    stack, number, util, _ = frames
    regret, average, pick, _ = theirs
    deals = np.uint64(hands.shape[1])
    own, other = np.uint64(hands[player, deal]), np.uint64(hands[1 - player, deal])
    me, sign = np.uint64(player), 1.0 if player == 0 else -1.0
    node, depth, nodes, scale, value = ZERO, ZERO, 0, 1.0, 0.0
    while True:
        arrived = True
        while True:  # down
            nodes += 1
            actor, width, child = unpacked(packed, node)
            if actor == TERMINAL_NODE:
                value = sign * scale * (factor[node, FACTOR] * outcome[child * deals + deal])
                break
            start = np.uint64(packed[node, START])
            if actor == CHANCE_NODE:
                node = child + draw_move(threshold, alias, start + deal * width, width, counter)
            elif actor == me:
                start += own * width
                push(stack, depth, start, width, child)
                depth += ONE
                node = child
                if least < 1.0:  # the first move may not be sampled
                    number[depth - ONE, SCALE] = scale
                    number[depth - ONE, TOTAL] = _prior_mass(mine.average, start, width, prior)
                    arrived = False
                    break
            else:
                start += other * width
                node = child + draw_opponent_move(
                    regret, average, pick, rule, start, width, average_weight * scale, counter
                )
        while depth > ZERO:  # up
            top = depth - ONE
            move, width = np.uint64(stack[top, NEXT]), np.uint64(stack[top, WIDTH])
            if arrived:
                util[top, move] = value
                move += ONE
            if least < 1.0:
                move, scale = _next_sampled((least, bonus, prior), mine.average, frames, top, move, counter)
            if move < width:
                stack[top, NEXT] = move
                node = np.uint64(stack[top, CHILD]) + move
                break
            start = np.uint64(stack[top, FIRST])
            value = expected(mine.regret, mine.pick, rule, start, width, util, top)
            observe(mine.regret, start, width, util, top, weight, value, plus, later, log)
            if rule != MATCH and not later:
                redraw(mine.regret, mine.pick, start, width, counter)
            arrived = True
            depth = top
        if depth == ZERO:
            return nodes


@kernel
def external_iterations(options: tuple[float, float, float, int], batch: SamplerArrays) -> None:
    """Run iterations of external or average-strategy sampling, as in ``frame.iterations``."""
    iterations(walk, options, options[3], batch)
