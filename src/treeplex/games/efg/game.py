"""The game an ``.efg`` file describes, as a rule book: a history is the position of a node in the file."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from fractions import Fraction
from functools import cached_property
from pathlib import Path
from typing import Final, NamedTuple

from treeplex.errors import GameError
from treeplex.games.efg.model import SUM_BITS, EfgFile, EfgNode, NodeKind
from treeplex.games.efg.reader import read
from treeplex.games.protocol import CHANCE, TERMINAL

_SPECIAL: Final = {NodeKind.CHANCE: CHANCE, NodeKind.TERMINAL: TERMINAL}


class _Infoset(NamedTuple):
    """An infoset as the rule book shows it: names that do not repeat, whatever the file says."""

    label: str
    actions: tuple[str, ...]
    position: dict[str, int]
    probabilities: tuple[float, ...]


def load(path: str | Path) -> EfgGame:
    """The game in the file at ``path``, called by the name of the file: many titles are "Untitled"."""
    return EfgGame(read(path), name=Path(path).stem)


class EfgGame:
    """The rules in a file of any number of players; whether they can be solved is for others to say.

    Infosets and actions go by the file's labels. Where one is empty or repeats, its number is added: infoset 3 of
    a player becomes ``label#3`` or ``3``, and the second action of the same name ``label#2``.
    """

    def __init__(self, file: EfgFile, name: str = "") -> None:
        self.file = file
        self.name: str = name or " ".join(file.title.split()) or "untitled game"
        self.players: int = len(file.players)
        self._children = _children(file.nodes)
        self._totals = self._summed()
        self._infosets = _infosets(file.nodes)

    def root(self) -> int:
        """The first node."""
        return 0

    def mover(self, history: int) -> int:
        """The player from 0, which is player 1 of the file; ``CHANCE`` or ``TERMINAL``."""
        node = self.file.nodes[history]
        return _SPECIAL.get(node.kind, node.player - 1)

    def actions(self, history: int) -> Sequence[str]:
        """The labels of the actions, made unique."""
        return self._infoset(history).actions

    def probabilities(self, history: int) -> Sequence[float]:
        """The probabilities of a chance node; rounded decimals are scaled so that they add up to 1."""
        return self._infoset(history).probabilities

    def child(self, history: int, action: str) -> int:
        """The node that ``action`` leads to."""
        return self._children[history][self._infoset(history).position[action]]

    def infoset(self, history: int) -> str:
        """The label of the mover's infoset, made unique among the player's."""
        return self._infoset(history).label

    def payoff(self, history: int) -> Sequence[float]:
        """What each player has got from the root to this node: the nearest floats to ``exact_payoff``."""
        return tuple(map(float, self._totals[history]))

    def exact_payoff(self, history: int) -> tuple[Fraction, ...]:
        """What each player has got from the root to this node, exactly: payoffs at inner nodes add up."""
        return self._totals[history]

    @cached_property
    def constant_sum(self) -> Fraction | None:
        """What the players share in every terminal, exactly; nothing if it differs. 0 is a zero-sum game."""
        nodes = enumerate(self.file.nodes)
        sums = {sum(self._totals[index], Fraction(0)) for index, node in nodes if node.kind is NodeKind.TERMINAL}
        return sums.pop() if len(sums) == 1 else None

    def _infoset(self, history: int) -> _Infoset:
        node = self.file.nodes[history]
        return self._infosets[node.player, node.infoset]

    def _summed(self) -> list[tuple[Fraction, ...]]:
        """For every node the sum of payoffs from the root to it."""
        nothing = (Fraction(0),) * self.players
        totals = [self.file.nodes[0].payoffs or nothing] * len(self.file.nodes)
        for parent, children in enumerate(self._children):
            for child in children:
                totals[child] = _plus(totals[parent], self.file.nodes[child].payoffs)
        return totals


def _plus(total: tuple[Fraction, ...], payoffs: tuple[Fraction, ...]) -> tuple[Fraction, ...]:
    if not payoffs:
        return total
    summed = tuple(old + new for old, new in zip(total, payoffs, strict=True))
    if any(value.denominator.bit_length() > SUM_BITS for value in summed):
        raise GameError("The payoffs along a path are fractions too intricate to add up exactly; round them.")
    return summed


def _children(nodes: Sequence[EfgNode]) -> list[tuple[int, ...]]:
    """The children of every node. Backwards through a depth-first list, they are the last subtrees completed."""
    children: list[tuple[int, ...]] = [()] * len(nodes)
    complete: list[int] = []
    for index in range(len(nodes) - 1, -1, -1):
        count = len(nodes[index].actions)
        if count > len(complete):
            raise GameError(f"Node {index} has {count} actions but only {len(complete)} subtrees follow it.")
        children[index] = tuple(complete.pop() for _ in range(count))
        complete.append(index)
    if len(complete) != 1:
        raise GameError(f"The nodes must form one tree, not {len(complete)}.")
    return children


def _infosets(nodes: Iterable[EfgNode]) -> dict[tuple[int, int], _Infoset]:
    """Every infoset by player and number, those of chance as player 0."""
    first: dict[tuple[int, int], EfgNode] = {}
    for node in nodes:
        if node.kind is not NodeKind.TERMINAL:
            known = first.setdefault((node.player, node.infoset), node)
            if (node.actions, node.probabilities) != (known.actions, known.probabilities):
                raise GameError(f"Infoset {node.infoset} of player {node.player} has different actions at its nodes.")
    labels = _infoset_labels({key: node.infoset_label for key, node in first.items()})
    return {key: _shown(node, labels[key]) for key, node in first.items()}


def _shown(node: EfgNode, label: str) -> _Infoset:
    actions = _action_labels(node.actions)
    total = sum(node.probabilities)
    probabilities = tuple(float(probability / total) for probability in node.probabilities)
    return _Infoset(label, actions, {action: position for position, action in enumerate(actions)}, probabilities)


def _infoset_labels(given: dict[tuple[int, int], str]) -> dict[tuple[int, int], str]:
    """A label for every infoset that no other of the player has."""
    uses = Counter((player, label) for (player, _), label in given.items())
    taken = {use for use in uses if use[1]}
    shown: dict[tuple[int, int], str] = {}
    for (player, number), label in given.items():
        unique = label
        if not label or uses[player, label] > 1:
            unique = f"{label}#{number}" if label else f"{number}"
            while (player, unique) in taken:
                unique += f"#{number}"
            taken.add((player, unique))
        shown[player, number] = unique
    return shown


def _action_labels(given: tuple[str, ...]) -> tuple[str, ...]:
    """A label for every action that no other of the infoset has; the first of several equals keeps its own."""
    taken = set(given)
    uses: Counter[str] = Counter()
    shown: list[str] = []
    for label in given:
        uses[label] += 1
        unique = label
        if not label or uses[label] > 1:
            while (unique := f"{label}#{uses[label]}") in taken:
                uses[label] += 1
            taken.add(unique)
        shown.append(unique)
    return tuple(shown)
