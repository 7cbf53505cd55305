"""CFR by walks over the history tree, with partial and regret-based pruning, for any strategy rule of ``rules``.

A pruned sequence (I, a) is not entered at all, with everything below it. Meanwhile the sums of v(I) and of the
counterfactual reach of I go on, and with them both sides of inequality (9) or (11); once it fails the sequence is
revisited: one best response to the opponent's average over the skipped iterations counts as what was played below it
(Brown & Sandholm 2015, section 4.1).

A strategy is computed anew where its infoset was visited, that is where its regrets may have changed; thresholds and
rates are those of the last such iteration. Float64; one thread; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Bytes, Floats, Ints
from treeplex.engines.history import arrays as layout
from treeplex.engines.history.arrays import Player, Pruning, Rule, Worklist
from treeplex.engines.history.cpu import rules
from treeplex.engines.history.cpu.sums import infosets_below, look_below, pass_to, reopen
from treeplex.engines.history.cpu.walk import iterations
from treeplex.engines.history.levels import Walked
from treeplex.kernels.jit import Index, inlined, kernel
from treeplex.updates.rules import positive


@inlined
def _end_pruning(
    first: Ints, parent: Ints, owner: Ints, child_start: Ints, child: Ints, play: Floats, sequences: Floats,
    infosets: Floats, pruned: Bytes, value_then: Floats, inside_pruned: Bytes, open_: Ints, width: Ints, below: Ints,
    paid: Floats, stamp: Ints, rule: Rule, logs: Floats, ranges: Floats, limits: Floats, s: Index, now: int, t: float,
) -> None:  # fmt: skip
    """End the pruning of a sequence: count a best response to ``paid`` as what was played below it.

    The sums of v(I) count it, as those of reach do that ``look_below`` has brought up to date.

    Arrays come one by one, because taking them out of a tuple costs a count of references each.
    """
    one = np.uint64(1)
    count = infosets_below(first, child_start, child, s, below)
    for back in range(np.uint64(count)):
        infoset = np.uint64(below[np.uint64(count) - one - back])
        begin, end = np.uint64(first[infoset]), np.uint64(first[infoset + one])
        best = paid[begin]
        for q in range(begin + one, end):
            best = max(best, paid[q])
        for q in range(begin, end):
            sequences[q, layout.REGRET] += paid[q] - best
        paid[np.uint64(parent[infoset])] += best
        infosets[infoset, layout.TOTAL_VALUE] += best
        if rules.thresholds(rule) and t > infosets[infoset, layout.SEEN]:
            missed = t - infosets[infoset, layout.SEEN]
            rules.observe(infosets, infoset, best / missed, missed)
    for place in range(np.uint64(count)):
        infoset = np.uint64(below[place])
        inside_pruned[infoset] = 0
        pass_to(first, parent, play, sequences, infosets, infoset)
        stamp[infoset] = now
        eta, least = rules.rate_and_threshold(rule, logs, ranges, limits, infosets, infoset, t)
        rules.next_strategy(play, sequences, open_, np.uint64(first[infoset]), width[infoset], rule, eta, least)
    infoset = np.uint64(owner[s])
    gain = paid[s] - (infosets[infoset, layout.TOTAL_VALUE] - value_then[s])
    sequences[s, layout.REGRET] = rules.revisited_regret(sequences[s, layout.REGRET], gain, rule.plus)
    pruned[s] = 0
    reopen(first, pruned, open_, width, infoset)


@kernel
def _revise(player: Player, opponent: Player, events: Index, pruning: Pruning, t: float, start: int, now: int) -> int:
    """End and begin pruning where ``_learn`` saw cause; returns nodes touched by best responses."""
    one = np.uint64(1)
    (first, parent), rows, rule = player.treeplex, player.rows, player.rule
    owner, child_start, child, best, _, _, least_paid, nodes_below, _, _ = player.side
    play, sequences, infosets, pruned, limit, since, value_then, paid_then, inside_pruned = player.tables
    moment = 2 * start + now + 1
    open_, width = player.open
    logs, ranges, limits = rule.log_actions, rule.payoff_range, rule.limit
    listed, found, paid = player.scratch.events, player.scratch.found, player.scratch.paid
    nested, stamp = player.scratch.nested, player.scratch.stamp
    (first_1, parent_1), owner_1 = opponent.treeplex, opponent.side.owner
    play_1, sequences_1 = opponent.tables.play, opponent.tables.sequences
    infosets_1 = opponent.tables.infosets
    stamp_1, stack_1 = opponent.scratch.stamp, opponent.scratch.stack
    nodes = 0
    for back in range(np.uint64(events)):
        infoset = np.uint64(listed[np.uint64(events) - one - back])  # parents first
        if inside_pruned[infoset] == 1:
            continue
        begin, end = np.uint64(first[infoset]), np.uint64(first[infoset + one])
        last_open = begin + np.uint64(width[infoset])
        reach, value = infosets[infoset, layout.TOTAL_REACH], infosets[infoset, layout.TOTAL_VALUE]
        eta, least = rules.rate_and_threshold(rule, logs, ranges, limits, infosets, infoset, t)
        highest, total = rules.largest_regret(sequences, open_, begin, last_open), 0.0
        if rules.thresholds(rule):
            total = rules.open_weight(rule, sequences, open_, begin, last_open, eta, highest)
        for s in range(begin, end):
            rise = reach * best[s]
            drift = rise - value  # what (9) lets the regret rise, over all iterations so far
            bar, regret = pruning.threshold * drift, sequences[s, layout.REGRET]
            spread = best[s] - least_paid[infoset]
            ends, begins = False, False
            if pruned[s] == 1:
                ends = rules.due(rule, eta, least, highest, total, limit[s], rise, value)
                ends = ends or rules.expired(pruning, regret, spread, t - (since[s] + 1) // 2)
            else:
                begins = rules.worthwhile(rule, eta, least, highest, total, regret, t, bar)
                begins = begins and (not pruning.fixed or rules.guaranteed(regret, spread) > pruning.threshold)
            if not (ends or begins):
                continue
            count = infosets_below(first, child_start, child, s, found)
            nodes += nodes_below[s]
            look_below(
                rows, first, child_start, child, infosets, found, paid, paid_then, first_1, parent_1, owner_1, play_1,
                sequences_1, infosets_1, stamp_1, stack_1, s, count, now,
            )  # fmt: skip
            lowest, behind = s, s + one  # what is pruned there ends: at ``s`` itself, or below it before that begins
            for step in range(np.uint64(count) if begins else one):
                if begins:
                    lowest = np.uint64(first[np.uint64(found[step])])
                    behind = np.uint64(first[np.uint64(found[step]) + one])
                for q in range(lowest, behind):
                    if pruned[q] == 1:
                        _end_pruning(
                            first, parent, owner, child_start, child, play, sequences, infosets, pruned, value_then,
                            inside_pruned, open_, width, nested, paid, stamp, rule, logs, ranges, limits, q, now, t,
                        )  # fmt: skip
            if ends:
                last_open = begin + np.uint64(width[infoset])
                regret = sequences[s, layout.REGRET]
                highest = max(highest, regret)
                if rules.thresholds(rule):
                    total = rules.open_weight(rule, sequences, open_, begin, last_open, eta, highest)
                begins = rules.worthwhile(rule, eta, least, highest, total, regret, t, bar)
                begins = begins and (not pruning.fixed or rules.guaranteed(regret, spread) > pruning.threshold)
            if begins:
                for step in range(np.uint64(count)):
                    inside_pruned[np.uint64(found[step])] = 1
                pruned[s] = 1
                reopen(first, pruned, open_, width, infoset)
                value_then[s], since[s] = value, moment
                limit[s] = regret - drift
                play[s, layout.STRATEGY] = 0.0
                last_open = begin + np.uint64(width[infoset])
                if rules.thresholds(rule):
                    total = rules.open_weight(rule, sequences, open_, begin, last_open, eta, highest)
        rules.next_strategy(play, sequences, open_, begin, width[infoset], rule, eta, least)
    return nodes


@inlined
def _mark_responses(player: Player, visited: Index) -> None:
    """In which of the infosets visited a best response is played: behind actions of regret at most -(U(I) - L(I))."""
    play, sequences, responds = player.tables.play, player.tables.sequences, player.scratch.responds
    owner = player.side.owner
    for place in range(np.uint64(visited)):
        infoset = np.uint64(player.scratch.visited[place])
        s = np.uint64(player.treeplex.parent[infoset])
        above = np.uint64(max(owner[s], 0))
        low = sequences[s, layout.REGRET] <= -player.side.payoff_range[above]
        unplayed = play[s, layout.STRATEGY] == 0.0 and low
        responds[infoset] = 1 if s > 0 and (responds[above] == 1 or unplayed) else 0


@kernel
def _learn(player: Player, visited: Index, pruning: Pruning, t: float) -> Index:
    """Values, regrets and next strategies of the infosets visited, from the bottom up.

    Returns how many have cause to end or begin pruning: they are listed, children first, in ``events``. Thresholds move
    with t, so with them (11) is to be looked at in every infoset visited, and strategies follow then.
    """
    first, parent = player.treeplex
    sequences, infosets, pruned = player.tables.sequences, player.tables.infosets, player.tables.pruned
    play, limit, since, lowest = player.tables.play, player.tables.limit, player.tables.since, player.side.lowest
    open_, width = player.open
    listed, events, responds = player.scratch.visited, player.scratch.events, player.scratch.responds
    best, rule, threshold = player.side.best, player.rule, pruning.threshold
    logs, ranges, limits = rule.log_actions, rule.payoff_range, rule.limit
    totals = infosets.shape[1] > layout.TOTAL_VALUE
    one = np.uint64(1)
    count = np.uint64(0)
    if pruning.respond:
        _mark_responses(player, visited)
    for back in range(np.uint64(visited)):
        infoset = np.uint64(listed[np.uint64(visited) - one - back])
        begin = np.uint64(first[infoset])
        end = begin + np.uint64(width[infoset])
        value = 0.0
        if pruning.respond and responds[infoset] == 1:
            value = play[begin, layout.VALUE]
            for free in range(begin + one, end):
                value = max(value, play[np.uint64(open_[free]), layout.VALUE])
        else:
            for free in range(begin, end):
                s = np.uint64(open_[free])
                value += play[s, layout.STRATEGY] * play[s, layout.VALUE]
        play[np.uint64(parent[infoset]), layout.VALUE] += value
        total, negative = 0.0, False
        for free in range(begin, end):
            s = np.uint64(open_[free])
            regret = rules.next_regret(sequences[s, layout.REGRET], play[s, layout.VALUE] - value, rule.plus)
            sequences[s, layout.REGRET], play[s, layout.VALUE] = regret, 0.0
            total += positive(regret)
            negative = negative or regret < 0.0
        reach, total_value = 0.0, 0.0
        if totals:
            reach = infosets[infoset, layout.TOTAL_REACH] + infosets[infoset, layout.REACH]
            total_value = infosets[infoset, layout.TOTAL_VALUE] + value
            infosets[infoset, layout.TOTAL_REACH], infosets[infoset, layout.TOTAL_VALUE] = reach, total_value
        infosets[infoset, layout.REACH] = 0.0
        cause = False
        if not rules.thresholds(rule):
            rules.match(play, sequences, open_, begin, width[infoset], total)
        else:
            skipped = t - 1.0 - infosets[infoset, layout.SEEN]
            rules.observe(infosets, infoset, 0.0, skipped)  # not reached: its value was zero
            rules.observe(infosets, infoset, value, 1.0)
            cause = threshold >= 0.0
            if not cause:
                eta, least = rules.rate_and_threshold(rule, logs, ranges, limits, infosets, infoset, t)
                rules.choose(play, sequences, open_, begin, width[infoset], rule.kind, eta, least)
        if threshold >= 0.0 and not cause:
            if negative and total > 0.0:
                for free in range(begin, end):
                    s = np.uint64(open_[free])
                    regret, drift = sequences[s, layout.REGRET], reach * best[s] - total_value
                    cause = cause or (regret < 0.0 and -regret * t > threshold * drift)
            last = np.uint64(first[infoset + one])
            if end < last:
                for s in range(begin, last):
                    if pruned[s] == 1:
                        regret, spread = sequences[s, layout.REGRET], best[s] - lowest[infoset]
                        cause = cause or limit[s] + reach * best[s] > total_value
                        cause = cause or rules.expired(pruning, regret, spread, t - (since[s] + 1) // 2)
        if cause:
            events[count] = infoset
            count += one
    play[0, layout.VALUE] = 0.0
    return count


@inlined
def _end_turn(
    player: Player, opponent: Player, functions: None, visited: Index, pruning: Pruning, t: float, start: int, now: int
) -> int:
    """What the player learns from the infosets visited; returns nodes touched by best responses."""
    events = _learn(player, visited, pruning, t)
    nodes = 0
    if events > 0:
        nodes = _revise(player, opponent, events, pruning, t, start, now)
    return nodes


@kernel
def walk_iterations(
    tree: Walked,
    players: tuple[Player, Player],
    work: Worklist,
    start: int,
    weight: Floats,
    pruning: Pruning,
    turns: int,
) -> tuple[int, int, int]:
    """One iteration for each of ``weight``; as ``walk.iterations``, with a rule that these kernels know."""
    return iterations(_end_turn, tree, players, (None, None), work, start, weight, pruning, turns)
