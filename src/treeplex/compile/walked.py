"""What a walk over histories has met so far, in growing arrays."""

from __future__ import annotations

from array import array
from functools import partial
from typing import NoReturn

from treeplex.errors import GameError
from treeplex.games.protocol import Game, name_of
from treeplex.games.returned import Place


class PlayerInfosets:
    """One player's infosets, in the order they are met."""

    def __init__(self) -> None:
        self.index: dict[str, int] = {}
        self.first = array("i", [1])
        self.parent = array("i")
        self.seen = array("i")  # node where the infoset was first met
        self.choices: list[tuple[str, ...]] = []
        self.codes = array("i", [-1])


class WalkArrays:
    """The growing arrays of a walk."""

    def __init__(self, game: Game) -> None:
        self.name = name_of(game)
        self.mover, self.parent = array("b"), array("i")
        self.infoset, self.action = array("i"), array("i")
        self.probability, self.payoff = array("d"), array("d")
        self.players = (PlayerInfosets(), PlayerInfosets())
        self.vocabulary: dict[str, int] = {}
        self.choices: set[tuple[str, ...]] = set()  # that have been checked
        self.rows, self.columns, self.weights = array("i"), array("i"), array("d")
        self.sums = array("d")  # payoff of player 0 plus payoff of player 1, at each terminal
        self.ends = array("i")

    def line(self, node: int) -> str:
        """The actions that lead to a node, for messages."""
        names = list(self.vocabulary)
        line: list[str] = []
        while node > 0:
            line.append(names[self.action[node]])
            node = self.parent[node]
        shown = one_line(" ".join(reversed(line)))
        return "'" + (shown if len(shown) <= 80 else "… " + shown[-78:]) + "'" if line else "the root"

    def place(self, node: int) -> Place:
        """The same when it is asked for."""
        return partial(self.line, node)

    def depth(self, node: int) -> int:
        """How many moves lead to a node."""
        depth = 0
        while node > 0:
            node = self.parent[node]
            depth += 1
        return depth

    def refuse(self, sentence: str) -> NoReturn:
        """Every refusal names the game."""
        raise GameError(f"{self.name} {sentence}")


def one_line(label: str) -> str:
    """A label without line breaks and runs of blanks."""
    return " ".join(label.split())
