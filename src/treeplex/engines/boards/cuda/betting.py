"""A street's betting as tables for GPU kernels: see ``cuda.arrays``."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Final, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Ints
from treeplex.engines.boards.cuda.arrays import FOLDS, ITEM, MORE, NO_ROW, OWN_ACTIONS, SHOWS, DeviceBetting, Words
from treeplex.engines.boards.streets import ChanceBranch, Decision, End, Street, amounts, by_row
from treeplex.games.holdem.classes import EVERY_BOARD
from treeplex.games.holdem.spot import Spot

StreetNode = TypeVar("StreetNode", Decision, End, ChanceBranch)

FEW: Final = 2  # items of an action that are read together


def by_root(street: Street, nodes: Sequence[StreetNode]) -> list[list[tuple[int, StreetNode]]]:
    """Return the nodes below each street root, with their numbers on the street."""
    below: list[list[tuple[int, StreetNode]]] = [[] for _ in range(street.roots)]
    for number, record in enumerate(nodes):
        below[record.root].append((number, record))
    return below


class BettingTables(NamedTuple):
    """A street's betting when one player learns."""

    betting: DeviceBetting
    rows: int  # rows per board
    chance: Ints  # [2, X] rows above the next street's roots, and rows of their values


def betting_tables(spot: Spot, street: Street, learner: int, entry: Ints, work: npt.DTypeLike) -> BettingTables:
    """Build the tables of a street; ``entry``: the rows above its street roots."""
    opponent, decisions_by_root = 1 - learner, by_root(street, street.decisions)
    terminals_by_root, branches_by_root = by_root(street, street.terminals), by_root(street, street.chance_nodes)
    table: list[Sequence[int]] = []
    nodes: tuple[list[list[int]], list[list[int]]] = ([], [])
    group: list[Sequence[int]] = []
    items: list[list[tuple[int, float]]] = [[] for _ in range(street.roots + street.slots(learner))]
    chance = np.zeros((2, len(street.chance_nodes)), np.int32)
    base, first_row = [0, 0], 0
    for root in range(street.roots):
        decisions = [decision for _, decision in decisions_by_root[root]]
        slots = [sum(len(d.node.actions) for d in decisions if d.player == player) for player in (0, 1)]
        row = _Rows(street.roots, base[0], base[1])
        opened = len(nodes[opponent]), len(nodes[learner])
        rows = 1 + slots[opponent]
        for reach_row, below in by_row([end for _, end in terminals_by_root[root]], partial(row.of, opponent)).items():
            chips = [amounts(spot, end.node, learner) for end in below]
            shows, folds = (any(amount[kind] for amount in chips) for kind in (0, 1))
            extra = rows if shows and folds else -1
            rows += extra >= 0
            if shows or folds:
                group.append((reach_row, SHOWS * shows + FOLDS * folds, max(extra, reach_row), first_row))
            for end, (by_strength, by_hands) in zip(below, chips, strict=True):
                to = items[row.item(learner, end)]
                to += [(reach_row, by_strength)] if by_strength else []
                to += [(extra if shows else reach_row, by_hands)] if by_hands else []
        for decision in decisions:
            size, player, above = len(decision.node.actions), decision.player, row.of(opponent, decision)
            slot = decision.slot - base[player]
            if player == opponent:
                nodes[player].append([above, 1 + slot, size, slot, decision.number])
            else:
                item = street.roots + decision.slot
                nodes[player].append([above, rows, size, slot, decision.number, item, first_row + above, 0])
                items[row.item(learner, decision)].append((rows, 1.0))
                rows += 1
        for number, branch in branches_by_root[root]:
            chance[:, number] = first_row + row.of(opponent, branch), first_row + rows
            items[row.item(learner, branch)].append((rows, 1.0))
            rows += 1
        theirs = opened[0], len(nodes[opponent]), base[opponent], slots[opponent]
        own = opened[1], len(nodes[learner]), base[learner], slots[learner]
        table.append((int(entry[root]), first_row, 1 + max(street.textures[root], EVERY_BOARD), *theirs, *own))
        base = [base[0] + slots[0], base[1] + slots[1]]
        first_row += rows
    for own in nodes[learner]:
        own[MORE] = any(len(items[own[ITEM] + action]) > FEW for action in range(own[OWN_ACTIONS]))
    flat = [pair for each in items for pair in each]
    first_two = [(*each[:FEW], *[(NO_ROW, 0.0)] * (FEW - len(each))) for each in items]
    betting = DeviceBetting(
        _words(table),
        _words(nodes[opponent]),
        _words(nodes[learner]),
        _words(group),
        np.cumsum([0, *(len(each) for each in items)]).astype(np.uint32),
        np.array([reach_row for reach_row, _ in flat], dtype=np.uint32),
        np.array([chips for _, chips in flat], dtype=work),
        _words([[reach_row for reach_row, _ in each] for each in first_two]),
        np.array([chips for each in first_two for _, chips in each], dtype=work),
    )
    return BettingTables(betting, first_row, chance)


class _Rows(NamedTuple):
    """Numbering of the sequences below a street root."""

    roots: int  # roots of the street
    first: int  # player 0's first slot
    second: int  # player 1's first slot

    def of(self, player: int, record: Decision | End | ChanceBranch) -> int:
        """Return the row of ``player``'s last sequence before ``record``."""
        slot = record.sequences[player]
        return 0 if slot < 0 else 1 + slot - (self.second if player else self.first)

    def item(self, player: int, record: Decision | End | ChanceBranch) -> int:
        """Return the index of ``player``'s last sequence before ``record`` among all street roots and slots."""
        slot = record.sequences[player]
        return record.root if slot < 0 else self.roots + slot


def _words(records: Sequence[Sequence[int]]) -> Words:
    return np.array([word for record in records for word in record], dtype=np.uint32)
