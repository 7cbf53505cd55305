"""Writes RESULTS.md from results.json (2 cores) and results-16.json (16 cores)."""

from __future__ import annotations

import json
from pathlib import Path

HERE = Path(__file__).parent

HEAD = """# treeplex and postflop-solver side by side

Written by `benchmarks/holdem/report.py` from `results.json` (1 and 2 threads: 2 cores of an AMD EPYC) and
`results-16.json` (16 threads: 16 cores of an Intel Xeon), which `benchmarks/holdem/run.py` measures: the same spots
(`tests/holdem/spots.json`), sides taking turns in one run. postflop-solver 0.1.0 was built for the processor it ran on.
Each side measures exploitability every ten iterations with its own best response, and its time counts. Machines were
quiet apart from the run itself (load average in the last column). Times are processor seconds, with wall clock in
brackets. They are the better of three runs of each side, and of one on F1.

| spot | threads | storage | % of pot | treeplex: iterations, time | postflop-solver | cpu ratio | wall ratio | load |
| --- | ---: | --- | ---: | --- | --- | ---: | ---: | ---: |
"""

MEMORY = """
Memory of regrets, averages and tables, as each side counts it:

| spot | storage | treeplex MB | postflop-solver MB |
| --- | --- | ---: | ---: |
"""


def page() -> str:
    """RESULTS.md, from the results and the notes."""
    runs = [
        row for name in ("results.json", "results-16.json") for row in json.loads((HERE / name).read_text())["runs"]
    ]
    order = {"R": 0, "TB": 1, "T": 2, "F1": 3}
    runs.sort(key=lambda row: (order[row["spot"]], row["threads"], row["storage"]))
    text, memory = HEAD, {}
    for row in runs:
        us, them = row["sides"]["treeplex"], row["sides"]["postflop-solver"]
        memory[row["spot"], row["storage"]] = (us["bytes"], them and them["bytes"])
        for target, mine in us["targets"].items():
            other = them["targets"].get(target) if them else None
            cells = [row["spot"], str(row["threads"]), row["storage"], target, told(mine), told(other) if other else ""]
            cells += [f"{other[key] / mine[key]:.2f}" if other else "" for key in ("cpu", "seconds")]
            text += "| " + " | ".join([*cells, f"{row['load']:.1f}"]) + " |\n"
    text += MEMORY
    for (spot, storage), (us, them) in memory.items():
        text += f"| {spot} | {storage} | {us / 1e6:.2f} | {f'{them / 1e6:.2f}' if them else ''} |\n"
    notes = HERE / "notes.md"
    return text + ("\n" + notes.read_text() if notes.exists() else "")


def main() -> None:
    (HERE / "RESULTS.md").write_text(page())


def told(numbers: dict) -> str:
    return f"{numbers['iterations']} in {numbers['cpu']:.3g} ({numbers['seconds']:.3g})"


if __name__ == "__main__":
    main()
