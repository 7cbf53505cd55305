"""Mirror prox and optimistic mirror descent, equation by equation.

For each player, with d* (G) = max over x of <G, x> - d(x), whose maximiser ``respond`` computes:

    w     = respond(G + step p)         the plan that is played, where p is the predicted gradient
    G    <- G + step g                  g is the gradient against the opponent's w
    average: the w, each weighted by its step

Mirror prox (Nemirovski 2004): p is the gradient against the opponent's respond(G), which costs another product.
Optimistic mirror descent (Rakhlin & Sridharan 2013; Popov 1980): p is the g of the iteration before.
The proximal steps of both papers are around a point that is itself respond(G). They are responses to sums of gradients,
because the gradient of d at this point is G, up to a vector whose product with every plan is the same.

Step sizes are adaptive. In a zero-sum game <g0, w0> + <g1, w1> = 0, so for any plans x and y
    sum over iterations of step (u0(x, w1) + u1(w0, y)) = <G0, x> + <G1, y> <= d0*(G0) + d1*(G1) + d0(x) + d1(y).
So NashConv of the average is at most (max d0 + max d1) / (sum of the steps) as long as the potential d0*(G0) + d1*(G1)
never becomes positive. A step that makes the potential grow is halved. After any other step the next one may be a
little longer. In optimistic mirror descent the potential may grow for a while. There the bound must not grow, which is
the potential plus ``LAG`` times the Bregman distance between the plan played and respond(G) after the iteration.

Truncated gradients are those of payoffs that do not sum to zero. The potential may then grow by
step (<g0, w0> + <g1, w1>), which is what the equation above has lost on its left side. The limit falls between two
gradients, so predictions are wrong however short the step. Steps that theory allows for exact gradients are therefore
accepted untested: those of at most sqrt(m0 m1) / max |A|, with the moduli m of both entropies.
"""

from __future__ import annotations

from treeplex.engines.sequence.first_order import (
    LAG,
    ROUNDING,
    STEP_GROWTH,
    MirrorPlayer,
    Rate,
    StepBounds,
)
from treeplex.engines.sequence.reference.operators import gradient
from treeplex.engines.sequence.reference.prox import respond


def mirror_iterations(
    players: tuple[MirrorPlayer, MirrorPlayer],
    rate: Rate,
    start: int,
    count: int,
    optimistic: bool,
    bounds: StepBounds,
) -> int:
    """Run ``count`` iterations, numbered from ``start + 1``, and return the number of products with the operator.

    ``players`` and ``rate`` are modified in place.
    """
    products = 0
    longest = bounds.longest
    for t in range(start, start + count):
        bounds.limit[0] = bounds.cut / (t + 1.0)
        if not optimistic or t == 0:
            for (own, mirror, _), (_, opponent, _) in (players, players[::-1]):
                gradient(own.side, own.sign, opponent.response, mirror.predicted)
            products += 2
        while not _attempt(players, rate, optimistic, bounds):
            rate.growth[0] = STEP_GROWTH
            rate.step[0] *= 0.5
            products += 2
        products += 2
        for _, mirror, scratch in players:
            mirror.average[:] += rate.step[0] * scratch.played
            mirror.dual[:], mirror.response[:], mirror.predicted[:] = scratch.moved, scratch.next, scratch.gradient
        rate.step[0] = min(rate.growth[0] * rate.step[0], longest)
    return products


def _attempt(players: tuple[MirrorPlayer, MirrorPlayer], rate: Rate, optimistic: bool, bounds: StepBounds) -> bool:
    """Run one iteration in scratch and return whether the bound does not grow."""
    step, lag, potential, size = float(rate.step[0]), 0.0, 0.0, 0.0
    for own, mirror, scratch in players:
        scratch.moved[:] = mirror.dual + step * mirror.predicted
        lag += respond(own.treeplex, own.entropy, 1.0, scratch.moved, scratch.prox, scratch.played)  # d*(G + step p)
    for (own, _, scratch), (_, _, opponent) in (players, players[::-1]):
        gradient(own.side, own.sign, opponent.played, scratch.gradient)
    for own, mirror, scratch in players:
        scratch.moved[:] = mirror.dual + step * scratch.gradient
        value = respond(
            own.treeplex, own.entropy, 1.0, scratch.moved, scratch.prox, scratch.next
        )  # d*(G + step g), at z
        lag += step * float((scratch.gradient - mirror.predicted) @ scratch.next) - value  # D(z, w)
        potential += value
        size += abs(value)
    bound = potential + (LAG * lag if optimistic else 0.0)
    noise = bounds.noise
    if bounds.cut > 0.0:
        noise += step * sum(float(scratch.gradient @ scratch.played) for _, _, scratch in players)
    if bound > rate.bound[0] + ROUNDING * size + noise and step > bounds.least:
        return False
    rate.bound[0] = bound
    return True
