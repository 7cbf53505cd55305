"""Tiles: infosets of equal shape side by side, so that one instruction of the processor serves 16 of them.

A *tile* is up to 16 infosets (``LANES``) of one height and one number of actions. A *slice* is one action of all of
them, a vector of 16 sequences. Tiles lie one after the other, and so do the slices of a tile. So sequence a of the
infoset in lane l of tile t has the *position* 16 (first[t] + a) + l. Height is the number of own decisions below an
infoset. Tiles of equal height do not depend on each other, neither bottom-up nor top-down. Most tiles have height 0.

Payoffs and child infosets are summed over rows of various lengths. They are stored by slices as well: entry k of 16
rows is a vector, and short rows are padded to the longest of their slice. Infosets of a class are sorted by the lengths
of their rows, which leaves little padding. Otherwise they stay in the game's order, where hands of a public state are
neighbours, so that they read the opponent's numbers from the same cache lines.

Every number is computed by the same operations in the same order as by walks over the game's own arrays
(``cpu.learn``), so not a bit differs. No number is written by two threads.

Slice 0 belongs to no infoset. The empty sequence is at position 0. Position 1 is always 0, and padding refers to it.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple
from weakref import WeakKeyDictionary

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints, Longs, aligned
from treeplex.compile.blocks import BlockRows, ClassBlocks, DealtOperator, PlacedClassRows, RankedRows, placed
from treeplex.compile.game import CompiledGame
from treeplex.compile.payoffs import Csr, Payoffs
from treeplex.compile.treeplex import Treeplex, ranges
from treeplex.kernels.jit import kernel
from treeplex.kernels.vectors import LANES

BITS: Final = LANES.bit_length() - 1
NOWHERE: Final = 1  # the position of a number that is always 0
FILLED: Final = 3.0
"""Largest ratio of numbers in tiles to numbers in the game for which tiles are used.

Measured: with a ratio of 1.3 tiles take 0.4 of the time of walks, with 4.5 they take more than walks.
"""
SMALL: Final = 2**16  # number of positions that fit in 16 bits
LARGEST: Final = 2**15 - 1  # number of units that fits in 16 bits
SAMPLE: Final = 4096  # number of payoffs in which a common unit is searched
PARTS: Final = 12  # the least payoff of the sample is at most so many units

HASH: Final = 0x9E3779B97F4A7C15  # odd, with bits that look random

Column = npt.NDArray[Any]  # positions in 16 bits, or in 32


class Tiles(NamedTuple):
    """One player's treeplex in T tiles of B - 1 slices and P = 16 B positions."""

    first: Ints  # [T + 1] first slice of each tile; first[0] = 1, first[T] = B
    parent: Ints  # [16 T] position of the sequence above each infoset
    start: Ints  # [B + 1] first children of each slice, counted in vectors
    child: Ints  # [16 start[B]] lanes of child infosets, the last in the game first; 16 T: none


class TileLayout(NamedTuple):
    """Tiles, and the positions of the sequences in them."""

    tiles: Tiles
    bounds: Ints  # [heights + 1] first tile of each height
    position: Ints  # [S] position of each sequence

    @property
    def positions(self) -> int:
        """Number of positions, P."""
        return LANES * int(self.tiles.first[-1])


Layouts = tuple[TileLayout, TileLayout]


class TiledRows(NamedTuple):
    """One player's rows of the payoff matrix by slices, in own payoffs: player 1's have their sign changed.

    An entry is read once per use, so its size decides the speed. Payoffs are mostly whole numbers of chips times
    probabilities that are multiples of one number. If all payoffs are multiples of one number to the last bit, they
    take 2 bytes instead of 8. If there are few enough positions, columns also take 2 bytes.
    """

    start: Ints  # [B + 1] first entries of each slice, counted in vectors
    column: Column  # [16 start[B]] position of the opponent's sequence
    data: npt.NDArray[Any]  # [16 start[B]] payoffs in units, as 16-bit integers or in the precision of the learners
    unit: float


class Root(NamedTuple):
    """Payoffs and first infosets of one player's empty sequence, which is above all tiles."""

    column: Ints  # positions of the opponent's sequences that end the game without a move of this player
    data: Floats  # payoffs of these sequences to the player; empty with an operator of blocks
    lane: Ints  # lanes of the first infosets, the last in the game first


PlacedSide = BlockRows | RankedRows | PlacedClassRows
"""One player's rows of an operator that is not a matrix, with positions in tiles instead of sequences."""

Dealt = (
    tuple[BlockRows, BlockRows]
    | tuple[RankedRows, RankedRows]
    | tuple[PlacedClassRows, PlacedClassRows]
    | tuple[None, None]
)
"""Both players' rows of an operator that is not a matrix, with positions instead of sequences; None: it is a matrix."""


class TiledGame(NamedTuple):
    """Tiles and payoffs of both players."""

    layouts: Layouts
    rows: tuple[TiledRows, TiledRows]  # empty with an operator of blocks
    blocks: Dealt
    storage: str  # storage of the learners: float64 or float32
    roots: tuple[Root, Root]


_LAYOUTS: WeakKeyDictionary[CompiledGame, Layouts | None] = WeakKeyDictionary()
_TILED: WeakKeyDictionary[CompiledGame, dict[str, TiledGame]] = WeakKeyDictionary()
"""Tiled games by game and storage. This table and the layouts are freed with their game."""


def tiled(game: CompiledGame, storage: str = "float64") -> TiledGame | None:
    """Convert a game to tiles, for learners in float64 or float32; None if tiles do not pay."""
    if game not in _LAYOUTS:
        _LAYOUTS[game] = _paying(game)
    layouts = _LAYOUTS[game]
    if layouts is None:
        return None
    known = _TILED.setdefault(game, {})
    if storage not in known:
        known[storage] = _converted(game, layouts, storage)
    return known[storage]


def _paying(game: CompiledGame) -> Layouts | None:
    """Return both players' layouts, or None if tiles have too much padding."""
    layouts: list[TileLayout] = []
    numbers, positions = 0, 0
    for treeplex, side in zip(game.treeplexes, game.operator, strict=True):
        entries = row_lengths(side) if isinstance(side, Csr) else np.zeros(treeplex.sequences, dtype=np.int32)
        layout = lay_out(treeplex, entries)
        numbers += treeplex.sequences + int(entries.sum(dtype=np.int64))
        positions += layout.positions + LANES * int(_starts(layout.tiles.first, layout.position, entries)[-1])
        layouts.append(layout)
    return (layouts[0], layouts[1]) if positions <= FILLED * numbers else None


def lay_out(treeplex: Treeplex, entries: Ints) -> TileLayout:
    """Cut a treeplex into tiles; ``entries`` [S] is the number of payoffs of each sequence."""
    height, amount, shape, children = measured(treeplex, entries)
    order = np.lexsort((shape, amount, treeplex.actions, height))
    slices, bounds, home, position = _number(treeplex, order, height)
    above = aligned(LANES * (len(slices) - 1), np.int32)
    children[0] = 0
    start = _starts(slices, position, children)
    child = aligned(LANES * int(start[-1]), np.int32)
    above[:], child[:] = NOWHERE, len(above)
    above[home] = position[treeplex.parent]
    hung = np.flatnonzero(treeplex.parent)[::-1]  # below each sequence, the last infoset comes first
    hung = hung[np.argsort(treeplex.parent[hung], kind="stable")]
    owner = treeplex.parent[hung]
    place = LANES * (start[position[owner] // LANES] + _places(owner)) + position[owner] % LANES
    child[place] = home[hung]
    return TileLayout(Tiles(slices, above, start, child), bounds, position)


def _number(treeplex: Treeplex, order: Longs, height: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Assign infosets in ``order`` to lanes of tiles, 16 of one height and number of actions to each.

    Return the first slice of each tile, the first tile of each height, the lane of each infoset counted over all tiles,
    and the position of each sequence.
    """
    actions, tall = treeplex.actions[order], height[order]
    place = _places(actions, tall)
    opens = place % LANES == 0
    tile, lane = np.cumsum(opens) - 1, place % LANES
    slices = np.cumsum(np.append(1, actions[opens]), dtype=np.int32)
    bounds = np.searchsorted(tall[opens], np.arange(int(height.max(initial=-1)) + 2)).astype(np.int32)
    home, position = np.empty(len(order), dtype=np.int32), np.zeros(treeplex.sequences, dtype=np.int32)
    home[order] = LANES * tile + lane
    own = ranges(treeplex.first[order], treeplex.first[order + 1])
    action = own - np.repeat(treeplex.first[order], actions)
    position[own] = LANES * (np.repeat(slices[tile], actions) + action) + np.repeat(lane, actions)
    return slices, bounds, home, position


def measured(treeplex: Treeplex, entries: Ints) -> tuple[Ints, Ints, npt.NDArray[np.uint64], Ints]:
    """Measure infosets [I]: height, total length of rows, and a hash of these lengths; children of sequences [S]."""
    first, parent, count = treeplex.first, treeplex.parent, treeplex.infosets
    children = np.bincount(parent, minlength=treeplex.sequences).astype(np.int32)
    owner = np.repeat(np.arange(-1, count), np.append(1, treeplex.actions))
    height, shape = np.zeros(count, dtype=np.int32), np.zeros(count, dtype=np.uint64)
    for level in reversed(list(treeplex.levels())[1:]):
        np.maximum.at(height, owner[parent[level]], height[level] + 1)
    both = (entries + children)[1:]
    amount = np.add.reduceat(both, first[:-1] - 1) if count else both
    for action in range(int(treeplex.actions.max(initial=0))):
        wide = treeplex.actions > action
        for lengths in (entries, children):
            hashed = (shape[wide] ^ lengths[first[:-1][wide] + action].astype(np.uint64)) * np.uint64(HASH)
            shape[wide] = hashed ^ (hashed >> np.uint64(29))
    return height, amount.astype(np.int32), shape, children


def _places(*keys: Ints) -> Longs:
    """Return the place of each item among neighbours that have the same ``keys``."""
    count, begins = np.arange(len(keys[0])), np.zeros(len(keys[0]), dtype=np.bool_)
    for key in keys:
        begins[1:] |= key[1:] != key[:-1]
    return count - np.maximum.accumulate(np.where(begins, count, 0))


def lanes(layout: TileLayout, first: Ints) -> Ints:
    """[16 T] First sequence of the infoset in each lane; -1: no infoset.

    ``first`` [I + 1]: first sequence of every infoset of the game.
    """
    head = layout.position[first[:-1]]
    tile = np.searchsorted(layout.tiles.first, head // LANES, side="right") - 1
    sequences = np.full(len(layout.tiles.parent), -1, dtype=np.int32)
    sequences[LANES * tile + head % LANES] = first[:-1]
    return sequences


def laid(layout: TileLayout, numbers: npt.NDArray[Any]) -> npt.NDArray[Any]:
    """Copy numbers of the sequences [S] to their positions [P]; other positions are zero."""
    out = aligned(layout.positions, numbers.dtype)
    out[layout.position] = numbers
    return out


def _converted(game: CompiledGame, layouts: Layouts, storage: str) -> TiledGame:
    dtype, operator = np.dtype(storage), game.operator
    rows: list[TiledRows] = []
    blocks: list[Any] = []
    for player, own in enumerate(layouts):
        if isinstance(operator, Payoffs):
            rows.append(_sliced(operator[player], player, own, layouts[1 - player], dtype))
            blocks.append(None)
        else:
            nothing = np.zeros(len(own.tiles.start), dtype=np.int32)
            rows.append(TiledRows(nothing, np.zeros(0, np.uint16), np.zeros(0, dtype), 1.0))
            blocks.append(_moved(operator, player, layouts, dtype))
    roots = _root(game, 0, layouts), _root(game, 1, layouts)
    return TiledGame(layouts, (rows[0], rows[1]), (blocks[0], blocks[1]), storage, roots)


def _root(game: CompiledGame, player: int, layouts: Layouts) -> Root:
    treeplex, side, (tiles, _, position) = game.treeplexes[player], game.operator[player], layouts[player]
    heads = position[treeplex.first[:-1][treeplex.parent == 0][::-1]]
    tile = np.searchsorted(tiles.first, heads // LANES, side="right") - 1
    lane = (LANES * tile + heads % LANES).astype(np.int32)
    if not isinstance(side, Csr):
        return Root(np.zeros(0, np.int32), np.zeros(0), lane)
    entries = slice(int(side.start[0]), int(side.start[1]))
    paid = side.data[entries] if player == 0 else -side.data[entries]
    return Root(layouts[1 - player].position[side.column[entries]], paid, lane)


def _moved(operator: DealtOperator, player: int, layouts: Layouts, dtype: npt.DTypeLike) -> PlacedSide:
    """One player's rows of an operator of blocks, with positions instead of sequences and numbers of ``dtype``."""
    own, other = layouts[player], layouts[1 - player]
    if isinstance(operator, ClassBlocks):
        moved = placed(operator, (layouts[0].position, layouts[1].position))[player]
    else:
        side = operator[player]
        moved = side._replace(sequence=_positions(own, side.sequence), other=_positions(other, side.other))
    numbers = {key: array.astype(dtype) for key, array in moved._asdict().items() if array.dtype == np.float64}
    return moved._replace(**numbers)


def _sliced(side: Csr, player: int, own: TileLayout, other: TileLayout, dtype: npt.DTypeLike) -> TiledRows:
    start = _starts(own.tiles.first, own.position, row_lengths(side))
    size, unit = LANES * int(start[-1]), common_unit(side.data)
    numbers = side.data if player == 0 else -side.data
    numbers = numbers.astype(dtype) if unit is None else np.rint(numbers / unit).astype(np.int16)
    column, data = aligned(size, np.uint16 if other.positions <= SMALL else np.int32), aligned(size, numbers.dtype)
    column[:] = NOWHERE
    fill(side.start, side.column, numbers, own.position, other.position, BITS, start, column, data)
    return TiledRows(start, column, data, unit or 1.0)


def common_unit(numbers: Floats) -> float | None:
    """Find a unit of which all numbers are 16-bit integer multiples, to the last bit; None if there is none."""
    some = np.abs(numbers[:SAMPLE])
    least = float(some.min(initial=np.inf, where=some > 0.0))
    for part in range(1, PARTS + 1) if least < np.inf else ():
        unit = least / part
        if _multiples(some, unit) and _multiples(numbers, unit):
            return unit
    return None


def _multiples(numbers: Floats, unit: float) -> bool:
    whole = np.rint(numbers / unit)
    return bool(np.abs(whole).max(initial=0.0) <= LARGEST and np.array_equal(whole * unit, numbers))


def row_lengths(side: Csr) -> Ints:
    """[S] Number of payoffs of each sequence, 0 for the empty one: payoffs without an own move teach nothing."""
    lengths = np.diff(side.start)
    lengths[0] = 0
    return lengths


def _positions(layout: TileLayout, sequence: Ints) -> Ints:
    return np.where(sequence < 0, -1, layout.position[sequence]).astype(np.int32)


def _starts(first: Ints, position: Ints, lengths: Ints) -> Ints:
    """[B + 1] First entries of each slice, counted in vectors: its rows are padded to the longest."""
    start = np.zeros(int(first[-1]) + 1, dtype=np.int32)
    longest_rows(position, lengths, BITS, start[1:])
    return np.cumsum(start, dtype=np.int32)


def longest_rows(position: Ints | Longs, lengths: Ints, bits: int, longest: Ints) -> None:
    """Find the longest row of each slice of 2^bits rows; ``longest`` is modified in place."""
    np.maximum.at(longest, position[1:] >> bits, lengths[1:])


@kernel
def fill(
    row: Ints, columns: Ints, numbers: npt.NDArray[Any], position: Ints | Longs, other: Ints | Longs, bits: int,
    start: Ints | Longs, column: Column, data: npt.NDArray[Any],
) -> None:  # fmt: skip
    """Copy the rows of a sparse matrix into slices of 2^bits rows; the last two arrays are modified in place."""
    lanes = 1 << bits
    for s in range(1, len(position)):
        at = lanes * start[position[s] >> bits] + (position[s] & (lanes - 1))
        for entry in range(row[s], row[s + 1]):
            column[at], data[at] = other[columns[entry]], numbers[entry]
            at += lanes
