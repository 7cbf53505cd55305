"""Plots of runs: NashConv against iterations, nodes touched and seconds."""

from __future__ import annotations

from collections.abc import Generator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from treeplex.arrow import Table, numbers
from treeplex.files import replacing

AXES = {"iteration": "iterations", "nodes_touched": "nodes touched", "seconds": "seconds"}


@contextmanager
def drawing(
    path: str | Path | None, size: tuple[float, float], title: str, *grid: int, **shared: Any
) -> Generator[Any]:
    """Panels to draw into, row by row, each with a grid and no box; saved as a PNG. Arguments as of ``subplots``."""
    from matplotlib.figure import Figure  # noqa: PLC0415 - a quarter of a second that only plots need

    figure: Any = Figure(figsize=size, layout="constrained")
    panels = figure.subplots(*grid, squeeze=False, **shared).flatten()
    for axes in panels:
        axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
    yield panels
    for axes in panels:
        _label_few(axes.xaxis)
        _label_few(axes.yaxis)
    if title:
        figure.suptitle(title, parse_math=False)
    if path is not None:
        with replacing(Path(path)) as temporary:
            figure.savefig(temporary, dpi=130, format="png")


def _label_few(axis: Any) -> None:
    """Powers of ten on a logarithmic axis, and 2 and 5 times them if it is shorter than two; more would overlap."""
    from matplotlib.ticker import LogFormatterSciNotation, LogLocator, MaxNLocator, NullFormatter  # noqa: PLC0415 - as above

    if type(axis.get_major_locator()) is not LogLocator:
        return
    axis.set_minor_formatter(NullFormatter())
    low, high = axis.get_view_interval()
    if high < 100 * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)) if high > 5 * low else MaxNLocator(3))
        axis.set_major_formatter(LogFormatterSciNotation(labelOnlyBase=False, minor_thresholds=(np.inf, np.inf)))


def plot_convergence(logs: Mapping[str, Table], title: str, path: str | Path | None = None) -> Any:
    """One line per log, three panels, both axes logarithmic, as a PNG if there is a path; returns the figure."""
    with drawing(path, (13, 4.2), title, 1, len(AXES), sharey=True) as panels:
        for axes, (column, label) in zip(panels, AXES.items(), strict=True):
            for name, log in logs.items():
                nash_conv = numbers(log, "nash_conv")
                x = np.maximum(numbers(log, column), 1e-6)
                shown = nash_conv > 0.0  # an exact zero has no place on a logarithmic axis
                style = {"marker": "."} if shown.sum() < 30 else {}
                axes.plot(x[shown], nash_conv[shown], label=name.replace("$", r"\$"), linewidth=1.6, **style)
            axes.set_xlabel(label)
            if axes.lines and any(len(line.get_xdata()) for line in axes.lines):
                axes.set(xscale="log", yscale="log")
        panels[0].set_ylabel("NashConv")
        if len(logs) > 1:
            panels[-1].legend(frameon=False)
    return panels[0].figure
