"""Walks that try every move of both players that somebody reaches: chance sampling, and Pure CFR.

Nature's moves are sampled, or all tried. A node is entered if a player whose opponent learns reaches it; gains wait in
a log until the walk is over, because an infoset may be met at many histories. Maths:
``engines.sampling.reference.sampling``. Float64; one thread per stream; no fastmath.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.sampling.arrays import BOTH, MATCH, PURE, Frames, Log, Table
from treeplex.engines.sampling.cpu.random import Counter, drawn, uniform
from treeplex.engines.sampling.tree import END, NATURE, WIDTH_BITS, Longs, SampleTree
from treeplex.engines.sequence.arrays import SIMULTANEOUS
from treeplex.jit import kernel

TWO = np.uint64(2)
WIDE = np.uint64(2**WIDTH_BITS - 1)
CHILD = np.uint64(2 + WIDTH_BITS)
ZERO, ONE, THREE, FOUR = np.uint64(0), np.uint64(1), np.uint64(3), np.uint64(4)


@kernel
def strategy(table: Table, start: Any, width: Any, rule: int, sigma: Floats, row: Any) -> None:
    """What is played at an infoset, into ``sigma[row]``."""
    total = 0.0
    if rule != PURE:
        for k in range(width):
            sigma[row, k] = max(table.regret[start + k], 0.0)
            total += sigma[row, k]
    if total > 0.0:
        for k in range(width):
            sigma[row, k] /= total
    elif rule == MATCH:
        for k in range(width):
            sigma[row, k] = 1.0 / np.float64(width)
    else:
        for k in range(width):
            sigma[row, k] = 0.0
        sigma[row, np.uint64(table.pick[start])] = 1.0


@kernel
def note(log: Log, start: Any, width: Any, sigma: Floats, util: Floats, row: Any, mass: float, level: float) -> None:
    """Add the gains over ``level`` at one history to what waits for its infoset."""
    if log.seen[start] == 0:
        log.seen[start] = 1
        place = np.uint64(log.filled[ZERO])
        log.met[place, ZERO], log.met[place, ONE] = start, width
        log.filled[ZERO] += 1
    for k in range(width):
        log.gain[start + k] += mass * (util[row, k] - level)


@kernel
def settle(table: Table, rule: int, weight: float, floor: bool, log: Log, counter: Counter) -> None:
    """Add the gains that waited, and pick what to play where that is one action; ``log`` is empty afterwards."""
    for i in range(np.uint64(log.filled[ZERO])):
        start, width = np.uint64(log.met[i, ZERO]), np.uint64(log.met[i, ONE])
        best, move, ties, total = -np.inf, ZERO, 0.0, 0.0
        for k in range(width):
            s = start + k
            r = table.regret[s] + weight * log.gain[s]
            if floor and r < 0.0:
                r = 0.0
            table.regret[s], log.gain[s] = r, 0.0
            total += max(r, 0.0)
            if rule == PURE:
                if r > best:
                    best, move, ties = r, k, 1.0
                elif r == best:
                    ties += 1.0
                    if uniform(counter) * ties < 1.0:
                        move = k
        if rule == PURE:
            table.pick[start] = move
        elif rule != MATCH and total <= 0.0:
            table.pick[start] = np.uint64(uniform(counter) * np.float64(width))
        log.seen[start] = 0
    log.filled[ZERO] = 0


@kernel
def walk(
    tree: SampleTree,
    who: int,
    deal: Any,
    chance: float,
    tables: tuple[Table, Table],
    weight: float,
    rule: int,
    floor: bool,
    sampled: bool,
    logs: tuple[Log, Log],
    frames: Frames,
    counter: Counter,
    nodes: Longs,
) -> None:
    """One walk for ``who``: 0, 1, or both. ``nodes``: entered, and looked at but not entered."""
    word, stake, chances, outcome, hands = tree
    probability, threshold, alias = chances
    place, number, util, sigma = frames
    deals = np.uint64(hands.shape[1])
    node, depth, value, first, second = ZERO, ZERO, 0.0, 1.0, 1.0
    while True:
        arrived = True
        while True:  # down
            nodes[ZERO] += 1
            code = np.uint64(word[node, ZERO])
            actor, width, child = code & THREE, (code >> TWO) & WIDE, code >> CHILD
            if actor == END:
                value = stake[node, ONE] * outcome[child * deals + deal]
                break
            start = np.uint64(word[node, ONE])
            if actor == NATURE:
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
            place[depth, ZERO], place[depth, ONE], place[depth, TWO], place[depth, THREE] = start, width, child, 0
            place[depth, FOUR] = actor
            number[depth, ZERO], number[depth, ONE], number[depth, TWO], number[depth, THREE] = (
                first,
                second,
                chance,
                0.0,
            )
            depth += ONE
            arrived = False
            break
        while depth > ZERO:  # up
            top = depth - ONE
            start, width, actor = np.uint64(place[top, ZERO]), np.uint64(place[top, ONE]), np.uint64(place[top, FOUR])
            move = np.uint64(place[top, THREE])
            if arrived:
                if actor == NATURE:  # has more moves than there is room for: their mean is enough
                    number[top, THREE] += probability[start + move] * value
                else:
                    util[top, move] = value
                move += ONE
            enters = False
            while move < width:
                first, second, chance = number[top, ZERO], number[top, ONE], number[top, TWO]
                if actor == NATURE:
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
                place[top, THREE] = move
                node = np.uint64(place[top, TWO]) + move
                break
            value = number[top, THREE]
            if actor != NATURE:
                for k in range(width):
                    value += sigma[top, k] * util[top, k]
                opposed = number[top, ONE] if actor == ZERO else number[top, ZERO]
                if opposed > 0.0 and (who == BOTH or np.uint64(who) == actor):
                    mass = number[top, TWO] * opposed * (1.0 if actor == ZERO else -1.0)
                    level = 0.0 if rule == PURE and not floor else value
                    note(logs[0] if actor == ZERO else logs[1], start, width, sigma, util, top, mass, level)
            arrived = True
            depth = top
        if depth == ZERO:
            return


@kernel
def joint_iterations(
    tree: SampleTree,
    opening: int,
    tables: tuple[Table, Table],
    weights: Floats,
    rule: int,
    floor: bool,
    sampled: bool,
    turns: int,
    logs: tuple[Log, Log],
    frames: Frames,
    counter: Counter,
    nodes: Longs,
) -> None:
    """One iteration for each of ``weights``; ``tables``, ``counter`` and ``nodes`` are modified in place.

    ``opening``: histories before the deal is complete, for one deal if they are sampled and for all if not.
    """
    deals = np.uint64(tree.hands.shape[1])
    for t in range(len(weights)):
        for turn in range(1 if turns == SIMULTANEOUS else 2):
            who = BOTH if turns == SIMULTANEOUS else turn
            nodes[ZERO] += opening
            if sampled:
                deal = drawn(tree.chances.threshold, tree.chances.alias, ZERO, deals, counter) if deals > ONE else ZERO
                walk(tree, who, deal, 1.0, tables, weights[t], rule, floor, True, logs, frames, counter, nodes)
            else:
                for deal in range(deals):
                    chance = tree.chances.probability[deal]
                    walk(tree, who, deal, chance, tables, weights[t], rule, floor, False, logs, frames, counter, nodes)
            if who != 1:
                settle(tables[0], rule, weights[t], floor, logs[0], counter)
            if who != 0:
                settle(tables[1], rule, weights[t], floor, logs[1], counter)
