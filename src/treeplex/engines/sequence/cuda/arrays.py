"""What kernels are given: device arrays, one name per column."""

from __future__ import annotations

from typing import Any, NamedTuple


class Shape(NamedTuple):
    """What never changes: see ``layout.Layout``."""

    tiles: Any  # row after row
    above: Any
    owner: Any
    leave: Any
    column: Any
    value: Any


class Learning(NamedTuple):
    """What iterations keep, and scratch; numbers in the storage of the run."""

    regret: Any  # [places]
    average: Any  # [places] weighted sum of realization plans
    plan: Any  # [places] the current realization plan
    played: Any  # [places] what the current strategy is in proportion to; with regret matching, ``regret`` itself
    share: Any  # [homes] 1 / sum of what is played, or -1 / n where nothing is positive; not of bundles
    reached: Any  # [rows] of the first row of each tile: 0 where all plans are zero
    slot: Any  # [slots * 32] values of infosets, for the sequences above them
    earned: Any  # [places] payoffs times the opponent's plan, where they are found before (``dealt``); else one number


class Steps(NamedTuple):
    """What differs between iterations; iteration i of a stretch has number ``clock[0] + i``."""

    clock: Any  # [1]
    told: Any  # [4 N] what positive regret is multiplied by, what negative regret is; what a plan that has just been
    # made weighs in player 0's average, and in player 1's


class Range(NamedTuple):
    """Which tiles, of whom, in which iteration."""

    begin: Any
    end: Any
    player: Any
    iteration: Any


class Bundle(NamedTuple):
    """Which bundle, of whom, in which iteration."""

    tiles: Any
    base: Any
    home: Any
    entry: Any
    player: Any
    iteration: Any
