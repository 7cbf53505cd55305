"""Whatever is killed, full or slow: nothing since the last checkpoint is lost, and the bits at the end are the same."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
import time
from contextlib import suppress
from pathlib import Path

import pytest

import treeplex as tp
from cluster_helpers import STORE, bits, parent
from treeplex.files import LOCK

pytestmark = [pytest.mark.slow, pytest.mark.skipif(os.name == "nt", reason="signals of POSIX")]

LONG = {"id": "long", "game": "leduc5", "algorithm": "cfr+", "iterations": 600}
SHORT = {"id": "short", "game": "kuhn", "iterations": 50, "algorithm": "cfr"}


@pytest.fixture(scope="module")
def alone(tmp_path_factory):
    """The long job by itself."""
    folder = tmp_path_factory.mktemp("alone")
    tp.solve(LONG["game"], LONG["algorithm"], iterations=LONG["iterations"], out=folder, backend="cpu", threads=1)
    return bits(folder)


def owner(folder: Path) -> int | None:
    """The process that has written a checkpoint into a run folder and still writes there."""
    if not (folder / "checkpoint.safetensors").exists():
        return None
    with suppress(OSError, ValueError):
        return int((folder / LOCK).read_text())
    return None


def when_it_has_begun(folder: Path, act, patience: float = 120.0) -> threading.Thread:
    """Act once the run in a folder has a checkpoint, with the number of its process."""

    def wait() -> None:
        until = time.monotonic() + patience
        while time.monotonic() < until:
            process = owner(folder)
            if process is not None:
                act(process)
                return
            time.sleep(0.02)

    thread = threading.Thread(target=wait)
    thread.start()
    return thread


def kill(process: int) -> None:
    killed.append(process)
    os.kill(process, signal.SIGKILL)


killed: list[int] = []


@pytest.mark.parametrize("where", ["here", "cluster"])
def test_a_worker_is_killed_in_mid_job(where, request, alone, tmp_path) -> None:
    address = request.getfixturevalue("cluster") if where == "cluster" else None
    killed.clear()
    thread = when_it_has_begun(tmp_path / "out" / "runs" / "long", kill)
    found = tp.batch([LONG, SHORT], out=tmp_path / "out", cluster=address, checkpoint_seconds=0.05)
    thread.join()
    assert len(killed) == 1
    assert found.whole
    assert bits(tmp_path / "out" / "runs" / "long") == alone


@pytest.mark.parametrize("where", ["here", "cluster"])
def test_a_job_whose_workers_are_killed_again_and_again_is_given_up(where, request, tmp_path) -> None:
    address = request.getfixturevalue("cluster") if where == "cluster" else None
    over = threading.Event()

    def hunt() -> None:
        while not over.is_set():
            process = owner(tmp_path / "out" / "runs" / "long")
            if process is not None:
                with suppress(OSError):
                    os.kill(process, signal.SIGKILL)
            time.sleep(0.02)

    thread = threading.Thread(target=hunt)
    thread.start()
    found = tp.batch([LONG, SHORT], out=tmp_path / "out", cluster=address, checkpoint_seconds=0.05, retries=1)
    over.set()
    thread.join()
    assert found.failed == ["long"]
    assert "Given up after 2 attempts" in found.rows[0].error
    assert "Given up after 2 attempts" in (tmp_path / "out" / "logs" / "long.log").read_text()
    assert found.rows[1].status == "iterations"


def test_a_node_is_lost(nodes, cluster, alone, tmp_path) -> None:
    """Long jobs on three nodes, of which one goes while it works on one of them."""
    third, gone, over = nodes.add_node(num_cpus=1, object_store_memory=STORE), [], threading.Event()
    nodes.wait_for_nodes()
    jobs = [LONG | {"id": f"long{i}"} for i in range(6)]
    folders = [tmp_path / "out" / "runs" / job["id"] for job in jobs]
    raylet = third.all_processes["raylet"][0].process.pid

    def lose() -> None:
        while not gone and not over.wait(0.02):
            if any(process and parent(process) == raylet for process in map(owner, folders)):
                gone.append(third)
                nodes.remove_node(third, allow_graceful=False)

    thread = threading.Thread(target=lose)
    thread.start()
    found = tp.batch(jobs, out=tmp_path / "out", cluster=cluster, checkpoint_seconds=0.05)
    over.set()
    thread.join()
    assert gone
    assert found.whole
    assert [bits(folder) for folder in folders] == [alone] * len(jobs)


def command(*arguments: object) -> list[str]:
    return [sys.executable, "-m", "treeplex", *map(str, arguments)]


@pytest.mark.parametrize("where", ["here", "cluster"])
def test_the_driver_is_killed_and_called_again(where, request, alone, tmp_path) -> None:
    path = tmp_path / "jobs.jsonl"
    path.write_text("".join(json.dumps(job) + "\n" for job in (LONG, SHORT)))
    address = ["--cluster", request.getfixturevalue("cluster")] if where == "cluster" else []
    called = command("batch", path, "--out", tmp_path / "out", "--checkpoint-seconds", 0.05, "--json", *address)
    driver = subprocess.Popen(called, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    thread = when_it_has_begun(tmp_path / "out" / "runs" / "long", lambda _: driver.kill())
    assert driver.wait() == -signal.SIGKILL
    thread.join()
    again = subprocess.run(called, capture_output=True, text=True, check=False)
    assert again.returncode == 0, again.stderr
    assert json.loads(again.stdout.splitlines()[-1])["status"] == "done"
    assert bits(tmp_path / "out" / "runs" / "long") == alone


@pytest.mark.parametrize("where", ["here", "cluster"])
def test_ctrl_c_leaves_all_resumable(where, request, alone, tmp_path) -> None:
    path = tmp_path / "jobs.jsonl"
    path.write_text(json.dumps(LONG) + "\n")
    address = ["--cluster", request.getfixturevalue("cluster")] if where == "cluster" else []
    called = command("batch", path, "--out", tmp_path / "out", "--checkpoint-seconds", 0.05, "--json", *address)
    driver = subprocess.Popen(called, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    thread = when_it_has_begun(tmp_path / "out" / "runs" / "long", lambda _: driver.send_signal(signal.SIGINT))
    out, _ = driver.communicate()
    thread.join()
    assert driver.returncode == 1
    last = json.loads(out.splitlines()[-1])
    assert (last["status"], last["ended"]) == ("interrupted", 0)
    assert tp.resume(tmp_path / "out").whole
    assert bits(tmp_path / "out" / "runs" / "long") == alone


FLEET = {"iterations": 600, "seed": 2}
BIG = "leduc5", "pure-mccfr(streams=32)"


@pytest.fixture(scope="module")
def fleet_alone(tmp_path_factory):
    """Streams by themselves: more bytes than an object store of the cluster holds."""
    folder = tmp_path_factory.mktemp("fleet")
    found = tp.solve(*BIG, **FLEET, out=folder)
    size = sum(array.nbytes for name, array in found.solver.save(found.state).items())
    assert size > STORE
    return bits(folder)


def workers(nodes) -> list[int]:
    """Processes of this very cluster that carry out steps of streams: children of its nodes' own processes."""
    ours = {info.process.pid for node in nodes.list_all_nodes() for info in node.all_processes.get("raylet", [])}
    listed = subprocess.run(["ps", "-eo", "pid,ppid,args"], capture_output=True, text=True, check=True)
    rows = [line.split(None, 2) for line in listed.stdout.splitlines()[1:]]
    return [int(row[0]) for row in rows if len(row) > 2 and int(row[1]) in ours and row[2].startswith("ray::_guarded")]


def disturbed(act, tmp_path, cluster):
    """The fleet on the cluster while ``act`` is called again and again; its bits."""
    over = threading.Event()

    def go() -> None:
        while not over.is_set():
            act()

    thread = threading.Thread(target=go)
    thread.start()
    try:
        tp.solve(*BIG, **FLEET, out=tmp_path, cluster=cluster, checkpoint_seconds=0.5)
    finally:
        over.set()
        thread.join()
    return bits(tmp_path)


def test_a_full_object_store_costs_time_alone(cluster, fleet_alone, tmp_path) -> None:
    from ray._private.internal_api import memory_summary  # noqa: PLC0415 - nothing public tells

    assert disturbed(lambda: time.sleep(0.1), tmp_path, cluster) == fleet_alone
    assert "Spilled" in memory_summary(cluster, stats_only=True)


def test_workers_of_a_fleet_are_killed(nodes, cluster, fleet_alone, tmp_path) -> None:
    count = 0

    def act() -> None:
        nonlocal count
        time.sleep(0.5)
        for process in workers(nodes)[:1] if count < 3 else []:
            with suppress(OSError):
                os.kill(process, signal.SIGKILL)
                count += 1

    assert disturbed(act, tmp_path, cluster) == fleet_alone
    assert count


def test_a_worker_that_is_ten_times_slower(nodes, cluster, fleet_alone, tmp_path) -> None:
    """One process is held for nine tenths of the time."""
    held = 0

    def act() -> None:
        nonlocal held
        began = time.monotonic()
        found = workers(nodes)[:1]
        time.sleep(0.01)
        for process in found:
            with suppress(OSError):
                os.kill(process, signal.SIGSTOP)
                time.sleep(9 * (time.monotonic() - began))
                os.kill(process, signal.SIGCONT)
                held += 1

    assert disturbed(act, tmp_path, cluster) == fleet_alone
    assert held > 3
