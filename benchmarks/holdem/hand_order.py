"""The order of the 169 classes of hands by all-in equity against a random hand, before the flop: exact, by enumeration.

    python benchmarks/holdem/hand_order.py > order.txt

prints every class with its equity, best first, and at the end the table of ``games/holdem/order.py``, by which ``15%``
in a range is read. All boards of five cards are dealt up to a change of suits, which changes no class: 134,459
of 2,598,960. On each, all 1,081 hands are ranked, and every hand is held against the 990 that share no card with it.
Wins and ties are counted in whole numbers. About a minute.
"""

from __future__ import annotations

from itertools import combinations, permutations
from typing import Any

import numpy as np

from treeplex.engines.boards.strength import strengths
from treeplex.games.holdem.cards import CARDS, HAND_CARDS, HANDS, RANKS
from treeplex.games.holdem.ranges import CLASSES, class_hands
from treeplex.kernels.jit import kernel


def boards() -> dict[tuple[int, ...], int]:
    """One board of each that differ in suits alone, and how many they are."""
    orders = [np.array(order) for order in permutations(range(4))]
    cards = np.array(list(combinations(range(CARDS), 5)))
    keys = np.full(len(cards), np.iinfo(np.int64).max)
    for order in orders:
        moved = np.sort(cards // 4 * 4 + order[cards % 4], axis=1)
        keys = np.minimum(keys, moved @ CARDS ** np.arange(4, -1, -1))
    _, first, count = np.unique(keys, return_index=True, return_counts=True)
    return {tuple(cards[k].tolist()): int(n) for k, n in zip(first, count, strict=True)}


@kernel
def count(order: Any, strength: Any, first: Any, second: Any, won: Any) -> None:
    """Twice the wins plus the ties of every hand; ``order``: hands by strength, weakest first."""
    with_card = np.zeros(CARDS, np.int64)
    below, start = 0, 0
    while start < len(order):
        end = start
        same = np.zeros(CARDS, np.int64)
        while end < len(order) and strength[order[end]] == strength[order[start]]:
            same[first[order[end]]] += 1
            same[second[order[end]]] += 1
            end += 1
        for k in range(start, end):
            h = order[k]
            weaker = below - with_card[first[h]] - with_card[second[h]]
            equal = end - start - same[first[h]] - same[second[h]] + 1  # itself is taken off twice
            won[h] = 2 * weaker + equal
        for k in range(start, end):
            with_card[first[order[k]]] += 1
            with_card[second[order[k]]] += 1
        below += end - start
        start = end


def equities() -> dict[str, float]:
    """Of every class, against a random hand."""
    total, dealt = np.zeros(HANDS, np.int64), np.zeros(HANDS, np.int64)
    found, won = np.zeros(HANDS, np.int32), np.zeros(HANDS, np.int64)
    first, second = HAND_CARDS[:, 0].copy(), HAND_CARDS[:, 1].copy()
    for board, times in boards().items():
        held = np.flatnonzero(~np.isin(HAND_CARDS, board).any(axis=1))
        cards = np.concatenate([np.tile(np.array(board), (len(held), 1)), HAND_CARDS[held]], axis=1).astype(np.uint8)
        strength = strengths(cards)
        found[held] = strength
        count(held[np.argsort(strength, kind="stable")], found, first, second, won)
        total[held] += times * won[held]
        dealt[held] += times
    names = {name: class_hands(RANKS.index(name[0]), RANKS.index(name[1]), name[2:]) for name in CLASSES}
    return {name: float(total[hands].sum() / (2 * 990 * dealt[hands].sum())) for name, hands in names.items()}


def main() -> None:
    """Print the table."""
    found = equities()
    order = sorted(found, key=lambda name: -found[name])
    for name in order:
        print(f"{name:4}{found[name]:.6f}")
    print("\n".join(" ".join(order[k : k + 13]) for k in range(0, len(order), 13)))


if __name__ == "__main__":
    main()
