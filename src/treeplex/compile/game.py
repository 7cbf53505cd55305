"""The compiled game: everything that a solver or an evaluator needs, in arrays."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from dataclasses import dataclass, field, fields
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any, Generic, NamedTuple, TypeVar, cast

import numpy as np

from treeplex.arrow import frame, table, text_bytes, unpacked
from treeplex.compile.blocks import DealtOperator
from treeplex.compile.dealt_tree import DealtTree
from treeplex.compile.history import HistoryTree
from treeplex.compile.payoffs import Payoffs
from treeplex.compile.treeplex import Labels, Treeplex
from treeplex.html import html_table

if TYPE_CHECKING:
    from treeplex.compile.lifting import Lifting

Operator = Payoffs | DealtOperator

BLOCKS_FROM = 8  # hands; measured: with fewer, summing a sparse row is faster than applying a table


def operator_bytes(operator: Operator) -> int:
    """Memory of the arrays of a payoff operator."""
    return sum(array.nbytes for side in operator for array in side)


Thing = TypeVar("Thing")


class Prebuilt(NamedTuple, Generic[Thing]):
    """A value that exists already, in place of a function that builds it on demand."""

    thing: Thing

    def __call__(self) -> Thing:
        """Return the value itself."""
        return self.thing


@dataclass(frozen=True, eq=False)
class CompiledGame:
    """A compiled and checked two-player zero-sum game of perfect recall.

    Player 1 gets ``constant`` minus what player 0 gets: 0 in a zero-sum game. In a constant-sum game player 1's
    payoffs are shifted by ``-constant`` for solving, which changes no strategy and leaves player 0's payoffs alone.

    The history tree and the sparse payoff matrix are built on first use. A dealt game is solved through its ``blocks``
    and may be far too large for either.
    """

    name: str
    treeplexes: tuple[Treeplex, Treeplex]
    labels: tuple[Labels, Labels]
    actions: tuple[str, ...]  # the vocabulary of action labels
    nodes: int  # histories
    terminals: int  # of them, terminal
    largest_payoff: float  # in absolute value, as stored
    make_tree: Callable[[], HistoryTree] = field(repr=False)
    make_payoffs: Callable[[], Payoffs] = field(repr=False)
    blocks: DealtOperator | None = None
    dealt: DealtTree | None = field(default=None, repr=False)  # its public tree, if it was compiled from one
    lifting: Lifting | None = field(default=None, repr=False)  # mapping to the whole game, if hands are classes
    constant: float = 0.0
    unit: float = 1.0  # a power of two; payoffs are stored divided by it, see ``unit_of``
    known_value: float | None = None  # player 0's, from the literature
    source: str | None = None  # a name that loads the same game again

    @cached_property
    def tree(self) -> HistoryTree:
        """The history tree, for walks."""
        return self.make_tree()

    @cached_property
    def payoffs(self) -> Payoffs:
        """The payoff operator as a sparse matrix."""
        return self.make_payoffs()

    @cached_property
    def operator(self) -> Operator:
        """The payoff operator in its fastest form: blocks are faster from about eight hands on."""
        if self.blocks is not None and self.blocks.hands >= BLOCKS_FROM:
            return self.blocks
        return self.payoffs

    @cached_property
    def infoset_index(self) -> tuple[dict[str, int], dict[str, int]]:
        """Each player's infosets by label."""
        first, second = ({label: i for i, label in enumerate(unpacked(names.infosets))} for names in self.labels)
        return first, second

    @cached_property
    def fingerprint(self) -> str:
        """Short hash of structure and payoffs, which prevents resuming a run with another game."""
        digest = hashlib.blake2b(digest_size=16)
        for treeplex in self.treeplexes:
            for array in treeplex:
                digest.update(array.data)
        for array in self.operator.rows:
            digest.update(array.tobytes())
        if self.unit != 1.0:
            digest.update(str(self.unit).encode())
        return digest.hexdigest()

    def __getstate__(self) -> dict[str, Any]:
        """Return the fields for pickle, without cached properties."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    def __repr__(self) -> str:
        first, second = self.treeplexes
        return f"CompiledGame({self.name}: {self.nodes:,} nodes, {first.infosets:,} + {second.infosets:,} infosets)"

    def actions_at(self, player: int, infoset: int) -> list[str]:
        """Labels of the actions at an infoset, in order."""
        first = self.treeplexes[player].first
        codes: list[int] = self.labels[player].actions[first[infoset] : first[infoset + 1]].tolist()
        return [self.actions[code] for code in codes]

    @property
    def action_counts(self) -> list[int]:
        """Distinct numbers of actions of infosets, in increasing order."""
        return np.unique(np.concatenate([treeplex.actions for treeplex in self.treeplexes])).tolist()

    @property
    def bytes(self) -> int:
        """Bytes of memory that solving needs: treeplexes, labels and the payoff operator."""
        arrays = [array for treeplex in self.treeplexes for array in treeplex]
        arrays += [names.actions for names in self.labels]
        texts = sum(text_bytes(names.infosets) for names in self.labels)
        return sum(array.nbytes for array in arrays) + texts + operator_bytes(self.operator)

    def save(self, path: str | Path) -> None:
        """Write the game to a file that ``load`` reads: compiled (.safetensors), or Gambit's format (.efg).

        An existing file of that name is replaced atomically.
        """
        from treeplex.compile.storage import write_game  # noqa: PLC0415 - it imports this class

        write_game(self, Path(path))

    def to_pandas(self) -> Any:
        """Return a pandas data frame with a row (player, infoset, action) per action; needs the ``pandas`` extra."""
        labels = [unpacked(names.infosets) for names in self.labels]
        rows = [
            (player, labels[player][infoset], action)
            for player in (0, 1)
            for infoset in range(len(labels[player]))
            for action in self.actions_at(player, infoset)
        ]
        columns = list(zip(*rows, strict=True)) or [(), (), ()]
        return frame(table(dict(zip(("player", "infoset", "action"), columns, strict=True)), {}))

    def _repr_html_(self) -> str:
        shown = {key: value for key, value in self.summary().items() if key != "game" and value is not None}
        return html_table(repr(self), ("", ""), [(key, _shown(value)) for key, value in shown.items()])

    def summary(self) -> dict[str, object]:
        """Return the sizes that ``treeplex info --json`` prints."""
        return {
            "game": self.name,
            "nodes": self.nodes,
            "terminals": self.terminals,
            "infosets": [treeplex.infosets for treeplex in self.treeplexes],
            "sequences": [treeplex.sequences for treeplex in self.treeplexes],
            "entries": self.operator.entries,
            "bytes": self.bytes,
            "value": self.known_value,
            "constant": self.constant,
        }


def _shown(value: object) -> str:
    """Format a value of a summary: a number, or one per player."""
    if isinstance(value, list):
        return " + ".join(_shown(part) for part in cast(list[object], value))
    return f"{value:,}" if isinstance(value, int) else f"{value}"
