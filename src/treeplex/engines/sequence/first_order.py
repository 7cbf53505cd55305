"""State and scratch of first-order methods: excessive gap technique, mirror prox, optimistic mirror descent."""

from __future__ import annotations

from typing import Final, NamedTuple

from treeplex.arrays import Floats, Ints
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.cpu.operators import Side
from treeplex.engines.sequence.cpu.oracle import TreeSide

KROER_2015: Final = 0  # weight schemes of the dilated entropy
KROER_2020: Final = 1
FARINA_2021: Final = 2

LONGEST_STEP: Final = 0.5  # largest step of the excessive gap technique
SHORTEST_STEP: Final = 1e-12  # over the longest; accepted untested, so that rounding cannot halve steps forever
LAG: Final = 0.5  # weight of the lag in the bound of optimistic mirror descent
ROUNDING: Final = 1e-13  # error of a smoothed value, relative to the numbers that it is the sum of
STEP_GROWTH: Final = 1.1  # largest ratio of a step to the one before


class Entropy(NamedTuple):
    """The dilated entropy of one player's treeplex; see ``engines.sequence.reference.prox``."""

    weight: Floats  # [I] beta
    log_actions: Floats  # [I] ln |A|
    order: Ints  # [I] infosets by height, from those with no own infoset below them
    level: Ints  # [L + 1] where each height begins in ``order``


class ProxScratch(NamedTuple):
    """Scratch of smoothed best responses."""

    below: Floats  # [S] zero between calls
    likely: Floats  # [S]
    best: Floats  # [I]
    total: Floats  # [I]


class FirstOrderPlayer(NamedTuple):
    """Input of first-order methods for one player."""

    treeplex: Treeplex
    side: Side | TreeSide  # the payoff operator, as the player's gradients need it
    sign: float  # 1 for player 0, -1 for player 1: payoffs of the operator are player 0's
    entropy: Entropy
    centre: Floats  # [S] dual point from which the excessive gap technique measures distances; [0]: uniform play


class Gap(NamedTuple):
    """State of the excessive gap technique for one player; all arrays [S], modified in place."""

    plan: Floats  # the realization plan that converges
    gradient: Floats  # the gradient against the opponent's plan, plus smoothing times the centre
    response: Floats  # the smoothed best response to this gradient


class GapScratch(NamedTuple):
    """Scratch of the excessive gap technique for one player; all arrays [S]."""

    prox: ProxScratch
    against: Floats
    gradient: Floats
    mixed: Floats
    answer: Floats
    next: Floats


GapPlayer = tuple[FirstOrderPlayer, Gap, GapScratch]
"""Input, state and scratch of one player for the excessive gap technique."""


class Terms(NamedTuple):
    """Conditions that the steps of the excessive gap technique satisfy."""

    slack: float  # largest gap above zero that counts as rounding
    least: float  # smallest smoothing
    adaptive: bool  # whether steps are as long as the gap allows; else they are those of the theory
    limit: Floats  # [1] limit of gradients by walks, see ``TreeSide``; modified in place
    cut: float  # the limit of step t is this over t; 0: gradients are exact


class Pace(NamedTuple):
    """Current smoothing, gap and step of both players; modified in place."""

    smoothing: Floats  # [2] mu of each player
    value: Floats  # [2] values of the smoothed best responses to the plans; their sum, the excessive gap, is at most 0
    step: Floats  # [1] tau of the next step


class Mirror(NamedTuple):
    """State of mirror prox and optimistic mirror descent for one player; all arrays [S], modified in place."""

    dual: Floats  # sum of all gradients so far, each times its step
    response: Floats  # the smoothed best response to this sum
    predicted: Floats  # the predicted next gradient
    average: Floats  # sum of the plans played, each times its step


class MirrorScratch(NamedTuple):
    """Scratch of mirror prox and optimistic mirror descent for one player; all arrays [S]."""

    prox: ProxScratch
    moved: Floats
    played: Floats
    gradient: Floats
    next: Floats


MirrorPlayer = tuple[FirstOrderPlayer, Mirror, MirrorScratch]
"""Input, state and scratch of one player for mirror prox and optimistic mirror descent."""


class StepBounds(NamedTuple):
    """Bounds of steps and errors for mirror prox and optimistic mirror descent."""

    longest: float  # largest step
    least: float  # a step of at most this length is accepted untested
    noise: float  # error of potentials beyond their own rounding
    limit: Floats  # [1] limit of gradients by walks, see ``TreeSide``; modified in place
    cut: float  # the limit of iteration t is this over t; 0: gradients are exact


class Rate(NamedTuple):
    """Step sizes of mirror prox and optimistic mirror descent; modified in place."""

    step: Floats  # [1] step of the next iteration
    growth: Floats  # [1] factor by which the step after that may be longer
    bound: Floats  # [1] the potential, or with optimism the potential plus ``LAG`` times the lag; it never grows
