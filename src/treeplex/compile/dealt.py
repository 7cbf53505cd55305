"""Compilation of dealt rules by array operations on public tree and deals, without visiting histories one by one.

Every deal of hands is followed by a copy of the public tree, less the public cards that are in a hand. So an infoset
is a pair (public node, own hand). Infosets are numbered by public node, with its hands side by side, so that the hands
of a public state are consecutive in memory. The payoff operator is one small matrix per public terminal.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.arrow import Texts, joined, stacked, take, texts
from treeplex.compile.blocks import Blocks, DealtOperator, RankedBlocks, Terminals, blocks, expand, ranked_blocks
from treeplex.compile.dealt_tree import DealtTree
from treeplex.compile.game import CompiledGame
from treeplex.compile.history import levels
from treeplex.compile.memory import require
from treeplex.compile.payoffs import Payoffs, unit_of
from treeplex.compile.public import PublicGame, build_public
from treeplex.compile.treeplex import Labels, Treeplex
from treeplex.games.dealt import WON, DealtRules
from treeplex.games.dealt_checks import check_dealt, checked_deal, checked_odds, checked_outcome
from treeplex.games.protocol import CHANCE, TERMINAL

RANKED_FROM = 16  # number of hands from which sums over ranks are faster than a table of hands against hands
BYTES_PER_SCENE = 40  # and per pair of hands: measured peak


class Scenes(NamedTuple):
    """Scenes: the public cards so far, which decide which hands are still possible."""

    of: Ints  # [P] scene of each public node
    reach: Floats  # [C, H0, H1] probability of the hands and all public cards


class DealtSide(NamedTuple):
    """One player's treeplex, labels, and the numbering of infosets and sequences."""

    treeplex: Treeplex
    labels: Labels
    infoset: Ints  # [P, H] infoset of a public node and hand, -1 if none
    row: Ints  # [P] row of the last own move before a public node
    sequence: Ints  # [R, H] sequence of a row and hand, -1 if none


def compile_dealt(rules: DealtRules, ranked_from: int = RANKED_FROM) -> CompiledGame:
    """Compile dealt rules. Cost: per public node and hand, not per history.

    ``ranked_from``: number of hands from which a ranked game is compiled without listing pairs of hands.
    """
    check_dealt(rules)
    public = build_public(rules)
    tree, hands = public.tree, rules.hands()
    widest = max(map(len, hands))
    cards = int(np.count_nonzero(tree.mover[public.parent[1:]] == CHANCE))  # public cards, at any public node
    require(rules.name, (cards + 1) * widest, BYTES_PER_SCENE * widest, "public cards times hands of")
    scenes = None if rules.ranked and len(hands[0]) >= ranked_from else _scenes(rules, public)
    lines = lines_of(rules, public)
    first, second = (_side(player, public, hands[player], lines, scenes) for player in (0, 1))
    operator, largest = _operator(rules, public, scenes, (first, second))
    unit = unit_of(largest)
    if unit != 1.0:
        public = public._replace(tree=tree._replace(amount=tree.amount / unit))
        operator, largest = _operator(rules, public, scenes, (first, second))
    nodes, terminals = _count(rules, public, scenes)
    history = DealtTree(rules, public, (first.infoset, second.infoset), nodes)
    return CompiledGame(
        name=rules.name,
        treeplexes=(first.treeplex, second.treeplex),
        labels=(first.labels, second.labels),
        actions=history.vocabulary,
        nodes=nodes,
        terminals=terminals,
        largest_payoff=largest,
        make_tree=history.build,
        make_payoffs=partial(sparse, rules.name, operator),
        blocks=operator,
        dealt=history,
        unit=unit,
    )


def sparse(name: str, operator: DealtOperator) -> Payoffs:
    """Convert the payoff operator to a sparse matrix; raise GameError if it would not fit in memory."""
    require(name, operator.entries, 100, "payoff entries as many as")
    return expand(operator)


def _scenes(rules: DealtRules, public: PublicGame) -> Scenes:
    tree, deal = public.tree, checked_deal(rules)
    odds = [checked_odds(rules, state, deal) for state in public.chances]  # [A, H0, H1] each
    revealed, of = public.moves(CHANCE)
    reach = np.empty((len(revealed) + 1, *deal.shape))
    reach[0] = deal
    for node in revealed.tolist():  # a node's scene comes after its parent's
        parent = public.parent[node]
        reach[of[node]] = odds[int(tree.table[parent])][int(tree.place[node])] * reach[of[parent]]
    return Scenes(of, reach)


def lines_of(rules: DealtRules, public: PublicGame) -> Texts:
    """[P] public moves that lead to every public node, each preceded by a separator."""
    tree = public.tree
    moves = texts(rules.separator + action for action in public.actions)
    by_level = levels(tree.depth)
    above = texts([""])
    parts = [above]
    for upper, level in pairwise(by_level):
        above = joined(take(above, np.searchsorted(upper, public.parent[level])), take(moves, tree.action[level]))
        parts.append(above)
    position = np.empty(len(tree.mover), dtype=np.int64)
    position[np.concatenate(by_level)] = np.arange(len(tree.mover))
    return take(stacked(parts), position)


def _side(player: int, public: PublicGame, hands: Sequence[str], lines: Texts, scenes: Scenes | None) -> DealtSide:
    tree, parent, width = public.tree, public.parent, len(hands)
    decisions = np.flatnonzero(tree.mover == player)
    possible = np.ones((len(decisions), width), dtype=np.bool_)
    if scenes is not None:
        possible = (scenes.reach.sum(axis=2 - player) > 0.0)[scenes.of[decisions]]
    at, hand = np.nonzero(possible)
    node = decisions[at]
    infoset = np.full((len(tree.mover), width), -1, dtype=np.int32)
    infoset[node, hand] = np.arange(len(node))

    # Rows: one for every move of the player in the public tree, after row 0.
    moved, row = public.moves(player)
    children = np.bincount(parent[1:], minlength=len(tree.mover))
    first = np.concatenate(([1], 1 + np.cumsum(children[node]))).astype(np.int32)
    chosen_at = infoset[parent[moved]]  # [R - 1, H]
    sequence = np.zeros((len(moved) + 1, width), dtype=np.int32)
    sequence[1:] = np.where(chosen_at >= 0, first[chosen_at] + tree.place[moved, None], -1)

    actions = np.full(int(first[-1]), -1, dtype=np.int32)
    mover_row, mover_hand = np.nonzero(chosen_at >= 0)
    actions[sequence[1:][mover_row, mover_hand]] = tree.action[moved[mover_row]]
    labels = joined(take(texts(hands), hand), take(lines, node))
    above = sequence[row[node], hand]
    return DealtSide(Treeplex(first, above), Labels(labels, actions), infoset, row, sequence)


def _operator(
    rules: DealtRules, public: PublicGame, scenes: Scenes | None, sides: tuple[DealtSide, DealtSide]
) -> tuple[Blocks | RankedBlocks, float]:
    """Build the operator and the largest payoff, with ranks or with a table per kind of scene and final outcome."""
    ends = np.flatnonzero(public.tree.mover == TERMINAL)
    amount, outcome = public.tree.amount[ends], public.tree.table[ends]
    rows, sequence = (sides[0].row[ends], sides[1].row[ends]), (sides[0].sequence, sides[1].sequence)
    if scenes is None:
        showdown = np.array([outcome != WON for outcome in public.outcomes], dtype=np.int32)[outcome]
        hands = sequence[0].shape[1]
        ranked = ranked_blocks(Terminals(rows, amount, showdown), sequence, 1.0 / (hands * (hands - 1)))
        return ranked, float(np.abs(amount).max())
    alike: dict[bytes, int] = {}  # scenes with the same probabilities of hands share their tables
    kind = np.array([alike.setdefault(reach.tobytes(), len(alike)) for reach in scenes.reach])
    sample: list[int] = np.unique(kind, return_index=True)[1].tolist()
    key = kind[scenes.of[ends]].astype(np.int64) * len(public.outcomes) + outcome
    distinct, table = np.unique(key, return_inverse=True)
    outcomes = [checked_outcome(rules, outcome) for outcome in public.outcomes]
    keys: list[int] = distinct.tolist()
    tables = np.stack([scenes.reach[sample[k // len(outcomes)]] * outcomes[k % len(outcomes)] for k in keys])
    heights = np.array([float(np.abs(outcome).max()) for outcome in outcomes])
    largest = float(np.abs(amount * heights[outcome]).max())
    return blocks(Terminals(rows, amount, table.astype(np.int32)), tables, sequence), largest


def _count(rules: DealtRules, public: PublicGame, scenes: Scenes | None) -> tuple[int, int]:
    """Number of histories, and number of terminal histories."""
    if scenes is None:
        opened = len(rules.hands()[0])
        deals = np.full(len(public.parent), opened * (opened - 1))  # [P] number of deals that lead to each public node
    else:
        opened = int(np.count_nonzero(scenes.reach[0].any(axis=1)))
        deals = np.count_nonzero(scenes.reach, axis=(1, 2))[scenes.of]
    inner = 1 if rules.together else 1 + opened
    return inner + int(deals.sum()), int(deals[public.tree.mover == TERMINAL].sum())
