"""Kernels over units (a tile on a board), and over chance nodes; the parts they are made of are in ``street``.

A pass is: ``down`` for every street before the last, ``last``, then for those streets from below ``collect`` and
``up``. Blocks take units in turn. Shared memory, in numbers of ``work``: warps that add up rows, ``SPARE``, two factors
of each decision, and in ``last`` marks and rows of a tile, where these fit.
"""

# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numba
import numpy as np

from treeplex.cuda.kernels import SIMULATED, cuda, int32, kernel, uint32
from treeplex.engines.boards.cuda import arrays as layout
from treeplex.engines.boards.cuda.meeting import LANES, meet_block, uint64
from treeplex.engines.boards.cuda.street import street
from treeplex.engines.boards.cuda.tables import SPARE
from treeplex.engines.boards.cuda.terminals import settling
from treeplex.updates.storage import STORAGES

_numba: Any = numba


class Kernels(NamedTuple):
    """Compiled at their first launch, for numbers of one storage and passes that learn or do not."""

    down: Any
    last: Any  # rows of a tile in shared memory
    last_apart: Any  # in memory, as much for each block as it needs for a tile
    up: Any


@cache
def kernels(storage: str, learn: bool, registers: int) -> Kernels:
    """For numbers of a storage, with so many registers at most."""
    most = {} if SIMULATED else {"max_registers": registers}
    parts, number = street(storage, learn), STORAGES[storage].work
    shared_type = _numba.float64 if number is np.float64 else _numba.float32
    go_down, find_factors, go_up, leave = parts
    settle = settling(number)

    def down(betting, cards, units, facing, clock, prune, above, above_alive, chance, rows, alive):
        shared = cuda.shared.array(0, dtype=shared_type)
        me, threads, t = int32(cuda.threadIdx.x), int32(cuda.blockDim.x), clock.t[0]
        board, tile = units[cuda.blockIdx.x, 0], units[cuda.blockIdx.x, 1]
        weight = number(clock.weight[t]) if learn else number(0.0)
        stride, first = int32(cards.board[board, layout.STRIDE]), betting.tile[tile, layout.FIRST_ROW]
        kept = rows[uint64(cards.board[board, layout.BOARD_ROWS] + np.int64(first) * stride) :]
        marks = alive[uint64(cards.board[board, layout.ALIVE] + first) :]
        go_down(betting, cards, board, tile, facing, weight, t, prune, above, above_alive, chance, kept, stride, marks,
                shared, me, threads)  # fmt: skip

    def up(betting, cards, units, learning, clock, predict, best, roots, rows, alive, found, shape):
        shared = cuda.shared.array(0, dtype=shared_type)
        me, threads, t = int32(cuda.threadIdx.x), int32(cuda.blockDim.x), clock.t[0]
        lane, warp = int32(me % LANES), int32(me // LANES)
        board, tile = units[cuda.blockIdx.x, 0], units[cuda.blockIdx.x, 1]
        stride, first = int32(cards.board[board, layout.STRIDE]), betting.tile[tile, layout.FIRST_ROW]
        kept = rows[uint64(cards.board[board, layout.BOARD_ROWS] + np.int64(first) * stride) :]
        marks = alive[uint64(cards.board[board, layout.ALIVE] + first) :]
        factors, sums = shared[SPARE:], shared[uint32(SPARE + 2 * shape.decisions) :]
        if learn:
            find_factors(betting, cards, board, tile, learning, clock, t, marks, factors, me, threads)
        if warp < shape.scanners:
            settle(betting, cards, board, tile, kept, stride, marks, sums, int32(shape.each), int32(shape.scan), lane,
                   warp, int32(shape.scanners))  # fmt: skip
        meet_block()
        good, bad = number(clock.positive[t]), number(clock.negative[t])
        go_up(betting, cards, board, tile, learning, good, bad, predict, t, best, int32(roots), kept, stride, marks,
              factors, shared, me, threads)  # fmt: skip
        leave(betting, cards, board, tile, kept, stride, found, me, threads)

    def last(apart):
        def both(betting, cards, units, facing, learning, clock, prune, predict, best, roots, above, above_alive,
                 chance, found, scratch, shape):  # fmt: skip
            shared = cuda.shared.array(0, dtype=shared_type)
            me, threads, t = int32(cuda.threadIdx.x), int32(cuda.blockDim.x), clock.t[0]
            lane, warp = int32(me % LANES), int32(me // LANES)
            weight = number(clock.weight[t]) if learn else number(0.0)
            good, bad = number(clock.positive[t]), number(clock.negative[t])
            factors, marks = shared[SPARE:], shared[uint32(SPARE + 2 * shape.decisions) :]
            sums = marks[uint32(shape.marks) :]
            if apart:
                rows = scratch[uint64(np.int64(cuda.blockIdx.x) * shape.rows) :]
            else:
                rows = sums[uint32(shape.scan * shape.scanners) :]
            for unit in range(cuda.blockIdx.x, len(units), cuda.gridDim.x):
                board, tile = units[unit, 0], units[unit, 1]
                stride = int32(cards.board[board, layout.STRIDE])
                go_down(betting, cards, board, tile, facing, weight, t, prune, above, above_alive, chance, rows, stride,
                        marks, shared, me, threads)  # fmt: skip
                meet_block()
                if learn:
                    find_factors(betting, cards, board, tile, learning, clock, t, marks, factors, me, threads)
                if warp < shape.scanners:
                    settle(betting, cards, board, tile, rows, stride, marks, sums, int32(shape.each), int32(shape.scan),
                           lane, warp, int32(shape.scanners))  # fmt: skip
                meet_block()
                go_up(betting, cards, board, tile, learning, good, bad, predict, t, best, int32(roots), rows, stride,
                      marks, factors, shared, me, threads)  # fmt: skip
                leave(betting, cards, board, tile, rows, stride, found, me, threads)
                meet_block()

        return kernel(both, **most)

    return Kernels(kernel(down, **most), last(False), last(True), kernel(up, **most))


def _collect(deals, found, rows):
    """Values of a chance node to the hands of the board above: a sum over boards and their images, in float64.

    Block (board above and chance node, run of hands). Per hand and image 2 bytes of its place and one number are read,
    the latter once from memory and else from caches, as all hands of a row are read by one block.
    """
    above = cuda.blockIdx.x // len(deals.row)
    node = cuda.blockIdx.x % len(deals.row)
    h = cuda.blockIdx.y * cuda.blockDim.x + cuda.threadIdx.x
    if h < deals.above[above, 2]:
        total = 0.0
        for k in range(deals.first[above], deals.first[above + 1]):
            place = deals.back[uint64(deals.image[k, 2] + h)]
            total += np.float64(found[uint64(deals.image[k, 0] + node * deals.image[k, 1] + place)])
        rows[uint64(deals.above[above, 0] + deals.row[node] * deals.above[above, 1] + h)] = total


def _tick(clock):
    clock.t[0] += 1


def _clear(array):
    for k in range(cuda.grid(1), len(array), cuda.gridsize(1)):
        array[k] = 0


clear: Any = kernel(_clear)
collect: Any = kernel(_collect)
tick: Any = kernel(_tick)
