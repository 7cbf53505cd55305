"""CFR by walks over the history tree, with partial and regret-based pruning, for any strategy rule of ``rules``.

Walks skip a pruned sequence (I, a) and everything below it. The sums of v(I) and of the counterfactual reach of I
continue, and both sides of inequality (9) or (11) change with them. Once it fails the sequence is revisited: one best
response to the opponent's average over the skipped iterations counts as the strategy that was played below it (Brown &
Sandholm 2015, section 4.1).

Only visited infosets compute a new strategy, because only their regrets may have changed. Thresholds and rates are
those of the last such iteration. Float64; one thread; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.history import arrays as layout
from treeplex.engines.history.arrays import Pruning, WalkingPlayer, Worklist
from treeplex.engines.history.cpu import rules
from treeplex.engines.history.cpu.sums import infosets_below, pass_to, reopen, update_payments
from treeplex.engines.history.cpu.walk import iterations
from treeplex.engines.history.levels import Walked
from treeplex.kernels.jit import Index, inlined, inlined_loop, kernel
from treeplex.updates.rules import normalise_span, positive


@inlined_loop
def _end_pruning(player: WalkingPlayer, s: Index, now: int, t: float) -> None:
    """End the pruning of a sequence: count a best response to ``paid`` as the strategy that was played below it.

    The sums of v(I) include it; ``update_payments`` has updated the sums of reach.
    """
    (first, parent), rule, below, paid = player.treeplex, player.rule, player.scratch.nested, player.scratch.paid
    _, sequences, infosets, pruned, _, _, value_then, _, inside_pruned = player.tables
    one = np.uint64(1)
    count = infosets_below(player, s, below)
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
    for position in range(np.uint64(count)):
        infoset = np.uint64(below[position])
        inside_pruned[infoset] = 0
        pass_to(player, infoset)
        player.scratch.stamp[infoset] = now
        rules.next_strategy(player, infoset, t)
    infoset = np.uint64(player.side.owner[s])
    gain = paid[s] - (infosets[infoset, layout.TOTAL_VALUE] - value_then[s])
    sequences[s, layout.REGRET] = rules.revisited_regret(sequences[s, layout.REGRET], gain, rule.plus)
    pruned[s] = 0
    reopen(player, infoset)


@inlined_loop
def _end_at(
    player: WalkingPlayer, opponent: WalkingPlayer, s: Index, ends: bool, now: int, t: float
) -> tuple[Index, int]:
    """Update payments below a sequence, and end prunings: of ``s`` itself or, before it begins to be pruned, below it.

    Return the number of infosets below, listed in ``subtree``, and the number of nodes touched.
    """
    one, pruned, subtree, first = np.uint64(1), player.tables.pruned, player.scratch.subtree, player.treeplex.first
    count = np.uint64(infosets_below(player, s, subtree))
    update_payments(player, opponent, s, count, now)
    begin, end = s, s + one
    for step in range(one if ends else count):
        if not ends:
            begin, end = np.uint64(first[np.uint64(subtree[step])]), np.uint64(first[np.uint64(subtree[step]) + one])
        for q in range(begin, end):
            if pruned[q] == 1:
                _end_pruning(player, q, now, t)
    return count, player.side.below[s]


@inlined_loop
def _begin_pruning(
    player: WalkingPlayer, s: Index, count: Index, drift: float, stretch: float, pass_number: int
) -> None:
    """Prune an open sequence; the infosets below it are the first ``count`` of ``subtree``."""
    infoset = np.uint64(player.side.owner[s])
    play, sequences, infosets, pruned, limit, since, value_then, _, inside_pruned = player.tables
    for step in range(count):
        inside_pruned[np.uint64(player.scratch.subtree[step])] = 1
    pruned[s] = 1
    reopen(player, infoset)
    value_then[s], since[s] = infosets[infoset, layout.TOTAL_VALUE], pass_number
    limit[s] = stretch * sequences[s, layout.REGRET] - drift
    play[s, layout.STRATEGY] = 0.0


@inlined_loop
def _open_weights(player: WalkingPlayer, infoset: Index, eta: float) -> tuple[float, float]:
    """Return the largest regret of open actions and, with thresholds, the sum that normalises probabilities."""
    open_, begin = player.open.sequence, np.uint64(player.treeplex.first[infoset])
    end, sequences = begin + np.uint64(player.open.width[infoset]), player.tables.sequences
    highest, total = rules.largest_regret(sequences, open_, begin, end), 0.0
    if rules.thresholds(player.rule):
        total = rules.open_weight(player.rule, sequences, open_, begin, end, eta, highest)
    return highest, total


@inlined_loop
def _should_prune(
    player: WalkingPlayer,
    s: Index,
    pruning: Pruning,
    weights: tuple[float, float, float, float],
    drift: float,
    t: float,
) -> bool:
    """Return whether to prune an open sequence: whether it is allowed, and will last long enough.

    ``weights`` are eta, the threshold, and the two numbers of ``_open_weights``.
    """
    eta, least, highest, total = weights
    regret, spread = player.tables.sequences[s, layout.REGRET], _spread(player, s)
    bar = pruning.threshold * drift
    if not rules.worthwhile(player.rule, eta, least, highest, total, regret, t, bar):
        return False
    return not pruning.fixed or rules.guaranteed(regret, spread) > pruning.threshold


@inlined_loop
def _spread(player: WalkingPlayer, s: Index) -> float:
    """Return U(I, a) - L(I) of a sequence."""
    return player.side.best[s] - player.side.lowest[np.uint64(player.side.owner[s])]


@kernel
def _revise(
    player: WalkingPlayer, opponent: WalkingPlayer, events: Index, pruning: Pruning, t: float, start: int, now: int
) -> int:
    """End and begin pruning in the infosets that ``_learn`` has listed; return nodes touched by best responses."""
    one, rule, first, best = np.uint64(1), player.rule, player.treeplex.first, player.side.best
    infosets, pruned, tables = player.tables.infosets, player.tables.pruned, player.tables
    nodes = 0
    for back in range(np.uint64(events)):
        infoset = np.uint64(player.scratch.events[np.uint64(events) - one - back])  # parents first
        if tables.inside_pruned[infoset] == 1:
            continue
        reach, value = infosets[infoset, layout.TOTAL_REACH], infosets[infoset, layout.TOTAL_VALUE]
        eta, least = rules.rate_and_threshold(rule, infosets, infoset, t)
        highest, total = _open_weights(player, infoset, eta)
        for s in range(np.uint64(first[infoset]), np.uint64(first[infoset + one])):
            rise = reach * best[s]
            drift = rise - value  # the rise of the regret by (9), over all iterations so far
            ends, begins = False, False
            if pruned[s] == 1:
                regret, skipped = tables.sequences[s, layout.REGRET], t - (tables.since[s] + 1) // 2
                ends = rules.due(rule, eta, least, highest, total, tables.limit[s], rise, value)
                ends = ends or rules.expired(pruning, regret, _spread(player, s), skipped)
            else:
                begins = _should_prune(player, s, pruning, (eta, least, highest, total), drift, t)
            if not (ends or begins):
                continue
            count, touched = _end_at(player, opponent, s, ends, now, t)
            nodes += touched
            if ends:
                highest, total = _open_weights(player, infoset, eta)
                begins = _should_prune(player, s, pruning, (eta, least, highest, total), drift, t)
            if begins:
                _begin_pruning(player, s, count, drift, pruning.stretch, 2 * start + now + 1)
                highest, total = _open_weights(player, infoset, eta)
        rules.next_strategy(player, infoset, t)
    return nodes


@inlined_loop
def _mark_responses(player: WalkingPlayer, visited: Index) -> None:
    """Mark the visited infosets that play a best response: those below actions of regret at most -(U(I) - L(I))."""
    play, sequences, responds = player.tables.play, player.tables.sequences, player.scratch.responds
    owner = player.side.owner
    for position in range(np.uint64(visited)):
        infoset = np.uint64(player.scratch.visited[position])
        s = np.uint64(player.treeplex.parent[infoset])
        above = np.uint64(max(owner[s], 0))
        low = sequences[s, layout.REGRET] <= -player.side.payoff_range[above]
        unplayed = play[s, layout.STRATEGY] == 0.0 and low
        responds[infoset] = 1 if s > 0 and (responds[above] == 1 or unplayed) else 0


@inlined_loop
def _value(player: WalkingPlayer, begin: Index, end: Index, responds: bool) -> float:
    """Return the value of an infoset: that of the current strategy, or of the best action."""
    play, open_ = player.tables.play, player.open.sequence
    if responds:
        value = play[begin, layout.VALUE]
        for free in range(begin + np.uint64(1), end):
            value = max(value, play[np.uint64(open_[free]), layout.VALUE])
        return value
    value = 0.0
    for free in range(begin, end):
        s = np.uint64(open_[free])
        value += play[s, layout.STRATEGY] * play[s, layout.VALUE]
    return value


@inlined_loop
def _learn_at(player: WalkingPlayer, infoset: Index, begin: Index, end: Index, value: float) -> tuple[float, bool]:
    """Update regrets and sums of an infoset; return the sum of positive regrets, and whether any is negative."""
    play, sequences, infosets = player.tables.play, player.tables.sequences, player.tables.infosets
    play[np.uint64(player.treeplex.parent[infoset]), layout.VALUE] += value
    total, negative = 0.0, False
    for free in range(begin, end):
        s = np.uint64(player.open.sequence[free])
        gain = play[s, layout.VALUE] - value
        regret = rules.next_regret(sequences[s, layout.REGRET], gain, player.rule.plus)
        sequences[s, layout.REGRET], play[s, layout.VALUE] = regret, 0.0
        total += positive(regret)
        negative = negative or regret < 0.0
    if infosets.shape[1] > layout.TOTAL_VALUE:
        infosets[infoset, layout.TOTAL_REACH] += infosets[infoset, layout.REACH]
        infosets[infoset, layout.TOTAL_VALUE] += value
    infosets[infoset, layout.REACH] = 0.0
    return total, negative


@inlined_loop
def _has_cause(player: WalkingPlayer, infoset: Index, begins: bool, pruning: Pruning, t: float) -> bool:
    """Return whether, with regret matching, a pruning must end or, if any ``begins`` at all, one may begin."""
    (open_, width), first, best = player.open, player.treeplex.first, player.side.best
    sequences, infosets, tables = player.tables.sequences, player.tables.infosets, player.tables
    begin, last = np.uint64(first[infoset]), np.uint64(first[infoset + np.uint64(1)])
    end, cause = begin + np.uint64(width[infoset]), False
    reach, value = infosets[infoset, layout.TOTAL_REACH], infosets[infoset, layout.TOTAL_VALUE]
    if begins:
        for free in range(begin, end):
            s = np.uint64(open_[free])
            regret, drift = sequences[s, layout.REGRET], reach * best[s] - value
            cause = cause or (regret < 0.0 and -regret * t > pruning.threshold * drift)
    if end < last:
        for s in range(begin, last):
            if tables.pruned[s] == 1:
                regret, skipped = sequences[s, layout.REGRET], t - (tables.since[s] + 1) // 2
                cause = cause or tables.limit[s] + reach * best[s] > value
                cause = cause or rules.expired(pruning, regret, _spread(player, s), skipped)
    return cause


@kernel
def _learn(player: WalkingPlayer, visited: Index, pruning: Pruning, t: float) -> Index:
    """Compute values, regrets and next strategies of the visited infosets, from the bottom up.

    Return the number of infosets with a reason to end or begin pruning. They are listed, children first, in ``events``.
    Thresholds depend on t, so with them every visited infoset must evaluate (11), and strategies are computed then.
    """
    play, infosets, (open_, width) = player.tables.play, player.tables.infosets, player.open
    regrets, strategy = player.tables.sequences[:, layout.REGRET], play[:, layout.STRATEGY]
    listed, events, responds = player.scratch.visited, player.scratch.events, player.scratch.responds
    one, count = np.uint64(1), np.uint64(0)
    if pruning.respond:
        _mark_responses(player, visited)
    for back in range(np.uint64(visited)):
        infoset = np.uint64(listed[np.uint64(visited) - one - back])
        begin = np.uint64(player.treeplex.first[infoset])
        end = begin + np.uint64(width[infoset])
        value = _value(player, begin, end, pruning.respond and responds[infoset] == 1)
        total, negative = _learn_at(player, infoset, begin, end, value)
        cause = pruning.threshold >= 0.0
        if rules.thresholds(player.rule):
            skipped = t - 1.0 - infosets[infoset, layout.SEEN]
            rules.observe(infosets, infoset, 0.0, skipped)  # not reached: its value was zero
            rules.observe(infosets, infoset, value, 1.0)
            if not cause:
                rules.next_strategy(player, infoset, t)
        else:
            normalise_span(regrets, strategy, begin, end, open_, total)
            cause = cause and _has_cause(player, infoset, negative and total > 0.0, pruning, t)
        if cause:
            events[count] = infoset
            count += one
    play[0, layout.VALUE] = 0.0
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
        nodes = _revise(player, opponent, events, pruning, t, start, now)
    return nodes


@kernel
def walk_iterations(
    tree: Walked,
    players: tuple[WalkingPlayer, WalkingPlayer],
    work: Worklist,
    start: int,
    weight: Floats,
    pruning: Pruning,
    turns: int,
) -> tuple[int, int, int]:
    """Run one iteration per entry of ``weight``, as ``walk.iterations`` does, with a rule that is compiled in."""
    return iterations(_end_turn, tree, players, (None, None), work, start, weight, pruning, turns)
