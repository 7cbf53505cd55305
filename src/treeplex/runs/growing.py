"""What ``grow`` asks for, as a run."""

from __future__ import annotations

from typing import Any, Final

from treeplex.algorithms.portfolio import SPOTS
from treeplex.errors import ParameterError
from treeplex.games.dealt import DealtGame
from treeplex.games.holdem.candidates import offered, start_of
from treeplex.games.sized import Abstraction
from treeplex.growth.options import Growth, fitted_to_rules, fitted_to_spot, growth_fields
from treeplex.runs import games
from treeplex.runs.asking import Asked, is_spot_game, limits_of, pot_of
from treeplex.runs.limits import Limits
from treeplex.runs.request import GROWTH, Request

DEFAULT_SPOT_ALGORITHM: Final = SPOTS
"""What ``auto`` is for a hold'em spot, and what ``grow`` and ``sizes`` solve spots by."""

DEFAULT_GROWTH_SECONDS: Final = 10.0
"""How long ``grow`` runs when nothing says when to stop."""


def growing(
    game: str | Abstraction | DealtGame | Any,
    growth: Growth | None,
    given: Limits,
    exploitability: float | str | None = None,
    storage: str | None = None,
) -> Asked:
    """What ``grow`` carries out, by the same arguments; refuses what it refuses."""
    start, solver, source = _growing(game, growth)
    how, limits = solver.growth, limits_of(given, exploitability, pot_of(start))
    request = Request(
        kind=GROWTH,
        game=start.name,
        source=source,
        fingerprint=solver.fingerprint(start),
        algorithm=f"grow({how.algorithm})",
        asked=how.algorithm,
        storage=storage,
        iterate="current" if how.remove == "current" else "average",
        options=growth_fields(how),
        limits=limits.otherwise(Limits(seconds=DEFAULT_GROWTH_SECONDS)),
    )
    return Asked(start, solver, request)


def _growing(game: Any, growth: Growth | None) -> tuple[Any, Any, Any]:
    """The game to start with, the algorithm that grows it, and how to load the game again."""
    spot = game.spot if is_spot_game(game) else games.spot_of(game)
    if spot is not None:
        from treeplex.growth.spot_algorithm import GrowingHoldem  # noqa: PLC0415 - kernels take time

        how = fitted_to_spot(growth or Growth(algorithm=DEFAULT_SPOT_ALGORITHM))
        start = games.spot_game(start_of(spot, how.by_class))
        offered(start.spot, how.bets, how.raises, how.street)  # whatever is wrong is said at once
        return start, GrowingHoldem(how), start.spot.summary()
    from treeplex.growth.algorithm import Growing  # noqa: PLC0415 - its kernels take time to load

    abstraction = games.sized_game(game)
    source = game if isinstance(game, str) else abstraction.name if _is_named(abstraction) else None
    return abstraction, Growing(fitted_to_rules(growth or Growth(), abstraction.rules)), source


def _is_named(start: Abstraction) -> bool:
    """Can the game be made again from its name?"""
    try:
        return games.sized_game(start.name).name == start.name
    except ParameterError:
        return False
