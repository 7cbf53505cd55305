"""The game tree as samplers want it: a child is reached by one addition, and a node is sixteen bytes.

Siblings stand side by side, so child ``k`` of a node is ``child + k``. A dealt game needs its public tree alone: the
deal is drawn first, and a public node together with the hands is a history. Any other game is a dealt game with a
single deal. So nothing as large as the set of histories is stored for a dealt game.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints
from treeplex.compile.dealt_tree import DealtTree
from treeplex.compile.game import CompiledGame
from treeplex.compile.history import HistoryTree
from treeplex.compile.memory import require
from treeplex.compile.treeplex import Treeplex
from treeplex.games.protocol import CHANCE, TERMINAL

Longs = npt.NDArray[np.int64]

NATURE: Final = 2  # who moves, in two bits: 0, 1, nature
END: Final = 3
WIDTH_BITS: Final = 24

BYTES_PER_DEAL: Final = 60  # measured peak


class Chances(NamedTuple):
    """Distributions laid end to end, with Walker's alias tables: a draw is one random number and one comparison."""

    probability: Floats  # [C]
    threshold: Floats  # [C] keep a slot if the fraction of the random number is below, else go to its alias
    alias: Ints  # [C]


class SampleTree(NamedTuple):
    """Nodes with siblings side by side; node 0 is where play begins once the hands are dealt.

    Word 0 of a node is ``actor + 4 * width + 2**26 * child``: who moves, how many moves, where the children begin. At a
    terminal ``child`` is the number of its table of outcomes. Word 1 is the first sequence of a decision (for hand 0;
    each further hand is ``width`` further on), the place in ``chances`` of nature's move (for deal 0, likewise), or the
    amount at stake at a terminal.
    """

    word: Longs  # [N, 2]
    stake: Floats  # [N, 2] the same memory read as numbers
    chances: Chances  # first that of the deals
    outcome: Floats  # [tables * D] player 0's payoff is stake * outcome[table * D + deal]
    hands: Ints  # [2, D] each player's hand in a deal


class Sampling(NamedTuple):
    """A sample tree and how its sequences are numbered."""

    tree: SampleTree
    opening: int  # histories before the deal is complete that one sampled deal enters
    openings: int  # all histories before a deal is complete
    deepest: int  # nodes on the longest path
    widest: int  # moves of a player
    sequences: tuple[int, int]  # how many each player has here
    place: tuple[Ints, Ints]  # [S] where the game's sequences stand here

    def of_player(self, player: int, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Numbers of this order in the order of the game's sequences."""
        return numbers[self.place[player]]


def sampling(game: CompiledGame) -> Sampling:
    """The sample tree of a game; cost linear in its nodes, or in its public nodes and deals if it has a public tree."""
    if game.dealt is not None:
        return _of_dealt(game.dealt, game.treeplexes)
    return _of_history(game.tree, game.treeplexes)


def _of_history(tree: HistoryTree, treeplexes: tuple[Treeplex, Treeplex]) -> Sampling:
    order, child, width = _siblings(tree.parent)
    actor = tree.mover.copy()
    actor[tree.mover == CHANCE], actor[tree.mover == TERMINAL] = NATURE, END
    ends = tree.mover == TERMINAL
    child[ends] = 0
    word, stake = _words(actor, child, width)
    for player, treeplex in enumerate(treeplexes):
        own = tree.mover == player
        word[own, 1] = treeplex.first[tree.infoset[own]]
    nature = np.flatnonzero(tree.mover == CHANCE)
    chosen = order[1:][tree.mover[tree.parent[order[1:]]] == CHANCE]
    chances, starts = _chances(np.concatenate(([1.0], tree.probability[chosen])), np.concatenate(([1], width[nature])))
    word[nature, 1] = starts[1:]
    stake[ends, 1] = tree.payoff[ends]
    word, stake = _in_order(word, order)
    places = tuple(np.arange(treeplex.sequences, dtype=np.int32) for treeplex in treeplexes)
    return Sampling(
        tree=SampleTree(word, stake, chances, np.ones(1), np.zeros((2, 1), dtype=np.int32)),
        opening=0,
        openings=0,
        deepest=_depth(tree.parent),
        widest=int(width[tree.mover >= 0].max(initial=1)),
        sequences=(treeplexes[0].sequences, treeplexes[1].sequences),
        place=(places[0], places[1]),
    )


def _of_dealt(dealt: DealtTree, treeplexes: tuple[Treeplex, Treeplex]) -> Sampling:
    rules, public = dealt.rules, dealt.public
    tree, joint = public.tree, rules.deal()
    require(rules.name, int(np.count_nonzero(joint)), BYTES_PER_DEAL, "deals as many as")
    hands = np.nonzero(joint)
    order, child, width = _siblings(dealt.parent)
    actor = tree.mover.copy()
    actor[tree.mover == CHANCE], actor[tree.mover == TERMINAL] = NATURE, END
    ends = tree.mover == TERMINAL
    child[ends] = tree.table[ends]
    word, stake = _words(actor, child, width)
    stake[ends, 1] = tree.amount[ends]

    places: list[Ints] = []
    sizes: list[int] = []
    for player, treeplex in enumerate(treeplexes):
        own, held = np.flatnonzero(tree.mover == player), dealt.infoset[player].shape[1]
        start = 1 + np.concatenate(([0], np.cumsum(width[own] * held)))
        word[own, 1] = start[:-1]
        sizes.append(int(start[-1]))
        places.append(_places(dealt.infoset[player][own], treeplex, start[:-1], width[own]))

    states: dict[bytes, int] = {}
    rows: list[Floats] = [joint[hands]]
    number = [0] * len(public.chances)  # the first of a state's distributions, one for each deal
    for k, state in enumerate(public.chances):
        odds = np.ascontiguousarray(rules.odds(state)[:, hands[0], hands[1]].T)  # [D, A]
        number[k] = states.setdefault(odds.tobytes(), len(rows))
        if number[k] == len(rows):
            rows.extend(odds)
    chances, starts = _chances(np.concatenate(rows), np.array([len(row) for row in rows]))
    nature = tree.mover == CHANCE
    word[nature, 1] = starts[np.array(number, dtype=np.int64)[tree.table[nature]]] if public.chances else 0
    outcome = np.concatenate([rules.outcome(table)[hands[0], hands[1]] for table in public.outcomes])
    word, stake = _in_order(word, order)
    return Sampling(
        tree=SampleTree(word, stake, chances, outcome, np.stack(hands).astype(np.int32)),
        opening=1 if rules.together else 2,
        openings=1 if rules.together else 1 + len(np.unique(hands[0])),
        deepest=int(tree.depth.max(initial=0)) + 1,
        widest=int(width[tree.mover >= 0].max(initial=1)),
        sequences=(sizes[0], sizes[1]),
        place=(places[0], places[1]),
    )


def _siblings(parent: Ints) -> tuple[npt.NDArray[np.intp], Longs, Longs]:
    """The nodes in an order with siblings side by side; where each node's children begin there, and how many."""
    order = np.argsort(parent, kind="stable")  # the root, whose parent is -1, comes first
    width = np.bincount(parent[1:], minlength=len(parent)).astype(np.int64)
    child = 1 + np.concatenate(([0], np.cumsum(width)[:-1]))
    return order, child, width


def _words(actor: npt.NDArray[np.int8], child: Longs, width: Longs) -> tuple[Longs, Floats]:
    word = np.zeros((len(actor), 2), dtype=np.int64)
    word[:, 0] = actor + (width << 2) + (child << (2 + WIDTH_BITS))
    return word, word.view(np.float64)


def _in_order(word: Longs, order: npt.NDArray[np.intp]) -> tuple[Longs, Floats]:
    word = word[order]
    return word, word.view(np.float64)


def _places(infoset: Ints, treeplex: Treeplex, start: Longs, width: Longs) -> Ints:
    """[S] place of every sequence: by public node, then hand (the impossible ones, too), then move."""
    node, hand = np.nonzero(infoset >= 0)
    own = infoset[node, hand]
    counts: Longs = treeplex.actions[own].astype(np.int64)
    place = np.zeros(treeplex.sequences, dtype=np.int32)
    before: Longs = np.cumsum(counts) - counts
    move = np.arange(int(counts.sum())) - np.repeat(before, counts)
    place[np.repeat(treeplex.first[own], counts) + move] = np.repeat(start[node] + hand * width[node], counts) + move
    return place


def _depth(parent: Ints) -> int:
    """Nodes on the longest path of a preorder listing."""
    known = np.zeros(len(parent), dtype=np.bool_)
    known[0] = True
    ahead, depth = np.arange(1, len(parent)), 1
    while len(ahead):
        ready = known[parent[ahead]]
        known[ahead[ready]] = True
        ahead, depth = ahead[~ready], depth + 1
    return depth


def _chances(probability: Floats, sizes: Longs) -> tuple[Chances, Longs]:
    """Alias tables of distributions that stand end to end, and where each begins. Python runs per uneven one."""
    starts = np.concatenate(([0], np.cumsum(sizes)[:-1])).astype(np.int64)
    within = np.arange(len(probability)) - np.repeat(starts, sizes)
    threshold, alias = np.ones(len(probability)), within.astype(np.int32)
    uneven = np.maximum.reduceat(probability, starts) != np.minimum.reduceat(probability, starts)
    known: dict[bytes, tuple[Floats, Ints]] = {}
    for start, size in zip(starts[uneven].tolist(), sizes[uneven].tolist(), strict=True):
        row = probability[start : start + size]
        key = row.tobytes()
        if key not in known:
            known[key] = _alias(row)
        threshold[start : start + size], alias[start : start + size] = known[key]
    return Chances(probability, threshold, alias), starts


def _alias(row: Floats) -> tuple[Floats, Ints]:
    """Walker's alias table: what a slot lacks of 1 / n is lent by one slot that has more."""
    size = len(row)
    share = row * (size / row.sum())
    threshold, alias = np.ones(size), np.arange(size, dtype=np.int32)
    poor = np.flatnonzero(share < 1.0).tolist()
    rich = np.flatnonzero(share >= 1.0).tolist()
    while poor and rich:
        low, high = poor.pop(), rich[-1]
        threshold[low], alias[low] = share[low], high
        share[high] -= 1.0 - share[low]
        if share[high] < 1.0:
            poor.append(rich.pop())
    for slot in poor:  # what rounding has left over: impossible moves must stay so
        if row[slot] == 0.0:
            threshold[slot], alias[slot] = 0.0, int(np.argmax(row))
    return threshold, alias
