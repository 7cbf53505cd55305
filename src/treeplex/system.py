"""All code that depends on the platform: signals, processes, locks, processors and memory."""

from __future__ import annotations

import math
import os
import re
import signal
import subprocess
import sys
import threading
from collections.abc import Callable, Generator
from contextlib import AbstractContextManager, contextmanager, nullcontext, suppress
from pathlib import Path
from types import FrameType
from typing import Any, Final

SIGNALS: Final = tuple(
    signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP", "SIGBREAK") if name in signal.Signals.__members__
)
FORCED_AFTER: Final = 3  # number of signals after which a process ends even while it writes


class Interrupted(BaseException):
    """A signal stopped the command before there was an answer. It is not an error."""


class Interruption(threading.Event):
    """Event set by the first signal of a run, which then stops with its current answer."""

    answerable = False  # whether there is an answer yet


class Command:
    """Signal handling of the ``treeplex`` command, from its first line until its last file is written.

    Before there is an answer, a signal ends the process at once, with a message and exit code 1. A run that has an
    answer stops and returns it, and a second signal ends the process at once. Files that are being written are
    completed first, unless a third signal arrives.
    Python programs that use the package keep their own handlers, because only the command calls ``take_over``.
    """

    def __init__(self) -> None:
        self.received: list[int] = []
        self._running, self._writing, self._waiting = False, 0, False
        self._stop: Interruption | None = None
        self._leaving: list[Callable[[], None]] = []

    def take_over(self) -> None:
        """Handle signals from now on. Signals that the parent process ignores (``nohup``) stay ignored."""
        self._running = True
        for number in SIGNALS:
            if number == signal.SIGTERM or signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, self._handle)

    def hand_back(self) -> None:
        """Ignore further signals: output is complete."""
        if self._running:
            for number in SIGNALS:
                signal.signal(number, signal.SIG_IGN)

    @property
    def handles(self) -> bool:
        """Whether the command handles signals and this is the main thread."""
        return self._running and threading.current_thread() is threading.main_thread()

    @contextmanager
    def answering(self) -> Generator[Interruption]:
        """Within this context the first signal sets the event, provided that it is ``answerable``."""
        if self._stop is not None:
            yield self._stop
            return
        self._stop = Interruption()
        try:
            yield self._stop
        finally:
            self._stop = None

    @contextmanager
    def finishing(self) -> Generator[None]:
        """Delay signals within this context; raise ``Interrupted`` afterwards if one of them ends the process."""
        self._writing += 1
        try:
            yield
        finally:
            self._writing -= 1
        if self._waiting and not self._writing:
            raise Interrupted

    @contextmanager
    def leaving(self, tidy: Callable[[], None]) -> Generator[None]:
        """Within this context, also call ``tidy`` if a signal ends the process at once."""
        self._leaving.append(tidy)
        try:
            yield
        finally:
            self._leaving.remove(tidy)

    def sentence(self, more: str = "") -> str:
        """Message that names the signal that stopped the command."""
        return f"interrupted by {signal.Signals(self.received[0]).name}{more}.\n"

    def _handle(self, number: int, frame: FrameType | None) -> None:
        self.received.append(number)
        stop = self._stop
        if stop is not None and stop.answerable and not stop.is_set():
            stop.set()
        elif self._writing and len(self.received) < FORCED_AFTER:
            self._waiting = True
        else:
            self._leave(again=stop is not None and stop.answerable)

    def _leave(self, *, again: bool) -> None:
        """End the process at once, since the interrupted code might swallow an exception raised by a handler."""
        for tidy in reversed(self._leaving):
            with suppress(Exception):
                tidy()
        with suppress(Exception):
            sys.stdout.flush()
        more = "; what was computed since the last checkpoint is lost" if again else ", before there was an answer"
        cursor = "\r\x1b[K\x1b[?25h" if os.isatty(2) else ""  # a spinner may have hidden it
        with suppress(OSError):
            os.write(2, (cursor + self.sentence(more)).encode())
        os._exit(1)


COMMAND: Final = Command()


@contextmanager
def ctrl_c() -> Generator[Interruption]:
    """Turn the first Ctrl-C, SIGTERM or SIGHUP into an event, so that no iteration is left half done.

    In a Python program the second signal reaches the original handler, and ignored signals stay ignored.
    """
    if COMMAND.handles:
        with COMMAND.answering() as stop:
            yield stop
        return
    pressed = Interruption()
    if threading.current_thread() is not threading.main_thread():
        yield pressed
        return
    before: dict[int, Any] = {}

    def restore() -> None:
        for number, handler in before.items():
            signal.signal(number, handler)

    def handler(number: int, frame: FrameType | None) -> None:
        pressed.set()
        restore()

    try:
        for number in SIGNALS:
            if number == signal.SIGTERM or signal.getsignal(number) is not signal.SIG_IGN:
                before[number] = signal.signal(number, handler)
        yield pressed
    finally:
        restore()


def answering() -> AbstractContextManager[Interruption]:
    """Context of the command in which a signal stops the run with its answer, including the work after the run."""
    return COMMAND.answering() if COMMAND.handles else nullcontext(Interruption())


def finishing() -> AbstractContextManager[None]:
    """Context in which signals do not stop the command, because files are being written."""
    return COMMAND.finishing() if COMMAND.handles else nullcontext()


@contextmanager
def tidied(tidy: Callable[[], None]) -> Generator[None]:
    """Call ``tidy`` at the end, also if a signal ends the command at once."""
    with COMMAND.leaving(tidy):
        try:
            yield
        finally:
            tidy()


def address_space() -> float:
    """Bytes that this process may map (``ulimit -v``); infinity if unlimited."""
    return _limit("RLIMIT_AS")


def open_files() -> float:
    """Number of files that this process may have open (``ulimit -n``); infinity if unlimited."""
    return _limit("RLIMIT_NOFILE")


def _limit(name: str) -> float:
    if sys.platform == "win32":
        return math.inf
    import resource  # noqa: PLC0415 - Windows does not have it

    limit = resource.getrlimit(getattr(resource, name))[0]
    return math.inf if limit == resource.RLIM_INFINITY else limit


def limit_memory(count: int) -> None:
    """Limit the bytes that this process may allocate, where the system can."""
    with suppress(ImportError, AttributeError, ValueError, OSError):
        import resource  # noqa: PLC0415 - there is none on Windows

        resource.setrlimit(resource.RLIMIT_DATA, (count, count))


def cores() -> int:
    """Number of processors that this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


if sys.platform == "win32":
    import msvcrt

    def lock(handle: int) -> None:
        """Lock a file exclusively without waiting, or raise OSError. Closing the handle releases the lock."""
        os.lseek(handle, 1 << 20, os.SEEK_SET)  # beyond the content, so that others may read it
        msvcrt.locking(handle, msvcrt.LK_NBLCK, 1)
        os.lseek(handle, 0, os.SEEK_SET)

    def is_alive(process: int) -> bool:
        """Whether the process exists."""
        listing = subprocess.run(  # noqa: S603 - os.kill(process, 0) would be Ctrl-C here
            ["tasklist", "/FI", f"PID eq {process}", "/NH"],  # noqa: S607
            capture_output=True,
            text=True,
            check=False,
        )
        return str(process) in listing.stdout

    def interrupt(process: int) -> None:
        """Ask a process that was started with ``apart`` to stop with its current answer."""
        os.kill(process, signal.CTRL_BREAK_EVENT)

    def apart() -> dict[str, Any]:
        """Keyword arguments of ``Popen`` for a process that Ctrl-C in this terminal does not reach."""
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}

else:
    import fcntl

    def lock(handle: int) -> None:
        """Lock a file exclusively without waiting, or raise OSError. Closing the handle releases the lock."""
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)

    def is_alive(process: int) -> bool:
        """Whether the process exists."""
        try:
            os.kill(process, 0)
        except PermissionError:
            return True
        except (OSError, OverflowError):
            return False
        return True

    def interrupt(process: int) -> None:
        """Ask a process that was started with ``apart`` to stop with its current answer."""
        os.kill(process, signal.SIGINT)

    def apart() -> dict[str, Any]:
        """Keyword arguments of ``Popen`` for a process that Ctrl-C in this terminal does not reach."""
        return {"start_new_session": True}


def heed_interrupts() -> None:
    """Let SIGINT interrupt this process, even if its parent process ignored it."""
    signal.signal(signal.SIGINT, signal.default_int_handler)


CGROUP: Final = Path("/sys/fs/cgroup")
STATM: Final = Path("/proc/self/statm")
PAGE: Final = os.sysconf("SC_PAGE_SIZE") if hasattr(os, "sysconf") else 4096


def available() -> int:
    """Bytes of free memory of the machine, or of the container if that is less."""
    free = _number(Path("/proc/meminfo"), "MemAvailable:")
    free = _physical() if free is None else 1024 * free
    limit, current = _number(CGROUP / "memory.max"), _number(CGROUP / "memory.current")
    if limit is None or current is None:
        return free
    cache = _number(CGROUP / "memory.stat", "inactive_file ") or 0  # counted as used, but freed on demand
    return min(free, max(limit - current + cache, 0))


def used() -> int:
    """Bytes of memory that this process uses; 0 if the system does not report it."""
    try:
        with STATM.open("rb") as file:
            return int(file.read().split()[1]) * PAGE
    except (OSError, ValueError, IndexError):
        return 0


def _number(path: Path, name: str = "") -> int | None:
    """Return the number that follows ``name`` in a system file; None if there is no such file or number."""
    try:
        match = re.search(rf"^{name}\s*([0-9]+)", path.read_text(), re.MULTILINE)
    except OSError:
        return None
    return int(match[1]) if match else None


def _physical() -> int:
    try:
        return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    except (AttributeError, ValueError, OSError):  # not supported by this system
        return 2**62
