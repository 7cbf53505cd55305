"""State of a player in walks over the history tree, as plain arrays, and rules for strategies and pruning."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from treeplex.arrays import Bytes, Floats, Ints, Longs
from treeplex.compile.payoffs import Csr
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.history.paths import PlayerPaths

# Columns of ``WalkTables.play``: all that a walk needs of a sequence at its nodes. They are adjacent, so that most
# stay in the cache.
STRATEGY: Final = 0  # the current strategy
VALUE: Final = 1  # counterfactual value of the terminals directly after the sequence; zero outside a walk

# Columns of ``WalkTables.sequences``. The numbers of one sequence are adjacent in memory, because a walk visits few
# sequences, scattered over the game.
REGRET: Final = 0  # R(I, a); for a pruned sequence, its value when pruning began
SUM: Final = 1  # the sum of the sequence's weights in the average strategy
PLAYED: Final = 2  # the plain sum of the weights that the opponent has played against, if it differs from SUM
OWN: Final = 3  # payments of the sequence's own terminals, over all iterations up to its infoset's clock
BELOW: Final = 4  # v(I) of the infosets directly below, in this iteration; zero outside a walk
LAST: Final = 5  # the last pass in which the opponent met the sequence with positive weight

# Columns of ``WalkTables.infosets``.
REACH: Final = 0  # counterfactual reach: the probability that the opponent and chance play to I; zero outside a walk
PASSED: Final = 1  # the part of its parent sequence's SUM that it has passed on
TOTAL_REACH: Final = 2  # sum of REACH over all iterations
TOTAL_VALUE: Final = 3  # sum of v(I) over all iterations
PASSED_PLAYED: Final = 4  # the part of its parent sequence's PLAYED that it has passed on
MEAN: Final = 5  # mean of v(I), for Hedge's learning rate
SQUARES: Final = 6  # sum of the squared distances of v(I) to its mean
SEEN: Final = 7  # number of iterations in MEAN and SQUARES


class WalkTables(NamedTuple):
    """State of one player between iterations; all modified in place. Columns and arrays not needed are left out."""

    play: Floats  # [S, 2]
    sequences: Floats  # [S, 2 .. 6]
    infosets: Floats  # [I, 2 .. 8]
    pruned: Bytes  # [S] 1 while a sequence is pruned
    limit: Floats  # [S] of a pruned sequence: the left side of (9) is this plus TOTAL_REACH times U(I, a)
    since: Longs  # [S] of a pruned sequence: the pass after which pruning began
    value_then: Floats  # [S] of a pruned sequence: TOTAL_VALUE of its infoset when pruning began
    paid_then: Floats  # [S] payments of the sequence's own terminals, under the opponent's play, when pruning began
    inside_pruned: Bytes  # [I] 1 for an infoset below a pruned sequence

    @property
    def regret(self) -> Floats:
        """[S] Cumulative regrets, a view of ``sequences``."""
        return self.sequences[:, REGRET]

    @property
    def strategy(self) -> Floats:
        """[S] The current strategy, a view of ``play``."""
        return self.play[:, STRATEGY]


class WalkRule(NamedTuple):
    """The rule by which a player's strategies follow from regrets: Hedge or regret matching, thresholded."""

    kind: int  # VARIANCE, THEORY or MATCHING of ``updates.hedge``
    plus: bool  # negative regrets are forgotten as soon as they rise (CFR+, section 4.2 of Brown & Sandholm 2015)
    log_actions: Floats  # [I] ln |A|
    payoff_range: Floats  # [I] Delta(I)
    limit: Floats  # [I] the threshold, to be divided by sqrt(t)


class PlainRule(WalkRule):
    """Regret matching without thresholds. It has its own type, so that kernels are compiled for it; arrays are [0]."""


class Pruning(NamedTuple):
    """Options of pruning: what walks skip, and where best responses are played."""

    partial: bool  # skip nodes that the opponent does not reach
    respond: bool  # best responses in zero-reach sequences (Brown & Sandholm 2015, section 3)
    threshold: float  # prune if about this many iterations will be skipped, equation (10); negative: never
    longest: float = 0.0  # end a pruning after this many iterations, even if (9) holds (section 4.1); 0: never
    fixed: bool = False  # end it after the m iterations that Theorem 1 guarantees
    stretch: float = 1.0  # factor of the regret in (9); above 1, prunings are longer than (9) allows
    least: float = 0.0  # a smaller counterfactual reach counts as none


class Open(NamedTuple):
    """The sequences of every infoset that are not pruned, computed from ``WalkTables.pruned``."""

    sequence: Ints  # [S] those of infoset i begin at first[i], in order
    width: Ints  # [I] number of them


class WalkScratch(NamedTuple):
    """Scratch arrays of one player, for walks and best responses."""

    visited: Ints  # [I] infosets visited by a walk, parents first
    events: Ints  # [I] infosets with a reason to end or begin pruning, children first
    responds: Bytes  # [I] 1 for visited infosets in which a best response is played
    paid: Floats  # [S] payments that a sequence would have received while it was pruned
    subtree: Ints  # [I] infosets below a sequence
    nested: Ints  # [I] infosets below a sequence whose pruning ends
    frames: Ints  # [I + 1, 3] best responses in progress, one inside the other
    stack: Ints  # [I] infosets above a sequence
    stamp: Ints  # [I] the pass in which an infoset's sums were last passed on


class WalkingPlayer(NamedTuple):
    """All arguments of kernels about one player."""

    treeplex: Treeplex
    side: PlayerPaths
    rows: Csr  # ``paths.response_rows``; empty without regret-based pruning
    tables: WalkTables
    open: Open
    scratch: WalkScratch
    rule: WalkRule


class Worklist(NamedTuple):
    """Scratch arrays of a walk: the inner nodes to expand."""

    node: Ints
    reach0: Floats  # counterfactual reach of player 0: probability of the moves of player 1 and chance
    reach1: Floats
    last0: Ints  # the last sequence of player 0
    last1: Ints


def open_sequences(first: Ints, pruned: Bytes) -> Open:
    """Return the sequences that are not pruned, by infoset."""
    infosets = len(first) - 1
    owner = np.repeat(np.arange(infosets, dtype=np.int32), np.diff(first))
    free = np.flatnonzero(pruned[1:] == 0)
    count = np.bincount(owner[free], minlength=infosets).astype(np.int32)
    sequence = np.zeros(len(pruned), dtype=np.int32)
    offset = np.arange(len(free)) - np.repeat(np.cumsum(count) - count, count)
    sequence[first[owner[free]] + offset] = free + 1
    return Open(sequence, count)


def scratch(infosets: int, sequences: int) -> WalkScratch:
    """Return scratch arrays for a treeplex of this size."""
    visited, events, subtree, nested, stack = (np.empty(infosets, dtype=np.int32) for _ in range(5))
    responds, stamp = np.zeros(infosets, dtype=np.int8), np.full(infosets, -1, dtype=np.int32)
    frames = np.empty((infosets + 1, 3), dtype=np.int32)
    return WalkScratch(visited, events, responds, np.zeros(sequences), subtree, nested, frames, stack, stamp)


def worklist(inner: int) -> Worklist:
    """Return the worklist for a tree with ``inner`` inner nodes."""
    node, last0, last1 = (np.empty(max(inner, 1), dtype=np.int32) for _ in range(3))
    return Worklist(node, np.empty(max(inner, 1)), np.empty(max(inner, 1)), last0, last1)
