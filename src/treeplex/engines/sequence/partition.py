"""Cut tiles, or a treeplex and an operator, into pieces for threads, so that any number gives the same bits.

Tiles of one height do not depend on each other, so they are cut into as many pieces as there is work for. Walks over a
treeplex need more.

Infosets are cut into runs of consecutive ones, one run per thread. An infoset with something below it in another run is
a *separator*. An infoset right below a separator, or below nothing, is on the *boundary* of its run. One thread visits
the separators and adds up the values of the boundary, in the order of a single thread. So every sum has the same order
as with a single thread.
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

INTERIOR: Final = 0  # an infoset that only one thread works on
BOUNDARY: Final = 1  # an infoset whose value is added to a sequence of another thread, or of a separator
SEPARATOR: Final = 2  # an infoset with something below it in another run

PIECE: Final = 512  # least number of vectors of payoffs, children and actions per thread: about 5 us
BARRIER: Final = 130  # cost in vectors, times 3 + bits of the number of threads: a barrier, and unequal pieces
GAIN: Final = 1.3  # least speed-up by this count for which threads are used
AUTOMATIC_GAIN: Final = 1.5  # where the user sets no number of threads: other programs delay threads at barriers
ENTRY: Final = 12  # bytes of an operator that count as a number
NUMBERS: Final = 2**13  # numbers per thread, at least, in walks and in gradients by blocks
AUTOMATIC_NUMBERS: Final = 2**16  # where the user sets no number of threads


class Partition(NamedTuple):
    """Work of each thread for one player."""

    role: Bytes  # [I] INTERIOR, BOUNDARY or SEPARATOR
    shared: Ints  # infosets with the role BOUNDARY or SEPARATOR, in order
    runs: Ints  # [K + 1] where each thread's run of infosets begins
    rows: Ints  # [K + 1] where each thread's rows of the operator begin
    boundary: Floats  # [I] values of infosets on the boundary, float64 in any storage, modified in place


Partitions = tuple[Partition, Partition] | tuple[None, None]
"""Partitions of both players; None: one thread."""


class Passes(NamedTuple):
    """Tiles of each thread for one player: [stretches, K + 1], as ``stretches`` cuts them."""

    up: Ints
    down: Ints


Runs = tuple[Passes, Passes]
"""Passes of both players."""

_KNOWN: WeakKeyDictionary[CompiledGame, dict[int, tuple[Partition, Partition]]] = WeakKeyDictionary()


def partitions(game: CompiledGame, threads: int) -> Partitions:
    """Cut a game for walks into as many pieces as pay, at most ``threads``; 0: all cores."""
    return partitions_for(game, paying_walks(game, threads))


def paying_walks(game: CompiledGame, threads: int) -> int:
    """Number of threads that pay for walks over a game, at most ``threads``; 0: all cores."""
    numbers = sum(treeplex.sequences for treeplex in game.treeplexes) + operator_bytes(game.operator) // ENTRY
    return paying(numbers, threads)


def partitions_for(game: CompiledGame, pieces: int) -> Partitions:
    """Cut a game into ``pieces``, with scratch of their own."""
    if pieces == 1:
        return None, None
    known = _KNOWN.setdefault(game, {})
    if pieces not in known:
        both = zip(game.treeplexes, game.operator, strict=True)
        known[pieces] = pair(partition(treeplex, side.start, pieces) for treeplex, side in both)
    return pair(own._replace(boundary=np.empty(len(own.role))) for own in known[pieces])


def runs(game: TiledGame, threads: int, others: int = 1) -> Runs:
    """Divide the tiles of a game among at most ``threads``, as many as are fastest by count; 0: all cores.

    ``others``: number of threads that other work needs anyway.
    """
    most, need = available(threads), GAIN if threads else AUTOMATIC_GAIN
    best, fastest = 1, _cost(game, 1) / need
    for count in sorted({most, *(2**k for k in range(1, most.bit_length()))} - {1}) if others == 1 else ():
        cost = _cost(game, count)
        if cost < fastest:
            best, fastest = count, cost
    count = max(best, others)
    return passes(game, count, PIECE)


def passes(game: TiledGame, threads: int, least: int) -> Runs:
    """Divide both players' tiles among ``threads``, with at least ``least`` vectors each."""
    return pair(
        Passes(*(stretches(layout, work, threads, least) for work in _works(layout, rows)))
        for layout, rows in zip(game.layouts, game.rows, strict=True)
    )


def _works(layout: TileLayout, rows: TiledRows) -> tuple[Longs, Longs]:
    """[T + 1] Number of vectors in all tiles before each, bottom-up and top-down."""
    first = layout.tiles.first
    slices = 2 * first.astype(np.int64)
    return slices + rows.start[first] + layout.tiles.start[first], slices


def _cost(game: TiledGame, threads: int) -> int:
    """Time of an iteration by ``threads``, in vectors: of the slowest thread in every stretch, plus barriers."""
    cost = 0
    for own, layout, rows in zip(passes(game, threads, PIECE), game.layouts, game.rows, strict=True):
        for table, work in zip(own, _works(layout, rows), strict=True):
            cost += int(np.diff(work[table], axis=1).max(axis=1).sum())
            cost += (threads > 1) * BARRIER * (3 + threads.bit_length()) * len(table)
    return cost


def paying(numbers: int, threads: int) -> int:
    """Number of ``threads`` that pay for walks or gradients by blocks over ``numbers``; at least one."""
    return max(1, min(available(threads), numbers // (NUMBERS if threads else AUTOMATIC_NUMBERS)))


def available(threads: int) -> int:
    """Limit ``threads`` to the number of cores, since threads that wait for each other need one each.

    0: most of the cores, since other programs need some.
    """
    return min(threads or cores() - cores() // 8, cores())


def stretches(layout: TileLayout, work: Longs, threads: int, least: int) -> Ints:
    """[stretches, threads + 1] First tile of each thread, one stretch after the other.

    A stretch is a height with work for at least two threads, in equal pieces. All heights between two of these are one
    stretch for one thread. ``work`` [T + 1]: work in all tiles before each.
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
    owner = np.searchsorted(treeplex.first, treeplex.parent, side="right").astype(np.int32) - 1  # -1: none
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
    """Mark every infoset that has a marked infoset or one of another run below it; ``role`` is modified in place."""
    for run in range(len(runs) - 2, -1, -1):
        for infoset in range(runs[run + 1] - 1, runs[run] - 1, -1):
            above = owner[infoset]
            if above >= 0 and (role[infoset] == SEPARATOR or above < runs[run]):
                role[above] = SEPARATOR
