"""The game tree for samplers: one addition gives a child, and a node is sixteen bytes.

Siblings are adjacent, so child ``k`` of a node is ``child + k``. A dealt game needs only its public tree: the deal is
drawn first, and a public node together with the hands is a history. Any other game is a dealt game with a single deal.
So nothing as large as the set of histories is stored for a dealt game.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints
from treeplex.compile.dealt_tree import DealtTree
from treeplex.compile.game import CompiledGame
from treeplex.compile.history import HistoryTree
from treeplex.compile.memory import require
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sampling.columns import FACTOR, NODE, START
from treeplex.games.protocol import CHANCE, TERMINAL

Longs = npt.NDArray[np.int64]

CHANCE_NODE: Final = 2  # who moves, in two bits: player 0, player 1, chance, terminal
TERMINAL_NODE: Final = 3
ACTOR_BITS: Final = 2
WIDTH_BITS: Final = 24

STORED_NODES: Final = 10_000_000  # a larger dealt game without a name has no history tree for resuming
BYTES_PER_DEAL: Final = 60  # peak, measured
BYTES_PER_MOVE: Final = 60  # of a chance node in a deal, if each has its own distribution


class Chances(NamedTuple):
    """Concatenated distributions with Walker's alias tables: a draw is one random number and one comparison."""

    probability: Floats  # [C]
    threshold: Floats  # [C] keep a slot if the fraction of the random number is below, else take its alias
    alias: Ints  # [C]


class SampleTree(NamedTuple):
    """Nodes with adjacent siblings. Node 0 is the first after the deal.

    Column NODE of a packed node is ``actor + 4 * width + 2**26 * child``: who moves, the number of moves, and where the
    children begin. At a terminal ``child`` is the number of its table of outcomes. Column START of a decision is its
    first sequence, for hand 0; each further hand is ``width`` further on. Of a chance node it is where the distribution
    begins in ``chances``, for deal 0, likewise. Of a terminal it is, read as a float, the payoff factor.
    """

    packed: Longs  # [N, 2] NODE, START
    payoff_factor: Floats  # [N, 2] the same memory read as floats: column FACTOR, at terminals
    chances: Chances  # distributions; the first is that of the deals
    outcome: Floats  # [tables * D] payoff of player 0 = payoff factor * outcome[table * D + deal]
    hands: Ints  # [2, D] each player's hand in a deal


class Sampling(NamedTuple):
    """A sample tree, its dimensions and the numbering of its sequences."""

    tree: SampleTree
    pre_deal_path: int  # number of pre-deal nodes, before the deal is complete, that one sampled deal enters
    pre_deal_nodes: int  # number of all pre-deal nodes
    deepest: int  # number of nodes on the longest path
    widest: int  # largest number of moves of a player
    sequences: tuple[int, int]  # number of each player's sequences here
    sequence_index: tuple[Ints, Ints]  # [S] the sequences here, in the game's order

    def of_player(self, player: int, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Return numbers in the order of the game's sequences."""
        return numbers[self.sequence_index[player]]


def sampling(game: CompiledGame, correlated: bool = False) -> Sampling:
    """Build the sample tree of a game, in time linear in its nodes, or its public nodes and deals if it has them.

    ``correlated``: every chance node and deal has its own distribution in ``chances``, which marks the position of its
    draws, and thresholds are cumulative probabilities.
    """
    dealt = game.dealt
    form = (
        _of_history(game.tree, game.treeplexes)
        if dealt is None
        else _of_dealt(dealt, game.treeplexes, correlated=correlated)
    )
    return _summed(form) if correlated else form


def _summed(form: Sampling) -> Sampling:
    node, tree = form.tree.packed[:, NODE], form.tree
    chance, deals = node % 2**ACTOR_BITS == CHANCE_NODE, int(tree.hands.shape[1])
    widths = np.repeat((node[chance] >> ACTOR_BITS) % 2**WIDTH_BITS, deals)
    starts = np.repeat(tree.packed[chance, START], deals) + widths * np.tile(
        np.arange(deals, dtype=np.int64), int(chance.sum())
    )
    cumulative = np.empty(len(tree.chances.probability))
    for width, own in [(deals, np.zeros(1, np.int64)), *((w, starts[widths == w]) for w in set(widths.tolist()))]:
        indices: Longs = own[:, None] + np.arange(width)
        cumulative[indices] = np.cumsum(tree.chances.probability[indices], axis=1)
    return form._replace(tree=tree._replace(chances=tree.chances._replace(threshold=cumulative)))


def nodes_per_walk(tree: SampleTree, powers: tuple[float, float, float]) -> float:
    """Return the number of nodes that a walk enters after the deal if it evaluates w**power of a node's w moves.

    All moves are equally likely. ``powers`` are those of player 0, player 1 and chance; 1: all moves, 0: a sampled one.
    """
    node = tree.packed[:, NODE]
    actor, width = node % 2**ACTOR_BITS, (node >> ACTOR_BITS) % 2**WIDTH_BITS
    child, exponent = node >> (ACTOR_BITS + WIDTH_BITS), np.array(powers)
    level, reach, total = np.zeros(1, dtype=np.int64), np.ones(1), 0.0
    while len(level):
        total += float(reach.sum())
        inner = actor[level] != TERMINAL_NODE
        level, reach = level[inner], reach[inner]
        moves = width[level]
        reach = np.repeat(reach * moves ** (exponent[actor[level]] - 1.0), moves)
        level = np.repeat(child[level] - (np.cumsum(moves) - moves), moves) + np.arange(len(reach))
    return total


def _of_history(tree: HistoryTree, treeplexes: tuple[Treeplex, Treeplex]) -> Sampling:
    order, width, packed, factor = _packed(tree.parent, tree.mover, np.zeros_like(tree.parent))
    ends = tree.mover == TERMINAL
    for player, treeplex in enumerate(treeplexes):
        own = tree.mover == player
        packed[own, START] = treeplex.first[tree.infoset[own]]
    chance = np.flatnonzero(tree.mover == CHANCE)
    chosen = order[1:][tree.mover[tree.parent[order[1:]]] == CHANCE]
    chances, starts = _chances(np.concatenate(([1.0], tree.probability[chosen])), np.concatenate(([1], width[chance])))
    packed[chance, START] = starts[1:]
    factor[ends, FACTOR] = tree.payoff[ends]
    packed = packed[order]
    indices = tuple(np.arange(treeplex.sequences, dtype=np.int32) for treeplex in treeplexes)
    return Sampling(
        tree=SampleTree(packed, packed.view(np.float64), chances, np.ones(1), np.zeros((2, 1), dtype=np.int32)),
        pre_deal_path=0,
        pre_deal_nodes=0,
        deepest=_depth(tree.parent),
        widest=int(width[tree.mover >= 0].max(initial=1)),
        sequences=(treeplexes[0].sequences, treeplexes[1].sequences),
        sequence_index=(indices[0], indices[1]),
    )


def _of_dealt(dealt: DealtTree, treeplexes: tuple[Treeplex, Treeplex], *, correlated: bool = False) -> Sampling:
    """Build the sample tree of a dealt game.

    ``correlated``: every chance node has its own distribution, even if two are equal.
    """
    rules, public = dealt.rules, dealt.public
    tree, joint = public.tree, rules.deal()
    require(rules.name, int(np.count_nonzero(joint)), BYTES_PER_DEAL, "deals as many as")
    hands = np.nonzero(joint)
    order, width, packed, factor = _packed(public.parent, tree.mover, tree.table)
    ends = tree.mover == TERMINAL
    factor[ends, FACTOR] = tree.amount[ends]

    indices: list[Ints] = []
    sizes: list[int] = []
    for player, treeplex in enumerate(treeplexes):
        own, hand_count = np.flatnonzero(tree.mover == player), dealt.infoset[player].shape[1]
        start = 1 + np.concatenate(([0], np.cumsum(width[own] * hand_count)))
        packed[own, START] = start[:-1]
        sizes.append(int(start[-1]))
        indices.append(_sequence_indices(dealt.infoset[player][own], treeplex, start[:-1], width[own]))

    states: dict[bytes, int] = {}
    rows: list[Floats] = [joint[hands]]
    chance = tree.mover == CHANCE
    kinds: list[int] = tree.table[chance].tolist() if correlated else list(range(len(public.chances)))
    if correlated:
        require(rules.name, int(width[chance].sum()) * len(hands[0]), BYTES_PER_MOVE, "chance moves as many as")
    number = [0] * len(kinds)  # the first distribution of a state, or of a node; one per deal
    for k, kind in enumerate(kinds):
        odds = np.ascontiguousarray(rules.odds(public.chances[kind])[:, hands[0], hands[1]].T)  # [D, A]
        number[k] = len(rows) if correlated else states.setdefault(odds.tobytes(), len(rows))
        if number[k] == len(rows):
            rows.extend(odds)
    chances, starts = _chances(np.concatenate(rows), np.array([len(row) for row in rows]))
    first = starts[np.array(number, dtype=np.int64)]
    packed[chance, START] = first if correlated else first[tree.table[chance]]
    outcome = np.concatenate([rules.outcome(table)[hands[0], hands[1]] for table in public.outcomes])
    packed = packed[order]
    return Sampling(
        tree=SampleTree(packed, packed.view(np.float64), chances, outcome, np.stack(hands).astype(np.int32)),
        pre_deal_path=1 if rules.together else 2,
        pre_deal_nodes=1 if rules.together else 1 + len(np.unique(hands[0])),
        deepest=int(tree.depth.max(initial=0)) + 1,
        widest=int(width[tree.mover >= 0].max(initial=1)),
        sequences=(sizes[0], sizes[1]),
        sequence_index=(indices[0], indices[1]),
    )


def _packed(
    parent: Ints, mover: npt.NDArray[np.int8], table: Ints
) -> tuple[npt.NDArray[np.intp], Longs, Longs, Floats]:
    """Return an order with adjacent siblings, the widths, and the packed nodes, which are not yet in this order."""
    order = np.argsort(parent, kind="stable")  # the root has parent -1 and comes first
    width = np.bincount(parent[1:], minlength=len(parent)).astype(np.int64)
    child = np.where(mover == TERMINAL, table, 1 + np.concatenate(([0], np.cumsum(width)[:-1])))
    actor = np.where(mover == CHANCE, CHANCE_NODE, np.where(mover == TERMINAL, TERMINAL_NODE, mover))
    packed = np.zeros((len(parent), 2), dtype=np.int64)
    packed[:, NODE] = actor + (width << ACTOR_BITS) + (child << (ACTOR_BITS + WIDTH_BITS))
    return order, width, packed, packed.view(np.float64)


def _sequence_indices(infoset: Ints, treeplex: Treeplex, start: Longs, width: Longs) -> Ints:
    """Return [S], the index of every sequence: by public node, then hand (also impossible ones), then move."""
    node, hand = np.nonzero(infoset >= 0)
    own = infoset[node, hand]
    counts: Longs = treeplex.actions[own].astype(np.int64)
    index = np.zeros(treeplex.sequences, dtype=np.int32)
    before: Longs = np.cumsum(counts) - counts
    move = np.arange(int(counts.sum())) - np.repeat(before, counts)
    index[np.repeat(treeplex.first[own], counts) + move] = np.repeat(start[node] + hand * width[node], counts) + move
    return index


def _depth(parent: Ints) -> int:
    """Return the number of nodes on the longest path of a preorder listing."""
    known = np.zeros(len(parent), dtype=np.bool_)
    known[0] = True
    ahead, depth = np.arange(1, len(parent)), 1
    while len(ahead):
        ready = known[parent[ahead]]
        known[ahead[ready]] = True
        ahead, depth = ahead[~ready], depth + 1
    return depth


def _chances(probability: Floats, sizes: Longs) -> tuple[Chances, Longs]:
    """Return alias tables of concatenated distributions, and where each begins. Python loops over uneven ones."""
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
    """Return Walker's alias table: a slot with less than 1 / n is filled by one slot with more."""
    size = len(row)
    scaled = row * (size / row.sum())
    threshold, alias = np.ones(size), np.arange(size, dtype=np.int32)
    poor = np.flatnonzero(scaled < 1.0).tolist()
    rich = np.flatnonzero(scaled >= 1.0).tolist()
    while poor and rich:
        low, high = poor.pop(), rich[-1]
        threshold[low], alias[low] = scaled[low], high
        scaled[high] -= 1.0 - scaled[low]
        if scaled[high] < 1.0:
            poor.append(rich.pop())
    for slot in poor:  # leftovers of rounding: impossible moves must stay impossible
        if row[slot] == 0.0:
            threshold[slot], alias[slot] = 0.0, int(np.argmax(row))
    return threshold, alias


def last_moves(tree: SampleTree) -> tuple[Ints, Ints]:
    """Return [S] of both players: the number of an infoset's last action at its first sequence, 0 elsewhere."""
    node, moves = tree.packed[:, NODE], list[Ints]()
    for player in (0, 1):
        own = node % 2**ACTOR_BITS == player
        width = ((node[own] >> ACTOR_BITS) % 2**WIDTH_BITS)[:, None]
        index = tree.packed[own, START][:, None] + width * np.arange(int(tree.hands[player].max()) + 1)
        last = np.zeros(int((index + width).max(initial=1)), dtype=np.int32)
        last[index] = width - 1
        moves.append(last)
    return moves[0], moves[1]


_FORMS: WeakKeyDictionary[CompiledGame, dict[bool, Sampling]] = WeakKeyDictionary()


def sample_tree(game: CompiledGame, correlated: bool = False) -> Sampling:
    """Return the sample tree of a game, which is built once; ``correlated``: for correlated draws.

    It comes from the public tree of a game that can be loaded again by its name. A run of any other game is resumed
    from the game in its folder, which has no public tree. Such a game is sampled by its histories while these fit.
    """
    forms = _FORMS.setdefault(game, {})
    if correlated not in forms:
        stored = game.source is None and game.nodes <= STORED_NODES
        forms[correlated] = sampling(replace(game, dealt=None) if stored else game, correlated)
    return forms[correlated]
