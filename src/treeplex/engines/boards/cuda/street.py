"""Street roots on a board: down through the opponent's decisions, up through the learner's; a thread for each hand.

A thread takes its hand through several street roots, one after the other: on a river most of them have one or two
decisions, and what is the same for all of a board is read once. Numbers of a hand are read and written by one thread
only, so nobody waits for anybody. Numbers are computed as they are stored, in float64 or float32; passes that learn
have a form of their own for 16 bits (``street16``).

What is read for up to four actions is asked for at once, before any of it is used: a thread waits for memory twice per
decision, not twice per action. Kernels are bound by instructions before they are bound by memory (measured), so loops
are ``while`` (a ``range`` with a step divides), places are 32 bits wide, records are flat, arrays are entered with
``tail``, and locks, which are rare, are compiled apart.

Bytes per action and hand, of numbers of b bytes. Down: the opponent's regret read, its average read and written, 3 b;
nothing where the hand does not get there. Up: the learner's regret read and written, 2 b, and 2 b more for predictive
rules; nothing where the opponent does not get there with any hand. Rows are beside that: written once,
read once or twice, and those of the last street stay in the L2 cache. An evaluation reads b down, and b up if it plays
the learner's strategy.
"""

# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from functools import cache
from typing import Final

import numpy as np

from treeplex.cuda.kernels import rule, select, tail, uint32
from treeplex.engines.boards.arrays import ALL_LOCKED, FREE
from treeplex.engines.boards.cuda import arrays as layout
from treeplex.engines.boards.cuda.common import TINY, Street, common, part
from treeplex.engines.boards.cuda.meeting import uint64
from treeplex.updates.rules import decayed, matched
from treeplex.updates.storage import STORAGES

SOON: Final = 4  # actions whose numbers are asked for by those who use them


@cache
def street(storage: str, learn: bool, locks: bool) -> Street:
    """Parts for numbers of a storage, of passes that learn or that do not; ``locks``: may hands be locked?"""
    number = STORAGES[storage].work
    match, decay = rule(matched, where=select), rule(decayed, where=select)
    zero, one, tiny = number(0.0), number(1.0), number(TINY)
    word, closed, is_locked, lock_of, fetch, shared_out, value = common(storage, locks)

    def four(numbers, at, actions, width):
        """Numbers of a hand for up to four actions, zero where there is none."""
        x1, x2, x3 = zero, zero, zero
        x0 = number(numbers[at])
        if actions > uint32(1):
            x1 = number(numbers[uint32(at + width)])
        if actions > uint32(2):
            x2 = number(numbers[uint32(at + uint32(2 * width))])
        if actions > uint32(3):
            x3 = number(numbers[uint32(at + uint32(3 * width))])
        return x0, x1, x2, x3

    def passed(x, m, weight, prune, adds, rows, to, alive, mark, stamp, average, at):
        """The opponent's reach after an action, and its average; ``m``: as it was."""
        rows[to] = x
        if x != zero:
            if prune:
                alive[mark] = stamp
            if learn and adds:
                average[at] = m + weight * x

    four, passed = part(four), part(passed)

    def down_root(betting, root, width, stride, reach, source, average, rows, facing, decision, weight, prune, alive,
                  marks, stamp, me, h):  # fmt: skip
        """Reach rows of a hand below one street root; ``source``, ``average`` and ``rows`` begin with its own."""
        adds = learn and weight > zero
        d = uint32(word(root, layout.THEIRS) * layout.THEIRS_WORDS)
        end = uint32(word(root, layout.THEIRS_END) * layout.THEIRS_WORDS)
        while d < end:
            record = tail(betting.theirs, d)
            above_row, first = word(record, layout.ABOVE), word(record, layout.OUT)
            actions = word(record, layout.ACTIONS)
            at, to = uint32(word(record, layout.SLOT) * width), uint32(first * stride)
            lock, locked, held = np.int64(FREE), facing.locked, False
            if learn and locks:
                lock = lock_of(facing.where, uint64(decision + word(record, layout.NUMBER)))
                locked = locked[uint64(lock if lock >= 0 else 0) :]
                held = lock >= 0 and is_locked(locked, actions, width, h)
            mark = uint32(marks + first)
            if not prune and me == 0:
                a = uint32(0)
                while a < actions:
                    alive[uint32(mark + a)] = stamp
                    a = uint32(a + 1)
            x0, x1, x2, x3 = four(source, at, actions, width)  # before it is known whether the hand gets here
            m0, m1, m2, m3 = zero, zero, zero, zero
            if adds and not held:
                m0, m1, m2, m3 = four(average, at, actions, width)
            parent = reach
            if above_row != 0:
                parent = rows[uint32(above_row * stride)]
            if parent == zero:
                a = uint32(0)
                while a < actions:
                    rows[to] = zero
                    to, a = uint32(to + stride), uint32(a + 1)
            else:
                total, a = max(x0, zero) + max(x1, zero) + max(x2, zero) + max(x3, zero), uint32(4)
                while a < actions:
                    total += max(number(source[uint32(at + uint32(a * width))]), zero)
                    a = uint32(a + 1)
                factor, rest = shared_out(total, parent, actions)
                if not held:
                    x = max(x0, zero) * factor + rest
                    passed(x, m0, weight, prune, adds, rows, to, alive, mark, stamp, average, at)
                    if actions > uint32(1):
                        at, to, mark = uint32(at + width), uint32(to + stride), uint32(mark + 1)
                        x = max(x1, zero) * factor + rest
                        passed(x, m1, weight, prune, adds, rows, to, alive, mark, stamp, average, at)
                    if actions > uint32(2):
                        at, to, mark = uint32(at + width), uint32(to + stride), uint32(mark + 1)
                        x = max(x2, zero) * factor + rest
                        passed(x, m2, weight, prune, adds, rows, to, alive, mark, stamp, average, at)
                    if actions > uint32(3):
                        at, to, mark = uint32(at + width), uint32(to + stride), uint32(mark + 1)
                        x = max(x3, zero) * factor + rest
                        passed(x, m3, weight, prune, adds, rows, to, alive, mark, stamp, average, at)
                    a = uint32(4)
                    while a < actions:
                        at, to, mark = uint32(at + width), uint32(to + stride), uint32(mark + 1)
                        x = max(number(source[at]), zero) * factor + rest
                        m = number(average[at]) if learn else zero
                        passed(x, m, weight, prune, adds, rows, to, alive, mark, stamp, average, at)
                        a = uint32(a + 1)
                else:
                    a = uint32(0)
                    while a < actions:
                        x = max(number(source[at]), zero) * factor + rest
                        rows[to] = x
                        if prune and x != zero:
                            alive[mark] = stamp
                        if learn and adds:
                            average[at] = locked[uint32(a * width + h)]
                        at, to, mark, a = uint32(at + width), uint32(to + stride), uint32(mark + 1), uint32(a + 1)
            d = uint32(d + layout.THEIRS_WORDS)

    down_root = part(down_root)

    def down(betting, cards, board, n, end, facing, weight, t, prune, above, above_alive, stamp, chance, rows, alive,
             shared, me, threads, begin):  # fmt: skip
        """Reach rows of street roots n to ``end``; the opponent's average is kept on the way, rows with a hand marked.

        The block's hands begin at ``begin``.
        """
        told, h = tail(cards.board, uint32(board * layout.BOARD_WORDS)), uint32(begin + me)
        width, stride = word(told, layout.BOARD_THEIRS), word(told, layout.BOARD_STRIDE)
        if begin >= width:
            return
        over, over_stride = word(told, layout.BOARD_OVER), word(told, layout.BOARD_OVER_STRIDE)
        over_marks, texture = word(told, layout.BOARD_OVER_MARKS), word(told, layout.BOARD_TEXTURE)
        if h < width:
            over = uint32(over + uint32(cards.map[uint32(word(told, layout.BOARD_MAP) + h)]))
        base, all_marks = word(told, layout.BOARD_ROWS), word(told, layout.BOARD_MARKS)
        decision, numbers = word(told, layout.BOARD_THEIR_DECISION), cards.storage[uint32(2 * board)]
        while n < end:
            root = tail(betting.root, uint32(n * layout.ROOT_WORDS))
            entry, first = word(root, layout.ENTRY), word(root, layout.FIRST_ROW)
            reached = above_alive[uint32(over_marks + entry)] == stamp  # else nobody reads the rows
            if reached and not closed(root, texture):
                start = uint64(numbers + np.int64(uint32(word(root, layout.THEIR_SLOT) * width)))
                source, average = tail(facing.source, start), facing.average
                if learn:
                    average = tail(average, start)
                fetch(source, average, uint32(SOON), word(root, layout.THEIR_SLOTS), width, h, learn)
                if h < width:
                    marks = uint32(all_marks + first)
                    if h == 0:
                        alive[marks] = stamp
                    mine = tail(rows, uint32(base + uint32(first * stride) + h))
                    reach = chance * above[uint32(over + uint32(entry * over_stride))]
                    mine[0] = reach
                    source = tail(source, h)
                    if learn:
                        average = tail(average, h)
                    down_root(betting, root, width, stride, reach, source, average, mine, facing, decision, weight,
                              prune, alive, marks, stamp, h, h)  # fmt: skip
            n = uint32(n + 1)

    def values(betting, item, actions, rows, stride):
        """Of up to four actions."""
        v1, v2, v3 = zero, zero, zero
        v0 = value(betting, item, rows, stride)
        if actions > uint32(1):
            v1 = value(betting, uint32(item + 1), rows, stride)
        if actions > uint32(2):
            v2 = value(betting, uint32(item + 2), rows, stride)
        if actions > uint32(3):
            v3 = value(betting, uint32(item + 3), rows, stride)
        return v0, v1, v2, v3

    def taught(s, gain, positive, negative, good, bad, predict, regret, predicted, at):
        """New regrets of an action."""
        r = decay(s, positive, negative, zero) + gain
        regret[at] = r
        if predict > zero:
            predicted[at] = decay(r, good, bad, zero) + predict * gain

    values, taught = part(values), part(taught)

    def up_root(betting, root, width, stride, source, regret, predicted, rows, learning, decision, good, bad, predict,
                best, alive, marks, stamp, factors, kept, h):  # fmt: skip
        """Values of the learner's decisions to a hand below one street root, and what is learnt.

        Arrays are from the unit's and the hand's; ``kept``: where the last decision's factors end.
        """
        first = uint32(word(root, layout.OWN) * layout.OWN_WORDS)
        d = uint32(word(root, layout.OWN_END) * layout.OWN_WORDS)
        while d > first:
            d, kept = uint32(d - layout.OWN_WORDS), uint32(kept - 2)
            record = tail(betting.own, d)
            actions, item = word(record, layout.OWN_ACTIONS), word(record, layout.ITEM)
            at, expected = uint32(word(record, layout.OWN_SLOT) * width), zero
            if alive[uint32(marks + word(record, layout.REACHED))] == stamp:
                lock, locked, held = np.int64(FREE), learning.locked, False
                if locks:
                    lock = lock_of(learning.where, uint64(decision + word(record, layout.OWN_NUMBER)))
                    locked = locked[uint64(lock if lock >= 0 else 0) :]
                    held = lock >= 0 and is_locked(locked, actions, width, h)
                plays = learn or not best or held or lock == ALL_LOCKED
                s0, s1, s2, s3 = zero, zero, zero, zero
                if plays:
                    s0, s1, s2, s3 = four(source, at, actions, width)
                v0, v1, v2, v3 = values(betting, item, actions, rows, stride)
                if plays:
                    x0, x1, x2, x3 = max(s0, zero), max(s1, zero), max(s2, zero), max(s3, zero)
                    total, plain = x0 + x1 + x2 + x3, v0 + v1 + v2 + v3
                    weighted = x0 * v0 + x1 * v1 + x2 * v2 + x3 * v3
                    a = uint32(4)
                    while a < actions:
                        v = value(betting, uint32(item + a), rows, stride)
                        x = max(number(source[uint32(at + uint32(a * width))]), zero)
                        total += x
                        weighted += x * v
                        plain += v
                        a = uint32(a + 1)
                    known, each = match(weighted, total, tiny, one)
                    expected = each if known else plain / number(actions)
                else:
                    expected = v0
                    if actions > uint32(1):
                        expected = max(expected, v1)
                    if actions > uint32(2):
                        expected = max(expected, v2)
                    if actions > uint32(3):
                        expected = max(expected, v3)
                    a = uint32(4)
                    while a < actions:
                        expected = max(expected, value(betting, uint32(item + a), rows, stride))
                        a = uint32(a + 1)
                if learn and held:
                    a = uint32(0)
                    while a < actions:
                        regret[at] = locked[uint32(a * width + h)]
                        if predict > zero:
                            predicted[at] = locked[uint32(a * width + h)]
                        at, a = uint32(at + width), uint32(a + 1)
                elif learn and lock != ALL_LOCKED:
                    positive, negative = factors[kept], factors[uint32(kept + 1)]
                    if predict > zero:
                        s0, s1, s2, s3 = four(regret, at, actions, width)
                    taught(s0, v0 - expected, positive, negative, good, bad, predict, regret, predicted, at)
                    if actions > uint32(1):
                        at = uint32(at + width)
                        taught(s1, v1 - expected, positive, negative, good, bad, predict, regret, predicted, at)
                    if actions > uint32(2):
                        at = uint32(at + width)
                        taught(s2, v2 - expected, positive, negative, good, bad, predict, regret, predicted, at)
                    if actions > uint32(3):
                        at = uint32(at + width)
                        taught(s3, v3 - expected, positive, negative, good, bad, predict, regret, predicted, at)
                    a = uint32(4)
                    while a < actions:
                        at = uint32(at + width)
                        gain = value(betting, uint32(item + a), rows, stride) - expected
                        taught(regret[at], gain, positive, negative, good, bad, predict, regret, predicted, at)
                        a = uint32(a + 1)
            rows[uint32(word(record, layout.VALUE) * stride)] = expected

    up_root = part(up_root)

    def up(betting, cards, board, n, end, learning, good, bad, predict, t, best, rows, alive, stamp, owns, factors,
           found, shared, me, threads, begin):  # fmt: skip
        """Values of street roots n to ``end``: of the learner's decisions, from the last to the first, what is learnt.

        Of values of actions only the value of the decision is kept.
        """
        told, h = tail(cards.board, uint32(board * layout.BOARD_WORDS)), uint32(begin + me)
        width, stride = word(told, layout.BOARD_WIDTH), word(told, layout.BOARD_STRIDE)
        if begin >= width:
            return
        roots = uint32(len(betting.root) // layout.ROOT_WORDS)
        to = uint32(uint32(roots * word(told, layout.BOARD_START)) + uint32(n * width) + h)
        base, all_marks = word(told, layout.BOARD_ROWS), word(told, layout.BOARD_MARKS)
        texture, decision = word(told, layout.BOARD_TEXTURE), word(told, layout.BOARD_DECISION)
        numbers, twice = cards.storage[uint32(2 * board + 1)], uint32(2 * uint32(board * owns))
        while n < end:
            root = tail(betting.root, uint32(n * layout.ROOT_WORDS))
            first = word(root, layout.FIRST_ROW)
            marks = uint32(all_marks + first)
            if not closed(root, texture):
                result = zero
                if alive[marks] == stamp:
                    start = uint64(numbers + np.int64(uint32(word(root, layout.ROOT_SLOT) * width)))
                    source, regret, predicted = tail(learning.source, start), learning.regret, learning.predicted
                    if learn:
                        regret = tail(regret, start)
                        if predict > zero:
                            predicted = tail(predicted, start)
                    slots = word(root, layout.ROOT_SLOTS)
                    if slots > uint32(SOON) and (learn or not best):
                        fetch(source, regret, uint32(0), uint32(slots - SOON), width, h, learn and predict > zero)
                    if h < width:
                        source, mine = tail(source, h), tail(rows, uint32(base + uint32(first * stride) + h))
                        if learn:
                            regret = tail(regret, h)
                            if predict > zero:
                                predicted = tail(predicted, h)
                        kept = uint32(twice + uint32(2 * word(root, layout.OWN_END)))
                        up_root(betting, root, width, stride, source, regret, predicted, mine, learning, decision,
                                good, bad, predict, best, alive, marks, stamp, factors, kept, h)  # fmt: skip
                        result = value(betting, n, mine, stride)
                if h < width:
                    found[to] = result
            n, to = uint32(n + 1), uint32(to + width)

    return Street(part(down), part(up))
