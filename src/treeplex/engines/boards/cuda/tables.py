"""All tables of a subgame for GPU kernels, built on the CPU, and how large everything will be on the GPU."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex.arrays import Ints
from treeplex.engines.boards.arrays import Hands, Offsets
from treeplex.engines.boards.cuda.arrays import (
    FIRST_ROW,
    FOUND,
    GROUP,
    GROUP_END,
    OWN,
    OWN_END,
    REACH,
    ROWS,
    STRIDE,
    THEIR_WIDTH,
    WIDTH,
    Betting,
    Cards,
    Deals,
    Shape,
)
from treeplex.engines.boards.cuda.betting import Run, betting_tables, parts_of, rows_below, runs_of
from treeplex.engines.boards.cuda.matches import Matches, find_matches, write_back
from treeplex.engines.boards.game import HoldemGame

SHARED: Final = 48 * 1024  # bytes of shared memory that any block may have
MULTIPROCESSORS: Final = 132  # of the GPU that the sizes below were measured on
SPARE: Final = 32  # numbers of shared memory in which threads find sums and maxima together
APART: Final = 8  # blocks per multiprocessor whose rows are not in shared memory


class Tuning(NamedTuple):
    """Choices that change no bit but the order of sums in a row."""

    threads: int = 128  # of a block, on the last street
    tile: int = 12 * 1024  # bytes of rows that a tile is filled up to
    cuts: tuple[int, ...] = (12 * 1024, 32 * 1024)  # bytes of rows at which launches part
    inside: int = 32 * 1024  # bytes of rows that are kept in shared memory, at most
    upper: int = 512  # threads of a block on the streets before
    registers: int = 80  # of a thread, at most
    enough: int = 16 * MULTIPROCESSORS  # units from which on a tile may have several street roots


class Batch(NamedTuple):
    """Units of a street that one launch works on: their tiles are of about the same size."""

    units: Ints  # [units, 2] board and tile
    shape: Shape
    inside: int  # numbers of a tile's rows in shared memory; 0: they are apart, or on a street before the last

    @property
    def shared(self) -> int:
        """Numbers of shared memory that a block has."""
        kept = SPARE + 2 * self.shape.decisions + self.shape.marks
        return kept + self.shape.scan * self.shape.scanners + self.inside

    @property
    def apart(self) -> int:
        """Blocks, where rows are not in shared memory."""
        return min(len(self.units), APART * MULTIPROCESSORS)


class Level(NamedTuple):
    """A street as one player learns."""

    betting: Betting
    cards: Cards
    batches: tuple[Batch, ...]  # the largest tiles first
    roots: int
    chance: float  # of the card that was dealt last
    rows: int  # on a board
    deals: Deals | None = None  # what the boards of the next street bring
    chances: int = 0  # chance nodes of all boards
    widest: int = 0  # hands of the learner on a board, at most


class Sizes(NamedTuple):
    """Numbers of a street's working arrays, for whoever learns."""

    rows: int
    alive: int
    found: int


def levels_of(game: HoldemGame, learner: int, work: Any, lanes: int, tuning: Tuning) -> list[Level]:
    """Tables of every street."""
    levels: list[Level] = []
    entry: Sequence[int] = [0]
    values = np.zeros(0, np.int32)
    for depth, street in enumerate(game.streets):
        last = depth + 1 == len(game.streets)
        runs = _runs(game, depth, work, tuning)
        betting, chance = betting_tables(game.spot, street, runs, learner, entry, work)
        matches = find_matches(game.boards[depth], learner, street.name == "river", lanes)
        rows = int(betting.tile[-1, FIRST_ROW] + betting.tile[-1, ROWS])
        above = levels[-1] if levels else None
        cards = _cards(game, depth, learner, matches, rows, above)
        units, steps = _units(game, depth, runs), int(matches.steps.max(initial=1))
        sizes = _Sizes(np.dtype(work).itemsize, lanes, steps, tuning)
        batches = _batches(betting, cards, units, sizes, last)
        factor = 1.0 if depth == 0 else game.chances[1 if street.name == "river" else 0]
        if above is not None:
            deals = _deals(game, depth, learner, cards, above, values)
            levels[-1] = above._replace(deals=deals, chances=len(deals.above) * len(deals.row))
        widest = int(cards.board[:, WIDTH].max())
        levels.append(Level(betting, cards, batches, street.roots, factor, rows, widest=widest))
        entry, values = chance[0].tolist(), chance[1]
    return levels


def sizes_of(game: HoldemGame, pair: Sequence[list[Level]]) -> list[Sizes]:
    """Of every street; rows of the last one are those of single tiles."""
    found: list[Sizes] = []
    for depth, (street, boards) in enumerate(zip(game.streets, game.boards, strict=True)):
        rows, last = max(levels[depth].rows for levels in pair), depth + 1 == len(game.streets)
        kept = 0 if last else rows
        values = max(street.roots * int(hands.start[-1]) for hands in boards.hands)
        found.append(Sizes(kept * int(_strides(boards.hands).sum()), kept * len(boards.child[:-1]), values))
    return found


def _runs(game: HoldemGame, depth: int, work: Any, tuning: Tuning) -> list[Run]:
    """Tiles of a street: on the last one several roots where there are enough boards, else one root each."""
    street, boards = game.streets[depth], game.boards[depth]
    if depth + 1 < len(game.streets):
        return runs_of(street, 0)
    most = tuning.tile // (int(_strides(boards.hands).max()) * np.dtype(work).itemsize)
    parts, count = parts_of(street), len(boards.texture)
    everything = sum(rows_below(parts, root) for root in range(street.roots))
    return runs_of(street, min(most, everything * count // tuning.enough))


def _strides(pair: Sequence[Hands]) -> Offsets:
    return np.maximum(np.diff(pair[0].start), np.diff(pair[1].start))


def _cards(game: HoldemGame, depth: int, learner: int, matches: Matches, rows: int, above: Level | None) -> Cards:
    boards = game.boards[depth]
    ours, theirs = boards.hands[learner], boards.hands[1 - learner]
    count, stride = len(ours.held), _strides(boards.hands)
    if above is None:
        place, first = np.arange(int(theirs.start[1]), dtype=np.uint16), np.zeros(1, np.int64)
        over = np.zeros((1, 3), np.int64)
    else:
        place, first = theirs.map, theirs.map_start[boards.image[:-1]]
        parent = np.array([deal.parent for deal in game.deals[depth]], dtype=np.int64)
        over = _above(game, depth - 1, above)[parent]
    before = np.cumsum(stride) - stride
    columns = (
        ours.start[:-1], np.diff(ours.start), ours.held, ours.storage, ours.decision,
        np.diff(theirs.start), theirs.held, theirs.storage, theirs.decision, first, matches.start, matches.steps,
        over[:, 0], over[:, 1], over[:, 2], rows * before, stride, rows * np.arange(count),
        game.streets[depth].roots * ours.start[:-1],
    )  # fmt: skip
    table = np.stack([column.astype(np.int64) for column in columns], axis=1)
    return Cards(np.ascontiguousarray(table), place, matches.program, matches.look, ours.same)


def _above(game: HoldemGame, depth: int, level: Level) -> Offsets:
    """[B, 3] rows, stride and marks of the boards above."""
    stride = _strides(game.boards[depth].hands)
    return np.stack([level.rows * (np.cumsum(stride) - stride), stride, level.rows * np.arange(len(stride))], axis=1)


def _deals(game: HoldemGame, depth: int, learner: int, cards: Cards, above: Level, row: Ints) -> Deals:
    """What the boards of street ``depth`` bring to the one above."""
    boards, over = game.boards[depth], game.boards[depth - 1]
    hands, wide = boards.hands[learner], np.diff(over.hands[learner].start)
    parent = np.array([deal.parent for deal in game.deals[depth]], dtype=np.int64)
    board = np.repeat(np.arange(len(parent)), np.diff(boards.image))
    back_start = np.concatenate(([0], np.cumsum(wide[parent[board]]))).astype(np.int64)
    back = np.zeros(int(back_start[-1]), np.uint16)
    write_back(hands, boards.image, back_start, back)
    image = np.stack([cards.board[board, FOUND], cards.board[board, WIDTH], back_start[:-1]], axis=1)
    kept = _above(game, depth - 1, above)
    kept[:, 2] = wide
    return Deals(boards.image[over.child], np.ascontiguousarray(image), back, row.astype(np.int32), kept)


def _units(game: HoldemGame, depth: int, runs: Sequence[Run]) -> Ints:
    """All tiles on all boards on which they are open, tiles of a board side by side."""
    texture = game.boards[depth].texture
    board, tile = np.meshgrid(np.arange(len(texture)), np.arange(len(runs)), indexing="ij")
    wanted = np.array([run.texture for run in runs])[tile]
    is_open = (wanted < 0) | (wanted == texture[board])
    return np.stack([board[is_open], tile[is_open]], axis=1).astype(np.int32)


class _Sizes(NamedTuple):
    size: int  # bytes of a number
    lanes: int
    steps: int
    tuning: Tuning


def _batches(betting: Betting, cards: Cards, units: Ints, sizes: _Sizes, last: bool) -> tuple[Batch, ...]:
    """By the size of tiles, the largest first."""
    if not last:
        return (_batch(betting, cards, units, sizes, last),)
    stride = int(cards.board[:, STRIDE].max()) * sizes.size
    rows = betting.tile[units[:, 1], ROWS] * stride
    cuts = [0, *(cut for cut in sizes.tuning.cuts), int(rows.max(initial=0))]
    parts = [units[(rows > low) & (rows <= high)] for low, high in pairwise(cuts)]
    return tuple(_batch(betting, cards, part, sizes, last) for part in reversed(parts) if len(part))


def _batch(betting: Betting, cards: Cards, units: Ints, sizes: _Sizes, last: bool) -> Batch:
    """Shared memory of a launch: rows of a tile if they fit, and as many warps that add up rows as still do."""
    size, lanes, steps, tuning = sizes
    tile = betting.tile[np.unique(units[:, 1])]
    each = -(-int(cards.board[:, THEIR_WIDTH].max()) // lanes) | 1
    scan = 1 + each * lanes + (steps + 2) * lanes
    decisions = int((tile[:, OWN_END] - tile[:, OWN]).max())
    rows = int(tile[:, ROWS].max()) * int(cards.board[:, STRIDE].max()) if last else 0
    marks = int(tile[:, REACH].max()) if last else 0
    warps = max((tuning.threads if last else tuning.upper) // lanes, 1)
    groups = int((tile[:, GROUP_END] - tile[:, GROUP]).max())
    free = SHARED // size - SPARE - 2 * decisions - marks
    inside = rows if rows <= min(tuning.inside // size, free - scan) else 0
    scanners = max(min(warps, groups, (free - inside) // scan), 1)
    shape = Shape(each, scan, scanners, decisions, marks, 0 if inside else rows)
    return Batch(np.ascontiguousarray(units), shape, inside)
