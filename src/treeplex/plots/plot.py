"""Plots of runs: NashConv against iterations, nodes touched and seconds."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
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
    """Provide panels to draw into, row by row, and save the figure as a PNG if ``path`` is not None.

    ``grid`` and ``shared`` are arguments of ``subplots``.
    """
    from treeplex.plots.picture import Picture  # noqa: PLC0415 - a quarter of a second that only plots need

    figure: Any = Picture(figsize=size, layout="constrained")
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
    """Label powers of ten on a logarithmic axis, and 2 and 5 times them if it is shorter than two decades."""
    from matplotlib.ticker import LogFormatterSciNotation, LogLocator, MaxNLocator, NullFormatter  # noqa: PLC0415 - as above

    if type(axis.get_major_locator()) is not LogLocator:
        return
    axis.set_minor_formatter(NullFormatter())
    low, high = axis.get_view_interval()
    if high < 100 * low:
        axis.set_major_locator(LogLocator(subs=(1.0, 2.0, 5.0)) if high > 5 * low else MaxNLocator(3))
        axis.set_major_formatter(LogFormatterSciNotation(labelOnlyBase=False, minor_thresholds=(np.inf, np.inf)))


def plot_convergence(
    logs: Mapping[str, Table], title: str, path: str | Path | None = None, against: Sequence[str] = tuple(AXES)
) -> Any:
    """Plot one line per log with logarithmic axes, write a PNG if ``path`` is not None, and return the figure.

    ``against``: columns of the log, one panel each. Default: all three of ``AXES``.
    """
    size = (1.0 + 4.0 * len(against), 4.2) if len(against) > 1 else (7.0, 3.8)
    with drawing(path, size, title, 1, len(against), sharey=True) as panels:
        for axes, column in zip(panels, against, strict=True):
            for name, log in logs.items():
                nash_conv = numbers(log, "nash_conv")
                x = np.maximum(numbers(log, column), 1e-6)
                shown = nash_conv > 0.0  # an exact zero cannot be shown on a logarithmic axis
                style = {"marker": "."} if shown.sum() < 30 else {}
                axes.plot(x[shown], nash_conv[shown], label=name.replace("$", r"\$"), linewidth=1.6, **style)
            axes.set_xlabel(AXES[column])
            if axes.lines and any(len(line.get_xdata()) for line in axes.lines):
                axes.set(xscale="log", yscale="log")
        panels[0].set_ylabel("NashConv")
        if len(logs) > 1:
            panels[-1].legend(frameon=False)
    return panels[0].figure


SHOWN = 10  # number of algorithms with a colour and a name


def plot_bands(
    logs: Mapping[str, Sequence[Table]], title: str, path: str | Path | None = None, targets: Sequence[float] = ()
) -> Any:
    """Plot the convergence of many algorithms, the best first, each with one log or with logs of several seeds.

    The first ``SHOWN`` have a colour, the others are grey. Several seeds become the median and a band of the quartiles.
    """
    with drawing(path, (15, 5.2), title, 1, len(AXES), sharey=True) as panels:
        for axes, (column, label) in zip(panels, AXES.items(), strict=True):
            for rank, (name, own) in reversed(list(enumerate(logs.items()))):
                x, low, middle, high = _quartiles(own, column)
                colour = f"C{rank}" if rank < SHOWN else "#cccccc"
                style = {"color": colour, "linewidth": 1.6 if rank < SHOWN else 0.8}
                style |= {"marker": "."} if len(x) < 2 else {}
                named = {"label": name.replace("$", r"\$")} if rank < SHOWN else {}
                axes.plot(x, middle, **style, **named)
                if len(own) > 1 and rank < SHOWN:
                    axes.fill_between(x, low, high, color=colour, alpha=0.2, linewidth=0)
            for target in targets:
                axes.axhline(target, color="#999999", linewidth=0.8, linestyle=":")
            axes.set_xlabel(label)
            if any(len(line.get_xdata()) for line in axes.lines):
                axes.set(xscale="log", yscale="log")
        panels[0].set_ylabel("NashConv")
        handles, names = panels[-1].get_legend_handles_labels()
        if names:
            panels[-1].legend(handles[::-1], names[::-1], frameon=False, fontsize="small")
    return panels[0].figure


def _quartiles(logs: Sequence[Table], column: str) -> tuple[Any, Any, Any, Any]:
    """Measured positions up to the end of the shortest run, and quartiles and median of the last measurements there."""
    curves: list[tuple[Any, Any]] = []
    for log in logs:
        nash_conv, x = numbers(log, "nash_conv"), np.maximum(numbers(log, column), 1e-6)
        shown = nash_conv > 0.0
        curves.append((x[shown], nash_conv[shown]))
    curves = [curve for curve in curves if len(curve[0])]
    if not curves:
        return np.empty(0), np.empty(0), np.empty(0), np.empty(0)
    begin, end = max(x[0] for x, _ in curves), min(x[-1] for x, _ in curves)
    positions = np.unique(np.concatenate([x for x, _ in curves]))
    positions = positions[(positions >= begin) & (positions <= end)] if begin <= end else np.array([begin])
    known = np.array([y[np.maximum(np.searchsorted(x, positions, side="right") - 1, 0)] for x, y in curves])
    return positions, *np.quantile(known, (0.25, 0.5, 0.75), axis=0)
