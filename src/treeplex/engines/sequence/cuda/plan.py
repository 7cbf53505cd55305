"""How iterations over a layout are carried out: which tiles are launched together, by which kernel, in which order."""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.engines.sequence.cuda.arrays import BundleLaunch, TileRange
from treeplex.engines.sequence.cuda.kernels import ANY, BOTTOM, DOWN, FALL, ONE, SEVERAL, UP
from treeplex.engines.sequence.cuda.layout import ACTIONS, LENGTH, SHAPE, DeviceLayout
from treeplex.kernels.cuda.kernels import BLOCK, LANES
from treeplex.updates.turns import SIMULTANEOUS

BLOCK_OF_PHASES, DEAL = 3, 4
"""Kinds of parts, besides UP, DOWN and FALL: one block, phase by phase; what a player's sequences earn (``dealt``)."""

SMALL: Final = 128  # tiles of a game that one block works on by itself: barriers in a block are the cheapest
CROWN: Final = 24  # tiles of each of the upper heights that one block goes up through
APART: Final = 4096  # tiles of a height from which on those of one step and of several have kernels of their own
LONG: Final = 8  # entries per row from which on the form of UP for any tile is faster, below that many tiles


class PlanPart(NamedTuple):
    """Tiles that do not need each other, or heights for one block; or a bundle."""

    kind: int
    begin: int  # first tile; of BLOCK, first row of the table
    end: int
    player: int
    form: int = ANY  # of UP
    bundle: int = -1  # which one of the player's


Phase = tuple[PlanPart, ...]
"""Parts that do not need each other."""


def launch_of(
    layout: DeviceLayout, part: PlanPart, iteration: int = 0, idle: bool = False
) -> tuple[int, TileRange | BundleLaunch]:
    """How many blocks of threads work on a part, and what its kernel is told; ``idle``: to do nothing."""
    if idle:
        nothing = TileRange(0, 0, 0, 0) if part.bundle < 0 else BundleLaunch(0, 0, 0, 0, 0, 0)
        return 1, nothing
    if part.bundle < 0:
        return blocks_of(part.end - part.begin), TileRange(part.begin, part.end, part.player, iteration)
    bundle = layout.sides[part.player].bundles[part.bundle]
    return blocks_of(bundle.tiles), BundleLaunch(*bundle[1:], part.player, iteration)


def blocks_of(tiles: int) -> int:
    """How many blocks have a warp for each tile; at least one."""
    return max(1, -(-tiles * LANES // BLOCK))


class LaunchPlan:
    """How an iteration is carried out: phases one after the other, or one block for all of it (``alone``)."""

    def __init__(self, layout: DeviceLayout, turns: int) -> None:
        self.layout = layout
        self._rows: list[PlanPart] = []
        bundled = any(side.bundles for side in layout.sides)
        self.alone = len(layout.tiles) <= SMALL and not bundled and layout.dealt is None
        self.heights = [self._heights(player) for player in (0, 1)]  # bottom-up, and top-down, of each player
        up, down = [self._crowned(player) for player in (0, 1)], [found[1] for found in self.heights]
        if layout.dealt is not None:
            up = [[(PlanPart(DEAL, 0, 0, player),), *phases] for player, phases in enumerate(up)]
        parts = (up[0], up[1], down[0], down[1]) if turns == SIMULTANEOUS else (up[0], down[0], up[1], down[1])
        self.phases: list[Phase] = [phase for part in parts for phase in part]
        if self.alone:
            self._rows = [phase[0] for phase in self.phases]
            self.phases = [(PlanPart(BLOCK_OF_PHASES, 0, len(self._rows), 0),)]

    @property
    def table(self) -> npt.NDArray[Any]:
        """[P, 4] kind, first tile, end and player of each phase that a block of phases works on."""
        return np.array([part[:4] for part in self._rows], dtype=np.int32).reshape(-1, 4)

    def _heights(self, player: int) -> tuple[list[Phase], list[Phase]]:
        """Bottom-up, and top-down."""
        side = self.layout.sides[player]
        up = [self._up(player, height) for height in range(len(side.heights))]
        down: list[Phase] = []
        if side.together < len(side.heights):
            down.append((PlanPart(FALL, side.heights[side.together][0], side.heights[-1][1], player),))
        for height in reversed(range(side.together)):
            begin, end = side.heights[height]
            tiles = [PlanPart(DOWN, begin, end, player)] if end > begin else []
            down.append((*tiles, *self._bundles(DOWN, player, height)))
        return up, down

    def _crowned(self, player: int) -> list[Phase]:
        """Bottom-up, the upper heights in one block where there are few tiles."""
        up = list(self.heights[player][0])
        crown = len(up)
        while crown > 0 and len(up[crown - 1]) == 1 and up[crown - 1][0].end - up[crown - 1][0].begin <= CROWN:
            crown -= 1
        if not self.alone and crown < len(up) - 1:
            rows = len(self._rows)
            self._rows += [phase[0] for phase in up[crown:]]
            up[crown:] = [(PlanPart(BLOCK_OF_PHASES, rows, len(self._rows), player),)]
        return up

    def _up(self, player: int, height: int) -> Phase:
        begin, end = self.layout.sides[player].heights[height]
        tiles = self.layout.tiles[begin:end].astype(np.int64)
        one = begin + int((tiles[:, ACTIONS] <= (tiles[:, SHAPE] >> 6 & 63)).sum())
        parts = [(begin, one, ONE if height else BOTTOM), (one, end, SEVERAL)]
        mixed = begin < one < end or tiles[:, LENGTH].max(initial=0) >= LONG
        if mixed and end - begin < APART:
            parts = [(begin, end, ANY)]
        made = [PlanPart(UP, start, stop, player, form) for start, stop, form in parts if start < stop]
        return (*made, *self._bundles(UP, player, height))

    def _bundles(self, kind: int, player: int, height: int) -> list[PlanPart]:
        count = len(self.layout.sides[player].bundles) if height == 0 else 0
        return [PlanPart(kind, 0, 0, player, ANY, number) for number in range(count)]
