"""CFR by walks over the history tree, with partial and regret-based pruning (Brown & Sandholm 2015).

A pruned sequence (I, a) is not entered at all, with everything below it. Meanwhile the sums of v(I) and of the reach
of I go on, and with them both sides of inequality (9); once it fails the sequence is revisited: one best response to
the opponent's average over the skipped iterations counts as what was played below it (section 4.1).

Sums of strategies are passed down the treeplex only where a strategy is about to change or somebody asks: SUM of a
sequence is complete once every infoset on the way has passed on what its parent sequence has gained since it last did.
So an iteration costs nothing where nothing happens. Float64; one thread; no fastmath.
"""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Bytes, Floats, Ints
from treeplex.compile.payoffs import Csr, Payoffs
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.history.arrays import (
    BEHAVIOUR,
    EARNED,
    LIMIT,
    MASS,
    PLAYED,
    REGRET,
    SUM,
    WHOLE_MASS,
    WHOLE_WORTH,
    Open,
    Pruner,
    Rule,
    Scratch,
)
from treeplex.engines.history.cpu.walk import Ground, enter, pass_on
from treeplex.engines.history.levels import LevelTree
from treeplex.engines.history.paths import Side
from treeplex.jit import Index, inlined, kernel
from treeplex.updates.turns import SIMULTANEOUS


@inlined
def pass_to(first: Ints, parent: Ints, cells: Floats, tallies: Floats, infoset: Index) -> None:
    """Pass on to an infoset's sequences what its parent sequence has gained since."""
    i = np.uint64(infoset)
    pass_on(cells, tallies, i, np.uint64(parent[i]), np.uint64(first[i]), np.uint64(first[i + np.uint64(1)]))


@kernel
def complete_sums(treeplex: Treeplex, cells: Floats, tallies: Floats) -> None:
    """Pass on everything, from the top down."""
    first, parent = treeplex
    for infoset in range(len(parent)):
        pass_to(first, parent, cells, tallies, infoset)


@inlined
def complete(
    first: Ints,
    parent: Ints,
    owner: Ints,
    cells: Floats,
    tallies: Floats,
    stamp: Ints,
    stack: Ints,
    infoset: Index,
    now: int,
) -> None:
    """Make the sums of an infoset's sequences complete, from the top down."""
    height, one = np.uint64(0), np.uint64(1)
    while infoset >= 0 and stamp[np.uint64(infoset)] != now:
        stack[height] = infoset
        height += one
        infoset = owner[np.uint64(parent[np.uint64(infoset)])]
    while height > 0:
        height -= one
        here = np.uint64(stack[height])
        pass_to(first, parent, cells, tallies, here)
        stamp[here] = now


@inlined
def infosets_below(first: Ints, child_start: Ints, child: Ints, s: Index, found: Ints) -> Index:
    """D(I, a): the infosets below a sequence, parents first, into ``found``; returns how many."""
    count, done, one = np.uint64(0), np.uint64(0), np.uint64(1)
    for place in range(np.uint64(child_start[np.uint64(s)]), np.uint64(child_start[np.uint64(s) + one])):
        found[count] = child[place]
        count += one
    while done < count:
        infoset = np.uint64(found[done])
        done += one
        begin, end = np.uint64(first[infoset]), np.uint64(first[infoset + one])
        for place in range(np.uint64(child_start[begin]), np.uint64(child_start[end])):
            found[count] = child[place]
            count += one
    return count


@inlined
def look_below(
    matrix: Csr,
    sign: float,
    first1: Ints,
    parent1: Ints,
    owner1: Ints,
    cells1: Floats,
    tallies1: Floats,
    stamp1: Ints,
    stack1: Ints,
    first: Ints,
    s: Index,
    found: Ints,
    count: Index,
    stored: Floats,
    gain: Floats,
    now: int,
) -> None:
    """What the own terminals of ``s`` and of all in ``found`` earned since last stored, into ``gain``; stored anew.

    What ends in 1 is the opponent's, whose sums are completed on the way.
    """
    start, column, data = matrix
    one = np.uint64(1)
    played = np.uint64(PLAYED if cells1.shape[1] > PLAYED else SUM)
    begin, end = np.uint64(s), np.uint64(s) + one
    for step in range(np.uint64(count) + one):
        for q in range(begin, end):
            earned = 0.0
            for entry in range(np.uint64(start[q]), np.uint64(start[q + one])):
                other = np.uint64(column[entry])
                theirs = owner1[other]
                if theirs >= 0 and stamp1[np.uint64(theirs)] != now:
                    complete(first1, parent1, owner1, cells1, tallies1, stamp1, stack1, theirs, now)
                earned += data[entry] * cells1[other, played]
            gain[q] = sign * earned - stored[q]
            stored[q] = sign * earned
        if step < count:
            begin = np.uint64(first[np.uint64(found[step])])
            end = np.uint64(first[np.uint64(found[step]) + one])


@inlined
def _match(first: Ints, cells: Floats, open_: Ints, opened: Ints, infoset: Index) -> None:
    """The next strategy of an infoset: regret matching over the actions that are not pruned."""
    i = np.uint64(infoset)
    begin = np.uint64(first[i])
    end = begin + np.uint64(opened[i])
    total = 0.0
    for free in range(begin, end):
        total += max(cells[np.uint64(open_[free]), REGRET], 0.0)
    for free in range(begin, end):
        s = np.uint64(open_[free])
        if total > 0.0:
            cells[s, BEHAVIOUR] = max(cells[s, REGRET], 0.0) / total
        else:
            cells[s, BEHAVIOUR] = 1.0 / opened[i]


@inlined
def reopen(first: Ints, pruned: Bytes, open_: Ints, opened: Ints, infoset: Index) -> None:
    """List the sequences of an infoset that are not pruned."""
    i = np.uint64(infoset)
    begin, end = np.uint64(first[i]), np.uint64(first[i + np.uint64(1)])
    free = begin
    for s in range(begin, end):
        if pruned[s] == 0:
            open_[free] = s
            free += np.uint64(1)
    opened[i] = free - begin


@inlined
def _respond(
    first: Ints,
    parent: Ints,
    cells: Floats,
    tallies: Floats,
    pruned: Bytes,
    frozen: Bytes,
    open_: Ints,
    opened: Ints,
    stamp: Ints,
    gain: Floats,
    found: Ints,
    count: Index,
    now: int,
) -> None:
    """Say that in the infosets ``found``, all that lies below a sequence, the best response for ``gain`` was played."""
    one = np.uint64(1)
    for back in range(np.uint64(count)):
        infoset = np.uint64(found[np.uint64(count) - one - back])
        begin, end = np.uint64(first[infoset]), np.uint64(first[infoset + one])
        best = gain[begin]
        for q in range(begin + one, end):
            best = max(best, gain[q])
        for q in range(begin, end):
            cells[q, REGRET] += gain[q] - best
        gain[np.uint64(parent[infoset])] += best
    for place in range(np.uint64(count)):
        infoset = np.uint64(found[place])
        frozen[infoset] = 0
        pass_to(first, parent, cells, tallies, infoset)
        stamp[infoset] = now
        _match(first, cells, open_, opened, infoset)


@kernel
def _revise(
    treeplexes: tuple[Treeplex, Treeplex],
    sides: tuple[Side, Side],
    matrix: Csr,
    sign: float,
    pruners: tuple[Pruner, Pruner],
    mine: Open,
    scratches: tuple[Scratch, Scratch],
    count_events: Index,
    t: float,
    now: int,
    rule: Rule,
) -> int:
    """End and begin pruning where ``_learn`` saw cause; returns nodes touched by best responses.

    The first of every pair is the player's own, the second the opponent's. CFR+ forgets a negative regret when it has
    risen while it was not looked at, but only as far as zero: the sum of many gains would be more than one iteration
    can bring, and the proof of the regret bound needs that.
    """
    one = np.uint64(1)
    first, parent = treeplexes[0]
    owner, child_start, child, best, _, _, below = sides[0]
    cells, tallies, pruned, begun, stored, frozen = pruners[0]
    open_, opened = mine
    _, events, _, gain, found, nested, _, stamp = scratches[0]
    first1, parent1 = treeplexes[1]
    owner1, stack1, stamp1 = sides[1].owner, scratches[1].stack, scratches[1].stamp
    cells1, tallies1 = pruners[1].cells, pruners[1].tallies
    nodes = 0
    for back in range(np.uint64(count_events)):
        infoset = np.uint64(events[np.uint64(count_events) - one - back])  # parents first
        if frozen[infoset] == 1:
            continue
        begin, end = np.uint64(first[infoset]), np.uint64(first[infoset + one])
        mass, worth = tallies[infoset, WHOLE_MASS], tallies[infoset, WHOLE_WORTH]
        positive = False
        for s in range(begin, end):
            positive = positive or (cells[s, REGRET] > 0.0 and pruned[s] == 0)
        for s in range(begin, end):
            drift = mass * best[s] - worth  # what (9) lets the regret rise, over all iterations so far
            if pruned[s] == 1:
                due, starts = cells[s, LIMIT] + mass * best[s] > worth, False
            else:
                regret = cells[s, REGRET]
                due, starts = False, positive and regret < 0.0 and -regret * t > rule.threshold * drift
            if not (due or starts):
                continue
            count = infosets_below(first, child_start, child, s, found)
            nodes += below[s]
            look_below(
                matrix,
                sign,
                first1,
                parent1,
                owner1,
                cells1,
                tallies1,
                stamp1,
                stack1,
                first,
                s,
                found,
                count,
                stored,
                gain,
                now,
            )
            from_, to = s, s + one
            for step in range(np.uint64(count) + one):  # end what is pruned, here or below
                for q in range(from_, to):
                    if pruned[q] == 1:
                        deeper = infosets_below(first, child_start, child, q, nested)
                        _respond(
                            first,
                            parent,
                            cells,
                            tallies,
                            pruned,
                            frozen,
                            open_,
                            opened,
                            stamp,
                            gain,
                            nested,
                            deeper,
                            now,
                        )
                        above = np.uint64(owner[q])
                        risen = gain[q] - (tallies[above, WHOLE_WORTH] - begun[q])
                        cells[q, REGRET] += risen
                        if rule.plus and risen > 0.0 and cells[q, REGRET] < 0.0:
                            cells[q, REGRET] = 0.0
                        pruned[q] = 0
                        reopen(first, pruned, open_, opened, above)
                if due:
                    break
                if step < count:
                    from_ = np.uint64(first[np.uint64(found[step])])
                    to = np.uint64(first[np.uint64(found[step]) + one])
            positive = positive or cells[s, REGRET] > 0.0
            if positive and cells[s, REGRET] < 0.0 and -cells[s, REGRET] * t > rule.threshold * drift:
                for step in range(np.uint64(count)):
                    frozen[np.uint64(found[step])] = 1
                pruned[s] = 1
                reopen(first, pruned, open_, opened, infoset)
                begun[s] = worth
                cells[s, LIMIT] = cells[s, REGRET] - drift
                cells[s, BEHAVIOUR] = 0.0
        _match(first, cells, open_, opened, infoset)
    return nodes


@kernel
def _learn(
    treeplex: Treeplex,
    side: Side,
    pruner: Pruner,
    mine: Open,
    scratch: Scratch,
    met: Index,
    t: float,
    rule: Rule,
) -> Index:
    """Values, regrets and next strategies of the infosets met, from the bottom up.

    Returns how many have cause to end or begin pruning: they are listed, children first, in ``events``.
    """
    first, parent = treeplex
    owner, best, spread = side.owner, side.best, side.spread
    cells, tallies, pruned = pruner.cells, pruner.tallies, pruner.pruned
    open_, opened = mine
    meeting, events, responds = scratch.met, scratch.events, scratch.responds
    one = np.uint64(1)
    count = np.uint64(0)
    if rule.respond:
        for place in range(np.uint64(met)):
            infoset = np.uint64(meeting[place])
            s = np.uint64(parent[infoset])
            above = np.uint64(max(owner[s], 0))
            unplayed = cells[s, BEHAVIOUR] == 0.0 and cells[s, REGRET] <= -spread[above]
            responds[infoset] = 1 if s > 0 and (responds[above] == 1 or unplayed) else 0
    for back in range(np.uint64(met)):
        infoset = np.uint64(meeting[np.uint64(met) - one - back])
        begin = np.uint64(first[infoset])
        end = begin + np.uint64(opened[infoset])
        value = 0.0
        if rule.respond and responds[infoset] == 1:
            value = cells[begin, EARNED]
            for free in range(begin + one, end):
                value = max(value, cells[np.uint64(open_[free]), EARNED])
        else:
            for free in range(begin, end):
                s = np.uint64(open_[free])
                value += cells[s, BEHAVIOUR] * cells[s, EARNED]
        cells[np.uint64(parent[infoset]), EARNED] += value
        total, negative = 0.0, False
        for free in range(begin, end):
            s = np.uint64(open_[free])
            gain, regret = cells[s, EARNED] - value, cells[s, REGRET]
            regret = gain if rule.plus and gain > 0.0 and regret <= 0.0 else regret + gain
            cells[s, EARNED] = 0.0
            cells[s, REGRET] = regret
            total += max(regret, 0.0)
            negative = negative or regret < 0.0
        for free in range(begin, end):
            s = np.uint64(open_[free])
            cells[s, BEHAVIOUR] = max(cells[s, REGRET], 0.0) / total if total > 0.0 else 1.0 / opened[infoset]
        if rule.threshold >= 0.0:
            mass = tallies[infoset, WHOLE_MASS] + tallies[infoset, MASS]
            worth = tallies[infoset, WHOLE_WORTH] + value
            tallies[infoset, WHOLE_MASS], tallies[infoset, WHOLE_WORTH] = mass, worth
            cause = False
            if negative and total > 0.0:
                for free in range(begin, end):
                    s = np.uint64(open_[free])
                    regret = cells[s, REGRET]
                    cause = cause or (regret < 0.0 and -regret * t > rule.threshold * (mass * best[s] - worth))
            last = np.uint64(first[infoset + one])
            if end < last:
                for s in range(begin, last):
                    cause = cause or (pruned[s] == 1 and cells[s, LIMIT] + mass * best[s] > worth)
            if cause:
                events[count] = infoset
                count += one
        tallies[infoset, MASS] = 0.0
    cells[0, EARNED] = 0.0
    return count


@kernel
def pruned_iterations(
    tree: LevelTree,
    treeplexes: tuple[Treeplex, Treeplex],
    sides: tuple[Side, Side],
    matrices: Payoffs,
    pruners: tuple[Pruner, Pruner],
    open_sequences: tuple[Open, Open],
    scratches: tuple[Scratch, Scratch],
    ground: Ground,
    start: int,
    weight: Floats,
    rule: Rule,
    turns: int,
) -> int:
    """One iteration for each of ``weight``, numbered from ``start + 1``; returns nodes touched."""
    nodes = 0
    cells, tallies = (pruners[0].cells, pruners[1].cells), (pruners[0].tallies, pruners[1].tallies)
    apart = cells[0].shape[1] > PLAYED
    passes = 1 if turns == SIMULTANEOUS else 2
    for i in range(len(weight)):
        t = float(start + i + 1)
        for turn in range(passes):
            who = 2 if passes == 1 else turn
            now = 2 * i + turn
            if who != 1:
                cells[0][0, SUM] += weight[i]
                if apart:
                    cells[1][0, PLAYED] += 1.0
            if who != 0:
                cells[1][0, SUM] += weight[i]
                if apart:
                    cells[0][0, PLAYED] += 1.0
            touched, met0, met1 = enter(tree, cells, tallies, open_sequences, scratches, rule.partial, who, now, ground)
            nodes += touched
            if who != 1:
                mine = open_sequences[0]
                events = _learn(treeplexes[0], sides[0], pruners[0], mine, scratches[0], met0, t, rule)
                if events > 0:
                    nodes += _revise(
                        treeplexes, sides, matrices[0], 1.0, pruners, mine, scratches, events, t, now, rule
                    )
            if who != 0:
                mine = open_sequences[1]
                events = _learn(treeplexes[1], sides[1], pruners[1], mine, scratches[1], met1, t, rule)
                if events > 0:
                    nodes += _revise(
                        (treeplexes[1], treeplexes[0]),
                        (sides[1], sides[0]),
                        matrices[1],
                        -1.0,
                        (pruners[1], pruners[0]),
                        mine,
                        (scratches[1], scratches[0]),
                        events,
                        t,
                        now,
                        rule,
                    )
    return nodes
