"""A plot of growing runs: NashConv and the size of the abstraction, against nodes touched."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol


class Point(Protocol):
    """What is drawn of a row of a log."""

    @property
    def nodes_touched(self) -> int:
        """The horizontal axis."""
        ...

    @property
    def nash_conv(self) -> float:
        """The upper panel."""
        ...

    @property
    def extra(self) -> Mapping[str, float]:
        """With "histories" and "archived": their sum is the lower panel."""
        ...


def plot_runs(runs: Mapping[str, Sequence[Point]], title: str, path: Path) -> None:
    """Several runs, one line each; all axes logarithmic."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - a quarter of a second that only plots need

    figure: Any = Figure(figsize=(8, 7), layout="constrained")
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for number, (name, rows) in enumerate(runs.items()):
        nodes = [row.nodes_touched for row in rows]
        style = {"linewidth": 1.6, "color": f"C{number}", "linestyle": "--" if name.startswith("Branch") else "-"}
        upper.plot(nodes, [row.nash_conv for row in rows], label=name, **style)
        lower.plot(nodes, [row.extra["histories"] + row.extra["archived"] for row in rows], label=name, **style)
    upper.set_ylabel("NashConv in the full game, chips per hand")
    lower.set_ylabel("histories of the abstraction")
    lower.set_xlabel("nodes touched")
    for axes in (upper, lower):
        axes.set_xscale("log")
        axes.set_yscale("log")
        axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
    upper.legend(frameon=False)
    figure.suptitle(title, parse_math=False)
    figure.savefig(path, dpi=130, format="png")
