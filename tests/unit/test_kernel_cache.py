"""Cached kernels: which folders are used, which are refused, and what becomes of damaged files."""

from __future__ import annotations

import os
import pickle
import shutil
import stat
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from treeplex.kernels import cache as kernel_cache
from treeplex.kernels import jit
from treeplex.kernels.cache import MARKER, UNUSED_DAYS, choose_folders, objection, remove_old

KEY = "0123456789abcdef"
NAME = f"kernels-{KEY}"
NOWHERE = Path(os.devnull) / "nowhere"  # not even root can make a folder there
NOBODY = 65534
TWICE = "def twice(x):\n    return 2 * x\n"
SCRIPT = """
import sys
from treeplex.kernels.jit import CACHE_FOLDERS, kernel

@kernel
def twice(x):
    return 2 * x

print(twice(21), sum(twice.stats.cache_hits.values()), *CACHE_FOLDERS)
"""

as_root = pytest.mark.skipif(
    not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can become somebody else"
)


@pytest.fixture
def fresh(tmp_path, monkeypatch) -> Callable[[], Any]:
    """A new kernel each time, whose machine code is cached in one folder, as in a new process."""
    file = tmp_path / "tiny.py"
    file.write_text(TWICE)
    monkeypatch.setattr(jit, "CACHE_FOLDERS", (tmp_path / NAME,))

    module = ModuleType("tiny")
    monkeypatch.setitem(sys.modules, "tiny", module)

    def kernel() -> Any:
        exec(compile(file.read_text(), str(file), "exec"), module.__dict__)
        return jit.kernel(module.twice)

    return kernel


@pytest.fixture
def places(tmp_path, monkeypatch) -> dict[str, Path]:
    """The parent of each candidate in the order in which they are tried, all empty."""
    inside = {"variable": "", "package": "__pycache__", "caches": "treeplex"}
    inside["temporary"] = f"treeplex-{kernel_cache._user()}"
    for name in inside:
        (tmp_path / name).mkdir(mode=0o700)
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "variable"))
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "caches"))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return {name: tmp_path / name / below for name, below in inside.items()}


def hits(kernel: Any) -> int:
    return sum(kernel.stats.cache_hits.values())


def entries(folder: Path) -> list[Path]:
    return sorted(folder.rglob("*.nb[ic]"))


def mode(path: Path) -> int:
    return stat.S_IMODE(path.stat().st_mode)


def sentences(caplog) -> list[str]:
    return [record.getMessage() for record in caplog.records if record.name == "treeplex"]


# --- files


def test_a_second_process_finds_the_file_of_the_first(fresh) -> None:
    first, second = fresh(), fresh()
    assert (first(21), hits(first)) == (42, 0)
    assert (second(21), hits(second)) == (42, 1)
    assert second(0.5) == 1.0
    assert hits(second) == 1


def replaced_by(kind: str) -> Callable[[Path], None]:
    def replace(path: Path) -> None:
        path.unlink()
        if kind == "folder":
            path.mkdir()
        elif kind == "pipe":
            os.mkfifo(path)
        else:
            path.symlink_to(kind)

    return replace


def flipped(at: float) -> Callable[[Path], None]:
    def flip(path: Path) -> None:
        content = bytearray(path.read_bytes())
        content[int(at * (len(content) - 1))] ^= 0x10
        path.write_bytes(content)

    return flip


def sealed(payload: Callable[[], bytes]) -> Callable[[Path], None]:
    return lambda path: kernel_cache._write(path, payload())


class Bomb:
    """Raises whatever it was made with when it is unpickled."""

    def __init__(self, expression: str) -> None:
        self.expression = expression

    def __reduce__(self) -> Any:
        return eval, (self.expression,)


DAMAGE: dict[str, Callable[[Path], Any]] = {
    "empty": lambda path: path.write_bytes(b""),
    "one byte": lambda path: path.write_bytes(b"\x80"),
    "half": lambda path: path.write_bytes(path.read_bytes()[: path.stat().st_size // 2]),
    "last byte lost": lambda path: path.write_bytes(path.read_bytes()[:-1]),
    "byte added": lambda path: path.write_bytes(path.read_bytes() + b"\0"),
    "zeros": lambda path: path.write_bytes(bytes(path.stat().st_size)),
    "garbage": lambda path: path.write_bytes(bytes(7 * k % 256 for k in range(path.stat().st_size))),
    "end zeroed": lambda path: path.write_bytes(path.read_bytes()[:-999] + bytes(999)),
    "first byte": flipped(0.0),
    "early byte": flipped(0.1),
    "middle byte": flipped(0.5),
    "late byte": flipped(0.9),
    "last byte": flipped(1.0),
    "unregistered extension": lambda path: path.write_bytes(b"\x82\x07."),
    "pickle of something else": lambda path: path.write_bytes(pickle.dumps([1, 2, 3])),
    "folder": replaced_by("folder"),
    "pipe": replaced_by("pipe"),
    "link to nothing": replaced_by("nothing"),
    "link to zeros": replaced_by("/dev/zero"),
    "writable by others": lambda path: path.chmod(0o666),
}
WHOLE: dict[str, Callable[[Path], Any]] = {
    "no tuple": sealed(lambda: pickle.dumps(7)),
    "no pickle": sealed(lambda: b"what is this?"),
    "ends early": sealed(lambda: pickle.dumps([1, 2, 3])[:-2]),
    "unknown class": sealed(lambda: b"cnowhere\nNothing\n."),
    "unknown name": sealed(lambda: b"ctreeplex.kernels.jit\nNothing\n."),
    "out of memory": sealed(lambda: pickle.dumps(Bomb("(_ for _ in ()).throw(MemoryError())"))),
    "too deep": sealed(lambda: pickle.dumps(Bomb("(_ for _ in ()).throw(RecursionError())"))),
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_a_damaged_file_is_compiled_anew_and_replaced(fresh, tmp_path, damage) -> None:
    assert fresh()(21) == 42
    for path in entries(tmp_path):
        DAMAGE[damage](path)
    again = fresh()
    assert (again(21), hits(again)) == (42, 0)
    if damage != "folder":  # which stays: it is not ours
        last = fresh()
        assert (last(21), hits(last)) == (42, 1)


@pytest.mark.parametrize("content", WHOLE)
def test_a_whole_file_that_cannot_be_unpickled_is_compiled_anew_and_replaced(fresh, tmp_path, content) -> None:
    assert fresh()(21) == 42
    for path in entries(tmp_path):
        WHOLE[content](path)
    again, last = fresh(), fresh()
    assert (again(21), hits(again)) == (42, 0)
    assert (last(21), hits(last)) == (42, 1)


def test_whole_files_that_hold_no_machine_code_are_compiled_anew(fresh, tmp_path) -> None:
    assert fresh()(21) == 42
    (path,) = entries(tmp_path)
    source, key, _ = pickle.loads(kernel_cache._read(path))
    kernel_cache._write(path, pickle.dumps((source, key, ("no", "machine", "code"))))
    again = fresh()
    assert (again(21), hits(again)) == (42, 0)


def test_a_damaged_file_does_not_hide_a_whole_one_in_the_next_folder(fresh, tmp_path, monkeypatch) -> None:
    assert fresh()(21) == 42
    shutil.copytree(tmp_path / NAME, tmp_path / "shared")
    for path in entries(tmp_path / "shared"):
        path.write_bytes(b"damaged")
    monkeypatch.setattr(jit, "CACHE_FOLDERS", (tmp_path / "shared", tmp_path / NAME))
    again = fresh()
    assert (again(21), hits(again)) == (42, 1)


def test_files_in_each_others_place_are_not_used(fresh, tmp_path) -> None:
    kernel = fresh()
    assert (kernel(21), kernel(0.25)) == (42, 0.5)
    first, second = entries(tmp_path)
    saved = first.read_bytes()
    first.write_bytes(second.read_bytes())
    second.write_bytes(saved)
    again = fresh()
    assert (again(21), again(0.25), hits(again)) == (42, 0.5, 0)


def test_the_file_of_another_source_is_not_used(fresh, tmp_path) -> None:
    assert fresh()(21) == 42
    kernel_cache._source_hash.cache_clear()
    (tmp_path / "tiny.py").write_text(TWICE.replace("2 * x", "3 * x"))
    try:
        again = fresh()
        assert (again(21), hits(again)) == (63, 0)
    finally:
        kernel_cache._source_hash.cache_clear()


def test_nothing_without_the_right_checksum_is_unpickled(fresh, tmp_path) -> None:
    assert fresh()(21) == 42
    trace = tmp_path / "trace"
    for path in entries(tmp_path):
        path.write_bytes(bytes(32) + pickle.dumps(Bomb(f"open({str(trace)!r}, 'w')")))
    assert fresh()(21) == 42
    assert not trace.exists()


def test_a_folder_that_is_deleted_is_made_again(fresh, tmp_path) -> None:
    assert fresh()(21) == 42
    shutil.rmtree(tmp_path / NAME)
    assert fresh()(21) == 42
    last = fresh()
    assert (last(21), hits(last)) == (42, 1)
    assert mode(tmp_path / NAME) == 0o700


def test_what_cannot_be_saved_is_used_all_the_same(fresh, tmp_path) -> None:
    (tmp_path / NAME).write_text("a file")
    assert fresh()(21) == 42


def test_a_kernel_can_be_compiled_afresh(fresh, tmp_path) -> None:
    kernel = fresh()
    assert kernel(21) == 42
    (tmp_path / NAME / "tiny.other-1.py311.00.nbc").write_text("another kernel")
    kernel.recompile()
    assert (kernel(21), hits(kernel)) == (42, 0)
    assert len(entries(tmp_path)) == 2


def test_a_kernel_without_a_folder_is_compiled_and_not_cached(fresh, monkeypatch) -> None:
    monkeypatch.setattr(jit, "CACHE_FOLDERS", ())
    kernel = fresh()
    assert (kernel(21), kernel.stats.cache_path) == (42, None)


def test_files_are_private_whatever_the_umask(fresh, tmp_path) -> None:
    before = os.umask(0)
    try:
        assert fresh()(21) == 42
    finally:
        os.umask(before)
    assert mode(tmp_path / NAME) == 0o700
    assert [mode(path) for path in entries(tmp_path)] == [0o600]


def test_a_folder_that_can_only_be_read_is_read_and_new_kernels_go_to_the_next(fresh, tmp_path, monkeypatch) -> None:
    assert fresh()(21) == 42
    monkeypatch.setattr(jit, "CACHE_FOLDERS", (tmp_path / NAME, tmp_path / "next" / NAME))
    kernel = fresh()
    assert (kernel(21), hits(kernel)) == (42, 1)
    assert kernel(0.5) == 1.0
    assert len(entries(tmp_path / NAME)) == len(entries(tmp_path / "next")) == 1


# --- folders


@pytest.mark.parametrize("blocked", range(4))
def test_the_first_folder_that_can_be_written_is_used(places, monkeypatch, caplog, blocked) -> None:
    if blocked > 0:
        monkeypatch.setenv("NUMBA_CACHE_DIR", str(NOWHERE))
    if blocked > 2:
        monkeypatch.setenv("XDG_CACHE_HOME", str(NOWHERE))
    package = places["package"].parent if blocked < 2 else NOWHERE
    (folder,) = choose_folders(KEY, package)
    assert folder == list(places.values())[blocked] / NAME
    assert mode(folder) == 0o700
    assert (folder / MARKER).is_file()
    lines = sentences(caplog)
    assert len(lines) == (blocked > 0), "a folder that was not asked for is left out in silence"
    for line in lines:
        assert line == (
            f"Compiled kernels are not cached in NUMBA_CACHE_DIR={NOWHERE}: Not a directory."
            f" They are cached in {folder.parent}."
        )


def test_without_any_folder_that_is_said_once(places, monkeypatch, caplog) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", str(NOWHERE))
    monkeypatch.setattr(tempfile, "tempdir", str(NOWHERE))
    assert choose_folders(KEY, NOWHERE) == ()
    (line,) = sentences(caplog)
    assert line == "Every process compiles its kernels anew; set NUMBA_CACHE_DIR to a private folder to cache them."


@pytest.mark.parametrize("home", ["/nonexistent", str(NOWHERE), "relative", None])
def test_a_home_that_is_not_there_is_not_made(places, monkeypatch, caplog, home) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.delenv("XDG_CACHE_HOME")
    monkeypatch.setenv("HOME", home) if home else monkeypatch.delenv("HOME")
    if home is None:  # and a user without an entry in the table of users
        monkeypatch.setattr(os.path, "expanduser", lambda path: path)
    assert choose_folders(KEY, NOWHERE) == (places["temporary"] / NAME,)
    assert not Path("/nonexistent").exists()
    assert not sentences(caplog)


def test_a_home_has_caches(places, tmp_path, monkeypatch) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative: it does not count")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert choose_folders(KEY, NOWHERE) == (tmp_path / ".cache" / "treeplex" / NAME,)


def test_whatever_the_umask_nobody_else_can_write(places, monkeypatch) -> None:
    deep = places["variable"] / "a" / "b"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(deep))
    before = os.umask(0)
    try:
        (folder,) = choose_folders(KEY, NOWHERE)
    finally:
        os.umask(before)
    assert folder == deep / NAME
    assert objection(folder) is None


@pytest.mark.parametrize("loose", ["folder", "parent", "above"])
def test_a_folder_that_others_may_write_to_or_replace_is_refused(places, monkeypatch, caplog, loose) -> None:
    parent = places["variable"] / "parent"
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(parent))
    (parent / NAME).mkdir(parents=True)
    place = {"folder": parent / NAME, "parent": parent, "above": parent.parent}[loose]
    place.chmod(0o707)
    assert choose_folders(KEY, places["package"].parent) == (places["package"] / NAME,)
    (line,) = sentences(caplog)
    assert line == (
        f"Compiled kernels are not cached in NUMBA_CACHE_DIR={parent}: other users may write to {place} (chmod go-w"
        f" {place} forbids it). They are cached in {places['package']}."
    )


def test_nothing_is_made_in_a_folder_that_others_may_write_to(places) -> None:
    places["variable"].chmod(0o777)
    choose_folders(KEY, places["package"].parent)
    assert list(places["variable"].iterdir()) == []


@pytest.mark.parametrize("place", ["caches", "temporary"])
def test_a_loose_folder_is_named_wherever_it_is_but_beside_the_package(places, monkeypatch, caplog, place) -> None:
    monkeypatch.delenv("NUMBA_CACHE_DIR")
    places["package"].mkdir()
    places["package"].chmod(0o777)
    folders = choose_folders(KEY, places["package"].parent)
    assert (folders, sentences(caplog)) == ((places["caches"] / NAME,), [])
    places["caches"].chmod(0o777)
    if place == "temporary":
        places["temporary"].mkdir()
        places["temporary"].chmod(0o777)
    folders = choose_folders(KEY, places["package"].parent)
    assert folders == (() if place == "temporary" else (places["temporary"] / NAME,))
    (line,) = sentences(caplog)
    assert f"not cached in {places[place]}: other users may write to {places[place]}" in line


def test_the_folder_for_temporary_files_may_be_open_to_all(places) -> None:
    places["variable"].chmod(0o1777)
    assert choose_folders(KEY, NOWHERE) == (places["variable"] / NAME,)


def test_a_link_in_place_of_the_folder_is_refused(places, tmp_path) -> None:
    (tmp_path / "elsewhere").mkdir(mode=0o700)
    (places["variable"] / NAME).symlink_to(tmp_path / "elsewhere")
    assert choose_folders(KEY, places["package"].parent) == (places["package"] / NAME,)
    assert list((tmp_path / "elsewhere").iterdir()) == []


def test_a_link_to_a_parent_is_resolved(places, tmp_path, monkeypatch) -> None:
    (tmp_path / "link").symlink_to(places["variable"])
    monkeypatch.setenv("NUMBA_CACHE_DIR", str(tmp_path / "link"))
    assert choose_folders(KEY, NOWHERE) == (places["variable"] / NAME,)


@as_root
@pytest.mark.parametrize("owned", ["folder", "parent"])
def test_a_folder_of_another_user_is_refused(places, caplog, owned) -> None:
    folder = places["variable"] / NAME
    folder.mkdir(mode=0o700)
    place = folder if owned == "folder" else folder.parent
    os.chown(place, NOBODY, NOBODY)
    assert choose_folders(KEY, places["package"].parent) == (places["package"] / NAME,)
    assert f"{place} belongs to another user" in sentences(caplog)[0]


@pytest.mark.parametrize("private", [True, False])
def test_the_group_of_one_user_may_write(places, monkeypatch, private) -> None:
    monkeypatch.setattr(kernel_cache, "_is_private", lambda group: private)
    places["variable"].chmod(0o770)
    folders = choose_folders(KEY, places["package"].parent)
    assert folders == (places["variable" if private else "package"] / NAME,)


def test_a_group_is_private_if_it_has_the_name_and_no_other_member(monkeypatch) -> None:
    pwd, grp = pytest.importorskip("pwd"), pytest.importorskip("grp")
    users = {0: ("ann", []), 1: ("ann", ["ann"]), 2: ("ann", ["ann", "bob"]), 3: ("staff", [])}
    monkeypatch.setattr(pwd, "getpwuid", lambda user: type("User", (), {"pw_name": "ann"}))
    monkeypatch.setattr(
        grp, "getgrgid", lambda group: type("Group", (), dict(zip(("gr_name", "gr_mem"), users[group], strict=True)))
    )
    is_private = kernel_cache._is_private.__wrapped__
    assert [is_private(group) for group in (*users, 4)] == [True, True, False, False, False]


def test_where_files_have_no_owners_the_first_folder_is_used(places, monkeypatch) -> None:
    monkeypatch.setattr(kernel_cache, "_HAS_OWNERS", False)
    places["variable"].chmod(0o777)
    assert choose_folders(KEY, NOWHERE) == (places["variable"] / NAME,)


def test_a_folder_that_can_only_be_read_does_not_end_the_search(places, monkeypatch) -> None:
    folder = places["variable"] / NAME
    folder.mkdir(mode=0o755)
    ask = os.access
    monkeypatch.setattr(os, "access", lambda path, how: ask(path, how) and not (path == folder and how == os.W_OK))
    assert choose_folders(KEY, places["package"].parent) == (folder, places["package"] / NAME)


def test_a_folder_that_cannot_even_be_read_is_named(places, monkeypatch, caplog) -> None:
    """As one that root made and did not open to others."""
    scan, closed = os.scandir, places["variable"] / NAME

    def refuse(path: Path) -> Any:
        if path == closed:
            raise PermissionError(13, "Permission denied")
        return scan(path)

    monkeypatch.setattr(os, "scandir", refuse)
    assert choose_folders(KEY, places["package"].parent) == (places["package"] / NAME,)
    (line,) = sentences(caplog)
    assert f"not cached in NUMBA_CACHE_DIR={places['variable']}: Permission denied." in line


# --- old folders


def test_only_old_folders_of_ours_are_removed(tmp_path) -> None:
    def folder(name: str, days: float, mark: bool = True) -> Path:
        made = tmp_path / "parent" / name
        (made / "inside").mkdir(parents=True)
        (made / "code.py").write_text("x")
        if mark:
            (made / MARKER).touch()
        then = time.time() - days * 86_400
        for path in (made, *made.iterdir()):
            os.utime(path, (then, then))
        return made

    old = folder("kernels-0123456789abcdef", UNUSED_DAYS + 1)
    (old / "link").symlink_to(folder("outside", 100 * UNUSED_DAYS))
    folder("kernels-1123456789abcdef", UNUSED_DAYS - 1)
    folder("kernels-project", 100 * UNUSED_DAYS)
    folder("kernels-2123456789abcdef", 100 * UNUSED_DAYS, mark=False)
    folder("kernels-3123456789abcdefg", 100 * UNUSED_DAYS)
    folder("mine", 100 * UNUSED_DAYS)
    (tmp_path / "parent" / "kernels-4123456789abcdef").symlink_to(folder("linked", 100 * UNUSED_DAYS))
    before = {path.name for path in (tmp_path / "parent").iterdir()}
    remove_old(tmp_path / "parent")
    assert before - {path.name for path in (tmp_path / "parent").iterdir()} == {old.name}
    for name in ("outside", "linked"):
        assert (tmp_path / "parent" / name / "code.py").is_file()


def test_a_folder_in_use_is_not_old(places) -> None:
    (folder,) = choose_folders(KEY, NOWHERE)
    then = time.time() - 2 * UNUSED_DAYS * 86_400
    for path in (folder, folder / MARKER):
        os.utime(path, (then, then))
    choose_folders(KEY, NOWHERE)
    choose_folders(KEY.replace("0", "f"), NOWHERE)
    assert folder.exists()


# --- processes


def test_a_variable_that_names_a_file_is_named_in_one_line(tmp_path) -> None:
    (tmp_path / "script.py").write_text(SCRIPT)
    (tmp_path / "file").write_text("x")
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "file"), "XDG_CACHE_HOME": str(tmp_path)}
    command = [sys.executable, "-W", "error", str(tmp_path / "script.py")]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=environment)
    assert done.stdout.startswith("42 ")
    (line,) = done.stderr.splitlines()
    assert line.startswith(f"Compiled kernels are not cached in NUMBA_CACHE_DIR={tmp_path / 'file'}: Not a directory.")


@pytest.fixture
def as_nobody() -> Callable[..., tuple[str, str]]:
    """Run Python as a user who can write nowhere but among temporary files; returns stdout and stderr."""
    paths = os.pathsep.join(path for path in sys.path if path)
    name = f"python{sys.version_info.major}.{sys.version_info.minor}"

    def run(python: str, *options: str, **environment: str) -> tuple[str, str]:
        done = subprocess.run(
            [python, "-B", *options],
            capture_output=True,
            text=True,
            check=True,
            user=NOBODY,
            group=NOBODY,
            extra_groups=[],
            cwd="/",
            env={"PATH": os.environ["PATH"], "PYTHONPATH": paths, **environment},
        )
        return done.stdout, done.stderr

    for python in (sys.executable, f"/usr/local/bin/{name}", f"/usr/bin/{name}"):
        with suppress(OSError, subprocess.CalledProcessError):
            run(python, "-c", "import numba, treeplex")
            return partial(run, python)
    pytest.skip("needs a Python that nobody may read")


@as_root
def test_a_user_without_a_home_caches_among_temporary_files(as_nobody) -> None:
    folder = Path(tempfile.mkdtemp(dir="/tmp"))  # the folders above tmp_path are private
    script, expected = folder / "script.py", folder / f"treeplex-{NOBODY}"
    try:
        folder.chmod(0o1777)
        script.write_text(SCRIPT)
        for number, home in enumerate(({"HOME": "/nonexistent"}, {"HOME": "/"}, {})):
            output, errors = as_nobody(str(script), TMPDIR=str(folder), **home)
            value, hits, *folders = output.split()
            assert (value, hits, errors) == ("42", str(min(number, 1)), "")
            assert Path(folders[-1]).parent == expected
        assert mode(expected) == 0o700
    finally:
        shutil.rmtree(folder)
