"""The exact answer: an equilibrium of both players by one linear program over the sequence form.

    max v(0)   over x >= 0 and free v
    subject to E x = e                      (x is a sequence-form strategy of player 0)
               F'v - A'x <= 0               (v bounds from below what player 1's best response leaves to player 0)

Rows of F'v are player 1's sequences: v(infoset) minus the v of all infosets reached by the sequence. The duals of
these rows are player 1's equilibrium strategy. Follows Koller, Megiddo & von Stengel (1996); solved by HiGHS.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, ClassVar, NamedTuple

import highspy
import numpy as np
from scipy import sparse

from treeplex.algorithms.protocol import Cost, Stop, never
from treeplex.algorithms.tabular import Strategies, Tabular
from treeplex.arrays import Floats
from treeplex.compile.game import CompiledGame
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.sequence.learners import normalised
from treeplex.errors import SolverError
from treeplex.evaluation.exact import evaluate_strategies

TOLERANCE = 1e-7
"""Largest NashConv, relative to the largest payoff, that still counts as exact."""


class State(NamedTuple):
    """What the program found: both players' strategies, and after how many simplex iterations; none before."""

    strategies: Strategies
    iteration: int


@dataclass(frozen=True)
class LinearProgram(Tabular[State]):
    """One linear program, solved in one go: there is nothing to resume."""

    iterates: ClassVar[tuple[str, ...]] = ("average", "best", "current")
    ends: ClassVar[bool] = True

    def start(self, game: CompiledGame, seed: int = 0) -> State:
        """Nothing solved yet."""
        return State((np.empty(0), np.empty(0)), 0)

    def advance(self, game: CompiledGame, state: State, iterations: int, stop: Stop = never) -> State:
        """Solve; ``iterations`` do not matter. ``SolverError`` rather than anything less than an equilibrium."""
        if not np.isfinite(game.payoffs.rows.data).all():
            raise SolverError(f"The linear program of {game.name} was not solved: its payoffs are not finite numbers.")
        x, y, count = _solve(game, 0, stop)
        exact, found = TOLERANCE * (game.largest_payoff or 1.0) * game.unit, normalised(game, (x, y))
        if not evaluate_strategies(game, found).nash_conv <= exact:  # duals can be rougher than primals
            y, _, more = _solve(game, 1, stop)  # player 1's own program
            found, count = normalised(game, (x, y)), count + more
        nash_conv = evaluate_strategies(game, found).nash_conv
        if not nash_conv <= exact:  # also if it is not a number
            raise SolverError(
                f"The linear program of {game.name} came back with NashConv {nash_conv:g}, more than rounding"
                " explains; use an iterative algorithm such as cfr+."
            )
        return State(found, max(count, 1))

    def finished(self, state: State) -> bool:
        """After the first call."""
        return state.iteration > 0

    def average(self, game: CompiledGame, state: State) -> Strategies:
        """The equilibrium."""
        return state.strategies

    def nodes_touched(self, game: CompiledGame, state: State) -> int:
        """The matrix stands for one traversal of the tree; iterations are those of the simplex method."""
        return game.nodes if state.iteration else 0

    def cost(self, game: CompiledGame) -> Cost:
        """As ``Algorithm``: evaluated once, at the end."""
        return Cost(1.0, math.inf)


def lp() -> LinearProgram:
    """Exact, by linear programming over the sequence form (Koller, Megiddo & von Stengel 1996)."""
    return LinearProgram()


def _solve(game: CompiledGame, player: int, stop: Stop) -> tuple[Floats, Floats, int]:
    """Sequence weights of ``player`` (primal) and of the other player (dual), and simplex iterations."""
    own, other = game.treeplexes[player], game.treeplexes[1 - player]
    columns = _other_by_own(game, player)
    plans = sparse.hstack([_flow(own), sparse.csr_array((own.infosets + 1, other.infosets + 1))])
    bounds = sparse.hstack([-columns, _flow(other).T])
    matrix = sparse.vstack([plans, bounds]).tocsc()
    rows, width = matrix.shape
    infinity = highspy.kHighsInf

    program = highspy.HighsLp()
    program.num_col_, program.num_row_ = width, rows
    cost = np.zeros(width)
    cost[own.sequences] = 1.0
    program.sense_ = highspy.ObjSense.kMaximize
    program.col_cost_ = cost
    program.col_lower_ = np.concatenate((np.zeros(own.sequences), np.full(other.infosets + 1, -infinity)))
    program.col_upper_ = np.full(width, infinity)
    start = np.zeros(own.infosets + 1)
    start[0] = 1.0
    program.row_lower_ = np.concatenate((start, np.full(other.sequences, -infinity)))
    program.row_upper_ = np.concatenate((start, np.zeros(other.sequences)))
    program.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    program.a_matrix_.start_ = matrix.indptr
    program.a_matrix_.index_ = matrix.indices
    program.a_matrix_.value_ = matrix.data

    def look(event: Any) -> None:
        if stop():
            event.interrupt()

    solver: Any = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("solver", "simplex")
    solver.setOptionValue("primal_feasibility_tolerance", 1e-10)
    solver.setOptionValue("dual_feasibility_tolerance", 1e-10)
    solver.cbSimplexInterrupt += look
    if solver.passModel(program) == highspy.HighsStatus.kError or solver.run() == highspy.HighsStatus.kError:
        raise SolverError(f"The linear program of {game.name} was refused by HiGHS; its payoffs may be too far apart.")
    status = solver.getModelStatus()
    if status == highspy.HighsModelStatus.kInterrupt:
        raise SolverError(f"The linear program of {game.name} was not solved: out of time, or stopped by Ctrl-C.")
    if status != highspy.HighsModelStatus.kOptimal:
        reason = str(solver.modelStatusToString(status)).lower()
        raise SolverError(f"The linear program of {game.name} was not solved: HiGHS says '{reason}'.")
    solution = solver.getSolution()
    primal = np.maximum(np.array(solution.col_value)[: own.sequences], 0.0)
    dual = np.abs(np.array(solution.row_dual)[own.infosets + 1 :])
    return primal, dual, int(solver.getInfo().simplex_iteration_count)


def _other_by_own(game: CompiledGame, player: int) -> sparse.csr_array:
    """[other S, own S] what ``player`` earns, scaled so that the largest entry is one."""
    csr = game.payoffs[1 - player]
    shape = (game.treeplexes[1 - player].sequences, game.treeplexes[player].sequences)
    scale = (1.0 if player == 0 else -1.0) / (float(np.abs(csr.data).max(initial=0.0)) or 1.0)
    return sparse.csr_array((csr.data * scale, csr.column, csr.start), shape=shape)


def _flow(treeplex: Treeplex) -> sparse.csr_array:
    """[I + 1, S] one row for the empty sequence, one an infoset: own sequences minus the parent sequence."""
    infosets, sequences = treeplex.infosets, treeplex.sequences
    row = np.concatenate(([0], 1 + np.repeat(np.arange(infosets), treeplex.actions), 1 + np.arange(infosets)))
    column = np.concatenate(([0], np.arange(1, sequences), treeplex.parent))
    value = np.concatenate((np.ones(sequences), -np.ones(infosets)))
    return sparse.csr_array((value, (row, column)), shape=(infosets + 1, sequences))
