"""The command line: JSON on stdout, words on stderr, exit codes 0, 1 and 2, and one sentence for whatever is wrong."""

from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest
from typer.testing import CliRunner

import treeplex as tp
from treeplex.algorithms import linear_program
from treeplex.algorithms.registry import ALGORITHMS
from treeplex.cli.main import app
from treeplex.evaluation import Policy
from treeplex.files import replacing
from treeplex.games.catalog import CATALOG

COMMAND = [sys.executable, "-m", "treeplex"]
DATA = Path(__file__).resolve().parents[1] / "data" / "efg"
RESULT = {
    "game",
    "algorithm",
    "iterations",
    "nodes_touched",
    "seconds",
    "value",
    "nash_conv",
    "exploitability",
    "status",
    "backend",
    "threads",
    "storage",
    "seed",
    "iterate",
}
INFO = {"game", "nodes", "terminals", "infosets", "sequences", "entries", "bytes", "value"}

EFG = """EFG 2 R "{title}" {{ "a" "b" }}
p "" 1 1 "{label}" {{ "l" "r" }} 0
p "" 2 1 "guess" {{ "l" "r" }} 0
t "" 1 "" {{ 3 -3 }}
t "" 2 "" {{ -1 1 }}
p "" 2 1 0
t "" 2
t "" 3 "" {{ 1 -1 }}
"""


@pytest.fixture
def policy(tmp_path) -> Path:
    """The uniform policy of Kuhn poker in a file."""
    path = tmp_path / "uniform.json"
    Policy.uniform(tp.load("kuhn")).save(path)
    return path


# --- list and info ---------------------------------------------------------------------------------------------------


def test_list_names_every_game_and_algorithm(cli) -> None:
    code, out, _ = cli("list", "--all")
    assert code == 0
    assert {*CATALOG, *ALGORITHMS} <= set(out.split())
    assert "openspiel:NAME" in out


def test_list_json(cli) -> None:
    listed = cli("list", "--json").last
    assert {entry["name"].partition("(")[0] for entry in listed["games"]} == set(CATALOG)
    assert {entry["name"].partition("(")[0] for entry in listed["algorithms"]} == set(ALGORITHMS)
    assert all(entry["summary"] and entry["source"] for kind in listed.values() for entry in kind)
    assert list(cli("list", "games", "--json").last) == ["games"]
    assert list(cli("list", "algorithms", "--json").last) == ["algorithms"]


@pytest.mark.parametrize(
    ("game", "nodes", "terminals", "infosets", "sequences", "value"),
    [
        ("kuhn", 58, 30, 6, 13, -1 / 18),
        ("leduc(suits=true)", 9_457, 5_520, 468, 1_093, -0.0856064240780005),
        ("goofspiel", 1_077, 576, 81, 175, 0.0),
        ("liars_dice(sides=3)", 1_147, 567, 96, 190, None),
    ],
)
def test_info_json(game, nodes, terminals, infosets, sequences, value, cli) -> None:
    code, out, err = cli("info", game, "--json")
    told = json.loads(out)
    assert (code, err) == (0, "")
    assert told.keys() >= INFO
    assert (told["game"], told["nodes"], told["terminals"]) == (game, nodes, terminals)
    assert (told["infosets"], told["sequences"]) == ([infosets] * 2, [sequences] * 2)
    assert told["value"] == value
    assert 0 < told["entries"] <= terminals
    assert told["bytes"] > 0
    assert told["recommended"] == {"algorithm": "auto", "backend": "cpu"}  # no GPU, or too small for one


def test_info_for_people(cli) -> None:
    code, out, _ = cli("info", "leduc")
    assert code == 0
    assert "1,939" in out
    assert "144 + 144" in out
    assert "-0.08560642408" in out


def test_info_tells_a_constant_sum(cli) -> None:
    told = cli("info", DATA / "toll_road.efg", "--json").last
    text = cli("info", DATA / "toll_road.efg").out
    assert ("constant sum" in text) == bool(told["constant"])


# --- solve -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", ["README.md", "docs/reference/cli.md"])
def test_pages_show_what_make_solve_prints(page, cli) -> None:
    """Every line of the example but its seconds, and dots for what is left out."""
    text = (Path(__file__).resolve().parents[2] / page).read_text(encoding="utf-8")
    example = text[text.index("leduc, cfr+: solved after") :].split("```")[0].splitlines()
    run = cli("solve", "leduc", "--algorithm", "cfr+", "--nash-conv", "1e-3")
    printed = {" ".join(line.split(" iterations, ")[0].split()) for line in (run.err + run.out).splitlines()}
    shown = [" ".join(line.split(" iterations, ")[0].split()) for line in example if line != "..."]
    assert len(shown) > 4
    assert [line for line in shown if line not in printed] == []


@pytest.mark.parametrize("algorithm", ["lp", "cfr", "cfr+"])
def test_solve_json(algorithm, cli, tmp_path) -> None:
    code, out, _ = cli("solve", "kuhn", "--algorithm", algorithm, "--nash-conv", "1e-2", "--json")
    assert code == 0
    told = json.loads(out.splitlines()[-1])
    assert told.keys() >= RESULT
    assert (told["game"], told["algorithm"], told["status"]) == ("kuhn", algorithm, "solved")
    assert told["value"] == pytest.approx(-1 / 18, abs=1e-2)
    assert 0 <= told["nash_conv"] <= 1e-2
    assert told["exploitability"] == told["nash_conv"] / 2
    assert Path(told["folder"]).is_dir()
    found = Policy.load(tmp_path / told["folder"] / "policy.parquet")
    assert tp.evaluate("kuhn", found).nash_conv == pytest.approx(told["nash_conv"], abs=1e-12)
    assert json.loads((Path(told["folder"]) / "result.json").read_text())["value"] == told["value"]
    log = pq.read_table(Path(told["folder"]) / "log.parquet").to_pylist()
    assert log[-1]["nash_conv"] == pytest.approx(told["nash_conv"], abs=1e-12)
    assert log[-1]["iteration"] == told["iterations"]


def test_every_run_gets_a_folder_of_its_own(cli) -> None:
    folders = [cli("solve", "leduc(suits=true)", "--iterations", 1, "--json").last["folder"] for _ in range(2)]
    assert len(set(folders)) == 2
    assert all(Path(folder).parent == Path("runs") for folder in folders)
    chosen = cli("solve", "kuhn", "--iterations", 1, "--out", "deep/er", "--json").last["folder"]
    assert chosen == "deep/er"
    assert (Path(chosen) / "README.md").exists()
    assert "folder" not in cli("solve", "kuhn", "--iterations", 1, "--no-save", "--json").last
    assert not Path("runs/kuhn-cfr+-1").exists()


def test_stopping_before_the_target_is_exit_code_1(cli) -> None:
    code, out, _ = cli("solve", "kuhn", "--nash-conv", 0, "--iterations", 3, "--no-save", "--json")
    assert code == 1
    assert json.loads(out)["status"] == "iterations"
    assert json.loads(out)["iterations"] == 3


def test_an_exact_answer_above_the_target_is_exit_code_1(cli, monkeypatch) -> None:
    def careless(game: Any, *rest: Any) -> Any:
        return linear_program.normalised(game, tuple(np.ones(own.sequences) for own in game.treeplexes)), 7

    monkeypatch.setattr(linear_program, "_solve", careless)
    code, out, _ = cli("solve", "kuhn", "--algorithm", "lp", "--nash-conv", 1e-6)
    assert code == 1
    assert "kuhn, lp: ended above the target after" in out
    assert "NashConv: 0.917" in out


def test_small_payoffs_count_beside_large_ones(cli) -> None:
    game = "matrix([[0.001,-0.001,1000000],[-0.001,0.001,1000000],[-1000000,-1000000,0]])"
    code, out, _ = cli("solve", game, "--algorithm", "lp", "--nash-conv", 1e-6, "--no-save", "--json")
    assert (code, json.loads(out)["status"], json.loads(out)["nash_conv"]) == (0, "solved", 0.0)


def test_an_exact_solver_without_time_is_exit_code_1(cli) -> None:
    code, out, err = cli("solve", "kuhn", "--algorithm", "lp", "--seconds", 0, "--no-save", "--json")
    sentence = "The linear program of kuhn was not solved: out of time, or stopped by Ctrl-C."
    assert (code, json.loads(out), err) == (1, {"status": "error", "error": sentence}, f"error: {sentence}\n")


def test_without_a_target_a_limit_is_what_was_asked_for(cli) -> None:
    code, out, _ = cli("solve", "kuhn", "--iterations", 7, "--no-save", "--json")
    assert (code, json.loads(out)["iterations"], json.loads(out)["status"]) == (0, 7, "iterations")


def test_solve_for_people(cli) -> None:
    code, out, err = cli("solve", "kuhn", "--algorithm", "lp", "--show", 2)
    assert code == 0
    assert "value for player 0: -0.0555556" in out
    assert "NashConv" in out
    assert "... 4 more" in out
    assert "run folder: runs/" in err.replace("\n", "")


def test_solve_of_a_constant_sum_tells_player_1s_share(cli, tmp_path) -> None:
    text = EFG.format(title="c", label="i").replace("3 -3", "13 -3").replace("-1 1 ", "9 1 ").replace(" 1 -1", " 11 -1")
    (tmp_path / "c.efg").write_text(text)
    _, out, _ = cli("solve", "c.efg", "--algorithm", "lp", "--no-save")
    assert "value for player 0: 10.3333" in out  # (3·1 - 1·1) / (3 + 1 + 1 + 1), and 10 more
    assert "player 1 gets 10 minus that, -0.333333" in out


def test_a_seed_is_told(cli) -> None:
    assert cli("solve", "kuhn", "--iterations", 1, "--seed", 5, "--no-save", "--json").last["seed"] == 5


# --- evaluate and export ---------------------------------------------------------------------------------------------


def test_evaluate_json(cli, policy) -> None:
    told = cli("evaluate", "kuhn", policy, "--json").last
    assert told["game"] == "kuhn"
    assert told["policy"] == str(policy)
    assert told["value"] == pytest.approx(0.125)
    assert told["nash_conv"] == pytest.approx(11 / 12)
    assert told["exploitability"] == pytest.approx(11 / 24)
    assert sum(told["best_response_values"]) == pytest.approx(11 / 12)


def test_evaluate_for_people_names_both_measures(cli, policy) -> None:
    _, out, _ = cli("evaluate", "kuhn", policy)
    assert "NashConv" in out
    assert "0.9166666667" in out
    assert "exploitability" in out
    assert "0.4583333333" in out


def test_export_writes_games_and_policies(cli, policy) -> None:
    arguments = ("--efg", "k.efg", "--compiled", "k.safetensors", "--policy", policy, "--to", "p.parquet", "--json")
    code, out, _ = cli("export", "kuhn", *arguments)
    assert code == 0
    assert json.loads(out) == {"game": "kuhn", "files": ["k.efg", "k.safetensors", "p.parquet"]}
    for name in ("k.efg", "k.safetensors"):
        assert tp.load(name).nodes == 58
    assert list(Policy.load("p.parquet").rows()) == list(Policy.load(policy).rows())
    assert cli("evaluate", "k.safetensors", "p.parquet", "--json").last["value"] == pytest.approx(0.125)
    assert cli("evaluate", "k.efg", "p.parquet", "--json").last["value"] == pytest.approx(0.125)


def test_export_without_a_policy_is_the_uniform_one(cli) -> None:
    assert "saved u.json" in cli("export", "kuhn", "--to", "u.json").err
    assert set(dict(Policy.load("u.json").items())[0, "0"].values()) == {0.5}


# --- refusals --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["info", "leduk"], "There is no game 'leduk'; the nearest are leduc"),
        (["solve", "kuhn(cards=3)"], "The game 'kuhn' has "),
        (["solve", "leduc(suits=maybe)"], "The 'suits' parameter must be true or false, got 'maybe'."),
        (["info", "leduc("], "the last ')' is missing"),
        (["info", "none.efg"], "There is no file 'none.efg'."),
        (["info", "none.safetensors"], "There is no file 'none.safetensors'."),
        (["info", "openspiel:nope"], "OpenSpiel has no game 'nope'"),
        (["solve", "kuhn", "--algorithm", "cfr++"], "There is no algorithm 'cfr++'; the nearest are "),
        (["solve", "kuhn", "--nash-conv", "-1"], "The 'nash_conv' parameter must be a number >= 0"),
        (["solve", "kuhn", "--nash-conv", "nan"], "The 'nash_conv' parameter must be"),
        (["solve", "kuhn", "--seconds", "-1"], "The 'seconds' parameter must be"),
        (["solve", "kuhn", "--iterations", "-1"], "The 'iterations' parameter must be"),
        (["solve", "kuhn", "--out", "uniform.json"], "but uniform.json is a file; choose another."),
        (["evaluate", "kuhn", "none.json"], "There is no policy file 'none.json'."),
        (["evaluate", "leduc", "uniform.json"], "The policy is not one for leduc: 144 of 144 infosets of player 0"),
        (["evaluate", "kuhn", "rubbish.json"], "rubbish.json: not a policy of treeplex, in Parquet or JSON ("),
        (["evaluate", "kuhn", "."], "not a policy of treeplex"),
        (["export", "kuhn"], "There is nothing to save: give --efg FILE, --compiled FILE, or --policy FILE --to FILE."),
        (["export", "kuhn", "--policy", "uniform.json", "--efg", "k.efg"], "The option --policy needs --to FILE"),
        (["export", "kuhn", "--to", "x.txt"], "The option --to must end in .json or .parquet, got x.txt."),
        (["export", "kuhn", "--compiled", "x.npz"], "The option --compiled must end in .safetensors, got x.npz."),
        (["export", "kuhn", "--efg", "no/where.efg"], "The file no/where.efg cannot be written: No such file"),
        (["export", "leduc", "--policy", "uniform.json", "--to", "x.json"], "The policy is not one for leduc"),
        (["info", "rubbish.efg"], "rubbish.efg, line 1, column 1: "),
        (["info", "rubbish.safetensors"], "rubbish.safetensors: not a whole compiled game of treeplex ("),
        (["info", str(DATA / "three_friends.efg")], " has 3 players; treeplex solves games of two."),
        (["info", str(DATA / "forgetful_guard.efg")], "has no perfect recall: at infoset"),
        (["info", str(DATA / "shared_umbrella.efg")], "is not zero-sum nor constant-sum: the players' payoffs add"),
    ],
    ids=lambda value: " ".join(value)[-45:] if isinstance(value, list) else "",
)  # fmt: skip
def test_what_is_wrong_is_said_in_one_sentence(arguments, sentence, cli, policy) -> None:
    for name in ("rubbish.json", "rubbish.efg", "rubbish.safetensors"):
        Path(name).write_text("rubbish")
    assert sentence in cli(*arguments).sentence


def test_a_compiled_game_that_cannot_be_written_is_said(cli) -> None:
    assert "no/where.safetensors" in cli("export", "kuhn", "--compiled", "no/where.safetensors").sentence


def test_a_policy_that_cannot_be_written_is_said(cli) -> None:
    assert "no/where.parquet" in cli("export", "kuhn", "--to", "no/where.parquet").sentence


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write anywhere")
def test_a_run_folder_that_cannot_be_written_is_said(cli, tmp_path) -> None:
    (tmp_path / "locked").mkdir(mode=0o500)
    assert "cannot be written" in cli("solve", "kuhn", "--iterations", 1, "--out", "locked/run").sentence


def test_a_run_folder_below_a_file_is_said(cli, policy) -> None:
    assert "cannot be written" in cli("solve", "kuhn", "--iterations", 1, "--out", "uniform.json/run").sentence


@pytest.mark.parametrize(
    "arguments",
    [
        ["nonsense"],
        ["info"],
        ["solve", "kuhn", "--nash-conv", "little"],
        ["solve", "kuhn", "--iterations", "1.5"],
        ["solve", "kuhn", "--show", "-1"],
        ["solve", "kuhn", "--nope"],
        ["list", "nonsense"],
        ["evaluate", "kuhn"],
    ],
)
def test_wrong_usage_is_exit_code_2(arguments, cli) -> None:
    assert "--help" in cli(*arguments).sentence


@pytest.mark.parametrize("command", [[], ["list"], ["info"], ["solve"], ["evaluate"], ["export"]])
def test_help_is_there(command) -> None:
    result = CliRunner().invoke(app, [*command, "--help"])
    assert result.exit_code == 0
    assert "Usage: " in result.output


def test_options_are_named_as_in_python() -> None:
    text = CliRunner().invoke(app, ["solve", "--help"], env={"COLUMNS": "200", "TERM": "dumb"}).output
    assert all(f"--{name}" in text for name in ("algorithm", "nash-conv", "seconds", "iterations", "nodes", "seed"))


def test_the_version_is_told() -> None:
    assert CliRunner().invoke(app, ["--version"]).output == f"treeplex {tp.__version__}\n"


# --- odd names -------------------------------------------------------------------------------------------------------

ODD = ["[red]", "[bold", "a:x:b", "100 % {0}", "back\\slash [bold]"]


@pytest.mark.parametrize(
    "title",
    [pytest.param(t) if t == "a:x:b" else t for t in ODD],
)
def test_titles_and_labels_are_printed_as_they_are(title, cli, tmp_path) -> None:
    """A game is called by its file's name."""
    file = f"{title}.efg"
    (tmp_path / file).write_text(EFG.format(title="untitled", label=title))
    for arguments in (["info", file], ["solve", file, "--algorithm", "lp", "--no-save"]):
        code, out, err = cli(*arguments)
        assert code == 0
        assert title in out + err
    assert title in cli("solve", file, "--algorithm", "lp", "--no-save", "--show", 1).out


@pytest.mark.parametrize("algorithm", ["lp", "cfr"])
def test_an_exact_equilibrium_is_saved_like_any_other(algorithm, cli, pictures) -> None:
    """NashConv is 0 at once, and 0 has no place on the picture's axis."""
    game = "matrix([[1,-1],[-1,1]])"
    code, out, _ = cli("solve", game, "--algorithm", algorithm, "--nash-conv", 0, "--out", "run", "--json")
    assert code == 0
    assert json.loads(out)["nash_conv"] == 0
    assert {"policy.parquet", "result.json", "convergence.png"} <= {path.name for path in Path("run").iterdir()}


def test_titles_with_dollars_do_not_break_the_picture(cli, tmp_path, pictures) -> None:
    (tmp_path / "odd.efg").write_text(EFG.format(title="win $5^$ or lose", label="i"))
    code, out, _ = cli("solve", "odd.efg", "--iterations", 3, "--json")
    assert code == 0
    assert (Path(json.loads(out)["folder"]) / "convergence.png").exists()


def test_titles_do_not_leave_the_runs_folder(cli, tmp_path) -> None:
    (tmp_path / "odd.efg").write_text(EFG.format(title="../../up /etc/x", label="i"))
    folder = Path(cli("solve", "odd.efg", "--iterations", 1, "--json").last["folder"])
    assert folder.resolve().parent == tmp_path / "runs"


# --- as a process ----------------------------------------------------------------------------------------------------


def test_the_installed_command_refuses_without_a_traceback(tmp_path, outcome) -> None:
    command = Path(sys.executable).with_name("treeplex")
    done = subprocess.run([command, "solve", "nope"], capture_output=True, text=True, cwd=tmp_path, check=False)
    assert outcome(done.returncode, done.stdout, done.stderr).sentence.startswith("There is no game 'nope'")


def test_people_and_machines_have_a_stream_each(tmp_path) -> None:
    arguments = ["solve", "kuhn", "--nash-conv", "1e-3", "--json"]
    done = subprocess.run([*COMMAND, *arguments], capture_output=True, text=True, cwd=tmp_path, check=True)
    assert json.loads(done.stdout)["status"] == "solved"
    assert len(done.stdout.splitlines()) == 1
    assert "Traceback" not in done.stderr


@pytest.mark.parametrize("arguments", [["list"], ["list", "--json"], ["info", "kuhn"]], ids=" ".join)
def test_a_reader_that_leaves_is_no_error_to_complain_about(arguments, tmp_path) -> None:
    """Not a word on the other stream, and exit code 0: whoever leaves has read enough."""
    reader, writer = os.pipe()
    os.close(reader)
    done = subprocess.run(
        [*COMMAND, *arguments], stdout=writer, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False
    )
    os.close(writer)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_reader_that_leaves_costs_no_answer(tmp_path) -> None:
    """What could not be printed is in the folder."""
    reader, writer = os.pipe()
    os.close(reader)
    arguments = ["solve", "kuhn", "--iterations", "20", "--out", "run", "--json"]
    done = subprocess.run(
        [*COMMAND, *arguments], stdout=writer, stderr=subprocess.PIPE, text=True, cwd=tmp_path, check=False
    )
    os.close(writer)
    assert done.returncode == 0
    assert "Traceback" not in done.stderr
    told = json.loads((tmp_path / "run" / "result.json").read_text())
    assert told["iterations"] == 20
    assert tp.evaluate("kuhn", tmp_path / "run" / "policy.parquet").nash_conv == pytest.approx(told["nash_conv"])


@pytest.mark.parametrize("broken", ["checkpoint", "log"])
def test_the_answer_is_printed_before_anything_is_written(broken, cli, monkeypatch) -> None:
    """A disk that is full loses files and not the answer; the exit code says that something could not be written."""

    def full(path: Path) -> AbstractContextManager[Path]:
        return replacing(path / "a file on a full disk")  # as good as one: it cannot be written

    monkeypatch.setattr(f"treeplex.{'tensors' if broken == 'checkpoint' else 'arrow'}.replacing", full)
    ended = cli("solve", "kuhn", "--iterations", 30, "--checkpoint-seconds", 0, "--out", "run", "--json")
    assert ended.code == 2
    assert (ended.last["iterations"], ended.last["status"]) == (30, "iterations")
    assert f"{broken}.{'safetensors' if broken == 'checkpoint' else 'parquet'}/a file on a full disk" in ended.err
    assert "cannot be written: " in ended.err
    assert "Traceback" not in ended.err


@pytest.mark.parametrize(
    "number",
    [pytest.param(signal.SIGINT, id="ctrl-c"), pytest.param(signal.SIGTERM, id="terminate", marks=pytest.mark.slow)],
)
def test_ctrl_c_keeps_what_is_done(number, tmp_path) -> None:
    arguments = ["solve", "leduc", "--algorithm", "cfr+", "--seconds", "60", "--checkpoint-seconds", "0"]
    process = subprocess.Popen(
        [*COMMAND, *arguments, "--out", "run", "--json"],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    deadline = time.monotonic() + 60
    while not (tmp_path / "run" / "checkpoint.safetensors").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Traceback" not in err
    told = json.loads(out.splitlines()[-1])
    assert told["status"] == "interrupted"
    assert told["iterations"] >= 1
    assert tp.evaluate("leduc", tmp_path / "run" / "policy.parquet").nash_conv == pytest.approx(
        told["nash_conv"], abs=1e-9
    )


@pytest.mark.parametrize(
    "title",
    [
        "plain",
        "[bold red]",
    ],
)
def test_on_a_terminal_there_is_a_progress_line(title, tmp_path) -> None:
    (tmp_path / f"{title}.efg").write_text(EFG.format(title="untitled", label="i"))
    control, terminal = pty.openpty()
    process = subprocess.Popen(
        [*COMMAND, "solve", f"{title}.efg", "--seconds", "0.6", "--no-save", "--json"],
        stdout=subprocess.PIPE,
        stderr=terminal,
        text=True,
        cwd=tmp_path,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "200"},
    )
    os.close(terminal)
    shown = b""
    while True:
        try:
            piece = os.read(control, 4096)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(control)
    out, _ = process.communicate(timeout=60)
    assert process.returncode == 0
    assert json.loads(out)["game"] == title
    assert f"{title}, auto".encode() in shown


def test_traversals_of_cfr(cli) -> None:
    """``--traversal`` names the same algorithm as the suffix does."""
    for traversal in ("full", "partial", "rbp", "nested-rbp", "zero-reach-br"):
        options = ("--algorithm", "cfr+", "--traversal", traversal, "--iterations", 20, "--no-save", "--json")
        assert cli("solve", "kuhn", *options).last["algorithm"] == f"cfr+-{traversal}"
    sentence = cli("solve", "kuhn", "--algorithm", "dcfr", "--traversal", "partial").sentence
    assert "--traversal must be one of full, partial, rbp, nested-rbp, zero-reach-br" in sentence


def test_counts_may_be_written_with_an_exponent(cli) -> None:
    assert cli("solve", "kuhn", "--iterations", "2e1", "--no-save", "--json").last["iterations"] == 20
    for wrong in ("1.5", "many", "inf"):
        assert cli("solve", "kuhn", "--iterations", wrong, "--no-save").code == 2


def test_a_long_compilation_says_a_word_where_there_is_no_bar(cli, monkeypatch) -> None:
    monkeypatch.setattr("treeplex.cli.output.EVERY", 0.0)
    assert "loading goofspiel(cards=5)" in cli("info", "goofspiel(cards=5)").err
