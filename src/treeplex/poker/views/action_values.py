"""Counterfactual values of all actions of a solved spot in memory: after one pass per player, every node is looked up.

Values have the layout of the strategies: [actions, hands] for every decision on every board.
"""

from __future__ import annotations

import threading
from typing import Any

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.compile.memory import GIB, available
from treeplex.engines.boards.arrays import (
    ALL_LOCKED,
    RECORD_BEST,
    RECORD_VALUE,
    Locked,
    Playing,
    Sources,
    no_learner,
    plain_rule,
)
from treeplex.engines.boards.engine import engine
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.streets import Decision
from treeplex.engines.boards.trees import by_node
from treeplex.errors import GameError
from treeplex.updates.reference import matched

Array = npt.NDArray[Any]


class NodeValues:
    """Values of all actions under both strategies, and under a best response of one player from there on."""

    def __init__(self, game: HoldemGame, playing: Playing, storage: str, threads: int) -> None:
        self.storage = "float32" if np.issubdtype(np.dtype(storage), np.integer) else storage
        first, second = (numbers.astype(self.storage, copy=False) for numbers in playing.source)
        locked, other = (numbers.astype(self.storage, copy=False) for numbers in playing.frozen.rows)
        stub = no_learner(self.storage)
        self.playing = Playing(
            (stub, stub), Sources(first, second), Locked(playing.frozen.where, Sources(locked, other))
        )
        self._game, self._threads, self._making = game, threads, threading.Lock()
        self._cache: dict[tuple[int, bool], Array] = {}
        self._decisions = by_node(game)

    @property
    def bytes(self) -> int:
        """Memory that strategies and cached values take."""
        return sum(values.nbytes for values in (*self._cache.values(), *self.playing.source))

    def values(self, player: int, *, best: bool = False) -> Array:
        """Return the values of all actions of ``player``, in the layout of its strategy; the first call runs a pass."""
        with self._making:
            if (player, best) not in self._cache:
                self._cache[player, best] = self._pass(player, RECORD_BEST if best else RECORD_VALUE)
            return self._cache[player, best]

    def has_room(self, player: int, *, best: bool = False) -> bool:
        """Return whether best-response values are cached or fit in memory; else ``Reader.ev`` computes single nodes."""
        return not best or (player, best) in self._cache or self._bytes_of(player) <= available()

    def _bytes_of(self, player: int) -> int:
        return self._game.elements(player) * np.dtype(self.storage).itemsize

    def _pass(self, player: int, mode: int) -> Array:
        game, storage = self._game, self.storage
        need, free = self._bytes_of(player), available()
        if need > free:
            raise GameError(
                f"The values of all nodes take {need / GIB:,.1f} GiB, but only {free / GIB:,.1f} GiB are free. Close"
                " other runs, or look at single nodes with treeplex holdem show."
            )
        values, learners = np.zeros(game.elements(player), storage), list(self.playing.learners)
        learners[player] = learners[player]._replace(regret=values)
        playing = self.playing._replace(learners=(learners[0], learners[1]))
        engine(game, storage, self._threads).run(playing, plain_rule(), [(player, mode, 0)])
        return values

    def rows(self, decision: Decision, depth: int, board: int, player: int, *, best: bool = False) -> Floats:
        """Return values [actions, H] if ``player`` acts, else the decision's value [1, H] to the waiting player."""
        if player == decision.player:
            slot, count = decision.slot, len(decision.node.actions)
        elif decision.sequences[player] >= 0:  # everything after its last action passes through this decision
            slot, count = decision.sequences[player], 1
        else:  # the first decision of a street, before the other player has acted on it
            children = [self._decisions[id(child)][1] for child in decision.node.children]
            return np.sum(
                [self.decision_value(child, depth, board, best=best) for child in children], axis=0, keepdims=True
            )
        return self._cut(self.values(player, best=best), player, slot, count, depth, board)

    def decision_value(self, decision: Decision, depth: int, board: int, *, best: bool = False) -> Floats:
        """Return the value [H] of a decision to the hands of the player who acts."""
        player = decision.player
        values = self.rows(decision, depth, board, player, best=best)
        source = self._cut(self.playing.source[player], player, decision.slot, len(values), depth, board)
        played: Floats = (matched(source) * values).sum(axis=0)
        if not best:
            return played
        locked = locked_hands(self._game, self.playing.frozen, decision, depth, board)
        return np.where(locked, played, values.max(axis=0))

    def _cut(self, numbers: Array, player: int, slot: int, count: int, depth: int, board: int) -> Floats:
        hands = self._game.boards[depth].hands[player]
        width = int(hands.start[board + 1] - hands.start[board])
        start = int(hands.storage[board]) + slot * width
        return numbers[start : start + count * width].reshape(count, width).astype(np.float64)


def locked_hands(game: HoldemGame, frozen: Locked, decision: Decision, depth: int, board: int) -> npt.NDArray[np.bool_]:
    """Return a mask [H] of the hands of a stored board that play a locked strategy at a decision."""
    player, (where, rows) = decision.player, frozen
    hands, actions = game.boards[depth].hands[player], len(decision.node.actions)
    width = int(hands.start[board + 1] - hands.start[board])
    at = int(where[player][int(hands.decision[board]) + decision.number])
    if at < 0:
        return np.full(width, at == ALL_LOCKED)
    strategies: Array = rows[player][at : at + actions * width].reshape(actions, width)
    return (strategies != 0).any(axis=0)
