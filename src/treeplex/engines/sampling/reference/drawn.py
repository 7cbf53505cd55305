"""Gibson's Pure CFR by recursion: chance and both players play pure strategies drawn from their strategies.

Let d be the move drawn at an infoset from regret matching. The opponent's average counts d; the player's infosets learn
r(a) = v(a) - v(d), and v(I) = v(d). Where payoffs are whole numbers, all regrets and counts are.
Gibson (2014), chapter 5.
"""

from __future__ import annotations

from treeplex.engines.sampling.reference.sampling import SampleWalk, positive
from treeplex.engines.sampling.tree import CHANCE_NODE, TERMINAL_NODE


def drawn(walk: SampleWalk, player: int, node: int = 0) -> float:
    """Run one walk for ``player``; return its value below ``node``."""
    here = walk.enter(node)
    width = len(here.moves)
    if here.actor == TERMINAL_NODE:
        return (1.0 if player == 0 else -1.0) * here.payoff
    if here.actor == CHANCE_NODE:
        return drawn(walk, player, here.moves[walk.draws.chance(walk.tree.chances, here.start, width)])
    table = walk.tables[here.actor]
    if here.actor != player:
        move = walk.draws.move(positive(table, here.start, width))
        table.average[here.start + move] += walk.averaging_weight
        return drawn(walk, player, here.moves[move])
    values = [drawn(walk, player, child) for child in here.moves]
    value = values[walk.draws.move(positive(table, here.start, width))]
    walk.learn(player, here.start, walk.weight, values, value)
    return value
