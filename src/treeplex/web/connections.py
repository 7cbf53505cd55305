"""Connections: a limit on their number, and a time limit for requests.

Connections that have shown the token stay. Others must send the whole head of a request in time, and the oldest of them
is closed when there are too many. So half-open connections neither use up the files of this process nor fill its log.
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
BACKLOG: Final = 16  # connections that the loop accepts at once
QUIET: Final = 60.0  # seconds between two messages about connections that cannot be accepted


def most_connections() -> int:
    """Return the limit on connections, which leaves most files of the process for other uses."""
    return int(max(min(MOST, open_files() // FILES), 8))


class Connection(H11Protocol):
    """HTTP/1.1 as in uvicorn, with limits on connections."""

    known = False  # whether this connection has shown the token
    _late: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:
        """Accept a connection as uvicorn does, then close the oldest unknown one if there are too many."""
        super().connection_made(transport)
        self.since = self.loop.time()
        self._expect()
        alive: list[Any] = [each for each in self.connections if not each.transport.is_closing()]
        if len(alive) > most_connections():
            strange = [each for each in alive if not _is_known(each)]
            min(strange, key=lambda each: each.since, default=self).transport.abort()

    def data_received(self, data: bytes) -> None:
        """Receive data as uvicorn does; a request that has begun has no time limit."""
        super().data_received(data)
        if self.scope and not self.cycle.response_complete:
            self._forgive()

    def on_response_complete(self) -> None:
        """Finish a response as uvicorn does; start the time limit of the next request."""
        self.known = _is_known(self)
        self._expect()
        super().on_response_complete()
        if not self.cycle.response_complete:  # the next request had already arrived
            self._forgive()

    def connection_lost(self, exc: Exception | None) -> None:
        """Close as uvicorn does, and cancel the time limit."""
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
    """Print one line per minute at most if connections cannot be accepted, instead of asyncio's tracebacks."""
    last_message = -QUIET

    def handler(loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        nonlocal last_message
        if not isinstance(context.get("exception"), OSError) or "accept" not in str(context.get("message")):
            loop.default_exception_handler(context)
        elif loop.time() - last_message >= QUIET:
            last_message = loop.time()
            sys.stderr.write(f"connections cannot be accepted: {context['exception']}\n")

    loop.set_exception_handler(handler)
