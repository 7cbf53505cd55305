"""The betting tree as arrays, street by street, in the order in which a pass over one board visits it.

For the player who learns in a pass and its opponent, rows with one number per hand stand for sequences. There is one
row for every street root (a path into the street), then one for every action. Reach rows belong to the opponent's
actions, value rows to the learner's. A pass visits decisions of the opponent on its way down, then terminals, then
decisions of the learner on its way up. This is the sequence form of ``compile.treeplex`` with a row of hands in place
of every number.

If a spot distinguishes classes of cards, a chance node has one street root per class. A root is open on the boards of
its *texture*, a number for the classes of all cards dealt (``games.holdem.classes``). On other boards it is never
reached, and nothing is stored. Roots are in the order of their textures, so all that is open on a board is contiguous.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import groupby
from typing import Final, NamedTuple

import numpy as np

from treeplex.arrays import Ints
from treeplex.engines.boards.arrays import BOARDS, BY_HANDS, BY_STRENGTH, FOLDS, NUMBER, REACHED, TEXTURE, Betting
from treeplex.games.holdem.betting import CHANCE, DECISION, FOLD, NOTHING, SHOWDOWN, BettingNode
from treeplex.games.holdem.classes import CLASSES, EVERY_BOARD, whatever_after
from treeplex.games.holdem.spot import STREETS, Spot
from treeplex.kernels.vectors import LANES

TILE: Final = 8 * LANES  # rows from which a tile of street roots fills its vectors well


class Decision(NamedTuple):
    """A decision on a street, in preorder."""

    node: BettingNode
    root: int
    player: int
    number: int  # index among the player's decisions on this street
    slot: int  # index of its first action among the player's actions on this street
    sequences: tuple[int, int]  # both players' last slots on this street before it; -1: none
    texture: int = EVERY_BOARD  # texture of its boards


class End(NamedTuple):
    """A terminal of a street."""

    node: BettingNode
    root: int
    sequences: tuple[int, int]


class ChanceBranch(NamedTuple):
    """A chance node and one root of the next street that follows it."""

    node: BettingNode
    root: int
    sequences: tuple[int, int]
    after: BettingNode
    texture: int  # texture of the boards on which the root is open


class Span(NamedTuple):
    """One player's part of a street that is open on a board: a run of actions and a run of decisions."""

    slot: int = 0
    slots: int = 0
    number: int = 0
    numbers: int = 0


class Street(NamedTuple):
    """One street's part of the betting tree, independent of the cards."""

    name: str
    textures: list[int]  # textures of its roots, in ascending order
    decisions: list[Decision]
    terminals: list[End]
    chance_nodes: list[ChanceBranch]  # above the roots of the next street, in this order

    @property
    def roots(self) -> int:
        """Number of street roots, one per path into the street."""
        return len(self.textures)

    def slots(self, player: int) -> int:
        """Number of actions of ``player`` on this street."""
        return sum(len(decision.node.actions) for decision in self.decisions if decision.player == player)

    def count(self, player: int) -> int:
        """Number of decisions of ``player`` on this street."""
        return sum(decision.player == player for decision in self.decisions)

    def spans(self, player: int) -> dict[int, Span]:
        """Return the span of ``player`` that is open on boards of each texture."""
        by_texture: dict[int, Span] = {}
        own = [decision for decision in self.decisions if decision.player == player]
        for texture, each in groupby(own, lambda decision: decision.texture):
            inside = list(each)
            slots = sum(len(decision.node.actions) for decision in inside)
            by_texture[texture] = Span(inside[0].slot, slots, inside[0].number, len(inside))
        return by_texture


def split_streets(root: BettingNode) -> list[Street]:
    """Cut the betting tree into streets."""
    streets: list[Street] = []
    roots, textures = [root], [EVERY_BOARD]
    while roots:
        street = _street(roots, textures)
        streets.append(street)
        roots, textures = (
            [branch.after for branch in street.chance_nodes],
            [branch.texture for branch in street.chance_nodes],
        )
    return streets


def _street(roots: list[BettingNode], textures: list[int]) -> Street:
    decisions: list[Decision] = []
    terminals: list[End] = []
    chance_nodes: list[ChanceBranch] = []
    slots, counts = [0, 0], [0, 0]
    for root, (first, texture) in enumerate(zip(roots, textures, strict=True)):
        waiting: list[tuple[BettingNode, tuple[int, int]]] = [(first, (-1, -1))]
        while waiting:
            node, sequences = waiting.pop()
            if node.kind == CHANCE:
                chance_nodes += [ChanceBranch(node, root, sequences, *after) for after in _after_chance(node, texture)]
            elif node.kind != DECISION:
                terminals.append(End(node, root, sequences))
            else:
                player = node.player
                slot = slots[player]
                decisions.append(Decision(node, root, player, counts[player], slot, sequences, texture))
                slots[player] += len(node.actions)
                counts[player] += 1
                for action in range(len(node.actions) - 1, -1, -1):
                    after = (slot + action, sequences[1]) if player == 0 else (sequences[0], slot + action)
                    waiting.append((node.children[action], after))
    chance_nodes.sort(key=lambda branch: branch.texture)
    return Street(STREETS[roots[0].street], textures, decisions, terminals, chance_nodes)


def _after_chance(node: BettingNode, texture: int) -> list[tuple[BettingNode, int]]:
    """Return the nodes that follow a chance node, and the texture of the boards of each."""
    if not node.actions:
        return [(node.children[0], EVERY_BOARD if texture == EVERY_BOARD else whatever_after(texture))]
    names = [f"[{name}]" for name in CLASSES]
    above = len(CLASSES) * max(texture, 0)
    return [(child, above + names.index(word.kind)) for word, child in zip(node.actions, node.children, strict=True)]


class _Tile(NamedTuple):
    """A run of street roots and the rows of their sequences, numbered from 0."""

    begin: int
    stop: int
    base: tuple[int, int]  # both players' first slots
    boards: int  # texture of the boards on which its roots are open; -1: roots of any texture

    def row(self, player: int, record: Decision | End | ChanceBranch) -> int:
        """Return the row of ``player``'s last sequence before ``record``."""
        slot = record.sequences[player]
        return record.root - self.begin if slot < 0 else self.stop - self.begin + slot - self.base[player]

    @property
    def blocks(self) -> int:
        """Number of vectors that its roots fill."""
        return -(-(self.stop - self.begin) // LANES)

    def holds(self, record: Decision | End) -> bool:
        """Whether ``record`` is below one of these roots."""
        return self.begin <= record.root < self.stop


def betting_arrays(spot: Spot, street: Street, learner: int) -> Betting:
    """Build the arrays of a street for passes that update ``learner``."""
    opponent = 1 - learner
    tile: list[Sequence[int]] = []
    nodes: tuple[list[Sequence[int]], list[Sequence[int]]] = ([], [])  # by player
    group: list[Sequence[int]] = []
    terminal: list[int] = []
    amount: list[tuple[float, float]] = []
    tiles, blocks = _tiles(street), 0
    for part in tiles:
        firsts = (len(nodes[opponent]), len(nodes[learner]), len(group))
        tile.append((part.begin, part.base[learner], part.base[opponent], *firsts, blocks, part.boards))
        blocks += part.blocks
        for record in filter(part.holds, street.decisions):
            reached = (part.row(opponent, record),) if record.player == learner else ()
            above = part.row(record.player, record)
            nodes[record.player].append((above, record.slot, len(record.node.actions), record.number, *reached))
        rows = by_row(filter(part.holds, street.terminals), partial(part.row, opponent))
        for row, ends in sorted(rows.items(), key=_shows_first):
            chips = [amounts(spot, end.node, learner) for end in ends]
            kinds = (int(any(amount[kind] for amount in chips)) for kind in (BY_STRENGTH, BY_HANDS))
            group.append((row, len(terminal), len(terminal) + len(ends), *kinds))
            terminal.extend(part.row(learner, end) for end in ends)
            amount.extend(chips)
    counts = (len(nodes[opponent]), len(nodes[learner]), len(group))
    tile.append((street.roots, street.slots(learner), street.slots(opponent), *counts, blocks, EVERY_BOARD))
    chances = [
        (tiles[0].row(opponent, branch), tiles[0].row(learner, branch), branch.texture)
        for branch in street.chance_nodes
    ]
    return Betting(
        _table(tile, BOARDS + 1),
        _table(nodes[opponent], NUMBER + 1),
        _table(nodes[learner], REACHED + 1),
        _table(group, FOLDS + 1),
        np.array(terminal, dtype=np.int32),
        np.array(amount, dtype=np.float64).reshape(-1, 2),
        _table(chances, TEXTURE + 1),
    )


def blocks_of(street: Street) -> int:
    """Number of vectors of 16 that the roots of all tiles of a street fill."""
    return sum(part.blocks for part in _tiles(street))


def _tiles(street: Street) -> list[_Tile]:
    """Return the tiles of a street: on the last street by texture and large enough to fill vectors, else one tile."""
    cut = not street.chance_nodes
    textures = [max(texture, EVERY_BOARD) if cut else EVERY_BOARD for texture in street.textures]
    rows = [1] * street.roots
    for record in street.decisions:
        rows[record.root] += len(record.node.actions)
    tiles: list[_Tile] = []
    begin, size = 0, 0
    base = (0, 0)
    for root in range(street.roots):
        size += rows[root]
        if root + 1 == street.roots or textures[root] != textures[root + 1] or (cut and size >= TILE):
            tiles.append(_Tile(begin, root + 1, base, textures[root]))
            inside = [record for record in street.decisions if begin <= record.root <= root]
            used = [sum(len(p.node.actions) for p in inside if p.player == player) for player in (0, 1)]
            base = (base[0] + used[0], base[1] + used[1])
            begin, size = root + 1, 0
    return tiles


def by_row(ends: Iterable[End], row: Callable[[End], int]) -> dict[int, list[End]]:
    """Group terminals by the reach row that they share."""
    rows: dict[int, list[End]] = {}
    for end in ends:
        rows.setdefault(row(end), []).append(end)
    return rows


def _shows_first(row: tuple[int, list[End]]) -> float:
    """Sort key: rows with only showdowns first, then rows with both, then rows with only folds."""
    return sum(end.node.kind == FOLD for end in row[1]) / len(row[1])


def amounts(spot: Spot, node: BettingNode, learner: int) -> tuple[float, float]:
    """Return the chips less half the pot that are paid times (weaker - stronger hands), and times all hands.

    At a showdown the winner gets half - rake and the loser -half, where half is half the pot. If they tie, both get
    -rake / 2. All three are (half - rake / 2) (weaker - stronger) - rake / 2 (weaker + stronger + equal).
    """
    if node.kind == NOTHING:
        return 0.0, 0.0
    half = spot.chips(spot.pot) / 2 + spot.chips(node.paid)
    rake = spot.rake_in_chips(2 * half)
    if node.kind == SHOWDOWN:
        return half - rake / 2, -rake / 2
    return (0.0, -half) if node.player == learner else (0.0, half - rake)


def _table(rows: Sequence[Sequence[int]], columns: int) -> Ints:
    return np.array(rows, dtype=np.int32).reshape(-1, columns)
