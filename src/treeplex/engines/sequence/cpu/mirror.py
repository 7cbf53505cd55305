"""Mirror prox and optimistic mirror descent. Maths: ``engines.sequence.reference.mirror``.

Storage and accumulation float64; one thread; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.game import Operator
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.cpu.operators import gradient
from treeplex.engines.sequence.cpu.prox import respond
from treeplex.engines.sequence.first_order import (
    LAG,
    ROUNDING,
    SHORTEST_STEP,
    STEP_GROWTH,
    Entropy,
    Mirror,
    MirrorScratch,
    Rate,
)
from treeplex.jit import kernel


@kernel
def add(old: Floats, factor: float, new: Floats, out: Floats) -> None:
    """out = old + factor new; ``out`` is modified in place and may be ``old``."""
    for s in range(np.uint64(len(old))):
        out[s] = old[s] + factor * new[s]


@kernel
def surprise(found: Floats, predicted: Floats, plan: Floats) -> float:
    """The value of a plan against what was found, beyond what was predicted."""
    total = 0.0
    for s in range(np.uint64(len(plan))):
        total += (found[s] - predicted[s]) * plan[s]
    return total


@kernel
def attempt(
    treeplexes: tuple[Treeplex, Treeplex],
    operator: Operator,
    entropies: tuple[Entropy, Entropy],
    mirrors: tuple[Mirror, Mirror],
    scratch: tuple[MirrorScratch, MirrorScratch],
    step: float,
) -> tuple[float, float, float]:
    """Play what the predicted gradients call for and learn from it.

    Returns both potentials if it is kept, and how far the next responses are from what was played.
    """
    one, two = mirrors
    me, they = scratch
    add(one.dual, step, one.predicted, me.moved)
    far = respond(treeplexes[0], entropies[0], 1.0, me.moved, me.prox, me.played)
    add(two.dual, step, two.predicted, they.moved)
    far += respond(treeplexes[1], entropies[1], 1.0, they.moved, they.prox, they.played)
    gradient(operator.rows, 1.0, they.played, me.gradient)
    gradient(operator.columns, -1.0, me.played, they.gradient)
    add(one.dual, step, me.gradient, me.moved)
    first = respond(treeplexes[0], entropies[0], 1.0, me.moved, me.prox, me.next)
    add(two.dual, step, they.gradient, they.moved)
    second = respond(treeplexes[1], entropies[1], 1.0, they.moved, they.prox, they.next)
    far -= first + second
    far += step * (surprise(me.gradient, one.predicted, me.next) + surprise(they.gradient, two.predicted, they.next))
    return first, second, far


@kernel
def keep(mirror: Mirror, scratch: MirrorScratch, step: float) -> None:
    """Make an attempt the state; ``mirror`` is modified in place."""
    add(mirror.average, step, scratch.played, mirror.average)
    mirror.dual[:] = scratch.moved
    mirror.response[:] = scratch.next
    mirror.predicted[:] = scratch.gradient


@kernel
def mirror_iterations(
    treeplexes: tuple[Treeplex, Treeplex],
    operator: Operator,
    entropies: tuple[Entropy, Entropy],
    mirrors: tuple[Mirror, Mirror],
    scratch: tuple[MirrorScratch, MirrorScratch],
    rate: Rate,
    start: int,
    count: int,
    optimistic: bool,
    longest: float,
) -> int:
    """``count`` iterations, numbered from ``start + 1``; ``mirrors``, ``scratch`` and ``rate`` are modified in place.

    ``longest``: where steps stop to grow. Returns how many products it took.
    """
    products = 0
    one, two = mirrors
    for t in range(start, start + count):
        if not optimistic or t == 0:
            gradient(operator.rows, 1.0, two.response, one.predicted)
            gradient(operator.columns, -1.0, one.response, two.predicted)
            products += 2
        while True:
            step = rate.step[0]
            first, second, far = attempt(treeplexes, operator, entropies, mirrors, scratch, step)
            products += 2
            bound = first + second
            if optimistic:
                bound += LAG * far
            slack = ROUNDING * (abs(first) + abs(second))
            if bound <= rate.bound[0] + slack or step <= SHORTEST_STEP * SHORTEST_STEP * longest:
                break
            rate.growth[0] = STEP_GROWTH
            rate.step[0] = 0.5 * step
        keep(one, scratch[0], step)
        keep(two, scratch[1], step)
        rate.bound[0] = bound
        rate.step[0] = min(rate.growth[0] * step, longest)
    return products
