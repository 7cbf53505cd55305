"""External sampling, and average-strategy sampling, which is the same with fewer moves.

Maths: ``engines.sampling.reference.sampling``. Float64; one thread per stream; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.engines.sampling.arrays import MATCH, Frames, LearnerTable, RegretLog, SamplerArrays
from treeplex.engines.sampling.columns import CHILD, FACTOR, FIRST, NEXT, ONE, SCALE, START, TOTAL, WIDTH, ZERO
from treeplex.engines.sampling.cpu.frame import iterations, observe, push, unpacked
from treeplex.engines.sampling.cpu.random import Counter, drawn, uniform
from treeplex.engines.sampling.tree import CHANCE_NODE, TERMINAL_NODE, SampleTree
from treeplex.kernels.jit import Index, inlined, inlined_loop, uncounted_kernel
from treeplex.updates.rules import positive, positive_sum


@uncounted_kernel
def expected(regret: Floats, pick: Ints, rule: int, start: Index, width: Index, util: Floats, row: Index) -> float:
    """The value of an infoset: those of its moves weighted by positive regret; without any, evenly or of its pick."""
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


@uncounted_kernel
def chosen(
    regret: Floats, average: Floats, pick: Ints, rule: int, start: Index, width: Index, share: float, counter: Counter
) -> Index:
    """Draw a move of the opponent by regret matching, and add its strategy, times ``share``, to the average."""
    total = positive_sum(regret, start, start + width, None)
    if total <= 0.0:
        if rule != MATCH:
            move = np.uint64(pick[start])
            average[start + move] += share
            return move
        even = share / np.float64(width)
        for s in range(start, start + width):
            average[s] += even
        return np.uint64(uniform(counter) * np.float64(width))
    part, x, move = share / total, uniform(counter) * total, ZERO
    for s in range(start, start + width):  # without branches: which move it is cannot be predicted
        r = positive(regret[s])
        average[s] += part * r
        x -= r
        move += ONE if x >= 0.0 else ZERO
    if move == width:  # by rounding: the last one that is played
        move -= ONE
        while regret[start + move] <= 0.0:
            move -= ONE
    return move


@uncounted_kernel
def redraw(regret: Floats, pick: Ints, start: Index, width: Index, counter: Counter) -> None:
    """Pick a move at random for an infoset without positive regret."""
    if positive_sum(regret, start, start + width, None) <= 0.0:
        pick[start] = np.uint64(uniform(counter) * np.float64(width))


@inlined_loop
def _prior_mass(average: Floats, start: Index, width: Index, prior: float) -> float:
    """The prior and the averages of all moves."""
    total = prior
    for s in range(start, start + width):
        total += average[s]
    return total


@inlined_loop
def _next_tried(
    chances: tuple[float, float, float], average: Floats, frames: Frames, top: Index, move: Index, counter: Counter
) -> tuple[Index, float]:
    """The next move that is tried from ``move`` on, and one over the probability of coming below it.

    Those before it count nothing. ``chances``: least, bonus, prior.
    """
    least, bonus, prior = chances
    place, number, util, _ = frames
    start, width, scale = np.uint64(place[top, FIRST]), np.uint64(place[top, WIDTH]), number[top, SCALE]
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
    theirs: LearnerTable, weight: float, share: float, plus: bool, later: bool, log: RegretLog,
    frames: Frames, counter: Counter,
) -> int:  # fmt: skip
    """One walk for ``player``; returns how many nodes were entered. ``options``: least, bonus, prior, rule.

    Every move of the player is tried with probability ``max(least, (prior + bonus * s) / (prior + sum s))``, where s is
    its average so far; with ``least`` one, all are, and that is external sampling. ``weight`` is
    that of regrets, ``share`` that of the average; ``rule``: what is played without positive regret.
    """
    least, bonus, prior, rule = options
    packed, factor, (_, threshold, alias), outcome, hands = tree
    place, number, util, _ = frames
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
                node = child + drawn(threshold, alias, start + deal * width, width, counter)
            elif actor == me:
                start += own * width
                push(place, depth, start, width, child)
                depth += ONE
                node = child
                if least < 1.0:  # the first move is not sure to be tried
                    number[depth - ONE, SCALE] = scale
                    number[depth - ONE, TOTAL] = _prior_mass(mine.average, start, width, prior)
                    arrived = False
                    break
            else:
                start += other * width
                node = child + chosen(regret, average, pick, rule, start, width, share * scale, counter)
        while depth > ZERO:  # up
            top = depth - ONE
            move, width = np.uint64(place[top, NEXT]), np.uint64(place[top, WIDTH])
            if arrived:
                util[top, move] = value
                move += ONE
            if least < 1.0:
                move, scale = _next_tried((least, bonus, prior), mine.average, frames, top, move, counter)
            if move < width:
                place[top, NEXT] = move
                node = np.uint64(place[top, CHILD]) + move
                break
            start = np.uint64(place[top, FIRST])
            value = expected(mine.regret, mine.pick, rule, start, width, util, top)
            observe(mine.regret, start, width, util, top, weight, value, plus, later, log)
            if rule != MATCH and not later:
                redraw(mine.regret, mine.pick, start, width, counter)
            arrived = True
            depth = top
        if depth == ZERO:
            return nodes


@uncounted_kernel
def external_iterations(options: tuple[float, float, float, int], batch: SamplerArrays) -> None:
    """As ``frame.iterations``."""
    iterations(walk, options, options[3], batch)
