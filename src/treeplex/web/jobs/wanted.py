"""A job is checked when it is asked for, by the code that will carry it out; nothing wrong waits in the queue."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final, NamedTuple

from pydantic import TypeAdapter, ValidationError

from treeplex import api
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
from treeplex.poker.sizes.problem import SizeOptions
from treeplex.runs.asking import DEFAULT_ALGORITHM, solving
from treeplex.runs.games import sized_game
from treeplex.runs.limits import Limits
from treeplex.runs.request import SIZES, Request
from treeplex.runs.sizing import size_search
from treeplex.runs.solve import Options, checked
from treeplex.web.directory import Directory
from treeplex.web.refusals import sentence_of
from treeplex.web.runs import pot_of, request_of
from treeplex.web.schema.jobs import GrowJob, JobForm, LimitFields, ResumeJob, SizesJob, SolveJob

FILES: Final = (".efg", ".safetensors", ".json", ".toml")
PLAIN: Final = re.compile(r"[\w+.=,-]{1,80}")
OPENSPIEL: Final = re.compile(rf"{PREFIX}[a-z0-9_]+")
FORMS: Final[TypeAdapter[Any]] = TypeAdapter(JobForm)
LIMITS: Final = ("nash_conv", "exploitability", "seconds", "iterations", "nodes")


class Wanted(NamedTuple):
    """What a job is, in short, and its request as it is kept."""

    title: str
    request: dict[str, Any]
    game: str | None = None  # its name; None: a hold'em spot
    run: str | None = None  # the run that it goes on with
    stem: str | None = None  # the name of a new run folder, to which a number is added
    pot: float | None = None
    limits: Mapping[str, Any] = {}


def wanted(form: Any, directory: Directory) -> Wanted:
    """The job that a form asks for; refused if it cannot be carried out."""
    asked: dict[type, Callable[..., Wanted]] = {SolveJob: _solve, GrowJob: _grow, SizesJob: _sizes}
    return _resume(form, directory) if isinstance(form, ResumeJob) else asked[type(form)](form)


def wanted_fields(fields: Any, root: str) -> dict[str, Any]:
    """The same for the fields of a form."""
    return wanted(form_of(fields), Directory(Path(root)))._asdict()


def form_of(fields: Any) -> Any:
    """The form that has these fields."""
    try:
        return FORMS.validate_python(fields)
    except ValidationError as error:
        raise ParameterError(sentence_of(error.errors())) from None


def check_request(fields: Any, run: str | None, directory: Directory) -> None:
    """Refuse a request that reads anything but the folder that is served. Jobs lie on disk before they run."""
    form = form_of(fields)
    resumes = isinstance(form, ResumeJob)
    game = request_of(directory.folder(run or "")).source if resumes else getattr(form, "game", None)
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


def _limits(form: LimitFields) -> Limits:
    given: dict[str, Any] = {name: getattr(form, name) for name in LIMITS if name != "exploitability"}
    return Limits(**given)


def _solve(form: SolveJob) -> Wanted:
    options, locks = _options(form.threads), make_locks(form.locks or ())
    given, kept = _limits(form), form.model_dump()
    if _is_spot(form):
        spot = make_spot(form.spot)
        more: Any = (form.exploitability, form.seed, form.iterate, form.storage, options.threads, locks)
        asked = solving(spot, form.algorithm, given, *more)
        solver = checked(asked.game, asked.algorithm, asked.request, options)
        if locks:
            fix(asked.game, solver.storage)
        kept["spot"] = spot.summary()
        return _new(form, asked.request, kept, "")
    game = named_game(str(form.game))
    if form.algorithm is not None:
        build(form.algorithm)
    if locks:
        raise ParameterError("The 'locks' parameter is for hold'em spots.")
    limits, asked_for = api.limits_of(given, form.exploitability), form.algorithm or DEFAULT_ALGORITHM
    name = _name(form) or f"{game}-{asked_for}"
    return Wanted(f"{game}, {asked_for}", kept, game, stem=name, limits=_given(limits))


def _grow(form: GrowJob) -> Wanted:
    _options(form.threads)
    given, kept = _limits(form), form.model_dump()
    spot = make_spot(form.spot) if _is_spot(form) else None
    usual = api.DEFAULT_SPOT_ALGORITHM if spot is not None else "cfr"
    growth = growth_of(kept | {"algorithm": form.algorithm or usual})
    if spot is not None:
        kept["spot"] = spot.summary()
    else:
        sized_game(named_game(str(form.game)))
    asked = api.growing(spot or form.game, growth, given, form.exploitability, form.storage)
    checked(asked.game, asked.algorithm, asked.request, _options(form.threads))
    return _new(form, asked.request, kept, "-grow")


def growth_of(request: dict[str, Any]) -> Growth:
    """How to grow."""
    names = ("algorithm", "bets", "raises", "street", "factor", "every", "per_check")
    return Growth(**{name: request[name] for name in names})


def _sizes(form: SizesJob) -> Wanted:
    _options(form.threads)
    spot, kept = make_spot(form.spot), form.model_dump()
    kept |= {"spot": spot.summary(), "bets": form.bets or BETS, "raises": form.raises or RAISES}
    kept["lose"] = percent_of_pot("field 'lose'", form.lose) if isinstance(form.lose, str) else form.lose
    request = size_search([spot], SizeOptions(**size_options(kept)), Limits(seconds=form.seconds)).request
    stem = _name(form) or f"{request.game.replace(' ', '')}-sizes"
    return Wanted(f"{request.game}, which {form.restrict}", kept, stem=stem, limits=_given(request.limits))


def size_options(request: dict[str, Any]) -> dict[str, Any]:
    """What a form asks about sizes: fields of ``SizeOptions``."""
    names = ("keep", "lose", "player", "street", "bets", "raises", "restrict", "per_decision", "counts")
    found = {name: request[name] for name in names}
    return found | ({"counts": 0} if request["per_decision"] else {})


def _resume(form: ResumeJob, directory: Directory) -> Wanted:
    request = request_of(directory.folder(form.run))
    _options(form.threads)
    if isinstance(request.source, str):
        named_game(request.source)
    pot = pot_of(request)
    limits = api.limits_of(_limits(form), form.exploitability, pot).otherwise(request.limits)
    title = f"{request.game}, {request.asked}"
    game = None if request.is_spot or request.kind == SIZES else request.game
    return Wanted(title, form.model_dump(), game, run=form.run, pot=pot, limits=_given(limits))


def _new(form: SolveJob | GrowJob, request: Request, kept: dict[str, Any], ending: str) -> Wanted:
    """A job that starts a run."""
    plain = request.asked.partition("(")[0]
    stem = _name(form) or f"{request.game.replace(' ', '').partition('(')[0]}{ending or f'-{plain}'}"
    title = f"{request.game}, {plain}{', growing' if ending else ''}"
    game = None if request.is_spot else request.game
    return Wanted(title, kept, game, stem=stem, pot=pot_of(request), limits=_given(request.limits))


def _name(form: SolveJob | GrowJob | SizesJob) -> str | None:
    if form.name is not None and not (PLAIN.fullmatch(form.name) and form.name[0] not in ".-=+"):
        raise ParameterError(
            f"The 'name' of a run must have 1 to 80 letters, digits and + . = , - _, none of . - = + first;"
            f" got {quoted(form.name)}."
        )
    return form.name


def _is_spot(form: SolveJob | GrowJob) -> bool:
    if (form.spot is None) == (form.game is None):
        raise ParameterError("Give either a 'spot' or a 'game'.")
    return form.spot is not None


def _options(threads: Any) -> Options:
    return Options(threads=threads)


def _given(limits: Limits) -> dict[str, Any]:
    return {name: value for name, value in asdict(limits).items() if value is not None}
