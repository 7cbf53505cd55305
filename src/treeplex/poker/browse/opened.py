"""A solved spot opened for browsing: four passes over its tree compute the values for all views."""

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
"""Called with the number of passes done and the number needed."""

PASSES: Final = tuple((player, best) for best in (False, True) for player in (0, 1))  # own strategy, then best response
REMEMBERED: Final = 64  # chance nodes whose runouts stay cached


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
        """Memory that strategies and values take, in bytes."""
        return self.node_values.bytes

    def node(self, line: str = "", player: str | None = None) -> Node:
        """Return the node that a line leads to: strategies, EVs and equities of one player's hands, and the path."""
        return nodes.node(self.reader, line, player, self.runouts)

    def exploit(self, line: str = "", player: str | None = None) -> Node:
        """Return a node with the best response from there on and its gain; the opponent's strategy stays fixed."""
        return nodes.exploit(self.reader, line, player)

    def runouts(self, line: str = "") -> dict[str, Any]:
        """Return both players' EV and equity, and the first player's strategy, after every card that may come."""
        where = chance.chance_line(self.reader.game, line)
        with self._dealing:
            if where not in self._runouts:
                self._runouts[where] = chance.runouts(self.reader, where)
                if len(self._runouts) > REMEMBERED:
                    self._runouts.pop(next(iter(self._runouts)))
            return self._runouts[where]

    def compare(self, other: OpenedSpot, line: str = "", player: str | None = None) -> dict[str, Any]:
        """Compare a node of this run with the same node of another, hand by hand, by EV and regret."""
        return compare.compared(self.reader, other.reader, line, player)

    def question(self, player: str = "oop", seed: int = 0, number: int = 0) -> dict[str, Any]:
        """Deal a hand and play it up to the first decision of ``player``."""
        return trainer.question(self.reader, player, seed, number)

    def mark(self, question: dict[str, Any], action: int) -> dict[str, Any]:
        """Grade an action at a question's decision; return its EV and the next question."""
        return trainer.mark(self.reader, question, action)


def open_spot(folder: str | Path, threads: int = 0, watch: Watch | None = None) -> OpenedSpot:
    """Open the run in a folder for browsing.

    >>> import treeplex as tp, tempfile
    >>> spot = tp.holdem.Spot("Ks 9h 6d 3c Jh", 100, 100, "AA,KQs", "QQ,AKs", tp.holdem.sizes_for("a", ""))
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = tp.holdem.solve(spot, percent_of_pot=0.1, out=f"{folder}/run")
    ...     opened = open_spot(f"{folder}/run")
    >>> opened.node("x")["to_act"]
    'ip'
    """
    return OpenedSpot(open_run(folder, threads), watch)
