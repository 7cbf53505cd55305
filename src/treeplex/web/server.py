"""Listening: on loopback unless told otherwise, until Ctrl-C."""

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
GRACE: Final = 3  # seconds that answers have to be finished in
WAITING: Final = b"waiting for the solve to keep its checkpoint; Ctrl-C again leaves it to itself\n"
WAITING_ROOM: Final = 1024  # connections that the system keeps until they are accepted
SHORTEST: Final = 16  # characters of a token


def listen(host: str, port: object) -> socket.socket:
    """A socket that listens, or a refusal."""
    number = within(int, "port", port, "a whole number from 0 to 65535", 0, 65535)
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(host, number, type=socket.SOCK_STREAM)[0]
    except (OSError, UnicodeError, ValueError) as error:
        raise ParameterError(f"Cannot listen on {quoted(host)}: there is no such host here.") from error
    found = socket.socket(family, kind, protocol)
    try:
        if os.name == "posix":
            found.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        found.bind(address)
        found.listen(WAITING_ROOM)
    except OSError as error:
        found.close()
        why = reason(error).lower()
        raise ParameterError(
            f"Cannot listen on {host}, port {number}: {why}; give another with --port, or 0 for any."
        ) from error
    return found


def token() -> str:
    """A new one, or that of the environment."""
    given = os.environ.get("TREEPLEX_TOKEN")
    if given is None:
        return secrets.token_urlsafe(24)
    if len(given) < SHORTEST or not given.isascii() or not given.replace("-", "").replace("_", "").isalnum():
        raise ParameterError(
            f"TREEPLEX_TOKEN must have at least {SHORTEST} letters, digits, - and _, got {len(given)} characters."
        )
    return given


def serve(directory: str, host: str, port: int, started: Callable[[str], None]) -> None:
    """Serve a folder until a signal comes; ``started`` is called with the link."""
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
    """End the process. Threads that open a run or compute a view would be waited for otherwise, without an end."""
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(0)


class Server(uvicorn.Server):
    """Ends quietly: what listens is let go first, signals are not raised again, and ``leave`` is called at the end."""

    def __init__(self, site: Site, started: Callable[[], None], leave: Callable[[], None] = lambda: None) -> None:
        quiet: Any = {"log_config": None, "access_log": False, "server_header": False, "ws": "none"}
        limits: Any = {"http": Connection, "backlog": BACKLOG, "timeout_graceful_shutdown": GRACE}
        super().__init__(uvicorn.Config(make_app(site), lifespan="on", **limits, **quiet))
        self.site, self.tell, self.leave = site, started, leave
        LOG.setLevel(logging.ERROR)  # requests that are none are nobody's news

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """As the library has it; then the link is told."""
        keep_quiet(asyncio.get_running_loop())
        await super().startup(sockets)
        for each in sockets or ():
            each.listen(WAITING_ROOM)  # asyncio accepts as many at once as it was told to keep waiting
        if self.started:
            self.tell()

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """As the library has it, without a word about answers that are cut off."""
        LOG.setLevel(logging.CRITICAL)
        await super().shutdown(sockets)
        self.site.checker.close()
        self.leave()

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal ends the server, which waits for a solve to keep its checkpoint; the second one does not."""
        self.site.events.close()
        self.site.queue.hurried = self.should_exit
        if self.site.queue.is_busy and not self.should_exit:
            os.write(2, WAITING)
        self.force_exit, self.should_exit = self.should_exit, True

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """While the server runs; only the main thread may."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in SIGNALS}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
