"""``treeplex grow`` and the resuming of its runs, as a user runs them."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from treeplex.papers import saef_fig1
from treeplex.papers.registry import REPRODUCTIONS

COMMAND = [sys.executable, "-m", "treeplex"]
ROAD = Path(__file__).resolve().parents[1] / "data" / "efg" / "toll_road.efg"
GROW = ("grow", "continuous_leduc")


def test_sizes_are_told_and_a_folder_is_left(cli, pictures) -> None:
    said = cli(*GROW, "--iterations", 300, "--show", 4)
    assert said.code == 0
    assert "sizes found; the abstraction grew from 12,519 to" in said.out
    assert "in the full game (in the abstraction" in said.out
    lines = said.out.splitlines()[3:-1]
    assert lines[0].split()[:2] == ["decision", "player"]
    assert len(lines) == 6  # four sizes, and how many more
    assert all("% of the pot" in line for line in lines[1:5])
    folder = Path("runs/continuous_leduc-grow-1")
    files = {path.name for path in folder.iterdir()}
    assert files >= {"policy.parquet", "sizes.json", "additions.parquet", "log.parquet", "convergence.png", "README.md"}
    grown = f'continuous_leduc(sizes="{folder}/sizes.json")'
    judged = cli("evaluate", grown, folder / "policy.parquet", "--json").last
    result = json.loads((folder / "result.json").read_text())
    assert judged["nash_conv"] == pytest.approx(result["nash_conv_in_abstraction"], abs=1e-12)
    assert judged["nash_conv"] < result["nash_conv"]


def test_json_and_resume(cli) -> None:
    first = cli(*GROW, "--iterations", 100, "--out", "run", "--json").last
    assert first["status"] == "iterations"
    assert first["growth"]["factor"] == 1.01
    assert {"decision", "size", "gain", "worth", "frequency", "by_hand", "iteration"} <= first["sizes"][0].keys()
    resumed = cli("resume", "run", "--iterations", 200, "--json").last
    whole = cli(*GROW, "--iterations", 200, "--no-save", "--json").last
    for field in ("iterations", "nodes_touched", "nash_conv", "value", "histories"):
        assert resumed[field] == whole[field]
    assert not Path("runs").exists()


@pytest.mark.parametrize(
    "number",
    [pytest.param(signal.SIGINT, id="ctrl-c"), pytest.param(signal.SIGTERM, id="terminate", marks=pytest.mark.slow)],
)
def test_an_interrupted_run_keeps_what_is_done_and_says_so(number, tmp_path, cli) -> None:
    arguments = [*GROW, "--seconds", "60", "--checkpoint-seconds", "0", "--out", "run", "--json"]
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=tmp_path
    )
    deadline = time.monotonic() + 120
    while not (tmp_path / "run" / "checkpoint.safetensors").exists() and process.poll() is None:
        assert time.monotonic() < deadline
        time.sleep(0.02)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Traceback" not in err
    told = json.loads(out.splitlines()[-1])
    assert told["status"] == "interrupted"
    assert told["iterations"] >= 1
    assert told["seconds"] < 60
    judged = cli("evaluate", 'continuous_leduc(sizes="run/sizes.json")', "run/policy.parquet", "--json").last
    assert judged["nash_conv"] == pytest.approx(told["nash_conv_in_abstraction"], abs=1e-9)


def test_a_file_of_gambit_grows_by_actions(cli) -> None:
    """All of its actions but one per infoset are candidates; the folder holds the game, and starts can be reused."""
    first = cli("grow", ROAD, "--actions", "first", "--iterations", 30, "--out", "run", "--json").last
    assert first["growth"]["actions"] == "first"
    assert first["histories"] <= first["of_histories"]
    assert (Path("run") / "game.safetensors").exists()
    resumed = cli("resume", "run", "--iterations", 2000, "--json").last
    whole = cli("grow", ROAD, "--actions", "first", "--iterations", 2000, "--no-save", "--json").last
    for field in ("iterations", "nodes_touched", "nash_conv", "value", "histories", "reading"):
        assert resumed[field] == whole[field], field
    judged = cli("evaluate", ROAD, "run/policy.parquet", "--json").last
    assert judged["nash_conv"] == pytest.approx(resumed["nash_conv"], abs=1e-12)
    assert resumed["nash_conv"] < 0.01 * first["nash_conv"]
    exact = cli("solve", ROAD, "--algorithm", "lp", "--no-save", "--json").last
    assert resumed["value"] == pytest.approx(exact["value"], abs=resumed["nash_conv"] + 1e-9)
    shown = cli("grow", ROAD, "--actions", "first", "--iterations", 2000, "--no-save").out
    assert "actions added; the game grew from" in shown
    assert "in the whole game (in the grown game" in shown
    again = cli(
        "grow", ROAD, "--actions", "run/actions.json", "--factor", "inf", "--iterations", 5, "--no-save", "--json"
    )
    if json.loads(Path("run/actions.json").read_text()):
        assert again.last["histories"] == resumed["histories"]
    else:
        assert "keeps all" in again.sentence


def test_targets_and_exit_codes(cli) -> None:
    assert cli(*GROW, "--nash-conv", 2.0, "--no-save").code == 0
    missed = cli(
        *GROW, "--nash-conv", 0.0, "--iterations", 20, "--no-save", "--algorithm", "cfr+", "--method", "transfer"
    )
    assert missed.code == 1
    fixed = cli(*GROW, "--factor", "inf", "--iterations", 10, "--no-save", "--json").last
    assert fixed["sizes"] == []


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (
            ("leduc",),
            "Only a game with bet sizes, such as continuous_leduc, can grow without the 'actions' parameter, which has"
            " the actions to start with; got 'leduc'.",
        ),
        (
            ("leduc", "--actions", "leap"),
            "The 'actions' parameter must leave out an action of leduc, got 'leap', which keeps all.",
        ),
        (("continuous_leduc", "--factor", "0.5"), "The 'factor' parameter must be a number from 1 up, got 0.5."),
        (
            ("continuous_leduc", "--method", "guess"),
            """The 'method' parameter must be one of "recovery", "transfer", got 'guess'.""",
        ),
        (
            ("continuous_leduc(sizes=[2])",),
            "The 'sizes' parameter must list one or more numbers from 0.01 to 1, got [2].",
        ),
        (
            ('continuous_leduc(sizes={"check":[1]})',),
            """The 'sizes' parameter by line must have an entry "*" for all other lines.""",
        ),
        (
            ("continuous_leduc(sizes=small)",),
            """The 'sizes' parameter must be one of "branch-2", "branch-3", "branch-5", lists of sizes or a .json"""
            " file, got 'small'.",
        ),
        (
            ("continuous_leduc(sizes=none.json)",),
            "The 'sizes' parameter names 'none.json', which cannot be read ([Errno 2] No such file or directory:"
            " 'none.json').",
        ),
        (
            ("continuous_leduc", "--iterations", "0"),
            "The 'iterations' parameter must be an integer >= 1, got 0.",
        ),
    ],
)
def test_refusals(cli, arguments, sentence) -> None:
    assert cli("grow", *arguments).sentence == sentence


def test_what_another_run_has_left_is_not_overwritten(cli) -> None:
    assert cli(*GROW, "--iterations", 5, "--out", "run").code == 0
    assert cli(*GROW, "--iterations", 8, "--out", "run", "--json").last["iterations"] == 8  # the same run goes on
    other = cli(*GROW, "--iterations", 5, "--factor", 2, "--out", "run").sentence
    assert other.startswith("The folder run holds a run with another set of options (")
    (Path("run") / "checkpoint.safetensors").write_bytes(b"nonsense")
    assert "not a complete checkpoint of this run" in cli("resume", "run").sentence


@pytest.mark.slow
def test_the_figure_is_drawn_and_judged(tmp_path) -> None:
    """A short run: what is measured, not whether it holds."""
    report = saef_fig1.reproduce(tmp_path, lambda line: None, nodes=3_000_000)
    assert [path.name for path in report.files] == ["saef-fig1.csv", "saef-fig1.png"]
    assert all(path.stat().st_size > 1000 for path in report.files)
    assert len(report.claims) == 12
    levels = saef_fig1.plateaus(2_000_000)
    assert set(levels) == set(saef_fig1.FIXED)
    assert all(0.0 < level.inside < level.full for level in levels.values())
    assert levels["Branch-2"].full == pytest.approx(0.95, abs=0.3)
    assert saef_fig1.ID in REPRODUCTIONS
