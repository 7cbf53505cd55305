"""Cutting a treeplex and an operator into pieces for threads, so that any number of them gives the same bits.

Infosets are cut into runs of consecutive ones. Whatever lies wholly inside a run belongs to its thread. The *seam* is
done by one thread in the old order: infosets with something below them in another run (``top``), and what the runs
hand up to these. So every sum is taken in the same order as by a single thread.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeplex.arrays import Ints
from treeplex.compiled.treeplex import Treeplex
from treeplex.kernels.cpu.jit import kernel


class Partition(NamedTuple):
    """Who does what for one player."""

    inner: Ints  # infosets that belong to a thread, in order
    bounds: Ints  # [K + 1] where each thread's begin in ``inner``
    handed: Ints  # [I] 1 for an inner infoset whose parent is in the seam
    seam: Ints  # infosets of the seam and those handed up to it, in order
    top: Ints  # [I] 1 for an infoset of the seam
    rows: Ints  # [K + 1] where each thread's rows of the operator begin


def partition(treeplex: Treeplex, row_start: Ints, pieces: int) -> Partition:
    """Cut a player's treeplex and rows into ``pieces``; ``row_start`` is the operator's ``start``."""
    infosets = treeplex.infosets
    owner = np.searchsorted(treeplex.first, treeplex.parent, side="right").astype(np.int32) - 1  # -1: nobody
    cuts = np.searchsorted(treeplex.first, np.linspace(1, treeplex.sequences, pieces + 1))
    run = np.zeros(infosets, dtype=np.int32)
    run[np.clip(cuts[1:-1], 0, max(infosets - 1, 0))] += 1
    run = np.cumsum(run, dtype=np.int32)
    top = np.zeros(infosets, dtype=np.int32)
    _mark(owner, run, top)
    inner = np.flatnonzero(top == 0).astype(np.int32)
    bounds = np.searchsorted(run[inner], np.arange(pieces + 1)).astype(np.int32)
    handed = ((top == 0) & ((owner < 0) | (top[owner] == 1))).astype(np.int32)
    seam = np.flatnonzero((top == 1) | (handed == 1)).astype(np.int32)
    work = row_start + np.arange(len(row_start), dtype=np.int32)
    rows = np.searchsorted(work, np.linspace(0, int(work[-1]), pieces + 1)).astype(np.int32)
    rows[0], rows[-1] = 0, len(row_start) - 1
    return Partition(inner, bounds, handed, seam, top, rows)


@kernel
def _mark(owner: Ints, run: Ints, top: Ints) -> None:
    """Mark every infoset with something below it that is in another run or marked itself; ``top`` in place."""
    for infoset in range(len(owner) - 1, -1, -1):
        above = owner[infoset]
        if above >= 0 and (top[infoset] == 1 or run[above] != run[infoset]):
            top[above] = 1
