"""Pass down through the opponent's decisions on a board: reach of every action, and averages; see ``kernels``."""

# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from treeplex.engines.boards.cuda import arrays as layout
from treeplex.engines.boards.cuda.barrier import uint64
from treeplex.engines.boards.cuda.common import closed, common, decision_index, fetching, part, word
from treeplex.engines.boards.cuda.hands import SOON, two_hands
from treeplex.engines.boards.cuda.pairs import pairs
from treeplex.kernels.cuda.kernels import tail, uint32
from treeplex.updates.storage import STORAGES


@cache
def splitting(storage: str, learn: bool, locks: bool) -> Any:
    """Return the kernel part that splits the reach of a decision among its actions."""
    number = STORAGES[storage].work
    zero = number(0.0)
    none = (zero, zero)
    load, store, plus, _, times, scaled, _, positive, some = pairs(number)
    matching_factors, unless_locked = common(storage, locks).matching_factors, two_hands(storage, locks).unless_locked

    def store_reach(x, factor, rest, m, how, rows, to, alive, mark, average, at, locked, k):
        """Store the opponent's reach after an action, and its average; ``m``: the old average.

        ``x``: the number that the strategy is normalised from. ``how``: weight, whether to prune, whether to add to the
        average, and the stamp. ``k``: index in locked rows.
        """
        weight, prune, adds, stamp = how
        x = plus(times(positive(x), factor), rest)
        store(rows, to, x)
        if some(x):
            if prune:
                alive[mark] = stamp
            if learn and adds:
                store(average, at, unless_locked(plus(m, scaled(x, weight)), locked, k))

    store_reach = part(store_reach)

    def split(actions, width, stride, parent, x, m, source, how, rows, to, alive, mark, average, at, locked, k):
        """Split the reach of a decision.

        ``x``: numbers that strategies are normalised from, for the first four actions; ``m``: their averages.
        """
        total, a = plus(plus(plus(positive(x[0]), positive(x[1])), positive(x[2])), positive(x[3])), uint32(4)
        while a < actions:
            total = plus(total, positive(load(source, uint32(at + uint32(a * width)))))
            a = uint32(a + 1)
        one_factor, one_rest = matching_factors(total[0], parent[0], parent[0], actions)
        two_factor, two_rest = matching_factors(total[1], parent[1], parent[1], actions)
        factor, rest = (one_factor, two_factor), (one_rest, two_rest)
        store_reach(x[0], factor, rest, m[0], how, rows, to, alive, mark, average, at, locked, k)
        if actions > uint32(1):
            at, to, mark, k = uint32(at + width), uint32(to + stride), uint32(mark + 1), uint32(k + width)
            store_reach(x[1], factor, rest, m[1], how, rows, to, alive, mark, average, at, locked, k)
        if actions > uint32(2):
            at, to, mark, k = uint32(at + width), uint32(to + stride), uint32(mark + 1), uint32(k + width)
            store_reach(x[2], factor, rest, m[2], how, rows, to, alive, mark, average, at, locked, k)
        if actions > uint32(3):
            at, to, mark, k = uint32(at + width), uint32(to + stride), uint32(mark + 1), uint32(k + width)
            store_reach(x[3], factor, rest, m[3], how, rows, to, alive, mark, average, at, locked, k)
        a = uint32(4)
        while a < actions:
            at, to, mark, k = uint32(at + width), uint32(to + stride), uint32(mark + 1), uint32(k + width)
            before = load(average, at) if learn else none
            store_reach(load(source, at), factor, rest, before, how, rows, to, alive, mark, average, at, locked, k)
            a = uint32(a + 1)

    return part(split)


@cache
def root_down(storage: str, learn: bool, locks: bool) -> Any:
    """Return the kernel part that goes down through the decisions below a street root."""
    number = STORAGES[storage].work
    zero = number(0.0)
    none = (zero, zero)
    nothing = (none, none, none, none)
    load, store, some = pairs(number).load, pairs(number).store, pairs(number).some
    (four, read_locks, _), split = two_hands(storage, locks), splitting(storage, learn, locks)

    def down_root(betting, root, width, stride, reach, source, average, rows, facing, decision, weight, prune, alive,
                  marks, stamp, h):  # fmt: skip
        """Fill reach rows of two hands below one street root; ``source``, ``average`` and ``rows`` begin at them."""
        adds = learn and weight > zero
        d = uint32(word(root, layout.THEIRS) * layout.THEIRS_WORDS)
        end = uint32(word(root, layout.THEIRS_END) * layout.THEIRS_WORDS)
        while d < end:
            record = tail(betting.theirs, d)
            above_row, first_row = word(record, layout.ABOVE), word(record, layout.OUT)
            actions = word(record, layout.ACTIONS)
            at, to = uint32(word(record, layout.SLOT) * width), uint32(first_row * stride)
            locked = False, False, False, facing.locked
            if learn and locks:
                index = decision_index(decision, word(record, layout.NUMBER))
                locked = read_locks(facing.where, facing.locked, index, actions, width, h)
            mark = uint32(marks + first_row)
            if not prune and h == 0:
                a = uint32(0)
                while a < actions:
                    alive[uint32(mark + a)] = stamp
                    a = uint32(a + 1)
            x, m = four(source, at, actions, width), nothing  # before it is known whether the hands reach the decision
            if adds:
                m = four(average, at, actions, width)
            parent = reach
            if above_row != 0:
                parent = load(rows, uint32(above_row * stride))
            if some(parent):
                how = weight, prune, adds, stamp
                split(actions, width, stride, parent, x, m, source, how, rows, to, alive, mark, average, at, locked, h)
            else:
                a = uint32(0)
                while a < actions:
                    store(rows, to, none)
                    to, a = uint32(to + stride), uint32(a + 1)
            d = uint32(d + layout.THEIRS_WORDS)

    return part(down_root)


@cache
def going_down(storage: str, learn: bool, locks: bool) -> Any:
    """Return the part of kernels for a storage, of passes that learn or do not learn."""
    store, fetch = pairs(STORAGES[storage].work).store, fetching(storage)
    down_root = root_down(storage, learn, locks)

    def down(betting, cards, board, n, end, facing, weight, t, prune, above, above_alive, stamp, chance, rows, alive,
             shared, me, threads, begin):  # fmt: skip
        """Fill reach rows of street roots n to ``end``, update the opponent's average, and mark rows with a hand.

        The block's pairs of hands begin at ``begin``.
        """
        header, h = tail(cards.board, uint32(board * layout.BOARD_WORDS)), uint32(2 * uint32(begin + me))
        width, stride = word(header, layout.BOARD_THEIRS), word(header, layout.BOARD_STRIDE)
        if h >= width:
            return
        over_stride, texture = word(header, layout.BOARD_OVER_STRIDE), word(header, layout.BOARD_TEXTURE)
        over, over_marks = word(header, layout.BOARD_OVER), word(header, layout.BOARD_OVER_MARKS)
        position = uint32(word(header, layout.BOARD_MAP) + h)
        one_over = uint32(over + uint32(cards.map[position]))
        two_over = uint32(over + uint32(cards.map[uint32(position + 1)]))
        base, all_marks = uint32(word(header, layout.BOARD_ROWS) + h), word(header, layout.BOARD_MARKS)
        decision, numbers = word(header, layout.BOARD_THEIR_DECISION), cards.storage[uint32(2 * board)]
        while n < end:
            root = tail(betting.root, uint32(n * layout.ROOT_WORDS))
            entry, first = word(root, layout.ENTRY), word(root, layout.FIRST_ROW)
            is_reached = above_alive[uint32(over_marks + entry)] == stamp  # otherwise the rows are never read
            if is_reached and not closed(root, texture):
                start = uint64(numbers + np.int64(uint32(uint32(word(root, layout.THEIR_SLOT) * width) + h)))
                source, average = tail(facing.source, start), facing.average
                if learn:
                    average = tail(average, start)
                fetch(source, average, uint32(SOON), word(root, layout.THEIR_SLOTS), width, h, learn)
                marks = uint32(all_marks + first)
                if h == 0:
                    alive[marks] = stamp
                mine, above_row = tail(rows, uint32(base + uint32(first * stride))), uint32(entry * over_stride)
                reach = chance * above[uint32(one_over + above_row)], chance * above[uint32(two_over + above_row)]
                store(mine, uint32(0), reach)
                down_root(betting, root, width, stride, reach, source, average, mine, facing, decision, weight, prune,
                          alive, marks, stamp, h)  # fmt: skip
            n = uint32(n + 1)

    return part(down)
