"""Regret-based pruning with free starts, nested prunings that are kept, and partial best responses.

What is pruned and for how long is as in ``prune``, by (9) and (10) of Brown & Sandholm (2015). What differs is what a
start and an end cost. Of every infoset J we know W(J) = TOTAL_VALUE, M(J) = TOTAL_REACH and, of every action, R = REGRET
and OWN: what its own terminals (no own move in between) have paid. All of them are complete up to the *clock* of J: now,
or the moment when the nearest pruned sequence above J was pruned. So a pruning begins without a look at what lies below.
When it ends, everything below it is brought up to date, from the top down and back:

    gain(q) = A[q] . played - OWN(q)                     what q's own terminals have paid since, then that of all below
    M(J)    = ways[J] . played
    x(J)    = max of gain(q) over open q                 a best response to all that the opponent played since
    R(q)   += gain(q) - x(J),   W(J) += x(J)

Of nested prunings only those are looked at for which (9) fails with x(J) counted in, in the same manner, first: with
c(q) = R(q) + gain(q) - (W(J) - W(J) when q was pruned), x(J) = max(x(J), c(q)) and R(q) = c(q) - x(J). The others
stay. An infoset that the opponent has not reached since is left out with all below it: nothing is due there. Why that is
sound is told in ``docs/theory/algorithms.md``. Plain regret matching, CFR and CFR+. Float64; one thread; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Bytes, Floats, Ints, Longs
from treeplex.engines.history import arrays as layout
from treeplex.engines.history.arrays import Player, Pruning, Worklist
from treeplex.engines.history.cpu import rules
from treeplex.engines.history.cpu.sums import complete, pass_to, reopen
from treeplex.engines.history.cpu.walk import enter
from treeplex.engines.history.levels import LevelTree
from treeplex.jit import Index, inlined, kernel
from treeplex.updates.rules import positive
from treeplex.updates.turns import SIMULTANEOUS

OPEN, PRUNED, SEEN = 0, 1, 2  # of a sequence; the last: pruned until this response, which has looked at it


@inlined
def _met(
    start: Ints, column: Ints, data: Floats, row: Index, first_1: Ints, parent_1: Ints, owner_1: Ints,
    sequences_1: Floats, infosets_1: Floats, stamp_1: Ints, stack_1: Ints, now: int, since: float,
) -> tuple[float, bool]:  # fmt: skip
    """A row of a matrix times all that the opponent has played, and whether any of it was played after ``since``."""
    total, reached = 0.0, False
    for entry in range(np.uint64(start[np.uint64(row)]), np.uint64(start[np.uint64(row) + np.uint64(1)])):
        other = np.uint64(column[entry])
        complete(first_1, parent_1, owner_1, sequences_1, infosets_1, stamp_1, stack_1, other, now)
        total += data[entry] * sequences_1[other, layout.PLAYED]
        reached = reached or sequences_1[other, layout.LAST] > since
    return total, reached


@inlined
def _begin(
    sequences: Floats, infosets: Floats, pruned: Bytes, limit: Floats, since: Longs, value_then: Floats, best: Floats,
    infoset: Index, s: Index, moment: int,
) -> None:  # fmt: skip
    """Prune a sequence: no node is touched."""
    value = infosets[infoset, layout.TOTAL_VALUE]
    pruned[s], since[s], value_then[s] = PRUNED, moment, value
    limit[s] = sequences[s, layout.REGRET] - (infosets[infoset, layout.TOTAL_REACH] * best[s] - value)
    sequences[s, layout.STRATEGY] = 0.0


@inlined
def _begin_promising(
    first: Ints, sequences: Floats, infosets: Floats, pruned: Bytes, limit: Floats, since: Longs, value_then: Floats,
    best: Floats, lowest: Floats, open_: Ints, width: Ints, pruning: Pruning, infoset: Index, t: float, moment: int,
) -> None:  # fmt: skip
    """Prune those actions of an infoset for which (10) promises enough, and match the regrets of the others."""
    begin, end = np.uint64(first[infoset]), np.uint64(first[infoset + np.uint64(1)])
    reach, value = infosets[infoset, layout.TOTAL_REACH], infosets[infoset, layout.TOTAL_VALUE]
    total = 0.0
    for s in range(begin, end):
        if pruned[s] == OPEN:
            total += positive(sequences[s, layout.REGRET])
    for s in range(begin, end):
        regret = sequences[s, layout.REGRET]
        if pruned[s] == OPEN and rules.promising(
            pruning, total, regret, t, reach * best[s] - value, best[s] - lowest[infoset]
        ):
            _begin(sequences, infosets, pruned, limit, since, value_then, best, infoset, s, moment)
    reopen(first, pruned, open_, width, infoset)
    rules.match(sequences, open_, begin, width[infoset], total)


@kernel
def _revise(player: Player, opponent: Player, events: Index, pruning: Pruning, t: float, start: int, now: int) -> int:
    """End and begin prunings where ``_learn`` saw cause, children first; returns nodes touched by best responses."""
    one = np.uint64(1)
    (first, parent), (pay_start, pay_column, pay), sign = player.treeplex, player.matrix, player.sign
    plus = player.rule.plus
    owner, child_start, child, best, _, _, lowest, _, after, (way_start, way_column, way) = player.side
    sequences, infosets, pruned, limit, since, value_then, _, _ = player.tables
    open_, width = player.open
    listed, found, gain = player.scratch.events, player.scratch.found, player.scratch.paid
    frames, stamp = player.scratch.frames, player.scratch.stamp
    (first_1, parent_1), owner_1 = opponent.treeplex, opponent.side.owner
    sequences_1, infosets_1 = opponent.tables.sequences, opponent.tables.infosets
    stamp_1, stack_1 = opponent.scratch.stamp, opponent.scratch.stack
    moment = 2 * start + now + 1
    nodes = 0
    for event in range(np.uint64(events)):
        top = np.uint64(listed[event])
        while True:
            reach, value = infosets[top, layout.TOTAL_REACH], infosets[top, layout.TOTAL_VALUE]
            wanted = np.uint64(0)  # the sequence to respond below; 0: none
            for s in range(np.uint64(first[top]), np.uint64(first[top + one])):
                if pruned[s] == PRUNED and (
                    limit[s] + reach * best[s] > value
                    or rules.expired(
                        pruning, sequences[s, layout.REGRET], best[s] - lowest[top], t - (since[s] + 1) // 2
                    )
                ):
                    wanted = np.uint64(s)
                    break
            if wanted == 0:
                break
            # Responses one inside the other: a frame is a sequence, where its infosets begin in ``found``, where they end
            height = np.uint64(0)
            while True:
                if wanted > 0:  # go down from it
                    base = np.uint64(0) if height == 0 else np.uint64(frames[height - one, 2])
                    count, done = base, base
                    begin, end = wanted, wanted + one
                    began = float(since[wanted])
                    while True:
                        for q in range(begin, end):
                            if pruned[q] == PRUNED and q != wanted:
                                continue
                            nodes += after[q]
                            total, _ = _met(
                                pay_start, pay_column, pay, q, first_1, parent_1, owner_1, sequences_1, infosets_1,
                                stamp_1, stack_1, now, began,
                            )  # fmt: skip
                            gain[q] = sign * total - sequences[q, layout.OWN]
                            sequences[q, layout.OWN] = sign * total
                            for place in range(np.uint64(child_start[q]), np.uint64(child_start[q + one])):
                                below = np.uint64(child[place])
                                mass, reached = _met(
                                    way_start, way_column, way, below, first_1, parent_1, owner_1, sequences_1,
                                    infosets_1, stamp_1, stack_1, now, began,
                                )  # fmt: skip
                                if reached:
                                    infosets[below, layout.TOTAL_REACH] = mass
                                    pass_to(first, parent, sequences, infosets, below)
                                    stamp[below] = now
                                    found[count] = below
                                    count += one
                        if done == count:
                            break
                        begin = np.uint64(first[np.uint64(found[done])])
                        end = np.uint64(first[np.uint64(found[done]) + one])
                        done += one
                    frames[height, 0], frames[height, 1], frames[height, 2] = wanted, base, count
                    height += one
                    wanted = np.uint64(0)
                base, count = np.uint64(frames[height - one, 1]), np.uint64(frames[height - one, 2])
                if count == base:  # all below is up to date
                    height -= one
                    s = np.uint64(frames[height, 0])
                    if height == 0:
                        break
                    infoset = np.uint64(owner[s])
                    gain[s] += sequences[s, layout.REGRET] - (infosets[infoset, layout.TOTAL_VALUE] - value_then[s])
                    pruned[s] = SEEN
                    continue
                infoset = np.uint64(found[count - one])
                begin, end = np.uint64(first[infoset]), np.uint64(first[infoset + one])
                most, value = -np.inf, infosets[infoset, layout.TOTAL_VALUE]
                for q in range(begin, end):
                    if pruned[q] != PRUNED:
                        most = max(most, gain[q])
                reach = infosets[infoset, layout.TOTAL_REACH]
                for q in range(begin, end):
                    if pruned[q] == PRUNED and limit[q] + reach * best[q] > value + most:
                        wanted = np.uint64(q)
                        break
                if wanted > 0:
                    continue
                for q in range(begin, end):
                    if pruned[q] == OPEN:
                        sequences[q, layout.REGRET] += gain[q] - most
                    elif pruned[q] == SEEN:
                        sequences[q, layout.REGRET] = rules.settled_regret(
                            sequences[q, layout.REGRET], gain[q] - most, plus
                        )
                        pruned[q] = OPEN
                infosets[infoset, layout.TOTAL_VALUE] = value + most
                gain[np.uint64(parent[infoset])] += most
                _begin_promising(
                    first, sequences, infosets, pruned, limit, since, value_then, best, lowest, open_, width, pruning,
                    infoset, t, moment,
                )  # fmt: skip
                frames[height - one, 2] = count - one
            rise = gain[s] - (infosets[top, layout.TOTAL_VALUE] - value_then[s])
            sequences[s, layout.REGRET] = rules.revisited_regret(sequences[s, layout.REGRET], rise, plus)
            pruned[s] = OPEN
        _begin_promising(
            first, sequences, infosets, pruned, limit, since, value_then, best, lowest, open_, width, pruning, top, t,
            moment,
        )  # fmt: skip
    return nodes


@kernel
def _learn(player: Player, visited: Index, pruning: Pruning, t: float) -> Index:
    """Values, regrets and next strategies of the infosets visited, from the bottom up.

    Returns how many have cause to end or begin pruning: they are listed, children first, in ``events``.
    """
    first, parent = player.treeplex
    sequences, infosets, pruned = player.tables.sequences, player.tables.infosets, player.tables.pruned
    limit, since = player.tables.limit, player.tables.since
    open_, width = player.open
    listed, events = player.scratch.visited, player.scratch.events
    best, lowest, plus = player.side.best, player.side.lowest, player.rule.plus
    one = np.uint64(1)
    count = np.uint64(0)
    for back in range(np.uint64(visited)):
        infoset = np.uint64(listed[np.uint64(visited) - one - back])
        begin = np.uint64(first[infoset])
        end = begin + np.uint64(width[infoset])
        value = 0.0
        for free in range(begin, end):
            s = np.uint64(open_[free])
            value += sequences[s, layout.STRATEGY] * (sequences[s, layout.VALUE] + sequences[s, layout.BELOW])
        sequences[np.uint64(parent[infoset]), layout.BELOW] += value
        total, negative = 0.0, False
        for free in range(begin, end):
            s = np.uint64(open_[free])
            gain = sequences[s, layout.VALUE] + sequences[s, layout.BELOW] - value
            regret = rules.next_regret(sequences[s, layout.REGRET], gain, plus)
            sequences[s, layout.OWN] += sequences[s, layout.VALUE]
            sequences[s, layout.REGRET], sequences[s, layout.VALUE], sequences[s, layout.BELOW] = regret, 0.0, 0.0
            total += positive(regret)
            negative = negative or regret < 0.0
        reach = infosets[infoset, layout.TOTAL_REACH] + infosets[infoset, layout.REACH]
        total_value = infosets[infoset, layout.TOTAL_VALUE] + value
        infosets[infoset, layout.TOTAL_REACH], infosets[infoset, layout.TOTAL_VALUE] = reach, total_value
        infosets[infoset, layout.REACH] = 0.0
        rules.match(sequences, open_, begin, width[infoset], total)
        cause = False
        if negative and total > 0.0:
            for free in range(begin, end):
                s = np.uint64(open_[free])
                regret, drift = sequences[s, layout.REGRET], reach * best[s] - total_value
                cause = cause or rules.promising(pruning, total, regret, t, drift, best[s] - lowest[infoset])
        last = np.uint64(first[infoset + one])
        if end < last:
            for s in range(begin, last):
                if pruned[s] == PRUNED:
                    cause = cause or limit[s] + reach * best[s] > total_value
                    cause = cause or rules.expired(
                        pruning, sequences[s, layout.REGRET], best[s] - lowest[infoset], t - (since[s] + 1) // 2
                    )
        if cause:
            events[count] = infoset
            count += one
    sequences[0, layout.VALUE], sequences[0, layout.BELOW] = 0.0, 0.0
    return count


@inlined
def _begin_turn(player: Player, opponent: Player, weight: float, moment: int) -> None:
    """The player who learns plays with this weight in the average; the opponent's strategy is met once more."""
    player.tables.sequences[0, layout.SUM] += weight
    opponent.tables.sequences[0, layout.PLAYED] += 1.0
    opponent.tables.sequences[0, layout.LAST] = moment


@inlined
def _end_turn(
    player: Player, opponent: Player, visited: Index, pruning: Pruning, t: float, start: int, now: int
) -> int:
    """What the player learns from the infosets visited; returns nodes touched by best responses."""
    events = _learn(player, visited, pruning, t)
    nodes = 0
    if events > 0:
        nodes = _revise(player, opponent, events, pruning, t, start, now)
    return nodes


@kernel
def nested_iterations(
    tree: LevelTree,
    players: tuple[Player, Player],
    work: Worklist,
    start: int,
    weight: Floats,
    pruning: Pruning,
    turns: int,
) -> tuple[int, int]:
    """As ``prune.walk_iterations``."""
    nodes, responses = 0, 0
    first, second = players
    passes = 1 if turns == SIMULTANEOUS else 2
    for i in range(len(weight)):
        t = float(start + i + 1)
        for turn in range(passes):
            who = 2 if passes == 1 else turn
            now = 2 * i + turn
            if who != 1:
                _begin_turn(first, second, weight[i], 2 * start + now + 1)
            if who != 0:
                _begin_turn(second, first, weight[i], 2 * start + now + 1)
            touched, visited0, visited1 = enter(tree, players, pruning.partial, who, now, work)
            nodes += touched
            if who != 1:
                responses += _end_turn(first, second, visited0, pruning, t, start, now)
            if who != 0:
                responses += _end_turn(second, first, visited1, pruning, t, start, now)
    return nodes, responses
