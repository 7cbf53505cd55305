"""Reading the answer: strategy, EV and equity of any node, by line and hand."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pyarrow as pa

from treeplex.arrays import Floats
from treeplex.arrow import Table, table
from treeplex.engines.boards import arrays as layout
from treeplex.engines.boards.arrays import Playing, Sources, no_learner, plain_rule
from treeplex.engines.boards.engine import engine
from treeplex.engines.boards.game import HoldemGame, load_spot
from treeplex.engines.boards.lines import Place, Step, decision_at, follow, name_of
from treeplex.engines.boards.locks import Frozen, no_locks
from treeplex.engines.boards.streets import Decision
from treeplex.errors import ParameterError
from treeplex.evaluation.exact import Evaluation
from treeplex.games.holdem.betting import CHANCE, DECISION, Action
from treeplex.games.holdem.cards import HAND_CARDS, HANDS, card_name, hand_name, hand_numbers
from treeplex.games.holdem.spot import PLAYERS, Spot
from treeplex.updates.reference import matched


class View(NamedTuple):
    """A decision as people look at it; arrays over the 1,326 hands, zero or nan where a hand cannot be held."""

    line: str
    board: tuple[int, ...]
    pot: float
    player: int
    actions: list[Action]
    names: list[str]  # actions with their share of the pot
    reach: Floats  # [1326] how often the player gets here with a hand, of its weight in the range
    opponent: Floats  # [1326] the same for the other player
    share: Floats  # [1326] of all deals that get here; sums to 1
    strategy: Floats  # [actions, 1326]
    ev: Floats  # [actions, 1326] chips taken of the pot from here on
    equity: Floats  # [1326] of the pot if nobody bets any more

    def totals(self) -> dict[str, float]:
        """How often each action is taken, over all hands."""
        shares = (self.strategy * self.share).sum(axis=1)
        return {action.name: float(x) for action, x in zip(self.actions, shares, strict=True)}

    def hands(self) -> list[int]:
        """The hands that get here, most frequent first."""
        order = np.argsort(-self.share, kind="stable")
        return [int(hand) for hand in order if self.share[hand] > 0.0]

    def value(self, hand: int) -> float:
        """What a hand takes of the pot from here on, playing its strategy."""
        return float(np.nansum(self.strategy[:, hand] * self.ev[:, hand]))

    def table(self) -> Table:
        """One row per hand and action."""
        names = [action.name for action in self.actions]
        hands = self.hands()
        hand, action = np.repeat(np.array(hands, dtype=np.intp), len(names)), np.tile(range(len(names)), len(hands))
        columns = {
            "hand": [hand_name(number) for number in hand.tolist()],
            "action": names * len(hands),
            "reach": self.reach[hand],
            "share": self.share[hand],
            "probability": self.strategy[action, hand],
            "ev": self.ev[action, hand],
            "equity": self.equity[hand],
        }
        return table(columns, {"hand": pa.string(), "action": pa.string()})

    def summary(self) -> dict[str, Any]:
        """As ``treeplex holdem show --json`` prints it."""
        return {
            "line": self.line,
            "board": " ".join(card_name(card) for card in self.board),
            "pot": self.pot,
            "player": PLAYERS[self.player],
            "actions": [action.name for action in self.actions],
            "totals": self.totals(),
            "hands": {
                hand_name(hand): {
                    "reach": float(self.reach[hand]),
                    "share": float(self.share[hand]),
                    "ev": self.value(hand),
                    "equity": None if np.isnan(self.equity[hand]) else float(self.equity[hand]),
                    "strategy": {a.name: float(self.strategy[k, hand]) for k, a in enumerate(self.actions)},
                }
                for hand in self.hands()
            },
        }


class Reader:
    """Strategies of a solved spot; passes over the tree are run only when values are asked for."""

    def __init__(self, game: HoldemGame, sources: Sources, frozen: Frozen, storage: str, threads: int) -> None:
        stub = no_learner(storage)
        self.game, self._storage, self._threads, self._rule = game, storage, threads, plain_rule(storage)
        self._playing = Playing((stub, stub), sources, frozen)
        self._equity: dict[tuple[int, ...], HoldemGame] = {}

    def at(self, line: str) -> View:
        """The decision that ``line`` leads to, such as ``"check, bet 75%, raise"``; dealt cards are named too."""
        place = follow(self.game, line)
        if place.node.kind != DECISION:
            fix = "name the card that is dealt." if place.node.kind == CHANCE else "leave out the last action."
            raise ParameterError(f"{line!r} leads to a {place.node.kind} node, where no player acts; {fix}")
        decision = decision_at(self.game, place)
        player = decision.player
        reach, opponent = self.reach(place, player), self.reach(place, 1 - player)
        share = reach * _met(opponent)
        node = decision.node
        return View(
            line,
            place.cards,
            self.game.spot.rounded(self.game.spot.pot + 2 * node.paid + node.to_call),
            player,
            node.actions,
            [name_of(self.game, node, action) for action in node.actions],
            reach,
            opponent,
            share / max(float(share.sum()), 1e-300),
            self._expand(self._strategy(decision, place), place, player),
            self._ev(place, decision),
            self._hand_equity(place, player, reach, opponent),
        )

    def value(self, player: int) -> float:
        """What ``player`` takes of the pot on average."""
        return self._taken([(player, layout.VALUE)])[0]

    def evaluation(self) -> Evaluation:
        """Value and NashConv in chips. Both players share the pot: player 0's value is what it takes on average.

        At a decision whose strategy is locked, a best response plays that strategy, too.
        """
        raked = self.game.spot.rake_rate > 0.0
        passes = [(0, layout.BEST), (1, layout.BEST), (0, layout.VALUE), (1, layout.VALUE)]
        first, second, value, *rest = self._taken(passes if raked else passes[:3])
        other = rest[0] if raked else self.game.spot.pot - value
        return Evaluation(value, max(first + second - value - other, 0.0), (first, second))

    def _taken(self, passes: list[tuple[int, int]]) -> list[float]:
        """What the player of each pass takes of the pot on average."""
        game = self.game
        runner = engine(game, self._storage, self._threads)
        found = runner.run(self._playing, self._rule, [(player, mode, 0) for player, mode in passes], keep=True)
        weights = [game.weights(player) for player, _ in passes]
        totals = [float(values[: len(held)] @ held) for values, held in zip(found, weights, strict=True)]
        return [game.spot.pot / 2 + game.spot.chip * (total / game.combinations) for total in totals]

    def equity(self) -> tuple[float, float]:
        """Each player's share of the pot if nobody bets at all."""
        place = follow(self.game, "")
        reach, opponent = self.reach(place, 0), self.reach(place, 1)
        weight = reach * _met(opponent)
        each = self._hand_equity(place, 0, reach, opponent)
        first = float(np.nansum(weight * each) / weight.sum())
        return first, 1.0 - first

    def reach(self, place: Place, player: int) -> Floats:
        """[1326] a player's weights, times the probabilities of its actions on the way."""
        weights = self.game.spot.weights(player)
        weights[np.isin(HAND_CARDS, place.cards).any(axis=1)] = 0.0
        for step in place.steps:
            if step.decision.player == player:
                weights *= self._expand(self._strategy(step.decision, step), step, player)[step.action]
        return weights

    def _strategy(self, decision: Decision, at: Place | Step) -> Floats:
        """[actions, H] the strategy of a stored board's decision."""
        hands = self.game.boards[at.depth].hands[decision.player]
        width = int(hands.start[at.board + 1] - hands.start[at.board])
        start = int(hands.storage[at.board]) + decision.slot * width
        actions = len(decision.node.actions)
        rows = self._playing.source[decision.player][start : start + actions * width].reshape(actions, width)
        return matched(rows.astype(np.float64))

    def _expand(self, rows: Floats, at: Place | Step, player: int, empty: float = 0.0) -> Floats:
        """Rows over a stored board's hands as rows over the 1,326 hands of the board that was named."""
        hands = self.game.boards[at.depth].hands[player]
        begin, count = int(hands.start[at.board]), int(hands.held[at.board])
        stored = np.full((len(rows), HANDS), empty)
        stored[:, hands.number[begin : begin + count]] = rows[:, :count]
        return stored[:, hand_numbers(HAND_CARDS // 4 * 4 + np.array(at.suits)[HAND_CARDS % 4])]

    def _ev(self, place: Place, decision: Decision) -> Floats:
        """[actions, 1326] from one pass that plays both strategies."""
        game, player, depth, board = self.game, decision.player, place.depth, place.board
        runner = engine(game, self._storage, self._threads)
        taken = runner.snapshot(depth, board, player) if depth else None
        runner.run(self._playing, self._rule, [(player, layout.VALUE, 0)], taken)
        hands = game.boards[depth].hands
        width, wide = (int(hands[who].start[board + 1] - hands[who].start[board]) for who in (player, 1 - player))
        if taken is None:
            reach, value = runner.rows(player)
        else:
            reach, value = taken.reach.reshape(-1, wide), taken.value.reshape(-1, width)
        betting = runner.betting(depth, player)
        part = int(np.searchsorted(betting.tile[:, layout.ROOT], decision.root, side="right")) - 1
        first, stop = betting.tile[part], betting.tile[part + 1]
        own = betting.own_node[betting.own_node[:, layout.NUMBER] == decision.number][0]
        row = int(own[layout.REACHED] + first[layout.ROOT] + first[layout.OPPONENT_SLOT])
        actions = len(decision.node.actions)
        values = value[int(stop[layout.ROOT]) + decision.slot :][:actions].astype(np.float64)
        opponent = self._expand(reach[row : row + 1].astype(np.float64), place, 1 - player)[0]
        spread = self._expand(values, place, player, np.nan)
        return game.spot.chip * _per_meeting(spread, opponent) + game.spot.pot / 2 + decision.node.paid

    def _hand_equity(self, place: Place, player: int, reach: Floats, opponent: Floats) -> Floats:
        """[1326] by checking down to a showdown, whatever cards come."""
        if place.cards not in self._equity:
            spot = self.game.spot
            board = " ".join(card_name(card) for card in place.cards)
            checked = Spot(board, 2, 1, _text(spot.weights(0), place.cards), _text(spot.weights(1), place.cards), {})
            self._equity[place.cards] = load_spot(checked, isomorphic=False)
        game = self._equity[place.cards]
        runner = engine(game, self._storage, self._threads)
        none = np.zeros(game.elements(0) + game.elements(1), self._storage)
        playing = self._playing._replace(source=Sources(none, none), frozen=no_locks(game, self._storage))
        hands = game.boards[0].hands
        weights = (reach, opponent) if player == 0 else (opponent, reach)
        first, second = (
            np.append(weight, 0.0)[held.number[: held.start[1]]].astype(runner.start[0].dtype)
            for weight, held in zip(weights, hands, strict=True)
        )
        worth = runner.run(playing, self._rule, [(player, layout.VALUE, 0)], start=(first, second), keep=True)
        numbers = hands[player].number[: int(hands[player].held[0])]
        won = np.full(HANDS, np.nan)
        won[numbers] = worth[0, : len(numbers)]
        return 0.5 + _per_meeting(won, opponent) / 2.0


def _met(opponent: Floats) -> Floats:
    """[1326] what the opponent holds that shares no card with a hand."""
    by_card = np.zeros(52)
    np.add.at(by_card, HAND_CARDS[:, 0], opponent)
    np.add.at(by_card, HAND_CARDS[:, 1], opponent)
    return np.maximum(opponent.sum() - by_card[HAND_CARDS[:, 0]] - by_card[HAND_CARDS[:, 1]] + opponent, 0.0)


def _per_meeting(values: Floats, opponent: Floats) -> Floats:
    """What a hand gains each time it meets a hand of the opponent; nan where it hardly ever does."""
    met = _met(opponent)
    with np.errstate(divide="ignore", invalid="ignore"):
        return np.where(met > 1e-12 * max(met.max(), 1e-300), values / met, np.nan)


def _text(weights: Floats, cards: tuple[int, ...]) -> str:
    """A range of the hands with a weight that do not share a card with the board."""
    free = ~np.isin(HAND_CARDS, cards).any(axis=1)
    return ",".join(hand_name(int(hand)) for hand in np.flatnonzero((weights > 0.0) & free))
