"""Rules by which walks choose strategies, and prune actions. Maths: ``engines.history.reference``.

Regret matching prunes a sequence of negative regret until that could have become positive (Brown & Sandholm 2015):

    R(a) when pruning began + sum over the iterations since of (counterfactual reach of I) U(I, a) - v(I)  <=  0     (9)

Theorem 1 guarantees, in advance, that this holds for m = floor(-R(a) / (U(I, a) - L(I))) iterations.

With dynamic thresholding a sequence is pruned while its probability must be below the threshold (Brown, Kroer &
Sandholm 2017), where B is the left side of (9):

    exp(eta B) / (exp(eta B) + sum over open actions b of exp(eta R(b)))  <  limit(I) / sqrt(t + 1)                 (11)

With regret matching it is pruned while B+ / (B+ + sum over open b of R+(b)) is below the threshold. The most likely
action is always played, so a pruning ends once B is as large as the regret of every other action.

The sum omits the other pruned actions. That makes the left side larger, so no pruning lasts too long. Both rules begin
to prune if, at the drift so far, more than ``threshold`` iterations will be skipped, (10). Parts of the kernels in
``prune``. Float64; no fastmath.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
from numba.extending import overload

from treeplex.arrays import Floats, Ints
from treeplex.engines.history.arrays import (
    MEAN,
    REGRET,
    SEEN,
    SQUARES,
    STRATEGY,
    PlainRule,
    Pruning,
    WalkingPlayer,
    WalkRule,
)
from treeplex.kernels.jit import Index, inlined, inlined_loop
from treeplex.updates.exponential import exp_below_zero
from treeplex.updates.hedge import MATCHING, cut_below, step_size
from treeplex.updates.rules import normalise, normalise_span, positive, positive_sum


def thresholds(rule: WalkRule) -> bool:
    """Return whether strategies are thresholded.

    This is known when a kernel is compiled, so the kernel contains no code of the other rules.
    """
    return not isinstance(rule, PlainRule)


@overload(thresholds, strict=False)
def _thresholds(rule: Any) -> Callable[[Any], bool]:  # pyright: ignore[reportUnusedFunction]
    return (lambda rule: False) if rule.instance_class is PlainRule else (lambda rule: True)


@inlined
def next_regret(regret: float, gain: float, plus: bool) -> float:
    """Return the regret after an iteration with instantaneous regret ``gain``.

    CFR+ forgets a negative regret as soon as it rises.
    """
    return gain if plus and gain > 0.0 and regret <= 0.0 else regret + gain


@inlined
def revisited_regret(regret: float, gain: float, plus: bool) -> float:
    """Return the regret after pruned iterations, whose instantaneous regrets sum to ``gain``.

    CFR+ forgets a negative regret that has risen meanwhile, but only up to zero. The sum over many iterations would
    exceed the gain of one iteration, which the proof of the regret bound does not allow.
    """
    return 0.0 if plus and gain > 0.0 and regret + gain < 0.0 else regret + gain


@inlined
def settled_regret(regret: float, after: float, plus: bool) -> float:
    """Return the regret of a nested sequence after a response: ``after``, at most zero.

    CFR+ sets it to zero if it has risen.
    """
    return 0.0 if plus and after > regret else after


@inlined_loop
def observe(infosets: Floats, i: Index, value: float, times: float) -> None:
    """Update mean and squares of v(I), which was ``value`` in each of the next ``times`` iterations."""
    if times > 0.0:
        seen = infosets[i, SEEN]
        off, part = value - infosets[i, MEAN], times / (seen + times)
        infosets[i, MEAN] += off * part
        infosets[i, SQUARES] += off * off * seen * part
        infosets[i, SEEN] = seen + times


@inlined_loop
def rate_and_threshold(rule: WalkRule, infosets: Floats, i: Index, t: float) -> tuple[float, float]:
    """Return eta and limit(I) / sqrt(t + 1) after iteration ``t``; zero if the rule has none."""
    if not thresholds(rule):
        return 0.0, 0.0
    least = rule.limit[i] / math.sqrt(t + 1.0)
    if rule.kind == MATCHING:
        return 0.0, least
    return step_size(rule.kind, rule.log_actions[i], rule.payoff_range[i], infosets[i, SQUARES], t), least


@inlined_loop
def largest_regret(sequences: Floats, open_: Ints, begin: Index, end: Index) -> float:
    """Return the largest regret of an infoset's open actions."""
    best = -np.inf
    for free in range(begin, end):
        best = max(best, sequences[np.uint64(open_[free]), REGRET])
    return best


@inlined_loop
def softmax_total(sequences: Floats, open_: Ints, begin: Index, end: Index, eta: float, best: float) -> float:
    """Return the sum of exp(eta (R - best)) over the open actions."""
    total = 0.0
    for free in range(begin, end):
        total += exp_below_zero((sequences[np.uint64(open_[free]), REGRET] - best) * eta)
    return total


@inlined_loop
def open_weight(
    rule: WalkRule, sequences: Floats, open_: Ints, begin: Index, end: Index, eta: float, best: float
) -> float:
    """Return the sum that normalises the probabilities of open actions: of exp(eta (R - best)), or of R+."""
    if rule.kind == MATCHING:
        return positive_sum(sequences[:, REGRET], begin, end, open_)
    return softmax_total(sequences, open_, begin, end, eta, best)


@inlined_loop
def choose(
    play: Floats, sequences: Floats, open_: Ints, begin: Index, end: Index, kind: int, eta: float, least: float
) -> None:
    """Set the thresholded strategy of Hedge or regret matching over the open actions."""
    best, total = largest_regret(sequences, open_, begin, end), 0.0
    for free in range(begin, end):
        s = np.uint64(open_[free])
        if kind != MATCHING:
            weight = exp_below_zero((sequences[s, REGRET] - best) * eta)
        else:
            weight = normalise(positive(sequences[s, REGRET]), best, 1)
        play[s, STRATEGY] = weight
        total += weight
    least *= total
    total = 0.0
    for free in range(begin, end):
        s = np.uint64(open_[free])
        play[s, STRATEGY] = cut_below(play[s, STRATEGY], least)
        total += play[s, STRATEGY]
    for free in range(begin, end):
        play[np.uint64(open_[free]), STRATEGY] /= total


@inlined_loop
def next_strategy(player: WalkingPlayer, infoset: Index, t: float) -> None:
    """Set the next strategy of an infoset after iteration ``t``, over the actions that are not pruned."""
    play, sequences, (open_, width), rule = player.tables.play, player.tables.sequences, player.open, player.rule
    begin = np.uint64(player.treeplex.first[infoset])
    end = begin + np.uint64(width[infoset])
    if thresholds(rule):
        eta, least = rate_and_threshold(rule, player.tables.infosets, infoset, t)
        choose(play, sequences, open_, begin, end, rule.kind, eta, least)
    else:
        total = positive_sum(sequences[:, REGRET], begin, end, open_)
        normalise_span(sequences[:, REGRET], play[:, STRATEGY], begin, end, open_, total)


@inlined
def due(
    rule: WalkRule, eta: float, least: float, best: float, total: float, limit: float, rise: float, value: float
) -> bool:
    """Return whether the pruning of a sequence must end.

    ``rise`` is TOTAL_REACH times U(I, a), and ``value`` is TOTAL_VALUE.
    """
    if not thresholds(rule):
        return limit + rise > value
    bound = limit + (rise - value)
    if rule.kind == MATCHING:
        return bound > 0.0 and (bound >= best or bound >= least * (total + bound))
    if bound >= best:
        return True
    weight = exp_below_zero((bound - best) * eta)
    return weight >= least * (total + weight)


@inlined
def guaranteed(regret: float, spread: float) -> float:
    """Return m of Theorem 1 for a negative regret; ``spread`` is U(I, a) - L(I)."""
    return math.floor(-regret / spread) if spread > 0.0 else np.inf


@inlined
def expired(pruning: Pruning, regret: float, spread: float, skipped: float) -> bool:
    """Return whether a pruning has reached its longest duration, even if (9) holds.

    ``regret`` is the regret when it began.
    """
    if pruning.longest > 0.0 and skipped >= pruning.longest:
        return True
    return pruning.fixed and skipped >= guaranteed(regret, spread)


@inlined
def promising(
    threshold: float, fixed: bool, total: float, regret: float, t: float, drift: float, spread: float
) -> bool:
    """Return whether, with regret matching, an action may be pruned for long enough, by (10) or by Theorem 1.

    ``total`` is the sum of the other actions' positive regrets, ``drift`` is TOTAL_REACH times U(I, a) - TOTAL_VALUE.
    """
    if not (total > 0.0 and regret < 0.0 and -regret * t > threshold * drift):
        return False
    return not fixed or guaranteed(regret, spread) > threshold


@inlined
def worthwhile(
    rule: WalkRule, eta: float, least: float, best: float, total: float, regret: float, t: float, bar: float
) -> bool:
    """Return whether an open action may be pruned for long enough.

    ``bar`` is ``Pruning.threshold`` times its drift so far.
    """
    if not thresholds(rule):
        return best > 0.0 and regret < 0.0 and -regret * t > bar
    if rule.kind == MATCHING:
        share_ = positive(regret)
        if best <= 0.0 or least >= 1.0 or share_ >= least * total or regret >= best:
            return False
        return (least / (1.0 - least) * (total - share_) - regret) * t > bar
    own = exp_below_zero((regret - best) * eta)
    if least >= 1.0 or own >= least * total or own >= 1.0:
        return False
    allowed = best + math.log(least / (1.0 - least) * (total - own)) / eta  # the regret that reaches the threshold
    return (allowed - regret) * t > bar
