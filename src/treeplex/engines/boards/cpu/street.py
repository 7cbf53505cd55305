"""One street on one board: down through the opponent's decisions, up through the learner's decisions.

Numbers are stored as float64, float32, or int16 with one scale per decision. They are computed in the precision of the
scratch arrays (float32 for int16), 16 hands at a time (``vectors``). No fastmath. One thread.
"""

from __future__ import annotations

import numpy as np

from treeplex.engines.boards import arrays as layout
from treeplex.engines.boards.arrays import (
    Array,
    BoardPath,
    Pass,
    PassArrays,
    PassRule,
    PlayerArrays,
    Schedules,
    StreetScratch,
    Whole,
)
from treeplex.engines.boards.cpu.addresses import betting_at, calls_at, hands_at, player_at, schedules_at, scratch_at
from treeplex.engines.boards.cpu.called import call
from treeplex.engines.boards.cpu.locked import clear_locked, write_best_free, write_locked
from treeplex.kernels.jit import callee, inlined
from treeplex.kernels.vectors import LANES, is_whole, larger, load, prefetch, some, spread, store, where
from treeplex.updates.rules import decayed, matched
from treeplex.updates.storage import AVERAGE, REGRET, dither_seed, pack

DISTANCE = 2048  # number of elements by which prefetches are ahead of the computation
TINY = 1e-30  # sums of regrets or averages up to here count as zero, since dividing by them might overflow


@inlined
def _play(
    player: PlayerArrays, t: int, start: int, shift: int, number: int, actions: int, width: int,
    scratch: StreetScratch, above: Whole, first: Whole, iteration_weight: float,
) -> None:  # fmt: skip
    """Fill the reach of a decision's actions: the reach above times the strategy, by regret matching.

    Where no regret is positive, the strategy is uniform. Each positive number is multiplied by reach / sum, so a
    probability may be off by one rounding, but zero stays zero. The iteration's weight times reach is added to the
    average. Rows with a nonzero number are marked as alive.
    """
    reach, fresh, source, average = scratch.reach, scratch.node, player.source, player.average
    kind = reach.dtype.type
    zero, one, tiny, even = spread(kind(0.0)), spread(kind(1.0)), spread(kind(TINY)), spread(kind(1.0) / kind(actions))
    remember, weight, compact = iteration_weight > 0.0, spread(kind(iteration_weight)), is_whole(average)
    unit = spread(kind(player.average_scale[number] if remember and compact else 1.0))
    size = actions * width
    for h in range(0, width, LANES):
        total = zero
        for a in range(actions):
            total += larger(load(source, start + a * width + h), zero)
        parent = load(reach, above + h)
        known, shared = matched(parent, total, tiny, one)
        factor, rest = where(known, shared, zero), where(known, zero, parent * even)
        for a in range(actions):
            k = a * width + h
            x = larger(load(source, start + k), zero) * factor + rest
            prefetch(source, start + k + DISTANCE)
            prefetch(average, start + k + DISTANCE)
            store(reach, first * width + k, x)
            scratch.alive[first + a] |= some(x != zero)  # not ``if``, which processors cannot predict
            if remember:
                if compact:
                    store(fresh, k, load(average, start + k) * unit + weight * x)
                else:
                    store(average, start + k, load(average, start + k) + weight * x)
    if remember:
        seed = dither_seed(start + shift, t, AVERAGE)
        _keep(player, number, start, size, width, fresh, average, player.average_scale, seed)


@inlined
def _keep(
    player: PlayerArrays,
    number: int,
    start: int,
    size: int,
    width: int,
    fresh: Array,
    stored: Array,
    scale: Array,
    seed: Whole,
) -> None:
    """Store the ``fresh`` numbers of a decision if they have 16 bits. Locked hands keep their strategies."""
    locked, rows = player.where[number], stored[start : start + size]
    if is_whole(stored):
        if locked >= 0:
            clear_locked(player.locked, locked, size, width, fresh)
        scale[number] = pack(fresh[:size], rows, seed)
    if locked >= 0:
        write_locked(player.locked, locked, size, width, rows)


@inlined
def _expect(source: Array, start: int, actions: int, width: int, values: Array, expected: Array) -> None:
    """Compute the value of the strategy to each hand: ``values`` weighted by ``source``."""
    kind = values.dtype.type
    zero, one, tiny, even = spread(kind(0.0)), spread(kind(1.0)), spread(kind(TINY)), spread(kind(1.0) / kind(actions))
    for h in range(0, width, LANES):
        total, weighted, plain = zero, zero, zero
        for a in range(actions):
            x, value = larger(load(source, start + a * width + h), zero), load(values, a * width + h)
            total += x
            weighted += x * value
            plain += value
        known, shared = matched(weighted, total, tiny, one)
        store(expected, h, where(known, shared, plain * even))


@inlined
def _choose(actions: int, width: int, values: Array, expected: Array) -> None:
    """Compute the best action's value to each hand."""
    for h in range(0, width, LANES):
        best = load(values, h)
        for a in range(1, actions):
            best = larger(load(values, a * width + h), best)
        store(expected, h, best)


@callee
def fetch_last(tables: PassArrays, path: BoardPath, part: int, step: Pass) -> None:
    """Prefetch the numbers that ``ascend`` reads first."""
    betting, hands = betting_at(tables, 2 * path.level + step.player), hands_at(tables, 2 * path.level + step.player)
    player, width = player_at(tables, step.player), hands.start[path.board + 1] - hands.start[path.board]
    last = hands.storage[path.board] + np.int64(betting.tile[part + 1, layout.OWN_SLOT]) * width
    for k in range(last - DISTANCE, last, LANES):
        prefetch(player.source, k)


@callee
def descend(tables: PassArrays, path: BoardPath, part: int, rule: PassRule, step: Pass) -> None:
    """Fill reach rows of a tile from those of its street roots, and update the opponent's average.

    Rows that are zero for every hand are marked, and nothing below them is read or written.
    """
    level, board, opponent = path.level, path.board, 1 - step.player
    betting, hands = betting_at(tables, 2 * level + step.player), hands_at(tables, 2 * level + opponent)
    scratch, player = scratch_at(tables, level), player_at(tables, opponent)
    width = hands.start[board + 1] - hands.start[board]
    roots = betting.tile[part + 1, layout.ROOT] - betting.tile[part, layout.ROOT]
    base = betting.tile[part, layout.OPPONENT_SLOT]
    nodes, alive = betting.opponent_node, scratch.alive
    weight = schedules_at(tables, 0).weight[step.t] if step.mode == layout.UPDATE else 0.0
    for n in range(betting.tile[part, layout.OPPONENT_NODE], betting.tile[part + 1, layout.OPPONENT_NODE]):
        above, slot, actions = nodes[n, layout.ABOVE], nodes[n, layout.SLOT], nodes[n, layout.ACTIONS]
        first = np.int64(roots + slot - base)
        for a in range(actions):
            alive[first + a] = alive[above] and not rule.prune
        if alive[above]:
            start, number = hands.storage[board] + slot * width, hands.decision[board] + nodes[n, layout.NUMBER]
            shift, at = hands.shift[board], np.int64(above) * width
            _play(player, step.t, start, shift, number, actions, width, scratch, at, first, weight)


@callee
def ascend(tables: PassArrays, path: BoardPath, part: int, rule: PassRule, step: Pass) -> None:
    """Fill value rows from the last decisions up to the street roots, and update the learner's regrets."""
    level, board = path.level, path.board
    betting, hands = betting_at(tables, 2 * level + step.player), hands_at(tables, 2 * level + step.player)
    scratch, player = scratch_at(tables, level), player_at(tables, step.player)
    width = hands.start[board + 1] - hands.start[board]
    roots = betting.tile[part + 1, layout.ROOT] - betting.tile[part, layout.ROOT]
    base = betting.tile[part, layout.OWN_SLOT]
    nodes, schedules, lowest = betting.own_node, schedules_at(tables, 0), hands.storage[board] + base * width
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
        parent, expected = scratch.value[above : above + width], scratch.total
        locked = player.where[number]
        best = step.mode in (layout.BEST, layout.RECORD_BEST)
        if best and locked == layout.FREE:
            _choose(actions, width, values, expected)
        else:
            _expect(player.source, start, actions, width, values, expected)
            if best and locked >= 0:
                write_best_free(player.locked, locked, size, width, values, expected)
        for h in range(0, width, LANES):
            store(parent, h, load(parent, h) + load(expected, h))
        if step.mode == layout.UPDATE and locked != layout.ALL_LOCKED:
            if calls_at(tables, 0).code[0] != 0:
                call(calls_at(tables, 0), player, step, start, number, actions, width, hands.counts[board], values)
                continue
            shift = hands.shift[board]
            _learn(
                player, rule, schedules, step.t, lowest, start, shift, number, actions, width, values, scratch, locked
            )
        if step.mode >= layout.RECORD_BEST:
            _record(player.regret, start, size, values)


@inlined
def _record(stored: Array, start: int, size: int, values: Array) -> None:
    """Store the values of a decision's actions, except in 16 bits, which do not suffice for values."""
    if not is_whole(stored):
        for k in range(0, size, LANES):
            store(stored, start + k, load(values, k))


@inlined
def _learn(
    player: PlayerArrays, rule: PassRule, schedules: Schedules, t: int, lowest: int, start: int, shift: int,
    number: int, actions: int, width: int, values: Array, scratch: StreetScratch, locked: Whole,
) -> None:  # fmt: skip
    """Update R(a) <- d R(a) + v(a) - v, with the product d of all discounts since the last update."""
    kind = values.dtype.type
    up, down = 1.0, 1.0
    for k in range(player.last[number], t):
        up *= schedules.positive[k]
        down *= schedules.negative[k]
    player.last[number] = t
    size = actions * width
    compact = is_whole(player.regret)
    unit = kind(player.regret_scale[number]) if compact else kind(1.0)
    positive, negative, zero = spread(kind(up) * unit), spread(kind(down) * unit), spread(kind(0.0))
    regret, predicted, expected, fresh = player.regret, player.predicted, scratch.total, scratch.node
    good, bad, expected_again = (
        spread(kind(schedules.positive[t])),
        spread(kind(schedules.negative[t])),
        spread(kind(rule.predict)),
    )
    for h in range(0, width, LANES):
        value = load(expected, h)
        for a in range(actions):
            k = a * width + h
            prefetch(regret, max(start + k - DISTANCE, lowest))
            instantaneous = load(values, k) - value
            r = decayed(load(regret, start + k), positive, negative, zero) + instantaneous
            if compact:
                store(fresh, k, r)
            else:
                store(regret, start + k, r)
                if rule.predict > 0.0:
                    store(predicted, start + k, decayed(r, good, bad, zero) + expected_again * instantaneous)
    seed = dither_seed(start + shift, t, REGRET)
    _keep(player, number, start, size, width, fresh, regret, player.regret_scale, seed)
    if locked >= 0 and rule.predict > 0.0:
        write_locked(player.locked, locked, size, width, predicted[start : start + size])
