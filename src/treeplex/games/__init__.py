"""Rules of games in small, readable Python. Write your own against ``Game``; the catalog has the built-in ones."""

from treeplex.games.catalog import CATALOG, make
from treeplex.games.protocol import CHANCE, TERMINAL, Game

__all__ = ["CATALOG", "CHANCE", "TERMINAL", "Game", "make"]
