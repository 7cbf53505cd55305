"""What a newcomer meets first: help at once, a list that can be read, completion, and a word while kernels compile."""

from __future__ import annotations

import subprocess
import sys

import numba
import pytest

from treeplex.algorithms.registry import ALGORITHMS
from treeplex.cli.lazy import COMMANDS, loaded
from treeplex.cli.output import console, working
from treeplex.cli.progress import ProgressLine
from treeplex.games.catalog import CATALOG
from treeplex.kernels.jit import announced_compilation
from treeplex.limits import Limits
from treeplex.runs.loop import Progress

HEAVY = ("numba", "pyarrow", "scipy", "matplotlib", "numpy")


@pytest.mark.parametrize("option", ["--version", "--help"])
def test_help_waits_for_no_library(option) -> None:
    code = (
        "import sys; from treeplex.cli.main import run; sys.argv = ['treeplex', sys.argv[1]]\n"
        "try: run()\n"
        f"finally: sys.stderr.write(' '.join(name for name in {HEAVY} if name in sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", code, option], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert "treeplex" in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_short_help_is_the_first_sentence_of_the_command(name) -> None:
    assert " ".join(loaded(name).help.split()).startswith(COMMANDS[name])


def test_help_names_every_command(cli) -> None:
    said = cli("--help").out
    assert [name for name in COMMANDS if f" {name} " not in said] == []


def test_a_command_that_is_not_there(cli) -> None:
    assert cli("sollve").sentence.startswith("There is no command 'sollve'; the nearest are solve")


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["solve"], "Missing argument 'GAME'. See: treeplex solve --help."),
        (["solve", "kuhn", "--iteration", "3"], "No such option: --iteration"),
        (["holdem", "show"], "Missing argument 'FOLDER'. See: treeplex holdem show --help."),
        (["list", "gamez"], "gamez"),
    ],
)
def test_usage_errors_are_one_sentence(arguments, said, cli) -> None:
    assert said in cli(*arguments).sentence
    told = cli(*arguments, "--json")
    assert said in told.last["error"]
    assert told.sentence == told.last["error"]


@pytest.mark.parametrize("columns", [60, 80, 120])
def test_list_fits_the_terminal_and_names_every_parameter(columns, cli, monkeypatch) -> None:
    monkeypatch.setenv("COLUMNS", str(columns))
    said = cli("list", "--all").out
    assert max(map(len, said.split("A game can also")[0].splitlines())) <= columns
    words = set(said.replace(",", " ").split())
    for entry in (*CATALOG.values(), *ALGORITHMS.values()):
        name, _, parameters = entry.usage.partition("(")
        assert {name, *parameters.rstrip(")").replace(",", " ").replace(";", "; ").split()} <= words


@pytest.mark.parametrize(
    ("line", "offered"),
    [
        ("treeplex so", "solve"),
        ("treeplex solve led", "leduc leduc5 leduc_ext leduc_pots"),
        ("treeplex info game", "game.efg game_folder/"),
        ("treeplex solve kuhn --algorithm pd", "pdcfr+"),
        ("treeplex compare kuhn cfr-b", "cfr-br"),
        ("treeplex holdem sh", "show"),
    ],
)
def test_completion(line, offered, cli, monkeypatch, tmp_path) -> None:
    (tmp_path / "game.efg").touch()
    (tmp_path / "game.txt").touch()
    (tmp_path / "game_folder").mkdir()
    monkeypatch.setenv("_TREEPLEX_COMPLETE", "complete_bash")
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.setenv("COMP_CWORD", str(len(line.split()) - 1))
    assert cli().out.split() == offered.split()


def test_the_answer_is_on_stdout_and_nothing_else(cli) -> None:
    said = cli("solve", "kuhn", "--iterations", 5)
    assert [word in said.out for word in ("NashConv", "value for player 0", "infoset", "run folder")] == [1, 1, 1, 0]
    assert "run folder" in said.err
    quiet = cli("solve", "kuhn", "--iterations", 5, "--quiet")
    assert quiet.err == ""
    assert "NashConv" in quiet.out


def test_kernels_that_compile_are_announced_at_once(capsys, monkeypatch) -> None:
    monkeypatch.setattr(console, "quiet", False)
    with ProgressLine("kuhn", Limits(iterations=5)) as line:
        line.watch(Progress(0, 0.0, [], compiling=1))
        line.watch(Progress(0, 0.0, [], compiling=2))
    assert capsys.readouterr().err.count("compiling kernels, once on this machine") == 1

    def twice(x: int) -> int:
        return x + x

    counted: list[int] = []
    with announced_compilation(counted.append), working("loading"):
        compiled = numba.njit(twice)
        assert (compiled(1), compiled(2), compiled(1.5)) == (2, 4, 3.0)
    assert counted == [1, 2]
    told = "loading: compiling kernels, once on this machine; this does not count as solving\n"
    assert capsys.readouterr().err.removesuffix("loading\n") == told  # a line more if it takes two seconds
