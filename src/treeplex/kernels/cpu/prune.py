"""CFR by walks over the history tree, with partial and regret-based pruning (Brown & Sandholm 2015).

A pruned sequence (I, a) is not entered at all, with everything below it. Meanwhile ``bound`` follows the left side of
inequality (9) minus its right side; once it is positive the sequence is revisited: one best response to the opponent's
average over the skipped iterations counts as what was played below it (section 4.1). Float64; one thread; no fastmath.
"""

from __future__ import annotations

from typing import NamedTuple

from treeplex.arrays import Bytes, Floats, Ints
from treeplex.compiled.history import HistoryTree
from treeplex.compiled.paths import Side
from treeplex.compiled.payoffs import Csr, Payoffs
from treeplex.compiled.treeplex import Treeplex
from treeplex.kernels.cpu.jit import kernel
from treeplex.kernels.cpu.walk import Ground, Trail, down, up
from treeplex.kernels.rules import SIMULTANEOUS


class Pruner(NamedTuple):
    """What one player keeps between iterations; all modified in place."""

    regret: Floats  # [S]
    average: Floats  # [S] weighted sum of sequence-form strategies played
    behaviour: Floats  # [S] the current strategy
    played: Floats  # [S] plain sum of the sequence-form strategies that the opponent has met
    pruned: Bytes  # [S] 1 while a sequence is pruned
    bound: Floats  # [S] of a pruned sequence: what its regret may have grown to at most
    spent: Floats  # [S] of a pruned sequence: sum of v(I) over the skipped iterations
    stored: Floats  # [S] what the sequence itself had earned from the opponent's play when pruning began
    frozen: Bytes  # [I] 1 for an infoset below a pruned sequence
    worth: Floats  # [I] sum of v(I) over all iterations
    mass: Floats  # [I] sum of the opponent's and chance's reach of I over all iterations


class Yard(NamedTuple):
    """Scratch for one player."""

    weights: Floats  # [S]
    stack: Ints  # [I]
    list: Ints  # [I]
    nested: Ints  # [I]


@kernel
def _add_played(treeplex: Treeplex, side: Side, behaviour: Floats, total: Floats, weight: float, yard: Yard) -> None:
    """total += weight * x for the sequence form x of ``behaviour``, visiting only what it reaches."""
    first, _ = treeplex
    weights, stack = yard.weights, yard.stack
    weights[0] = 1.0
    total[0] += weight
    height = 0
    for place in range(side.child_start[0], side.child_start[1]):
        stack[height] = side.child[place]
        height += 1
    while height > 0:
        height -= 1
        infoset = stack[height]
        above = weights[treeplex.parent[infoset]]
        for s in range(first[infoset], first[infoset + 1]):
            reach = above * behaviour[s]
            if reach > 0.0:
                weights[s] = reach
                total[s] += weight * reach
                for place in range(side.child_start[s], side.child_start[s + 1]):
                    stack[height] = side.child[place]
                    height += 1


@kernel
def _below(treeplex: Treeplex, side: Side, s: int, found: Ints) -> int:
    """D(I, a): the infosets below a sequence, parents first, into ``found``; returns how many."""
    count = 0
    for place in range(side.child_start[s], side.child_start[s + 1]):
        found[count] = side.child[place]
        count += 1
    done = 0
    while done < count:
        infoset = found[done]
        done += 1
        for q in range(treeplex.first[infoset], treeplex.first[infoset + 1]):
            for place in range(side.child_start[q], side.child_start[q + 1]):
                found[count] = side.child[place]
                count += 1
    return count


@kernel
def _earned(matrix: Csr, sign: float, s: int, played: Floats) -> float:
    """What a sequence's own terminals earned against all the opponent has played."""
    total = 0.0
    for entry in range(matrix.start[s], matrix.start[s + 1]):
        total += matrix.data[entry] * played[matrix.column[entry]]
    return sign * total


@kernel
def _match(treeplex: Treeplex, pruner: Pruner, infoset: int) -> None:
    """The next strategy of an infoset: regret matching, with nothing on pruned actions."""
    start, end = treeplex.first[infoset], treeplex.first[infoset + 1]
    total, open_actions = 0.0, 0
    for s in range(start, end):
        if pruner.pruned[s] == 0:
            open_actions += 1
            total += max(pruner.regret[s], 0.0)
    for s in range(start, end):
        if pruner.pruned[s] == 1:
            pruner.behaviour[s] = 0.0
        elif total > 0.0:
            pruner.behaviour[s] = max(pruner.regret[s], 0.0) / total
        else:
            pruner.behaviour[s] = 1.0 / open_actions


@kernel
def _add_gain(pruner: Pruner, s: int, gain: float, plus: bool) -> None:
    """R += gain; with ``plus`` a negative regret is forgotten as soon as the gain is positive (section 4.2)."""
    if plus and gain > 0.0 and pruner.regret[s] <= 0.0:
        pruner.regret[s] = gain
    else:
        pruner.regret[s] += gain


@kernel
def _revisit(
    treeplex: Treeplex,
    side: Side,
    matrix: Csr,
    sign: float,
    played: Floats,
    pruner: Pruner,
    s: int,
    plus: bool,
    found: Ints,
    weights: Floats,
) -> int:
    """End the pruning of sequence ``s``: a best response to the opponent's play since; returns nodes touched."""
    count = _below(treeplex, side, s, found)
    now = _earned(matrix, sign, s, played)
    weights[s] = now - pruner.stored[s]
    pruner.stored[s] = now
    for place in range(count):
        infoset = found[place]
        for q in range(treeplex.first[infoset], treeplex.first[infoset + 1]):
            now = _earned(matrix, sign, q, played)
            weights[q] = now - pruner.stored[q]
            pruner.stored[q] = now
    for place in range(count - 1, -1, -1):
        infoset = found[place]
        start, end = treeplex.first[infoset], treeplex.first[infoset + 1]
        best = weights[start]
        for q in range(start + 1, end):
            best = max(best, weights[q])
        for q in range(start, end):
            pruner.regret[q] += weights[q] - best
        weights[treeplex.parent[infoset]] += best
        pruner.frozen[infoset] = 0
        _match(treeplex, pruner, infoset)
    _add_gain(pruner, s, weights[s] - pruner.spent[s], plus)
    pruner.pruned[s] = 0
    return side.below[s]


@kernel
def _begin(
    treeplex: Treeplex,
    side: Side,
    matrix: Csr,
    sign: float,
    played: Floats,
    pruner: Pruner,
    s: int,
    plus: bool,
    known: bool,
    yard: Yard,
) -> int:
    """Begin to prune sequence ``s``; ``known``: all below was brought up to date just now. Returns nodes touched."""
    nodes = 0
    count = _below(treeplex, side, s, yard.list)
    for place in range(count):
        infoset = yard.list[place]
        for q in range(treeplex.first[infoset], treeplex.first[infoset + 1]):
            if pruner.pruned[q] == 1:
                nodes += _revisit(treeplex, side, matrix, sign, played, pruner, q, plus, yard.nested, yard.weights)
    if not known:
        nodes += side.below[s]
        pruner.stored[s] = _earned(matrix, sign, s, played)
        for place in range(count):
            infoset = yard.list[place]
            for q in range(treeplex.first[infoset], treeplex.first[infoset + 1]):
                pruner.stored[q] = _earned(matrix, sign, q, played)
    for place in range(count):
        pruner.frozen[yard.list[place]] = 1
    pruner.pruned[s] = 1
    pruner.bound[s] = pruner.regret[s]
    pruner.spent[s] = 0.0
    return nodes


@kernel
def _learn(
    treeplex: Treeplex,
    side: Side,
    matrix: Csr,
    sign: float,
    played: Floats,
    pruner: Pruner,
    trail: Trail,
    met: int,
    t: float,
    plus: bool,
    threshold: float,
    yard: Yard,
) -> int:
    """Regrets, pruning and next strategies of the infosets met; returns nodes touched by best responses."""
    first = treeplex.first
    nodes = 0
    for place in range(met):
        infoset = trail.met[place]
        worth, mass = trail.worth[infoset], trail.mass[infoset]
        pruner.worth[infoset] += worth
        pruner.mass[infoset] += mass
        for s in range(first[infoset], first[infoset + 1]):
            if pruner.pruned[s] == 1:
                pruner.bound[s] += mass * side.best[s] - worth
                pruner.spent[s] += worth
            else:
                _add_gain(pruner, s, trail.gain[s], plus)
            trail.gain[s] = 0.0
        trail.worth[infoset], trail.mass[infoset] = 0.0, 0.0
    if threshold >= 0.0:
        for place in range(met - 1, -1, -1):  # the walk went up: what was met last stands above
            infoset = trail.met[place]
            if pruner.frozen[infoset] == 1:
                continue
            positive = False
            for s in range(first[infoset], first[infoset + 1]):
                positive = positive or (pruner.pruned[s] == 0 and pruner.regret[s] > 0.0)
            for s in range(first[infoset], first[infoset + 1]):
                known = False
                if pruner.pruned[s] == 1:
                    if pruner.bound[s] <= 0.0:
                        continue
                    nodes += _revisit(treeplex, side, matrix, sign, played, pruner, s, plus, yard.list, yard.weights)
                    positive = positive or pruner.regret[s] > 0.0
                    known = True
                if positive and pruner.regret[s] < 0.0:
                    drift = (pruner.mass[infoset] * side.best[s] - pruner.worth[infoset]) / t
                    if drift <= 0.0 or -pruner.regret[s] > threshold * drift:
                        nodes += _begin(treeplex, side, matrix, sign, played, pruner, s, plus, known, yard)
    for place in range(met):
        _match(treeplex, pruner, trail.met[place])
    return nodes


@kernel
def pruned_iterations(
    tree: HistoryTree,
    sequence: Ints,
    treeplexes: tuple[Treeplex, Treeplex],
    sides: tuple[Side, Side],
    matrices: Payoffs,
    pruners: tuple[Pruner, Pruner],
    trails: tuple[Trail, Trail],
    ground: Ground,
    yards: tuple[Yard, Yard],
    start: int,
    weight: Floats,
    plus: bool,
    partial: bool,
    threshold: float,
    turns: int,
) -> int:
    """One iteration for each of ``weight``, numbered from ``start + 1``; returns nodes touched.

    ``threshold``: prune only where about this many iterations will be skipped; negative: never.
    """
    nodes = 0
    behaviour = (pruners[0].behaviour, pruners[1].behaviour)
    pruned = (pruners[0].pruned, pruners[1].pruned)
    for i in range(len(weight)):
        t = float(start + i + 1)
        for turn in range(2):
            if turn == 1 and turns == SIMULTANEOUS:
                break
            who = 2 if turns == SIMULTANEOUS else turn
            count = down(tree, sequence, behaviour, pruned, partial, who, ground)
            met0, met1 = up(tree, sequence, behaviour, who, count, ground, trails)
            nodes += count
            if who != 1:
                _add_played(treeplexes[0], sides[0], behaviour[0], pruners[0].average, weight[i], yards[0])
                _add_played(treeplexes[1], sides[1], behaviour[1], pruners[1].played, 1.0, yards[1])
            if who != 0:
                _add_played(treeplexes[1], sides[1], behaviour[1], pruners[1].average, weight[i], yards[1])
                _add_played(treeplexes[0], sides[0], behaviour[0], pruners[0].played, 1.0, yards[0])
            if who != 1:
                nodes += _learn(
                    treeplexes[0],
                    sides[0],
                    matrices[0],
                    1.0,
                    pruners[1].played,
                    pruners[0],
                    trails[0],
                    met0,
                    t,
                    plus,
                    threshold,
                    yards[0],
                )
            if who != 0:
                nodes += _learn(
                    treeplexes[1],
                    sides[1],
                    matrices[1],
                    -1.0,
                    pruners[0].played,
                    pruners[1],
                    trails[1],
                    met1,
                    t,
                    plus,
                    threshold,
                    yards[1],
                )
    return nodes
