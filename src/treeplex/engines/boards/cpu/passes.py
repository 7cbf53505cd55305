"""Passes over all boards of a subgame, and iterations made of them.

A pass goes down the first street, through every board dealt on the next ones, and up again. Threads share the work:

- With two streets, a task is a tile of a board.
- With three streets, threads first go down boards of the second street. Then a task is a part of such a board, which is
  a few boards of the last street. The thread that finishes the last part of a board adds its parts, and goes up the
  board.

At chance nodes of the first street, every thread then sums over boards for some hands. All sums are in a fixed order,
and in float64 if they are long, so results do not depend on the number of threads.

A pass may be run in three phases, so that other processes can have boards of the second street: ``engines.boards.cut``.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treeplex.engines.boards import arrays as layout
from treeplex.engines.boards.arrays import Array, BoardPath, Pass, PassArrays, PassRule, PassWorker
from treeplex.engines.boards.cpu.addresses import betting_at, boards_at, hands_at, player_at, results_at, scratch_at
from treeplex.engines.boards.cpu.chance import (
    add_boards,
    add_parts,
    clear_sums,
    collect,
    enter,
    is_open,
    leave,
    open_street,
    width_of,
)
from treeplex.engines.boards.cpu.street import ascend, descend, fetch_last
from treeplex.engines.boards.cpu.tasks import announce, await_board, claim, finish_part
from treeplex.engines.boards.cpu.terminals import settle
from treeplex.kernels.jit import callee, inlined, kernel
from treeplex.kernels.threads.barrier import await_all, barrier, leave_run, linger
from treeplex.kernels.vectors import LANES, load, spread, store


@callee
def _begin(tables: PassArrays, player: int) -> None:
    """Fill the reach row of the root with the opponent's weights."""
    scratch, start = scratch_at(tables, 0), player_at(tables, 1 - player).start
    for h in range(len(start)):
        scratch.reach[h] = start[h]
    scratch.alive[0] = True


@callee
def _clear(tables: PassArrays, path: BoardPath, part: int, player: int) -> None:
    """Clear the value rows of a tile before its terminals are settled."""
    betting, scratch = betting_at(tables, 2 * path.level + player), scratch_at(tables, path.level)
    width = width_of(hands_at(tables, 2 * path.level + player), path.board)
    roots = betting.tile[part + 1, layout.ROOT] - betting.tile[part, layout.ROOT]
    rows = roots + betting.tile[part + 1, layout.OWN_SLOT] - betting.tile[part, layout.OWN_SLOT]
    nothing = spread(scratch.value.dtype.type(0.0))
    for k in range(0, rows * width, LANES):
        store(scratch.value, k, nothing)


@callee
def _copy_rows(tables: PassArrays, path: BoardPath, part: int, player: int) -> None:
    """Copy all rows of a tile if its board is that of the snapshot."""
    snapshot = results_at(tables, 0)
    if snapshot.chosen[0] != path.level or snapshot.chosen[1] != path.board:
        return
    tile, scratch = betting_at(tables, 2 * path.level + player).tile, scratch_at(tables, path.level)
    width, wide = (
        width_of(hands_at(tables, 2 * path.level + player), path.board),
        width_of(hands_at(tables, 2 * path.level + 1 - player), path.board),
    )
    roots = tile[part + 1, layout.ROOT] - tile[part, layout.ROOT]
    row = np.int64(tile[part, layout.ROOT] + tile[part, layout.OWN_SLOT]) * width
    rows = roots + tile[part + 1, layout.OWN_SLOT] - tile[part, layout.OWN_SLOT]
    for k in range(rows * width):
        snapshot.value[row + k] = scratch.value[k]
    row = np.int64(tile[part, layout.ROOT] + tile[part, layout.OPPONENT_SLOT]) * wide
    rows = roots + tile[part + 1, layout.OPPONENT_SLOT] - tile[part, layout.OPPONENT_SLOT]
    for k in range(rows * wide):
        snapshot.reach[row + k] = scratch.reach[k]


@callee
def _tile(
    tables: PassArrays, leaf: BoardPath, part: int, chance: float, rule: PassRule, step: Pass, out: Array, entry: Array,
    alive: Array,
) -> None:  # fmt: skip
    """Go down and up one tile of a board of the last street, if its roots are open there."""
    open_on = betting_at(tables, 2 * leaf.level + step.player).tile[part, layout.BOARDS]
    if not is_open(open_on, boards_at(tables, leaf.level).texture[leaf.board]):
        return
    enter(tables, leaf, part, chance, step.player, entry, alive)
    descend(tables, leaf, part, rule, step)
    fetch_last(tables, leaf, part, step)
    _clear(tables, leaf, part, step.player)
    settle(tables, leaf, part, step.player)
    ascend(tables, leaf, part, rule, step)
    leave(tables, leaf, part, step.player, out)
    _copy_rows(tables, leaf, part, step.player)


@callee
def _down(tables: PassArrays, path: BoardPath, chance: float, rule: PassRule, step: Pass) -> None:
    """Go down a board of the second street. Its reach rows are stored in arrays that all threads share."""
    top, scratch, results = scratch_at(tables, 0), scratch_at(tables, 1), results_at(tables, 0)
    nil: Any = np.int64(0)
    last: Any = np.int64(2)
    enter(tables, path, nil, chance, step.player, top.entry, top.alive)
    descend(tables, path, nil, rule, step)
    open_street(tables, path, last, step.player, results.entry[path.board])
    for k in range(0, len(scratch.reach), LANES):
        store(results.board_reach[path.board], k, load(scratch.reach, k))
    for row in range(len(scratch.alive)):
        results.alive[path.board, row] = scratch.alive[row]


@callee
def _up(
    tables: PassArrays, path: BoardPath, first: int, stop: int, rule: PassRule, step: Pass, in_scratch: bool
) -> None:
    """Go up a board of the second street whose parts are done. Unless ``in_scratch``, first reload its reach rows."""
    scratch, results = scratch_at(tables, 1), results_at(tables, 0)
    nil: Any = np.int64(0)
    if not in_scratch:
        for k in range(0, len(scratch.reach), LANES):
            store(scratch.reach, k, load(results.board_reach[path.board], k))
        for row in range(len(scratch.alive)):
            scratch.alive[row] = results.alive[path.board, row]
    _clear(tables, path, nil, step.player)
    settle(tables, path, nil, step.player)
    add_parts(tables, path.board, first, stop, step.player)
    ascend(tables, path, nil, rule, step)
    leave(tables, path, nil, step.player, results.root_values[path.board])
    _copy_rows(tables, path, nil, step.player)


@inlined
def _last_boards(tables: PassArrays, chance: float, rule: PassRule, step: Pass, worker: PassWorker, n: int) -> None:
    """Run the tiles of the last of two streets that this thread claims in pass ``n``."""
    results, top = results_at(tables, 0), scratch_at(tables, 0)
    root_values, sync = results.root_values, results.sync
    threads: Any = np.int64(worker.threads)
    nil: Any = np.int64(0)  # with literals, Numba would compile everything below a second time
    last: Any = np.int64(2)
    tiles = len(betting_at(tables, 2 * last + step.player).tile) - 1
    tasks = len(root_values) * tiles
    for k in range(threads):
        for task in range((worker.thread + k) % threads, tasks, threads):
            if claim(sync, len(root_values), task, tasks, threads, n):
                board, tile = task % len(root_values), task // len(root_values)
                leaf = BoardPath(last, board, nil, nil)
                _tile(tables, leaf, tile, chance, rule, step, root_values[board], top.entry, top.alive)


@inlined
def _two_streets(
    tables: PassArrays, chances: tuple[float, float], rule: PassRule, step: Pass, worker: PassWorker, n: int
) -> bool:
    """Run boards of the second of three streets, and the boards below that this thread claims in pass ``n``.

    Return False if another thread has failed.
    """
    results, below = results_at(tables, 0), scratch_at(tables, 2)
    root_values, parts, sync = results.root_values, results.part, results.sync
    threads: Any = np.int64(worker.threads)
    nil: Any = np.int64(0)
    one: Any = np.int64(1)
    last: Any = np.int64(2)
    tiles = len(betting_at(tables, 2 * last + step.player).tile) - 1
    current = -one
    for board in range(worker.thread, len(root_values), threads):
        _down(tables, BoardPath(one, board, nil, nil), chances[0], rule, step)
        announce(sync, board)
        current = board
    for k in range(threads):
        for part in range((worker.thread + k) % threads, len(parts), threads):
            if not claim(sync, len(root_values), part, len(parts), threads, n):
                continue
            board, first, stop = parts[part, layout.BOARD], parts[part, layout.FIRST], parts[part, layout.STOP]
            if not await_board(sync, board, n):
                return False
            sums, entry, alive = results.sums[part], results.entry[board], results.alive[board]
            clear_sums(tables, board, step.player, sums)
            for river in range(parts[part, layout.RIVER], parts[part, layout.RIVER_END]):
                leaf = BoardPath(last, river, one, board)
                for tile in range(tiles):
                    _tile(tables, leaf, tile, chances[1], rule, step, below.root_values, entry, alive)
                collect(tables, leaf, step.player, below.root_values, sums)
            if finish_part(sync, board, stop - first):
                _up(tables, BoardPath(one, board, nil, nil), first, stop, rule, step, current == board)
                current = board
    return True


@inlined
def _passes(tables: PassArrays, streets: int, chances: tuple[float, float] | None, worker: PassWorker) -> bool:
    """Run one pass after the other. Return False if another thread has failed.

    Without ``chances``, everything that concerns boards is left out at compile time: a river needs half the code.
    """
    results = results_at(tables, 0)
    values, passes = results.values, results.passes
    rule = PassRule(results.rule[0], results.rule[1] > 0.0)
    nil: Any = np.int64(0)
    one: Any = np.int64(1)
    root = BoardPath(nil, nil, -one, nil)
    top, sync = scratch_at(tables, nil), results.sync
    threads: Any = np.int64(worker.threads)
    for n in range(len(passes)):
        step, phase = Pass(passes[n, 0], passes[n, 1], passes[n, 2]), passes[n, 3]
        down, below_it = phase in (layout.WHOLE, layout.DOWN), phase in (layout.WHOLE, layout.BELOW)
        up = phase in (layout.WHOLE, layout.UP)
        if down and worker.thread == 0:
            _begin(tables, step.player)
            descend(tables, root, nil, rule, step)
            if chances is not None:
                open_street(tables, root, one, step.player, top.entry)
        if not barrier(sync, threads):
            return False
        if down and worker.thread == 0:  # while other threads begin with the boards
            _clear(tables, root, nil, step.player)
            settle(tables, root, nil, step.player)
        if chances is not None:
            if below_it and streets == 2:
                _last_boards(tables, chances[1], rule, step, worker, n)
            if below_it and streets == 3 and not _two_streets(tables, chances, rule, step, worker, n):
                return False
        if not barrier(sync, threads):
            return False
        if chances is not None:  # noqa: SIM102 - a condition of its own, so that Numba can drop the branch
            if up:
                blocks = width_of(hands_at(tables, step.player), nil) // LANES
                low, high = blocks * worker.thread // threads, blocks * (worker.thread + 1) // threads
                add_boards(tables, step.player, low * LANES, high * LANES)
                if not barrier(sync, threads):
                    return False
        if up and worker.thread == 0:
            ascend(tables, root, nil, rule, step)
            if n < len(values):
                for h in range(width_of(hands_at(tables, step.player), nil)):
                    values[n, h] = top.value[h]
    return True


@kernel
def run_passes(tables: PassArrays, streets: int, chances: tuple[float, float] | None, worker: PassWorker) -> None:
    """Run passes from the root, one for each row of ``Results.passes``: learner, mode, iteration, phase.

    Levels are the first, middle and last street. With fewer than three streets, some are repeated. With one street
    there are no ``chances``. Learners, scratch arrays and results are modified in place. All threads but the first then
    wait for another run for a short time, and read its arrays from the tables.
    """
    more = True
    while more:
        sync, wake_flags = results_at(tables, 0).sync, results_at(tables, 0).wake_flags
        more = _passes(tables, streets, chances, worker)
        if worker.thread == 0:
            await_all(sync, worker.threads)
            return
        leave_run(sync)
        more = more and linger(wake_flags, worker.thread)
