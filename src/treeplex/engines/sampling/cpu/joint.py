"""Walks over every move of both players that a player reaches: chance sampling, and Pure CFR.

Chance moves are sampled, or all evaluated. A node is entered if a player whose opponent learns reaches it. A log holds
instantaneous regrets until the walk is over, because an infoset may be visited at many histories. Maths:
``engines.sampling.reference.sampling``. Float64; one thread per stream; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.sampling import columns
from treeplex.engines.sampling.arrays import BOTH, MATCH, PURE, LearnerTable, SamplerArrays
from treeplex.engines.sampling.columns import ONE, ZERO
from treeplex.engines.sampling.cpu.frame import (
    begin_iteration,
    draw_deal,
    is_discounted,
    matched,
    observe,
    push,
    settle,
    unpacked,
)
from treeplex.engines.sampling.cpu.random import draw_move
from treeplex.engines.sampling.tree import CHANCE_NODE, TERMINAL_NODE
from treeplex.kernels.jit import Index, inlined_loop, kernel
from treeplex.updates.turns import SIMULTANEOUS


@kernel
def strategy(table: LearnerTable, start: Index, width: Index, rule: int, sigma: Floats, row: Index) -> None:
    """Write the strategy of an infoset to ``sigma[row]``."""
    total = 0.0
    if rule != PURE:
        total = matched(table.regret, start, width, sigma, row)
    if rule != MATCH and total <= 0.0:
        for k in range(width):
            sigma[row, k] = 0.0
        sigma[row, np.uint64(table.pick[start])] = 1.0


@inlined_loop
def _reach_below(batch: SamplerArrays, top: Index, move: Index) -> tuple[float, float, float]:
    """Return both players' and chance's factors of the reach below a move of the node on top of the stack."""
    stack, number, _, sigma = batch.frames
    actor = np.uint64(stack[top, columns.ACTOR])
    first, second, chance = (
        number[top, columns.REACH_0],
        number[top, columns.REACH_1],
        number[top, columns.REACH_CHANCE],
    )
    if actor == CHANCE_NODE:
        return first, second, chance * batch.tree.chances.probability[np.uint64(stack[top, columns.FIRST]) + move]
    p = sigma[top, move]
    return (first * p, second, chance) if actor == ZERO else (first, second * p, chance)


@inlined_loop
def _next_entered(batch: SamplerArrays, who: int, top: Index, move: Index) -> Index:
    """Return the next move that chance, or a player whose opponent learns, may play; those before it count as zero."""
    width, start = np.uint64(batch.frames.stack[top, columns.WIDTH]), np.uint64(batch.frames.stack[top, columns.FIRST])
    if np.uint64(batch.frames.stack[top, columns.ACTOR]) == CHANCE_NODE:
        while move < width and batch.tree.chances.probability[start + move] <= 0.0:
            move += ONE
        return move
    while move < width:
        first, second, _ = _reach_below(batch, top, move)
        if (first > 0.0 and who != 0) or (second > 0.0 and who != 1):
            break
        batch.nodes[ONE] += 1
        batch.frames.util[top, move] = 0.0
        move += ONE
    return move


@inlined_loop
def _learn(batch: SamplerArrays, rule: int, who: int, top: Index) -> float:
    """Log the regrets of the infoset on top of the stack if its player learns; return the value of the node."""
    (stack, number, util, sigma), tables, logs, plus = batch.frames, batch.tables, batch.logs, batch.plus
    start, width = np.uint64(stack[top, columns.FIRST]), np.uint64(stack[top, columns.WIDTH])
    actor, value = np.uint64(stack[top, columns.ACTOR]), 0.0
    for k in range(width):
        value += sigma[top, k] * util[top, k]
    opposed = number[top, columns.REACH_1] if actor == ZERO else number[top, columns.REACH_0]
    if opposed > 0.0 and (who == BOTH or np.uint64(who) == actor):
        mass = number[top, columns.REACH_CHANCE] * opposed * (1.0 if actor == ZERO else -1.0)
        log, regret = (logs[0], tables[0].regret) if actor == ZERO else (logs[1], tables[1].regret)
        level = 0.0 if rule == PURE and not plus and not is_discounted(log) else value
        observe(regret, start, width, util, top, mass, level, plus, True, log)
    return value


@kernel
def walk(
    batch: SamplerArrays, rule: int, sampled: bool, who: int, deal: Index, chance: float, average_weight: float
) -> None:
    """Run one walk for ``who``: 0, 1, or both; ``average_weight`` is its weight in the averages."""
    tree, _, tables, _, _, _, _, _, (stack, number, util, sigma), counter, nodes = batch
    packed, factor, (probability, threshold, alias), outcome, hands = tree
    deals = np.uint64(hands.shape[1])
    node, depth, value, first, second = ZERO, ZERO, 0.0, 1.0, 1.0
    while True:
        arrived = True
        while True:  # down
            nodes[ZERO] += 1
            actor, width, child = unpacked(packed, node)
            if actor == TERMINAL_NODE:
                value = factor[node, columns.FACTOR] * outcome[child * deals + deal]
                break
            start = np.uint64(packed[node, columns.START])
            if actor == CHANCE_NODE:
                start += deal * width
                if sampled:
                    node = child + draw_move(threshold, alias, start, width, counter)
                    continue
            else:
                start += np.uint64(hands[actor, deal]) * width
                table, reach = (tables[0], first) if actor == ZERO else (tables[1], second)
                strategy(table, start, width, rule, sigma, depth)
                if reach > 0.0 and np.uint64(who) != actor:
                    for k in range(width):
                        table.average[start + k] += average_weight * chance * reach * sigma[depth, k]
            push(stack, depth, start, width, child)
            stack[depth, columns.ACTOR] = actor
            number[depth, columns.REACH_0], number[depth, columns.REACH_1] = first, second
            number[depth, columns.REACH_CHANCE], number[depth, columns.MEAN] = chance, 0.0
            depth += ONE
            arrived = False
            break
        while depth > ZERO:  # up
            top = depth - ONE
            start, width = np.uint64(stack[top, columns.FIRST]), np.uint64(stack[top, columns.WIDTH])
            move, actor = np.uint64(stack[top, columns.NEXT]), np.uint64(stack[top, columns.ACTOR])
            if arrived:
                if actor == CHANCE_NODE:  # it has more moves than there is room for, but their mean is enough
                    number[top, columns.MEAN] += probability[start + move] * value
                else:
                    util[top, move] = value
                move += ONE
            move = _next_entered(batch, who, top, move)
            if move < width:
                first, second, chance = _reach_below(batch, top, move)
                stack[top, columns.NEXT] = move
                node = np.uint64(stack[top, columns.CHILD]) + move
                break
            value = number[top, columns.MEAN]
            if actor != CHANCE_NODE:
                value = _learn(batch, rule, who, top)
            arrived = True
            depth = top
        if depth == ZERO:
            return


@kernel
def joint_iterations(rule: int, sampled: bool, predict: float, batch: SamplerArrays) -> None:
    """Run one iteration per weight of ``batch``; ``pre_deal`` counts all pre-deal nodes if deals are not sampled.

    ``predict``: as in ``settle``.
    """
    tree, pre_deal, tables, weights, average_weights, plus, turns, logs, _, counter, nodes = batch
    deals = np.uint64(tree.hands.shape[1])
    for t in range(len(weights)):
        if not begin_iteration(logs):
            break
        for turn in range(1 if turns == SIMULTANEOUS else 2):
            who = BOTH if turns == SIMULTANEOUS else turn
            nodes[ZERO] += pre_deal
            if sampled:
                deal = draw_deal(tree.chances.threshold, tree.chances.alias, deals, counter)
                walk(batch, rule, True, who, deal, 1.0, average_weights[t])
            else:
                for deal in range(deals):
                    walk(batch, rule, False, who, deal, tree.chances.probability[deal], average_weights[t])
            if who != 1:
                settle(tables[0].regret, tables[0].pick, rule, weights[t], plus, logs[0], counter, predict)
            if who != 0:
                settle(tables[1].regret, tables[1].pick, rule, weights[t], plus, logs[1], counter, predict)
