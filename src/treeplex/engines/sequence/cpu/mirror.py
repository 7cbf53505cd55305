"""Mirror prox and optimistic mirror descent. Maths: ``engines.sequence.reference.mirror``.

Storage and accumulation float64; one thread; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.game import Operator
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.arrays import (
    LAG,
    ROUNDING,
    SHORTEST_STEP,
    STEP_GROWTH,
    Entropy,
    Mirror,
    MirrorScratch,
    Rate,
)
from treeplex.engines.sequence.cpu.operators import earn
from treeplex.engines.sequence.cpu.prox import respond
from treeplex.jit import kernel


@kernel
def add(old: Floats, factor: float, new: Floats, out: Floats) -> None:
    """out = old + factor new; ``out`` is modified in place and may be ``old``."""
    for s in range(np.uint64(len(old))):
        out[s] = old[s] + factor * new[s]


@kernel
def surprise(earned: Floats, expected: Floats, plan: Floats) -> float:
    """What a plan earns beyond expectation."""
    total = 0.0
    for s in range(np.uint64(len(plan))):
        total += (earned[s] - expected[s]) * plan[s]
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
    """Play what the expected gradients call for and learn from it.

    Returns both potentials if it is kept, and how far the next responses are from what was played.
    """
    one, two = mirrors
    me, they = scratch
    add(one.dual, step, one.expected, me.moved)
    far = respond(treeplexes[0], entropies[0], 1.0, me.moved, me.bench, me.played)
    add(two.dual, step, two.expected, they.moved)
    far += respond(treeplexes[1], entropies[1], 1.0, they.moved, they.bench, they.played)
    earn(operator.rows, 1.0, they.played, me.earned)
    earn(operator.columns, -1.0, me.played, they.earned)
    add(one.dual, step, me.earned, me.moved)
    first = respond(treeplexes[0], entropies[0], 1.0, me.moved, me.bench, me.next)
    add(two.dual, step, they.earned, they.moved)
    second = respond(treeplexes[1], entropies[1], 1.0, they.moved, they.bench, they.next)
    far -= first + second
    far += step * (surprise(me.earned, one.expected, me.next) + surprise(they.earned, two.expected, they.next))
    return first, second, far


@kernel
def keep(mirror: Mirror, scratch: MirrorScratch, step: float) -> None:
    """Make an attempt the state; ``mirror`` is modified in place."""
    add(mirror.average, step, scratch.played, mirror.average)
    mirror.dual[:] = scratch.moved
    mirror.response[:] = scratch.next
    mirror.expected[:] = scratch.earned


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
            earn(operator.rows, 1.0, two.response, one.expected)
            earn(operator.columns, -1.0, one.response, two.expected)
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
