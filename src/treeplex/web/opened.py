"""Open runs, a few at a time: node values of both players in memory, after four passes."""

from __future__ import annotations

import asyncio
import threading
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Final, TypeVar

from treeplex.compile.memory import GIB, available
from treeplex.errors import ParameterError, TreeplexError, quoted
from treeplex.games.holdem.betting import betting_tree
from treeplex.games.holdem.spot import make_spot
from treeplex.poker.solving import check_spot
from treeplex.web.directory import Directory
from treeplex.web.runs import record_of

MOST: Final = 6  # runs
SHARE: Final = 0.5  # fraction of free memory for open runs
LARGEST: Final = 300_000  # betting nodes, which Python builds while requests wait
SMALLEST: Final = 10_000  # nodes that are built whatever the size of the checkpoint
AGAIN: Final = 5.0  # seconds until a failed run may be opened again
PASSES: Final = 4

Answer = TypeVar("Answer")
Opener = Callable[..., Any]
"""``treeplex.poker.browse.open_spot``."""


class OpenedRun:
    """A run that is open, is being opened, or failed to open."""

    def __init__(self, run: str, stamp: tuple[int, int]) -> None:
        self.run, self.stamp, self.used = run, stamp, time.monotonic()
        self.future: Future[Any] = Future()
        self.passes: tuple[int, int] = (0, PASSES)
        self.turn = asyncio.Lock()  # views share caches, so they run one at a time

    @property
    def failed(self) -> BaseException | None:
        """The error that opening raised, if any."""
        return self.future.exception() if self.future.done() else None

    @property
    def is_stale(self) -> bool:
        """Whether a failed run may be opened again."""
        return self.failed is not None and time.monotonic() - self.used > AGAIN

    def payload(self) -> dict[str, Any]:
        """Return the state as the API's JSON."""
        state = "opening" if not self.future.done() else "failed" if self.failed else "open"
        fields: dict[str, Any] = {"run": self.run, "state": state, "passes": list(self.passes)}
        return fields | ({"error": _sentence(self.failed)} if self.failed else {})


class OpenedRuns:
    """Open runs one at a time in a thread; reopen a run whose checkpoint has changed."""

    def __init__(
        self, directory: Directory, tell: Callable[[dict[str, Any]], None], opener: Opener | None = None
    ) -> None:
        self.directory, self.tell, self.opener = directory, tell, opener
        self._entries: dict[str, OpenedRun] = {}
        self._lock = threading.Lock()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="open")

    def start(self, run: str) -> dict[str, Any]:
        """Open a run unless it is open; return its state."""
        return self._entry(run).payload()

    async def get(self, run: str) -> Any:
        """Return an open run; wait for it without blocking other requests."""
        return await self._opened(await asyncio.to_thread(self._entry, run))

    async def view(self, run: str, compute: Callable[[Any], Answer]) -> Answer:
        """Compute a view of an open run in a thread."""
        entry = await asyncio.to_thread(self._entry, run)
        opened = await self._opened(entry)
        async with entry.turn:
            return await asyncio.to_thread(compute, opened)

    async def _opened(self, entry: OpenedRun) -> Any:
        try:
            return await asyncio.shield(asyncio.wrap_future(entry.future))
        except TreeplexError:
            raise
        except Exception:
            raise ParameterError(_sentence(entry.failed)) from None

    def close(self) -> None:
        """Stop opening runs; do not wait."""
        self._thread.shutdown(wait=False, cancel_futures=True)

    def _entry(self, run: str) -> OpenedRun:
        folder = self.directory.folder(run)
        check_spot(record_of(folder), quoted(run))
        stamp = _stamp(folder, run)
        with self._lock:
            entry = self._entries.get(run)
            if entry is None or entry.stamp != stamp or entry.is_stale:
                entry = OpenedRun(run, stamp)
                self._entries[run] = entry
                self._thread.submit(self._open, entry, folder)
            entry.used = time.monotonic()
        return entry

    def _open(self, entry: OpenedRun, folder: Path) -> None:
        def watch(done: int, every: int) -> None:
            entry.passes = (done, every)
            self.tell(entry.payload())

        self._make_room(entry)
        self.tell(entry.payload())
        try:
            self._check_size(entry, folder)
            opened = self._opener()(folder, watch=watch)
            entry.passes = (entry.passes[1], entry.passes[1])
            entry.future.set_result(opened)
        except Exception as error:  # report any error to those who wait
            entry.future.set_exception(error)
        self._make_room(entry)
        self.tell(entry.payload())

    def _check_size(self, entry: OpenedRun, folder: Path) -> None:
        """Refuse a run that is too large before it costs time and memory: a checkpoint has bytes for every node."""
        size, free = entry.stamp[1], available() + self._bytes()
        if size > free:
            raise ParameterError(
                f"The run {quoted(entry.run)} takes at least {size / GIB:.1f} GiB, but only {free / GIB:.1f} GiB are"
                " free. Wait for solves to end."
            )
        betting_tree(make_spot(record_of(folder).source), min(LARGEST, max(size, SMALLEST)))

    def _opener(self) -> Opener:
        if self.opener is None:
            from treeplex.poker.browse import open_spot  # noqa: PLC0415 - its kernels take time to load

            self.opener = open_spot
        return self.opener

    def _make_room(self, current: OpenedRun) -> None:
        """Close the least recently used runs while there are too many or they take too much memory."""
        with self._lock:
            done = [entry for entry in self._entries.values() if entry is not current and entry.future.done()]
            others = sorted(done, key=lambda entry: entry.used)
            while others and (len(self._entries) > MOST or self._bytes() > SHARE * (available() + self._bytes())):
                gone = others.pop(0)
                if self._entries.get(gone.run) is gone:
                    del self._entries[gone.run]

    def _bytes(self) -> int:
        done = [entry for entry in self._entries.values() if entry.future.done() and not entry.failed]
        return sum(int(entry.future.result().bytes) for entry in done)


def _stamp(folder: Path, run: str) -> tuple[int, int]:
    try:
        status = (folder / "checkpoint.safetensors").stat()
    except OSError:
        raise ParameterError(f"The run {quoted(run)} has no checkpoint yet. Wait for it, or resume the run.") from None
    return status.st_mtime_ns, status.st_size


def _sentence(error: BaseException | None) -> str:
    if isinstance(error, MemoryError):
        return "There is not enough memory to open this run. Close other runs, or wait for solves to end."
    return str(error) if isinstance(error, TreeplexError) else f"The run cannot be opened: {error!s:.200}"
