"""What share of a run's seconds goes into evaluation after its first 50 iterations, for every kind of run.

    .venv/bin/python benchmarks/evaluation_share.py

Kernels are compiled by a short run first. The last row of the log, which every run has, is counted. Runs to a target,
most of which take some hundredths of a second, are repeated, and the median is printed.
"""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import treeplex as tp

FREE = 50
SPOT = Path(__file__).parents[1] / "tests" / "holdem" / "spots.json"

RUNS: dict[str, tuple[Callable[..., Any], str, dict[str, Any]]] = {
    **{f"{name}, {game}": (tp.solve, game, {"algorithm": name, "nash_conv": target})
       for game, target in (("kuhn", 1e-4), ("leduc", 1e-3), ("liars_dice", 1e-3))
       for name in ("cfr+", "dcfr", "pdcfr+")},
    "cfr+, leduc, best iterate": (tp.solve, "leduc", {"algorithm": "cfr+", "nash_conv": 1e-3, "iterate": "best"}),
    **{f"{name}, leduc": (tp.solve, "leduc", {"algorithm": name, "seconds": 2.0})
       for name in ("cfr", "hedge", "cfr-br", "fp", "egt", "mirror-prox", "cfr+-partial", "cfr+-rbp", "hedge-dt-rbp",
                    "mccfr-external", "mccfr-outcome", "mccfr-chance", "pure-cfr", "pure-mccfr", "warm-start")},
    "cfr+, leduc5, two threads": (tp.solve, "leduc5", {"algorithm": "cfr+", "seconds": 3.0, "threads": 2}),
    "grow, continuous_leduc": (tp.grow, "continuous_leduc", {"seconds": 3.0}),
    **{f"hold'em {spot}, {storage}": (tp.solve, f"{SPOT}#{spot}", {"exploitability": target, "storage": storage})
       for spot in ("R", "TB") for storage, target in (("float32", "0.05%pot"), ("int16", "0.2%pot"))},
}  # fmt: skip


def share(solution: Any) -> tuple[float, int, int, str]:
    """Evaluation / seconds after ``FREE`` iterations, rows, iterations, status."""
    log = solution.log.to_pydict()
    early = sum(iteration <= FREE for iteration in log["iteration"])
    at = max(early - 1, 0)
    evaluated, all_ = (log[name][-1] - log[name][at] for name in ("evaluation_seconds", "seconds"))
    return evaluated / max(all_, 1e-9), len(log["iteration"]), solution.iterations, solution.status


def main() -> None:
    worst = 0.0
    only = sys.argv[1] if len(sys.argv) > 1 else ""
    print(f"{'':40} {'share':>7} {'rows':>5} {'iterations':>11}  status")
    for label, (run, game, options) in RUNS.items():
        if only not in label:
            continue
        fixed = {name: option for name, option in options.items() if name in ("algorithm", "storage", "threads")}
        run(game, iterations=60, **fixed)
        runs = [share(run(game, **options))]
        runs += [share(run(game, **options)) for _ in range(8 if "seconds" not in options else 0)]
        found, rows, iterations, status = sorted(runs)[len(runs) // 2]
        worst = max(worst, found)
        print(f"{label:40} {found:7.1%} {rows:5d} {iterations:11,}  {status}", flush=True)
    print(f"largest share {worst:.1%}")


if __name__ == "__main__":
    main()
