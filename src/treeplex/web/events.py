"""Server-sent events about changes. A slow listener misses old events, but never the newest of each kind."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncGenerator, Callable
from contextlib import suppress
from typing import Any, Final

from treeplex.web.answers import Json, encoded
from treeplex.web.refusals import RefusalError

ALIVE: Final = 15.0  # seconds between two comments
JOBS: Final = 0.25  # seconds between two lists of jobs
RUNS: Final = 1.0  # seconds between two checks of the folder
MOST: Final = 200  # listeners


class Listener:
    """The newest unsent event of each kind, for one client."""

    def __init__(self) -> None:
        self.unsent: dict[str, bytes] = {}
        self.some = asyncio.Event()

    def offer(self, key: str, event: bytes) -> None:
        """Queue an event in place of an unsent one with the same key."""
        self.unsent.pop(key, None)
        self.unsent[key] = event
        self.some.set()


class Events:
    """All listeners. It belongs to the event loop; other threads call ``tell``."""

    def __init__(self) -> None:
        self.listeners: set[Listener] = set()
        self.closed = False
        self._loop: asyncio.AbstractEventLoop | None = None

    def open(self) -> None:
        """Remember the running loop; call this within it."""
        self._loop = asyncio.get_running_loop()

    def close(self) -> None:
        """End the streams of all listeners."""
        self.closed = True
        for listener in list(self.listeners):
            listener.some.set()

    def tell(self, name: str, content: Json, key: str | None = None) -> None:
        """Send an event to all listeners; safe in any thread."""
        if self._loop is not None and not self.closed:
            event = b"event: " + name.encode() + b"\ndata: " + encoded(content) + b"\n\n"
            with suppress(RuntimeError):  # the loop has ended
                self._loop.call_soon_threadsafe(self._offer, key or name, event)

    def _offer(self, key: str, event: bytes) -> None:
        for listener in self.listeners:
            listener.offer(key, event)

    async def stream(self, first: bytes) -> AsyncGenerator[bytes]:
        """Yield events for one client, until it leaves or the server shuts down."""
        if len(self.listeners) >= MOST:
            raise RefusalError(409, f"There are already {MOST} listeners; close some pages.")
        listener = Listener()
        self.listeners.add(listener)
        try:
            yield first
            while not self.closed:
                try:
                    await asyncio.wait_for(listener.some.wait(), ALIVE)
                except TimeoutError:
                    yield b": still here\n\n"
                    continue
                listener.some.clear()
                while listener.unsent and not self.closed:
                    yield listener.unsent.pop(next(iter(listener.unsent)))
        finally:
            self.listeners.discard(listener)


class Watcher:
    """Poll jobs and runs, and send events about changes."""

    def __init__(
        self,
        events: Events,
        jobs: tuple[Callable[[], Any], Callable[[], Any]],
        runs: Callable[[], Any],
    ) -> None:
        self.events, self.jobs, self.runs = events, jobs, runs

    async def watch(self) -> None:
        """Poll until it is cancelled."""
        seen_jobs, seen_runs, checked = None, None, -RUNS
        while True:
            await asyncio.sleep(JOBS)
            if not self.events.listeners:
                continue
            stamp, listed = self.jobs
            now = await asyncio.to_thread(stamp)
            if now != seen_jobs:
                seen_jobs = now
                self.events.tell("jobs", {"jobs": await asyncio.to_thread(listed)})
            if asyncio.get_running_loop().time() - checked >= RUNS:
                checked = asyncio.get_running_loop().time()
                runs = await asyncio.to_thread(self.runs)
                if seen_runs is not None and runs != seen_runs:
                    self.events.tell("runs", {})
                seen_runs = runs
