"""How walks choose strategies, and when an action is worth pruning. Maths: ``engines.history.reference``.

Regret matching prunes a sequence of negative regret until that could have become positive (Brown & Sandholm 2015):

    R(a) when pruning began + sum over the iterations since of (counterfactual reach of I) U(I, a) - v(I)  <=  0     (9)

Theorem 1 guarantees m = floor(-R(a) / (U(I, a) - L(I))) iterations of that before anything is known of them.

With dynamic thresholding a sequence is pruned while its probability must be below the threshold (Brown, Kroer &
Sandholm 2017), B being the left side of (9):

    exp(eta B) / (exp(eta B) + sum over open actions b of exp(eta R(b)))  <  limit(I) / sqrt(t + 1)                 (11)

and with regret matching while B+ / (B+ + sum over open b of R+(b)) is below the threshold of its own. The most likely
action is played whatever the threshold, so nothing is pruned any longer once B is as large as the regret of all others.

Leaving the other pruned actions out of the sum makes the left side larger, so nothing is pruned for too long. Both
begin to prune where at the drift so far more than ``threshold`` iterations will be skipped, (10). Parts of the kernels
in ``prune``. Float64; no fastmath.
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
    """Are strategies thresholded? Known when a kernel is compiled, so that it has no trace of the other rules."""
    return not isinstance(rule, PlainRule)


@overload(thresholds, strict=False)
def _thresholds(rule: Any) -> Callable[[Any], bool]:  # pyright: ignore[reportUnusedFunction]
    return (lambda rule: False) if rule.instance_class is PlainRule else (lambda rule: True)


@inlined
def next_regret(regret: float, gain: float, plus: bool) -> float:
    """After an iteration with this instantaneous regret; CFR+ forgets a negative regret as soon as it rises."""
    return gain if plus and gain > 0.0 and regret <= 0.0 else regret + gain


@inlined
def revisited_regret(regret: float, gain: float, plus: bool) -> float:
    """After iterations in which the sequence was pruned, whose instantaneous regrets add up to ``gain``.

    CFR+ forgets a negative regret when it has risen meanwhile, but only as far as zero: the sum of many would be more
    than one iteration can bring, and the proof of the regret bound needs that.
    """
    return 0.0 if plus and gain > 0.0 and regret + gain < 0.0 else regret + gain


@inlined
def settled_regret(regret: float, after: float, plus: bool) -> float:
    """Of a nested sequence that a response looked at: ``after`` is at most zero, and CFR+ forgets what has risen."""
    return 0.0 if plus and after > regret else after


@inlined_loop
def observe(infosets: Floats, i: Index, value: float, times: float) -> None:
    """Mean and squares of v(I), which was ``value`` in each of the next ``times`` iterations."""
    if times > 0.0:
        seen = infosets[i, SEEN]
        off, part = value - infosets[i, MEAN], times / (seen + times)
        infosets[i, MEAN] += off * part
        infosets[i, SQUARES] += off * off * seen * part
        infosets[i, SEEN] = seen + times


@inlined_loop
def rate_and_threshold(rule: WalkRule, infosets: Floats, i: Index, t: float) -> tuple[float, float]:
    """eta and limit(I) / sqrt(t + 1) after iteration ``t``; zero where the rule has none."""
    if not thresholds(rule):
        return 0.0, 0.0
    least = rule.limit[i] / math.sqrt(t + 1.0)
    if rule.kind == MATCHING:
        return 0.0, least
    return step_size(rule.kind, rule.log_actions[i], rule.payoff_range[i], infosets[i, SQUARES], t), least


@inlined_loop
def largest_regret(sequences: Floats, open_: Ints, begin: Index, end: Index) -> float:
    """Of an infoset's open actions."""
    best = -np.inf
    for free in range(begin, end):
        best = max(best, sequences[np.uint64(open_[free]), REGRET])
    return best


@inlined_loop
def softmax_total(sequences: Floats, open_: Ints, begin: Index, end: Index, eta: float, best: float) -> float:
    """Sum over the open actions of exp(eta (R - best))."""
    total = 0.0
    for free in range(begin, end):
        total += exp_below_zero((sequences[np.uint64(open_[free]), REGRET] - best) * eta)
    return total


@inlined_loop
def open_weight(
    rule: WalkRule, sequences: Floats, open_: Ints, begin: Index, end: Index, eta: float, best: float
) -> float:
    """What the open actions' probabilities are shares of: exp(eta (R - best)) or R+, summed up."""
    if rule.kind == MATCHING:
        return positive_sum(sequences[:, REGRET], begin, end, open_)
    return softmax_total(sequences, open_, begin, end, eta, best)


@inlined_loop
def choose(
    play: Floats, sequences: Floats, open_: Ints, begin: Index, end: Index, kind: int, eta: float, least: float
) -> None:
    """Hedge or regret matching over the open actions, thresholded."""
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
    """The next strategy of an infoset after iteration ``t``, over the actions that are not pruned."""
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
    """Must a sequence be pruned no longer? ``rise`` and ``value``: TOTAL_REACH times U(I, a), and TOTAL_VALUE."""
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
    """m of Theorem 1 for a negative regret; ``spread``: U(I, a) - L(I)."""
    return math.floor(-regret / spread) if spread > 0.0 else np.inf


@inlined
def expired(pruning: Pruning, regret: float, spread: float, skipped: float) -> bool:
    """Has a pruning lasted for as many iterations as it may, whatever (9) says? ``regret``: when it began."""
    if pruning.longest > 0.0 and skipped >= pruning.longest:
        return True
    return pruning.fixed and skipped >= guaranteed(regret, spread)


@inlined
def promising(
    threshold: float, fixed: bool, total: float, regret: float, t: float, drift: float, spread: float
) -> bool:
    """May an action be pruned, and for long enough, by (10) or by Theorem 1?

    Regret matching; ``total``: of the positive regrets beside it; ``drift``: TOTAL_REACH times U(I, a) - TOTAL_VALUE.
    """
    if not (total > 0.0 and regret < 0.0 and -regret * t > threshold * drift):
        return False
    return not fixed or guaranteed(regret, spread) > threshold


@inlined
def worthwhile(
    rule: WalkRule, eta: float, least: float, best: float, total: float, regret: float, t: float, bar: float
) -> bool:
    """May an open action be pruned, and for long enough? ``bar``: Pruning.threshold times its drift so far."""
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
