"""Street roots on a board: down through the opponent's decisions, up through the learner's; a thread for two hands.

A thread takes its hands through several street roots, one after the other: on a river most of them have one or two
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
from treeplex.engines.boards.arrays import ALL_LOCKED
from treeplex.engines.boards.cuda import arrays as layout
from treeplex.engines.boards.cuda.common import TINY, Street, common, part
from treeplex.engines.boards.cuda.meeting import uint64
from treeplex.engines.boards.cuda.pairs import pairs
from treeplex.updates.rules import decayed, matched
from treeplex.updates.storage import STORAGES

SOON: Final = 4  # actions whose numbers are asked for by those who use them


@cache
def street(storage: str, learn: bool, locks: bool) -> Street:
    """Parts for numbers of a storage, of passes that learn or that do not; ``locks``: may hands be locked?"""
    number = STORAGES[storage].work
    match, decay = rule(matched, where=select), rule(decayed, where=select)
    zero, one, tiny = number(0.0), number(1.0), number(TINY)
    none = (zero, zero)
    word, closed, is_locked, lock_of, fetch, shared_out, _ = common(storage, locks)
    load, store, plus, minus, times, scaled, largest, positive, some = pairs(number)

    def four(numbers, at, actions, width):
        """Numbers of both hands for up to four actions, zero where there is none."""
        x1, x2, x3 = none, none, none
        x0 = load(numbers, at)
        if actions > uint32(1):
            x1 = load(numbers, uint32(at + width))
        if actions > uint32(2):
            x2 = load(numbers, uint32(at + uint32(2 * width)))
        if actions > uint32(3):
            x3 = load(numbers, uint32(at + uint32(3 * width)))
        return x0, x1, x2, x3

    def held_of(where, rows, place, actions, width, h):
        """Is the decision locked, which of the two hands are, and the decision's locked rows."""
        lock = lock_of(where, place)
        fixed = rows[uint64(lock if lock >= 0 else 0) :]
        first = lock >= 0 and is_locked(fixed, actions, width, h)
        second = lock >= 0 and is_locked(fixed, actions, width, uint32(h + 1))
        return lock == ALL_LOCKED, first, second, fixed

    def kept(x, first, second, fixed, at):
        """New numbers, but those of locked hands, which are what they are."""
        if locks:
            x = number(fixed[at]) if first else x[0], number(fixed[uint32(at + 1)]) if second else x[1]
        return x

    four, held_of, kept = part(four), part(held_of), part(kept)

    def passed(x, m, weight, prune, adds, rows, to, alive, mark, stamp, average, at, first, second, fixed, k):
        """The opponent's reach after an action, and its average; ``m``: as it was, ``k``: its place in ``fixed``."""
        store(rows, to, x)
        if some(x):
            if prune:
                alive[mark] = stamp
            if learn and adds:
                store(average, at, kept(plus(m, scaled(x, weight)), first, second, fixed, k))

    def reached(x, factor, rest):
        """Reach after an action."""
        return plus(times(positive(x), factor), rest)

    passed, reached = part(passed), part(reached)

    def down_root(betting, root, width, stride, reach, source, average, rows, facing, decision, weight, prune, alive,
                  marks, stamp, h):  # fmt: skip
        """Reach rows of two hands below one street root; ``source``, ``average`` and ``rows`` begin with their own."""
        adds = learn and weight > zero
        d = uint32(word(root, layout.THEIRS) * layout.THEIRS_WORDS)
        end = uint32(word(root, layout.THEIRS_END) * layout.THEIRS_WORDS)
        while d < end:
            record = tail(betting.theirs, d)
            above_row, first_row = word(record, layout.ABOVE), word(record, layout.OUT)
            actions = word(record, layout.ACTIONS)
            at, to, k = uint32(word(record, layout.SLOT) * width), uint32(first_row * stride), h
            first, second, fixed = False, False, facing.locked
            if learn and locks:
                place = uint64(decision + word(record, layout.NUMBER))
                _, first, second, fixed = held_of(facing.where, facing.locked, place, actions, width, h)
            mark = uint32(marks + first_row)
            if not prune and h == 0:
                a = uint32(0)
                while a < actions:
                    alive[uint32(mark + a)] = stamp
                    a = uint32(a + 1)
            x0, x1, x2, x3 = four(source, at, actions, width)  # before it is known whether the hands get here
            m0, m1, m2, m3 = none, none, none, none
            if adds:
                m0, m1, m2, m3 = four(average, at, actions, width)
            parent = reach
            if above_row != 0:
                parent = load(rows, uint32(above_row * stride))
            if some(parent):
                total, a = plus(plus(plus(positive(x0), positive(x1)), positive(x2)), positive(x3)), uint32(4)
                while a < actions:
                    total = plus(total, positive(load(source, uint32(at + uint32(a * width)))))
                    a = uint32(a + 1)
                one_factor, one_rest = shared_out(total[0], parent[0], actions)
                two_factor, two_rest = shared_out(total[1], parent[1], actions)
                factor, rest = (one_factor, two_factor), (one_rest, two_rest)
                passed(reached(x0, factor, rest), m0, weight, prune, adds, rows, to, alive, mark, stamp, average, at,
                       first, second, fixed, k)  # fmt: skip
                if actions > uint32(1):
                    at, to, mark, k = uint32(at + width), uint32(to + stride), uint32(mark + 1), uint32(k + width)
                    passed(reached(x1, factor, rest), m1, weight, prune, adds, rows, to, alive, mark, stamp, average,
                           at, first, second, fixed, k)  # fmt: skip
                if actions > uint32(2):
                    at, to, mark, k = uint32(at + width), uint32(to + stride), uint32(mark + 1), uint32(k + width)
                    passed(reached(x2, factor, rest), m2, weight, prune, adds, rows, to, alive, mark, stamp, average,
                           at, first, second, fixed, k)  # fmt: skip
                if actions > uint32(3):
                    at, to, mark, k = uint32(at + width), uint32(to + stride), uint32(mark + 1), uint32(k + width)
                    passed(reached(x3, factor, rest), m3, weight, prune, adds, rows, to, alive, mark, stamp, average,
                           at, first, second, fixed, k)  # fmt: skip
                a = uint32(4)
                while a < actions:
                    at, to, mark, k = uint32(at + width), uint32(to + stride), uint32(mark + 1), uint32(k + width)
                    m = load(average, at) if learn else none
                    passed(reached(load(source, at), factor, rest), m, weight, prune, adds, rows, to, alive, mark,
                           stamp, average, at, first, second, fixed, k)  # fmt: skip
                    a = uint32(a + 1)
            else:
                a = uint32(0)
                while a < actions:
                    store(rows, to, none)
                    to, a = uint32(to + stride), uint32(a + 1)
            d = uint32(d + layout.THEIRS_WORDS)

    down_root = part(down_root)

    def down(betting, cards, board, n, end, facing, weight, t, prune, above, above_alive, stamp, chance, rows, alive,
             shared, me, threads, begin):  # fmt: skip
        """Reach rows of street roots n to ``end``; the opponent's average is kept on the way, rows with a hand marked.

        The block's pairs of hands begin at ``begin``.
        """
        told, h = tail(cards.board, uint32(board * layout.BOARD_WORDS)), uint32(2 * uint32(begin + me))
        width, stride = word(told, layout.BOARD_THEIRS), word(told, layout.BOARD_STRIDE)
        if h >= width:
            return
        over_stride, texture = word(told, layout.BOARD_OVER_STRIDE), word(told, layout.BOARD_TEXTURE)
        over, over_marks = word(told, layout.BOARD_OVER), word(told, layout.BOARD_OVER_MARKS)
        place = uint32(word(told, layout.BOARD_MAP) + h)
        one_over = uint32(over + uint32(cards.map[place]))
        two_over = uint32(over + uint32(cards.map[uint32(place + 1)]))
        base, all_marks = uint32(word(told, layout.BOARD_ROWS) + h), word(told, layout.BOARD_MARKS)
        decision, numbers = word(told, layout.BOARD_THEIR_DECISION), cards.storage[uint32(2 * board)]
        while n < end:
            root = tail(betting.root, uint32(n * layout.ROOT_WORDS))
            entry, first = word(root, layout.ENTRY), word(root, layout.FIRST_ROW)
            is_reached = above_alive[uint32(over_marks + entry)] == stamp  # else nobody reads the rows
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

    def value(betting, item, rows, stride):
        """Of an action or a street root to both hands: its items, two at a time."""
        total = none
        k, end = uint32(betting.item_start[item]), uint32(betting.item_start[uint32(item + 1)])
        while uint32(k + 1) < end:
            x = load(rows, uint32(betting.item[k] * stride))
            y = load(rows, uint32(betting.item[uint32(k + 1)] * stride))
            total = plus(total, plus(scaled(x, betting.chips[k]), scaled(y, betting.chips[uint32(k + 1)])))
            k = uint32(k + 2)
        if k < end:
            total = plus(total, scaled(load(rows, uint32(betting.item[k] * stride)), betting.chips[k]))
        return total

    value = part(value)

    def values(betting, item, actions, rows, stride):
        """Of up to four actions."""
        v1, v2, v3 = none, none, none
        v0 = value(betting, item, rows, stride)
        if actions > uint32(1):
            v1 = value(betting, uint32(item + 1), rows, stride)
        if actions > uint32(2):
            v2 = value(betting, uint32(item + 2), rows, stride)
        if actions > uint32(3):
            v3 = value(betting, uint32(item + 3), rows, stride)
        return v0, v1, v2, v3

    def decayed_pair(x, good, bad):
        return decay(x[0], good, bad, zero), decay(x[1], good, bad, zero)

    values, decayed_pair = part(values), part(decayed_pair)

    def taught(s, gain, good, bad, now_good, now_bad, predict, regret, predicted, at, first, second, fixed, k):
        """New regrets of an action; ``good`` and ``bad``: factors of positive and negative ones."""
        r = plus(decayed_pair(s, good, bad), gain)
        store(regret, at, kept(r, first, second, fixed, k))
        if predict > zero:
            p = plus(decayed_pair(r, now_good, now_bad), scaled(gain, predict))
            store(predicted, at, kept(p, first, second, fixed, k))

    def mixed(actions, total, weighted, plain):
        """The value of a decision to one hand, from sums over its actions."""
        known, each = match(weighted, total, tiny, one)
        return each if known else plain / number(actions)

    taught, mixed = part(taught), part(mixed)

    def up_root(betting, root, width, stride, source, regret, predicted, rows, learning, decision, now_good, now_bad,
                predict, best, alive, marks, stamp, factors, place, h):  # fmt: skip
        """Values of the learner's decisions to two hands below one street root, and what is learnt.

        Arrays begin with the hands' own; ``place``: where the last decision's factors end.
        """
        begin = uint32(word(root, layout.OWN) * layout.OWN_WORDS)
        d = uint32(word(root, layout.OWN_END) * layout.OWN_WORDS)
        while d > begin:
            d, place = uint32(d - layout.OWN_WORDS), uint32(place - 2)
            record = tail(betting.own, d)
            actions, item = word(record, layout.OWN_ACTIONS), word(record, layout.ITEM)
            at, expected = uint32(word(record, layout.OWN_SLOT) * width), none
            if alive[uint32(marks + word(record, layout.REACHED))] == stamp:
                all_locked, first, second, fixed = False, False, False, learning.locked
                if locks:
                    number_of = uint64(decision + word(record, layout.OWN_NUMBER))
                    all_locked, first, second, fixed = held_of(
                        learning.where, learning.locked, number_of, actions, width, h
                    )
                plays = learn or not best or (locks and (all_locked or first or second))
                s0, s1, s2, s3 = none, none, none, none
                if plays:
                    s0, s1, s2, s3 = four(source, at, actions, width)
                v0, v1, v2, v3 = values(betting, item, actions, rows, stride)
                a = uint32(4)
                if plays:
                    x0, x1, x2, x3 = positive(s0), positive(s1), positive(s2), positive(s3)
                    total = plus(plus(plus(x0, x1), x2), x3)
                    plain = plus(plus(plus(v0, v1), v2), v3)
                    weighted = plus(plus(plus(times(x0, v0), times(x1, v1)), times(x2, v2)), times(x3, v3))
                    while a < actions:
                        v = value(betting, uint32(item + a), rows, stride)
                        x = positive(load(source, uint32(at + uint32(a * width))))
                        total, weighted, plain = plus(total, x), plus(weighted, times(x, v)), plus(plain, v)
                        a = uint32(a + 1)
                    expected = (
                        mixed(actions, total[0], weighted[0], plain[0]),
                        mixed(actions, total[1], weighted[1], plain[1]),
                    )
                if not learn and best and not all_locked:  # but for hands that are locked
                    top, a = v0, uint32(4)
                    if actions > uint32(1):
                        top = largest(top, v1)
                    if actions > uint32(2):
                        top = largest(top, v2)
                    if actions > uint32(3):
                        top = largest(top, v3)
                    while a < actions:
                        top = largest(top, value(betting, uint32(item + a), rows, stride))
                        a = uint32(a + 1)
                    expected = expected[0] if first else top[0], expected[1] if second else top[1]
                if learn and not all_locked:
                    good, bad, k = factors[place], factors[uint32(place + 1)], h
                    if predict > zero:
                        s0, s1, s2, s3 = four(regret, at, actions, width)
                    taught(s0, minus(v0, expected), good, bad, now_good, now_bad, predict, regret, predicted, at,
                           first, second, fixed, k)  # fmt: skip
                    if actions > uint32(1):
                        at, k = uint32(at + width), uint32(k + width)
                        taught(s1, minus(v1, expected), good, bad, now_good, now_bad, predict, regret, predicted, at,
                               first, second, fixed, k)  # fmt: skip
                    if actions > uint32(2):
                        at, k = uint32(at + width), uint32(k + width)
                        taught(s2, minus(v2, expected), good, bad, now_good, now_bad, predict, regret, predicted, at,
                               first, second, fixed, k)  # fmt: skip
                    if actions > uint32(3):
                        at, k = uint32(at + width), uint32(k + width)
                        taught(s3, minus(v3, expected), good, bad, now_good, now_bad, predict, regret, predicted, at,
                               first, second, fixed, k)  # fmt: skip
                    a = uint32(4)
                    while a < actions:
                        at, k = uint32(at + width), uint32(k + width)
                        gain = minus(value(betting, uint32(item + a), rows, stride), expected)
                        taught(load(regret, at), gain, good, bad, now_good, now_bad, predict, regret, predicted, at,
                               first, second, fixed, k)  # fmt: skip
                        a = uint32(a + 1)
            store(rows, uint32(word(record, layout.VALUE) * stride), expected)

    up_root = part(up_root)

    def up(betting, cards, board, n, end, learning, good, bad, predict, t, best, rows, alive, stamp, owns, factors,
           found, shared, me, threads, begin):  # fmt: skip
        """Values of street roots n to ``end``: of the learner's decisions, from the last to the first, what is learnt.

        Of values of actions only the value of the decision is kept.
        """
        told, h = tail(cards.board, uint32(board * layout.BOARD_WORDS)), uint32(2 * uint32(begin + me))
        width, stride = word(told, layout.BOARD_WIDTH), word(told, layout.BOARD_STRIDE)
        if h >= width:
            return
        roots = uint32(len(betting.root) // layout.ROOT_WORDS)
        to = uint32(uint32(roots * word(told, layout.BOARD_START)) + uint32(n * width) + h)
        base, all_marks = uint32(word(told, layout.BOARD_ROWS) + h), word(told, layout.BOARD_MARKS)
        texture, decision = word(told, layout.BOARD_TEXTURE), word(told, layout.BOARD_DECISION)
        numbers, place = cards.storage[uint32(2 * board + 1)], uint32(2 * uint32(board * owns))
        while n < end:
            root = tail(betting.root, uint32(n * layout.ROOT_WORDS))
            first = word(root, layout.FIRST_ROW)
            marks = uint32(all_marks + first)
            if not closed(root, texture):
                result = none
                if alive[marks] == stamp:
                    start = uint64(numbers + np.int64(uint32(uint32(word(root, layout.ROOT_SLOT) * width) + h)))
                    source, regret, predicted = tail(learning.source, start), learning.regret, learning.predicted
                    if learn:
                        regret = tail(regret, start)
                        if predict > zero:
                            predicted = tail(predicted, start)
                    slots = word(root, layout.ROOT_SLOTS)
                    if slots > uint32(SOON) and (learn or not best):
                        fetch(source, regret, uint32(0), uint32(slots - SOON), width, h, learn and predict > zero)
                    mine = tail(rows, uint32(base + uint32(first * stride)))
                    up_root(betting, root, width, stride, source, regret, predicted, mine, learning, decision, good,
                            bad, predict, best, alive, marks, stamp, factors,
                            uint32(place + uint32(2 * word(root, layout.OWN_END))), h)  # fmt: skip
                    result = value(betting, n, mine, stride)
                store(found, to, result)
            n, to = uint32(n + 1), uint32(to + width)

    return Street(part(down), part(up))
