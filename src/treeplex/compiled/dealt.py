"""Public tree times deals: dealt rules compiled by array operations, without visiting histories one by one.

Every deal of hands is followed by a copy of the public tree, less the public cards that are in a hand. So a node is
a pair (deal, public node), an infoset a pair (public node, own hand), and both are numbered by counting. Infosets are
ordered by public node with hands side by side, so that solvers meet a public state's hands in consecutive memory.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Bools, Floats, Ints
from treeplex.arrow import Texts, joined, stacked, take, texts
from treeplex.compiled.game import CompiledGame
from treeplex.compiled.history import HistoryTree, parents_from_depth
from treeplex.compiled.labels import Labels
from treeplex.compiled.payoffs import Payoffs
from treeplex.compiled.public import PublicGame, PublicTree, build_public
from treeplex.compiled.treeplex import Treeplex
from treeplex.games.dealt import DealtRules
from treeplex.games.protocol import CHANCE, TERMINAL

Index = npt.NDArray[np.intp]


class Deals(NamedTuple):
    """The deals that can happen, by player 0's hand, then player 1's."""

    hands: tuple[Index, Index]  # [D] each
    probability: Floats  # [D]


class Scenes(NamedTuple):
    """A scene is what the public cards have been so far; it decides which hands are still possible."""

    of: Ints  # [P] scene of each public node
    odds: Floats  # [C, D] probability of a scene's last public card, given the deal (1 for scene 0)
    reach: Floats  # [C, D] probability of all its public cards


class Side(NamedTuple):
    """One player's numbering."""

    treeplex: Treeplex
    labels: Labels
    infoset: Ints  # [P, H] infoset of a public node and hand, -1 if none
    last: Ints  # [P, H] last own sequence on the way to a public node


def compile_dealt(rules: DealtRules) -> CompiledGame:
    """Compile dealt rules. Cost: about 0.3 microseconds and 150 bytes a node at the peak."""
    joint = rules.deal()
    first, second = np.nonzero(joint)
    deals = Deals((first, second), joint[first, second])
    public = build_public(rules, len(first))
    parent = parents_from_depth(public.tree.depth)
    scenes = _scenes(rules, public, parent, deals)
    lines = _lines(rules, public, parent)
    hands = rules.hands()
    vocabulary, deal_codes = _vocabulary(rules, public, deals)
    sides = (
        _side(0, public.tree, parent, scenes, deals, hands[0], lines),
        _side(1, public.tree, parent, scenes, deals, hands[1], lines),
    )
    tables = np.stack([rules.outcome(key)[first, second] for key in public.outcomes])
    return CompiledGame(
        name=rules.name,
        treeplexes=(sides[0].treeplex, sides[1].treeplex),
        payoffs=_payoffs(public.tree, scenes, deals, sides, tables),
        tree=_history(public.tree, parent, scenes, deals, sides, tables, deal_codes, rules.together),
        labels=(sides[0].labels, sides[1].labels),
        actions=vocabulary,
    )


def _scenes(rules: DealtRules, public: PublicGame, parent: Ints, deals: Deals) -> Scenes:
    tree = public.tree
    odds = [rules.odds(state)[:, deals.hands[0], deals.hands[1]] for state in public.chances]  # [A, D] each
    revealed = np.flatnonzero((parent >= 0) & (tree.mover[parent] == CHANCE))
    of = np.zeros(len(tree.mover), dtype=np.int32)
    of[revealed] = np.arange(1, len(revealed) + 1)
    for level in _levels(tree.depth)[1:]:
        inherit = level[of[level] == 0]
        of[inherit] = of[parent[inherit]]
    last = np.ones((len(revealed) + 1, len(deals.probability)))
    reach = np.ones_like(last)
    for node in revealed.tolist():  # a node's scene comes after its parent's
        scene = int(of[node])
        last[scene] = odds[tree.table[parent[node]]][tree.place[node]]
        reach[scene] = last[scene] * reach[of[parent[node]]]
    return Scenes(of, last, reach)


def _levels(depth: Ints) -> list[Index]:
    order = np.argsort(depth, kind="stable")
    return np.split(order, np.cumsum(np.bincount(depth))[:-1])


def _lines(rules: DealtRules, public: PublicGame, parent: Ints) -> Texts:
    """[P] every public node's moves, each behind a separator."""
    tree = public.tree
    moves = texts(rules.separator + action for action in public.actions)
    levels = _levels(tree.depth)
    above = texts([""])
    parts = [above]
    for upper, level in pairwise(levels):
        above = joined(take(above, np.searchsorted(upper, parent[level])), take(moves, tree.action[level]))
        parts.append(above)
    position = np.empty(len(tree.mover), dtype=np.int64)
    position[np.concatenate(levels)] = np.arange(len(tree.mover))
    return take(stacked(parts), position)


def _side(
    player: int,
    tree: PublicTree,
    parent: Ints,
    scenes: Scenes,
    deals: Deals,
    hands: Sequence[str],
    lines: Texts,
) -> Side:
    names = texts(hands)
    width = len(names)
    decisions = np.flatnonzero(tree.mover == player)
    possible = _possible(scenes, deals.hands[player], width)[scenes.of[decisions]]  # [Q, H]
    at, hand = np.nonzero(possible)
    node = decisions[at]
    infoset = np.full((len(tree.mover), width), -1, dtype=np.int32)
    infoset[node, hand] = np.arange(len(node))

    children = np.bincount(parent[1:], minlength=len(tree.mover))
    first = np.concatenate(([1], 1 + np.cumsum(children[node]))).astype(np.int32)
    last = np.zeros((len(tree.mover), width), dtype=np.int32)
    for level in _levels(tree.depth)[1:]:
        up = parent[level]
        last[level] = last[up]
        own = level[tree.mover[up] == player]
        ids = infoset[parent[own]]
        last[own] = np.where(ids >= 0, first[ids] + tree.place[own, None], 0)

    actions = np.full(int(first[-1]), -1, dtype=np.int32)
    moved = np.flatnonzero((parent >= 0) & (tree.mover[parent] == player))
    actions[last[moved]] = tree.action[moved, None]
    actions[0] = -1
    labels = joined(take(names, hand), take(lines, node))
    return Side(Treeplex(first, last[node, hand]), Labels(labels, actions), infoset, last)


def _possible(scenes: Scenes, hand: Index, width: int) -> Bools:
    """[C, H] can a player hold this hand in this scene?"""
    possible = np.zeros((len(scenes.reach), width), dtype=np.bool_)
    scene, deal = np.nonzero(scenes.reach)
    possible[scene, hand[deal]] = True
    return possible


def _vocabulary(rules: DealtRules, public: PublicGame, deals: Deals) -> tuple[tuple[str, ...], tuple[Ints, ...]]:
    """All action labels; and of every deal, the labels of the chance moves that deal it."""
    codes = {action: code for code, action in enumerate(public.actions)}
    first, second = rules.hands()
    if rules.together:
        pairs = zip(deals.hands[0].tolist(), deals.hands[1].tolist(), strict=True)
        moves = [[codes.setdefault(f"{first[a]},{second[b]}", len(codes)) for a, b in pairs]]
    else:
        own = [codes.setdefault(label, len(codes)) for label in first]
        other = [codes.setdefault(label, len(codes)) for label in second]
        moves = [np.array(own)[deals.hands[0]], np.array(other)[deals.hands[1]]]
    return tuple(codes), tuple(np.array(move, dtype=np.int32) for move in moves)


def _payoffs(tree: PublicTree, scenes: Scenes, deals: Deals, sides: tuple[Side, Side], tables: Floats) -> Payoffs:
    shape = (sides[0].treeplex.sequences, sides[1].treeplex.sequences)
    ends = np.flatnonzero(tree.mover == TERMINAL)
    weight = deals.probability * scenes.reach[scenes.of[ends]]  # [Z, D]
    weight *= tree.amount[ends, None] * tables[tree.table[ends]]
    end, deal = np.nonzero(weight)
    rows, columns = (side.last[ends[end], hand[deal]] for side, hand in zip(sides, deals.hands, strict=True))
    return Payoffs.gather(shape, rows, columns, weight[end, deal])


def _history(
    tree: PublicTree,
    parent: Ints,
    scenes: Scenes,
    deals: Deals,
    sides: tuple[Side, Side],
    tables: Floats,
    deal_codes: tuple[Ints, ...],
    together: bool,
) -> HistoryTree:
    alive = (scenes.reach[scenes.of] > 0).T  # [D, P]
    before = np.zeros((alive.shape[0], alive.shape[1] + 1), dtype=np.int32)
    np.cumsum(alive, axis=1, out=before[:, 1:])
    sizes = before[:, -1].astype(np.int64)
    # Chance nodes that deal: the root, and where hands come one by one a node for each hand of player 0.
    opens = np.zeros(len(sizes), dtype=np.int64)
    if not together:
        opens = np.diff(deals.hands[0], prepend=-1).astype(bool).astype(np.int64)
    start = 1 + np.cumsum(opens) + np.concatenate(([0], np.cumsum(sizes)[:-1]))
    nodes = int(start[-1] + sizes[-1])

    history = HistoryTree(
        mover=np.full(nodes, CHANCE, dtype=np.int8),
        parent=np.zeros(nodes, dtype=np.int32),
        size=np.empty(nodes, dtype=np.int32),
        infoset=np.full(nodes, -1, dtype=np.int32),
        action=np.empty(nodes, dtype=np.int32),
        probability=np.ones(nodes, dtype=np.float64),
        payoff=np.zeros(nodes, dtype=np.float64),
    )
    deal, node = np.nonzero(alive)
    position = start[deal] + before[deal, node]
    history.mover[position] = tree.mover[node]
    history.parent[position] = start[deal] + before[deal, parent[node]]
    history.size[position] = before[deal, node + tree.size[node]] - before[deal, node]
    history.action[position] = tree.action[node]
    for player, side in enumerate(sides):
        own = np.flatnonzero(tree.mover[node] == player)
        history.infoset[position[own]] = side.infoset[node[own], deals.hands[player][deal[own]]]
    end = np.flatnonzero(tree.mover[node] == TERMINAL)
    history.payoff[position[end]] = tree.amount[node[end]] * tables[tree.table[node[end]], deal[end]]
    card = np.flatnonzero((node > 0) & (tree.mover[parent[node]] == CHANCE))
    history.probability[position[card]] = scenes.odds[scenes.of[node[card]], deal[card]]

    history.parent[0], history.size[0], history.action[0] = -1, nodes, -1
    history.action[start] = deal_codes[-1]
    if together:
        history.parent[start] = 0
        history.probability[start] = deals.probability
    else:
        opening = np.flatnonzero(opens)
        group = np.cumsum(opens) - 1
        marginal = np.add.reduceat(deals.probability, opening)
        chance = start[opening] - 1
        history.parent[start] = chance[group]
        history.probability[start] = deals.probability / marginal[group]
        history.action[chance] = deal_codes[0][opening]
        history.probability[chance] = marginal
        history.size[chance] = np.append(chance[1:], nodes) - chance
    return history
