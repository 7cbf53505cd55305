"""The rules of a game, as seven small functions of a history.

This is all a user writes to solve a game of their own. A *history* is anything: a tuple, a string, an object of
your own. treeplex never looks inside it; it starts at ``root()`` and asks the other functions about what it gets.

>>> class MatchingPennies:
...     def root(self):
...         return ""
...     def mover(self, history):
...         return len(history) if len(history) < 2 else TERMINAL
...     def actions(self, history):
...         return ("h", "t")
...     def probabilities(self, history):
...         return ()                                 # no chance moves in this game
...     def child(self, history, action):
...         return history + action
...     def infoset(self, history):
...         return "first" if history == "" else "second"      # the second player does not see the first coin
...     def payoff(self, history):
...         return 1.0 if history[0] == history[1] else -1.0
>>> isinstance(MatchingPennies(), Game)
True
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Final, Protocol, runtime_checkable

CHANCE: Final = -1
"""What ``mover`` returns where chance moves."""

TERMINAL: Final = -2
"""What ``mover`` returns where the game is over."""

History = Any
"""Whatever a rule book uses to stand for a history; opaque to treeplex."""


@runtime_checkable
class Game(Protocol):
    """Rules of a finite game of two players, 0 and 1, as pure functions of a history.

    A game may also carry ``name: str`` (shown in output; the class name otherwise).
    """

    def root(self) -> History:
        """The history before anything has happened."""
        ...

    def mover(self, history: History) -> int:
        """Who moves: 0, 1, ``CHANCE`` or ``TERMINAL``."""
        ...

    def actions(self, history: History) -> Sequence[str]:
        """What can happen next, as labels without repeats: the same, in the same order, all over an infoset."""
        ...

    def probabilities(self, history: History) -> Sequence[float]:
        """At a chance move: the probability of each of ``actions(history)``. Not asked elsewhere."""
        ...

    def child(self, history: History, action: str) -> History:
        """The history after ``action``, one of ``actions(history)``."""
        ...

    def infoset(self, history: History) -> str:
        """What the mover knows, as a label: histories with one label are indistinguishable to the mover."""
        ...

    def payoff(self, history: History) -> float | Sequence[float]:
        """At a terminal: what player 0 wins and player 1 loses; or one number per player if they differ."""
        ...


def name_of(game: object) -> str:
    """The name a game goes by: its ``name``, or that of its class."""
    name = getattr(game, "name", None)
    return name.encode(errors="replace").decode() if isinstance(name, str) and name else type(game).__name__
