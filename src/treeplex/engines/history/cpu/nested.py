"""Regret-based pruning with free starts, nested prunings that are kept, and partial best responses.

What is pruned and for how long is as in ``prune``, by (9) and (10) of Brown & Sandholm (2015). What differs is what a
start and an end cost. Of every infoset J we know W(J) = TOTAL_VALUE, M(J) = TOTAL_REACH and, of every action, R =
REGRET and OWN: what its own terminals (no own move in between) have paid. All of them are complete up to the *clock* of
J: now, or the moment when the nearest pruned sequence above J was pruned. So a pruning begins without a look at what
lies below. When it ends, everything below it is brought up to date, from the top down and back:

    gain(q) = A[q] . played - OWN(q)                     what q's own terminals have paid since, then that of all below
    M(J)    = ways[J] . played
    x(J)    = max of gain(q) over open q                 a best response to all that the opponent played since
    R(q)   += gain(q) - x(J),   W(J) += x(J)

Of nested prunings only those are looked at for which (9) fails with x(J) counted in, in the same manner, first: with
c(q) = R(q) + gain(q) - (W(J) - W(J) when q was pruned), x(J) = max(x(J), c(q)) and R(q) = c(q) - x(J). The others stay.
An infoset that the opponent has not reached since is left out with all below it: nothing is due there. Why that is
sound is told in ``docs/theory/regret-based-pruning.md``. Plain regret matching, CFR and CFR+. Float64; one thread; no
fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.history import arrays as layout
from treeplex.engines.history.arrays import Player, Pruning, Worklist
from treeplex.engines.history.cpu import rules
from treeplex.engines.history.cpu.sums import pass_to
from treeplex.engines.history.cpu.walk import iterations
from treeplex.engines.history.levels import Walked
from treeplex.kernels.jit import Index, inlined, kernel
from treeplex.updates.rules import positive, share

OPEN, PRUNED, SEEN = 0, 1, 2  # of a sequence; the last: pruned until this response, which has looked at it


@kernel
def revise(player: Player, opponent: Player, events: Index, pruning: Pruning, t: float, start: int, now: int) -> int:
    """End and begin prunings where ``_learn`` saw cause, children first; returns nodes touched by best responses.

    One loop for an infoset of ``events`` and for those below the sequences it responds under, one response inside the
    other: a frame is a sequence, where its infosets begin in ``found`` and where they end. Parts are written out,
    because inlined functions of arrays cost a count of references each.
    """
    one, size = np.uint64(1), np.uint64(len(player.tables.play))
    (first, parent), (row_start, column, data) = player.treeplex, player.rows
    plus, threshold, fixed = player.rule.plus, pruning.threshold, pruning.fixed
    owner, child_start, child, best, _, _, lowest, _, after, _ = player.side
    play, sequences, infosets, pruned, limit, since, value_then, _, _ = player.tables
    open_, width = player.open
    listed, found, gain = player.scratch.events, player.scratch.found, player.scratch.paid
    frames, stamp = player.scratch.frames, player.scratch.stamp
    (first_1, parent_1), owner_1 = opponent.treeplex, opponent.side.owner
    play_1, sequences_1 = opponent.tables.play, opponent.tables.sequences
    infosets_1 = opponent.tables.infosets
    stamp_1, stack_1 = opponent.scratch.stamp, opponent.scratch.stack
    moment = 2 * start + now + 1
    nodes = 0
    for event in range(np.uint64(events)):
        height, wanted = np.uint64(0), np.uint64(0)  # frames; the sequence to respond under next, 0: none
        while True:
            if wanted > 0:  # down: what was paid and met since, by infosets that the opponent has reached since
                base = np.uint64(0) if height == 0 else np.uint64(frames[height - one, 2])
                count, done = base, base
                begin, end = wanted, wanted + one
                began = float(since[wanted])
                while True:
                    for q in range(begin, end):
                        if pruned[q] == PRUNED and q != wanted:
                            continue
                        nodes += after[q]
                        place, last = np.uint64(child_start[q]), np.uint64(child_start[q + one])
                        row = np.uint64(q)
                        while True:  # the payoffs of q, then the ways to each infoset right below
                            total, reached = 0.0, False
                            for entry in range(np.uint64(row_start[row]), np.uint64(row_start[row + one])):
                                other = np.uint64(column[entry])
                                above, high = owner_1[other], np.uint64(0)
                                while above >= 0 and stamp_1[np.uint64(above)] != now:
                                    stack_1[high] = above
                                    high += one
                                    above = owner_1[np.uint64(parent_1[np.uint64(above)])]
                                while high > 0:
                                    high -= one
                                    here = np.uint64(stack_1[high])
                                    pass_to(first_1, parent_1, play_1, sequences_1, infosets_1, here)
                                    stamp_1[here] = now
                                total += data[entry] * sequences_1[other, layout.PLAYED]
                                reached = reached or sequences_1[other, layout.LAST] > began
                            if row < size:
                                gain[q] = total - sequences[q, layout.OWN]
                                sequences[q, layout.OWN] = total
                            elif reached:
                                below = row - size
                                infosets[below, layout.TOTAL_REACH] = total
                                pass_to(first, parent, play, sequences, infosets, below)
                                stamp[below] = now
                                found[count] = below
                                count += one
                            if place == last:
                                break
                            row = size + np.uint64(child[place])
                            place += one
                    if done == count:
                        break
                    begin = np.uint64(first[np.uint64(found[done])])
                    end = np.uint64(first[np.uint64(found[done]) + one])
                    done += one
                frames[height, 0], frames[height, 1], frames[height, 2] = wanted, base, count
                height += one
                wanted = np.uint64(0)
            if height > 0 and frames[height - one, 1] == frames[height - one, 2]:  # all below is up to date
                height -= one
                s = np.uint64(frames[height, 0])
                rise = gain[s] - (infosets[np.uint64(owner[s]), layout.TOTAL_VALUE] - value_then[s])
                if height == 0:
                    sequences[s, layout.REGRET] = rules.revisited_regret(sequences[s, layout.REGRET], rise, plus)
                    pruned[s] = OPEN
                else:
                    gain[s] = sequences[s, layout.REGRET] + rise
                    pruned[s] = SEEN
            infoset = np.uint64(listed[event])
            if height > 0:
                infoset = np.uint64(found[np.uint64(frames[height - one, 2]) - one])
            begin, end = np.uint64(first[infoset]), np.uint64(first[infoset + one])
            reach, value = infosets[infoset, layout.TOTAL_REACH], infosets[infoset, layout.TOTAL_VALUE]
            most = -np.inf
            if height > 0:  # up: the best response earns this much
                for q in range(begin, end):
                    if pruned[q] != PRUNED:
                        most = max(most, gain[q])
                value += most
            for q in range(begin, end):
                if pruned[q] == PRUNED and (
                    limit[q] + reach * best[q] > value
                    or (
                        height == 0
                        and rules.expired(
                            pruning, sequences[q, layout.REGRET], best[q] - lowest[infoset], t - (since[q] + 1) // 2
                        )
                    )
                ):
                    wanted = np.uint64(q)
                    break
            if wanted > 0:
                continue
            if height > 0:
                for q in range(begin, end):
                    if pruned[q] == OPEN:
                        sequences[q, layout.REGRET] += gain[q] - most
                    elif pruned[q] == SEEN:
                        sequences[q, layout.REGRET] = rules.settled_regret(
                            sequences[q, layout.REGRET], gain[q] - most, plus
                        )
                        pruned[q] = OPEN
                infosets[infoset, layout.TOTAL_VALUE] = value
                gain[np.uint64(parent[infoset])] += most
                frames[height - one, 2] -= 1
            total = 0.0
            for q in range(begin, end):
                if pruned[q] == OPEN:
                    total += positive(sequences[q, layout.REGRET])
            free = begin
            for q in range(begin, end):  # begin where it is promising: no node is touched
                if pruned[q] == PRUNED:
                    continue
                regret, drift = sequences[q, layout.REGRET], reach * best[q] - value
                if rules.promising(threshold, fixed, total, regret, t, drift, best[q] - lowest[infoset]):
                    pruned[q], since[q], value_then[q] = PRUNED, moment, value
                    limit[q] = regret - drift
                    play[q, layout.STRATEGY] = 0.0
                else:
                    open_[free] = q
                    free += one
            width[infoset] = free - begin
            for place in range(begin, free):
                q = np.uint64(open_[place])
                play[q, layout.STRATEGY] = share(positive(sequences[q, layout.REGRET]), total, width[infoset])
            if height == 0:
                break
    return nodes


@kernel
def _learn(player: Player, visited: Index, pruning: Pruning, t: float) -> Index:
    """Values, regrets and next strategies of the infosets visited, from the bottom up.

    Returns how many have cause to end or begin pruning: they are listed, children first, in ``events``.
    """
    first, parent = player.treeplex
    sequences, infosets, pruned = player.tables.sequences, player.tables.infosets, player.tables.pruned
    play, limit, since = player.tables.play, player.tables.limit, player.tables.since
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
            value += play[s, layout.STRATEGY] * (play[s, layout.VALUE] + sequences[s, layout.BELOW])
        sequences[np.uint64(parent[infoset]), layout.BELOW] += value
        total, negative = 0.0, False
        for free in range(begin, end):
            s = np.uint64(open_[free])
            gain = play[s, layout.VALUE] + sequences[s, layout.BELOW] - value
            regret = rules.next_regret(sequences[s, layout.REGRET], gain, plus)
            sequences[s, layout.OWN] += play[s, layout.VALUE]
            sequences[s, layout.REGRET], play[s, layout.VALUE], sequences[s, layout.BELOW] = regret, 0.0, 0.0
            total += positive(regret)
            negative = negative or regret < 0.0
        reach = infosets[infoset, layout.TOTAL_REACH] + infosets[infoset, layout.REACH]
        total_value = infosets[infoset, layout.TOTAL_VALUE] + value
        infosets[infoset, layout.TOTAL_REACH], infosets[infoset, layout.TOTAL_VALUE] = reach, total_value
        infosets[infoset, layout.REACH] = 0.0
        for free in range(begin, end):
            s = np.uint64(open_[free])
            play[s, layout.STRATEGY] = share(positive(sequences[s, layout.REGRET]), total, width[infoset])
        cause = False
        if negative and total > 0.0:
            for free in range(begin, end):
                s = np.uint64(open_[free])
                regret, drift = sequences[s, layout.REGRET], reach * best[s] - total_value
                cause = cause or rules.promising(
                    pruning.threshold, pruning.fixed, total, regret, t, drift, best[s] - lowest[infoset]
                )
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
    play[0, layout.VALUE], sequences[0, layout.BELOW] = 0.0, 0.0
    return count


@inlined
def _end_turn(
    player: Player, opponent: Player, functions: None, visited: Index, pruning: Pruning, t: float, start: int, now: int
) -> int:
    """What the player learns from the infosets visited; returns nodes touched by best responses."""
    events = _learn(player, visited, pruning, t)
    nodes = 0
    if events > 0:
        nodes = revise(player, opponent, events, pruning, t, start, now)
    return nodes


@kernel
def nested_iterations(
    tree: Walked,
    players: tuple[Player, Player],
    work: Worklist,
    start: int,
    weight: Floats,
    pruning: Pruning,
    turns: int,
) -> tuple[int, int, int]:
    """As ``prune.walk_iterations``."""
    return iterations(_end_turn, tree, players, (None, None), work, start, weight, pruning, turns)
