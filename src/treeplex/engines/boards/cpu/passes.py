"""Passes over all boards of a subgame, and iterations made of them.

A pass goes down the first street, through every board dealt on the next ones, and up again. Boards of the second
street are shared out among threads; what they find is added up in their order, in float64, so the number of threads
changes no bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treeplex.engines.boards import arrays as layout
from treeplex.engines.boards.arrays import Hands, Pass, Place, Rule, Tables, Worker
from treeplex.engines.boards.cpu.addresses import (
    betting_at,
    boards_at,
    hands_at,
    player_at,
    results_at,
    scratch_at,
)
from treeplex.engines.boards.cpu.street import ascend, descend
from treeplex.engines.boards.cpu.terminals import settle
from treeplex.engines.boards.cpu.threads import barrier, next_task
from treeplex.jit import callee, inlined, kernel
from treeplex.vectors import LANES, load, spread, store

Array = npt.NDArray[Any]
Chosen = tuple[int, int]
"""The level and the board whose rows are kept; -1: none."""


@inlined
def _width(hands: Hands, board: int) -> int:
    return hands.start[board + 1] - hands.start[board]


@callee
def _enter(tables: Tables, place: Place, part: int, chance: float, player: int) -> None:
    """Reach rows of a tile's street roots from the chance nodes above them, times the chance of the card."""
    betting, theirs = betting_at(tables, 2 * place.level + player), hands_at(tables, 2 * place.level + 1 - player)
    before, scratch = scratch_at(tables, place.above), scratch_at(tables, place.level)
    chance_node = betting_at(tables, 2 * place.above + player).chance_node
    wide = _width(hands_at(tables, 2 * place.above + 1 - player), place.parent)
    width = _width(theirs, place.board)
    image = theirs.map_start[boards_at(tables, place.level).image[place.board]]
    places = theirs.map[image : image + width]
    factor = scratch.reach.dtype.type(chance)
    first = betting.tile[part, layout.ROOT]
    for root in range(first, betting.tile[part + 1, layout.ROOT]):
        at = np.int64(chance_node[root, layout.REACH_ROW])
        scratch.alive[root - first] = before.alive[at]
        if before.alive[at]:
            source = before.reach[at * wide : (at + 1) * wide]
            target = scratch.reach[(root - first) * width : (root - first + 1) * width]
            for h in range(width):
                target[h] = factor * source[places[h]]


@callee
def _begin(tables: Tables, player: int) -> None:
    """The reach row of the root: the opponent's weights."""
    scratch, start = scratch_at(tables, 0), player_at(tables, 1 - player).start
    for h in range(len(start)):
        scratch.reach[h] = start[h]
    scratch.alive[0] = True


@callee
def _clear(tables: Tables, place: Place, part: int, player: int) -> None:
    """Value rows of a tile before its terminals are settled: zero, but for the chance nodes' in ``gathered``."""
    betting, scratch = betting_at(tables, 2 * place.level + player), scratch_at(tables, place.level)
    width = _width(hands_at(tables, 2 * place.level + player), place.board)
    roots = betting.tile[part + 1, layout.ROOT] - betting.tile[part, layout.ROOT]
    rows = roots + betting.tile[part + 1, layout.OWN_SLOT] - betting.tile[part, layout.OWN_SLOT]
    nothing = spread(scratch.value.dtype.type(0.0))
    for k in range(0, rows * width, LANES):
        store(scratch.value, k, nothing)
    for x in range(len(betting.chance_node)):
        at = np.int64(betting.chance_node[x, layout.VALUE_ROW])
        value = scratch.value[at * width : (at + 1) * width]
        row = scratch.gathered[x * width : (x + 1) * width]
        for h in range(width):
            value[h] += row[h]


@callee
def _leave(tables: Tables, place: Place, part: int, player: int, out: Array, snapshot: Chosen) -> None:
    """Value rows of a tile's street roots into ``out``; all rows, if the board is that of the snapshot, as well."""
    tile, scratch = betting_at(tables, 2 * place.level + player).tile, scratch_at(tables, place.level)
    width = _width(hands_at(tables, 2 * place.level + player), place.board)
    first, stop = tile[part, layout.ROOT], tile[part + 1, layout.ROOT]
    for k in range(0, (stop - first) * width, LANES):
        store(out, first * width + k, load(scratch.value, k))
    if snapshot[0] != place.level or snapshot[1] != place.board:
        return
    kept, wide = results_at(tables, 0), _width(hands_at(tables, 2 * place.level + 1 - player), place.board)
    row = np.int64(first + tile[part, layout.OWN_SLOT]) * width
    rows = stop - first + tile[part + 1, layout.OWN_SLOT] - tile[part, layout.OWN_SLOT]
    for k in range(rows * width):
        kept.value[row + k] = scratch.value[k]
    row = np.int64(first + tile[part, layout.OPPONENT_SLOT]) * wide
    rows = stop - first + tile[part + 1, layout.OPPONENT_SLOT] - tile[part, layout.OPPONENT_SLOT]
    for k in range(rows * wide):
        kept.reach[row + k] = scratch.reach[k]


@inlined
def _up(tables: Tables, place: Place, part: int, rule: Rule, step: Pass, out: Array, snapshot: Chosen) -> None:
    """From the terminals of a tile, and from the values of its chance nodes, up to its street roots."""
    _clear(tables, place, part, step.player)
    settle(tables, place, part, step.player)
    ascend(tables, place, part, rule, step)
    _leave(tables, place, part, step.player, out, snapshot)


@callee
def _gather(tables: Tables, place: Place, player: int, found: Array) -> None:
    """Add the values a card brings, and those of its images, to the chance nodes of the street above."""
    mine, image = hands_at(tables, 2 * place.level + player), boards_at(tables, place.level).image
    chances = len(betting_at(tables, 2 * place.above + player).chance_node)
    gathered = scratch_at(tables, place.above).gathered
    width, wide = _width(mine, place.board), _width(hands_at(tables, 2 * place.above + player), place.parent)
    for k in range(image[place.board], image[place.board + 1]):
        places = mine.map[mine.map_start[k] : mine.map_start[k] + width]
        for x in range(chances):
            target = gathered[x * wide : (x + 1) * wide]
            row = found[x * width : (x + 1) * width]
            for h in range(width):
                target[places[h]] += row[h]


@inlined
def _no_values(tables: Tables, level: int) -> None:
    """Nothing has been gathered yet."""
    gathered = scratch_at(tables, level).gathered
    for k in range(len(gathered)):
        gathered[k] = 0


@kernel
def run_passes(
    tables: Tables, streets: int, chances: tuple[float, float], rule: Rule, passes: layout.Offsets, worker: Worker,
    snapshot: Chosen,
) -> None:  # fmt: skip
    """Passes from the root, one for each of ``passes`` [., 3]: who learns, mode, iteration.

    Levels are first, middle and last street; those that are not played are repeated. Learners, scratch arrays and
    results are modified in place.
    """
    results = results_at(tables, 0)
    found, values = results.found, results.values
    nil: Any = np.int64(0)  # literals would compile everything below a second time
    one: Any = np.int64(1)
    last: Any = np.int64(2)
    root = Place(nil, nil, -one, nil)
    top, below = scratch_at(tables, nil), scratch_at(tables, last)
    for k in range(len(passes)):
        step = Pass(passes[k, 0], passes[k, 1], passes[k, 2])
        tiles = len(betting_at(tables, 2 * last + step.player).tile) - 1
        if worker.thread == 0:
            _begin(tables, step.player)
            descend(tables, root, nil, rule, step)
        barrier(worker.sync, worker.threads)
        board = next_task(worker.sync)
        while board < len(found):
            place = Place(one, board, nil, nil)
            river, stop, above, parent = board, board + 1, nil, nil
            if streets == 3:
                _enter(tables, place, nil, chances[0], step.player)
                descend(tables, place, nil, rule, step)
                _no_values(tables, one)
                children = boards_at(tables, one).child
                river, stop, above, parent = children[board], children[board + 1], one, board
            out = below.found if streets == 3 else found[board]
            while river < stop:
                leaf = Place(last, river, above, parent)
                for part in range(tiles):
                    _enter(tables, leaf, part, chances[1], step.player)
                    descend(tables, leaf, part, rule, step)
                    _up(tables, leaf, part, rule, step, out, snapshot)
                if streets == 3:
                    _gather(tables, leaf, step.player, out)
                river += 1
            if streets == 3:
                _up(tables, place, nil, rule, step, found[board], snapshot)
            board = next_task(worker.sync)
        barrier(worker.sync, worker.threads)
        if worker.thread == 0:
            _no_values(tables, nil)
            for child in range(len(found)):
                _gather(tables, Place(one, child, nil, nil), step.player, found[child])
            _up(tables, root, nil, rule, step, top.found, snapshot)
            if k < len(values):
                for h in range(_width(hands_at(tables, step.player), nil)):
                    values[k, h] = top.value[h]
