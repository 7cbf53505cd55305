"""Value and best responses in tiles: 16 infosets at a time, in about the time of an iteration.

Top-down: plans. Bottom-up: values of actions from the payoffs and from the best actions below. What the actions of
player 0 are paid is summed up in the order of sequences, so all has the bits of ``cpu.evaluate``. Storage and
accumulation float64; no fastmath. Threads share tiles as in ``cpu.tiled``; no bit depends on them.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.engines.sequence.arrays import Numbers
from treeplex.engines.sequence.cpu.tiled import TiledForm, ask, share_out_lanes
from treeplex.engines.sequence.partition import Passes
from treeplex.engines.sequence.tiles import Root, TiledRows, Tiles
from treeplex.kernels.jit import callee, inlined, kernel
from treeplex.kernels.threads.team import Worker, first, leave_team, team_barrier, thread_of
from treeplex.kernels.vectors import LANES, gather, larger, load, spread, store, widened


class Plans(NamedTuple):
    """Scratch of an evaluation."""

    plans: tuple[Floats, Floats]  # [P] of each player
    paid: Floats  # [P] what player 0 gets by each action


@kernel
def normalise_tiles(
    tiles: tuple[Tiles, Tiles], weights: tuple[Numbers, Numbers], strategies: tuple[Floats, Floats]
) -> None:
    """Non-negative weights [P] to strategies [P], modified in place; uniform where they are all zero."""
    _normalise(tiles[0].first, weights[0], strategies[0])
    _normalise(tiles[1].first, weights[1], strategies[1])


@kernel
def evaluate_tiles(
    form: TiledForm,
    strategies: tuple[Floats, Floats],
    place: Ints,
    scratch: Plans,
    found: Floats,
    worker: Worker | None,
) -> None:
    """As ``cpu.evaluate``, of strategies in places; ``found`` [3], ``scratch`` and that of ``form`` are modified.

    ``place``: those of player 0's sequences.
    """
    (tiles_0, tiles_1), (rows_0, rows_1), (blocks_0, blocks_1) = form.tiles, form.rows, form.blocks
    (pieces_0, pieces_1), (runs_0, runs_1) = form.partitions, form.runs
    (values_0, values_1), (worth_0, worth_1) = form.values, form.worth
    (plan_0, plan_1), paid = scratch.plans, scratch.paid
    if first(worker):
        _begin(plan_0)
        _begin(plan_1)
    team_barrier(worker)
    _down(tiles_0, runs_0, strategies[0], plan_0, worker)
    _down(tiles_1, runs_1, strategies[1], plan_1, worker)
    ask(blocks_0, pieces_0, 1.0, plan_1, values_0, worker)
    ask(blocks_1, pieces_1, -1.0, plan_0, values_1, worker)
    _up(tiles_0, rows_0, runs_0, plan_1, values_0, worth_0, plan_0, paid, worker)
    _up(tiles_1, rows_1, runs_1, plan_0, values_1, worth_1, plan_1, paid[:0], worker)
    if first(worker):
        (root_0, root_1), value = form.roots, _at_once(form.roots[0], plan_1, values_0)
        found[1] = _best_of_all(root_0, worth_0, value)
        found[2] = _best_of_all(root_1, worth_1, _at_once(root_1, plan_0, values_1))
        for s in range(1, len(place)):
            value += paid[np.uint64(place[s])]
        found[0] = value
    leave_team(worker)


# --- one player's passes over tiles ----------------------------------------------------------------------------------


@inlined
def _normalise(first: Ints, weights: Numbers, strategy: Floats) -> None:
    zero, width = spread(0.0), np.uint64(LANES)
    store(strategy, 0, zero)
    strategy[0] = 1.0
    head = np.uint64(first[0])
    for tile in range(len(first) - 1):
        end = np.uint64(first[tile + 1])
        total = zero
        for b in range(head, end):
            total = total + widened(load(weights, width * b))
        share_out_lanes(weights, np.uint64(0), strategy, head, end, total)
        head = end


@inlined
def _begin(plan: Floats) -> None:
    """The slice that belongs to nobody."""
    store(plan, 0, spread(0.0))
    plan[0] = 1.0


@callee
def _down(tiles: Tiles, runs: Passes, strategy: Floats, plan: Floats, worker: Worker | None) -> None:
    """Plans of all tiles, in place."""
    k, cuts = thread_of(worker), runs.down
    first_, parent, width = tiles.first, tiles.parent, np.uint64(LANES)
    for count in range(len(cuts)):
        stretch = len(cuts) - 1 - count
        begin, stop = cuts[stretch, k], cuts[stretch, k + 1]
        end = np.uint64(first_[stop])
        for passed in range(stop - begin):
            tile = np.uint64(stop - 1 - passed)
            head = np.uint64(first_[tile])
            above = gather(plan, parent, width * tile)
            for b in range(head, end):
                store(plan, width * b, above * load(strategy, width * b))
            end = head
        team_barrier(worker)


@callee
def _up(
    tiles: Tiles, rows: TiledRows, runs: Passes, opponent: Floats, values: Floats, worth: Floats, plan: Floats,
    paid: Floats, worker: Worker | None,
) -> None:  # fmt: skip
    """What the best actions of all tiles are worth, and what ``plan`` is paid, in place."""
    k, cuts = thread_of(worker), runs.up
    first_, below, child = tiles.first, tiles.start, tiles.child
    start, column, data, unit = rows.start, rows.column, rows.data, spread(rows.unit)
    zero, lowest, by_blocks, counted = spread(0.0), spread(-np.inf), len(values) > 0, len(paid) > 0
    width, next_ = np.uint64(LANES), np.uint64(1)
    for stretch in range(len(cuts)):
        begin, stop = cuts[stretch, k], cuts[stretch, k + 1]
        head = np.uint64(first_[begin])
        entry, kid = width * np.uint64(start[head]), width * np.uint64(below[head])
        for tile in range(np.uint64(begin), np.uint64(stop)):
            end = np.uint64(first_[tile + next_])
            best = lowest
            for b in range(head, end):
                value, last = zero, width * np.uint64(start[b + next_])
                if by_blocks:
                    value = load(values, width * b)
                while entry < last:
                    value = value + gather(opponent, column, entry) * (widened(load(data, entry)) * unit)
                    entry += width
                if counted:
                    store(paid, width * b, load(plan, width * b) * value)
                last = width * np.uint64(below[b + next_])
                while kid < last:
                    value = value + gather(worth, child, kid)
                    kid += width
                best = larger(value, best)
            store(worth, width * tile, best)
            head = end
        team_barrier(worker)


@inlined
def _at_once(root: Root, opponent: Floats, values: Floats) -> float:
    """What a player is paid without a move of its own."""
    total = values[0] if len(values) > 0 else 0.0
    for entry in range(len(root.column)):
        total += root.data[entry] * opponent[np.uint64(root.column[entry])]
    return total


@inlined
def _best_of_all(root: Root, worth: Floats, value: float) -> float:
    """The best response of a player: what it is paid at once, and its first infosets."""
    for k in range(len(root.lane)):
        value += worth[np.uint64(root.lane[k])]
    return value
