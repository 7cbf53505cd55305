"""Nested prunings that are settled when the outer one was long: a copy of the package with that change, and a run.

    NUMBA_NUM_THREADS=1 .venv/bin/python experiments/2026-11-settled-prunings.py GAME NASH_CONV [FACTOR]

An inner pruning is settled if the outer one lasted at least FACTOR times as long as the inner one had when the outer
one began. Without FACTOR the package is as it is. Prints nodes and iterations to several NashConv (best so far).
"""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parents[1]
NESTED = "treeplex/engines/history/cpu/nested.py"
CHANGES = (
    ("OPEN, PRUNED, SEEN = 0, 1, 2", "SETTLE = FACTOR\nOPEN, PRUNED, SEEN = 0, 1, 2"),
    ("t: float, inside: bool)", "t: float, inside: bool, outer: int, clock: int)"),
    (
        "            if not (ends or inside):\n",
        "            if inside and not ends:\n"
        "                ends = clock - outer >= SETTLE * (outer - since[q])\n"
        "            if not (ends or inside):\n",
    ),
    (
        "            pending, most = _respond(player, infoset, pruning, t, bool(height > 0))\n",
        "            outer = 0\n"
        "            if height > 0:\n"
        "                outer = player.tables.since[np.uint64(frames[0, 0])]\n"
        "            pending, most = _respond("
        "player, infoset, pruning, t, bool(height > 0), outer, 2 * start + now + 1)\n",
    ),
)
RUN = """
import sys
from treeplex.api import load
from treeplex.papers.curves import iterations, run_curve
from treeplex.runs import Limits
curve = run_curve(load(sys.argv[1]), "", "cfr-nested-rbp(turns=simultaneous)", Limits(nash_conv=float(sys.argv[2])), len)
for level in (0.3, 0.1, 0.03, 0.01, 0.003, 0.001, 0.0005):
    if curve.best <= level:
        print(f"{level:g}: {curve.cost_of(level):.4g} nodes, {curve.cost_of(level, iterations):.4g} iterations")
"""


def main() -> None:
    game, target, *factor = sys.argv[1:]
    with tempfile.TemporaryDirectory() as folder:
        source = Path(shutil.copytree(ROOT / "src", Path(folder) / "src"))
        if factor:
            path = source / NESTED
            text = path.read_text()
            for old, new in CHANGES:
                assert text.count(old) == 1, old
                text = text.replace(old, new.replace("FACTOR", factor[0]))
            path.write_text(text)
        environment = {**os.environ, "PYTHONPATH": str(source), "NUMBA_CACHE_DIR": folder}
        subprocess.run([sys.executable, "-c", RUN, game, target], check=True, env=environment)


if __name__ == "__main__":
    main()
