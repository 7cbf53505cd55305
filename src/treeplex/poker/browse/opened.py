"""A solved spot opened for browsing: after four passes over its tree, every view is looked up."""

from __future__ import annotations

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from treeplex.poker.browse import chance, compare, nodes, trainer
from treeplex.poker.solving import open_run
from treeplex.poker.views.node import Node
from treeplex.poker.views.reader import Reader

Watch = Callable[[int, int], None]
"""Called with the passes done and those needed."""

PASSES: Final = tuple((player, best) for best in (False, True) for player in (0, 1))  # own strategy, then best reply
REMEMBERED: Final = 64  # chance nodes whose cards are kept


class OpenedSpot:
    """Views of a solved spot, all of them dictionaries for JSON. Threads may share one."""

    def __init__(self, reader: Reader, watch: Watch | None = None) -> None:
        self.reader, self.node_values = reader, reader.keep()
        for done, (player, best) in enumerate(PASSES):
            if watch is not None:
                watch(done, len(PASSES))
            if self.node_values.has_room(player, best=best):
                self.node_values.values(player, best=best)
        if watch is not None:
            watch(len(PASSES), len(PASSES))
        self._runouts: dict[str, dict[str, Any]] = {}
        self._dealing = threading.Lock()

    def __repr__(self) -> str:
        return f"OpenedSpot({self.reader.game!r})"

    @property
    def bytes(self) -> int:
        """Memory that strategies and values take."""
        return self.node_values.bytes

    def node(self, line: str = "", player: str | None = None) -> Node:
        """The node that a line leads to: strategies, EVs and equities of one player's hands, and the way there."""
        return nodes.node(self.reader, line, player, self.runouts)

    def exploit(self, line: str = "", player: str | None = None) -> Node:
        """The same, and what a best response from there on does and gains; the opponent's strategy stays as it is."""
        return nodes.exploit(self.reader, line, player)

    def runouts(self, line: str = "") -> dict[str, Any]:
        """For every card that may come: EV and equity of both players, and how often the first of them does what."""
        where = chance.chance_line(self.reader.game, line)
        with self._dealing:
            if where not in self._runouts:
                self._runouts[where] = chance.runouts(self.reader, where)
                if len(self._runouts) > REMEMBERED:
                    self._runouts.pop(next(iter(self._runouts)))
            return self._runouts[where]

    def compare(self, other: OpenedSpot, line: str = "", player: str | None = None) -> dict[str, Any]:
        """A node of this run beside the same node of another, hand by hand: by EV and regret."""
        return compare.compared(self.reader, other.reader, line, player)

    def question(self, player: str = "oop", seed: int = 0, number: int = 0) -> dict[str, Any]:
        """A hand dealt and played up to the first decision of ``player``."""
        return trainer.question(self.reader, player, seed, number)

    def mark(self, question: dict[str, Any], action: int) -> dict[str, Any]:
        """What an action at a question's decision is worth, and the next question."""
        return trainer.mark(self.reader, question, action)


def open_spot(folder: str | Path, threads: int = 0, watch: Watch | None = None) -> OpenedSpot:
    """Open the run in a folder.

    >>> import treeplex as tp, tempfile
    >>> spot = tp.holdem.Spot("Ks 9h 6d 3c Jh", 100, 100, "AA,KQs", "QQ,AKs", tp.holdem.sizes_for("a", ""))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = tp.holdem.solve(spot, percent_of_pot=0.1, out=f"{folder}/run")
    ...     opened = open_spot(f"{folder}/run")
    >>> opened.node("x")["to_act"]
    'ip'
    """
    return OpenedSpot(open_run(folder, threads), watch)
