"""Nodes as UPI names them, ``r:0:c:b100:c:8h``, and the numbers of all 1,326 hands at each.

Bets in names are the chips that a player has put in since the start. EVs are the chips that a player wins from the pot
less all it has put in since the start; a ``View`` counts from its decision on.
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
from treeplex.poker.views.equity import chance_of, compatible
from treeplex.poker.views.lines import Position, follow
from treeplex.poker.views.reader import Reader

ROOT = "r"
START = "r:0"


class NodeReader:
    """The nodes of a game, with the strategies of a reader."""

    def __init__(self, game: HoldemGame, reader: Reader) -> None:
        self.game, self.reader = game, reader

    def show(self, name: str) -> list[str]:
        """Return name, kind, board, chips put in by both and the pot at the start, children, flags: one line each."""
        position = self._position(name)
        kind = "ROOT" if name == ROOT else _kind(position.node)
        put_in = " ".join(format_amount(amount) for amount in (*self._put_in(position), self.game.spot.pot))
        board = " ".join(card_name(card) for card in position.cards)
        return [name, kind, board, put_in, f"{len(self._children(name, position))} children", "flags:"]

    def children(self, name: str) -> list[str]:
        """Return ``show`` of every child, separated by empty lines."""
        lines: list[str] = []
        for number, child in enumerate(self._children(name, self._position(name))):
            lines += [*([""] if number else []), f"child {number}:", *self.show(child)]
        return lines

    def strategy(self, name: str) -> list[str]:
        """Return a line of 1,326 probabilities for every child."""
        position = self._position(name)
        if name == ROOT or position.node.kind != DECISION:
            raise ParameterError(f"No player acts at {quoted(name)}, a {_kind(position.node)}: there is no strategy.")
        return [numbers(row) for row in self.reader.at(name).strategy]

    def range(self, player: str, name: str) -> list[str]:
        """Return the weights with which a player's hands get here."""
        return [numbers(self.reader.reach(self._position(name), _player(player)))]

    def ev(self, player: str, name: str) -> list[str]:
        """Return EVs by hand, and the compatible weights over which they are averaged."""
        who, position = _player(player), self._position(name)
        own, opponent = self.reader.reach(position, who), self.reader.reach(position, 1 - who)
        return [numbers(self._ev(START if name == ROOT else name, position, who)), numbers(own * compatible(opponent))]

    def frequency(self, name: str) -> float:
        """Return the probability of reaching a node, cards included."""
        position = self._position(name)
        return self._weight(position) / self._weight(self._position(START)) * chance_of(self.game, position.depth)

    def _weight(self, position: Position) -> float:
        return float(self.reader.reach(position, 0) @ compatible(self.reader.reach(position, 1)))

    def _ev(self, name: str, position: Position, who: int) -> Floats:
        if position.node.kind == DECISION:
            return self.reader.at(name, who).values - self._put_in(position)[who]
        above, _, last = name.rpartition(":")
        parent = self._position(above)
        if parent.node.kind != DECISION or parent.node.player != who:
            raise ParameterError(
                f"The EV at {quoted(name)}, where no player acts, is known only for the player who acted last. Query"
                " the nodes around it."
            )
        action = self._names(parent.node).index(last)
        return self.reader.at(above).ev[action] - self._put_in(parent)[who]

    def _position(self, name: str) -> Position:
        if name not in (ROOT, START) and not name.startswith(f"{START}:"):
            raise ParameterError(f"A node is named such as r:0:c:b100:c:8h, got {quoted(name)}.")
        return follow(self.game, START if name == ROOT else name)

    def _put_in(self, position: Position) -> tuple[float, float]:
        """Return the chips that both players have put in since the start."""
        node = position.steps[-1].decision.node if position.node.kind == FOLD else position.node
        amounts = [node.paid, node.paid]
        if node.kind == DECISION:
            amounts[1 - node.player] = self.game.spot.rounded(node.paid + node.to_call)
        return amounts[0], amounts[1]

    def _children(self, name: str, position: Position) -> list[str]:
        if name == ROOT:
            return [START]
        if position.node.kind == CHANCE:
            return [f"{name}:{card_name(card)}" for card in range(CARDS) if card not in position.cards]
        return [f"{name}:{each}" for each in self._names(position.node)]

    def _names(self, node: BettingNode) -> list[str]:
        """Return the last parts of the names of a decision's children."""
        already_in = node.paid + node.to_call - node.faced
        return [self._word(action, already_in) for action in node.actions]

    def _word(self, action: Action, already_in: float) -> str:
        if not action.amount:
            return "f" if action.kind == "fold" else "c"
        return f"b{format_amount(self.game.spot.rounded(already_in + action.amount))}"


def numbers(values: Floats) -> str:
    """Return the numbers of all hands in PioSOLVER's order; nan where a hand is impossible."""
    return " ".join(f"{x:.7g}" for x in values[ORDER].tolist())


def _kind(node: BettingNode) -> str:
    if node.kind == DECISION:
        return f"{PLAYERS[node.player].upper()}_DEC"
    return "SPLIT_NODE" if node.kind == CHANCE else "END_NODE"


def _player(name: str) -> int:
    if name.lower() not in PLAYERS:
        raise ParameterError(f"A player is OOP or IP, got {quoted(name)}.")
    return PLAYERS.index(name.lower())
