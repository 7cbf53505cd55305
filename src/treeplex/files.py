"""Files that are whole or not there, and folders that one process writes to at a time."""

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
BUSY: Final = (errno.EWOULDBLOCK, errno.EAGAIN, errno.EACCES)  # somebody else holds the lock; all else: no locks here


MOST_NESTED: Final = 100  # lists and objects inside of each other that JSON may have
MOST_DIGITS: Final = 308  # of a whole number in JSON: what a float can hold


class BusyError(ParameterError):
    """Another process writes into a folder now."""


@contextmanager
def replacing(path: Path) -> Generator[Path]:
    """A new file under a name that is nobody else's; when it is whole, it takes the place of ``path``.

    Whoever is killed leaves the old file or the new one. After a failure the old one is intact and the new one gone;
    what the system has to say about that names the file that was asked for. Links are not followed nor replaced.
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
    """Is there a file of that name? A name that the system cannot even look up is none."""
    try:
        return Path(path).is_file()
    except (OSError, ValueError):
        return False


def replace_text(path: Path, text: str) -> None:
    """Write a whole text file, or none."""
    with replacing(path) as temporary:
        temporary.write_text(text, encoding="utf-8")


def parse_json(text: str) -> Any:
    """Return what JSON from outside says; ``ValueError`` where it is not JSON that a computer can work with.

    That is also what is nested very deeply, numbers that no float can hold, and NaN and infinity, which are not JSON.
    """
    try:
        found = json.loads(text, parse_constant=_no_number, parse_int=_whole_number, parse_float=_real_number)
    except RecursionError:
        raise ValueError("it is nested too deeply") from None
    level: list[Any] = [found]
    for _ in range(MOST_NESTED):
        if not level:
            return found
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
    """Only plain files are replaced: a link, a device or a folder is refused."""
    if not os.path.lexists(path):
        return
    mode = path.lstat().st_mode
    if not stat.S_ISREG(mode):
        kinds = {stat.S_IFDIR: "a folder", stat.S_IFLNK: "a symbolic link; name the file it points to"}
        raise ParameterError(
            f"The file {path} cannot be written: it is {kinds.get(stat.S_IFMT(mode), 'no plain file')}."
        )


def reason(error: OSError) -> str:
    """What the system says, short."""
    return os.strerror(error.errno) if error.errno else str(error).partition("\n")[0][:80]


def is_ours(name: str) -> bool:
    """Is this the name of a lock or of a temporary file of ours?"""
    return name == LOCK or (name.startswith(PREFIX) and name.endswith(SUFFIX))


def remove_leftovers(folder: Path) -> None:
    """Delete the temporary files of processes that were killed; whoever holds the lock may."""
    for path in folder.iterdir():
        if is_ours(path.name) and path.name != LOCK:
            with suppress(OSError):
                path.unlink()


@contextmanager
def locked(folder: Path) -> Generator[None]:
    """Be the only process that writes into a folder; a second one is refused.

    The lock is the operating system's and gone with its process, so a file that a killed one leaves does no harm.
    Where the file system knows no locks there is none.
    """
    try:
        handle = _lock(folder)
    except OSError as error:
        raise ParameterError(f"The run folder {folder} cannot be written: {reason(error)}; choose another.") from error

    def release() -> None:
        with suppress(OSError):
            if _is_still(handle, folder / LOCK):
                (folder / LOCK).unlink()  # while it is held: whoever waits for it looks whether it is still there

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
            with suppress(OSError):  # a full disk; the number is for people
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
    """Onto the disk, before it takes the place of another."""
    handle = os.open(path, os.O_RDWR)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
