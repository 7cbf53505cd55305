"""External sampling with pure strategies (Pure MCCFR): no strategy is computed, only looked up.

An infoset stores the number of the action it plays. A node of the opponent costs one lookup and one addition to the
average, a chance node one draw, and a node of the player one maximum. Maths: ``engines.sampling.reference.sampling``.
Float64; one thread per stream; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.engines.sampling.arrays import BOTH, PURE, Frames, LearnerTable, RegretLog, SamplerArrays
from treeplex.engines.sampling.columns import ACTOR, CHILD, FACTOR, FIRST, NEXT, ONE, PLAYED, START, WIDTH, ZERO
from treeplex.engines.sampling.cpu.frame import (
    begin_iteration,
    draw_deal,
    greatest,
    is_discounted,
    iterations,
    observe,
    push,
    unpacked,
)
from treeplex.engines.sampling.cpu.random import Counter, draw_move, uniform
from treeplex.engines.sampling.tree import CHANCE_NODE, TERMINAL_NODE, SampleTree
from treeplex.kernels.jit import Index, inlined, inlined_loop, kernel
from treeplex.updates.turns import SIMULTANEOUS


@kernel
def scatter(
    tree: SampleTree, tables: tuple[LearnerTable, LearnerTable], hand_counts: tuple[int, int], counter: Counter
) -> None:
    """Give every infoset of both players a random initial action; ``hand_counts`` are the numbers of their hands."""
    packed = tree.packed
    for node in range(np.uint64(len(packed))):
        actor, width, _ = unpacked(packed, node)
        if actor < CHANCE_NODE:
            pick = tables[0].pick if actor == ZERO else tables[1].pick
            hands = hand_counts[0] if actor == ZERO else hand_counts[1]
            for hand in range(np.uint64(hands)):
                move = np.uint64(uniform(counter) * np.float64(width))
                pick[np.uint64(packed[node, START]) + hand * width] = move


@inlined_loop
def expect(
    regret: Floats,
    start: Index,
    width: Index,
    util: Floats,
    row: Index,
    predict: float,
    mass: float,
    level: float,
) -> None:
    """Replace values by the sums that an infoset has if the fraction ``predict`` of them is added once more."""
    for k in range(width):
        util[row, k] = regret[start + k] + predict * (mass * (util[row, k] - level))


@inlined
def walk(
    options: tuple[float], player: int, deal: Index, tree: SampleTree, mine: LearnerTable, theirs: LearnerTable,
    weight: float, average_weight: float, plus: bool, later: bool, log: RegretLog, frames: Frames, counter: Counter,
) -> int:  # fmt: skip
    """Run one walk for ``player``; return the number of nodes entered. ``options``: the fraction of values predicted.

    ``weight`` applies to values, ``average_weight`` to the average.
    """
    predict = options[0]
    packed, factor, (_, threshold, alias), outcome, hands = tree
    stack, _, util, _ = frames
    mine_value, _, mine_pick, _ = mine
    _, average, pick, _ = theirs
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
                start += own * width
                push(stack, depth, start, width, child)
                depth += ONE
                node = child
            else:
                start += other * width
                move = np.uint64(pick[start])
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
            value = util[top, np.uint64(mine_pick[start])]
            level = value if plus or is_discounted(log) else 0.0
            observe(mine_value, start, width, util, top, weight, level, plus, False, log)
            if predict > 0.0:
                expect(mine_value, start, width, util, top, predict, weight, level)
                mine_pick[start] = greatest(util[top], ZERO, width, counter)
            else:
                mine_pick[start] = greatest(mine_value, start, width, counter)
            depth = top
        if depth == ZERO:
            return nodes


@inlined_loop
def _learn(
    table: LearnerTable,
    start: Index,
    width: Index,
    util: Floats,
    row: Index,
    mass: float,
    plus: bool,
    log: RegretLog,
    position: Index,
    predict: float,
) -> float:
    """Add values to those of an infoset, record it in ``log``, and return the value of the action it plays."""
    log.visited[position, FIRST], log.visited[position, WIDTH] = start, width
    value = util[row, np.uint64(table.pick[start])]
    level = value if plus or is_discounted(log) else 0.0
    observe(table.regret, start, width, util, row, mass, level, plus, False, log)
    if predict > 0.0:
        expect(table.regret, start, width, util, row, predict, mass, level)
        for k in range(width):
            log.regret[start + k] = util[row, k]
    return value


@inlined
def walk_for_both(
    deal: Index, tree: SampleTree, tables: tuple[LearnerTable, LearnerTable], weight: float, average_weight: float,
    plus: bool, logs: tuple[RegretLog, RegretLog], frames: Frames, counter: Counter, predict: float,
) -> tuple[int, Index]:  # fmt: skip
    """Run one walk for both players; return the number of nodes entered, and of those evaluated but not entered.

    The walk evaluates all moves at nodes that both players' actions reach. Below a move that one player does not play,
    it evaluates all moves of this player only, and the opponent plays its action. An infoset learns at one history at
    most, because the learner remembers its moves, and all other moves are drawn or played. So values are added at once.
    Actions change only after the walk: ``logs`` has the infosets that have learnt.
    """
    packed, factor, (_, threshold, alias), outcome, hands = tree
    stack, _, util, _ = frames
    (first, second), first_learnt, second_learnt = tables, ZERO, ZERO
    deals, both = np.uint64(hands.shape[1]), np.uint64(BOTH)
    first_hand, second_hand = np.uint64(hands[0, deal]), np.uint64(hands[1, deal])
    node, depth, value, nodes, skipped, who = ZERO, ZERO, 0.0, 0, ZERO, both
    while True:
        while True:  # down
            nodes += 1
            actor, width, child = unpacked(packed, node)
            if actor == TERMINAL_NODE:
                value = factor[node, FACTOR] * outcome[child * deals + deal]
                break
            start = np.uint64(packed[node, START])
            if actor == CHANCE_NODE:
                node = child + draw_move(threshold, alias, start + deal * width, width, counter)
                continue
            average, pick = (first.average, first.pick) if actor == ZERO else (second.average, second.pick)
            start += (first_hand if actor == ZERO else second_hand) * width
            if who == actor:
                played = width  # none: the other player does not learn below
            else:
                played = np.uint64(pick[start])
                average[start + played] += average_weight
                if who != both:
                    skipped += width - ONE
                    node = child + played
                    continue
            push(stack, depth, start, width, child)
            stack[depth, ACTOR], stack[depth, PLAYED] = actor, played
            depth += ONE
            node = child
            who = both if played == ZERO else actor
        while depth > ZERO:  # up
            top = depth - ONE
            move, width, actor = np.uint64(stack[top, NEXT]), np.uint64(stack[top, WIDTH]), np.uint64(stack[top, ACTOR])
            util[top, move] = value
            move += ONE
            if move < width:
                stack[top, NEXT] = move
                node = np.uint64(stack[top, CHILD]) + move
                who = both if move == np.uint64(stack[top, PLAYED]) else actor
                break
            start = np.uint64(stack[top, FIRST])
            if actor == ZERO:
                value = _learn(first, start, width, util, top, weight, plus, logs[0], first_learnt, predict)
                first_learnt += ONE
            else:
                value = _learn(second, start, width, util, top, -weight, plus, logs[1], second_learnt, predict)
                second_learnt += ONE
            depth = top
        if depth == ZERO:
            logs[0].filled[ZERO], logs[1].filled[ZERO] = first_learnt, second_learnt
            return nodes, skipped


@inlined
def decide(value: Floats, pick: Ints, log: RegretLog, counter: Counter, predict: float) -> None:
    """Let the infosets in ``log`` play the action of the largest value, or expected value, and empty ``log``."""
    for i in range(np.uint64(log.filled[ZERO])):
        start, width = np.uint64(log.visited[i, FIRST]), np.uint64(log.visited[i, WIDTH])
        pick[start] = greatest(log.regret if predict > 0.0 else value, start, width, counter)
    log.filled[ZERO] = 0


@kernel
def pure_iterations(options: tuple[float], batch: SamplerArrays) -> None:
    """Run iterations as in ``frame.iterations`` if updates alternate; else an iteration is one walk for both."""
    tree, pre_deal, (first, second), weights, average_weights, plus, turns, logs, frames, counter, nodes = batch
    if turns != SIMULTANEOUS:
        iterations(walk, options, PURE, batch)
        return
    threshold, alias = tree.chances.threshold, tree.chances.alias
    deals = np.uint64(tree.hands.shape[1])
    for t in range(len(weights)):
        begin_iteration(logs)
        deal = draw_deal(threshold, alias, deals, counter)
        entered, skipped = walk_for_both(
            deal, tree, (first, second), weights[t], average_weights[t], plus, logs, frames, counter, options[0]
        )
        nodes[ZERO] += pre_deal + entered
        nodes[ONE] += skipped
        decide(first.regret, first.pick, logs[0], counter, options[0])
        decide(second.regret, second.pick, logs[1], counter, options[0])
