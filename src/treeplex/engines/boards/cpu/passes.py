"""Passes over all boards of a subgame, and iterations made of them.

A pass goes down the first street, through every board dealt on the next ones, and up again. Boards of the second
street are shared out among threads; what they find is added up in their order, in float64, so the number of threads
changes no bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.engines.boards import arrays as layout
from treeplex.engines.boards.arrays import Betting, Boards, Hands, Level, Pass, Playing, Rule, Scratch, Snapshot, Worker
from treeplex.engines.boards.cpu.street import ascend, descend, settle
from treeplex.engines.boards.cpu.threads import barrier, next_task
from treeplex.jit import kernel

Array = npt.NDArray[Any]

ONLY = 0  # the only board of the first street; the only tile of a street that is not the last


@kernel
def _width(hands: Hands, board: int) -> int:
    return hands.start[board + 1] - hands.start[board]


@kernel
def _enter(
    betting: Betting, part: int, level: Level, board: int, player: int, chance: float, above: Betting, wide: int,
    before: Scratch, scratch: Scratch,
) -> None:  # fmt: skip
    """Reach rows of a tile's street roots from the chance nodes above them, times the chance of the card."""
    theirs = level.boards.hands[1 - player]
    width = _width(theirs, board)
    image = theirs.map_start[level.boards.image[board]]
    places = theirs.map[image : image + width]
    factor = scratch.reach.dtype.type(chance)
    first = betting.tile[part, layout.ROOT]
    for root in range(first, betting.tile[part + 1, layout.ROOT]):
        at = np.int64(above.chance_node[root, layout.REACH_ROW])
        scratch.alive[root - first] = before.alive[at]
        if before.alive[at]:
            source = before.reach[at * wide : (at + 1) * wide]
            target = scratch.reach[(root - first) * width : (root - first + 1) * width]
            for h in range(width):
                target[h] = factor * source[places[h]]


@kernel
def _clear(betting: Betting, part: int, width: int, scratch: Scratch) -> None:
    """No value yet in the value rows of a tile."""
    roots = betting.tile[part + 1, layout.ROOT] - betting.tile[part, layout.ROOT]
    rows = roots + betting.tile[part + 1, layout.OWN_SLOT] - betting.tile[part, layout.OWN_SLOT]
    scratch.value[: rows * width] = 0


@kernel
def _last_street(
    level: Level, board: int, chance: float, above: Betting, wide: int, before: Scratch, playing: Playing, rule: Rule,
    step: Pass, scratch: Scratch, out: Array, snapshot: Snapshot,
) -> None:  # fmt: skip
    """The river on one board; value rows of its street roots into ``out``."""
    player = step.player
    betting = level.betting[player]
    mine, theirs = level.boards.hands[player], level.boards.hands[1 - player]
    width = _width(mine, board)
    for part in range(len(betting.tile) - 1):
        _enter(betting, part, level, board, player, chance, above, wide, before, scratch)
        descend(betting, part, theirs, board, playing, rule, step, scratch)
        _clear(betting, part, width, scratch)
        settle(betting, part, level.boards, board, player, scratch)
        ascend(betting, part, mine, board, playing, rule, step, scratch)
        first, stop = betting.tile[part, layout.ROOT], betting.tile[part + 1, layout.ROOT]
        out[first * width : stop * width] = scratch.value[: (stop - first) * width]
        if snapshot.last and snapshot.board == board:
            _copy(level, part, board, player, scratch, snapshot)


@kernel
def _gather(boards: Boards, board: int, player: int, chances: int, wide: int, found: Array, gathered: Array) -> None:
    """Add the values a card brings, and those of its images, to the chance nodes of the street above."""
    mine = boards.hands[player]
    width = _width(mine, board)
    for image in range(boards.image[board], boards.image[board + 1]):
        places = mine.map[mine.map_start[image] : mine.map_start[image] + width]
        for x in range(chances):
            target = gathered[x * wide : (x + 1) * wide]
            row = found[x * width : (x + 1) * width]
            for h in range(width):
                target[places[h]] += row[h]


@kernel
def _finish(level: Level, board: int, playing: Playing, rule: Rule, step: Pass, scratch: Scratch) -> None:
    """From the values of chance nodes, in ``scratch.gathered``, up to the roots of a street that is not the last."""
    player = step.player
    betting = level.betting[player]
    mine = level.boards.hands[player]
    width = _width(mine, board)
    part: Any = np.int64(ONLY)
    _clear(betting, part, width, scratch)
    for x in range(len(betting.chance_node)):
        at = np.int64(betting.chance_node[x, layout.VALUE_ROW])
        value = scratch.value[at * width : (at + 1) * width]
        row = scratch.gathered[x * width : (x + 1) * width]
        for h in range(width):
            value[h] += row[h]
    settle(betting, part, level.boards, board, player, scratch)
    ascend(betting, part, mine, board, playing, rule, step, scratch)


@kernel
def _copy(level: Level, part: int, board: int, player: int, scratch: Scratch, snapshot: Snapshot) -> None:
    """Keep the rows of a tile, those of earlier tiles before them."""
    tile = level.betting[player].tile
    width, wide = _width(level.boards.hands[player], board), _width(level.boards.hands[1 - player], board)
    roots = tile[part + 1, layout.ROOT] - tile[part, layout.ROOT]
    row = tile[part, layout.ROOT] + tile[part, layout.OWN_SLOT]
    rows = roots + tile[part + 1, layout.OWN_SLOT] - tile[part, layout.OWN_SLOT]
    snapshot.value[row * width : (row + rows) * width] = scratch.value[: rows * width]
    row = tile[part, layout.ROOT] + tile[part, layout.OPPONENT_SLOT]
    rows = roots + tile[part + 1, layout.OPPONENT_SLOT] - tile[part, layout.OPPONENT_SLOT]
    snapshot.reach[row * wide : (row + rows) * wide] = scratch.reach[: rows * wide]


@kernel
def _middle_street(
    middle: Level, last: Level, board: int, chances: tuple[float, float], above: Betting, wide: int, before: Scratch,
    playing: Playing, rule: Rule, step: Pass, scratch: Scratch, below: Scratch, out: Array, snapshot: Snapshot,
) -> None:  # fmt: skip
    """The turn on one board with all its rivers; value rows of its street roots into ``out``."""
    player = step.player
    betting = middle.betting[player]
    theirs = middle.boards.hands[1 - player]
    width, wider = _width(middle.boards.hands[player], board), _width(theirs, board)
    part: Any = np.int64(ONLY)
    _enter(betting, part, middle, board, player, chances[0], above, wide, before, scratch)
    descend(betting, part, theirs, board, playing, rule, step, scratch)
    chance_nodes = len(betting.chance_node)
    scratch.gathered[: chance_nodes * width] = 0
    for river in range(middle.boards.child[board], middle.boards.child[board + 1]):
        _last_street(
            last, river, chances[1], betting, wider, scratch, playing, rule, step, below, below.found, snapshot
        )
        _gather(last.boards, river, player, chance_nodes, width, below.found, scratch.gathered)
    _finish(middle, board, playing, rule, step, scratch)
    roots = betting.tile[1, layout.ROOT]
    out[: roots * width] = scratch.value[: roots * width]
    if not snapshot.last and snapshot.board == board:
        _copy(middle, part, board, player, scratch, snapshot)


@kernel
def run_passes(
    levels: tuple[Level, Level, Level], streets: int, chances: tuple[float, float], start: tuple[Array, Array],
    playing: Playing, rule: Rule, passes: layout.Offsets, found: Array, worker: Worker, snapshot: Snapshot,
    values: Floats,
) -> None:  # fmt: skip
    """Passes from the root, one for each of ``passes`` [., 3]: who learns, mode, iteration.

    ``start``: both players' weights at the root. Levels that are not played are repeated. Learners and scratch arrays
    are modified in place; ``values`` [., H] gets the values of the learner's hands at the root, of as many passes as
    there are rows. One function, because Numba optimises the whole again for every function around it.
    """
    root, middle, last = levels
    only: Any = np.int64(ONLY)  # a literal would compile everything below a second time
    top, middling, lasting = worker.scratches
    for k in range(len(passes)):
        step = Pass(passes[k, 0], passes[k, 1], passes[k, 2])
        player = step.player
        betting, hands = root.betting[player], root.boards.hands
        mine, theirs = hands[player], hands[1 - player]
        wide = _width(theirs, only)
        if worker.thread == 0:
            top.reach[:wide] = start[1 - player]
            top.alive[0] = True
            descend(betting, only, theirs, only, playing, rule, step, top)
        barrier(worker.sync, worker.threads)
        board = next_task(worker.sync)
        while board < len(found):
            out = found[board]
            if streets == 2:
                _last_street(last, board, chances[1], betting, wide, top, playing, rule, step, lasting, out, snapshot)
            else:
                _middle_street(
                    middle, last, board, chances, betting, wide, top, playing, rule, step, middling, lasting, out,
                    snapshot,
                )  # fmt: skip
            board = next_task(worker.sync)
        barrier(worker.sync, worker.threads)
        if worker.thread == 0:
            width, chance_nodes = _width(mine, only), len(betting.chance_node)
            top.gathered[: chance_nodes * width] = 0
            boards = middle.boards if streets == 3 else last.boards
            for child in range(len(found)):
                _gather(boards, child, player, chance_nodes, width, found[child], top.gathered)
            _finish(root, only, playing, rule, step, top)
            if k < len(values):
                values[k, :width] = top.value[:width]
