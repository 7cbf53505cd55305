"""Choice of the compiler: array operations where the rules allow them, otherwise a walk of all histories."""

from __future__ import annotations

from collections.abc import Callable

from treeplex.compile.dealt import compile_dealt
from treeplex.compile.folded import compile_folded
from treeplex.compile.game import CompiledGame
from treeplex.compile.walk import compile_walk
from treeplex.errors import GameError
from treeplex.games.dealt import DealtGame
from treeplex.games.protocol import Game
from treeplex.games.suits import FoldedGame


def compile_game(game: Game, report: Callable[[int], None] | None = None) -> CompiledGame:
    """Compile the rules of a game into arrays; raise GameError if the game cannot be solved.

    ``report`` is called from time to time with the number of histories visited, if they are visited one by one.
    """
    players = getattr(game, "players", 2)
    if players != 2:
        raise GameError(f"{getattr(game, 'name', 'The game')} has {players} players; treeplex solves games of two.")
    if isinstance(game, FoldedGame):
        return compile_folded(game)
    if isinstance(game, DealtGame):
        return compile_dealt(game.rules)
    return compile_walk(game, report)
