"""Kernels over street roots on boards, terminals and chance nodes; see ``terminals``.

A pass launches ``tick``, then ``down`` for every street from the first, then ``settle``, ``up`` and ``collect`` for
every street from the last. On the last street, boards are grouped into runs whose rows fit in the L2 cache. ``down``,
``settle`` and ``up`` of a run are launched before those of the next.

Passes go down through the opponent's decisions and up through the learner's, with one thread for two hands. A thread
processes its hands at several street roots, one after the other. On a river most roots have one or two decisions, and
the thread reads data of the board only once. Numbers of a hand are read and written by one thread only, so threads do
not wait for each other. Numbers are computed as they are stored, in float64 or float32. For 16 bits, passes that learn
have their own version (``street16``).

Numbers of up to four actions are requested together, before any of them is used. So a thread waits for memory twice per
decision, not twice per action. Measurements show that kernels are limited by instructions before memory. Therefore
loops are ``while`` (a ``range`` with a step divides), indices have 32 bits, records are flat, and subarrays are taken
with ``tail``. Kernels with locks, which are rare, are compiled separately.

Traffic per action and hand, for numbers of b bytes:

- Down: 3 b. The opponent's regret is read, and its average is read and written. Nothing if the hand does not reach it.
- Up: 2 b, and 2 b more for predictive rules. The learner's regret is read and written. Nothing if the opponent does not
  reach the decision with any hand.
- Rows are additional. They are written once and read once or twice, and those of the last street stay in the L2 cache.
- An evaluation reads b down, and b up if it plays the learner's strategy.
"""

# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from functools import cache
from typing import Any, Final, NamedTuple

import numba
import numpy as np

from treeplex.engines.boards.cuda import arrays as layout
from treeplex.engines.boards.cuda import street16
from treeplex.engines.boards.cuda.barrier import LANES, uint64
from treeplex.engines.boards.cuda.common import factor
from treeplex.engines.boards.cuda.down import going_down
from treeplex.engines.boards.cuda.terminals import settling
from treeplex.engines.boards.cuda.up import going_up
from treeplex.kernels.cuda.kernels import SIMULATED, callee, cuda, kernel, load4, uint32
from treeplex.updates.storage import STORAGES

_numba: Any = numba

REGISTERS: Final = (64, 48)  # per thread that goes down or up in float32; with fewer, more threads run concurrently


class BoardsKernels(NamedTuple):
    """Kernels for one storage, for passes that learn or do not learn; compiled at their first launch."""

    down: Any
    settle: Any
    up: Any


@cache
def kernels(storage: str, learn: bool, locks: bool) -> BoardsKernels:
    """Return the kernels for a storage; ``locks``: may hands be locked?"""
    number, scaled = STORAGES[storage].work, STORAGES[storage].scaled
    shared_type = _numba.float64 if number is np.float64 else _numba.float32
    if scaled and learn:
        go_down, go_up = street16.going_down(storage, locks), street16.going_up(storage, locks)
    else:
        go_down, go_up = going_down(storage, learn, locks), going_up(storage, learn, locks)
    find_factor, settle_row = factor(storage, locks), settling(number)

    def down(betting, cards, begin, each, facing, clock, prune, above, above_alive, chance, rows, alive):
        """Go down a board. A block has some hands, ``each`` street roots and a board."""
        shared = cuda.shared.array(0, dtype=shared_type)
        me, threads, t = uint32(cuda.threadIdx.x), uint32(cuda.blockDim.x), clock.t[0]
        n, board = uint32(cuda.blockIdx.y * uint32(each)), uint32(begin + cuda.blockIdx.z)
        end = uint32(min(uint32(n + uint32(each)), uint32(len(betting.root) // layout.ROOT_WORDS)))
        weight = number(clock.weight[t]) if learn else number(0.0)
        go_down(betting, cards, board, n, end, facing, weight, t, prune, above, above_alive, clock.stamp[0], chance,
                rows, alive, shared, me, threads, uint32(cuda.blockIdx.x * threads))  # fmt: skip

    def settle(betting, cards, begin, groups, owns, rows, alive, learning, clock, factors, sums):
        """Compute terminals, and discounts in passes that learn.

        A block has some terminal groups, one per warp, and a board. Further blocks have decisions and a board.
        """
        shared = cuda.shared.array(0, dtype=shared_type)
        me, threads, t = uint32(cuda.threadIdx.x), uint32(cuda.blockDim.x), clock.t[0]
        board, x, stamp = uint32(begin + cuda.blockIdx.y), uint32(cuda.blockIdx.x), clock.stamp[0]
        if x < uint32(sums.blocks):
            lane, warp = uint32(me % LANES), uint32(me // LANES)
            g = uint32(uint32(x * uint32(sums.warps)) + warp)
            if g < uint32(groups):
                mine = shared[uint32(warp * uint32(sums.size)) :]
                settle_row(betting, cards, board, g, rows, alive, stamp, mine, uint32(sums.each), lane)
        elif learn:
            n = uint32(uint32(uint32(x - uint32(sums.blocks)) * threads) + me)
            if n < uint32(owns):
                b = uint32(board * layout.BOARD_WORDS)
                first = uint32(cards.board[uint32(b + layout.BOARD_DECISION)])
                row = uint32(betting.own[uint32(n * layout.OWN_WORDS + layout.MARK)])
                mark = alive[uint32(uint32(cards.board[uint32(b + layout.BOARD_MARKS)]) + row)]
                at = uint32(2 * (board * uint32(owns) + n))
                find_factor(betting, first, n, learning, clock, t, mark, stamp, factors, at)

    def up(betting, cards, begin, each, owns, learning, clock, predict, best, rows, alive, factors, root_values):
        """Go up a board. A block has some hands, ``each`` street roots and a board."""
        shared = cuda.shared.array(0, dtype=shared_type)
        me, threads, t = uint32(cuda.threadIdx.x), uint32(cuda.blockDim.x), clock.t[0]
        n, board = uint32(cuda.blockIdx.y * uint32(each)), uint32(begin + cuda.blockIdx.z)
        end = uint32(min(uint32(n + uint32(each)), uint32(len(betting.root) // layout.ROOT_WORDS)))
        good, bad = number(clock.positive[t]), number(clock.negative[t])
        go_up(betting, cards, board, n, end, learning, good, bad, predict, t, best, rows, alive, clock.stamp[0],
              uint32(owns), factors, root_values, shared, me, threads, uint32(cuda.blockIdx.x * threads))  # fmt: skip

    most: list[dict[str, Any]] = [
        {"max_registers": count} if number is np.float32 and not SIMULATED else {} for count in REGISTERS
    ]
    return BoardsKernels(kernel(down, **most[0]), kernel(settle), kernel(up, **most[1]))


def _image(deals, k, node, h):
    """Return the index of a hand's value for image k."""
    first, width, back, _ = load4(deals.image, uint32(4 * k))
    return uint32(first + uint32(node * width) + uint32(deals.back[uint32(back + h)]))


_image = callee(_image)


def _collect(deals, root_values, rows):
    """Sum values of a chance node to the hands of the board above over boards and their images, in float64.

    A block has a chance node of a board above, and a run of hands. Per hand and image, it reads 2 bytes of the hand's
    position and one number. Numbers come from memory once and then from caches, because one block reads all hands of a
    row. Four images are requested at a time.
    """
    above = cuda.blockIdx.x // len(deals.row)
    node = uint32(cuda.blockIdx.x % len(deals.row))
    h = uint32(cuda.blockIdx.y * cuda.blockDim.x + cuda.threadIdx.x)
    if h < deals.above[above, 2]:
        total, k, end = 0.0, uint32(deals.first[above]), uint32(deals.first[above + 1])
        while uint32(k + 3) < end:
            x, y = root_values[_image(deals, k, node, h)], root_values[_image(deals, uint32(k + 1), node, h)]
            z, w = (
                root_values[_image(deals, uint32(k + 2), node, h)],
                root_values[_image(deals, uint32(k + 3), node, h)],
            )
            total = total + np.float64(x) + np.float64(y) + np.float64(z) + np.float64(w)
            k = uint32(k + 4)
        while k < end:
            total += np.float64(root_values[_image(deals, k, node, h)])
            k = uint32(k + 1)
        rows[uint64(deals.above[above, 0] + deals.row[node] * deals.above[above, 1] + h)] = total


def _tick(clock, iterations):
    clock.t[0] += iterations
    clock.stamp[0] += 1


def _clear(array):
    for k in range(cuda.grid(1), len(array), cuda.gridsize(1)):
        array[k] = 0


def _keep(root_values, width, n, out):
    h = cuda.grid(1)
    if h < width:
        out[n, h] = root_values[h]


def _put(array, positions, numbers, count):
    k = cuda.grid(1)
    if k < count:
        array[positions[k]] = numbers[k]


clear: Any = kernel(_clear)
collect: Any = kernel(_collect)
keep: Any = kernel(_keep)
put: Any = kernel(_put)
tick: Any = kernel(_tick)
