"""Public chance sampling by recursion: public moves are drawn, and every pair of hands is evaluated.

Let h run over the deals, c(h) be the probability of a deal and of the public moves on the path, and q the probability
of drawing these moves. Player i's value of hand a at a terminal z is the sum over deals h with this hand of
(c(h) / q) reach(h's other hand) u_i(z, h). Values are sums over the opponent's moves and means over the player's own.
An infoset learns v(I, k) - v(I). Johanson, Bard, Lanctot, Gibson & Bowling (2012), section 4.
"""

from __future__ import annotations

from treeplex.engines.sampling.columns import FACTOR
from treeplex.engines.sampling.reference.sampling import SampleWalk, regrets_of, total, unpack
from treeplex.engines.sampling.tree import CHANCE_NODE, TERMINAL_NODE
from treeplex.updates.reference import matched_numbers


def start(walk: SampleWalk) -> tuple[list[float], tuple[int, int]]:
    """Return the probabilities of the deals, and both players' numbers of hands."""
    first, second = walk.tree.hands
    odds = [float(p) for p in walk.tree.chances.probability[: len(first)]]
    return odds, (int(first.max()) + 1, int(second.max()) + 1)


def masses(walk: SampleWalk, chance: list[float], player: int, hands: int) -> list[float]:
    """Return the sums of ``chance`` by the player's hand."""
    sums = [0.0] * hands
    for deal, p in enumerate(chance):
        if p > 0.0:
            sums[int(walk.tree.hands[player, deal])] += p
    return sums


def public(
    walk: SampleWalk,
    player: int,
    chance: list[float],
    counts: tuple[int, int],
    reach: list[float],
    node: int = 0,
) -> list[float]:
    """Walk for ``player``; return the counterfactual values per hand. ``walk.deal`` decides what is drawn."""
    tree, deals = walk.tree, range(len(chance))
    here, own, other = unpack(tree, node, 0), tree.hands[player], tree.hands[1 - player]
    walk.nodes += sum(p > 0.0 for p in chance)
    width = len(here.moves)
    if here.actor == TERMINAL_NODE:
        amount = (1.0 if player == 0 else -1.0) * float(tree.payoff_factor[node, FACTOR])
        table, values = int(tree.packed[node, 0]) >> 26, [0.0] * counts[player]
        for deal in deals:
            mass = chance[deal] * reach[int(other[deal])]
            values[int(own[deal])] += mass * (amount * float(tree.outcome[table * len(chance) + deal]))
        return values
    if here.actor == CHANCE_NODE:
        move = walk.draws.chance(tree.chances, here.start + walk.deal * width, width)
        odds = [float(tree.chances.probability[here.start + deal * width + move]) for deal in deals]
        after = [c * p for c, p in zip(chance, odds, strict=True)]
        drawn = total(after)
        return public(walk, player, [c / drawn for c in after], counts, reach, here.moves[move])
    base = here.start - int(tree.hands[here.actor, 0]) * width  # of hand 0
    table = walk.tables[here.actor]
    sigma = [matched_numbers(regrets_of(table, base + hand * width, width)) for hand in range(counts[here.actor])]
    mass = masses(walk, chance, here.actor, counts[here.actor])
    if here.actor != player:
        sums = [0.0] * counts[player]
        for hand, p in enumerate(mass):
            for k in range(width):
                part = walk.averaging_weight * p * reach[hand]
                table.average[base + hand * width + k] += part * sigma[hand][k]
        for k, child in enumerate(here.moves):
            after = [r * sigma[hand][k] for hand, r in enumerate(reach)]
            if any(r > 0.0 and p > 0.0 for r, p in zip(after, mass, strict=True)):
                below = public(walk, player, chance, counts, after, child)
                sums = [s + v for s, v in zip(sums, below, strict=True)]
        return sums
    facing = zip(reach, masses(walk, chance, 1 - player, counts[1 - player]), strict=True)
    if any(r > 0.0 and p > 0.0 for r, p in facing):
        values = [public(walk, player, chance, counts, reach, child) for child in here.moves]
    else:
        values = [[0.0] * counts[player] for _ in here.moves]
    result = [0.0] * counts[player]
    for hand, p in enumerate(mass):
        if p <= 0.0:
            continue
        mine = [below[hand] for below in values]
        result[hand] = total([s * v for s, v in zip(sigma[hand], mine, strict=True)])
        level = 0.0 if walk.functions else result[hand]
        regrets = walk.regrets.setdefault((player, base + hand * width), [0.0] * width)
        for k in range(width):
            regrets[k] += mine[k] - level
    return result
