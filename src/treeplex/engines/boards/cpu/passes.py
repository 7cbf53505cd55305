"""Passes over all boards of a subgame, and iterations made of them.

A pass goes down the first street, through every board dealt on the next ones, and up again. Threads share the work:

- two streets: tiles of boards, each by itself;
- three: boards of the second street, down; then parts of them, which are a few boards of the last street each. Whoever
  finishes the last part of a board adds its parts up, and takes the board up.

Then chance nodes of the first street, each summed over boards. All sums are in a fixed order, and in float64 where they
are long, so the number of threads changes no bit.
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
from treeplex.engines.boards.cpu.threads import announce, await_board, barrier, claim, finished
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
    """Value rows of a tile before its terminals are settled."""
    betting, scratch = betting_at(tables, 2 * place.level + player), scratch_at(tables, place.level)
    width = _width(hands_at(tables, 2 * place.level + player), place.board)
    roots = betting.tile[part + 1, layout.ROOT] - betting.tile[part, layout.ROOT]
    rows = roots + betting.tile[part + 1, layout.OWN_SLOT] - betting.tile[part, layout.OWN_SLOT]
    nothing = spread(scratch.value.dtype.type(0.0))
    for k in range(0, rows * width, LANES):
        store(scratch.value, k, nothing)


@callee
def _add_gathered(tables: Tables, place: Place, player: int) -> None:
    """What was gathered at chance nodes, to their value rows."""
    betting, scratch = betting_at(tables, 2 * place.level + player), scratch_at(tables, place.level)
    width = _width(hands_at(tables, 2 * place.level + player), place.board)
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
    _add_gathered(tables, place, step.player)
    ascend(tables, place, part, rule, step)
    _leave(tables, place, part, step.player, out, snapshot)


@callee
def _gather(tables: Tables, place: Place, player: int, found: Array, first: int, stop: int) -> None:
    """Add the values that a card and its images bring to chance nodes ``first`` to ``stop`` of the street above."""
    mine, image = hands_at(tables, 2 * place.level + player), boards_at(tables, place.level).image
    gathered = scratch_at(tables, place.above).gathered
    width, wide = _width(mine, place.board), _width(hands_at(tables, 2 * place.above + player), place.parent)
    for k in range(image[place.board], image[place.board + 1]):
        places = mine.map[mine.map_start[k] : mine.map_start[k] + width]
        for x in range(first, stop):
            target = gathered[x * wide : (x + 1) * wide]
            row = found[x * width : (x + 1) * width]
            for h in range(width):
                target[places[h]] += row[h]


@callee
def _tile(
    tables: Tables, leaf: Place, part: int, chance: float, rule: Rule, step: Pass, out: Array, snapshot: Chosen
) -> None:
    """Down and up one tile of a board of the last street."""
    _enter(tables, leaf, part, chance, step.player)
    descend(tables, leaf, part, rule, step)
    _up(tables, leaf, part, rule, step, out, snapshot)


@callee
def _keep(tables: Tables, board: int) -> None:
    """Put the reach rows of a board of the second street where all threads find them."""
    scratch, results = scratch_at(tables, 1), results_at(tables, 0)
    for k in range(0, len(scratch.reach), LANES):
        store(results.kept[board], k, load(scratch.reach, k))
    for row in range(len(scratch.alive)):
        results.alive[board, row] = scratch.alive[row]


@callee
def _recall(tables: Tables, board: int) -> None:
    """Take them into this thread's scratch arrays."""
    scratch, results = scratch_at(tables, 1), results_at(tables, 0)
    for k in range(0, len(scratch.reach), LANES):
        store(scratch.reach, k, load(results.kept[board], k))
    for row in range(len(scratch.alive)):
        scratch.alive[row] = results.alive[board, row]


@callee
def _add_up(tables: Tables, first: int, stop: int) -> None:
    """What parts of a board have found at its chance nodes, in their order."""
    gathered, sums = scratch_at(tables, 1).gathered, results_at(tables, 0).sums
    for k in range(len(gathered)):
        gathered[k] = 0
    for part in range(first, stop):
        row = sums[part]
        for k in range(len(gathered)):
            gathered[k] += row[k]


@callee
def _set_aside(tables: Tables, part: int) -> None:
    """What a part of a board has found at its chance nodes, for ``_add_up``."""
    gathered, row = scratch_at(tables, 1).gathered, results_at(tables, 0).sums[part]
    for k in range(len(gathered)):
        row[k] = gathered[k]


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
    found, values, parts = results.found, results.values, results.part
    nil: Any = np.int64(0)  # literals would compile everything below a second time
    one: Any = np.int64(1)
    last: Any = np.int64(2)
    root = Place(nil, nil, -one, nil)
    top, below, sync = scratch_at(tables, nil), scratch_at(tables, last), results.sync
    threads: Any = np.int64(worker.threads)
    for n in range(len(passes)):
        step = Pass(passes[n, 0], passes[n, 1], passes[n, 2])
        tiles = len(betting_at(tables, 2 * last + step.player).tile) - 1
        roots = len(betting_at(tables, nil).chance_node)
        if worker.thread == 0:
            _begin(tables, step.player)
            descend(tables, root, nil, rule, step)
        if not barrier(sync, threads):
            return
        if worker.thread == 0:  # while the others begin with the boards
            _clear(tables, root, nil, step.player)
            settle(tables, root, nil, step.player)
        if streets == 2:
            tasks = len(found) * tiles
            for k in range(threads):
                for task in range((worker.thread + k) % threads, tasks, threads):
                    if claim(sync, len(found), task, tasks, threads, n):
                        board, tile = task % len(found), task // len(found)
                        leaf = Place(last, board, nil, nil)
                        _tile(tables, leaf, tile, chances[1], rule, step, found[board], snapshot)
        if streets == 3:
            held = -one
            for board in range(worker.thread, len(found), threads):
                place, held = Place(one, board, nil, nil), board
                _enter(tables, place, nil, chances[0], step.player)
                descend(tables, place, nil, rule, step)
                _keep(tables, board)
                announce(sync, board)
            for k in range(threads):
                for part in range((worker.thread + k) % threads, len(parts), threads):
                    if not claim(sync, len(found), part, len(parts), threads, n):
                        continue
                    board, first, stop = parts[part, layout.BOARD], parts[part, layout.FIRST], parts[part, layout.STOP]
                    if not await_board(sync, board, n):
                        return
                    if held != board:
                        _recall(tables, board)
                        held = board
                    _no_values(tables, one)
                    for river in range(parts[part, layout.RIVER], parts[part, layout.RIVER_END]):
                        leaf = Place(last, river, one, board)
                        for tile in range(tiles):
                            _tile(tables, leaf, tile, chances[1], rule, step, below.found, snapshot)
                        _gather(tables, leaf, step.player, below.found, nil, len(betting_at(tables, 2).chance_node))
                    _set_aside(tables, part)
                    if finished(sync, board, stop - first):
                        _add_up(tables, first, stop)
                        _up(tables, Place(one, board, nil, nil), nil, rule, step, found[board], snapshot)
        if not barrier(sync, threads):
            return
        for x in range(worker.thread, roots, threads):
            width = _width(hands_at(tables, step.player), nil)
            for h in range(x * width, (x + 1) * width):
                top.gathered[h] = 0
            for child in range(len(found)):
                _gather(tables, Place(one, child, nil, nil), step.player, found[child], x, x + 1)
        if not barrier(sync, threads):
            return
        if worker.thread == 0:
            _add_gathered(tables, root, step.player)
            ascend(tables, root, nil, rule, step)
            _leave(tables, root, nil, step.player, top.found, snapshot)
            if n < len(values):
                for h in range(_width(hands_at(tables, step.player), nil)):
                    values[n, h] = top.value[h]
