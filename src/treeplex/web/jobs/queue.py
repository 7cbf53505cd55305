"""The queue: jobs on disk, run one at a time, oldest first. It survives any end of the server."""

from __future__ import annotations

import hmac
import re
import signal
import subprocess
import sys
import threading
import time
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any, Final

from treeplex.errors import ParameterError, TreeplexError, quoted
from treeplex.files import locked, reason
from treeplex.system import apart, interrupt
from treeplex.web.directory import PLAIN, Directory
from treeplex.web.jobs import record
from treeplex.web.jobs.record import DONE, ENDED, FAILED, HOME, QUEUED, RUNNING, STOPPED, UNCONFIRMED, JobRecord
from treeplex.web.jobs.requests import JobRequest
from treeplex.web.jobs.signature import key_of, signature
from treeplex.web.refusals import RefusalError

POLL: Final = 0.1  # seconds
GRACE: Final = 20.0  # seconds for a worker to save its answer when the server shuts down
MOST: Final = 200  # jobs that are listed; the oldest finished jobs are deleted
WORKER: Final = "treeplex.web.jobs.worker"
FOREIGN: Final = "This job came with the folder, not from you. Start it if you trust it, or remove it."


class Queue:
    """All jobs of a folder, which only one server may serve."""

    def __init__(self, directory: Directory) -> None:
        self.directory = directory
        self.home = directory.root / HOME
        self._jobs: dict[str, JobRecord] = {}
        self._child: tuple[JobRecord, subprocess.Popen[str]] | None = None
        self._lock, self._wake, self._closing = threading.RLock(), threading.Event(), False
        self.hurried = False  # do not wait for the worker when closing
        self._locks = ExitStack()
        self._key = key_of()
        self._ended_payloads: dict[str, dict[str, Any]] = {}  # payloads of jobs that have ended
        self._thread = threading.Thread(target=self._run, name="queue", daemon=True)

    def hold(self) -> None:
        """Lock the folder for this server; raise ``ParameterError`` if another server has it."""
        if self.home.is_symlink():
            raise ParameterError(f"The folder {self.home} is a symbolic link; delete it, or serve another folder.")
        try:
            self.home.mkdir(exist_ok=True)
            self._locks.enter_context(locked(self.home))
        except OSError as error:
            raise ParameterError(f"The folder {self.home} cannot be written: {reason(error)}.") from error
        except ParameterError:
            who = record.process_of(self.home)
            raise ParameterError(
                f"The folder {self.directory.root} is already served by process {who}; stop it, or serve another."
            ) from None

    def open(self) -> None:
        """Read the jobs of earlier servers, and continue those that this user queued."""
        for job in record.read_jobs(self.home):
            self._jobs[job.job] = job
            if job.state in ENDED:
                continue
            if hmac.compare_digest(job.signature.encode(), self._signature(job).encode()):
                self._restore(job)
            else:
                job.state, job.error = UNCONFIRMED, FOREIGN
        self._thread.start()

    def close(self) -> None:
        """Stop the worker with its checkpoint, so that the next server can continue the job."""
        self._closing = True
        self._wake.set()
        if self._thread.is_alive():
            self._thread.join()
        child = self._child
        if child is not None and child[1].poll() is None:
            with suppress(OSError):
                interrupt(child[1].pid)
            end = time.monotonic() + GRACE
            while child[1].poll() is None and time.monotonic() < end and not self.hurried:
                time.sleep(POLL)  # the worker has its own session, and ends even if the server does not wait
        if child is not None and child[1].poll() is not None and self._is_over(child[0]):
            self._settle(child[0], child[1].returncode)
        self._locks.close()

    @property
    def is_busy(self) -> bool:
        """Whether a worker is running."""
        return self._child is not None

    def listed(self) -> list[dict[str, Any]]:
        """Return all jobs, newest first."""
        with self._lock:
            return [self._payload(job) for job in reversed(self._jobs.values())]

    def job_of(self, run: str) -> str | None:
        """Return the running or queued job of a run, if any."""
        with self._lock:
            at_work = [job for job in self._jobs.values() if job.state in (QUEUED, RUNNING)]
            return next((job.job for job in at_work if job.run == run), None)

    def rows_of(self, run: str) -> list[list[Any]]:
        """Return the log so far of the job that works on a run."""
        job = self.job_of(run)
        return [] if job is None else self._get(job).rows(self.home)

    def add(self, what: str, requested: JobRequest) -> dict[str, Any]:
        """Add a new job at the end of the queue."""
        with self._lock:
            run = requested.run or self._new_run(requested.stem)
            if requested.run is not None and self.job_of(run or "") is not None:
                raise RefusalError(409, f"A job already works on the run {quoted(run)}; stop that job first.")
            fields: dict[str, Any] = {"title": requested.title, "request": requested.request, "game": requested.game}
            fields |= {"pot": requested.pot, "limits": dict(requested.limits)}
            job = JobRecord(self._new_job(), what, created=time.time(), run=run, **fields)
            job.signature = self._signature(job)
            job.write(self.home)
            self._jobs[job.job] = job
            self._forget()
        self._wake.set()
        return job.payload(self.home)

    def unconfirmed(self, name: str) -> JobRecord:
        """Return a job that waits for a person to start it."""
        job = self._get(name)
        if job.state != UNCONFIRMED:
            raise RefusalError(409, f"The job {name} is {job.state} and does not wait for you to start it.")
        return job

    def start(self, name: str, requested: JobRequest) -> dict[str, Any]:
        """Queue the request of an unconfirmed job in a new folder, or continue its run if that exists."""
        with self._lock:
            job = self.unconfirmed(name)
            if requested.stem is not None and job.run is not None:
                try:
                    self.directory.folder(job.run)
                    requested = requested._replace(run=job.run)
                except RefusalError:
                    if not PLAIN.fullmatch(job.run):
                        raise
                    requested = requested._replace(stem=job.run)
            added = self.add(str(requested.request["what"]), requested)
            self._drop(name)
        return added

    def stop(self, name: str) -> dict[str, Any]:
        """Stop a running job with the answer so far, or cancel a queued one."""
        with self._lock:
            job = self._get(name)
            if job.state == QUEUED:
                self._end(job, STOPPED)
            elif job.state == RUNNING:
                job.stopping = True
                self._interrupt(job)
                with suppress(ParameterError):  # a full disk
                    job.write(self.home)
        self._wake.set()
        return job.payload(self.home)

    def remove(self, name: str) -> dict[str, Any]:
        """Delete a finished job; its run stays."""
        with self._lock:
            job = self._get(name)
            if job.state not in (*ENDED, UNCONFIRMED):
                raise RefusalError(409, f"The job {name} is {job.state}; stop it first.")
            self._drop(name)
        self._wake.set()
        return {"job": name, "removed": True}

    def stamp(self) -> tuple[Any, ...]:
        """Return a value that changes whenever the list of jobs changes."""
        with self._lock:
            jobs = list(self._jobs.values())
        return tuple(
            (job.job, job.state, job.stopping, _changed(self.home / job.job / "progress.json")) for job in jobs
        )

    def _payload(self, job: JobRecord) -> dict[str, Any]:
        """Return a job's payload; those of finished jobs are cached."""
        if job.state not in ENDED:
            return job.payload(self.home)
        if job.job not in self._ended_payloads:
            self._ended_payloads[job.job] = job.payload(self.home)
        return self._ended_payloads[job.job]

    def _get(self, name: str) -> JobRecord:
        with self._lock:
            if name not in self._jobs:
                raise RefusalError(404, f"There is no job {quoted(name)}.")
            return self._jobs[name]

    def _signature(self, job: JobRecord) -> str:
        return signature(self._key, self.directory.root, job.request_fields)

    def _new_job(self) -> str:
        """Create a new folder for a job and return its number."""
        number = 1 + max((int(name) for name in self._jobs), default=0)
        while True:
            try:
                (self.home / str(number)).mkdir()
            except FileExistsError:
                number += 1
            except OSError as error:
                raise ParameterError(
                    f"The folder {self.home / str(number)} cannot be made: {reason(error)}."
                ) from error
            else:
                return str(number)

    def _new_run(self, stem: str | None) -> str | None:
        """Create a folder for a new run at once, so that no other job can use it; return its name."""
        if stem is None:
            return None
        plain, number = re.sub(r"[^\w+.=,-]+", "_", stem).strip("_.-").lstrip("_.,=+-")[:80] or "run", 1
        while True:
            name = plain if number == 1 else f"{plain}-{number}"
            try:
                self.directory.free(name)
            except FileExistsError:
                number += 1
            except OSError as error:
                raise ParameterError(f"The folder {name} cannot be made: {error.strerror}.") from error
            else:
                return name

    def _restore(self, job: JobRecord) -> None:
        """Restore the state of an unfinished job of an earlier server."""
        folder = self.home / job.job
        if record.is_alive(folder):
            job.state = RUNNING
        elif job.state == RUNNING and self._is_over(job):
            self._settle(job, 0)
        elif job.stopping:
            self._end(job, STOPPED)
        else:
            job.state = QUEUED
        job.write(self.home)

    def _is_over(self, job: JobRecord) -> bool:
        """Return whether the worker has written an outcome that is not due to the server's own end."""
        outcome = record.outcome_of(self.home / job.job)
        return bool(outcome) and (job.stopping or outcome.get("status") != "interrupted")

    def _run(self) -> None:
        while not self._closing:
            self._wake.wait(POLL if self._busy() else 5.0)
            self._wake.clear()
            with self._lock, suppress(TreeplexError, OSError):  # the disk is full; the next round tries again
                self._check_running()
                if not self._busy() and not self._closing:
                    self._next()

    def _busy(self) -> bool:
        with self._lock:
            return any(job.state == RUNNING for job in self._jobs.values())

    def _check_running(self) -> None:
        """Settle running jobs whose worker has ended."""
        for job in list(self._jobs.values()):
            if job.state != RUNNING:
                continue
            if self._child is not None and self._child[0] is job:
                code = self._child[1].poll()
                if code is not None:
                    self._child = None
                    self._settle(job, code)
            elif not record.is_alive(self.home / job.job):  # its worker belongs to an earlier server
                self._restore(job)

    def _next(self) -> None:
        job = next((job for job in self._jobs.values() if job.state == QUEUED), None)
        if job is None:
            return
        folder = self.home / job.job
        (folder / "outcome.json").unlink(missing_ok=True)
        job.state = RUNNING
        try:
            job.write(self.home)
            (folder / "stderr.txt").unlink(missing_ok=True)  # a link would be followed
            with (folder / "stderr.txt").open("xb") as errors:
                child = subprocess.Popen(  # noqa: S603 - this very program
                    [sys.executable, "-P", "-m", WORKER, str(folder), str(self.directory.root)],
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.DEVNULL,
                    stderr=errors,
                    **apart(),  # Ctrl-C is the server's
                )
        except (ParameterError, OSError) as error:
            self._end(job, FAILED, f"The worker cannot be started: {error!s:.200}")
            return
        self._child = job, child
        self._wake.set()

    def _settle(self, job: JobRecord, code: int) -> None:
        """Set the final state of a job whose worker has ended."""
        outcome = record.outcome_of(self.home / job.job)
        if "error" in outcome:
            self._end(job, STOPPED if job.stopping else FAILED, str(outcome["error"]))
        elif outcome:
            self._end(job, STOPPED if outcome.get("status") == "interrupted" else DONE)
        elif job.stopping:
            self._end(job, STOPPED)
        else:
            self._end(job, FAILED, _why(code, record.last_words(self.home / job.job)))

    def _end(self, job: JobRecord, state: str, error: str | None = None) -> None:
        job.state, job.error = state, error
        with suppress(ParameterError):  # a full disk
            job.write(self.home)
        self._wake.set()

    def _interrupt(self, job: JobRecord) -> None:
        child = self._child
        if child is not None and child[0] is job:
            if child[1].poll() is None:
                interrupt(child[1].pid)
            return
        worker = record.process_of(self.home / job.job)
        if worker is not None and record.is_alive(self.home / job.job):
            with suppress(OSError):
                interrupt(worker)

    def _forget(self) -> None:
        old = [job.job for job in self._jobs.values() if job.state in ENDED][: max(len(self._jobs) - MOST, 0)]
        for name in old:
            self._drop(name)

    def _drop(self, name: str) -> None:
        del self._jobs[name]
        self._ended_payloads.pop(name, None)
        record.delete(self.home, name)


def _why(code: int, words: str) -> str:
    """Why a worker ended without a word of its own."""
    if code < 0:
        name = signal.Signals(-code).name if -code in set(signal.Signals) else f"signal {-code}"
        memory = ", perhaps for lack of memory" if name == "SIGKILL" else ""
        return f"The solver was ended by {name}{memory}; resume the run to continue from its last checkpoint."
    return f"The solver ended without an answer: {words or f'exit code {code}'}"[:300]


def _changed(path: Path) -> int:
    try:
        return path.stat().st_mtime_ns
    except OSError:
        return 0
