"""How kernels are compiled, and where their machine code is kept.

None uses fastmath: sums keep their order, so equal input gives equal bits.

Machine code is kept on disk with a hash of the file of the kernel itself, not of files whose functions are inlined
into it, called by it or chosen for it by type. So the folder is named by a hash of ``updates/`` and of all files that
kernels import from: when one of them changes, all kernels are compiled anew, and nobody ever deletes caches by hand.
``kernels.cache`` decides where that folder is.
"""

from __future__ import annotations

import hashlib
import inspect
import re
import sys
import time
from collections.abc import Callable, Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Final, TypeVar, cast

import numba
import numba.core.event as events  # pyright: ignore[reportMissingTypeStubs]
import numpy as np
from numba import types
from numba.core.caching import FunctionCache  # pyright: ignore[reportMissingTypeStubs]
from numba.extending import intrinsic, overload  # pyright: ignore[reportUnknownVariableType, reportMissingTypeStubs]
from numba.np.numpy_support import as_dtype  # pyright: ignore[reportUnknownVariableType, reportMissingTypeStubs]

from treeplex.kernels.cache import choose_folders
from treeplex.kernels.cache import enable as enable_cache

Index = int | np.uint64
"""Loops over short runs are twice as fast with unsigned indices."""

Function = TypeVar("Function", bound=Callable[..., object])
Result = TypeVar("Result")

PACKAGE: Final = Path(__file__).parent.parent

_HAS_KERNELS: Final = re.compile(rb"^from treeplex\.kernels\.(jit|cuda\.kernels) import", re.MULTILINE)
_IMPORT: Final = re.compile(rb"^from treeplex\.([\w.]+) import \(?([^)\n]*)", re.MULTILINE)


INLINED_LOOP: Final[Any] = {"nogil": True, "no_cfunc_wrapper": True, "forceinline": True, "_nrt": False}
"""How ``inlined_loop`` compiles, for functions that are chosen by type (``jit_options`` of ``overload``)."""


def cache_key(package: Path = PACKAGE) -> str:
    """A hash of this file and of every file that a file with kernels imports from: what may be copied into others.

    And of Numba's version: one version throws away what another has kept in the same folder.
    """
    texts = {path: path.read_bytes() for path in package.glob("**/*.py")}
    engines = package / "engines"
    wanted = {package / "kernels/jit.py", package / "kernels/cache.py", *package.glob("updates/*.py")}
    scanned = [path for path, text in texts.items() if _HAS_KERNELS.search(text)]
    for path in scanned:  # it grows: parts of kernels that import no decorator have imports of their own
        for module, names in _IMPORT.findall(texts[path]):
            place = package.joinpath(*module.decode().split("."))
            below = [place / f"{name.split()[0]}.py" for name in names.decode().split(",") if name.strip()]
            found = {place.with_suffix(".py"), *below} & texts.keys()
            wanted |= found
            scanned += [other for other in found if other not in scanned and engines in other.parents]
    digest = hashlib.blake2b(numba.__version__.encode() + b"\0", digest_size=8)
    for path in sorted(wanted):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + texts[path] + b"\0")
    return digest.hexdigest()


CACHE_FOLDERS: Final = choose_folders(cache_key(), PACKAGE)


def kernel(function: Function, *, counted: bool = True) -> Function:
    """Compile on first call, keep the machine code on disk, release the interpreter lock while it runs.

    It is kept in our folder; the user's own functions stay where they are.
    """
    options: Any = {} if counted else {"_nrt": False}
    jitted: Any = numba.njit(nogil=True, fastmath=False, **options)(function)
    if jitted is not function:  # NUMBA_DISABLE_JIT
        enable_cache(jitted, FunctionCache, CACHE_FOLDERS)
    return cast(Function, jitted)


def uncounted_kernel(function: Function) -> Function:
    """As ``kernel``, but references to arrays are not counted: the caller holds them all, and it makes none itself.

    Counting is two atomic additions per array and call, and for every array that is taken out of a tuple. Where
    calls are as short as a few additions that is most of the time. Whatever it calls must be uncounted or inlined.
    """
    return kernel(function, counted=False)


def callee(function: Function) -> Function:
    """A function that kernels call: its machine code is kept on disk with theirs, not once more by itself."""
    options: Any = {"no_cfunc_wrapper": True}
    return cast(Function, numba.njit(nogil=True, fastmath=False, **options)(function))


def inlined(function: Function) -> Function:
    """A part of kernels, copied into each: a call with many arrays costs as much as hundreds of additions.

    Each of its arrays still costs a count of references per use: ``inlined_loop`` does not.
    """
    return cast(Function, numba.njit(inline="always", nogil=True, fastmath=False)(function))


def inlined_loop(function: Function) -> Function:
    """A part of kernels with arrays, which LLVM copies into each: no references are counted, so that it costs nothing.

    Its callers hold the arrays, and it makes none itself.
    """
    return cast(Function, numba.njit(**INLINED_LOOP)(function))


def specialised(
    argument: str, forms: Mapping[type, Callable[..., Result]], **options: Any
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """A function that kernels call by its name, and that has other ``forms`` for some classes of an argument.

    The class of an argument is that of a NamedTuple, or of an array's numbers. For all others kernels have the function
    as it is written. Nothing is asked while they run. ``options``: of Numba's ``overload``.
    """

    def declare(function: Callable[..., Result]) -> Callable[..., Result]:
        place = list(inspect.signature(function).parameters).index(argument)

        def choose(*kinds: types.Type) -> Callable[..., Result]:
            return forms.get(_class_of(kinds[place]), function)

        declare_forms: Any = overload(function, strict=False, **options)
        declare_forms(choose)
        return function

    return declare


def _class_of(kind: types.Type) -> type:
    """The class that a type of Numba stands for."""
    known: Any = kind
    if isinstance(kind, types.Array):
        return as_dtype(known.dtype).type
    return getattr(known, "instance_class", type(None))


def instruction(build: Callable[..., Any]) -> Callable[..., Any]:
    """A function of kernels that is written as processor instructions: see ``numba.extending.intrinsic``."""
    return cast(Callable[..., Any], intrinsic(build))


class CompileTimer(events.Listener):
    """Adds up the seconds spent compiling kernels or loading them from disk, so that no run is charged with them."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth, self._began = 0, 0.0

    def on_start(self, event: events.Event) -> None:
        """Numba has begun; it may begin again inside."""
        if self._depth == 0:
            self._began = time.perf_counter()
        self._depth += 1

    def on_end(self, event: events.Event) -> None:
        """Numba is done."""
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._began


class CompileCounter(events.Listener):
    """Counts kernels that are compiled, and tells of each; those found on disk do not count."""

    def __init__(self, started: Callable[[int], None]) -> None:
        self._kernels, self._started = 0, started

    def on_start(self, event: events.Event) -> None:
        """Numba compiles a kernel, or a function that one calls."""
        self._kernels += 1
        self._started(self._kernels)

    def on_end(self, event: events.Event) -> None:
        """Nothing to say."""


@contextmanager
def timed_compilation(started: Callable[[int], None] | None = None) -> Generator[CompileTimer]:
    """Time compilation while this lasts; ``started`` is called with the number of each kernel that is compiled."""
    timer = CompileTimer()
    with _listening("compiler_lock", timer), announced_compilation(started):
        yield timer


@contextmanager
def announced_compilation(started: Callable[[int], None] | None) -> Generator[None]:
    """Call ``started`` with the number of each kernel that is compiled while this lasts."""
    if started is None:
        yield
        return
    counter = CompileCounter(started)
    with _listening("compile", counter):
        yield


@contextmanager
def _listening(kind: str, listener: CompileTimer | CompileCounter) -> Generator[None]:
    """GPU kernels have events of their own, and listeners of their own class, in a module that is there if they are."""
    ours: Any = events
    module: Any = sys.modules.get("numba.cuda.core.event")
    with ours.install_listener(f"numba:{kind}", listener):
        if module is None:
            yield
            return
        parts = {"on_start": _forwarded(listener.on_start), "on_end": _forwarded(listener.on_end)}
        with module.install_listener(f"numba-cuda:{kind}", type("Forwarding", (module.Listener,), parts)()):
            yield


def _forwarded(heard: Callable[[events.Event], None]) -> Callable[[object, events.Event], None]:
    return lambda _, event: heard(event)
