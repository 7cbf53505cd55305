"""When a run measures its strategies: often at first, then for less than a tenth of the work, and near the target."""

from __future__ import annotations

import math
from collections.abc import Callable
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

import treeplex as tp
from treeplex.algorithms.protocol import Cost
from treeplex.algorithms.registry import ALGORITHMS, build
from treeplex.runs.log import LogRow
from treeplex.runs.schedule import next_evaluation

ITERATIVE = [name for name, entry in ALGORITHMS.items() if not entry.build().ends]
EARLY = [1, 2, 3, 5, 8, 12, 18, 27, 41]  # each half as much again as the one before, rounded up
FREE = 50  # iterations in which measuring may take what it takes
CHEAP = Cost(1.0, 1e-6)
COSTS = [0.001, 0.01, 0.1, 1.0, 3.0, 30.0, 1000.0]  # of an evaluation, in iterations

Curve = Callable[[int], float]
CURVES: dict[str, Curve] = {
    "1 / t": lambda t: 1.0 / t,
    "1 / sqrt(t)": lambda t: 1.0 / math.sqrt(t),
    "up and down": lambda t: (1.0 + 0.8 * math.sin(t)) / t,
    "no progress": lambda t: 0.5,
    "unknown": lambda t: math.nan,
}


def row(iteration: int, nash_conv: float, **fields: Any) -> LogRow:
    return LogRow(iteration, 100 * iteration, 0.0, 0.0, 0.0, nash_conv, nash_conv / 2.0)._replace(**fields)


def rows_of(curve: Curve, cost: Cost, target: float | None, most: int) -> list[LogRow]:
    """The log of a run that is measured as the schedule says, until it meets its target."""
    rows: list[LogRow] = []
    while (due := next_evaluation(rows, cost, target)) <= most:
        rows.append(row(due, curve(due)))
        if target is not None and rows[-1].nash_conv <= target:
            break
    return rows


def share(iterations: list[int], cost: Cost) -> float:
    """Of the work done after the first 50 iterations, what evaluations after them are."""
    late = [iteration for iteration in iterations if iteration > FREE]
    spent = len(late) * cost.evaluation
    return spent / (spent + (late[-1] - FREE) * cost.iteration) if late else 0.0


@pytest.mark.parametrize("target", [None, 0.0, 1e-3])
@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
@pytest.mark.parametrize("cost", COSTS)
def test_evaluations_take_less_than_a_tenth_of_the_work_after_50_iterations(cost, curve, target) -> None:
    """At every row, not on average over a run; and they are not left out altogether."""
    price = Cost(1.0, cost)
    iterations = [one.iteration for one in rows_of(curve, price, target, 10_000_000)]
    assert iterations[: len(EARLY)] == EARLY
    assert iterations[-1] > FREE
    for count in range(len(EARLY) + 1, len(iterations) + 1):
        assert share(iterations[:count], price) < 0.10
    if target is None:  # a tenth later at the most, or as soon as it can be afforded
        for one, two in pairwise(iterations[len(EARLY) :]):
            after = sum(iteration > FREE for iteration in iterations if iteration <= two)
            assert two <= max(math.ceil(1.1 * one), FREE + 1 + after * cost / 0.05)


def test_what_is_cheap_is_measured_at_geometric_iterations() -> None:
    iterations = [one.iteration for one in rows_of(CURVES["1 / t"], CHEAP, None, 100_000)]
    assert iterations[len(EARLY)] == 62  # half as much again as 41
    assert all(two == math.ceil(1.1 * one) for one, two in pairwise(iterations[len(EARLY) :]))


@pytest.mark.parametrize("scale", [1e-3, 1.0, 100.0])
@pytest.mark.parametrize("slope", [0.5, 1.0, 1.7, 2.5])
def test_a_target_is_met_near_the_iteration_where_it_is_crossed(slope, scale) -> None:
    """NashConv c / t^s meets the target at (c / target)^(1 / s); the grid alone would be up to a tenth late."""
    for exact in (300.0, 1111.0, 54_321.0):
        target = scale / exact**slope
        rows = rows_of(lambda t: scale / t**slope, CHEAP, target, 10**6)
        assert exact - 1e-6 <= rows[-1].iteration <= 1.001 * exact + 1
        assert rows[-2].iteration < exact


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
def test_nothing_is_foretold_of_what_does_not_fall(curve) -> None:
    """A target of zero is never met, and a curve that is level, rises or is unknown crosses nothing."""
    hopeless, rising = (
        [one.iteration for one in rows_of(shape, CHEAP, target, 5000)]
        for shape, target in ((curve, 0.0), (float, 1e-3))
    )
    assert hopeless == rising
    assert all(two == math.ceil(1.2 * one) for one, two in pairwise(rising[len(EARLY) :]))


@pytest.mark.parametrize("each", [0.5, 2.0, 7.0])
def test_near_the_target_nobody_waits_for_the_budget(each) -> None:
    """It is met where it is crossed, or three evaluations' worth after the last row; the budget would wait for 16."""
    for exact in range(60, 600, 7):
        rows = rows_of(lambda t: 1.0 / t, Cost(1.0, each), (1.0 + 1e-9) / exact, 10**6)
        before, last = rows[-2].iteration, rows[-1].iteration
        assert before < exact <= last
        if before > FREE and exact <= 1.5 * before:
            assert last <= max(exact + 1, before + math.ceil(3.0 * each))


@pytest.mark.parametrize("curve", CURVES.values(), ids=CURVES)
@pytest.mark.parametrize("target", [None, 1e-3])
def test_what_costs_without_end_is_measured_at_the_end_alone(curve, target) -> None:
    endless = Cost(1.0, math.inf)
    assert rows_of(curve, endless, target, 10**12) == []
    assert next_evaluation([row(1, 1.0), row(2, 0.5)], endless, target) > 10**12


@given(
    measured=st.lists(st.tuples(st.integers(1, 40), st.floats(0.0, 10.0)), max_size=30),
    cost=st.floats(1e-6, 1e6),
    target=st.one_of(st.none(), st.floats(0.0, 1.0)),
    clock=st.floats(0.0, 1e6),
)
def test_it_depends_on_rows_target_and_cost_alone(measured, cost, target, clock) -> None:
    """Clocks, values and nodes in the rows do not matter; the next row is always a later one."""
    rows, iteration = [], 0
    for step, nash_conv in measured:
        iteration += step
        rows.append(row(iteration, nash_conv))
    due = next_evaluation(rows, Cost(1.0, cost), target)
    assert due > iteration
    assert isinstance(due, int)
    other = [one._replace(seconds=clock, evaluation_seconds=clock, value=clock, nodes_touched=7) for one in rows]
    assert next_evaluation(other, Cost(1.0, cost), target) == due
    assert next_evaluation(rows, Cost(5.0, 5.0 * cost), target) in range(due - 1, due + 2)  # but for rounding


# --- runs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("game", ["kuhn", "leduc"])
@pytest.mark.parametrize("algorithm", ITERATIVE)
def test_runs_of_every_algorithm_keep_to_it(algorithm, game) -> None:
    loaded, assembled = tp.load(game), build(algorithm)
    price = assembled.cost(loaded)
    assert 0.0 < price.iteration < math.inf
    assert 0.0 < price.evaluation < math.inf
    iterations = tp.solve(loaded, algorithm, iterations=700).log["iteration"].to_pylist()
    assert iterations[: len(EARLY)] == EARLY
    assert iterations[-1] == 700
    *due, _ = iterations  # the last row is there because the run ends
    for count in range(len(EARLY) + 1, len(due) + 1):
        assert share(due[:count], price) < 0.10


def test_the_rows_of_a_run_are_those_of_the_schedule() -> None:
    """Measured NashConv decides, near the target; written out again by hand from the log."""
    game = tp.load("leduc")
    solution = tp.solve(game, "cfr+", nash_conv=0.02)
    price, rows = build("cfr+").cost(game), solution.rows
    assert solution.status == "solved"
    for place, one in enumerate(rows):
        assert one.iteration == next_evaluation(rows[:place], price, 0.02)
    assert rows[-2].nash_conv > 0.02 >= rows[-1].nash_conv
