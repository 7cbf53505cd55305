"""The excessive gap technique. Maths: ``engines.sequence.reference.excessive_gap``.

Storage and accumulation float64; one thread; no fastmath. A step costs three products and three smoothed responses,
including the test of the gap. Each time a step must be shortened costs two products and three responses more.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.sequence.cpu.oracle import gradient_of
from treeplex.engines.sequence.cpu.prox import mix, respond
from treeplex.engines.sequence.first_order import LONGEST_STEP, SHORTEST_STEP, STEP_GROWTH, GapPlayer, Pace, Terms
from treeplex.kernels.jit import allocating_kernel


@allocating_kernel
def begin(players: tuple[GapPlayer, GapPlayer], pace: Pace, centre: Floats, smoothing: float) -> float:
    """Initialise both players and return the gap; ``players`` and ``pace`` are modified in place.

    Player 1 responds to ``centre``, player 0's plan at the centre, and player 0 responds to this response.
    """
    (one, first, me), (two, second, they) = players
    pace.smoothing[:] = smoothing
    gradient_of(two.side, two.sign, centre, they.mixed)
    shift(they.mixed, smoothing, two.centre)
    respond(two.treeplex, two.entropy, smoothing, they.mixed, they.prox, second.plan)
    gradient_of(one.side, one.sign, second.plan, first.gradient)
    shift(first.gradient, smoothing, one.centre)
    pace.value[0] = respond(one.treeplex, one.entropy, smoothing, first.gradient, me.prox, first.plan)
    first.response[:] = first.plan
    gradient_of(two.side, two.sign, first.plan, second.gradient)
    shift(second.gradient, smoothing, two.centre)
    pace.value[1] = respond(two.treeplex, two.entropy, smoothing, second.gradient, they.prox, second.response)
    return pace.value[0] + pace.value[1]


@allocating_kernel
def shift(numbers: Floats, smoothing: float, centre: Floats) -> None:
    """Add ``smoothing`` times the centre, if there is one; ``numbers`` is modified in place."""
    for s in range(np.uint64(len(centre))):
        numbers[s] += smoothing * centre[s]


@allocating_kernel
def shrink(players: tuple[GapPlayer, GapPlayer], pace: Pace, player: int, terms: Terms, enough: float) -> int:
    """Reduce the smoothing of ``player``, who comes first in ``players``; return the number of products.

    A step of at most ``enough`` is accepted with any gap.
    """
    (own, mine, me), (other, theirs, they) = players
    opponent, step = 1 - player, pace.step[0]
    gradient_of(other.side, other.sign, mine.response, they.against)
    shift(they.against, pace.smoothing[opponent], other.centre)
    products = 1
    while True:
        mix(theirs.gradient, step, they.against, they.mixed)
        respond(other.treeplex, other.entropy, pace.smoothing[opponent], they.mixed, they.prox, they.answer)
        gradient_of(own.side, own.sign, they.answer, me.gradient)
        mix(mine.gradient, step, me.gradient, me.mixed)
        smaller = max((1.0 - step) * pace.smoothing[player], terms.least)
        first = respond(own.treeplex, own.entropy, smaller, me.mixed, me.prox, me.answer)
        gradient_of(other.side, other.sign, me.answer, they.gradient)
        shift(they.gradient, pace.smoothing[opponent], other.centre)
        mix(theirs.gradient, step, they.gradient, they.mixed)
        second = respond(other.treeplex, other.entropy, pace.smoothing[opponent], they.mixed, they.prox, they.next)
        products += 2
        if not terms.adaptive or first + second <= terms.slack or step <= enough:
            break
        step *= 0.5
    mix(mine.plan, step, me.answer, mine.plan)
    mix(theirs.plan, step, they.answer, theirs.plan)
    mine.gradient[:] = me.mixed
    theirs.gradient[:] = they.mixed
    mine.response[:] = me.answer
    theirs.response[:] = they.next
    pace.smoothing[player] = smaller
    pace.value[player], pace.value[opponent] = first, second
    pace.step[0] = step
    return products


@allocating_kernel
def gap_iterations(players: tuple[GapPlayer, GapPlayer], pace: Pace, start: int, count: int, terms: Terms) -> int:
    """Run ``count`` steps, numbered from ``start + 1``, and return the number of products.

    ``players`` and ``pace`` are modified in place.
    """
    products = 0
    for t in range(start, start + count):
        terms.limit[0] = terms.cut / (t + 1.0)
        player = t % 2
        enough = SHORTEST_STEP
        if terms.adaptive:
            if terms.cut > 0.0:  # inexact gradients and test: bounded steps cannot run away or get stuck
                pace.step[0] = min(pace.step[0], 4.0 / (t + 4.0))
                enough = 1.0 / (t + 3.0)
            player = 0 if pace.smoothing[0] >= pace.smoothing[1] else 1
        else:
            pace.step[0] = 2.0 / (t + 3.0)
        if player == 0:
            products += shrink(players, pace, player, terms, enough)
        else:
            products += shrink((players[1], players[0]), pace, player, terms, enough)
        if terms.adaptive:
            pace.step[0] = min(LONGEST_STEP, STEP_GROWTH * pace.step[0])
    return products
