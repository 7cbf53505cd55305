"""Pass up through the learner's decisions on a board: their values, and updates of regrets. See ``kernels``."""

# pyright: reportUnknownParameterType=false, reportMissingParameterType=false, reportUnknownVariableType=false
# pyright: reportUnknownArgumentType=false, reportUnknownMemberType=false

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import numpy as np

from treeplex.engines.boards.cuda import arrays as layout
from treeplex.engines.boards.cuda.barrier import uint64
from treeplex.engines.boards.cuda.common import closed, common, decision_index, fetching, part, word
from treeplex.engines.boards.cuda.hands import SOON, two_hands
from treeplex.engines.boards.cuda.pairs import pairs
from treeplex.kernels.cuda.kernels import load2, rule, select, tail, uint32
from treeplex.updates.rules import decayed
from treeplex.updates.storage import STORAGES


class Items(NamedTuple):
    """Kernel parts for the values of actions and street roots to two hands."""

    two_rows: Any
    summed: Any
    with_more: Any
    value: Any


@cache
def items_of(storage: str) -> Items:
    """Return the kernel parts for a storage."""
    number = STORAGES[storage].work
    zero = number(0.0)
    none = (zero, zero)
    load, _, plus, _, _, scaled, _, _, _ = pairs(number)

    def two_rows(betting, item, rows, stride):
        """Load the first two items of an action or a street root for both hands: rows and chips."""
        one, two = load2(betting.two, uint32(2 * item))
        one_chips, two_chips = load2(betting.two_chips, uint32(2 * item))
        x, y = load(rows, uint32(one * stride)), none
        if two != uint32(layout.NO_ROW):
            y = load(rows, uint32(two * stride))
        return x, y, one_chips, two_chips

    def summed(of):
        """Sum the first two items of an action or a street root."""
        return plus(scaled(of[0], of[2]), scaled(of[1], of[3]))

    def with_more(total, betting, item, rows, stride):
        """Add the items from the third on to ``total``, two at a time."""
        k, end = uint32(betting.item_start[item] + 2), uint32(betting.item_start[uint32(item + 1)])
        while uint32(k + 1) < end:
            x = load(rows, uint32(betting.item[k] * stride))
            y = load(rows, uint32(betting.item[uint32(k + 1)] * stride))
            total = plus(total, plus(scaled(x, betting.chips[k]), scaled(y, betting.chips[uint32(k + 1)])))
            k = uint32(k + 2)
        if k < end:
            total = plus(total, scaled(load(rows, uint32(betting.item[k] * stride)), betting.chips[k]))
        return total

    two_rows, summed, with_more = part(two_rows), part(summed), part(with_more)

    def value(betting, item, rows, stride):
        """Return the value of an action or a street root to both hands."""
        return with_more(summed(two_rows(betting, item, rows, stride)), betting, item, rows, stride)

    value = part(value)

    return Items(two_rows, summed, with_more, value)


@cache
def first_values(storage: str) -> Any:
    """Return the kernel part that computes values of up to four actions together."""
    zero = STORAGES[storage].work(0.0)
    nothing = (zero, zero), (zero, zero), zero, zero
    two_rows, summed, with_more, _ = items_of(storage)

    def values(betting, item, actions, more, rows, stride):
        """Compute values of up to four actions. The first two items of all are requested before any is used."""
        x1, x2, x3 = nothing, nothing, nothing
        x0 = two_rows(betting, item, rows, stride)
        if actions > uint32(1):
            x1 = two_rows(betting, uint32(item + 1), rows, stride)
        if actions > uint32(2):
            x2 = two_rows(betting, uint32(item + 2), rows, stride)
        if actions > uint32(3):
            x3 = two_rows(betting, uint32(item + 3), rows, stride)
        v0, v1, v2, v3 = summed(x0), summed(x1), summed(x2), summed(x3)
        if more != 0:
            v0 = with_more(v0, betting, item, rows, stride)
            if actions > uint32(1):
                v1 = with_more(v1, betting, uint32(item + 1), rows, stride)
            if actions > uint32(2):
                v2 = with_more(v2, betting, uint32(item + 2), rows, stride)
            if actions > uint32(3):
                v3 = with_more(v3, betting, uint32(item + 3), rows, stride)
        return v0, v1, v2, v3

    return part(values)


@cache
def action_update(storage: str, locks: bool) -> Any:
    """Return the kernel part that updates the regrets of an action."""
    number = STORAGES[storage].work
    zero, decay = number(0.0), rule(decayed, where=select)
    _, store, plus, _, _, scaled, _, _, _ = pairs(number)
    unless_locked = two_hands(storage, locks).unless_locked

    def decayed_pair(x, factors):
        return decay(x[0], factors[0], factors[1], zero), decay(x[1], factors[0], factors[1], zero)

    decayed_pair = part(decayed_pair)

    def update_action(s, gain, factors, now, predict, regret, predicted, at, locked, k):
        """Store new regrets of an action. ``factors``: discounts since the last update. ``now``: of iteration t."""
        r = plus(decayed_pair(s, factors), gain)
        store(regret, at, unless_locked(r, locked, k))
        if predict > zero:
            p = plus(decayed_pair(r, now), scaled(gain, predict))
            store(predicted, at, unless_locked(p, locked, k))

    return part(update_action)


@cache
def valued(storage: str, locks: bool) -> tuple[Any, Any]:
    """Return ``played`` and ``best_of``: values of a decision to two hands, by strategy or by best action."""
    number = STORAGES[storage].work
    value, mixed = items_of(storage).value, common(storage, locks).mixed
    load, _, plus, _, times, _, largest, positive, _ = pairs(number)

    def played(betting, item, actions, rows, stride, width, source, at, s, v):
        """Return values by the strategy normalised from ``source``. ``s``: its first numbers. ``v``: their values."""
        a = uint32(4)
        x0, x1, x2, x3 = positive(s[0]), positive(s[1]), positive(s[2]), positive(s[3])
        total = plus(plus(plus(x0, x1), x2), x3)
        plain = plus(plus(plus(v[0], v[1]), v[2]), v[3])
        weighted = plus(plus(plus(times(x0, v[0]), times(x1, v[1])), times(x2, v[2])), times(x3, v[3]))
        while a < actions:
            next_value = value(betting, uint32(item + a), rows, stride)
            x = positive(load(source, uint32(at + uint32(a * width))))
            total, weighted, plain = plus(total, x), plus(weighted, times(x, next_value)), plus(plain, next_value)
            a = uint32(a + 1)
        first = mixed(total[0], weighted[0], plain[0], actions)
        return first, mixed(total[1], weighted[1], plain[1], actions)

    def best_of(betting, item, actions, rows, stride, v):
        """Return values by the best action."""
        top, a = v[0], uint32(4)
        if actions > uint32(1):
            top = largest(top, v[1])
        if actions > uint32(2):
            top = largest(top, v[2])
        if actions > uint32(3):
            top = largest(top, v[3])
        while a < actions:
            top = largest(top, value(betting, uint32(item + a), rows, stride))
            a = uint32(a + 1)
        return top

    return part(played), part(best_of)


@cache
def decision_update(storage: str, locks: bool) -> Any:
    """Return the kernel part that updates the regrets of all actions of a decision."""
    number = STORAGES[storage].work
    zero = number(0.0)
    value, update_action = items_of(storage).value, action_update(storage, locks)
    load, _, _, minus, _, _, _, _, _ = pairs(number)
    four = two_hands(storage, locks).four

    def update_decision(betting, item, actions, rows, stride, width, expected, s, v, factors, now, predict, regret,
                        predicted, at, locked, h):  # fmt: skip
        """Update the regrets of a decision.

        ``s``: numbers played from, of four actions; with a prediction, regrets are loaded here instead. ``v``: values.
        """
        k = h
        if predict > zero:
            s = four(regret, at, actions, width)
        update_action(s[0], minus(v[0], expected), factors, now, predict, regret, predicted, at, locked, k)
        if actions > uint32(1):
            at, k = uint32(at + width), uint32(k + width)
            update_action(s[1], minus(v[1], expected), factors, now, predict, regret, predicted, at, locked, k)
        if actions > uint32(2):
            at, k = uint32(at + width), uint32(k + width)
            update_action(s[2], minus(v[2], expected), factors, now, predict, regret, predicted, at, locked, k)
        if actions > uint32(3):
            at, k = uint32(at + width), uint32(k + width)
            update_action(s[3], minus(v[3], expected), factors, now, predict, regret, predicted, at, locked, k)
        a = uint32(4)
        while a < actions:
            at, k = uint32(at + width), uint32(k + width)
            gain = minus(value(betting, uint32(item + a), rows, stride), expected)
            update_action(load(regret, at), gain, factors, now, predict, regret, predicted, at, locked, k)
            a = uint32(a + 1)

    return part(update_decision)


@cache
def root_up(storage: str, learn: bool, locks: bool) -> Any:
    """Return the kernel part that goes up through the decisions below a street root."""
    number = STORAGES[storage].work
    zero = number(0.0)
    none = (zero, zero)
    nothing = (none, none, none, none)
    store = pairs(number).store
    four, read_locks, _ = two_hands(storage, locks)
    values, update_decision = first_values(storage), decision_update(storage, locks)
    played, best_of = valued(storage, locks)

    def up_root(betting, root, width, stride, source, regret, predicted, rows, learning, decision, now, predict, best,
                alive, marks, stamp, factors, position, h):  # fmt: skip
        """Compute values of the learner's decisions to two hands below one street root, and update regrets.

        Arrays begin at the two hands; ``position``: end of the last decision's factors.
        """
        begin = uint32(word(root, layout.OWN) * layout.OWN_WORDS)
        d = uint32(word(root, layout.OWN_END) * layout.OWN_WORDS)
        while d > begin:
            d, position = uint32(d - layout.OWN_WORDS), uint32(position - 2)
            record = tail(betting.own, d)
            actions, item = word(record, layout.OWN_ACTIONS), word(record, layout.ITEM)
            at, expected = uint32(word(record, layout.OWN_SLOT) * width), none
            if alive[uint32(marks + word(record, layout.REACHED))] == stamp:
                locked = False, False, False, learning.locked
                if locks:
                    index = decision_index(decision, word(record, layout.OWN_NUMBER))
                    locked = read_locks(learning.where, learning.locked, index, actions, width, h)
                all_locked, first, second, _ = locked
                plays = learn or not best or (locks and (all_locked or first or second))
                s = nothing
                if plays:
                    s = four(source, at, actions, width)
                v = values(betting, item, actions, word(record, layout.MORE), rows, stride)
                if plays:
                    expected = played(betting, item, actions, rows, stride, width, source, at, s, v)
                if not learn and best and not all_locked:  # except for locked hands
                    top = best_of(betting, item, actions, rows, stride, v)
                    expected = expected[0] if first else top[0], expected[1] if second else top[1]
                if learn and not all_locked:
                    since = factors[position], factors[uint32(position + 1)]
                    update_decision(betting, item, actions, rows, stride, width, expected, s, v, since, now, predict,
                                    regret, predicted, at, locked, h)  # fmt: skip
            store(rows, uint32(word(record, layout.VALUE) * stride), expected)

    return part(up_root)


@cache
def going_up(storage: str, learn: bool, locks: bool) -> Any:
    """Return the part of kernels for a storage, of passes that learn or do not learn."""
    number = STORAGES[storage].work
    zero = number(0.0)
    none = (zero, zero)
    store, value, fetch = pairs(number).store, items_of(storage).value, fetching(storage)
    up_root = root_up(storage, learn, locks)

    def up(betting, cards, board, n, end, learning, good, bad, predict, t, best, rows, alive, stamp, owns, factors,
           root_values, shared, me, threads, begin):  # fmt: skip
        """Compute values of street roots n to ``end``, and update regrets from the last decision to the first.

        Values of actions are not stored, only values of decisions.
        """
        header, h = tail(cards.board, uint32(board * layout.BOARD_WORDS)), uint32(2 * uint32(begin + me))
        width, stride = word(header, layout.BOARD_WIDTH), word(header, layout.BOARD_STRIDE)
        if h >= width:
            return
        roots = uint32(len(betting.root) // layout.ROOT_WORDS)
        to = uint32(uint32(roots * word(header, layout.BOARD_START)) + uint32(n * width) + h)
        base, all_marks = uint32(word(header, layout.BOARD_ROWS) + h), word(header, layout.BOARD_MARKS)
        texture, decision = word(header, layout.BOARD_TEXTURE), word(header, layout.BOARD_DECISION)
        numbers, position = cards.storage[uint32(2 * board + 1)], uint32(2 * uint32(board * owns))
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
                    last = uint32(position + uint32(2 * word(root, layout.OWN_END)))
                    up_root(betting, root, width, stride, source, regret, predicted, mine, learning, decision,
                            (good, bad), predict, best, alive, marks, stamp, factors, last, h)  # fmt: skip
                    result = value(betting, n, mine, stride)
                store(root_values, to, result)
            n, to = uint32(n + 1), uint32(to + width)

    return part(up)
