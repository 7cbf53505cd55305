"""Name an algorithm, get a solution."""

from __future__ import annotations

import difflib
import time

from treeplex.compiled.game import CompiledGame
from treeplex.errors import ParameterError
from treeplex.evaluation.log import LogRow, to_table
from treeplex.evaluation.policy import Policy
from treeplex.solvers.linear_program import solve_linear_program
from treeplex.solvers.registry import ALGORITHMS
from treeplex.solvers.run import Limits, Watcher, run
from treeplex.solvers.solution import SOLVED, Solution


def solve_game(
    game: CompiledGame, algorithm: str, limits: Limits, seed: int = 0, watch: Watcher | None = None
) -> Solution:
    """Solve ``game`` by the algorithm of that name, until a limit is reached."""
    entry = ALGORITHMS.get(algorithm)
    if entry is None:
        near = difflib.get_close_matches(algorithm, ALGORITHMS, n=3, cutoff=0.3) or list(ALGORITHMS)
        raise ParameterError(f"There is no algorithm '{algorithm}'; the nearest are {', '.join(near)}.")
    if entry.build is None:
        return _solve_exactly(game, limits, seed)
    if not limits.any:
        raise ParameterError("Say when to stop: give nash_conv, seconds, iterations or nodes.")
    return run(game, entry.build(), algorithm, limits, seed, watch)


def _solve_exactly(game: CompiledGame, limits: Limits, seed: int) -> Solution:
    began = time.perf_counter()
    behaviour, evaluation, iterations = solve_linear_program(game, limits.seconds)
    seconds = time.perf_counter() - began
    value, nash_conv, bests = evaluation
    row = LogRow(iterations, game.nodes, seconds, 0.0, value, nash_conv, nash_conv / 2.0)
    policy = Policy.of(game, behaviour)
    return Solution(
        game, "lp", policy, value, nash_conv, bests, SOLVED, iterations, game.nodes, seconds, seed, to_table([row])
    )
