"""The excessive gap technique, equation by equation.

Let g be the gradient, the values of a player's sequences against the opponent's plan, and let
    F(g, mu) = max over x of <g, x> - mu d(x)                                   (``respond`` gives the maximiser)
The excessive gap condition is F(g0, mu0) + F(g1, mu1) <= 0. NashConv is F(g0, 0) + F(g1, 0), so it is then at most
mu0 max d0 + mu1 max d1. A step shrinks one player's mu and keeps the condition (Nesterov 2005; Hoda et al. 2010).

Nesterov's last step is a proximal one around the first response r: argmax tau <e, x> - (1 - tau) mu D(x, r), where e is
the gradient against the opponent's answer and D the Bregman distance of d. The response r is itself the smoothed
response to g. So mu times the gradient of d at r is g, up to a vector whose product with every plan is the same. The
step is therefore the smoothed response to (1 - tau) g + tau e with smoothing (1 - tau) mu, and smoothed responses are
all that is needed. Gradients are linear, so the gradient against a mixture of plans is mixed in the same way.

Distances may be measured from another point than uniform play: the response c to a dual point G, with d*(G) = 0. The
Bregman distance of x from c is d(x) - <G, x>. It takes the place of d, so g + mu G takes the place of g. The numbers
g + mu G of the player whose mu shrinks by 1 - tau are mixed with e alone, because (1 - tau) mu is the new mu.
"""

from __future__ import annotations

from treeplex.arrays import Floats
from treeplex.engines.sequence.first_order import LONGEST_STEP, SHORTEST_STEP, STEP_GROWTH, GapPlayer, Pace, Terms
from treeplex.engines.sequence.reference.operators import gradient
from treeplex.engines.sequence.reference.prox import mix, respond


def begin(players: tuple[GapPlayer, GapPlayer], pace: Pace, centre: Floats, smoothing: float) -> float:
    """Initialise both players and return the gap; ``players`` and ``pace`` are modified in place.

    Player 1 responds to ``centre``, player 0's plan at the centre, and player 0 responds to this response.
    """
    (one, first, me), (two, second, they) = players
    pace.smoothing[:] = smoothing
    gradient(two.side, two.sign, centre, second.gradient)
    shift(second.gradient, smoothing, two.centre)
    respond(two.treeplex, two.entropy, smoothing, second.gradient, they.prox, second.plan)
    gradient(one.side, one.sign, second.plan, first.gradient)
    shift(first.gradient, smoothing, one.centre)
    pace.value[0] = respond(one.treeplex, one.entropy, smoothing, first.gradient, me.prox, first.plan)
    first.response[:] = first.plan
    gradient(two.side, two.sign, first.plan, second.gradient)
    shift(second.gradient, smoothing, two.centre)
    pace.value[1] = respond(two.treeplex, two.entropy, smoothing, second.gradient, they.prox, second.response)
    return float(pace.value.sum())


def shift(numbers: Floats, smoothing: float, centre: Floats) -> None:
    """Add ``smoothing`` times the centre, if there is one; ``numbers`` is modified in place."""
    if len(centre):
        numbers += smoothing * centre


def gap_iterations(players: tuple[GapPlayer, GapPlayer], pace: Pace, start: int, count: int, terms: Terms) -> int:
    """Run ``count`` steps, numbered from ``start + 1``, and return the number of products with the operator.

    Gradients are exact products: there are no truncated walks here. ``players`` and ``pace`` are modified in place.
    """
    products = 0
    for t in range(start, start + count):
        player = t % 2
        if terms.adaptive:
            player = 0 if pace.smoothing[0] >= pace.smoothing[1] else 1
        else:
            pace.step[0] = 2.0 / (t + 3.0)
        products += 1
        while not shrink(players, pace, player, terms):
            pace.step[0] *= 0.5
            products += 2
        products += 2
        if terms.adaptive:
            pace.step[0] = min(LONGEST_STEP, STEP_GROWTH * pace.step[0])
    return products


def shrink(players: tuple[GapPlayer, GapPlayer], pace: Pace, i: int, terms: Terms) -> bool:
    """Shrink mu of player i and return whether the excessive gap condition holds; if not, only scratch has changed."""
    j, step = 1 - i, float(pace.step[0])
    (own, mine, me), (other, theirs, they) = players[i], players[j]
    smaller = max((1.0 - step) * float(pace.smoothing[i]), terms.least)
    gradient(other.side, other.sign, mine.response, they.against)  # r = response to g, mu
    shift(they.against, float(pace.smoothing[j]), other.centre)
    mix(theirs.gradient, step, they.against, they.mixed)  # the gradient against (1 - tau) plan + tau r
    respond(other.treeplex, other.entropy, pace.smoothing[j], they.mixed, they.prox, they.answer)
    gradient(own.side, own.sign, they.answer, me.gradient)  # e
    mix(mine.gradient, step, me.gradient, me.mixed)
    mine_value = respond(own.treeplex, own.entropy, smaller, me.mixed, me.prox, me.answer)
    gradient(other.side, other.sign, me.answer, they.gradient)
    shift(they.gradient, float(pace.smoothing[j]), other.centre)
    mix(theirs.gradient, step, they.gradient, they.mixed)
    their_value = respond(other.treeplex, other.entropy, pace.smoothing[j], they.mixed, they.prox, they.next)
    if terms.adaptive and mine_value + their_value > terms.slack and step > SHORTEST_STEP:
        return False
    mix(mine.plan, step, me.answer, mine.plan)
    mix(theirs.plan, step, they.answer, theirs.plan)
    mine.gradient[:], theirs.gradient[:] = me.mixed, they.mixed
    mine.response[:], theirs.response[:] = me.answer, they.next
    pace.smoothing[i] = smaller
    pace.value[i], pace.value[j] = mine_value, their_value
    return True
