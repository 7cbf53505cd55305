"""``treeplex holdem``: solve, resume, show, info; refusals in one sentence."""

from __future__ import annotations

import json
import signal
import subprocess
import sys
import time

import pytest
from rich.console import Console

from treeplex.holdem import Spot, sizes_for, solve
from treeplex.poker.grid import cells, class_name, colours, save_grid, terminal_grid

FIELDS = {
    "board": "Ks 9h 6d 3c Jh",
    "pot": 100,
    "effective_stack": 300,
    "oop_range": "AA,KQs,QTs:0.5,98s,77",
    "ip_range": "KK,QQ,AKs,T8s:0.25,77",
    "sizes": {"bet": "50%, a", "raise": "60%, a"},
}
RESULT = {
    *("game", "algorithm", "iterations", "nodes_touched", "seconds", "value", "nash_conv", "exploitability", "status"),
    *("backend", "threads", "storage", "seed", "iterate"),
}
OPTIONS = ("--board", "Ks 9h 6d 3c Jh", "--pot", 100, "--stack", 300, "--oop", "AA,KQs,98s", "--ip", "KK,AKs")


@pytest.fixture
def spot_file(tmp_path):
    path = tmp_path / "spot.json"
    path.write_text(json.dumps(FIELDS))
    return path


def test_solve_show_and_resume(cli, spot_file, tmp_path):
    run = cli("holdem", "solve", spot_file, "--until", "1%pot", "--out", "run", "--json")
    assert run.code == 0
    answer = run.last
    assert answer["exploitability_percent_of_pot"] <= 1.0
    assert answer["status"] == "solved"
    assert sum(answer["ev"]) == pytest.approx(100, abs=0.01)
    assert sum(answer["root_strategy"].values()) == pytest.approx(1)
    assert answer["nodes"] > 20
    more = cli("holdem", "resume", "run", "--until", "0.3%pot", "--json")
    assert more.code == 0
    assert more.last["iterations"] > answer["iterations"]
    shown = cli("holdem", "show", "run", "--line", "check, bet 50%", "--json").last
    assert shown["actions"] == ["fold", "call", "raise 170", "all-in 300"]
    assert shown["player"] == "oop"
    assert shown["pot"] == 150
    assert sum(hand["share"] for hand in shown["hands"].values()) == pytest.approx(1)
    words = cli("holdem", "show", "run", "--hand", "AA", "--png", "grid.png", "--parquet", "hands.parquet")
    assert "AsAh" in words.out
    assert (tmp_path / "grid.png").stat().st_size > 10_000
    assert (tmp_path / "hands.parquet").exists()
    grid = cli("holdem", "show", "run", "--grid")
    assert "AKs" in grid.out
    assert "72o" in grid.out


def test_solve_from_options_in_words(cli):
    run = cli("holdem", "solve", *OPTIONS, "--bet", "50%", "--raise", "a", "--until", "5mbb", "--big-blind", 50)
    assert run.code == 0
    assert "exploitability" in run.err
    assert "mbb" in run.err
    assert "run folder: runs/" in run.err


def test_stopping_before_the_target_is_code_1(cli, spot_file):
    assert cli("holdem", "solve", spot_file, "--until", "0.0001%", "--iterations", 3, "--no-save", "--json").code == 1
    assert cli("holdem", "solve", spot_file, "--iterations", 3, "--no-save", "--json").code == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM], ids=["ctrl-c", "terminate"])
def test_ctrl_c_keeps_what_is_done(number, cli, spot_file, tmp_path):
    """Code 1, though no target was missed: the run was to go on for a minute."""
    options = ["--seconds", "60", "--checkpoint-seconds", "0", "--out", "run", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-c", "from treeplex.cli.main import run; run()", "holdem", "solve", str(spot_file), *options],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        cwd=tmp_path,
    )
    deadline = time.monotonic() + 120
    while not (tmp_path / "run" / "checkpoint.safetensors").exists() and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert process.returncode == 1
    assert "Traceback" not in err
    told = json.loads(out.splitlines()[-1])
    assert told["status"] == "interrupted"
    assert told["iterations"] >= 1
    assert json.loads((tmp_path / "run" / "result.json").read_text())["status"] == "interrupted"
    kept = cli("holdem", "show", "run", "--json").last["totals"]
    assert kept == pytest.approx(told["root_strategy"])


def test_a_folder_with_another_kind_of_run_is_refused(cli, spot_file):
    assert cli("solve", "kuhn", "--iterations", 2, "--out", "run", "--json").code == 0
    said = cli("holdem", "solve", spot_file, "--iterations", 2, "--out", "run").sentence
    assert said == "The folder run holds a run with another kind of game ('game'); choose another folder."


@pytest.mark.parametrize(
    "command", [("solve", "kuhn"), ("grow", "continuous_leduc"), ("explore", "kuhn")], ids=" ".join
)
@pytest.mark.parametrize("held", ["a hold'em run", "somebody's files"])
def test_what_is_in_a_folder_already_is_not_touched(held, command, cli, spot_file, tmp_path):
    folder = tmp_path / "used"
    if held == "a hold'em run":
        assert cli("holdem", "solve", spot_file, "--iterations", 2, "--out", "used", "--json").code == 0
    else:
        folder.mkdir()
        (folder / "README.md").write_text("mine")
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    said = cli(*command, "--iterations", 2, "--out", "used").sentence
    assert said.startswith("The folder used ")
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_the_same_request_continues_its_own_run(cli, spot_file):
    whole = cli("holdem", "solve", spot_file, "--iterations", 50, "--no-save", "--json").last
    assert cli("holdem", "solve", spot_file, "--iterations", 20, "--out", "run", "--json").last["iterations"] == 20
    more = cli("solve", spot_file, "--iterations", 50, "--out", "run", "--json")  # either spelling
    assert (more.code, more.last["iterations"], more.last["nash_conv"]) == (0, 50, whole["nash_conv"])
    same = cli("holdem", "solve", spot_file, "--iterations", 50, "--out", "run", "--json")
    assert (same.code, same.last["iterations"], same.last["nash_conv"]) == (0, 50, whole["nash_conv"])


def test_every_command_for_runs_takes_a_spot(cli, spot_file):
    """``solve``, ``resume``, ``info`` and ``compare`` take a spot as they take a game by name."""
    solved = cli("solve", spot_file, "--exploitability", "1%pot", "--out", "run", "--json")
    assert solved.code == 0
    assert solved.last["exploitability_percent_of_pot"] <= 1.0
    assert solved.last.keys() >= RESULT
    assert solved.last["storage"] == "float32"
    more = cli("resume", "run", "--exploitability", "0.3%pot", "--json")
    assert more.code == 0
    assert more.last["exploitability_percent_of_pot"] <= 0.3
    assert more.last["iterations"] > solved.last["iterations"]
    size, poker = cli("info", spot_file, "--json").last, cli("holdem", "info", spot_file, "--json").last
    assert size == poker
    assert (size["game"], size["nodes"]) == (FIELDS["board"], solved.last["nodes"])
    compared = cli("compare", spot_file, "cfr+", "dcfr", "--iterations", 30, "--json")
    assert [run["algorithm"] for run in compared.last["runs"]] == ["cfr+", "dcfr"]
    assert "no table of all infosets" in cli("evaluate", spot_file, "policy.json").sentence


def test_info(cli, spot_file):
    fields = cli("holdem", "info", spot_file, "--json").last
    assert fields["boards_by_street"] == [1]
    assert fields["isomorphism_gain"] == 1.0
    assert fields["bytes"]["int16"] < fields["bytes"]["float32"] < fields["bytes"]["float64"]
    flop = cli("holdem", "info", spot_file, "--board", "Td 9d 6h", "--json").last
    assert flop["boards_by_street"] == [1, 36, 1429]
    assert flop["isomorphism_gain"] == pytest.approx(49 * 48 / 1429)
    words = cli("holdem", "info", spot_file, "--board", "Td 9d 6h").out
    assert "1,429 of 2,352 river boards (1.65×)" in words


def test_locks_from_a_file(cli, spot_file, tmp_path):
    lock = tmp_path / "locks.json"
    lock.write_text(json.dumps([{"line": "check, bet 50", "strategy": {"all": {"fold": 1.0}}}]))
    run = cli("holdem", "solve", spot_file, "--lock", lock, "--iterations", 50, "--out", "locked", "--json")
    assert run.code == 0
    assert cli("holdem", "show", "locked", "--line", "check, bet 50", "--json").last["totals"]["fold"] == pytest.approx(
        1
    )


def test_an_option_changes_just_what_it_names(cli, spot_file, tmp_path):
    """``--bet`` keeps the raises of the file, ``--raise`` its bets, and ``--pot`` its dead money."""
    size = cli("holdem", "info", spot_file, "--json").last["nodes"]
    assert cli("holdem", "info", spot_file, "--bet", "50%, a", "--json").last["nodes"] == size
    assert cli("holdem", "info", spot_file, "--raise", "60%, a", "--json").last["nodes"] == size
    fewer = cli("holdem", "info", spot_file, "--raise", "", "--json").last["nodes"]
    both = cli("holdem", "info", spot_file, "--raise", "", "--bet", "50%, a", "--json").last["nodes"]
    assert 9 < fewer == both < size  # bets are left
    spot_file.write_text(json.dumps(FIELDS | {"dead_money": 20}))
    solve = ("holdem", "solve", spot_file, "--iterations", 2, "--no-save", "--json")
    assert sum(cli(*solve).last["ev"]) == pytest.approx(120, abs=0.01)
    assert sum(cli(*solve, "--pot", 200).last["ev"]) == pytest.approx(220, abs=0.01)


def test_without_sizes_the_menu_is_named(cli, tmp_path):
    """On stderr and in the JSON, from options and from a file; not where sizes are given, be they none."""
    menu = {"bet": "33%, 75%, a", "raise": "60%, a"}
    run = cli("holdem", "solve", *OPTIONS, "--iterations", 2, "--no-save", "--json")
    assert "sizes: bets 33%, 75%, a and raises 60%, a on every street, the default menu" in run.err
    assert run.last["sizes"] == {"river": {"oop": menu, "ip": menu}}
    assert run.last["root_strategy"].keys() == {"check", "bet 33", "bet 75", "all-in 300"}
    path = tmp_path / "bare.json"
    path.write_text(json.dumps({key: value for key, value in FIELDS.items() if key != "sizes"}))
    assert "default menu" in cli("solve", path, "--iterations", 2, "--no-save").err
    one = cli("holdem", "solve", *OPTIONS, "--bet", "50%", "--iterations", 2, "--no-save", "--json")
    assert one.last["sizes"]["river"]["oop"] == menu | {"bet": "50%"}
    none = cli("holdem", "solve", *OPTIONS, "--bet", "", "--iterations", 2, "--no-save", "--json")
    assert none.last["root_strategy"] == {"check": pytest.approx(1)}
    assert "default menu" not in none.err


def test_amounts_in_big_blinds(cli):
    money = ("--pot", 5.5, "--stack", 17.5, "--chip", 0.5)
    options = (
        "--board",
        "10♠ 9h-6d,3c Jh",
        *money,
        "--oop",
        "15%",
        "--ip",
        "random !22",
        "--bet",
        "50",
        "--raise",
        "a",
    )
    run = cli("holdem", "solve", *options, "--iterations", 3, "--out", "run", "--json")
    assert sum(run.last["ev"]) == pytest.approx(5.5, abs=1e-4)
    assert run.last["root_strategy"].keys() == {"check", "bet 3"}
    shown = cli("holdem", "show", "run", "--line", "x/b50", "--json").last
    assert (shown["pot"], shown["actions"]) == (8.5, ["fold", "call", "all-in 17.5"])


@pytest.mark.parametrize(
    "text",
    [
        "[" * 100_000,
        "5",
        '[{"line":"","strategy":{"all":{"check":null}}}]',
        '[{"line":"","strategy":{"all":{"check":NaN}}}]',
        b"\xff",
    ],
    ids=lambda text: repr(text)[:20],
)
def test_files_of_locks_that_hold_no_locks(cli, spot_file, tmp_path, text):
    (tmp_path / "l.json").write_bytes(text if isinstance(text, bytes) else text.encode())
    sentence = cli("holdem", "solve", spot_file, "--lock", "l.json", "--iterations", 1, "--no-save").sentence
    assert len(sentence) <= 300
    assert "l.json" in sentence or sentence.startswith(("Lock", "The 'Lock 1"))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("solve",), "Give a spot file, or the option --board too"),
        (("solve", "nowhere.json"), "cannot be read"),
        (
            ("solve", *OPTIONS, "--until", "soon"),
            "'exploitability' parameter must be a number, or such as 0.3%pot, 5mbb or 2chips, got 'soon'",
        ),
        (("solve", *OPTIONS, "--until", "5mbb"), "in mbb needs the chips of a big blind"),
        (("solve", *OPTIONS, "--algorithm", "lp"), "Hold'em spots are solved by"),
        (("solve", *OPTIONS, "--storage", "bits"), "'storage'"),
        (("solve", *OPTIONS, "--bet", "half"), "must be of the forms"),
        (("solve", *OPTIONS, "--lock", "nowhere.json"), "cannot be read"),
        (("show", "nowhere"), "nowhere is not a run folder: it has no run.json"),
        (("info", *OPTIONS, "--board", "Ks Ks 9h"), "Ks twice"),
        (("info", *OPTIONS, "--oop", "KsKh"), None),
    ],
)
def test_refusals(cli, arguments, words):
    if words is None:
        assert "dead on the board" in cli("holdem", "info", *OPTIONS[:-4], "--oop", "KsQs", "--ip", "AA").sentence
    else:
        assert words in cli("holdem", *arguments).sentence


def test_grid(tmp_path):
    spot = Spot("Ks 9h 6d 3c Jh", 100, 300, "AA,KQs,98s", "KK,AKs", sizes_for("33%, 75%, a", ""))
    view = solve(spot, iterations=20, storage="float64").policy.at("")
    found = cells(view)
    names = {class_name(row, column) for row in range(13) for column in range(13)}
    assert len(names) == 169
    assert found.share.sum() == pytest.approx(1)
    held = {class_name(row, column) for row, column in zip(*found.share.nonzero(), strict=True)}
    assert held == {"AA", "KQs", "98s"}
    assert len(set(colours(view.actions))) == len(view.actions)
    console = Console(width=200, record=True, force_terminal=True, color_system="truecolor")
    with console.capture() as captured:
        console.print(terminal_grid(view))
    assert "\x1b[" in captured.get()
    save_grid(view, tmp_path / "grid.png")
    assert (tmp_path / "grid.png").stat().st_size > 10_000
