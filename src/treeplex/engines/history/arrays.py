"""What walks over the history tree keep for a player, as plain arrays, and by which rule they play."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from treeplex.arrays import Bytes, Floats, Ints

# What belongs to one sequence stands side by side in memory: a walk meets few of them, scattered over the game.
REGRET: Final = 0  # R(I, a); of a pruned sequence: when pruning began
BEHAVIOUR: Final = 1  # the current strategy
EARNED: Final = 2  # counterfactual payoff of the terminals right behind the sequence; zero outside a walk
SUM: Final = 3  # the average's sum of the sequence's weights
LIMIT: Final = 4  # of a pruned sequence: the left of (9) is this plus WHOLE_MASS times U(I, a)
PLAYED: Final = 5  # the plain sum of the weights that the opponent has met, where SUM is another

# What belongs to one infoset.
MASS: Final = 0  # the opponent's and chance's probability of reaching it; zero outside a walk
TAKEN: Final = 1  # how much of its parent sequence's SUM it has passed on
WHOLE_MASS: Final = 2  # MASS over all iterations
WHOLE_WORTH: Final = 3  # v(I) over all iterations
TAKEN_PLAYED: Final = 4  # as TAKEN
MEAN: Final = 5  # of v(I), for Hedge's rate
SQUARES: Final = 6  # sum of the squared distances of v(I) to its mean
SEEN: Final = 7  # how many iterations both are about


class Odds(NamedTuple):
    """How walks with thresholds choose one player's strategies, and what they prune."""

    log_actions: Floats  # [I] ln |A|
    payoff_range: Floats  # [I] Delta(I)
    limit: Floats  # [I] the threshold, to be divided by sqrt(t)
    kind: int  # VARIANCE, THEORY or MATCHING
    patience: float  # prune by regret where about this many iterations will be skipped; negative: never


class Pruner(NamedTuple):
    """What one player keeps between iterations; all modified in place. Columns and arrays not needed are left out."""

    cells: Floats  # [S, 4 .. 6]
    tallies: Floats  # [I, 2 .. 5]
    pruned: Bytes  # [S] 1 while a sequence is pruned
    begun: Floats  # [S] of a pruned sequence: WHOLE_WORTH of its infoset when pruning began
    stored: Floats  # [S] what the sequence's own terminals had earned from the opponent's play when pruning began
    frozen: Bytes  # [I] 1 for an infoset below a pruned sequence

    @property
    def regret(self) -> Floats:
        """[S]."""
        return self.cells[:, REGRET]

    @property
    def behaviour(self) -> Floats:
        """[S]."""
        return self.cells[:, BEHAVIOUR]


class Rule(NamedTuple):
    """What is played and what is skipped."""

    plus: bool  # regrets forget being negative as soon as they rise (CFR+, section 4.2)
    partial: bool  # skip what the opponent does not reach
    respond: bool  # best responses in zero-reach sequences (section 3)
    threshold: float  # prune where about this many iterations will be skipped, equation (10); negative: never


class Open(NamedTuple):
    """The sequences of every infoset that are not pruned; follows from ``Pruner.pruned``."""

    sequence: Ints  # [S] those of infoset i from first[i] on, in order
    opened: Ints  # [I] how many


class Scratch(NamedTuple):
    """Of one player, for walks and best responses."""

    met: Ints  # [I] infosets met by a walk, parents first
    events: Ints  # [I] infosets that have cause to end or begin pruning, children first
    responds: Bytes  # [I] of the infosets met: 1 where a best response is played
    gain: Floats  # [S]
    found: Ints  # [I]
    nested: Ints  # [I]
    stack: Ints  # [I]
    stamp: Ints  # [I] the pass in which an infoset's sums were last passed on


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


def scratch(infosets: int, sequences: int) -> Scratch:
    """For a treeplex of this size."""
    met, events, found, nested, stack = (np.empty(infosets, dtype=np.int32) for _ in range(5))
    responds, stamp = np.zeros(infosets, dtype=np.int8), np.full(infosets, -1, dtype=np.int32)
    return Scratch(met, events, responds, np.zeros(sequences), found, nested, stack, stamp)
