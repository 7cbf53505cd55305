"""GPU kernels under Numba's simulator, which is chosen when a process starts: ``tests/cuda`` in one of its own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "cuda"


def test_kernels_under_the_simulator() -> None:
    command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(FOLDER)]
    ran = subprocess.run(
        command, env=os.environ | {"NUMBA_ENABLE_CUDASIM": "1"}, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stdout[-4000:]
    assert " passed" in ran.stdout or "100%" in ran.stdout
    assert "skipped" not in ran.stdout
