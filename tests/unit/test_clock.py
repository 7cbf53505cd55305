"""What a run says of its time, with a clock that ticks whenever it is looked at; what it measures and keeps."""

from __future__ import annotations

import time
from itertools import count, pairwise
from typing import Any

import pytest

import treeplex as tp
from treeplex import Growth


class KilledError(Exception):
    """Stands for a kill: nothing is written after it."""


@pytest.fixture
def clock(monkeypatch) -> None:
    """A twentieth of a second passes whenever somebody looks, and none otherwise."""
    ticks = count(1)
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks) / 20)


def solve(folder: Any, **options: Any) -> Any:
    return tp.solve("kuhn", "cfr", out=folder, **options)


def grow(folder: Any, **options: Any) -> Any:
    return tp.grow("continuous_leduc", out=folder, growth=Growth(factor=1.0), **options)


def walk(folder: Any, **options: Any) -> Any:
    return tp.solve("kuhn", "cfr-rbp", out=folder, **options)


def sample(folder: Any, **options: Any) -> Any:
    return tp.solve("kuhn", "mccfr-external", out=folder, **options)


def explore(folder: Any, **options: Any) -> Any:
    return tp.explore("kuhn", responses=2, out=folder, **options)


RUNS = {"arrays": solve, "growth": grow}  # with rows on the way
ALL = RUNS | {"walks": walk, "sampling": sample, "explore": explore}


@pytest.fixture(params=RUNS)
def kind(request) -> Any:
    return RUNS[request.param], tp.resume


@pytest.fixture(params=ALL)
def any_kind(request) -> Any:
    return ALL[request.param], tp.resume


def test_time_spent_adds_up_over_processes(kind, clock, tmp_path) -> None:
    """Every clock of the log goes on where the earlier process left it."""
    start, resume = kind
    rows = start(None, iterations=80).log["iteration"].to_pylist()
    first = start(tmp_path / "run", iterations=rows[len(rows) // 2])
    both = resume(tmp_path / "run", iterations=80)
    assert first.log.num_rows < both.log.num_rows
    for column in ("seconds", "evaluation_seconds"):
        before, log = first.log[column].to_pylist(), both.log[column].to_pylist()
        assert all(0.0 < one < other for one, other in pairwise(log)), column
        assert log[first.log.num_rows] > before[-1], column
    if "growing_seconds" in both.log.column_names:
        growing = both.log["growing_seconds"].to_pylist()
        assert growing == sorted(growing)
        assert growing[first.log.num_rows] >= growing[first.log.num_rows - 1] > 0.0
    assert both.seconds > first.seconds


def test_evaluation_is_part_of_the_time_and_takes_as_long_per_row(kind, clock, tmp_path) -> None:
    """The clock ticks equally often for every row; so the time spent evaluating grows with the rows, all the way."""
    start, resume = kind
    rows = start(None, iterations=80).log["iteration"].to_pylist()
    start(tmp_path / "run", iterations=rows[len(rows) // 2])
    log = resume(tmp_path / "run", iterations=80).log
    spent = log["evaluation_seconds"].to_pylist()
    assert spent == pytest.approx([spent[0] * (row + 1) for row in range(len(spent))])
    assert all(part < whole for part, whole in zip(spent, log["seconds"].to_pylist(), strict=True))


def test_a_killed_run_has_the_seconds_that_are_left(any_kind, clock, tmp_path) -> None:
    """Of ten seconds, six are spent when the run is killed; going on must take the rest, not ten more."""
    start, resume = any_kind

    def watch(progress: Any) -> None:
        if progress.seconds > 6.0:
            raise KilledError

    with pytest.raises(KilledError):
        start(tmp_path / "run", seconds=10.0, checkpoint_seconds=0.0, watch=watch)
    solution = resume(tmp_path / "run")
    assert solution.status == "seconds"
    assert 10.0 <= solution.seconds < 12.0


def test_seconds_asked_for_anew_count_from_now(any_kind, clock, tmp_path) -> None:
    start, resume = any_kind
    first = start(tmp_path / "run", seconds=5.0)
    second = resume(tmp_path / "run", seconds=5.0)
    assert first.status == second.status == "seconds"
    assert 10.0 <= second.seconds < 14.0


def test_a_row_that_was_measured_only_to_stop_is_not_in_a_resumed_run(kind, tmp_path) -> None:
    start, resume = kind
    whole = start(None, iterations=100).log["iteration"].to_pylist()
    for stop in [between for between in range(2, 100) if between not in whole][:30:10]:
        stopped = start(tmp_path / str(stop), iterations=stop)
        assert stopped.log["iteration"].to_pylist() == [row for row in whole if row < stop] + [stop]
        assert resume(tmp_path / str(stop), iterations=100).log["iteration"].to_pylist() == whole


def test_the_best_strategies_are_the_best_of_all_rows() -> None:
    """Of the average and the current ones at every row so far."""
    both = [tp.solve("kuhn", "cfr", iterations=60, iterate=iterate).log for iterate in ("average", "current")]
    measured = [min(pair) for pair in zip(*(log["nash_conv"].to_pylist() for log in both), strict=True)]
    best = tp.solve("kuhn", "cfr", iterations=60, iterate="best")
    told = best.log["nash_conv"].to_pylist()
    expected = [min(measured[: place + 1]) for place in range(len(measured))]
    assert told == pytest.approx(expected, abs=1e-12)
    assert len(set(expected)) < len(expected)  # some rows are worse than one before
    assert best.nash_conv == told[-1]
    assert tp.evaluate("kuhn", best.policy).nash_conv == pytest.approx(told[-1], abs=1e-12)
