"""How kernels are compiled, and where their machine code is kept.

None uses fastmath: sums keep their order, so equal input gives equal bits.

Numba keeps machine code on disk and looks only at the file of the kernel itself, not at files whose functions are
inlined into it. So the folder is named by a hash of all such files (``updates/`` and whatever is marked ``inlined`` or
overloaded): when one of them changes, all kernels are compiled anew, and nobody ever deletes caches by hand. A user's
``NUMBA_CACHE_DIR`` is the parent of that folder.
"""

from __future__ import annotations

import hashlib
import os
import time
from collections.abc import Callable, Generator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numba
import numba.core.event as events  # pyright: ignore[reportMissingTypeStubs]
import numpy as np
from numba.extending import intrinsic  # pyright: ignore[reportUnknownVariableType, reportMissingTypeStubs]

Index = int | np.uint64
"""Loops over short runs are twice as fast with unsigned indices."""

Function = TypeVar("Function", bound=Callable[..., object])

PACKAGE: Final = Path(__file__).parent
INLINED: Final = (b"@inlined", b"@overload", b"@instruction")


def cache_key(package: Path = PACKAGE) -> str:
    """A hash of every file whose functions are copied into kernels of other files."""
    digest = hashlib.blake2b(digest_size=8)
    for path in sorted([*package.glob("updates/*.py"), *package.glob("engines/**/*.py")]):
        text = path.read_bytes()
        if path.parent.name == "updates" or any(mark in text for mark in INLINED):
            digest.update(path.relative_to(package).as_posix().encode() + b"\0" + text + b"\0")
    return digest.hexdigest()


def cache_folder() -> str:
    """Beside the package, or among the user's caches where the package cannot be written."""
    given = os.environ.get("NUMBA_CACHE_DIR")
    if given:
        parent = Path(given)
    elif os.access(PACKAGE, os.W_OK):
        parent = PACKAGE / "__pycache__"
    else:
        parent = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "treeplex"
    return str(parent / f"kernels-{cache_key()}")


CACHE_FOLDER: Final = cache_folder()


@contextmanager
def _own_cache() -> Generator[None]:
    """Functions that are decorated meanwhile are kept in our folder; the user's own ones stay where they are."""
    settings: Any = numba.config  # pyright: ignore[reportPrivateImportUsage]
    before = settings.CACHE_DIR
    settings.CACHE_DIR = CACHE_FOLDER
    try:
        yield
    finally:
        settings.CACHE_DIR = before


def kernel(function: Function) -> Function:
    """Compile on first call, keep the machine code on disk, release the interpreter lock while it runs."""
    with _own_cache():
        return cast(Function, numba.njit(cache=True, nogil=True, fastmath=False)(function))


def parallel_kernel(function: Function) -> Function:
    """As ``kernel``, with ``prange`` loops spread over Numba's threads."""
    with _own_cache():
        return cast(Function, numba.njit(cache=True, nogil=True, fastmath=False, parallel=True)(function))


def inlined(function: Function) -> Function:
    """A part of kernels, copied into each: a call with many arrays costs as much as hundreds of additions."""
    return cast(Function, numba.njit(inline="always", nogil=True, fastmath=False)(function))


def instruction(build: Callable[..., Any]) -> Callable[..., Any]:
    """A function of kernels that is written as processor instructions: see ``numba.extending.intrinsic``."""
    return cast(Callable[..., Any], intrinsic(build))


class CompileTimer(events.Listener):
    """Adds up the seconds spent compiling kernels or loading them from disk, so that no run is charged with them."""

    def __init__(self, started: Callable[[], None] | None = None) -> None:
        self.seconds = 0.0
        self._depth, self._began, self._started = 0, 0.0, started

    def on_start(self, event: Any) -> None:
        """Numba has begun; it may begin again inside."""
        if self._depth == 0:
            self._began = time.perf_counter()
            if self._started:
                self._started()
        self._depth += 1

    def on_end(self, event: Any) -> None:
        """Numba is done."""
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._began


@contextmanager
def timed_compilation(started: Callable[[], None] | None = None) -> Generator[CompileTimer]:
    """Count compilation while this lasts; ``started`` is called whenever some begins."""
    timer = CompileTimer(started)
    install: Any = events.install_listener  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
    with install("numba:compiler_lock", timer):
        yield timer
