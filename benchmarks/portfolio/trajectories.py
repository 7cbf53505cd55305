"""NashConv of every algorithm along its iterations, with what they and evaluations took: what `auto` can learn from.

    python benchmarks/portfolio/trajectories.py --games DIR --processes 14 --out trajectories.json.gz

DIR is what ``benchmarks/auto.py --save-games DIR`` left. Every cell ends at 1e-8 of the uniform policy's NashConv, or
after ``--seconds`` of processor time in iterations on one thread. Iterations and NashConv do not depend on the machine.
The untouched games are left out. What is in the file already is kept, and the rest is added. ``simulate.py`` reads it.
"""

from __future__ import annotations

import argparse
import gzip
import json
import multiprocessing
import os
import sys
import time
from concurrent.futures import ProcessPoolExecutor, as_completed
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parent.parent))

from auto import loaded, unpacked
from games import CATALOG, OPENSPIEL, UNTOUCHED

ALGORITHMS = (
    *("dcfr", "cfr+", "sapcfr+", "pcfr+", "pdcfr+", "hs-dcfr", "hs-pcfr+", "cfr+-restarted", "pcfr+-restarted"),
    *("hs-dcfr(weight=power)", "hs-pcfr+(weight=power)"),
)
STEP = 1.15  # between evaluations
LAST = 1e-8  # of the uniform policy's NashConv


def followed(path: str, algorithm: str, seconds: float) -> dict[str, Any]:
    """Rows of iteration, seconds of iterations so far, share of the uniform NashConv; and seconds per evaluation."""
    from treeplex.algorithms.protocol import Execution
    from treeplex.algorithms.registry import build

    game, uniform = loaded(path)
    solver: Any = build(algorithm).open(game, Execution("cpu", None, 1, None, 0))
    warm = solver.advance(game, solver.start(game), 3)
    solver.report(game, warm, "average").evaluate(1)
    state, spent, looking, rows, due = solver.start(game), 0.0, 0.0, [], 5
    while spent < seconds and (not rows or rows[-1][2] > LAST):
        began = time.process_time()
        state = solver.advance(game, state, due - state.iteration)
        spent += time.process_time() - began
        began = time.process_time()
        found = solver.report(game, state, "average").evaluate(1)
        looking += time.process_time() - began
        rows.append((state.iteration, spent, found.nash_conv / uniform))
        due = max(due + 1, int(STEP * due))
    return {"rows": rows, "evaluation": looking / len(rows), "checks": int(getattr(state, "checks", 0))}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=Path, required=True)
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--seconds", type=float, default=10.0)
    parser.add_argument("--only", nargs="*", help="parts of games' names")
    parser.add_argument("--algorithms", nargs="*", default=list(ALGORITHMS))
    parser.add_argument("--out", type=Path, required=True)
    given = parser.parse_args()
    names = [name for name in (*CATALOG, *OPENSPIEL) if name not in UNTOUCHED]
    names = [name for name in names if given.only is None or any(part in name for part in given.only)]
    for variable in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "NUMBA_NUM_THREADS"):
        os.environ[variable] = "1"
    found: dict[str, Any] = {}
    if given.out.exists():
        found = json.loads(gzip.decompress(given.out.read_bytes()))
    context = multiprocessing.get_context("spawn")
    with TemporaryDirectory() as scratch, ProcessPoolExecutor(given.processes, mp_context=context) as pool:
        kept = unpacked(given.games, Path(scratch))
        flying = {
            pool.submit(followed, kept.get(name, name), algorithm, given.seconds): f"{name} | {algorithm}"
            for name in names
            for algorithm in given.algorithms
            if f"{name} | {algorithm}" not in found
        }
        for future in as_completed(flying):
            try:
                found[flying[future]] = future.result()
            except Exception as error:
                print(flying[future], repr(error), flush=True)
            given.out.write_bytes(gzip.compress(json.dumps(found).encode()))
    print(f"{len(found)} trajectories")


if __name__ == "__main__":
    main()
