"""Nodes as UPI names them, ``r:0:c:b100:c:8h``, and the numbers of all 1,326 hands at each.

Bets in names are what a player has put in since the start. EVs are what a player takes of the pot less all it has put
in since the start; a ``View`` counts from its decision on.
"""

from __future__ import annotations

from treeplex.arrays import Floats
from treeplex.engines.boards.game import HoldemGame
from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.betting import CHANCE, DECISION, FOLD, Action, BettingNode
from treeplex.games.holdem.cards import CARDS, card_name
from treeplex.games.holdem.formats.floats import ORDER
from treeplex.games.holdem.money import format_amount
from treeplex.games.holdem.spot import PLAYERS
from treeplex.poker.views.equity import chance_of, met
from treeplex.poker.views.lines import Position, follow
from treeplex.poker.views.reader import Reader

ROOT = "r"
START = "r:0"


class NodeReader:
    """The nodes of a game, with the strategies of a reader."""

    def __init__(self, game: HoldemGame, reader: Reader) -> None:
        self.game, self.reader = game, reader

    def show(self, name: str) -> list[str]:
        """Name, kind, board, what both have put in and the pot at the start, children, flags: one line each."""
        place = self._place(name)
        kind = "ROOT" if name == ROOT else _kind(place.node)
        put_in = " ".join(format_amount(amount) for amount in (*self._put_in(place), self.game.spot.pot))
        board = " ".join(card_name(card) for card in place.cards)
        return [name, kind, board, put_in, f"{len(self._children(name, place))} children", "flags:"]

    def children(self, name: str) -> list[str]:
        """``show`` of every child, with empty lines between."""
        lines: list[str] = []
        for number, child in enumerate(self._children(name, self._place(name))):
            lines += [*([""] if number else []), f"child {number}:", *self.show(child)]
        return lines

    def strategy(self, name: str) -> list[str]:
        """A line of 1,326 shares for every child."""
        place = self._place(name)
        if name == ROOT or place.node.kind != DECISION:
            raise ParameterError(f"No player acts at {quoted(name)}, a {_kind(place.node)}: there is no strategy.")
        return [numbers(row) for row in self.reader.at(name).strategy]

    def range(self, player: str, name: str) -> list[str]:
        """The weights with which a player gets here."""
        return [numbers(self.reader.reach(self._place(name), _player(player)))]

    def ev(self, player: str, name: str) -> list[str]:
        """EVs by hand, and the weights of their meetings with the opponent's hands, over which EVs are averaged."""
        who, place = _player(player), self._place(name)
        own, opponent = self.reader.reach(place, who), self.reader.reach(place, 1 - who)
        return [numbers(self._ev(START if name == ROOT else name, place, who)), numbers(own * met(opponent))]

    def frequency(self, name: str) -> float:
        """How often play gets here, cards included."""
        place = self._place(name)
        return self._weight(place) / self._weight(self._place(START)) * chance_of(self.game, place.depth)

    def _weight(self, place: Position) -> float:
        return float(self.reader.reach(place, 0) @ met(self.reader.reach(place, 1)))

    def _ev(self, name: str, place: Position, who: int) -> Floats:
        if place.node.kind == DECISION:
            return self.reader.at(name, who).values - self._put_in(place)[who]
        above, _, last = name.rpartition(":")
        parent = self._place(above)
        if parent.node.kind != DECISION or parent.node.player != who:
            raise ParameterError(
                f"The EV at {quoted(name)}, where no player acts, is told of the player who acted last alone; ask for"
                " the nodes around it."
            )
        action = self._names(parent.node).index(last)
        return self.reader.at(above).ev[action] - self._put_in(parent)[who]

    def _place(self, name: str) -> Position:
        if name not in (ROOT, START) and not name.startswith(f"{START}:"):
            raise ParameterError(f"A node is named such as r:0:c:b100:c:8h, got {quoted(name)}.")
        return follow(self.game, START if name == ROOT else name)

    def _put_in(self, place: Position) -> tuple[float, float]:
        """By both players since the start."""
        node = place.steps[-1].decision.node if place.node.kind == FOLD else place.node
        amounts = [node.paid, node.paid]
        if node.kind == DECISION:
            amounts[1 - node.player] = self.game.spot.rounded(node.paid + node.to_call)
        return amounts[0], amounts[1]

    def _children(self, name: str, place: Position) -> list[str]:
        if name == ROOT:
            return [START]
        if place.node.kind == CHANCE:
            return [f"{name}:{card_name(card)}" for card in range(CARDS) if card not in place.cards]
        return [f"{name}:{each}" for each in self._names(place.node)]

    def _names(self, node: BettingNode) -> list[str]:
        """The last part of the names of a decision's children."""
        before = node.paid + node.to_call - node.faced
        return [self._word(action, before) for action in node.actions]

    def _word(self, action: Action, before: float) -> str:
        if not action.amount:
            return "f" if action.kind == "fold" else "c"
        return f"b{format_amount(self.game.spot.rounded(before + action.amount))}"


def numbers(values: Floats) -> str:
    """Numbers of all hands in PioSOLVER's order; nan where a hand is never there."""
    return " ".join(f"{x:.7g}" for x in values[ORDER].tolist())


def _kind(node: BettingNode) -> str:
    if node.kind == DECISION:
        return f"{PLAYERS[node.player].upper()}_DEC"
    return "SPLIT_NODE" if node.kind == CHANCE else "END_NODE"


def _player(name: str) -> int:
    if name.lower() not in PLAYERS:
        raise ParameterError(f"A player is OOP or IP, got {quoted(name)}.")
    return PLAYERS.index(name.lower())
