"""Reading the answer: strategy, EV and equity of any node, by line and hand."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.engines.boards import arrays as layout
from treeplex.engines.boards.arrays import Locked, Playing, Sources, no_learner, plain_rule
from treeplex.engines.boards.engine import SubgameEngine, engine
from treeplex.engines.boards.evaluate import evaluate_passes, pot_shares
from treeplex.engines.boards.game import HoldemGame, of_order_one
from treeplex.engines.boards.streets import Decision
from treeplex.engines.evaluation import Evaluation
from treeplex.errors import ParameterError
from treeplex.games.holdem.betting import CHANCE, DECISION
from treeplex.games.holdem.cards import HAND_CARDS, HANDS, hand_numbers
from treeplex.games.holdem.lines import name_of
from treeplex.games.holdem.spot import PLAYERS
from treeplex.poker.views.action_values import NodeValues, locked_hands
from treeplex.poker.views.continuation import RARE, action_values, answered, avoided, waiting_values
from treeplex.poker.views.equity import Equity, chance_of, met, per_meeting
from treeplex.poker.views.lines import PathStep, Position, decision_at, follow
from treeplex.poker.views.view import INDIFFERENT, View
from treeplex.updates.reference import matched


class Reader:
    """Strategies of a solved spot; passes over the tree are run only when values are asked for."""

    def __init__(self, game: HoldemGame, sources: Sources, frozen: Locked, storage: str, threads: int) -> None:
        stub = no_learner(storage)
        self.game, self._storage, self._threads, self._rule = game, storage, threads, plain_rule()
        self._playing = Playing((stub, stub), sources, frozen)
        self.node_values: NodeValues | None = None
        self.accuracy = INDIFFERENT  # of the pot: what strategies are good for

    @cached_property
    def equities(self) -> Equity:
        """Shares of the pot if nobody bets any more."""
        return Equity(self.game, self._storage, self._threads)

    def keep(self) -> NodeValues:
        """From now on values of nodes are looked up: a pass for each player, when they are first asked for."""
        if self.node_values is None:
            self.node_values = NodeValues(self.game, self._playing, self._storage, self._threads)
        return self.node_values

    def __repr__(self) -> str:
        return f"Reader({self.game!r}, {self._storage})"

    def at(self, line: str = "", player: int | str | None = None) -> View:
        """The decision that ``line`` leads to, such as ``"check, bet 75%, raise"``; dealt cards are named too.

        ``player``: whose hands, ``"oop"`` or ``"ip"``; by default those of the player to act.
        """
        position = follow(self.game, line)
        if position.node.kind != DECISION:
            fix = "name the card that is dealt." if position.node.kind == CHANCE else "leave out the last action."
            raise ParameterError(f"{line!r:.80} leads to a {position.node.kind} node, where no player acts; {fix}")
        decision = decision_at(self.game, position)
        node, shown = decision.node, decision.player if player is None else _player(player)
        acts = shown == decision.player
        actions = node.actions if acts else []
        reach, opponent = self.reach(position, shown), self.reach(position, 1 - shown)
        strategy = self.expand(self.strategy(decision, position), position, shown) if acts else np.zeros((0, HANDS))
        ev, values, played = self._values(position, decision, shown, reach, opponent, strategy)
        return View(
            line,
            position.cards,
            self.game.spot.rounded(self.game.spot.pot + 2 * node.paid + node.to_call),
            shown,
            decision.player,
            actions,
            [name_of(self.game.spot, node, action) for action in actions],
            reach,
            opponent,
            shares_of(reach, opponent),
            strategy,
            ev,
            values,
            played,
            self.equities.at(position, shown, reach, opponent),
            self.accuracy,
        )

    def _values(
        self, position: Position, decision: Decision, player: int, reach: Floats, opponent: Floats, strategy: Floats
    ) -> tuple[Floats, Floats, Floats]:
        """EV of each action and of each hand if it plays on well, and of each hand if it plays its own strategy.

        [actions, 1326], [1326], [1326]; see ``poker.views.continuation``.
        """
        node, weights = decision.node, self.game.spot.weights(player)
        played, best = (self.ev(position, decision, player, opponent, best=best) for best in (False, True))
        part = np.divide(reach, weights, out=np.zeros(HANDS), where=weights > 0.0)
        free = not self.game.locks
        if player == decision.player:
            ev = action_values(node, part * strategy, played, best, free=free)
            own: Floats = (strategy * played).sum(axis=0)
            values: Floats = np.where(part >= RARE, own, (strategy * ev).sum(axis=0))
        else:
            ev, own, values = played[:0], played[0], waiting_values(part, played[0], best[0], free=free)
        if not free:
            never = self._is_avoided(position, player)
            values = np.full(HANDS, np.nan) if never else values
            gone = avoided(reach, strategy, self.locked(position, decision))
            for k in np.flatnonzero(gone | never).tolist() if len(ev) else []:
                if answered(node.children[k], player):
                    ev[k] = np.nan
        return ev, values, own

    def _is_avoided(self, position: Position, player: int) -> bool:
        """Do locks keep the whole range of ``player`` from the line to a position?"""
        for number, step in enumerate(position.steps):
            if step.decision.player == player:
                at = Position(
                    step.decision.node, step.depth, step.board, position.cards, step.suits, position.steps[:number]
                )
                strategy = self.expand(self.strategy(step.decision, step), step, player)
                if avoided(self.reach(at, player), strategy, self.locked(step, step.decision))[step.action]:
                    return True
        return False

    def locked(self, at: Position | PathStep, decision: Decision) -> npt.NDArray[np.bool_]:
        """[1326] which hands of the player who acts play a locked strategy at a decision."""
        stored = locked_hands(self.game, self._playing.frozen, decision, at.depth, at.board)
        return self.expand(stored[None].astype(np.float64), at, decision.player)[0] > 0.0

    def frequencies(self, line: str = "") -> list[float]:
        """How often each action of a decision is taken, over all hands that get there."""
        position = follow(self.game, line)
        decision = decision_at(self.game, position)
        player = decision.player
        shares = shares_of(self.reach(position, player), self.reach(position, 1 - player))
        rows = self.expand(self.strategy(decision, position), position, player)
        return [float(np.nansum(shares * row)) for row in rows]

    def value(self, player: int) -> float:
        """What ``player`` takes of the pot on average."""
        return self._taken([(player, layout.VALUE)])[0]

    def evaluation(self) -> Evaluation:
        """Value and NashConv in chips. Both players share the pot: player 0's value is what it takes on average.

        At a decision whose strategy is locked, a best response plays that strategy, too. With rake, NashConv is still
        the sum of both gains, but the value is only what these two strategies give to player 0.
        """
        return evaluate_passes(self.game, self._found)

    @property
    def sources(self) -> Sources:
        """What strategies are shares of."""
        return self._playing.source

    def best_response_value(self, player: int) -> float:
        """What a best response of ``player`` takes of the pot on average."""
        return self._taken([(player, layout.BEST)])[0]

    def best_response_values(self) -> tuple[float, float]:
        """The same for both players, each against the other's strategy."""
        first, second = self._taken([(0, layout.BEST), (1, layout.BEST)])
        return first, second

    def responses(self, player: int, line: str) -> tuple[float, Floats]:
        """What a best response of ``player`` takes, and [actions, H] what each action of a decision adds to it by hand.

        The decision is on the first street. Of each hand's actions the best one is part of what is taken.
        """
        game = self.game
        decision = decision_at(game, follow(game, line))
        runner = engine(game, self._storage, self._threads)
        with runner.busy:
            (taken,) = self._taken([(player, layout.BEST)], runner)
            _, rows = runner.rows(player)
        first = game.streets[0].roots + decision.slot
        values = rows[first : first + len(decision.node.actions)].astype(np.float64)
        return taken, values * game.weights(player) * (game.spot.chip / game.combinations)

    def _taken(self, passes: list[tuple[int, int]], runner: SubgameEngine | None = None) -> list[float]:
        """What the player of each pass takes of the pot on average."""
        return pot_shares(self.game, passes, self._found(passes, runner))

    def _found(self, passes: list[tuple[int, int]], runner: SubgameEngine | None = None) -> Floats:
        runner = runner or engine(self.game, self._storage, self._threads)
        return runner.run(self._playing, self._rule, [(player, mode, 0) for player, mode in passes], keep=True)

    def equity(self) -> tuple[float, float]:
        """Each player's share of the pot if nobody bets at all."""
        position = follow(self.game, "")
        reach, opponent = self.reach(position, 0), self.reach(position, 1)
        first = float(np.nansum(shares_of(reach, opponent) * self.equities.at(position, 0, reach, opponent)))
        return first, 1.0 - first

    def reach(self, position: Position, player: int) -> Floats:
        """[1326] a player's weights, times the probabilities of its actions on the way."""
        weights = self.game.spot.weights(player)
        weights[np.isin(HAND_CARDS, position.cards).any(axis=1)] = 0.0
        for step in position.steps:
            if step.decision.player == player:
                weights *= self.expand(self.strategy(step.decision, step), step, player)[step.action]
        return weights

    def strategy(self, decision: Decision, at: Position | PathStep) -> Floats:
        """[actions, H] the strategy of a stored board's decision."""
        hands = self.game.boards[at.depth].hands[decision.player]
        width = int(hands.start[at.board + 1] - hands.start[at.board])
        start = int(hands.storage[at.board]) + decision.slot * width
        actions = len(decision.node.actions)
        rows = self._playing.source[decision.player][start : start + actions * width].reshape(actions, width)
        return matched(rows.astype(np.float64))

    def expand(self, rows: Floats, at: Position | PathStep, player: int, empty: float = 0.0) -> Floats:
        """Rows over a stored board's hands as rows over the 1,326 hands of the board that was named."""
        hands = self.game.boards[at.depth].hands[player]
        begin, count = int(hands.start[at.board]), int(hands.counts[at.board])
        stored = np.full((len(rows), HANDS), empty)
        stored[:, hands.number[begin : begin + count]] = rows[:, :count]
        return stored[:, hand_numbers(HAND_CARDS // 4 * 4 + np.array(at.suits)[HAND_CARDS % 4])]

    def ev(
        self, position: Position, decision: Decision, player: int, opponent: Floats, *, best: bool = False
    ) -> Floats:
        """[actions, 1326] chips taken of the pot from a decision on; [1, 1326] of the player who is not to act.

        ``opponent``: reach of the other player's hands. ``best``: if ``player`` replies best afterwards, instead of
        playing its own strategy.
        """
        game, node, acts = self.game, decision.node, player == decision.player
        if self.node_values is not None and self.node_values.has_room(player, best=best):
            rows = self.node_values.rows(decision, position.depth, position.board, player, best=best)
            weights = game.spot.weights(1 - player)
            unit = float(of_order_one(weights).max() / weights.max()) * chance_of(game, position.depth)
            gained = per_meeting(self.expand(rows, position, player, np.nan), unit * opponent)
        else:
            gained = self._gained(position, decision, player, layout.BEST if best else layout.VALUE)
        put_in = game.spot.pot / 2 + node.paid + (0 if acts else node.to_call)
        chips = game.spot.chip * gained + put_in
        for k, action in enumerate(node.actions if acts else []):
            if action.kind == "fold":
                chips[k, ~np.isnan(chips[k])] = 0.0  # whatever rounding says
        return chips

    def _gained(self, position: Position, decision: Decision, player: int, mode: int) -> Floats:
        """[actions or 1, 1326] chips beside half of the pot, from one pass: ``mode`` is ``VALUE`` or ``BEST``."""
        game, depth, board, node = self.game, position.depth, position.board, decision.node
        runner = engine(game, self._storage, self._threads)
        taken = runner.snapshot(depth, board, player) if depth else None
        whole = self._rule._replace(prune=False)  # rows that nobody reaches are written, too
        hands = game.boards[depth].hands
        width, wide = (int(hands[who].start[board + 1] - hands[who].start[board]) for who in (player, 1 - player))
        with runner.busy:
            runner.run(self._playing, whole, [(player, mode, 0)], taken)
            reach, value = runner.rows(player)
        if taken is not None:
            reach, value = taken.reach.reshape(-1, wide), taken.value.reshape(-1, width)
        tile = runner.betting(depth, player).tile
        part = int(np.searchsorted(tile[:, layout.ROOT], decision.root, side="right")) - 1
        ends = int(tile[part + 1, layout.ROOT])
        above = [decision.root + int(tile[part, slot]) for slot in (layout.OWN_SLOT, layout.OPPONENT_SLOT)]
        own, theirs = (
            ends + decision.sequences[who] if decision.sequences[who] >= 0 else root
            for who, root in zip((player, 1 - player), above, strict=True)
        )
        first, count = (ends + decision.slot, len(node.actions)) if player == decision.player else (own, 1)
        opponent = self.expand(reach[theirs : theirs + 1].astype(np.float64), position, 1 - player)[0]
        spread = self.expand(value[first : first + count].astype(np.float64), position, player, np.nan)
        return per_meeting(spread, opponent)


def _player(player: int | str) -> int:
    """By number or by name."""
    if not isinstance(player, bool) and player in (0, 1, *PLAYERS):
        return PLAYERS.index(player) if isinstance(player, str) else int(player)
    raise ParameterError(f"The 'player' parameter must be oop or ip, got {player!r:.80}.")


def shares_of(reach: Floats, opponent: Floats) -> Floats:
    """[1326] how often each hand is dealt, of all deals that get here."""
    weight = of_order_one(reach) * met(of_order_one(opponent))
    return weight / max(float(weight.sum()), 1e-300)
