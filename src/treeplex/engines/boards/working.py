"""Working arrays of passes, other than regrets and averages: their sizes and their allocation.

Sizes are defined only here, so that the memory counted before a solve equals the memory allocated.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import LINE, aligned
from treeplex.engines.boards.arrays import ROWS_OF_SUMS, STOP, Array, Boards, Offsets, StreetScratch
from treeplex.engines.boards.streets import Street, blocks_of
from treeplex.kernels.vectors import LANES

MOST_STREETS: Final = 3
PART: Final = 6  # largest number of boards of the last street in a part

Sizes = dict[str, tuple[tuple[int, ...], Any]]
"""Shape and type of each array."""


class Shared(NamedTuple):
    """Arrays that all threads share: see ``Results``."""

    root_values: Array
    sums: Array
    entry: Array
    board_reach: Array
    alive: Array


def parts_of(boards: Sequence[Boards]) -> Offsets:
    """Cut boards of the second street into parts of a few boards of the third, so that threads finish together."""
    parts: list[tuple[int, int, int, int, int]] = []
    children: list[int] = boards[1].child.tolist() if len(boards) == MOST_STREETS else []
    for board, (begin, end) in enumerate(pairwise(children)):
        first, count = len(parts), -(-(end - begin) // PART)
        cuts = [begin + (end - begin) * k // count for k in range(count + 1)]
        parts += [(board, card, last, first, first + count) for card, last in pairwise(cuts)]
    return np.array(parts, dtype=np.int64).reshape(-1, STOP + 1)


def new_scratch(streets: Sequence[Street], boards: Sequence[Boards], depth: int, work: npt.DTypeLike) -> StreetScratch:
    """Allocate scratch arrays for one street and one thread."""
    scratch = StreetScratch(**_allocate(_scratch(streets, boards, depth, work)))
    scratch.lanes[2 * LANES : 3 * LANES] = np.arange(LANES) * LANES
    return scratch


def new_shared(streets: Sequence[Street], boards: Sequence[Boards], work: npt.DTypeLike) -> Shared:
    """Allocate the arrays that threads share."""
    return Shared(**_allocate(_shared(streets, boards, work)))


def working_bytes(streets: Sequence[Street], boards: Sequence[Boards], work: npt.DTypeLike, threads: int) -> int:
    """Bytes of the working arrays of ``threads`` threads, without regrets and averages."""
    depths = (len(streets) // 2, len(streets) - 1)
    count = threads if len(streets) > 1 else 1
    sizes = [_scratch(streets, boards, 0, work), _shared(streets, boards, work)]
    sizes += [_scratch(streets, boards, depth, work) for depth in depths] * count
    return sum(_bytes(*each) for arrays in sizes for each in arrays.values())


def _scratch(streets: Sequence[Street], boards: Sequence[Boards], depth: int, work: npt.DTypeLike) -> Sizes:
    street, width = streets[depth], _widest(boards[depth])
    rows = _rows(street)
    actions = max((len(decision.node.actions) for decision in street.decisions), default=1)
    below, count = blocks_of(streets[depth + 1]) if depth + 1 < len(streets) else 0, len(street.terminals)
    last = depth > 0 and depth + 1 == len(streets)
    numbers = {
        "reach": rows * width,
        "value": rows * width,
        "node": actions * width,
        "total": width,
        "dealt": width * LANES,
        "ahead": width * LANES,
        "square": 2 * LANES**2,
        "sums": ROWS_OF_SUMS * LANES,
        "root_values": blocks_of(street) * width * LANES if last else 0,
        "entry": below * width * LANES if depth == 0 else 0,
    }
    return {name: ((size,), work) for name, size in numbers.items()} | {
        "alive": ((rows,), np.bool_),
        "lanes": ((4 * LANES,), np.int64),
        "terminal": ((2, count), np.int64),
        "lane": ((2, count), np.int64),
        "chips": ((2, count), work),
    }


def _shared(streets: Sequence[Street], boards: Sequence[Boards], work: npt.DTypeLike) -> Sizes:
    second = len(boards[1].child) - 1 if len(streets) > 1 else 0
    size = blocks_of(streets[1]) * _widest(boards[1]) * LANES if second else 0
    three = len(streets) == MOST_STREETS
    between = blocks_of(streets[2]) * _widest(boards[1]) * LANES if three else 0
    rows, count = (_rows(streets[1]), second) if three else (0, 0)
    return {
        "root_values": ((second, size), work),
        "sums": ((len(parts_of(boards)), between), work),
        "entry": ((count, between), work),
        "board_reach": ((count, rows * _widest(boards[1]) if three else 0), work),
        "alive": ((count, rows), np.bool_),
    }


def _rows(street: Street) -> int:
    return street.roots + max(street.slots(0), street.slots(1)) + 1  # the last one stays zero


def _widest(boards: Boards) -> int:
    return max(int(np.diff(hands.start).max()) for hands in boards.hands)


def _allocate(sizes: Sizes) -> dict[str, Array]:
    return {name: aligned(int(np.prod(shape)), kind).reshape(shape) for name, (shape, kind) in sizes.items()}


def _bytes(shape: tuple[int, ...], kind: npt.DTypeLike) -> int:
    return int(np.prod(shape)) * np.dtype(kind).itemsize + 16 * LINE
