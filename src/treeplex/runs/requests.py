"""Build requests from options, for the Python API, the commands, batches and the web explorer."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final

from treeplex.algorithms.registry import ALGORITHMS, Choice, choose, with_parameters
from treeplex.errors import ParameterError, TreeplexError
from treeplex.games.holdem.locks import Lock
from treeplex.problems import kinds
from treeplex.problems.protocol import Problem
from treeplex.runs.folder import RunFolder
from treeplex.runs.request import Record, Request
from treeplex.runs.schema import SOLVE, Options
from treeplex.spec import parse

DEFAULT_ALGORITHM: Final = "auto"


def solving(
    game: Any,
    algorithm: Any = None,
    *,
    locks: Sequence[Lock] = (),
    parameters: Mapping[str, Any] | None = None,
    report: Callable[[int], None] | None = None,
    **options: Any,
) -> Request:
    """Build a request to solve a game or a spot. ``parameters``: of the algorithm; ``report``: as in ``load``."""
    chosen = Options(**options)
    if parameters:
        algorithm = _with_parameters(algorithm, parameters)
    choice = _chosen(algorithm or DEFAULT_ALGORITHM, chosen)  # before a large game is compiled
    problem = kinds.solving(game, locks, report)
    return requested(problem, problem.fit(choice), chosen)


def growing(game: Any, *, growth: Any = None, **options: Any) -> Request:
    """Build a request to solve a game or a spot while its bet sizes are found; ``growth``: how to find them."""
    from treeplex.problems.growing import growing as problem_of  # noqa: PLC0415 - few runs grow

    chosen = Options(**options)
    problem = problem_of(game, growth)
    return requested(problem, problem.choice, chosen)


def exploring(game: Any, algorithm: str | None = None, *, responses: int | None = None, **options: Any) -> Request:
    """Build a request to learn a game from its rules, by sampling."""
    from treeplex.problems.exploring import exploration  # noqa: PLC0415 - seldom needed

    chosen = Options(**options)
    problem = exploration(game, algorithm, responses)
    return requested(problem, problem.choice, chosen)


def choosing_sizes(spots: Any, question: Any, **options: Any) -> Request:
    """Build a request to find the bet sizes that matter on some spots; ``question``: a ``SizeOptions``."""
    from treeplex.problems.sizing import size_search  # noqa: PLC0415 - seldom needed

    chosen = Options(**options)
    problem = size_search(spots, question)
    return requested(problem, problem.choice, chosen)


def requested(problem: Problem, choice: Choice, options: Options) -> Request:
    """Build a request, with the problem's default limits if the options set none."""
    limits = options.limits(problem.pot).otherwise(problem.default_limits(choice.algorithm.ends))
    return Request(problem, choice, replace(options.limited(limits), iterate=problem.iterate or options.iterate))


def resuming(folder: str | Path, *, algorithm: Any = None, game: Any = None, **options: Any) -> Request:
    """Build a request to continue the run in a folder, to new limits or to its own."""
    chosen = Options(**options)
    run_folder = RunFolder.open(folder)
    record = run_folder.record
    limits = chosen.limits(record.pot)
    problem = kinds.reopened(record, run_folder.path, game)
    fixed = replace(chosen.limited(limits.otherwise(record.limits)), out=run_folder.path, **record.chosen)
    return Request(problem, _choice_of(record, problem, algorithm), fixed, record, limits.any)


def _choice_of(record: Record, problem: Problem, replacement: Any) -> Choice:
    """Return the algorithm of a run; ``replacement``: the user's own, if the run was started with one."""
    choice: Choice | None = getattr(problem, "choice", None)
    if choice is None and replacement is None and parse(record.algorithm)[0] not in ALGORITHMS:
        raise ParameterError(f"The run used a rule of your own, '{record.asked}'; pass it as algorithm=.")
    choice = choice or choose(record.algorithm if replacement is None else replacement)
    return choice._replace(name=record.algorithm, label=record.asked)


def _chosen(algorithm: Any, options: Options) -> Choice:
    """Return the algorithm, with the horizon of the run in ``options.out`` if that run uses the same algorithm."""
    choice, out = choose(algorithm, options.iterations), options.out
    try:
        begun = "" if out is None else RunFolder.open(out).record.algorithm
        horizon = dict(parse(begun)[1]).get("horizon") if begun else None
    except TreeplexError:
        return choice
    earlier = choose(algorithm, horizon) if isinstance(horizon, int) and horizon > 0 else choice
    return earlier if earlier.name == begun else choice


def _with_parameters(algorithm: Any, values: Mapping[str, Any]) -> str:
    """Return the algorithm's name with the parameters that were passed as keywords."""
    known = ["algorithm", "locks", *(field.name for field in SOLVE), "watch", "answer"]
    near = [name for key in values for name in get_close_matches(key, known, n=1)]
    if isinstance(algorithm, str):
        try:
            return with_parameters(algorithm, values)
        except ParameterError:
            if not near:
                raise
    advice = f"; did you mean '{near[0]}'?" if near else ". To set a parameter of an algorithm, name the algorithm."
    raise ParameterError(f"'{next(iter(values))}' is not an option of solve{advice}")
