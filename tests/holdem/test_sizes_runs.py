"""Searches for bet sizes as runs: stopped, killed and continued to the same bits; what they prove on their way."""

from __future__ import annotations

import json
import math
import pickle
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from pyarrow import parquet

import treeplex as tp
from treeplex.algorithms.protocol import Execution
from treeplex.errors import FormatError, ParameterError
from treeplex.holdem import Spot, sizes, sizes_for, solve
from treeplex.poker.sizes import cases
from treeplex.poker.sizes.algorithm import RECORDS, ChoosingSizes
from treeplex.poker.sizes.problem import Candidates, SizeOptions, SizeSearch
from treeplex.tensors import CHECKPOINT, read_tensors, write_tensors

SIZES = sizes_for("50%, a", "60%, a")
RIVER = Spot("Ks 8h 4d 2c 7s", 100, 150, "AA,KQs,K9s,87s,T9s,65s", "QQ,KTs,K8s,A7s,JTs", SIZES)
OTHER = replace(RIVER, board="Ks 8h 4d 2c Ts", pot=70)
TURN = Spot("Ks 9h 6d 2c", 100, 120, "AA,KQs,JTs", "QQ,KTs,A9s", sizes_for("66%", "a"))
FEW = {"bets": "33%, 75%, a", "raises": "60%, a", "accuracy": 0.2, "gap": 0.3}
CLOCKS = ("seconds", "evaluation_seconds")

SEARCHES = {
    "one": (RIVER, {}),
    "two, and counts": (RIVER, {"keep": 2, "counts": 3}),
    "in position": (RIVER, {"player": "ip"}),
    "fewest": (RIVER, {"lose": 2.0}),
    "raises": (RIVER, {"restrict": "raises", "player": "ip"}),
    "bets and raises": (RIVER, {"restrict": "both"}),
    "by line": (RIVER, {"restrict": "both", "per_decision": True}),
    "several spots": ([RIVER, OTHER], {}),
    "two streets": (TURN, {"street": "all", "bets": "50%, a", "raises": "a", "accuracy": 1.0}),
}


class KilledError(Exception):
    """Stands for a kill: nothing is written after it."""


def started(name: str):
    spots, options = SEARCHES[name]
    problem = SizeSearch.of(spots, SizeOptions(**(FEW | options)))
    return problem, ChoosingSizes().open(problem, Execution(threads=1))


def timeless(found):
    return {key: value for key, value in found.items() if key not in CLOCKS}


@pytest.mark.parametrize("name", SEARCHES)
@pytest.mark.parametrize("large", [False, True], ids=["kept", "dropped"])
def test_saved_and_restored_after_every_step_it_ends_with_the_same_bits(name, large, monkeypatch):
    """``large``: games out of the running are freed, and begin anew if they come back."""
    if large:
        monkeypatch.setattr(cases, "LARGE", 0)
    problem, algorithm = started(name)
    whole = algorithm.advance(problem, algorithm.start(problem), 10**9)
    expected = algorithm.work(problem, whole)
    assert expected.finished
    state, steps = algorithm.start(problem), 0
    while not algorithm.work(problem, state).finished:
        at_once = bool(steps % 3)
        state = algorithm.advance(problem, state, 13, lambda at_once=at_once: at_once)
        steps += 1
        before = algorithm.work(problem, state)
        state = algorithm.restore(problem, {key: part.copy() for key, part in algorithm.save(state).items()})
        assert algorithm.work(problem, state)[:2] == before[:2]
        assert algorithm.report(problem, state, "average").evaluate().extra["loss_at_most"] >= 0.0
    assert steps > 20
    assert algorithm.work(problem, state)[:2] == expected[:2]
    assert state.walk.answers == whole.walk.answers
    assert state.answer == whole.answer


def test_threads_and_pieces_change_no_bit():
    problem, algorithm = started("two, and counts")
    whole = algorithm.advance(problem, algorithm.start(problem), 10**9)
    other = ChoosingSizes(threads=2)
    state = other.start(problem)
    while state.walk.question is not None:
        state = other.advance(problem, state, 1 + state.walk.iterations % 7)
    assert state.answer == whole.answer
    assert state.walk.iterations == whole.walk.iterations


def left_in(folder: Path):
    tables = [parquet.read_table(folder / f"{name}.parquet") for name in ("log", "sizes")]
    rows = [table.drop_columns([key for key in table.column_names if key in CLOCKS]).to_pylist() for table in tables]
    return timeless(json.loads((folder / "result.json").read_text())), json.dumps(rows)


@pytest.mark.parametrize("name", ["two, and counts", "by line", "several spots"])
def test_a_killed_run_goes_on_to_the_same_bits(name, tmp_path):
    spots, options = SEARCHES[name]
    whole = sizes(spots, **(FEW | options), out=tmp_path / "whole", threads=1)
    assert whole.status == "solved"
    for last in (1, whole.iterations // 3, 2 * whole.iterations // 3):

        def watch(moment, last=last):
            if moment.iteration >= last:
                raise KilledError

        with pytest.raises(KilledError):
            sizes(spots, **(FEW | options), out=tmp_path / "parts", checkpoint_seconds=0.0, watch=watch, threads=1)
    resumed = tp.resume(tmp_path / "parts", threads=1)
    assert (resumed.status, resumed.iterations) == ("solved", whole.iterations)
    assert left_in(tmp_path / "parts") == left_in(tmp_path / "whole")


def test_time_ends_a_run_with_what_is_proved_and_more_time_goes_on(tmp_path):
    first = sizes(RIVER, **FEW, seconds=0.0, out=tmp_path / "run")
    assert (first.status, first.complete, first.menu) == ("seconds", False, ())
    assert first.loss_percent_of_pot == (0.0, 100.0)
    assert "not decided yet" in first._repr_html_()
    again = tp.resume(tmp_path / "run", seconds=1e6)
    assert (again.status, again.complete) == ("solved", True)
    assert timeless(again.summary()) == timeless(sizes(RIVER, **FEW).summary())
    done = tp.resume(tmp_path / "run")
    assert (done.iterations, done.work) == (again.iterations, again.work)
    assert (tmp_path / "run" / "checkpoint.safetensors").stat().st_size < 20_000, "a search that is over reads no game"


@pytest.mark.parametrize("name", ["one", "two, and counts", "bets and raises"])
def test_what_is_said_on_the_way_is_true(name):
    """The loss of every menu that was the best so far lies in its interval."""
    problem, algorithm = started(name)
    state, seen = algorithm.start(problem), {}
    while not algorithm.work(problem, state).finished:
        state = algorithm.advance(problem, state, 25)
        answer = state.answer
        if all(answer.menus.values()):
            seen.setdefault(tuple(answer.menus.items()), []).append(answer.loss_percent_of_pot)
        assert math.isfinite(answer.loss_percent_of_pot[1])
    assert seen
    names = problem.candidates
    rich = value_of(problem.candidates, {})
    for menus, intervals in seen.items():
        chosen = {
            tuple(slot.split()): tuple(names.of(tuple(slot.split())).index(k) for k in menu) for slot, menu in menus
        }
        loss = rich - value_of(problem.candidates, chosen)
        for low, high in intervals:
            assert low - 0.02 <= loss <= high + 0.02


def value_of(candidates: Candidates, menus) -> float:
    """Per cent of the pot, which is 100, within 0.01."""
    found = solve(candidates.spot(RIVER, menus), percent_of_pot=0.005, storage="float64")
    return found.ev[candidates.player]


def test_rows_of_the_log_narrow_down_to_the_answer():
    found = sizes(RIVER, **FEW)
    rows = found.rows
    assert [row.iteration for row in rows[:5]] == [1, 2, 3, 5, 8]
    assert all(row.extra["loss_at_least"] <= row.extra["loss_at_most"] for row in rows)
    assert rows[0].extra["loss_at_most"] == 100.0
    assert (rows[-1].extra["loss_at_least"], rows[-1].extra["loss_at_most"]) == found.loss_percent_of_pot
    assert np.isnan(found.nash_conv)
    assert found.summary()["nash_conv"] is None
    low, high = found.spots[0].ev_rich
    assert low <= found.value <= high
    assert found.nodes_touched == found.work


@pytest.mark.parametrize("seconds", [None, 0.0], ids=["whole", "stopped"])
def test_solutions_can_be_pickled(seconds):
    found = sizes(RIVER, **FEW, seconds=seconds)
    again = pickle.loads(pickle.dumps(found))
    assert again.summary() == found.summary()
    assert str(again.rows) == str(found.rows), "nan is not nan"


def test_whose_folder_it_is_and_what_is_no_limit(tmp_path):
    sizes(RIVER, **FEW, out=tmp_path / "run")
    for spots, options, words in (
        (RIVER, FEW | {"keep": 2}, "options"),
        (OTHER, FEW, "game"),
        (replace(RIVER, pot=90), FEW, "fingerprint"),
    ):
        with pytest.raises(ParameterError, match=words):
            sizes(spots, **options, out=tmp_path / "run")
    with pytest.raises(ParameterError, match="NashConv cannot be a target of sizes"):
        tp.resume(tmp_path / "run", nash_conv=0.1)
    with pytest.raises(ParameterError, match="'iterations'"):
        tp.resume(tmp_path / "run", iterations=10)
    with pytest.raises(ParameterError, match="chose bet sizes"):
        tp.holdem.open_run(tmp_path / "run")


@pytest.mark.parametrize(
    "change",
    [
        lambda record: record["answers"].append([1.0]),
        lambda record: record["answers"].insert(0, ["x"]),
        lambda record: record["answers"].insert(0, [1.0]),
        lambda record: record["answers"].pop(),
        lambda record: record["answers"].__setitem__(0, [float("nan")] * 6),
        lambda record: record.update(iterations=-1),
        lambda record: record.update(answers=5),
        lambda record: record.update(current=[0.0, 1.0, 10**6, 0, 5, 5]),
    ],
)
def test_a_checkpoint_with_wrong_answers_is_refused(change, tmp_path):
    def watch(moment):
        if moment.iteration >= 150:
            raise KilledError

    with pytest.raises(KilledError):
        sizes(RIVER, **FEW, out=tmp_path / "run", checkpoint_seconds=0.0, watch=watch)
    path = tmp_path / "run" / "checkpoint.safetensors"
    tensors, about = read_tensors(path, CHECKPOINT)
    record = json.loads(tensors[RECORDS].tobytes())
    change(record)
    tensors[RECORDS] = np.frombuffer(json.dumps(record).encode(), dtype=np.uint8)
    write_tensors(path, CHECKPOINT, tensors, about)
    with pytest.raises(FormatError, match="not a complete checkpoint"):
        tp.resume(tmp_path / "run")


@pytest.mark.parametrize("wrong", [np.nan, None], ids=["not a number", "of another game"])
def test_a_checkpoint_with_wrong_arrays_is_refused(wrong, tmp_path):
    def watch(moment):
        if moment.iteration >= 50:
            raise KilledError

    with pytest.raises(KilledError):
        sizes(RIVER, **FEW, out=tmp_path / "run", checkpoint_seconds=0.0, watch=watch)
    path = tmp_path / "run" / "checkpoint.safetensors"
    tensors, about = read_tensors(path, CHECKPOINT)
    name = "rich.0/state.learners.0.regret"
    array = tensors.pop(name)
    tensors[name if wrong else "rich.7/state.iteration"] = np.full_like(array, wrong) if wrong else array
    write_tensors(path, CHECKPOINT, tensors, about)
    with pytest.raises(FormatError, match="not a complete checkpoint"):
        tp.resume(tmp_path / "run")
