"""A rule that is called by its address (``updates.rule``) for every hand of a decision of the learner. One thread."""

from __future__ import annotations

import numpy as np

from treeplex.engines.boards.arrays import Array, Pass, PlayerArrays, RuleCalls
from treeplex.engines.boards.cpu.locked import is_locked
from treeplex.kernels.calls import call_rule
from treeplex.kernels.jit import allocating_callee
from treeplex.updates.rule import TOLERANCE
from treeplex.updates.rules import normalise_span, positive_sum


@allocating_callee
def call(
    calls: RuleCalls, player: PlayerArrays, step: Pass, start: int, number: int, actions: int, width: int, hands: int,
    values: Array,
) -> None:  # fmt: skip
    """Update the strategies and the memory of all ``hands`` hands of a decision except locked ones.

    ``values``: counterfactual values in chips, times the opponent's weights and the chance of the cards dealt since the
    start, as for rules of the family. Numbers of a hand are gathered as float64, and rounded to the storage when they
    are written back. The strategy that a hand has played is normalised as in ``street``: uniform where all is zero.
    """
    player.last[number] = step.t
    rows, size, locked = calls.code[1], actions * width, player.where[number]
    strategy, memory, own = player.predicted[start:], player.regret[rows * start :], np.empty((2 + rows) * actions)
    for h in range(hands):
        if calls.failed[0] >= 0 or calls.astray[0] > 0:
            return
        if locked >= 0 and is_locked(player.locked, locked, size, width, h):
            continue
        for a in range(actions):
            own[a], own[actions + a] = values[a * width + h], strategy[a * width + h]
        begin, end = np.uint64(actions), np.uint64(2 * actions)
        normalise_span(own, own, begin, end, None, positive_sum(own, begin, end, None))
        for k in range(rows * actions):
            own[2 * actions + k] = memory[k * width + h]
        if call_rule(
            calls.code[0], step.t, own, 0, own, actions, own, 2 * actions, calls.constants[step.player], rows, actions
        ):
            calls.failed[0], calls.failed[1], calls.failed[2] = step.player, step.t, actions
            for k in range(len(own)):
                calls.arguments[k] = own[k]
            return
        total, lowest = 0.0, 0.0
        for a in range(actions):
            x = own[actions + a]
            strategy[a * width + h], total, lowest = x, total + x, min(lowest, x)
        if not (abs(total - 1.0) <= TOLERANCE and lowest >= -TOLERANCE):
            calls.astray[0] = step.t
        for k in range(rows * actions):
            memory[k * width + h] = own[2 * actions + k]
