"""Counterfactual regret minimization on a growing public tree, sizes worth adding, and the recovery game."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from itertools import pairwise

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.engines.public.arrays import NONE, GrowingStep, Nodes, Rows, Scratch
from treeplex.engines.public.reference.sizes import pseudo_harmonic, value_between
from treeplex.games.protocol import TERMINAL
from treeplex.updates.reference import matched


def children(nodes: Nodes, n: int) -> Iterator[int]:
    """Yield the children of a node in order."""
    child = int(nodes.child[n])
    while child != NONE:
        yield child
        child = int(nodes.sibling[child])


def reach(nodes: Nodes, strategy: Floats, player: int, out: Floats) -> None:
    """Write the own reach of ``player`` at each node to ``out``, hand by hand, top-down from row 0."""
    for n in range(1, len(nodes.parent)):
        above = int(nodes.parent[n])
        out[n] = out[above] * (strategy[n] if nodes.mover[above] == player else 1.0)  # pi_i(ha) = pi_i(h) sigma(a)


def learn(nodes: Nodes, tables: Floats, rows: Rows, player: int, scratch: Scratch, step: GrowingStep) -> None:
    """Compute values of ``player`` bottom-up, and update regrets, sums, next strategy and the opponent's average."""
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
                values[n] += rows.strategy[c] * values[c]  # v(I) = sum of sigma(I, a) v(I, a)
            rows.earned[n] += step.average * values[n]
            for c in below:
                regret = rows.regret[c] + step.regret * (values[c] - values[n])  # (3)
                rows.regret[c] = np.maximum(regret, 0.0) if step.floor else regret
                rows.value[c] += step.average * values[c]
                if nodes.size[c] > 0.0:
                    rows.fold_out[c] += step.average * sum(values[z] for z in children(nodes, c) if nodes.fold_out[z])
            rematch(nodes, rows.regret, rows.strategy, n, n + 1)


def rematch(nodes: Nodes, regret: Floats, strategy: Floats, begin: int, stop: int) -> None:
    """Apply regret matching at the decisions from node ``begin`` to ``stop``: in proportion to positive regrets."""
    for n in range(begin, stop):
        if nodes.mover[n] >= 0:
            below = list(children(nodes, n))
            strategy[below] = matched(regret[below])


def iterate(
    nodes: Nodes, tables: Floats, rows: Rows, scratch: Scratch, archived: Ints, simultaneous: bool,
    done: int, upto: int, weight: float, linear: bool, floor: bool,
) -> int:  # fmt: skip
    """Run half iterations ``done`` to ``upto``, and return the number done.

    Iteration t has weight ``weight``, times t in averages and sums if ``linear``. Both players learn in the first half
    if ``simultaneous``, else player 0, then player 1. The loop stops before a half that reaches an archived node.
    """
    while done < upto:
        for player in (0, 1):
            reach(nodes, rows.strategy, player, scratch.reach[player])
        if scratch.reach[:, archived].any():
            break
        t, second = done // 2 + 1, done % 2
        step = GrowingStep(weight, weight * t if linear else weight, floor)
        rows.average[0] += 0.0 if second else step.average
        for player in (0, 1) if simultaneous else (second,):
            learn(nodes, tables, rows, player, scratch, step)
        done += 2 if simultaneous else 1
    return done


def regrets(nodes: Nodes, regret: Floats, largest: Floats, squares: Floats) -> None:
    """Write, for both players, the sum over infosets of the largest max(R, 0), and the sum of all max(R, 0) squared."""
    largest[:] = squares[:] = 0.0
    for n in np.flatnonzero(nodes.mover >= 0).tolist():
        positive = np.maximum(regret[list(children(nodes, n))], 0.0)
        largest[nodes.mover[n]] += positive.max(axis=0).sum()
        squares[nodes.mover[n]] += (positive**2).sum()


def spans(nodes: Nodes, out: Floats, smallest: Floats) -> None:
    """Add the number of histories below every node to ``out`` [P], and write that of its smallest sized move."""
    for n in range(len(nodes.parent) - 1, -1, -1):
        below = list(children(nodes, n))
        out[n] += nodes.deals[n] + sum(out[c] for c in below)
        smallest[n] = min((out[c] for c in below if nodes.size[c] > 0.0), default=np.inf)


def best_sizes(
    nodes: Nodes, regret: Floats, values: Floats, fold_out: Floats, earned: Floats, norm: float, bounds: Floats,
    payoff_scale: tuple[float, float], needed: Floats, size: Floats, gain: Floats, closest: Ints,
) -> None:  # fmt: skip
    """Find, for every decision, the size x with the largest sum over hands of max(r(x) - max(r(a), 0), 0) > ``needed``.

    r(x) is the regret of x against an opponent who maps it by the pseudo-harmonic mapping. A size beyond all sizes in
    the abstraction is mapped to the nearest. a runs over the actions in the abstraction.
    """
    gain[:] = 0.0
    for n in np.flatnonzero((nodes.mover >= 0) & (nodes.key != NONE)).tolist():
        below = list(children(nodes, n))
        sized = [c for c in below if nodes.size[c] > 0.0]
        level = earned[n] / norm + np.maximum(regret[below].max(axis=0), 0.0)
        ends = [float(bounds[nodes.key[n], 0]), *nodes.size[sized].tolist(), float(bounds[nodes.key[n], 1])]
        gaps = [(NONE, sized[0]), *pairwise(sized), (sized[-1], NONE)] if sized else []
        for (lower, upper), (low, high) in zip(gaps, pairwise(ends), strict=bool(sized)):
            if low >= high:
                continue
            excess = partial(_excess, nodes, values / norm, fold_out / norm, level, lower, upper, payoff_scale)
            for x in _summits(excess, low, high):
                most = float(np.maximum(excess(x), 0.0).sum())
                if most > max(gain[n], needed[n]):
                    gain[n], size[n] = most, x
                    between = NONE not in (lower, upper)
                    down = between and pseudo_harmonic(nodes.size[lower], nodes.size[upper], x) >= 0.5
                    closest[n] = (lower if down else upper) if between else max(lower, upper)


def _excess(
    nodes: Nodes, values: Floats, fold_out: Floats, level: Floats, lower: int, upper: int,
    payoff_scale: tuple[float, float], x: float,
) -> Floats:  # fmt: skip
    """Return [H], the value above ``level`` of size x, which is between two in the abstraction or beyond the last."""
    one, other = (lower, upper) if NONE not in (lower, upper) else (max(lower, upper),) * 2
    slopes = [(values[c] - fold_out[c]) / nodes.scale[c] for c in (one, other)]
    if one == other:
        return fold_out[one] + slopes[0] * (payoff_scale[0] + payoff_scale[1] * x) - level
    low, high = float(nodes.size[one]), float(nodes.size[other])
    hands = zip(fold_out[one], slopes[0], fold_out[other], slopes[1], strict=True)
    return np.array([value_between(low, high, *hand, payoff_scale, x) for hand in hands]) - level


def _summits(excess: Callable[[float], Floats], low: float, high: float) -> list[float]:
    """Return sizes from ``low`` to ``high`` at which the sum of positive parts may have its maximum.

    Every hand's excess is a u + b + c / u with u = 1 + x, so three sizes determine a, b and c. Between two neighbouring
    roots the same hands count. Their sum has its maximum at an end, or where its slope a - c / u^2 is zero.
    """
    at = np.array([low, 0.5 * (low + high), high])
    curves = np.linalg.solve(np.stack([1.0 + at, np.ones(3), 1.0 / (1.0 + at)], axis=1), [excess(x) for x in at]).T
    roots = [root.real - 1.0 for curve in curves for root in np.roots(curve) if abs(root.imag) == 0.0]
    cuts = sorted([low, high, *(x for x in roots if low < x < high)])
    candidates = list(cuts)
    for begin, end in pairwise(cuts):
        a, _, c = curves[excess(0.5 * (begin + end)) > 0.0].sum(axis=0)
        if a < 0.0 and c < 0.0 and begin < np.sqrt(c / a) - 1.0 < end:
            candidates.append(float(np.sqrt(c / a)) - 1.0)
    return candidates


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
    """Solve the recovery game of a subgame, rooted at row 0, for the player whose new move leads to it, by CFR+.

    ``record`` is called with the weight of every iteration, ``iterations`` in total, and with the strategies that the
    player faces.
    """
    gate = np.zeros((2, len(heads)))  # regrets of not entering and of entering
    for t in range(1, iterations + 1):
        weight = 2.0 * t / (iterations + 1)
        entering = matched(gate)[1]
        scratch.reach[player, 0], scratch.reach[1 - player, 0] = entering, heads / iterations  # (5)
        step = GrowingStep(1.0, weight, True)
        reach(nodes, rows.strategy, player, scratch.reach[player])
        learn(nodes, tables, rows, 1 - player, scratch, step)
        reach(nodes, rows.strategy, 1 - player, scratch.reach[1 - player])
        if record:
            record(weight, rows.strategy.copy())
        learn(nodes, tables, rows, player, scratch, step)
        values = np.stack([alternative / iterations, scratch.values[0]])
        expected = (1.0 - entering) * values[0] + entering * values[1]
        gate = np.maximum(gate + values - expected, 0.0)
        rows.value[0] += weight * scratch.values[0]
        rows.fold_out[0] += weight * sum(scratch.values[z] for z in children(nodes, 0) if nodes.fold_out[z])
