"""What ``explore`` asks for, as a run."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

from treeplex.games.protocol import Game, name_of
from treeplex.runs import games
from treeplex.runs.asking import Asked
from treeplex.runs.limits import Limits
from treeplex.runs.request import EXPLORATION, Request, seed_of

DEFAULT_SECONDS: Final = 60.0
"""How long to explore when nothing says when to stop."""


def exploration(
    game: str | Path | Game | Any, algorithm: str, given: Limits, seed: int = 0, responses: int | None = None
) -> Asked:
    """What ``explore`` carries out, by the same arguments; refuses what it refuses."""
    from treeplex.algorithms.explore import RESPONSES, exploring  # noqa: PLC0415 - seldom needed

    rules = games.rules_of(game)
    solver = exploring(algorithm, RESPONSES if responses is None else responses)
    request = Request(
        kind=EXPLORATION,
        game=name_of(rules),
        source=str(game) if isinstance(game, str | Path) else None,
        fingerprint=solver.fingerprint(rules),
        algorithm=f"explore({algorithm})",
        asked=algorithm,
        seed=seed_of(seed),
        options={"responses": solver.responses},
        limits=given.otherwise(Limits(seconds=DEFAULT_SECONDS)),
    )
    return Asked(rules, solver, request)
