"""The run loop: when it stops, what it logs and keeps, and that a resumed run ends in the bits of one never stopped."""

from __future__ import annotations

import json
import os
import pickle
import re
import signal
import threading
import time
import tracemalloc
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import fields
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import treeplex as tp
from treeplex import holdem
from treeplex import tensors as storage
from treeplex.algorithms.cfr import CFR
from treeplex.algorithms.protocol import Execution, Stop, never
from treeplex.algorithms.registry import ALGORITHMS, build, choose, settled
from treeplex.compile import CompiledGame
from treeplex.errors import FormatError, ParameterError, TreeplexError
from treeplex.files import replacing
from treeplex.games.catalog import make
from treeplex.games.matrix import MatrixGame
from treeplex.games.random_tree import RandomTree
from treeplex.problems.games import GameProblem
from treeplex.runs import Limits, Options, Progress
from treeplex.runs import checkpoint as checkpoints
from treeplex.runs.log import LogRow
from treeplex.runs.loop import run
from treeplex.runs.request import Request
from treeplex.runs.requests import solving
from treeplex.runs.solve import execute
from treeplex.updates import Discounted, PredictivePlus, RegretMatching, RegretMatchingPlus
from treeplex.updates.turns import ALTERNATING, SIMULTANEOUS

ITERATIVE = [name for name, entry in ALGORITHMS.items() if not entry.build().ends]
ITERATES = ["average", "current", "best"]
TREE = "random_tree(seed=10,depth=7)"  # by name, so that it can be loaded again
UNTIMED = ["iteration", "nodes_touched", "value", "nash_conv", "exploitability"]
FILES = {
    "README.md",
    "checkpoint.safetensors",
    "convergence.png",
    "log.parquet",
    "policy.parquet",
    "result.json",
    "run.json",
}


def same_answer(one: Path, two: Path) -> None:
    """Policies equal byte by byte; logs and results equal but for the clock."""
    assert (one / "policy.parquet").read_bytes() == (two / "policy.parquet").read_bytes()
    logs = [pq.read_table(folder / "log.parquet", columns=UNTIMED) for folder in (one, two)]
    assert logs[0].equals(logs[1])
    results = [json.loads((folder / "result.json").read_text()) for folder in (one, two)]
    for result in results:
        result.pop("seconds")
    assert results[0] == results[1]


def iterations(solution: tp.Solution) -> list[int]:
    return solution.log["iteration"].to_pylist()


# --- limits ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 2, 10, 23, 100, 1234])
def test_a_limit_on_iterations_is_met_exactly(count) -> None:
    solution = tp.solve("kuhn", iterations=count)
    assert (solution.status, solution.iterations) == ("iterations", count)
    assert iterations(solution)[-1] == count


@pytest.mark.parametrize("algorithm", ITERATIVE)
def test_a_target_ends_the_run_at_the_first_row_that_meets_it(algorithm) -> None:
    solution = tp.solve("kuhn", algorithm, nash_conv=0.05)
    measured = solution.log["nash_conv"].to_pylist()
    assert solution.status == "solved"
    assert measured[-1] == solution.nash_conv <= 0.05
    assert all(row > 0.05 for row in measured[:-1])


def test_a_target_is_met_if_it_is_equalled() -> None:
    reached = tp.solve("kuhn", iterations=20).nash_conv
    assert tp.solve("kuhn", nash_conv=reached).nash_conv <= reached
    assert tp.solve("kuhn", nash_conv=reached, iterations=20).status == "solved"


@pytest.mark.parametrize("seconds", [0, 0.0, 0.2])
def test_a_limit_on_seconds(seconds) -> None:
    began = time.perf_counter()
    solution = tp.solve("leduc", "cfr+", seconds=seconds)  # auto may be done before
    assert solution.status == "seconds"
    assert solution.seconds >= seconds
    assert solution.iterations >= 1  # there is always an answer
    assert time.perf_counter() - began < seconds + 20  # a breath is a tenth of a second; the rest is for a busy machine


@pytest.mark.parametrize("limit", [1, 115, 116, 117, 1160, 10_000, 123_456])
def test_a_limit_on_nodes_ends_with_the_iteration_that_reaches_it(limit) -> None:
    """An iteration of CFR+ on Kuhn touches all 58 nodes twice."""
    solution = tp.solve("kuhn", "cfr+", nodes=limit)
    assert solution.status == "nodes"
    assert solution.nodes_touched == 116 * solution.iterations
    assert solution.iterations == max(1, -(-limit // 116))


def test_the_first_limit_wins() -> None:
    assert tp.solve("kuhn", nash_conv=0, seconds=60, iterations=5, nodes=10**9).status == "iterations"
    assert tp.solve("kuhn", nash_conv=0, seconds=60, iterations=10**9, nodes=200).status == "nodes"
    assert tp.solve("kuhn", nash_conv=0, seconds=0, iterations=10**9, nodes=10**9).status == "seconds"
    assert tp.solve("kuhn", nash_conv=1.0, seconds=60, iterations=10**9, nodes=10**9).status == "solved"


def test_an_answer_good_enough_is_solved_whatever_ended_the_run() -> None:
    assert tp.solve("kuhn", nash_conv=10, iterations=1).status == "solved"
    assert tp.solve("kuhn", nash_conv=10, seconds=0).status == "solved"
    log = tp.solve("kuhn", "cfr", iterations=21).log["nash_conv"].to_pylist()  # between the rows 18 and 27
    assert log[-1] < min(log[:-1])
    last = tp.solve("kuhn", "cfr", nash_conv=log[-1], iterations=21)
    assert (last.status, last.iterations) == ("solved", 21)


def test_without_limits_the_target_is_a_thousandth() -> None:
    solution = tp.solve("kuhn")
    assert (solution.status, solution.request.limits) == ("solved", Limits(nash_conv=1e-3))
    assert solution.nash_conv <= 1e-3


def test_an_algorithm_needs_a_reason_to_stop() -> None:
    game = tp.load("kuhn")
    with pytest.raises(ParameterError, match="Say when to stop"):
        execute(request(game, "cfr"))
    assert execute(request(game, "lp")).status == "solved"


def request(game: CompiledGame, algorithm: str) -> Request:
    """A run without any limit."""
    return Request(GameProblem(game), choose(algorithm), Options())


WRONG = {
    "nash_conv": [-1, -1e-300, float("nan"), float("inf"), "0.1", True, [1]],
    "seconds": [-1, float("nan"), float("inf"), "1", False],
    "iterations": [0, -1, 1.5, "3", True, float("nan")],
    "nodes": [0, -5, 2.5, "many", True],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, values in WRONG.items() for value in values])
def test_wrong_limits_are_refused(name, value) -> None:
    with pytest.raises(ParameterError) as error:
        tp.solve("kuhn", **{name: value})
    assert str(error.value).startswith(f"The '{name}' parameter must be ")
    assert str(error.value).endswith(f", got {value!r}.")


def test_wrong_iterates_are_refused() -> None:
    with pytest.raises(ParameterError) as error:
        tp.solve("kuhn", iterations=1, iterate="last")
    assert str(error.value) == 'The \'iterate\' parameter must be one of "average", "current", "best", got \'last\'.'


@pytest.mark.parametrize("value", [-1.0, float("nan"), "soon", None])
def test_wrong_checkpoint_seconds_are_refused(value, tmp_path) -> None:
    with pytest.raises(ParameterError, match="checkpoint_seconds"):
        tp.solve("kuhn", iterations=1, checkpoint_seconds=value, out=tmp_path / "run")


# --- the log ---------------------------------------------------------------------------------------------------------


def test_rows_do_not_depend_on_the_clock() -> None:
    """Whatever the pace, a row stands where it stands."""
    rows = iterations(tp.solve("leduc", "cfr", seconds=0.5))
    expected = iterations(tp.solve("leduc", "cfr", iterations=rows[-1]))
    assert rows == expected


@pytest.mark.parametrize("iterate", ITERATES)
def test_columns_of_the_log(iterate) -> None:
    solution = tp.solve("leduc", "cfr+", iterations=300, iterate=iterate)
    log = solution.log.to_pydict()
    assert list(log) == list(LogRow._fields)[:-1]  # this kind of run has no further columns
    assert solution.log.schema.field("iteration").type == "int64"
    assert all(np.diff(log["iteration"]) > 0)
    assert all(np.diff(log["nodes_touched"]) > 0)
    assert all(np.diff(log["seconds"]) >= 0)
    assert all(np.diff(log["evaluation_seconds"]) >= 0)
    assert all(0 < e <= s for e, s in zip(log["evaluation_seconds"], log["seconds"], strict=True))
    assert log["exploitability"] == [x / 2 for x in log["nash_conv"]]
    last = solution.log.to_pylist()[-1]
    assert (last["value"], last["nash_conv"]) == (solution.value, solution.nash_conv)
    assert last["nodes_touched"] == solution.nodes_touched
    assert last["seconds"] <= solution.seconds


def test_the_exact_solver_logs_one_row() -> None:
    solution = tp.solve("kuhn", "lp")
    assert solution.log.num_rows == 1
    assert solution.log.to_pylist()[0]["nash_conv"] == solution.nash_conv
    assert solution.log.to_pylist()[0]["iteration"] == solution.iterations >= 1
    assert solution.checkpoint is None


def test_the_watcher_sees_every_row() -> None:
    seen: list[Progress] = []
    solution = tp.solve("kuhn", iterations=200, watch=seen.append)
    assert [moment.iteration for moment in seen] == sorted(moment.iteration for moment in seen)
    assert [moment.seconds for moment in seen] == sorted(moment.seconds for moment in seen)
    assert seen[-1].iteration == 200
    assert [row.iteration for row in seen[-1].rows] == iterations(solution)
    assert {len(moment.rows) for moment in seen} == set(range(solution.log.num_rows + 1))


# --- Ctrl-C ----------------------------------------------------------------------------------------------------------


def press() -> None:
    os.kill(os.getpid(), signal.SIGINT)


def test_ctrl_c_from_outside_ends_a_run_with_an_answer() -> None:
    before = signal.getsignal(signal.SIGINT)
    timer = threading.Timer(0.4, press)
    timer.start()
    solution = tp.solve("leduc", "cfr", nash_conv=0, seconds=60)
    timer.join()
    assert solution.status == "interrupted"
    assert 0.3 < solution.seconds < 50
    assert tp.evaluate("leduc", solution.policy).nash_conv == pytest.approx(solution.nash_conv, abs=1e-12)
    assert signal.getsignal(signal.SIGINT) is before


@pytest.mark.parametrize("iterate", ITERATES)
@pytest.mark.parametrize("when", [1, 7, 50, 1000])
def test_an_interrupted_run_goes_on_to_the_same_bits(when, iterate, tmp_path) -> None:
    def watch(moment: Progress) -> None:
        if moment.iteration >= when:
            press()

    limits = {"iterations": 5000, "iterate": iterate}
    stopped = tp.solve("leduc", out=tmp_path / "a", watch=once(watch), **limits)
    assert stopped.status == "interrupted"
    assert when <= stopped.iterations < 5000
    resumed = tp.resume(tmp_path / "a")  # to the limits it had
    assert (resumed.status, resumed.iterations) == ("iterations", 5000)
    tp.solve("leduc", out=tmp_path / "b", **limits)
    same_answer(tmp_path / "a", tmp_path / "b")


def once(watch: Any) -> Any:
    """Press no key twice: the second Ctrl-C is meant seriously."""
    pressed: list[int] = []

    def watcher(moment: Progress) -> None:
        if not pressed:
            before = signal.getsignal(signal.SIGINT)
            watch(moment)
            if signal.getsignal(signal.SIGINT) is not before:
                pressed.append(moment.iteration)

    return watcher


def test_a_second_ctrl_c_interrupts_at_once() -> None:
    def watch(moment: Progress) -> None:
        press()
        press()

    before = signal.getsignal(signal.SIGINT)
    with pytest.raises(KeyboardInterrupt):
        tp.solve("kuhn", seconds=60, watch=watch)
    assert signal.getsignal(signal.SIGINT) is before


def test_a_run_in_a_thread_leaves_ctrl_c_alone() -> None:
    before, found = signal.getsignal(signal.SIGINT), []
    thread = threading.Thread(target=lambda: found.append(tp.solve("kuhn", iterations=50)))
    thread.start()
    thread.join()
    assert found[0].status == "iterations"
    assert signal.getsignal(signal.SIGINT) is before


# --- going on --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "iterate",
    ["average", pytest.param("current", marks=pytest.mark.slow), pytest.param("best", marks=pytest.mark.slow)],
)
@pytest.mark.parametrize("algorithm", ITERATIVE)
def test_resumed_runs_end_in_the_same_bits(algorithm, iterate, tmp_path) -> None:
    algorithm = settled(algorithm, 100)  # a horizon is the limit that a run begins with
    tp.solve(TREE, algorithm, iterations=250, iterate=iterate, out=tmp_path / "whole")
    tp.solve(TREE, algorithm, iterations=37, iterate=iterate, out=tmp_path / "parts")  # between two rows
    tp.resume(tmp_path / "parts", iterations=63)
    tp.resume(tmp_path / "parts", nodes=10**9, iterations=148)  # at a row, by chance
    solution = tp.resume(tmp_path / "parts", iterations=250)
    assert (solution.status, solution.iterate, solution.algorithm) == ("iterations", iterate, algorithm)
    same_answer(tmp_path / "whole", tmp_path / "parts")


# Weights and discounts as the parameters' names say, written out.
MEANT: dict[str, Any] = {
    "cfr+(delay=20)": CFR(RegretMatchingPlus(), lambda t: np.maximum(t - 20, 0.0), ALTERNATING),
    "dcfr(alpha=2,beta=0.5,gamma=3)": CFR(Discounted(2.0, 0.5), lambda t: t**3, ALTERNATING),
    "cfr(turns=simultaneous)": CFR(RegretMatching(), np.ones_like, SIMULTANEOUS),
    "pdcfr+(gamma=2)": CFR(PredictivePlus(2.3), lambda t: t**2, ALTERNATING),
}


@pytest.mark.parametrize("algorithm", MEANT)
def test_parameters_survive(algorithm, tmp_path) -> None:
    """And mean what they are called; the plain algorithm ends elsewhere."""
    tp.solve(TREE, algorithm, iterations=90, out=tmp_path / "whole")
    tp.solve(TREE, algorithm, iterations=30, out=tmp_path / "parts")
    tp.resume(tmp_path / "parts", iterations=90)
    same_answer(tmp_path / "whole", tmp_path / "parts")
    game, meant = tp.load(TREE), MEANT[algorithm]
    expected = meant.report(game, meant.advance(game, meant.start(game), 90), "average").arrays
    plain = tp.solve(game, algorithm.partition("(")[0], iterations=90).policy.aligned(game)
    found = tp.resume(tmp_path / "parts", iterations=90).policy.aligned(game)
    for ours, theirs, others in zip(found, expected, plain, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)
        assert np.abs(others - theirs).max() > 1e-3


def test_a_checkpoint_is_read_without_a_copy_of_it_in_memory(tmp_path) -> None:
    """A large flop just fits: its regrets and averages must not be there twice."""
    sizes = holdem.sizes_for("33%, 75%, a", "60%, a")
    spot = holdem.Spot("Ks 9h 6d 3c", 100, 300, "22+,A2s+,KTs+", "22+,A2s+,KTs+", sizes)
    game, algorithm = tp.load(spot), build("dcfr").open(tp.load(spot), Execution(storage="float32", threads=1))
    state = algorithm.advance(game, algorithm.start(game), 1)
    identity = solving(spot, "dcfr").recorded(algorithm).identity
    checkpoints.save_checkpoint(tmp_path / "a", identity, algorithm, checkpoints.Checkpoint(state, [], 0.0, 0.0))
    size = (tmp_path / "a").stat().st_size
    assert size > 10_000_000
    tracemalloc.start()
    point = checkpoints.load_checkpoint(tmp_path / "a", identity, algorithm, game, 0)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 1.2 * size
    for ours, theirs in zip(state.learners, point.state.learners, strict=True):
        np.testing.assert_array_equal(ours.average, theirs.average)


@pytest.mark.slow
def test_checkpoints_on_the_way_change_nothing(tmp_path, monkeypatch) -> None:
    """Also when each of them is gone on from, as if the run had been killed right after it."""
    monkeypatch.setattr("treeplex.runs.loop.CHUNK", 1e-4)  # so that a short run has many
    options = Options(iterations=1000, checkpoint_seconds=0.0)
    game, algorithm = tp.load("leduc"), build("cfr")
    identity = solving("leduc", "cfr").recorded(algorithm).identity
    kept: list[Path] = []

    def keep(checkpoint: checkpoints.Checkpoint[Any]) -> None:
        kept.append(tmp_path / f"{len(kept)}.safetensors")
        checkpoints.save_checkpoint(kept[-1], identity, algorithm, checkpoint)

    whole = run(game, algorithm, options, keep=keep)
    assert whole.state.iteration == 1000
    points = [checkpoints.load_checkpoint(path, identity, algorithm, game, 0) for path in kept]
    points = [point for point in points if point.state.iteration < 1000]
    assert len(points) >= 3
    for point in points[:: max(len(points) // 5, 1)]:
        outcome = run(game, algorithm, options, point)
        assert [row[:2] + row[4:] for row in outcome.rows] == [row[:2] + row[4:] for row in whole.rows]
        for left, right in zip(outcome.report.arrays, whole.report.arrays, strict=True):
            np.testing.assert_array_equal(left, right)


def test_a_solution_in_memory_can_be_saved_and_gone_on_with(tmp_path) -> None:
    tp.solve(TREE, "dcfr", iterations=200, out=tmp_path / "whole")
    tp.solve(TREE, "dcfr", iterations=77).save(tmp_path / "parts")
    tp.resume(tmp_path / "parts", iterations=200)
    same_answer(tmp_path / "whole", tmp_path / "parts")


def test_seconds_add_up_and_count_from_now(tmp_path) -> None:
    first = tp.solve("leduc", "cfr+", seconds=0.3, out=tmp_path / "run")
    began = time.perf_counter()
    second = tp.resume(tmp_path / "run", seconds=0.3)
    assert time.perf_counter() - began >= 0.3
    assert second.seconds >= first.seconds + 0.3
    assert second.iterations > first.iterations
    seconds = second.log["seconds"].to_pylist()
    assert seconds == sorted(seconds)


def test_seconds_already_spent_are_not_spent_again(tmp_path) -> None:
    """Of one second, 0.4 are spent before Ctrl-C; going on takes the rest (test_clock.py: and no more)."""

    def watch(moment: Progress) -> None:
        if moment.seconds > 0.4:
            press()

    assert tp.solve("kuhn", "cfr+", seconds=1.0, out=tmp_path / "run", watch=once(watch)).status == "interrupted"
    solution = tp.resume(tmp_path / "run")
    assert (solution.status, solution.seconds >= 1.0) == ("seconds", True)


def test_the_target_of_a_run_is_kept(tmp_path) -> None:
    tp.solve("leduc", nash_conv=1e-2, out=tmp_path / "whole")
    tp.solve("leduc", nash_conv=1e-2, iterations=30, out=tmp_path / "parts")
    stored = json.loads((tmp_path / "parts" / "run.json").read_text())
    stored["limits"] |= {"iterations": None}
    (tmp_path / "parts" / "run.json").write_text(json.dumps(stored))
    assert tp.resume(tmp_path / "parts").status == "solved"
    same_answer(tmp_path / "whole", tmp_path / "parts")


@pytest.mark.parametrize("limits", [{"iterations": 40}, {"nodes": 4640}, {"nash_conv": 0.02}], ids=str)
def test_a_finished_run_is_not_gone_on_with(limits, tmp_path) -> None:
    """Nothing is left to do: the answer must not change. A run killed while its answer is written ends like that."""
    tp.solve("kuhn", out=tmp_path / "whole", **limits)
    tp.solve("kuhn", out=tmp_path / "again", **limits)
    for name in ("policy.parquet", "log.parquet", "result.json"):
        (tmp_path / "again" / name).unlink()
    tp.resume(tmp_path / "again")
    same_answer(tmp_path / "whole", tmp_path / "again")


def test_a_limit_already_passed_is_not_passed_further(tmp_path) -> None:
    tp.solve("kuhn", iterations=100, out=tmp_path / "run")
    assert tp.resume(tmp_path / "run", iterations=50).iterations == 100


@pytest.mark.parametrize("algorithm", ITERATIVE)
def test_a_run_killed_before_its_first_checkpoint_starts_anew(algorithm, tmp_path) -> None:
    def watch(moment: Progress) -> None:
        raise Killed

    tp.solve(TREE, algorithm, iterations=60, out=tmp_path / "whole")
    with pytest.raises(Killed):
        tp.solve(TREE, algorithm, iterations=60, out=tmp_path / "killed", watch=watch)
    assert {path.name for path in (tmp_path / "killed").iterdir()} == {"run.json"}
    tp.resume(tmp_path / "killed")
    same_answer(tmp_path / "whole", tmp_path / "killed")


def test_a_folder_with_a_run_in_it_is_not_overwritten(tmp_path) -> None:
    tp.solve(TREE, "cfr", iterations=80, out=tmp_path / "used")
    before = {path.name: path.read_bytes() for path in (tmp_path / "used").iterdir()}
    said = re.escape(f"The folder {tmp_path / 'used'} holds a run with another algorithm (")
    with pytest.raises(ParameterError, match=said):
        tp.solve(TREE, "cfr+", iterations=30, out=tmp_path / "used")
    with pytest.raises(ParameterError, match=said):
        tp.solve(TREE, "cfr+", iterations=30).save(tmp_path / "used")
    assert {path.name: path.read_bytes() for path in (tmp_path / "used").iterdir()} == before


class Killed(BaseException):
    """Stands for kill -9."""


def test_a_kill_while_a_checkpoint_is_written_leaves_the_one_before(tmp_path, monkeypatch) -> None:
    tp.solve(TREE, "cfr", iterations=40, out=tmp_path / "run")
    before = (tmp_path / "run" / "checkpoint.safetensors").read_bytes()

    @contextmanager
    def half(path: Path) -> Iterator[Path]:
        with replacing(path) as temporary:
            yield temporary
            temporary.write_bytes(temporary.read_bytes()[:100])
            raise Killed

    with monkeypatch.context() as patch, pytest.raises(Killed):
        patch.setattr(storage, "replacing", half)
        tp.resume(tmp_path / "run", iterations=90)
    assert (tmp_path / "run" / "checkpoint.safetensors").read_bytes() == before
    tp.resume(tmp_path / "run", iterations=90)
    tp.solve(TREE, "cfr", iterations=90, out=tmp_path / "whole")
    same_answer(tmp_path / "whole", tmp_path / "run")


class Slow(CFR):
    """An algorithm whose every iteration takes a while, as on a large game."""

    seconds = 0.0

    def advance(self, game: CompiledGame, state: Any, iterations: int, stop: Stop = never) -> Any:
        time.sleep(self.seconds * iterations)
        return super().advance(game, state, iterations, stop)


def kept_at(iterations: int, seconds: float, every: float, writing: float = 0.0) -> list[int]:
    kept: list[int] = []

    def keep(point: Any) -> None:
        time.sleep(writing)
        kept.append(point.state.iteration)

    slow: Any = type("Slow", (Slow,), {"seconds": seconds})
    solver = slow(*(getattr(build("cfr"), part.name) for part in fields(CFR)))
    run(tp.load("kuhn"), solver, Options(iterations=iterations, checkpoint_seconds=every), keep=keep)
    return kept


def test_a_checkpoint_is_kept_at_the_end() -> None:
    assert kept_at(iterations=60, seconds=0.0, every=1000.0) == [60]
    assert kept_at(iterations=1, seconds=0.0, every=1000.0) == [1]


@pytest.mark.parametrize(("iterations", "seconds", "every"), [(10, 0.03, 0.02), (60, 0.01, 0.1)])
def test_checkpoints_are_kept_from_the_first_iterations_on(iterations, seconds, every) -> None:
    """On a large game an iteration may take longer than the time between checkpoints; it must not be lost."""
    kept = kept_at(iterations, seconds, every)
    assert kept == sorted(kept)
    assert len(kept) >= 3


def test_a_checkpoint_that_takes_long_to_write_is_written_less_often() -> None:
    began = time.monotonic()
    kept = kept_at(100, 0.01, 0.01, writing=0.05)
    assert len(kept) <= 2 + (time.monotonic() - began) / (10 * 0.05)
    assert kept[-1] == 100
    assert len(kept_at(100, 0.01, 0.01)) > 2 + 1.0 / (10 * 0.05)


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.fixture
def finished(tmp_path) -> Path:
    """A run folder of CFR on a random tree, at iteration 30 of 60."""
    tp.solve(TREE, "cfr", iterations=30, iterate="best", out=tmp_path / "run")
    change(tmp_path / "run", limits={"nash_conv": None, "seconds": None, "iterations": 60, "nodes": None})
    return tmp_path / "run"


def change(folder: Path, **fields: Any) -> None:
    stored = json.loads((folder / "run.json").read_text())
    (folder / "run.json").write_text(json.dumps(stored | fields))


def refusal(folder: Path) -> str:
    """The one sentence with which a run is not gone on with."""
    with pytest.raises(TreeplexError) as error:
        tp.resume(folder)
    text = str(error.value)
    assert text.endswith(".")
    assert "\n" not in text
    return text


def test_the_folder_of_these_tests_can_be_resumed(finished) -> None:
    """Otherwise the refusals below would prove nothing."""
    assert tp.resume(finished).iterations == 60


def test_no_folder_is_said(tmp_path) -> None:
    assert refusal(tmp_path / "none") == f"{tmp_path / 'none'} is not a run folder: it has no run.json."
    assert refusal(tmp_path) == f"{tmp_path} is not a run folder: it has no run.json."


def test_exact_runs_keep_no_checkpoint_and_end_in_the_same_answer_again(tmp_path) -> None:
    solved = tp.solve("leduc", "lp", out=tmp_path / "run")
    assert not (tmp_path / "run" / "checkpoint.safetensors").exists()
    assert solved.checkpoint is None
    before = {name: (tmp_path / "run" / name).read_bytes() for name in ("policy.parquet", "run.json")}
    again = tp.resume(tmp_path / "run")
    assert (again.status, again.iterations, again.nash_conv) == ("solved", solved.iterations, solved.nash_conv)
    assert {name: (tmp_path / "run" / name).read_bytes() for name in before} == before


@pytest.mark.parametrize(
    "text", ["", "{", "[]", "null", "3", '"run"', "{}", "\x00\x01", '{"format": "treeplex-run-3"}']
)
def test_a_broken_request_is_said(text, finished) -> None:
    (finished / "run.json").write_text(text)
    assert refusal(finished).startswith(f"{finished / 'run.json'}: not what treeplex writes (")


def test_a_request_that_is_no_text_is_said(finished) -> None:
    (finished / "run.json").write_bytes(b"\xff\xfe\x80")
    assert "run.json: not what treeplex writes (" in refusal(finished)
    (finished / "run.json").unlink()
    (finished / "run.json").mkdir()
    assert "run.json: not what treeplex writes (" in refusal(finished)


@pytest.mark.parametrize(
    ("fields", "said"),
    [
        ({"fingerprint": "0" * 32}, "is not the random_tree(seed=10,depth=7) of this version; start a new run."),
        ({"source": "kuhn"}, "is not the random_tree(seed=10,depth=7) of this version"),
        ({"source": "random_tree(seed=11,depth=7)"}, "is not the random_tree(seed=10,depth=7) of this version"),
        ({"source": "nonsense"}, "There is no game 'nonsense'"),
        ({"source": 5}, "A game must be a name, a file, or have all methods of Game"),
        ({"algorithm": "nonsense"}, "used a rule of your own, 'cfr'; pass it as algorithm=."),
        ({"algorithm": "fp"}, "checkpoint.safetensors: not a complete checkpoint of this run (its algorithm is"),
        ({"algorithm": 'cfr(turns="simultaneous")'}, "not a complete checkpoint of this run (its algorithm is"),
        ({"seed": 1}, "not a complete checkpoint of this run (its seed is 0, not 1)"),
        ({"storage": "float32"}, "not a complete checkpoint of this run (its storage is 'float64', not 'float32')"),
        ({"iterate": "average"}, "not a complete checkpoint of this run (its iterate is 'best', not 'average')"),
        ({"options": {"locks": []}}, "not a complete checkpoint of this run (its options is {}, not {'locks': []})"),
        ({"game": "kuhn"}, "not a complete checkpoint of this run (its game is"),
        ({"seed": -1}, "run.json: not what treeplex writes (The 'seed' parameter must be"),
        ({"storage": "float16"}, "The 'storage' parameter must be one of float64, float32, int16, got 'float16'."),
        ({"kind": "nonsense"}, "run.json: not what treeplex writes (The kind of a run must be one of"),
        ({"kind": "spot"}, "run.json: not what treeplex writes ("),
        ({"kind": "growth"}, "Only a game with bet sizes, such as"),
        ({"kind": "growth", "source": "continuous_leduc"}, "The options of the run are not what treeplex writes ("),
        ({"kind": "exploration", "options": 5}, "run.json: not what treeplex writes ("),
        (
            {"kind": "exploration", "options": {"responses": "many"}},
            "The options of the run are not what treeplex writes (",
        ),
        ({"algorithm": 5}, "run.json"),
        ({"algorithm": None}, "run.json"),
        ({"iterate": "last"}, "The 'iterate' parameter must be one of"),
        ({"limits": {"iterations": "many"}}, "run.json: not what treeplex writes (The 'iterations' parameter must be"),
        ({"limits": {"hours": 3}}, "run.json: not what treeplex writes ("),
        ({"limits": None}, "run.json: not what treeplex writes ("),
        ({"extra": 1}, "run.json: not what treeplex writes ("),
    ],
    ids=str,
)
def test_a_changed_request_is_said(fields, said, finished) -> None:
    change(finished, **fields)
    assert said in refusal(finished)


def test_a_request_without_an_end_is_said(finished) -> None:
    def watch(moment: Progress) -> None:
        if moment.iteration > 1000:
            raise Killed

    change(finished, limits={})
    with pytest.raises(ParameterError, match="when to stop"):
        tp.resume(finished, watch=watch)


def damaged(data: bytes) -> dict[str, bytes]:
    """What can happen to a file."""
    return {
        "empty": b"",
        "cut": data[: len(data) // 2],
        "shorter": data[:-8],
        "longer": data + b"\0" * 8,
        "text": b"not a checkpoint",
        "zeros": bytes(len(data)),
    }


@pytest.mark.parametrize("kind", damaged(b""))
def test_a_broken_checkpoint_is_said(kind, finished) -> None:
    path = finished / "checkpoint.safetensors"
    path.write_bytes(damaged(path.read_bytes())[kind])
    assert refusal(finished).startswith(f"{path}: not a complete checkpoint of this run (")


def rewritten(path: Path, tensors: dict[str, Any], **about: Any) -> None:
    """The checkpoint with other tensors and other words about it, and a checksum that fits them."""
    old, told = storage.read_tensors(path, storage.CHECKPOINT)
    kept = {key: value for key, value in (old | tensors).items() if value is not None}
    storage.write_tensors(path, storage.CHECKPOINT, kept, told | about)


def wrong_checkpoints() -> list[Any]:
    half = np.zeros(3)
    return [
        pytest.param({"state.learners.0.regret": half}, {}, id="shape"),
        pytest.param({"state.learners.0.regret": None}, {}, id="missing"),
        pytest.param({"state.learners.1.plan": half.astype(np.int64)}, {}, id="type"),
        pytest.param({"state.iteration": np.array([1, 2])}, {}, id="iteration"),
        pytest.param({}, {"rows": [[1, 2]]}, id="rows"),
        pytest.param({}, {"rows": None}, id="no rows"),
        pytest.param({}, {"seconds": "long"}, id="seconds"),
        pytest.param({"best.0": None}, {}, id="no best"),
        pytest.param({"best.0": half}, {}, id="shape of the best"),
    ]


def test_a_checkpoint_written_anew_is_one(finished) -> None:
    """Otherwise the refusals below would be about how they are made."""
    rewritten(finished / "checkpoint.safetensors", {})
    assert tp.resume(finished).iterations == 60


@pytest.mark.parametrize(("tensors", "about"), wrong_checkpoints())
def test_a_checkpoint_that_does_not_fit_is_said(tensors, about, finished) -> None:
    path = finished / "checkpoint.safetensors"
    rewritten(path, tensors, **about)
    assert refusal(finished).startswith(f"{path}: not a complete checkpoint of this run (")


def test_a_checkpoint_of_another_game_is_said(finished, tmp_path) -> None:
    tp.solve("kuhn", "cfr", iterations=5, iterate="best", out=tmp_path / "kuhn")
    other = tmp_path / "kuhn" / "checkpoint.safetensors"
    (finished / "checkpoint.safetensors").write_bytes(other.read_bytes())
    assert "not a complete checkpoint of this run" in refusal(finished)


def test_a_compiled_game_is_no_checkpoint(finished, tmp_path) -> None:
    tp.solve(RandomTree(seed=3), "cfr", iterations=5, out=tmp_path / "own")
    (finished / "checkpoint.safetensors").write_bytes((tmp_path / "own" / "game.safetensors").read_bytes())
    assert "format is 'treeplex-game-1'" in refusal(finished)


# --- games of one's own ----------------------------------------------------------------------------------------------


def own_games() -> dict[str, Any]:
    return {
        "rules": RandomTree(seed=12, depth=6),
        "matrix": MatrixGame([[0, 2, -1], [-1, 0, 1], [1, -3, 0]]),
        "few hands": make("leduc"),
        "many hands": make("leduc_ext(cards=9,bets=1,raises=1)"),
        "ranked hands": make("one_card_poker(20)"),
    }


@pytest.mark.parametrize(
    "name",
    [
        "rules",
        "matrix",
        "few hands",
        "many hands",
        "ranked hands",
    ],
)
def test_games_without_a_name_are_kept_in_the_folder(name, tmp_path) -> None:
    rules = own_games()[name]
    tp.solve(rules, "cfr+", iterations=80, out=tmp_path / "whole")
    tp.solve(rules, "cfr+", iterations=31, out=tmp_path / "parts")
    assert (tmp_path / "parts" / "game.safetensors").exists()
    solution = tp.resume(tmp_path / "parts", iterations=80)
    assert solution.game.name == tp.load(rules).name
    same_answer(tmp_path / "whole", tmp_path / "parts")


def test_games_with_a_name_are_not_kept(tmp_path) -> None:
    tp.solve("leduc", iterations=2, out=tmp_path / "run")
    assert not (tmp_path / "run" / "game.safetensors").exists()
    assert json.loads((tmp_path / "run" / "run.json").read_text())["source"] == "leduc"


def test_games_of_openspiel_are_loaded_again(tmp_path) -> None:
    pytest.importorskip("pyspiel")
    tp.solve("openspiel:kuhn_poker", iterations=80, out=tmp_path / "whole")
    tp.solve("openspiel:kuhn_poker", iterations=30, out=tmp_path / "parts")
    tp.resume(tmp_path / "parts", iterations=80)
    same_answer(tmp_path / "whole", tmp_path / "parts")


@pytest.mark.parametrize("kind", damaged(b""))
def test_a_broken_game_is_said(kind, tmp_path) -> None:
    tp.solve(RandomTree(seed=3), "cfr", iterations=5, out=tmp_path / "run")
    path = tmp_path / "run" / "game.safetensors"
    path.write_bytes(damaged(path.read_bytes())[kind])
    assert refusal(tmp_path / "run").startswith(f"{path}: not a whole compiled game of treeplex (")


def test_a_missing_game_is_said(tmp_path) -> None:
    tp.solve(RandomTree(seed=3), "cfr", iterations=5, out=tmp_path / "run")
    (tmp_path / "run" / "game.safetensors").unlink()
    assert "ended before its game was saved there; start it again" in refusal(tmp_path / "run")


def test_another_game_in_the_folder_is_said(tmp_path) -> None:
    for seed in (3, 4):
        tp.solve(RandomTree(seed=seed), "cfr", iterations=5, out=tmp_path / str(seed))
    (tmp_path / "3" / "game.safetensors").write_bytes((tmp_path / "4" / "game.safetensors").read_bytes())
    assert "is not the random_tree(seed=3) of this version; start a new run." in refusal(tmp_path / "3")


# --- files -----------------------------------------------------------------------------------------------------------


def test_the_run_folder(pictures, tmp_path) -> None:
    solution = tp.solve(TREE, "cfr", iterations=30, iterate="best", seed=7, out=tmp_path / "run")
    assert {path.name for path in (tmp_path / "run").iterdir()} == FILES
    result = json.loads((tmp_path / "run" / "result.json").read_text())
    assert result == solution.summary()
    assert (result["seed"], result["iterate"], result["status"]) == (7, "best", "iterations")
    assert pq.read_table(tmp_path / "run" / "log.parquet").equals(solution.log)
    asked = json.loads((tmp_path / "run" / "run.json").read_text())
    assert (asked["game"], asked["asked"], asked["iterate"]) == (TREE, "cfr", "best")
    assert asked["algorithm"] == 'cfr(turns="alternating",weight="uniform",order="played",average="same")'
    assert asked["limits"] == {"nash_conv": None, "seconds": None, "iterations": 30, "nodes": None}
    text = (tmp_path / "run" / "README.md").read_text()
    assert all(f"`{name}`" in text for name in FILES - {"README.md"})
    resumed = tp.resume(tmp_path / "run", iterations=50)
    assert json.loads((tmp_path / "run" / "result.json").read_text()) == resumed.summary()
    assert (resumed.seed, resumed.iterate) == (7, "best")
    assert {path.name for path in (tmp_path / "run").iterdir()} == FILES


def test_no_file_holds_code(pictures, tmp_path, monkeypatch) -> None:
    """Each file is of a format that holds data only; and nothing is unpickled while they are read."""
    tp.solve(RandomTree(seed=3), "cfr", iterations=20, iterate="best", out=tmp_path)
    begins = {".parquet": b"PAR1", ".png": b"\x89PNG\r\n\x1a\n"}
    assert {path.name for path in tmp_path.iterdir()} == FILES | {"game.safetensors"}
    for path in tmp_path.iterdir():
        data = path.read_bytes()
        if path.suffix == ".json":
            json.loads(data)
        elif path.suffix == ".safetensors":
            length = int.from_bytes(data[:8], "little")
            header = json.loads(data[8 : 8 + length])
            tensors = [value["data_offsets"] for key, value in header.items() if key != "__metadata__"]
            assert max(end for _, end in tensors) == len(data) - 8 - length  # numbers, and nothing else
        elif path.suffix != ".md":
            assert data.startswith(begins[path.suffix])

    def never(*_: Any, **__: Any) -> Any:
        raise AssertionError("something was unpickled")

    for name in ("load", "loads", "Unpickler"):
        monkeypatch.setattr(pickle, name, never)
    assert tp.resume(tmp_path, iterations=30).iterations == 30


def test_logs_of_policies_do_not_change_later(tmp_path) -> None:
    """A solution is a value: going on with its checkpoint leaves it as it is."""
    solution = tp.solve(TREE, "cfr", iterations=30)
    policy, log = list(solution.policy.rows()), solution.log.to_pylist()
    solution.save(tmp_path / "run")
    tp.resume(tmp_path / "run", iterations=90)
    assert list(solution.policy.rows()) == policy
    assert solution.log.to_pylist() == log
    assert solution.iterations == 30


def test_options_know_their_defaults() -> None:
    assert Options() == Options(threads=0, backend="auto", checkpoint_seconds=30.0, watch=None)
    assert issubclass(FormatError, TreeplexError)
