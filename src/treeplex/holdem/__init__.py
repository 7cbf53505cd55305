"""Texas hold'em subgames: spots, ranges, bet sizes, public tree times hands, solving and reading the answer."""

from treeplex.holdem.game import HoldemGame, load_spot
from treeplex.holdem.locks import Lock
from treeplex.holdem.reading import Reader, View
from treeplex.holdem.solving import HoldemSolution, open_run, resume, solve
from treeplex.holdem.spot import Spot, make_spot, read_spot, sizes_for

__all__ = [
    "HoldemGame",
    "HoldemSolution",
    "Lock",
    "Reader",
    "Spot",
    "View",
    "load_spot",
    "make_spot",
    "open_run",
    "read_spot",
    "resume",
    "sizes_for",
    "solve",
]
