"""CFR by walks over the history tree with a rule that is a function: every history, or partial pruning.

An infoset learns in an iteration if its counterfactual reach is positive. Maths:
``engines.history.reference.functions``. Float64; one thread; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.functions import FunctionTable
from treeplex.engines.history import arrays as layout
from treeplex.engines.history.arrays import Pruning, WalkingPlayer, Worklist
from treeplex.engines.history.cpu.walk import iterations
from treeplex.engines.history.levels import Walked
from treeplex.kernels.calls import call_gathered
from treeplex.kernels.jit import Index, inlined, kernel


@inlined
def _learn(
    player: WalkingPlayer, opponent: WalkingPlayer, function: FunctionTable, visited: Index, pruning: Pruning, t: float,
    start: int, now: int,
) -> int:  # fmt: skip
    """Compute values and next strategies of the visited infosets, from the bottom up.

    Return zero, the number of nodes touched by best responses.
    """
    first, parent = player.treeplex
    play, infosets, listed = player.tables.play, player.tables.infosets, player.scratch.visited
    rule, memory = function
    scratch = rule.room[0]
    numbers, columns = play.reshape(-1), np.uint64(play.shape[1])
    zero, one = np.uint64(0), np.uint64(1)
    for back in range(np.uint64(visited)):
        infoset = np.uint64(listed[np.uint64(visited) - one - back])
        begin, end = np.uint64(first[infoset]), np.uint64(first[infoset + one])
        value = 0.0
        for s in range(begin, end):
            value += play[s, layout.STRATEGY] * play[s, layout.VALUE]
        play[np.uint64(parent[infoset]), layout.VALUE] += value
        infosets[infoset, layout.REACH] = 0.0
        place = columns * begin
        call_gathered(
            rule, t, infoset, numbers, place + np.uint64(layout.VALUE), numbers, place + np.uint64(layout.STRATEGY),
            columns, memory, rule.rows * begin, end - begin, scratch,
        )  # fmt: skip
        for s in range(begin, end):
            play[s, layout.VALUE] = 0.0
    play[zero, layout.VALUE] = 0.0
    return 0


@kernel
def function_iterations(
    tree: Walked,
    players: tuple[WalkingPlayer, WalkingPlayer],
    functions: tuple[FunctionTable, FunctionTable],
    work: Worklist,
    start: int,
    weight: Floats,
    pruning: Pruning,
    turns: int,
) -> tuple[int, int, int]:
    """Run iterations as ``prune.walk_iterations`` does, with a rule that is called by its address."""
    return iterations(_learn, tree, players, functions, work, start, weight, pruning, turns)
