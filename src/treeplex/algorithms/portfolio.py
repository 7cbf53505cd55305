"""Who runs in ``auto``'s race, as data: members by name, and what their work costs.

Work is counted, never timed, so that the same request gives the same bits. Nanoseconds per counted thing were measured
once, by ``make calibrate``, and are read from ``costs.json``.
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
"""For compiled games: the first leads until another is found to be faster. One rule that forgets its first iterations
at once, which solves games with pure equilibria in twenty; one that is best at most games of poker; one that is far
ahead of both in few games; one that converges faster than any power where it does, and is often best to high accuracy;
and the linear program. Others were tried in place of the third and the fourth: pcfr+, pdcfr+, cfr+, pcfr+-restarted."""

SHARES: Final = {"hs-pcfr+": (0.1, 1.0), "dcfr": (1.0, 0.0), "sapcfr+": (0.1, 0.0), "cfr+-restarted": (0.3, 0.7)}
"""Of the leader's work: what each may take while it does not lead, if the target is near and if it is distant."""

OTHERS: Final = (0.3, 0.3)
"""The same of all other algorithms."""

SPOTS: Final = "dcfr(alpha=1.4,beta=0.5,gamma=4,rise=100)"
"""For hold'em spots: to 0.1 % of the pot it takes the fewest iterations of all that were tried: docs/how-to/holdem.md.
A race would take four times the memory."""

FILE: Final = Path(__file__).with_name("costs.json")


class Costs(NamedTuple):
    """Nanoseconds, on one thread."""

    iteration: float  # over arrays: each, whatever the game
    byte: float  # and per byte of the payoff operator
    sequence: float  # and per sequence of both players
    evaluation: float  # each, whatever the game
    evaluated: float  # and so many times what bytes and sequences cost an iteration
    setup: float  # of the linear program: per nonzero, to build and presolve it
    call: float  # per iteration of the simplex method
    touched: float  # and per nonzero it touches: those of as many rows as there have been iterations
    device_iteration: float  # on a GPU, as ``iteration``
    device_number: float  # and per number read


@cache
def costs() -> Costs:
    """What the file says."""
    return Costs(**json.loads(FILE.read_text(encoding="utf-8"))["nanoseconds"])


class Prices(NamedTuple):
    """What work costs in one game, in nanoseconds."""

    iteration: float
    evaluation: float
    nonzeros: float  # of the linear program
    rows: float  # of it

    def program(self, calls: int) -> float:
        """What the first ``calls`` iterations of the linear program cost.

        The basis fills up by one row per iteration, so that later iterations touch more.
        """
        known, touched = costs(), self.nonzeros / self.rows * calls * min(calls, self.rows)
        return known.setup * self.nonzeros + known.call * calls + known.touched * touched

    @property
    def typical(self) -> float:
        """What the linear program of a game usually costs."""
        return self.program(math.ceil(race.TYPICAL * self.rows))

    def calls(self, work: float) -> int:
        """How many iterations of the linear program ``work`` pays for."""
        low, high = 0, 1
        while self.program(high) <= work:
            low, high = high, 2 * high
        while high - low > 1:
            middle = (low + high) // 2
            low, high = (middle, high) if self.program(middle) <= work else (low, middle)
        return low


def share(name: str, distant: bool) -> float:
    """What a member may take of the leader's work."""
    near, far = SHARES.get(name, OTHERS)
    return far if distant else near


def prices(game: CompiledGame, backend: str = CPU) -> Prices:
    """What work costs in ``game``."""
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
    """The counted work of a member so far, in nanoseconds."""
    if isinstance(member, Hybrid) and state.handed_over_at:
        return state.handed_over_at * price.iteration + walk_cost(member.walk.start(game), state.walk)
    checks = 2.0 * price.evaluation * state.checks if isinstance(member, Restarted) else 0.0
    return member.work(game, state).iterations * price.iteration + checks
