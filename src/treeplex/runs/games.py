"""Games by name, file or object, of every kind a run may be about; and the algorithm that solves each."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar, cast

from treeplex.algorithms.protocol import Algorithm
from treeplex.algorithms.registry import ALGORITHMS, build
from treeplex.compile.game import CompiledGame
from treeplex.compile.source import compiled, rules_of
from treeplex.compile.storage import load as load_compiled
from treeplex.errors import ParameterError, quoted
from treeplex.games.catalog import make
from treeplex.games.dealt import DealtGame
from treeplex.games.holdem.locks import Lock, make_locks
from treeplex.games.holdem.reading import read_spot
from treeplex.games.holdem.spot import Spot, make_spot
from treeplex.games.protocol import Game
from treeplex.games.sized import Abstraction
from treeplex.runs.folder import RunFolder
from treeplex.runs.request import EXPLORATION, GROWTH, SIZES, SPOT, Request
from treeplex.spec import parse

if TYPE_CHECKING:
    from treeplex.engines.boards.game import HoldemGame
    from treeplex.poker.sizes.problem import SizeSearch

Made = TypeVar("Made")

SPOT_FILES: Final = (".json", ".toml", ".txt")

Source = str | Path | Game | CompiledGame
"""What ``load`` takes: a name, a path, rules, or a game already compiled. A pyspiel game will do, too."""


def load_game(source: Any, report: Callable[[int], None] | None = None) -> CompiledGame:
    """Compile a game of any kind but a hold'em spot."""
    if not isinstance(source, CompiledGame) and spot_of(source) is not None:
        raise ParameterError(
            "A hold'em spot has no table of all infosets; look at its answer with treeplex holdem show."
        )
    return compiled(source, report)


def sized_game(game: str | Abstraction | DealtGame) -> Abstraction:
    """The game of that name, if its actions have sizes."""
    rules = make(game) if isinstance(game, str) else game
    if isinstance(rules, DealtGame):
        rules = rules.rules
    if not isinstance(rules, Abstraction):
        raise ParameterError(
            f"Only a game whose actions have sizes can grow, such as continuous_leduc; got {quoted(game)}."
        )
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
    if request.kind == SIZES:
        return _by_options(_size_search, request)
    source = request.source if given is None else given
    if request.kind in (GROWTH, EXPLORATION):
        if source is None:
            raise ParameterError(
                f"The run in {kept.path} is of a game of your own, '{request.game}'; give it as game=."
            )
        if request.is_spot:
            return spot_game(make_spot(source))
        return sized_game(source) if request.kind == GROWTH else rules_of(source)
    if source is not None:
        return load_game(source)
    if not (kept.path / "game.safetensors").exists():
        raise ParameterError(
            f"The run in {kept.path} was ended before its game was kept there; start it again as before, or give game=."
        )
    return load_compiled(kept.path / "game.safetensors")


def algorithm_of(request: Request, given: Any = None) -> Algorithm[Any, Any]:
    """The algorithm of a run; ``given`` if it has no name in the registry."""
    if request.kind == SIZES:
        from treeplex.poker.sizes.algorithm import ChoosingSizes  # noqa: PLC0415 - its kernels take time to load

        return ChoosingSizes()
    if request.kind in (GROWTH, EXPLORATION):
        return _by_options(_algorithm, request)
    if given is not None:
        return assembled(given)
    if parse(request.algorithm)[0] not in ALGORITHMS:
        raise ParameterError(f"The run was made by a rule of your own, '{request.asked}'; give it as algorithm=.")
    return build(request.algorithm)


def _by_options(make: Callable[[Request], Made], request: Request) -> Made:
    """What the run's options describe, or a refusal."""
    try:
        return make(request)
    except (LookupError, TypeError, ValueError, AttributeError, ArithmeticError) as error:
        raise ParameterError(f"The options of the run are not what treeplex writes ({error}).") from error


def _size_search(request: Request) -> SizeSearch:
    """The spots of the run and what is asked about their sizes."""
    from treeplex.poker.sizes.problem import SizeOptions, SizeSearch  # noqa: PLC0415 - seldom needed

    return SizeSearch.of(request.source, SizeOptions(**request.options))


def _algorithm(request: Request) -> Algorithm[Any, Any]:
    """The algorithm whose parameters are the run's options."""
    options: dict[str, Any] = dict(request.options)
    if request.kind == EXPLORATION:
        from treeplex.algorithms.explore import exploring  # noqa: PLC0415 - seldom needed

        return exploring(request.asked, **options)
    from treeplex.growth.algorithm import Growing  # noqa: PLC0415 - its kernels take time to load
    from treeplex.growth.options import UNSAID, Growth  # noqa: PLC0415

    options["factor"] = float(options["factor"])
    growth = Growth(**{**UNSAID, **options})
    if request.is_spot:
        from treeplex.growth.spot_algorithm import GrowingHoldem  # noqa: PLC0415

        return GrowingHoldem(growth)
    return Growing(growth)


def assembled(algorithm: Any) -> Algorithm[Any, Any]:
    """By name, or as it is."""
    made = build(algorithm) if isinstance(algorithm, str) else algorithm
    if not isinstance(made, Algorithm):
        raise ParameterError(f"The 'algorithm' parameter must be a name or made by minimizer, got {quoted(algorithm)}.")
    return cast(Algorithm[Any, Any], made)
