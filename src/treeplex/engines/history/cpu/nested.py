"""Regret-based pruning with free starts, persistent nested prunings, and partial best responses.

The same sequences are pruned for as long as in ``prune``, by (9) and (10) of Brown & Sandholm (2015). The costs of a
start and an end differ. Every infoset J has W(J) = TOTAL_VALUE and M(J) = TOTAL_REACH. Every action has R = REGRET and
OWN, the payments of its own terminals (no own move in between). All of them are complete up to the *clock* of J:
now, or the time when the nearest pruned sequence above J was pruned. A pruning therefore begins without visiting
anything below. When it ends, everything below it is brought up to date, from the top down and back:

    gain(q) = A[q] . played - OWN(q)                     payments of q's own terminals since, then of all below
    M(J)    = reach_rows[J] . played
    x(J)    = max of gain(q) over open q                 a best response to all that the opponent played since
    R(q)   += gain(q) - x(J),   W(J) += x(J)

A nested pruning ends only if (9) fails with x(J) included. It is evaluated in the same manner, first: with c(q) =
R(q) + gain(q) - (W(J) - W(J) when q was pruned), x(J) = max(x(J), c(q)) and R(q) = c(q) - x(J). The others continue.
An infoset that the opponent has not reached since is skipped with all below it, because nothing can be due there. See
``docs/theory/regret-based-pruning.md`` for why this is sound. Plain regret matching, CFR and CFR+. Float64; one thread;
no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.history import arrays as layout
from treeplex.engines.history.arrays import Pruning, WalkingPlayer, Worklist
from treeplex.engines.history.cpu import rules
from treeplex.engines.history.cpu.sums import pass_down_to, pass_to, reopen
from treeplex.engines.history.cpu.walk import iterations
from treeplex.engines.history.levels import Walked
from treeplex.kernels.jit import Index, inlined, inlined_loop, kernel
from treeplex.updates.rules import normalise_span, positive, positive_sum

OPEN, PRUNED, SEEN = 0, 1, 2  # states of a sequence; SEEN: pruned until this response, which has evaluated it


@inlined_loop
def _update_payments(
    player: WalkingPlayer, opponent: WalkingPlayer, q: Index, count: Index, began: float, now: int
) -> Index:
    """Update the payments of a sequence's own terminals, and the infosets directly below that the opponent has reached.

    These infosets are listed in ``subtree`` from index ``count`` on. Return where the list ends.
    """
    (row_start, column, data), size, one = player.rows, np.uint64(len(player.tables.play)), np.uint64(1)
    sequences, infosets, met = player.tables.sequences, player.tables.infosets, opponent.tables.sequences
    position, last = np.uint64(player.side.child_start[q]), np.uint64(player.side.child_start[q + one])
    row = np.uint64(q)
    while True:  # the row of payoffs of q, then that of the reach of each infoset directly below
        total, reached = 0.0, False
        for entry in range(np.uint64(row_start[row]), np.uint64(row_start[row + one])):
            other = np.uint64(column[entry])
            pass_down_to(opponent, other, now)
            total += data[entry] * met[other, layout.PLAYED]
            reached = reached or met[other, layout.LAST] > began
        if row < size:
            player.scratch.paid[q] = total - sequences[q, layout.OWN]
            sequences[q, layout.OWN] = total
        elif reached:
            below = row - size
            infosets[below, layout.TOTAL_REACH] = total
            pass_to(player, below)
            player.scratch.stamp[below] = now
            player.scratch.subtree[count] = below
            count += one
        if position == last:
            return count
        row = size + np.uint64(player.side.child[position])
        position += one


@inlined_loop
def _settle_below(player: WalkingPlayer, opponent: WalkingPlayer, s: Index, base: Index, now: int) -> tuple[Index, int]:
    """Bring all below a pruned sequence up to date, except sequences pruned there.

    Infosets are listed in ``subtree`` from index ``base`` on. Return where the list ends, and the number of nodes
    touched.
    """
    first, pruned, subtree, one = player.treeplex.first, player.tables.pruned, player.scratch.subtree, np.uint64(1)
    count, done, nodes = base, base, 0
    begin, end = s, s + one
    began = float(player.tables.since[s])
    while True:
        for q in range(begin, end):
            if pruned[q] != PRUNED or q == s:
                nodes += player.side.after[q]
                count = _update_payments(player, opponent, q, count, began, now)
        if done == count:
            return count, nodes
        begin = np.uint64(first[np.uint64(subtree[done])])
        end = np.uint64(first[np.uint64(subtree[done]) + one])
        done += one


@inlined_loop
def _end(player: WalkingPlayer, s: Index, inside: bool) -> None:
    """End a pruning after everything below it is up to date; ``inside``: whether it is inside another pruning."""
    sequences, gain, pruned = player.tables.sequences, player.scratch.paid, player.tables.pruned
    earned = player.tables.infosets[np.uint64(player.side.owner[s]), layout.TOTAL_VALUE]
    rise = gain[s] - (earned - player.tables.value_then[s])
    if inside:
        gain[s] = sequences[s, layout.REGRET] + rise
        pruned[s] = SEEN
    else:
        sequences[s, layout.REGRET] = rules.revisited_regret(sequences[s, layout.REGRET], rise, player.rule.plus)
        pruned[s] = OPEN


@inlined_loop
def _respond(player: WalkingPlayer, infoset: Index, pruning: Pruning, t: float, inside: bool) -> tuple[Index, float]:
    """Return the sequence to respond under first, and the best response's earnings at an infoset ``inside`` a pruning.

    It is the first sequence for which (9) fails with these earnings, or whose pruning has expired; 0 if there is none.
    """
    first, gain, pruned, best = player.treeplex.first, player.scratch.paid, player.tables.pruned, player.side.best
    sequences, infosets, lowest = player.tables.sequences, player.tables.infosets, player.side.lowest
    limit, since = player.tables.limit, player.tables.since
    begin, end = np.uint64(first[infoset]), np.uint64(first[infoset + np.uint64(1)])
    reach, value, most = infosets[infoset, layout.TOTAL_REACH], infosets[infoset, layout.TOTAL_VALUE], -np.inf
    if inside:  # up: the best response earns this much
        for q in range(begin, end):
            if pruned[q] != PRUNED:
                most = max(most, gain[q])
        value += most
    for q in range(begin, end):
        if pruned[q] == PRUNED:
            ends = limit[q] + reach * best[q] > value
            if not (ends or inside):
                regret, spread = sequences[q, layout.REGRET], best[q] - lowest[infoset]
                ends = rules.expired(pruning, regret, spread, t - (since[q] + 1) // 2)
            if ends:
                return np.uint64(q), most
    return np.uint64(0), most


@inlined_loop
def _settle(player: WalkingPlayer, infoset: Index, most: float) -> None:
    """Add the best response's earnings ``most`` at an infoset inside a pruning to its sums."""
    (first, parent), pruned, gain = player.treeplex, player.tables.pruned, player.scratch.paid
    sequences = player.tables.sequences
    for q in range(np.uint64(first[infoset]), np.uint64(first[infoset + np.uint64(1)])):
        if pruned[q] == OPEN:
            sequences[q, layout.REGRET] += gain[q] - most
        elif pruned[q] == SEEN:
            after = gain[q] - most
            sequences[q, layout.REGRET] = rules.settled_regret(sequences[q, layout.REGRET], after, player.rule.plus)
            pruned[q] = OPEN
    player.tables.infosets[infoset, layout.TOTAL_VALUE] += most
    gain[np.uint64(parent[infoset])] += most


@inlined_loop
def _begin(player: WalkingPlayer, infoset: Index, pruning: Pruning, t: float, pass_number: int) -> None:
    """Begin promising prunings, which touches no node, and apply regret matching to the other actions."""
    (open_, width), begin = player.open, np.uint64(player.treeplex.first[infoset])
    play, sequences, infosets, pruned, limit, since, value_then, _, _ = player.tables
    best, lowest = player.side.best, player.side.lowest[infoset]
    reach, value = infosets[infoset, layout.TOTAL_REACH], infosets[infoset, layout.TOTAL_VALUE]
    regrets, strategy = sequences[:, layout.REGRET], play[:, layout.STRATEGY]
    reopen(player, infoset)
    end = begin + np.uint64(width[infoset])
    total = positive_sum(regrets, begin, end, open_)
    for free in range(begin, end):
        q = np.uint64(open_[free])
        regret, drift = regrets[q], reach * best[q] - value
        if rules.promising(pruning.threshold, pruning.fixed, total, regret, t, drift, best[q] - lowest):
            pruned[q], since[q], value_then[q] = PRUNED, pass_number, value
            limit[q] = regret - drift
            strategy[q] = 0.0
    reopen(player, infoset)
    normalise_span(regrets, strategy, begin, begin + np.uint64(width[infoset]), open_, total)


@kernel
def revise(
    player: WalkingPlayer, opponent: WalkingPlayer, events: Index, pruning: Pruning, t: float, start: int, now: int
) -> int:
    """End and begin prunings in the infosets of ``events``, children first; return nodes touched by best responses.

    One loop serves an infoset of ``events`` and those below the sequences it responds under, one response inside the
    other. A frame is a sequence, and the begin and end of its infosets in ``subtree``.
    """
    zero, one = np.uint64(0), np.uint64(1)
    listed, subtree, frames = player.scratch.events, player.scratch.subtree, player.scratch.frames
    nodes = 0
    for event in range(np.uint64(events)):
        height, pending = zero, zero  # number of frames; the sequence to respond under next, 0: none
        while True:
            if pending > 0:  # down: payments and reach since then, of infosets that the opponent has reached since
                base = zero if height == 0 else np.uint64(frames[height - one, 2])
                last, touched = _settle_below(player, opponent, pending, base, now)
                nodes += touched
                frames[height, 0], frames[height, 1], frames[height, 2] = pending, base, last
                height += one
            if height > 0 and frames[height - one, 1] == frames[height - one, 2]:  # all below is up to date
                height -= one
                _end(player, np.uint64(frames[height, 0]), bool(height > 0))
            infoset = np.uint64(listed[event])
            if height > 0:
                infoset = np.uint64(subtree[np.uint64(frames[height - one, 2]) - one])
            pending, most = _respond(player, infoset, pruning, t, bool(height > 0))
            if pending > 0:
                continue
            if height > 0:
                _settle(player, infoset, most)
                frames[height - one, 2] -= 1
            _begin(player, infoset, pruning, t, 2 * start + now + 1)
            if height == 0:
                break
    return nodes


@inlined_loop
def _learn_at(player: WalkingPlayer, infoset: Index, begin: Index, end: Index) -> tuple[float, bool]:
    """Update value, regrets and sums of an infoset; return the sum of positive regrets, and whether any is negative."""
    sequences, infosets, play = player.tables.sequences, player.tables.infosets, player.tables.play
    open_, plus = player.open.sequence, player.rule.plus
    value = 0.0
    for free in range(begin, end):
        s = np.uint64(open_[free])
        value += play[s, layout.STRATEGY] * (play[s, layout.VALUE] + sequences[s, layout.BELOW])
    sequences[np.uint64(player.treeplex.parent[infoset]), layout.BELOW] += value
    total, negative = 0.0, False
    for free in range(begin, end):
        s = np.uint64(open_[free])
        gain = play[s, layout.VALUE] + sequences[s, layout.BELOW] - value
        regret = rules.next_regret(sequences[s, layout.REGRET], gain, plus)
        sequences[s, layout.OWN] += play[s, layout.VALUE]
        sequences[s, layout.REGRET], play[s, layout.VALUE], sequences[s, layout.BELOW] = regret, 0.0, 0.0
        total += positive(regret)
        negative = negative or regret < 0.0
    infosets[infoset, layout.TOTAL_REACH] += infosets[infoset, layout.REACH]
    infosets[infoset, layout.TOTAL_VALUE] += value
    infosets[infoset, layout.REACH] = 0.0
    return total, negative


@inlined_loop
def _has_cause(player: WalkingPlayer, infoset: Index, begins: bool, total: float, pruning: Pruning, t: float) -> bool:
    """Return whether a pruning must end or, if any ``begins`` at all, one may begin."""
    (open_, width), first, best = player.open, player.treeplex.first, player.side.best
    sequences, infosets, pruned = player.tables.sequences, player.tables.infosets, player.tables.pruned
    limit, since, lowest = player.tables.limit, player.tables.since, player.side.lowest[infoset]
    begin, last = np.uint64(first[infoset]), np.uint64(first[infoset + np.uint64(1)])
    end, cause = begin + np.uint64(width[infoset]), False
    reach, value = infosets[infoset, layout.TOTAL_REACH], infosets[infoset, layout.TOTAL_VALUE]
    if begins:
        for free in range(begin, end):
            s = np.uint64(open_[free])
            regret, drift = sequences[s, layout.REGRET], reach * best[s] - value
            cause = cause or rules.promising(
                pruning.threshold, pruning.fixed, total, regret, t, drift, best[s] - lowest
            )
    if end < last:
        for s in range(begin, last):
            if pruned[s] == PRUNED:
                regret, skipped = sequences[s, layout.REGRET], t - (since[s] + 1) // 2
                cause = cause or limit[s] + reach * best[s] > value
                cause = cause or rules.expired(pruning, regret, best[s] - lowest, skipped)
    return cause


@kernel
def _learn(player: WalkingPlayer, visited: Index, pruning: Pruning, t: float) -> Index:
    """Compute values, regrets and next strategies of the visited infosets, from the bottom up.

    Return the number of infosets with a reason to end or begin pruning. They are listed, children first, in ``events``.
    """
    play, sequences, first = player.tables.play, player.tables.sequences, player.treeplex.first
    regrets, strategy, (open_, width) = sequences[:, layout.REGRET], play[:, layout.STRATEGY], player.open
    listed, events = player.scratch.visited, player.scratch.events
    one, count = np.uint64(1), np.uint64(0)
    for back in range(np.uint64(visited)):
        infoset = np.uint64(listed[np.uint64(visited) - one - back])
        begin = np.uint64(first[infoset])
        end = begin + np.uint64(width[infoset])
        total, negative = _learn_at(player, infoset, begin, end)
        normalise_span(regrets, strategy, begin, end, open_, total)
        if _has_cause(player, infoset, negative and total > 0.0, total, pruning, t):
            events[count] = infoset
            count += one
    play[0, layout.VALUE], sequences[0, layout.BELOW] = 0.0, 0.0
    return count


@inlined
def _end_turn(
    player: WalkingPlayer,
    opponent: WalkingPlayer,
    functions: None,
    visited: Index,
    pruning: Pruning,
    t: float,
    start: int,
    now: int,
) -> int:
    """Update a player from the visited infosets; return the nodes touched by best responses."""
    events = _learn(player, visited, pruning, t)
    nodes = 0
    if events > 0:
        nodes = revise(player, opponent, events, pruning, t, start, now)
    return nodes


@kernel
def nested_iterations(
    tree: Walked,
    players: tuple[WalkingPlayer, WalkingPlayer],
    work: Worklist,
    start: int,
    weight: Floats,
    pruning: Pruning,
    turns: int,
) -> tuple[int, int, int]:
    """Run iterations as ``prune.walk_iterations`` does, with free starts of prunings."""
    return iterations(_end_turn, tree, players, (None, None), work, start, weight, pruning, turns)
