"""Compilation of poker with exchangeable suits by classes of boards and hands, without building the whole game.

The betting is the same on every board, so the rules are called along one board and array operations copy the betting to
the others. A row of hands is as wide as its board has classes (``games.suits``). The payoff operator needs no tables of
hands against hands: ``compile.blocks.ClassBlocks``.
"""

from __future__ import annotations

from functools import partial
from typing import Any, NamedTuple

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.arrow import Texts, joined, take, texts
from treeplex.compile.blocks import ClassBlocks, Classes, Numbering, Terminals, class_blocks
from treeplex.compile.dealt import lines_of, sparse
from treeplex.compile.game import CompiledGame
from treeplex.compile.history import Index, levels, parents_from_depth
from treeplex.compile.lifting import Lifting
from treeplex.compile.memory import require
from treeplex.compile.payoffs import unit_of
from treeplex.compile.public import PublicGame, PublicTree, build_public
from treeplex.compile.treeplex import Labels, Treeplex
from treeplex.games.dealt import WON
from treeplex.games.protocol import CHANCE, TERMINAL
from treeplex.games.suits import Board, FoldedGame, OneLine, Suits

BYTES_PER_SEQUENCE = 150  # measured peak, with labels


class FoldedBoards(NamedTuple):
    """All boards up to renaming of suits; along each line of play, boards with fewer cards come first."""

    cards: list[Board]
    following: list[list[int]]  # boards that each may become, in the order of their last card
    before: Ints  # [boards] the board without the last card; 0 for the empty board
    like: Floats  # [boards] number of boards of the whole game that it represents
    place: Ints  # [boards] position in the list ``following`` of the board before
    classes: Classes
    above: Ints  # [C] index of the class on the board before
    named: Ints  # [C] card that names the class


class FoldedPublic(NamedTuple):
    """Public tree over boards up to renaming of suits."""

    game: PublicGame
    board: Ints  # [P]


class FoldedSide(NamedTuple):
    """One player's treeplex, labels, and the numbering of infosets and sequences."""

    treeplex: Treeplex
    labels: Labels
    infoset: Ints  # [P] infoset of the first class at a decision of the player, -1 at other nodes
    row: Ints  # [P] row of the last own move before the node
    numbering: Numbering


def compile_folded(game: FoldedGame) -> CompiledGame:
    """Compile poker by classes. Cost: per public node and class. Python runs per board and betting line."""
    suits, rules = game.suits, game.rules
    line = OneLine.of(rules)
    boards = _boards(suits)
    public = _public(game, build_public(line), boards)
    _check_size(game, public, boards)
    lines = lines_of(line, public.game)
    first, second = (_side(player, game, public, boards, lines) for player in (0, 1))
    operator, largest = _operator(len(rules.deck), public, boards, (first, second), 1.0)
    unit = unit_of(largest)
    if unit != 1.0:
        operator, largest = _operator(len(rules.deck), public, boards, (first, second), unit)
    nodes, terminals = _count(len(rules.deck), public, boards)
    vocabulary = tuple(public.game.actions)
    places = tuple(boards.place.tolist())
    numbers = {cards: number for number, cards in enumerate(boards.cards)}
    lifting = Lifting(game, public.game, numbers, places, (first.infoset, second.infoset), vocabulary, nodes)
    return CompiledGame(
        name=game.name,
        treeplexes=(first.treeplex, second.treeplex),
        labels=(first.labels, second.labels),
        actions=vocabulary,
        nodes=nodes,
        terminals=terminals,
        largest_payoff=largest,
        make_tree=lifting.tree,
        make_payoffs=partial(sparse, game.name, operator),
        blocks=operator,
        lifting=lifting,
        unit=unit,
    )


def _boards(suits: Suits) -> FoldedBoards:
    cards: list[Board] = [()]
    before, like, place = [0], [1.0], [0]
    following: list[list[int]] = []
    for number, board in enumerate(cards):  # the list grows
        following.append([])
        if len(board) + 1 < len(suits.rules.rounds):
            for card, copies in suits.following(board):
                place.append(len(following[-1]))
                following[-1].append(len(cards))
                cards.append((*board, card))
                before.append(number)
                like.append(like[number] * copies)
    kinds = [suits.classes(board) for board in cards]
    start = np.concatenate(([0], np.cumsum([len(kind) for kind in kinds])))
    strength = [np.array([one.strength for one in kind]) for kind in kinds]
    classes = Classes(
        start.astype(np.int32),
        np.array([len(one.cards) for kind in kinds for one in kind], dtype=np.float64),
        _joined([np.searchsorted(own, own, side="left") for own in strength]),
        _joined([np.searchsorted(own, own, side="right") for own in strength]),
    )
    above = np.array([one.before for kind in kinds for one in kind], dtype=np.int32)
    named = np.array([one.cards[0] for kind in kinds for one in kind], dtype=np.int32)
    numbers = (np.array(before, dtype=np.int32), np.array(like), np.array(place, dtype=np.int32))
    return FoldedBoards(cards, following, *numbers, classes, above, named)


def _joined(parts: list[Any]) -> Ints:
    return np.concatenate(parts).astype(np.int32)


def _public(game: FoldedGame, line: PublicGame, boards: FoldedBoards) -> FoldedPublic:
    """Build the public tree of all boards from the tree along one: the part behind a public card is copied per card."""
    tree = line.tree
    dealing = np.flatnonzero(tree.mover == CHANCE)
    sizes: list[int] = tree.size.tolist()
    pieces: list[tuple[int, int, int]] = []  # from, to, board

    def walk(begin: int, end: int, board: int) -> None:
        inside: list[int] = dealing[(dealing >= begin) & (dealing < end)].tolist()
        for node in inside:
            if node < begin:  # behind a public card
                continue
            pieces.append((begin, node + 1, board))
            begin = node + sizes[node]
            for following in boards.following[board]:
                walk(node + 1, begin, following)
        if begin < end:
            pieces.append((begin, end, board))

    walk(0, len(tree.mover), 0)
    start, stop, where = np.array(pieces, dtype=np.int64).T
    board = np.repeat(where, stop - start).astype(np.int32)
    ends = np.cumsum(stop - start)
    copied = np.arange(int(ends[-1])) + np.repeat(stop - ends, stop - start)  # [P] the node of the tree along one board
    parent = parents_from_depth(tree.depth[copied])
    turned = np.flatnonzero((parent >= 0) & (tree.mover[copied[parent]] == CHANCE))
    words = [word for word in line.actions if word not in {card.label for card in game.rules.deck}]
    action = np.array([words.index(word) if word in words else -1 for word in line.actions])[tree.action[copied]]
    action[0] = -1
    last = np.array([cards[-1] if cards else 0 for cards in boards.cards])
    action[turned] = len(words) + last[board[turned]]
    place = tree.place[copied]
    place[turned] = boards.place[board[turned]]
    showdown = np.array([outcome != WON for outcome in line.outcomes], dtype=np.int32)
    mover = tree.mover[copied]
    table = np.full(len(mover), -1, dtype=np.int32)
    table[mover == TERMINAL] = showdown[tree.table[copied[mover == TERMINAL]]]
    depth, amount = tree.depth[copied], tree.amount[copied]
    whole = PublicTree(mover, depth, _sizes(depth, parent), action.astype(np.int32), place, amount, table)
    vocabulary = [*words, *(card.label for card in game.rules.deck)]
    return FoldedPublic(PublicGame(whole, parent, vocabulary, [False, True], []), board)


def _sizes(depth: Ints, parent: Ints) -> Ints:
    size = np.ones(len(depth), dtype=np.int32)
    for level in levels(depth)[:0:-1]:
        size += np.bincount(parent[level], weights=size[level], minlength=len(size)).astype(np.int32)
    return size


def _check_size(game: FoldedGame, public: FoldedPublic, boards: FoldedBoards) -> None:
    tree = public.game.tree
    acted = (tree.mover[public.game.parent[1:]] >= 0).nonzero()[0] + 1
    widths = np.diff(boards.classes.start)[public.board[acted]]
    require(game.name, int(widths.sum()), BYTES_PER_SEQUENCE, "sequences as many as")


def _side(player: int, game: FoldedGame, public: FoldedPublic, boards: FoldedBoards, lines: Texts) -> FoldedSide:
    tree, parent, board = public.game.tree, public.game.parent, public.board
    nodes, widths = len(tree.mover), np.diff(boards.classes.start)[board]  # [P] number of classes of hands
    decisions = np.flatnonzero(tree.mover == player)
    width = widths[decisions]
    begin = np.concatenate(([0], np.cumsum(width)))  # infosets of a decision, classes side by side
    infoset = np.full(nodes, -1, dtype=np.int32)
    infoset[decisions] = begin[:-1]
    node = np.repeat(decisions, width)
    number = np.arange(int(begin[-1])) - np.repeat(begin[:-1], width)

    actions = np.bincount(parent[1:], minlength=nodes)
    first = np.concatenate(([1], 1 + np.cumsum(actions[node]))).astype(np.int32)
    moved, row = public.game.moves(player)
    mother = parent[moved]
    numbering = Numbering(
        np.concatenate(([0], board[mother])).astype(np.int32),
        np.concatenate(([0], first[infoset[mother]] + tree.place[moved])).astype(np.int32),
        np.concatenate(([0], actions[mother])).astype(np.int32),
    )
    own = row[node]
    above = numbering.base[own] + _class_at(boards, board[node], number, numbering.board[own]) * numbering.stride[own]

    codes = np.full(int(first[-1]), -1, dtype=np.int32)
    rows = np.repeat(np.arange(1, len(moved) + 1), widths[mother])  # rows, once for each class
    offset = np.arange(len(rows)) - np.repeat(np.cumsum(widths[mother]) - widths[mother], widths[mother])
    codes[numbering.base[rows] + offset * numbering.stride[rows]] = tree.action[moved][rows - 1]

    hands = texts(card.label for card in game.rules.deck)
    labels = joined(take(hands, boards.named[boards.classes.start[board[node]] + number]), take(lines, node))
    return FoldedSide(Treeplex(first, above.astype(np.int32)), Labels(labels, codes), infoset, row, numbering)


def _class_at(boards: FoldedBoards, board: Ints, number: Index, earlier: Ints) -> Index:
    """Return the class on an ``earlier`` board that class ``number`` on ``board`` comes from."""
    board, number = board.copy(), number.copy()
    while True:
        later = np.flatnonzero(board > earlier)  # a board has a higher number than the board it comes from
        if len(later) == 0:
            return number
        number[later] = boards.above[boards.classes.start[board[later]] + number[later]]
        board[later] = boards.before[board[later]]


def _operator(
    deck: int, public: FoldedPublic, boards: FoldedBoards, sides: tuple[FoldedSide, FoldedSide], unit: float
) -> tuple[ClassBlocks, float]:
    """Build the operator of a deck of ``deck`` cards, and the largest payoff, both in ``unit``."""
    tree = public.game.tree
    ends = np.flatnonzero(tree.mover == TERMINAL)
    board, rows = public.board[ends], (sides[0].row[ends], sides[1].row[ends])
    for side, row in zip(sides, rows, strict=True):
        if np.any(row == 0) or np.any(side.numbering.board[row] != board):
            raise AssertionError("both players have moved on the last board before the game is over")
    amount = tree.amount[ends] / unit
    cards = np.array([len(cards) for cards in boards.cards])
    deals = np.cumprod(
        [1.0, *(deck - k for k in range(int(cards.max()) + 2))]
    )  # number of ordered deals, by the number of cards
    chance = (boards.like / deals[cards + 2])[board]
    terminals = Terminals(rows, amount * chance, tree.table[ends])
    operator = class_blocks(terminals, (sides[0].numbering, sides[1].numbering), boards.classes)
    return operator, float(np.abs(amount).max())


def _count(cards: int, public: FoldedPublic, boards: FoldedBoards) -> tuple[int, int]:
    """Number of histories of the whole game, and number of terminal histories."""
    left = cards - np.array([len(board) for board in boards.cards])
    deals = (boards.like.astype(np.int64) * left * (left - 1))[public.board]
    return 1 + cards + int(deals.sum()), int(deals[public.game.tree.mover == TERMINAL].sum())
