"""Requests of jobs: the code that will run a job checks it before it enters the queue."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import BaseModel, TypeAdapter, ValidationError

from treeplex.algorithms.registry import build
from treeplex.engines.boards.locks import fix
from treeplex.errors import ParameterError, quoted
from treeplex.games.catalog import entry_of, make
from treeplex.games.holdem.candidates import BETS, RAISES
from treeplex.games.holdem.locks import make_locks
from treeplex.games.holdem.money import percent_of_pot
from treeplex.games.holdem.spot import make_spot
from treeplex.games.openspiel import PREFIX
from treeplex.growth.options import Growth
from treeplex.limits import Limits
from treeplex.poker.sizes.problem import SizeOptions
from treeplex.problems.growing import usual_algorithm
from treeplex.runs.request import Request
from treeplex.runs.requests import DEFAULT_ALGORITHM, choosing_sizes, growing, solving
from treeplex.runs.schema import JOB, LIMITS, Field, Options, named
from treeplex.runs.solve import checked
from treeplex.updates.storage import number_type
from treeplex.web.directory import Directory
from treeplex.web.refusals import sentence_of
from treeplex.web.runs import record_of
from treeplex.web.schema.jobs import GrowJob, JobForm, ResumeJob, SizesJob, SolveJob

FILES: Final = (".efg", ".safetensors", ".json", ".toml")
PLAIN: Final = re.compile(r"[\w+.=,-]{1,80}")
OPENSPIEL: Final = re.compile(rf"{PREFIX}[a-z0-9_]+")
FORMS: Final[TypeAdapter[JobForm]] = TypeAdapter(JobForm)


class JobRequest(NamedTuple):
    """A short description of a job, and its request as it is saved."""

    title: str
    request: dict[str, Any]
    game: str | None = None  # name of the game; None: a hold'em spot
    run: str | None = None  # the run that it resumes
    stem: str | None = None  # the name of a new run folder, to which a number is added
    pot: float | None = None
    limits: Mapping[str, Any] = {}


def job_request(form: JobForm, directory: Directory) -> JobRequest:
    """Return the job of a form; raise ``ParameterError`` if it cannot run."""
    builders: dict[type, Callable[..., JobRequest]] = {SolveJob: _solve, GrowJob: _grow, SizesJob: _sizes}
    return _resume(form, directory) if isinstance(form, ResumeJob) else builders[type(form)](form)


def job_request_fields(fields: object, root: str) -> dict[str, Any]:
    """Return the job of a form's fields, as a dictionary."""
    return job_request(form_of(fields), Directory(Path(root)))._asdict()


def form_of(fields: object) -> JobForm:
    """Return the form that has these fields."""
    try:
        return FORMS.validate_python(fields)
    except ValidationError as error:
        raise ParameterError(sentence_of(error.errors())) from None


def check_request(fields: object, run: str | None, directory: Directory) -> None:
    """Refuse a request that reads anything outside the served folder. Jobs are on disk before they run."""
    form = form_of(fields)
    resumes = isinstance(form, ResumeJob)
    game = record_of(directory.folder(run or "")).source if resumes else getattr(form, "game", None)
    if isinstance(game, str):
        named_game(game)


def named_game(name: str) -> str:
    """Return the name of a catalog game; refuse files and OpenSpiel's file readers, which only the CLI supports."""
    if name.lower().endswith(FILES) or (name.startswith(PREFIX) and not OPENSPIEL.fullmatch(name)):
        raise ParameterError(f"The explorer solves catalog games and hold'em spots, not files; got {quoted(name)}.")
    if not name.startswith(PREFIX):
        entry_of(name)
    make(name)
    return name


def _values(form: BaseModel, listed: tuple[Field, ...]) -> dict[str, Any]:
    """Return options of a form by name."""
    return {each.name: getattr(form, each.name) for each in listed}


def _solve(form: SolveJob) -> JobRequest:
    values, locks, saved = _values(form, (*JOB, *named("threads"))), make_locks(form.locks or ()), form.model_dump()
    _check_subject(form)
    if form.spot is not None:
        request = solving(make_spot(form.spot), form.algorithm, locks=locks, **values)
        solver = checked(request)
        if locks:
            fix(request.problem.game, number_type(solver.storage))
        saved["spot"] = request.problem.source
        return _new(form, request, saved)
    game = named_game(str(form.game))
    if form.algorithm is not None:
        build(form.algorithm)
    if locks:
        raise ParameterError("The 'locks' parameter is only for hold'em spots; leave it out.")
    limits, label = Options(**values).limits(), form.algorithm or DEFAULT_ALGORITHM
    return JobRequest(
        f"{game}, {label}", saved, game, stem=_name(form) or f"{game}-{label}", limits=_limit_fields(limits)
    )


def _grow(form: GrowJob) -> JobRequest:
    saved = form.model_dump()
    _check_subject(form)
    if form.spot is not None:
        saved["spot"] = make_spot(form.spot).summary()
    source: Any = named_game(str(form.game)) if form.spot is None else saved["spot"]
    request = growing(source, growth=growth_of(saved, source), **_values(form, (*LIMITS, *named("storage", "threads"))))
    checked(request)
    return _new(form, request, saved)


def growth_of(request: dict[str, Any], source: str | Mapping[str, Any]) -> Growth:
    """Return the growth options of a spot or a game."""
    names = ("bets", "raises", "street", "factor", "every", "per_check")
    return Growth(algorithm=request["algorithm"] or usual_algorithm(source), **{name: request[name] for name in names})


def _sizes(form: SizesJob) -> JobRequest:
    spot, saved = make_spot(form.spot), form.model_dump()
    saved |= {"spot": spot.summary(), "bets": form.bets or BETS, "raises": form.raises or RAISES}
    saved["lose"] = percent_of_pot("field 'lose'", form.lose) if isinstance(form.lose, str) else form.lose
    question = SizeOptions(**size_options(saved))
    request = choosing_sizes([spot], question, seconds=form.seconds, threads=form.threads)
    title = f"{request.problem.name}, which {form.restrict}"
    return JobRequest(title, saved, stem=_name(form) or request.stem, limits=_limit_fields(request.limits))


def size_options(request: dict[str, Any]) -> dict[str, Any]:
    """Return the fields of ``SizeOptions`` in a form."""
    names = ("keep", "lose", "player", "street", "bets", "raises", "restrict", "per_decision", "counts")
    options = {name: request[name] for name in names}
    return options | ({"counts": 0} if request["per_decision"] else {})


def _resume(form: ResumeJob, directory: Directory) -> JobRequest:
    record = record_of(directory.folder(form.run))
    if isinstance(record.source, str):
        named_game(record.source)
    options = Options(**_values(form, (*LIMITS, *named("threads"))))
    limits = options.limits(record.pot).otherwise(record.limits)
    game = record.game if record.spot is None and record.has_strategies else None
    return JobRequest(record.title, form.model_dump(), game, run=form.run, pot=record.pot, limits=_limit_fields(limits))


def _new(form: SolveJob | GrowJob, request: Request, saved: dict[str, Any]) -> JobRequest:
    """Return a job that starts a new run."""
    problem, plain = request.problem, request.choice.label.partition("(")[0]
    stem = _name(form) or f"{problem.name.replace(' ', '').partition('(')[0]}-{problem.noun or plain}"
    title = f"{problem.name}, {plain}{', growing' if problem.noun else ''}"
    game = problem.name if form.spot is None else None
    return JobRequest(title, saved, game, stem=stem, pot=problem.pot, limits=_limit_fields(request.limits))


def _name(form: SolveJob | GrowJob | SizesJob) -> str | None:
    if form.name is not None and not (PLAIN.fullmatch(form.name) and form.name[0] not in ".-=+"):
        raise ParameterError(
            f"The 'name' of a run must have 1 to 80 letters, digits and + . = , - _, none of . - = + first;"
            f" got {quoted(form.name)}."
        )
    return form.name


def _check_subject(form: SolveJob | GrowJob) -> None:
    if (form.spot is None) == (form.game is None):
        raise ParameterError("The request needs either a 'spot' or a 'game'.")


def _limit_fields(limits: Limits) -> dict[str, Any]:
    return {name: value for name, value in asdict(limits).items() if value is not None}
