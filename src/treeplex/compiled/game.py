"""A compiled game: everything a solver or an evaluator needs, in arrays."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

from treeplex.arrow import text_bytes, unpacked
from treeplex.compiled.history import HistoryTree
from treeplex.compiled.labels import Labels
from treeplex.compiled.payoffs import Payoffs
from treeplex.compiled.treeplex import Treeplex


@dataclass(frozen=True)
class CompiledGame:
    """A two-player zero-sum game of perfect recall, checked.

    Player 1 gets ``constant`` minus what player 0 gets: 0 in a zero-sum game. In a constant-sum game player 1's
    payoffs are shifted by ``-constant`` for solving, which changes no strategy and leaves player 0's payoffs alone.
    """

    name: str
    treeplexes: tuple[Treeplex, Treeplex]
    payoffs: Payoffs
    tree: HistoryTree
    labels: tuple[Labels, Labels]
    actions: tuple[str, ...]  # the vocabulary of action labels
    constant: float = 0.0
    known_value: float | None = None  # player 0's, from the literature

    @cached_property
    def infoset_index(self) -> tuple[dict[str, int], dict[str, int]]:
        """Each player's infosets by label."""
        first, second = ({label: i for i, label in enumerate(unpacked(names.infosets))} for names in self.labels)
        return first, second

    def actions_at(self, player: int, infoset: int) -> list[str]:
        """Labels of the actions at an infoset, in order."""
        first = self.treeplexes[player].first
        return [
            self.actions[code] for code in self.labels[player].actions[first[infoset] : first[infoset + 1]].tolist()
        ]

    def line(self, node: int) -> list[str]:
        """Labels of the actions that lead to a node of the tree."""
        line: list[str] = []
        while node > 0:
            line.append(self.actions[int(self.tree.action[node])])
            node = int(self.tree.parent[node])
        return line[::-1]

    @property
    def bytes(self) -> int:
        """Memory held by the arrays."""
        arrays = [*self.tree, *self.payoffs.rows, *self.payoffs.columns]
        arrays += [array for treeplex in self.treeplexes for array in treeplex]
        arrays += [names.actions for names in self.labels]
        return sum(array.nbytes for array in arrays) + sum(text_bytes(names.infosets) for names in self.labels)

    def summary(self) -> dict[str, object]:
        """Sizes, as ``treeplex info --json`` prints them."""
        return {
            "game": self.name,
            "nodes": self.tree.nodes,
            "terminals": self.tree.terminals,
            "infosets": [treeplex.infosets for treeplex in self.treeplexes],
            "sequences": [treeplex.sequences for treeplex in self.treeplexes],
            "entries": self.payoffs.entries,
            "bytes": self.bytes,
            "value": self.known_value,
            "constant": self.constant,
        }
