"""Plot the loss of each size alone, and how often it is bet."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from treeplex.plots.plot import drawing
from treeplex.poker.sizes.answer import Sizes, SpotSizes

CHOSEN, OTHER = "#c0392b", "#7f8c8d"


def plot_sizes(answer: Sizes, path: str | Path | None = None) -> Any:
    """Plot, by spot, the loss with one size and how often each is bet; and the loss by number of sizes."""
    shown = answer.spots[:4]
    low, high = answer.loss_percent_of_pot
    title = f"{answer.player.upper()} keeps {answer.menus_text}: loses {low:.3f} to {high:.3f} % of the pot"
    columns = 3 if answer.by_count else 2
    with drawing(path, (5.2 * columns, 0.6 + 3.4 * len(shown)), title, len(shown), columns) as panels:
        for k, spot in enumerate(shown):
            _alone(panels[columns * k], spot)
            _used(panels[columns * k + 1], spot)
            if columns == 3:
                _by_count(panels[columns * k + 2], answer, last=k == 0)
    return panels[0].figure


def _by_count(axes: Any, answer: Sizes, *, last: bool) -> None:
    if not last:
        axes.axis("off")
        return
    for each in answer.by_count:
        low, high = each.loss_percent_of_pot
        colour = CHOSEN if each.menu == answer.menu else OTHER
        axes.plot([each.keep, each.keep], [low, high], color=colour, linewidth=5, solid_capstyle="butt")
        axes.annotate(
            ", ".join(each.menu), (each.keep, high), (0, 4), textcoords="offset points", ha="center", fontsize=8
        )
    counts = [each.keep for each in answer.by_count]
    axes.set_xticks(counts)
    axes.set(xlabel="sizes", ylabel="% of pot", ylim=(0, None), xlim=(min(counts) - 0.6, max(counts) + 0.6))
    axes.set_title("loss of the best menu by number of sizes", fontsize=10)


def _alone(axes: Any, spot: SpotSizes) -> None:
    positions = np.arange(len(spot.sizes))
    for x, row in zip(positions, spot.sizes, strict=True):
        if row.loss_if_only is None:
            continue
        least, most = row.loss_if_only
        low, high = 100.0 * least / spot.pot, None if most is None else 100.0 * most / spot.pot
        colour = CHOSEN if row.kept else OTHER
        if high is None:
            axes.annotate("", (x, low + 0.15), (x, low), arrowprops={"arrowstyle": "->", "color": colour})
        axes.plot([x, x], [low, low if high is None else high], color=colour, linewidth=5, solid_capstyle="butt")
        axes.plot(x, low, marker="_", color=colour, markersize=12)
    axes.set_xticks(positions, [row.size for row in spot.sizes])
    axes.set(ylabel="% of pot", ylim=(0, None))
    axes.set_title(f"{spot.spot}: lost if this is the only size (arrow: or more)", fontsize=10, parse_math=False)


def _used(axes: Any, spot: SpotSizes) -> None:
    shares = [100.0 * (row.frequency or 0.0) for row in spot.sizes]
    axes.bar([row.size for row in spot.sizes], shares, color=[CHOSEN if row.kept else OTHER for row in spot.sizes])
    if all(row.frequency is None for row in spot.sizes):
        axes.text(0.5, 0.5, "depends on the line", transform=axes.transAxes, ha="center")
    axes.set(ylabel="% of hands")
    axes.set_axisbelow(True)
    axes.set_title("frequency if all sizes are allowed", fontsize=10)
