"""One trial in a child process of its own: a crash, a hang or a bomb is seen as such, and nothing else is harmed."""

from __future__ import annotations

import os
import resource
import signal
import sys
import traceback
import warnings
from collections.abc import Callable
from pathlib import Path

from command_line import RefusedError, called

SECONDS = 10  # of computing that a trial may take
MEMORY = 1.5e9  # bytes that a trial may take beside what the child begins with
TAKEN, REFUSED, FAILED = 0, 2, 3
LONGEST = 300


def forked(trial: Callable[[], None], folder: Path) -> None:
    """Run ``trial``; RefusedError if it was refused, AssertionError if it crashed, hung, or took too much memory."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    sys.stdout.flush()
    sys.stderr.flush()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)  # of forks beside threads: those here wait
        child = os.fork()
    if child == 0:
        _child(trial, folder)
    try:
        _, status, used = os.wait4(child, 0)
    except BaseException:  # this process waits no longer
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        raise
    how = (folder / "how.txt").read_text(errors="replace") if (folder / "how.txt").exists() else ""
    assert os.WIFEXITED(status), f"signal {signal.Signals(os.WTERMSIG(status)).name} {how}"
    assert os.WEXITSTATUS(status) in (TAKEN, REFUSED), how
    unit = 1 if sys.platform == "darwin" else 1024
    assert (used.ru_maxrss - before) * unit < MEMORY, f"{used.ru_maxrss * unit / 2**30:.1f} GiB"
    if os.WEXITSTATUS(status) == REFUSED:
        raise RefusedError


def _child(trial: Callable[[], None], folder: Path) -> None:
    code = FAILED
    try:
        own = int(sum(resource.getrusage(resource.RUSAGE_SELF)[:2]))
        resource.setrlimit(resource.RLIMIT_CPU, (own + SECONDS, own + SECONDS + 1))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            trial()
        code = TAKEN
    except RefusedError:
        code = REFUSED
    except BaseException:
        (folder / "how.txt").write_text(traceback.format_exc(limit=-8))
    finally:
        os._exit(code)


def command(words: list[str], folder: Path) -> None:
    """The command line: exit code 0 or 1, or 2 with one sentence."""
    code, _, err = called(words, folder)
    assert code in (0, 1, 2), f"exit code {code}: {err}"
    assert "Traceback" not in err, err
    if code == 2:
        last = err.splitlines()[-1]
        assert last.startswith("error: "), err
        assert len(last) <= LONGEST + len("error: "), last
        raise RefusedError
