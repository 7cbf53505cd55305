"""Restarted averaging: once the gap has fallen far enough, continue from the best point with an empty average.

The conditions and constants are those of PDLP (Applegate et al. 2021; its code has 0.2, 0.8 and 0.36). NashConv, which
is exact here, replaces the normalised duality gap. Every fixed number of iterations, the better of average and current
strategies is the candidate. Let g be its gap, g0 the gap of the point of the last restart, and g' the gap of the
previous candidate. The run continues from the candidate if

    g <= 0.2 g0,  or  g <= 0.8 g0 and g > g',  or  0.36 of all iterations have passed since the last restart.

CFR+ and PCFR+ continue from their current strategies without changes, or from the average with regrets in proportion
to it: Q(a) = (sum over b of Q(b)) sigma(a). An infoset's regrets, and with them its steps, then stay as large as they
were. Mirror prox continues with the dual point whose smoothed best response is the candidate.

The excessive gap technique restarts as in Gilpin, Peña & Sandholm (2012): whenever g <= g0 / 2, its smoothing begins
anew, with distances measured from the candidate. They prove O(ln(1 / eps)) iterations for Nesterov's smoothing with
Euclidean distances. Differs from the paper in: distances are those of the dilated entropy, the method is the excessive
gap technique, g is computed at every check, and nothing is proved.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex.algorithms.cfr import CFR, cfr_plus, pcfr_plus
from treeplex.algorithms.excessive_gap import ExcessiveGap, ExcessiveGapState, egt
from treeplex.algorithms.mirror import MirrorProx, MirrorState, mirror_prox
from treeplex.algorithms.options import counted, named
from treeplex.algorithms.protocol import Array, Cost, Execution, Stop, StrategyReport, Tensors, never
from treeplex.algorithms.tabular import Strategies, Tabular
from treeplex.compile.game import CompiledGame
from treeplex.engines.open import CPU
from treeplex.engines.sequence.arrays import Learner
from treeplex.engines.sequence.cpu import treeplex as walks
from treeplex.engines.sequence.engine import SequenceTables
from treeplex.engines.sequence.entropy import centres
from treeplex.engines.sequence.first_order import ROUNDING, Mirror
from treeplex.evaluation.exact import evaluate_strategies
from treeplex.tensors import MOST, checked


class Conditions(NamedTuple):
    """Conditions of a restart."""

    sufficient: float  # fraction of the gap at the last restart
    necessary: float  # fraction of that gap, once the gap rises again
    artificial: float  # fraction of all iterations


PDLP: Final = Conditions(0.2, 0.8, 0.36)
HALVED: Final = Conditions(0.5, 0.0, math.inf)
MOST_EVERY: Final = 1_000_000
PASSES: Final = 4  # passes per check: best responses of both players to two pairs of strategies
STORED: Final = {name: name for name in ("float64", "float32")}  # storage types in which regrets can be set


class RestartedState(NamedTuple):
    """State of the algorithm between iterations."""

    inner: Any  # state of the inner algorithm, whose iterations count from the last restart
    began: int  # the iteration of the last restart
    gaps: tuple[float, float]  # gaps of the last restart's point and of the last candidate
    checks: int
    restarts: int
    nodes: int  # histories entered before the last restart, and by checks

    @property
    def iteration(self) -> int:
        """Number of iterations since the start of the run."""
        return self.began + self.inner.iteration


@dataclass(frozen=True)
class Restarted(Tabular[RestartedState]):
    """``inner`` with restarts, considered every ``every`` iterations."""

    inner: CFR | MirrorProx | ExcessiveGap
    every: int
    conditions: Conditions = PDLP

    @property
    def storage(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Storage type of the inner algorithm."""
        return self.inner.storage

    def open(self, game: CompiledGame, execution: Execution) -> Restarted:
        """As ``Algorithm``: on the CPU, and not in 16 bits."""
        named("storage", execution.storage or self.storage, STORED)
        inner: Any = self.inner.open(game, execution._replace(backend=CPU))
        return replace(self, inner=inner)

    def start(self, game: CompiledGame, seed: int = 0) -> RestartedState:
        """As ``Algorithm``: starts the inner algorithm."""
        inner = self.inner.start(game, seed)
        gap = evaluate_strategies(game, _strategies(self.inner, game, inner, "current")).nash_conv
        return RestartedState(inner, 0, (gap, gap), 0, 0, 0)

    def advance(self, game: CompiledGame, state: RestartedState, iterations: int, stop: Stop = never) -> RestartedState:
        """As ``Algorithm``; the arrays of ``state`` are modified in place and belong to the state returned."""
        last = state.iteration + iterations
        while state.iteration < last:
            upto = min(last, (state.iteration // self.every + 1) * self.every)
            state = state._replace(inner=self.inner.advance(game, state.inner, upto - state.iteration, stop))
            if state.iteration % self.every == 0:
                state = self._restart_if_due(game, state)
            if stop():
                break
        return state

    def _restart_if_due(self, game: CompiledGame, state: RestartedState) -> RestartedState:
        """Check the conditions, and return the restarted state or the same one."""
        solver: Any = self.inner
        points: list[StrategyReport] = [solver.report(game, state.inner, iterate) for iterate in ("average", "current")]
        gaps = [point.evaluate().nash_conv for point in points]
        best = int(gaps[1] < gaps[0])
        gap, (then, before) = gaps[best], state.gaps
        state = state._replace(gaps=(then, gap), checks=state.checks + 1, nodes=state.nodes + PASSES * game.nodes)
        sufficient, necessary, artificial = self.conditions
        fallen = gap <= sufficient * then or (gap <= necessary * then and gap > before)
        if not fallen and state.inner.iteration < artificial * state.iteration:
            return state
        nodes = state.nodes + solver.work(game, state.inner).nodes
        begin = BEGIN[type(solver)]
        inner = begin(game, solver, state.inner, points[best].arrays, averaged=best == 0)
        return RestartedState(inner, state.iteration, (gap, gap), state.checks, state.restarts + 1, nodes)

    def average(self, game: CompiledGame, state: RestartedState) -> Strategies:
        """Return the average since the last restart; right after a restart, the point that it started with."""
        return _strategies(self.inner, game, state.inner, "average" if state.inner.iteration else "current")

    def current(self, game: CompiledGame, state: RestartedState) -> Strategies:
        """As ``Algorithm``."""
        return _strategies(self.inner, game, state.inner, "current")

    def nodes_touched(self, game: CompiledGame, state: RestartedState) -> int:
        """Return the histories entered by the inner algorithm, and four passes per check."""
        return state.nodes + self.inner.work(game, state.inner).nodes

    def cost(self, game: CompiledGame) -> Cost:
        """As ``Algorithm``: checks are part of iterations."""
        iteration, evaluation = self.inner.cost(game)
        return Cost(iteration + 2.0 * evaluation / self.every, evaluation)

    def counters(self, state: RestartedState) -> Mapping[str, int]:
        """As ``Algorithm``."""
        return {"restarts": state.restarts}

    def save(self, state: RestartedState) -> Tensors:
        """As ``Algorithm``: the inner algorithm's arrays, and the restarts."""
        inner: Any = self.inner
        counts = {"restarts.counts": np.array([state.began, state.checks, state.restarts, state.nodes], np.int64)}
        return inner.save(state.inner) | counts | {"restarts.gaps": np.array(state.gaps)}

    def restore(self, game: CompiledGame, tensors: Mapping[str, Array], seed: int = 0) -> RestartedState:
        """As ``Algorithm``."""
        own = {name: array for name, array in tensors.items() if not name.startswith("restarts.")}
        counts = checked("restarts.counts", tensors["restarts.counts"], np.int64, (4,), 0, MOST)
        began, checks, restarts, nodes = (int(count) for count in counts)
        then, before = (float(gap) for gap in checked("gaps", tensors["restarts.gaps"], np.float64, (2,), 0.0))
        return RestartedState(self.inner.restore(game, own, seed), began, (then, before), checks, restarts, nodes)


def cfr_plus_restarted(every: int = 32, turns: str = "alternating", order: str = "played") -> Restarted:
    """CFR+ with restarted averaging, considered every ``every`` iterations. ``order``: as in ``cfr_plus``."""
    return Restarted(cfr_plus(turns=turns, order=order), _every(every))


def pcfr_plus_restarted(every: int = 32, turns: str = "alternating", order: str = "played") -> Restarted:
    """Predictive CFR+ with restarted averaging, considered every ``every`` iterations."""
    return Restarted(pcfr_plus(turns=turns, order=order), _every(every))


def mirror_prox_restarted(every: int = 32, weights: str = "kroer2015") -> Restarted:
    """Mirror prox with restarted averaging, considered every ``every`` iterations."""
    return Restarted(replace(mirror_prox(weights), rounding=ROUNDING), _every(every))


def egt_restarted(every: int = 32, weights: str = "farina2021") -> Restarted:
    """EGT whose smoothing begins anew around its plans whenever NashConv has halved (after Gilpin et al. 2012).

    NashConv is computed every ``every`` iterations. ``weights``: with the default of ``egt``, more smoothing is needed
    around good points.
    """
    return Restarted(replace(egt(weights), centred=True), _every(every), HALVED)


def _strategies(inner: Any, game: CompiledGame, state: Any, iterate: str) -> Strategies:
    """Return strategies of the inner algorithm as host arrays."""
    return inner.report(game, state, iterate).arrays


def _every(value: object) -> int:
    return counted("every", value, MOST_EVERY)


def _begin_cfr(game: CompiledGame, inner: Any, state: Any, point: Strategies, *, averaged: bool) -> SequenceTables:
    """Return tables with empty averages; regrets are unchanged, or in proportion to the average."""
    learners: list[Learner] = []
    for treeplex, learner, strategy in zip(game.treeplexes, state.learners, point, strict=True):
        regret, _, played, plan = (array.copy() for array in learner)
        if averaged:
            if treeplex.infosets:
                sizes = np.add.reduceat(regret.astype(np.float64), treeplex.first[:-1])
                regret[1:] = np.repeat(sizes, treeplex.actions) * strategy[1:]
            reach = np.empty(treeplex.sequences)
            walks.realization_plan(treeplex, strategy, reach)
            played[:], plan[:] = strategy, reach
        learners.append(Learner(regret, np.zeros_like(regret), played, plan))
    return SequenceTables((learners[0], learners[1]), 0)


def _begin_mirror(game: CompiledGame, inner: Any, state: Any, point: Strategies, *, averaged: bool) -> MirrorState:
    """Return the dual point whose response is ``point``, with potential zero; steps keep their length."""
    mirrors: list[Mirror] = []
    for treeplex, dual, strategy in zip(game.treeplexes, centres(game, inner.scheme, point), point, strict=True):
        plan = np.empty(treeplex.sequences)
        walks.realization_plan(treeplex, strategy, plan)
        mirrors.append(Mirror(dual, plan, np.zeros_like(plan), np.zeros_like(plan)))
    return MirrorState((mirrors[0], mirrors[1]), state.rate._replace(bound=np.zeros(1)), 0, 0)


def _begin_gap(game: CompiledGame, inner: Any, state: Any, point: Strategies, *, averaged: bool) -> ExcessiveGapState:
    """Return the state whose distances are measured from ``point``."""
    return inner.around(game, state, point)


BEGIN: Final[dict[type, Callable[..., Any]]] = {CFR: _begin_cfr, MirrorProx: _begin_mirror, ExcessiveGap: _begin_gap}
"""The state after a restart, by the class of the inner algorithm."""
