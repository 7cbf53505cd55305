"""Write the results of a run as Markdown and as the README's picture.

``.venv/bin/python benchmarks/rivals/report.py`` writes RESULTS.md and docs/images/rivals.png again from results.json,
without a new run. ``tools/figures.py`` writes the part of README.md.
"""

from __future__ import annotations

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from matplotlib.figure import Figure

Results = dict[str, Any]

HERE = Path(__file__).resolve().parent

NAMES = {"cfr": "CFR", "cfr+": "CFR+"}


def markdown(results: Results) -> str:
    parts = (_setting(results), _iterations(results), _race(results), _process(results), _sameness(results))
    return "\n\n".join(parts) + "\n"


def _setting(results: Results) -> str:
    machine, versions, load = results["machine"], results["versions"], results["load_average"]
    listed = ", ".join(f"{name} {number}" for name, number in versions.items())
    return (
        "# treeplex, OpenSpiel and LiteEFG side by side\n\n"
        f"{results['date']}, {machine['cpu']}, {machine['cores']} cores, {machine['system']},"
        f" Python {machine['python']}. Versions: {listed}. One run of {results['seconds'] / 60:.1f} minutes, one thread"
        f" per side, the sides taking turns. The load average was {load[0]:.1f} at the start and {load[1]:.1f} at the"
        " end. `benchmarks/rivals/run.py` writes this page, and every round is in `results.json`."
    )


def _iterations(results: Results) -> str:
    rows = [
        (
            game["game"],
            f"{game['nodes']:,}",
            " + ".join(f"{count:,}" for count in game["infosets"]),
            NAMES[algorithm],
            *(_seconds(best[side]) for side in ("treeplex", "openspiel", "liteefg")),
            *(_times(best[side] / best["treeplex"]) for side in ("openspiel", "liteefg")),
        )
        for game in results["games"]
        for algorithm, best in game["seconds_per_iteration"].items()
    ]
    head = ("game", "nodes", "infosets", "algorithm", "treeplex", "OpenSpiel", "LiteEFG", "OpenSpiel ÷ treeplex")
    return (
        "## Time per iteration\n\nThe table shows processor time in the fastest stretch of 5 to 10 ms, or in the"
        f" fastest iteration if that is longer. Each side runs {results['rounds']} rounds of {results['sprint']} s,"
        " each from a fresh solver, and construction is not timed. One iteration updates every player once.\n\n"
        + _table((*head, "LiteEFG ÷ treeplex"), rows, left=(0, 3))
    )


def _race(results: Results) -> str:
    rows = []
    for goal in results["race"]:
        best = {side: goal[side]["seconds"] for side in ("treeplex", "openspiel", "liteefg")}
        rows.append(
            (
                f"{goal['nash_conv']:.0e}".replace("e-0", "e-"),
                *(f"{goal[side]['iterations']:,} in {_seconds(time)}" for side, time in best.items()),
                *(_times(best[side] / best["treeplex"]) for side in ("openspiel", "liteefg")),
            )
        )
    head = ("NashConv", "treeplex", "OpenSpiel", "LiteEFG", "OpenSpiel ÷ treeplex", "LiteEFG ÷ treeplex")
    return (
        "## CFR+ on leduc_poker to a target\n\nIterations, and processor time of iterating alone, best of"
        f" {results['races']} runs. NashConv is measured every ten iterations, by treeplex for its own policies and by"
        " OpenSpiel for the others'.\n\n" + _table(head, rows, left=(0,))
    )


def _process(results: Results) -> str:
    run = results["whole_process"]
    return (
        "## From nothing to NashConv 1e-4\n\n"
        f"`{run['command']}` takes {_seconds(run['seconds'])} of wall clock as a new process with kernels compiled"
        f" before (best of {len(run['rounds'])}): start Python, compile the game, {run['iterations']:,} iterations,"
        f" prove NashConv {run['nash_conv']:.2g}. {_seconds(run['solving'])} of that is solving, checkpoints included."
    )


def _sameness(results: Results) -> str:
    rows = [
        (
            game["game"],
            NAMES[algorithm],
            *(_gaps(checks, "treeplex", "openspiel")),
            *(_gaps(checks, "treeplex_as_liteefg", "liteefg")),
        )
        for game in results["games"]
        for algorithm, checks in game["nash_conv"].items()
    ]
    head = ("game", "algorithm", *(f"{side}, t={t}" for side in ("OpenSpiel", "LiteEFG") for t in (1, 2, 10)))
    return (
        "## The same games, the same iterates\n\n"
        "treeplex solves the very games OpenSpiel solves, without merging suits: nodes and infosets were counted on"
        " both sides and are equal. The table has the differences in NashConv after t iterations.\n\n"
        "- **OpenSpiel**, `CFRSolver` and `CFRPlusSolver` in C++: alternating updates, averages that include the"
        " uniform first strategy, weight t in CFR+. treeplex does the same.\n"
        "- **LiteEFG**, `baselines.CFR` and `baselines.CFRplus` with `update_strategy`, as in its training script: CFR"
        " updates both players at once, CFR+ alternately; a strategy enters the average after the update, so averages"
        " lack the uniform first strategy and include the newest. Its time per iteration is for that variant, and its"
        " iterations to a target are its own. For the table treeplex played the same variant.\n"
        "- **Goofspiel** with 5 cards is full of exact ties. Rounding decides them one way or the other from the third"
        " strategy on. Noise of 1e-15 in treeplex's own first regrets moves its NashConv at t=10 by about 0.1. Averages"
        " without the third strategy are equal (LiteEFG's at t=2 have it).\n\n" + _table(head, rows, left=(0, 1))
    )


def _gaps(checks: list[dict[str, float]], ours: str, theirs: str) -> list[str]:
    by_iteration = {row["iteration"]: abs(row[ours] - row[theirs]) for row in checks}
    return [f"{by_iteration[t]:.0e}".replace("0e+00", "0") if t in by_iteration else "–" for t in (1, 2, 10)]


def _seconds(seconds: float) -> str:
    size, unit = next(((size, unit) for size, unit in ((1.0, "s"), (1e-3, "ms")) if seconds >= size), (1e-6, "µs"))
    return f"{seconds / size:.3g} {unit}"


def _times(ratio: float) -> str:
    return f"{ratio:.1f}×" if ratio < 10 else f"{ratio:,.0f}×"


def _table(head: Iterable[str], rows: Iterable[Iterable[str]], left: tuple[int, ...]) -> str:
    head = list(head)
    rule = ["---" if column in left else "---:" for column in range(len(head))]
    return "\n".join("| " + " | ".join(row) + " |" for row in (head, rule, *rows))


def picture(results: Results, path: Path) -> None:
    """Draw the time per iteration of either rival over treeplex's, for CFR+ on every game."""
    games = [game for game in results["games"] if "cfr+" in game["seconds_per_iteration"]]
    figure = Figure(figsize=(8.0, 0.55 * len(games) + 1.2), layout="constrained")
    axes: Any = figure.add_subplot()
    rows = range(len(games))
    for offset, side, name in ((-0.2, "openspiel", "OpenSpiel (C++)"), (0.2, "liteefg", "LiteEFG")):
        best = [game["seconds_per_iteration"]["cfr+"] for game in games]
        ratios = [each[side] / each["treeplex"] for each in best]
        bars = axes.barh([row + offset for row in rows], ratios, height=0.36, label=name)
        axes.bar_label(bars, labels=[_times(ratio) for ratio in ratios], padding=3)
    axes.set_yticks(rows, [f"{game['game']} ({game['nodes']:,} nodes)" for game in games])
    axes.invert_yaxis()
    axes.set_xscale("log")
    axes.set_xlim(1.0, axes.get_xlim()[1] * 2.0)
    axes.set_xlabel("time of one CFR+ iteration, divided by treeplex's")
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside upper center", ncols=2, frameon=False)
    figure.savefig(path, dpi=120)


def readme(results: Results) -> str:
    """What the README says under its picture."""
    versions, machine = results["versions"], results["machine"]
    ratios = [game["seconds_per_iteration"]["cfr+"] for game in results["games"]]
    least, most = (
        [pick(each[side] / each["treeplex"] for each in ratios) for side in ("openspiel", "liteefg")]
        for pick in (min, max)
    )
    return (
        "![Time of one CFR+ iteration of OpenSpiel and LiteEFG, divided by treeplex's](docs/images/rivals.png)\n\n"
        f"Per CFR+ iteration OpenSpiel {versions['open_spiel']} takes {least[0]:,.0f} to {most[0]:,.0f} times as long"
        f" as treeplex {versions['treeplex']}, and LiteEFG {versions['LiteEFG']} takes {least[1]:,.0f} to"
        f" {most[1]:,.0f} times as long.\nAll three ran side by side, one thread each, on the"
        f" same games and iterates ({results['date']}, {machine['cores']} cores).\n"
        "[Table and conditions](benchmarks/rivals/RESULTS.md), made by `.venv/bin/python benchmarks/rivals/run.py`."
    )


def write(results: Results) -> None:
    """Write the table and the picture; ``tools/figures.py`` writes the README's part."""
    (HERE / "RESULTS.md").write_text(markdown(results))
    picture(results, HERE.parents[1] / "docs/images/rivals.png")


if __name__ == "__main__":
    write(json.loads((HERE / "results.json").read_text()))
