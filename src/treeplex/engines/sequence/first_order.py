"""What first-order methods keep: excessive gap technique, mirror prox and optimistic mirror descent."""

from __future__ import annotations

from typing import Final, NamedTuple

from treeplex.arrays import Floats, Ints
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.cpu.operators import Side
from treeplex.engines.sequence.cpu.oracle import TreeSide

KROER_2015: Final = 0  # weight schemes of the dilated entropy
KROER_2020: Final = 1
FARINA_2021: Final = 2

LONGEST_STEP: Final = 0.5  # of the excessive gap technique
SHORTEST_STEP: Final = 1e-12  # of the longest: taken untested, so that rounding cannot halve steps for ever
LAG: Final = 0.5  # weight of the lag in the bound of optimistic mirror descent
ROUNDING: Final = 1e-13  # what a smoothed value may be wrong by, relative to the numbers it is added up from
STEP_GROWTH: Final = 1.1  # how much longer the next step may be than the last


class Entropy(NamedTuple):
    """The dilated entropy of one player's treeplex; see ``engines.sequence.reference.prox``."""

    weight: Floats  # [I] beta
    log_actions: Floats  # [I] ln |A|
    order: Ints  # [I] infosets by height: those with no own infoset below them first
    level: Ints  # [L + 1] where each height begins in ``order``


class ProxScratch(NamedTuple):
    """Scratch of smoothed best responses."""

    below: Floats  # [S] zero between calls
    likely: Floats  # [S]
    best: Floats  # [I]
    total: Floats  # [I]


class FirstOrderPlayer(NamedTuple):
    """What first-order methods are told about one player."""

    treeplex: Treeplex
    side: Side | TreeSide  # the payoff operator, as the player's gradients need it
    sign: float  # 1 for player 0, -1 for player 1: payoffs of the operator are player 0's
    entropy: Entropy


class Gap(NamedTuple):
    """What the excessive gap technique keeps for one player; all arrays [S], modified in place."""

    plan: Floats  # the realization plan that converges
    gradient: Floats  # against the opponent's plan
    response: Floats  # the smoothed best response to it


class GapScratch(NamedTuple):
    """Scratch of the excessive gap technique for one player; all arrays [S]."""

    prox: ProxScratch
    against: Floats
    gradient: Floats
    mixed: Floats
    answer: Floats
    next: Floats


GapPlayer = tuple[FirstOrderPlayer, Gap, GapScratch]
"""All of one player that the excessive gap technique works with."""


class Terms(NamedTuple):
    """What a step of the excessive gap technique must keep to."""

    slack: float  # what the gap may be above zero by, for rounding
    least: float  # where smoothing stops to shrink
    adaptive: bool  # are steps as long as the gap allows? else as theory has them
    limit: Floats  # [1] of gradients by walks, see ``TreeSide``; modified in place
    cut: float  # gradients of step t are cut at this over t; 0: they are exact


class Pace(NamedTuple):
    """How far smoothing has come; modified in place."""

    smoothing: Floats  # [2] mu of each player
    value: Floats  # [2] of the smoothed best responses to the plans; their sum is the excessive gap, not positive
    step: Floats  # [1] tau of the next step


class Mirror(NamedTuple):
    """What mirror prox and optimistic mirror descent keep for one player; all arrays [S], modified in place."""

    dual: Floats  # gradients met so far, each times its step
    response: Floats  # the smoothed best response to them
    predicted: Floats  # the gradient expected next
    average: Floats  # plans played, each times its step


class MirrorScratch(NamedTuple):
    """Scratch of the same for one player; all arrays [S]."""

    prox: ProxScratch
    moved: Floats
    played: Floats
    gradient: Floats
    next: Floats


MirrorPlayer = tuple[FirstOrderPlayer, Mirror, MirrorScratch]
"""All of one player that they work with."""


class Rate(NamedTuple):
    """How fast they learn; modified in place."""

    step: Floats  # [1] of the next iteration
    growth: Floats  # [1] how much longer the one after that may be
    bound: Floats  # [1] the potential, or what stands for it; it never grows
