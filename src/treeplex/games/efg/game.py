"""Rules of the game in an ``.efg`` file; a history is the index of a node in the file."""

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
    """An infoset with unique labels, also if the file repeats labels."""

    label: str
    actions: tuple[str, ...]
    position: dict[str, int]
    probabilities: tuple[float, ...]


def load(path: str | Path) -> EfgGame:
    """Load the game in the file at ``path``, named after the file, because many titles are "Untitled"."""
    return EfgGame(read(path), name=Path(path).stem)


class EfgGame:
    """Rules in a file, for any number of players. The compiler checks whether the game can be solved.

    Infosets and actions have the file's labels. If a label is empty or repeats, its number is added: infoset 3 of a
    player becomes ``label#3`` or ``3``, and the second action of the same name ``label#2``.
    """

    def __init__(self, file: EfgFile, name: str = "") -> None:
        self.file = file
        self.name: str = name or " ".join(file.title.split()) or "untitled game"
        self.players: int = len(file.players)
        self._children = _children(file.nodes)
        self._totals = self._summed()
        self._infosets = _infosets(file.nodes)

    def root(self) -> int:
        """Return the root node, 0."""
        return 0

    def mover(self, history: int) -> int:
        """Return the player, counted from 0 instead of 1, or ``CHANCE`` or ``TERMINAL``."""
        node = self.file.nodes[history]
        return _SPECIAL.get(node.kind, node.player - 1)

    def actions(self, history: int) -> Sequence[str]:
        """Return the labels of the actions, made unique."""
        return self._infoset(history).actions

    def probabilities(self, history: int) -> Sequence[float]:
        """Return the probabilities of a chance node; rounded decimals are scaled so that they add up to 1."""
        return self._infoset(history).probabilities

    def child(self, history: int, action: str) -> int:
        """Return the node that ``action`` leads to."""
        return self._children[history][self._infoset(history).position[action]]

    def infoset(self, history: int) -> str:
        """Return the label of the mover's infoset, made unique among the player's infosets."""
        return self._infoset(history).label

    def payoff(self, history: int) -> Sequence[float]:
        """Return the floats nearest to ``exact_payoff``."""
        return tuple(map(float, self._totals[history]))

    def exact_payoff(self, history: int) -> tuple[Fraction, ...]:
        """Return each player's exact sum of payoffs from the root to this node."""
        return self._totals[history]

    @cached_property
    def constant_sum(self) -> Fraction | None:
        """Exact sum of the payoffs at every terminal, 0 in a zero-sum game; None if it is not constant."""
        nodes = enumerate(self.file.nodes)
        sums = {sum(self._totals[index], Fraction(0)) for index, node in nodes if node.kind is NodeKind.TERMINAL}
        return sums.pop() if len(sums) == 1 else None

    def _infoset(self, history: int) -> _Infoset:
        node = self.file.nodes[history]
        return self._infosets[node.player, node.infoset]

    def _summed(self) -> list[tuple[Fraction, ...]]:
        """Sums of payoffs from the root to every node."""
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
    """Return the children of every node: going backwards in depth-first order, the last subtrees completed."""
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
    """Return every infoset by player and number; those of chance have player 0."""
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


def _infoset_labels(labels: dict[tuple[int, int], str]) -> dict[tuple[int, int], str]:
    """Return a label for every infoset that is unique among the player's infosets."""
    uses = Counter((player, label) for (player, _), label in labels.items())
    used = {use for use in uses if use[1]}
    shown: dict[tuple[int, int], str] = {}
    for (player, number), label in labels.items():
        unique = label
        if not label or uses[player, label] > 1:
            unique = f"{label}#{number}" if label else f"{number}"
            while (player, unique) in used:
                unique += f"#{number}"
            used.add((player, unique))
        shown[player, number] = unique
    return shown


def _action_labels(labels: tuple[str, ...]) -> tuple[str, ...]:
    """Return unique labels of an infoset's actions; the first of several equal ones is not changed."""
    used = set(labels)
    uses: Counter[str] = Counter()
    shown: list[str] = []
    for label in labels:
        uses[label] += 1
        unique = label
        if not label or uses[label] > 1:
            while (unique := f"{label}#{uses[label]}") in used:
                uses[label] += 1
            used.add(unique)
        shown.append(unique)
    return tuple(shown)
