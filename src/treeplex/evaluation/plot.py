"""Plots of runs: NashConv against iterations, nodes touched and seconds; and how an abstraction grew."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

from treeplex.arrow import Table, numbers

AXES = {"iteration": "iterations", "nodes_touched": "nodes touched", "seconds": "seconds"}


def plot_convergence(logs: Mapping[str, Table], title: str, path: str | Path) -> None:
    """One line per log, three panels, both axes logarithmic, as a PNG."""
    figure = _figure(13, 4.2)
    panels = figure.subplots(1, len(AXES), sharey=True)
    for axes, (column, label) in zip(panels, AXES.items(), strict=True):
        for name, log in logs.items():
            nash_conv = numbers(log, "nash_conv")
            x = np.maximum(numbers(log, column), 1e-6)
            shown = nash_conv > 0.0  # an exact zero has no place on a logarithmic axis
            style = {"marker": "."} if shown.sum() < 30 else {}
            axes.plot(x[shown], nash_conv[shown], label=name.replace("$", r"\$"), linewidth=1.6, **style)
        axes.set_xlabel(label)
    panels[0].set_ylabel("NashConv")
    if len(logs) > 1:
        panels[-1].legend(frameon=False)
    _save(figure, title, path)


def plot_growth(logs: Mapping[str, Table], title: str, path: Path) -> None:
    """NashConv and the size of the abstraction against nodes touched, one line per log, all axes logarithmic."""
    figure = _figure(8, 7)
    upper, lower = figure.subplots(2, 1, sharex=True, height_ratios=(3, 2))
    for number, (name, log) in enumerate(logs.items()):
        nodes, histories = numbers(log, "nodes_touched"), numbers(log, "histories") + numbers(log, "archived")
        style = {"linewidth": 1.6, "color": f"C{number}", "linestyle": "--" if name.startswith("Branch") else "-"}
        upper.plot(nodes, numbers(log, "nash_conv"), label=name, **style)
        lower.plot(nodes, histories, label=name, **style)
    upper.set_ylabel("NashConv in the full game, chips per hand")
    lower.set_ylabel("histories of the abstraction")
    lower.set_xlabel("nodes touched")
    upper.legend(frameon=False)
    _save(figure, title, path)


def _figure(width: float, height: float) -> Any:
    from matplotlib.figure import Figure  # noqa: PLC0415 - a quarter of a second that only plots need

    return Figure(figsize=(width, height), layout="constrained")


def _save(figure: Any, title: str, path: str | Path) -> None:
    for axes in figure.axes:
        if any(len(line.get_xdata()) for line in axes.lines):
            axes.set_xscale("log")
            axes.set_yscale("log")
        axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
    figure.suptitle(title, parse_math=False)
    figure.savefig(path, dpi=130, format="png")
