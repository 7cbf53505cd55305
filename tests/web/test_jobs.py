"""The queue: one solve at a time, stopped, failed, killed and found again, always to the same bits."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

import treeplex as tp
from treeplex.web.jobs import record

from .conftest import Client, Served

ENOUGH = 60_000  # iterations, about two seconds
LONG = {"what": "solve", "game": "leduc", "algorithm": "cfr", "iterations": 10**9}


@pytest.fixture
def fresh(tmp_path):
    running = Served(tmp_path / "runs")
    yield running
    running.close()


def test_a_solve_is_the_same_as_in_a_terminal(fresh, tmp_path, result):
    client = fresh.client
    job = client.tell("jobs", what="solve", game="leduc", iterations=300, name="mine")
    assert (job["state"], job["run"], job["title"]) == ("queued", "mine", "leduc, cfr+")
    done = client.until(job["job"], "done")
    assert done["progress"]["iteration"] == 300
    assert done["progress"]["limits"] == {"iterations": 300}
    assert done["progress"]["nash_conv"] > 0
    tp.solve("leduc", "cfr+", iterations=300, out=tmp_path / "own")
    assert result(tmp_path / "runs" / "mine") == result(tmp_path / "own")
    second = client.tell("jobs", what="solve", game="kuhn", iterations=3, name="mine")
    assert second["run"] == "mine-2"
    client.tell(f"jobs/{second['job']}/stop")
    more = client.tell("jobs", what="resume", run="mine", iterations=400)
    client.until(more["job"], "done")
    assert client.ask("run", run="mine")["iterations"] == 400
    client.tell(f"jobs/{more['job']}/remove")
    assert more["job"] not in {job["job"] for job in client.ask("jobs")["jobs"]}
    assert not (tmp_path / "runs" / record.HOME / more["job"]).exists()


def test_stop_remove_and_one_at_a_time(fresh, tmp_path):
    client = fresh.client
    first = client.tell("jobs", **LONG)["job"]
    second = client.tell("jobs", **LONG)["job"]
    client.until(first, "running")
    some_rows(client, first)
    assert client.job(second)["state"] == "queued"
    run = client.job(first)["run"]
    assert client.ask("run", run=run)["job"] == first
    assert client.ask("run", run=run)["status"] == "running"
    assert "works on" in client.sentence(client.post("/api/jobs", json={"what": "resume", "run": run}), 409)
    assert "stop it first" in client.sentence(client.post(f"/api/jobs/{first}/remove"), 409)
    assert client.tell(f"jobs/{second}/stop")["state"] == "stopped"
    client.tell(f"jobs/{first}/stop")
    assert client.until(first, "stopped")["error"] is None
    assert client.ask("run", run=run)["status"] == "interrupted"
    assert client.ask("run", run=run)["nash_conv"] > 0


@pytest.mark.slow
def test_growth(fresh, tmp_path):
    client = fresh.client
    grown = client.tell("jobs", what="grow", game="continuous_leduc", iterations=60)
    done = client.until(grown["job"], "done")
    assert done["progress"]["additions"][0]["size"] > 0
    assert done["run"] == "continuous_leduc-grow"


def test_failures_have_a_sentence(fresh, tmp_path):
    client = fresh.client
    lost = client.tell("jobs", what="solve", game="leduc", algorithm="lp", iterations=5)
    dead = client.tell("jobs", **LONG)["job"]
    failed = client.until(lost["job"], "failed")
    assert "exact" in failed["error"]
    client.until(dead, "running")
    some_rows(client, dead)
    os.kill(record.process_of(tmp_path / "runs" / record.HOME / dead), signal.SIGKILL)
    assert "SIGKILL" in client.until(dead, "failed")["error"]


def test_events_tell_of_jobs_and_runs(fresh):
    client, seen = fresh.client, []

    def listen() -> None:
        with client.stream("GET", "/api/events", params={"token": "x"}) as answer:
            for line in answer.iter_lines():
                seen.append(line)
                if '"state":"done"' in line:
                    break

    listener = threading.Thread(target=listen)
    listener.start()
    while not seen:
        time.sleep(0.02)
    client.tell("jobs", what="solve", game="kuhn", iterations=50)
    listener.join(30)
    assert not listener.is_alive()
    assert seen[0] == "retry: 1000"
    assert "event: jobs" in seen
    assert (
        json.loads(next(line for line in reversed(seen) if line.startswith("data: "))[6:])["jobs"][0]["state"] == "done"
    )


def some_rows(client: Client, job: str) -> None:
    while not client.job(job)["progress"]["rows"]:
        time.sleep(0.05)


def solved_alone(folder: Path) -> None:
    tp.solve("leduc", "cfr", iterations=ENOUGH, out=folder)


def test_a_killed_server_and_a_stopped_one_lose_nothing(start, tmp_path, result):
    folder = tmp_path / "runs"
    server, client = start(folder)
    job = client.tell("jobs", what="solve", game="leduc", algorithm="cfr", iterations=ENOUGH, name="long")["job"]
    some_rows(client, job)
    worker = record.process_of(folder / record.HOME / job)
    server.send_signal(signal.SIGKILL)
    server.wait()

    server, client = start(folder)  # the worker goes on all the while
    assert client.job(job)["state"] == "running"
    assert record.process_of(folder / record.HOME / job) == worker
    os.kill(worker, signal.SIGKILL)
    server.send_signal(signal.SIGKILL)
    server.wait()

    server, client = start(folder)  # nobody goes on: it is resumed
    client.until(job, "running")
    some_rows(client, job)
    server.send_signal(signal.SIGINT)
    out, err = server.communicate(timeout=40)
    assert (server.returncode, out + err) == (0, "")
    assert not record.is_alive(folder / record.HOME / job)
    assert (folder / "long" / "checkpoint.safetensors").exists()

    _, client = start(folder)  # it was stopped with its checkpoint
    client.until(job, "done")
    solved_alone(tmp_path / "own")
    assert result(folder / "long") == result(tmp_path / "own")


def test_the_command_refuses_in_a_sentence(start, tmp_path):
    def refused(*arguments: str) -> str:
        command = [sys.executable, "-m", "treeplex", "serve", *arguments]
        ended = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
        assert (ended.returncode, ended.stdout) == (2, "")
        assert ended.stderr.startswith("error: ")
        assert ended.stderr.count("\n") == 1
        return ended.stderr

    _, client = start(tmp_path / "runs")
    port = str(client.base_url.port)
    assert "address already in use" in refused(str(tmp_path / "other"), "--port", port)
    assert "served already" in refused(str(tmp_path / "runs"), "--port", "0")
