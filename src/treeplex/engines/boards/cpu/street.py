"""One street on one board: down through the opponent's decisions, terminals, up through the learner's decisions.

Numbers are stored as float64, float32 or int16 with one scale per decision, and computed in the precision of the
scratch arrays (float32 for int16). Loops run along hands, which lie side by side. No fastmath. One thread.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treeplex.engines.boards import arrays as layout
from treeplex.engines.boards.arrays import LANES, Betting, BoardIndex, Hands, Pass, Place, Player, Rule, Scratch, Tables
from treeplex.engines.boards.cpu.addresses import betting_at, boards_at, hands_at, player_at, scratch_at
from treeplex.engines.boards.cpu.lanes import lanes_close, lanes_deal, lanes_spared, lanes_spared_more, lanes_transpose
from treeplex.engines.boards.cpu.locked import hold, respond, spare
from treeplex.jit import callee, inlined
from treeplex.updates.rules import decayed, matched
from treeplex.updates.storage import AVERAGE, REGRET, dither_seed, pack

Array = npt.NDArray[Any]

TINY = 1e-30  # sums of regrets or averages up to here count as none: dividing by them might overflow


@inlined
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
        some, shared = matched(parent[h], factor[h], tiny, one)
        mean = parent[h] * even
        rest[h] = zero if some else mean
        factor[h] = shared if some else zero
    for a in range(actions):
        row = source[start + a * width : start + (a + 1) * width]
        mine = out[a * width : (a + 1) * width]
        for h in range(width):
            mine[h] = max(number(row[h]), zero) * factor[h] + rest[h]


@inlined
def _expect(source: Array, start: int, actions: int, width: int, values: Array, total: Array) -> None:
    """The value of the strategy to each hand, into the second part of ``total``: values weighted by ``source``."""
    number = total.dtype.type
    zero, one, tiny = number(0.0), number(1.0), number(TINY)
    even = one / number(actions)
    sums, expected, plain = total[:width], total[width : 2 * width], total[2 * width : 3 * width]
    for h in range(width):
        sums[h] = zero
        expected[h] = zero
        plain[h] = zero
    for a in range(actions):
        row, value = source[start + a * width : start + (a + 1) * width], values[a * width : (a + 1) * width]
        for h in range(width):
            x = max(number(row[h]), zero)
            sums[h] += x
            expected[h] += x * value[h]
            plain[h] += value[h]
    for h in range(width):
        some, shared = matched(expected[h], sums[h], tiny, one)
        mean = plain[h] * even
        expected[h] = shared if some else mean


@inlined
def _remember(
    learner: Player, rule: Rule, t: int, start: int, place: int, size: int, played: Array, fresh: Array, locked: Any,
    width: int,
) -> None:  # fmt: skip
    """Add the iteration's weight times the reach probabilities of a decision's actions to the average."""
    number = fresh.dtype.type
    w = number(rule.weight[t])
    average = learner.average[start : start + size]
    if not rule.compact:
        for k in range(size):
            average[k] += w * played[k]
    else:
        unit = number(learner.average_scale[place])
        for k in range(size):
            fresh[k] = number(average[k]) * unit + w * played[k]
        if locked >= 0:
            spare(learner.locked, locked, size, width, fresh)
        learner.average_scale[place] = pack(fresh[:size], average, dither_seed(start, t, AVERAGE))
    if locked >= 0:
        hold(learner.locked, locked, size, width, average)


@callee
def descend(tables: Tables, place: Place, part: int, rule: Rule, step: Pass) -> None:
    """Reach rows of a tile from those of its street roots, which are given; the opponent's average is kept on the way.

    Rows that are zero for every hand are marked, and nothing below them is touched.
    """
    level, board, opponent = place.level, place.board, 1 - step.player
    betting, hands = betting_at(tables, 2 * level + step.player), hands_at(tables, 2 * level + opponent)
    scratch, player = scratch_at(tables, level), player_at(tables, opponent)
    width = hands.start[board + 1] - hands.start[board]
    roots = betting.tile[part + 1, layout.ROOT] - betting.tile[part, layout.ROOT]
    base = betting.tile[part, layout.OPPONENT_SLOT]
    nodes, reach, alive = betting.opponent_node, scratch.reach, scratch.alive
    weight = rule.weight[step.t] if step.mode == layout.UPDATE else 0.0
    for n in range(betting.tile[part, layout.OPPONENT_NODE], betting.tile[part + 1, layout.OPPONENT_NODE]):
        above, slot, actions = nodes[n, layout.ABOVE], nodes[n, layout.SLOT], nodes[n, layout.ACTIONS]
        first = np.int64(roots + slot - base)
        if not alive[above]:
            for a in range(actions):
                alive[first + a] = False
            continue
        size = actions * width
        start = hands.storage[board] + slot * width
        parent = reach[above * width : (above + 1) * width]
        rows = reach[first * width : first * width + size]
        _play(player.source, start, actions, width, parent, scratch.total, rows)
        if weight > 0.0:
            number = hands.decision[board] + nodes[n, layout.NUMBER]
            locked = player.where[number]
            _remember(player, rule, step.t, start, number, size, rows, scratch.node, locked, width)
        for a in range(actions):
            alive[first + a] = not rule.prune or _any(rows[a * width : (a + 1) * width])


@inlined
def _any(row: Array) -> bool:
    for x in row:  # noqa: SIM110 - compiled
        if x != 0:
            return True
    return False


@callee
def settle(tables: Tables, place: Place, part: int, player: int) -> None:
    """Add the values of terminals to the learner's value rows, 16 reach rows at a time."""
    level, board = place.level, place.board
    betting, boards, scratch = (
        betting_at(tables, 2 * level + player),
        boards_at(tables, level),
        scratch_at(tables, level),
    )
    mine, theirs = hands_at(tables, 2 * level + player), hands_at(tables, 2 * level + 1 - player)
    rows, groups = scratch.lanes[:LANES], scratch.lanes[LANES : 2 * LANES]
    filled, shows = 0, False
    stop = betting.tile[part + 1, layout.GROUP]
    for n in range(betting.tile[part, layout.GROUP], stop):
        row = betting.terminal_group[n, layout.ROW]
        if scratch.alive[row]:
            rows[filled], groups[filled] = row, n
            shows |= betting.terminal_group[n, layout.SHOWS] != 0
            filled += 1
        if filled == LANES or (n + 1 == stop and filled > 0):
            _settle_lanes(betting, boards, mine, theirs, board, player, rows, groups, filled, shows, scratch)
            filled, shows = 0, False


@inlined
def _settle_lanes(
    betting: Betting, boards: BoardIndex, mine: Hands, theirs: Hands, board: int, player: int, rows: Array,
    groups: Array, filled: int, shows: bool, scratch: Scratch,
) -> None:  # fmt: skip
    width = mine.start[board + 1] - mine.start[board]
    wide = theirs.start[board + 1] - theirs.start[board]
    first, second = mine.first[mine.start[board] :], mine.second[mine.start[board] :]
    same = mine.same[mine.start[board] :]
    dealt, ahead, everyone, sums = scratch.dealt, scratch.ahead, scratch.everyone, scratch.sums
    sources, targets = scratch.lanes[2 * LANES : 3 * LANES], scratch.lanes[3 * LANES :]
    nowhere = np.int64(len(scratch.reach) - wide)  # the last row is always zero
    for h in range(0, wide, LANES):
        for k in range(LANES):
            sources[k] = (rows[k] * wide if k < filled else nowhere) + h
            targets[k] = (h + k) * LANES
        lanes_transpose(dealt, targets, scratch.reach, sources)
    for k in range(layout.ROWS_OF_SUMS * LANES):
        sums[k] = 0
    if shows:
        _sweep(boards, mine, theirs, board, player, scratch)
    else:
        _count_all(theirs, board, scratch)
        for k in range(width * LANES):
            ahead[k] = 0
    for i in range(mine.held[board]):
        one, two, ours = np.int64(first[i]) * LANES, np.int64(second[i]) * LANES, np.int64(same[i]) * LANES
        lanes_close(ahead, everyone, i * LANES, sums, layout.WHOLE * LANES, one, two, dealt, ours)
    for k in range(mine.held[board] * LANES, width * LANES):
        ahead[k] = 0
        everyone[k] = 0
    for kind in range(2):
        if kind == layout.BY_STRENGTH and not shows:
            continue
        needed = False
        for k in range(filled):
            for z in range(
                betting.terminal_group[groups[k], layout.TERMINAL], betting.terminal_group[groups[k], layout.END]
            ):
                needed |= betting.amount[z, kind] != 0.0
        if needed:
            sums_of_hands = ahead if kind == layout.BY_STRENGTH else everyone
            _spread(betting, groups, filled, kind, sums_of_hands, width, scratch, sources, targets)


@inlined
def _spread(
    betting: Betting, groups: Array, filled: int, kind: int, found: Array, width: int, scratch: Scratch, sources: Array,
    targets: Array,
) -> None:  # fmt: skip
    """Turn lanes back into rows, and add them to the value rows of their terminals."""
    number = found.dtype.type
    for h in range(0, width, LANES):
        for k in range(LANES):
            sources[k] = (h + k) * LANES
            targets[k] = k * width + h
        lanes_transpose(scratch.rows, targets, found, sources)
    for k in range(filled):
        row = scratch.rows[k * width : (k + 1) * width]
        for z in range(
            betting.terminal_group[groups[k], layout.TERMINAL], betting.terminal_group[groups[k], layout.END]
        ):
            amount = number(betting.amount[z, kind])
            if amount != number(0.0):
                at = np.int64(betting.terminal[z]) * width
                value = scratch.value[at : at + width]
                for h in range(width):
                    value[h] += amount * row[h]


@inlined
def _count_all(theirs: Hands, board: int, scratch: Scratch) -> None:
    """What the opponent holds in all, and with every card."""
    start = theirs.start[board]
    for j in range(theirs.held[board]):
        one, two = np.int64(theirs.first[start + j]), np.int64(theirs.second[start + j])
        lanes_deal(scratch.sums, layout.WHOLE * LANES, one * LANES, two * LANES, scratch.dealt, j * LANES)


@inlined
def _sweep(boards: BoardIndex, mine: Hands, theirs: Hands, board: int, player: int, scratch: Scratch) -> None:
    """From the weakest group of hands to the strongest: ``ahead`` gets what is weaker, and what is not stronger.

    ``lanes_close`` then takes off all hands that can be held against ours: weaker + (weaker + equal) - all
    = weaker - stronger.
    """
    ours, start = mine.start[board], theirs.start[board]
    ahead, sums, dealt = scratch.ahead, scratch.sums, scratch.dealt
    i = j = 0
    for g in range(boards.group_start[board], boards.group_start[board + 1]):
        end, stop = np.int64(boards.group[g, player]), np.int64(boards.group[g, 1 - player])
        for k in range(i, end):
            one, two = np.int64(mine.first[ours + k]), np.int64(mine.second[ours + k])
            lanes_spared(ahead, k * LANES, sums, layout.WHOLE * LANES, one * LANES, two * LANES)
        while j < stop:
            one, two = np.int64(theirs.first[start + j]), np.int64(theirs.second[start + j])
            lanes_deal(sums, layout.WHOLE * LANES, one * LANES, two * LANES, dealt, j * LANES)
            j += 1
        for k in range(i, end):
            one, two = np.int64(mine.first[ours + k]), np.int64(mine.second[ours + k])
            lanes_spared_more(ahead, k * LANES, sums, layout.WHOLE * LANES, one * LANES, two * LANES)
        i = end


@callee
def ascend(tables: Tables, place: Place, part: int, rule: Rule, step: Pass) -> None:
    """Value rows from the last decisions up to the street roots, and what the learner learns on the way."""
    level, board = place.level, place.board
    betting, hands = betting_at(tables, 2 * level + step.player), hands_at(tables, 2 * level + step.player)
    scratch, player = scratch_at(tables, level), player_at(tables, step.player)
    width = hands.start[board + 1] - hands.start[board]
    roots = betting.tile[part + 1, layout.ROOT] - betting.tile[part, layout.ROOT]
    base = betting.tile[part, layout.OWN_SLOT]
    nodes = betting.own_node
    for n in range(betting.tile[part + 1, layout.OWN_NODE] - 1, betting.tile[part, layout.OWN_NODE] - 1, -1):
        if not scratch.alive[nodes[n, layout.REACHED]]:
            continue
        slot, actions = nodes[n, layout.SLOT], nodes[n, layout.ACTIONS]
        first = np.int64(roots + slot - base) * width
        size = actions * width
        start = hands.storage[board] + slot * width
        number = hands.decision[board] + nodes[n, layout.NUMBER]
        values = scratch.value[first : first + size]
        above = np.int64(nodes[n, layout.ABOVE]) * width
        parent = scratch.value[above : above + width]
        expected = scratch.total[width : 2 * width]
        locked = player.where[number]
        if step.mode == layout.BEST and locked == layout.FREE:
            for h in range(width):
                expected[h] = values[h]
            for a in range(1, actions):
                row = values[a * width : (a + 1) * width]
                for h in range(width):
                    expected[h] = max(expected[h], row[h])
        else:
            _expect(player.source, start, actions, width, values, scratch.total)
            if step.mode == layout.BEST and locked >= 0:
                respond(player.locked, locked, size, width, values, expected)
        for h in range(width):
            parent[h] += expected[h]
        if step.mode == layout.UPDATE and locked != layout.ALL_LOCKED:
            _learn(player, rule, step.t, start, number, actions, width, values, expected, scratch.node, locked)


@inlined
def _learn(
    learner: Player, rule: Rule, t: int, start: int, place: int, actions: int, width: int, values: Array,
    expected: Array, fresh: Array, locked: Any,
) -> None:  # fmt: skip
    """R(a) <- d R(a) + v(a) - v, with all discounts d since the last update."""
    number = expected.dtype.type
    up, down = 1.0, 1.0
    for k in range(learner.last[place], t):
        up *= rule.positive[k]
        down *= rule.negative[k]
    learner.last[place] = t
    positive, negative, zero = number(up), number(down), number(0.0)
    size = actions * width
    for a in range(actions):
        regret = learner.regret[start + a * width : start + (a + 1) * width]
        row = values[a * width : (a + 1) * width]
        if rule.compact:
            unit = number(learner.regret_scale[place])
            good, bad = positive * unit, negative * unit
            out = fresh[a * width : (a + 1) * width]
            for h in range(width):
                out[h] = decayed(number(regret[h]), good, bad, zero) + (row[h] - expected[h])
        elif rule.predict > 0.0:
            predicted = learner.predicted[start + a * width : start + (a + 1) * width]
            good, bad, p = number(rule.positive[t]), number(rule.negative[t]), number(rule.predict)
            for h in range(width):
                instantaneous = row[h] - expected[h]
                r = decayed(regret[h], positive, negative, zero) + instantaneous
                regret[h] = r
                predicted[h] = decayed(r, good, bad, zero) + p * instantaneous
        else:
            for h in range(width):
                regret[h] = decayed(regret[h], positive, negative, zero) + (row[h] - expected[h])
    if rule.compact:
        if locked >= 0:
            spare(learner.locked, locked, size, width, fresh)
        seed = dither_seed(start, t, REGRET)
        learner.regret_scale[place] = pack(fresh[:size], learner.regret[start : start + size], seed)
    if locked >= 0:
        hold(learner.locked, locked, size, width, learner.regret[start : start + size])
        if rule.predict > 0.0:
            hold(learner.locked, locked, size, width, learner.predicted[start : start + size])
