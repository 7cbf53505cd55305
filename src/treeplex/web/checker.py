"""Check spots and jobs in a second process, so that a huge tree costs the server neither time nor memory.

``python -m treeplex.web.checker`` answers lines of JSON with lines of JSON until its input ends.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any, Final, cast

from treeplex.errors import GameError, TreeplexError
from treeplex.system import apart
from treeplex.web.refusals import RefusalError

TIME_LIMIT: Final = 12.0  # seconds for one answer
WAIT: Final = 20.0  # seconds to wait for earlier questions


class Checker:
    """The process, started at the first question, and again after it was killed."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: subprocess.Popen[str] | None = None

    def warm(self) -> None:
        """Start the process in advance, so that the first question need not wait for it."""

        def ask() -> None:
            with suppress(TreeplexError):  # the server is shutting down
                self.ask("ready")

        threading.Thread(target=ask, name="checker", daemon=True).start()

    def close(self) -> None:
        """Kill the process and close its pipes."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    pipe.close()

    def ask(self, what: str, *arguments: Any) -> Any:
        """Ask the process a question and return the answer of ``_compute``."""
        if not self._lock.acquire(timeout=WAIT):
            raise RefusalError(409, "The server is checking other spots; try again in a moment.")
        try:
            answer = self._answer(json.dumps([what, *arguments]))
        finally:
            self._lock.release()
        if "error" in answer:
            raise RefusalError(int(answer["status"]), str(answer["error"]))
        return answer["answer"]

    def _answer(self, line: str) -> dict[str, Any]:
        child, timed_out = self._running(), threading.Event()

        def give_up() -> None:
            timed_out.set()
            child.kill()

        late = threading.Timer(TIME_LIMIT, give_up)
        late.start()
        try:
            pipe, answers = cast(Any, child.stdin), cast(Any, child.stdout)
            pipe.write(line + "\n")
            pipe.flush()
            answer = answers.readline()
        except (OSError, ValueError):
            answer = ""
        finally:
            late.cancel()
        if answer:
            return json.loads(answer)
        self.close()
        if not timed_out.is_set():
            raise RefusalError(500, "The check failed; see the terminal of the server.")
        raise GameError(f"The check takes more than {TIME_LIMIT:.0f} seconds; choose fewer sizes.")

    def _running(self) -> subprocess.Popen[str]:
        if self._child is None or self._child.poll() is not None:
            self.close()
            self._child = subprocess.Popen(
                [sys.executable, "-P", "-m", "treeplex.web.checker"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                text=True,
                **apart(),  # Ctrl-C is the server's
            )
        return self._child


def main() -> None:
    """Answer questions until the input ends."""
    for line in sys.stdin:
        try:
            answer: dict[str, Any] = {"answer": _compute(json.loads(line))}
        except TreeplexError as error:
            answer = {"error": str(error), "status": getattr(error, "status", 400)}
        except MemoryError:
            answer = {"error": "There is not enough memory for this spot; choose fewer sizes.", "status": 400}
        sys.stdout.write(json.dumps(answer) + "\n")
        sys.stdout.flush()


def _compute(question: list[Any]) -> Any:
    from treeplex.web.formats import exported, imported  # noqa: PLC0415 - only this process needs these modules
    from treeplex.web.jobs.requests import job_request_fields  # noqa: PLC0415
    from treeplex.web.spots import estimate  # noqa: PLC0415

    answers: dict[str, Callable[..., Any]] = {
        "ready": lambda: None,
        "estimate": estimate,
        "request": job_request_fields,
        "import": imported,
        "export": exported,
    }
    what, *arguments = question
    return answers[what](*arguments)


if __name__ == "__main__":
    main()
