"""Folders and files that commands write: our own are continued, anybody else's are refused and not touched."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from treeplex.cli.output import new_folder
from treeplex.errors import ParameterError
from treeplex.files import LOCK, locked
from treeplex.papers import REPRODUCTIONS
from treeplex.papers.report import PaperReport, Table

COMPARE = ("compare", "kuhn", "cfr", "cfr+", "--out", "both", "--json")


@pytest.fixture(autouse=True)
def no_pictures_of_comparisons(monkeypatch) -> None:
    """A picture takes half a second."""
    monkeypatch.setattr("treeplex.cli.compare.plot_convergence", lambda *_: None)


def contents(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


# --- compare ---------------------------------------------------------------------------------------------------------


def test_the_same_comparison_continues_in_its_folder(cli) -> None:
    cli(*COMPARE, "--iterations", 20)
    (Path("both") / "note.txt").write_text("good one")
    ended = cli(*COMPARE, "--iterations", 90)
    assert ended.code == 0
    assert [told["iterations"] for told in ended.lines[:-1]] == [90, 90]
    cli("solve", "kuhn", "--algorithm", "cfr", "--iterations", 90, "--out", "whole", "--json")
    assert Path("both/cfr/policy.parquet").read_bytes() == Path("whole/policy.parquet").read_bytes()
    assert (Path("both") / "note.txt").read_text() == "good one"


def test_a_comparison_that_was_killed_continues(cli, monkeypatch) -> None:
    """In the middle of its second run, with a checkpoint a moment before."""

    class KilledError(BaseException):
        """Stands for kill -9."""

    class Line:
        def __init__(self, title: str, *_: Any) -> None:
            self.deadly = "cfr+" in title

        def __enter__(self) -> Line:
            return self

        def __exit__(self, *_: object) -> None: ...

        def stop(self) -> None: ...

        def watch(self, progress: Any) -> None:
            if self.deadly and progress.iteration > 30:
                raise KilledError

    with monkeypatch.context() as patch, pytest.raises(KilledError):
        patch.setattr("treeplex.cli.compare.ProgressLine", Line)
        cli(*COMPARE, "--iterations", 500, "--checkpoint-seconds", 0)
    assert Path("both/cfr/result.json").exists()
    assert Path("both/cfr+/checkpoint.safetensors").exists()
    assert not Path("both/cfr+/result.json").exists()
    assert cli(*COMPARE, "--iterations", 500).code == 0
    cli("solve", "kuhn", "--algorithm", "cfr+", "--iterations", 500, "--out", "whole", "--json")
    assert Path("both/cfr+/policy.parquet").read_bytes() == Path("whole/policy.parquet").read_bytes()


@pytest.mark.parametrize(
    ("arguments", "other"),
    [
        (("compare", "leduc", "cfr", "cfr+", "--out", "both"), "game"),
        (("compare", "kuhn", "cfr", "lp", "--out", "both"), "algorithms"),
        (("compare", "kuhn", "cfr", "--out", "both"), "algorithms"),
        (("compare", "kuhn", "cfr", "cfr+", "--seed", 1, "--out", "both"), "seed"),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_another_comparison_is_refused(arguments, other, cli) -> None:
    cli(*COMPARE, "--iterations", 20)
    before = contents(Path("both"))
    said = cli(*arguments, "--iterations", 5).sentence
    assert said.startswith(f"The folder both holds a comparison with another {other} (")
    assert said.endswith("; choose another folder.")
    assert contents(Path("both")) == before


def test_runs_and_comparisons_do_not_mix(cli) -> None:
    cli(*COMPARE, "--iterations", 5)
    cli("solve", "kuhn", "--iterations", 5, "--out", "one")
    before = contents(Path())
    assert "is not empty and holds no run" in cli("solve", "kuhn", "--iterations", 5, "--out", "both").sentence
    assert "is not empty and holds no run" in cli("compare", "kuhn", "cfr", "--out", "one").sentence
    assert contents(Path()) == before


def test_a_comparison_has_one_writer(cli) -> None:
    cli(*COMPARE, "--iterations", 5)
    with locked(Path("both")):
        assert "is being written to by process" in cli(*COMPARE, "--iterations", 9).sentence


# --- reproduce -------------------------------------------------------------------------------------------------------


@pytest.fixture
def figure(monkeypatch) -> str:
    """A reproduction that takes no time."""

    def reproduce(folder: Path, tell: Any) -> PaperReport:
        return PaperReport("quick", [], [Table(["a"], [[1]]).write(folder / "quick.csv")])

    entry = next(iter(REPRODUCTIONS.values()))
    monkeypatch.setitem(REPRODUCTIONS, "quick", entry._replace(id="quick", run=reproduce))
    return "quick"


def test_reproduce_keeps_to_its_own_folder(cli, figure) -> None:
    for _ in range(2):
        assert cli("reproduce", figure, "--json").last["files"] == ["runs/quick/quick.csv"]
    Path("mine").mkdir()
    Path("mine/quick.csv").write_text("mine")
    assert "The folder mine is not empty and holds no run" in cli("reproduce", figure, "--out", "mine").sentence
    assert contents(Path("mine")) == {"quick.csv": b"mine"}
    cli(*COMPARE, "--iterations", 5)
    assert "is not empty and holds no run" in cli("reproduce", figure, "--out", "both").sentence


# --- new folders -----------------------------------------------------------------------------------------------------


def test_new_folders_are_taken_at_once_and_given_back_if_they_stay_empty(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    with new_folder("a/b (c)") as one, new_folder("a/b (c)") as two:
        assert (str(one), str(two)) == ("runs/a_b_c-1", "runs/a_b_c-2")
        assert one.is_dir()
        (two / "run.json").write_text("")
    assert contents(tmp_path) == {"runs/a_b_c-2/run.json": b""}
    assert not one.exists()
    with pytest.raises(ZeroDivisionError), new_folder("d"):
        raise ZeroDivisionError
    assert not Path("runs/d-1").exists()


def test_a_place_where_no_folder_can_be_made(tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs").write_text("a file")
    with (
        pytest.raises(ParameterError, match=r"The folder runs cannot be written: .*; give --out FOLDER\."),
        new_folder("a"),
    ):
        pass


@pytest.mark.parametrize("command", ["solve", "explore", "compare", "grow", "resume"])
def test_an_empty_name_is_no_folder(command, cli) -> None:
    line = {
        "compare": ("compare", "kuhn", "cfr", "--out", ""),
        "grow": ("grow", "continuous_leduc", "--out", ""),
        "resume": ("resume", ""),
    }.get(command, (command, "kuhn", "--iterations", 5, "--out", ""))
    assert "must be the path of a folder, got ''" in cli(*line).sentence
    assert contents(Path()) == {}


# --- files -----------------------------------------------------------------------------------------------------------

FILES = {
    "efg": ("export", "kuhn", "--efg", "file.efg"),
    "compiled": ("export", "kuhn", "--compiled", "file.safetensors"),
    "policy": ("export", "kuhn", "--to", "file.json"),
    "merged": ("merge", "kuhn", "p.json", "--to", "file.parquet"),
    "explored": ("explore", "kuhn", "--iterations", 20, "--responses", 5, "--to", "file.json"),
}


@pytest.mark.parametrize("kind", FILES)
def test_a_file_that_is_there_is_replaced_only_if_asked(kind, cli) -> None:
    cli("export", "kuhn", "--to", "p.json")
    path = Path(next(str(word) for word in FILES[kind] if str(word).startswith("file.")))
    path.write_text("mine")
    said = f"The file {path} already exists; give --force to replace it, or another name."
    assert cli(*FILES[kind]).sentence == said
    assert path.read_text() == "mine"
    assert cli(*FILES[kind], "--force").code == 0
    new = path.read_bytes()
    assert new != b"mine"
    path.unlink()
    assert cli(*FILES[kind]).code == 0
    assert path.read_bytes() == new or kind == "explored"
    path.unlink()
    path.symlink_to("p.json")
    before = Path("p.json").read_bytes()
    assert "is a symbolic link; name the file it points to" in cli(*FILES[kind], "--force").sentence
    assert Path("p.json").read_bytes() == before


def test_a_file_that_cannot_be_written_is_named(cli) -> None:
    said = cli("export", "kuhn", "--efg", "nowhere/k.efg").sentence
    assert said == "The file nowhere/k.efg cannot be written: No such file or directory."


def test_explore_that_was_killed_continues(cli) -> None:
    line = ("explore", "kuhn", "--responses", 5, "--seed", 3, "--json")
    cli(*line, "--iterations", 700, "--out", "whole")
    cli(*line, "--iterations", 300, "--out", "parts")
    Path("parts", LOCK).write_text("1")  # as a killed process leaves it
    assert cli(*line, "--iterations", 700, "--out", "parts").last["iterations"] == 700
    assert Path("whole/policy.parquet").read_bytes() == Path("parts/policy.parquet").read_bytes()
    results = [json.loads(Path(name, "result.json").read_text()) | {"seconds": 0} for name in ("whole", "parts")]
    assert results[0] == results[1]
    assert not Path("parts", LOCK).exists()


# --- compare --all ---------------------------------------------------------------------------------------------------

TABLE = ("compare", "kuhn", "cfr", "mccfr-external", "--seeds", 3, "--accuracies", "0.3,0.1", "--iterations", 300)


def test_a_table_of_accuracies(cli) -> None:
    ran = cli(*TABLE, "--out", "table", "--json")
    assert ran.code == 0
    last = ran.last
    assert last["accuracies"] == [0.3, 0.1]
    assert [row["seeds"] for row in last["table"] if row["algorithm"] == "mccfr-external"] == [3, 3]
    assert len(ran.lines) == 1 + 4  # a line per run
    assert [Path(file).name for file in last["files"]] == ["comparison.parquet", "comparison.png"]
    assert all(Path(file).exists() for file in last["files"])
    words = cli(*TABLE, "--out", "table")
    assert "nodes to 0.3" in words.out
    assert "mccfr-external" in words.out


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (("compare", "kuhn"), "Name one or more algorithms, or give --all, but not both"),
        (("compare", "kuhn", "cfr", "--all"), "Name one or more algorithms, or give --all, but not both"),
        (("compare", "kuhn", "--all", "--nash-conv", "0.1"), "A table of accuracies has its own targets"),
        (("compare", "kuhn", "cfr", "--accuracies", "few"), "The option --accuracies must be numbers"),
    ],
)
def test_a_table_is_refused_in_a_sentence(cli, given, said) -> None:
    assert cli(*given).sentence.startswith(said)
