"""The game tree as samplers want it: a child is reached by one addition, and a node is sixteen bytes.

Siblings stand side by side, so child ``k`` of a node is ``child + k``. A dealt game needs its public tree alone: the
deal is drawn first, and a public node together with the hands is a history. Any other game is a dealt game with a
single deal. So nothing as large as the set of histories is stored for a dealt game.
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

CHANCE_NODE: Final = 2  # who moves, in two bits: player 0, player 1, chance, nobody
TERMINAL_NODE: Final = 3
ACTOR_BITS: Final = 2
WIDTH_BITS: Final = 24

STORED_NODES: Final = 10_000_000  # a dealt game without a name that is larger has no history tree to go on with
BYTES_PER_DEAL: Final = 60  # measured peak
BYTES_PER_MOVE: Final = 60  # of a chance node in a deal, where each has a place of its own


class Chances(NamedTuple):
    """Distributions laid end to end, with Walker's alias tables: a draw is one random number and one comparison."""

    probability: Floats  # [C]
    threshold: Floats  # [C] keep a slot if the fraction of the random number is below, else go to its alias
    alias: Ints  # [C]


class SampleTree(NamedTuple):
    """Nodes with siblings side by side; node 0 is where play begins once the hands are dealt.

    Column NODE of a packed node is ``actor + 4 * width + 2**26 * child``: who moves, how many moves, where the children
    begin. At a terminal ``child`` is the number of its table of outcomes. Column START is the first sequence of a
    decision (for hand 0; each further hand is ``width`` further on), or where the distribution of a chance node begins
    in ``chances`` (for deal 0, likewise); at a terminal it is, read as a number, the payoff factor.
    """

    packed: Longs  # [N, 2] NODE, START
    payoff_factor: Floats  # [N, 2] the same memory read as numbers: column FACTOR, at terminals
    chances: Chances  # first that of the deals
    outcome: Floats  # [tables * D] player 0's payoff is payoff factor * outcome[table * D + deal]
    hands: Ints  # [2, D] each player's hand in a deal


class Sampling(NamedTuple):
    """A sample tree and how its sequences are numbered."""

    tree: SampleTree
    pre_deal_path: int  # pre-deal nodes, before the deal is complete, that one sampled deal enters
    pre_deal_nodes: int  # all pre-deal nodes
    deepest: int  # nodes on the longest path
    widest: int  # moves of a player
    sequences: tuple[int, int]  # how many each player has here
    place: tuple[Ints, Ints]  # [S] where the game's sequences stand here

    def of_player(self, player: int, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
        """Numbers of this order in the order of the game's sequences."""
        return numbers[self.place[player]]


def sampling(game: CompiledGame, apart: bool = False) -> Sampling:
    """The sample tree of a game; cost linear in its nodes, or in its public nodes and deals if it has a public tree.

    ``apart``: with a place in ``chances`` for every chance node and deal, where it keeps how far its draws have come,
    and sums of probabilities as thresholds.
    """
    dealt = game.dealt
    form = _of_history(game.tree, game.treeplexes) if dealt is None else _of_dealt(dealt, game.treeplexes, apart=apart)
    return _summed(form) if apart else form


def _summed(form: Sampling) -> Sampling:
    node, tree = form.tree.packed[:, NODE], form.tree
    chance, deals = node % 2**ACTOR_BITS == CHANCE_NODE, int(tree.hands.shape[1])
    widths = np.repeat((node[chance] >> ACTOR_BITS) % 2**WIDTH_BITS, deals)
    starts = np.repeat(tree.packed[chance, START], deals) + widths * np.tile(
        np.arange(deals, dtype=np.int64), int(chance.sum())
    )
    cumulative = np.empty(len(tree.chances.probability))
    for width, own in [(deals, np.zeros(1, np.int64)), *((w, starts[widths == w]) for w in set(widths.tolist()))]:
        places: Longs = own[:, None] + np.arange(width)
        cumulative[places] = np.cumsum(tree.chances.probability[places], axis=1)
    return form._replace(tree=tree._replace(chances=tree.chances._replace(threshold=cumulative)))


def nodes_per_walk(tree: SampleTree, powers: tuple[float, float, float]) -> float:
    """Nodes that a walk after the deal enters if it tries w**power of a node's w moves, all equally likely.

    ``powers``: by who moves, player 0, player 1 or chance; 1: all moves, 0: a sampled one.
    """
    node = tree.packed[:, NODE]
    actor, width = node % 2**ACTOR_BITS, (node >> ACTOR_BITS) % 2**WIDTH_BITS
    child, tried = node >> (ACTOR_BITS + WIDTH_BITS), np.array(powers)
    level, reach, total = np.zeros(1, dtype=np.int64), np.ones(1), 0.0
    while len(level):
        total += float(reach.sum())
        inner = actor[level] != TERMINAL_NODE
        level, reach = level[inner], reach[inner]
        moves = width[level]
        reach = np.repeat(reach * moves ** (tried[actor[level]] - 1.0), moves)
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
    places = tuple(np.arange(treeplex.sequences, dtype=np.int32) for treeplex in treeplexes)
    return Sampling(
        tree=SampleTree(packed, packed.view(np.float64), chances, np.ones(1), np.zeros((2, 1), dtype=np.int32)),
        pre_deal_path=0,
        pre_deal_nodes=0,
        deepest=_depth(tree.parent),
        widest=int(width[tree.mover >= 0].max(initial=1)),
        sequences=(treeplexes[0].sequences, treeplexes[1].sequences),
        place=(places[0], places[1]),
    )


def _of_dealt(dealt: DealtTree, treeplexes: tuple[Treeplex, Treeplex], *, apart: bool = False) -> Sampling:
    """``apart``: chance nodes have distributions of their own, also where they are the same."""
    rules, public = dealt.rules, dealt.public
    tree, joint = public.tree, rules.deal()
    require(rules.name, int(np.count_nonzero(joint)), BYTES_PER_DEAL, "deals as many as")
    hands = np.nonzero(joint)
    order, width, packed, factor = _packed(public.parent, tree.mover, tree.table)
    ends = tree.mover == TERMINAL
    factor[ends, FACTOR] = tree.amount[ends]

    places: list[Ints] = []
    sizes: list[int] = []
    for player, treeplex in enumerate(treeplexes):
        own, held = np.flatnonzero(tree.mover == player), dealt.infoset[player].shape[1]
        start = 1 + np.concatenate(([0], np.cumsum(width[own] * held)))
        packed[own, START] = start[:-1]
        sizes.append(int(start[-1]))
        places.append(_places(dealt.infoset[player][own], treeplex, start[:-1], width[own]))

    states: dict[bytes, int] = {}
    rows: list[Floats] = [joint[hands]]
    chance = tree.mover == CHANCE
    kinds: list[int] = tree.table[chance].tolist() if apart else list(range(len(public.chances)))
    if apart:
        require(rules.name, int(width[chance].sum()) * len(hands[0]), BYTES_PER_MOVE, "chance moves as many as")
    number = [0] * len(kinds)  # the first of a state's, or of a node's, distributions, one for each deal
    for k, kind in enumerate(kinds):
        odds = np.ascontiguousarray(rules.odds(public.chances[kind])[:, hands[0], hands[1]].T)  # [D, A]
        number[k] = len(rows) if apart else states.setdefault(odds.tobytes(), len(rows))
        if number[k] == len(rows):
            rows.extend(odds)
    chances, starts = _chances(np.concatenate(rows), np.array([len(row) for row in rows]))
    first = starts[np.array(number, dtype=np.int64)]
    packed[chance, START] = first if apart else first[tree.table[chance]]
    outcome = np.concatenate([rules.outcome(table)[hands[0], hands[1]] for table in public.outcomes])
    packed = packed[order]
    return Sampling(
        tree=SampleTree(packed, packed.view(np.float64), chances, outcome, np.stack(hands).astype(np.int32)),
        pre_deal_path=1 if rules.together else 2,
        pre_deal_nodes=1 if rules.together else 1 + len(np.unique(hands[0])),
        deepest=int(tree.depth.max(initial=0)) + 1,
        widest=int(width[tree.mover >= 0].max(initial=1)),
        sequences=(sizes[0], sizes[1]),
        place=(places[0], places[1]),
    )


def _packed(
    parent: Ints, mover: npt.NDArray[np.int8], table: Ints
) -> tuple[npt.NDArray[np.intp], Longs, Longs, Floats]:
    """An order with siblings side by side; widths, and the packed nodes of that tree, not yet in this order."""
    order = np.argsort(parent, kind="stable")  # the root, whose parent is -1, comes first
    width = np.bincount(parent[1:], minlength=len(parent)).astype(np.int64)
    child = np.where(mover == TERMINAL, table, 1 + np.concatenate(([0], np.cumsum(width)[:-1])))
    actor = np.where(mover == CHANCE, CHANCE_NODE, np.where(mover == TERMINAL, TERMINAL_NODE, mover))
    packed = np.zeros((len(parent), 2), dtype=np.int64)
    packed[:, NODE] = actor + (width << ACTOR_BITS) + (child << (ACTOR_BITS + WIDTH_BITS))
    return order, width, packed, packed.view(np.float64)


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


def last_moves(tree: SampleTree) -> tuple[Ints, Ints]:
    """[S] of both players: the number of an infoset's last action, at the first of its sequences; 0 elsewhere."""
    node, found = tree.packed[:, NODE], list[Ints]()
    for player in (0, 1):
        own = node % 2**ACTOR_BITS == player
        width = ((node[own] >> ACTOR_BITS) % 2**WIDTH_BITS)[:, None]
        place = tree.packed[own, START][:, None] + width * np.arange(int(tree.hands[player].max()) + 1)
        last = np.zeros(int((place + width).max(initial=1)), dtype=np.int32)
        last[place] = width - 1
        found.append(last)
    return found[0], found[1]


_FORMS: WeakKeyDictionary[CompiledGame, dict[bool, Sampling]] = WeakKeyDictionary()


def sample_tree(game: CompiledGame, apart: bool = False) -> Sampling:
    """The sample tree of a game, made when first asked for and kept beside it; ``apart``: for correlated draws.

    From the public tree of a game that can be loaded again by its name. A run of any other game is resumed from the
    game in its folder, which has no public tree, so such a game is sampled by its histories while these fit.
    """
    forms = _FORMS.setdefault(game, {})
    if apart not in forms:
        stored = game.source is None and game.nodes <= STORED_NODES
        forms[apart] = sampling(replace(game, dealt=None) if stored else game, apart)
    return forms[apart]
