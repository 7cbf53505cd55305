"""The server process: it listens, by default on loopback, until Ctrl-C."""

from __future__ import annotations

import asyncio
import logging
import os
import secrets
import signal
import socket
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import Any, Final

import uvicorn

from treeplex.errors import ParameterError, quoted, within
from treeplex.files import reason
from treeplex.system import SIGNALS
from treeplex.web.app import make_app
from treeplex.web.connections import BACKLOG, Connection, keep_quiet
from treeplex.web.directory import Directory
from treeplex.web.security import Door
from treeplex.web.site import Site

LOG: Final = logging.getLogger("uvicorn.error")
GRACE: Final = 3  # seconds for unfinished answers at shutdown
WAITING: Final = b"waiting for the solve to save its checkpoint; Ctrl-C again exits without waiting\n"
WAITING_ROOM: Final = 1024  # connections that the system queues until they are accepted
SHORTEST: Final = 16  # minimum number of characters of a token


def listen(host: str, port: object) -> socket.socket:
    """Return a listening socket, or raise ``ParameterError``."""
    number = within(int, "port", port, "a whole number from 0 to 65535", 0, 65535)
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError, ValueError) as error:
        raise ParameterError(f"Cannot listen on {quoted(host)}: this machine does not have that host.") from error
    listener = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind(address)
        listener.listen(WAITING_ROOM)
    except OSError as error:
        listener.close()
        why = reason(error).lower()
        raise ParameterError(
            f"Cannot listen on {host}, port {number}: {why}. Choose another port with --port, or 0 for any."
        ) from error
    return listener


def token() -> str:
    """Return the token of the environment, or a new one."""
    text = os.environ.get("TREEPLEX_TOKEN")
    if text is None:
        return secrets.token_urlsafe(24)
    if len(text) < SHORTEST or not text.isascii() or not text.replace("-", "").replace("_", "").isalnum():
        raise ParameterError(
            f"TREEPLEX_TOKEN must have at least {SHORTEST} letters, digits, - and _, got {len(text)} characters."
        )
    return text


def serve(directory: str, host: str, port: int, started: Callable[[str], None]) -> None:
    """Serve a folder until a signal arrives; ``started`` is called with the link."""
    folder = Directory.of(directory)
    listening = listen(host, port)
    door = Door(token(), host, int(listening.getsockname()[1]))
    site = Site(folder, door)
    site.queue.hold()
    shown = f"[{host}]" if ":" in host else host

    def ready() -> None:
        started(f"http://{shown}:{door.port}/?token={door.token}")
        site.checker.warm()

    Server(site, ready, leave=_leave).run([listening])


def _leave() -> None:
    """Exit the process at once, without waiting for threads that open a run or compute a view."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)


class Server(uvicorn.Server):
    """A server that shuts down quietly: it ends the event streams first and calls ``leave`` last."""

    def __init__(self, site: Site, started: Callable[[], None], leave: Callable[[], None] = lambda: None) -> None:
        quiet: Any = {"log_config": None, "access_log": False, "server_header": False, "ws": "none"}
        limits: Any = {"http": Connection, "backlog": BACKLOG, "timeout_graceful_shutdown": GRACE}
        super().__init__(uvicorn.Config(make_app(site), lifespan="on", **limits, **quiet))
        self.site, self.tell, self.leave = site, started, leave
        LOG.setLevel(logging.ERROR)  # malformed requests are not worth a log line

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Start as uvicorn does, then report the link."""
        keep_quiet(asyncio.get_running_loop())
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(WAITING_ROOM)  # asyncio accepts as many at once as its backlog has
        if self.started:
            self.tell()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Shut down as uvicorn does, without messages about unfinished answers."""
        LOG.setLevel(logging.CRITICAL)
        await super().shutdown(sockets)
        self.site.checker.close()
        self.leave()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Shut down at the first signal, after the solve has saved its checkpoint; at the second, at once."""
        self.site.events.close()
        self.site.queue.hurried = self.should_exit
        if self.site.queue.is_busy and not self.should_exit:
            os.write(2, WAITING)
        self.force_exit, self.should_exit = self.should_exit, True

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """Handle signals while the server runs; only the main thread may."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
