"""All tables of a subgame for GPU kernels, built on the CPU, and the sizes of all arrays on the GPU."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Ints
from treeplex.engines.boards.arrays import Boards, Hands, Offsets
from treeplex.engines.boards.cuda.arrays import GROUP_WORDS, OWN_WORDS, Cards, Deals, DeviceBetting, RowSums, Words
from treeplex.engines.boards.cuda.betting import betting_tables
from treeplex.engines.boards.cuda.matches import Matches, find_matches
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.hands import find_back, starts
from treeplex.errors import GameError

MOST_WORD: Final = 2**32 - 1
SHARED: Final = 48 * 1024  # bytes of shared memory that every GPU allows per block


class Tuning(NamedTuple):
    """Tuning parameters. They do not change results in float64 and float32."""

    threads: int = 160  # most threads of a block that goes down or up; in 16 bits it has all hands
    warps: int = 4  # most warps of a block that adds up rows
    run_bytes: int = 256 * 2**20  # bytes of rows of a run: boards of the last street that are processed together
    beside: int = 2  # runs of boards at a time: one computes while another waits for memory
    crowd: int = 25_000  # warps of a launch that goes down or up; with more work, each does more


class BoardStretch(NamedTuple):
    """Boards of a street that are processed together."""

    begin: int
    boards: int


class DeviceStreet(NamedTuple):
    """A street when one player learns."""

    betting: DeviceBetting
    cards: Cards
    stretches: tuple[BoardStretch, ...]  # one, except on the last street
    sums: RowSums
    roots: int
    groups: int
    owns: int  # decisions of the learner
    chance: float  # probability of the card that was dealt last
    rows: int  # rows per board
    widths: tuple[int, int]  # most positions of the learner and of the opponent on a board
    entry: Ints  # rows above the next street's roots
    deals: Deals | None = None  # values of the boards of the next street
    chances: int = 0  # number of chance nodes on all boards


class ArraySizes(NamedTuple):
    """Sizes of a street's working arrays when one player learns."""

    rows: int
    alive: int
    factors: int
    root_values: int


class Cut(NamedTuple):
    """The streets of a subgame that are on a GPU.

    The reach of the first street is an input unless it is the root's. Values of boards below the last are also inputs.
    """

    first: int
    end: int
    like: HoldemGame  # the whole subgame; sums over rows of a part are those of the whole


def levels_of(
    game: HoldemGame, learner: int, work: npt.DTypeLike, lanes: int, tuning: Tuning, cut: Cut
) -> list[DeviceStreet]:
    """Build the tables of the streets in ``cut``."""
    levels: list[DeviceStreet] = []
    entry = np.arange(game.streets[cut.first].roots, dtype=np.int32)  # rows above the street roots
    size = np.dtype(work).itemsize
    for depth, street in enumerate(game.streets[: cut.end]):
        if depth < cut.first:
            continue
        last, boards = depth + 1 == len(game.streets), game.boards[depth]
        betting, rows, chance = betting_tables(game.spot, street, learner, entry, work)
        alike = cut.like.boards[depth].hands
        widths = _widest(alike[learner]), _widest(alike[1 - learner])
        each = -(-widths[1] // lanes) | 1
        matches = find_matches(boards, learner, street.name == "river", lanes, 1 + each * lanes)
        begins = _begins(_strides(boards.hands), rows, tuning.run_bytes // size if last else 0, tuning.beside)
        above = levels[-1] if levels else None
        over = _entry_layout(game, depth, learner) if above is None else _above(game, depth, above)
        cards = _cards(boards, learner, matches, rows, begins, tuning.beside, over)
        owns = len(betting.own) // OWN_WORDS
        stretches = tuple(BoardStretch(low, high - low) for low, high in pairwise(begins))
        factor = 1.0 if depth == 0 else game.chances[1 if street.name == "river" else 0]
        groups = len(betting.group) // GROUP_WORDS
        sums = _sums(groups, each, int(matches.steps.max(initial=1)), lanes, size, tuning)
        entry, values = chance
        level = DeviceStreet(betting, cards, stretches, sums, street.roots, groups, owns, factor, rows, widths, entry)
        if not last:
            deals = _deals(game, depth + 1, learner, level, values)
            level = level._replace(deals=deals, chances=len(deals.above) * len(deals.row))
        levels.append(level)
    return levels


def sizes_of(game: HoldemGame, learner: int, levels: list[DeviceStreet], beside: int, cut: Cut) -> list[ArraySizes]:
    """Sizes for the streets in ``cut``, then for values of the boards below if these are inputs."""
    sizes: list[ArraySizes] = []
    for boards, level in zip(game.boards[cut.first : cut.end], levels, strict=True):
        stride, count = _strides(boards.hands), len(boards.texture)
        begins = [*(each.begin for each in level.stretches), count]
        rows = _longest(stride, begins) * min(beside, len(level.stretches))
        values = level.roots * int(boards.hands[learner].start[-1])
        sizes.append(ArraySizes(level.rows * rows, level.rows * count, 2 * level.owns * count, values))
    for street, boards in list(zip(game.streets, game.boards, strict=True))[cut.end : cut.end + 1]:
        sizes.append(ArraySizes(0, 0, 0, street.roots * int(boards.hands[learner].start[-1])))
    return sizes


def _begins(strides: Offsets, rows: int, most: int, beside: int) -> list[int]:
    """Starts of runs of boards that have at most about ``most`` numbers of rows each; 0: all boards are one run.

    The number of runs is a multiple of ``beside``, the number processed at a time.
    """
    before = np.cumsum(strides) - strides
    runs = -(-rows * int(strides.sum()) // (most * beside)) * beside if most else 1
    targets = [int(strides.sum()) * run // runs for run in range(runs)]
    begins = {int(np.searchsorted(before, target)) for target in targets}
    return [*sorted(begins - {len(strides)}), len(strides)]


def _sums(groups: int, each: int, steps: int, lanes: int, size: int, tuning: Tuning) -> RowSums:
    """Return the layout of sums with as many warps per block as shared memory allows."""
    numbers = 1 + each * lanes + (steps + 2) * lanes
    warps = max(min(tuning.warps, SHARED // size // numbers), 1)
    return RowSums(each, numbers, warps, -(-groups // warps))


def _longest(strides: Offsets, begins: Sequence[int]) -> int:
    """Largest number of positions on all boards of a run."""
    return max(int(strides[low:high].sum()) for low, high in pairwise(begins))


def _strides(pair: Sequence[Hands]) -> Offsets:
    return np.maximum(np.diff(pair[0].start), np.diff(pair[1].start))


def _widest(hands: Hands) -> int:
    return int(np.diff(hands.start).max())


def _cards(
    boards: Boards, learner: int, matches: Matches, rows: int, begins: Sequence[int], beside: int, over: Offsets | None
) -> Cards:
    """Build the cards of a street. ``over``: rows, stride and marks of the board above each, or None if first."""
    ours, theirs = boards.hands[learner], boards.hands[1 - learner]
    stride, count = _strides(boards.hands), len(boards.texture)
    if over is None:  # positions do not change
        over, first = np.zeros((1, 3), np.int64), np.zeros(1, np.int64)
        positions = np.arange(int(theirs.start[1]), dtype=np.uint16)
    else:
        positions, first = theirs.map, theirs.map_start[boards.image[:-1]]
    before, runs = np.cumsum(stride) - stride, np.diff(begins)
    before -= np.repeat(before[begins[:-1]] - np.arange(len(runs)) % beside * _longest(stride, begins), runs)
    columns = (
        ours.start[:-1], np.diff(ours.start), ours.counts, np.diff(theirs.start), theirs.counts, matches.start,
        matches.steps, rows * before, stride, rows * np.arange(count), ours.decision, theirs.decision,
        1 + boards.texture, first, *over.T,
    )  # fmt: skip
    table = np.stack([_narrow(column) for column in columns], axis=1)
    storage, shift = (
        np.stack(pair, axis=1).astype(np.int64).ravel()
        for pair in ((theirs.storage, ours.storage), (theirs.shift, ours.shift))
    )
    return Cards(table.ravel(), storage, shift, positions, matches.program, matches.lookup, ours.same)


def _narrow(column: npt.NDArray[np.integer[Any]]) -> Words:
    """Convert a column to 32 bits, in which kernels compute indices. Raise GameError if it does not fit."""
    if len(column) and column.max() > MOST_WORD:
        raise GameError("The spot needs more working rows than the GPU backend can index; choose fewer bet sizes.")
    return column.astype(np.uint32)


def _row_layout(game: HoldemGame, depth: int, level: DeviceStreet) -> Offsets:
    """Return [B, 3] rows, stride and marks of the boards of a street before the last."""
    stride = _strides(game.boards[depth].hands)
    return np.stack([level.rows * (np.cumsum(stride) - stride), stride, level.rows * np.arange(len(stride))], axis=1)


def _above(game: HoldemGame, depth: int, level: DeviceStreet) -> Offsets:
    """Return [B, 3] rows, stride and marks of the board above each board of street ``depth``."""
    return _row_layout(game, depth - 1, level)[_parents(game.boards[depth - 1])]


def _entry_layout(game: HoldemGame, depth: int, learner: int) -> Offsets | None:
    """Return [B, 3] rows, stride and marks of the only board above if reach is an input; None on the first street."""
    wide = int(game.boards[0].hands[1 - learner].start[-1])
    return np.array([(0, wide, 0)] * len(game.boards[depth].texture), np.int64) if depth else None


def _parents(above: Boards) -> Offsets:
    """Index of the board above each board of the next street."""
    return np.repeat(np.arange(len(above.texture)), np.diff(above.child))


def _deals(game: HoldemGame, depth: int, learner: int, above: DeviceStreet, row: Ints) -> Deals:
    """Build the arrays for values of the boards of street ``depth`` to the street above."""
    boards, over = game.boards[depth], game.boards[depth - 1]
    hands, wide = boards.hands[learner], np.diff(over.hands[learner].start)
    parent = _parents(over)
    board = np.repeat(np.arange(len(parent)), np.diff(boards.image))
    above_board = wide[parent[board]]
    start = hands.start[board].astype(np.int64)
    begin, width = game.streets[depth].roots * start, np.diff(hands.start)[board]
    columns = begin, width, starts(above_board)[:-1], np.zeros_like(begin)
    image = np.stack([_narrow(column) for column in columns], axis=1)
    rows_above = _row_layout(game, depth - 1, above)
    rows_above[:, 2] = wide
    back = find_back(above_board, boards.image, hands)
    return Deals(boards.image[over.child], image.ravel(), back, row.astype(np.int32), rows_above)
