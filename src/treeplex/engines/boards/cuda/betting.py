"""A street's betting as tables for GPU kernels: see ``cuda.arrays``."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from treeplex.arrays import Ints
from treeplex.engines.boards.cuda.arrays import Betting
from treeplex.engines.boards.streets import Decision, End, Street, Way, amounts
from treeplex.games.holdem.classes import EVERY_BOARD
from treeplex.games.holdem.spot import Spot


class Run(NamedTuple):
    """Street roots of a tile."""

    begin: int
    stop: int
    texture: int  # of the boards on which they are open; negative: of all


class Parts(NamedTuple):
    """What lies below each street root."""

    decisions: list[list[Decision]]
    terminals: list[list[End]]
    chance_nodes: list[list[tuple[int, Way]]]  # with their numbers


def parts_of(street: Street) -> Parts:
    """By street root."""
    found = Parts(*([[] for _ in range(street.roots)] for _ in range(3)))
    for decision in street.decisions:
        found.decisions[decision.root].append(decision)
    for end in street.terminals:
        found.terminals[end.root].append(end)
    for number, way in enumerate(street.chance_nodes):
        found.chance_nodes[way.root].append((number, way))
    return found


def runs_of(street: Street, most_rows: int) -> list[Run]:
    """Street roots in tiles of one texture and up to ``most_rows`` rows, or of one root."""
    parts = parts_of(street)
    runs: list[Run] = []
    rows = 0
    for root, texture in enumerate(street.textures):
        size = rows_below(parts, root)
        wanted = max(texture, EVERY_BOARD)
        if runs and runs[-1].texture == wanted and rows + size <= most_rows:
            runs[-1] = runs[-1]._replace(stop=root + 1)
            rows += size
        else:
            runs.append(Run(root, root + 1, wanted))
            rows = size
    return runs


def rows_below(parts: Parts, root: int) -> int:
    """About how many rows a street root needs, whoever learns."""
    slots = [sum(len(d.node.actions) for d in parts.decisions[root] if d.player == player) for player in (0, 1)]
    own = [sum(d.player == player for d in parts.decisions[root]) for player in (0, 1)]
    return 1 + max(slots[0] + 2 * own[1], slots[1] + 2 * own[0]) + len(parts.chance_nodes[root])


def betting_tables(
    spot: Spot, street: Street, runs: Sequence[Run], learner: int, entry: Sequence[int], work: Any
) -> tuple[Betting, Ints]:
    """Tables of a street, and [2, X] rows of a board: those that lead to the next street's roots, and their values."""
    opponent, parts = 1 - learner, parts_of(street)
    tile: list[list[int]] = []
    nodes: tuple[list[Sequence[int]], list[Sequence[int]]] = ([], [])
    group: list[tuple[int, int, int, int]] = []
    items: list[list[tuple[int, float]]] = [[] for _ in range(street.roots + street.slots(learner))]
    chance = np.zeros((2, len(street.chance_nodes)), np.int32)
    base, first_row = [0, 0], 0
    for run in runs:
        roots = range(run.begin, run.stop)
        count = len(roots)
        decisions = [decision for root in roots for decision in parts.decisions[root]]
        slots = [sum(len(d.node.actions) for d in decisions if d.player == player) for player in (0, 1)]
        row = _Rows(run.begin, count, base[0], base[1])
        reach = count + slots[opponent]
        opened = [len(nodes[opponent]), 0, len(nodes[learner]), 0, len(group), 0]
        ends = [end for root in roots for end in parts.terminals[root]]
        rows = reach
        for place, below in _by_row(row, opponent, ends).items():
            chips = [amounts(spot, end.node, learner) for end in below]
            shows, folds = (any(amount[kind] for amount in chips) for kind in (0, 1))
            extra = rows if shows and folds else -1
            rows += extra >= 0
            if shows or folds:
                group.append((place, int(shows), int(folds), extra))
            for end, (by_strength, by_hands) in zip(below, chips, strict=True):
                to = items[row.item(learner, end, street.roots)]
                to += [(place, by_strength)] if by_strength else []
                to += [(extra if shows else place, by_hands)] if by_hands else []
        for decision in decisions:
            size, player = len(decision.node.actions), decision.player
            above = row.of(opponent, decision)
            nodes[player].append((above, decision.slot, size, decision.number))
            if player == learner:
                items[row.item(learner, decision, street.roots)].append((rows, 1.0))
                rows += 1
        chances = sum(len(parts.chance_nodes[root]) for root in roots)
        for root in roots:
            for number, way in parts.chance_nodes[root]:
                chance[:, number] = first_row + row.of(opponent, way), first_row + rows
                items[row.item(learner, way, street.roots)].append((rows, 1.0))
                rows += 1
        opened[1], opened[3], opened[5] = len(nodes[opponent]), len(nodes[learner]), len(group)
        tile.append([run.begin, count, *opened, base[opponent], base[learner], reach, rows, first_row, chances])
        base = [base[0] + slots[0], base[1] + slots[1]]
        first_row += rows
    flat = [item for each in items for item in each]
    return Betting(
        _table(tile, 14),
        _table(nodes[opponent], 4),
        _table(nodes[learner], 4),
        _table(group, 4),
        np.cumsum([0, *(len(each) for each in items)], dtype=np.int32),
        np.array([place for place, _ in flat], dtype=np.int32),
        np.array([chips for _, chips in flat], dtype=work),
        np.array(entry, dtype=np.int32),
    ), chance


class _Rows(NamedTuple):
    """How the sequences of a tile are numbered."""

    begin: int
    roots: int
    first: int  # player 0's first slot
    second: int

    def of(self, player: int, place: Decision | End | Way) -> int:
        """The row of ``player``'s last sequence before ``place``."""
        slot = place.sequences[player]
        return place.root - self.begin if slot < 0 else self.roots + slot - (self.second if player else self.first)

    def item(self, player: int, place: Decision | End | Way, roots: int) -> int:
        """The same among all street roots and slots."""
        slot = place.sequences[player]
        return place.root if slot < 0 else roots + slot


def _by_row(row: _Rows, opponent: int, ends: list[End]) -> dict[int, list[End]]:
    """Terminals that share a reach row."""
    found: dict[int, list[End]] = {}
    for end in ends:
        found.setdefault(row.of(opponent, end), []).append(end)
    return found


def _table(rows: Sequence[Sequence[int]], columns: int) -> Ints:
    return np.array(rows, dtype=np.int32).reshape(-1, columns)
