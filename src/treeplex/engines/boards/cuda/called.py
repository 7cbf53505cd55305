"""Pass up through the learner's decisions that calls a rule (``updates.rule``) for each hand; see ``kernels``.

One thread processes one hand at a time, of the two that it has in kernels of the family. Rules are called for all
hands except padding and locked ones, whether or not they are reached.
"""

# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numba
import numpy as np

from treeplex.engines.boards.arrays import ALL_LOCKED
from treeplex.engines.boards.cuda import arrays as layout
from treeplex.engines.boards.cuda.barrier import uint64
from treeplex.engines.boards.cuda.common import closed, common, decision_index, part, word
from treeplex.kernels.cuda.calls import Called, call_update
from treeplex.kernels.cuda.kernels import cuda, kernel, tail, uint32
from treeplex.updates.storage import STORAGES

_numba: Any = numba


@lru_cache(maxsize=64)
def called_root(storage: str, locks: bool, called: Called) -> Any:
    """Return the kernel part that goes up through the decisions below a street root, for one hand."""
    number, rows_of, most = STORAGES[storage].work, called.rows, called.actions
    zero, call = number(0.0), call_update(called)
    is_locked, lock_at, _, _, value, expect = common(storage, locks)

    def up_decision(betting, record, width, stride, learning, base, mine, h, hands, lock, locked, t, calls):
        """Compute the value of one decision to one hand. The hand learns unless it is locked or padding."""
        values, played = cuda.local.array(most, _numba.float64), cuda.local.array(most, _numba.float64)
        memory = cuda.local.array((rows_of + 1, most), _numba.float64)  # an array must have a row
        actions, item = word(record, layout.OWN_ACTIONS), word(record, layout.ITEM)
        first = np.int64(base) + np.int64(uint32(word(record, layout.OWN_SLOT) * width))
        source = tail(learning.source, uint64(first + np.int64(h)))
        expected = expect(betting, item, mine, stride, source, uint32(0), actions, width)
        mine[uint32(word(record, layout.VALUE) * stride)] = expected
        if h < hands and lock != ALL_LOCKED and not (lock >= 0 and is_locked(locked, actions, width, h)):
            wide, count, size = np.int64(width), np.int64(actions), np.int64(uint32(actions * width))
            at, start = first + np.int64(h), rows_of * first + np.int64(h)
            for k in range(count):
                values[k] = np.float64(value(betting, uint32(item + k), mine, stride))
                played[k] = np.float64(learning.predicted[at + k * wide])
                for r in range(rows_of):
                    memory[r, k] = np.float64(learning.regret[start + r * size + k * wide])
            if call(t, values, played, memory, count, calls):
                for k in range(count):
                    learning.predicted[at + k * wide] = played[k]
                    for r in range(rows_of):
                        learning.regret[start + r * size + k * wide] = memory[r, k]

    up_decision = part(up_decision)

    def up_root(betting, root, header, board, cards, learning, rows, h, alive, marks, stamp, t, calls):
        """Compute values of the learner's decisions to one hand below a street root; ``rows`` begin at the hand."""
        width, stride = word(header, layout.BOARD_WIDTH), word(header, layout.BOARD_STRIDE)
        hands, decision = word(header, layout.BOARD_HANDS), word(header, layout.BOARD_DECISION)
        start = cards.storage[uint32(2 * board + 1)] + np.int64(uint32(word(root, layout.ROOT_SLOT) * width))
        begin = uint32(word(root, layout.OWN) * layout.OWN_WORDS)
        d = uint32(word(root, layout.OWN_END) * layout.OWN_WORDS)
        while d > begin:
            d = uint32(d - layout.OWN_WORDS)
            record = tail(betting.own, d)
            if alive[uint32(marks + word(record, layout.REACHED))] == stamp:
                index = decision_index(decision, word(record, layout.OWN_NUMBER))
                lock, locked = lock_at(learning.where, learning.locked, index)
                up_decision(betting, record, width, stride, learning, start, rows, h, hands, lock, locked, t, calls)
            else:
                rows[uint32(word(record, layout.VALUE) * stride)] = zero

    return part(up_root)


@lru_cache(maxsize=64)
def called_up(storage: str, locks: bool, called: Called) -> Any:
    """Return the kernel that goes up. Arguments are those of the family's, with ``Calls`` for the prediction."""
    zero = STORAGES[storage].work(0.0)
    value = common(storage, locks).value
    up_root = called_root(storage, locks, called)

    def up(betting, cards, begin, each, owns, learning, clock, calls, best, rows, alive, factors, root_values):
        """Go up a board. A block has some hands, ``each`` street roots and a board."""
        n, board = uint32(cuda.blockIdx.y * uint32(each)), uint32(begin + cuda.blockIdx.z)
        roots = uint32(len(betting.root) // layout.ROOT_WORDS)
        end, stamp = uint32(min(uint32(n + uint32(each)), roots)), clock.stamp[0]
        header = tail(cards.board, uint32(board * layout.BOARD_WORDS))
        width, stride = word(header, layout.BOARD_WIDTH), word(header, layout.BOARD_STRIDE)
        first_hand = uint32(2 * uint32(cuda.blockIdx.x * cuda.blockDim.x + cuda.threadIdx.x))
        last_hand = uint32(min(uint32(first_hand + 2), width))
        while n < end:
            root = tail(betting.root, uint32(n * layout.ROOT_WORDS))
            first = word(root, layout.FIRST_ROW)
            marks = uint32(word(header, layout.BOARD_MARKS) + first)
            to = uint32(uint32(roots * word(header, layout.BOARD_START)) + uint32(n * width))
            h = first_hand
            while h < last_hand and not closed(root, word(header, layout.BOARD_TEXTURE)):
                result = zero
                if alive[marks] == stamp:
                    mine = tail(rows, uint32(uint32(word(header, layout.BOARD_ROWS) + h) + uint32(first * stride)))
                    up_root(betting, root, header, board, cards, learning, mine, h, alive, marks, stamp, clock.t[0],
                            calls)  # fmt: skip
                    result = value(betting, n, mine, stride)
                root_values[uint32(to + h)] = result
                h = uint32(h + 1)
            n = uint32(n + 1)

    return kernel(up, cached=False)
