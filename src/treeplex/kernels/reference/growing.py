"""Counterfactual regret minimization on a public tree that grows, and the recovery game, equation by equation."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from treeplex.arrays import Floats
from treeplex.games.protocol import TERMINAL
from treeplex.kernels.growing import NONE, Nodes, Rows, Scratch, Step


def children(nodes: Nodes, n: int) -> Iterator[int]:
    """In order."""
    child = int(nodes.child[n])
    while child != NONE:
        yield child
        child = int(nodes.sibling[child])


def reach(nodes: Nodes, behaviour: Floats, player: int, out: Floats) -> None:
    """Each node's probability by ``player``'s own doing, hand by hand, from row 0 of ``out`` on, top-down."""
    for n in range(1, len(nodes.parent)):
        above = int(nodes.parent[n])
        out[n] = out[above] * (behaviour[n] if nodes.mover[above] == player else 1.0)  # pi_i(ha) = pi_i(h) sigma(a)


def learn(nodes: Nodes, tables: Floats, rows: Rows, player: int, scratch: Scratch, step: Step) -> None:
    """Judge ``player``'s strategy bottom-up; regrets, sums, next strategy, and the opponent's average, in place."""
    opponent, values = scratch.reach[1 - player], scratch.values
    for n in range(len(nodes.parent) - 1, -1, -1):
        mover, below = int(nodes.mover[n]), list(children(nodes, n))
        values[n] = 0.0
        if mover == TERMINAL:
            values[n] = nodes.amount[n] * (tables[player, nodes.table[n]] @ opponent[n])
        elif mover != player:
            for c in below:
                values[n] += values[c]  # the opponent's and chance's probabilities are in the terminals
                if mover >= 0:
                    rows.average[c] += step.average * opponent[c]  # sum of pi(I) sigma(I, a)
        else:
            for c in below:
                values[n] += rows.behaviour[c] * values[c]  # v(I) = sum of sigma(I, a) v(I, a)
            rows.earned[n] += step.average * values[n]
            for c in below:
                regret = rows.regret[c] + step.regret * (values[c] - values[n])  # (3)
                rows.regret[c] = np.maximum(regret, 0.0) if step.floor else regret
                rows.worth[c] += step.average * values[c]
                if nodes.size[c] > 0.0:
                    rows.loose[c] += step.average * sum(values[z] for z in children(nodes, c) if nodes.loose[z])
            rematch(nodes, rows.regret, rows.behaviour, n, n + 1)


def rematch(nodes: Nodes, regret: Floats, behaviour: Floats, begin: int, stop: int) -> None:
    """Take strategies from regrets at the decisions from node ``begin`` to ``stop``: in proportion to positive ones."""
    for n in range(begin, stop):
        if nodes.mover[n] >= 0:
            below = list(children(nodes, n))
            hope = np.maximum(regret[below], 0.0)
            total = hope.sum(axis=0)
            behaviour[below] = np.where(total > 0.0, hope / np.where(total > 0.0, total, 1.0), 1.0 / len(below))


def recover(
    nodes: Nodes,
    tables: Floats,
    rows: Rows,
    scratch: Scratch,
    player: int,
    heads: Floats,
    alternative: Floats,
    iterations: int,
    record: Callable[[float, Floats], None] | None = None,
) -> None:
    """Play the recovery game of a subgame, rooted at row 0, for the player whose new move leads to it, by CFR+.

    ``record`` is called with the weight of every iteration, out of ``iterations`` in all, and with the strategies that
    the player is judged by.
    """
    gate = np.zeros((2, len(heads)))  # regrets of staying out and of entering
    for t in range(1, iterations + 1):
        weight = 2.0 * t / (iterations + 1)
        total = gate.sum(axis=0)
        entering = np.where(total > 0.0, gate[1] / np.where(total > 0.0, total, 1.0), 0.5)
        scratch.reach[player, 0], scratch.reach[1 - player, 0] = entering, heads / iterations  # (5)
        step = Step(1.0, weight, True)
        reach(nodes, rows.behaviour, player, scratch.reach[player])
        learn(nodes, tables, rows, 1 - player, scratch, step)
        reach(nodes, rows.behaviour, 1 - player, scratch.reach[1 - player])
        if record:
            record(weight, rows.behaviour.copy())
        learn(nodes, tables, rows, player, scratch, step)
        values = np.stack([alternative / iterations, scratch.values[0]])
        expected = (1.0 - entering) * values[0] + entering * values[1]
        gate = np.maximum(gate + values - expected, 0.0)
        rows.worth[0] += weight * scratch.values[0]
        rows.loose[0] += weight * sum(scratch.values[z] for z in children(nodes, 0) if nodes.loose[z])
