"""Public chance sampling: public cards are drawn, and one walk evaluates every pair of hands.

A walk carries a vector over the deals (the probability of a deal and of the public cards drawn, over the probability
of drawing them) and a vector over the opponent's hands (their reach). Both players' moves are all evaluated. Maths:
``engines.sampling.reference.public``. Float64; one thread per stream; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.sampling import columns
from treeplex.engines.sampling.arrays import MATCH, HandFrames, SamplerArrays
from treeplex.engines.sampling.columns import ONE, ZERO
from treeplex.engines.sampling.cpu.frame import begin_iteration, draw_deal, matched, observe, push, settle, unpacked
from treeplex.engines.sampling.cpu.random import draw_move
from treeplex.engines.sampling.tree import CHANCE_NODE, TERMINAL_NODE, SampleTree
from treeplex.kernels.jit import Index, inlined_loop, kernel
from treeplex.updates.turns import SIMULTANEOUS


@inlined_loop
def _clear(numbers: Floats) -> None:
    """Set all numbers to zero."""
    for i in range(np.uint64(len(numbers))):
        numbers[i] = 0.0


@kernel
def _open_level(tree: SampleTree, frames: HandFrames, level: Index) -> None:
    """Compute the masses of both players' hands, and count the possible deals, from the chances of a level."""
    chance, mass = frames.chance, frames.mass
    for hand in range(np.uint64(mass.shape[2])):
        mass[level, ZERO, hand], mass[level, ONE, hand] = 0.0, 0.0
    frames.possible[level] = 0
    for deal in range(np.uint64(tree.hands.shape[1])):
        p = chance[level, deal]
        if p > 0.0:
            mass[level, ZERO, np.uint64(tree.hands[0, deal])] += p
            mass[level, ONE, np.uint64(tree.hands[1, deal])] += p
            frames.possible[level] += 1


@kernel
def _condition(tree: SampleTree, frames: HandFrames, level: Index, start: Index, width: Index, move: Index) -> None:
    """Write the chances after a public move to the next level: times its probability, over that of drawing it."""
    chance, probability, drawn = frames.chance, tree.chances.probability, 0.0
    below, deals = level + ONE, np.uint64(tree.hands.shape[1])
    for deal in range(deals):
        chance[below, deal] = chance[level, deal] * probability[start + deal * width + move]
        drawn += chance[below, deal]
    for deal in range(deals):
        chance[below, deal] /= drawn
    _open_level(tree, frames, below)


@kernel
def _strategies(regret: Floats, start: Index, width: Index, hands: Index, frames: HandFrames, depth: Index) -> None:
    """Write the strategies of all hands at a public node to ``frames.sigma``."""
    row, sigma = frames.row, frames.sigma
    for hand in range(hands):
        matched(regret, start + hand * width, width, row, ZERO)
        for k in range(width):
            sigma[depth, k, hand] = row[ZERO, k]


@kernel
def _evaluate(tree: SampleTree, frames: HandFrames, player: int, node: Index, child: Index, level: Index) -> None:
    """Write the player's counterfactual values at a terminal, per hand: chance and the opponent's reach are factors."""
    deals, value, reach = np.uint64(tree.hands.shape[1]), frames.value, frames.reach
    row, sign = np.uint64(frames.depth[ZERO]), 1.0 if player == 0 else -1.0
    amount = sign * tree.payoff_factor[node, columns.FACTOR]
    _clear(value)
    for deal in range(deals):
        mass = frames.chance[level, deal] * reach[row, np.uint64(tree.hands[1 - player, deal])]
        value[np.uint64(tree.hands[player, deal])] += mass * (amount * tree.outcome[child * deals + deal])


@kernel
def _next_reached(frames: HandFrames, mine: bool, other: int, hands: Index, move: Index) -> Index:
    """Return the next move that the opponent reaches with a possible hand, and write its reach; others are zero."""
    depth = np.uint64(frames.depth[ZERO])
    top, width = depth - ONE, np.uint64(frames.stack[depth - ONE, columns.WIDTH])
    level, reach, sigma = np.uint64(frames.stack[top, columns.LEVEL]), frames.reach, frames.sigma
    while move < width:
        reached = False
        for hand in range(hands):
            after = reach[top, hand] if mine else reach[top, hand] * sigma[top, move, hand]
            reach[depth, hand] = after
            reached = reached or (after > 0.0 and frames.mass[level, other, hand] > 0.0)
        if reached:
            break
        for hand in range(np.uint64(frames.util.shape[2])):
            frames.util[top, move, hand] = 0.0
        move += ONE
    return move


@kernel
def _learn(batch: SamplerArrays, frames: HandFrames, player: int, top: Index) -> None:
    """Log the regrets of all possible hands at the player's node on top of the stack; write the node's values."""
    stack, util, sigma, value, row = frames.stack, frames.util, frames.sigma, frames.value, frames.row
    start, width = np.uint64(stack[top, columns.FIRST]), np.uint64(stack[top, columns.WIDTH])
    level, learnt = np.uint64(stack[top, columns.LEVEL]), batch.tables[player].regret
    _clear(value)
    for hand in range(np.uint64(frames.hands[player])):
        if frames.mass[level, player, hand] <= 0.0:
            continue
        expected = 0.0
        for k in range(width):
            row[ZERO, k] = util[top, k, hand]
            expected += sigma[top, k, hand] * util[top, k, hand]
        value[hand] = expected
        first = start + hand * width
        observe(learnt, first, width, row, ZERO, 1.0, expected, batch.plus, True, batch.logs[player])


@inlined_loop
def _sum_moves(frames: HandFrames, hands: Index, top: Index) -> None:
    """Write the values of the opponent's node on top of the stack: sums, because reach has its strategy."""
    width = np.uint64(frames.stack[top, columns.WIDTH])
    for hand in range(hands):
        total = 0.0
        for k in range(width):
            total += frames.util[top, k, hand]
        frames.value[hand] = total


@kernel
def walk(batch: SamplerArrays, frames: HandFrames, player: int, deal: Index, average_weight: float) -> None:
    """Run one walk for ``player``; ``deal`` only decides which public moves are drawn."""
    tree, tables, counter, nodes = batch.tree, batch.tables, batch.counter, batch.nodes
    stack, reach, mass = frames.stack, frames.reach, frames.mass
    other, me = 1 - player, np.uint64(player)
    hands, own_hands = np.uint64(frames.hands[other]), np.uint64(frames.hands[player])
    for each in range(np.uint64(tree.hands.shape[1])):
        frames.chance[ZERO, each] = tree.chances.probability[each]
    for hand in range(hands):
        reach[ZERO, hand] = 1.0
    _open_level(tree, frames, ZERO)
    node, depth, level, arrived = ZERO, ZERO, ZERO, False
    while True:
        while True:  # down
            frames.depth[ZERO] = depth
            nodes[ZERO] += frames.possible[level]
            actor, width, child = unpacked(tree.packed, node)
            arrived = actor == TERMINAL_NODE
            if arrived:
                _evaluate(tree, frames, player, node, child, level)
                break
            start = np.uint64(tree.packed[node, columns.START])
            if actor == CHANCE_NODE:
                move = draw_move(tree.chances.threshold, tree.chances.alias, start + deal * width, width, counter)
                _condition(tree, frames, level, start, width, move)
                node, level = child + move, level + ONE
                continue
            push(stack, depth, start, width, child)
            stack[depth, columns.ACTOR], stack[depth, columns.LEVEL] = actor, level
            _strategies(tables[actor].regret, start, width, own_hands if actor == me else hands, frames, depth)
            if actor != me:
                average = tables[other].average
                for hand in range(hands):
                    part = average_weight * mass[level, other, hand] * reach[depth, hand]
                    if part > 0.0:
                        for k in range(width):
                            average[start + hand * width + k] += part * frames.sigma[depth, k, hand]
            depth += ONE
            break
        while depth > ZERO:  # up
            top, frames.depth[ZERO] = depth - ONE, depth
            move, mine = np.uint64(stack[top, columns.NEXT]), np.uint64(stack[top, columns.ACTOR]) == me
            if arrived:
                for hand in range(own_hands):
                    frames.util[top, move, hand] = frames.value[hand]
                move += ONE
            move = _next_reached(frames, mine, other, hands, move)
            if move < np.uint64(stack[top, columns.WIDTH]):
                stack[top, columns.NEXT], level = move, np.uint64(stack[top, columns.LEVEL])
                node = np.uint64(stack[top, columns.CHILD]) + move
                break
            if mine:
                _learn(batch, frames, player, top)
            else:
                _sum_moves(frames, own_hands, top)
            arrived = True
            depth = top
        if depth == ZERO:
            return


@kernel
def public_iterations(frames: HandFrames, batch: SamplerArrays) -> None:
    """Run one iteration per weight of ``batch``: a walk per player; infosets learn at the end of it, or of both."""
    tree, tables, logs, counter = batch.tree, batch.tables, batch.logs, batch.counter
    deals, chances = np.uint64(tree.hands.shape[1]), tree.chances
    for t in range(len(batch.weights)):
        if not begin_iteration(logs):
            break
        for player in range(2):
            batch.nodes[ZERO] += batch.pre_deal
            deal = draw_deal(chances.threshold, chances.alias, deals, counter)
            walk(batch, frames, player, deal, batch.average_weights[t])
            for learner in range(2):
                if learner == player if batch.turns != SIMULTANEOUS else player == 1:
                    table, log = tables[learner], logs[learner]
                    settle(table.regret, table.pick, MATCH, batch.weights[t], batch.plus, log, counter)
