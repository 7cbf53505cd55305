"""CFR with Hedge or regret matching by walks, with dynamic thresholding, partial and regret-based pruning.

Brown, Kroer & Sandholm (2017). What the opponent, by thresholding, does not reach is not entered; nor, with
regret-based pruning, what lies behind an own action whose probability must still be below the threshold:

    exp(eta B) / (exp(eta B) + sum over open actions b of exp(eta R(b)))  <  limit(I) / sqrt(t + 1)            (11)
    B = R(a) when pruning began + sum over the iterations since of (reach of I by opponent and chance) U(I, a) - v(I)

Leaving the other pruned actions out of the sum makes the left side larger, so nothing is pruned for too long. A
strategy is computed anew where its infoset was met, that is where its regrets may have changed; thresholds and rates
are those of the last such iteration. Walks and sums of strategies are those of ``prune`` and ``walk``. Float64; one
thread; no fastmath.
"""

from __future__ import annotations

import math

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
    SEEN,
    SQUARES,
    SUM,
    WHOLE_MASS,
    WHOLE_WORTH,
    Odds,
    Open,
    Pruner,
    Scratch,
)
from treeplex.engines.history.cpu.odds import all_odds, choose, largest_regret, observe, worth_pruning
from treeplex.engines.history.cpu.prune import infosets_below, look_below, pass_to, reopen
from treeplex.engines.history.cpu.walk import Ground, enter
from treeplex.engines.history.levels import LevelTree
from treeplex.engines.history.paths import Side
from treeplex.jit import Index, inlined, kernel
from treeplex.updates.exponential import exp_below_zero
from treeplex.updates.hedge import step_size
from treeplex.updates.turns import SIMULTANEOUS


@kernel
def _learn(treeplex: Treeplex, pruner: Pruner, mine: Open, scratch: Scratch, met: Index, t: float) -> None:
    """Values and regrets of the infosets met in iteration ``t``, from the bottom up."""
    first, parent = treeplex
    cells, tallies = pruner.cells, pruner.tallies
    open_, opened = mine
    one = np.uint64(1)
    for back in range(np.uint64(met)):
        infoset = np.uint64(scratch.met[np.uint64(met) - one - back])
        begin = np.uint64(first[infoset])
        end = begin + np.uint64(opened[infoset])
        value = 0.0
        for free in range(begin, end):
            s = np.uint64(open_[free])
            value += cells[s, BEHAVIOUR] * cells[s, EARNED]
        cells[np.uint64(parent[infoset]), EARNED] += value
        for free in range(begin, end):
            s = np.uint64(open_[free])
            cells[s, REGRET] += cells[s, EARNED] - value
            cells[s, EARNED] = 0.0
        observe(tallies, infoset, 0.0, t - 1.0 - tallies[infoset, SEEN])  # it was not reached, so its value was zero
        observe(tallies, infoset, value, 1.0)
        tallies[infoset, WHOLE_WORTH] += value
        tallies[infoset, WHOLE_MASS] += tallies[infoset, MASS]
        tallies[infoset, MASS] = 0.0
    cells[0, EARNED] = 0.0


@kernel
def _next_strategies(
    treeplex: Treeplex, pruner: Pruner, mine: Open, meeting: Ints, met: Index, odds: Odds, t: float
) -> None:
    """New strategies in the infosets met."""
    first = treeplex.first
    cells, tallies = pruner.cells, pruner.tallies
    open_, opened = mine
    freedom, span, limit, kind, _ = odds
    for place in range(np.uint64(met)):
        infoset = np.uint64(meeting[place])
        choose(first, cells, tallies, open_, opened, freedom, span, limit, kind, infoset, t)


@inlined
def _respond(
    first: Ints,
    parent: Ints,
    cells: Floats,
    tallies: Floats,
    frozen: Bytes,
    open_: Ints,
    opened: Ints,
    freedom: Floats,
    span: Floats,
    limit: Floats,
    kind: int,
    stamp: Ints,
    gain: Floats,
    found: Ints,
    count: Index,
    now: int,
    t: float,
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
        missed = t - tallies[infoset, SEEN]
        if missed > 0.0:
            observe(tallies, infoset, best / missed, missed)
    for place in range(np.uint64(count)):
        infoset = np.uint64(found[place])
        frozen[infoset] = 0
        pass_to(first, parent, cells, tallies, infoset)
        stamp[infoset] = now
        choose(first, cells, tallies, open_, opened, freedom, span, limit, kind, infoset, t)


@kernel
def _revise(
    treeplexes: tuple[Treeplex, Treeplex],
    sides: tuple[Side, Side],
    matrix: Csr,
    sign: float,
    pruners: tuple[Pruner, Pruner],
    mine: Open,
    scratches: tuple[Scratch, Scratch],
    met: Index,
    odds: Odds,
    t: float,
    now: int,
) -> int:
    """End and begin pruning in the infosets met, and their next strategies; returns nodes touched by best responses.

    The first of every pair is the player's own, the second the opponent's.
    """
    one = np.uint64(1)
    first, parent = treeplexes[0]
    child_start, child, highest, below = sides[0].child_start, sides[0].child, sides[0].best, sides[0].below
    owner = sides[0].owner
    cells, tallies, pruned, begun, stored, frozen = pruners[0]
    open_, opened = mine
    meeting, gain, found = scratches[0].met, scratches[0].gain, scratches[0].found
    nested, stamp = scratches[0].nested, scratches[0].stamp
    freedom, span, limit, kind, patience = odds
    first1, parent1 = treeplexes[1]
    owner1, stack1, stamp1 = sides[1].owner, scratches[1].stack, scratches[1].stamp
    cells1, tallies1 = pruners[1].cells, pruners[1].tallies
    nodes = 0
    for place in range(np.uint64(met)):
        infoset = np.uint64(meeting[place])
        if frozen[infoset] == 1:
            continue
        begin, end = np.uint64(first[infoset]), np.uint64(first[infoset + one])
        mass, worth = tallies[infoset, WHOLE_MASS], tallies[infoset, WHOLE_WORTH]
        least = limit[infoset] / math.sqrt(t + 1.0)
        eta = step_size(kind, freedom[infoset], span[infoset], tallies[infoset, SQUARES], t)
        best = largest_regret(first, cells, open_, opened, infoset)
        total = all_odds(first, cells, open_, opened, infoset, eta, best)
        for s in range(begin, end):
            drift = mass * highest[s] - worth
            if pruned[s] == 1:
                bound = cells[s, LIMIT] + drift
                likely = exp_below_zero(min((bound - best) * eta, 0.0))
                due, starts = likely >= least * (total + likely), False
            else:
                due = False
                starts = worth_pruning(cells[s, REGRET], best, total, eta, least, drift, t, patience)
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
                            frozen,
                            open_,
                            opened,
                            freedom,
                            span,
                            limit,
                            kind,
                            stamp,
                            gain,
                            nested,
                            deeper,
                            now,
                            t,
                        )
                        above = np.uint64(owner[q])
                        cells[q, REGRET] += gain[q] - (tallies[above, WHOLE_WORTH] - begun[q])
                        pruned[q] = 0
                        reopen(first, pruned, open_, opened, above)
                if due:
                    break
                if step < count:
                    from_ = np.uint64(first[np.uint64(found[step])])
                    to = np.uint64(first[np.uint64(found[step]) + one])
            if due:
                best = max(best, cells[s, REGRET])
                total = all_odds(first, cells, open_, opened, infoset, eta, best)
                starts = worth_pruning(cells[s, REGRET], best, total, eta, least, drift, t, patience)
            if starts:
                for step in range(np.uint64(count)):
                    frozen[np.uint64(found[step])] = 1
                pruned[s] = 1
                reopen(first, pruned, open_, opened, infoset)
                begun[s] = worth
                cells[s, LIMIT] = cells[s, REGRET] - drift
                cells[s, BEHAVIOUR] = 0.0
                total = all_odds(first, cells, open_, opened, infoset, eta, best)
        choose(first, cells, tallies, open_, opened, freedom, span, limit, kind, infoset, t)
    return nodes


@kernel
def thresholded_iterations(
    tree: LevelTree,
    treeplexes: tuple[Treeplex, Treeplex],
    sides: tuple[Side, Side],
    matrices: Payoffs,
    pruners: tuple[Pruner, Pruner],
    open_sequences: tuple[Open, Open],
    scratches: tuple[Scratch, Scratch],
    ground: Ground,
    odds: tuple[Odds, Odds],
    start: int,
    weight: Floats,
    partial: bool,
    turns: int,
) -> int:
    """One iteration for each of ``weight``, numbered from ``start + 1``; returns nodes touched."""
    nodes = 0
    cells, tallies = (pruners[0].cells, pruners[1].cells), (pruners[0].tallies, pruners[1].tallies)
    pruning, apart = odds[0].patience >= 0.0, cells[0].shape[1] > PLAYED
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
            touched, met0, met1 = enter(tree, cells, tallies, open_sequences, scratches, partial, who, now, ground)
            nodes += touched
            if who != 1:
                mine = open_sequences[0]
                _learn(treeplexes[0], pruners[0], mine, scratches[0], met0, t)
                if pruning:
                    nodes += _revise(
                        treeplexes, sides, matrices[0], 1.0, pruners, mine, scratches, met0, odds[0], t, now
                    )
                else:
                    _next_strategies(treeplexes[0], pruners[0], mine, scratches[0].met, met0, odds[0], t)
            if who != 0:
                mine = open_sequences[1]
                _learn(treeplexes[1], pruners[1], mine, scratches[1], met1, t)
                if pruning:
                    nodes += _revise(
                        (treeplexes[1], treeplexes[0]),
                        (sides[1], sides[0]),
                        matrices[1],
                        -1.0,
                        (pruners[1], pruners[0]),
                        mine,
                        (scratches[1], scratches[0]),
                        met1,
                        odds[1],
                        t,
                        now,
                    )
                else:
                    _next_strategies(treeplexes[1], pruners[1], mine, scratches[1].met, met1, odds[1], t)
    return nodes
