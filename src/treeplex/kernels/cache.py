"""Where the machine code of kernels is cached, and how it is read.

Numba caches machine code as pickles, and unpickling runs code. So kernels are read only from folders that nobody but
the current user and root can write to or replace. Every file begins with a checksum, which is compared before anything
is unpickled, because damaged machine code aborts the process. A file that cannot be used counts as missing: the kernel
is compiled anew, and its file replaced.
"""

from __future__ import annotations

import functools
import hashlib
import inspect
import logging
import os
import pickle
import re
import shutil
import stat
import sys
import tempfile
import time
from collections.abc import Callable, Generator
from contextlib import suppress
from pathlib import Path
from typing import Any, Final, NamedTuple

from treeplex.files import reason

VARIABLE: Final = "NUMBA_CACHE_DIR"
MARKER: Final = ".treeplex-kernels"
"""A file in every folder of kernels. Its age is the time since a process last used the folder."""
UNUSED_DAYS: Final = 7  # how long folders that no process uses stay on disk

_HAS_OWNERS: Final = hasattr(os, "geteuid")  # on Windows, access lists make the folders of a user private
_NAME: Final = re.compile(r"kernels-[0-9a-f]{16}")
_DIGEST_SIZE: Final = 32
_READ: Final = os.O_RDONLY | sum(getattr(os, flag, 0) for flag in ("O_NOFOLLOW", "O_NONBLOCK", "O_BINARY"))


class CacheFolder(NamedTuple):
    """A folder in which the folder of kernels may lie."""

    parent: Path
    requested: bool = False  # the user named it: report whatever prevents its use
    silent: bool = False  # beside the package: whoever can write there can change the package


def choose_folders(key: str, package: Path) -> tuple[Path, ...]:
    """Return the folders that kernels are read from; new kernels are written to the last one.

    The first candidate that is safe and can be written to ends the search. Safe folders before it that can only be read
    stay in the list: root may fill one for all users. If there is no folder at all, kernels are not cached.
    """
    folders, notes = list[Path](), list[str]()
    for candidate in _candidates(package):
        folder = candidate.parent / f"kernels-{key}"
        try:
            problem = objection(folder)  # before a folder is made where others could replace it
            if problem is None:
                make_private(folder)
                os.scandir(folder).close()  # may it be read?
                problem = objection(folder)
        except OSError as error:
            problem = reason(error) if candidate.requested else ""
        if problem is None:
            folders.append(folder)
            if os.access(folder, os.W_OK):
                break
        elif problem and not candidate.silent:
            name = f"{VARIABLE}={candidate.parent}" if candidate.requested else str(candidate.parent)
            notes.append(f"Compiled kernels are not cached in {name}: {problem}.")
    if not folders:
        notes.append(f"Every process compiles its kernels anew; set {VARIABLE} to a private folder to cache them.")
    elif notes:
        notes.append(f"They are cached in {folders[-1].parent}.")
    if notes:
        logging.getLogger("treeplex").warning(" ".join(notes))
    return tuple(folders)


def _candidates(package: Path) -> Generator[CacheFolder]:
    """``NUMBA_CACHE_DIR``, beside the package, the user's caches, and last a folder among temporary files.

    Paths are resolved once, so that a link that is changed later leads nowhere else.
    """
    if requested := os.environ.get(VARIABLE):
        yield CacheFolder(_resolved(requested), requested=True)
    yield CacheFolder(_resolved(package) / "__pycache__", silent=True)
    caches, home = Path(os.environ.get("XDG_CACHE_HOME", "")), Path(os.path.expanduser("~"))  # noqa: PTH111 - no error
    if caches.is_absolute():
        yield CacheFolder(_resolved(caches) / "treeplex")
    elif home.is_absolute() and os.access(home, os.X_OK):
        yield CacheFolder(_resolved(home / ".cache") / "treeplex")
    with suppress(OSError):  # there is no folder for temporary files
        yield CacheFolder(_resolved(tempfile.gettempdir()) / f"treeplex-{_user()}")


def _resolved(path: str | Path) -> Path:
    """As ``Path.resolve``, which raises errors of its own for links that lead to themselves."""
    return Path(os.path.realpath(path))


def _user() -> int:
    """Return the number of the current user, or 0 where users have none."""
    return os.geteuid() if _HAS_OWNERS else 0


def objection(folder: Path) -> str | None:
    """Say why kernels must not be read from a folder, or return None.

    Neither the folder nor any folder above may belong to another user or be writable for others. Above, a folder such
    as ``/tmp``, in which nobody can rename what belongs to others, may be writable.
    """
    for place in (folder, *folder.parents):
        try:
            status = place.lstat()
        except FileNotFoundError:
            continue
        if not stat.S_ISDIR(status.st_mode):
            return f"{place} is not a folder"
        if not _owner_is_trusted(status):
            return f"{place} belongs to another user"
        if _others_write(status) and (place == folder or not status.st_mode & stat.S_ISVTX):
            return f"other users may write to {place} (chmod go-w {place} forbids it)"
    return None


def _owner_is_trusted(status: os.stat_result) -> bool:
    """The current user and root are; in a container, whoever owns ``/`` may stand for root."""
    return not _HAS_OWNERS or status.st_uid in (_user(), 0, Path("/").stat().st_uid)


def _others_write(status: os.stat_result) -> bool:
    """May anybody but the owner write to it?"""
    group = status.st_mode & stat.S_IWGRP and not _is_private(status.st_gid)
    return _HAS_OWNERS and bool(group or status.st_mode & stat.S_IWOTH)


@functools.cache
def _is_private(group: int) -> bool:
    """Is it a group of the user's own name without other members? Many systems have one per user, and umask 002."""
    try:
        import grp  # noqa: PLC0415 - Windows has none
        import pwd  # noqa: PLC0415

        user, entry = pwd.getpwuid(_user()).pw_name, grp.getgrgid(group)
    except (ImportError, KeyError):
        return False
    return entry.gr_name == user and set(entry.gr_mem) <= {user}


def make_private(folder: Path) -> None:
    """Make a folder that only the current user can enter, and those above that are missing; mark it as ours."""
    new = not folder.exists()
    for place in reversed((folder, *folder.parents)):
        if not place.exists():
            with suppress(FileExistsError):  # another process was faster
                place.mkdir(mode=0o755 if place.name == "__pycache__" else 0o700)
    with suppress(OSError):  # it can only be read
        (folder / MARKER).touch(mode=0o600)
    if new:
        remove_old(folder.parent)


def remove_old(parent: Path) -> None:
    """Delete folders of kernels that no process has used for a week. Nothing else is touched, and no link followed."""
    for folder in parent.glob("kernels-*"):
        with suppress(OSError):
            mark = (folder / MARKER).lstat()
            ours = _NAME.fullmatch(folder.name) and stat.S_ISDIR(folder.lstat().st_mode) and stat.S_ISREG(mark.st_mode)
            if ours and time.time() - mark.st_mtime > UNUSED_DAYS * 86_400:
                shutil.rmtree(folder, ignore_errors=True)


class Entries:
    """The files of one kernel, one per signature.

    A file is named by the kernel and a hash of the key, and holds a checksum and the pickled hash of the source, key
    and machine code. So whatever processes write at the same time, and whenever they are killed, a file is whole, and
    is used for its own key only.
    """

    def __init__(self, folders: tuple[Path, ...], name: str, source: bytes, dump: Callable[[Any], bytes]) -> None:
        self._folders, self._name, self._source, self._dump = folders, name, source, dump

    def load(self, key: object) -> Any:
        """Return the machine code for a key, or None; a file may be damaged in any way."""
        for folder in self._folders:
            with suppress(Exception):
                source, saved_key, data = pickle.loads(_read(folder / self._file(key)))  # noqa: S301 - see the top
                if source == self._source and saved_key == key:
                    return data
        return None

    def save(self, key: object, data: object) -> None:
        """Write the machine code for a key."""
        _write(self._folders[-1] / self._file(key), self._dump((self._source, key, data)))

    def flush(self) -> None:
        """Delete all files of the kernel."""
        for path in self._folders[-1].iterdir():
            if path.name.startswith(f"{self._name}."):
                path.unlink()

    def _file(self, key: object) -> str:
        return f"{self._name}.{hashlib.blake2b(repr(key).encode(), digest_size=16).hexdigest()}.nbc"


def _digest(path: Path, payload: bytes) -> bytes:
    """The name counts: a file under the name of another is not whole."""
    return hashlib.blake2b(path.name.encode() + b"\0" + payload, digest_size=_DIGEST_SIZE).digest()


def _read(path: Path) -> bytes:
    """Return what was written to a file; raise OSError or ValueError if it is not what was written, or not by us."""
    with open(path, "rb", opener=lambda name, _: os.open(name, _READ)) as file:
        status = os.fstat(file.fileno())
        if not stat.S_ISREG(status.st_mode) or not _owner_is_trusted(status) or _others_write(status):
            raise PermissionError(path)
        content = file.read()
    payload = content[_DIGEST_SIZE:]
    if _digest(path, payload) != content[:_DIGEST_SIZE]:
        raise ValueError(path)
    return payload


def _write(path: Path, payload: bytes) -> None:
    """Write a whole file that only the current user can read, or none."""
    handle, temporary = tempfile.mkstemp(suffix=".tmp", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(_digest(path, payload) + payload)
        Path(temporary).replace(path)
    except BaseException:
        Path(temporary).unlink(missing_ok=True)
        raise


class Locator:
    """What Numba asks about the place of a kernel's files."""

    def __init__(self, function: Callable[..., Any], folder: Path) -> None:
        self._py_file = inspect.getfile(function)  # Numba's warnings name it
        self._folder, self._line = folder, function.__code__.co_firstlineno

    def get_cache_path(self) -> str:
        """Return the folder."""
        return str(self._folder)

    def ensure_cache_path(self) -> None:
        """Make the folder again, if somebody has deleted it."""
        make_private(self._folder)

    def get_source_stamp(self) -> bytes:
        """Return a hash of the file that has the kernel."""
        return _source_hash(self._py_file)

    def get_disambiguator(self) -> str:
        """Return what tells functions of the same name apart."""
        return str(self._line)


@functools.cache
def _source_hash(file: str) -> bytes:
    return hashlib.blake2b(Path(file).read_bytes(), digest_size=_DIGEST_SIZE).digest()


def enable(dispatcher: Any, numba_class: Any, folders: tuple[Path, ...]) -> None:
    """Cache the machine code of a dispatcher in these folders; ``numba_class`` is what Numba would do it with."""
    if folders:
        cache = dispatcher._cache = _cache_class(numba_class, folders)(dispatcher.py_func)
        name, source = cache._impl.filename_base, cache._impl.locator.get_source_stamp()
        cache._cache_file = Entries(folders, name, source, cache._cache_file._dump)


@functools.cache
def _cache_class(base: Any, folders: tuple[Path, ...]) -> Any:
    """Return a subclass of Numba's cache, or of numba-cuda's: it uses our folders, and a failure is a miss."""

    class Implementation(base._impl_class):
        def __init__(self, function: Callable[..., Any]) -> None:
            self._lineno, self._locator = function.__code__.co_firstlineno, Locator(function, folders[-1])
            name = f"{function.__module__}.{function.__qualname__}"
            self._filename_base = self.get_filename_base(name, getattr(sys, "abiflags", ""))

    class KernelCache(base):
        _impl_class = Implementation

        def load_overload(self, sig: object, target_context: object) -> Any:
            parent: Any = super()
            try:
                return parent.load_overload(sig, target_context)
            except Exception:  # the kernel is compiled anew, which tells what else is wrong
                return None

        def save_overload(self, sig: object, data: object) -> None:
            parent: Any = super()
            with suppress(OSError):  # the disk is full, or the folder cannot be written any more
                parent.save_overload(sig, data)

    return KernelCache
