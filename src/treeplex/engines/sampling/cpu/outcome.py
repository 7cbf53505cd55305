"""Outcome sampling with learned baselines: one path a walk. Maths: ``engines.sampling.reference.sampling``.

Float64; one thread a stream; no fastmath.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.sampling.arrays import Frames, Log, Table
from treeplex.engines.sampling.cpu.external import settle
from treeplex.engines.sampling.cpu.random import Counter, drawn, uniform
from treeplex.engines.sampling.tree import END, NATURE, WIDTH_BITS, Longs, SampleTree
from treeplex.engines.sequence.arrays import SIMULTANEOUS
from treeplex.jit import kernel

TWO = np.uint64(2)
WIDE = np.uint64(2**WIDTH_BITS - 1)
CHILD = np.uint64(2 + WIDTH_BITS)
ZERO, ONE, THREE, FOUR = np.uint64(0), np.uint64(1), np.uint64(3), np.uint64(4)


@kernel
def matched(regret: Floats, start: Any, width: Any, sigma: Floats, row: Any) -> None:
    """Regret matching, into ``sigma[row]``."""
    total = 0.0
    for k in range(width):
        sigma[row, k] = max(regret[start + k], 0.0)
        total += sigma[row, k]
    for k in range(width):
        sigma[row, k] = sigma[row, k] / total if total > 0.0 else 1.0 / np.float64(width)


@kernel
def draw(odds: Floats, row: Any, width: Any, counter: Counter) -> Any:
    """A move with the probabilities in ``odds[row]``."""
    x, move = uniform(counter), ZERO
    for k in range(width):
        if odds[row, k] > 0.0:
            move = k
            x -= odds[row, k]
            if x < 0.0:
                break
    return move


@kernel
def walk(
    tree: SampleTree,
    player: int,
    deal: Any,
    mine: Table,
    theirs: Table,
    weight: float,
    floor: bool,
    explore: float,
    rate: float,
    log: Log,
    frames: Frames,
    counter: Counter,
) -> int:
    """One path for ``player``, down and up again; returns how many nodes were entered.

    ``frames.number`` holds the probability with which each move on the path was drawn, and one over the player's part
    of the probability of getting there. ``util`` serves for probabilities of drawing, then for estimates.
    """
    word, stake, chances, outcome, hands = tree
    _, threshold, alias = chances
    place, number, util, sigma = frames
    deals, me = np.uint64(hands.shape[1]), np.uint64(player)
    node, depth, nodes, scale = ZERO, ZERO, 0, 1.0
    while True:
        nodes += 1
        code = np.uint64(word[node, ZERO])
        actor, width, child = code & THREE, (code >> TWO) & WIDE, code >> CHILD
        if actor == END:
            value = stake[node, ONE] * outcome[child * deals + deal]
            break
        start = np.uint64(word[node, ONE])
        if actor == NATURE:
            node = child + drawn(threshold, alias, start + deal * width, width, counter)
            continue
        start += np.uint64(hands[actor, deal]) * width
        table = mine if actor == me else theirs
        matched(table.regret, start, width, sigma, depth)
        share = explore / np.float64(width) if actor == me else 0.0
        keep = 1.0 - explore if actor == me else 1.0
        for k in range(width):
            util[depth, k] = share + keep * sigma[depth, k]
        if actor != me:
            for k in range(width):
                table.average[start + k] += weight * scale * sigma[depth, k]
        move = draw(util, depth, width, counter)
        place[depth, ZERO], place[depth, ONE], place[depth, THREE], place[depth, FOUR] = start, width, move, actor
        number[depth, ZERO], number[depth, ONE] = util[depth, move], scale
        if actor == me:
            scale /= util[depth, move]
        depth += ONE
        node = child + move
    sign, later = 1.0 if player == 0 else -1.0, len(log.seen) > 1
    while depth > ZERO:
        depth -= ONE
        start, width, move = np.uint64(place[depth, ZERO]), np.uint64(place[depth, ONE]), np.uint64(place[depth, THREE])
        own = np.uint64(place[depth, FOUR]) == me
        table = mine if own else theirs
        below = value
        for k in range(width):
            util[depth, k] = table.baseline[start + k] if rate > 0.0 else 0.0
        util[depth, move] += (below - util[depth, move]) / number[depth, ZERO]
        value = 0.0
        for k in range(width):
            value += sigma[depth, k] * util[depth, k]
        if rate > 0.0:
            table.baseline[start + move] += rate * (below - table.baseline[start + move])
        if own:
            mass = weight * number[depth, ONE] * sign
            if later:
                row = np.uint64(log.filled[ZERO])
                log.met[row, ZERO], log.met[row, ONE] = start, width
                log.filled[ZERO] += 1
            for k in range(width):
                gain = mass * (util[depth, k] - value)
                if later:
                    log.gain[start + k] = gain
                else:
                    r = mine.regret[start + k] + gain
                    mine.regret[start + k] = r if r > 0.0 or not floor else 0.0
    return nodes


@kernel
def outcome_iterations(
    tree: SampleTree,
    opening: int,
    tables: tuple[Table, Table],
    weights: Floats,
    floor: bool,
    explore: float,
    rate: float,
    turns: int,
    logs: tuple[Log, Log],
    frames: Frames,
    counter: Counter,
    nodes: Longs,
) -> None:
    """One iteration for each of ``weights``; ``tables``, ``counter`` and ``nodes`` are modified in place."""
    first, second = tables
    deals = np.uint64(tree.hands.shape[1])
    for t in range(len(weights)):
        deal = drawn(tree.chances.threshold, tree.chances.alias, ZERO, deals, counter) if deals > ONE else ZERO
        nodes[ZERO] += opening + walk(
            tree, 0, deal, first, second, weights[t], floor, explore, rate, logs[0], frames, counter
        )
        deal = drawn(tree.chances.threshold, tree.chances.alias, ZERO, deals, counter) if deals > ONE else ZERO
        nodes[ZERO] += opening + walk(
            tree, 1, deal, second, first, weights[t], floor, explore, rate, logs[1], frames, counter
        )
        if turns == SIMULTANEOUS:
            settle(first.regret, floor, logs[0])
            settle(second.regret, floor, logs[1])
