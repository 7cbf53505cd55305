"""Layout of a game for a GPU: tiles of 32 lanes, with both players in one numbering.

A *tile* is some infosets of one player, one height and one number of actions n. A warp works on it. Its lanes are pairs
(action, infoset), lane = action * wide + infoset, with ``wide`` infosets side by side and ``high`` = 32 // wide actions
at a time. With more actions there are several *steps*. Step k of a tile is row base + k of 32 positions, so arrays by
sequence are read and written by whole rows. Height is the number of own decisions below an infoset. Tiles of one height
do not depend on each other, neither bottom-up nor top-down.

A row's payoffs are rows of 32 *entries* (the opponent's position, and the payoff). Entries number e of its 32 sequences
lie side by side, padded to the longest of the tile. Values of child infosets are passed up through *slots*, one for
each child, in rows of the same kind. A slot has one writer and one reader, so nothing is added atomically and equal
input gives equal bits.

Infosets at the bottom (height 0) that have few actions and equal lengths of rows, if there are many of them, are a
*bundle*. There a lane is an infoset and actions are in registers. All positions can be computed, and nothing is added
up over lanes.

Row 0 of each player has the empty sequence in lane 0. Lane 1 of row 0 is always 0.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Ints, Longs
from treeplex.compile.blocks import ClassBlocks, RankedBlocks
from treeplex.compile.payoffs import Csr
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.cuda.dealt import DealtRows, rows_of
from treeplex.engines.sequence.tiles import common_unit, fill, longest_rows, measured, row_lengths
from treeplex.errors import GameError
from treeplex.kernels.jit import allocating_kernel, kernel

Words = npt.NDArray[np.uint32]
Numbers = npt.NDArray[Any]

LANES: Final = 32
BITS: Final = LANES.bit_length() - 1
NOWHERE: Final = 1  # the position of a number that is always 0
NOBODY: Final = 0xFFFFFFFF
BASE, HOME, ENTRY, SLOT, ACTIONS, SHAPE, LENGTH, CHILDREN, WORDS = range(9)
"""Columns of ``tiles``: first row, first infoset, first rows of entries and of slots, n, shape (see ``shape_word``),
entries and slots per row; WORDS is the number of columns."""

BUNDLED: Final = 4  # largest number of actions of infosets in bundles
LONGEST: Final = 24  # largest number of entries of an infoset in a bundle: kernels have no loop over them
BUNDLE: Final = 100_000  # least number of sequences for which a bundle pays
TOGETHER: Final = 40_000  # largest number of infosets of upper heights that go down in one phase
STEP: Final = 0.3  # cost of a step of a tile, in rows; see ``width``
FEW: Final = 32_000  # number of sequences of a kind up to which steps take time, and padding takes none
FEW_STEP: Final = 1.0
MANY: Final = 1_000_000  # number of sequences of a kind from which padding dominates
MANY_STEP: Final = 0.05


class Bundle(NamedTuple):
    """Infosets at the bottom, each in one lane, n rows per tile."""

    lengths: tuple[int, ...]  # [n] entries of each action
    tiles: int
    base: int  # first row
    home: int  # first infoset
    entry: int  # first row of entries


class PlayerLayout(NamedTuple):
    """Tiles, bundles and positions of one player."""

    heights: tuple[tuple[int, int], ...]  # first tile and end, of each height; without bundles
    together: int  # heights from this one on go down in one phase
    bundles: tuple[Bundle, ...]  # all of height 0
    position: Ints  # [S] position of each sequence
    home: Ints  # [I] home of each infoset
    root: int  # first slot of the infosets that have no decision above them
    roots: int  # number of these infosets


class DeviceLayout(NamedTuple):
    """Tiles, entries and slots of both players."""

    sides: tuple[PlayerLayout, PlayerLayout]
    tiles: Words  # [T, WORDS]
    above: Words  # [homes] position of the sequence above an infoset
    owner: Words  # [homes] home of the infoset that has this sequence; NOBODY if there is none
    leave: Words  # [homes] slot for the value of an infoset
    column: Words  # [entries] position of the opponent's sequence
    value: Numbers  # [entries] own payoffs, as 16-bit integers in units, or unchanged
    unit: float
    rows: int
    slots: int  # number of rows of slots
    dealt: tuple[DealtRows, DealtRows] | None = None  # instead of entries

    @property
    def positions(self) -> int:
        """Number of positions, the length of every array by sequence."""
        return self.rows * LANES


def shape_word(wide: int) -> int:
    """Pack ``wide``, ``high`` and a factor that replaces division of lanes by ``wide`` into one word."""
    return wide | (LANES // wide) << 6 | (1024 // wide + 1) << 12


def width(n: int, infosets: int) -> int:
    """Number of infosets with n actions side by side in a tile: the one with the least cost of padding and steps."""
    step = FEW_STEP if n * infosets <= FEW else STEP if n * infosets < MANY else MANY_STEP
    wide = np.arange(1, LANES + 1)
    steps = -(-n // (LANES // wide))
    return int(wide[np.argmin(steps * LANES / (n * wide) + step * steps)])


class _Section(NamedTuple):
    """Infosets of one height and one number of actions, in order, to be cut into tiles of ``wide`` infosets."""

    members: Longs
    height: int
    actions: int
    wide: int
    lengths: tuple[int, ...] = ()  # entries of each action of a bundle; empty: not a bundle

    @property
    def tiles(self) -> int:
        return -(-len(self.members) // self.wide)

    @property
    def steps(self) -> int:
        return -(-self.actions // (LANES // self.wide))


def lay_out_dealt(
    treeplexes: tuple[Treeplex, Treeplex], blocks: RankedBlocks | ClassBlocks, *, bundled: bool = True
) -> DeviceLayout:
    """Cut both treeplexes into tiles without entries: payoffs are sums over hands."""
    first, second = (no_payoffs(treeplex) for treeplex in treeplexes)
    layout = lay_out(treeplexes, (first, second), np.float64, bundled=bundled)
    return layout._replace(dealt=rows_of(blocks, (layout.sides[0].position, layout.sides[1].position)))


def no_payoffs(treeplex: Treeplex) -> Csr:
    """Return a payoff matrix without entries."""
    return Csr(np.zeros(treeplex.sequences + 1, np.int32), np.zeros(0, np.int32), np.zeros(0))


def lay_out(
    treeplexes: tuple[Treeplex, Treeplex], sides: tuple[Csr, Csr], dtype: npt.DTypeLike, *, bundled: bool = True
) -> DeviceLayout:
    """Cut both treeplexes into tiles; payoffs of player 1 are ``sides[1]`` with their sign changed.

    ``bundled``: whether bundles are allowed.
    """
    sections = [_sections(treeplex, side, bundled) for treeplex, side in zip(treeplexes, sides, strict=True)]
    count = sum(section.tiles for own in sections for section in own)
    tiles = np.zeros((count, WORDS), dtype=np.uint32)
    numbered = [_Numbering(tiles) for _ in range(2)]
    row = home = tile = 0
    for own, treeplex, numbering in zip(sections, treeplexes, numbered, strict=True):
        row, home, tile = numbering.number(treeplex, own, row, home, tile)
    homes = home + LANES  # lanes beyond the last infoset read numbers that they do not use
    lengths, children = np.zeros(row, dtype=np.int32), np.zeros(row, dtype=np.int32)
    for treeplex, side, numbering in zip(treeplexes, sides, numbered, strict=True):
        longest_rows(numbering.position, row_lengths(side), BITS, lengths)
        below = np.bincount(treeplex.parent, minlength=treeplex.sequences).astype(np.int32)
        longest_rows(numbering.position, below, BITS, children)
    for numbering in numbered:
        numbering.even(lengths, children)
    entry = np.concatenate(([0], np.cumsum(lengths, dtype=np.int64)))
    roots = [int((treeplex.parent == 0).sum()) for treeplex in treeplexes]
    front = -(-(1 + sum(roots)) // LANES)  # slot 0 is written but never read
    slot = np.concatenate(([0], np.cumsum(children, dtype=np.int64))) + front
    if max(entry[-1], slot[-1], row) * LANES > 2**32:
        raise GameError(f"The game has {int(entry[-1]) * LANES:,} payoffs, more than the GPU backend can number.")
    for numbering in numbered:
        numbering.point(entry, slot)
    above, owner = np.full(homes, NOWHERE, dtype=np.uint32), np.full(homes, NOBODY, dtype=np.uint32)
    leave = np.zeros(homes, dtype=np.uint32)
    unit = common_unit(sides[0].data)
    column = np.zeros(max(int(entry[-1]), 1) * LANES, dtype=np.uint32)
    value = np.zeros(len(column), dtype=np.dtype(dtype) if unit is None else np.int16)
    layouts: list[PlayerLayout] = []
    for player, (treeplex, side, own) in enumerate(zip(treeplexes, sides, numbered, strict=True)):
        root = 1 + (roots[0] if player else 0)
        _hang(*treeplex, own.home, own.position, slot, root, above, owner, leave)
        numbers = side.data if unit is None else np.rint(side.data / unit)
        paid, other = (numbers if player == 0 else -numbers).astype(value.dtype), numbered[1 - player].position
        fill(side.start, side.column, paid, own.position, other, BITS, entry, column, value)
        layouts.append(own.side(root, roots[player]))
    sides_ = (layouts[0], layouts[1])
    return DeviceLayout(sides_, tiles, above, owner, leave, column, value, unit or 1.0, row, int(slot[-1]))


def _sections(treeplex: Treeplex, side: Csr, bundled: bool) -> list[_Section]:
    """Group infosets by height, number of actions and lengths of rows: bundles first, tiles of several steps last."""
    lengths, actions = row_lengths(side), treeplex.actions
    height, amount, shape, _ = measured(treeplex, lengths)
    if treeplex.infosets == 0:
        return []
    alike = (shape >> np.uint64(40)) | (amount.astype(np.uint64) & np.uint64(0xFFFF)) << np.uint64(24)
    kind = actions.astype(np.uint64) | height.astype(np.uint64) << np.uint64(24)
    order = np.lexsort((alike, kind))
    bundles: list[_Section] = []
    rest: list[_Section] = []
    for begin, end in _runs(kind[order]):
        n, tall = int(actions[order[begin]]), int(height[order[begin]])
        members = order[begin:end]
        if bundled and tall == 0 and n <= BUNDLED:
            parts, left = _bundles(members, alike[members], n, treeplex, lengths)
            bundles += parts
            members = left
        if len(members):
            rest.append(_Section(members, tall, n, width(n, len(members))))
    return bundles + sorted(rest, key=lambda section: (section.height, section.steps > 1))


def _bundles(
    members: Longs, alike: npt.NDArray[np.uint64], n: int, treeplex: Treeplex, lengths: Ints
) -> tuple[list[_Section], Longs]:
    """Split ``members`` into bundles, of many infosets with equal lengths of rows, and the others."""
    bundles: list[_Section] = []
    left: list[Longs] = []
    for begin, end in _runs(alike) if len(members) * n >= BUNDLE else ((0, len(members)),):
        part = members[begin:end]
        own = lengths[treeplex.first[part][:, None] + np.arange(n)] if len(part) * n >= BUNDLE else None
        if own is not None and (own == own[0]).all() and 0 < own[0].sum() <= LONGEST:
            bundles.append(_Section(part, 0, n, LANES, tuple(int(length) for length in own[0])))
        else:
            left.append(part)
    return bundles, np.concatenate(left) if left else members[:0]


def _runs(keys: npt.NDArray[np.uint64]) -> list[tuple[int, int]]:
    """Begin and end of each run of equal keys."""
    cuts = np.flatnonzero(keys[1:] != keys[:-1]) + 1
    ends = [0, *cuts.tolist(), len(keys)]
    return list(pairwise(ends))


class _Numbering:
    """Numbering of one player's rows, homes and tiles."""

    def __init__(self, tiles: Words) -> None:
        self.tiles = tiles
        self.spans: list[tuple[_Section, int, int, int]] = []  # sections with their first tile, row and home

    def number(
        self, treeplex: Treeplex, sections: list[_Section], row: int, home: int, tile: int
    ) -> tuple[int, int, int]:
        """Number all sections and return the next row, home and tile."""
        self.position = np.full(treeplex.sequences, row * LANES, dtype=np.int64)
        self.home = np.zeros(treeplex.infosets, dtype=np.int64)
        row += 1
        for section in sections:
            self.spans.append((section, tile, row, home))
            count, steps = section.tiles, section.steps
            own, k = self.tiles[tile : tile + count], np.arange(count, dtype=np.uint32)
            own[:, BASE], own[:, HOME] = row + k * steps, home + k * section.wide
            own[:, ACTIONS], own[:, SHAPE] = section.actions, shape_word(section.wide)
            _assign_positions(treeplex.first, section.members, section.wide, row, home, self.home, self.position)
            row, home, tile = row + count * steps, home + count * section.wide, tile + count
        return row, home, tile

    def even(self, lengths: Ints, children: Ints) -> None:
        """Give rows of a tile equal numbers of entries and slots; in a bundle, rows of an action."""
        for section, tile, row, _ in self.spans:
            shape = section.tiles, section.steps
            own, below = (array[row : row + shape[0] * shape[1]].reshape(shape) for array in (lengths, children))
            if section.lengths:
                own[:] = section.lengths
            else:
                own[:] = own.max(axis=1, keepdims=True)
                below[:] = below.max(axis=1, keepdims=True)
            self.tiles[tile : tile + shape[0], LENGTH] = own[:, 0]
            self.tiles[tile : tile + shape[0], CHILDREN] = below[:, 0]

    def point(self, entry: Longs, slot: Longs) -> None:
        """Set the first rows of entries and slots of each tile."""
        for section, tile, _, _ in self.spans:
            own = self.tiles[tile : tile + section.tiles]
            own[:, ENTRY], own[:, SLOT] = entry[own[:, BASE]], slot[own[:, BASE]]

    def side(self, root: int, roots: int) -> PlayerLayout:
        """Return the layout of the player."""
        bundles = [
            Bundle(section.lengths, section.tiles, row, home, int(self.tiles[tile, ENTRY]))
            for section, tile, row, home in self.spans
            if section.lengths
        ]
        heights: dict[int, tuple[int, int]] = {}
        infosets: dict[int, int] = {}
        for section, tile, _, _ in self.spans:
            if not section.lengths:
                begin, _ = heights.get(section.height, (tile, tile))
                heights[section.height] = (begin, tile + section.tiles)
            infosets[section.height] = infosets.get(section.height, 0) + len(section.members)
        tallest = max(infosets, default=-1)
        together, above = tallest + 1, 0
        while together > 0 and not (together == 1 and bundles):
            above += infosets[together - 1]
            if above > TOGETHER:
                break
            together -= 1
        spans = tuple(heights.get(height, (0, 0)) for height in range(tallest + 1))
        return PlayerLayout(
            spans, together, tuple(bundles), self.position.astype(np.int32), self.home.astype(np.int32), root, roots
        )


# --- loops over the game's arrays; one thread -------------------------------------------------------------------------


@kernel
def _assign_positions(
    first: Ints,
    members: Longs,
    wide: int,
    row: int,
    start: int,
    home: Longs,
    position: Longs,
) -> None:
    """Assign homes from ``start`` on to ``members``, and positions from ``row`` on to their sequences.

    ``home`` and ``position`` are modified in place.
    """
    high = LANES // wide
    for q in range(len(members)):
        i = members[q]
        n = first[i + 1] - first[i]
        steps = (n + high - 1) // high
        tile, j = q // wide, q % wide
        home[i] = start + q
        for a in range(n):
            position[first[i] + a] = (row + tile * steps + a // high) * LANES + a % high * wide + j


@allocating_kernel
def _hang(
    first: Ints,
    parent: Ints,
    home: Longs,
    position: Longs,
    slot: Longs,
    root: int,
    above: Words,
    owner: Words,
    leave: Words,
) -> None:
    """Write parents and slots of infosets to the last three arrays, which are modified in place."""
    owners = np.full(len(position), -1, dtype=np.int64)
    for i in range(len(parent)):
        owners[first[i] : first[i + 1]] = home[i]
    hung = np.zeros(len(position), dtype=np.int64)
    for i in range(len(parent) - 1, -1, -1):
        s = parent[i]
        p = position[s]
        above[home[i]] = p
        if s > 0:
            owner[home[i]] = owners[s]
            leave[home[i]] = (slot[p // LANES] + hung[s]) * LANES + p % LANES
        else:
            leave[home[i]] = root + hung[0]
        hung[s] += 1
