"""The betting tree as arrays, street by street: what a pass over one board of that street walks along.

For the player who learns in a pass and its rival, rows of numbers, one a hand, stand for sequences: one row for every
entry (a way into the street), then one for every action. Reach rows belong to the rival's actions, value rows to the
learner's. Decisions of the rival matter on the way down, those of the learner on the way up, terminals in between.
That is the sequence form of ``compiled.treeplex`` with a vector of hands in place of every number.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final, NamedTuple

import numpy as np

from treeplex.arrays import Ints
from treeplex.engines.boards.arrays import LANES, Betting
from treeplex.games.holdem.betting import CHANCE, DECISION, FOLD, SHOWDOWN, Node
from treeplex.games.holdem.spot import STREETS, Spot

BUNCH: Final = 4 * LANES  # reach rows from which a bunch of entries fills its lanes well


class Decision(NamedTuple):
    """A decision on a street, in preorder."""

    node: Node
    entry: int
    player: int
    number: int  # among the player's decisions on this street
    slot: int  # its first action, among the player's actions on this street
    sequences: tuple[int, int]  # both players' last slots on this street before it; -1: none


class Leaf(NamedTuple):
    """The end of a line, or of a street."""

    node: Node
    entry: int
    sequences: tuple[int, int]


class Street(NamedTuple):
    """One street's part of the betting tree, whatever the cards are."""

    name: str
    entries: int
    decisions: list[Decision]
    terminals: list[Leaf]
    exits: list[Leaf]  # chance nodes: the entries of the next street, in this order

    def slots(self, player: int) -> int:
        """Actions of ``player`` on this street."""
        return sum(len(decision.node.actions) for decision in self.decisions if decision.player == player)

    def count(self, player: int) -> int:
        """Decisions of ``player`` on this street."""
        return sum(decision.player == player for decision in self.decisions)


def split_streets(root: Node) -> list[Street]:
    """The betting tree cut into streets."""
    streets: list[Street] = []
    entries = [root]
    while entries:
        street = _street(entries)
        streets.append(street)
        entries = [leaf.node.children[0] for leaf in street.exits]
    return streets


def _street(entries: list[Node]) -> Street:
    decisions: list[Decision] = []
    terminals: list[Leaf] = []
    exits: list[Leaf] = []
    slots, counts = [0, 0], [0, 0]
    for entry, root in enumerate(entries):
        waiting: list[tuple[Node, tuple[int, int]]] = [(root, (-1, -1))]
        while waiting:
            node, sequences = waiting.pop()
            if node.kind == CHANCE:
                exits.append(Leaf(node, entry, sequences))
            elif node.kind != DECISION:
                terminals.append(Leaf(node, entry, sequences))
            else:
                player = node.player
                slot = slots[player]
                decisions.append(Decision(node, entry, player, counts[player], slot, sequences))
                slots[player] += len(node.actions)
                counts[player] += 1
                for action in range(len(node.actions) - 1, -1, -1):
                    after = (slot + action, sequences[1]) if player == 0 else (sequences[0], slot + action)
                    waiting.append((node.children[action], after))
    return Street(STREETS[entries[0].street], len(entries), decisions, terminals, exits)


class _Bunch(NamedTuple):
    """A run of entries and the rows of their sequences, numbered from 0."""

    begin: int
    stop: int
    base: tuple[int, int]  # both players' first slots

    def row(self, player: int, place: Decision | Leaf) -> int:
        """The row of ``player``'s last sequence before ``place``."""
        slot = place.sequences[player]
        return place.entry - self.begin if slot < 0 else self.stop - self.begin + slot - self.base[player]

    def holds(self, place: Decision | Leaf) -> bool:
        """Is it below one of these entries?"""
        return self.begin <= place.entry < self.stop


def betting_arrays(spot: Spot, street: Street, learner: int) -> Betting:
    """What a pass that updates ``learner`` walks along."""
    rival = 1 - learner
    bunch: list[Sequence[int]] = []
    reply: list[Sequence[int]] = []
    choice: list[Sequence[int]] = []
    lane: list[Sequence[int]] = []
    leaf: list[int] = []
    amount: list[tuple[float, float]] = []
    bunches = _bunches(street)
    for part in bunches:
        bunch.append((part.begin, part.base[learner], part.base[rival], len(reply), len(choice), len(lane)))
        for place in filter(part.holds, street.decisions):
            above, actions = part.row(place.player, place), len(place.node.actions)
            if place.player == rival:
                reply.append((above, place.slot, actions, place.number))
            else:
                choice.append((above, place.slot, actions, place.number, part.row(rival, place)))
        for row, ends in _by_row(part, rival, [end for end in street.terminals if part.holds(end)]):
            shows = any(end.node.kind == SHOWDOWN for end in ends)
            lane.append((row, len(leaf), len(leaf) + len(ends), int(shows)))
            leaf.extend(part.row(learner, end) for end in ends)
            amount.extend(_amounts(spot, end.node, learner) for end in ends)
    counts = (len(reply), len(choice), len(lane))
    bunch.append((street.entries, street.slots(learner), street.slots(rival), *counts))
    exits = [(bunches[0].row(rival, end), bunches[0].row(learner, end)) for end in street.exits]
    return Betting(
        _table(bunch, 6),
        _table(reply, 4),
        _table(choice, 5),
        _table(lane, 4),
        np.array(leaf, dtype=np.int32),
        np.array(amount, dtype=np.float64).reshape(-1, 2),
        _table(exits, 2),
    )


def _bunches(street: Street) -> list[_Bunch]:
    """One bunch where values have to wait for the next street; else as many as fill their lanes."""
    rows = [1] * street.entries
    for place in street.decisions:
        rows[place.entry] += len(place.node.actions)
    bunches: list[_Bunch] = []
    begin, size = 0, 0
    base = (0, 0)
    for entry in range(street.entries):
        size += rows[entry]
        if entry + 1 == street.entries or (size >= 2 * BUNCH and not street.exits):
            bunches.append(_Bunch(begin, entry + 1, base))
            inside = [place for place in street.decisions if begin <= place.entry <= entry]
            used = [sum(len(p.node.actions) for p in inside if p.player == player) for player in (0, 1)]
            base = (base[0] + used[0], base[1] + used[1])
            begin, size = entry + 1, 0
    return bunches


def _by_row(part: _Bunch, rival: int, ends: list[Leaf]) -> list[tuple[int, list[Leaf]]]:
    """Terminals that share a reach row, those with a showdown first."""
    rows: dict[int, list[Leaf]] = {}
    for end in ends:
        rows.setdefault(part.row(rival, end), []).append(end)
    return sorted(rows.items(), key=lambda item: all(end.node.kind == FOLD for end in item[1]))


def _amounts(spot: Spot, node: Node, learner: int) -> tuple[float, float]:
    """Chips beside half the pot, times (weaker - stronger hands) and times all hands.

    At a showdown the winner gets half - rake, the loser -half, and both -rake / 2 if they tie, where half is half
    the pot: (half - rake / 2) (weaker - stronger) - rake / 2 (weaker + stronger + equal) says all three.
    """
    half = spot.pot / 2 + node.paid
    rake = spot.rake(2 * half)
    if node.kind == SHOWDOWN:
        return half - rake / 2, -rake / 2
    return (0.0, -half) if node.player == learner else (0.0, half - rake)


def _table(rows: Sequence[Sequence[int]], columns: int) -> Ints:
    return np.array(rows, dtype=np.int32).reshape(-1, columns)
