"""Compilation of kernels, and the key of their cache on disk.

No kernel uses fastmath: sums keep their order, so equal input gives equal bits.

Numba stores machine code with a hash of the kernel's own file. It ignores files whose functions are inlined into the
kernel, called by it or chosen for it by type. The folder is therefore named by a hash of ``updates/`` and of all files
that kernels import from. When one of them changes, all kernels are compiled again, and users never need to delete
caches. ``kernels.cache`` decides where that folder is.
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


ALLOCATING: Final[Any] = {"nogil": True, "no_cfunc_wrapper": True, "_nrt": True}
"""Options of forms that create arrays (``jit_options`` of ``overload``)."""

INLINED_LOOP: Final[Any] = {"nogil": True, "no_cfunc_wrapper": True, "forceinline": True, "_nrt": False}
"""Options of ``inlined_loop``, for functions that are chosen by type (``jit_options`` of ``overload``)."""


def cache_key(package: Path = PACKAGE) -> str:
    """Return a hash of this file and of every file that a file with kernels imports from: their code may be inlined.

    The hash includes Numba's version, because one version deletes the files of another in the same folder.
    """
    texts = {path: path.read_bytes() for path in package.glob("**/*.py")}
    engines = package / "engines"
    hashed = {package / "kernels/jit.py", package / "kernels/cache.py", *package.glob("updates/*.py")}
    scanned = [path for path, text in texts.items() if _HAS_KERNELS.search(text)]
    for path in scanned:  # the list grows, because parts of kernels that import no decorator also have imports
        for module, names in _IMPORT.findall(texts[path]):
            target = package.joinpath(*module.decode().split("."))
            below = [target / f"{name.split()[0]}.py" for name in names.decode().split(",") if name.strip()]
            imported = {target.with_suffix(".py"), *below} & texts.keys()
            hashed |= imported
            scanned += [other for other in imported if other not in scanned and engines in other.parents]
    digest = hashlib.blake2b(numba.__version__.encode() + b"\0", digest_size=8)
    for path in sorted(hashed):
        digest.update(path.relative_to(package).as_posix().encode() + b"\0" + texts[path] + b"\0")
    return digest.hexdigest()


CACHE_FOLDERS: Final = choose_folders(cache_key(), PACKAGE)


def kernel(function: Function, *, allocates: bool = False) -> Function:
    """Compile on first call, cache the machine code on disk, and release the interpreter lock while it runs.

    References to arrays are not counted: the caller holds all arrays, and the kernel neither creates nor returns any.
    Counting takes two atomic additions per array and call, for which threads contend, and half of the compile time.
    Only machine code of this package is in the folder; Numba caches functions of users elsewhere.
    """
    options: Any = {"_nrt": allocates}  # functions without this option inherit it from their callers
    jitted: Any = numba.njit(nogil=True, fastmath=False, **options)(function)
    if jitted is not function:  # NUMBA_DISABLE_JIT
        enable_cache(jitted, FunctionCache, CACHE_FOLDERS)
    return cast(Function, jitted)


def allocating_kernel(function: Function) -> Function:
    """Compile as ``kernel``, for functions that create, return or copy whole arrays: references are counted."""
    return kernel(function, allocates=True)


def callee(function: Function, *, allocates: bool = False) -> Function:
    """Compile a function that kernels call. Its machine code is cached with theirs, and it counts no references."""
    options: Any = {"no_cfunc_wrapper": True, "_nrt": allocates}
    return cast(Function, numba.njit(nogil=True, fastmath=False, **options)(function))


def allocating_callee(function: Function) -> Function:
    """Compile as ``callee``, for functions that create or return arrays: references are counted."""
    return callee(function, allocates=True)


def inlined(function: Function) -> Function:
    """Compile a part of kernels, which is copied into each: a call with many arrays costs hundreds of additions.

    Each of its arrays still costs a count of references per use, unlike with ``inlined_loop``.
    """
    return cast(Function, numba.njit(inline="always", nogil=True, fastmath=False)(function))


def inlined_loop(function: Function) -> Function:
    """Compile a part of kernels with arrays, which LLVM copies into each, at no cost: no references are counted.

    Its callers hold the arrays, and it creates none itself.
    """
    return cast(Function, numba.njit(**INLINED_LOOP)(function))


def specialised(
    argument: str, forms: Mapping[type, Callable[..., Result]], **options: Any
) -> Callable[[Callable[..., Result]], Callable[..., Result]]:
    """Declare a function that kernels call by name, with other ``forms`` for some classes of ``argument``.

    The class of an argument is that of a NamedTuple, or of an array's elements. For all other classes kernels use the
    function as it is written. The form is chosen at compile time. ``options`` are those of Numba's ``overload``.
    """

    def declare(function: Callable[..., Result]) -> Callable[..., Result]:
        position = list(inspect.signature(function).parameters).index(argument)

        def choose(*kinds: types.Type) -> Callable[..., Result]:
            return forms.get(_class_of(kinds[position]), function)

        declare_forms: Any = overload(function, strict=False, **options)
        declare_forms(choose)
        return function

    return declare


def _class_of(kind: types.Type) -> type:
    """Return the class that a Numba type stands for."""
    known: Any = kind
    if isinstance(kind, types.Array):
        return as_dtype(known.dtype).type
    return getattr(known, "instance_class", type(None))


def instruction(build: Callable[..., Any]) -> Callable[..., Any]:
    """Declare a function of kernels that is written as processor instructions: see ``numba.extending.intrinsic``."""
    return cast(Callable[..., Any], intrinsic(build))


class CompileTimer(events.Listener):
    """Sums the seconds spent on compiling kernels or loading them from disk, so that runs can subtract them."""

    def __init__(self) -> None:
        self.seconds = 0.0
        self._depth, self._began = 0, 0.0

    def on_start(self, event: events.Event) -> None:
        """Note that Numba has begun; events may be nested."""
        if self._depth == 0:
            self._began = time.perf_counter()
        self._depth += 1

    def on_end(self, event: events.Event) -> None:
        """Add the seconds if the outermost event has ended."""
        self._depth -= 1
        if self._depth == 0:
            self.seconds += time.perf_counter() - self._began


class CompileCounter(events.Listener):
    """Counts kernels that are compiled, and reports each; kernels that are read from disk do not count."""

    def __init__(self, started: Callable[[int], None]) -> None:
        self._kernels, self._started = 0, started

    def on_start(self, event: events.Event) -> None:
        """Count and report a kernel, or a function that one calls, that Numba begins to compile."""
        self._kernels += 1
        self._started(self._kernels)

    def on_end(self, event: events.Event) -> None:
        """Ignore the end of a compilation."""


@contextmanager
def timed_compilation(started: Callable[[int], None] | None = None) -> Generator[CompileTimer]:
    """Time compilation inside this context; ``started`` is called with the number of each kernel that is compiled."""
    timer = CompileTimer()
    with _listening("compiler_lock", timer), announced_compilation(started):
        yield timer


@contextmanager
def announced_compilation(started: Callable[[int], None] | None) -> Generator[None]:
    """Call ``started`` with the number of each kernel that is compiled inside this context."""
    if started is None:
        yield
        return
    counter = CompileCounter(started)
    with _listening("compile", counter):
        yield


@contextmanager
def _listening(kind: str, listener: CompileTimer | CompileCounter) -> Generator[None]:
    """Install a listener. GPU kernels have their own events and listener class, in a module that may not be loaded."""
    ours: Any = events
    module: Any = sys.modules.get("numba.cuda.core.event")
    with ours.install_listener(f"numba:{kind}", listener):
        if module is None:
            yield
            return
        parts = {"on_start": _forwarded(listener.on_start), "on_end": _forwarded(listener.on_end)}
        with module.install_listener(f"numba-cuda:{kind}", type("Forwarding", (module.Listener,), parts)()):
            yield


def _forwarded(handler: Callable[[events.Event], None]) -> Callable[[object, events.Event], None]:
    return lambda _, event: handler(event)
