"""GPU kernels under Numba's simulator, which is chosen when a process starts: ``tests/cuda`` in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[1] / "cuda"
# The simulator has a thread of Python per thread of a GPU, of which one runs at a time: on one core, twice as fast.
PYTEST = """
import os, sys, pytest
if hasattr(os, "sched_setaffinity"):
    os.sched_setaffinity(0, {max(os.sched_getaffinity(0))})
sys.exit(pytest.main(sys.argv[1:]))
"""


SLOW = sorted(path.name for path in FOLDER.glob("test_*.py") if "mark.slow" in path.read_text(encoding="utf-8"))


def test_kernels_under_the_simulator() -> None:
    check_simulated("not slow", FOLDER)


@pytest.mark.slow
@pytest.mark.parametrize("name", SLOW)
def test_slow_ones_under_the_simulator(name: str) -> None:
    check_simulated("slow", FOLDER / name)


def check_simulated(which: str, tests: Path) -> None:
    command = [sys.executable, "-c", PYTEST, "-q", "-p", "no:cacheprovider", "-m", which, str(tests)]
    ran = subprocess.run(
        command, env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout[-4000:]
    assert " passed" in ran.stdout or "100%" in ran.stdout
    assert "skipped" not in ran.stdout
