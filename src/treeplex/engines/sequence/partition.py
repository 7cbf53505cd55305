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

import numpy as np

from treeplex.arrays import Bytes, Floats, Ints, Longs, pair
from treeplex.compile.game import CompiledGame, operator_bytes
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.tiles import TiledGame, TiledRows, TileLayout
from treeplex.kernels.jit import kernel
from treeplex.system import cores

INTERIOR: Final = 0  # an infoset that concerns one thread alone
BOUNDARY: Final = 1  # one whose value is added to a sequence of another thread's, or of a separator
SEPARATOR: Final = 2  # one with something below it in another run

PIECE: Final = 512  # vectors of payoffs, children and actions that a thread has at least: about 5 us
BARRIER: Final = 130  # vectors, times 3 + bits of the number of threads: a barrier, and waiting for unequal pieces
GAIN: Final = 1.3  # times faster that threads must be by this count
UNASKED: Final = (
    1.5  # the same, where nobody has asked for threads: a barrier waits for threads that other programs delay
)
ENTRY: Final = 12  # bytes of an operator that count as a number
NUMBERS: Final = 2**13  # numbers that a thread has at least in walks, and in gradients by blocks
UNASKED_NUMBERS: Final = 2**16  # the same, where nobody has asked


class Partition(NamedTuple):
    """Who does what for one player."""

    role: Bytes  # [I] INTERIOR, BOUNDARY or SEPARATOR
    shared: Ints  # infosets of the other two kinds, in order
    runs: Ints  # [K + 1] where each thread's run of infosets begins
    rows: Ints  # [K + 1] where each thread's rows of the operator begin
    boundary: Floats  # [I] values of infosets on the boundary; float64 whatever the storage, as any sum; modified


Partitions = tuple[Partition, Partition] | tuple[None, None]
"""Both players'; None: one thread."""


class Passes(NamedTuple):
    """Who does which tiles of one player: [stretches, K + 1], as ``stretches`` cuts them."""

    up: Ints
    down: Ints


Runs = tuple[Passes, Passes]
"""Both players'."""

_KNOWN: WeakKeyDictionary[CompiledGame, dict[int, tuple[Partition, Partition]]] = WeakKeyDictionary()


def partitions(game: CompiledGame, threads: int) -> Partitions:
    """Pieces of a game for walks by at most ``threads``, as many as pay; 0: all cores."""
    return partitions_for(game, paying_walks(game, threads))


def paying_walks(game: CompiledGame, threads: int) -> int:
    """The number of threads that pay for walks over a game, of at most ``threads``; 0: all cores."""
    numbers = sum(treeplex.sequences for treeplex in game.treeplexes) + operator_bytes(game.operator) // ENTRY
    return paying(numbers, threads)


def partitions_for(game: CompiledGame, pieces: int) -> Partitions:
    """So many pieces of a game, with scratch of their own."""
    if pieces == 1:
        return None, None
    known = _KNOWN.setdefault(game, {})
    if pieces not in known:
        both = zip(game.treeplexes, game.operator, strict=True)
        known[pieces] = pair(partition(treeplex, side.start, pieces) for treeplex, side in both)
    return pair(own._replace(boundary=np.empty(len(own.role))) for own in known[pieces])


def runs(game: TiledGame, threads: int, others: int = 1) -> Runs:
    """Who does which tiles of a game, by at most ``threads``, as many as are fastest by count; 0: by all cores.

    ``others``: how many there are anyway.
    """
    most, need = available(threads), GAIN if threads else UNASKED
    best, fastest = 1, _cost(game, 1) / need
    for count in sorted({most, *(2**k for k in range(1, most.bit_length()))} - {1}) if others == 1 else ():
        cost = _cost(game, count)
        if cost < fastest:
            best, fastest = count, cost
    count = max(best, others)
    return passes(game, count, PIECE)


def passes(game: TiledGame, threads: int, least: int) -> Runs:
    """Both players' tiles for so many threads, each of which has at least ``least`` vectors."""
    return pair(
        Passes(*(stretches(layout, work, threads, least) for work in _works(layout, rows)))
        for layout, rows in zip(game.layouts, game.rows, strict=True)
    )


def _works(layout: TileLayout, rows: TiledRows) -> tuple[Longs, Longs]:
    """[T + 1] vectors of all tiles before, bottom-up and top-down."""
    first = layout.tiles.first
    slices = 2 * first.astype(np.int64)
    return slices + rows.start[first] + layout.tiles.start[first], slices


def _cost(game: TiledGame, threads: int) -> int:
    """The time of an iteration by so many threads, in vectors: those of the slowest in every stretch, and barriers."""
    cost = 0
    for own, layout, rows in zip(passes(game, threads, PIECE), game.layouts, game.rows, strict=True):
        for table, work in zip(own, _works(layout, rows), strict=True):
            cost += int(np.diff(work[table], axis=1).max(axis=1).sum())
            cost += (threads > 1) * BARRIER * (3 + threads.bit_length()) * len(table)
    return cost


def paying(numbers: int, threads: int) -> int:
    """How many of ``threads`` pay for walks or gradients by blocks over so many numbers; at least one."""
    return max(1, min(available(threads), numbers // (NUMBERS if threads else UNASKED_NUMBERS)))


def available(threads: int) -> int:
    """At most as many as there are cores: threads that wait for each other need one each.

    0: most of them, as other programs need some too.
    """
    return min(threads or cores() - cores() // 8, cores())


def stretches(layout: TileLayout, work: Longs, threads: int, least: int) -> Ints:
    """[stretches, threads + 1] where each thread's tiles begin, a stretch after the other.

    A stretch is a height with work for at least two threads, in equal pieces, or all heights between such, in one.
    ``work`` [T + 1]: of all tiles before.
    """
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
    return Partition(role, shared, runs, rows, np.empty(0))


@kernel
def _mark(owner: Ints, runs: Ints, role: Bytes) -> None:
    """Mark every infoset with something below it that is in another run or marked itself; ``role`` in place."""
    for run in range(len(runs) - 2, -1, -1):
        for infoset in range(runs[run + 1] - 1, runs[run] - 1, -1):
            above = owner[infoset]
            if above >= 0 and (role[infoset] == SEPARATOR or above < runs[run]):
                role[above] = SEPARATOR
