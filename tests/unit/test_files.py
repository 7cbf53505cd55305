"""Files are whole or not there, and folders have one writer at a time."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pytest

import treeplex as tp
from treeplex import files
from treeplex.arrow import write_parquet
from treeplex.compile.storage import save as save_game
from treeplex.errors import ParameterError
from treeplex.files import LOCK, PREFIX, SUFFIX, locked, remove_leftovers, replace_text, replacing
from treeplex.limits import Limits
from treeplex.plots.plot import plot_convergence
from treeplex.runs.folder_lock import claimed_for
from treeplex.tensors import mapped_tensors, read_tensors, write_tensors

HOLD = """
import sys, time
from pathlib import Path
from treeplex.files import locked
with locked(Path(sys.argv[1])):
    print("held", flush=True)
    time.sleep(600)
"""


class StoppedError(Exception):
    """Something goes wrong in the middle of a file."""


WRITERS: dict[str, Callable[[Path], Any]] = {
    "text": lambda path: replace_text(path, "new"),
    "parquet": lambda path: write_parquet(pa.table({"a": [1.0]}), path),
    "tensors": lambda path: write_tensors(path, "k", {"a": np.zeros(3)}, {}),
    "policy": lambda path: tp.Policy.uniform(tp.load("kuhn")).save(path.with_suffix(".json")),
    "game": lambda path: save_game(tp.load("kuhn"), path),
    "picture": lambda path: plot_convergence({}, "t", path),
}


def names(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


@pytest.mark.parametrize("writer", WRITERS)
def test_a_failure_leaves_the_old_file_and_nothing_else(writer, tmp_path, monkeypatch) -> None:
    """A full disk shows at the latest when what was written is to be on it."""
    path = tmp_path / "file.json"
    path.write_text("old")

    def full(temporary: Path) -> None:
        raise OSError(errno.ENOSPC, "whatever", str(temporary))

    monkeypatch.setattr(files, "_flush", full)
    with pytest.raises(ParameterError) as error:
        WRITERS[writer](path)
    assert str(error.value) == f"The file {path} cannot be written: {os.strerror(errno.ENOSPC)}."
    assert path.read_text() == "old"
    assert names(tmp_path) == {"file.json"}
    monkeypatch.undo()
    WRITERS[writer](path)
    assert path.read_bytes() != b"old"
    assert names(tmp_path) == {"file.json"}


@pytest.mark.parametrize("writer", WRITERS)
def test_links_folders_and_devices_are_neither_followed_nor_replaced(writer, tmp_path) -> None:
    (tmp_path / "target").write_text("mine")
    (tmp_path / "link.json").symlink_to(tmp_path / "target")
    (tmp_path / "lost.json").symlink_to(tmp_path / "nowhere")
    (tmp_path / "folder.json").mkdir()
    os.mkfifo(tmp_path / "pipe.json")
    for name, why in {
        "link": "a symbolic link",
        "lost": "a symbolic link",
        "folder": "a folder",
        "pipe": "not a plain",
    }.items():
        with pytest.raises(ParameterError, match=f"cannot be written: it is {why}"):
            WRITERS[writer](tmp_path / f"{name}.json")
    assert (tmp_path / "target").read_text() == "mine"
    assert names(tmp_path) == {"target", "link.json", "lost.json", "folder.json", "pipe.json"}


def test_anything_else_that_goes_wrong_passes_and_leaves_nothing(tmp_path) -> None:
    with pytest.raises(StoppedError), replacing(tmp_path / "a"):
        raise StoppedError
    assert names(tmp_path) == set()


def test_a_temporary_file_is_nobody_elses(tmp_path) -> None:
    with replacing(tmp_path / "a") as one, replacing(tmp_path / "a") as two:
        assert one != two
        assert one.name.startswith(PREFIX)
        assert one.name.endswith(SUFFIX)
        one.write_text("one")
        two.write_text("two")
    assert (tmp_path / "a").read_text() == "one"  # the last to be done
    assert names(tmp_path) == {"a"}


def test_files_have_the_usual_mode(tmp_path) -> None:
    replace_text(tmp_path / "ours", "")
    (tmp_path / "usual").write_text("")
    assert (tmp_path / "ours").stat().st_mode == (tmp_path / "usual").stat().st_mode


def test_leftovers_are_ours_alone(tmp_path) -> None:
    ours, others = [f"{PREFIX}1{SUFFIX}", LOCK], ["note.tmp", ".tmp1", "a.partial", f"{PREFIX}x"]
    for name in (*ours, *others):
        (tmp_path / name).write_text("")
    remove_leftovers(tmp_path)
    assert names(tmp_path) == {LOCK, *others}


@pytest.mark.parametrize(
    "array", [np.arange(3.0), np.empty((0, 2), np.float32), np.array([True]), np.arange(5, dtype="i2")]
)
@pytest.mark.parametrize("mapped", [False, True])
def test_tensors_are_what_the_library_reads(array, mapped, tmp_path) -> None:
    write_tensors(tmp_path / "a", "k", {"x": array, "y": np.arange(3, dtype=np.uint8)}, {"n": 1})
    with mapped_tensors(tmp_path / "a", "k") if mapped else nullcontext(read_tensors(tmp_path / "a", "k")) as found:
        tensors, about = found
    assert (about, tensors["x"].dtype) == ({"n": 1}, array.dtype)
    np.testing.assert_array_equal(tensors["x"], array)
    np.testing.assert_array_equal(tensors["y"], [0, 1, 2])


def test_pages_of_a_file_are_not_written_to(tmp_path) -> None:
    write_tensors(tmp_path / "a", "k", {"x": np.arange(3.0)}, {})
    with mapped_tensors(tmp_path / "a", "k") as (tensors, _):
        pass
    assert not tensors["x"].flags.writeable


# --- locks -----------------------------------------------------------------------------------------------------------


def test_a_second_writer_is_refused_and_a_killed_one_is_forgotten(tmp_path) -> None:
    holder = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], stdout=subprocess.PIPE, text=True)
    assert holder.stdout is not None
    assert holder.stdout.readline() == "held\n"
    with pytest.raises(ParameterError, match=f"is being written to by process {holder.pid}; wait"), locked(tmp_path):
        pass
    holder.kill()
    holder.communicate()
    assert names(tmp_path) == {LOCK}  # which does no harm
    with locked(tmp_path):
        assert (tmp_path / LOCK).read_text() == f"{os.getpid()}\n"
    assert names(tmp_path) == set()


def test_one_process_cannot_write_twice_at_once(tmp_path) -> None:
    with locked(tmp_path), pytest.raises(ParameterError, match="is being written to by"), locked(tmp_path):
        pass
    with locked(tmp_path):
        pass


def test_a_file_system_without_locks_works(tmp_path, monkeypatch) -> None:
    def unsupported(handle: int) -> None:
        raise OSError(errno.ENOTSUP, "no locks here")

    monkeypatch.setattr(files, "_take", unsupported)
    assert tp.solve("kuhn", iterations=5, out=tmp_path / "run").iterations == 5
    assert tp.resume(tmp_path / "run", iterations=9).iterations == 9


def test_a_folder_that_is_gone_when_the_lock_is_released(tmp_path) -> None:
    folder = tmp_path / "a"
    folder.mkdir()
    with locked(folder):
        (folder / LOCK).unlink()
        folder.rmdir()
    assert not folder.exists()


@pytest.mark.parametrize("call", ["solve", "resume", "grow", "explore", "save"])
def test_runs_refuse_a_folder_that_is_being_written_and_leave_it_alone(call, tmp_path) -> None:
    folder = tmp_path / "run"
    starts: dict[str, Callable[[], Any]] = {
        "solve": lambda: tp.solve("kuhn", iterations=9, out=folder),
        "resume": lambda: tp.resume(folder, iterations=9),
        "grow": lambda: tp.grow("continuous_leduc", iterations=9, out=folder),
        "explore": lambda: tp.explore("kuhn", iterations=9, responses=5, out=folder),
        "save": lambda: tp.solve("kuhn", iterations=9).save(folder),
    }
    if call in ("grow", "explore"):
        starts[call]()
    else:
        tp.solve("kuhn", iterations=5, out=folder)
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    with locked(folder):
        with pytest.raises(ParameterError, match="is being written to by process"):
            starts[call]()
        assert {path.name: path.read_bytes() for path in folder.iterdir() if path.name != LOCK} == before
        assert list(tp.Policy.load(folder / "policy.parquet").rows())  # readers do not wait
    starts[call]()


# --- runs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("folder", ["", 5, b"x", "x\0y", None.__class__])
def test_what_is_no_path_is_refused(folder, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    for call in (lambda: tp.solve("kuhn", iterations=5, out=folder), lambda: tp.resume(folder)):
        with pytest.raises(ParameterError, match="parameter must be the path of a folder, got"):
            call()
    assert names(tmp_path) == set()


def test_a_run_that_was_killed_before_its_first_file_starts_in_its_folder(tmp_path) -> None:
    for name in (LOCK, f"{PREFIX}1{SUFFIX}"):
        (tmp_path / name).write_text("")
    assert tp.solve("kuhn", iterations=5, out=tmp_path).iterations == 5
    assert not {name for name in names(tmp_path) if name.startswith(PREFIX)}


def test_limits_given_to_resume_hold_for_whoever_resumes_next(tmp_path) -> None:
    tp.solve("kuhn", "cfr", iterations=5, out=tmp_path / "run")

    def killed(progress: Any) -> None:
        raise StoppedError

    with pytest.raises(StoppedError):
        tp.resume(tmp_path / "run", iterations=500, watch=killed)
    assert json.loads((tmp_path / "run" / "run.json").read_text())["limits"]["iterations"] == 500
    assert tp.resume(tmp_path / "run").iterations == 500


def test_seconds_given_to_resume_are_counted_from_the_start_of_the_run() -> None:
    assert Limits(seconds=3.0).after(4.0) == Limits(seconds=7.0)
    assert Limits(seconds=3.0).after(4.0).left(6.0) == Limits(seconds=1.0)
    assert Limits(iterations=3).after(4.0) == Limits(iterations=3)


def test_an_answer_does_not_replace_a_longer_run(tmp_path) -> None:
    short = tp.solve("kuhn", "cfr", iterations=5)
    tp.solve("kuhn", "cfr", iterations=50, out=tmp_path / "run")
    before = {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir() if path.name != "run.json"}
    with pytest.raises(ParameterError, match="holds this run after 50 iterations, which is more than these 5; choose"):
        short.save(tmp_path / "run")
    assert {path.name: path.read_bytes() for path in (tmp_path / "run").iterdir() if path.name != "run.json"} == before


@pytest.mark.slow
def test_a_grown_run_on_disk_can_be_saved_elsewhere(tmp_path) -> None:
    """With the subgames that were moved to disk, and without touching where they lie."""
    growth = tp.Growth(archive=1)
    run = tp.grow("continuous_leduc", iterations=410, growth=growth, out=tmp_path / "one")
    stored = (tmp_path / "one" / "archive.bin").read_bytes()
    assert stored
    run.save(tmp_path / "two")
    run.save(tmp_path / "two")  # again
    assert (tmp_path / "one" / "archive.bin").read_bytes() == stored
    one, two = (tp.resume(tmp_path / name, iterations=500) for name in ("one", "two"))
    assert one.nash_conv == two.nash_conv
    assert sorted(one.policy.rows()) == sorted(two.policy.rows())


def test_a_folder_for_something_else_than_a_run(tmp_path) -> None:
    purpose = {"game": "kuhn", "seed": 1}
    for _ in range(2):
        with claimed_for(tmp_path / "a", "comparison", purpose) as folder:
            (folder / "plot").write_text("ours")
    with (
        pytest.raises(ParameterError, match=r"holds a comparison with another seed \(1\); choose another folder\."),
        claimed_for(tmp_path / "a", "comparison", purpose | {"seed": 2}),
    ):
        pass
    for content in ("{", "[]", '{"format": "mine"}'):
        (tmp_path / "a" / "comparison.json").write_text(content)
        with pytest.raises(ParameterError) if "mine" in content else pytest.raises(tp.TreeplexError):
            claimed_for(tmp_path / "a", "comparison", purpose).__enter__()
        assert (tmp_path / "a" / "comparison.json").read_text() == content
