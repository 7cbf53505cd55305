"""Files that are written completely or not at all, and folders that one process at a time writes to."""

from __future__ import annotations

import errno
import json
import math
import os
import secrets
import stat
import sys
from collections.abc import Generator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any, Final, NoReturn, cast

from treeplex.errors import ParameterError
from treeplex.system import finishing, tidied
from treeplex.system import lock as _take

PREFIX, SUFFIX = ".treeplex-", ".tmp"
LOCK: Final = ".treeplex-lock"
BUSY: Final = (
    errno.EWOULDBLOCK,
    errno.EAGAIN,
    errno.EACCES,
)  # another process has the lock; any other error: no locks here


MOST_NESTED: Final = 100  # largest depth of nested lists and objects in JSON
MOST_DIGITS: Final = 308  # of a whole number in JSON: what fits a float


class BusyError(ParameterError):
    """Another process is writing to a folder."""


@contextmanager
def replacing(path: Path) -> Generator[Path]:
    """Provide a temporary file with a unique name, which replaces ``path`` once it is complete.

    A process that is killed leaves either the old file or the new one. After a failure the old file is intact and the
    temporary one is deleted, and the error names ``path``. Links are neither followed nor replaced.
    """
    temporary = path.with_name(f"{PREFIX}{secrets.token_hex(8)}{SUFFIX}")
    with finishing():
        try:
            refuse_special(path)
            os.close(os.open(temporary, os.O_CREAT | os.O_EXCL | os.O_WRONLY | getattr(os, "O_NOFOLLOW", 0), 0o666))
            with tidied(lambda: temporary.unlink(missing_ok=True)):
                yield temporary
                _flush(temporary)
                temporary.replace(path)
        except OSError as error:
            raise ParameterError(f"The file {path} cannot be written: {reason(error)}.") from error


def is_file(path: str | Path) -> bool:
    """Whether there is a file of that name; False for a name that the system cannot look up."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def replace_text(path: Path, text: str) -> None:
    """Write a text file, either completely or not at all."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def parse_json(text: str) -> Any:
    """Parse JSON from an untrusted source; raise ValueError if it is not valid and usable JSON.

    Very deep nesting and numbers too large for a float are rejected, and so are NaN and infinity, which are not JSON.
    """
    try:
        document = json.loads(text, parse_constant=_no_number, parse_int=_whole_number, parse_float=_real_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    level: list[Any] = [document]
    for _ in range(MOST_NESTED):
        if not level:
            return document
        level = [part for whole in level for part in _parts(whole)]
    raise ValueError("it is nested too deeply")


def _parts(whole: object) -> list[Any]:
    """Return the values inside a list or an object."""
    if isinstance(whole, dict):
        return list(cast(dict[str, Any], whole).values())
    return cast(list[Any], whole) if isinstance(whole, list) else []


def _whole_number(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"a number of {len(text):,} digits is too large")
    return int(text)


def _real_number(text: str) -> float:
    number = float(text)
    return number if math.isfinite(number) else _no_number(text)


def _no_number(text: str) -> NoReturn:
    raise ValueError(f"{text[:20]} is not a number, or too large")


def refuse_special(path: Path) -> None:
    """Raise ParameterError if ``path`` exists and is not a plain file, but a link, a device or a folder."""
    if not os.path.lexists(path):
        return
    mode = path.lstat().st_mode
    if not stat.S_ISREG(mode):
        kinds = {stat.S_IFDIR: "a folder", stat.S_IFLNK: "a symbolic link; name the file it points to"}
        raise ParameterError(
            f"The file {path} cannot be written: it is {kinds.get(stat.S_IFMT(mode), 'not a plain file')}."
        )


def reason(error: OSError) -> str:
    """Return the system's error text, shortened."""
    return os.strerror(error.errno) if error.errno else str(error).partition("\n")[0][:80]


def is_ours(name: str) -> bool:
    """Whether this is the name of a lock or of a temporary file of treeplex."""
    return name == LOCK or (name.startswith(PREFIX) and name.endswith(SUFFIX))


def remove_leftovers(folder: Path) -> None:
    """Delete the temporary files of processes that were killed. The caller must have the lock."""
    for path in folder.iterdir():
        if is_ours(path.name) and path.name != LOCK:
            with suppress(OSError):
                path.unlink()


@contextmanager
def locked(folder: Path) -> Generator[None]:
    """Lock a folder, so that only this process writes to it; raise BusyError if another process has the lock.

    The operating system releases the lock when the process ends, so the lock file of a killed process does no harm.
    On file systems without locks, nothing is locked.
    """
    try:
        handle = _lock(folder)
    except OSError as error:
        raise ParameterError(f"The run folder {folder} cannot be written: {reason(error)}; choose another.") from error

    def release() -> None:
        with suppress(OSError):
            if _is_still(handle, folder / LOCK):
                (
                    folder / LOCK
                ).unlink()  # before the lock is released: waiting processes check that the file still exists

    try:
        with tidied(release):
            yield
    finally:
        os.close(handle)


def _lock(folder: Path) -> int:
    path = folder / LOCK
    while True:
        handle = os.open(path, os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0), 0o666)
        try:
            _take(handle)
        except OSError as error:
            if error.errno in BUSY:
                who = os.read(handle, 20).decode(errors="replace").strip() if sys.platform != "win32" else ""
                os.close(handle)
                by = f"process {who}" if who.isdigit() else "another process"
                raise BusyError(
                    f"The folder {folder} is being written to by {by}; wait for it, or choose another folder."
                ) from None
        if _is_still(handle, path):
            with suppress(OSError):  # a full disk; the process number is only informative
                os.ftruncate(handle, 0)
                os.write(handle, f"{os.getpid()}\n".encode())
            return handle
        os.close(handle)


def _is_still(handle: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(handle), path.lstat())
    except FileNotFoundError:
        return False


def _flush(path: Path) -> None:
    """Flush a file to disk, before it replaces another."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
