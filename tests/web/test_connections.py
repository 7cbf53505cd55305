"""Half-open connections, and signals that come while something is computed: the server answers, and it ends."""

from __future__ import annotations

import os
import signal
import socket
import subprocess
import sys
import time
from contextlib import ExitStack
from pathlib import Path

import pytest

from treeplex.web import connections

from .conftest import TOKEN, Client, Served

resource = pytest.importorskip("resource")


def half_open(
    stack: ExitStack, port: int, count: int, text: bytes = b"GET / HTTP/1.1\r\nHost: x"
) -> list[socket.socket]:
    made = [stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=20)) for _ in range(count)]
    for each in made:
        each.sendall(text)
    return made


def is_closed(connection: socket.socket, seconds: float) -> bool:
    connection.settimeout(seconds)
    try:
        return connection.recv(1) == b""
    except ConnectionError:
        return True
    except TimeoutError:
        return False


def test_the_page_answers_behind_half_open_connections(tmp_path, monkeypatch):
    monkeypatch.setattr(connections, "MOST", 20)
    served = Served(tmp_path / "runs")
    try:
        with ExitStack() as stack:
            port = served.site.door.port
            assert served.client.ask("about")["version"]  # known, and older than all others
            with served.client.stream("GET", "/api/events") as events:
                lines = events.iter_lines()
                next(lines)
                made = half_open(stack, port, 60)
                assert all(is_closed(each, 5) for each in made[:40])  # so all have been accepted
                alive = [each for each in served.server.server_state.connections if not each.transport.is_closing()]
                assert len(alive) <= 20
                assert not is_closed(made[-1], 0.01)
                with Client(port) as other:
                    assert other.ask("about")["version"]
                job = served.client.tell("jobs", what="solve", game="kuhn", iterations=2)["job"]
                assert any(f'"job":"{job}"' in line for line in lines)  # the stream is still there
    finally:
        served.close()


@pytest.mark.parametrize(
    "text", [b"", b"GET / HTTP/1.1\r\nHost: x", b"GET / HTTP/1.1\r\nHost: x\r\n\r\nGET / HTTP/1.1\r\nHost: x"]
)
def test_a_request_that_never_comes_is_not_waited_for(tmp_path, monkeypatch, text):
    monkeypatch.setattr(connections, "SECONDS", 0.3)
    served = Served(tmp_path / "runs")
    try:
        with ExitStack() as stack:
            (late,) = half_open(stack, served.site.door.port, 1, text)
            began = time.monotonic()
            while late.recv(4096):
                late.sendall(b"-")
            assert time.monotonic() - began < 3
    except ConnectionError:
        pass
    finally:
        served.close()


@pytest.mark.skipif(not hasattr(resource, "prlimit"), reason="limits of another process cannot be set here")
def test_the_files_of_the_server_are_not_used_up(start, tmp_path):
    process, client = start(tmp_path / "runs")
    resource.prlimit(process.pid, resource.RLIMIT_NOFILE, (160, 160))
    with ExitStack() as stack:
        half_open(stack, client.base_url.port, 400)
        for _ in range(3):
            assert client.ask("about")["version"]
            time.sleep(0.2)
    assert client.ask("runs")["runs"] == []
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=20)
    assert len(out + err) < 1000


BUSY = """
import sys, threading, time
from treeplex.web import opened, server
from treeplex.cli.entry import main

def open_slowly(folder, watch=None):
    print("opening", flush=True)
    time.sleep(60)

opened.OpenedRuns._opener = lambda self: open_slowly
sys.argv = ["treeplex", "serve", sys.argv[1], "--port", "0"]
main()
"""


@pytest.mark.parametrize("waiting", [False, True], ids=["opening", "asked"])
def test_a_signal_ends_the_server_while_a_run_opens(river, tmp_path, waiting):
    process = subprocess.Popen(
        [sys.executable, "-c", BUSY, str(river)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env=os.environ | {"TREEPLEX_TOKEN": TOKEN},
    )
    try:
        assert process.stdout is not None
        link = process.stdout.readline()
        port = int(link.rpartition(":")[2].partition("/")[0])
        with Client(port) as client, ExitStack() as stack:
            assert client.tell("open", run="river")["state"] == "opening"
            assert process.stdout.readline() == "opening\n"
            if waiting:
                text = f"GET /api/node?run=river HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nX-Token: {TOKEN}\r\n\r\n"
                half_open(stack, port, 1, text.encode())
                time.sleep(0.2)
            began = time.monotonic()
            process.send_signal(signal.SIGTERM)
            if waiting:
                time.sleep(0.3)
                process.send_signal(signal.SIGTERM)  # the second one does not wait
            process.wait(10)
        assert time.monotonic() - began < (2 if waiting else 5)
        assert process.returncode == 0
        assert process.communicate()[1] == ""
    finally:
        process.kill()
        process.communicate()


@pytest.fixture(scope="module")
def river(tmp_path_factory: pytest.TempPathFactory) -> Path:
    import treeplex as tp  # noqa: PLC0415

    from .conftest import RIVER  # noqa: PLC0415

    folder = tmp_path_factory.mktemp("river")
    tp.solve(RIVER, iterations=2, out=folder / "river")
    return folder
