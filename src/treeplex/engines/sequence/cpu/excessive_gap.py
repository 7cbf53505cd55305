"""The excessive gap technique. Maths: ``engines.sequence.reference.excessive_gap``.

Storage and accumulation float64; one thread; no fastmath. A step costs three products and three smoothed responses,
the test of the gap included; a step that must be shortened two products and three responses more.
"""

from __future__ import annotations

from treeplex.arrays import Floats
from treeplex.compile.game import Operator
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.cpu.operators import Side
from treeplex.engines.sequence.cpu.oracle import TreeOperator, TreeSide, ask
from treeplex.engines.sequence.cpu.prox import mix, respond
from treeplex.engines.sequence.first_order import (
    LONGEST_STEP,
    SHORTEST_STEP,
    STEP_GROWTH,
    Entropy,
    Gap,
    GapScratch,
    Pace,
)
from treeplex.jit import kernel


@kernel
def begin(
    treeplexes: tuple[Treeplex, Treeplex],
    operator: Operator | TreeOperator,
    entropies: tuple[Entropy, Entropy],
    centre: Floats,
    gaps: tuple[Gap, Gap],
    scratch: tuple[GapScratch, GapScratch],
    pace: Pace,
    smoothing: float,
) -> float:
    """Player 1 answers ``centre``, player 0's uniform plan, and player 0 that answer; returns the gap.

    ``gaps``, ``scratch`` and ``pace`` are modified in place.
    """
    first, second = gaps
    one, two = scratch
    pace.smoothing[:] = smoothing
    ask(operator.columns, -1.0, centre, two.mixed)
    respond(treeplexes[1], entropies[1], smoothing, two.mixed, two.prox, second.plan)
    ask(operator.rows, 1.0, second.plan, first.gradient)
    pace.value[0] = respond(treeplexes[0], entropies[0], smoothing, first.gradient, one.prox, first.plan)
    first.response[:] = first.plan
    ask(operator.columns, -1.0, first.plan, second.gradient)
    pace.value[1] = respond(treeplexes[1], entropies[1], smoothing, second.gradient, two.prox, second.response)
    return pace.value[0] + pace.value[1]


@kernel
def shrink(
    own: Treeplex,
    other: Treeplex,
    entropies: tuple[Entropy, Entropy],
    sides: tuple[Side | TreeSide, Side | TreeSide],
    gaps: tuple[Gap, Gap],
    scratch: tuple[GapScratch, GapScratch],
    pace: Pace,
    player: int,
    slack: float,
    least: float,
    adaptive: bool,
    enough: float,
) -> int:
    """Reduce the smoothing of ``player``, whose parts come first in every pair; returns how many products it took.

    ``enough``: a step so short is taken whatever the gap.
    """
    opponent = 1 - player
    sign = 1.0 - 2.0 * player
    mine, theirs = gaps
    me, they = scratch
    step = pace.step[0]
    ask(sides[1], -sign, mine.response, they.against)
    products = 1
    while True:
        mix(theirs.gradient, step, they.against, they.mixed)
        respond(other, entropies[1], pace.smoothing[opponent], they.mixed, they.prox, they.answer)
        ask(sides[0], sign, they.answer, me.gradient)
        mix(mine.gradient, step, me.gradient, me.mixed)
        smaller = max((1.0 - step) * pace.smoothing[player], least)
        first = respond(own, entropies[0], smaller, me.mixed, me.prox, me.answer)
        ask(sides[1], -sign, me.answer, they.gradient)
        mix(theirs.gradient, step, they.gradient, they.mixed)
        second = respond(other, entropies[1], pace.smoothing[opponent], they.mixed, they.prox, they.next)
        products += 2
        if not adaptive or first + second <= slack or step <= enough:
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


@kernel
def gap_iterations(
    treeplexes: tuple[Treeplex, Treeplex],
    operator: Operator | TreeOperator,
    entropies: tuple[Entropy, Entropy],
    gaps: tuple[Gap, Gap],
    scratch: tuple[GapScratch, GapScratch],
    pace: Pace,
    start: int,
    count: int,
    slack: float,
    least: float,
    adaptive: bool,
    limit: Floats,
    cut: float,
) -> int:
    """``count`` steps, numbered from ``start + 1``; ``gaps``, ``scratch`` and ``pace`` are modified in place.

    ``slack``: what the gap may be above zero by, for rounding. ``least``: where smoothing stops to shrink. Returns how
    many products it took.
    """
    products = 0
    sides = (operator.rows, operator.columns)
    for t in range(start, start + count):
        limit[0] = cut / (t + 1.0)
        player = t % 2
        enough = SHORTEST_STEP
        if adaptive:
            if cut > 0.0:  # gradients are not exact, nor is the test: neither runs away nor gets stuck
                pace.step[0] = min(pace.step[0], 4.0 / (t + 4.0))
                enough = 1.0 / (t + 3.0)
            player = 0 if pace.smoothing[0] >= pace.smoothing[1] else 1
        else:
            pace.step[0] = 2.0 / (t + 3.0)
        if player == 0:
            products += shrink(
                treeplexes[0], treeplexes[1], entropies, sides, gaps, scratch, pace, 0, slack, least, adaptive, enough
            )
        else:
            products += shrink(
                treeplexes[1],
                treeplexes[0],
                (entropies[1], entropies[0]),
                (sides[1], sides[0]),
                (gaps[1], gaps[0]),
                (scratch[1], scratch[0]),
                pace,
                1,
                slack,
                least,
                adaptive,
                enough,
            )
        if adaptive:
            pace.step[0] = min(LONGEST_STEP, STEP_GROWTH * pace.step[0])
    return products
