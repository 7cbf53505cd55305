"""What kernels are given: device arrays, one name per column."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy.typing as npt

Array = npt.NDArray[Any]
Index = int
"""Of numbers, in 32 bits."""
Number = float
"""In the storage of a run."""
Rates = tuple[Number, Number, Number]
"""The unit of payoffs, and what positive and negative regret are multiplied by; or twice the iteration (``called``)."""


class Shape(NamedTuple):
    """What never changes: see ``layout.Layout``."""

    tiles: Array  # row after row
    above: Array
    owner: Array
    leave: Array
    column: Array
    value: Array


class RunArrays(NamedTuple):
    """What iterations keep, and scratch; numbers in the storage of the run."""

    regret: Array  # [places]
    average: Array  # [places] weighted sum of realization plans
    plan: Array  # [places] the current realization plan
    played: Array  # [places] what the current strategy is in proportion to; with regret matching, ``regret`` itself
    inverse_sum: Array  # [homes] 1 / sum of what is played, or -1 / n where nothing is positive; not of bundles
    reached: Array  # [rows] of the first row of each tile: 0 where all plans are zero
    slot: Array  # [slots * 32] values of infosets, for the sequences above them
    earned: (
        Array  # [places] payoffs times the opponent's plan, where they are found before (``dealt``); else one number
    )


class DeviceSteps(NamedTuple):
    """What differs between iterations; iteration i of a stretch has number ``clock[0] + i``."""

    clock: Array  # [1]
    factors: (
        Array  # [4 N] what positive regret is multiplied by, what negative regret is; what a plan that has just been
    )
    # made weighs in player 0's average, and in player 1's


class TileRange(NamedTuple):
    """Which tiles, of whom, in which iteration."""

    begin: Index
    end: Index
    player: Index
    iteration: Index


class BundleLaunch(NamedTuple):
    """Which bundle, of whom, in which iteration."""

    tiles: Index
    base: Index
    home: Index
    entry: Index
    player: Index
    iteration: Index
