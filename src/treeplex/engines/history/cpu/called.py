"""CFR by walks over the history tree with a rule that is a function: every history, or partial pruning.

An infoset learns in an iteration if its counterfactual reach is positive. Maths: ``engines.history.reference.called``.
Float64; one thread; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.called import Call, update
from treeplex.engines.history import arrays as layout
from treeplex.engines.history.arrays import Player, Pruning, Worklist
from treeplex.engines.history.cpu.walk import iterations
from treeplex.engines.history.levels import Walked
from treeplex.kernels.jit import Index, inlined, kernel


@inlined
def _learn(
    player: Player, opponent: Player, call: Call, visited: Index, pruning: Pruning, t: float, start: int, now: int
) -> int:
    """Values and next strategies of the infosets visited, from the bottom up; nothing responds, so it returns zero."""
    first, parent = player.treeplex
    play, infosets, listed = player.tables.play, player.tables.infosets, player.scratch.visited
    values, strategy = call.values, call.strategy
    zero, one = np.uint64(0), np.uint64(1)
    call.iteration[zero] = t
    for back in range(np.uint64(visited)):
        infoset = np.uint64(listed[np.uint64(visited) - one - back])
        begin = np.uint64(first[infoset])
        width, value = np.uint64(first[infoset + one]) - begin, 0.0
        for k in range(width):
            strategy[k], values[k] = play[begin + k, layout.STRATEGY], play[begin + k, layout.VALUE]
            play[begin + k, layout.VALUE] = 0.0
            value += strategy[k] * values[k]
        play[np.uint64(parent[infoset]), layout.VALUE] += value
        infosets[infoset, layout.REACH] = 0.0
        update(call, values, zero, strategy, zero, begin, width)
        for k in range(width):
            play[begin + k, layout.STRATEGY] = strategy[k]
    play[zero, layout.VALUE] = 0.0
    return 0


@kernel
def called_iterations(
    tree: Walked,
    players: tuple[Player, Player],
    calls: tuple[Call, Call],
    work: Worklist,
    start: int,
    weight: Floats,
    pruning: Pruning,
    turns: int,
) -> tuple[int, int, int]:
    """As ``prune.walk_iterations``, with a rule that is called."""
    return iterations(_learn, tree, players, calls, work, start, weight, pruning, turns)
