"""Mapping from a game by classes to the whole game: the class of every infoset of the whole game."""

from __future__ import annotations

from typing import NamedTuple, cast

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.compile.dealt import compile_dealt
from treeplex.compile.dealt_tree import BYTES_PER_NODE, DealtTree
from treeplex.compile.game import CompiledGame
from treeplex.compile.history import HistoryTree, levels
from treeplex.compile.memory import require
from treeplex.compile.public import PublicGame
from treeplex.games.protocol import CHANCE
from treeplex.games.suits import Board, FoldedGame

Strategies = tuple[Floats, Floats]


class Whole(NamedTuple):
    """The whole game, and the infoset by classes that each of its infosets belongs to."""

    game: CompiledGame
    infosets: tuple[Ints, Ints]  # [I of the whole game] of each player


class Lifting(NamedTuple):
    """Data from which the mapping to the whole game is built on demand."""

    rules: FoldedGame
    public: PublicGame
    boards: dict[Board, int]
    places: tuple[int, ...]  # [boards] position of the last card among those that may follow the cards before it
    infoset: tuple[Ints, Ints]  # [P] of each player: infoset of the first class at a decision
    vocabulary: tuple[str, ...]
    nodes: int

    def whole(self) -> Whole:
        """Compile the whole game, in which every card is distinguished."""
        game = compile_dealt(self.rules.whole)
        return Whole(game, self._infosets(cast(DealtTree, game.dealt)))

    def tree(self) -> HistoryTree:
        """Build all histories of the whole game, with the infosets of the game by classes."""
        require(self.rules.name, self.nodes, BYTES_PER_NODE, "a history tree of")
        game, infosets = self.whole()
        code = {label: number for number, label in enumerate(self.vocabulary)}
        codes = np.array([code[label] for label in game.actions], dtype=np.int32)
        tree = game.tree
        action = np.where(tree.action >= 0, codes[tree.action], -1).astype(np.int32)
        infoset = tree.infoset.copy()
        for player in (0, 1):
            own = tree.mover == player
            infoset[own] = infosets[player][tree.infoset[own]]
        return tree._replace(action=action, infoset=infoset)

    def strategies(self, own: tuple[CompiledGame, Strategies]) -> tuple[CompiledGame, Strategies]:
        """Return the whole game, and the strategies in it that correspond to these strategies."""
        game, strategies = own
        whole, infosets = self.whole()
        first, second = (
            _lifted(game.treeplexes[player].first, strategies[player], whole.treeplexes[player].first, infosets[player])
            for player in (0, 1)
        )
        return whole, (first, second)

    def _infosets(self, whole: DealtTree) -> tuple[Ints, Ints]:
        tree, parent = whole.public.tree, whole.public.parent
        children = _children(self.public)
        place = tree.place.copy()
        board = np.zeros(len(parent), dtype=np.int32)  # [P of the whole game]
        here = np.zeros(
            len(parent), dtype=np.int32
        )  # [P of the whole game] corresponding public node of the game by classes
        boards: list[Board] = [()]
        numbers: dict[Board, int] = {(): 0}
        turned = (parent >= 0) & (tree.mover[parent] == CHANCE)
        for level in levels(tree.depth)[1:]:
            board[level] = board[parent[level]]
            for node in level[turned[level]].tolist():
                above = boards[board[parent[node]]]
                cards = (*above, self.rules.rules.left(above)[tree.place[node]])
                if cards not in numbers:
                    numbers[cards] = len(boards)
                    boards.append(cards)
                board[node] = numbers[cards]
                place[node] = self.places[self.boards[self.rules.suits.renamed(cards)[0]]]
            here[level] = children[here[parent[level]], place[level]]
        classes = np.array([self._classes(cards) for cards in boards], dtype=np.int32)  # [boards, H]
        infosets_of: list[Ints] = []
        for player in (0, 1):
            own = np.flatnonzero(tree.mover == player)
            numbered = whole.infoset[player][own]
            infosets = self.infoset[player][here[own], None] + classes[board[own]]
            of = np.empty(int(numbered.max(initial=-1)) + 1, dtype=np.int32)
            of[numbered[numbered >= 0]] = infosets[numbered >= 0]
            infosets_of.append(of)
        return infosets_of[0], infosets_of[1]

    def _classes(self, board: Board) -> list[int]:
        shown, called = self.rules.suits.renamed(board)
        of = self.rules.suits.class_of(shown)
        return [of[card] for card in called]


def _children(public: PublicGame) -> Ints:
    """[P, moves] public node after each move; -1 if there is none."""
    tree, parent = public.tree, public.parent
    children = np.full((len(parent), int(tree.place.max()) + 1), -1, dtype=np.int32)
    children[parent[1:], tree.place[1:]] = np.arange(1, len(parent))
    return children


def _lifted(first: Ints, strategy: Floats, whole: Ints, infosets: Ints) -> Floats:
    """[S of the whole game] probabilities, copied from the infosets that its infosets belong to."""
    own = np.repeat(infosets, np.diff(whole))
    within = np.arange(1, int(whole[-1])) - np.repeat(whole[:-1], np.diff(whole))
    return np.concatenate(([1.0], strategy[first[own] + within]))
