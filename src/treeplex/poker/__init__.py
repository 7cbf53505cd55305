"""Texas hold'em subgames: spots, ranges, bet sizes, public tree times hands, solving and reading the answer."""

from treeplex.engines.boards.game import HoldemGame, load_spot
from treeplex.engines.boards.locks import Lock
from treeplex.games.holdem.spot import Spot, make_spot, read_spot, sizes_for
from treeplex.poker.reading import Reader, View
from treeplex.poker.solving import HoldemSolution, open_run, resume, solve

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
