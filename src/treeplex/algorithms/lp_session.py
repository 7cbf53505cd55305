"""The linear program of a game as something that can be paused: it runs in a thread that waits when its share is used.

HiGHS asks after every iteration of the simplex method whether to go on. The answer is kept back until more iterations
are granted, so the program is solved by the very iterations that it takes in one go, however they are granted.
"""

from __future__ import annotations

from threading import Condition, Thread, current_thread
from typing import Final
from weakref import finalize

from treeplex.algorithms.linear_program import LinearProgram, ProgramState
from treeplex.algorithms.protocol import Stop
from treeplex.compile.game import CompiledGame
from treeplex.errors import SolverError

PAUSE: Final = 0.05  # seconds between two looks at ``stop``


class LPSession:
    """One linear program, not begun yet. Either its thread works or whoever waits for it, never both.

    The thread ends with the program, or when this object goes, or Python.
    """

    def __init__(self, game: CompiledGame, target: float | None = None) -> None:
        self._worker = _Worker(game, LinearProgram(target))
        finalize(self, self._worker.close)

    def upto(self, calls: int, stop: Stop) -> bool:
        """Let it go on until HiGHS has asked ``calls`` times in all, or has ended; False if ``stop`` cut that short."""
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
        """Has it found an equilibrium, or failed?"""
        return self._worker.ended

    @property
    def found(self) -> ProgramState | None:
        """The equilibrium, if it has ended with one."""
        return self._worker.found


class _Worker:
    """What the thread knows; it does not know the session, so that nothing keeps that alive."""

    def __init__(self, game: CompiledGame, program: LinearProgram) -> None:
        self.found: ProgramState | None = None
        self.calls, self.granted, self.closed, self.ended = 0, 0, False, False
        self.changed = Condition()
        self._thread = Thread(target=self._solve, args=(game, program), name="treeplex-lp", daemon=True)

    def begin(self) -> None:
        if self._thread.ident is None:
            self._thread.start()

    def close(self) -> None:
        """Give up, and wait for the thread: none may be inside HiGHS when Python ends."""
        with self.changed:
            self.closed = True
            self.changed.notify_all()
        if self._thread.ident is not None and current_thread() is not self._thread:
            self._thread.join()

    def _solve(self, game: CompiledGame, program: LinearProgram) -> None:
        try:
            self.found = program.advance(game, program.start(game), 1, self._asked)
        except SolverError:
            self.found = None
        finally:
            with self.changed:
                self.ended = True
                self.changed.notify_all()

    def _asked(self) -> bool:
        """Called by HiGHS: wait until it may go on; True if it must end."""
        with self.changed:
            self.calls += 1
            if self.calls >= self.granted:
                self.changed.notify_all()
                self.changed.wait_for(lambda: self.closed or self.calls < self.granted)
            return self.closed
