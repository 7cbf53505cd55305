"""External sampling, and average-strategy sampling, which is the same with fewer moves.

Maths: ``engines.sampling.reference.sampling``. Float64; one thread per stream; no fastmath. A walk keeps its own stack,
because a recursive kernel would hand on its arrays at every node. Indices are unsigned: Numba checks signed ones for counting
from the end.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.engines.sampling.arrays import Frames, Log, Table
from treeplex.engines.sampling.cpu.random import Counter, drawn, uniform
from treeplex.engines.sampling.tree import END, NATURE, WIDTH_BITS, Longs, SampleTree
from treeplex.engines.sequence.arrays import SIMULTANEOUS
from treeplex.jit import kernel

TWO = np.uint64(2)
WIDE = np.uint64(2**WIDTH_BITS - 1)
CHILD = np.uint64(2 + WIDTH_BITS)
ZERO, ONE, THREE = np.uint64(0), np.uint64(1), np.uint64(3)


@kernel
def learn(
    regret: Floats, start: Any, width: Any, util: Floats, row: Any, weight: float, floor: bool, later: bool, log: Log
) -> Any:
    """The expected value of an infoset; its regrets are updated, or with a ``log`` of their own put off."""
    total, expected = 0.0, 0.0
    for k in range(width):
        r = regret[start + k]
        r = r if r > 0.0 else 0.0
        total += r
        expected += r * util[row, k]
    if total > 0.0:
        expected /= total
    else:
        for k in range(width):
            expected += util[row, k]
        expected /= np.float64(width)
    if later:
        place = np.uint64(log.filled[ZERO])
        log.met[place, ZERO], log.met[place, ONE] = start, width
        log.filled[ZERO] += 1
        for k in range(width):
            log.gain[start + k] = weight * (util[row, k] - expected)
        return expected
    for k in range(width):
        r = regret[start + k] + weight * (util[row, k] - expected)
        regret[start + k] = r if r > 0.0 or not floor else 0.0
    return expected


@kernel
def settle(regret: Floats, floor: bool, log: Log) -> None:
    """Add the gains that waited; ``log`` is empty afterwards."""
    for i in range(np.uint64(log.filled[ZERO])):
        start, width = np.uint64(log.met[i, ZERO]), np.uint64(log.met[i, ONE])
        for s in range(start, start + width):
            r = regret[s] + log.gain[s]
            regret[s] = r if r > 0.0 or not floor else 0.0
            log.gain[s] = 0.0
    log.filled[ZERO] = 0


@kernel
def chosen(regret: Floats, average: Floats, start: Any, width: Any, weight: float, counter: Counter) -> Any:
    """Draw a move of the opponent by regret matching, and add its strategy, times ``weight``, to the average."""
    total = 0.0
    for s in range(start, start + width):
        r = regret[s]
        total += r if r > 0.0 else 0.0
    if total <= 0.0:
        share = weight / np.float64(width)
        for s in range(start, start + width):
            average[s] += share
        return np.uint64(uniform(counter) * np.float64(width))
    x, move = uniform(counter) * total, ZERO
    share = weight / total
    for s in range(start, start + width):  # without branches: which move it is cannot be predicted
        r = regret[s]
        r = r if r > 0.0 else 0.0
        average[s] += share * r
        x -= r
        move += ONE if x >= 0.0 else ZERO
    if move == width:  # by rounding: the last one that is played
        move -= ONE
        while regret[start + move] <= 0.0:
            move -= ONE
    return move


@kernel
def walk(
    player: int,
    deal: Any,
    word: Longs,
    stake: Floats,
    threshold: Floats,
    alias: Ints,
    outcome: Floats,
    hands: Ints,
    mine_regret: Floats,
    mine_average: Floats,
    regret: Floats,
    average: Floats,
    weight: float,
    floor: bool,
    least: float,
    bonus: float,
    prior: float,
    later: bool,
    log: Log,
    place: Longs,
    number: Floats,
    util: Floats,
    counter: Counter,
) -> int:
    """One walk for ``player``; returns how many nodes were entered.

    Every move of the player is tried with probability ``max(least, (prior + bonus * s) / (prior + sum s))``, where s is
    its average so far; with ``least`` one, all are, and that is external sampling. Arrays come one by one: taken out of
    tuples here, they would be counted as in use and no longer in use at every walk, which costs as much as ten nodes.
    """
    deals = np.uint64(hands.shape[1])
    own, other = np.uint64(hands[player, deal]), np.uint64(hands[1 - player, deal])
    me, sign = np.uint64(player), 1.0 if player == 0 else -1.0
    node, depth, nodes, scale, value = ZERO, ZERO, 0, 1.0, 0.0
    while True:
        arrived = True
        while True:  # down
            nodes += 1
            code = np.uint64(word[node, ZERO])
            actor, width, child = code & THREE, (code >> TWO) & WIDE, code >> CHILD
            if actor == END:
                value = sign * scale * (stake[node, ONE] * outcome[child * deals + deal])
                break
            start = np.uint64(word[node, ONE])
            if actor == NATURE:
                node = child + drawn(threshold, alias, start + deal * width, width, counter)
            elif actor == me:
                start += own * width
                place[depth, ZERO], place[depth, ONE], place[depth, TWO], place[depth, THREE] = start, width, child, 0
                number[depth, ZERO] = scale
                if least < 1.0:
                    total = prior
                    for s in range(start, start + width):
                        total += mine_average[s]
                    number[depth, ONE] = total
                depth += ONE
                arrived = False
                break
            else:
                start += other * width
                node = child + chosen(regret, average, start, width, weight * scale, counter)
        while depth > ZERO:  # up
            top = depth - ONE
            move, width = np.uint64(place[top, THREE]), np.uint64(place[top, ONE])
            start, scale = np.uint64(place[top, ZERO]), number[top, ZERO]
            if arrived:
                util[top, move] = value
                move += ONE
            if least < 1.0:
                while move < width:
                    odds = max(least, (prior + bonus * mine_average[start + move]) / number[top, ONE])
                    if odds >= 1.0:
                        break
                    if uniform(counter) < odds:
                        scale /= odds
                        break
                    util[top, move] = 0.0
                    move += ONE
            if move < width:
                place[top, THREE] = move
                node = np.uint64(place[top, TWO]) + move
                break
            value = learn(mine_regret, start, width, util, top, weight, floor, later, log)
            arrived = True
            depth = top
        if depth == ZERO:
            return nodes


@kernel
def external_iterations(
    tree: SampleTree,
    opening: int,
    tables: tuple[Table, Table],
    weights: Floats,
    floor: bool,
    least: float,
    bonus: float,
    prior: float,
    turns: int,
    logs: tuple[Log, Log],
    frames: Frames,
    counter: Counter,
    nodes: Longs,
) -> None:
    """One iteration for each of ``weights``; ``tables``, ``counter`` and ``nodes`` are modified in place."""
    word, stake, chances, outcome, hands = tree
    _, threshold, alias = chances
    place, number, util, _ = frames
    (regret, average, _, _), (regret1, average1, _, _) = tables
    deals, later = np.uint64(hands.shape[1]), turns == SIMULTANEOUS
    entered = 0
    for t in range(len(weights)):
        deal = drawn(threshold, alias, ZERO, deals, counter) if deals > ONE else ZERO
        entered += opening + walk(
            0, deal, word, stake, threshold, alias, outcome, hands, regret, average, regret1, average1, weights[t],
            floor, least, bonus, prior, later, logs[0], place, number, util, counter,
        )  # fmt: skip
        deal = drawn(threshold, alias, ZERO, deals, counter) if deals > ONE else ZERO
        entered += opening + walk(
            1, deal, word, stake, threshold, alias, outcome, hands, regret1, average1, regret, average, weights[t],
            floor, least, bonus, prior, later, logs[1], place, number, util, counter,
        )  # fmt: skip
        if later:
            settle(regret, floor, logs[0])
            settle(regret1, floor, logs[1])
    nodes[ZERO] += entered
