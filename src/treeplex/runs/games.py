"""Games by name, file or object, of every kind a run may be about; and the algorithm that solves each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, cast

from treeplex.algorithms.protocol import Algorithm
from treeplex.algorithms.registry import ALGORITHMS, build
from treeplex.compile.build import compile_game
from treeplex.compile.game import CompiledGame
from treeplex.compile.storage import load as load_compiled
from treeplex.errors import ParameterError
from treeplex.games.catalog import CATALOG, known_value, make
from treeplex.games.dealt import DealtGame, DealtRules
from treeplex.games.holdem.locks import Lock, make_locks
from treeplex.games.holdem.spot import Spot, make_spot, read_spot
from treeplex.games.openspiel import PREFIX, OpenSpielGame
from treeplex.games.protocol import Game
from treeplex.games.sized import Abstraction
from treeplex.runs.folder import RunFolder
from treeplex.runs.request import EXPLORATION, GROWTH, SPOT, Request
from treeplex.spec import parse

if TYPE_CHECKING:
    from treeplex.engines.boards.game import HoldemGame

SPOT_FILES: Final = (".json", ".toml")

Source = str | Path | Game | CompiledGame
"""What ``load`` takes: a name, a path, rules, or a game already compiled. A pyspiel game will do, too."""


def load_game(source: Any, report: Callable[[int], None] | None = None) -> CompiledGame:
    """Compile a game: ``"name(parameter=value)"``, a file, ``"openspiel:NAME"``, a pyspiel game, or your own rules."""
    if isinstance(source, CompiledGame):
        return source
    if spot_of(source) is not None:
        raise ParameterError(
            "A hold'em spot has no table of all infosets; look at its answer with treeplex holdem show."
        )
    from_catalog, name = False, None
    if isinstance(source, str | Path):
        text = str(source)
        if text.endswith(".safetensors"):
            if not Path(text).is_file():
                raise ParameterError(f"There is no file {text}.")
            return load_compiled(text)
        from_catalog = not text.lower().endswith(".efg") and text.partition("(")[0].strip() in CATALOG
        name = text if from_catalog or text.startswith(PREFIX) else None
    game = compile_game(rules_of(source), report)
    if from_catalog:
        game = replace(game, known_value=known_value(game.name))
    return replace(game, source=name)


def rules_of(source: Any) -> Game:
    """The rules behind a name, an .efg file or a pyspiel game, or the object itself if it has them; not compiled."""
    if isinstance(source, str | Path):
        source = make(str(source))
    elif type(source).__module__.partition(".")[0] == "pyspiel":
        source = OpenSpielGame(source)
    if isinstance(source, DealtRules):
        source = DealtGame(source)
    if isinstance(source, type) or not isinstance(source, Game):
        methods = {name for name in vars(Game) if not name.startswith("_")}
        needs = ", ".join(sorted(methods - set(dir(source))))
        lack = f"lacks {needs}" if needs else "is a class: make an object of it first"
        raise ParameterError(f"A game must be a name, a file, or have all methods of Game; {source!r} {lack}.")
    return source


def sized_game(game: str | Abstraction | DealtGame) -> Abstraction:
    """The game of that name, if its actions have sizes."""
    rules = make(game) if isinstance(game, str) else game
    if isinstance(rules, DealtGame):
        rules = rules.rules
    if not isinstance(rules, Abstraction):
        name = game if isinstance(game, str) else repr(game)
        raise ParameterError(f"Only a game whose actions have sizes can grow, such as continuous_leduc; got {name}.")
    return rules


def spot_of(source: Any) -> Spot | None:
    """The hold'em spot that a file, a dictionary of fields or a ``Spot`` describes; None for any other game."""
    if isinstance(source, Spot):
        return source
    if isinstance(source, Mapping):
        return make_spot(cast(Mapping[str, Any], source))
    if isinstance(source, str | Path) and str(source).partition("#")[0].lower().endswith(SPOT_FILES):
        return read_spot(source)
    return None


def spot_game(spot: Spot, locks: tuple[Lock, ...] = ()) -> HoldemGame:
    """The subgame that begins with a spot."""
    from treeplex.engines.boards.game import load_spot  # noqa: PLC0415 - its kernels take time to load

    return load_spot(spot, locks=locks)


def locks_of(records: Any) -> tuple[Lock, ...]:
    """Locks from a list of them, or of records with ``line`` and ``strategy``."""
    return make_locks(records)


def game_of(kept: RunFolder, given: Any = None) -> Any:
    """The game of a run, loaded again, or ``given`` if the run was started with an object of the user's own."""
    request = kept.request
    if request.kind == SPOT:
        return spot_game(make_spot(request.source), locks_of(request.options.get("locks", ())))
    source = request.source if given is None else given
    if request.kind in (GROWTH, EXPLORATION):
        if source is None:
            raise ParameterError(
                f"The run in {kept.path} is of a game of your own, '{request.game}'; give it as game=."
            )
        return sized_game(source) if request.kind == GROWTH else rules_of(source)
    return load_compiled(kept.path / "game.safetensors") if source is None else load_game(source)


def algorithm_of(request: Request, given: Any = None) -> Algorithm[Any, Any]:
    """The algorithm of a run; ``given`` if it has no name in the registry."""
    if request.kind in (GROWTH, EXPLORATION):
        try:
            return _by_options(request)
        except (KeyError, TypeError, ValueError) as error:
            raise ParameterError(f"The options of the run are not what treeplex writes ({error}).") from error
    if given is not None:
        return assembled(given)
    if parse(request.algorithm)[0] not in ALGORITHMS:
        raise ParameterError(f"The run was made by a rule of your own, '{request.asked}'; give it as algorithm=.")
    return build(request.algorithm)


def _by_options(request: Request) -> Algorithm[Any, Any]:
    """The algorithm whose parameters are the run's options."""
    options: dict[str, Any] = dict(request.options)
    if request.kind == EXPLORATION:
        from treeplex.algorithms.explore import exploring  # noqa: PLC0415 - seldom needed

        return exploring(request.asked, **options)
    from treeplex.algorithms.growth.algorithm import Growing  # noqa: PLC0415 - its kernels take time to load
    from treeplex.algorithms.growth.options import Growth  # noqa: PLC0415

    options["factor"] = float(options["factor"])
    return Growing(Growth(**options))


def assembled(algorithm: Any) -> Algorithm[Any, Any]:
    """By name, or as it is."""
    made = build(algorithm) if isinstance(algorithm, str) else algorithm
    if not isinstance(made, Algorithm):
        raise ParameterError(f"The 'algorithm' parameter must be a name or made by minimizer, got {algorithm!r}.")
    return cast(Algorithm[Any, Any], made)
