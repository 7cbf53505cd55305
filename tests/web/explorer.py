"""A server and a browser for tests of the page; everything that goes wrong in the browser is kept."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
import urllib.parse
import urllib.request
from pathlib import Path
from typing import Any, Final

TOKEN: Final = "a-token-of-the-tests-only"
BROWSERS: Final = ("/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome")
SLOW: Final = 240_000  # milliseconds: the first solve of a machine compiles its kernels


def browser_path() -> str | None:
    """A browser that is installed; ``CHROMIUM`` names another."""
    found = [os.environ.get("CHROMIUM", ""), *BROWSERS]
    return next((path for path in found if path and Path(path).exists()), None)


class Server:
    """``treeplex serve`` in a process of its own, on the same port each time it is started."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.port = folder, 0
        self.start()

    def start(self) -> None:
        command = [sys.executable, "-m", "treeplex", "serve", str(self.folder), "--port", str(self.port)]
        self.process = subprocess.Popen(
            command,
            env=os.environ | {"TREEPLEX_TOKEN": TOKEN},
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            start_new_session=True,
        )
        assert self.process.stdout is not None
        told: list[str] = []
        for line in self.process.stdout:
            told.append(line)
            at = line.find("http://127.0.0.1:")
            if at >= 0:
                self.port = int(line[at + len("http://127.0.0.1:") :].partition("/")[0])
                return
        raise AssertionError(f"the server has not started: {''.join(told)}")

    def kill(self) -> None:
        """At once, as a power cut would."""
        self.process.kill()
        self._gone()

    def stop(self) -> None:
        self.process.send_signal(signal.SIGINT)
        self._gone()

    def _gone(self) -> None:
        self.process.wait(20)
        if self.process.stdout is not None:
            self.process.stdout.close()

    @property
    def origin(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def page(self, route: str = "") -> str:
        """The address of a view."""
        return f"{self.origin}/?token={TOKEN}{route}"

    def get(self, path: str, **params: str) -> Any:
        """What the API says."""
        address = f"{self.origin}/api/{path}?{urllib.parse.urlencode(params)}"
        with urllib.request.urlopen(urllib.request.Request(address, headers={"X-Token": TOKEN}), timeout=60) as answer:
            return json.load(answer)

    def post(self, path: str, body: Any) -> Any:
        """The same for what changes something."""
        headers = {"X-Token": TOKEN, "Content-Type": "application/json"}
        asked = urllib.request.Request(f"{self.origin}/api/{path}", json.dumps(body).encode(), headers)
        with urllib.request.urlopen(asked, timeout=60) as answer:
            return json.load(answer)


class Watched:
    """A page, and what must not happen in it."""

    def __init__(self, page: Any, server: Server) -> None:
        self.page, self.server = page, server
        self.problems: list[str] = []
        self.lenient = False  # while the server is down, requests fail
        page.on("console", self._console)
        page.on("pageerror", lambda error: self.problems.append(f"error: {error}"))
        page.on("dialog", lambda dialog: (self.problems.append(f"dialog: {dialog.message}"), dialog.dismiss()))
        page.on("request", self._request)

    def _console(self, message: Any) -> None:
        if message.type in ("error", "warning") and not (self.lenient and "Failed to load resource" in message.text):
            self.problems.append(f"console: {message.text}")

    def _request(self, request: Any) -> None:
        if not request.url.startswith((self.server.origin + "/", "data:", "blob:")):
            self.problems.append(f"request: {request.url}")

    def open(self, route: str) -> Any:
        """Go to a view by its link."""
        self.page.goto(self.server.page(route))
        return self.page

    def until(self, truth: str) -> None:
        """Wait until an expression is true. The driver's own wait evaluates text in the page, which forbids it."""
        end = time.monotonic() + 20
        while not self.page.evaluate(truth):
            assert time.monotonic() < end, f"never true: {truth}"
            self.page.wait_for_timeout(20)

    def line(self, wanted: str) -> None:
        """Wait until the browser shows the node of a line."""
        self.page.locator(f'.browse[data-line="{wanted}"]').wait_for(timeout=60_000)


def fixed(value: float | None, digits: int) -> str:
    """A number as the page prints it."""
    if value is None:
        return "–"
    text = f"{value:.{digits}f}"
    return text[1:] if text.strip("-0.") == "" and text.startswith("-") else text


def chips(value: float | None, pot: float) -> str:
    """Chips as the page prints them."""
    return fixed(value, 1 if pot >= 1000 else 2 if pot >= 20 else 3)


def percent(value: float | None, digits: int = 1) -> str:
    """A share as the page prints it."""
    return "–" if value is None else f"{fixed(100.0 * value, digits)}%"
