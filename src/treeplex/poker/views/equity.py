"""Equity: the fraction of the pot that a hand wins if nobody bets any more, from one pass over the cards to come."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.engines.boards.arrays import RECORD_VALUE, VALUE, Playing, Sources, no_learner, plain_rule
from treeplex.engines.boards.engine import engine
from treeplex.engines.boards.game import HoldemGame, of_order_one
from treeplex.engines.boards.locks import no_locks
from treeplex.engines.boards.trees import with_tree
from treeplex.games.holdem.betting import CHANCE, DECISION, SHOWDOWN, Action, BettingNode
from treeplex.games.holdem.cards import HAND_CARDS, HANDS, hand_numbers
from treeplex.games.holdem.spot import STREETS
from treeplex.poker.views.lines import Position

Array = npt.NDArray[Any]


class Equity:
    """A spot's cards in a game in which both players always check."""

    def __init__(self, game: HoldemGame, storage: str, threads: int) -> None:
        free = replace(game.spot, rake_rate=0.0, rake_cap=None)
        self._game = replace(with_tree(game, _checks(STREETS.index(free.street))), spot=free)
        self._storage = storage = "float32" if np.issubdtype(np.dtype(storage), np.integer) else storage
        self._threads = threads
        none = np.zeros(max(self._game.elements(player) for player in (0, 1)), storage)
        stub = no_learner(storage)
        self._playing = Playing((stub, stub), Sources(none, none), no_locks(self._game, storage))

    def at(self, position: Position, player: int, reach: Floats, opponent: Floats) -> Floats:
        """Return the equity [1326] of the hands of ``player`` against the opponent's, over all cards to come."""
        game, depth, board = self._game, position.depth, position.board
        runner = engine(game, self._storage, self._threads)
        start = self._start(position, player, reach, opponent)
        snapshot = runner.snapshot(depth, board, player) if depth else None
        passes = [(player, VALUE, 0)]
        values = runner.run(self._playing, plain_rule(), passes, snapshot, start, keep=snapshot is None)
        width = int(game.boards[depth].hands[player].start[board + 1] - game.boards[depth].hands[player].start[board])
        return self._shares(
            position, player, values[0, :width] if snapshot is None else snapshot.value[:width], opponent
        )

    def below(self, position: Position, player: int, reach: Floats, opponent: Floats) -> Callable[[Position], Floats]:
        """Return a function of the position after any next card, if nobody has bet since; all cards share one pass."""
        game = self._game
        values, learners = np.zeros(game.elements(player), self._storage), list(self._playing.learners)
        learners[player] = learners[player]._replace(regret=values)
        playing = self._playing._replace(learners=(learners[0], learners[1]))
        start, passes = self._start(position, player, reach, opponent), [(player, RECORD_VALUE, 0)]
        engine(game, self._storage, self._threads).run(playing, plain_rule(), passes, None, start)

        def after(to: Position) -> Floats:
            hands = game.boards[to.depth].hands[player]
            first, width = int(hands.storage[to.board]), int(hands.start[to.board + 1] - hands.start[to.board])
            theirs = np.where(np.isin(HAND_CARDS, to.cards).any(axis=1), 0.0, opponent)
            return self._shares(to, player, values[first : first + width], theirs, opponent)

        return after

    def _start(self, position: Position, player: int, reach: Floats, opponent: Floats) -> tuple[Array, Array]:
        """Return both players' weights, in the order of the first board's hands."""
        moved = hand_numbers(HAND_CARDS // 4 * 4 + np.array(position.suits)[HAND_CARDS % 4])
        work = engine(self._game, self._storage, self._threads).start[0].dtype
        weights = (reach, opponent) if player == 0 else (opponent, reach)
        start: list[Array] = []
        for weight, hands in zip(weights, self._game.boards[0].hands, strict=True):
            stored = np.zeros(HANDS + 1)
            stored[moved] = of_order_one(weight)
            start.append(stored[hands.number[: int(hands.start[1])]].astype(work))
        return start[0], start[1]

    def _shares(
        self, position: Position, player: int, won: Array, opponent: Floats, scaled: Floats | None = None
    ) -> Floats:
        """Return the winnings as fractions of the pot, by hand of the board that the user named."""
        game = self._game
        hands = game.boards[position.depth].hands[player]
        begin, count = int(hands.start[position.board]), int(hands.counts[position.board])
        stored = np.full(HANDS, np.nan)
        stored[hands.number[begin : begin + count]] = won[:count]
        named = stored[hand_numbers(HAND_CARDS // 4 * 4 + np.array(position.suits)[HAND_CARDS % 4])]
        whole = opponent if scaled is None else scaled
        unit = float(of_order_one(whole).max(initial=0.0)) / (float(whole.max(initial=0.0)) or 1.0)
        pot = game.spot.chips(game.spot.pot) * chance_of(game, position.depth)
        return np.clip(0.5 + per_compatible(named / pot, unit * opponent), 0.0, 1.0)  # rounding may leave the interval


def chance_of(game: HoldemGame, depth: int) -> float:
    """Return the factor of reach for the cards dealt on the first ``depth`` streets."""
    first = STREETS.index(game.spot.street)
    return float(np.prod(game.chances[first : first + depth]))


def compatible(opponent: Floats) -> Floats:
    """Return the opponent's weight [1326] of hands that share no card with a hand."""
    by_card = np.zeros(52)
    np.add.at(by_card, HAND_CARDS[:, 0], opponent)
    np.add.at(by_card, HAND_CARDS[:, 1], opponent)
    return np.maximum(opponent.sum() - by_card[HAND_CARDS[:, 0]] - by_card[HAND_CARDS[:, 1]] + opponent, 0.0)


def per_compatible(values: Floats, opponent: Floats) -> Floats:
    """Return values per unit of compatible opponent weight; nan where that weight is almost zero."""
    often = compatible(opponent)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(often > 1e-12 * max(often.max(), 1e-300), values / often, np.nan)


def _checks(street: int) -> BettingNode:
    """Build a betting tree in which both players check on every street from here on."""
    last = len(STREETS) - 1
    node = BettingNode(SHOWDOWN, last, 0)
    for now in range(last, street - 1, -1):
        below = node if now == last else BettingNode(CHANCE, now, 0, children=[node])
        node = below
        for player in (1, 0):
            node = BettingNode(DECISION, now, 0, player=player, actions=[Action("check")], children=[node])
    return node
