"""The linear program of a game as a task that can pause: it runs in a thread that waits once its budget is used.

HiGHS calls back after every iteration of the simplex method. The callback waits until more iterations are granted.
The program therefore takes the same iterations as without pauses, however they are granted.
"""

from __future__ import annotations

from threading import Condition, Thread, current_thread
from typing import Final
from weakref import finalize

from treeplex.algorithms.linear_program import LinearProgram, ProgramState
from treeplex.algorithms.protocol import Stop
from treeplex.compile.game import CompiledGame
from treeplex.errors import SolverError

PAUSE: Final = 0.05  # seconds between two calls of ``stop``


class LPSession:
    """One linear program, not started yet. Either its thread works or the caller does, never both.

    The thread ends with the program, when this object is deleted, or when Python exits.
    """

    def __init__(self, game: CompiledGame, target: float | None = None) -> None:
        self._worker = _Worker(game, LinearProgram(target))
        finalize(self, self._worker.close)

    def upto(self, calls: int, stop: Stop) -> bool:
        """Continue until HiGHS has called back ``calls`` times in total, or ended; False if ``stop`` interrupted it."""
        worker = self._worker
        with worker.changed:
            worker.granted = max(worker.granted, calls)
            worker.begin()
            worker.changed.notify_all()
            while not (worker.ended or worker.calls >= calls):
                worker.changed.wait(PAUSE)
                if not worker.ended and worker.calls < calls and stop():
                    return False
        return True

    @property
    def ended(self) -> bool:
        """Whether the program has ended, with an equilibrium or an error."""
        return self._worker.ended

    @property
    def result(self) -> ProgramState | None:
        """The equilibrium, or None if there is none yet or the program failed."""
        return self._worker.result


class _Worker:
    """State shared with the thread. It does not refer to the session, so that the session can be deleted."""

    def __init__(self, game: CompiledGame, program: LinearProgram) -> None:
        self.result: ProgramState | None = None
        self.calls, self.granted, self.closed, self.ended = 0, 0, False, False
        self.changed = Condition()
        self._thread = Thread(target=self._solve, args=(game, program), name="treeplex-lp", daemon=True)

    def begin(self) -> None:
        if self._thread.ident is None:
            self._thread.start()

    def close(self) -> None:
        """Stop, and wait for the thread: none may be inside HiGHS when Python exits."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()
        if self._thread.ident is not None and current_thread() is not self._thread:
            self._thread.join()

    def _solve(self, game: CompiledGame, program: LinearProgram) -> None:
        try:
            self.result = program.advance(game, program.start(game), 1, self._wait_for_budget)
        except SolverError:
            self.result = None
        finally:
            with self.changed:
                self.ended = True
                self.changed.notify_all()

    def _wait_for_budget(self) -> bool:
        """Wait until the program may continue; return True if it must end. HiGHS calls this."""
        with self.changed:
            self.calls += 1
            if self.calls >= self.granted:
                self.changed.notify_all()
                self.changed.wait_for(lambda: self.closed or self.calls < self.granted)
            return self.closed
