"""Spots and jobs are checked in a process beside the server: a tree without end takes neither its time nor its memory.

``python -m treeplex.web.checker`` answers lines of JSON with lines of JSON, until its input ends.
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

PATIENCE: Final = 12.0  # seconds for one answer
WAIT: Final = 20.0  # seconds for others to be answered first


class Checker:
    """The process, started when it is first needed and again when it had to be ended."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._child: subprocess.Popen[str] | None = None

    def warm(self) -> None:
        """Start it, so that nobody waits later."""

        def ask() -> None:
            with suppress(TreeplexError):  # the server ends already
                self.ask("ready")

        threading.Thread(target=ask, name="checker", daemon=True).start()

    def close(self) -> None:
        """End it."""
        child, self._child = self._child, None
        if child is not None:
            child.kill()
            child.wait()
            for pipe in (child.stdin, child.stdout):
                if pipe is not None:
                    pipe.close()

    def ask(self, what: str, *arguments: Any) -> Any:
        """A question that ``_carried_out`` answers, in the process."""
        if not self._lock.acquire(timeout=WAIT):
            raise RefusalError(409, "Other spots are being measured; try again in a moment.")
        try:
            said = self._answer(json.dumps([what, *arguments]))
        finally:
            self._lock.release()
        if "error" in said:
            raise RefusalError(int(said["status"]), str(said["error"]))
        return said["answer"]

    def _answer(self, line: str) -> dict[str, Any]:
        child, given_up = self._running(), threading.Event()

        def give_up() -> None:
            given_up.set()
            child.kill()

        late = threading.Timer(PATIENCE, give_up)
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
        if not given_up.is_set():
            raise RefusalError(500, "The check has failed; see the terminal of the server.")
        raise GameError(f"This takes more than {PATIENCE:.0f} seconds to check; choose fewer sizes.")

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
    """Answer until there are no more questions."""
    for line in sys.stdin:
        try:
            said: dict[str, Any] = {"answer": _carried_out(json.loads(line))}
        except TreeplexError as error:
            said = {"error": str(error), "status": getattr(error, "status", 400)}
        except MemoryError:
            said = {"error": "There is not enough memory for this spot; choose fewer sizes.", "status": 400}
        sys.stdout.write(json.dumps(said) + "\n")
        sys.stdout.flush()


def _carried_out(question: list[Any]) -> Any:
    from treeplex.web.formats import exported, imported  # noqa: PLC0415 - only this process needs all of it
    from treeplex.web.jobs.wanted import wanted_fields  # noqa: PLC0415
    from treeplex.web.spots import estimate  # noqa: PLC0415

    answers: dict[str, Callable[..., Any]] = {
        "ready": lambda: None,
        "estimate": estimate,
        "wanted": wanted_fields,
        "import": imported,
        "export": exported,
    }
    what, *arguments = question
    return answers[what](*arguments)


if __name__ == "__main__":
    main()
