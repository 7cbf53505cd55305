"""Exact solution: an equilibrium of both players by one linear program over the sequence form.

    max v(0)   over x >= 0 and free v
    subject to E x = e                      (x is a sequence-form strategy of player 0)
               F'v - A'x <= 0               (v: lower bound of player 0's payoff against a best response)

Rows of F'v are player 1's sequences: v(infoset) minus the v of all infosets reached by the sequence. The duals of
these rows are player 1's equilibrium strategy. Follows Koller, Megiddo & von Stengel (1996); solved by HiGHS.

HiGHS works to absolute tolerances and drops small coefficients. An optimum of its program may therefore be far from
an equilibrium of the game, so every solution is judged by its NashConv in the game. If that misses the target, the
program of the other player is solved, then both again with payoffs in another unit. The best strategies of all are the
answer.
"""

from __future__ import annotations

import math
import sys
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, ClassVar, Final, NamedTuple

import highspy
import numpy as np
from scipy import sparse

from treeplex.algorithms.protocol import Cost, Execution, Stop, Work, never, plain_execution
from treeplex.algorithms.tabular import Strategies, Tabular
from treeplex.compile.game import CompiledGame, Prebuilt
from treeplex.compile.payoffs import Payoffs
from treeplex.compile.treeplex import Treeplex
from treeplex.engines.history.levels import chance_reach, level_order, level_tree
from treeplex.engines.history.paths import last_sequences
from treeplex.engines.sequence.learners import normalised
from treeplex.errors import SolverError
from treeplex.evaluation.exact import evaluate_strategies
from treeplex.games.protocol import TERMINAL

TOLERANCE: Final = 1e-7
"""Largest NashConv that counts as exact where the run has no target, relative to half the range of payoffs."""

ROUNDING: Final = 1e-14  # rounding of NashConv itself, relative to the largest payoff
SMALLEST, LARGEST = 1e-12, 1e15  # coefficients that HiGHS accepts at most


class _InterruptedError(SolverError):
    """The program ran out of time, or Ctrl-C stopped it."""


class ProgramState(NamedTuple):
    """Solution of the program: both strategies and the number of simplex iterations; empty and 0 before."""

    strategies: Strategies
    iteration: int


@dataclass(frozen=True)
class LinearProgram(Tabular[ProgramState]):
    """One linear program, solved at once: there is nothing to resume."""

    iterates: ClassVar[tuple[str, ...]] = ("average", "best", "current")
    ends: ClassVar[bool] = True

    target: float | None = None  # NashConv that the run should reach

    def open(self, game: CompiledGame, execution: Execution) -> LinearProgram:
        """As ``Algorithm``."""
        plain_execution(execution)
        return replace(self, target=execution.limits.nash_conv)

    def start(self, game: CompiledGame, seed: int = 0) -> ProgramState:
        """As ``Algorithm``: nothing is solved yet."""
        return ProgramState((np.empty(0), np.empty(0)), 0)

    def advance(self, game: CompiledGame, state: ProgramState, iterations: int, stop: Stop = never) -> ProgramState:
        """Solve; ``iterations`` is ignored. Without a target, less than an equilibrium raises ``SolverError``."""
        if not np.isfinite(game.payoffs.rows.data).all():
            raise SolverError(f"The linear program of {game.name} was not solved: its payoffs are not finite numbers.")
        low, high = _payoff_range(game)
        exact = (TOLERANCE * 0.5 * (high - low) + ROUNDING * game.largest_payoff) * game.unit
        target, worst = (exact, exact) if self.target is None else (min(exact, self.target), sys.float_info.max)
        strategies, count = _best(game, target, stop)
        nash_conv = evaluate_strategies(game, strategies).nash_conv
        if not nash_conv <= worst:  # also if it is not a number
            raise SolverError(
                f"The linear program of {game.name} came back with NashConv {nash_conv:g}, more than rounding"
                " explains; use an iterative algorithm such as cfr+."
            )
        return ProgramState(strategies, max(count, 1))

    def work(self, game: CompiledGame, state: ProgramState) -> Work:
        """As ``Algorithm``: finished after the first call."""
        done = state.iteration > 0
        return Work(state.iteration, self.nodes_touched(game, state), {}, done, not done)

    def average(self, game: CompiledGame, state: ProgramState) -> Strategies:
        """Return the equilibrium strategies of both players."""
        return state.strategies

    def nodes_touched(self, game: CompiledGame, state: ProgramState) -> int:
        """Return one traversal of the tree for the matrix; iterations count simplex steps instead."""
        return game.nodes if state.iteration else 0

    def cost(self, game: CompiledGame) -> Cost:
        """As ``Algorithm``: evaluated once, at the end."""
        return Cost(1.0, math.inf)


def lp() -> LinearProgram:
    """Exact solution by linear programming over the sequence form (Koller, Megiddo & von Stengel 1996)."""
    return LinearProgram()


def _best(game: CompiledGame, target: float, stop: Stop) -> tuple[Strategies, int]:
    """Return the best strategies of the programs solved until ``target`` is reached, and the simplex iterations.

    A strategy's loss to a best response does not depend on the other player's strategy, so each is chosen separately.
    """
    payoffs = _centred(game)
    best: Strategies | None = None
    losses, count, failures = (math.inf, math.inf), 0, list[SolverError]()
    for scale, player in product(_scales(payoffs), (0, 1)):
        try:
            pair, more = _solve(game, payoffs, scale, player, stop)
        except SolverError as failure:
            failures.append(failure)
            if isinstance(failure, _InterruptedError):
                break
            continue
        second, first = evaluate_strategies(game, pair).best_response_values
        if best is not None:
            pair = best[0] if first >= losses[0] else pair[0], best[1] if second >= losses[1] else pair[1]
        best, losses, count = pair, (min(first, losses[0]), min(second, losses[1])), count + more
        if evaluate_strategies(game, best).nash_conv <= target:
            break
    if best is None:
        raise failures[-1]
    return best, count


def _payoff_range(game: CompiledGame) -> tuple[float, float]:
    """Return the lowest and the highest payoff, as stored; without a tree, the bounds by the largest one."""
    if not isinstance(game.make_tree, Prebuilt):
        return -game.largest_payoff, game.largest_payoff
    paid = game.tree.payoff[game.tree.mover == TERMINAL]
    return float(paid.min()), float(paid.max())


def _centred(game: CompiledGame) -> Payoffs:
    """Return payoffs minus the middle of their range, where that is exact: a large constant would hide differences.

    It is exact by Sterbenz's lemma if every payoff is within a factor of two of the middle. Every play ends at one
    terminal, so equilibria stay the same.
    """
    low, high = _payoff_range(game)
    middle = 0.5 * low + 0.5 * high
    if max(abs(low), abs(high)) > 3.0 * min(abs(low), abs(high)) or low * high <= 0.0:
        return game.payoffs
    tree = level_tree(game, level_order(game.tree.parent))
    end = tree.mover == TERMINAL
    paid = chance_reach(tree)[end] * (tree.payoff[end] - middle)
    first, second = game.treeplexes
    return Payoffs.gather(
        (first.sequences, second.sequences), last_sequences(tree, 0)[end], last_sequences(tree, 1)[end], paid
    )


def _scales(payoffs: Payoffs) -> list[float]:
    """Return factors for the payoffs that make the largest, the smallest or their mean one; the best guess first.

    HiGHS drops coefficients below ``SMALLEST`` and rejects those above ``LARGEST``.
    """
    sizes = np.abs(payoffs.rows.data[payoffs.rows.data != 0.0])
    largest, smallest = (float(sizes.max()), float(sizes.min())) if len(sizes) else (1.0, 1.0)
    by_largest, by_smallest = 1.0 / largest, min(1.0 / smallest, LARGEST / largest)
    mean = math.sqrt(by_largest * by_smallest)
    if smallest * by_largest < 10.0 * SMALLEST:
        return [by_smallest, mean, by_largest]
    return list(dict.fromkeys((by_largest, by_smallest, mean)))


def _solve(game: CompiledGame, payoffs: Payoffs, scale: float, player: int, stop: Stop) -> tuple[Strategies, int]:
    """Return both strategies (primal of ``player``, dual of the other) and the number of simplex iterations."""
    own, other = game.treeplexes[player], game.treeplexes[1 - player]
    csr = payoffs[1 - player]
    shape = other.sequences, own.sequences
    columns: sparse.csr_array = sparse.csr_array(
        (csr.data * (scale if player == 0 else -scale), csr.column, csr.start), shape=shape
    )
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

    def interrupt_if_stopped(event: Any) -> None:
        if stop():
            event.interrupt()

    solver: Any = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("solver", "simplex")
    solver.setOptionValue("primal_feasibility_tolerance", 1e-10)
    solver.setOptionValue("dual_feasibility_tolerance", 1e-10)
    solver.setOptionValue("small_matrix_value", SMALLEST)
    solver.cbSimplexInterrupt += interrupt_if_stopped
    if solver.passModel(program) == highspy.HighsStatus.kError or solver.run() == highspy.HighsStatus.kError:
        raise SolverError(f"The linear program of {game.name} was rejected by HiGHS; its payoffs may be too far apart.")
    status = solver.getModelStatus()
    if status == highspy.HighsModelStatus.kInterrupt:
        raise _InterruptedError(f"The linear program of {game.name} was not solved: out of time, or stopped by Ctrl-C.")
    if status != highspy.HighsModelStatus.kOptimal:
        reason = str(solver.modelStatusToString(status)).lower()
        raise SolverError(f"The linear program of {game.name} was not solved: HiGHS says '{reason}'.")
    solution = solver.getSolution()
    primal = np.maximum(np.array(solution.col_value)[: own.sequences], 0.0)
    dual = np.abs(np.array(solution.row_dual)[own.infosets + 1 :])
    pair = (primal, dual) if player == 0 else (dual, primal)
    return normalised(game, pair), int(solver.getInfo().simplex_iteration_count)


def _flow(treeplex: Treeplex) -> sparse.csr_array:
    """[I + 1, S] one row for the empty sequence, one per infoset: own sequences minus the parent sequence."""
    infosets, sequences = treeplex.infosets, treeplex.sequences
    row = np.concatenate(([0], 1 + np.repeat(np.arange(infosets), treeplex.actions), 1 + np.arange(infosets)))
    column = np.concatenate(([0], np.arange(1, sequences), treeplex.parent))
    value = np.concatenate((np.ones(sequences), -np.ones(infosets)))
    return sparse.csr_array((value, (row, column)), shape=(infosets + 1, sequences))
