"""Read a solution: strategy, EV and equity of any node, by line and hand."""

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
from treeplex.poker.views.equity import Equity, chance_of, compatible, per_compatible
from treeplex.poker.views.lines import PathStep, Position, decision_at, follow
from treeplex.poker.views.view import INDIFFERENT, View
from treeplex.updates.reference import matched


class Reader:
    """Strategies of a solved spot. Passes over the tree run only when values are requested."""

    def __init__(self, game: HoldemGame, sources: Sources, frozen: Locked, storage: str, threads: int) -> None:
        stub = no_learner(storage)
        self.game, self._storage, self._threads, self._rule = game, storage, threads, plain_rule()
        self._playing = Playing((stub, stub), sources, frozen)
        self.node_values: NodeValues | None = None
        self.accuracy = INDIFFERENT  # fraction of the pot within which EVs are known

    @cached_property
    def equities(self) -> Equity:
        """Fractions of the pot that hands win if nobody bets any more."""
        return Equity(self.game, self._storage, self._threads)

    def keep(self) -> NodeValues:
        """Cache the values of all nodes from now on; each player's take one pass at their first use."""
        if self.node_values is None:
            self.node_values = NodeValues(self.game, self._playing, self._storage, self._threads)
        return self.node_values

    def __repr__(self) -> str:
        return f"Reader({self.game!r}, {self._storage})"

    def at(self, line: str = "", player: int | str | None = None) -> View:
        """Return the decision that ``line`` leads to, such as ``"check, bet 75%, raise"``; dealt cards are part of it.

        ``player``: the player whose hands to show, ``"oop"`` or ``"ip"``; by default the player to act.
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
        """Return EV per action and per hand if the hand plays on well, and per hand if it plays its own strategy.

        Shapes are [actions, 1326], [1326], [1326]. See ``poker.views.continuation``.
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
        """Return whether locks keep the whole range of ``player`` off the line to a position."""
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
        """Return a mask [1326] of the acting player's hands that play a locked strategy at a decision."""
        stored = locked_hands(self.game, self._playing.frozen, decision, at.depth, at.board)
        return self.expand(stored[None].astype(np.float64), at, decision.player)[0] > 0.0

    def frequencies(self, line: str = "") -> list[float]:
        """Return the frequency of each action of a decision, over all hands that get there."""
        position = follow(self.game, line)
        decision = decision_at(self.game, position)
        player = decision.player
        shares = shares_of(self.reach(position, player), self.reach(position, 1 - player))
        rows = self.expand(self.strategy(decision, position), position, player)
        return [float(np.nansum(shares * row)) for row in rows]

    def value(self, player: int) -> float:
        """Return the average number of chips that ``player`` wins from the pot."""
        return self._winnings([(player, layout.VALUE)])[0]

    def evaluation(self) -> Evaluation:
        """Return value and NashConv in chips. Player 0's value is the average number of chips it wins from the pot.

        At a locked decision a best response also plays the locked strategy. With rake, NashConv is still the sum of
        both gains, but the value is only what these two strategies give to player 0.
        """
        return evaluate_passes(self.game, self._run_passes)

    @property
    def sources(self) -> Sources:
        """The arrays that strategies are normalised from."""
        return self._playing.source

    def best_response_value(self, player: int) -> float:
        """Return the average number of chips that a best response of ``player`` wins from the pot."""
        return self._winnings([(player, layout.BEST)])[0]

    def best_response_values(self) -> tuple[float, float]:
        """Return the best-response values of both players, each against the other's strategy."""
        first, second = self._winnings([(0, layout.BEST), (1, layout.BEST)])
        return first, second

    def responses(self, player: int, line: str) -> tuple[float, Floats]:
        """Return the best-response value of ``player``, and by hand [actions, H] what each action contributes to it.

        The decision is on the first street. The best-response value includes only each hand's best action.
        """
        game = self.game
        decision = decision_at(game, follow(game, line))
        runner = engine(game, self._storage, self._threads)
        with runner.busy:
            (winnings,) = self._winnings([(player, layout.BEST)], runner)
            _, rows = runner.rows(player)
        first = game.streets[0].roots + decision.slot
        values = rows[first : first + len(decision.node.actions)].astype(np.float64)
        return winnings, values * game.weights(player) * (game.spot.chip / game.combinations)

    def _winnings(self, passes: list[tuple[int, int]], runner: SubgameEngine | None = None) -> list[float]:
        """Return the average number of chips that the player of each pass wins from the pot."""
        return pot_shares(self.game, passes, self._run_passes(passes, runner))

    def _run_passes(self, passes: list[tuple[int, int]], runner: SubgameEngine | None = None) -> Floats:
        runner = runner or engine(self.game, self._storage, self._threads)
        return runner.run(self._playing, self._rule, [(player, mode, 0) for player, mode in passes], keep=True)

    def equity(self) -> tuple[float, float]:
        """Return each player's fraction of the pot if nobody bets at all."""
        position = follow(self.game, "")
        reach, opponent = self.reach(position, 0), self.reach(position, 1)
        first = float(np.nansum(shares_of(reach, opponent) * self.equities.at(position, 0, reach, opponent)))
        return first, 1.0 - first

    def reach(self, position: Position, player: int) -> Floats:
        """Return a player's reach [1326]: its weights times the probabilities of its actions on the path."""
        weights = self.game.spot.weights(player)
        weights[np.isin(HAND_CARDS, position.cards).any(axis=1)] = 0.0
        for step in position.steps:
            if step.decision.player == player:
                weights *= self.expand(self.strategy(step.decision, step), step, player)[step.action]
        return weights

    def strategy(self, decision: Decision, at: Position | PathStep) -> Floats:
        """Return the strategy [actions, H] of a decision on a stored board."""
        hands = self.game.boards[at.depth].hands[decision.player]
        width = int(hands.start[at.board + 1] - hands.start[at.board])
        start = int(hands.storage[at.board]) + decision.slot * width
        actions = len(decision.node.actions)
        rows = self._playing.source[decision.player][start : start + actions * width].reshape(actions, width)
        return matched(rows.astype(np.float64))

    def expand(self, rows: Floats, at: Position | PathStep, player: int, empty: float = 0.0) -> Floats:
        """Return rows over a stored board's hands as rows over the 1,326 hands of the board that the user named."""
        hands = self.game.boards[at.depth].hands[player]
        begin, count = int(hands.start[at.board]), int(hands.counts[at.board])
        stored = np.full((len(rows), HANDS), empty)
        stored[:, hands.number[begin : begin + count]] = rows[:, :count]
        return stored[:, hand_numbers(HAND_CARDS // 4 * 4 + np.array(at.suits)[HAND_CARDS % 4])]

    def ev(
        self, position: Position, decision: Decision, player: int, opponent: Floats, *, best: bool = False
    ) -> Floats:
        """Return chips won from the pot from a decision on: [actions, 1326], or [1, 1326] for the waiting player.

        ``opponent``: reach of the other player's hands. ``best``: ``player`` plays a best response afterwards, instead
        of its own strategy.
        """
        game, node, acts = self.game, decision.node, player == decision.player
        if self.node_values is not None and self.node_values.has_room(player, best=best):
            rows = self.node_values.rows(decision, position.depth, position.board, player, best=best)
            weights = game.spot.weights(1 - player)
            unit = float(of_order_one(weights).max() / weights.max()) * chance_of(game, position.depth)
            gained = per_compatible(self.expand(rows, position, player, np.nan), unit * opponent)
        else:
            gained = self._gained(position, decision, player, layout.BEST if best else layout.VALUE)
        put_in = game.spot.pot / 2 + node.paid + (0 if acts else node.to_call)
        chips = game.spot.chip * gained + put_in
        for k, action in enumerate(node.actions if acts else []):
            if action.kind == "fold":
                chips[k, ~np.isnan(chips[k])] = 0.0  # exactly zero, in spite of rounding
        return chips

    def _gained(self, position: Position, decision: Decision, player: int, mode: int) -> Floats:
        """Return chips won net of half the pot [actions or 1, 1326], from a pass in ``mode`` ``VALUE`` or ``BEST``."""
        game, depth, board, node = self.game, position.depth, position.board, decision.node
        runner = engine(game, self._storage, self._threads)
        snapshot = runner.snapshot(depth, board, player) if depth else None
        whole = self._rule._replace(prune=False)  # write also the rows that no hand reaches
        hands = game.boards[depth].hands
        width, wide = (int(hands[who].start[board + 1] - hands[who].start[board]) for who in (player, 1 - player))
        with runner.busy:
            runner.run(self._playing, whole, [(player, mode, 0)], snapshot)
            reach, value = runner.rows(player)
        if snapshot is not None:
            reach, value = snapshot.reach.reshape(-1, wide), snapshot.value.reshape(-1, width)
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
        return per_compatible(spread, opponent)


def _player(player: int | str) -> int:
    """Return a player's number from its number or name."""
    if not isinstance(player, bool) and player in (0, 1, *PLAYERS):
        return PLAYERS.index(player) if isinstance(player, str) else int(player)
    raise ParameterError(f"The 'player' parameter must be oop or ip, got {player!r:.80}.")


def shares_of(reach: Floats, opponent: Floats) -> Floats:
    """Return the fraction [1326] of all deals that get here with each hand."""
    weight = of_order_one(reach) * compatible(of_order_one(opponent))
    return weight / max(float(weight.sum()), 1e-300)
