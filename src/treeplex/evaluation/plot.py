"""Pictures of a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.figure import Figure

from treeplex.arrow import Table, numbers


def plot_convergence(log: Table, title: str, path: str | Path) -> None:
    """NashConv against iterations and against seconds, both axes logarithmic, as a PNG."""
    nash_conv = numbers(log, "nash_conv")
    figure: Any = Figure(figsize=(9, 4), layout="constrained")
    left, right = figure.subplots(1, 2, sharey=True)
    shown = nash_conv > 0.0  # an exact zero has no place on a logarithmic axis
    for axes, column, label in ((left, "iteration", "iterations"), (right, "seconds", "seconds")):
        x = np.maximum(numbers(log, column), 1e-6)
        axes.plot(x[shown], nash_conv[shown], marker="." if shown.sum() < 100 else "", color="#1f5fa8")
        axes.set_xlabel(label)
        axes.grid(visible=True, which="major", color="#dddddd", linewidth=0.8)
        axes.spines[["top", "right"]].set_visible(False)
        if shown.any():
            axes.set_xscale("log")
            axes.set_yscale("log")
    left.set_ylabel("NashConv of the average strategies")
    figure.suptitle(title)
    figure.savefig(path, dpi=130, format="png")
