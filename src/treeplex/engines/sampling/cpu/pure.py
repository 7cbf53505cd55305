"""External sampling with pure strategies (Pure MCCFR): no strategy is computed, only looked up.

An infoset keeps the number of the action it plays. The opponent's node costs one lookup and one addition to the
average; a chance node one draw; a node of the player's one maximum. Maths: ``engines.sampling.reference.sampling``.
Float64; one thread per stream; no fastmath.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treeplex.engines.sampling.arrays import Batch, Frames, Log, Table
from treeplex.engines.sampling.columns import CHILD, FACTOR, FIRST, NEXT, ONE, START, WIDTH, ZERO
from treeplex.engines.sampling.cpu.frame import greatest, iterations, observe, unpacked
from treeplex.engines.sampling.cpu.random import Counter, drawn, uniform
from treeplex.engines.sampling.tree import CHANCE_NODE, TERMINAL_NODE, SampleTree
from treeplex.jit import inlined, uncounted_kernel


@uncounted_kernel
def scatter(tree: SampleTree, tables: tuple[Table, Table], held: tuple[int, int], counter: Counter) -> None:
    """Give every infoset of both players a random action to begin with; ``held``: how many hands each can hold."""
    packed = tree.packed
    for node in range(np.uint64(len(packed))):
        actor, width, _ = unpacked(packed, node)
        if actor < CHANCE_NODE:
            pick = tables[0].pick if actor == ZERO else tables[1].pick
            hands = held[0] if actor == ZERO else held[1]
            for hand in range(np.uint64(hands)):
                move = np.uint64(uniform(counter) * np.float64(width))
                pick[np.uint64(packed[node, START]) + hand * width] = move


@inlined
def walk(
    options: tuple[()], player: int, deal: Any, tree: SampleTree, mine: Table, theirs: Table,
    weight: float, plus: bool, later: bool, log: Log, frames: Frames, counter: Counter,
) -> int:  # fmt: skip
    """One walk for ``player``; returns how many nodes were entered."""
    packed, factor, (_, threshold, alias), outcome, hands = tree
    place, _, util, _ = frames
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
                node = child + drawn(threshold, alias, start + deal * width, width, counter)
            elif actor == me:
                start += own * width
                place[depth, FIRST], place[depth, WIDTH], place[depth, CHILD], place[depth, NEXT] = (
                    start, width, child, 0,
                )  # fmt: skip
                depth += ONE
                node = child
            else:
                start += other * width
                move = np.uint64(pick[start])
                average[start + move] += weight
                node = child + move
        while depth > ZERO:  # up
            top = depth - ONE
            move, width = np.uint64(place[top, NEXT]), np.uint64(place[top, WIDTH])
            util[top, move] = value
            move += ONE
            if move < width:
                place[top, NEXT] = move
                node = np.uint64(place[top, CHILD]) + move
                break
            start = np.uint64(place[top, FIRST])
            value = util[top, np.uint64(mine_pick[start])]
            observe(mine_value, start, width, util, top, weight, value if plus else 0.0, plus, False, log)
            mine_pick[start] = greatest(mine_value, start, width, counter)
            depth = top
        if depth == ZERO:
            return nodes


@uncounted_kernel
def pure_iterations(options: tuple[()], batch: Batch) -> None:
    """As ``frame.iterations``, alternating: a simultaneous walk is one of ``joint``."""
    iterations(walk, options, batch)
