"""The queue: one solve at a time, stopped, failed, killed and found again, always to the same bits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import threading
import time
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import treeplex as tp
from treeplex.errors import ParameterError
from treeplex.web.jobs import record
from treeplex.web.jobs.queue import Queue
from treeplex.web.jobs.requests import JobRequest
from treeplex.web.server import listen

from .conftest import Client, Served

LONG = {"what": "solve", "game": "leduc", "algorithm": "cfr", "iterations": 10**9}


@pytest.fixture(scope="module")
def queue(tmp_path_factory):
    running = Served(tmp_path_factory.mktemp("queue") / "runs")
    yield running
    running.close()


def some_rows(client: Client, job: str) -> None:
    end = time.monotonic() + 60
    while not client.job(job)["progress"]["rows"] or client.job(job)["progress"]["compiling"]:
        assert client.job(job)["state"] in ("queued", "running"), client.job(job)
        assert time.monotonic() < end
        time.sleep(0.05)


def check_same_bits(folder: Path, alone: Path) -> None:
    """A run that was cut anywhere is the one that never was."""
    found = json.loads((folder / "result.json").read_text())
    tp.solve("leduc", "cfr", iterations=found["iterations"], out=alone)
    own = json.loads((alone / "result.json").read_text())
    for name in ("iterations", "nodes_touched", "value", "nash_conv", "best_response_values"):
        assert found[name] == own[name]
    assert tp.Policy.load(folder / "policy.parquet") == tp.Policy.load(alone / "policy.parquet")


def test_a_solve_is_the_same_as_in_a_terminal_and_told_as_it_happens(queue, tmp_path):
    client, root, seen = queue.client, queue.site.directory.root, list[str]()

    def hear() -> None:
        with client.stream("GET", "/api/events", params={"token": "whatever"}) as answer:
            for line in answer.iter_lines():
                seen.append(line)
                if '"state":"done"' in line:
                    break

    listener = threading.Thread(target=hear)
    listener.start()
    while not seen:
        time.sleep(0.02)
    job = client.tell("jobs", what="solve", game="leduc", algorithm="cfr", iterations=300, name="mine")
    assert (job["state"], job["run"], job["title"], job["game"]) == ("queued", "mine", "leduc, cfr", "leduc")
    listener.join(60)
    assert not listener.is_alive()
    assert seen[0] == "retry: 1000"
    assert {"event: jobs", "event: runs"} <= set(seen) or "event: jobs" in seen
    last = next(line for line in reversed(seen) if line.startswith("data: "))
    assert json.loads(last[6:])["jobs"][0]["state"] == "done"

    done = client.until(job["job"], "done")
    assert (done["progress"]["iteration"], done["progress"]["limits"]) == (300, {"iterations": 300})
    assert done["progress"]["nash_conv"] == client.ask("run", run="mine")["nash_conv"]
    check_same_bits(root / "mine", tmp_path / "own")
    client.tell(f"jobs/{job['job']}/remove")
    assert job["job"] not in {job["job"] for job in client.ask("jobs")["jobs"]}
    assert not (root / record.HOME / job["job"]).exists()
    assert (root / "mine" / "result.json").exists()


@pytest.mark.slow
def test_one_at_a_time_stopped_killed_and_resumed(queue, tmp_path):
    client, root = queue.client, queue.site.directory.root
    first = client.tell("jobs", **LONG, name="mine")
    other = client.tell("jobs", **LONG, name="mine")
    second, job, run = other["job"], first["job"], first["run"]
    assert run.startswith("mine")
    assert other["run"].startswith("mine-")  # a name that is taken gets a number
    assert other["run"] != run
    some_rows(client, job)
    assert client.job(second)["state"] == "queued"
    assert (client.ask("run", run=run)["job"], client.ask("run", run=run)["status"]) == (job, "running")
    assert client.ask("log", run=run)["columns"]["nodes"][-1] > 0
    assert "works on" in client.sentence(client.post("/api/jobs", json={"what": "resume", "run": run}), 409)
    assert "stop it first" in client.sentence(client.post(f"/api/jobs/{job}/remove"), 409)
    assert client.tell(f"jobs/{second}/stop")["state"] == "stopped"
    os.kill(record.process_of(root / record.HOME / job), signal.SIGKILL)
    assert "SIGKILL" in client.until(job, "failed")["error"]
    assert client.ask("run", run=run)["status"] == "stopped"

    again = client.tell("jobs", what="resume", run=run)["job"]
    some_rows(client, again)
    client.tell(f"jobs/{again}/stop")
    assert client.until(again, "stopped")["error"] is None
    assert client.ask("run", run=run)["status"] == "interrupted"
    check_same_bits(root / run, tmp_path / "own")


def test_what_the_worker_refuses_is_the_jobs_sentence(queue):
    lost = queue.client.tell("jobs", what="solve", game="leduc", algorithm="lp", iterations=5)
    assert "exact" in queue.client.until(lost["job"], "failed")["error"]


@pytest.mark.slow
def test_a_server_that_ends_keeps_its_solve_and_the_next_goes_on(tmp_path):
    folder = tmp_path / "runs"
    server = Served(folder)
    job = server.client.tell("jobs", **LONG, name="long")["job"]
    waiting = server.client.tell("jobs", **LONG)["job"]
    some_rows(server.client, job)
    server.close()
    assert not record.is_alive(folder / record.HOME / job)
    kept = json.loads((folder / "long" / "result.json").read_text())
    assert kept["status"] == "interrupted"

    server = Served(folder)
    try:
        client = server.client
        assert (client.job(job)["state"], client.job(waiting)["state"]) in (("queued", "queued"), ("running", "queued"))
        client.tell(f"jobs/{waiting}/stop")
        while client.job(job)["progress"]["iteration"] <= kept["iterations"]:
            time.sleep(0.05)
        client.tell(f"jobs/{job}/stop")
        client.until(job, "stopped")
    finally:
        server.close()
    assert json.loads((folder / "long" / "result.json").read_text())["iterations"] > kept["iterations"]
    check_same_bits(folder / "long", tmp_path / "own")


def kill(server: subprocess.Popen[str], *workers: Any) -> None:
    for process in (server.pid, *workers):
        os.kill(process, signal.SIGKILL)
    server.wait()


@pytest.mark.slow
def test_a_killed_server_loses_nothing(start, tmp_path):
    folder = tmp_path / "runs"
    server, client = start(folder)
    job = client.tell("jobs", **LONG, name="long")["job"]
    waiting = client.tell("jobs", **LONG)["job"]
    some_rows(client, job)
    worker = record.process_of(folder / record.HOME / job)
    os.kill(worker, signal.SIGSTOP)  # so that it does not get far while the servers start
    kill(server)

    server, client = start(folder)  # the worker is still there
    assert (client.job(job)["state"], client.job(waiting)["state"]) == ("running", "queued")
    assert record.process_of(folder / record.HOME / job) == worker
    client.tell(f"jobs/{waiting}/stop")
    os.kill(worker, signal.SIGCONT)
    client.tell(f"jobs/{job}/stop")
    client.until(job, "stopped")
    check_same_bits(folder / "long", tmp_path / "own")
    server.send_signal(signal.SIGINT)
    out, err = server.communicate(timeout=40)
    assert (server.returncode, out + err) == (0, "")  # no traceback on Ctrl-C


@pytest.mark.slow
def test_a_killed_server_whose_worker_is_killed_too(start, tmp_path):
    folder = tmp_path / "runs"
    server, client = start(folder)
    job = client.tell("jobs", **LONG, name="long")["job"]
    for _ in range(3):
        some_rows(client, job)
        kill(server, record.process_of(folder / record.HOME / job))
        (folder / record.HOME / job / "progress.json").unlink()
        server, client = start(folder)
    some_rows(client, job)
    client.tell(f"jobs/{job}/stop")
    client.until(job, "stopped")
    check_same_bits(folder / "long", tmp_path / "own")


def test_a_full_disk_does_not_end_the_queue(queue, monkeypatch):
    written, refused = record.JobRecord.write, []

    def full(job: Any, home: Path) -> None:
        if job.state == "running" and not refused:
            refused.append(job)
            raise ParameterError("The file cannot be written: no space.")
        written(job, home)

    client = queue.client
    monkeypatch.setattr(record.JobRecord, "write", full)
    first = client.tell("jobs", what="solve", game="kuhn", iterations=10)["job"]
    end = time.monotonic() + 30
    while client.job(first)["state"] in ("queued", "running"):
        assert time.monotonic() < end
        time.sleep(0.05)
    assert "no space" in client.job(first)["error"]
    second = client.tell("jobs", what="solve", game="kuhn", iterations=10)["job"]
    client.until(second, "done")


def test_a_killed_worker_is_not_told_as_the_attempt_before_it(tmp_path, monkeypatch):
    """The outcome of an attempt that was interrupted goes before the next one starts."""
    monkeypatch.setattr("treeplex.web.jobs.queue.WORKER", "treeplex.web.jobs.no_such_module")
    server = Served(tmp_path / "runs")
    try:
        home = tmp_path / "runs" / record.HOME
        with server.site.queue._lock:  # before the queue takes it
            job = server.site.queue.add("solve", JobRequest("kuhn", {"what": "solve"}, "kuhn", stem="kuhn"))["job"]
            (home / job / "outcome.json").write_text('{"status": "interrupted"}')
        assert "ended without an answer" in server.client.until(job, "failed")["error"]
        monkeypatch.setattr(subprocess, "Popen", lambda *_, **__: subprocess_that_was_killed())
        with server.site.queue._lock:
            job = server.site.queue.add("solve", JobRequest("kuhn", {"what": "solve"}, "kuhn", stem="kuhn"))["job"]
            (home / job / "outcome.json").write_text('{"status": "interrupted"}')
        assert "SIGKILL" in server.client.until(job, "failed")["error"]
    finally:
        monkeypatch.undo()
        server.close()


def subprocess_that_was_killed() -> Any:
    return SimpleNamespace(poll=lambda: -signal.SIGKILL, returncode=-signal.SIGKILL, pid=0)


@pytest.mark.slow
def test_growth(queue):
    client = queue.client
    grown = client.tell("jobs", what="grow", game="continuous_leduc", iterations=60)
    done = client.until(grown["job"], "done", seconds=200)
    assert done["progress"]["additions"][0]["size"] > 0
    assert (done["run"], done["game"]) == ("continuous_leduc-grow", "continuous_leduc")


def test_a_busy_port_is_refused_in_a_sentence(queue, port):
    with pytest.raises(ParameterError, match=r"address already in use\. Choose another port with --port, or 0"):
        listen("127.0.0.1", port)
    for host in ("no.such.host.invalid", "\0", "256.1.1.1"):
        with pytest.raises(ParameterError, match="Cannot listen"):
            listen(host, 0)


def test_a_folder_has_one_server(queue):
    with pytest.raises(ParameterError, match=f"already served by process {os.getpid()}"):
        Queue(queue.site.directory).hold()
