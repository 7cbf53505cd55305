"""A folder that somebody sent: its queue writes and reads nothing outside, and runs only when a person asks."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

import treeplex as tp
from treeplex.errors import GameError, ParameterError
from treeplex.games.holdem.betting import betting_tree
from treeplex.games.holdem.spot import make_spot
from treeplex.web.directory import Directory
from treeplex.web.jobs import record
from treeplex.web.jobs.queue import Queue
from treeplex.web.jobs.requests import JobRequest, check_request
from treeplex.web.jobs.signature import key_of
from treeplex.web.trees import CompiledTree, node

from .conftest import RIVER, Served

LIMITS = dict.fromkeys(("exploitability", "nash_conv", "seconds", "nodes")) | {"iterations": 5}
SOLVE = LIMITS | {
    "spot": None, "game": "kuhn", "algorithm": "cfr", "storage": None, "threads": 0, "name": None,
    "what": "solve", "seed": 0, "iterate": "average", "locks": None,
}  # fmt: skip


def plant(folder: Path, number: int, run: str, **changes: Any) -> None:
    """A job of somebody else's, as the queue keeps its own."""
    home = folder / record.HOME / str(number)
    home.mkdir(parents=True)
    job = {"job": str(number), "what": "solve", "title": "kuhn", "created": 1.0, "request": SOLVE, "run": run}
    (home / "job.json").write_text(json.dumps(job | changes))


def resuming(run: str) -> dict[str, Any]:
    return {"what": "resume", "request": LIMITS | {"what": "resume", "run": run, "threads": 0, "iterations": 50}}


def states(served: Served) -> dict[str, str]:
    return {job["job"]: job["state"] for job in served.client.ask("jobs")["jobs"]}


def tree(folder: Path) -> dict[str, bytes]:
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


@pytest.fixture
def sent(tmp_path):
    """A folder that was sent, and beside it a run and a game that are none of its business."""
    folder = tmp_path / "sent"
    folder.mkdir()
    tp.solve("kuhn", "cfr", iterations=3, out=tmp_path / "victim")
    (tmp_path / "secret.efg").write_text((Path(__file__).parents[1] / "data" / "efg" / "toll_road.efg").read_text())
    return folder


def test_planted_jobs_wait_for_a_person_and_stay_inside(sent, tmp_path):
    plant(sent, 1, "../outside")
    plant(sent, 2, str(tmp_path / "absolute"))
    plant(sent, 3, "../victim", **resuming("../victim"))
    plant(sent, 4, "stolen", request=SOLVE | {"game": str(tmp_path / "secret.efg")})
    plant(sent, 5, "nice")
    plant(sent, 6, "spot", request=SOLVE | {"game": None, "spot": str(tmp_path / "spot.json")})
    (sent / "link").symlink_to(tmp_path / "victim")
    plant(sent, 7, "link", **resuming("link"))
    before = tree(tmp_path)
    served = Served(sent)
    try:
        time.sleep(0.4)
        assert set(states(served).values()) == {"unconfirmed"}
        assert {path for path in tree(tmp_path) if path not in before} == {f"sent/{record.HOME}/.treeplex-lock"}
        client = served.client
        for number, word in ((1, "run"), (2, "run"), (3, "run"), (4, "not files"), (6, "spot"), (7, "run")):
            words = client.post(f"/api/jobs/{number}/start").json()["error"]
            assert word in words, words
            assert states(served)[str(number)] == "unconfirmed"
        assert "no job" in client.sentence(client.post("/api/jobs/77/start"), 404)
        started = client.tell("jobs/5/start")
        assert started["run"] == "nice"
        client.until(started["job"], "done")
        assert "does not wait" in client.sentence(client.post(f"/api/jobs/{started['job']}/start"), 409)
        client.tell("jobs/1/remove")
        assert "1" not in states(served)
    finally:
        served.close()
    assert sorted(path.name for path in tmp_path.iterdir()) == ["secret.efg", "sent", "victim"]
    assert {path: text for path, text in tree(tmp_path).items() if path.startswith("victim")} == {
        path: text for path, text in before.items() if path.startswith("victim")
    }


@pytest.mark.parametrize("place", ["home", "job", "file"])
def test_links_in_a_planted_queue_are_not_followed(sent, tmp_path, place):
    elsewhere = tmp_path / "elsewhere"
    plant(elsewhere, 1, "nice")
    if place == "home":
        (sent / record.HOME).symlink_to(elsewhere / record.HOME)
    elif place == "job":
        (sent / record.HOME).mkdir()
        (sent / record.HOME / "1").symlink_to(elsewhere / record.HOME / "1")
    else:
        plant(sent, 1, "nice")
        (sent / record.HOME / "1" / "stderr.txt").symlink_to(tmp_path / "secret.efg")
    before = tree(elsewhere) | {"secret": (tmp_path / "secret.efg").read_bytes()}
    if place == "home":
        with pytest.raises(ParameterError, match="link"):
            Queue(Directory.of(sent)).hold()
    else:
        served = Served(sent)
        time.sleep(0.3)
        assert states(served) == {}
        served.close()
    assert tree(elsewhere) | {"secret": (tmp_path / "secret.efg").read_bytes()} == before


def queued(folder: Path) -> Queue:
    """The queue of a server that has started, and runs nothing."""
    queue = Queue(Directory.of(folder))
    queue.hold()
    queue._next = lambda: None
    queue.open()
    return queue


def test_a_signed_job_goes_on_by_itself_and_a_changed_one_does_not(tmp_path):
    folder, copy = tmp_path / "runs", tmp_path / "copy"
    queue = queued(folder)
    job = queue.add("solve", JobRequest("kuhn", SOLVE, "kuhn", stem="kuhn", limits={"iterations": 5}))["job"]
    queue.close()
    shutil.copytree(folder, copy)
    path = folder / record.HOME / job / "job.json"
    text = path.read_text()

    def state(place: Path) -> str:
        queue = queued(place)
        found = queue.listed()[0]["state"]
        queue.close()
        return found

    assert state(folder) == "queued"
    assert state(copy) == "unconfirmed"  # signed for another folder
    for changes in ({"run": "other"}, {"request": SOLVE | {"seed": 1}}, {"what": "grow"}, {"signature": ""}):
        path.write_text(json.dumps(json.loads(text) | changes))
        assert state(folder) == "unconfirmed"
    path.write_text(text)
    assert state(folder) == "queued"


def test_names_of_new_runs(tmp_path):
    queue = queued(tmp_path / "runs")
    stems = ("kuhn-cfr+", "../../x", "=+,a b", "..", "/etc/passwd", "é" * 200)
    names = [queue.add("solve", JobRequest("x", SOLVE, stem=stem))["run"] for stem in stems]
    queue.close()
    assert names == ["kuhn-cfr+", "x", "a_b", "run", "etc_passwd", "é" * 80]


def test_the_key_is_private(tmp_path):
    path = tmp_path / "state" / "queue.key"
    key = key_of(path)
    assert key_of(path) == key
    assert len(key) == 32
    assert path.stat().st_mode & 0o077 == 0
    path.chmod(0o644)
    assert key_of(path) != key  # others have read it
    assert path.stat().st_mode & 0o077 == 0
    (tmp_path / "file").write_text("")
    assert len(key_of(tmp_path / "file" / "queue.key")) == 32  # of this process only


HOSTILE = {
    "nested": lambda path: path.write_text('{"job":' + "[" * 100_000),
    "digits": lambda path: path.write_text(path.read_text().replace("1.0", "9" * 400)),
    "types": lambda path: path.write_text(json.dumps(json.loads(path.read_text()) | {"limits": 5, "title": [1]})),
    "progress": lambda path: (path.parent / "progress.json").write_text(
        json.dumps({"rows": [[1, 2], 7, [1, 2, "x", {}], [1, 2, 10**400]], "iteration": "x", "text": 5, "additions": 1})
    ),
    "outcome": lambda path: (path.parent / "outcome.json").write_text('{"result": 5}'),
    "name": lambda path: path.parent.rename(path.parent.with_name("²")),
    "pipe": lambda path: os.mkfifo(path.parent / "progress.json"),
}


@pytest.mark.parametrize("hostile", HOSTILE)
def test_a_hostile_record_hides_no_job(tmp_path, hostile):
    folder = tmp_path / "runs"
    plant(folder, 1, "one", state="done", pot=3.0)
    plant(folder, 2, "two", state="done")
    HOSTILE[hostile](folder / record.HOME / "1" / "job.json")
    served = Served(folder)
    try:
        jobs = {job["job"]: job for job in served.client.ask("jobs")["jobs"]}
        assert jobs["2"]["state"] == "done"
        assert set(jobs) <= {"1", "2"}
    finally:
        served.close()


BAD_RUNS: dict[str, Callable[[dict[str, Any]], str]] = {
    "nested": lambda run: '{"a":' * 100_000,
    "nested inside": lambda run: json.dumps(run | {"options": {"locks": 0}}).replace("0}", "[" * 900 + "]" * 900 + "}"),
    "digits": lambda run: json.dumps(run | {"seed": 10**400}),
    "pot": lambda run: json.dumps(run | {"kind": "spot", "source": {"pot": 10**400}}),
    "no pot": lambda run: json.dumps(run | {"kind": "spot", "source": {"pot": "x"}}),
    "locks": lambda run: json.dumps(run | {"options": {"locks": 5}}),
    "algorithm": lambda run: json.dumps(run | {"options": {"algorithm": 7}, "asked": ["x"]}),
    "list": lambda run: "[]",
    "half a character": lambda run: json.dumps(run | {"game": "\ud800"}),
    "large": lambda run: " " * (2**24 + 1) + json.dumps(run),
}


@pytest.mark.parametrize("bad", BAD_RUNS)
def test_one_bad_folder_never_hides_the_others(kept, client, bad):
    folder = kept / "bad"
    folder.mkdir()
    try:
        (folder / "run.json").write_text(BAD_RUNS[bad](json.loads((kept / "kuhn" / "run.json").read_text())))
        said = client.ask("runs")
        assert "kuhn" in {row["run"] for row in said["runs"]}
        listed = "bad" in {row["run"] for row in said["runs"]}
        assert listed or [row["run"] for row in said["unreadable"]] == ["bad"]
        assert all(len(row["error"]) < 400 for row in said["unreadable"])
        for address in ("run", "log", "tree", "infosets"):
            assert client.get(f"/api/{address}", params={"run": "bad"}).status_code in (200, 400)
        assert client.post("/api/open", json={"run": "bad"}).status_code == 400
        assert client.post("/api/jobs", json={"what": "resume", "run": "bad"}).status_code in (200, 400)
    finally:
        shutil.rmtree(folder)
        for job in client.ask("jobs")["jobs"]:
            client.post(f"/api/jobs/{job['job']}/stop")


def test_bad_results_never_hide_the_others(kept, client):
    folder = kept / "bad"
    shutil.copytree(kept / "kuhn", folder)
    try:
        for text in ('{"nash_conv": ' + "9" * 400 + "}", "[" * 100_000, '{"status": 5, "iterations": [[]]}'):
            (folder / "result.json").write_text(text)
            (folder / "sizes.json").write_text(text)
            assert {"kuhn", "bad"} <= {row["run"] for row in client.ask("runs")["runs"]}
            client.ask("run", run="bad")
    finally:
        shutil.rmtree(folder)


def test_a_run_of_a_file_outside_reads_nothing(kept, client, tmp_path):
    (tmp_path / "secret.efg").write_text((Path(__file__).parents[1] / "data" / "efg" / "toll_road.efg").read_text())
    folder = kept / "file"
    shutil.copytree(kept / "kuhn", folder)
    try:
        request = json.loads((folder / "run.json").read_text())
        for kind in ("game", "growth", "exploration"):
            changed = {"kind": kind, "source": str(tmp_path / "secret.efg")}
            (folder / "run.json").write_text(json.dumps(request | changed))
            for answer in (
                client.get("/api/tree", params={"run": "file"}),
                client.post("/api/jobs", json={"what": "resume", "run": "file", "iterations": 90}),
            ):
                assert "not files" in client.sentence(answer, 400)
            with pytest.raises(ParameterError, match="not files"):  # and again when the job runs
                check_request(LIMITS | {"what": "resume", "run": "file", "threads": 0}, "file", Directory.of(kept))
    finally:
        shutil.rmtree(folder)


def test_a_list_reads_no_logs(kept, client, monkeypatch):
    folder = kept / "bomb"
    shutil.copytree(kept / "kuhn", folder)
    read: list[Path] = []
    monkeypatch.setattr("treeplex.web.logs.read_parquet", lambda path, *_: read.append(path))
    try:
        os.utime(folder / "checkpoint.safetensors")  # newer than the result, as in a run that was killed
        assert "bomb" in {row["run"] for row in client.ask("runs")["runs"]}
        assert read == []
        with (folder / "log.parquet").open("r+b") as file:
            file.truncate(2**24 + 1)
        client.ask("log", run="bomb")
        assert read == []
    finally:
        shutil.rmtree(folder)


def test_a_name_that_is_no_text_is_said(kept, client):
    odd = kept / os.fsdecode(b"odd\xff")
    try:
        odd.mkdir()
    except OSError:
        pytest.skip("names are text here")
    try:
        shutil.copy(kept / "kuhn" / "run.json", odd / "run.json")
        said = client.ask("runs")
        assert "kuhn" in {row["run"] for row in said["runs"]}
        assert said["unreadable"] == [{"run": "odd\ufffd", "error": "The folder's name is not UTF-8; rename it."}]
    finally:
        shutil.rmtree(odd)


def test_a_wide_node_is_refused_and_others_are_drawn_at_once():
    for wide in (900, 1500):
        game = tp.load([[1.0] * wide, [0.0] * wide])
        tree, policy, began = CompiledTree(game), tp.Policy.uniform(game), time.monotonic()
        if wide > 1000:
            with pytest.raises(ParameterError, match="has 1,500 branches, and a page shows at most 1,000"):
                node(tree, policy, "0")
        else:
            found = node(tree, policy, "0")
            assert (len(found["actions"]), found["value"]) == (wide, pytest.approx(1.0))
            assert node(tree, policy, "")["value"] == pytest.approx(0.5)
        assert time.monotonic() - began < 3


def test_a_planted_spot_without_end_is_refused_before_it_is_built(kept, client, monkeypatch):
    sizes = {"bet": "20%,33%,50%,75%,100%,150%,200%,a", "raise": "40%,70%,100%,150%,a"}
    huge = RIVER | {"board": "Ks 9h 6d", "effective_stack": 5000, "sizes": sizes}
    with pytest.raises(GameError, match="more than 20,000 nodes"):
        betting_tree(make_spot(huge), 20_000)
    monkeypatch.setattr("treeplex.games.holdem.betting.available", lambda: 2e7)
    with pytest.raises(GameError, match="more than 20,000 nodes"):
        betting_tree(make_spot(huge))
    monkeypatch.undo()
    tp.solve(RIVER, iterations=1, out=kept / "huge")
    try:
        path = kept / "huge" / "run.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"source": make_spot(huge).summary()}))
        client.tell("open", run="huge")
        end = time.monotonic() + 10
        while (state := client.tell("open", run="huge"))["state"] == "opening":
            assert time.monotonic() < end
            time.sleep(0.02)
        assert "nodes" in state["error"]
        monkeypatch.setattr("treeplex.web.opened.available", lambda: 0)
        os.utime(kept / "huge" / "checkpoint.safetensors")
        while (state := client.tell("open", run="huge"))["state"] == "opening":
            assert time.monotonic() < end
            time.sleep(0.02)
        assert "GiB are free" in state["error"]
    finally:
        shutil.rmtree(kept / "huge")
