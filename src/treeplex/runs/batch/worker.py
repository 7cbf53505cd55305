"""A worker of a batch: ``python -m treeplex.runs.batch.worker`` runs one job per line of its input."""

from __future__ import annotations

import _thread
import json
import os
import queue
import sys
import threading
import time
from pathlib import Path
from typing import Any, Final

from treeplex.errors import TreeplexError
from treeplex.files import BusyError
from treeplex.system import COMMAND, Interrupted, answering

RELEASE_SECONDS: Final = 60.0  # seconds in which the worker of a killed driver must release its folder


def work(fields: dict[str, Any], out: str, threads: int, checkpoint_seconds: float) -> bool:
    """Run a job and write its row; return False if it was interrupted and can continue. Errors go into the row."""
    from treeplex.engines.open import CPU  # noqa: PLC0415
    from treeplex.runs.batch.jobs import BatchJob  # noqa: PLC0415
    from treeplex.runs.batch.results import RUNS, row_of, write_row  # noqa: PLC0415
    from treeplex.runs.requests import solving  # noqa: PLC0415 - takes a second or two
    from treeplex.runs.solve import execute  # noqa: PLC0415
    from treeplex.runs.status import INTERRUPTED  # noqa: PLC0415

    job, folder = BatchJob(fields["id"], fields), Path(out)
    (folder / RUNS).mkdir(exist_ok=True)
    here: dict[str, Any] = {
        "threads": threads,
        "backend": CPU,
        "checkpoint_seconds": checkpoint_seconds,
        "picture": False,
    }
    here["out"], until = folder / RUNS / job.id, time.monotonic() + RELEASE_SECONDS
    while True:
        try:
            run = execute(solving(job.source, fields.get("algorithm"), **job.options, **here))
        except BusyError:
            if time.monotonic() > until:
                raise
            time.sleep(0.2)
        except TreeplexError as error:
            write_row(folder, row_of(job, None, str(error)))
            return True
        else:
            break
    if run.status == INTERRUPTED:
        return False
    write_row(folder, row_of(job, run))
    return True


def main() -> None:
    """Read a job per line, and reply with a line whether it has ended, until the input ends."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    COMMAND.take_over()
    reply = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)  # output of libraries goes to the log
    waiting: queue.SimpleQueue[dict[str, Any] | None] = queue.SimpleQueue()
    busy = threading.Event()
    threading.Thread(target=_listen, args=(waiting, busy), daemon=True).start()
    while (message := waiting.get()) is not None:
        with (Path(message.pop("log"))).open("ab") as log:
            os.dup2(log.fileno(), 2)
            os.dup2(2, 1)
        busy.set()
        try:
            with answering():
                ended = work(**message)
        except Interrupted:
            ended = False
        busy.clear()
        print(int(ended), file=reply, flush=True)
    COMMAND.hand_back()


def _listen(waiting: queue.SimpleQueue[dict[str, Any] | None], busy: threading.Event) -> None:
    """Queue jobs from stdin; if the driver closes it or is gone, stop as after Ctrl-C."""
    for line in sys.stdin:
        waiting.put(json.loads(line))
    waiting.put(None)
    if busy.is_set():
        _thread.interrupt_main()


if __name__ == "__main__":
    main()
