"""Mirror prox and optimistic mirror descent. Maths: ``engines.sequence.reference.mirror``.

Storage and accumulation float64; one thread; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.sequence.cpu.oracle import gradient_of
from treeplex.engines.sequence.cpu.prox import respond
from treeplex.engines.sequence.first_order import (
    LAG,
    ROUNDING,
    STEP_GROWTH,
    MirrorPlayer,
    Rate,
    StepBounds,
)
from treeplex.kernels.jit import allocating_kernel


@allocating_kernel
def add(old: Floats, factor: float, new: Floats, out: Floats) -> None:
    """Compute out = old + factor new; ``out`` is modified in place and may be ``old``."""
    for s in range(np.uint64(len(old))):
        out[s] = old[s] + factor * new[s]


@allocating_kernel
def value(gradient: Floats, plan: Floats) -> float:
    """Value of a plan against the gradient."""
    total = 0.0
    for s in range(np.uint64(len(plan))):
        total += gradient[s] * plan[s]
    return total


@allocating_kernel
def surprise(gradient: Floats, predicted: Floats, plan: Floats) -> float:
    """Value of a plan against the gradient, less its value against the predicted gradient."""
    total = 0.0
    for s in range(np.uint64(len(plan))):
        total += (gradient[s] - predicted[s]) * plan[s]
    return total


@allocating_kernel
def attempt(players: tuple[MirrorPlayer, MirrorPlayer], step: float) -> tuple[float, float, float]:
    """Play responses to the predicted gradients and learn from the gradients against them, in scratch.

    Return the potential of each player if the attempt is accepted, and the distance of the next responses from the
    plans that were played.
    """
    (one, mine, me), (two, theirs, they) = players
    add(mine.dual, step, mine.predicted, me.moved)
    far = respond(one.treeplex, one.entropy, 1.0, me.moved, me.prox, me.played)
    add(theirs.dual, step, theirs.predicted, they.moved)
    far += respond(two.treeplex, two.entropy, 1.0, they.moved, they.prox, they.played)
    gradient_of(one.side, one.sign, they.played, me.gradient)
    gradient_of(two.side, two.sign, me.played, they.gradient)
    add(mine.dual, step, me.gradient, me.moved)
    first = respond(one.treeplex, one.entropy, 1.0, me.moved, me.prox, me.next)
    add(theirs.dual, step, they.gradient, they.moved)
    second = respond(two.treeplex, two.entropy, 1.0, they.moved, they.prox, they.next)
    far -= first + second
    mine_off = surprise(me.gradient, mine.predicted, me.next)
    far += step * (mine_off + surprise(they.gradient, theirs.predicted, they.next))
    return first, second, far


@allocating_kernel
def keep(player: MirrorPlayer, step: float) -> None:
    """Accept an attempt: copy it to the state, which is modified in place."""
    _, mirror, scratch = player
    add(mirror.average, step, scratch.played, mirror.average)
    mirror.dual[:] = scratch.moved
    mirror.response[:] = scratch.next
    mirror.predicted[:] = scratch.gradient


@allocating_kernel
def mirror_iterations(
    players: tuple[MirrorPlayer, MirrorPlayer],
    rate: Rate,
    start: int,
    count: int,
    optimistic: bool,
    bounds: StepBounds,
) -> int:
    """Run ``count`` iterations, numbered from ``start + 1``, and return the number of products.

    ``players`` and ``rate`` are modified in place.
    """
    products = 0
    (one, mine, me), (two, theirs, they) = players
    longest, least, noise, limit, cut = bounds
    for t in range(start, start + count):
        limit[0] = cut / (t + 1.0)
        if not optimistic or t == 0:
            gradient_of(one.side, one.sign, theirs.response, mine.predicted)
            gradient_of(two.side, two.sign, mine.response, theirs.predicted)
            products += 2
        while True:
            step = rate.step[0]
            first, second, far = attempt(players, step)
            products += 2
            bound = first + second
            if optimistic:
                bound += LAG * far
            slack = ROUNDING * (abs(first) + abs(second)) + noise
            if cut > 0.0:  # what truncation has left out of payoffs that sum to zero
                slack += step * (value(me.gradient, me.played) + value(they.gradient, they.played))
            if bound <= rate.bound[0] + slack or step <= least:
                break
            rate.growth[0] = STEP_GROWTH
            rate.step[0] = 0.5 * step
        keep(players[0], step)
        keep(players[1], step)
        rate.bound[0] = bound
        rate.step[0] = min(rate.growth[0] * step, longest)
    return products
