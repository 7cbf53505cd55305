"""Signals, streams and memory, in processes of their own: a sentence whatever happens."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from treeplex.cli import main

COMMAND = [sys.executable, "-m", "treeplex"]
KILL_TEST = Path(__file__).resolve().parents[1] / "kill" / "run.py"


def loading(*arguments: str, **options: object) -> subprocess.Popen[str]:
    """A command whose first lines have run, and which is still importing."""
    process = subprocess.Popen(
        [*COMMAND, *arguments], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, **options
    )
    status, deadline = Path(f"/proc/{process.pid}/status"), time.monotonic() + 60
    while time.monotonic() < deadline:
        masks = dict(line.split(":", 1) for line in status.read_text().splitlines())
        caught, ignored = int(masks["SigCgt"], 16), int(masks["SigIgn"], 16)
        if caught >> (signal.SIGTERM - 1) & 1 and (caught | ignored) >> (signal.SIGHUP - 1) & 1:
            return process
        time.sleep(0.001)
    raise AssertionError(process.communicate())


@pytest.mark.parametrize("name", ["SIGINT", "SIGTERM", "SIGHUP"])
def test_a_signal_while_it_loads_is_a_sentence(name, tmp_path) -> None:
    process = loading("solve", "kuhn", cwd=tmp_path)
    process.send_signal(signal.Signals[name])
    out, err = process.communicate(timeout=60)
    assert (process.returncode, out) == (1, "")
    assert err == f"interrupted by {name}, before there was an answer.\n"
    assert not list(tmp_path.iterdir())


def ignoring() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGHUP, signal.SIG_IGN)


def test_under_nohup_it_goes_on() -> None:
    process = loading("list", "games", preexec_fn=ignoring)
    process.send_signal(signal.SIGHUP)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert "kuhn" in out


def test_a_full_disk_on_stdout_is_a_sentence(tmp_path) -> None:
    with Path("/dev/full").open("w") as full:
        done = subprocess.run([*COMMAND, "list"], stdout=full, stderr=subprocess.PIPE, text=True, check=False)
    assert done.returncode == 2
    assert done.stderr == "error: The output cannot be written: No space left on device.\n"


def test_what_a_stream_cannot_encode_is_replaced() -> None:
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii"}
    done = subprocess.run([*COMMAND, "list", "games"], capture_output=True, env=ascii_only, check=False)
    assert (done.returncode, done.stderr) == (0, b"")
    assert b"(Lis?," in done.stdout


def test_closed_streams_do_no_harm(tmp_path) -> None:
    line = f"{sys.executable} -m treeplex solve kuhn --iterations 3 --out run >&- 2>&-"
    assert subprocess.run(line, shell=True, cwd=tmp_path, check=False).returncode == 0
    assert (tmp_path / "run" / "result.json").exists()


def test_too_little_address_space_is_a_sentence(tmp_path) -> None:
    """Between 0.1 and 0.7 GB libraries would abort, or try for ever."""
    line = f"ulimit -v 600000; {sys.executable} -m treeplex solve kuhn --no-save"
    done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout) == (2, "")
    needed = "treeplex needs 1 GB of address space, but the limit of this process is 585 MB"
    assert done.stderr == f"error: {needed}. See `ulimit -v`.\n"


@pytest.mark.parametrize(
    ("error", "said"),
    [
        (MemoryError(), "error: There is not enough memory. "),
        (ImportError("libx.so"), "error: A required library cannot be loaded; "),
        (OSError("libx.so"), "error: A required library cannot be loaded; "),
        (OSError(5, "x", "the file"), "error: The file the file cannot be read or written: Input/output error."),
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_nobody_caught_is_a_sentence(error, said, cli, monkeypatch) -> None:
    def fails(**given: object) -> None:
        raise error

    monkeypatch.setattr(main, "app", fails)
    assert cli("list").sentence.startswith(said.removeprefix("error: "))


@pytest.mark.slow
def test_killed_and_signalled_at_random_moments_nothing_is_lost() -> None:
    """A quick look; ``make kill-test`` takes its time."""
    done = subprocess.run([sys.executable, KILL_TEST, "--quick"], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "    0  failures" in done.stdout
    assert "kill -9: disturbances that were followed to the end" in done.stdout
