"""Counterfactual regret minimization on a public tree that grows. Maths: ``engines.public.reference.growing``.

Hands side by side in rows; float64 throughout; sums in the order of the children; one thread; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.engines.public.arrays import NONE, Nodes, Rows, Scratch, Step
from treeplex.games.protocol import TERMINAL
from treeplex.jit import kernel


@kernel
def reach(nodes: Nodes, behaviour: Floats, player: int, out: Floats) -> None:
    """Each node's probability by ``player``'s own doing, hand by hand, from row 0 of ``out`` on, top-down."""
    parent, mover = nodes.parent, nodes.mover
    hands = np.uint64(out.shape[1])
    for n in range(np.uint64(1), np.uint64(len(parent))):
        above = np.uint64(parent[n])
        if mover[above] == player:
            for h in range(hands):
                out[n, h] = out[above, h] * behaviour[n, h]
        else:
            for h in range(hands):
                out[n, h] = out[above, h]


@kernel
def learn(nodes: Nodes, tables: Floats, rows: Rows, player: int, scratch: Scratch, step: Step) -> None:
    """Judge ``player``'s strategy bottom-up; regrets, sums, next strategy, and the opponent's average, in place.

    ``tables`` [2, K, H, H] are signed for each player. The average that takes part is the opponent's: what the player
    has been judged against. One flat loop, because calls with so many arrays cost more than the sums.
    """
    _, first, following, movers, loosened, sizes, _, amounts, number, _, _, _, _, _ = nodes
    regret, average, behaviour, worth, loose, earned = rows
    own, opponent, values = tables[player], scratch.reach[1 - player], scratch.values
    hands = len(scratch.lanes) if len(scratch.lanes) > 0 else values.shape[1]
    total = np.empty(hands)
    count = np.uint64(len(first))
    for back in range(count):
        n = count - np.uint64(1) - back
        mover = movers[n]
        if mover == TERMINAL:
            amount, k = amounts[n], np.uint64(number[n])
            for h in range(hands):
                earning = 0.0
                for other in range(hands):
                    earning += own[k, h, other] * opponent[n, other]
                values[n, h] = amount * earning
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
                values[n, h] += behaviour[at, h] * values[at, h]
            actions += 1
            c = following[at]
        for h in range(hands):
            earned[n, h] += step.average * values[n, h]
            total[h] = 0.0
        c = first[n]
        while c != NONE:
            at = np.uint64(c)
            for h in range(hands):
                value = values[at, h]
                r = regret[at, h] + step.regret * (value - values[n, h])
                if step.floor and r < 0.0:
                    r = 0.0
                regret[at, h] = r
                if r > 0.0:
                    total[h] += r
                worth[at, h] += step.average * value
            if sizes[at] > 0.0:
                z = first[at]
                while z != NONE:
                    end = np.uint64(z)
                    if loosened[end]:
                        for h in range(hands):
                            loose[at, h] += step.average * values[end, h]
                    z = following[end]
            c = following[at]
        even = 1.0 / actions
        c = first[n]
        while c != NONE:
            at = np.uint64(c)
            for h in range(hands):
                behaviour[at, h] = max(regret[at, h], 0.0) / total[h] if total[h] > 0.0 else even
            c = following[at]


@kernel
def rematch(nodes: Nodes, regret: Floats, behaviour: Floats, begin: int, stop: int) -> None:
    """Take strategies from regrets at the decisions from node ``begin`` to ``stop``: in proportion to positive ones."""
    for n in range(begin, stop):
        if nodes.mover[n] < 0:
            continue
        for h in range(regret.shape[1]):
            total, actions = 0.0, 0
            c = nodes.child[n]
            while c != NONE:
                total += max(regret[c, h], 0.0)
                actions += 1
                c = nodes.sibling[c]
            c = nodes.child[n]
            while c != NONE:
                behaviour[c, h] = max(regret[c, h], 0.0) / total if total > 0.0 else 1.0 / actions
                c = nodes.sibling[c]


@kernel
def is_reached(scratch: Scratch, archived: Ints) -> bool:
    """Does anybody reach a node whose subtree is on disk?"""
    for n in archived:
        for player in range(2):
            for h in range(scratch.values.shape[1]):
                if scratch.reach[player, n, h] != 0.0:
                    return True
    return False


@kernel
def iterate(
    nodes: Nodes, tables: Floats, rows: Rows, scratch: Scratch, archived: Ints, simultaneous: bool,
    done: int, upto: int, weight: float, linear: bool, floor: bool,
) -> int:  # fmt: skip
    """Half iterations ``done`` to ``upto`` (two make one); stops before one that needs what is archived.

    Both players are judged in the first half of an iteration if they move at once, else player 0, then player 1.
    ``weight`` of every iteration, in averages and sums times its number if ``linear``; row 0 of the average adds them
    up. Returns the halves done.
    """
    while done < upto:
        reach(nodes, rows.behaviour, 0, scratch.reach[0])
        reach(nodes, rows.behaviour, 1, scratch.reach[1])
        if is_reached(scratch, archived):
            return done
        step = Step(weight, weight * (done // 2 + 1) if linear else weight, floor)
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


@kernel
def recover(
    nodes: Nodes, tables: Floats, rows: Rows, scratch: Scratch, player: int,
    heads: Floats, alternative: Floats, iterations: int,
) -> None:  # fmt: skip
    """Play the recovery game of a subgame, rooted at row 0, for the player whose new move leads to it, by CFR+.

    ``heads`` [H]: the opponent's share of equation (5), not divided by its sum. ``alternative`` [H]: the sum of the
    player's values at the head, which the player may take instead of entering. The player is judged against the
    opponent's new strategy, and sums and averages weigh iterations by their number. The regret of a move of the player
    in the recovery game is ``worth`` of the move less ``earned`` where it is made; ``regret`` is cut off at zero.
    """
    hands = len(heads)
    enter, stay = np.zeros(hands), np.zeros(hands)  # regrets at the gate, cut off at zero
    for t in range(iterations):
        weight = 2.0 * (t + 1) / (iterations + 1)  # they add up to the number of iterations
        step = Step(1.0, weight, True)
        for h in range(hands):
            total = enter[h] + stay[h]
            scratch.reach[player, 0, h] = enter[h] / total if total > 0.0 else 0.5
            scratch.reach[1 - player, 0, h] = heads[h] / iterations
        reach(nodes, rows.behaviour, player, scratch.reach[player])
        learn(nodes, tables, rows, 1 - player, scratch, step)
        reach(nodes, rows.behaviour, 1 - player, scratch.reach[1 - player])
        learn(nodes, tables, rows, player, scratch, step)
        z = nodes.child[0]
        while z != NONE:
            if nodes.loose[z]:
                for h in range(hands):
                    rows.loose[0, h] += weight * scratch.values[z, h]
            z = nodes.sibling[z]
        for h in range(hands):
            inside, outside = scratch.values[0, h], alternative[h] / iterations
            expected = outside + scratch.reach[player, 0, h] * (inside - outside)
            enter[h] = max(enter[h] + inside - expected, 0.0)
            stay[h] = max(stay[h] + outside - expected, 0.0)
            rows.worth[0, h] += weight * inside


@kernel
def subtree(nodes: Nodes, root: int, out: Ints) -> int:
    """The nodes of a subtree into ``out``, depth-first; returns how many."""
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
