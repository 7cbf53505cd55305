"""Plots of runs: labels that can be read whatever the range."""

from __future__ import annotations

from itertools import pairwise

import pyarrow as pa
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from treeplex.plots.plot import plot_convergence


@pytest.mark.parametrize("last", [1.001, 1.3, 14.0, 1e8])
def test_labels_do_not_overlap(last) -> None:
    x = [1.0, last]
    log = pa.table({"iteration": x, "nodes_touched": x, "seconds": x, "nash_conv": [1.0, 0.5]})
    figure = plot_convergence({"cfr": log}, "kuhn")
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    renderer = canvas.get_renderer()
    for axes in figure.axes:
        ticks = [*axes.xaxis.get_major_ticks(), *axes.xaxis.get_minor_ticks()]
        low, high = axes.get_xlim()
        shown = [tick.label1 for tick in ticks if tick.label1.get_text() and low <= tick.get_loc() <= high]
        boxes = sorted((label.get_window_extent(renderer) for label in shown), key=lambda box: box.x0)
        assert shown
        assert all(left.x1 < right.x0 for left, right in pairwise(boxes))
