"""All tables of a subgame for GPU kernels, built on the CPU, and how large everything will be on the GPU."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex.arrays import Ints
from treeplex.engines.boards.arrays import Boards, Hands, Offsets
from treeplex.engines.boards.cuda.arrays import (
    BOARD_DECISION,
    BOARD_MARKS,
    BOARD_ROWS,
    BOARD_START,
    BOARD_STRIDE,
    BOARD_THEIRS,
    BOARD_WIDTH,
    BOARD_WORDS,
    GROUP_WORDS,
    OWN_WORDS,
    Betting,
    Cards,
    Deals,
    Sums,
    Units,
    Words,
)  # fmt: skip
from treeplex.engines.boards.cuda.betting import Roots, betting_tables
from treeplex.engines.boards.cuda.matches import Matches, find_matches, write_back
from treeplex.engines.boards.game import HoldemGame
from treeplex.errors import GameError
from treeplex.games.holdem.classes import EVERY_BOARD

MOST_WORD: Final = 2**32 - 1
SHARED: Final = 48 * 1024  # bytes of shared memory that any block may have


class Tuning(NamedTuple):
    """Choices that change no bit of float64 and float32."""

    threads: int = 128  # of a block that goes down or up; in 16 bits it has all hands
    warps: int = 4  # of a block that adds up rows, at most
    kept: int = 256 * 2**20  # bytes of rows of the last street's boards that are worked on together
    beside: int = 2  # such runs of boards at a time: while one waits for memory, another one computes


class Stretch(NamedTuple):
    """Boards of a street that are worked on together."""

    begin: int
    boards: int
    units: Units


class Level(NamedTuple):
    """A street as one player learns."""

    betting: Betting
    cards: Cards
    stretches: tuple[Stretch, ...]  # one, but for the last street
    sums: Sums
    roots: int
    groups: int
    owns: int  # decisions of the learner
    chance: float  # of the card that was dealt last
    rows: int  # on a board
    widths: tuple[int, int]  # hands of the learner and of the opponent on a board, at most
    deals: Deals | None = None  # what the boards of the next street bring
    chances: int = 0  # chance nodes of all boards


class Sizes(NamedTuple):
    """Numbers of a street's working arrays as one player learns."""

    rows: int
    alive: int
    factors: int
    found: int


def levels_of(game: HoldemGame, learner: int, work: Any, lanes: int, tuning: Tuning) -> list[Level]:
    """Tables of every street."""
    levels: list[Level] = []
    entry = np.zeros(1, np.int32)  # rows that lead to the street roots
    values = np.zeros(0, np.int32)
    size = np.dtype(work).itemsize
    for depth, street in enumerate(game.streets):
        last, boards = depth + 1 == len(game.streets), game.boards[depth]
        betting, roots, rows, chance = betting_tables(game.spot, street, learner, work)
        matches = find_matches(boards, learner, street.name == "river", lanes)
        begins = _begins(_strides(boards.hands), rows, tuning.kept // size if last else 0, tuning.beside)
        above = levels[-1] if levels else None
        cards = _cards(boards, learner, matches, rows, begins, tuning.beside, first=above is None)
        owns = len(betting.own) // OWN_WORDS
        stretches = tuple(
            Stretch(low, high - low, _units(game, depth, learner, (low, high), cards, roots, owns, entry, above))
            for low, high in pairwise(begins)
        )
        factor = 1.0 if depth == 0 else game.chances[1 if street.name == "river" else 0]
        if above is not None:
            deals = _deals(game, depth, learner, above, values)
            levels[-1] = above._replace(deals=deals, chances=len(deals.above) * len(deals.row))
        widths = _widest(boards.hands[learner]), _widest(boards.hands[1 - learner])
        groups = len(betting.group) // GROUP_WORDS
        sums = _sums(groups, widths[1], int(matches.steps.max(initial=1)), lanes, size, tuning)
        levels.append(Level(betting, cards, stretches, sums, street.roots, groups, owns, factor, rows, widths))
        entry, values = chance
    return levels


def sizes_of(game: HoldemGame, learner: int, levels: list[Level], beside: int) -> list[Sizes]:
    """Of every street."""
    found: list[Sizes] = []
    for boards, level in zip(game.boards, levels, strict=True):
        stride, count = _strides(boards.hands), len(boards.texture)
        begins = [*(each.begin for each in level.stretches), count]
        rows = _longest(stride, begins) * min(beside, len(level.stretches))
        values = level.roots * int(boards.hands[learner].start[-1])
        found.append(Sizes(level.rows * rows, level.rows * count, 2 * level.owns * count, values))
    return found


def _begins(strides: Offsets, rows: int, most: int, beside: int) -> list[int]:
    """Where runs of boards begin that have about ``most`` numbers of rows each, at most; 0: all are one run.

    There are as many as are worked on side by side, or a multiple of that.
    """
    before = np.cumsum(strides) - strides
    runs = -(-rows * int(strides.sum()) // (most * beside)) * beside if most else 1
    shares = [int(strides.sum()) * run // runs for run in range(runs)]
    begins = {int(np.searchsorted(before, share)) for share in shares}
    return [*sorted(begins - {len(strides)}), len(strides)]


def _sums(groups: int, hands: int, steps: int, lanes: int, size: int, tuning: Tuning) -> Sums:
    """As many warps of a block as shared memory has room for."""
    each = -(-hands // lanes) | 1
    numbers = 1 + each * lanes + (steps + 2) * lanes
    warps = max(min(tuning.warps, SHARED // size // numbers), 1)
    return Sums(each, numbers, warps, -(-groups // warps))


def _longest(strides: Offsets, begins: Sequence[int]) -> int:
    """Hands of all boards of a run, at most."""
    return max(int(strides[low:high].sum()) for low, high in pairwise(begins))


def _strides(pair: Sequence[Hands]) -> Offsets:
    return np.maximum(np.diff(pair[0].start), np.diff(pair[1].start))


def _widest(hands: Hands) -> int:
    return int(np.diff(hands.start).max())


def _cards(
    boards: Boards, learner: int, matches: Matches, rows: int, begins: Sequence[int], beside: int, *, first: bool
) -> Cards:
    ours, theirs = boards.hands[learner], boards.hands[1 - learner]
    stride = _strides(boards.hands)
    place = np.arange(int(theirs.start[1]), dtype=np.uint16) if first else theirs.map  # the first street: as they are
    before, runs = np.cumsum(stride) - stride, np.diff(begins)
    before -= np.repeat(before[begins[:-1]] - np.arange(len(runs)) % beside * _longest(stride, begins), runs)
    columns = (
        ours.start[:-1], np.diff(ours.start), ours.held, np.diff(theirs.start), theirs.held, matches.start,
        matches.steps, rows * before, stride, rows * np.arange(len(stride)), ours.decision,
    )  # fmt: skip
    table = np.stack([_narrow(column) for column in columns], axis=1)
    return Cards(table.ravel(), place, matches.program, matches.look, ours.same)


def _units(
    game: HoldemGame,
    depth: int,
    learner: int,
    span: tuple[int, int],
    cards: Cards,
    roots: Roots,
    owns: int,
    entry: Ints,
    above: Level | None,
) -> Units:
    """All street roots on those of the boards ``span`` on which they are open, those of a board side by side."""
    boards, (low, high) = game.boards[depth], span
    ours, theirs = boards.hands[learner], boards.hands[1 - learner]
    wanted = np.maximum(game.streets[depth].textures, EVERY_BOARD)
    board, root = (each.ravel() for each in np.meshgrid(np.arange(low, high), np.arange(len(wanted)), indexing="ij"))
    is_open = (wanted[root] < 0) | (wanted[root] == boards.texture[board])
    board, root = board[is_open], root[is_open]
    own = cards.board.reshape(-1, BOARD_WORDS)[board].astype(np.int64)
    if above is None:
        over, first = np.zeros((len(board), 3), np.int64), np.zeros(len(board), np.int64)
    else:
        parent = np.array([deal.parent for deal in game.deals[depth]], dtype=np.int64)
        over, first = _above(game, depth - 1, above)[parent[board]], theirs.map_start[boards.image[board]]
    wide, their_wide = own[:, BOARD_WIDTH], own[:, BOARD_THEIRS]
    first_row, stride = roots.first_row[root].astype(np.int64), own[:, BOARD_STRIDE]
    columns = (
        over[:, 0] + entry[root] * over[:, 1], over[:, 2] + entry[root], first, their_wide,
        roots.theirs[root], roots.theirs_end[root], roots.their_slots[root], theirs.decision[board],
        own[:, BOARD_ROWS] + first_row * stride, stride, own[:, BOARD_MARKS] + first_row, wide,
        roots.own[root], roots.own_end[root], roots.own_slots[root], own[:, BOARD_DECISION],
        2 * (board * owns + roots.own[root]), len(wanted) * own[:, BOARD_START] + root * wide, root,
    )  # fmt: skip
    storage = (
        theirs.storage[board] + roots.their_slot[root].astype(np.int64) * their_wide,
        ours.storage[board] + roots.own_slot[root].astype(np.int64) * wide,
    )
    word = np.stack([_narrow(column) for column in columns], axis=1)
    return Units(word.ravel(), np.stack(storage, axis=1).astype(np.int64).ravel())


def _narrow(column: Any) -> Words:
    """Kernels compute places in 32 bits."""
    if len(column) and column.max() > MOST_WORD:
        raise GameError("The spot's working rows are more than the GPU backend can number; choose fewer bet sizes.")
    return column.astype(np.uint32)


def _above(game: HoldemGame, depth: int, level: Level) -> Offsets:
    """[B, 3] rows, stride and marks of the boards above."""
    stride = _strides(game.boards[depth].hands)
    return np.stack([level.rows * (np.cumsum(stride) - stride), stride, level.rows * np.arange(len(stride))], axis=1)


def _deals(game: HoldemGame, depth: int, learner: int, above: Level, row: Ints) -> Deals:
    """What the boards of street ``depth`` bring to the one above."""
    boards, over = game.boards[depth], game.boards[depth - 1]
    hands, wide = boards.hands[learner], np.diff(over.hands[learner].start)
    parent = np.array([deal.parent for deal in game.deals[depth]], dtype=np.int64)
    board = np.repeat(np.arange(len(parent)), np.diff(boards.image))
    back_start = np.concatenate(([0], np.cumsum(wide[parent[board]]))).astype(np.int64)
    back = np.zeros(int(back_start[-1]), np.uint16)
    write_back(hands, boards.image, back_start, back)
    start = hands.start[board].astype(np.int64)
    found, width = game.streets[depth].roots * start, np.diff(hands.start)[board]
    image = np.stack([found, width, back_start[:-1]], axis=1).astype(np.int64)
    kept = _above(game, depth - 1, above)
    kept[:, 2] = wide
    return Deals(boards.image[over.child], np.ascontiguousarray(image), back, row.astype(np.int32), kept)
