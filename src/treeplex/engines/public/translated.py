"""Play an abstract strategy in the full game of rules that list their sizes, and respond to it.

One player, the *translator*, knows only the tree of the abstraction. The other player, the responder, may choose any
legal size. The translator

- maps a size that is not in the abstraction to one of its two neighbours there, at random by the pseudo-harmonic
  mapping, and continues with the abstract strategy there;
- plays its own size if that is legal in the real state, else the nearest legal one, else the action that the rules call
  ``default``;
- also plays that action wherever the abstraction has no decision of the translator left.

Its readings are secret. So its plan in the full game is the mixture over readings. Let r_m be the probability, by its
own moves, of being at a real state and reading it as the abstract node m. Then

    plan(a) = sum over m of r_m sigma_m(abstract action that becomes a)

hand by hand. A best response to this plan is one pass over the real tree, whose nodes carry r_m for each m.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from functools import cache
from typing import NamedTuple

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.public.arrays import NONE
from treeplex.engines.public.states import PublicState
from treeplex.engines.public.tree import GrowingTree
from treeplex.games.mapping import nearest_legal, reading_shares
from treeplex.games.protocol import CHANCE, TERMINAL

Readings = dict[int, Floats]
"""[H] The probability, by the translator's own moves, of reading a real state as an abstract node, by node.

NONE stands for every case in which no abstract decision is left.
"""


class Moves(NamedTuple):
    """The children of an abstract node."""

    plain: dict[str, int]
    sized: dict[float, int]


@dataclass(eq=False)
class TreeTranslation:
    """The plan of ``responder``'s opponent, who plays the abstract ``strategy`` [P, H] in the full game."""

    states: list[PublicState]
    tables: Floats
    tree: GrowingTree
    words: list[str]
    strategy: Floats
    responder: int
    deviations: float = math.inf  # largest number of sizes outside the abstraction per line of the responder
    hidden: int = NONE  # an abstract move that the translator does not know
    visited: int = 0  # number of histories

    def __post_init__(self) -> None:
        self._hands: int = self.tree.hands
        self._moves = cache(self._children)

    def best_response(self) -> Floats:
        """Return [H], the responder's counterfactual value of the game."""
        return self._value(0, {0: np.ones(self._hands)}, self.deviations)

    def value_of_size(self, node: int, at: int, size: float, arriving: Floats) -> Floats:
        """Return [H], the value of a legal size at a decision of the abstraction, in state ``at``.

        ``arriving`` [H] is the translator's own probability of reaching it.
        """
        after, left = self._read(self.states[at], {node: arriving}, size, self.deviations)
        return self._value(self.states[at].sized[size], after, left)

    def _value(self, at: int, readings: Readings, left: float) -> Floats:
        """Return [H], the responder's counterfactual value of a real state with ``left`` deviations remaining."""
        state = self.states[at]
        readings = {node: weight for node, weight in readings.items() if weight.any()}
        if not readings:
            return np.zeros(self._hands)
        self.visited += state.deals
        if state.mover == TERMINAL:
            earned: Floats = self.tables[self.responder, state.table] @ self._sum(readings.values())
            return state.amount * earned
        if state.mover == CHANCE:
            return self._sum(
                self._value(to, self._after(state, readings, card), left) for card, to in state.plain.items()
            )
        readings = self._decisions(state, readings)
        return (self._respond if state.mover == self.responder else self._act)(state, readings, left)

    def _respond(self, state: PublicState, readings: Readings, left: float) -> Floats:
        """Return the best value over actions without a size and legal sizes.

        If no deviation is left, only sizes in the abstraction at some reading count.
        """
        best = np.full(self._hands, -np.inf)
        for action, to in state.plain.items():
            np.maximum(best, self._value(to, self._after(state, readings, action), left), out=best)
        known = {size for node in readings for size in self._moves(node).sized}
        for size, to in state.sized.items():
            if left > 0 or size in known:
                np.maximum(best, self._value(to, *self._read(state, readings, size, left)), out=best)
        return best

    def _act(self, state: PublicState, readings: Readings, left: float) -> Floats:
        """Return the value of the translator's own decision: it plays the mixture over its readings."""
        plain: dict[str, Readings] = {}
        sized: dict[float, Readings] = {}
        for node, weight in readings.items():
            if node == NONE:
                _add(plain.setdefault(state.default, {}), NONE, weight)
                continue
            moves = self._moves(node)
            for action, child in moves.plain.items():
                real = action if action in state.plain else state.default
                _add(plain.setdefault(real, {}), child, weight * self.strategy[child])
            for size, child in moves.sized.items():
                below = weight * self.strategy[child]
                if state.sized:
                    _add(sized.setdefault(nearest_legal(size, state.sizes), {}), child, below)
                else:
                    _add(plain.setdefault(state.default, {}), child, below)
        values = [self._value(state.plain[action], after, left) for action, after in plain.items()]
        values += [self._value(state.sized[size], after, left) for size, after in sized.items()]
        return self._sum(values)

    def _decisions(self, state: PublicState, readings: Readings) -> Readings:
        """Return readings of a real decision: abstract decisions of the same player, or NONE."""
        mover, out = self.tree.nodes.mover, Readings()
        for node, weight in readings.items():
            _add(out, node if node != NONE and mover[node] == state.mover else NONE, weight)
        return out

    def _after(self, state: PublicState, readings: Readings, action: str) -> Readings:
        """Return the readings after the responder's action without a size, or after a public card."""
        mover, out = self.tree.nodes.mover, Readings()
        for node, weight in readings.items():
            same = node != NONE and mover[node] == state.mover
            _add(out, self._moves(node).plain.get(action, NONE) if same else NONE, weight)
        return out

    def _read(self, state: PublicState, readings: Readings, size: float, left: float) -> tuple[Readings, float]:
        """Return the readings after the responder's size, and the number of deviations left."""
        out, known = Readings(), False
        for node, weight in readings.items():
            sized = self._moves(node).sized
            known = known or size in sized
            if not sized:
                _add(out, NONE, weight)
                continue
            for like, share in reading_shares(tuple(sized), size, 0.0, state.unit):
                _add(out, sized[like], weight * share if share != 1.0 else weight)
        return out, left if known else left - 1

    def _children(self, node: int) -> Moves:
        moves, nodes = Moves({}, {}), self.tree.nodes
        for child in self.tree.children(node) if node != NONE else ():
            if nodes.size[child] > 0.0 and child != self.hidden:
                moves.sized[float(nodes.size[child])] = child
            elif nodes.size[child] <= 0.0:
                moves.plain[self.words[int(nodes.word[child])]] = child
        return moves

    def _sum(self, values: Iterable[Floats]) -> Floats:
        total = np.zeros(self._hands)
        for value in values:
            total += value
        return total


def _add(readings: Readings, node: int, weight: Floats) -> None:
    readings[node] = readings[node] + weight if node in readings else weight
