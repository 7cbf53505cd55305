"""Random games for tests: trees of any shape, with chance, hidden moves and perfect recall.

A history is a path of choices. The mover, the number of choices, the visibility of choices and the payoffs are drawn
from a hash of the seed and the path. So a tree needs no memory and is the same on every machine.

Perfect recall holds by construction. Each player has a *view*: its own choices, and those choices of others that it
happens to see, in order. A choice that is not seen leaves no trace, so histories of different lengths may look alike.
An infoset is a view, and its number of choices depends only on the view. The view marks every own choice, so the part
before each mark is the infoset where that choice was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from hashlib import blake2b
from typing import NamedTuple

from treeplex.games.parameters import integer, number, titled
from treeplex.games.protocol import CHANCE, TERMINAL


class RandomHistory(NamedTuple):
    """A history, each player's view of it, and the mover."""

    path: str
    views: tuple[str, str]
    mover: int


@dataclass(frozen=True)
class RandomTree:
    """A random tree of at most ``depth`` moves and ``width`` choices per move, determined by ``seed``.

    The other parameters are probabilities. ``chance``: that chance moves. ``visible``: that a player sees the
    opponent's move. ``forced``: that there is only one choice. ``stop``: that the game ends after a move beyond half of
    ``depth``. Payoffs are between -``scale`` and ``scale``.
    """

    seed: int = 0
    depth: int = 6
    width: int = 3
    chance: float = 0.2
    visible: float = 0.3
    forced: float = 0.1
    stop: float = 0.1
    scale: float = 1.0

    def __post_init__(self) -> None:
        integer("seed", self.seed, 0, 2**63 - 1)
        integer("depth", self.depth, 1, 20)
        integer("width", self.width, 2, 9)
        number("chance", self.chance, 0, 1)
        number("visible", self.visible, 0, 1)
        number("forced", self.forced, 0, 1)
        number("stop", self.stop, 0, 1)
        number("scale", self.scale, 0, 1e9)

    @property
    def name(self) -> str:
        """The game with its non-default parameters."""
        return titled("random_tree", self)

    def root(self) -> RandomHistory:
        """Return the history without any moves."""
        return RandomHistory("", ("", ""), self._mover(""))

    def mover(self, history: RandomHistory) -> int:
        """Return the mover that was drawn."""
        return history.mover

    def actions(self, history: RandomHistory) -> Sequence[str]:
        """Return one to ``width`` choices, drawn for the mover's view or, at chance moves, for the path."""
        seen = history.path if history.mover == CHANCE else history.views[history.mover]
        if self._draw("forced", history.mover, seen) < self.forced:
            return ("0",)
        return tuple("012345678"[: 2 + int(self._draw("actions", history.mover, seen) * (self.width - 1))])

    def probabilities(self, history: RandomHistory) -> Sequence[float]:
        """Return uneven probabilities, none below a twentieth of another."""
        weights = [0.05 + self._draw("weight", history.path, action) for action in self.actions(history)]
        return [weight / sum(weights) for weight in weights]

    def child(self, history: RandomHistory, action: str) -> RandomHistory:
        """Add a choice to the path and to the mover's view, and perhaps to the other view."""
        path = history.path + action
        first, second = (self._trace(player, history.mover, path) for player in (0, 1))
        return RandomHistory(path, (history.views[0] + first, history.views[1] + second), self._mover(path))

    def infoset(self, history: RandomHistory) -> str:
        """Return the mover's view: ``!`` before its own choices, ``.`` before others that it saw."""
        return history.views[history.mover] or "start"

    def payoff(self, history: RandomHistory) -> float:
        """Draw player 0's payoff."""
        return self.scale * (2 * self._draw("payoff", history.path) - 1)

    def _mover(self, path: str) -> int:
        if len(path) == self.depth or (2 * len(path) > self.depth and self._draw("stop", path) < self.stop):
            return TERMINAL
        if self._draw("chance", path) < self.chance:
            return CHANCE
        return int(2 * self._draw("player", path))

    def _trace(self, player: int, mover: int, path: str) -> str:
        """Return what the last choice on ``path`` adds to the view of ``player``."""
        if player == mover:
            return "!" + path[-1]
        return "." + path[-1] if self._draw("visible", player, path) < self.visible else ""

    def _draw(self, *what: str | int) -> float:
        """Draw a number in [0, 1) that depends only on the seed and ``what``."""
        digest = blake2b(repr((self.seed, *what)).encode(), digest_size=8).digest()
        return (int.from_bytes(digest) >> 11) / 2**53
