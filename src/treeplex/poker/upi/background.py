"""Run a solver in a background thread that can be stopped, awaited and continued."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

from treeplex.algorithms.protocol import Algorithm
from treeplex.engines.boards.game import HoldemGame
from treeplex.errors import TreeplexError
from treeplex.evaluation.exact import Evaluation
from treeplex.runs.checkpoint import Checkpoint
from treeplex.runs.loop import Progress, RunOutcome, run
from treeplex.runs.schema import Options
from treeplex.runs.status import INTERRUPTED, SOLVED

EVERY: Final = 1.0  # seconds between two blocks of progress
REASONS: Final = {SOLVED: "required accuracy reached", INTERRUPTED: "requested"}


class Background:
    """At most one run at a time. ``tell`` receives blocks of lines during the run, from the thread of the run."""

    def __init__(self, tell: Callable[[list[str]], None]) -> None:
        self._tell, self._stop = tell, threading.Event()
        self._thread: threading.Thread | None = None
        self.outcome: RunOutcome[Any] | None = None
        self.point: Checkpoint[Any] | None = None

    @property
    def running(self) -> bool:
        """Whether a run is in progress."""
        return self._thread is not None and self._thread.is_alive()

    def start(self, game: HoldemGame, solver: Algorithm[Any, Any], options: Options, point: Checkpoint[Any]) -> None:
        """Continue from a checkpoint in the background."""
        self._stop.clear()
        self._thread = threading.Thread(target=self._run, args=(game, solver, options, point), daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Stop the run with the answer so far, and wait until it has stopped."""
        self._stop.set()
        self.wait()

    def wait(self) -> None:
        """Wait until the run has ended by itself."""
        if self._thread is not None:
            self._thread.join()

    def _run(self, game: HoldemGame, solver: Algorithm[Any, Any], options: Options, point: Checkpoint[Any]) -> None:
        last, printed = time.monotonic(), list[Evaluation]()

        def watch(progress: Progress) -> None:
            nonlocal last
            if progress.evaluation is not None and time.monotonic() - last >= EVERY:
                last, printed[:] = time.monotonic(), [progress.evaluation]
                self._say(["SOLVER:", f"running time: {progress.seconds:.3f}", *results(game, progress.evaluation)])

        def keep(point: Checkpoint[Any]) -> None:
            self.point = point

        try:
            outcome = run(game, solver, replace(options, watch=watch), point, keep=keep, stop=self._stop.is_set)
        except (TreeplexError, MemoryError) as error:
            self._say([f"SOLVER: stopped ({' '.join(str(error).split()) or 'not enough memory'})"])
            return
        self.outcome = outcome
        if outcome.evaluation not in printed:
            lines = results(game, outcome.evaluation)
            self._say(["SOLVER:", f"running time: {outcome.seconds:.3f}", *lines])
        self._say([f"SOLVER: stopped ({REASONS.get(outcome.status, f'limit of {outcome.status} reached')})"])

    def _say(self, lines: list[str]) -> None:
        try:
            self._tell(lines)
        except (OSError, ValueError):  # the other side has closed the stream
            self._stop.set()


def results(game: HoldemGame, evaluation: Evaluation) -> list[str]:
    """Return lines with both players' EV and best-response value (MES), and half the sum of both gains."""
    first, second = evaluation.best_response_values
    ev = evaluation.value
    other = game.spot.pot - ev if game.zero_sum else first + second - ev - evaluation.nash_conv
    return [
        f"EV OOP: {ev:.3f}",
        f"EV IP: {other:.3f}",
        f"OOP's MES: {first:.3f}",
        f"IP's MES: {second:.3f}",
        f"Exploitable for: {evaluation.exploitability:.3f}",
    ]
