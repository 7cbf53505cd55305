"""What a user asks for, as a run: the game, the algorithm and the limits, by whatever names they are given."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

from treeplex.algorithms.auto import Auto
from treeplex.algorithms.cfr import CFR
from treeplex.algorithms.protocol import Algorithm
from treeplex.algorithms.registry import canonical, family, settled
from treeplex.errors import ParameterError, TreeplexError, quoted
from treeplex.games.holdem.locks import Lock
from treeplex.games.protocol import name_of
from treeplex.runs import games
from treeplex.runs.folder import RunFolder
from treeplex.runs.games import Source
from treeplex.runs.limits import Limits
from treeplex.runs.request import GAME, SPOT, Request, seed_of
from treeplex.runs.solution import Solution
from treeplex.runs.solve import Options, execute
from treeplex.runs.targets import nash_conv_of
from treeplex.spec import parse

DEFAULT_ALGORITHM = "auto"
DEFAULT_NASH_CONV = 1e-3
"""The target when nothing says when to stop; at most a thousandth of the largest payoff, at least a millionth."""

DEFAULT_SPOT_TARGET = "0.5%pot"
"""The same for a hold'em spot."""


def load(source: Source | Any, report: Callable[[int], None] | None = None) -> Any:
    """Compile a game and check it.

    Args:
        source: ``"name(parameter=value)"``, a path that ends in .efg or .safetensors (``game.save`` writes both),
            ``"openspiel:NAME"``, a pyspiel game, a matrix (an array or a list of rows), or rules of your own. A hold'em
            spot (a ``Spot``, its fields, or a .json or .toml file) becomes the subgame that begins with it.
        report: Called with the number of histories visited, every 65,536 of them, where they are visited one by one.

    >>> load("kuhn").summary()["infosets"]
    [6, 6]
    """
    if is_spot_game(source):
        return source
    spot = games.spot_of(source)
    return games.load_game(source, report) if spot is None else games.spot_game(spot)


class Asked(NamedTuple):
    """A run that is asked for: the game, the algorithm, and what will be written down. Nothing is computed yet."""

    game: Any
    algorithm: Algorithm[Any, Any]
    request: Request


def solving(
    game: Source | Any,
    algorithm: str | Algorithm[Any, Any] | None,
    given: Limits,
    exploitability: float | str | None = None,
    seed: int = 0,
    iterate: str = "average",
    storage: str | None = None,
    threads: int = 0,
    locks: Sequence[Lock] = (),
) -> Asked:
    """What ``solve`` carries out, by the same arguments; refuses what it refuses."""
    if algorithm is not None:
        games.assembled(algorithm)  # whatever is wrong is said before a large game is compiled
    loaded = load(game)
    spot = loaded.spot if is_spot_game(loaded) else None
    if locks:
        if spot is None:
            raise ParameterError("The 'locks' parameter is for hold'em spots.")
        locks = games.locks_of(locks)
        loaded = replace(loaded, locks=locks)
    limits = limits_of(given, exploitability, pot_of(loaded))
    wanted = algorithm or default_algorithm(loaded)
    asked = wanted if isinstance(wanted, str) else name_of(wanted)
    wanted = settled(wanted, limits.iterations) if isinstance(wanted, str) else wanted
    solver = games.assembled(wanted)
    if spot is not None and not isinstance(solver, CFR | Auto):
        raise ParameterError(f"Hold'em spots are solved by auto, {family()}, got {quoted(asked)}.")
    request = Request(
        kind=GAME if spot is None else SPOT,
        game=loaded.name,
        source=loaded.source if spot is None else spot.summary(),
        fingerprint=loaded.fingerprint,
        algorithm=canonical(wanted) if isinstance(wanted, str) else name_of(wanted),
        asked=asked,
        seed=seed_of(seed),
        storage=storage,
        iterate=iterate,
        options={"locks": [lock._asdict() for lock in locks]} if locks else {},
        limits=limits.otherwise(default_limits(loaded, solver)),
        threads=threads,
    )
    return Asked(loaded, solver, request)


def carry_out(
    game: Source | Any,
    algorithm: str | Algorithm[Any, Any] | None,
    given: Limits,
    options: Options,
    kept: str | Path | None,
    over: Callable[[Asked], Algorithm[Any, Any]] | None = None,
    **more: Any,
) -> Solution:
    """Ask for a run and carry it out, in the folder ``kept`` if there is one.

    ``over``: what carries the algorithm out in its place, on other machines. ``more``: as ``solving`` takes it.
    """
    if isinstance(algorithm, str) and kept is not None:
        algorithm = as_begun(algorithm, kept)
    asked = solving(game, algorithm, given, threads=options.threads, **more)
    return execute(asked.game, asked.algorithm if over is None else over(asked), asked.request, options, kept)


def limits_of(
    given: Limits, exploitability: float | str | None, pot: float | None = None, big_blind: float | None = None
) -> Limits:
    """Limits with ``exploitability``, which is another way to say ``nash_conv``, among them."""
    if exploitability is None:
        return given
    if given.nash_conv is not None:
        raise ParameterError("Give 'nash_conv' or 'exploitability', not both: one is twice the other.")
    return replace(given, nash_conv=nash_conv_of(exploitability, pot, big_blind))


def pot_of(game: Any) -> float | None:
    """Of a hold'em spot that is loaded; None for any other game."""
    return float(game.spot.pot) if is_spot_game(game) else None


def default_limits(game: Any, algorithm: str | Algorithm[Any, Any] | None = None) -> Limits:
    """What ``solve`` goes to when nothing says when to stop: no limit for an algorithm that ends by itself."""
    if algorithm is not None and games.assembled(algorithm).ends:
        return Limits()
    pot = pot_of(game)
    if pot is not None:
        return Limits(nash_conv_of(DEFAULT_SPOT_TARGET, pot))
    largest = game.largest_payoff * game.unit or 1.0
    return Limits(min(max(DEFAULT_NASH_CONV, 1e-6 * largest), 1e-3 * largest))


def default_algorithm(game: Any) -> str:
    """What ``solve`` takes when no algorithm is named."""
    return DEFAULT_ALGORITHM


def as_begun(algorithm: str, kept: str | Path) -> str:
    """``algorithm`` with the horizon that the run in a folder began with, if it is the run of this very algorithm."""
    try:
        begun = RunFolder.open(kept).request.algorithm
        horizon = dict(parse(begun)[1]).get("horizon")
    except TreeplexError:
        return algorithm
    meant = settled(algorithm, horizon) if isinstance(horizon, int) else algorithm
    return meant if meant != algorithm and canonical(meant) == begun else algorithm


def is_spot_game(game: object) -> bool:
    """Is this a hold'em spot that is loaded?"""
    return type(game).__name__ == "HoldemGame"
