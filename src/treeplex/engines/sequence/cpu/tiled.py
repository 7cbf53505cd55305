"""Iterations of CFR in tiles: 16 infosets at a time. Maths: ``reference.iterations``.

For each player in turn, one bottom-up pass computes values of actions from the payoffs and from the infosets below,
then regrets and next strategies. A top-down pass makes plans and adds them to the averages. An iteration adds the plan
that it began with to the average. So after the first iteration, plans are added when they are made, with the weight of
the next iteration, instead of being read once more.

Every number comes from the operations of ``cpu.bottom_up`` and ``cpu.learn`` in their order, so it has the same bits.
Storage is that of the learners; accumulation and the values of infosets are float64; no fastmath. Threads, if there
are several, stay for all iterations. Each has tiles of its own in every stretch of ``runs``, and a tile writes only its
own slices and lanes. There is a barrier after every stretch.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeplex.arrays import Bytes, Floats, Ints
from treeplex.engines.sequence.arrays import Learner, Matching, Numbers, RuleLearner, Step, Steps
from treeplex.engines.sequence.cpu.operators import gradient_by
from treeplex.engines.sequence.partition import Partition, Partitions, Passes, Runs
from treeplex.engines.sequence.tiles import Dealt, PlacedSide, Root, TiledRows, Tiles
from treeplex.kernels.calls import RuleCall, call_gathered
from treeplex.kernels.jit import INLINED_LOOP, Index, callee, inlined_loop, kernel, specialised
from treeplex.kernels.threads.team import Worker, aborted, first, leave_team, team_barrier, thread_of
from treeplex.kernels.vectors import LANES, Vector, gather, larger, load, narrowed, some, spread, store, where, widened
from treeplex.updates.rules import decayed, matched
from treeplex.updates.turns import SIMULTANEOUS


class TiledForm(NamedTuple):
    """A game in tiles, and scratch; arrays have the precision of the learners unless noted otherwise."""

    tiles: tuple[Tiles, Tiles]
    rows: tuple[TiledRows, TiledRows]
    blocks: Dealt
    partitions: Partitions  # pieces of the rows of blocks
    runs: Runs
    values: tuple[Numbers, Numbers]  # [P] gradients by blocks, else [0]
    lane_values: tuple[Floats, Floats]  # [16 T + 16] float64 v(I) by lane; then -0.0, which can be added to anything
    reached: tuple[Bytes, Bytes]  # [T] 0 where all plans of a tile are zero
    scratch: Numbers  # [K, 16 A] per thread, 16 numbers for each action of an infoset
    roots: tuple[Root, Root]

    @property
    def threads(self) -> int:
        """Number of threads, K."""
        return len(self.scratch)


class TileCall(NamedTuple):
    """A rule that is a function, called for one lane of a tile after the other."""

    call: RuleCall
    starts: Ints  # [16 T] first sequence of the infoset in each lane; -1: no infoset


TiledLearners = tuple[Learner | RuleLearner, Learner | RuleLearner]
TiledRules = tuple[Matching | TileCall, Matching | TileCall]


class Weights(NamedTuple):
    """Weights of plans in the average; 0: the plan is not added."""

    before: float  # weight of the plan with which the iteration began
    after: float  # weight of the plan that is made for the next iteration


# --- learning in the infosets of a tile ------------------------------------------------------------------------------


@inlined_loop
def share_out_lanes(weights: Numbers, base: Index, strategy: Numbers, head: Index, end: Index, total: Vector) -> None:
    """``rules.normalise_span`` for the 16 infosets of a tile, whose slice b has its weights in slice b - ``base``."""
    zero, one, width = spread(0.0), spread(1.0), np.uint64(LANES)
    even, like = spread(1.0 / np.float64(end - head)), spread(strategy.dtype.type(0.0))
    for b in range(head, end):
        some, part = matched(widened(load(weights, width * (b - base))), total, zero, one)
        store(strategy, width * b, narrowed(where(some, part, even), like))


def _call(
    learner: RuleLearner, rule: TileCall, step: Step, thread: int, scratch: Numbers, expected: Vector, tile: Index,
    head: Index, end: Index,
) -> None:  # fmt: skip
    """Apply a rule that is a function to the infosets of a tile, lane by lane."""
    width, room = np.uint64(LANES), rule.call.room[thread]
    for lane in range(width):
        start = rule.starts[width * tile + lane]
        if start >= 0:
            call_gathered(
                rule.call, step.iteration, start, scratch, lane, learner.strategy, width * head + lane, width,
                learner.memory, rule.call.rows * np.uint64(start), end - head, room,
            )  # fmt: skip


@specialised("rule", {TileCall: _call}, jit_options=INLINED_LOOP)
def learn_tile(
    learner: Learner, rule: Matching, step: Step, thread: int, scratch: Numbers, expected: Vector, tile: Index,
    head: Index, end: Index,
) -> None:  # fmt: skip
    """Update regrets and next strategies of a tile from the values of its actions in ``scratch``.

    The tile has the slices from ``head`` to ``end``.
    """
    regret, strategy, width, zero = learner.regret, learner.strategy, np.uint64(LANES), spread(0.0)
    up, down, predict = spread(step.positive), spread(step.negative), spread(rule.predict)
    like, total = spread(strategy.dtype.type(0.0)), zero
    for b in range(head, end):
        instantaneous = widened(load(scratch, width * (b - head))) - expected
        r = decayed(widened(load(regret, width * b)) + instantaneous, up, down, zero) + zero
        predicted = larger(r + predict * instantaneous, zero)
        store(regret, width * b, narrowed(r, like))
        store(scratch, width * (b - head), narrowed(predicted, like))
        total = total + predicted
    share_out_lanes(scratch, head, strategy, head, end, total)


# --- one player's passes over tiles ----------------------------------------------------------------------------------


@callee
def _up(
    tiles: Tiles, rows: TiledRows, runs: Passes, learner: Learner | RuleLearner, opponent: Numbers, values: Numbers,
    lane_values: Floats, scratches: Numbers, rule: Matching | TileCall, step: Step, worker: Worker | None,
) -> None:  # fmt: skip
    """Update next strategies of all tiles, bottom-up; ``learner`` and ``lane_values`` are modified in place."""
    k, cuts = thread_of(worker), runs.up
    scratch = scratches[k]
    first, below, child = tiles.first, tiles.start, tiles.child
    start, column, data, unit = rows.start, rows.column, rows.data, spread(rows.unit)
    strategy, zero, by_blocks = learner.strategy, spread(0.0), len(values) > 0
    width, next_ = np.uint64(LANES), np.uint64(1)
    like = spread(strategy.dtype.type(0.0))
    for stretch in range(len(cuts)):
        begin, stop = cuts[stretch, k], cuts[stretch, k + 1]
        head = np.uint64(first[begin])
        entry, kid = width * np.uint64(start[head]), width * np.uint64(below[head])
        for tile in range(np.uint64(begin), np.uint64(stop)):
            end = np.uint64(first[tile + next_])
            expected = zero
            for b in range(head, end):
                total, last = zero, width * np.uint64(start[b + next_])
                if by_blocks:
                    total = widened(load(values, width * b))
                while entry < last:
                    paid = narrowed(widened(load(data, entry)) * unit, like)
                    total = total + widened(gather(opponent, column, entry) * paid)
                    entry += width
                value, last = narrowed(total, like), width * np.uint64(below[b + next_])
                while kid < last:
                    value = narrowed(widened(value) + gather(lane_values, child, kid), like)
                    kid += width
                store(scratch, width * (b - head), value)
                expected = expected + widened(load(strategy, width * b) * value)
            store(lane_values, width * tile, expected)
            learn_tile(learner, rule, step, k, scratch, expected, tile, head, end)
            head = end
        team_barrier(worker)


@callee
def _down(
    tiles: Tiles, runs: Passes, learner: Learner | RuleLearner, reached: Bytes, weights: Weights, worker: Worker | None
) -> None:
    """Make plans from strategies and update averages, top-down; ``learner`` and ``reached`` are modified in place.

    A tile is skipped if the player reaches its infosets neither now nor before: its plans are zero and stay zero.
    """
    k, cuts = thread_of(worker), runs.down
    first, parent = tiles.first, tiles.parent
    average, strategy, plan = learner.average, learner.strategy, learner.plan
    before, after, width = spread(weights.before), spread(weights.after), np.uint64(LANES)
    old, new = weights.before != 0.0, weights.after != 0.0
    like = spread(plan.dtype.type(0.0))
    for count in range(len(cuts)):
        stretch = len(cuts) - 1 - count
        begin, stop = cuts[stretch, k], cuts[stretch, k + 1]
        end = np.uint64(first[stop])
        for passed in range(stop - begin):
            tile = np.uint64(stop - 1 - passed)
            head = np.uint64(first[tile])
            above = gather(plan, parent, width * tile)
            played = some(above != like)
            if played or reached[tile] == 1:
                reached[tile] = np.int8(played)
                for b in range(head, end):
                    made = above * load(strategy, width * b)
                    if old:
                        total = widened(load(average, width * b)) + before * widened(load(plan, width * b))
                        store(average, width * b, narrowed(total, like))
                    if new:
                        total = widened(load(average, width * b)) + after * widened(made)
                        store(average, width * b, narrowed(total, like))
                    store(plan, width * b, made)
            end = head
        team_barrier(worker)


# --- iterations ------------------------------------------------------------------------------------------------------


@callee
def block_gradient(
    side: PlacedSide | None, partition: Partition | None, sign: float, opponent: Numbers, values: Numbers,
    worker: Worker | None,
) -> None:  # fmt: skip
    """Compute the gradient by blocks if the operator has blocks, then wait for all threads; callable inside kernels."""
    if side is not None:
        gradient_by(side, partition, sign, opponent, values, worker)
        team_barrier(worker)


@kernel
def iterate_tiles(
    form: TiledForm, learners: TiledLearners, rules: TiledRules, steps: Steps, turns: int, worker: Worker | None
) -> None:
    """Run one iteration for each of ``steps`` as one of the threads.

    ``learners``, by position in tiles, and scratch are modified in place.
    """
    (tiles_0, tiles_1), (rows_0, rows_1), (blocks_0, blocks_1) = form.tiles, form.rows, form.blocks
    (pieces_0, pieces_1), (runs_0, runs_1), scratch = form.partitions, form.runs, form.scratch
    (values_0, values_1), (lane_values_0, lane_values_1), (reached_0, reached_1) = (
        form.values,
        form.lane_values,
        form.reached,
    )
    (learner_0, learner_1), (rule_0, rule_1) = learners, rules
    plan_0, plan_1, count = learner_0.plan, learner_1.plan, len(steps.weight)
    for i in range(count):
        step = Step(steps.iteration[i], steps.weight[i], steps.positive[i], steps.negative[i])
        weights = Weights(steps.weight[0] if i == 0 else 0.0, steps.weight[i + 1] if i + 1 < count else 0.0)
        block_gradient(blocks_0, pieces_0, 1.0, plan_1, values_0, worker)
        _up(tiles_0, rows_0, runs_0, learner_0, plan_1, values_0, lane_values_0, scratch, rule_0, step, worker)
        if turns != SIMULTANEOUS:
            _down(tiles_0, runs_0, learner_0, reached_0, weights, worker)
        block_gradient(blocks_1, pieces_1, -1.0, plan_0, values_1, worker)
        _up(tiles_1, rows_1, runs_1, learner_1, plan_0, values_1, lane_values_1, scratch, rule_1, step, worker)
        if turns == SIMULTANEOUS:
            _down(tiles_0, runs_0, learner_0, reached_0, weights, worker)
        _down(tiles_1, runs_1, learner_1, reached_1, weights, worker)
        if first(worker):
            learner_0.average[0] += steps.weight[i]  # the empty sequence, which belongs to no infoset
            learner_1.average[0] += steps.weight[i]
        if aborted(worker):
            break
    leave_team(worker)
