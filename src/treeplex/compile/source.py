"""Compilation of anything that stands for a game: a name, a file, a matrix, an OpenSpiel game, or your own rules."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any, Final, cast

import numpy as np

from treeplex.compile.build import compile_game
from treeplex.compile.game import CompiledGame
from treeplex.compile.storage import load as load_compiled
from treeplex.errors import ParameterError, quoted
from treeplex.files import is_file
from treeplex.games.catalog import known_value, make
from treeplex.games.dealt import DealtGame, DealtRules
from treeplex.games.dealt_checks import check_dealt
from treeplex.games.matrix import MatrixGame
from treeplex.games.openspiel import PREFIX, OpenSpielGame
from treeplex.games.protocol import Game

METHODS: Final = tuple(sorted(name for name in vars(Game) if not name.startswith("_")))


def compiled(source: object, report: Callable[[int], None] | None = None) -> CompiledGame:
    """Return the compiled game, compiling it if necessary; ``report`` as in ``compile_game``."""
    if isinstance(source, CompiledGame):
        return source
    text = str(source) if isinstance(source, str | Path) else None
    if text is not None and text.lower().endswith(".safetensors"):
        if not is_file(text):
            raise ParameterError(f"There is no file {quoted(Path(text))}.")
        return load_compiled(text)
    rules = rules_of(source)
    game = compile_game(rules, report)
    if text is None or text.lower().endswith(".efg"):
        return game
    if text.startswith(PREFIX):
        return replace(game, source=text)
    return replace(game, source=text, known_value=known_value(game.name))


def rules_of(source: object) -> Game:
    """Return the rules for a name, a file, a matrix or a pyspiel game, or the object itself if it is a game."""
    if isinstance(source, str | Path):
        return make(str(source))
    if isinstance(source, list | tuple | np.ndarray) and not isinstance(source, Game | DealtRules):
        return MatrixGame(cast(Any, source))
    if type(source).__module__.partition(".")[0] == "pyspiel":
        return OpenSpielGame(source)
    if isinstance(source, DealtRules):
        source = DealtGame(source)
    if isinstance(source, DealtGame):
        check_dealt(source.rules)
    if isinstance(source, type) or not isinstance(source, Game):
        needs = ", ".join(name for name in METHODS if not hasattr(source, name))
        lack = f"lacks {needs}" if needs else "is a class: make an object of it first"
        raise ParameterError(f"A game must be a name, a file, or have all methods of Game; {quoted(source)} {lack}.")
    return source
