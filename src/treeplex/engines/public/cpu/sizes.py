"""Values as functions of a size, and their exact maxima. Maths: ``engines.public.reference.sizes``.

Consider a bet of size x between two sizes in the abstraction, and an opponent who maps it to one of them, at random by
the pseudo-harmonic mapping. With u = 1 + x, its value is ``rise * u + level + fall / u``. The maximum over an interval
has a closed form, and so has that of a sum of such functions. Float64; one thread; no fastmath.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.engines.public.arrays import ARCHIVED, NONE, UNSIZED, Nodes
from treeplex.games.protocol import TERMINAL
from treeplex.kernels.jit import Index, allocating_kernel, kernel


class Known(NamedTuple):
    """Values of the moves in the abstraction, from which values of sizes between theirs follow."""

    sizes: Floats  # [P]
    scales: Floats  # [P] payoff scales
    values: Floats  # [P, H]
    fold_out: Floats  # [P, H] the part that does not depend on the size
    payoff_scale: tuple[float, float]  # scale of a size: a constant, and a factor of the size


@kernel
def between(
    low: float, high: float, fixed_low: float, slope_low: float, fixed_high: float, slope_high: float,
    payoff_scale: tuple[float, float],
) -> tuple[float, float, float]:  # fmt: skip
    """Return ``rise, level, fall`` between two known sizes, with values ``fixed + slope * scale`` at the real scale."""
    a, b = 1.0 + low, 1.0 + high
    k = payoff_scale[0] - payoff_scale[1]
    p, q = fixed_low + slope_low * k, slope_low * payoff_scale[1]  # p + q u: mapped to the lower size
    r, s = fixed_high + slope_high * k, slope_high * payoff_scale[1]  # r + s u: mapped to the higher one
    rise = (b * s - a * q) / (b - a)
    level = (a * b * (q - s) - a * p + b * r) / (b - a)
    fall = a * b * (p - r) / (b - a)
    return rise, level, fall


@kernel
def peak(rise: float, level: float, fall: float, low: float, high: float) -> tuple[float, float]:
    """Return the maximum of ``rise * u + level + fall / u`` over low <= u <= high (both positive), and its u."""
    best, at = rise * low + level + fall / low, low
    other = rise * high + level + fall / high
    if other > best:
        best, at = other, high
    if rise < 0.0 and fall < 0.0:
        u = math.sqrt(fall / rise)
        if low < u < high:
            inside = rise * u + level + fall / u
            if inside > best:
                best, at = inside, u
    return best, at


@allocating_kernel
def peak_of_sum(curves: Floats, low: float, high: float, cuts: Floats) -> tuple[float, float]:
    """Return the maximum of a sum of positive parts of curves, [H, 3] each ``rise, level, fall``, and its u.

    Between two neighbouring roots the same curves are positive, and their sum is also a curve. ``cuts``
    [2 H + 2] is scratch.
    """
    count = 2
    cuts[0], cuts[1] = low, high
    for h in range(len(curves)):
        rise, level, fall = curves[h]
        if rise == 0.0:
            first, second = (-fall / level if level != 0.0 else low), low
        else:
            disc = level * level - 4.0 * rise * fall
            if disc <= 0.0:
                continue
            half = -0.5 * (level + math.copysign(math.sqrt(disc), level))
            first, second = half / rise, (fall / half if half != 0.0 else low)
        for root in (first, second):
            if low < root < high:
                cuts[count] = root
                count += 1
    cuts[:count].sort()
    best, at = 0.0, low
    for piece in range(count - 1):
        begin, end = cuts[piece], cuts[piece + 1]
        middle = 0.5 * (begin + end)
        rise, level, fall = 0.0, 0.0, 0.0
        for h in range(len(curves)):
            if curves[h, 0] * middle + curves[h, 1] + curves[h, 2] / middle > 0.0:
                rise += curves[h, 0]
                level += curves[h, 1]
                fall += curves[h, 2]
        value, u = peak(rise, level, fall, begin, end)
        if value > best:
            best, at = value, u
    return best, at


@kernel
def respond(
    nodes: Nodes, tables: Floats, player: int, opponent: Floats, bounds: Floats, payoff_scale: tuple[float, float],
    whole: bool, values: Floats, fold_out: Floats, choice: Floats,
) -> None:  # fmt: skip
    """Compute a best response's counterfactual values, bottom-up, against the reach ``opponent`` [P, H].

    ``bounds`` [key, 2] are the legal sizes. If ``whole``, every legal size may be chosen, and the opponent maps it by
    the pseudo-harmonic mapping; else only sizes in the abstraction. ``values`` and ``fold_out`` [P, H] are results, and
    arguments at archived nodes. ``choice`` [P, H] is the best size at the player's nodes, UNSIZED if another action is
    best.
    """
    own, known = tables[player], Known(nodes.size, nodes.scale, values, fold_out, payoff_scale)
    hands = np.uint64(values.shape[1])
    for back in range(len(nodes.parent)):
        n = np.uint64(len(nodes.parent) - 1 - back)
        mover = nodes.mover[n]
        if mover == ARCHIVED:
            continue
        if mover == TERMINAL:
            k = np.uint64(nodes.table[n])
            for h in range(hands):
                earning = 0.0
                for other in range(hands):
                    earning += own[k, h, other] * opponent[n, other]
                values[n, h] = nodes.amount[n] * earning
            continue
        start = -math.inf if mover == player else 0.0
        for h in range(hands):
            values[n, h] = start
            fold_out[n, h] = 0.0
            choice[n, h] = UNSIZED
        last: int = NONE
        c: int = nodes.child[n]
        while c != NONE:
            at = np.uint64(c)
            for h in range(hands):
                if mover != player:
                    values[n, h] += values[at, h]
                    if nodes.fold_out[at]:
                        fold_out[n, h] += values[at, h]
                elif values[at, h] > values[n, h]:
                    values[n, h] = values[at, h]
                    choice[n, h] = nodes.size[at]
            if whole and mover == player and nodes.size[at] > 0.0:
                low = bounds[nodes.key[n], 0] if last == NONE else nodes.size[last]
                _fill(known, last, c, n, low, nodes.size[at], choice)
                last = c
            c = nodes.sibling[at]
        if last != NONE:
            _fill(known, last, NONE, n, nodes.size[last], bounds[nodes.key[n], 1], choice)


@kernel
def curve(known: Known, lower: int, upper: int, h: int) -> tuple[float, float, float]:
    """Return the value of hand ``h`` as a curve over sizes between two moves; beyond the last one if one is NONE."""
    sizes, scales, values, fold_out, payoff_scale = known
    one = upper if lower == NONE else lower
    fixed = fold_out[one, h]
    slope = (values[one, h] - fixed) / scales[one]
    if min(lower, upper) == NONE:  # mapped to the nearest size
        return slope * payoff_scale[1], fixed + slope * (payoff_scale[0] - payoff_scale[1]), 0.0
    fixed_high = fold_out[upper, h]
    slope_high = (values[upper, h] - fixed_high) / scales[upper]
    return between(sizes[lower], sizes[upper], fixed, slope, fixed_high, slope_high, payoff_scale)


@kernel
def _fill(known: Known, lower: int, upper: int, n: Index, low: float, high: float, choice: Floats) -> None:
    """Let every hand at ``n`` choose the best size from ``low`` to ``high``, if it beats the hand's value so far."""
    if not low < high:
        return
    values = known.values
    for h in range(values.shape[1]):
        rise, level, fall = curve(known, lower, upper, h)
        best, u = peak(rise, level, fall, 1.0 + low, 1.0 + high)
        if best > values[n, h]:
            values[n, h] = best
            choice[n, h] = u - 1.0


@kernel
def nearest(sizes: Floats, lower: int, upper: int, u: float) -> int:
    """Return the one of two neighbouring moves to which a size of u - 1 between them is most likely mapped."""
    if min(lower, upper) == NONE:
        return max(lower, upper)
    a, b = 1.0 + sizes[lower], 1.0 + sizes[upper]
    return lower if 2.0 * (b - u) * a >= (b - a) * u else upper  # f(x) >= 1/2


@allocating_kernel
def best_sizes(
    nodes: Nodes, regret: Floats, value: Floats, fold_out: Floats, earned: Floats, norm: float, bounds: Floats,
    payoff_scale: tuple[float, float], needed: Floats, size: Floats, gain: Floats, closest: Ints,
) -> None:  # fmt: skip
    """Find, for every decision, the missing size with the largest excess regret, summed over hands.

    The regret of size x at hand h is ``(value(x) - earned) / norm``. Its excess is the amount above the largest regret
    of an action in the abstraction, if positive. Results are written to ``size`` and ``gain`` [P]; ``gain`` is 0 unless
    it exceeds ``needed`` [P]. ``closest`` [P] is the move to whose size the new one is most likely mapped.
    """
    hands = regret.shape[1]
    known = Known(nodes.size, nodes.scale, value, fold_out, payoff_scale)
    curves, cuts = np.empty((hands, 3)), np.empty(2 * hands + 2)
    base = np.empty(hands)
    for n in range(len(nodes.parent)):
        gain[n] = 0.0
        if nodes.mover[n] < 0 or nodes.key[n] == NONE:
            continue
        least = needed[n]
        base[:] = 0.0
        c: int = nodes.child[n]
        while c != NONE:
            for h in range(hands):
                base[h] = max(base[h], regret[c, h])
            c = nodes.sibling[c]
        last: int = NONE
        c = nodes.child[n]
        while True:
            if c != NONE and nodes.size[c] <= 0.0:
                c = nodes.sibling[c]
                continue
            if last == NONE and c == NONE:
                break
            low = bounds[nodes.key[n], 0] if last == NONE else nodes.size[last]
            high = bounds[nodes.key[n], 1] if c == NONE else nodes.size[c]
            if low < high:
                bound = 0.0
                for h in range(hands):
                    rise, level, fall = curve(known, last, c, h)
                    curves[h, 0], curves[h, 2] = rise / norm, fall / norm
                    curves[h, 1] = (level - earned[n, h]) / norm - base[h]
                    top, _ = peak(curves[h, 0], curves[h, 1], curves[h, 2], 1.0 + low, 1.0 + high)
                    bound += max(top, 0.0)
                if bound > least:  # the maximum of a sum is at most the sum of maxima
                    best, u = peak_of_sum(curves, 1.0 + low, 1.0 + high, cuts)
                    if best > max(gain[n], least):
                        gain[n] = best
                        size[n] = u - 1.0
                        closest[n] = nearest(nodes.size, last, c, u)
            if c == NONE:
                break
            last = c
            c = nodes.sibling[c]


@kernel
def regrets(nodes: Nodes, regret: Floats, largest: Floats, squares: Floats) -> None:
    """Write, for both players, the sum over infosets of the largest positive regret, and of squared positive ones."""
    largest[:] = 0.0
    squares[:] = 0.0
    for n in range(len(nodes.parent)):
        mover = nodes.mover[n]
        if mover < 0:
            continue
        for h in range(regret.shape[1]):
            most = 0.0
            c = nodes.child[n]
            while c != NONE:
                r = regret[c, h]
                if r > 0.0:
                    squares[mover] += r * r
                    most = max(most, r)
                c = nodes.sibling[c]
            largest[mover] += most


@kernel
def spans(nodes: Nodes, out: Floats, smallest: Floats) -> None:
    """Write [P], the histories of every node's subtree, and of the smallest subtree below a sized move of the node.

    At the start, ``out`` holds histories of a node that are on disk.
    """
    smallest[:] = math.inf
    for back in range(len(nodes.parent)):
        n = len(nodes.parent) - 1 - back
        out[n] += nodes.deals[n]
        above = nodes.parent[n]
        if above != NONE:
            out[above] += out[n]
            if nodes.size[n] > 0.0:
                smallest[above] = min(smallest[above], out[n])
