"""Transfer between streets: reach of chance nodes to the boards dealt there, and values of those boards back.

Between streets the numbers of up to 16 street roots (a block) are contiguous for each hand: [blocks, H, 16]. So the
position of a hand on another board is looked up once for all of them. Moving them is one load and one store.

Blocks of a tile are neither written nor read if its roots are not open on the board, or on any board below it.
"""

from __future__ import annotations

import numpy as np

from treeplex.engines.boards import arrays as layout
from treeplex.engines.boards.arrays import Array, Betting, BoardPath, Hands, PassArrays, StreetScratch, Whole
from treeplex.engines.boards.cpu.addresses import betting_at, boards_at, hands_at, results_at, scratch_at
from treeplex.games.holdem.classes import CLASSES
from treeplex.kernels.jit import callee, inlined
from treeplex.kernels.vectors import LANES, load, narrowed, spread, store, transpose, widened

SQUARE = LANES * LANES
COUNT = len(CLASSES)


@inlined
def width_of(hands: Hands, board: int) -> int:
    """Number of positions for hands on a board."""
    return hands.start[board + 1] - hands.start[board]


@inlined
def is_open(open_on: int, texture: int) -> bool:
    """Return whether texture ``open_on`` is open on boards of ``texture``."""
    return open_on < 0 or open_on == texture


@inlined
def is_open_below(open_on: int, texture: int) -> bool:
    """Return whether texture ``open_on`` is open on some board one street below boards of ``texture``."""
    return open_on < 0 or open_on // COUNT == texture


@callee
def open_street(tables: PassArrays, path: BoardPath, below: int, player: int, entry: Array) -> None:
    """Fill ``entry``: the opponent's reach of the next street's roots, from rows of the chance nodes above them."""
    betting, tile = betting_at(tables, 2 * path.level + player), betting_at(tables, 2 * below + player).tile
    scratch = scratch_at(tables, path.level)
    wide = width_of(hands_at(tables, 2 * path.level + 1 - player), path.board)
    rows, texture = scratch.lanes[:LANES], boards_at(tables, path.level).texture[path.board]
    for part in range(len(tile) - 1):
        block, stop = np.int64(tile[part, layout.BLOCK]), tile[part + 1, layout.ROOT]
        if not is_open_below(tile[part, layout.BOARDS], texture):
            continue
        for begin in range(tile[part, layout.ROOT], stop, LANES):
            for k in range(LANES):
                rows[k] = np.int64(len(scratch.reach) - wide)  # the last row is always zero
                if begin + k < stop:
                    rows[k] = np.int64(betting.chance_node[begin + k, layout.REACH_ROW]) * wide
            for h in range(0, wide, LANES):
                transpose(entry, (block * wide + h) * LANES, scratch.reach, rows, 0, 1, h)
            block += 1


@callee
def enter(
    tables: PassArrays, path: BoardPath, part: int, chance: float, player: int, entry: Array, alive: Array
) -> None:
    """Fill reach rows of a tile's street roots: ``entry`` of the board above, times the chance of the card.

    A root that is not open on the board counts as a row of zeros: nothing below it is read or written.
    """
    betting, theirs = betting_at(tables, 2 * path.level + player), hands_at(tables, 2 * path.level + 1 - player)
    chance_node, scratch = betting_at(tables, 2 * path.above + player).chance_node, scratch_at(tables, path.level)
    wide = width_of(hands_at(tables, 2 * path.above + 1 - player), path.parent)
    width, square = width_of(theirs, path.board), scratch.square
    boards = boards_at(tables, path.level)
    image, texture = theirs.map_start[boards.image[path.board]], boards.texture[path.board]
    factor = spread(scratch.reach.dtype.type(chance))
    first, stop = np.int64(betting.tile[part, layout.ROOT]), np.int64(betting.tile[part + 1, layout.ROOT])
    block = np.int64(betting.tile[part, layout.BLOCK])
    for root in range(first, stop):
        there = is_open(chance_node[root, layout.TEXTURE], texture)
        scratch.alive[root - first] = there and alive[chance_node[root, layout.REACH_ROW]]
    for begin in range(first, stop, LANES):
        for h in range(0, width, LANES):
            transpose(square, 0, entry, theirs.map, image + h, LANES, block * wide * LANES)
            for k in range(min(LANES, stop - begin)):
                store(scratch.reach, (begin - first + k) * width + h, factor * load(square, k * LANES))
        block += 1


@callee
def leave(tables: PassArrays, path: BoardPath, part: int, player: int, out: Array) -> None:
    """Copy value rows of a tile's street roots into ``out`` [blocks, H, 16]."""
    tile, scratch = betting_at(tables, 2 * path.level + player).tile, scratch_at(tables, path.level)
    width = width_of(hands_at(tables, 2 * path.level + player), path.board)
    rows, block = scratch.lanes[:LANES], np.int64(tile[part, layout.BLOCK])
    roots = np.int64(tile[part + 1, layout.ROOT] - tile[part, layout.ROOT])
    for begin in range(0, roots, LANES):
        for k in range(LANES):
            rows[k] = min(begin + k, roots - 1) * width  # lanes without a root are never read
        for h in range(0, width, LANES):
            transpose(out, (block * width + h) * LANES, scratch.value, rows, 0, 1, h)
        block += 1


@callee
def collect(tables: PassArrays, path: BoardPath, player: int, values: Array, sums: Array) -> None:
    """Add the values of a card and its images to the chance nodes of the board above."""
    mine, image = hands_at(tables, 2 * path.level + player), boards_at(tables, path.level).image
    tile = betting_at(tables, 2 * path.level + player).tile
    width, wide = width_of(mine, path.board), width_of(hands_at(tables, 2 * path.above + player), path.parent)
    texture = boards_at(tables, path.level).texture[path.board]
    for k in range(image[path.board], image[path.board + 1]):
        places = mine.map[mine.map_start[k] : mine.map_start[k] + width]
        for part in range(len(tile) - 1):
            if not is_open(tile[part, layout.BOARDS], texture):
                continue
            for block in range(np.int64(tile[part, layout.BLOCK]), np.int64(tile[part + 1, layout.BLOCK])):
                for h in range(width):
                    at = (block * wide + np.int64(places[h])) * LANES
                    store(sums, at, load(sums, at) + load(values, (block * width + h) * LANES))


@callee
def clear_sums(tables: PassArrays, board: int, player: int, sums: Array) -> None:
    """Clear the sums of values at chance nodes of a board of the second street."""
    tile, texture = betting_at(tables, 4 + player).tile, boards_at(tables, 1).texture[board]
    wide, nothing = width_of(hands_at(tables, 2 + player), board), spread(sums.dtype.type(0.0))
    for part in range(len(tile) - 1):
        if is_open_below(tile[part, layout.BOARDS], texture):
            first, stop = np.int64(tile[part, layout.BLOCK]), np.int64(tile[part + 1, layout.BLOCK])
            for k in range(first * wide * LANES, stop * wide * LANES, LANES):
                store(sums, k, nothing)


@callee
def add_parts(tables: PassArrays, board: int, first: int, stop: int, player: int) -> None:
    """Add the sums of a board's parts at chance nodes to its value rows on the second street, in order of parts."""
    betting, tile = betting_at(tables, 2 + player), betting_at(tables, 4 + player).tile
    width, scratch = width_of(hands_at(tables, 2 + player), board), scratch_at(tables, 1)
    sums, texture = results_at(tables, 0).sums, boards_at(tables, 1).texture[board]
    like = spread(scratch.square.dtype.type(0.0))
    for part in range(len(tile) - 1):
        block = np.int64(tile[part, layout.BLOCK])
        if not is_open_below(tile[part, layout.BOARDS], texture):
            continue
        for begin in range(tile[part, layout.ROOT], tile[part + 1, layout.ROOT], LANES):
            for h in range(0, width, LANES):
                for i in range(LANES):
                    total = widened(like)
                    for k in range(first, stop):
                        total += widened(load(sums[k], (block * width + h + i) * LANES))
                    store(scratch.square, i * LANES, narrowed(total, like))
                _to_rows(betting, begin, tile[part + 1, layout.ROOT], width, h, scratch, scratch.value)
            block += 1


@callee
def add_boards(tables: PassArrays, player: int, low: int, high: int) -> None:
    """Add values of all boards at chance nodes to value rows of the first street, for hands ``low`` to ``high``."""
    betting, tile = betting_at(tables, player), betting_at(tables, 2 + player).tile
    wide, mine = width_of(hands_at(tables, player), 0), hands_at(tables, 2 + player)
    root_values, boards, block = results_at(tables, 0).root_values, boards_at(tables, 1), np.int64(0)
    value, scratch = scratch_at(tables, 0).value, scratch_at(tables, 2)
    like = spread(value.dtype.type(0.0))
    for part in range(len(tile) - 1):
        for begin in range(tile[part, layout.ROOT], tile[part + 1, layout.ROOT], LANES):
            for h in range(low, high, LANES):
                for i in range(LANES):
                    total = widened(like)
                    for board in range(len(root_values)):
                        if not is_open(tile[part, layout.BOARDS], boards.texture[board]):
                            continue
                        row = block * width_of(mine, board)
                        for k in range(boards.image[board], boards.image[board + 1]):
                            total += widened(
                                load(root_values[board], (row + np.int64(mine.back[k * wide + h + i])) * LANES)
                            )
                    store(scratch.square, i * LANES, narrowed(total, like))
                _to_rows(betting, begin, tile[part + 1, layout.ROOT], wide, h, scratch, value)
            block += 1


@inlined
def _to_rows(
    betting: Betting, begin: Whole, stop: Whole, width: int, h: int, scratch: StreetScratch, value: Array
) -> None:
    """Add values of a block's chance nodes for 16 hands, which are in a square, to value rows."""
    transpose(scratch.square, SQUARE, scratch.square, scratch.lanes, 2 * LANES, 1, 0)
    for k in range(min(np.int64(LANES), np.int64(stop - begin))):
        at = np.int64(betting.chance_node[begin + k, layout.VALUE_ROW]) * width + h
        store(value, at, load(value, at) + load(scratch.square, SQUARE + k * LANES))
