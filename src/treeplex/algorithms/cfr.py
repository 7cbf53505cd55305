"""Counterfactual regret minimization: a rule in every infoset, averaging weights, an order of turns.

One class serves all engines. The engine is chosen when the algorithm is opened (``engines.open``).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any, ClassVar, Final

from treeplex.algorithms.options import (
    TURNS,
    WEIGHTS,
    averaging,
    constant,
    exponent,
    first_exponent,
    horizon_of,
    named,
    number,
    turn_order,
)
from treeplex.algorithms.protocol import Algorithm, Array, Cost, Execution, Stop, StrategyReport, Tensors, Work, never
from treeplex.algorithms.trial import try_own
from treeplex.engines.open import CPU, join_checkpoint, open_engine
from treeplex.engines.protocol import FACED, NEXT, PLAYED, Engine, Scheme, packed
from treeplex.errors import ParameterError, non_negative, quoted
from treeplex.tensors import leaves
from treeplex.updates import (
    Ahead,
    Discounted,
    Minimizer,
    PredictivePlus,
    RegretMatching,
    RegretMatchingPlus,
    Scheduled,
    Weighted,
)
from treeplex.updates.adaptive import adaptive
from treeplex.updates.rule import Rule
from treeplex.updates.schedules import Schedule, ahead, falling, linear, power
from treeplex.updates.smooth import smooth
from treeplex.updates.stable import stable

ORDERS: Final = {"played": PLAYED, "faced": FACED, "next": NEXT}
FALLING: Final = {"product": False, "power": True}  # True: weight t^gamma_t
DISCOUNTS: Final = {"after": False, "before": True}  # True: discount before an iteration adds to the sums

REPORTS: Final = {
    "sequence": ("reports", "ProfileReport"),
    "boards": ("spot_reports", "SpotReport"),
    "sharded sequences": ("reports", "ShardedReport"),
    "sharded boards": ("spot_reports", "ShardedSpotReport"),
}
"""Module and class of the report for each engine, by the engine's name; modules are imported on demand."""


@dataclass(frozen=True)
class CFR(Algorithm[Any, Any]):
    """Counterfactual regret minimization (Zinkevich et al. 2007). Its state is the tables of its engine."""

    solves_spots: ClassVar[bool] = True

    rule: Minimizer | Rule
    weight: Schedule
    turns: int
    order: int = PLAYED  # strategies that an iteration adds to the averages
    engine: Engine | None = None  # the engine, once the algorithm is open
    folder: str | None = None  # run folder, which may hold parts of a checkpoint

    def __post_init__(self) -> None:
        rule: Any = self.rule
        family = not isinstance(rule, type) and callable(getattr(rule, "discounts", None))
        if not family and not isinstance(rule, Rule):
            raise ParameterError(
                f"The 'rule' parameter must be a rule such as RegretMatchingPlus(), got {quoted(rule)}."
            )
        if not callable(self.weight):
            object.__setattr__(self, "weight", averaging(self.weight))
        object.__setattr__(self, "turns", constant("turns", self.turns, TURNS))
        object.__setattr__(self, "order", constant("order", self.order, ORDERS))

    @property
    def storage(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Storage type of the engine."""
        return "float64" if self.engine is None else self.engine.storage

    @property
    def backend(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Backend of the engine."""
        return CPU if self.engine is None else self.engine.backend

    @property
    def portable(self) -> bool:  # pyright: ignore[reportIncompatibleVariableOverride]
        """False for sharded games, whose checkpoint parts stay in the folder the run was started with."""
        return self.engine is None or not self.engine.name.startswith("sharded")

    @property
    def name(self) -> str:
        """Name of a run without a name in the registry: that of its rule."""
        return self.rule.name if isinstance(self.rule, Rule) else type(self).__name__

    @property
    def scheme(self) -> Scheme:
        """Rule, weights, turns and order of its iterations."""
        return Scheme(self.rule, self.weight, self.turns, self.order)

    def open(self, game: Any, execution: Execution) -> CFR:
        """As ``Algorithm``."""
        execution = execution._replace(threads=non_negative("threads", execution.threads))
        return replace(self, engine=open_engine(game, execution, self.scheme), folder=execution.folder)

    def on(self, game: Any) -> Engine:
        """Return its engine; by default the one for this game on the CPU."""
        return self.engine or open_engine(game, Execution(), self.scheme)

    def start(self, game: Any, seed: int = 0) -> Any:
        """As ``Algorithm``: no regret yet, uniform strategies. A user's rule is first tried as plain Python."""
        if isinstance(self.rule, Rule):
            try_own(self.rule, game)
        return self.on(game).tables(self.scheme)

    def advance(self, game: Any, state: Any, iterations: int, stop: Stop = never) -> Any:
        """As ``Algorithm``; the arrays of ``state`` are modified in place and belong to the state returned."""
        return self.on(game).iterate(state, self.scheme, iterations, stop)

    def work(self, game: Any, state: Any) -> Work:
        """As ``Algorithm``."""
        engine = self.on(game)
        return Work(state.iteration, engine.nodes(self.scheme, state.iteration), engine.counters)

    def cost(self, game: Any) -> Cost:
        """As ``Algorithm``."""
        return self.on(game).cost

    def report(self, game: Any, state: Any, iterate: str) -> StrategyReport:
        """As ``Algorithm``; strategies stay on the engine's device."""
        engine = self.on(game)
        module, name = REPORTS[engine.name]
        kind = getattr(import_module(f"treeplex.algorithms.{module}"), name)
        return kind(engine.profile(state, self.scheme, iterate), engine, engine.memory(self.scheme))

    def save(self, state: Any) -> Tensors:
        """As ``Algorithm``."""
        if self.engine is None:  # not opened, so on the CPU
            return packed([*leaves(state.host, "state")])
        return self.engine.pack(state, self.scheme)

    def restore(self, game: Any, tensors: Mapping[str, Array], seed: int = 0) -> Any:
        """As ``Algorithm``; accepts checkpoints of any backend, sharded or not."""
        engine = self.on(game)
        return engine.unpack(join_checkpoint(engine, self.scheme, tensors, self.folder), self.scheme)


def cfr(turns: str = "alternating", weight: str = "uniform", order: str = "played", average: str = "same") -> CFR:
    """Counterfactual regret minimization (Zinkevich et al. 2007), uniform average.

    ``weight``: of iterations, for regrets and average alike, as in ``mccfr_external``. ``average``: weights of the
    average only, such as "linear" with plain regrets. ``order``: as in ``cfr_plus``.
    """
    schedule, own = averaging(weight), named("average", average, {"same": None, **WEIGHTS})
    rule = RegretMatching() if weight == "uniform" else Weighted(schedule)
    return _member(rule, own() if own else schedule, turns, order)


def cfr_plus(delay: int = 0, turns: str = "alternating", order: str = "played") -> CFR:
    """CFR+ (Tammelin 2014): regret matching+, alternating, average weighted by max(t - delay, 0).

    ``order``: which strategies iteration t adds to the averages. "played": both players' strategies before the update.
    "faced", as in the paper's Algorithm 1: the strategies that opponents learn against, so that player 0's average
    starts with its second strategy. "next": both players' strategies after the update.

    Differs from the paper in the default order, which is that of other implementations. Hold'em spots use "faced".
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

    ``order``: as in ``cfr_plus``. ``discount``: when iteration t multiplies regrets and averages by the discounts of t:
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

    ``horizon``: the number of iterations n in which alpha rises from 1 to 4, beta falls from -1 to -3 and gamma falls
    by 5; 0 stands for the run's initial iteration limit, or 1,000. ``weight``: of iteration t in the average, either
    the "product" that results from multiplying it by (t / (t + 1))^gamma_t, or the "power" t^gamma_t. ``order``,
    ``discount``: as in ``dcfr``.
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

    ``predict``: fraction of the last instantaneous regret that is expected to repeat; 1/6 is more pessimistic, 1 is
    ``pcfr_plus``. ``order``: as in ``cfr_plus``.
    """
    return _member(PredictivePlus(predict=number("predict", predict, 0.0, 10.0)), power(2.0), turns, order)


def apcfr_plus(most: float = 5.0, turns: str = "alternating", order: str = "played") -> CFR:
    """Asymmetric PCFR+ (Meng et al. 2025): plays [R + r / (1 + alpha)]+, alpha learned per infoset; quadratic average.

    ``most``: upper bound of alpha, so the prediction counts for at least 1 / (1 + most). ``order``: as in ``cfr_plus``.
    """
    return _member(adaptive(number("most", most, 0.0, 1e6)), power(2.0), turns, order)


def stable_pcfr_plus(floor: float = 1.0, turns: str = "alternating", order: str = "played") -> CFR:
    """PCFR+ with stable predictive regret matching+ (Farina et al. 2023, Algorithm 1), quadratic average.

    ``floor``: z in units of the payoff range. An infoset whose regrets are all at most z restarts with z. 0 is
    ``pcfr_plus``. ``order``: as in ``cfr_plus``.
    """
    return _member(stable(number("floor", floor, 0.0, 1e6)), power(2.0), turns, order)


def smooth_pcfr_plus(floor: float = 1.0, turns: str = "alternating", order: str = "played") -> CFR:
    """PCFR+ with smooth predictive regret matching+ (Farina et al. 2023, Algorithm 2), quadratic average.

    ``floor``: z in units of the payoff range. The regrets of an infoset sum to at least z. 0 is ``pcfr_plus``.
    ``order``: as in ``cfr_plus``.
    """
    return _member(smooth(number("floor", floor, 0.0, 1e6)), power(2.0), turns, order)


def pdcfr_plus(
    alpha: float = 2.3,
    gamma: float = 5.0,
    turns: str = "alternating",
    order: str = "played",
    discount: str = "after",
) -> CFR:
    """Predictive discounted CFR+ (Xu et al. 2024). ``order``: as in ``cfr_plus``. ``discount``: as in ``dcfr``."""
    minimizer = PredictivePlus(number("alpha", alpha))
    return _member(minimizer, power(exponent("gamma", gamma)), turns, order, discount)


def _falling(gamma: float, horizon: int, weight: str) -> Schedule:
    return falling(first_exponent("gamma", gamma), horizon, power=named("weight", weight, FALLING))


def _member(rule: Minimizer | Rule, weight: Schedule, turns: str, order: str, discount: str = "after") -> CFR:
    if named("discount", discount, DISCOUNTS) and not isinstance(rule, Rule):
        rule, weight = Ahead(rule), ahead(weight)
    return CFR(rule, weight, turn_order(turns), named("order", order, ORDERS))


FARINA: Final = "Farina et al. 2023"
ZHANG: Final = "Zhang, McAleer & Sandholm 2024"

ROWS: Final = (
    ("cfr", cfr, "counterfactual regret minimization", "Zinkevich et al. 2007"),
    ("cfr+", cfr_plus, "CFR with regret matching+ and linear averaging", "Tammelin 2014, section 2"),
    ("lcfr", lcfr, "CFR with linearly weighted regrets and average", "Brown & Sandholm 2019"),
    ("dcfr", dcfr, "CFR with discounted regrets and average", "Brown & Sandholm 2019"),
    ("pcfr+", pcfr_plus, "predictive CFR+ with quadratic averaging", "Farina, Kroer & Sandholm 2021"),
    ("pdcfr+", pdcfr_plus, "predictive CFR+ with discounting", "Xu et al. 2024"),
    ("hs-dcfr", hs_dcfr, "DCFR with hyperparameter schedules", ZHANG),
    ("hs-pcfr+", hs_pcfr_plus, "predictive CFR+ with a schedule of averaging weights", ZHANG),
    ("sapcfr+", sapcfr_plus, "predictive CFR+ that trusts a third of its prediction", "Meng et al. 2025"),
    ("apcfr+", apcfr_plus, "predictive CFR+ that learns how far to trust its prediction", "Meng et al. 2025"),
    ("stable-pcfr+", stable_pcfr_plus, "predictive CFR+ whose infosets restart near zero", FARINA),
    ("smooth-pcfr+", smooth_pcfr_plus, "predictive CFR+ whose regrets stay away from zero", FARINA),
)
"""Name, builder, summary and source of each algorithm in this module, for the registry."""
