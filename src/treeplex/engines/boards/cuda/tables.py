"""All tables of a subgame for GPU kernels, built on the CPU, and how large everything will be on the GPU."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex.arrays import Ints
from treeplex.engines.boards.arrays import Hands, Offsets
from treeplex.engines.boards.cuda.arrays import FOUND, THEIR_WIDTH, WIDTH, Betting, Cards, Deals, Sums
from treeplex.engines.boards.cuda.betting import betting_tables
from treeplex.engines.boards.cuda.matches import Matches, find_matches, write_back
from treeplex.engines.boards.game import HoldemGame
from treeplex.games.holdem.classes import EVERY_BOARD

SHARED: Final = 48 * 1024  # bytes of shared memory that any block may have


class Tuning(NamedTuple):
    """Choices that change no bit of float64 and float32."""

    threads: int = 128  # of a block that goes down or up; in 16 bits it has all hands
    warps: int = 4  # of a block that adds up rows, at most
    kept: int = 32 * 2**20  # bytes of rows of the last street's boards that are worked on at a time


class Stretch(NamedTuple):
    """Boards of a street that are worked on together."""

    begin: int
    boards: int
    units: Ints  # [units, 2] board and street root


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
    entry: Sequence[int] = [0]
    values = np.zeros(0, np.int32)
    size = np.dtype(work).itemsize
    for depth, street in enumerate(game.streets):
        last = depth + 1 == len(game.streets)
        betting, rows, chance = betting_tables(game.spot, street, learner, entry, work)
        matches = find_matches(game.boards[depth], learner, street.name == "river", lanes)
        begins = _begins(game.boards[depth].hands, rows, tuning.kept // size if last else 0)
        above = levels[-1] if levels else None
        cards = _cards(game, depth, learner, matches, rows, begins, above)
        units = _units(game, depth)
        stretches = tuple(
            Stretch(low, high - low, np.ascontiguousarray(units[(units[:, 0] >= low) & (units[:, 0] < high)]))
            for low, high in pairwise(begins)
        )
        factor = 1.0 if depth == 0 else game.chances[1 if street.name == "river" else 0]
        if above is not None:
            deals = _deals(game, depth, learner, cards, above, values)
            levels[-1] = above._replace(deals=deals, chances=len(deals.above) * len(deals.row))
        widths = int(cards.board[:, WIDTH].max()), int(cards.board[:, THEIR_WIDTH].max())
        sums = _sums(len(betting.group), widths[1], int(matches.steps.max(initial=1)), lanes, size, tuning)
        counts = street.roots, len(betting.group), len(betting.own)
        levels.append(Level(betting, cards, stretches, sums, *counts, factor, rows, widths))
        entry, values = chance[0].tolist(), chance[1]
    return levels


def sizes_of(game: HoldemGame, learner: int, levels: list[Level]) -> list[Sizes]:
    """Of every street."""
    found: list[Sizes] = []
    for boards, level in zip(game.boards, levels, strict=True):
        stride, count = _strides(boards.hands), len(boards.texture)
        rows = max(int(stride[each.begin : each.begin + each.boards].sum()) for each in level.stretches)
        values = level.roots * int(boards.hands[learner].start[-1])
        found.append(Sizes(level.rows * rows, level.rows * count, 2 * level.owns * count, values))
    return found


def _begins(pair: Sequence[Hands], rows: int, most: int) -> list[int]:
    """Where runs of boards begin that have about ``most`` numbers of rows each, at most; 0: all are one run."""
    strides = _strides(pair)
    before = np.cumsum(strides) - strides
    runs = -(-rows * int(strides.sum()) // most) if most else 1
    shares = [int(strides.sum()) * run // runs for run in range(runs)]
    return [*sorted({int(np.searchsorted(before, share)) for share in shares}), len(strides)]


def _sums(groups: int, hands: int, steps: int, lanes: int, size: int, tuning: Tuning) -> Sums:
    """As many warps of a block as shared memory has room for."""
    each = -(-hands // lanes) | 1
    numbers = 1 + each * lanes + (steps + 2) * lanes
    warps = max(min(tuning.warps, SHARED // size // numbers), 1)
    return Sums(each, numbers, warps, -(-groups // warps))


def _strides(pair: Sequence[Hands]) -> Offsets:
    return np.maximum(np.diff(pair[0].start), np.diff(pair[1].start))


def _cards(
    game: HoldemGame, depth: int, learner: int, matches: Matches, rows: int, begins: Sequence[int], above: Level | None
) -> Cards:
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
    before -= np.repeat(before[begins[:-1]], np.diff(begins))
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


def _units(game: HoldemGame, depth: int) -> Ints:
    """All street roots on all boards on which they are open, those of a board side by side."""
    texture, wanted = game.boards[depth].texture, np.maximum(game.streets[depth].textures, EVERY_BOARD)
    board, root = np.meshgrid(np.arange(len(texture)), np.arange(len(wanted)), indexing="ij")
    is_open = (wanted[root] < 0) | (wanted[root] == texture[board])
    return np.stack([board[is_open], root[is_open]], axis=1).astype(np.int32)
