"""Load games by name, file or object."""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from treeplex.compile.game import CompiledGame
from treeplex.compile.source import compiled
from treeplex.errors import ParameterError, quoted
from treeplex.games.catalog import make
from treeplex.games.dealt import DealtGame
from treeplex.games.holdem.locks import Lock
from treeplex.games.holdem.reading import read_spot
from treeplex.games.holdem.spot import Spot, make_spot
from treeplex.games.protocol import Game
from treeplex.games.sized import Abstraction

if TYPE_CHECKING:
    from treeplex.engines.boards.game import HoldemGame

SPOT_FILES: Final = (".json", ".toml", ".txt")

Source = str | Path | Game | CompiledGame
"""Types that ``load`` accepts: a name, a path, rules, or a compiled game. It also accepts pyspiel games."""


def load(source: Source | Any, report: Callable[[int], None] | None = None) -> Any:
    """Compile a game and check it.

    Args:
        source: ``"name(parameter=value)"``, a path that ends in .efg or .safetensors (``game.save`` writes both),
            ``"openspiel:NAME"``, a pyspiel game, a matrix (an array or a list of rows), or rules of your own. A hold'em
            spot (a ``Spot``, its fields, or a .json or .toml file) becomes the subgame that begins with it.
        report: Called with the number of histories visited, every 65,536 of them, if they are visited one by one.

    >>> load("kuhn").summary()["infosets"]
    [6, 6]
    """
    if loaded_spot(source) is not None:
        return source
    spot = spot_of(source)
    return load_game(source, report) if spot is None else spot_game(spot)


def load_game(source: Any, report: Callable[[int], None] | None = None) -> CompiledGame:
    """Compile any game that is not a hold'em spot."""
    if spot_of(source) is not None:
        raise ParameterError(
            "A hold'em spot is not compiled into infosets; use treeplex holdem show to see its solution."
        )
    return compiled(source, report)


def sized_game(game: str | Abstraction | DealtGame) -> Abstraction:
    """Return the game of that name; raise unless its actions have sizes."""
    rules = make(game) if isinstance(game, str) else game
    if isinstance(rules, DealtGame):
        rules = rules.rules
    if not isinstance(rules, Abstraction):
        raise ParameterError(
            "Only a game with bet sizes, such as continuous_leduc, can grow without the 'actions' parameter, which has"
            f" the actions to start with; got {quoted(game)}."
        )
    return rules


def spot_of(source: Any) -> Spot | None:
    """Return the hold'em spot of a file, a dictionary of fields, a ``Spot`` or a loaded spot; else None."""
    if isinstance(source, Spot):
        return source
    if isinstance(source, Mapping):
        return make_spot(cast(Mapping[str, Any], source))
    if isinstance(source, str | Path) and str(source).partition("#")[0].lower().endswith(SPOT_FILES):
        return read_spot(source)
    return loaded_spot(source)


def loaded_spot(source: Any) -> Spot | None:
    """Return the spot of a ``HoldemGame``; None for anything else, even for a user's rules with a ``spot``."""
    module = sys.modules.get("treeplex.engines.boards.game")  # slow to import, and no such game exists before
    return source.spot if module is not None and isinstance(source, module.HoldemGame) else None


def spot_game(spot: Spot, locks: Sequence[Lock] = ()) -> HoldemGame:
    """Load the subgame that begins with a spot."""
    from treeplex.engines.boards.game import load_spot  # noqa: PLC0415 - its kernels take time to load

    return load_spot(spot, locks=tuple(locks))
