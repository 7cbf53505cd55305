"""State that walks over the history tree need to continue a run of iterations over arrays.

Walks reuse regrets, sums of strategies and current strategies. Everything else follows from the opponent's past
strategies: the payments of own terminals, the sums of reach and, from the bottom up, the sums of values. W(J) = the
earnings of an action - its regret. Regrets of CFR+ do not contain this information, because CFR+ forgets. Then W(J) is
computed from the average strategy, which is good enough for (10); (9) needs differences only. Float64; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.history import arrays as layout
from treeplex.engines.history.arrays import Pruning, WalkingPlayer
from treeplex.engines.history.cpu.nested import revise
from treeplex.kernels.jit import kernel


@kernel
def take_over(player: WalkingPlayer, opponent: WalkingPlayer, forgetful: bool, earned: Floats) -> None:
    """Fill in the sums of one player. ``earned`` [S] is scratch; SUM and PLAYED of both players must be complete."""
    (first, parent), (start, column, data) = player.treeplex, player.rows
    sequences, infosets, sequences_1 = player.tables.sequences, player.tables.infosets, opponent.tables.sequences
    size = len(earned)
    played = layout.PLAYED if sequences_1.shape[1] > layout.PLAYED else layout.SUM
    for row in range(len(start) - 1):
        total = 0.0
        for entry in range(start[row], start[row + 1]):
            total += data[entry] * sequences_1[column[entry], played]
        if row >= size:
            infosets[row - size, layout.TOTAL_REACH] = total
        else:
            earned[row] = total
            if sequences.shape[1] > layout.OWN:
                sequences[row, layout.OWN] = total
    for back in range(len(parent)):
        infoset = len(parent) - 1 - back
        begin, end = first[infoset], first[infoset + 1]
        value = earned[begin] - sequences[begin, layout.REGRET]
        if forgetful:
            value, whole = 0.0, 0.0
            for s in range(begin, end):
                whole += sequences[s, layout.SUM]
            for s in range(begin, end):
                value += earned[s] * (sequences[s, layout.SUM] / whole if whole > 0.0 else 1.0 / (end - begin))
        infosets[infoset, layout.TOTAL_VALUE] = value
        infosets[infoset, layout.PASSED] = sequences[parent[infoset], layout.SUM]
        if sequences.shape[1] > layout.PLAYED:
            infosets[infoset, layout.PASSED_PLAYED] = sequences[parent[infoset], layout.PLAYED]
        earned[parent[infoset]] += value


@kernel
def begin_prunings(player: WalkingPlayer, opponent: WalkingPlayer, pruning: Pruning, iteration: int) -> None:
    """Begin all prunings that satisfy (10) after that iteration, in every infoset: starts are free."""
    infosets = np.uint64(len(player.treeplex.parent))
    for position in range(infosets):
        player.scratch.events[position] = infosets - np.uint64(1) - position
    revise(player, opponent, infosets, pruning, float(iteration), iteration, -1)
