"""Runs from the command line: solve, resume and compare; and kill -9 at any moment, after which nothing is lost."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import treeplex as tp
from treeplex.algorithms.registry import ALGORITHMS, settled

COMMAND = [sys.executable, "-m", "treeplex"]
ITERATIVE = [name for name, entry in ALGORITHMS.items() if name != "lp"]

# DESIGN.md, "CLI", and what docs/reference/cli.md adds.
RESULT = {
    "game": str,
    "algorithm": str,
    "iterations": int,
    "nodes_touched": int,
    "seconds": float,
    "value": float,
    "nash_conv": float,
    "exploitability": float,
    "status": str,
    "best_response_values": list,
    "backend": str,
    "threads": int,
    "storage": str,
    "seed": int,
    "iterate": str,
}
UNTIMED = ["iteration", "nodes_touched", "value", "nash_conv", "exploitability"]


def check_result(told: dict[str, Any]) -> None:
    for name, kind in RESULT.items():
        assert isinstance(told[name], kind), name
    assert told["exploitability"] == told["nash_conv"] / 2
    assert sum(told["best_response_values"]) == pytest.approx(told["nash_conv"], abs=1e-9)


def check_png(path: Path) -> None:
    """A PNG of some size: signature, then a header with width and height."""
    data = path.read_bytes()
    assert data.startswith(b"\x89PNG\r\n\x1a\n")
    assert data[12:16] == b"IHDR"
    width, height = int.from_bytes(data[16:20]), int.from_bytes(data[20:24])
    assert width > height > 300
    assert data.endswith(b"IEND\xaeB`\x82")


def same_answer(one: Path, two: Path) -> None:
    """Policies equal byte by byte; logs and results equal but for the clock."""
    assert (one / "policy.parquet").read_bytes() == (two / "policy.parquet").read_bytes()
    logs = [pq.read_table(folder / "log.parquet", columns=UNTIMED) for folder in (one, two)]
    assert logs[0].equals(logs[1])
    results = [json.loads((folder / "result.json").read_text()) for folder in (one, two)]
    for result in results:
        result.pop("seconds")
    assert results[0] == results[1]


# --- list ------------------------------------------------------------------------------------------------------------


def test_list_algorithms(cli) -> None:
    code, out, _ = cli("list", "algorithms", "--all")
    assert code == 0
    words = " ".join(out.split())
    assert [e.name for e in ALGORITHMS.values() if f"{e.name} {e.summary}" not in words] == []
    assert [e.paper for e in ALGORITHMS.values() if f"{e.paper}:" not in words] == []
    told = cli("list", "algorithms", "--json").last["algorithms"]
    expected = [{"name": e.usage, "summary": e.summary, "source": e.source} for e in ALGORITHMS.values()]
    assert told == expected


def test_the_first_screen_has_a_dozen_algorithms_with_a_line_each(cli, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", "80")
    head, *lines, more, end = cli("list", "algorithms").out.splitlines()
    core = [entry for entry in ALGORITHMS.values() if entry.core]
    assert (head, end, len(core)) == ("algorithms:", "", 12)
    assert [" ".join(line.split()) for line in lines] == [f"{entry.name} {entry.summary}" for entry in core]
    assert more == f"  {len(ALGORITHMS) - 12} more, with parameters: treeplex list algorithms --all"


def test_what_is_listed_can_be_typed(cli) -> None:
    """NAME(parameter=default,...) is the algorithm NAME."""
    for name in ITERATIVE:
        plain = cli("solve", "kuhn", "--algorithm", name, "--iterations", 9, "--out", f"plain {name}", "--json").last
        listed = cli(
            "solve",
            "kuhn",
            "--algorithm",
            ALGORITHMS[name].usage,
            "--iterations",
            9,
            "--out",
            f"listed {name}",
            "--json",
        )
        assert listed.last["nash_conv"] == plain["nash_conv"]
        one, two = (Path(f"{kind} {name}") / "policy.parquet" for kind in ("plain", "listed"))
        assert one.read_bytes() == two.read_bytes()


# --- solve -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_solve_with_every_algorithm(algorithm, cli) -> None:
    code, out, err = cli("solve", "kuhn", "--algorithm", algorithm, "--nash-conv", 0.05, "--out", "run", "--json")
    told = json.loads(out)
    assert code == 0
    assert all(line.startswith(f"kuhn, {algorithm}: ") for line in err.splitlines())  # compiling, progress; or nothing
    check_result(told)
    assert (told["algorithm"], told["status"], told["folder"]) == (algorithm, "solved", "run")
    assert told["nash_conv"] <= 0.05
    assert abs(told["value"] + 1 / 18) <= told["nash_conv"]
    assert json.loads(Path("run/result.json").read_text()) == {k: v for k, v in told.items() if k != "folder"}
    judged = cli("evaluate", "kuhn", "run/policy.parquet", "--json").last
    assert judged["nash_conv"] == pytest.approx(told["nash_conv"], abs=1e-12)


@pytest.mark.parametrize("iterate", ["average", "current", "best"])
def test_solve_reports_the_iterate_asked_for(iterate, cli) -> None:
    told = cli(
        "solve", "leduc", "--algorithm", "cfr", "--iterations", 50, "--iterate", iterate, "--out", "run", "--json"
    ).last
    ours = tp.solve("leduc", "cfr", iterations=50, iterate=iterate)
    assert (told["iterate"], told["nash_conv"], told["value"]) == (iterate, ours.nash_conv, ours.value)


def test_solve_tells_people_how_it_ended(cli) -> None:
    assert "iteration limit reached after 5 iterations" in cli("solve", "kuhn", "--iterations", 5, "--no-save").out
    assert "node limit reached after 2 iterations" in cli("solve", "kuhn", "--nodes", 200, "--no-save").out
    assert "time limit reached after" in cli("solve", "kuhn", "--seconds", 0, "--no-save").out
    assert ": solved after" in cli("solve", "kuhn", "--no-save").out


@pytest.mark.parametrize(
    ("arguments", "code", "status"),
    [
        (["--iterations", 5], 0, "iterations"),
        (["--seconds", 0], 0, "seconds"),
        (["--nodes", 1], 0, "nodes"),
        (["--nash-conv", 0.5], 0, "solved"),
        (["--nash-conv", 0.5, "--iterations", 10**6], 0, "solved"),
        (["--nash-conv", 0, "--iterations", 5], 1, "iterations"),
        (["--nash-conv", 0, "--seconds", 0], 1, "seconds"),
        (["--nash-conv", 0, "--nodes", 1], 1, "nodes"),
    ],
    ids=str,
)
def test_exit_codes_of_solve_and_resume(arguments, code, status, cli) -> None:
    """0: done, or no target was given; 1: stopped before the target."""
    ended = cli("solve", "kuhn", *arguments, "--out", "run", "--json")
    assert (ended.code, ended.last["status"]) == (code, status)
    start = cli("solve", "kuhn", "--iterations", 1, "--out", "other", "--json")
    assert start.code == 0
    more = [
        2 * x if arguments[i - 1] in ("--iterations", "--nodes") and isinstance(x, int) else x
        for i, x in enumerate(arguments)
    ]
    resumed = cli("resume", "other", *more, "--json")
    assert (resumed.code, resumed.last["status"]) == (code, status)


def test_the_picture_of_a_run(cli, pictures) -> None:
    cli("solve", "leduc", "--iterations", 50, "--out", "run", "--json")
    check_png(Path("run/convergence.png"))


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["solve", "kuhn", "--algorithm", "cfr(turns=sideways)"], "The 'turns' parameter must be one of alternating, "),
        (["solve", "kuhn", "--algorithm", "cfr+(delay=-1)"], "The 'delay' parameter must be an integer >= 0, got -1"),
        (["solve", "kuhn", "--algorithm", "cfr+(delay=0.5)"], "The 'delay' parameter must be an integer >= 0, got 0.5"),
        (["solve", "kuhn", "--algorithm", "dcfr(alpha=x)"], "The 'alpha' parameter must be a number from "),
        (["solve", "kuhn", "--algorithm", "dcfr(alpha=NaN)"], "The 'alpha' parameter must be a number from "),
        (["solve", "kuhn", "--algorithm", "dcfr(gamma=Infinity)"], "The 'gamma' parameter must be a number from "),
        (["solve", "kuhn", "--algorithm", "dcfr(beta=true)"], "The 'beta' parameter must be a number from "),
        (["solve", "kuhn", "--algorithm", "cfr(delay=1)"], "The algorithm 'cfr' has the parameters cfr("),
        (["solve", "kuhn", "--algorithm", "lp(exact=true)"], "The algorithm 'lp' has no parameters, got 'exact'"),
        (["solve", "kuhn", "--algorithm", "cfr(turns=simultaneous"], "the last ')' is missing"),
        (["solve", "kuhn", "--iterate", "last"], "The 'iterate' parameter must be one of"),
        (["solve", "kuhn", "--nodes", "0"], "The 'nodes' parameter must be an integer >= 1, got 0"),
        (["compare", "kuhn", "cfr", "cfr++"], "There is no algorithm 'cfr++'"),
        (["compare", "kuhm", "cfr", "cfr+"], "There is no game 'kuhm'"),
        (["compare", "kuhn", "cfr", "cfr+", "--iterations", "0"], "The 'iterations' parameter must be"),
        (["resume", "nowhere"], "nowhere is not a run folder: it has no run.json"),
        (["resume", "."], ". is not a run folder: it has no run.json"),
        (["resume", "broken"], "broken/run.json: not what treeplex writes ("),
    ],
    ids=lambda value: " ".join(value[2:]) if isinstance(value, list) else "",
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_sentence(arguments, said, cli, tmp_path) -> None:
    (tmp_path / "broken").mkdir()
    (tmp_path / "broken" / "run.json").write_text("{")
    assert said in cli(*arguments).sentence
    assert not (tmp_path / "runs").exists()  # nothing is begun


@pytest.mark.parametrize("value", ["-1", "nan"])
def test_wrong_checkpoint_seconds_are_said(value, cli) -> None:
    said = cli("solve", "kuhn", "--iterations", 1, "--checkpoint-seconds", value).sentence
    assert "checkpoint_seconds" in said


@pytest.mark.parametrize("algorithm", ["dcfr(alpha=500)", "dcfr(gamma=500)", "pdcfr+(alpha=400)"])
def test_large_parameters_are_refused_or_work(algorithm, cli) -> None:
    """Brown & Sandholm 2019 have alpha up to infinity: nothing is then forgotten."""
    ended = cli("solve", "kuhn", "--algorithm", algorithm, "--iterations", 30, "--no-save", "--json")
    assert ended.code == 2 or np.isfinite(ended.last["nash_conv"])


# --- resume ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("algorithm", ITERATIVE)
def test_resume_ends_in_the_bits_of_an_undisturbed_run(algorithm, cli) -> None:
    algorithm = settled(algorithm, 100)  # a horizon is the limit that a run begins with
    solve = ("solve", "leduc", "--algorithm", algorithm, "--json")
    cli(*solve, "--iterations", 120, "--out", "whole")
    cli(*solve, "--iterations", 35, "--out", "parts")
    code, out, err = cli("resume", "parts", "--iterations", 120, "--json")
    told = json.loads(out)
    assert (code, err) == (0, "")
    check_result(told)
    assert (told["game"], told["algorithm"], told["iterations"]) == ("leduc", algorithm, 120)
    assert told["folder"] == "parts"
    same_answer(Path("whole"), Path("parts"))


def test_resume_for_people(cli, pictures) -> None:
    cli("solve", "leduc", "--iterations", 10, "--out", "run")
    code, out, err = cli("resume", "run", "--iterations", 20, "--show", 1)
    assert code == 0
    assert "leduc, auto: iteration limit reached after 20 iterations" in out
    assert "run folder: run" in err
    assert "... 143 more" in out
    check_png(Path("run/convergence.png"))


def test_resume_of_an_efg_file_that_is_gone(cli, tmp_path) -> None:
    """The game is in the run folder."""
    cli("export", "kuhn", "--efg", "k.efg")
    cli("solve", "k.efg", "--iterations", 50, "--out", "whole", "--json")
    cli("solve", "k.efg", "--iterations", 20, "--out", "parts", "--json")
    (tmp_path / "k.efg").unlink()
    assert cli("resume", "parts", "--iterations", 50, "--json").code == 0
    same_answer(Path("whole"), Path("parts"))


def test_an_exact_run_that_is_resumed_gives_its_answer(cli) -> None:
    """There is no checkpoint to continue from: the linear program is solved again."""
    first = cli("solve", "kuhn", "--algorithm", "lp", "--out", "run", "--json").last
    again = cli("resume", "run", "--json")
    assert again.code == 0
    assert {**again.last, "seconds": 0} == {**first, "seconds": 0}
    assert not Path("run/checkpoint.safetensors").exists()


# --- compare ---------------------------------------------------------------------------------------------------------


def test_compare_json(cli) -> None:
    ended = cli("compare", "kuhn", "cfr", "cfr+", "lp", "dcfr(gamma=1)", "--iterations", 40, "--out", "both", "--json")
    assert ended.code == 0
    names = ["cfr", "cfr+", "lp", "dcfr(gamma=1)"]
    *runs, last = ended.lines
    assert [told["algorithm"] for told in runs] == names
    for told in runs:
        check_result(told)
    assert last == {"game": "kuhn", "runs": runs, "files": ["both/comparison.png"]}
    check_png(Path("both/comparison.png"))
    for name, told in zip(names, runs, strict=True):
        assert json.loads((Path("both") / name / "result.json").read_text()) == told
        if name != "lp":
            assert told["iterations"] == 40
            assert told["nash_conv"] == tp.solve("kuhn", name, iterations=40).nash_conv


@pytest.mark.slow
def test_compare_for_people(cli) -> None:
    code, out, err = cli("compare", "kuhn", "cfr", "fp", "--iterations", 10)
    assert code == 0
    assert "plot: runs/kuhn-compare-1/comparison.png" in err
    head, *rows = [line.split() for line in out.splitlines() if line.strip()]
    assert head[:2] == ["algorithm", "ended"]
    assert "NashConv" in head
    assert [row[0] for row in rows] == ["cfr", "fp"]
    assert cli("compare", "kuhn", "cfr", "fp", "--iterations", 10).err.count("runs/kuhn-compare-2") == 1


def test_compare_runs_an_algorithm_as_often_as_it_is_named_and_each_can_be_resumed(cli) -> None:
    ended = cli("compare", "leduc", "cfr", "cfr+", "cfr", "--iterations", 30, "--out", "both", "--json")
    assert [told["algorithm"] for told in ended.lines[:-1]] == ["cfr", "cfr+", "cfr"]
    same_answer(Path("both/cfr"), Path("both/cfr (2)"))
    cli("solve", "leduc", "--algorithm", "cfr", "--iterations", 70, "--out", "whole", "--json")
    cli("resume", "both/cfr", "--iterations", 70, "--json")
    same_answer(Path("whole"), Path("both/cfr"))


def test_compare_that_misses_its_target_is_exit_code_1(cli) -> None:
    assert (
        cli("compare", "kuhn", "cfr", "cfr+", "--nash-conv", 0, "--iterations", 5, "--out", "both", "--json").code == 1
    )


# --- kill -9 ---------------------------------------------------------------------------------------------------------

GAME, ITERATIONS = "leduc(suits=true)", 150_000  # two seconds or more; after one, checkpoints are kept


def arguments(folder: Path, iterations: int = ITERATIONS) -> list[str]:
    asked = ["solve", GAME, "--iterations", str(iterations), "--checkpoint-seconds", "0.05", "--out", str(folder)]
    return [*COMMAND, *asked, "--json"]


def started(folder: Path, iterations: int = ITERATIONS) -> subprocess.Popen[str]:
    """The run in a process of its own; returns once its folder is there."""
    process = subprocess.Popen(arguments(folder, iterations), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    wait_for(folder / "run.json", process)
    return process


def wait_for(path: Path, process: subprocess.Popen[str]) -> None:
    deadline = time.monotonic() + 120
    while not path.exists():
        assert process.poll() is None, process.communicate()
        assert time.monotonic() < deadline
        time.sleep(0.002)


def kill(process: subprocess.Popen[str]) -> None:
    process.send_signal(signal.SIGKILL)
    process.communicate(timeout=60)
    assert process.returncode == -signal.SIGKILL


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory) -> Path:
    folder = tmp_path_factory.mktemp("undisturbed") / "run"
    subprocess.run(arguments(folder), check=True, capture_output=True)
    return folder


def killed_at(moment: float, undisturbed: Path, folder: Path) -> None:
    """Kill a run after about this fraction of its time; earlier if the run turns out to be faster than the first."""
    seconds = json.loads((undisturbed / "result.json").read_text())["seconds"]
    for attempt in range(6):
        process = started(folder / str(attempt))
        time.sleep(moment * seconds)
        if process.poll() is None and not (folder / str(attempt) / "policy.parquet").exists():
            kill(process)
            (folder / str(attempt)).rename(folder / "killed")
            return
        process.communicate()
        moment /= 2
    pytest.fail("the run always ended before it could be killed")


def check_killed(moment: float, undisturbed: Path, tmp_path: Path, cli: Any) -> None:
    killed_at(moment, undisturbed, tmp_path)
    assert not (tmp_path / "killed" / "result.json").exists()
    code, out, _ = cli("resume", tmp_path / "killed", "--json")
    assert code == 0
    assert json.loads(out)["iterations"] == ITERATIONS
    same_answer(undisturbed, tmp_path / "killed")


# A moment in each quarter of the run; the last quarter ends early, so that a busy machine does not finish first.
QUARTERS = [float(np.random.default_rng(quarter).uniform(quarter / 4, quarter / 4 + 0.2)) for quarter in range(4)]


@pytest.mark.slow  # tests/kill/run.py --quick, in test_signals.py, is its short form
@pytest.mark.parametrize(
    "moment", [*QUARTERS, *np.random.default_rng(20).uniform(0, 0.95, size=20).tolist()], ids="{:.2f}".format
)
def test_killed_at_any_moment_nothing_is_lost(moment, undisturbed, tmp_path, cli) -> None:
    check_killed(moment, undisturbed, tmp_path, cli)


@pytest.mark.slow
def test_killed_twice_after_a_checkpoint(undisturbed, tmp_path, cli) -> None:
    """The first kill comes right after the first checkpoint, the second right after the next of the resumed run."""
    folder = tmp_path / "run"
    process = started(folder)
    wait_for(folder / "checkpoint.safetensors", process)
    kill(process)
    first = (folder / "checkpoint.safetensors").read_bytes()
    process = subprocess.Popen(
        [*COMMAND, "resume", str(folder), "--checkpoint-seconds", "0.05", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )
    deadline = time.monotonic() + 120
    while (folder / "checkpoint.safetensors").read_bytes() == first and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.002)
    kill(process)
    assert not (folder / "result.json").exists()
    assert cli("resume", folder, "--json").code == 0
    same_answer(undisturbed, folder)


def test_killed_while_the_answer_is_written(tmp_path, cli) -> None:
    """There is half a second for it: the picture is drawn when all else is done."""
    cli("solve", GAME, "--iterations", 2000, "--out", "whole", "--json")
    process = started(tmp_path / "killed", 2000)
    wait_for(tmp_path / "killed" / "result.json", process)
    kill(process)
    assert cli("resume", "killed", "--json").code == 0
    same_answer(Path("whole"), Path("killed"))


@pytest.mark.slow
def test_ctrl_c_and_resume(tmp_path, undisturbed, cli) -> None:
    """As a person does it: Ctrl-C ends the run with an answer and exit code 1; resume goes on to what was asked for."""
    process = started(tmp_path / "run")
    wait_for(tmp_path / "run" / "checkpoint.safetensors", process)
    os.kill(process.pid, signal.SIGINT)
    out, err = process.communicate(timeout=60)
    told = json.loads(out.splitlines()[-1])
    assert (process.returncode, told["status"]) == (1, "interrupted")
    assert "Traceback" not in err
    assert 1 <= told["iterations"] < ITERATIONS
    assert tp.evaluate(GAME, tmp_path / "run" / "policy.parquet").nash_conv == pytest.approx(
        told["nash_conv"], abs=1e-12
    )
    assert cli("resume", "run", "--json").code == 0
    same_answer(undisturbed, tmp_path / "run")
