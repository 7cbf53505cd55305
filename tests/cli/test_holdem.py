"""``treeplex holdem``: solve, resume, show, info; refusals in one sentence."""

from __future__ import annotations

import io
import json
import re
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from pyarrow import parquet
from rich.console import Console

import treeplex as tp
from treeplex.games.holdem.betting import Action
from treeplex.holdem import Spot, sizes_for, solve
from treeplex.plots.grid import cells, class_name, colours, palette_for, plot_grid, print_grid

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
    run = cli("holdem", "solve", spot_file, "--exploitability", "1%pot", "--out", "run", "--json")
    assert run.code == 0
    answer = run.last
    assert answer["exploitability_percent_of_pot"] <= 1.0
    assert answer["status"] == "solved"
    assert sum(answer["ev"]) == pytest.approx(100, abs=0.01)
    assert sum(answer["root_strategy"].values()) == pytest.approx(1)
    assert answer["nodes"] > 20
    more = cli("resume", "run", "--exploitability", "0.3%pot", "--json")
    assert more.code == 0
    assert more.last["iterations"] > answer["iterations"]
    shown = cli("holdem", "show", "run", "--line", "check, bet 50%", "--json").last
    assert shown["actions"] == ["fold", "call", "raise 170", "all-in 300"]
    assert shown["player"] == "oop"
    assert shown["pot"] == 150
    assert sum(hand["share"] for hand in shown["hands"]) == pytest.approx(1)
    words = cli("holdem", "show", "run", "--hand", "AA", "--png", "grid.png", "--parquet", "hands.parquet")
    assert words.out.startswith("oop to act, pot 100: check ")
    assert "AsAh" in words.out
    assert (tmp_path / "grid.png").stat().st_size > 10_000
    assert (tmp_path / "hands.parquet").exists()


@pytest.fixture(scope="module")
def solved_once(tmp_path_factory):
    folder = tmp_path_factory.mktemp("solved")
    (folder / "spot.json").write_text(json.dumps(FIELDS))
    tp.solve(folder / "spot.json", iterations=60, out=folder / "run")
    return folder / "run"


@pytest.fixture
def solved(cli, solved_once, tmp_path):
    shutil.copytree(solved_once, tmp_path / "run")
    return "run"


NODE = {"line", "board", "player", "to_act", "pot", "actions", "totals", "tolerance", "hands"}
HAND = {"hand", "reach", "share", "strategy", "ev", "value", "equity", "indifferent"}


def test_a_node_has_one_schema(cli, solved):
    shown = cli("holdem", "show", solved, "--line", "check, bet 50%", "--json").last
    assert shown.keys() == NODE
    assert len(shown["totals"]) == len(shown["actions"]) == 4
    for hand in shown["hands"]:
        assert hand.keys() == HAND
        mixed = sum(p * ev for p, ev in zip(hand["strategy"], hand["ev"], strict=True))
        assert hand["value"] == pytest.approx(mixed, abs=0.01 * shown["pot"])  # after rare ones it replies best
        assert hand["ev"][0] == 0.0  # fold
    other = cli("holdem", "show", solved, "--line", "check, bet 50%", "--player", "ip", "--json").last
    assert other.keys() == NODE
    assert (other["player"], other["to_act"], other["actions"], other["totals"]) == ("ip", "oop", [], [])
    both = [sum(hand["share"] * hand["value"] for hand in side["hands"]) for side in (shown, other)]
    assert sum(both) == pytest.approx(150, abs=1e-3)


@pytest.mark.parametrize("options", [("--hand", "AA,77"), ("--hand", "AA,98s", "--by-class"), ("--sort", "ev")])
@pytest.mark.parametrize("most", [None, 2])
def test_one_selection_in_table_json_and_parquet(cli, solved, tmp_path, options, most):
    more = () if most is None else ("--most", most)
    told = cli("holdem", "show", solved, *options, *more, "--json", "--parquet", "x.parquet").last["hands"]
    names = [hand["hand"] for hand in told]
    assert (len(names) == most) if most else 2 <= len(names) <= 22
    table = cli("holdem", "show", solved, *options, *more).out.splitlines()
    assert [line.split()[0] for line in table[2:]] == names
    kept = parquet.read_table(tmp_path / "x.parquet").to_pylist()
    assert [row["hand"] for row in kept] == [name for name in names for _ in range(3)]
    assert [row["ev"] for row in kept] == [ev for hand in told for ev in hand["ev"]]
    assert [row["probability"] for row in kept] == [p for hand in told for p in hand["strategy"]]


def test_the_page_shows_what_show_prints(cli, spot_file):
    page = (Path(__file__).resolve().parents[2] / "docs/how-to/holdem.md").read_text(encoding="utf-8")
    example = page[page.index("oop to act, pot 150") :].split("```")[0].splitlines()
    solving = ("--iterations", 200, "--storage", "float64", "--out", "runs/spot")
    assert cli("holdem", "solve", spot_file, *solving, "--json").code == 0
    told = cli("holdem", "show", "runs/spot", "--line", "check, bet 50%", "--by-class").out.splitlines()
    assert [line.rstrip() for line in told] == example


def test_the_screen_shows_some_hands_and_says_so(cli, tmp_path):
    wide = FIELDS | {"oop_range": "22+,A2s+"}
    (tmp_path / "wide.json").write_text(json.dumps(wide))
    assert cli("holdem", "solve", "wide.json", "--iterations", 2, "--out", "run", "--json").code == 0
    told = cli("holdem", "show", "run")
    hands = len(cli("holdem", "show", "run", "--json").last["hands"])
    assert len(told.out.splitlines()) == 2 + 30
    assert told.err == f"... {hands - 30} more: use --most {hands}, --by-class or --hand\n"
    assert len(cli("holdem", "show", "run", "--most", hands).out.splitlines()) == 2 + hands


def test_hands_that_are_not_there(cli, solved):
    told = cli("holdem", "show", solved, "--hand", "72o")
    assert told.code == 0
    assert told.err == "no hand of '72o' is in oop's range here\n"
    assert told.out.startswith("oop to act, pot 100")
    assert len(told.out.splitlines()) == 1
    assert cli("holdem", "show", solved, "--hand", "72o", "--json").last["hands"] == []


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (("--png", "out.txt"), "The option --png must end in .png, got 'out.txt'."),
        (("--parquet", "out.csv"), "The option --parquet must end in .parquet, got 'out.csv'."),
        (("--sort", "size"), "sorted by class, reach, ev, equity, check, bet 50, all-in 300; got 'size'."),
        (("--player", "button"), "The 'player' parameter must be oop or ip, got 'button'."),
        (("--hand", "nothing"), "has parts such as"),
        (("--grid", "--most", 3), "The option --grid shows all classes in a fixed order"),
        (("--grid", "--json"), "The option --grid shows all classes in a fixed order"),
    ],
)
def test_refusals_of_show(cli, solved, tmp_path, options, words):
    assert words in cli("holdem", "show", solved, *options).sentence
    assert not (tmp_path / "out.txt").exists()


def test_no_zero_has_a_minus(cli, solved):
    for line in ("", "check", "check, all-in", "check, bet 50%", "bet 50%"):
        told = cli("holdem", "show", solved, "--line", line, "--most", 100).out
        assert "(" in told
        assert "-0.00" not in told
        assert "-0.0," not in cli("holdem", "show", solved, "--line", line, "--json").out


def test_rake_in_words_and_json(cli, spot_file, tmp_path):
    raked = tmp_path / "raked.json"
    raked.write_text(json.dumps(FIELDS | {"rake_rate": 0.05, "rake_cap": 4}))
    told = cli("holdem", "solve", raked, "--exploitability", "0.5%pot", "--no-save", "--json")
    assert told.code == 0
    assert (told.last["zero_sum"], told.last["value"]) == (False, None)
    assert len(told.last["gains"]) == 2
    assert sum(told.last["gains"]) / 2 <= 0.5
    said = cli("holdem", "solve", raked, "--exploitability", "0.5%pot", "--no-save")
    words = said.out + said.err
    assert "a best response gains oop " in words
    assert "with rake the game is not zero-sum: it has no value" in words
    free = cli("holdem", "solve", spot_file, "--exploitability", "0.5%pot", "--no-save")
    assert "zero-sum" not in free.out + free.err
    assert (
        cli("holdem", "solve", spot_file, "--exploitability", "0.5%pot", "--no-save", "--json").last["zero_sum"] is True
    )


def test_solve_from_options_in_words(cli):
    run = cli(
        "holdem", "solve", *OPTIONS, "--bet", "50%", "--raise", "a", "--exploitability", "5mbb", "--big-blind", 50
    )
    assert run.code == 0
    assert "exploitability" in run.out
    assert "mbb" in run.out
    assert "run folder: runs/" in run.err


def test_stopping_before_the_target_is_code_1(cli, spot_file):
    assert (
        cli("holdem", "solve", spot_file, "--exploitability", "0.0001%", "--iterations", 3, "--no-save", "--json").code
        == 1
    )
    assert cli("holdem", "solve", spot_file, "--iterations", 3, "--no-save", "--json").code == 0


@pytest.mark.parametrize(
    "number",
    [pytest.param(signal.SIGINT, id="ctrl-c"), pytest.param(signal.SIGTERM, id="terminate", marks=pytest.mark.slow)],
)
def test_ctrl_c_keeps_what_is_done(number, cli, spot_file, tmp_path):
    """Code 1, though no target was missed: the run was to go on for a minute."""
    options = ["--seconds", "60", "--checkpoint-seconds", "0", "--out", "run", "--json"]
    process = subprocess.Popen(
        [sys.executable, "-m", "treeplex", "holdem", "solve", str(spot_file), *options],
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
    assert kept == pytest.approx(list(told["root_strategy"].values()))


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
    assert size.pop("bytes_free") > 0
    assert poker.pop("bytes_free") > 0
    assert size == poker
    assert (size["game"], size["nodes"]) == (FIELDS["board"], solved.last["nodes"])
    compared = cli("compare", spot_file, "cfr+", "dcfr", "--iterations", 30, "--json")
    assert [run["algorithm"] for run in compared.last["runs"]] == ["cfr+", "dcfr"]
    assert "is not compiled into infosets" in cli("evaluate", spot_file, "policy.json").sentence


def test_info(cli, spot_file):
    fields = cli("holdem", "info", spot_file, "--json").last
    assert fields["boards_by_street"] == [1]
    assert fields["isomorphism_gain"] == 1.0
    assert fields["bytes"]["int16"] < fields["bytes"]["float32"] < fields["bytes"]["float64"]
    flop = cli("holdem", "info", spot_file, "--board", "Td 9d 6h", "--json").last
    assert flop["boards_by_street"] == [1, 36, 1429]
    assert flop["isomorphism_gain"] == pytest.approx(49 * 48 / 1429)
    assert 0.0 < fields["seconds_estimated"]["0.5%pot"] < flop["seconds_estimated"]["0.5%pot"]
    assert flop["seconds_estimated"]["0.5%pot"] < flop["seconds_estimated"]["0.1%pot"]
    words = cli("holdem", "info", spot_file, "--board", "Td 9d 6h").out
    assert "1,429 of 2,352 river boards (1.65×)" in words
    assert "free memory" in words
    assert " to 0.5%pot, " in words
    assert "isomorphism" not in cli("holdem", "info", spot_file).out  # nothing is alike on a river
    assert "sizes (default)" not in words
    assert "sizes (default)" in cli("holdem", "info", *OPTIONS).out


def test_locks_from_a_file(cli, spot_file, tmp_path):
    lock = tmp_path / "locks.json"
    lock.write_text(json.dumps([{"line": "check, bet 50", "strategy": {"all": {"fold": 1.0}}}]))
    run = cli("holdem", "solve", spot_file, "--lock", lock, "--iterations", 50, "--out", "locked", "--json")
    assert run.code == 0
    assert "never played" in cli("holdem", "show", "locked", "--line", "check, bet 50, all-in").err
    shown = cli("holdem", "show", "locked", "--line", "check, bet 50", "--json").last
    assert dict(zip(shown["actions"], shown["totals"], strict=True))["fold"] == pytest.approx(1)


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
        (("solve",), "Give a spot file, or also the option --board"),
        (("solve", "nowhere.json"), "cannot be read"),
        (
            ("solve", *OPTIONS, "--exploitability", "soon"),
            "'exploitability' parameter must be a number, or a text such as 0.3%pot, 5mbb or 2chips, got 'soon'",
        ),
        (("solve", *OPTIONS, "--exploitability", "5mbb"), "in mbb needs the size of a big blind in chips"),
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


@pytest.fixture(scope="module")
def view():
    spot = Spot("Ks 9h 6d 3c Jh", 100, 300, "AA,KQs,98s", "KK,AKs", sizes_for("33%, 75%, a", ""))
    return solve(spot, iterations=20, storage="float64").at("")


def test_grid(tmp_path, view):
    found = cells(view)
    names = {class_name(row, column) for row in range(13) for column in range(13)}
    assert len(names) == 169
    assert found.share.sum() == pytest.approx(1)
    held = {class_name(row, column) for row, column in zip(*found.share.nonzero(), strict=True)}
    assert held == {"AA", "KQs", "98s"}
    plot_grid(view, tmp_path / "grid.png")
    assert (tmp_path / "grid.png").stat().st_size > 10_000


def drawn(view, **options):
    console = Console(width=80, force_terminal=True, emoji=False, _environ={"COLUMNS": "80"}, **options)
    with console.capture() as captured:
        print_grid(view, console)
    return captured.get()


@pytest.mark.parametrize("system", ["truecolor", "256", "standard"])
def test_the_grid_fits_80_columns_and_its_colours_differ(system, view):
    told = drawn(view, color_system=system)
    assert "\x1b[" in told
    plain = re.sub(r"\x1b\[[0-9;]*m", "", told).splitlines()
    assert max(len(line) for line in plain) <= 80
    assert len(plain) == 1 + 4 + 13
    assert any("72o" in line for line in plain)
    legend = [line.split("m", 1)[0] for line in told.splitlines()[1:5]]
    assert len(set(legend)) == 4  # check and three sizes


def test_any_number_of_sizes_gets_colours_that_differ_or_none():
    for count in range(1, 12):
        actions = [Action("check"), *(Action("bet", 10 * k) for k in range(1, count)), Action("all-in", 500)]
        assert len(set(colours(actions))) == len(actions)
        for system in ("truecolor", "256", "standard"):
            palette = palette_for(Console(force_terminal=True, color_system=system, _environ={}), actions)
            assert palette is not None or (system != "truecolor" and count > 5)
            if palette is not None:
                assert len(set(palette)) == len(actions)
    for none in (Console(force_terminal=True, no_color=True), Console(file=io.StringIO(), _environ={})):
        assert palette_for(none, [Action("check")]) is None


def test_the_grid_in_numbers(cli, solved, view):
    lines = drawn(view, no_color=True).splitlines()
    assert max(len(line) for line in lines) <= 80
    at = next(k for k, line in enumerate(lines) if line.split()[:2] == ["AA", "AKs"])
    aces = [float(line.split()[-13]) for line in lines[at + 1 : at + 5]]
    assert aces == pytest.approx([100 * x for x in view["AA"].strategy], abs=0.5)
    assert [line.rsplit(maxsplit=13)[0] for line in lines[at + 1 : at + 5]] == ["check", "bet 33%", "bet 75%", "all-in"]
    piped = cli("holdem", "show", solved, "--grid").out
    assert "AKs" in piped
    assert "72o" in piped
    assert "check: " in piped
    assert "EV" in cli("holdem", "show", solved, "--grid", "--player", "ip").out
    chosen = cli("holdem", "show", solved, "--grid", "--hand", "AA").out
    assert sum(line.count(" .") for line in chosen.splitlines()) == 3 * 168  # all classes but one, three actions
