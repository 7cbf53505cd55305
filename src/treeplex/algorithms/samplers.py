"""Named samplers: assemblies of a sampler, weights, turns, and what is done with regrets."""

from __future__ import annotations

from typing import Final

from treeplex.algorithms.mccfr import MonteCarlo
from treeplex.algorithms.options import RECENT, averaging, counted, named, number, separate, turn_order
from treeplex.algorithms.traversals import (
    AverageStrategy,
    Chance,
    Drawn,
    External,
    Outcome,
    Public,
    PureExternal,
    Reached,
    Sampler,
)
from treeplex.engines.sampling.arrays import MATCH, MATCH_OR_PICK, PURE
from treeplex.errors import ParameterError, quoted
from treeplex.updates.discounted import Discounted

MOST_STREAMS: Final = 256
FALLBACKS: Final = {"uniform": MATCH, "random": MATCH_OR_PICK}
REGRETS: Final = {"plain": (False, None), "plus": (True, None), "discounted": (False, Discounted(1.5, 0.0))}
"""Whether negative regret is set to zero, and how regrets are discounted."""
CHANCES: Final = {"independent": False, "correlated": True}


def mccfr_external(
    weight: str = "uniform",
    turns: str = "alternating",
    regret: str = "plain",
    streams: int = 1,
    average: str = "same",
    fallback: str = "uniform",
    chance: str = "independent",
) -> MonteCarlo:
    """External sampling (Lanctot et al. 2009); ``regret="plus"`` is regret matching+, as in CFR+.

    ``regret="discounted"`` discounts regrets as DCFR does, at an infoset's next visit.
    ``weight``: of iterations in regrets, and in the averages unless ``average`` names another weight. The average
    "recent" is the plain average since the last power of two in the first half of the run, at infosets visited since.
    ``fallback``: the strategy where no regret is positive; "random", a random pure strategy, is what Ju et al. use.
    ``chance``: "correlated" draws are evenly spread at every chance node, u_k = frac(phi + k (sqrt(5) - 1) / 2) through
    its distribution, with a random phi (arXiv:2607.27035).
    """
    return _assembly(External(named("fallback", fallback, FALLBACKS)), weight, average, turns, regret, streams, chance)


def mccfr_outcome(
    epsilon: float = 0.6,
    baseline: float = 0.5,
    weight: str = "uniform",
    turns: str = "alternating",
    regret: str = "plain",
    streams: int = 1,
    average: str = "same",
    chance: str = "independent",
) -> MonteCarlo:
    """Outcome sampling (Lanctot et al. 2009) with learned baselines (Schmid et al. 2019); ``baseline=0``: without.

    Differs from the papers in: averages are updated at the opponent's nodes. Their weight is one over the exploring
    player's part of the path's probability. It stays unbiased where the opponent plays some actions with probability
    zero. ``chance``: as in ``mccfr_external``.
    """
    sampler = Outcome(number("epsilon", epsilon, 1e-6, 1.0), number("baseline", baseline, 0.0, 1.0))
    return _assembly(sampler, weight, average, turns, regret, streams, chance)


def mccfr_average(
    epsilon: float = 0.05,
    tau: float = 1000.0,
    beta: float = 1e6,
    weight: str = "uniform",
    turns: str = "alternating",
    regret: str = "plain",
    streams: int = 1,
    average: str = "same",
    chance: str = "independent",
) -> MonteCarlo:
    """Average-strategy sampling (Gibson et al. 2012), the paper's parameters. ``chance``: as in ``mccfr_external``."""
    sampler = AverageStrategy(
        number("epsilon", epsilon, 1e-6, 1.0), number("tau", tau, 0.0, 1e12), number("beta", beta, 1e-6, 1e12)
    )
    return _assembly(sampler, weight, average, turns, regret, streams, chance)


def mccfr_chance(
    weight: str = "uniform",
    turns: str = "alternating",
    regret: str = "plain",
    fallback: str = "uniform",
    streams: int = 1,
    average: str = "same",
    chance: str = "independent",
) -> MonteCarlo:
    """Chance sampling (Zinkevich et al. 2007). ``fallback``, ``chance``: as in ``mccfr_external``."""
    return _assembly(Chance(named("fallback", fallback, FALLBACKS)), weight, average, turns, regret, streams, chance)


def mccfr_public(
    weight: str = "uniform",
    turns: str = "alternating",
    regret: str = "plain",
    streams: int = 1,
    average: str = "same",
    chance: str = "independent",
) -> MonteCarlo:
    """Public chance sampling (Johanson et al. 2012): public cards are drawn, and all hands are evaluated at once.

    Differs from the paper in: averages are updated at the opponent's nodes, and a terminal takes time in proportion to
    the pairs of hands. ``chance``: as in ``mccfr_external``.
    """
    return _assembly(Public(), weight, average, turns, regret, streams, chance)


def gibson_pure_cfr(
    weight: str = "uniform",
    turns: str = "alternating",
    regret: str = "plain",
    streams: int = 1,
    average: str = "same",
    chance: str = "independent",
) -> MonteCarlo:
    """Pure CFR (Gibson 2014): chance and both players play pure strategies drawn from regret matching.

    An infoset learns v(a) - v(d), where d is the drawn action, and an average counts drawn actions. With the defaults
    both are whole numbers if payoffs are. Not ``pure_cfr``, which plays the largest regret. ``chance``: as in
    ``mccfr_external``.

    Differs from the thesis in: numbers are float64, in which whole numbers up to 2^53 are exact.
    """
    return _assembly(Drawn(), weight, average, turns, regret, streams, chance)


def pure_cfr(
    weight: str = "log",
    turns: str = "alternating",
    regret: str = "plain",
    streams: int = 1,
    average: str = "same",
    predict: float = 0.0,
) -> MonteCarlo:
    """Pure CFR (Ju et al. 2023, equations (20) and (21)): the best action by sums of values instead of regrets.

    Differs from the paper in: players take turns unless ``turns="simultaneous"``. Values are weighted like the
    averages, which with ``weight="uniform"`` is equation (20). ``regret``: "plus" and "discounted" add instantaneous
    regrets instead of values, with a floor at zero or with the discounts of DCFR. ``predict``: the fraction p of its
    last values that an infoset adds once more before it takes the maximum, arg max (Q + p w v).
    """
    return _assembly(Reached(PURE, _predicted(predict, regret)), weight, average, turns, regret, streams)


def pure_mccfr(
    weight: str = "square",
    turns: str = "alternating",
    regret: str = "plain",
    streams: int = 1,
    average: str = "recent",
    chance: str = "independent",
    predict: float = 0.0,
) -> MonteCarlo:
    """Pure MCCFR (Ju et al. 2023): external sampling with pure strategies.

    Differs from the paper as ``pure_cfr``, and in the defaults of ``weight`` and ``average``: the paper's are "log" and
    "same", with which the beginning stays in values and average for long (``benchmarks/pure_weights.py``). With
    ``turns="simultaneous"`` both players learn from one walk. ``chance``: as in ``mccfr_external``. ``regret``,
    ``predict``: as in ``pure_cfr``.
    """
    return _assembly(PureExternal(_predicted(predict, regret)), weight, average, turns, regret, streams, chance)


def _predicted(predict: object, regret: str) -> float:
    fraction = number("predict", predict, 0.0, 10.0)
    if fraction > 0.0 and regret == "discounted":
        raise ParameterError(f"The 'predict' parameter must be 0 with regret=discounted, got {quoted(predict)}.")
    return fraction


def _assembly(
    sampler: Sampler,
    weight: str,
    average: str,
    turns: str,
    regret: str,
    streams: int,
    chance: str = "independent",
) -> MonteCarlo:
    plus, discounts = named("regret", regret, REGRETS)
    return MonteCarlo(
        sampler,
        averaging(weight),
        turn_order(turns),
        plus,
        counted("streams", streams, MOST_STREAMS),
        average_weight=separate(average),
        recent=average == RECENT,
        correlated=named("chance", chance, CHANCES),
        discounts=discounts,
    )


LANCTOT: Final = "Lanctot et al. 2009"
JU: Final = "Ju et al. 2023, Pure MCCFR"

ROWS: Final = (
    ("mccfr-external", mccfr_external, "Monte Carlo CFR, external sampling", LANCTOT),
    (
        "mccfr-outcome",
        mccfr_outcome,
        "Monte Carlo CFR, outcome sampling with baselines",
        f"{LANCTOT}; Schmid et al. 2019",
    ),
    ("mccfr-average", mccfr_average, "Monte Carlo CFR, average-strategy sampling", "Gibson et al. 2012"),
    ("mccfr-chance", mccfr_chance, "Monte Carlo CFR, chance sampling", "Zinkevich et al. 2007"),
    ("mccfr-public", mccfr_public, "Monte Carlo CFR, public chance sampling", "Johanson et al. 2012, PCS"),
    ("gibson-pure-cfr", gibson_pure_cfr, "Monte Carlo CFR, drawn pure strategies", "Gibson 2014, Pure CFR"),
    ("pure-cfr", pure_cfr, "CFR with pure strategies", JU),
    ("pure-mccfr", pure_mccfr, "Monte Carlo CFR with pure strategies", JU),
)
"""Name, builder, summary and source of each algorithm in this module, for the registry."""
