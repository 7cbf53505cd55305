"""`kuhn_ext(cards,bets,raises)` as arrays without labels: 10^8 nodes in seconds. The same game as the catalog's."""

from __future__ import annotations

from math import comb
from typing import NamedTuple

import numpy as np
from numba import njit

from treeplex.compile.payoffs import Csr, Payoffs
from treeplex.compile.treeplex import Treeplex


class BareGame(NamedTuple):
    """What iterations need of a game."""

    name: str
    treeplexes: tuple[Treeplex, Treeplex]
    operator: Payoffs
    nodes: int


@njit
def _arrays(cards, bets, raises, lines, player):
    """One player's treeplex and rows of payoffs in own chips; public nodes are betting lines, hands side by side."""
    last, count = np.zeros(lines, np.int32), np.zeros(lines, np.int32)
    up, kid = np.zeros(lines, np.int32), np.zeros(lines, np.int32)
    size = 1
    for line in range(lines):
        kid[line] = size
        if count[line] < raises:
            for bet in range(last[line] + 1, bets + 1):
                last[size], count[size], up[size] = bet, count[line] + 1, line
                size += 1
    row = np.ones(lines + 1, np.int32)
    for line in range(lines):
        more = bets - last[line] if count[line] < raises else 0
        row[line + 1] = row[line] + (1 + bets if line == 0 else 2 + more)
    first = np.ones(lines * cards + 1, np.int32)
    for line in range(lines):
        for h in range(cards):
            first[line * cards + h + 1] = first[line * cards + h] + row[line + 1] - row[line]
    parent = np.zeros(lines * cards, np.int32)
    start = np.zeros(first[-1] + 1, np.int32)
    for line in range(lines):
        actions = row[line + 1] - row[line]
        for h in range(cards):
            i = line * cards + h
            if count[line] == 1 and player == 0:
                parent[i] = first[h]  # own check
            elif count[line] > 1:
                p, g = up[line], up[up[line]]
                parent[i] = first[g * cards + h] + (last[p] if g == 0 else 1 + last[p] - last[g])
            for a in range(actions):
                ends = 1 if (line == 0 and a == 0) or (line > 0 and a < 2) else 2
                start[first[i] + a + 1] = ends * (cards - 1)
    for s in range(1, len(start)):
        start[s] += start[s - 1]
    column, value = np.empty(start[-1], np.int32), np.empty(start[-1], np.float64)
    chance = 1.0 / (cards * (cards - 1))
    for line in range(lines):
        for h in range(cards):
            i = line * cards + h
            for a in range(row[line + 1] - row[line]):
                at = start[first[i] + a]
                for o in range(cards):
                    if o == h:
                        continue
                    sign = chance if h > o else -chance
                    if line == 0 and a == 0:  # check, check
                        column[at], value[at] = first[o], sign
                        at += 1
                    elif line > 0 and a < 2:  # fold or call
                        p = up[line]
                        column[at] = first[p * cards + o] + (last[line] if p == 0 else 1 + last[line] - last[p])
                        lost = chance * (1 + (last[p] if count[line] > 1 else 0))
                        value[at] = -lost if a == 0 else sign * (1 + last[line])
                        at += 1
                    else:  # a bet, folded to or called
                        child = kid[line] + (a - 1 if line == 0 else a - 2)
                        column[at], value[at] = first[child * cards + o], chance * (1 + last[line])
                        column[at + 1], value[at + 1] = first[child * cards + o] + 1, sign * (1 + last[child])
                        at += 2
    return first, parent, start, column, value


def kuhn_ext(cards: int, bets: int, raises: int) -> BareGame:
    lines = sum(comb(bets, k) for k in range(raises + 1))
    (first, parent, *rows), (first_1, parent_1, *columns) = (_arrays(cards, bets, raises, lines, p) for p in (0, 1))
    columns[2] *= -1.0
    return BareGame(
        f"kuhn_ext({cards},{bets},{raises})",
        (Treeplex(first, parent), Treeplex(first_1, parent_1)),
        Payoffs(Csr(*rows), Csr(*columns)),
        1 + cards * (cards - 1) * (6 * lines - 3),
    )
