"""What only some systems have is asked for in one module, so that Windows and macOS are not stopped elsewhere."""

from __future__ import annotations

import ast
import os
import re
import sys
from pathlib import Path

import treeplex
from treeplex.system import apart, is_alive, lock

HOME = Path(treeplex.__file__).parent
ONLY_HERE = re.compile(
    r"\bfcntl\b|\bmsvcrt\b|^\s*import resource|os\.fork\b|os\.kill\b|os\.sysconf|os\.sched_|send_signal"
    r"|start_new_session|creationflags|signal\.SIG[A-Z]|[\"'](/proc|/sys|/dev/shm|/tmp)\b",
    re.MULTILINE,
)


def test_platforms_are_asked_about_in_one_module() -> None:
    found = {
        path.relative_to(HOME).as_posix() for path in HOME.rglob("*.py") if ONLY_HERE.search(path.read_text("utf-8"))
    }
    assert found == {"system.py"}


def test_files_are_read_and_written_as_utf8() -> None:
    """Elsewhere than on Linux the default is another encoding."""
    found: list[str] = []
    for path in HOME.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "attr", "") in ("read_text", "write_text"):
                given = len(node.args) > (node.func.attr == "write_text") or any(
                    each.arg == "encoding" for each in node.keywords
                )
                found += [] if given else [f"{path.name}:{node.lineno}"]
    assert [each for each in found if not each.startswith("system.py")] == []


def test_a_process_is_alive_or_not() -> None:
    assert is_alive(os.getpid())
    assert not is_alive(2**22 + 12345)


def test_a_lock_is_held_by_one(tmp_path: Path) -> None:
    path = tmp_path / "lock"
    path.touch()
    first, second = os.open(path, os.O_RDWR), os.open(path, os.O_RDWR)
    lock(first)
    try:
        lock(second)
    except OSError:
        refused = True
    else:
        refused = False
    os.close(first)
    lock(second)
    os.close(second)
    assert refused


def test_what_is_started_apart_is_another_group() -> None:
    assert apart() == ({"start_new_session": True} if sys.platform != "win32" else apart())
