"""Launches that are recorded once and replayed: a CUDA graph, by the driver's own functions.

A launch from Python costs some 30 microseconds, a node of a graph one.
"""

from __future__ import annotations

import ctypes
import os
from collections.abc import Callable, Sequence
from functools import cache
from typing import Any, Final

from treeplex.kernels.cuda.device import SIMULATED, NoDeviceError
from treeplex.kernels.cuda.kernels import cuda

NON_BLOCKING: Final = 1
NO_TIMES: Final = 2  # of events
RELAXED: Final = 2  # capture mode: only this stream is recorded, whatever else the process does


class Stream:
    """An order of launches; ``numba`` is how kernels are given it: ``kernel[blocks, threads, stream.numba]``."""

    def __init__(self) -> None:
        self.numba: Any = 0
        self._beside: list[tuple[Stream, ctypes.c_void_p, ctypes.c_void_p]] = []
        if not SIMULATED:
            cuda.current_context()
            self._handle = ctypes.c_void_p()
            _call("cuStreamCreate", ctypes.byref(self._handle), NON_BLOCKING)
            self.numba = cuda.external_stream(self._handle.value)

    def wait(self) -> None:
        """Until all is done that was launched."""
        if not SIMULATED:
            _call("cuStreamSynchronize", self._handle)

    def side_by_side(self, launches: Sequence[Callable[[Any], None]]) -> None:
        """Launches that do not need each other, each given the stream it goes to; later ones wait for all of them."""
        if SIMULATED or len(launches) == 1:
            for launch in launches:
                launch(self.numba)
            return
        while len(self._beside) < len(launches) - 1:
            self._beside.append((Stream(), _event(), _event()))
        beside = self._beside[: len(launches) - 1]
        for stream, begun, _ in beside:
            _call("cuEventRecord", begun, self._handle)
            _call("cuStreamWaitEvent", stream._handle, begun, 0)
        launches[0](self.numba)
        for (stream, _, done), launch in zip(beside, launches[1:], strict=True):
            launch(stream.numba)
            _call("cuEventRecord", done, stream._handle)
            _call("cuStreamWaitEvent", self._handle, done, 0)

    def recorded(self, launches: Callable[[], None]) -> Callable[[], None]:
        """What ``launches`` launches on this stream, to be called any number of times; nothing is carried out yet.

        Kernels must have been compiled before: launch them once without work.
        """
        if SIMULATED:
            return launches
        graph, ready = ctypes.c_void_p(), ctypes.c_void_p()
        _call("cuStreamBeginCapture_v2", self._handle, RELAXED)
        try:
            launches()
        finally:
            _call("cuStreamEndCapture", self._handle, ctypes.byref(graph))
        _call("cuGraphInstantiateWithFlags", ctypes.byref(ready), graph, ctypes.c_ulonglong(0))
        _call("cuGraphDestroy", graph)
        return _Graph(ready, self._handle)


class _Graph:
    def __init__(self, ready: ctypes.c_void_p, stream: ctypes.c_void_p) -> None:
        self._ready, self._stream = ready, stream

    def __call__(self) -> None:
        _call("cuGraphLaunch", self._ready, self._stream)

    def __del__(self) -> None:
        _driver().cuGraphExecDestroy(self._ready)


def _event() -> ctypes.c_void_p:
    event = ctypes.c_void_p()
    _call("cuEventCreate", ctypes.byref(event), NO_TIMES)
    return event


@cache
def _driver() -> Any:
    return ctypes.WinDLL("nvcuda.dll") if os.name == "nt" else ctypes.CDLL("libcuda.so.1")  # pyright: ignore


def _call(name: str, *arguments: Any) -> None:
    code = getattr(_driver(), name)(*arguments)
    if code:
        raise NoDeviceError(f"The CUDA driver refused {name} with error {code}; use backend='cpu'.")
