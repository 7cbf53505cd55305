"""What each size alone would lose, and how often it is bet, as a picture."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from treeplex.evaluation.plot import drawing
from treeplex.poker.sizes.answer import Sizes, SpotSizes

KEPT, OTHER = "#c0392b", "#7f8c8d"


def plot_sizes(found: Sizes, path: str | Path | None = None) -> Any:
    """For each spot: what is lost if a size is the only one, and how often it is bet among all; returns the figure."""
    shown = found.spots[:4]
    low, high = found.loss_percent_of_pot
    title = f"{found.player.upper()} keeps {', '.join(found.menu)}: loses {low:.3f} to {high:.3f} % of the pot"
    with drawing(path, (11, 0.6 + 3.4 * len(shown)), title, len(shown), 2) as panels:
        for k, spot in enumerate(shown):
            _alone(panels[2 * k], spot)
            _used(panels[2 * k + 1], spot)
    return panels[0].figure


def _alone(axes: Any, spot: SpotSizes) -> None:
    places = np.arange(len(spot.sizes))
    for place, row in zip(places, spot.sizes, strict=True):
        least, most = row.loss_if_only
        low, high = 100.0 * least / spot.pot, None if most is None else 100.0 * most / spot.pot
        colour = KEPT if row.kept else OTHER
        if high is None:
            axes.annotate("", (place, low + 0.15), (place, low), arrowprops={"arrowstyle": "->", "color": colour})
        axes.plot(
            [place, place], [low, low if high is None else high], color=colour, linewidth=5, solid_capstyle="butt"
        )
        axes.plot(place, low, marker="_", color=colour, markersize=12)
    axes.set_xticks(places, [row.size for row in spot.sizes])
    axes.set(ylabel="% of pot", ylim=(0, None))
    axes.set_title(f"{spot.spot}: lost if this is the only size (arrow: or more)", fontsize=10, parse_math=False)


def _used(axes: Any, spot: SpotSizes) -> None:
    shares = [100.0 * (row.frequency or 0.0) for row in spot.sizes]
    axes.bar([row.size for row in spot.sizes], shares, color=[KEPT if row.kept else OTHER for row in spot.sizes])
    axes.set(ylabel="% of hands")
    axes.set_title("bet this often with all sizes at hand", fontsize=10)
