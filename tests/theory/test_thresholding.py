"""Dynamic thresholding of minimizers on their own: Theorems 1 and 2 of Brown, Kroer & Sandholm (2017).

Regret is added up here, from the strategies and the utilities, and not asked of the minimizer.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from treeplex.errors import ParameterError
from treeplex.updates import PredictivePlus, RegretMatchingPlus
from treeplex.updates import RegretMatching as Matching
from treeplex.updates.adaptive import adaptive
from treeplex.updates.discounted import Discounted
from treeplex.updates.family import as_function
from treeplex.updates.hedge import KNOWN, THEORY, VARIANCE, hedge
from treeplex.updates.online import Hedge, OnlineMinimizer, RegretMatching, Thresholded
from treeplex.updates.rule import Rule
from treeplex.updates.smooth import smooth
from treeplex.updates.stable import stable
from treeplex.updates.thresholds import cut, hedge_threshold, matching_threshold, thresholded

ROUNDS = 400
SPAN = 3.0
ROUNDING = 1e-9

Adversary = Callable[[np.random.Generator, int, Any], Any]
"""(random numbers, round, strategy about to be played) -> utilities in [0, SPAN]."""


def uniform(rng: np.random.Generator, _: int, strategy: Any) -> Any:
    return SPAN * rng.random(len(strategy))


def favourite(rng: np.random.Generator, _: int, strategy: Any) -> Any:
    """A stream with one good action, so that others fall below the threshold."""
    utilities = SPAN * rng.random(len(strategy))
    utilities[0] = SPAN * rng.random() ** 0.2
    return utilities


def spiteful(_: np.random.Generator, __: int, strategy: Any) -> Any:
    """Pays what is played least, and nothing else: an action that was just dropped, if there is one."""
    utilities = np.zeros(len(strategy))
    utilities[np.argmin(strategy)] = SPAN
    return utilities


def patient(_: np.random.Generator, t: int, strategy: Any) -> Any:
    """Makes one action look bad for long, then good again."""
    utilities = np.full(len(strategy), SPAN / 2)
    utilities[-1] = 0.0 if (t // 60) % 2 == 0 else SPAN
    return utilities


def punishing(_: np.random.Generator, __: int, strategy: Any) -> Any:
    """Pays everything but what is played most, and nothing quite like another."""
    utilities = np.linspace(0.95, 1.0, len(strategy)) * SPAN
    utilities[np.argmax(strategy)] = 0.0
    return utilities


ADVERSARIES = [uniform, favourite, spiteful, patient, punishing]


def play(minimizer: OnlineMinimizer, adversary: Adversary, rounds: int = ROUNDS) -> tuple[Any, int]:
    """Regret after every round, and how many probabilities were zero in all."""
    rng = np.random.default_rng(7)
    earned, total, regrets, zeros = 0.0, np.zeros(minimizer.actions), [], 0
    for t in range(1, rounds + 1):
        strategy = minimizer.strategy()
        assert (strategy >= 0.0).all()
        assert strategy.sum() == pytest.approx(1.0, abs=1e-12)
        zeros += int((strategy == 0.0).sum())
        utilities = adversary(rng, t, strategy)
        minimizer.observe(utilities)
        earned += float(strategy @ utilities)
        total += utilities
        regrets.append(float(total.max()) - earned)
    assert minimizer.regret() == pytest.approx(regrets[-1], abs=1e-9)
    return np.array(regrets), zeros


@pytest.mark.parametrize("adversary", ADVERSARIES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("actions", [2, 3, 7, 20])
@pytest.mark.parametrize("c", [1.0, 1.2, 2.0, 4.0])
def test_theorem_1_hedge(c, actions, adversary) -> None:
    """R <= C sqrt(2) Delta sqrt(ln |A|) sqrt(T), with the proof's rate for known T; at every T with the other rate.

    The rate sqrt(8 ln |A| / t) has a bound that is sqrt(ln |A| / 8) Delta higher (Cesa-Bianchi & Lugosi, Theorem 2.3).
    """
    bound = c * np.sqrt(2.0) * SPAN * np.sqrt(np.log(actions)) * np.sqrt(np.arange(1, ROUNDS + 1))
    known, _ = play(Thresholded(Hedge(actions, SPAN, rounds=ROUNDS), d=c - 1.0), adversary)
    assert known[-1] <= bound[-1] * (1 + ROUNDING)
    always, _ = play(Thresholded(Hedge(actions, SPAN), d=c - 1.0), adversary)
    assert (always <= bound * (1 + ROUNDING) + SPAN * np.sqrt(np.log(actions) / 8.0)).all()


@pytest.mark.parametrize("adversary", ADVERSARIES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("actions", [2, 3, 7, 20])
@pytest.mark.parametrize("c", [1.0, 1.2, 2.0, 4.0])
def test_theorem_2_regret_matching(c, actions, adversary) -> None:
    """R <= C Delta sqrt(|A|) sqrt(T), at every T."""
    regret, _ = play(Thresholded(RegretMatching(actions), d=c - 1.0), adversary)
    assert (regret <= c * SPAN * np.sqrt(actions * np.arange(1, ROUNDS + 1)) * (1 + ROUNDING)).all()


def test_thresholds_are_felt() -> None:
    """Otherwise the theorems would be tested of nothing: plain Hedge plays everything, thresholded Hedge does not."""
    _, plain = play(Hedge(7, SPAN), favourite)
    _, dropped = play(Thresholded(Hedge(7, SPAN), d=1.0), favourite)
    assert plain == 0
    assert dropped > ROUNDS
    _, plain = play(RegretMatching(7), favourite)
    _, dropped = play(Thresholded(RegretMatching(7), d=3.0), favourite)
    assert dropped > plain


@pytest.mark.parametrize("minimizer", [Hedge(7, SPAN), RegretMatching(7)], ids=["hedge", "matching"])
def test_a_threshold_that_does_not_fall_breaks_the_bound(minimizer) -> None:
    """So that the tests above can fail: a constant threshold makes either follow the leader, who is punished."""
    regret, _ = play(Thresholded(minimizer, 1.0, threshold=lambda d, t: 0.9 * d), punishing)
    assert regret[-1] > 2.0 * SPAN * np.sqrt(7.0 * ROUNDS)


def test_thresholds_are_the_papers() -> None:
    """By hand: |A| = 4, C = 3, t = 9. Hedge: 2 sqrt(ln 4) / (sqrt(2) 16 3). Matching: (9 - 1) / (2 3 16 3)."""
    assert hedge_threshold(4, 2.0) / 3.0 == pytest.approx(2.0 * 1.1774100225154747 / (1.4142135623730951 * 48.0))
    assert matching_threshold(4, 2.0) / 3.0 == pytest.approx(8.0 / 288.0)
    learner = Thresholded(Hedge(4, 1.0), 2.0)
    for _ in range(8):
        learner.observe(np.zeros(4))
    assert learner.threshold(2.0) == pytest.approx(hedge_threshold(4, 2.0) / 3.0)
    assert Thresholded(RegretMatching(4), 2.0).threshold(2.0) == pytest.approx(8.0 / 96.0)


def test_cutting() -> None:
    np.testing.assert_allclose(cut(np.array([0.5, 0.3, 0.15, 0.05]), 0.1), np.array([0.5, 0.3, 0.15, 0.0]) / 0.95)
    np.testing.assert_array_equal(cut(np.array([0.6, 0.4]), 0.0), [0.6, 0.4])
    np.testing.assert_array_equal(cut(np.array([0.3, 0.45, 0.25]), 0.9), [0.0, 1.0, 0.0])  # the largest always stays


@pytest.mark.parametrize("scale", [1e-6, 1.0, 1e6])
@pytest.mark.parametrize("kind", [lambda s: Hedge(5, s), lambda _: RegretMatching(5)], ids=["hedge", "matching"])
def test_any_scale_any_regret(kind, scale) -> None:
    """Probabilities do not depend on the unit of utilities, and stay probabilities when regrets are huge."""
    learner, unit = Thresholded(kind(scale), 1.0), Thresholded(kind(1.0), 1.0)
    rng = np.random.default_rng(3)
    for _ in range(50):
        utilities = rng.random(5)
        learner.observe(scale * utilities)
        unit.observe(utilities)
        np.testing.assert_allclose(learner.strategy(), unit.strategy(), atol=1e-9)
    for _ in range(10):
        learner.observe(1e12 * scale * rng.standard_normal(5))  # far beyond the span that was promised
        assert np.isfinite(learner.strategy()).all()
        assert learner.strategy().sum() == pytest.approx(1.0)


def test_a_matrix_game() -> None:
    """Two thresholded Hedges on rock-paper-scissors with unequal stakes: averages close in on the equilibrium."""
    matrix = np.array([[0.0, -1.0, 2.0], [1.0, 0.0, -1.0], [-2.0, 1.0, 0.0]])
    rows, columns = (Thresholded(Hedge(3, 4.0), 0.5) for _ in range(2))
    total = np.zeros(3)
    for _ in range(3000):
        x, y = rows.strategy(), columns.strategy()
        rows.observe(matrix @ y)
        columns.observe(-matrix.T @ x)
        total += x
    bound = 2 * 1.5 * np.sqrt(2.0) * 4.0 * np.sqrt(np.log(3)) / np.sqrt(3000)  # both players' regrets
    assert (total / 3000 @ matrix).min() >= -bound
    np.testing.assert_allclose(total / 3000, [0.25, 0.5, 0.25], atol=0.05)


@pytest.mark.parametrize(
    ("make", "parameter"),
    [
        (lambda: Hedge(0, 1.0), "actions"),
        (lambda: Hedge(2, 0.0), "span"),
        (lambda: Hedge(2, float("nan")), "span"),
        (lambda: Hedge(2, 1.0, rounds=0), "rounds"),
        (lambda: RegretMatching(-1), "actions"),
        (lambda: Thresholded(RegretMatching(2), -0.1), "d"),
        (lambda: RegretMatching(2).observe(np.array([1.0])), "utilities"),
        (lambda: RegretMatching(2).observe(np.array([1.0, np.inf])), "utilities"),
        (lambda: RegretMatching(2).observe(np.zeros(2), np.ones(3)), "played"),
    ],
)
def test_refusals_name_the_parameter(make, parameter) -> None:
    with pytest.raises(ParameterError, match=f"'{parameter}' parameter must be"):
        make()


# --- the rules that engines call -------------------------------------------------------------------------------------


class ByVariance(Hedge):
    """Hedge by the variance of its values (section 5), clipped to the span at most."""

    def __init__(self, actions: int, span: float) -> None:
        super().__init__(actions, span)
        self.span, self.earned = span, list[float]()

    def observe(self, utilities, played=None) -> None:
        self.earned.append(float(played @ utilities))
        super().observe(utilities, played)

    def strategy(self):
        t, spread = max(self.rounds, 1), 3.0 * np.std(self.earned or [0.0])
        eta = np.sqrt(np.log(self.actions) / t) / (min(spread, self.span) if spread > 1e-12 else self.span)
        likely = np.exp(eta * (self.regrets - self.regrets.max()))
        return likely / likely.sum()


FUNCTIONS: dict[str, tuple[Callable[[float], Rule], Callable[[int], OnlineMinimizer]]] = {
    "theory": (lambda d: hedge(THEORY, d), lambda actions: Hedge(actions, SPAN)),
    "known": (lambda d: hedge(KNOWN, d, 10), lambda actions: Hedge(actions, SPAN, rounds=10)),
    "variance": (lambda d: hedge(VARIANCE, d), lambda actions: ByVariance(actions, SPAN)),
}


@pytest.mark.parametrize("d", [0.0, 0.7, 3.0])
@pytest.mark.parametrize("name", FUNCTIONS)
def test_rules_are_the_online_minimizers(name, d) -> None:
    """The functions that engines call choose as the minimizers of the theorems do, round by round."""
    rng, cut_off = np.random.default_rng(5), 0
    for actions in (2, 3, 7):
        rule, learner = FUNCTIONS[name][0](d), Thresholded(FUNCTIONS[name][1](actions), d)
        constants, strategy = rule.constants_of(SPAN), np.full(actions, 1.0 / actions)
        memory = rule.initial(actions, constants)
        if rule.ranged:
            memory[-1, 0] = SPAN
        for t in range(1, 40):
            utilities = rng.uniform(-SPAN / 2.0, SPAN / 2.0, actions) ** 3
            learner.observe(utilities, strategy.copy())
            rule.apply(float(t), utilities, strategy, memory, constants)
            np.testing.assert_allclose(strategy, learner.strategy(), rtol=0, atol=1e-12)
            cut_off += int((strategy == 0.0).sum())
    assert name == "variance" or d < 3.0 or cut_off > 0


# --- around any rule -------------------------------------------------------------------------------------------------


def multiplied(t: float, values: Any, strategy: Any, memory: Any) -> None:
    """Multiplicative weights, which a user could write: the strategy itself is all that the rule remembers."""
    total = 0.0
    for a in range(len(values)):
        strategy[a] *= np.exp(0.1 * values[a])
        total += strategy[a]
    for a in range(len(values)):
        strategy[a] /= total


MATCHING, PLUS = as_function(Matching(), "rm"), as_function(RegretMatchingPlus(), "rm+")
PREDICTIVE = as_function(PredictivePlus(), "prm+")
MULTIPLIED = Rule("multiplied", multiplied, memory=0)
ANY = (MATCHING, PLUS, PREDICTIVE, hedge(), adaptive(5.0), stable(0.05), smooth(0.05), MULTIPLIED)


def run(rule: Rule, actions: int, adversary: Adversary) -> tuple[Any, Any]:
    """[T, A] strategies of a rule, and the utilities of an adversary who sees them."""
    rng, constants, strategy = np.random.default_rng(7), rule.constants_of(SPAN), np.full(actions, 1.0 / actions)
    memory, played, paid = rule.initial(actions, constants), [], []
    for t in range(1, ROUNDS + 1):
        played.append(strategy.copy())
        paid.append(adversary(rng, t, strategy))
        rule.apply(float(t), paid[-1].copy(), strategy, memory, constants)
    return np.array(played), np.array(paid)


def regrets(played: Any, paid: Any) -> Any:
    """[T] regret after every round."""
    return np.cumsum(paid, axis=0).max(axis=1) - np.cumsum((played * paid).sum(axis=1))


@pytest.mark.parametrize("adversary", ADVERSARIES, ids=lambda f: f.__name__)
@pytest.mark.parametrize("rule", ANY, ids=lambda rule: rule.name)
def test_thresholds_around_any_rule(rule, adversary) -> None:
    """Regret exceeds that of the rule on the same utilities by (C^2 - 1) (|A| - 1) / (C |A|^2) Delta sqrt(T) at most.

    The rule is run alone on what the thresholded one was paid, and its strategies are cut by hand.
    """
    for actions in (2, 3, 7):
        for c in (1.2, 4.0):
            played, paid = run(thresholded(rule, c - 1.0), actions, adversary)
            own, _ = run(rule, actions, lambda _, t, __, paid=paid: paid[t - 1])
            least = (c * c - 1.0) / (2.0 * c * actions**2 * np.sqrt(np.arange(1, ROUNDS + 1)))
            expected = [own[0], *(cut(row, low) for row, low in zip(own[1:], least[1:], strict=True))]
            np.testing.assert_allclose(played, expected, rtol=0, atol=1e-9)
            more = (c * c - 1.0) * (actions - 1) / (c * actions**2) * SPAN * np.sqrt(np.arange(1, ROUNDS + 1))
            assert (regrets(played, paid) <= regrets(own, paid) + more + ROUNDING).all()


@pytest.mark.parametrize("adversary", ADVERSARIES, ids=lambda f: f.__name__)
@pytest.mark.parametrize(("rule", "factor"), [(MATCHING, 1.0), (PLUS, 1.0), (PREDICTIVE, 2.0)], ids=["rm", "rm+", "p"])
def test_a_factor_of_c(rule, factor, adversary) -> None:
    """R <= C B(T), with B = Delta sqrt(|A| T); twice that for predictions, whose errors are at most twice as large."""
    for actions in (2, 3, 7, 20):
        for c in (1.0, 1.2, 2.0, 4.0):
            played, paid = run(thresholded(rule, c - 1.0), actions, adversary)
            bound = c * factor * SPAN * np.sqrt(actions * np.arange(1, ROUNDS + 1))
            assert (regrets(played, paid) <= bound * (1 + ROUNDING)).all()


def test_thresholds_around_rules_are_felt() -> None:
    """Every rule of the tests above is cut where it would play, and the actions come back."""
    for rule in ANY:
        played, paid = run(thresholded(rule, 9.0), 7, uniform)
        alone, _ = run(rule, 7, lambda _, t, __, paid=paid: paid[t - 1])
        assert ((played == 0.0) & (alone > 0.0)).any()
        assert ((played[:-1] == 0.0) & (played[1:] > 0.0)).any()


def test_without_a_threshold_nothing_changes() -> None:
    """Except for rounding: the rule inside is compiled."""
    for rule in ANY:
        one, paid = run(rule, 5, favourite)
        other, _ = run(thresholded(rule, 0.0), 5, lambda _, t, __, paid=paid: paid[t - 1])
        np.testing.assert_allclose(other, one, rtol=0, atol=1e-11)


def test_discounts_that_change_are_rejected() -> None:
    with pytest.raises(ParameterError, match="'minimizer' parameter must be a rule whose discounts are the same"):
        as_function(Discounted(1.5, 0.0), "dcfr")
