"""A server in a thread of the tests, over a folder with two small runs; and a client that has its token."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

import treeplex as tp
from treeplex.web.directory import Directory
from treeplex.web.security import Door
from treeplex.web.server import Server, listen
from treeplex.web.site import Site

TOKEN = "a-token-that-is-long-enough"
RIVER = {
    "board": "Ks 9h 6d 3c Jh",
    "pot": 100,
    "effective_stack": 200,
    "oop_range": "AA,KQs,76s",
    "ip_range": "QQ,KTs",
    "sizes": {"bet": "50%, a", "raise": "a"},
}


class Client(httpx.Client):
    """Sends the token, and knows how to wait for a job."""

    def __init__(self, port: int, token: str = TOKEN) -> None:
        super().__init__(base_url=f"http://127.0.0.1:{port}", headers={"X-Token": token}, timeout=60)

    def ask(self, path: str, status: int = 200, /, **query: Any) -> Any:
        answer = self.get(f"/api/{path}", params=query)
        assert answer.status_code == status, answer.text
        return answer.json()

    def tell(self, path: str, status: int = 200, /, **body: Any) -> Any:
        answer = self.post(f"/api/{path}", json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    def sentence(self, answer: httpx.Response, status: int) -> str:
        """The one sentence of a refusal."""
        assert answer.status_code == status, answer.text
        assert list(answer.json()) == ["error"]
        words = answer.json()["error"]
        assert len(words) < 400
        assert words[0].isupper() or words[0] in "'0123456789/"
        assert words[-1] in ".!"
        assert "Traceback" not in words
        return words

    def job(self, name: str) -> dict[str, Any]:
        return next(job for job in self.ask("jobs")["jobs"] if job["job"] == name)

    def until(self, name: str, *states: str, seconds: float = 60) -> dict[str, Any]:
        end = time.monotonic() + seconds
        while True:
            job = self.job(name)
            if job["state"] in states:
                return job
            assert job["state"] not in ("failed", "done", "stopped"), job
            assert time.monotonic() < end, job
            time.sleep(0.05)


class Served:
    """A server in a thread."""

    def __init__(self, folder: Path, opener: Any = None) -> None:
        listening = listen("127.0.0.1", 0)
        self.site = Site(Directory.of(folder), Door(TOKEN, "127.0.0.1", listening.getsockname()[1]), opener)
        self.site.queue.hold()
        ready = threading.Event()
        self.server = Server(self.site, ready.set)
        self.thread = threading.Thread(target=self.server.run, args=([listening],), daemon=True)
        self.thread.start()
        assert ready.wait(20)
        self.client = Client(self.site.door.port)

    def close(self) -> None:
        self.client.close()
        self.server.handle_exit(signal.SIGTERM, None)
        self.thread.join()


@pytest.fixture(scope="session", autouse=True)
def state(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """The key of the queue is one of the tests' own."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("XDG_STATE_HOME", str(tmp_path_factory.mktemp("state")))
        yield


@pytest.fixture(scope="session")
def kept(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with runs of two small games, one of them without a name."""
    folder = tmp_path_factory.mktemp("served") / "runs"
    tp.solve("kuhn", "cfr+", iterations=60, out=folder / "kuhn")
    tp.solve([[1, -1], [-1, 1]], "cfr", iterations=20, out=folder / "deeper" / "pennies")
    return folder


@pytest.fixture(scope="session")
def served(kept: Path) -> Iterator[Served]:
    running = Served(kept)
    yield running
    running.close()


@pytest.fixture(scope="session")
def client(served: Served) -> Client:
    return served.client


@pytest.fixture(scope="session")
def port(served: Served) -> int:
    return served.site.door.port


@pytest.fixture
def start() -> Iterator[Callable[..., tuple[subprocess.Popen[str], Client]]]:
    """``treeplex serve`` in a process of its own."""
    running: list[tuple[subprocess.Popen[str], Client]] = []

    def run(folder: Path, *options: str) -> tuple[subprocess.Popen[str], Client]:
        process = subprocess.Popen(
            [sys.executable, "-m", "treeplex", "serve", str(folder), "--port", "0", *options],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"TREEPLEX_TOKEN": TOKEN},
        )
        assert process.stdout is not None
        link = process.stdout.readline().strip()
        assert link.startswith("http://127.0.0.1:"), link
        client = Client(int(link.rpartition(":")[2].partition("/")[0]))
        running.append((process, client))
        return process, client

    yield run
    for process, client in running:
        client.close()
        process.terminate()
        process.communicate(timeout=40)
