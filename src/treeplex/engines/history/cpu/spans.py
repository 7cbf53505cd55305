"""Ranges of payoffs below infosets. Float64; one thread; no fastmath."""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.compile.history import HistoryTree
from treeplex.jit import kernel


@kernel
def payoff_spans(tree: HistoryTree, first: Floats, second: Floats) -> None:
    """Delta(I): the largest minus the smallest payoff below each infoset of both players, into arrays [I].

    Times the probability that chance lets the infoset happen, if that is below one: counterfactual values are no wider.
    """
    mover, parent, infoset, probability, payoff = tree.mover, tree.parent, tree.infoset, tree.probability, tree.payoff
    nodes = len(mover)
    low, high, chance = payoff.copy(), payoff.copy(), np.ones(nodes)
    for node in range(1, nodes):
        chance[node] = chance[parent[node]] * probability[node]
    for node in range(nodes):
        if tree.size[node] > 1:
            low[node], high[node] = np.inf, -np.inf
    lows, highs = (
        (np.full(len(first), np.inf), np.full(len(second), np.inf)),
        (
            np.full(len(first), -np.inf),
            np.full(len(second), -np.inf),
        ),
    )
    happens = (np.zeros(len(first)), np.zeros(len(second)))
    for node in range(nodes - 1, -1, -1):
        if mover[node] >= 0:
            player, own = np.int64(mover[node]), infoset[node]
            lows[player][own] = min(lows[player][own], low[node])
            highs[player][own] = max(highs[player][own], high[node])
            happens[player][own] += chance[node]
        if node > 0:
            above = parent[node]
            low[above], high[above] = min(low[above], low[node]), max(high[above], high[node])
    for own in range(len(first)):
        first[own] = (highs[0][own] - lows[0][own]) * min(happens[0][own], 1.0)
    for own in range(len(second)):
        second[own] = (highs[1][own] - lows[1][own]) * min(happens[1][own], 1.0)
