"""Cutting tiles, or a treeplex and an operator, into pieces for threads, so that any number gives the same bits.

Tiles of one height need nothing of each other, so they are cut into as many pieces as there is work for. In walks over
a treeplex more is needed.

Infosets are cut into runs of consecutive ones, a run per thread. An infoset with something below it in another run is
a *separator*; what hangs right below separators, or below nothing, is on the *boundary* of its run. One thread does
the separators and adds up what comes from the boundary, in the old order. So every sum is taken in the same order as by
a single thread.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Final, NamedTuple
from weakref import WeakKeyDictionary

import numba
import numpy as np

from treeplex.arrays import Bytes, Ints
from treeplex.compile.game import CompiledGame, operator_bytes
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.tiles import Layout, TiledGame, TiledRows
from treeplex.jit import kernel
from treeplex.system import cores

INTERIOR: Final = 0  # an infoset that concerns one thread alone
BOUNDARY: Final = 1  # one whose value is added to a sequence of another thread's, or of a separator
SEPARATOR: Final = 2  # one with something below it in another run

THREADS_FROM: Final = 64 * 2**20  # bytes touched in an iteration from which threads pay for their meetings
PIECE: Final = 2048  # vectors of payoffs, children and actions of a thread: about 25 us, to pay for a meeting
NUMBERS: Final = 2**14  # the same of gradients by blocks
UNASKED: Final = 16  # times as much, where nobody has asked for threads: a meeting waits for whom other programs delay


class Partition(NamedTuple):
    """Who does what for one player."""

    role: Bytes  # [I] INTERIOR, BOUNDARY or SEPARATOR
    shared: Ints  # infosets of the other two kinds, in order
    runs: Ints  # [K + 1] where each thread's run of infosets begins
    rows: Ints  # [K + 1] where each thread's rows of the operator begin


Partitions = tuple[Partition, Partition] | tuple[None, None]
"""Both players'; None: one thread."""

Runs = tuple[Ints, Ints] | tuple[None, None]
"""Both players' ``stretches``; None: one thread."""

_KNOWN: WeakKeyDictionary[CompiledGame, dict[int, tuple[Partition, Partition]]] = WeakKeyDictionary()


def partitions(game: CompiledGame, threads: int) -> Partitions:
    """Pieces of a game for ``threads``; 0: all cores for large games, else one. Numba is told their number."""
    work = operator_bytes(game.operator) + 40 * sum(treeplex.sequences for treeplex in game.treeplexes)
    wanted = threads or (cores() if work >= THREADS_FROM else 1)
    pieces = min(wanted, numba.config.NUMBA_NUM_THREADS)  # pyright: ignore
    if pieces == 1:
        return None, None
    numba.set_num_threads(pieces)
    known = _KNOWN.setdefault(game, {})
    if pieces not in known:
        first, second = (
            partition(treeplex, side.start, pieces)
            for treeplex, side in zip(game.treeplexes, game.operator, strict=True)
        )
        known[pieces] = first, second
    return known[pieces]


def runs(game: TiledGame, threads: int) -> Runs:
    """Who does which tiles of a game, by at most ``threads``; 0: all cores, in large games. Numba is told their number.

    Each thread of a meeting has enough to do, so more threads than pay are never used.
    """
    wanted, least = available(threads), PIECE if threads else UNASKED * PIECE
    first, second = (
        stretches(layout, rows, wanted, least) for layout, rows in zip(game.layouts, game.rows, strict=True)
    )
    if all(row[1] == row[-1] for table in (first, second) for row in table):
        return None, None
    numba.set_num_threads(wanted)
    return first, second


def threads_for(numbers: int, threads: int) -> int:
    """How many of ``threads`` pay for gradients of so many numbers by blocks; at least one."""
    return max(1, min(available(threads), numbers // (NUMBERS if threads else UNASKED * NUMBERS)))


def available(threads: int) -> int:
    """At most as many as Numba has; 0: as there are cores."""
    return min(threads or cores(), numba.config.NUMBA_NUM_THREADS)  # pyright: ignore


def stretches(layout: Layout, rows: TiledRows, threads: int, least: int) -> Ints:
    """[stretches, threads + 1] where each thread's tiles begin, a stretch after the other.

    A stretch is a height with work for at least two threads, in equal pieces, or all heights between such, in one.
    """
    first, below = layout.tiles.first, layout.tiles.start
    work = first.astype(np.int64) + rows.start[first] + below[first]  # [T + 1] of all tiles before
    table = [[0] * (threads + 1)]
    for begin, stop in pairwise(layout.bounds.tolist()):
        amount = int(work[stop] - work[begin])
        pieces = min(threads, amount // least)
        if pieces >= 2:
            cuts = np.searchsorted(work[begin:stop], work[begin] + np.linspace(0, amount, pieces + 1)) + begin
            table.append([*cuts.tolist(), *[stop] * (threads - pieces)])
        elif table[-1][1] == table[-1][-1]:
            table[-1][1:] = [stop] * threads
        else:
            table.append([begin, *[stop] * threads])
    return np.array(table, dtype=np.int32)


def partition(treeplex: Treeplex, row_start: Ints, pieces: int) -> Partition:
    """Cut a player's treeplex and rows into ``pieces``; ``row_start`` is the operator's ``start``."""
    owner = np.searchsorted(treeplex.first, treeplex.parent, side="right").astype(np.int32) - 1  # -1: nobody
    runs = np.searchsorted(treeplex.first, np.linspace(1, treeplex.sequences, pieces + 1)).astype(np.int32)
    runs[0], runs[-1] = 0, treeplex.infosets
    role = np.full(treeplex.infosets, INTERIOR, dtype=np.int8)
    _mark(owner, runs, role)
    role[(role == INTERIOR) & ((owner < 0) | (role[owner] == SEPARATOR))] = BOUNDARY
    shared = np.flatnonzero(role != INTERIOR).astype(np.int32)
    work = row_start + np.arange(len(row_start), dtype=np.int32)
    rows = np.searchsorted(work, np.linspace(0, int(work[-1]), pieces + 1)).astype(np.int32)
    rows[0], rows[-1] = 0, len(row_start) - 1
    return Partition(role, shared, runs, rows)


@kernel
def _mark(owner: Ints, runs: Ints, role: Bytes) -> None:
    """Mark every infoset with something below it that is in another run or marked itself; ``role`` in place."""
    for run in range(len(runs) - 2, -1, -1):
        for infoset in range(runs[run + 1] - 1, runs[run] - 1, -1):
            above = owner[infoset]
            if above >= 0 and (role[infoset] == SEPARATOR or above < runs[run]):
                role[above] = SEPARATOR
