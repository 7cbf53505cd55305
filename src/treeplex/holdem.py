"""Texas hold'em for poker players: spots, ranges, bet sizes, solving and browsing."""

from treeplex.engines.boards.game import HoldemGame, load_spot
from treeplex.games.holdem.formats.imported import Exported, Imported
from treeplex.games.holdem.formats.registry import export_spot
from treeplex.games.holdem.locks import Lock
from treeplex.games.holdem.ranges import format_range, parse_range
from treeplex.games.holdem.reading import import_spot, read_spot
from treeplex.games.holdem.spot import Spot, make_spot, sizes_for
from treeplex.plots.grid import plot_grid
from treeplex.poker.browse import OpenedSpot, open_spot
from treeplex.poker.report import Report, report
from treeplex.poker.sizing import sizes
from treeplex.poker.solving import open_run, solve
from treeplex.poker.views.node import Row
from treeplex.poker.views.reader import Reader
from treeplex.poker.views.view import View

__all__ = [
    "Exported",
    "HoldemGame",
    "Imported",
    "Lock",
    "OpenedSpot",
    "Reader",
    "Report",
    "Row",
    "Spot",
    "View",
    "export_spot",
    "format_range",
    "import_spot",
    "load_spot",
    "make_spot",
    "open_run",
    "open_spot",
    "parse_range",
    "plot_grid",
    "read_spot",
    "report",
    "sizes",
    "sizes_for",
    "solve",
]
