"""One iteration launch by launch, for NVIDIA's profiler: where does the time of each kernel go?

    ncu --profile-from-start off --clock-control none --csv --page raw --metrics $(python benchmarks/gpu/profiled.py) \\
        python benchmarks/gpu/profiled.py F1 > profile.csv
    python benchmarks/gpu/profiled.py --read profile.csv

Without arguments it prints the metrics that the last line makes a table of. What is profiled is a spot of
tests/holdem/spots.json or of ``holdem.py``, or the name of a game.
"""

from __future__ import annotations

import csv
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

METRICS = {
    "gpu__time_duration.sum": "us",
    "launch__grid_size": "blocks",
    "launch__block_size": "threads",
    "launch__registers_per_thread": "registers",
    "launch__shared_mem_per_block_dynamic": "shared",
    "sm__warps_active.avg.pct_of_peak_sustained_active": "warps %",
    "smsp__issue_active.avg.pct_of_peak_sustained_active": "issue %",
    "dram__throughput.avg.pct_of_peak_sustained_elapsed": "DRAM %",
    "dram__bytes.sum": "DRAM bytes",
    "lts__throughput.avg.pct_of_peak_sustained_elapsed": "L2 %",
    "l1tex__throughput.avg.pct_of_peak_sustained_active": "L1 %",
    "l1tex__t_sector_hit_rate.pct": "L1 hits %",
    "lts__t_sector_hit_rate.pct": "L2 hits %",
    "smsp__inst_executed.sum": "instructions",
    "smsp__inst_executed_op_local_ld.sum": "local loads",
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio": "waits for memory",
    "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio": "for shared",
    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio": "at barriers",
    "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio": "LSU full",
}


def main() -> None:
    if len(sys.argv) == 1:
        print(",".join(METRICS))
    elif sys.argv[1] == "--read":
        read(sys.argv[2])
    elif sys.argv[1][0].isupper() or sys.argv[1] in ("large", "gtopen", "huge"):
        spot(sys.argv[1], *sys.argv[2:])
    else:
        game(sys.argv[1])


def spot(name: str, *tuning: str) -> None:
    from holdem import Solve, spot_named
    from treeplex.engines.boards.cuda.tables import Tuning
    from treeplex.kernels.cuda.kernels import cuda

    chosen = Tuning()._replace(**{key: int(value) for key, value in (each.split("=") for each in tuning)})
    solve = Solve(spot_named(name, "tests/holdem/spots.json"), "float32", chosen)
    solve.iterate(10)
    cuda.profile_start()
    solve.gpu._iteration(solve.learners, solve.solver.rule)
    solve.gpu.stream.wait()
    cuda.profile_stop()


def game(name: str) -> None:
    from check import Timer, loaded

    from treeplex.kernels.cuda.kernels import cuda

    timer = Timer(loaded(name), "float64")
    timer.run(10)
    cuda.profile_start()
    timer.engine._launch(1)
    timer.engine.stream.wait()
    cuda.profile_stop()


def read(file: str) -> None:
    lines = Path(file).read_text().splitlines()
    begin = next(i for i, line in enumerate(lines) if line.startswith('"ID"'))
    rows = list(csv.DictReader(lines[begin:]))
    units, rows = rows[0], rows[1:]
    print(" | ".join(["kernel", *METRICS.values()]))
    for row in rows:
        cells = []
        for name in METRICS:
            text, unit = row.get(name, ""), units.get(name, "")
            number = float(text.replace(",", "")) if text not in ("", "n/a") else float("nan")
            factor = {"ns": 1e-3, "ms": 1e3, "Kbyte": 1e3, "Mbyte": 1e6, "Gbyte": 1e9}.get(unit.split("/")[0], 1.0)
            cells.append(f"{number * factor:,.1f}")
        kernel = row["Kernel Name"].split("[")[0].rpartition("::")[2][:24]
        print(" | ".join([kernel, *cells]))


if __name__ == "__main__":
    main()
