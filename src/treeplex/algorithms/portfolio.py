"""Members of ``auto``'s race, and the cost of their work.

Work is counted, never timed, so the same request gives the same bits. ``make calibrate`` measured the nanoseconds per
unit of work once. They are read from ``costs.json``.
"""

from __future__ import annotations

import json
import math
from functools import cache
from pathlib import Path
from typing import Any, Final, NamedTuple

from treeplex.algorithms import race
from treeplex.algorithms.hybrid import Hybrid, walk_cost
from treeplex.algorithms.protocol import Algorithm
from treeplex.algorithms.restarted import Restarted
from treeplex.compile.game import CompiledGame, operator_bytes
from treeplex.engines.open import CPU, CUDA

LP: Final = "lp"
GAMES: Final = "hs-pcfr+;dcfr;sapcfr+;cfr+-restarted;lp"
"""Members for compiled games. The first leads until another is found to be faster. It forgets its first iterations
at once and solves games with pure equilibria in twenty. The second is best at most poker games. The third is far ahead
of both in a few games. The fourth converges faster than any power where it does, and is often best to high accuracy.
The last is the linear program. Alternatives to the third and the fourth were pcfr+, pdcfr+, cfr+ and pcfr+-restarted.
"""

SHARES: Final = {"hs-pcfr+": (0.1, 1.0), "dcfr": (1.0, 0.0), "sapcfr+": (0.1, 0.0), "cfr+-restarted": (0.3, 0.7)}
"""Fraction of the leader's work for each non-leading member, if the target is near and if it is distant."""

OTHERS: Final = (0.3, 0.3)
"""The same fractions for all other algorithms."""

SPOTS: Final = "dcfr(alpha=1.4,beta=0.5,gamma=4,rise=100)"
"""For hold'em spots. It needs the fewest iterations to 0.1 % of the pot of all candidates: docs/how-to/holdem.md.
A race would need four times the memory."""

FILE: Final = Path(__file__).with_name("costs.json")


class Costs(NamedTuple):
    """Cost of each unit of work, in nanoseconds on one thread."""

    iteration: float  # over arrays: fixed cost per iteration
    byte: float  # additionally per byte of the payoff operator
    sequence: float  # additionally per sequence of both players
    evaluation: float  # fixed cost per evaluation
    evaluated: float  # additionally this multiple of an iteration's cost for bytes and sequences
    setup: float  # cost to build and presolve the linear program, per nonzero
    call: float  # per iteration of the simplex method
    touched: float  # additionally per nonzero touched: iteration n touches those of n rows
    device_iteration: float  # on a GPU, as ``iteration``
    device_number: float  # additionally per number read


@cache
def costs() -> Costs:
    """Return the costs in ``costs.json``."""
    return Costs(**json.loads(FILE.read_text(encoding="utf-8"))["nanoseconds"])


class Prices(NamedTuple):
    """Cost of work in one game, in nanoseconds."""

    iteration: float
    evaluation: float
    nonzeros: float  # nonzeros of the linear program
    rows: float  # rows of the linear program

    def program(self, calls: int) -> float:
        """Return the cost of the first ``calls`` iterations of the linear program.

        The basis grows by one row per iteration, so later iterations touch more.
        """
        known, touched = costs(), self.nonzeros / self.rows * calls * min(calls, self.rows)
        return known.setup * self.nonzeros + known.call * calls + known.touched * touched

    @property
    def typical(self) -> float:
        """Typical cost of a game's linear program."""
        return self.program(math.ceil(race.TYPICAL * self.rows))

    def calls(self, work: float) -> int:
        """Return the number of iterations of the linear program that ``work`` pays for."""
        low, high = 0, 1
        while self.program(high) <= work:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.program(middle) <= work else (low, middle)
        return low


def share(name: str, distant: bool) -> float:
    """Return the fraction of the leader's work that a member may use."""
    near, far = SHARES.get(name, OTHERS)
    return far if distant else near


def prices(game: CompiledGame, backend: str = CPU) -> Prices:
    """Return the cost of work in ``game``."""
    known = costs()
    sequences = float(sum(treeplex.sequences for treeplex in game.treeplexes))
    infosets = float(sum(treeplex.infosets + 1 for treeplex in game.treeplexes))
    program = (
        game.operator.entries + sequences + infosets,
        game.treeplexes[0].infosets + 1.0 + game.treeplexes[1].sequences,
    )
    if backend == CUDA:
        swept = known.device_number * (2.0 * game.operator.entries + 8.0 * sequences)
        return Prices(known.device_iteration + swept, 2.0 * (known.device_iteration + swept), *program)
    swept = known.byte * operator_bytes(game.operator) + known.sequence * sequences
    return Prices(known.iteration + swept, known.evaluation + known.evaluated * swept, *program)


def spent(member: Algorithm[Any, Any], price: Prices, game: CompiledGame, state: Any) -> float:
    """Return the counted work of a member so far, in nanoseconds."""
    if isinstance(member, Hybrid) and state.handed_over_at:
        return state.handed_over_at * price.iteration + walk_cost(member.walk.start(game), state.walk)
    checks = 2.0 * price.evaluation * state.checks if isinstance(member, Restarted) else 0.0
    return member.work(game, state).iterations * price.iteration + checks
