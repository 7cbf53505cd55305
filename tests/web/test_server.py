"""Names, tokens, other hosts; and folders that others write into."""

from __future__ import annotations

import builtins
import json
import os
import signal
import subprocess
import sys
import time

import pytest

from treeplex.errors import ParameterError
from treeplex.web.security import Door
from treeplex.web.server import token


@pytest.mark.parametrize(
    ("host", "header", "ours"),
    [
        ("127.0.0.1", "localhost:80", True),
        ("127.0.0.1", "[::1]:80", True),
        ("127.0.0.1", "192.168.0.7:80", False),
        ("0.0.0.0", "192.168.0.7:80", True),
        ("0.0.0.0", "evil.example:80", False),
        ("0.0.0.0", "192.168.0.7:81", False),
        ("::", "[fe80::1]:80", True),
        ("box.local", "box.local:80", True),
        ("box.local", "BOX.local", True),
        ("box.local", "box.local.evil:80", False),
        ("127.0.0.1", "localhost:80:80", False),
        ("127.0.0.1", "", False),
        ("127.0.0.1", "[127.0.0.1]:80", False),
        ("127.0.0.1", "]127.0.0.1[:80", False),
        ("127.0.0.1", "::1", False),
        ("::1", "[::1]", True),
        ("127.0.0.1", "localhost:９", False),
    ],
)
def test_names_of_the_server(host, header, ours):
    assert Door("t", host, 80).is_ours(header) == ours


def test_tokens(monkeypatch):
    monkeypatch.delenv("TREEPLEX_TOKEN", raising=False)
    assert len(token()) >= 32
    assert token() != token()
    monkeypatch.setenv("TREEPLEX_TOKEN", "0123456789abcdef-_")
    assert token() == "0123456789abcdef-_"
    for wrong in ("", "short", "0123456789abcdef&", "0123456789abcdefé"):
        monkeypatch.setenv("TREEPLEX_TOKEN", wrong)
        with pytest.raises(ParameterError, match="TREEPLEX_TOKEN"):
            token()


def test_without_the_extra_there_is_a_sentence(monkeypatch, capsys):
    from treeplex.cli.main import run  # noqa: PLC0415

    real = builtins.__import__

    def missing(name, *rest, **more):
        if name.partition(".")[0] == "treeplex" and name.endswith("web.server"):
            raise ModuleNotFoundError("No module named 'fastapi'", name="fastapi")
        return real(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", missing)
    monkeypatch.setattr(sys, "argv", ["treeplex", "serve"])
    with pytest.raises(SystemExit) as ended:
        run()
    assert ended.value.code == 2
    assert "pip install 'treeplex[web]'" in capsys.readouterr().err


@pytest.mark.slow
def test_a_run_is_read_while_another_process_solves_in_it(client, kept):
    command = [sys.executable, "-m", "treeplex", "solve", "leduc", "--algorithm", "cfr", "--iterations", "1e9"]
    command += ["--out", str(kept / "elsewhere"), "--checkpoint-seconds", "0.05", "--quiet"]
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as solver:
        seen, end = set[int](), time.monotonic() + 60
        while len(seen) < 2:
            assert time.monotonic() < end
            if not (kept / "elsewhere" / "run.json").exists():
                time.sleep(0.02)
                continue
            row = next(row for row in client.ask("runs")["runs"] if row["run"] == "elsewhere")
            assert row["status"] in ("running", "stopped")
            columns = client.ask("log", run="elsewhere")["columns"]
            assert len({len(column) for column in columns.values() if column is not None}) == 1
            seen.update(columns["iteration"][-1:])
        assert client.ask("run", run="elsewhere")["status"] == "running"
        solver.send_signal(signal.SIGSTOP)
        refused = client.tell("jobs", what="resume", run="elsewhere", iterations=5)
        assert "being written to by process" in client.until(refused["job"], "failed")["error"]
        solver.send_signal(signal.SIGCONT)
        solver.terminate()
    assert client.ask("run", run="elsewhere")["status"] == "interrupted"
    assert client.ask("log", run="elsewhere")["columns"]["iteration"][-1] >= max(seen)


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes here")
def test_a_pipe_in_a_folder_keeps_nobody_waiting(client, kept):
    (kept / "pipe").mkdir()
    (kept / "pipe" / "run.json").write_text(json.dumps({}))
    os.mkfifo(kept / "pipe" / "result.json")
    try:
        assert "pipe" not in {row["run"] for row in client.ask("runs")["runs"]}
        client.sentence(client.get("/api/run", params={"run": "pipe"}), 404)
    finally:
        (kept / "pipe" / "result.json").unlink()
        (kept / "pipe" / "run.json").unlink()
