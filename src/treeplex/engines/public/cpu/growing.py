"""Counterfactual regret minimization on a growing public tree. Maths: ``engines.public.reference.growing``.

The hands of a row are adjacent. Float64; sums in the order of the children; one thread; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.engines.public.arrays import NONE, GrowingStep, Nodes, Rows, Scratch
from treeplex.games.protocol import TERMINAL
from treeplex.kernels.jit import allocating_kernel, inlined
from treeplex.updates.rules import floored, normalise, positive


@allocating_kernel
def reach(nodes: Nodes, strategy: Floats, player: int, out: Floats) -> None:
    """Write the own reach of ``player`` at each node to ``out``, hand by hand, top-down from row 0."""
    parent, mover = nodes.parent, nodes.mover
    hands = np.uint64(out.shape[1])
    for n in range(np.uint64(1), np.uint64(len(parent))):
        above = np.uint64(parent[n])
        if mover[above] == player:
            for h in range(hands):
                out[n, h] = out[above, h] * strategy[n, h]
        else:
            for h in range(hands):
                out[n, h] = out[above, h]


@inlined
def match(first: int, following: Ints, regret: Floats, total: Floats, actions: int, hands: int, out: Floats) -> None:
    """Apply regret matching to the children from ``first`` on, whose positive regrets sum to ``total`` [H]."""
    c = first
    while c != NONE:
        at = np.uint64(c)
        for h in range(hands):
            out[at, h] = normalise(positive(regret[at, h]), total[h], actions)
        c = following[at]


@allocating_kernel
def learn(nodes: Nodes, tables: Floats, rows: Rows, player: int, scratch: Scratch, step: GrowingStep) -> None:
    """Compute values of ``player`` bottom-up, and update regrets, sums, next strategy and the opponent's average.

    ``tables`` [2, K, H, H] are signed for each player. The average is the opponent's, because that is the strategy that
    the player faces. This is one flat loop, because calls with this many arrays cost more than the sums.
    """
    first, following, movers = nodes.child, nodes.sibling, nodes.mover
    regret, average, strategy, value, fold_out, earned = rows
    own, opponent, values = tables[player], scratch.reach[1 - player], scratch.values
    hands = len(scratch.lanes) if len(scratch.lanes) > 0 else values.shape[1]
    total = np.empty(hands)
    count = np.uint64(len(first))
    for back in range(count):
        n = count - np.uint64(1) - back
        mover = movers[n]
        if mover == TERMINAL:
            amount, k = nodes.amount[n], np.uint64(nodes.table[n])
            for h in range(hands):
                payoff = 0.0
                for other in range(hands):
                    payoff += own[k, h, other] * opponent[n, other]
                values[n, h] = amount * payoff
            continue
        for h in range(hands):
            values[n, h] = 0.0
        c = first[n]
        if mover != player:
            while c != NONE:
                at = np.uint64(c)
                for h in range(hands):
                    values[n, h] += values[at, h]
                if mover >= 0:
                    for h in range(hands):
                        average[at, h] += step.average * opponent[at, h]
                c = following[at]
            continue
        actions = 0
        while c != NONE:
            at = np.uint64(c)
            for h in range(hands):
                values[n, h] += strategy[at, h] * values[at, h]
            actions += 1
            c = following[at]
        for h in range(hands):
            earned[n, h] += step.average * values[n, h]
            total[h] = 0.0
        c = first[n]
        while c != NONE:
            at = np.uint64(c)
            for h in range(hands):
                r = floored(regret[at, h] + step.regret * (values[at, h] - values[n, h]), step.floor)
                regret[at, h] = r
                total[h] += positive(r)
                value[at, h] += step.average * values[at, h]
            z = first[at] if nodes.size[at] > 0.0 else NONE
            while z != NONE:
                end = np.uint64(z)
                if nodes.fold_out[end]:
                    for h in range(hands):
                        fold_out[at, h] += step.average * values[end, h]
                z = following[end]
            c = following[at]
        match(first[n], following, regret, total, actions, hands, strategy)


@allocating_kernel
def rematch(nodes: Nodes, regret: Floats, strategy: Floats, begin: int, stop: int) -> None:
    """Apply regret matching to regrets or averages, at the decisions from node ``begin`` to ``stop``."""
    hands = regret.shape[1]
    total = np.empty(hands)
    for n in range(begin, stop):
        if nodes.mover[n] < 0:
            continue
        total[:] = 0.0
        actions = 0
        c: int = nodes.child[n]
        while c != NONE:
            for h in range(hands):
                total[h] += positive(regret[c, h])
            actions += 1
            c = nodes.sibling[c]
        match(nodes.child[n], nodes.sibling, regret, total, actions, hands, strategy)


@allocating_kernel
def is_reached(scratch: Scratch, archived: Ints) -> bool:
    """Return whether a player reaches a node whose subtree is on disk."""
    for n in archived:
        for player in range(2):
            for h in range(scratch.values.shape[1]):
                if scratch.reach[player, n, h] != 0.0:
                    return True
    return False


@allocating_kernel
def iterate(
    nodes: Nodes, tables: Floats, rows: Rows, scratch: Scratch, archived: Ints, simultaneous: bool,
    done: int, upto: int, weight: float, linear: bool, floor: bool,
) -> int:  # fmt: skip
    """Run half iterations ``done`` to ``upto`` (two make one iteration), and return the number done.

    Both players learn in the first half of an iteration if ``simultaneous``, else player 0, then player 1. Every
    iteration has ``weight``, times its number in averages and sums if ``linear``; row 0 of the average is their sum.
    The loop stops before a half that reaches an archived node.
    """
    while done < upto:
        reach(nodes, rows.strategy, 0, scratch.reach[0])
        reach(nodes, rows.strategy, 1, scratch.reach[1])
        if is_reached(scratch, archived):
            return done
        step = GrowingStep(weight, weight * (done // 2 + 1) if linear else weight, floor)
        if done % 2 == 0:
            rows.average[0] += step.average
        if simultaneous:
            learn(nodes, tables, rows, 0, scratch, step)
            learn(nodes, tables, rows, 1, scratch, step)
            done += 2
        else:
            learn(nodes, tables, rows, done % 2, scratch, step)
            done += 1
    return done


@allocating_kernel
def recover(
    nodes: Nodes, tables: Floats, rows: Rows, scratch: Scratch, player: int,
    heads: Floats, alternative: Floats, iterations: int,
) -> None:  # fmt: skip
    """Solve the recovery game of a subgame, rooted at row 0, for the player whose new move leads to it, by CFR+.

    ``heads`` [H] is the opponent's factor of equation (5), not divided by its sum. ``alternative`` [H] is the sum of
    the player's values at the head, which the player gets by not entering. The player faces the opponent's new
    strategy. Sums and averages weight iterations by their number. The regret of a move of the player in the recovery
    game is ``value`` of the move minus ``earned`` of its decision; ``regret`` is cut off at zero.
    """
    hands = len(heads)
    enter, stay = np.zeros(hands), np.zeros(hands)  # regrets at the gate, cut off at zero
    for t in range(iterations):
        weight = 2.0 * (t + 1) / (iterations + 1)  # weights sum to the number of iterations
        step = GrowingStep(1.0, weight, True)
        for h in range(hands):
            scratch.reach[player, 0, h] = normalise(enter[h], enter[h] + stay[h], 2)
            scratch.reach[1 - player, 0, h] = heads[h] / iterations
        reach(nodes, rows.strategy, player, scratch.reach[player])
        learn(nodes, tables, rows, 1 - player, scratch, step)
        reach(nodes, rows.strategy, 1 - player, scratch.reach[1 - player])
        learn(nodes, tables, rows, player, scratch, step)
        z = nodes.child[0]
        while z != NONE:
            if nodes.fold_out[z]:
                for h in range(hands):
                    rows.fold_out[0, h] += weight * scratch.values[z, h]
            z = nodes.sibling[z]
        for h in range(hands):
            inside, outside = scratch.values[0, h], alternative[h] / iterations
            expected = outside + scratch.reach[player, 0, h] * (inside - outside)
            enter[h] = floored(enter[h] + inside - expected, True)
            stay[h] = floored(stay[h] + outside - expected, True)
            rows.value[0, h] += weight * inside


@allocating_kernel
def subtree(nodes: Nodes, root: int, out: Ints) -> int:
    """Write the nodes of a subtree to ``out``, depth-first; return their number."""
    out[0] = root
    count, n = 1, root
    while True:
        if nodes.child[n] != NONE:
            n = nodes.child[n]
        else:
            while n != root and nodes.sibling[n] == NONE:
                n = nodes.parent[n]
            if n == root:
                return count
            n = nodes.sibling[n]
        out[count] = n
        count += 1
