"""A user's own update rule: as good as the built-in one, and refused in a sentence when it is none."""

from __future__ import annotations

import re
from typing import Any

import numba
import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms.cfr import CFR
from treeplex.algorithms.protocol import Execution
from treeplex.errors import ParameterError, SolverError
from treeplex.updates import RegretMatchingPlus, rule
from treeplex.updates.schedules import linear, power
from treeplex.updates.turns import ALTERNATING, SIMULTANEOUS


@tp.minimizer(memory=1)
def own_plus(t, values, strategy, memory):
    """Regret matching+, in the words of the README."""
    expected, total = 0.0, 0.0
    for a in range(len(values)):
        expected += strategy[a] * values[a]
    for a in range(len(values)):
        memory[0, a] = max(memory[0, a] + (values[a] - expected), 0.0)
        total += memory[0, a]
    for a in range(len(values)):
        strategy[a] = memory[0, a] / total if total > 0 else 1 / len(values)


@tp.minimizer(memory=2, turns="simultaneous")
def counting(t, values, strategy, memory):
    """Plays uniformly and remembers the iteration, and how often it was asked."""
    for a in range(len(values)):
        memory[0, a] = t
        memory[1, a] += 1.0
        strategy[a] = 1.0 / len(values)


@tp.minimizer()
def nonsense(t, values, strategy, memory):
    for a in range(len(values)):
        strategy[a] = 1.0 / len(values) if t < 4.0 else np.nan


@tp.minimizer()
def uncompilable(t, values, strategy, memory):
    strategy[:] = float(f"{1.0 / len(values):.17g}")


@pytest.mark.parametrize("name", ["leduc", "one_card_poker(20)", "leduc_ext(9,2,2)", "random_tree(seed=4,depth=6)"])
def test_an_own_rule_gives_the_strategies_of_the_built_in_one(name) -> None:
    """The same sums in the same order, whatever the payoff operator: the same bits."""
    game = tp.load(name)
    ours, theirs = tp.solve(game, own_plus, iterations=120), tp.solve(game, "cfr+", iterations=120)
    for left, right in zip(ours.policy.strategies, theirs.policy.strategies, strict=True):
        np.testing.assert_array_equal(left.probability, right.probability)
    assert ours.algorithm == "own_plus"


def test_a_rule_is_told_the_iteration_and_keeps_its_memory() -> None:
    game = tp.load("kuhn")
    state = counting.advance(game, counting.advance(game, counting.start(game), 3), 4)
    for learner in state.learners:
        assert (learner.memory[2:] == 7).all()  # before it is the empty sequence, of no infoset
    assert counting.work(game, state).nodes == 7 * game.nodes


def test_an_own_rule_resumes_to_the_same_bits(tmp_path) -> None:
    whole = tp.solve("leduc", own_plus, iterations=90)
    tp.solve("leduc", own_plus, iterations=40, out=tmp_path / "run")
    with pytest.raises(ParameterError, match=r"a rule of your own, 'own_plus'; pass it as algorithm="):
        tp.resume(tmp_path / "run", iterations=90)
    parts = tp.resume(tmp_path / "run", iterations=90, algorithm=own_plus)
    for left, right in zip(whole.policy.strategies, parts.policy.strategies, strict=True):
        np.testing.assert_array_equal(left.probability, right.probability)


def test_a_rule_that_runs_out_of_numbers_is_stopped() -> None:
    with pytest.raises(SolverError, match=r"The strategies contain NaN or infinity at iteration 5\."):
        tp.solve("kuhn", nonsense, iterations=5)


def test_a_rule_that_numba_cannot_compile_is_named() -> None:
    with pytest.raises(ParameterError) as error:
        tp.solve("kuhn", uncompilable, iterations=5)
    assert "The rule 'uncompilable' is not one that Numba can compile" in str(error.value)
    assert "\n" not in str(error.value)


@tp.minimizer
def greedy(t, values, strategy, memory):
    strategy[:] = 0.0
    strategy[values.argmax()] = 5.0


def test_a_decorator_needs_no_parentheses() -> None:
    assert (greedy.name, greedy.rule.memory) == ("greedy", 1)
    with pytest.raises(ParameterError, match="A rule must be a function"):
        tp.minimizer(5)  # pyright: ignore[reportArgumentType, reportCallIssue]


def test_a_rule_that_is_no_distribution_is_noticed() -> None:
    with pytest.raises(ParameterError, match=r"The rule 'greedy' must leave probabilities that add up to 1") as error:
        tp.solve("kuhn", greedy, iterations=5)
    assert "they add up to 5" in str(error.value)


def test_the_cause_is_told_without_the_stages_of_compilation() -> None:
    @tp.minimizer
    def misspelt(t, values, strategy, memory):
        strategy[0] = undefined  # noqa: F821

    with pytest.raises(ParameterError) as error:
        tp.solve("kuhn", misspelt, iterations=5)
    assert str(error.value) == (
        "The rule 'misspelt' fails as plain Python with 2 actions: NameError: name 'undefined' is not defined. Treeplex"
        " tries a rule on NumPy arrays before it is compiled."
    )


def test_wrong_parameters_are_named() -> None:
    with pytest.raises(ParameterError, match="'memory' parameter"):
        tp.minimizer(memory=-1)
    with pytest.raises(ParameterError, match="'turns' parameter"):
        tp.minimizer(turns="both")
    with pytest.raises(ParameterError, match="'algorithm' parameter must be a name or made by minimizer"):
        tp.solve("kuhn", 5, iterations=1)


# --- what a rule may not do ------------------------------------------------------------------------------------------


@pytest.fixture
def no_compiler(monkeypatch):
    """What is wrong is said before anything is compiled."""

    def compiled(*_: Any) -> None:
        raise AssertionError("it was compiled")

    monkeypatch.setattr(rule, "compile_update", compiled)


def predictive(t, values, strategy, memory):
    """PCFR+: row 0 is regret, row 1 the last instantaneous regret."""
    expected, total = 0.0, 0.0
    for a in range(len(values)):
        expected += strategy[a] * values[a]
    for a in range(len(values)):
        memory[1, a] = values[a] - expected
        memory[0, a] = max(memory[0, a] + memory[1, a], 0.0)
        strategy[a] = max(memory[0, a] + memory[1, a], 0.0)
        total += strategy[a]
    for a in range(len(values)):
        strategy[a] = strategy[a] / total if total > 0 else 1 / len(values)


def one_action_more(t, values, strategy, memory):
    for a in range(len(values) + 1):
        strategy[a] = 1.0 / len(values)


def three_actions(t, values, strategy, memory):
    strategy[:] = 1.0 / len(values)
    if len(values) == 3:
        memory[0, 3] = 1.0


def row_by_iteration(t, values, strategy, memory):
    strategy[:] = 1.0 / len(values)
    memory[int(t) % 4, 0] += 1.0


def row_of_nothing(t, values, strategy, memory):
    strategy[:] = 1.0 / len(values)
    if values.max() == values.min() == 0.0:
        memory[2, 0] = 1.0


@pytest.mark.usefixtures("no_compiler")
@pytest.mark.parametrize(
    ("rule", "sentence"),
    [
        (predictive, "The rule 'predictive' uses row 1 of memory but asked for 1 row; give memory=2."),
        (row_by_iteration, "The rule 'row_by_iteration' uses row 3 of memory but asked for 1 row; give memory=4."),
        (row_of_nothing, "The rule 'row_of_nothing' uses row 2 of memory but asked for 1 row; give memory=3."),
        (one_action_more, "The rule 'one_action_more' uses an index that is out of bounds with 2 actions and memory=1"),
        (three_actions, "The rule 'three_actions' uses an index that is out of bounds with 3 actions and memory=1"),
    ],
)
def test_what_is_not_there_is_not_used(rule, sentence) -> None:
    with pytest.raises(ParameterError) as error:
        tp.solve("leduc", tp.minimizer(rule), iterations=5)
    assert str(error.value).startswith(sentence)


def test_no_rows_of_memory_are_legal() -> None:
    with pytest.raises(ParameterError, match=r"uses row 1 of memory but asked for 0 rows; give memory=2\."):
        tp.solve("kuhn", tp.minimizer(memory=0)(predictive), iterations=5)


@pytest.mark.usefixtures("no_compiler")
@pytest.mark.parametrize("body", ["strategy = values", "values[:] = strategy", "return values / values.sum()"])
def test_a_strategy_that_is_not_written_is_noticed(body) -> None:
    names: dict[str, Any] = {}
    exec(f"def idle(t, values, strategy, memory):\n    {body}", names)
    with pytest.raises(ParameterError, match=r"The rule 'idle' must write the next strategy into 'strategy'"):
        tp.solve("kuhn", tp.minimizer(names["idle"]), iterations=5)


@pytest.mark.usefixtures("no_compiler")
def test_a_rule_that_is_no_distribution_is_noticed_before_it_is_compiled() -> None:
    with pytest.raises(ParameterError, match=r"of 2 actions they add up to 5, the lowest is 0, after iteration 1"):
        tp.solve("kuhn", greedy, iterations=5)


@pytest.mark.parametrize("rule", [lambda t: 0, lambda: 0, lambda t, v, s, m, more: 0, max, "rule", np.float64])
def test_a_rule_takes_four_arguments(rule) -> None:
    with pytest.raises(ParameterError, match=r"A rule must be a function \(t, values, strategy, memory\), got "):
        tp.minimizer(rule)


def test_an_index_that_is_out_of_bounds_later_is_an_error_and_no_crash() -> None:
    """Compiled code checks it, too; without a check this would read what happens to lie behind memory."""

    @tp.minimizer
    def late(t, values, strategy, memory):
        strategy[:] = 1.0 / len(values)
        if t == 40.0:
            strategy[0] += 0.0 * memory[int(t), 0]

    with pytest.raises(ParameterError) as error:
        tp.solve("kuhn", late, iterations=1000)
    assert str(error.value).startswith("The rule 'late' uses an index that is out of bounds in iterations ")
    assert str(error.value).endswith("and memory=1.")


def test_other_failures_of_a_rule_are_told() -> None:
    """What plain Python lets pass, with a warning: division by zero raises in compiled code."""

    @tp.minimizer
    def dividing(t, values, strategy, memory):
        strategy[:] = 1.0 / len(values)
        if t == 7.0:
            memory[0, 0] = values[0] / memory[0, 0]

    with pytest.raises(ParameterError) as error:
        tp.solve("kuhn", dividing, iterations=9)
    assert re.fullmatch(
        r"The rule 'dividing' fails in iterations \d to \d: ZeroDivisionError: division by zero\.", str(error.value)
    )


@pytest.mark.parametrize("game", ["kuhn", "leduc"])
@pytest.mark.parametrize("storage", ["float64", "float32"])
def test_failures_end_a_run_whatever_carries_it_out(game, storage) -> None:
    """By walks and in tiles, with threads: the first failure is told, and no rule is called after it."""

    @tp.minimizer
    def late(t, values, strategy, memory):
        strategy[:] = 1.0 / len(values)
        if t == 5.0:
            strategy[0] += 0.0 * memory[int(t), 0]

    algorithm = late.open(tp.load(game), Execution(storage=storage, threads=2))
    state = algorithm.start(tp.load(game))
    with pytest.raises(ParameterError, match="'late' uses an index that is out of bounds in iterations 1 to 9: "):
        algorithm.advance(tp.load(game), state, 9)


def test_a_rule_is_not_for_16_bits() -> None:
    with pytest.raises(ParameterError, match=r"'storage' .* float64, float32 with the rule 'own_plus', got 'int16'"):
        tp.solve("kuhn", own_plus, iterations=5, storage="int16")


@pytest.mark.parametrize("order", ["faced", "next"])
def test_averages_of_a_rule_have_an_order(order) -> None:
    ours = tp.solve("leduc", tp.minimizer(order=order)(own_plus.rule.update), iterations=20)
    assert ours.nash_conv == tp.solve("leduc", f'cfr+(order="{order}")', iterations=20).nash_conv


def test_indices_are_checked_unless_told_otherwise() -> None:
    rules = tp.minimizer(predictive), tp.minimizer(checked=False)(predictive)
    assert [made.rule.checked for made in rules] == [True, False]


def test_a_rule_that_is_compiled_already_is_compiled_with_checks() -> None:
    made = tp.minimizer(memory=2)(numba.njit(predictive))
    assert (made.name, made.rule.checked, made.rule.update) == ("predictive", True, predictive)


# --- averaging weights -----------------------------------------------------------------------------------------------


WRONG_WEIGHTS = [
    (lambda t: t * np.nan, "must give finite numbers >= 0, got nan for iteration 1"),
    (lambda t: -t, "must give finite numbers >= 0, got -1 for iteration 1"),
    (lambda t: np.where(t % 2 == 0, 1, -1), "must give finite numbers >= 0, got -1 for iteration 1"),
    (lambda t: 0 * t, "must give a positive number at some iteration, got only zeros"),
    (lambda t: np.ones(1000), "must give an array with one number per iteration"),
    (lambda t: t[:1], "must give an array with one number per iteration"),
    (lambda t: 1.0, "must give an array with one number per iteration, got 1.0 for "),
    (lambda t: None, "must give an array with one number per iteration, got None for "),
    ("cubic", "must be one of uniform, linear, square, log, got 'cubic'"),
    (3, "must be one of uniform, linear, square, log, got 3"),
]


@pytest.mark.parametrize(("weight", "sentence"), WRONG_WEIGHTS)
def test_weights_of_ones_own_are_checked(weight, sentence) -> None:
    with pytest.raises(ParameterError) as error:
        tp.minimizer(weight=weight)(own_plus.rule.update)
    assert str(error.value).startswith(f"The 'weight' parameter {sentence}")
    with pytest.raises(ParameterError) as error:
        tp.solve("kuhn", CFR(RegretMatchingPlus(), weight, ALTERNATING), iterations=20)
    assert str(error.value).startswith(f"The 'weight' parameter {sentence}")


def test_weights_that_go_wrong_later_are_noticed() -> None:
    with pytest.raises(ParameterError, match=r"must give finite numbers >= 0, got inf for iteration 50"):
        tp.solve("kuhn", CFR(RegretMatchingPlus(), lambda t: np.where(t < 50, t, np.inf), ALTERNATING), iterations=90)


@pytest.mark.parametrize("weight", ["linear", linear(), lambda t: t, lambda t: t.astype(int), list])
def test_weights_by_name_and_by_function(weight) -> None:
    expected = tp.solve("kuhn", "cfr+", iterations=30).nash_conv
    assert tp.solve("kuhn", CFR(RegretMatchingPlus(), weight, ALTERNATING), iterations=30).nash_conv == expected
    assert tp.minimizer(weight=weight)(own_plus.rule.update).weight(np.array([3.0]))[0] == 3.0


def test_weights_may_be_zero_at_first() -> None:
    late = tp.solve("kuhn", CFR(RegretMatchingPlus(), linear(1000), ALTERNATING), iterations=20)
    assert late.iterations == 20


# --- assemblies ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("word", "constant"), [("simultaneous", SIMULTANEOUS), ("alternating", ALTERNATING)])
def test_turns_of_an_assembly_by_word(word, constant) -> None:
    by_word, by_constant = (
        tp.solve("leduc", CFR(RegretMatchingPlus(), power(2.0), turns), iterations=50) for turns in (word, constant)
    )
    assert by_word.nash_conv == by_constant.nash_conv
    assert by_word.nodes_touched == by_constant.nodes_touched == (2 - constant) * 50 * by_word.game.nodes


@pytest.mark.parametrize("turns", [7, -1, None, "both", True, 1.0, "SIMULTANEOUS"])
def test_other_turns_of_an_assembly_are_refused(turns) -> None:
    with pytest.raises(ParameterError, match=r"The 'turns' parameter must be one of alternating, simultaneous, got "):
        CFR(RegretMatchingPlus(), power(2.0), turns)


@pytest.mark.parametrize("rule", [RegretMatchingPlus, None, "cfr+", own_plus])
def test_the_minimizer_of_an_assembly_is_an_object(rule) -> None:
    with pytest.raises(ParameterError, match=r"The 'rule' parameter must be a rule such as RegretMatchingPlus\(\)"):
        CFR(rule, power(2.0), ALTERNATING)


def test_discounts_of_ones_own_are_one_per_iteration() -> None:
    class Short:
        predict = 0.0

        def discounts(self, iteration: Any) -> Any:
            return np.ones(1), np.ones(1)

    with pytest.raises(ParameterError, match="The 'minimizer' parameter must give an array with one number per"):
        tp.solve("kuhn", CFR(Short(), power(2.0), ALTERNATING), iterations=50)


@pytest.mark.parametrize("period", [3, 10])
def test_a_weight_may_be_zero_at_most_iterations(period) -> None:
    """Not only powers of two are tried before a weight is said to be zero for ever."""
    rare = CFR(RegretMatchingPlus(), lambda t: (t % period == 0).astype(float), "alternating")
    assert tp.solve("kuhn", rare, iterations=100).nash_conv < 0.05


def test_thresholds_around_an_own_rule() -> None:
    """Walks enter fewer nodes, and still converge; a wrong rule is reported by its own name."""

    def multiplied(t: float, values: Any, strategy: Any, memory: Any) -> None:
        total = 0.0
        for a in range(len(values)):
            strategy[a] *= np.exp(values[a] / np.sqrt(t))
            total += strategy[a]
        for a in range(len(values)):
            strategy[a] /= total

    def wrong(t: float, values: Any, strategy: Any, memory: Any) -> None:
        strategy[:] = 1.0

    plain, cut = (
        tp.solve("kuhn", tp.algorithm("cfr-partial", rule=tp.minimizer(memory=0, d=d)(multiplied)), iterations=5000)
        for d in (0.0, 5.0)
    )
    assert cut.algorithm == "cfr-partial[multiplied-dt]"
    assert cut.nodes_touched < 0.95 * plain.nodes_touched
    assert cut.nash_conv < 0.05
    with pytest.raises(ParameterError, match="The rule 'wrong' must leave probabilities"):
        tp.solve("kuhn", tp.minimizer(memory=1, d=1.0)(wrong), iterations=1)
    with pytest.raises(ParameterError, match="'d' parameter must be a number from 0 to 1000"):
        tp.minimizer(d=-1.0)
