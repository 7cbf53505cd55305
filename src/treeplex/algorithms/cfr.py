"""Full-width counterfactual regret minimization: a minimizer in every infoset, averaging weights, an order of turns.

How regrets are stored and how many threads work on them are options of a run beside that.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, Final, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from treeplex.algorithms.full_width import FullWidth, LearnerState
from treeplex.algorithms.options import (
    TURNS,
    averaging,
    constant,
    exponent,
    first_exponent,
    horizon_of,
    named,
    number,
    turn_order,
)
from treeplex.algorithms.protocol import Algorithm, Execution, Stop, Tensors, never
from treeplex.algorithms.tabular import Strategies, require_finite, sweep
from treeplex.arrays import Ints
from treeplex.compile.game import CompiledGame
from treeplex.engines import backend_of
from treeplex.engines.sequence.arrays import Learner, Matching, Steps
from treeplex.engines.sequence.cpu.iterations import iterate
from treeplex.engines.sequence.cpu.tiled import TiledForm, iterate_tiles
from treeplex.engines.sequence.learners import (
    InTiles,
    in_places,
    initial_learners,
    initial_learners_16,
    normalised,
    normalised_in_tiles,
    sequence_form,
    steps,
    tiled_form,
)
from treeplex.engines.sequence.tiles import TiledGame, laid, tiled
from treeplex.errors import ParameterError, non_negative, quoted
from treeplex.evaluation.exact import Evaluation, evaluate_in_tiles
from treeplex.kernels.threads.crew import share
from treeplex.policies.policy import Policy
from treeplex.tensors import restored
from treeplex.updates import (
    Ahead,
    Discounted,
    Minimizer,
    PredictivePlus,
    RegretMatching,
    RegretMatchingPlus,
    Scheduled,
    Weighted,
    blocks,
)
from treeplex.updates.blocks import Earlier
from treeplex.updates.schedules import Schedule, ahead, bounded, falling, linear, power, stretches, unit_before
from treeplex.updates.storage import STORAGES
from treeplex.updates.turns import ALTERNATING

PLAYED: Final = 0  # iteration t adds both players' strategies before the update: those whose regret it measures
FACED: Final = 1  # those that opponents learn against: player 0's new one if updates alternate
NEXT: Final = 2  # both players' new ones
ORDERS: Final = {"played": PLAYED, "faced": FACED, "next": NEXT}
FALLING: Final = {"product": False, "power": True}  # t^gamma_t?
DISCOUNTS: Final = {"after": False, "before": True}  # ahead of what an iteration adds?


class TiledState(NamedTuple):
    """What the next iteration needs, in tiles."""

    tiled: tuple[Learner, Learner]  # in the places of tiles
    place: tuple[Ints, Ints]  # [S] place of each sequence
    iteration: int
    form: TiledForm  # the game, and scratch: to allocate it takes as long as an iteration
    earlier: Earlier = ()  # in the places of tiles

    @property
    def learners(self) -> tuple[Learner, Learner]:
        """Copies in the game's order: what is told and saved, whatever the order of tiles."""
        first, second = (
            Learner(*(array[place] for array in learner)) for learner, place in zip(self.tiled, self.place, strict=True)
        )
        return first, second


State = LearnerState | TiledState


@dataclass(frozen=True)
class CFR(FullWidth[State]):
    """Counterfactual regret minimization (Zinkevich et al. 2007) over the sequence form."""

    minimizer: Minimizer
    weight: Schedule
    turns: int
    storage: str = "float64"
    threads: int = 0  # 0: all cores for large games; no bit depends on it
    order: int = PLAYED  # which of its strategies an iteration adds to the averages

    def __post_init__(self) -> None:
        rule: Any = self.minimizer
        if isinstance(rule, type) or not callable(getattr(rule, "discounts", None)):
            raise ParameterError(
                f"The 'minimizer' parameter must be a rule such as RegretMatchingPlus(), got {quoted(rule)}."
            )
        if not callable(self.weight):
            object.__setattr__(self, "weight", averaging(self.weight))
        object.__setattr__(self, "turns", constant("turns", self.turns, TURNS))
        object.__setattr__(self, "order", constant("order", self.order, ORDERS))

    @property
    def stored_as(self) -> str:
        """As ``Algorithm``."""
        return self.storage

    def prepared(self, game: Any, execution: Execution) -> Algorithm[Any, Any]:
        """As ``Algorithm``: by arrays over sequences, or over rows of hands for a hold'em spot."""
        if not isinstance(game, CompiledGame):
            from treeplex.algorithms.holdem import on_boards  # noqa: PLC0415 - its kernels take time to load

            return on_boards(self, execution, game)
        if backend_of("sequence", execution.backend, sweep(game), execution.device) == "cuda":
            from treeplex.algorithms.cfr_cuda import on_cuda  # noqa: PLC0415 - not without a GPU

            return on_cuda(self, execution)
        legal = {name: name for name, kept in STORAGES.items() if not (kept.scaled and self.minimizer.predict > 0.0)}
        storage = named("storage", execution.storage or self.storage, legal)
        weight = bounded(self.weight, storage)
        return replace(self, weight=weight, storage=storage, threads=non_negative("threads", execution.threads))

    def start(self, game: CompiledGame, seed: int = 0) -> State:
        """No regret yet, uniform strategies."""
        if STORAGES[self.storage].scaled:
            return LearnerState(initial_learners_16(game), 0)
        return LearnerState(initial_learners(game, np.dtype(self.storage)), 0)

    def advance(self, game: CompiledGame, state: State, iterations: int, stop: Stop = never) -> State:
        """As ``Algorithm``; the arrays of ``state`` are modified in place and belong to the state returned."""
        for stretch in stretches(self.weight, state.iteration, iterations, self.storage):
            _fade(state, stretch.fade)
            state = self._advanced(game, state, stretch.iterations)
            if blocks.due(state.iteration, self.storage):
                state = state._replace(earlier=blocks.folded(_averages(state), state.earlier))
        return state

    def _advanced(self, game: CompiledGame, state: State, iterations: int) -> State:
        """Some iterations later, whose weights are in one unit."""
        if self.order == PLAYED:
            return self._iterated(game, state, steps(state.iteration, iterations, self.weight, self.minimizer))
        for _ in range(iterations):  # kernels add what is played: with weight zero, the rest is done here
            now = steps(state.iteration, 1, self.weight, self.minimizer)
            weight = float(now.weight[0])
            for player in (0, 1):
                if not self.adds_new(player):
                    _add_plan(state, player, weight)
            state = self._iterated(game, state, now._replace(weight=np.zeros(1)))
            for player in (0, 1):
                if self.adds_new(player):
                    _add_plan(state, player, weight)
        return state

    def _iterated(self, game: CompiledGame, state: State, now: Steps) -> State:
        """One iteration for each of ``now``, whose weights are those of the strategies that are played."""
        done, laid = state.iteration + len(now.weight), self._laid(game, state)
        if isinstance(laid, TiledState):
            told = laid.form, laid.tiled, self.minimizer.predict, now, self.turns
            share(laid.form.threads, lambda worker: iterate_tiles(*told, worker))
            return laid._replace(iteration=done)
        rule, learners = Matching(self.minimizer.predict), state.learners
        form = sequence_form(game, self.threads, self.storage)
        share(form.threads, lambda worker: iterate(form, learners, (rule, rule), now, self.turns, worker))
        return LearnerState(learners, done, state.earlier)

    def _laid(self, game: CompiledGame, state: State) -> State:
        """The same in tiles, where they pay."""
        tiles = None if STORAGES[self.storage].scaled else tiled(game, self.storage)
        if tiles is None or isinstance(state, TiledState):
            return state
        return _in_tiles(tiles, state, tiled_form(game, tiles, self.threads))

    def adds_new(self, player: int) -> bool:
        """Whether an iteration adds the new strategy of this player to its average."""
        return self.order == NEXT or (self.order == FACED and self.turns == ALTERNATING and player == 0)

    def strategies(self, game: CompiledGame, state: State, iterate: str) -> Any:
        """As ``Algorithm``; in exact tiles, where they pay, until they are ``fetched``.

        Also of a state that was just restored: the value would be summed up in another order otherwise.
        """
        laid = self._laid(game, state) if self.storage == "float64" else state
        if not (isinstance(laid, TiledState) and self.storage == "float64"):
            return super().strategies(game, state, iterate)
        require_finite(self.played(game, laid), laid.iteration)
        first, second = laid.tiled
        if iterate == "current":
            return InTiles((first.strategy.copy(), second.strategy.copy()), laid.place, laid.form)
        return normalised_in_tiles(laid.form, (first.average, second.average), laid.place)

    def fetched(self, strategies: Any) -> Any:
        """As ``Algorithm``."""
        return strategies.in_order if isinstance(strategies, InTiles) else strategies

    def evaluate(self, game: CompiledGame, strategies: Any, threads: int = 0) -> Evaluation:
        """As ``Algorithm``."""
        if isinstance(strategies, InTiles):
            return evaluate_in_tiles(game, strategies)
        return super().evaluate(game, strategies, threads)

    def policy(self, game: CompiledGame, strategies: Any) -> Policy:
        """As ``Algorithm``."""
        return super().policy(game, self.fetched(strategies))

    def average(self, game: CompiledGame, state: State) -> Strategies:
        """As ``Algorithm``."""
        places = state.place if isinstance(state, TiledState) else None
        return normalised(game, blocks.summed(_averages(state), state.earlier), places)

    def current(self, game: CompiledGame, state: State) -> Strategies:
        """As ``Algorithm``."""
        if isinstance(state, TiledState):
            (first, second), places = state.tiled, state.place
            return first.strategy[places[0]].astype(float), second.strategy[places[1]].astype(float)
        return super().current(game, state)

    def played(self, game: CompiledGame, state: State) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """As ``Tabular``: where they are."""
        first, second = _learners(state)
        return first.strategy, second.strategy

    def save(self, state: State) -> Tensors:
        """As ``Algorithm``: in the game's order."""
        earlier = state.earlier
        if earlier and isinstance(state, TiledState):
            earlier = earlier[0][state.place[0]], earlier[1][state.place[1]]
        return super().save(LearnerState(state.learners, state.iteration, earlier))

    def restore(self, game: CompiledGame, tensors: Mapping[str, npt.NDArray[Any]], seed: int = 0) -> State:
        """As ``Algorithm``."""
        fresh = self.start(game, seed)
        state = restored(fresh._replace(earlier=blocks.saved_room(_averages(fresh), tensors)), "state", tensors)
        _fade(state, unit_before(self.weight, state.iteration, _averages(state)))
        return state


def _in_tiles(game: TiledGame, state: LearnerState, form: TiledForm) -> TiledState:
    first, second = game.layouts
    learners = in_places(game.layouts, cast(Any, state.learners))
    earlier = state.earlier and (laid(first, state.earlier[0]), laid(second, state.earlier[1]))
    return TiledState(learners, (first.place, second.place), state.iteration, form, earlier)


def _add_plan(state: State, player: int, weight: float) -> None:
    """Add the current realization plan of ``player`` to its average, in place."""
    learner = _learners(state)[player]
    learner.average[:] += weight * learner.plan


def _fade(state: State, factor: float) -> None:
    """Averages in the unit of the weights to come, in place."""
    if factor != 1.0:
        for sums in (*_averages(state), *state.earlier):
            np.multiply(sums, factor, out=sums)


def _learners(state: State) -> Any:
    """As they are kept: in tiles, where a state is."""
    return state.tiled if isinstance(state, TiledState) else state.learners


def _averages(state: State) -> tuple[Any, Any]:
    """Return both players' arrays that iterations are added to, in the state's own layout."""
    first, second = _learners(state)
    return first.average, second.average


def cfr(turns: str = "alternating", weight: str = "uniform", order: str = "played") -> CFR:
    """Counterfactual regret minimization (Zinkevich et al. 2007), uniform average.

    ``weight``: of iterations, in regrets and average alike, as in ``mccfr_external``. ``order``: as in ``cfr_plus``.
    """
    schedule = averaging(weight)
    return _member(RegretMatching() if weight == "uniform" else Weighted(schedule), schedule, turns, order)


def cfr_plus(delay: int = 0, turns: str = "alternating", order: str = "played") -> CFR:
    """CFR+ (Tammelin 2014): regret matching+, alternating, average weighted by max(t - delay, 0).

    ``order``: what iteration t adds to the averages. "played", both players' strategies before the update; "faced", as
    in the paper's Algorithm 1, the strategies that opponents learn against, so that player 0's average starts with its
    second strategy; "next", both players' strategies after the update.

    Differs from the paper in: the default order, which is that of other implementations. Hold'em spots have "faced".
    """
    return _member(RegretMatchingPlus(), linear(non_negative("delay", delay)), turns, order)


def lcfr(turns: str = "alternating", order: str = "played", discount: str = "after") -> CFR:
    """Linear CFR (Brown & Sandholm 2019): regrets and average weighted by the iteration.

    ``order``: as in ``cfr_plus``. ``discount``: as in ``dcfr``.
    """
    return _member(Discounted(1.0, 1.0), linear(), turns, order, discount)


def dcfr(
    alpha: float = 1.5,
    beta: float = 0.0,
    gamma: float = 2.0,
    rise: float = 0.0,
    turns: str = "alternating",
    order: str = "played",
    discount: str = "after",
) -> CFR:
    """Discounted CFR (Brown & Sandholm 2019).

    ``order``: as in ``cfr_plus``. ``discount``: when iteration t multiplies regrets and averages by the discounts of t,
    "after" it has added its own, as in the paper, or "before". ``rise``: as in ``Discounted``.
    """
    minimizer = Discounted(number("alpha", alpha), number("beta", beta), number("rise", rise, 0.0, 1e9))
    return _member(minimizer, power(exponent("gamma", gamma)), turns, order, discount)


def hs_dcfr(
    gamma: float = 30.0,
    horizon: int = 0,
    weight: str = "product",
    turns: str = "alternating",
    order: str = "played",
    discount: str = "after",
) -> CFR:
    """DCFR with hyperparameter schedules (Zhang, McAleer & Sandholm 2024): HS-DCFR(30), or (15) with ``gamma=15``.

    ``horizon``: the iterations n by which alpha has risen from 1 to 4, beta has fallen from -1 to -3 and gamma by 5; 0:
    the iteration limit that a run begins with, or 1,000. ``weight``: of iteration t in the average, the "product" that
    multiplying it by (t / (t + 1))^gamma_t makes, or the "power" t^gamma_t. ``order``, ``discount``: as in ``dcfr``.
    """
    n = horizon_of(horizon)
    return _member(Scheduled(n), _falling(gamma, n, weight), turns, order, discount)


def pcfr_plus(turns: str = "alternating", order: str = "played") -> CFR:
    """Predictive CFR+ with quadratic averaging (Farina, Kroer & Sandholm 2021); ``order``: as in ``cfr_plus``."""
    return _member(PredictivePlus(), power(2.0), turns, order)


def hs_pcfr_plus(
    gamma: float = 30.0,
    horizon: int = 0,
    weight: str = "product",
    turns: str = "alternating",
    order: str = "played",
    discount: str = "after",
) -> CFR:
    """Predictive CFR+ whose average has the schedule of ``hs_dcfr`` (Zhang, McAleer & Sandholm 2024): HS-PCFR+(30)."""
    return _member(PredictivePlus(), _falling(gamma, horizon_of(horizon), weight), turns, order, discount)


def sapcfr_plus(predict: float = 1.0 / 3.0, turns: str = "alternating", order: str = "played") -> CFR:
    """Simple asymmetric PCFR+ (Meng et al. 2025): plays [R + r / 3]+, quadratic average.

    ``predict``: how much of the last instantaneous regret is expected to come again; 1/6 is more pessimistic, 1 is
    ``pcfr_plus``. ``order``: as in ``cfr_plus``.
    """
    return _member(PredictivePlus(predict=number("predict", predict, 0.0, 10.0)), power(2.0), turns, order)


def pdcfr_plus(
    alpha: float = 2.3,
    gamma: float = 5.0,
    turns: str = "alternating",
    order: str = "played",
    discount: str = "after",
) -> CFR:
    """Predictive discounted CFR+ (Xu et al. 2024); ``order``: as in ``cfr_plus``, ``discount``: as in ``dcfr``."""
    minimizer = PredictivePlus(number("alpha", alpha))
    return _member(minimizer, power(exponent("gamma", gamma)), turns, order, discount)


def _falling(gamma: float, horizon: int, weight: str) -> Schedule:
    return falling(first_exponent("gamma", gamma), horizon, power=named("weight", weight, FALLING))


def _member(minimizer: Minimizer, weight: Schedule, turns: str, order: str, discount: str = "after") -> CFR:
    if named("discount", discount, DISCOUNTS):
        minimizer, weight = Ahead(minimizer), ahead(weight)
    return CFR(minimizer, weight, turn_order(turns), order=named("order", order, ORDERS))
