"""A job is checked when it is asked for, by the code that will carry it out; nothing wrong waits in the queue."""

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
from treeplex.web.directory import Directory
from treeplex.web.refusals import sentence_of
from treeplex.web.runs import record_of
from treeplex.web.schema.jobs import GrowJob, JobForm, ResumeJob, SizesJob, SolveJob

FILES: Final = (".efg", ".safetensors", ".json", ".toml")
PLAIN: Final = re.compile(r"[\w+.=,-]{1,80}")
OPENSPIEL: Final = re.compile(rf"{PREFIX}[a-z0-9_]+")
FORMS: Final[TypeAdapter[JobForm]] = TypeAdapter(JobForm)


class JobRequest(NamedTuple):
    """What a job is, in short, and its request as it is kept."""

    title: str
    request: dict[str, Any]
    game: str | None = None  # its name; None: a hold'em spot
    run: str | None = None  # the run that it goes on with
    stem: str | None = None  # the name of a new run folder, to which a number is added
    pot: float | None = None
    limits: Mapping[str, Any] = {}


def wanted(form: JobForm, directory: Directory) -> JobRequest:
    """The job that a form asks for; refused if it cannot be carried out."""
    asked: dict[type, Callable[..., JobRequest]] = {SolveJob: _solve, GrowJob: _grow, SizesJob: _sizes}
    return _resume(form, directory) if isinstance(form, ResumeJob) else asked[type(form)](form)


def wanted_fields(fields: object, root: str) -> dict[str, Any]:
    """The same for the fields of a form."""
    return wanted(form_of(fields), Directory(Path(root)))._asdict()


def form_of(fields: object) -> JobForm:
    """The form that has these fields."""
    try:
        return FORMS.validate_python(fields)
    except ValidationError as error:
        raise ParameterError(sentence_of(error.errors())) from None


def check_request(fields: object, run: str | None, directory: Directory) -> None:
    """Refuse a request that reads anything but the folder that is served. Jobs lie on disk before they run."""
    form = form_of(fields)
    resumes = isinstance(form, ResumeJob)
    game = record_of(directory.folder(run or "")).source if resumes else getattr(form, "game", None)
    if isinstance(game, str):
        named_game(game)


def named_game(name: str) -> str:
    """The name of a game in the catalog. Files and OpenSpiel's readers of files are for the command line."""
    if name.lower().endswith(FILES) or (name.startswith(PREFIX) and not OPENSPIEL.fullmatch(name)):
        raise ParameterError(
            f"The explorer solves games of the catalog and hold'em spots, not files; got {quoted(name)}."
        )
    if not name.startswith(PREFIX):
        entry_of(name)
    make(name)
    return name


def _values(form: BaseModel, listed: tuple[Field, ...]) -> dict[str, Any]:
    """Options of a form by name."""
    return {each.name: getattr(form, each.name) for each in listed}


def _solve(form: SolveJob) -> JobRequest:
    values, locks, kept = _values(form, (*JOB, *named("threads"))), make_locks(form.locks or ()), form.model_dump()
    _check_subject(form)
    if form.spot is not None:
        request = solving(make_spot(form.spot), form.algorithm, locks=locks, **values)
        solver = checked(request)
        if locks:
            fix(request.problem.game, solver.storage)
        kept["spot"] = request.problem.source
        return _new(form, request, kept)
    game = named_game(str(form.game))
    if form.algorithm is not None:
        build(form.algorithm)
    if locks:
        raise ParameterError("The 'locks' parameter is for hold'em spots.")
    limits, label = Options(**values).limits(None), form.algorithm or DEFAULT_ALGORITHM
    return JobRequest(f"{game}, {label}", kept, game, stem=_name(form) or f"{game}-{label}", limits=_given(limits))


def _grow(form: GrowJob) -> JobRequest:
    kept = form.model_dump()
    _check_subject(form)
    if form.spot is not None:
        kept["spot"] = make_spot(form.spot).summary()
    source: Any = named_game(str(form.game)) if form.spot is None else kept["spot"]
    request = growing(source, growth=growth_of(kept, source), **_values(form, (*LIMITS, *named("storage", "threads"))))
    checked(request)
    return _new(form, request, kept)


def growth_of(request: dict[str, Any], source: str | Mapping[str, Any]) -> Growth:
    """How to grow a spot or a game."""
    names = ("bets", "raises", "street", "factor", "every", "per_check")
    return Growth(algorithm=request["algorithm"] or usual_algorithm(source), **{name: request[name] for name in names})


def _sizes(form: SizesJob) -> JobRequest:
    spot, kept = make_spot(form.spot), form.model_dump()
    kept |= {"spot": spot.summary(), "bets": form.bets or BETS, "raises": form.raises or RAISES}
    kept["lose"] = percent_of_pot("field 'lose'", form.lose) if isinstance(form.lose, str) else form.lose
    question = SizeOptions(**size_options(kept))
    request = choosing_sizes([spot], question, seconds=form.seconds, threads=form.threads)
    title = f"{request.problem.name}, which {form.restrict}"
    return JobRequest(title, kept, stem=_name(form) or request.stem, limits=_given(request.limits))


def size_options(request: dict[str, Any]) -> dict[str, Any]:
    """What a form asks about sizes: fields of ``SizeOptions``."""
    names = ("keep", "lose", "player", "street", "bets", "raises", "restrict", "per_decision", "counts")
    found = {name: request[name] for name in names}
    return found | ({"counts": 0} if request["per_decision"] else {})


def _resume(form: ResumeJob, directory: Directory) -> JobRequest:
    record = record_of(directory.folder(form.run))
    if isinstance(record.source, str):
        named_game(record.source)
    options = Options(**_values(form, (*LIMITS, *named("threads"))))
    limits = options.limits(record.pot).otherwise(record.limits)
    game = record.game if record.spot is None and record.has_strategies else None
    return JobRequest(record.title, form.model_dump(), game, run=form.run, pot=record.pot, limits=_given(limits))


def _new(form: SolveJob | GrowJob, request: Request, kept: dict[str, Any]) -> JobRequest:
    """A job that starts a run."""
    problem, plain = request.problem, request.choice.label.partition("(")[0]
    stem = _name(form) or f"{problem.name.replace(' ', '').partition('(')[0]}-{problem.noun or plain}"
    title = f"{problem.name}, {plain}{', growing' if problem.noun else ''}"
    game = problem.name if form.spot is None else None
    return JobRequest(title, kept, game, stem=stem, pot=problem.pot, limits=_given(request.limits))


def _name(form: SolveJob | GrowJob | SizesJob) -> str | None:
    if form.name is not None and not (PLAIN.fullmatch(form.name) and form.name[0] not in ".-=+"):
        raise ParameterError(
            f"The 'name' of a run must have 1 to 80 letters, digits and + . = , - _, none of . - = + first;"
            f" got {quoted(form.name)}."
        )
    return form.name


def _check_subject(form: SolveJob | GrowJob) -> None:
    if (form.spot is None) == (form.game is None):
        raise ParameterError("Give either a 'spot' or a 'game'.")


def _given(limits: Limits) -> dict[str, Any]:
    return {name: value for name, value in asdict(limits).items() if value is not None}
