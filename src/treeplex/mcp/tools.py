"""The tools that an assistant can call. Each takes and returns JSON, and runs in a process of its own (``worker``).

Games are named as on the command line; hold'em spots may be given by their fields. Files and runs are those in the
server's folder, which is the working folder of the process. Options of a solve come from ``runs.schema``.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Annotated, Any, Final, cast, get_type_hints

from treeplex import api, holdem
from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.candidates import BETS
from treeplex.policies.policy import Policy
from treeplex.problems.loading import load, load_game
from treeplex.runs.folder import RunFolder
from treeplex.runs.schema import EXECUTION, IDENTITY, LIMIT, of

MOST_INFOSETS: Final = 200
"""Infosets of each player in one answer."""

RUN_NAME: Final = re.compile(r"\w[\w+.=,-]{0,89}")

GameSource = Annotated[
    str | dict[str, Any], "A name such as 'leduc' or 'kuhn_ext(20)', or the fields of a hold'em spot."
]
RunName = Annotated[str, "The name of a run in the server's folder."]
OPTIONS: Final = tuple(each for each in of(LIMIT, IDENTITY, EXECUTION) if each.name not in ("backend", "device"))
"""The options of ``solve``."""


def info(game: GameSource) -> dict[str, Any]:
    """Return the sizes of a game, its memory, its value if that is known, and the recommended algorithm."""
    loaded = load(_inside(game))
    return loaded.summary() | {"recommended": api.recommended(loaded)}


def solve(game: GameSource, run: str | None = None, algorithm: str = "auto", **options: Any) -> dict[str, Any]:
    """Find an equilibrium of a game or hold'em spot, and prove how close it is.

    With ``run``, the strategies are saved under that name, and the same call with a new limit continues the run.
    ``nash_conv`` is the sum of both players' best-response gains, and ``exploitability`` is half of it.
    """
    out = None if run is None else _run_path(run)
    solution = api.solve(_inside(game), algorithm, out=out, **options)
    return solution.summary() | {"run": run}


def node(
    run: RunName, line: str = "", player: str | None = None, most: Annotated[int, "Number of rows."] = 30
) -> dict[str, Any]:
    """Return what a saved run plays at a decision.

    For a hold'em spot, ``line`` is the actions so far, such as ``"check, bet 50, 2c"``, and each hand has its strategy,
    EV and equity. For other games, ``line`` is the label of an infoset; without one, the first infosets are listed.
    """
    folder = RunFolder.open(_run_path(run))
    if folder.record.spot is not None:
        view = holdem.open_run(folder.path).at(line, player)
        return cast(dict[str, Any], view.summary(view.rows(most=most)))
    policy = Policy.load(folder.path / "policy.parquet")
    return {"run": run, "policy": {line: policy[line]} if line else _strategies(policy, (0, 1), most)}


def evaluate(game: GameSource, policy: str | dict[str, Any]) -> dict[str, Any]:
    """Measure a policy exactly: value, NashConv, exploitability and best-response values.

    ``policy`` is the name of a run, or ``{infoset: {action: probability}}`` for both players.
    """
    compiled = load_game(_inside(game))
    return {"game": compiled.name} | api.evaluate(compiled, _policy(policy)).summary()


def best_response(game: GameSource, policy: str | dict[str, Any], player: int) -> dict[str, Any]:
    """Return the value and the strategy of a best response of ``player`` (0 or 1) to the opponent in ``policy``."""
    value, response = api.best_response(load_game(_inside(game)), _policy(policy), player)
    return {"player": player, "value": value, "policy": _strategies(response, (player,), MOST_INFOSETS)}


def sizes(
    spots: dict[str, Any] | list[dict[str, Any]],
    run: str | None = None,
    keep: Annotated[int, "Number of bet sizes to choose."] = 1,
    player: str = "oop",
    bets: Annotated[str, "Candidates."] = BETS,
    seconds: float | None = None,
) -> dict[str, Any]:
    """Find which bet sizes matter on one or several hold'em spots, with proven bounds on what the menu loses."""
    out = None if run is None else _run_path(run)
    return holdem.sizes(spots, keep=keep, player=player, seconds=seconds, out=out, bets=bets).summary()


TOOLS: Final[Mapping[str, Callable[..., dict[str, Any]]]] = {
    tool.__name__: tool for tool in (info, solve, node, evaluate, best_response, sizes)
}
TIMED: Final = ("solve", "sizes")
"""Tools with a limit on seconds of their own."""


def signature(name: str) -> inspect.Signature:
    """The parameters of a tool with their types, those of ``solve`` from the schema of options."""
    tool = TOOLS[name]
    hints, plain = get_type_hints(tool, include_extras=True), inspect.signature(tool)
    parameters = [
        each.replace(annotation=hints[each.name]) for each in plain.parameters.values() if each.name != "options"
    ]
    if name == "solve":
        keyword = inspect.Parameter.KEYWORD_ONLY
        for option in OPTIONS:
            described: Any = Annotated[option.type, option.help]
            parameters.append(inspect.Parameter(option.name, keyword, default=option.default, annotation=described))
    return plain.replace(parameters=parameters, return_annotation=dict[str, Any])


def _inside(game: GameSource) -> Any:
    """The game as given; a path is rejected unless it is in the server's folder."""
    if isinstance(game, str) and (Path(game).exists() or Path(game).is_absolute() or ".." in Path(game).parts):
        root, path = Path.cwd().resolve(), Path(game).resolve()
        if root not in path.parents:
            raise ParameterError(f"The file {quoted(game)} is not in the folder of this server.")
    return game


def _run_path(run: str) -> Path:
    """The folder of a run of that name."""
    if not RUN_NAME.fullmatch(run):
        raise ParameterError(f"The 'run' parameter must be letters, digits and + . = , - _, got {quoted(run)}.")
    return Path(run)


def _policy(policy: str | dict[str, Any]) -> Any:
    return policy if isinstance(policy, dict) else _run_path(policy) / "policy.parquet"


def _strategies(policy: Policy, players: tuple[int, ...], most: int) -> dict[str, dict[str, dict[str, float]]]:
    """The first infosets of each of these players, by player and label."""
    return {
        str(player): {label: policy[player, label] for label in list(policy.strategies[player].index)[:most]}
        for player in players
    }
