"""Run one job in this process: ``python -m treeplex.web.jobs.worker FOLDER``. SIGINT stops it with an answer."""

from __future__ import annotations

import json
import math
import os
import sys
import time
import traceback
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from treeplex.errors import ParameterError, TreeplexError, quoted
from treeplex.files import locked, replace_text
from treeplex.system import COMMAND, Interrupted, answering, heed_interrupts

if TYPE_CHECKING:
    from treeplex.runs.loop import Progress

NICE: Final = 5  # lower priority than the server's
EVERY: Final = 0.25  # seconds between two writes of progress
CHECKPOINTS: Final = 15.0  # seconds


def main() -> None:
    """Run the job in a folder and write its outcome there."""
    folder, root = Path(sys.argv[1]), Path(sys.argv[2])
    heed_interrupts()
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    with suppress(OSError, AttributeError):
        os.nice(NICE)
    COMMAND.take_over()
    try:
        with locked(folder):
            _work(folder, root)
    except ParameterError:  # a worker of an earlier server still runs
        sys.exit(3)
    except Interrupted:
        sys.exit(1)


def _work(folder: Path, root: Path) -> None:
    with answering():
        try:
            outcome = run_job(folder, root)
        except TreeplexError as error:
            outcome = {"error": str(error)}
        except MemoryError:
            outcome = {
                "error": "There is not enough memory for this job; choose a smaller tree, or a storage with fewer bits."
            }
        except Exception as error:
            traceback.print_exc()
            outcome = {"error": f"The solver failed: {type(error).__name__}: {error!s:.200}"}
        replace_text(folder / "outcome.json", json.dumps(outcome) + "\n")


def run_job(folder: Path, root: Path) -> dict[str, Any]:
    """Call the function that the job requests; return the outcome."""
    job: dict[str, Any] = json.loads((folder / "job.json").read_text(encoding="utf-8"))
    request: dict[str, Any] = job["request"]
    tell = ProgressWriter(folder)
    from treeplex.web.directory import Directory  # noqa: PLC0415 - the lock comes first
    from treeplex.web.jobs.requests import check_request  # noqa: PLC0415

    directory = Directory(root)
    check_request(request, job["run"], directory)
    out = directory.inside(job["run"])
    if out is None:
        raise ParameterError(f"There is no folder {quoted(job['run'])} in the served folder.")
    calls: dict[str, Callable[..., Any]] = {"solve": _solve, "resume": _resume, "grow": _grow, "sizes": _sizes}
    common: dict[str, Any] = {
        "threads": request["threads"],
        "checkpoint_seconds": CHECKPOINTS,
        "watch": partial(_watch, tell=tell),
    }
    solution = calls[job["what"]](request, out, folder, common)
    tell.flush()
    summary = solution.summary()
    answer = {} if solution.record.has_strategies else {"result": summary}
    return {"status": solution.status, "nash_conv": summary["nash_conv"]} | answer


def _solve(request: dict[str, Any], out: Path, folder: Path, common: dict[str, Any]) -> Any:
    from treeplex import api  # noqa: PLC0415 - the lock comes first
    from treeplex.games.holdem.locks import make_locks  # noqa: PLC0415
    from treeplex.runs.schema import JOB  # noqa: PLC0415

    return api.solve(
        request["spot"] or request["game"],
        request["algorithm"],
        **{each.name: request[each.name] for each in JOB},
        locks=make_locks(request["locks"] or ()),
        out=out,
        **common,
    )


def _grow(request: dict[str, Any], out: Path, folder: Path, common: dict[str, Any]) -> Any:
    from treeplex import api  # noqa: PLC0415
    from treeplex.web.jobs.requests import growth_of  # noqa: PLC0415

    source = request["spot"] or request["game"]
    return api.grow(
        source,
        **_limits(request),
        growth=growth_of(request, source),
        storage=request["storage"],
        out=out,
        **common,
    )


def _resume(request: dict[str, Any], out: Path, folder: Path, common: dict[str, Any]) -> Any:
    """Resume to new limits once; a second attempt continues to the limits that the first one saved."""
    from treeplex import api  # noqa: PLC0415

    limits = _limits(request)
    if limits and not _is_first(folder, out):
        limits = {}
    return api.resume(out, **limits, **common)


def _is_first(folder: Path, out: Path) -> bool:
    """Return whether the limits of the run are still those before this job."""
    now: Any = json.loads((out / "run.json").read_text(encoding="utf-8"))["limits"]
    before = folder / "before.json"
    if not before.exists():
        replace_text(before, json.dumps(now))
    return json.loads(before.read_text(encoding="utf-8")) == now


def _sizes(request: dict[str, Any], out: Path, folder: Path, common: dict[str, Any]) -> Any:
    from treeplex.poker.sizing import sizes  # noqa: PLC0415
    from treeplex.web.jobs.requests import size_options  # noqa: PLC0415

    return sizes(request["spot"], **size_options(request), seconds=request.get("seconds"), out=out, **common)


def _limits(request: dict[str, Any]) -> dict[str, Any]:
    from treeplex.runs.schema import LIMITS  # noqa: PLC0415 - the lock comes first

    return {each.name: request[each.name] for each in LIMITS if request[each.name] is not None}


def _watch(progress: Progress, tell: ProgressWriter) -> None:
    rows = [
        [row.iteration, row.seconds, None if math.isnan(row.nash_conv) else row.nash_conv, row.nodes_touched]
        for row in progress.rows
    ]
    fields: dict[str, Any] = {"iteration": progress.iteration, "seconds": progress.seconds, "rows": rows}
    if progress.additions:
        fields["additions"] = [addition._asdict() for addition in progress.additions]
    if progress.stage:
        fields["text"] = progress.stage
    if progress.compiling:
        fields["compiling"] = True
    tell(fields)


class ProgressWriter:
    """A writer of progress, a few times per second at most."""

    def __init__(self, folder: Path) -> None:
        self.path, self.temporary = folder / "progress.json", folder / "progress.tmp"
        self.last, self.unwritten = 0.0, dict[str, Any]()

    def __call__(self, fields: dict[str, Any]) -> None:
        """Write progress now, or with the next call."""
        self.unwritten = fields
        if time.monotonic() - self.last >= EVERY:
            self.flush()

    def flush(self) -> None:
        """Write the latest progress, if it was not written yet."""
        if not self.unwritten:
            return
        with suppress(OSError):  # a full disk must not end a run
            self.temporary.unlink(missing_ok=True)  # a link would be followed
            with self.temporary.open("x", encoding="utf-8") as file:
                file.write(json.dumps(self.unwritten))
            self.temporary.replace(self.path)
        self.last, self.unwritten = time.monotonic(), {}


if __name__ == "__main__":
    main()
