"""What walks over the history tree keep for a player, as plain arrays, and by which rules they play and prune."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from treeplex.arrays import Bytes, Floats, Ints, Longs
from treeplex.compile.payoffs import Csr
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.history.paths import PlayerPaths

# Columns of ``Tables.play``: all that a walk needs of a sequence at its nodes, close together so that much of it stays
# in the cache.
STRATEGY: Final = 0  # the current one
VALUE: Final = 1  # counterfactual value of the terminals right behind the sequence; zero outside a walk

# Columns of ``Tables.sequences``: what belongs to one sequence stands side by side in memory, because a walk visits few
# of them, scattered over the game.
REGRET: Final = 0  # R(I, a); of a pruned sequence: when pruning began
SUM: Final = 1  # the average's sum of the sequence's weights
PLAYED: Final = 2  # the plain sum of the weights that the opponent has played against, where SUM is another
OWN: Final = 3  # what the sequence's own terminals have paid, over all iterations up to its infoset's clock
BELOW: Final = 4  # v(I) of the infosets right below, in this iteration; zero outside a walk
LAST: Final = 5  # the last pass in which the opponent met the sequence with positive weight

# Columns of ``Tables.infosets``.
REACH: Final = 0  # counterfactual reach: the probability that the opponent and chance come there; zero outside a walk
PASSED: Final = 1  # how much of its parent sequence's SUM it has passed on
TOTAL_REACH: Final = 2  # REACH over all iterations
TOTAL_VALUE: Final = 3  # v(I) over all iterations
PASSED_PLAYED: Final = 4  # as PASSED
MEAN: Final = 5  # of v(I), for Hedge's rate
SQUARES: Final = 6  # sum of the squared distances of v(I) to its mean
SEEN: Final = 7  # how many iterations both are about


class WalkTables(NamedTuple):
    """What one player keeps between iterations; all modified in place. Columns and arrays not needed are left out."""

    play: Floats  # [S, 2]
    sequences: Floats  # [S, 2 .. 6]
    infosets: Floats  # [I, 2 .. 8]
    pruned: Bytes  # [S] 1 while a sequence is pruned
    limit: Floats  # [S] of a pruned sequence: the left of (9) is this plus TOTAL_REACH times U(I, a)
    since: Longs  # [S] of a pruned sequence: the pass after which pruning began
    value_then: Floats  # [S] of a pruned sequence: TOTAL_VALUE of its infoset when pruning began
    paid_then: Floats  # [S] what the opponent's play had paid the sequence's own terminals when pruning began
    inside_pruned: Bytes  # [I] 1 for an infoset below a pruned sequence

    @property
    def regret(self) -> Floats:
        """[S]."""
        return self.sequences[:, REGRET]

    @property
    def strategy(self) -> Floats:
        """[S]."""
        return self.play[:, STRATEGY]


class WalkRule(NamedTuple):
    """How one player's strategies follow from regrets, by Hedge or regret matching, thresholded."""

    kind: int  # of ``updates.hedge``: VARIANCE, THEORY or MATCHING
    plus: bool  # negative regrets are forgotten as soon as they rise (CFR+, section 4.2 of Brown & Sandholm 2015)
    log_actions: Floats  # [I] ln |A|
    payoff_range: Floats  # [I] Delta(I)
    limit: Floats  # [I] the threshold, to be divided by sqrt(t)


class PlainRule(WalkRule):
    """Regret matching without thresholds: a type of its own, for which kernels are compiled apart; arrays are [0]."""


class Pruning(NamedTuple):
    """What is skipped, and what is played where a player does not go itself."""

    partial: bool  # skip what the opponent does not reach
    respond: bool  # best responses in zero-reach sequences (Brown & Sandholm 2015, section 3)
    threshold: float  # prune where about this many iterations will be skipped, equation (10); negative: never
    longest: float = 0.0  # end a pruning after so many iterations, whatever (9) says (section 4.1); 0: never
    fixed: bool = False  # end it after the m iterations that Theorem 1 guarantees


class Open(NamedTuple):
    """The sequences of every infoset that are not pruned; follows from ``WalkTables.pruned``."""

    sequence: Ints  # [S] those of infoset i from first[i] on, in order
    width: Ints  # [I] how many


class WalkScratch(NamedTuple):
    """Of one player, for walks and best responses."""

    visited: Ints  # [I] infosets visited by a walk, parents first
    events: Ints  # [I] infosets that have cause to end or begin pruning, children first
    responds: Bytes  # [I] of the infosets visited: 1 where a best response is played
    paid: Floats  # [S] what a sequence would have been paid while it was pruned
    found: Ints  # [I]
    nested: Ints  # [I]
    frames: Ints  # [I + 1, 3] responses under way, one inside the other
    stack: Ints  # [I]
    stamp: Ints  # [I] the pass in which an infoset's sums were last passed on


class WalkingPlayer(NamedTuple):
    """All that kernels are told about one player."""

    treeplex: Treeplex
    side: PlayerPaths
    rows: Csr  # ``paths.response_rows``; empty where nothing is pruned by regret
    tables: WalkTables
    open: Open
    scratch: WalkScratch
    rule: WalkRule


class Worklist(NamedTuple):
    """Scratch of a walk: the inner nodes to be expanded."""

    node: Ints
    reach0: Floats  # counterfactual reach of player 0: by player 1 and chance
    reach1: Floats
    last0: Ints  # the last sequence of player 0
    last1: Ints


def open_sequences(first: Ints, pruned: Bytes) -> Open:
    """From what is pruned."""
    infosets = len(first) - 1
    owner = np.repeat(np.arange(infosets, dtype=np.int32), np.diff(first))
    free = np.flatnonzero(pruned[1:] == 0)
    count = np.bincount(owner[free], minlength=infosets).astype(np.int32)
    sequence = np.zeros(len(pruned), dtype=np.int32)
    place = np.arange(len(free)) - np.repeat(np.cumsum(count) - count, count)
    sequence[first[owner[free]] + place] = free + 1
    return Open(sequence, count)


def scratch(infosets: int, sequences: int) -> WalkScratch:
    """For a treeplex of this size."""
    visited, events, found, nested, stack = (np.empty(infosets, dtype=np.int32) for _ in range(5))
    responds, stamp = np.zeros(infosets, dtype=np.int8), np.full(infosets, -1, dtype=np.int32)
    frames = np.empty((infosets + 1, 3), dtype=np.int32)
    return WalkScratch(visited, events, responds, np.zeros(sequences), found, nested, frames, stack, stamp)


def worklist(inner: int) -> Worklist:
    """For a tree with so many inner nodes."""
    node, last0, last1 = (np.empty(max(inner, 1), dtype=np.int32) for _ in range(3))
    return Worklist(node, np.empty(max(inner, 1)), np.empty(max(inner, 1)), last0, last1)
