"""Rules only: small, readable Python. Write your own against ``Game``; find the built-in ones in the catalog."""

from treeplex.games.catalog import CATALOG, make
from treeplex.games.protocol import CHANCE, TERMINAL, Game

__all__ = ["CATALOG", "CHANCE", "TERMINAL", "Game", "make"]
