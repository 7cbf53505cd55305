"""Barriers and joint results of the threads of a block, on a GPU and under Numba's simulator.

The simulator has neither warps nor shuffles. There a block is a single warp of a few lanes.
"""

# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

import threading
from typing import Any, Final

import numba

from treeplex.kernels.cuda.kernels import ALL, SIMULATED, callee, cuda, int32, uint32

LANES: Final = 4 if SIMULATED else 32
_numba: Any = numba
uint64: Any = int if SIMULATED else _numba.uint64


def _block_barrier():
    cuda.syncthreads()


def _warp_barrier():
    cuda.syncwarp()


def _simulated_barrier():
    thread: Any = threading.current_thread()
    thread.syncthreads()


def _before_by_shuffles(x, lane, shared, at):
    total, d = x, int32(1)
    while d < 32:
        y = cuda.shfl_up_sync(uint32(ALL), total, d)
        if lane >= d:
            total += y
        d = int32(d + d)
    before = cuda.shfl_up_sync(uint32(ALL), total, int32(1))
    return before if lane > 0 else total - total, cuda.shfl_sync(uint32(ALL), total, int32(31))


def _before_by_barriers(x, lane, shared, at):
    shared[at + lane] = x
    _simulated_barrier()
    before = x - x
    for k in range(lane):
        before += shared[at + k]
    total = before
    for k in range(lane, LANES):
        total += shared[at + k]
    _simulated_barrier()
    return before, total


def _top_by_shuffles(x, shared, at, me, threads):
    d = int32(16)
    while d > 0:
        x = max(x, cuda.shfl_xor_sync(uint32(ALL), x, d))
        d = int32(d >> 1)
    if me & 31 == 0:
        shared[uint32(at + (me >> 5))] = x
    cuda.syncthreads()
    top = shared[uint32(at)]
    for warp in range(1, threads >> 5):
        top = max(top, shared[uint32(at + warp)])
    cuda.syncthreads()
    return top


def _top_by_barriers(x, shared, at, me, threads):
    shared[at + me] = x
    _simulated_barrier()
    top = x
    for k in range(threads):
        top = max(top, shared[at + k])
    _simulated_barrier()
    return top


block_barrier: Any = _simulated_barrier if SIMULATED else callee(_block_barrier)
"""Barrier for all threads of the block."""
warp_barrier: Any = _simulated_barrier if SIMULATED else callee(_warp_barrier)
"""Barrier for all lanes of the warp."""
before: Any = _before_by_barriers if SIMULATED else callee(_before_by_shuffles)
"""Function (x, lane, shared, at): the sums of x over the lanes before this one, and over all lanes."""
top: Any = _top_by_barriers if SIMULATED else callee(_top_by_shuffles)
"""Function (x, shared, at, me, threads): the largest x of a block, in every thread."""
