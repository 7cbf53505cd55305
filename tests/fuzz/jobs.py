"""Folders that somebody sent, with a queue in them: nothing runs by itself, nothing outside is read or written."""

from __future__ import annotations

import json
import os
import random
import sys
from contextlib import ExitStack
from pathlib import Path
from typing import Any
from unittest import mock

import doors
import mutate

from treeplex.errors import TreeplexError
from treeplex.web.answers import encoded
from treeplex.web.directory import Directory
from treeplex.web.jobs import record, worker
from treeplex.web.jobs.queue import Queue
from treeplex.web.jobs.requests import JobRequest, job_request_fields
from treeplex.web.runs import Runs

LIMITS = dict.fromkeys(("exploitability", "nash_conv", "seconds", "nodes")) | {"iterations": 3}
SUBJECT = LIMITS | {"spot": None, "game": "kuhn", "algorithm": "cfr", "storage": None, "threads": 0, "name": None}
SOLVE = SUBJECT | {"what": "solve", "seed": 0, "iterate": "average", "locks": None}
RESUME = LIMITS | {"what": "resume", "run": "kuhn", "threads": 0}
PROGRESS = {
    "iteration": 3,
    "seconds": 0.5,
    "rows": [[1, 0.1, 0.5, 10], [3, 0.5, None, 30]],
    "text": "",
    "additions": [],
}
NAMES = (
    "../outside",
    "../outside/kuhn",
    "/tmp",
    "kuhn",
    "new",
    "link",
    ".",
    "..",
    "a/../../b",
    "kuhn\0",
    "\ud800",
    "C:\\x",
)
OPENED: list[str] = []
OUTSIDE: list[str] = []  # the folder that must not be touched now


def watch(event: str, arguments: tuple[Any, ...]) -> None:
    """Remember which files of that folder are opened."""
    if OUTSIDE and event == "open" and isinstance(arguments[0], str | bytes | os.PathLike):
        path = os.path.realpath(os.fsdecode(arguments[0]).replace("\0", "?"))
        if path.startswith(OUTSIDE[0]):
            OPENED.append(path)


sys.addaudithook(watch)


def jobs(draw: random.Random, folder: Path) -> None:
    """Planted queues."""
    served, outside = folder / "served", folder / "outside"
    for place in (served / "kuhn", outside / "kuhn"):
        place.mkdir(parents=True)
        for path in doors.finished_run(folder).iterdir():
            (place / path.name).write_bytes(path.read_bytes())
    (outside / "game.efg").write_text("EFG 2 R")
    (served / "link").symlink_to(outside / "kuhn")
    for number in range(1, draw.randint(2, 4)):
        plant(draw, served, outside, number)
    if draw.random() < 0.5:
        break_file(draw, served / "kuhn" / draw.choice(("run.json", "result.json")))
    before = stamps(outside)
    OPENED.clear()
    OUTSIDE[:] = [os.path.realpath(outside)]
    try:
        refusal = served_queue(served)
    finally:
        OUTSIDE.clear()
    assert OPENED == []
    assert stamps(outside) == before
    assert sorted(path.name for path in folder.iterdir()) == ["outside", "served", "state"]
    if refusal is not None:
        raise refusal


def stamps(folder: Path) -> dict[str, tuple[int, int]]:
    """What changes with every file that is written."""
    found = {path: path.lstat() for path in [folder, *folder.rglob("*")]}
    return {str(path): (about.st_mtime_ns, about.st_size) for path, about in found.items()}


def plant(draw: random.Random, served: Path, outside: Path, number: int) -> None:
    """A job of somebody else's, whole or broken."""
    home = served / record.HOME / str(number)
    home.mkdir(parents=True)
    request = draw.choice((SOLVE, SOLVE | {"game": None, "spot": doors.FIELDS}, RESUME))
    if draw.random() < 0.3:
        request = request | {
            draw.choice(("game", "spot", "run")): str(outside / draw.choice(("game.efg", "spot.json")))
        }
    run = draw.choice(NAMES) if draw.random() < 0.7 else str(outside)
    job = {"job": str(number), "what": request["what"], "title": "x", "created": 1.0, "request": request, "run": run}
    job |= {"state": draw.choice(("queued", "running", "done", "failed")), "limits": {"iterations": 3}, "pot": 1.0}
    broken = mutate.tree(draw, job) if draw.random() < 0.6 else job
    (home / "job.json").write_text(json.dumps(broken), errors="surrogatepass")
    (home / "progress.json").write_text(json.dumps(mutate.tree(draw, PROGRESS)), errors="surrogatepass")
    if draw.random() < 0.3:
        (home / "outcome.json").write_text(json.dumps(mutate.tree(draw, {"status": "done", "result": {}})))
    if draw.random() < 0.1:
        (home / "stderr.txt").symlink_to(outside / "game.efg")
    if draw.random() < 0.1:
        break_file(draw, home / "job.json")


def break_file(draw: random.Random, path: Path) -> None:
    """Other bytes in it, deep nesting, or a number of 400 digits."""
    way = draw.randrange(3)
    if way == 0:
        path.write_bytes(mutate.data(draw, path.read_bytes()))
    elif way == 1:
        path.write_text("[" * 100_000)
    else:
        path.write_text(path.read_text(encoding="utf-8", errors="replace").replace("1", "9" * 400), errors="replace")


def served_queue(served: Path) -> TreeplexError | None:
    """Do what a server does; the first refusal, if nothing was started."""
    directory, refusals, started = Directory.of(served), list[TreeplexError](), 0
    with ExitStack() as stack:
        stack.enter_context(mock.patch.dict(os.environ, {"XDG_STATE_HOME": str(served.parent / "state")}))
        for name in ("solve", "grow"):
            stack.enter_context(mock.patch(f"treeplex.api.{name}", lambda *_, **given: called(served, given)))
        stack.enter_context(mock.patch("treeplex.api.resume", lambda out, **_: called(served, {"out": out})))
        queue = Queue(directory)
        queue.hold()
        stack.callback(queue.close)
        with mock.patch.object(queue, "_next"):
            queue.open()
            told = queue.listed()
            encoded({"jobs": told})
            assert not [job for job in told if job["state"] in (record.QUEUED, record.RUNNING)]
            encoded(Runs(directory, queue.job_of).listed())
            for job in [job["job"] for job in told if job["state"] == record.UNCONFIRMED]:
                try:
                    fields = job_request_fields(queue.unconfirmed(job).request, str(served))
                    made = queue.start(job, JobRequest(**fields))
                    worker.run_job(queue.home / made["job"], directory.root)
                    started += 1
                except TreeplexError as error:
                    refusals.append(error)
    return refusals[0] if refusals and not started else None


def called(served: Path, given: dict[str, Any]) -> Any:
    """Where a worker would write."""
    assert Path(given["out"]).resolve().is_relative_to(served.resolve()), given["out"]
    assert Path(given["out"]).resolve() != served.resolve()
    return mock.Mock(status="done", summary=lambda: {"nash_conv": 0.0})
