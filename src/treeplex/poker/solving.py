"""Solve a spot, go on with one, or open one that was solved: the same run loop as for every other game."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from treeplex.algorithms.holdem import DEFAULT, HoldemCFR, State, algorithm
from treeplex.arrow import Table
from treeplex.engines.boards.game import HoldemGame, load_spot
from treeplex.engines.boards.locks import Lock
from treeplex.errors import ParameterError
from treeplex.evaluation.log import to_table
from treeplex.games.holdem.spot import Spot, read_spot
from treeplex.poker.folder import HoldemFolder, Request
from treeplex.poker.reading import Reader
from treeplex.runs.checkpoint import Checkpoint
from treeplex.runs.limits import Limits
from treeplex.runs.run import ITERATES, Plan, Watcher, run

DEFAULT_PERCENT: Final = 0.5  # of the pot


@dataclass(frozen=True)
class HoldemSolution:
    """What was found for a spot. Exploitability is half of NashConv, in chips unless its name says otherwise."""

    game: HoldemGame
    request: Request
    status: str
    iterations: int
    seconds: float
    ev: tuple[float, float]  # what each player takes of the pot on average
    nash_conv: float
    log: Table
    reader: Reader

    @property
    def exploitability(self) -> float:
        """Half of what both best responses gain, in chips."""
        return self.nash_conv / 2.0

    @property
    def percent_of_pot(self) -> float:
        """Exploitability in per cent of the pot."""
        return 100.0 * self.exploitability / self.game.spot.pot

    def mbb(self, big_blind: float) -> float:
        """Exploitability in thousandths of a big blind of so many chips."""
        return 1000.0 * self.exploitability / big_blind

    def summary(self) -> dict[str, Any]:
        """The result as ``treeplex holdem solve --json`` prints it."""
        root = self.reader.at("")
        return {
            "board": self.game.name,
            "algorithm": self.request.algorithm,
            "storage": self.request.storage,
            "iterations": self.iterations,
            "seconds": self.seconds,
            "nodes": self.game.nodes,
            "bytes": self.game.memory(self.request.storage),
            "value": self.ev[0],
            "ev": list(self.ev),
            "equity": list(self.reader.equity()),
            "nash_conv": self.nash_conv,
            "exploitability": self.exploitability,
            "exploitability_percent_of_pot": self.percent_of_pot,
            "root_strategy": root.totals(),
            "status": self.status,
        }


def solve(
    spot: Spot | HoldemGame | str | Path,
    algorithm: str = DEFAULT,
    *,
    percent_of_pot: float | None = None,
    seconds: float | None = None,
    iterations: int | None = None,
    storage: str = "float32",
    threads: int = 0,
    locks: tuple[Lock, ...] = (),
    iterate: str = "average",
    folder: str | Path | None = None,
    checkpoint_seconds: float = 30.0,
    watch: Watcher | None = None,
) -> HoldemSolution:
    """Solve ``spot`` (or the one in a file) until a limit is reached, by default to 0.5 % of the pot.

    ``percent_of_pot``: exploitability, in per cent. ``storage``: "float32", "int16" (half the memory) or "float64".
    ``threads``: 0 means all cores for large trees. ``folder``: keep checkpoints and the answer there.

    >>> from treeplex.holdem import Spot, sizes_for, solve
    >>> spot = Spot("Ks 9h 6d 3c Jh", 100, 100, "AA,KQs", "QQ,AKs", sizes_for("a", ""))
    >>> solve(spot, percent_of_pot=0.1, storage="float64").percent_of_pot < 0.1
    True
    """
    if iterate not in ITERATES:
        legal = ", ".join(f'"{name}"' for name in ITERATES)
        raise ParameterError(f"The 'iterate' parameter must be one of {legal}, got {iterate!r}.")
    game = _game(spot)
    limits = _limits(game, percent_of_pot, seconds, iterations)
    request = Request(game.spot, algorithm, storage, threads, locks, limits, iterate)
    kept = HoldemFolder.create(folder, request) if folder is not None else None
    return _run(game, request, limits, kept, None, checkpoint_seconds, watch)


def resume(
    folder: str | Path,
    *,
    percent_of_pot: float | None = None,
    seconds: float | None = None,
    iterations: int | None = None,
    checkpoint_seconds: float = 30.0,
    watch: Watcher | None = None,
) -> HoldemSolution:
    """Go on with a run; without limits, to those it had. ``seconds`` count from now, iterations from the start."""
    kept = HoldemFolder.open(folder)
    game = load_spot(kept.request.spot)
    asked = any(limit is not None for limit in (percent_of_pot, seconds, iterations))
    limits = _limits(game, percent_of_pot, seconds, iterations) if asked else kept.request.limits
    solver = _solver(kept.request)
    point = kept.checkpoint(solver.start(game))
    return _run(game, kept.request, limits, kept, point, checkpoint_seconds, watch)


def open_run(folder: str | Path) -> Reader:
    """Browse a solved spot without solving it again."""
    kept = HoldemFolder.open(folder)
    game = load_spot(kept.request.spot)
    solver = _solver(kept.request)
    point = kept.checkpoint(solver.start(game))
    if point is None:
        raise ParameterError(f"The run in {folder} has no checkpoint yet; resume it first.")
    return Reader(game, solver, _reported(solver, game, point, kept.request.iterate))


def _run(
    game: HoldemGame,
    request: Request,
    limits: Limits,
    kept: HoldemFolder | None,
    point: Checkpoint | None,
    every: float,
    watch: Watcher | None,
) -> HoldemSolution:
    solver = _solver(request)
    keep = kept.keep if kept is not None else None
    plan = Plan(limits, request.iterate, watch, keep, every, solver.evaluate, next_row)
    outcome = run(game, cast(Any, solver), plan, point)  # games of another kind, but the same promises
    value = outcome.evaluation.value
    reader = Reader(game, solver, outcome.behaviour)
    other = reader.value(1) if game.spot.rake_rate else game.spot.pot - value
    solution = HoldemSolution(
        game,
        request,
        outcome.status,
        outcome.state.iteration,
        outcome.seconds,
        (value, other),
        outcome.evaluation.nash_conv,
        to_table(outcome.rows),
        reader,
    )
    if kept is not None:
        kept.finish(solution.summary(), solution.log, request)
    return solution


def next_row(iteration: int) -> int:
    """Rows of the log stand at 1, 2, 5, and every tenth iteration, further apart from 200 on."""
    for early in (1, 2, 5):
        if iteration < early:
            return early
    step = max(10, iteration // 200 * 10)
    return iteration // step * step + step


def _limits(game: HoldemGame, percent: float | None, seconds: float | None, iterations: int | None) -> Limits:
    if percent is None and seconds is None and iterations is None:
        percent = DEFAULT_PERCENT
    given: Any = percent
    if percent is not None and (isinstance(given, bool) or not isinstance(given, int | float) or not given > 0.0):
        raise ParameterError(f"The 'percent_of_pot' parameter must be a positive number, got {percent!r}.")
    target = None if percent is None else 2.0 * game.spot.pot * percent / 100.0
    return Limits(target, seconds, iterations)


def _game(spot: Spot | HoldemGame | str | Path) -> HoldemGame:
    if isinstance(spot, HoldemGame):
        return spot
    return load_spot(spot if isinstance(spot, Spot) else read_spot(spot))


def _solver(request: Request) -> HoldemCFR:
    return algorithm(request.algorithm, request.storage, request.threads, request.locks)


def _reported(solver: HoldemCFR, game: HoldemGame, point: Checkpoint, iterate: str) -> Any:
    state: State = point.state
    if iterate == "best" and point.best is not None:
        return point.best.first, point.best.second
    return solver.current(game, state) if iterate == "current" else solver.average(game, state)
