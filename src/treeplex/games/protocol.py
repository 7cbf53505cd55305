"""Protocol of a game's rules: seven small functions of a history.

This is all that you write to solve your own game. A *history* may be a tuple, a string, or any other object. treeplex
never looks inside it; it starts at ``root()`` and passes histories to the other functions.

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
"""Value of ``mover`` at a chance move."""

TERMINAL: Final = -2
"""Value of ``mover`` at the end of the game."""

History = Any
"""A history, as any object that the rules choose; opaque to treeplex."""


@runtime_checkable
class Game(Protocol):
    """Rules of a finite game of two players, 0 and 1, as pure functions of a history.

    A game may also carry ``name: str`` (shown in output; the class name otherwise).
    """

    def root(self) -> History:
        """The history at the beginning of the game."""
        ...

    def mover(self, history: History) -> int:
        """Return the mover: 0, 1, ``CHANCE`` or ``TERMINAL``."""
        ...

    def actions(self, history: History) -> Sequence[str]:
        """Return the labels of the possible moves, without repeats, and in the same order all over an infoset."""
        ...

    def probabilities(self, history: History) -> Sequence[float]:
        """Return the probability of each of ``actions(history)``. It is called only at chance moves."""
        ...

    def child(self, history: History, action: str) -> History:
        """Return the history after ``action``, one of ``actions(history)``."""
        ...

    def infoset(self, history: History) -> str:
        """Return the mover's knowledge as a label: histories of the same label are indistinguishable to the mover."""
        ...

    def payoff(self, history: History) -> float | Sequence[float]:
        """Return what player 0 wins and player 1 loses at a terminal, or one number per player if these differ."""
        ...


def name_of(game: object) -> str:
    """Name of a game: its ``name``, or that of its class."""
    name = getattr(game, "name", None)
    return name.encode(errors="replace").decode() if isinstance(name, str) and name else type(game).__name__
