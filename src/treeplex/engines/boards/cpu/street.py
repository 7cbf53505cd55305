"""One street on one board: the way down through the rival's decisions, terminals, the way up through the learner's.

Numbers are stored as float64, float32 or 16-bit whole numbers with one scale a decision, and computed in the precision
of the scratch arrays (float32 for 16-bit storage). Loops run along hands, which lie side by side. No fastmath. One
thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treeplex.engines.boards.arrays import (
    BEST,
    LANES,
    ROWS_OF_SUMS,
    UPDATE,
    WHOLE,
    Betting,
    Boards,
    Errand,
    HandLearner,
    Hands,
    Minds,
    Rule,
    Scratch,
)
from treeplex.engines.boards.cpu.lanes import lanes_close, lanes_deal, lanes_spared, lanes_spared_more, lanes_transpose
from treeplex.jit import kernel

Array = npt.NDArray[Any]

TINY = 1e-30  # sums of regrets or averages up to here count as none: dividing by them might overflow
LARGEST = 32767.0  # what the largest number of a decision is stored as in 16 bits


@kernel
def _play(source: Array, start: int, actions: int, width: int, parent: Array, total: Array, out: Array) -> None:
    """Reach of a decision's actions: ``parent`` times shares of ``source`` cut at zero, even where none is positive.

    Each number is multiplied by parent / sum, so a share may be off by one rounding, but zero stays zero.
    """
    number = total.dtype.type
    zero, one, tiny = number(0.0), number(1.0), number(TINY)
    even = one / number(actions)
    factor, rest = total[:width], total[width : 2 * width]
    for h in range(width):
        factor[h] = zero
    for a in range(actions):
        row = source[start + a * width : start + (a + 1) * width]
        for h in range(width):
            factor[h] += max(number(row[h]), zero)
    for h in range(width):
        some = factor[h] > tiny  # both results are computed, so that the loop has no branch
        shared, mean = parent[h] / (factor[h] if some else one), parent[h] * even
        rest[h] = zero if some else mean
        factor[h] = shared if some else zero
    for a in range(actions):
        row = source[start + a * width : start + (a + 1) * width]
        mine = out[a * width : (a + 1) * width]
        for h in range(width):
            mine[h] = max(number(row[h]), zero) * factor[h] + rest[h]


@kernel
def _expect(source: Array, start: int, actions: int, width: int, values: Array, total: Array) -> None:
    """What the strategy is worth to each hand, into the second part of ``total``: values weighted by ``source``."""
    number = total.dtype.type
    zero, one, tiny = number(0.0), number(1.0), number(TINY)
    even = one / number(actions)
    sums, worth, plain = total[:width], total[width : 2 * width], total[2 * width : 3 * width]
    for h in range(width):
        sums[h] = zero
        worth[h] = zero
        plain[h] = zero
    for a in range(actions):
        row, value = source[start + a * width : start + (a + 1) * width], values[a * width : (a + 1) * width]
        for h in range(width):
            x = max(number(row[h]), zero)
            sums[h] += x
            worth[h] += x * value[h]
            plain[h] += value[h]
    for h in range(width):
        some = sums[h] > tiny  # both results are computed, so that the loop has no branch
        shared, mean = worth[h] / (sums[h] if some else one), plain[h] * even
        worth[h] = shared if some else mean


@kernel
def _largest(row: Array) -> Any:
    """The largest absolute value of float32 numbers, found by their bits, which are ordered as they are."""
    bits = row.view(np.uint32)
    top = np.zeros(1, dtype=np.uint32)
    peak = np.uint32(0)
    for h in range(len(bits)):
        peak = max(peak, bits[h] & np.uint32(0x7FFFFFFF))
    top[0] = peak
    return top.view(np.float32)[0]


@kernel
def _pack(fresh: Array, target: Array, start: int, largest: float) -> float:
    """Store ``fresh`` as whole numbers up to ``largest``; returns the scale."""
    number = fresh.dtype.type
    top = number(_largest(fresh))
    if top <= number(0.0):
        target[start : start + len(fresh)] = 0
        return 0.0
    factor = number(largest) / top
    rows = target[start : start + len(fresh)]
    for h in range(len(fresh)):
        rows[h] = np.int32(np.rint(fresh[h] * factor))
    return top / largest


@kernel
def _remember(
    learner: HandLearner, compact: bool, weight: float, start: int, place: int, size: int, played: Array, fresh: Array
) -> None:
    """Add ``weight`` times the reach probabilities of a decision's actions to the average."""
    number = fresh.dtype.type
    w = number(weight)
    average = learner.average[start : start + size]
    if not compact:
        for k in range(size):
            average[k] += w * played[k]
        return
    unit = number(learner.average_scale[place])
    for k in range(size):
        fresh[k] = number(average[k]) * unit + w * played[k]
    learner.average_scale[place] = _pack(fresh[:size], learner.average, start, LARGEST)


@kernel
def descend(
    betting: Betting, part: int, hands: Hands, board: int, minds: Minds, rule: Rule, errand: Errand, scratch: Scratch
) -> None:
    """Reach rows of a bunch from those of its entries, which are given; the rival's average is kept on the way.

    Rows that are zero for every hand are marked, and nothing below them is touched.
    """
    width = hands.start[board + 1] - hands.start[board]
    entries = betting.bunch[part + 1, 0] - betting.bunch[part, 0]
    base = betting.bunch[part, 2]
    reach, alive = scratch.reach, scratch.alive
    rival = 1 - errand.player
    weight = rule.weight[errand.t] if errand.mode == UPDATE else 0.0
    for n in range(betting.bunch[part, 3], betting.bunch[part + 1, 3]):
        above, slot, actions = betting.reply[n, 0], betting.reply[n, 1], betting.reply[n, 2]
        first = np.int64(entries + slot - base)
        if not alive[above]:
            for a in range(actions):
                alive[first + a] = False
            continue
        size = actions * width
        start = hands.storage[board] + slot * width
        parent = reach[above * width : (above + 1) * width]
        rows = reach[first * width : first * width + size]
        _play(minds.source[rival], start, actions, width, parent, scratch.total, rows)
        if weight > 0.0:
            place = hands.decision[board] + betting.reply[n, 3]
            _remember(minds.learners[rival], rule.compact, weight, start, place, size, rows, scratch.node)
        for a in range(actions):
            alive[first + a] = not rule.prune or _any(rows[a * width : (a + 1) * width])


@kernel
def _any(row: Array) -> bool:
    for x in row:  # noqa: SIM110 - compiled
        if x != 0:
            return True
    return False


@kernel
def settle(betting: Betting, part: int, boards: Boards, board: int, player: int, scratch: Scratch) -> None:
    """Add what terminals are worth to the learner's value rows, 16 reach rows at a time."""
    rows = np.zeros(LANES, dtype=np.int64)
    lanes = np.zeros(LANES, dtype=np.int64)
    filled, shows = 0, False
    stop = betting.bunch[part + 1, 5]
    for n in range(betting.bunch[part, 5], stop):
        row = betting.lane[n, 0]
        if scratch.alive[row]:
            rows[filled], lanes[filled] = row, n
            shows |= betting.lane[n, 3] != 0
            filled += 1
        if filled == LANES or (n + 1 == stop and filled > 0):
            _settle_lanes(betting, boards, board, player, rows, lanes, filled, shows, scratch)
            filled, shows = 0, False


@kernel
def _settle_lanes(
    betting: Betting,
    boards: Boards,
    board: int,
    player: int,
    rows: Array,
    lanes: Array,
    filled: int,
    shows: bool,
    scratch: Scratch,
) -> None:
    mine = boards.hands[player]
    theirs = boards.hands[1 - player]
    width = mine.start[board + 1] - mine.start[board]
    wide = theirs.start[board + 1] - theirs.start[board]
    first, second = mine.first[mine.start[board] :], mine.second[mine.start[board] :]
    same = mine.same[mine.start[board] :]
    dealt, ahead, everyone, sums = scratch.dealt, scratch.ahead, scratch.everyone, scratch.sums
    sources, targets = np.zeros(LANES, dtype=np.int64), np.zeros(LANES, dtype=np.int64)
    nowhere = np.int64(len(scratch.reach) - wide)  # the last row is always zero
    for h in range(0, wide, LANES):
        for k in range(LANES):
            sources[k] = (rows[k] * wide if k < filled else nowhere) + h
            targets[k] = (h + k) * LANES
        lanes_transpose(dealt, targets, scratch.reach, sources)
    for k in range(ROWS_OF_SUMS * LANES):
        sums[k] = 0
    if shows:
        _sweep(boards, board, player, scratch)
    else:
        _count_all(theirs, board, scratch)
        for k in range(width * LANES):
            ahead[k] = 0
    for i in range(mine.held[board]):
        lanes_close(
            ahead,
            everyone,
            i * LANES,
            sums,
            WHOLE * LANES,
            np.int64(first[i]) * LANES,
            np.int64(second[i]) * LANES,
            dealt,
            np.int64(same[i]) * LANES,
        )
    for k in range(mine.held[board] * LANES, width * LANES):
        ahead[k] = 0
        everyone[k] = 0
    for kind in range(2):
        if kind == 0 and not shows:
            continue
        needed = False
        for k in range(filled):
            for z in range(betting.lane[lanes[k], 1], betting.lane[lanes[k], 2]):
                needed |= betting.amount[z, kind] != 0.0
        if needed:
            _spread(betting, lanes, filled, kind, ahead if kind == 0 else everyone, width, scratch, sources, targets)


@kernel
def _spread(
    betting: Betting,
    lanes: Array,
    filled: int,
    kind: int,
    found: Array,
    width: int,
    scratch: Scratch,
    sources: Array,
    targets: Array,
) -> None:
    """Turn lanes back into rows, and add them to the value rows of their terminals."""
    number = found.dtype.type
    for h in range(0, width, LANES):
        for k in range(LANES):
            sources[k] = (h + k) * LANES
            targets[k] = k * width + h
        lanes_transpose(scratch.rows, targets, found, sources)
    for k in range(filled):
        row = scratch.rows[k * width : (k + 1) * width]
        for z in range(betting.lane[lanes[k], 1], betting.lane[lanes[k], 2]):
            amount = number(betting.amount[z, kind])
            if amount != number(0.0):
                at = np.int64(betting.leaf[z]) * width
                value = scratch.value[at : at + width]
                for h in range(width):
                    value[h] += amount * row[h]


@kernel
def _count_all(theirs: Hands, board: int, scratch: Scratch) -> None:
    """What the rival holds in all, and with every card."""
    start = theirs.start[board]
    for j in range(theirs.held[board]):
        one, two = np.int64(theirs.first[start + j]), np.int64(theirs.second[start + j])
        lanes_deal(scratch.sums, WHOLE * LANES, one * LANES, two * LANES, scratch.dealt, j * LANES)


@kernel
def _sweep(boards: Boards, board: int, player: int, scratch: Scratch) -> None:
    """From the weakest group of hands to the strongest: ``ahead`` gets what is weaker, and what is not stronger.

    ``lanes_close`` then takes off all hands that can be held against ours: weaker + (weaker + equal) - all
    = weaker - stronger.
    """
    mine = boards.hands[player]
    theirs = boards.hands[1 - player]
    ours, start = mine.start[board], theirs.start[board]
    ahead, sums, dealt = scratch.ahead, scratch.sums, scratch.dealt
    i = j = 0
    for g in range(boards.group_start[board], boards.group_start[board + 1]):
        end, stop = np.int64(boards.group[g, player]), np.int64(boards.group[g, 1 - player])
        for k in range(i, end):
            one, two = np.int64(mine.first[ours + k]), np.int64(mine.second[ours + k])
            lanes_spared(ahead, k * LANES, sums, WHOLE * LANES, one * LANES, two * LANES)
        while j < stop:
            one, two = np.int64(theirs.first[start + j]), np.int64(theirs.second[start + j])
            lanes_deal(sums, WHOLE * LANES, one * LANES, two * LANES, dealt, j * LANES)
            j += 1
        for k in range(i, end):
            one, two = np.int64(mine.first[ours + k]), np.int64(mine.second[ours + k])
            lanes_spared_more(ahead, k * LANES, sums, WHOLE * LANES, one * LANES, two * LANES)
        i = end


@kernel
def ascend(
    betting: Betting, part: int, hands: Hands, board: int, minds: Minds, rule: Rule, errand: Errand, scratch: Scratch
) -> None:
    """Value rows from the last decisions up to the entries, and what the learner learns on the way."""
    width = hands.start[board + 1] - hands.start[board]
    entries = betting.bunch[part + 1, 0] - betting.bunch[part, 0]
    base = betting.bunch[part, 1]
    learner = minds.learners[errand.player]
    source = minds.source[errand.player]
    frozen = minds.frozen[errand.player]
    for n in range(betting.bunch[part + 1, 4] - 1, betting.bunch[part, 4] - 1, -1):
        if not scratch.alive[betting.choice[n, 4]]:
            continue
        slot, actions = betting.choice[n, 1], betting.choice[n, 2]
        first = np.int64(entries + slot - base) * width
        size = actions * width
        start = hands.storage[board] + slot * width
        place = hands.decision[board] + betting.choice[n, 3]
        values = scratch.value[first : first + size]
        above = np.int64(betting.choice[n, 0]) * width
        parent = scratch.value[above : above + width]
        worth = scratch.total[width : 2 * width]
        locked = frozen[place]
        if errand.mode == BEST and not locked:
            for h in range(width):
                worth[h] = values[h]
            for a in range(1, actions):
                row = values[a * width : (a + 1) * width]
                for h in range(width):
                    worth[h] = max(worth[h], row[h])
        else:
            _expect(source, start, actions, width, values, scratch.total)
        for h in range(width):
            parent[h] += worth[h]
        if errand.mode == UPDATE and not locked:
            _learn(learner, rule, errand.t, start, place, actions, width, values, worth, scratch.node)


@kernel
def _learn(
    learner: HandLearner,
    rule: Rule,
    t: int,
    start: int,
    place: int,
    actions: int,
    width: int,
    values: Array,
    worth: Array,
    fresh: Array,
) -> None:
    """R(a) <- d R(a) + v(a) - v, with all discounts d since the last update."""
    number = worth.dtype.type
    up, down = 1.0, 1.0
    for k in range(learner.last[place], t):
        up *= rule.positive[k]
        down *= rule.negative[k]
    learner.last[place] = t
    positive, negative, zero = number(up), number(down), number(0.0)
    for a in range(actions):
        regret = learner.regret[start + a * width : start + (a + 1) * width]
        row = values[a * width : (a + 1) * width]
        if rule.compact:
            unit = number(learner.regret_scale[place])
            good, bad = positive * unit, negative * unit
            out = fresh[a * width : (a + 1) * width]
            for h in range(width):
                r = number(regret[h])
                out[h] = r * (good if r > zero else bad) + (row[h] - worth[h])
        elif rule.predict > 0.0:
            hope = learner.hope[start + a * width : start + (a + 1) * width]
            good, bad, p = number(rule.positive[t]), number(rule.negative[t]), number(rule.predict)
            for h in range(width):
                r = regret[h]
                gain = row[h] - worth[h]
                r = r * (positive if r > zero else negative) + gain
                regret[h] = r
                hope[h] = r * (good if r > zero else bad) + p * gain
        else:
            for h in range(width):
                r = regret[h]
                regret[h] = r * (positive if r > zero else negative) + (row[h] - worth[h])
    if rule.compact:
        learner.regret_scale[place] = _pack(fresh[: actions * width], learner.regret, start, LARGEST)
