"""A user's own update rule: as good as the built-in one, and refused in a sentence when it is none."""

from __future__ import annotations

import numpy as np
import pytest

import treeplex as tp
from treeplex.errors import ParameterError, SolverError


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
        strategy[a] = np.nan


@tp.minimizer()
def uncompilable(t, values, strategy, memory):
    strategy.sort(by="value")


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
    for memory in state.memory:
        assert (memory[:, 1:] == 7).all()
    assert counting.nodes_touched(game, state) == 7 * game.nodes


def test_an_own_rule_resumes_to_the_same_bits(tmp_path) -> None:
    whole = tp.solve("leduc", own_plus, iterations=90)
    tp.solve("leduc", own_plus, iterations=40, folder=tmp_path / "run")
    with pytest.raises(ParameterError, match=r"a rule of your own, 'own_plus'; give it as algorithm="):
        tp.resume(tmp_path / "run", iterations=90)
    parts = tp.resume(tmp_path / "run", iterations=90, algorithm=own_plus)
    for left, right in zip(whole.policy.strategies, parts.policy.strategies, strict=True):
        np.testing.assert_array_equal(left.probability, right.probability)


def test_a_rule_that_runs_out_of_numbers_is_stopped() -> None:
    with pytest.raises(SolverError, match=r"The strategies contain NaN or infinity at iteration 1\."):
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
    assert (greedy.name, greedy.memory) == ("greedy", 1)
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
        "The rule 'misspelt' is not one that Numba can compile: NameError: name 'undefined' is not defined."
    )


def test_wrong_parameters_are_named() -> None:
    with pytest.raises(ParameterError, match="'memory' parameter"):
        tp.minimizer(memory=-1)
    with pytest.raises(ParameterError, match="'turns' parameter"):
        tp.minimizer(turns="both")
    with pytest.raises(ParameterError, match="'algorithm' parameter must be a name or made by minimizer"):
        tp.solve("kuhn", 5, iterations=1)
