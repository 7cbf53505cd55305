"""Connections: only so many at a time, and none that keeps the server waiting for a request.

Whoever has shown the token stays. Others must send the whole head of a request in time, and the oldest of them makes
room when there are too many, so that half-open connections neither use up the files of this process nor fill its log.
"""

from __future__ import annotations

import asyncio
import sys
from typing import Any, Final

from uvicorn.protocols.http.h11_impl import H11Protocol

from treeplex.system import open_files

SECONDS: Final = 10.0  # for the head of a request
MOST: Final = 256  # connections
FILES: Final = 4  # files that this process may open for each connection
BACKLOG: Final = 16  # connections that are accepted before the first of them is looked at
QUIET: Final = 60.0  # seconds between two sentences about connections that cannot be accepted


def most_connections() -> int:
    """Connections at a time: few enough that most files of the process are left for other things."""
    return int(max(min(MOST, open_files() // FILES), 8))


class Connection(H11Protocol):
    """HTTP/1.1 as uvicorn has it, with these limits."""

    known = False  # has the token been shown here?
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """As the library has it; then room is made."""
        super().connection_made(transport)
        self.since = self.loop.time()
        self._expect()
        alive: list[Any] = [each for each in self.connections if not each.transport.is_closing()]
        if len(alive) > most_connections():
            strange = [each for each in alive if not _is_known(each)]
            min(strange, key=lambda each: each.since, default=self).transport.abort()

    def data_received(self, data: bytes) -> None:
        """As the library has it; a request that has begun may take its time."""
        super().data_received(data)
        if self.scope and not self.cycle.response_complete:
            self._forgive()

    def on_response_complete(self) -> None:
        """As the library has it; the next request has its time, too."""
        self.known = _is_known(self)
        self._expect()
        super().on_response_complete()
        if not self.cycle.response_complete:  # the next one was here already
            self._forgive()

    def connection_lost(self, exc: Exception | None) -> None:
        """As the library has it."""
        self._forgive()
        super().connection_lost(exc)

    def _expect(self) -> None:
        self._forgive()
        self._late = self.loop.call_later(SECONDS, self.transport.abort)

    def _forgive(self) -> None:
        if self._late is not None:
            self._late.cancel()
            self._late = None


def _is_known(connection: Any) -> bool:
    return connection.known or bool(connection.scope and connection.scope["state"].get("known"))


def keep_quiet(loop: asyncio.AbstractEventLoop) -> None:
    """Say once in a while that connections cannot be accepted; asyncio does so for each, with a traceback."""
    said = -QUIET

    def handler(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal said
        if not isinstance(context.get("exception"), OSError) or "accept" not in str(context.get("message")):
            loop.default_exception_handler(context)
        elif loop.time() - said >= QUIET:
            said = loop.time()
            sys.stderr.write(f"connections cannot be accepted: {context['exception']}\n")

    loop.set_exception_handler(handler)
