"""External sampling with pure strategies (Pure MCCFR): no strategy is computed, only looked up.

An infoset keeps the number of the action it plays. The opponent's node costs one lookup and one addition to the
average; nature's one draw; a node of the player's one maximum, taken while its values are updated. Maths:
``engines.sampling.reference.sampling``. Float64; one thread a stream; no fastmath.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.engines.sampling.arrays import Frames, Table
from treeplex.engines.sampling.cpu.random import Counter, drawn, uniform
from treeplex.engines.sampling.tree import END, NATURE, WIDTH_BITS, Longs, SampleTree
from treeplex.jit import kernel

TWO = np.uint64(2)
WIDE = np.uint64(2**WIDTH_BITS - 1)
CHILD = np.uint64(2 + WIDTH_BITS)
ZERO, ONE, THREE = np.uint64(0), np.uint64(1), np.uint64(3)


@kernel
def scatter(tree: SampleTree, tables: tuple[Table, Table], held: tuple[int, int], counter: Counter) -> None:
    """Give every infoset of both players a random action to begin with; ``held``: how many hands each can hold."""
    word = tree.word
    for node in range(np.uint64(len(word))):
        code = np.uint64(word[node, ZERO])
        actor, width = code & THREE, (code >> TWO) & WIDE
        if actor < TWO:
            pick = tables[0].pick if actor == ZERO else tables[1].pick
            hands = held[0] if actor == ZERO else held[1]
            for hand in range(np.uint64(hands)):
                move = np.uint64(uniform(counter) * np.float64(width))
                pick[np.uint64(word[node, ONE]) + hand * width] = move


@kernel
def improve(
    value: Floats,
    pick: Ints,
    start: Any,
    width: Any,
    util: Floats,
    row: Any,
    weight: float,
    floor: bool,
    counter: Counter,
) -> float:
    """Add the values of the moves, pick the best for the next iteration, ties by chance; returns what was played."""
    played = util[row, np.uint64(pick[start])]
    level = played if floor else 0.0
    best, move, ties = -np.inf, ZERO, 0.0
    for k in range(width):
        q = value[start + k] + weight * (util[row, k] - level)
        if floor and q < 0.0:
            q = 0.0
        value[start + k] = q
        if q > best:
            best, move, ties = q, k, 1.0
        elif q == best:
            ties += 1.0
            if uniform(counter) * ties < 1.0:
                move = k
    pick[start] = move
    return played


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
    value_of: Floats,
    mine_pick: Ints,
    average: Floats,
    pick: Ints,
    weight: float,
    floor: bool,
    place: Longs,
    util: Floats,
    counter: Counter,
) -> int:
    """One walk for ``player``; returns how many nodes were entered. Arrays come one by one as in ``external.walk``."""
    deals = np.uint64(hands.shape[1])
    own, other = np.uint64(hands[player, deal]), np.uint64(hands[1 - player, deal])
    me, sign = np.uint64(player), 1.0 if player == 0 else -1.0
    node, depth, nodes, value = ZERO, ZERO, 0, 0.0
    while True:
        while True:  # down
            nodes += 1
            code = np.uint64(word[node, ZERO])
            actor, width, child = code & THREE, (code >> TWO) & WIDE, code >> CHILD
            if actor == END:
                value = sign * (stake[node, ONE] * outcome[child * deals + deal])
                break
            start = np.uint64(word[node, ONE])
            if actor == NATURE:
                node = child + drawn(threshold, alias, start + deal * width, width, counter)
            elif actor == me:
                start += own * width
                place[depth, ZERO], place[depth, ONE], place[depth, TWO], place[depth, THREE] = start, width, child, 0
                depth += ONE
                node = child
            else:
                start += other * width
                move = np.uint64(pick[start])
                average[start + move] += weight
                node = child + move
        while depth > ZERO:  # up
            top = depth - ONE
            move, width = np.uint64(place[top, THREE]), np.uint64(place[top, ONE])
            util[top, move] = value
            move += ONE
            if move < width:
                place[top, THREE] = move
                node = np.uint64(place[top, TWO]) + move
                break
            start = np.uint64(place[top, ZERO])
            value = improve(value_of, mine_pick, start, width, util, top, weight, floor, counter)
            depth = top
        if depth == ZERO:
            return nodes


@kernel
def pure_iterations(
    tree: SampleTree,
    opening: int,
    tables: tuple[Table, Table],
    weights: Floats,
    floor: bool,
    frames: Frames,
    counter: Counter,
    nodes: Longs,
) -> None:
    """One iteration in turns for each of ``weights``; ``tables``, ``counter`` and ``nodes`` are modified in place."""
    word, stake, chances, outcome, hands = tree
    _, threshold, alias = chances
    place, _, util, _ = frames
    (value, average, pick, _), (value1, average1, pick1, _) = tables
    deals = np.uint64(hands.shape[1])
    entered = 0
    for t in range(len(weights)):
        deal = drawn(threshold, alias, ZERO, deals, counter) if deals > ONE else ZERO
        entered += opening + walk(
            0, deal, word, stake, threshold, alias, outcome, hands, value, pick, average1, pick1, weights[t], floor,
            place, util, counter,
        )  # fmt: skip
        deal = drawn(threshold, alias, ZERO, deals, counter) if deals > ONE else ZERO
        entered += opening + walk(
            1, deal, word, stake, threshold, alias, outcome, hands, value1, pick1, average, pick, weights[t], floor,
            place, util, counter,
        )  # fmt: skip
    nodes[ZERO] += entered
