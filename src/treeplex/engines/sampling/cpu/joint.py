"""Walks that try every move of both players that somebody reaches: chance sampling, and Pure CFR.

Chance moves are sampled, or all tried. A node is entered if a player whose opponent learns reaches it; instantaneous
regrets wait in a log until the walk is over, because an infoset may be visited at many histories. Maths:
``engines.sampling.reference.sampling``. Float64; one thread per stream; no fastmath.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.sampling.arrays import BOTH, MATCH, PURE, Frames, Log, Table
from treeplex.engines.sampling.columns import (
    ACTOR,
    CHILD,
    FACTOR,
    FIRST,
    MEAN,
    NEXT,
    NODE,
    ONE,
    REACH_0,
    REACH_1,
    REACH_CHANCE,
    START,
    WIDTH,
    ZERO,
)
from treeplex.engines.sampling.cpu.frame import actor_of, child_of, dealt, matched, observe, settle, width_of
from treeplex.engines.sampling.cpu.random import Counter, drawn
from treeplex.engines.sampling.tree import CHANCE_NODE, TERMINAL_NODE, Longs, SampleTree
from treeplex.jit import kernel
from treeplex.updates.turns import SIMULTANEOUS


@kernel
def strategy(table: Table, start: Any, width: Any, rule: int, sigma: Floats, row: Any) -> None:
    """What is played at an infoset, into ``sigma[row]``."""
    total = 0.0
    if rule != PURE:
        total = matched(table.regret, start, width, sigma, row)
    if rule != MATCH and total <= 0.0:
        for k in range(width):
            sigma[row, k] = 0.0
        sigma[row, np.uint64(table.pick[start])] = 1.0


@kernel
def walk(
    tree: SampleTree,
    who: int,
    deal: Any,
    chance: float,
    tables: tuple[Table, Table],
    weight: float,
    rule: int,
    plus: bool,
    sampled: bool,
    logs: tuple[Log, Log],
    frames: Frames,
    counter: Counter,
    nodes: Longs,
) -> None:
    """One walk for ``who``: 0, 1, or both. ``nodes``: entered, and looked at but not entered."""
    packed, factor, chances, outcome, hands = tree
    probability, threshold, alias = chances
    place, number, util, sigma = frames
    deals = np.uint64(hands.shape[1])
    node, depth, value, first, second = ZERO, ZERO, 0.0, 1.0, 1.0
    while True:
        arrived = True
        while True:  # down
            nodes[ZERO] += 1
            here = np.uint64(packed[node, NODE])
            actor, width, child = actor_of(here), width_of(here), child_of(here)
            if actor == TERMINAL_NODE:
                value = factor[node, FACTOR] * outcome[child * deals + deal]
                break
            start = np.uint64(packed[node, START])
            if actor == CHANCE_NODE:
                start += deal * width
                if sampled:
                    node = child + drawn(threshold, alias, start, width, counter)
                    continue
            else:
                start += np.uint64(hands[actor, deal]) * width
                table, reach = (tables[0], first) if actor == ZERO else (tables[1], second)
                strategy(table, start, width, rule, sigma, depth)
                if reach > 0.0 and np.uint64(who) != actor:
                    for k in range(width):
                        table.average[start + k] += weight * chance * reach * sigma[depth, k]
            place[depth, FIRST], place[depth, WIDTH], place[depth, CHILD] = start, width, child
            place[depth, NEXT], place[depth, ACTOR] = 0, actor
            number[depth, REACH_0], number[depth, REACH_1] = first, second
            number[depth, REACH_CHANCE], number[depth, MEAN] = chance, 0.0
            depth += ONE
            arrived = False
            break
        while depth > ZERO:  # up
            top = depth - ONE
            start, width = np.uint64(place[top, FIRST]), np.uint64(place[top, WIDTH])
            move, actor = np.uint64(place[top, NEXT]), np.uint64(place[top, ACTOR])
            if arrived:
                if actor == CHANCE_NODE:  # has more moves than there is room for: their mean is enough
                    number[top, MEAN] += probability[start + move] * value
                else:
                    util[top, move] = value
                move += ONE
            enters = False
            while move < width:
                first, second, chance = number[top, REACH_0], number[top, REACH_1], number[top, REACH_CHANCE]
                if actor == CHANCE_NODE:
                    p = probability[start + move]
                    chance *= p
                    enters = p > 0.0
                else:
                    if actor == ZERO:
                        first *= sigma[top, move]
                    else:
                        second *= sigma[top, move]
                    enters = (first > 0.0 and who != 0) or (second > 0.0 and who != 1)
                    if not enters:
                        nodes[ONE] += 1
                        util[top, move] = 0.0
                if enters:
                    break
                move += ONE
            if enters:
                place[top, NEXT] = move
                node = np.uint64(place[top, CHILD]) + move
                break
            value = number[top, MEAN]
            if actor != CHANCE_NODE:
                for k in range(width):
                    value += sigma[top, k] * util[top, k]
                opposed = number[top, REACH_1] if actor == ZERO else number[top, REACH_0]
                if opposed > 0.0 and (who == BOTH or np.uint64(who) == actor):
                    mass = number[top, REACH_CHANCE] * opposed * (1.0 if actor == ZERO else -1.0)
                    level = 0.0 if rule == PURE and not plus else value
                    log, regret = (logs[0], tables[0].regret) if actor == ZERO else (logs[1], tables[1].regret)
                    observe(regret, start, width, util, top, mass, level, plus, True, log)
            arrived = True
            depth = top
        if depth == ZERO:
            return


@kernel
def joint_iterations(
    rule: int, sampled: bool, tree: SampleTree, pre_deal: int, tables: tuple[Table, Table], weights: Floats,
    plus: bool, turns: int, logs: tuple[Log, Log], frames: Frames, counter: Counter, nodes: Longs,
) -> None:  # fmt: skip
    """One iteration for each of ``weights``; ``tables``, ``counter`` and ``nodes`` are modified in place.

    ``pre_deal``: pre-deal nodes, those of one deal if it is sampled and all if not.
    """
    deals = np.uint64(tree.hands.shape[1])
    for t in range(len(weights)):
        for turn in range(1 if turns == SIMULTANEOUS else 2):
            who = BOTH if turns == SIMULTANEOUS else turn
            nodes[ZERO] += pre_deal
            if sampled:
                deal = dealt(tree.chances.threshold, tree.chances.alias, deals, counter)
                walk(tree, who, deal, 1.0, tables, weights[t], rule, plus, True, logs, frames, counter, nodes)
            else:
                for deal in range(deals):
                    chance = tree.chances.probability[deal]
                    walk(tree, who, deal, chance, tables, weights[t], rule, plus, False, logs, frames, counter, nodes)
            if who != 1:
                settle(tables[0].regret, tables[0].pick, rule, weights[t], plus, logs[0], counter)
            if who != 0:
                settle(tables[1].regret, tables[1].pick, rule, weights[t], plus, logs[1], counter)
