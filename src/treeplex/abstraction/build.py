"""Public trees and subgames, from rules with sizes.

Python asks the rules once for every state of the first tree, and once for every *key* of what can lie behind a sized
move; later subgames of the same key are copies, times a stake.
"""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.abstraction.tree import DTYPES, Block, fresh_rows, nodes_of
from treeplex.arrays import Floats
from treeplex.errors import GameError
from treeplex.games.dealt import Public
from treeplex.games.protocol import CHANCE, TERMINAL
from treeplex.games.sized import ActionMenu, Menu, sized_label
from treeplex.kernels.cpu.growing import rematch
from treeplex.kernels.growing import NONE, UNSIZED, Nodes

PROPORTION: Final = 1e-9  # by how much payoffs behind a size may miss being proportional to its stretch


class Move(NamedTuple):
    """What led to a state."""

    parent: int = NONE
    size: float = UNSIZED
    word: int = NONE
    loose: bool = False  # ends the game for the same payoff whatever the size of the move before
    twin: Public = None  # after a sized move: the state that another size would have led to


@dataclass
class Builder:
    """Makes blocks of rows, and remembers what their numbers stand for."""

    rules: ActionMenu
    menu: Menu
    words: list[str] = field(default_factory=list[str])
    states: list[tuple[Public, int, float]] = field(default_factory=list[tuple[Public, int, float]])
    """By key: some state of that key, its scene and its stake."""

    def __post_init__(self) -> None:
        first, second = (len(hands) for hands in self.rules.hands())
        self.hands = max(first, second)
        deal = np.zeros((self.hands, self.hands))
        deal[:first, :second] = self.rules.deal()
        self._scenes: list[Floats] = [deal]  # probability of hands and public cards, for each pair of hands
        self._tables: list[Floats] = []
        self._numbers: dict[Hashable, int] = {}
        self._keys: dict[Hashable, int] = {}
        self._subgames: dict[int, Block] = {}

    def whole(self) -> Block:
        """The game from its start, with the sizes of the menu."""
        block = self._block(self.rules.start(), 0, ())
        for key in range(len(self.states)):
            self.subgame_histories(key)  # asks the rules for everything that can be added
        return block

    def subgame(self, key: int, stake: float, size: float) -> Block:
        """A fresh subgame behind a new size, at a node of this key and stake."""
        plain = self._subgame(key)
        theta = self.theta(size)
        nodes = nodes_of(array.copy() for array in plain.nodes)
        nodes.amount[:] *= np.where(_at_once(nodes), stake, stake * theta)
        nodes.stake[:] *= stake * theta
        nodes.size[0], nodes.theta[0] = size, theta
        return Block(nodes, fresh_rows(len(nodes.parent), self.hands)._replace(behaviour=plain.rows.behaviour.copy()))

    def subgame_histories(self, key: int) -> int:
        """How many histories a fresh subgame adds."""
        return int(self._subgame(key).nodes.deals.sum())

    @property
    def histories_by_key(self) -> Floats:
        """[key] of fresh subgames."""
        return np.array([self.subgame_histories(key) for key in range(len(self.states))], dtype=np.float64)

    @property
    def bounds(self) -> Floats:
        """[key, 2] the least and the largest legal size."""
        return np.array([self._interval(state) for state, _, _ in self.states], dtype=np.float64).reshape(-1, 2)

    @property
    def tables(self) -> Floats:
        """[2, K, H, H] payoff tables, chance included, from each player's side."""
        first = np.stack(self._tables)
        return np.ascontiguousarray(np.stack([first, -first.transpose(0, 2, 1)]))

    def scene(self, key: int) -> Floats:
        """[H, H] probability of both hands and the public cards at states of a key."""
        return self._scenes[self.states[key][1]]

    def theta(self, size: float) -> float:
        """What payoffs behind this size are multiplied by."""
        return self.rules.stretch[0] + self.rules.stretch[1] * size

    def _interval(self, state: Public) -> tuple[float, float]:
        return self.rules.interval(state) or (0.0, 0.0)  # only states that have one get a key

    def _subgame(self, key: int) -> Block:
        """The subgame of a key, at stake and stretch one."""
        if key not in self._subgames:
            low, high = self._interval(self.states[key][0])
            block = self._behind(key, low)
            if not np.allclose(block.nodes.amount, self._behind(key, high).nodes.amount, rtol=PROPORTION, atol=0.0):
                raise GameError(
                    f"The payoffs of {self.rules.name} behind an action of some size are not proportional to its"
                    " stretch; check 'stretch' and 'behind' of the rules."
                )
            self._subgames[key] = block
        return self._subgames[key]

    def _behind(self, key: int, size: float) -> Block:
        """What lies behind a size at the state that stands for a key, brought down to stake and stretch one."""
        public, scene, stake = self.states[key]
        low, high = self._interval(public)
        twin = self.rules.sized(public, high if size != high else low)
        move = Move(NONE, size, self._word(self.rules.word(public)), twin=twin)
        block = self._block(self.rules.sized(public, size), scene, None, move)
        nodes = block.nodes
        nodes.amount[:] /= np.where(_at_once(nodes), stake, stake * self.theta(size))
        nodes.stake[:] /= stake * self.theta(size)
        return block

    def _block(self, public: Public, scene: int, line: tuple[str, ...] | None, move: Move | None = None) -> Block:
        """All that follows a state, and the move that led to it if that has a size."""
        fields: dict[str, list[Any]] = {name: [] for name in Nodes._fields}
        self._add(fields, public, scene, line, move or Move())
        nodes = nodes_of(np.array(column, dtype=DTYPES[name]) for name, column in fields.items())
        rows = fresh_rows(len(nodes.parent), self.hands)
        rematch(nodes, rows.regret, rows.behaviour, 0, len(nodes.parent))
        return Block(nodes, rows)

    def _add(
        self, fields: dict[str, list[Any]], public: Public, scene: int, line: tuple[str, ...] | None, move: Move
    ) -> int:
        """Add a state and all that follows; returns its number. Lines are kept only if sizes depend on them."""
        n = len(fields["parent"])
        mover = self.rules.mover(public)
        values = dict.fromkeys(Nodes._fields, NONE) | {"mover": mover, "amount": 0.0, "stake": 0.0, "idle": 0}
        values |= {"parent": move.parent, "loose": move.loose, "size": move.size, "word": move.word}
        values |= {"theta": self.theta(move.size) if move.size > 0.0 else 1.0}
        values |= {"deals": int(np.count_nonzero(self._scenes[scene]))}
        if mover == TERMINAL:
            values["amount"], outcome = self.rules.settle(public)
            values["table"] = self._table(scene, outcome)
        elif mover != CHANCE and self.rules.interval(public) is not None:
            named, values["stake"] = self.rules.behind(public)
            values["key"] = self._key(named, public, scene, values["stake"])
        for name, column in fields.items():
            column.append(values[name])
        if mover == TERMINAL:
            return n
        older = NONE
        for label, state, revealed, made in self._moves(public, scene, line, move, n):
            child = self._add(fields, state, revealed, None if line is None else (*line, label), made)
            fields["child" if older == NONE else "sibling"][n if older == NONE else older] = child
            older = child
        return n

    def _moves(
        self, public: Public, scene: int, line: tuple[str, ...] | None, move: Move, n: int
    ) -> Iterator[tuple[str, Public, int, Move]]:
        """Label, state, scene and move of every child."""
        rules, mover = self.rules, self.rules.mover(public)
        odds = rules.odds(public) if mover == CHANCE else None
        for place, action in enumerate(rules.actions(public)):
            state = rules.next(public, action)
            revealed = scene if odds is None else self._reveal(scene, odds[place])
            loose = move.twin is not None and rules.mover(state) == TERMINAL
            if loose:
                loose = rules.settle(state) == rules.settle(rules.next(move.twin, action))
            yield action, state, revealed, Move(n, UNSIZED, self._word(action), loose)
        interval = None if mover == CHANCE else rules.interval(public)
        if interval is None:
            return
        word = rules.word(public)
        for size in self.menu.at(rules, public, line):
            twin = rules.sized(public, interval[1] if size != interval[1] else interval[0])
            made = Move(n, size, self._word(word), twin=twin)
            yield sized_label(word, size), rules.sized(public, size), scene, made

    def _word(self, word: str) -> int:
        if word not in self.words:
            self.words.append(word)
        return self.words.index(word)

    def _reveal(self, scene: int, odds: Floats) -> int:
        """The scene after a public card."""
        given = np.zeros_like(self._scenes[scene])
        given[: odds.shape[0], : odds.shape[1]] = odds
        joint = self._scenes[scene] * given
        number = self._numbers.setdefault(joint.tobytes(), len(self._scenes))
        if number == len(self._scenes):
            self._scenes.append(joint)
        return number

    def _table(self, scene: int, outcome: Hashable) -> int:
        number = self._numbers.setdefault((scene, outcome), len(self._tables))
        if number == len(self._tables):
            pays = self.rules.outcome(outcome)
            table = np.zeros_like(self._scenes[scene])
            table[: pays.shape[0], : pays.shape[1]] = pays
            self._tables.append(table * self._scenes[scene])
        return number

    def _key(self, named: Hashable, public: Public, scene: int, stake: float) -> int:
        number = self._keys.setdefault(named, len(self.states))
        if number == len(self.states):
            self.states.append((public, scene, stake))
        return number


def _at_once(nodes: Nodes) -> npt.NDArray[np.bool_]:
    """Terminals right behind the first row that pay the same whatever its size."""
    return (nodes.parent == 0) & (nodes.loose == 1)
