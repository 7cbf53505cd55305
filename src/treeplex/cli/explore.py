"""``treeplex explore``: learn a game that is too large to compile from its rules."""

from __future__ import annotations

from typing import Annotated

import typer

from treeplex.algorithms.explore import RESPONSES
from treeplex.cli.answer import Screen, exit_code, follow
from treeplex.cli.options import AsJson, Force, GameName, Quiet, To, Values, grouped
from treeplex.cli.output import check_new, check_policy_file, say
from treeplex.runs.requests import exploring
from treeplex.runs.schema import EXPLORE
from treeplex.system import answering

Algorithm = Annotated[
    str, typer.Option(help="pure-mccfr, mccfr-external, or mccfr-outcome (for games with many moves).")
]
Responses = Annotated[
    int, typer.Option(help="Number of iterations to learn each player's response, and of games it then plays.")
]


@grouped
def explore(
    *,
    game: GameName,
    algorithm: Algorithm = "pure-mccfr",
    values: Annotated[Values, EXPLORE],
    responses: Responses = RESPONSES,
    to: To = None,
    force: Force = False,
    quiet: Quiet = False,
    as_json: AsJson = False,
) -> None:
    """Sample a game from its rules without compiling it, and estimate the quality. Default limit: 60 seconds."""
    check_policy_file(to)
    check_new(to, force=force)
    request = exploring(game, algorithm, responses=responses, **values)
    screen = Screen(values["out"], as_json, more={"file": str(to)} if to else {})
    with answering():  # the policy is also saved if a signal ends the run
        solution = follow(request, screen)
        if to is not None:
            solution.policy.save(to)
    if to is not None and not as_json:
        say(f"saved {to}")
    raise exit_code(request.limits, solution)
