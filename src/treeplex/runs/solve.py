"""Name an algorithm, get a solution; or go on with one that was stopped."""

from __future__ import annotations

import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from treeplex.compile.game import CompiledGame
from treeplex.errors import ParameterError
from treeplex.evaluation.log import LogRow, to_table
from treeplex.evaluation.policy import Policy
from treeplex.games.protocol import name_of
from treeplex.algorithms.protocol import Algorithm, Random
from treeplex.runs.checkpoint import Checkpoint
from treeplex.runs.folder import RunFolder, fingerprint
from treeplex.runs.limits import Limits
from treeplex.algorithms.linear_program import solve_linear_program
from treeplex.algorithms.registry import ALGORITHMS, build
from treeplex.runs.run import ITERATES, SOLVED, Plan, Watcher, run
from treeplex.runs.solution import Solution
from treeplex.spec import parse

UNLIMITED = "Say when to stop: give nash_conv, seconds, iterations or nodes."


@dataclass(frozen=True)
class Options:
    """How to run, beside what and when to stop."""

    seed: int = 0
    iterate: str = "average"
    folder: str | Path | None = None  # where to keep checkpoints and the answer
    checkpoint_seconds: float = 30.0
    watch: Watcher | None = None

    def __post_init__(self) -> None:
        if self.iterate not in ITERATES:
            legal = ", ".join(f'"{name}"' for name in ITERATES)
            raise ParameterError(f"The 'iterate' parameter must be one of {legal}, got {self.iterate!r}.")
        seed: Any = self.seed
        if isinstance(seed, bool) or not isinstance(seed, int) or not 0 <= seed < 2**63:
            raise ParameterError(f"The 'seed' parameter must be a whole number from 0 up, got {seed!r}.")
        every: Any = self.checkpoint_seconds
        if isinstance(every, bool) or not isinstance(every, int | float) or not every >= 0.0:
            raise ParameterError(
                f"The 'checkpoint_seconds' parameter must be a number that is not negative, got {every!r}."
            )


def solve_game(
    game: CompiledGame, algorithm: str | Algorithm, limits: Limits, options: Options | None = None
) -> Solution:
    """Solve ``game`` by the algorithm of that name, or by an assembled one, until a limit is reached."""
    options = options or Options()
    assembled = _assembled(algorithm, options.seed)
    algorithm = algorithm if isinstance(algorithm, str) else name_of(algorithm)
    if assembled is not None and not limits.any:
        raise ParameterError(UNLIMITED)
    folder = None
    if options.folder is not None:
        RunFolder.refuse_existing(options.folder)
        folder = RunFolder.create(options.folder, game, algorithm, limits, options.seed, options.iterate)
    if assembled is None:
        solution = _solve_exactly(game, algorithm, limits, options)
    else:
        solution = _iterate(game, assembled, algorithm, limits, options, folder, None)
    if folder is not None:
        folder.finish(solution)
    return solution


def resume_run(
    folder: RunFolder, game: CompiledGame, limits: Limits, options: Options, algorithm: str | Algorithm | None = None
) -> Solution:
    """Go on with a run. Without limits of its own: to those of the run, less the seconds already spent.

    ``algorithm``: the one the run was started with, if it has no name in the registry.
    """
    request = folder.request
    if fingerprint(game) != request.fingerprint:
        raise ParameterError(f"The game in {folder.path} is not the {game.name} of this version; start a new run.")
    assembled = _assembled(algorithm if algorithm is not None else _registered(folder), request.seed)
    if assembled is None:
        raise ParameterError(
            f"The run in {folder.path} was solved exactly by {request.algorithm}; nothing is left to do."
        )
    point = folder.checkpoint(assembled.start(game), [treeplex.sequences for treeplex in game.treeplexes])
    if not limits.any:
        seconds = request.limits.seconds
        if seconds is not None and point is not None:
            seconds = max(seconds - point.seconds, 0.0)
        old = request.limits
        limits = Limits(old.nash_conv, seconds, old.iterations, old.nodes)
        if not limits.any:
            raise ParameterError(UNLIMITED)
    solution = _iterate(game, assembled, request.algorithm, limits, options, folder, point)
    folder.finish(solution)
    return solution


def _registered(folder: RunFolder) -> str:
    """The run's algorithm, if it has a name that can be built again."""
    name = folder.request.algorithm
    if parse(name)[0] not in ALGORITHMS:
        raise ParameterError(
            f"The run in {folder.path} was made by a rule of your own, '{name}'; give it as algorithm=."
        )
    return name


def _assembled(algorithm: str | Algorithm, seed: int) -> Algorithm | None:
    assembled = build(algorithm) if isinstance(algorithm, str) else algorithm
    if assembled is not None and not hasattr(assembled, "advance"):
        raise ParameterError(f"The 'algorithm' parameter must be a name or made by minimizer, got {algorithm!r}.")
    return assembled.seeded(seed) if isinstance(assembled, Random) else assembled


def _iterate(
    game: CompiledGame,
    assembled: Algorithm,
    name: str,
    limits: Limits,
    options: Options,
    folder: RunFolder | None,
    point: Checkpoint | None,
) -> Solution:
    last: list[Checkpoint] = []

    def keep(checkpoint: Checkpoint) -> None:
        last[:] = [checkpoint]
        if folder is not None:
            folder.keep(checkpoint)

    plan = Plan(limits, options.iterate, options.watch, keep, options.checkpoint_seconds)
    status, state, rows, seconds, behaviour, evaluation = run(game, assembled, plan, point)
    return Solution(
        game=game,
        algorithm=name,
        policy=Policy.of(game, behaviour),
        value=evaluation.value,
        nash_conv=evaluation.nash_conv,
        best_response_values=evaluation.best_response_values,
        status=status,
        iterations=state.iteration,
        nodes_touched=rows[-1].nodes_touched,
        seconds=seconds,
        seed=options.seed,
        iterate=options.iterate,
        log=to_table(rows),
        limits=limits,
        checkpoint=last[0],
    )


def _solve_exactly(game: CompiledGame, name: str, limits: Limits, options: Options) -> Solution:
    began = time.perf_counter()
    behaviour, evaluation, iterations = solve_linear_program(game, limits.seconds)
    seconds = time.perf_counter() - began
    value, nash_conv, bests = evaluation
    row = LogRow(iterations, game.nodes, seconds, 0.0, value, nash_conv, nash_conv / 2.0)
    return Solution(
        game=game,
        algorithm=name,
        policy=Policy.of(game, behaviour),
        value=value,
        nash_conv=nash_conv,
        best_response_values=bests,
        status=SOLVED,
        iterations=iterations,
        nodes_touched=game.nodes,
        seconds=seconds,
        seed=options.seed,
        iterate="average",
        log=to_table([row]),
        limits=limits,
        checkpoint=None,
    )
