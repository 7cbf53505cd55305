"""Named columns of the arrays of sampling kernels.

They are unsigned, like all indices in these kernels, because Numba checks signed indices for negative values.
"""

from __future__ import annotations

from typing import Final

import numpy as np

ZERO: Final = np.uint64(0)
ONE: Final = np.uint64(1)

# Columns of ``SampleTree.packed``, and of the same memory read as numbers, ``SampleTree.payoff_factor``.
NODE: Final = np.uint64(0)  # who moves, number of moves, the first child
START: Final = np.uint64(1)  # the first sequence, or where the distribution of a chance node begins
FACTOR: Final = np.uint64(1)  # factor of a terminal's payoffs

# Columns of ``Frames.stack``; the first two are also those of ``RegretLog.visited``.
FIRST: Final = np.uint64(0)  # the infoset's first sequence, or where the distribution of a chance node begins
WIDTH: Final = np.uint64(1)  # number of moves
CHILD: Final = np.uint64(2)  # the first child
NEXT: Final = np.uint64(3)  # the move that is being evaluated
ACTOR: Final = np.uint64(4)  # who moves
PLAYED: Final = np.uint64(5)  # pure strategies: the move below which both players learn; the width if there is none
LEVEL: Final = np.uint64(5)  # public chance sampling: number of public chance moves before the node

# Columns of ``Frames.number``: walks for one player.
SCALE: Final = np.uint64(0)  # one over the player's factor of the probability of sampling the path
TOTAL: Final = np.uint64(1)  # average-strategy sampling: the prior plus the averages of all moves
DRAWN: Final = np.uint64(1)  # outcome sampling: the probability with which the move was drawn

# Columns of ``Frames.number``: walks that evaluate the moves of both players.
REACH_0: Final = np.uint64(0)  # each player's factor of the probability of reaching the node
REACH_1: Final = np.uint64(1)
REACH_CHANCE: Final = np.uint64(2)
MEAN: Final = np.uint64(3)  # partial mean of the values below a chance node
