"""Requests, made from options by the names that ``runs.schema`` gives them: the same for every door."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from difflib import get_close_matches
from pathlib import Path
from typing import Any, Final, NamedTuple

from treeplex.algorithms.registry import ALGORITHMS, Choice, choose, with_parameters
from treeplex.errors import ParameterError, TreeplexError, within
from treeplex.games.holdem.locks import Lock
from treeplex.problems import kinds
from treeplex.problems.protocol import Problem
from treeplex.runs.claim import folder_of
from treeplex.runs.folder import RunFolder
from treeplex.runs.limits import Limits
from treeplex.runs.request import Record, Request
from treeplex.runs.schema import LIMITS, SOLVE, Options
from treeplex.runs.targets import nash_conv_of
from treeplex.spec import parse

DEFAULT_ALGORITHM: Final = "auto"


class Arguments(NamedTuple):
    """Options of a request, checked before a game is loaded."""

    limits: Limits
    exploitability: float | str | None
    big_blind: float | None
    options: Options

    @staticmethod
    def of(values: Mapping[str, Any]) -> Arguments:
        """From values by name."""
        rest = dict(values)
        limits = {field.name: rest.pop(field.name, None) for field in LIMITS}
        exploitability, big_blind = limits.pop("exploitability"), rest.pop("big_blind", None)
        if big_blind is not None:
            within(float, "big_blind", big_blind, "a number of chips > 0", 1e-9, 1e9)
        checked = Limits(**limits)
        if rest.get("out") is not None:
            rest["out"] = folder_of(rest["out"], "out")
        return Arguments(checked, exploitability, big_blind, Options(**rest))

    def limits_in(self, pot: float | None) -> Limits:
        """Limits with ``exploitability``, which is another way to say ``nash_conv``, among them."""
        if self.exploitability is None:
            return self.limits
        if self.limits.nash_conv is not None:
            raise ParameterError("Give 'nash_conv' or 'exploitability', not both: one is twice the other.")
        return replace(self.limits, nash_conv=nash_conv_of(self.exploitability, pot, self.big_blind))


def solving(
    game: Any,
    algorithm: Any = None,
    *,
    locks: Sequence[Lock] = (),
    parameters: Mapping[str, Any] | None = None,
    report: Callable[[int], None] | None = None,
    **options: Any,
) -> Request:
    """A request to solve a game or a spot. ``parameters``: of the algorithm; ``report``: as in ``load``."""
    arguments = Arguments.of(options)
    if parameters:
        algorithm = _with_parameters(algorithm, parameters)
    choice = _chosen(algorithm or DEFAULT_ALGORITHM, arguments)  # before a large game is compiled
    problem = kinds.solving(game, locks, report)
    return requested(problem, problem.fit(choice), arguments)


def growing(game: Any, *, growth: Any = None, **options: Any) -> Request:
    """A request to solve a game or a spot whose sizes are found; ``growth``: how."""
    from treeplex.problems.growing import growing as problem_of  # noqa: PLC0415 - few runs grow

    arguments = Arguments.of(options)
    problem = problem_of(game, growth)
    return requested(problem, problem.choice, arguments)


def exploring(game: Any, algorithm: str | None = None, *, responses: int | None = None, **options: Any) -> Request:
    """A request to learn a game from its rules."""
    from treeplex.problems.exploring import exploration  # noqa: PLC0415 - seldom needed

    arguments = Arguments.of(options)
    problem = exploration(game, algorithm, responses)
    return requested(problem, problem.choice, arguments)


def choosing_sizes(spots: Any, question: Any, **options: Any) -> Request:
    """A request to find which sizes of spots matter; ``question``: a ``SizeOptions``."""
    from treeplex.problems.sizing import size_search  # noqa: PLC0415 - seldom needed

    arguments = Arguments.of(options)
    problem = size_search(spots, question)
    return requested(problem, problem.choice, arguments)


def requested(problem: Problem, choice: Choice, arguments: Arguments) -> Request:
    """A request, with the problem's default limits if there are none."""
    default = Limits(**problem.default_limits(choice.algorithm.ends))  # pyright: ignore[reportArgumentType]
    limits = arguments.limits_in(problem.pot).otherwise(default)
    return Request(problem, choice, limits, arguments.options, big_blind=arguments.big_blind)


def resuming(folder: str | Path, *, algorithm: Any = None, game: Any = None, **options: Any) -> Request:
    """A request to continue the run in a folder, to new limits or to those it had."""
    arguments = Arguments.of(options)
    kept = RunFolder.open(folder)
    record = kept.record
    limits = arguments.limits_in(record.pot)
    problem = kinds.reopened(record, kept.path, game)
    fixed: dict[str, Any] = {"out": kept.path, "seed": record.seed, "iterate": record.iterate}
    return Request(
        problem,
        _choice_of(record, problem, algorithm),
        limits.otherwise(record.limits),
        replace(arguments.options, **fixed, storage=record.storage),
        record,
        limits.any,
        big_blind=arguments.big_blind,
    )


def _choice_of(record: Record, problem: Problem, replacement: Any) -> Choice:
    """The algorithm of a run; ``replacement``: the user's own, if the run was started with one."""
    choice: Choice | None = getattr(problem, "choice", None)
    if choice is None and replacement is None and parse(record.algorithm)[0] not in ALGORITHMS:
        raise ParameterError(f"The run was made by a rule of your own, '{record.asked}'; give it as algorithm=.")
    choice = choice or choose(record.algorithm if replacement is None else replacement)
    return choice._replace(name=record.algorithm, label=record.asked)


def _chosen(algorithm: Any, arguments: Arguments) -> Choice:
    """The algorithm, with the horizon that the run in the folder began with, if that is of this very algorithm."""
    choice, out = choose(algorithm, arguments.limits.iterations), arguments.options.out
    try:
        begun = "" if out is None else RunFolder.open(out).record.algorithm
        horizon = dict(parse(begun)[1]).get("horizon") if begun else None
    except TreeplexError:
        return choice
    earlier = choose(algorithm, horizon) if isinstance(horizon, int) and horizon > 0 else choice
    return earlier if earlier.name == begun else choice


def _with_parameters(algorithm: Any, values: Mapping[str, Any]) -> str:
    """A name with the parameters that were given as keywords."""
    known = ["algorithm", "locks", *(field.name for field in SOLVE), "watch", "answer"]
    near = [name for key in values for name in get_close_matches(key, known, n=1)]
    if isinstance(algorithm, str):
        try:
            return with_parameters(algorithm, values)
        except ParameterError:
            if not near:
                raise
    advice = f"; did you mean '{near[0]}'?" if near else "; name the algorithm whose parameter it is."
    raise ParameterError(f"'{next(iter(values))}' is not an option of solve{advice}")
