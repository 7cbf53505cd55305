"""Cutting a treeplex and an operator into pieces for threads, so that any number of them gives the same bits.

Infosets are cut into runs of consecutive ones, a run a thread. The *seam* is done by one thread alone, in the old
order: infosets with something below them in another run, and what the runs hand up to these. So every sum is taken in
the same order as by a single thread.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeplex.arrays import Bytes, Ints
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.arrays import HANDED, INNER, TOP
from treeplex.jit import kernel


class Partition(NamedTuple):
    """Who does what for one player."""

    role: Bytes  # [I] INNER, HANDED (its parent is in the seam) or TOP (in the seam itself)
    seam: Ints  # infosets that are HANDED or TOP, in order
    runs: Ints  # [K + 1] where each thread's run of infosets begins
    rows: Ints  # [K + 1] where each thread's rows of the operator begin


def partition(treeplex: Treeplex, row_start: Ints, pieces: int) -> Partition:
    """Cut a player's treeplex and rows into ``pieces``; ``row_start`` is the operator's ``start``."""
    owner = np.searchsorted(treeplex.first, treeplex.parent, side="right").astype(np.int32) - 1  # -1: nobody
    runs = np.searchsorted(treeplex.first, np.linspace(1, treeplex.sequences, pieces + 1)).astype(np.int32)
    runs[0], runs[-1] = 0, treeplex.infosets
    role = np.full(treeplex.infosets, INNER, dtype=np.int8)
    _mark(owner, runs, role)
    role[(role == INNER) & ((owner < 0) | (role[owner] == TOP))] = HANDED
    seam = np.flatnonzero(role != INNER).astype(np.int32)
    work = row_start + np.arange(len(row_start), dtype=np.int32)
    rows = np.searchsorted(work, np.linspace(0, int(work[-1]), pieces + 1)).astype(np.int32)
    rows[0], rows[-1] = 0, len(row_start) - 1
    return Partition(role, seam, runs, rows)


@kernel
def _mark(owner: Ints, runs: Ints, role: Bytes) -> None:
    """Mark every infoset with something below it that is in another run or marked itself; ``role`` in place."""
    for run in range(len(runs) - 2, -1, -1):
        for infoset in range(runs[run + 1] - 1, runs[run] - 1, -1):
            above = owner[infoset]
            if above >= 0 and (role[infoset] == TOP or above < runs[run]):
                role[above] = TOP
