"""Arguments of kernels: NamedTuples of device arrays and numbers."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy.typing as npt

Array = npt.NDArray[Any]
Index = int
"""Index of a number, in 32 bits."""
Number = float
"""Number in the storage of a run."""
Rates = tuple[Number, Number, Number]
"""Unit of payoffs, and the factors of positive and negative regret.

Where a rule is called (``called``), the second is the number of the iteration instead of a factor.
"""


class Shape(NamedTuple):
    """Arrays that never change during a run: see ``layout.DeviceLayout``."""

    tiles: Array  # row by row
    above: Array
    owner: Array
    leave: Array
    column: Array
    value: Array


class RunArrays(NamedTuple):
    """State of iterations, and scratch; numbers are in the storage of the run."""

    regret: Array  # [positions]
    average: Array  # [positions] weighted sum of realization plans
    plan: Array  # [positions] the current realization plan
    played: Array
    """[positions] Weights that the current strategy is in proportion to; ``regret`` itself in regret matching without
    prediction."""
    inverse_sum: Array  # [homes] 1 / sum of ``played``, or -1 / n where nothing is positive; not for bundles
    reached: Array  # [rows] at the first row of each tile: 0 where all plans are zero
    slot: Array  # [slots * 32] values of infosets, for the sequences above them
    earned: Array  # [positions] payoffs times the opponent's plan, if computed beforehand (``dealt``); else one number


class DeviceSteps(NamedTuple):
    """Numbers that differ between iterations; iteration i of a stretch has number ``clock[0] + i``."""

    clock: Array  # [1]
    factors: Array
    """[4 N] Per iteration: factors of positive and of negative regret, and the weights of the plans that the iteration
    makes in player 0's and in player 1's average."""


class TileRange(NamedTuple):
    """Tiles of a launch, with their player and iteration."""

    begin: Index
    end: Index
    player: Index
    iteration: Index


class BundleLaunch(NamedTuple):
    """Bundle of a launch, with its player and iteration."""

    tiles: Index
    base: Index
    home: Index
    entry: Index
    player: Index
    iteration: Index
