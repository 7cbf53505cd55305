"""Rules that are functions, on walks over the history tree and in samplers, against their plain Python form."""

from __future__ import annotations

import runpy
from itertools import islice
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from tests.conformance.rules import FUNCTIONS, PLUS, SOFTMAX, TWO_ROWS

import treeplex as tp
from treeplex.algorithms.options import TURNS
from treeplex.engines.history.paths import paths
from treeplex.engines.history.reference import prune as reference
from treeplex.engines.history.reference.functions import FunctionLearner
from treeplex.engines.sequence.learners import normalised
from treeplex.engines.sequence.rules import payoff_range
from treeplex.errors import ParameterError
from treeplex.updates.rule import Rule

GAMES = ["kuhn", "leduc", "random_tree(seed=5,depth=8)", "random_tree(seed=8,depth=6,width=4)"]
SEED, ITERATIONS = 11, 5
SAMPLERS = [
    "mccfr-external",
    'mccfr-external(weight="linear",turns="simultaneous")',
    'mccfr-external(chance="correlated",average="square")',
    "mccfr-average(epsilon=0.3,tau=1,beta=2)",
    "mccfr-outcome",
    'mccfr-outcome(baseline=0,turns="simultaneous")',
    "mccfr-chance",
    'mccfr-chance(weight="linear",turns="simultaneous")',
]
recursions: Any = runpy.run_path(str(Path(__file__).parents[1] / "unit" / "test_sampling_kernels.py"))["iterates"]


# --- walks -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("rule", FUNCTIONS, ids=lambda rule: rule.name)
@pytest.mark.parametrize("walk", ["cfr-full", "cfr+-partial"])
@pytest.mark.parametrize("name", GAMES)
def test_walks_follow_the_plain_form(name, walk, rule, turns) -> None:
    """The same strategies, memory, averages and node counts, iteration by iteration."""
    game, algorithm = tp.load(name), tp.algorithm(f'{walk}(turns="{turns}")', rule=rule)
    state, ways = algorithm.start(game), paths(game)
    ledgers = [reference.ledger(*pair) for pair in zip(game.treeplexes, algorithm.current(game, state), strict=True)]
    kernel_rule = [algorithm.player(game, state, i).rule for i in (0, 1)]
    learners = tuple(
        FunctionLearner(
            game.treeplexes[i], ways.sides[i], ledgers[i], kernel_rule[i], algorithm.traversal.pruning,
            rule, rule.constants_of(payoff_range(game)),
        )
        for i in (0, 1)
    )  # fmt: skip
    nodes = 0
    for t in range(ITERATIONS):
        weight = algorithm.weight(np.array([t + 1.0]))
        state = algorithm.advance(game, state, 1)
        nodes += reference.walk_iterations(ways.tree, game.payoffs, learners, t, weight, TURNS[turns])
        assert state.nodes == nodes
        averages = normalised(game, (ledgers[0].average, ledgers[1].average))
        for i in (0, 1):
            np.testing.assert_allclose(state.tables[i].strategy[1:], ledgers[i].strategy[1:], atol=1e-9)
            np.testing.assert_allclose(algorithm.average(game, state)[i][1:], averages[i][1:], atol=1e-9)
            own = np.concatenate([np.zeros(rule.memory), *(rows.reshape(-1) for rows in learners[i].memory)])
            np.testing.assert_allclose(state.memory[i], own, atol=1e-9)


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("walk", ["full", "partial"])
@pytest.mark.parametrize("name", GAMES)
def test_regret_matching_plus_as_a_function_has_the_bits_of_the_family(name, walk, turns) -> None:
    game = tp.load(name)
    own, family = (tp.algorithm(f'cfr+-{walk}(turns="{turns}")', rule=rule) for rule in (PLUS, None))
    one, two = own.advance(game, own.start(game), 40), family.advance(game, family.start(game), 40)
    assert one.nodes == two.nodes
    for left, right in zip(
        (*own.current(game, one), *own.average(game, one)),
        (*family.current(game, two), *family.average(game, two)),
        strict=True,
    ):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("rule", FUNCTIONS, ids=lambda rule: rule.name)
def test_partial_pruning_changes_no_bit_and_saves_nodes(rule) -> None:
    """Whoever is not reached does not learn, whether or not a walk enters."""
    game = tp.load("leduc")
    states = [
        algorithm.advance(game, algorithm.start(game), 30)
        for algorithm in (tp.algorithm(name, rule=rule) for name in ("cfr-full", "cfr-partial"))
    ]
    for left, right in zip(states[0].memory, states[1].memory, strict=True):
        np.testing.assert_array_equal(left, right)
    assert states[1].nodes < states[0].nodes or rule is SOFTMAX  # which plays everything


@pytest.mark.parametrize("spec", ["cfr-partial", "mccfr-external", "mccfr-chance(streams=2)"])
def test_pieces_give_the_bits_of_the_whole(spec) -> None:
    game, algorithm = tp.load("leduc"), tp.algorithm(spec, rule=TWO_ROWS)
    whole, parts = algorithm.advance(game, algorithm.start(game), 50), algorithm.start(game)
    for count in (1, 2, 30):
        parts = algorithm.advance(game, parts, count)
    parts = algorithm.restore(game, {name: array.copy() for name, array in algorithm.save(parts).items()})
    parts = algorithm.advance(game, parts, 17)
    one, two = algorithm.save(whole), algorithm.save(parts)
    assert one.keys() == two.keys()
    for name, array in one.items():
        np.testing.assert_array_equal(array, two[name])


# --- samplers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rule", FUNCTIONS, ids=lambda rule: rule.name)
@pytest.mark.parametrize("sampler", SAMPLERS)
@pytest.mark.parametrize("name", ["kuhn", "leduc", "leduc(suits=true)", "random_tree(seed=3,depth=5)"])
def test_samplers_follow_the_plain_form(name, sampler, rule) -> None:
    """The same draws, strategies, memory, averages and node counts."""
    game, algorithm = tp.load(name), tp.algorithm(sampler, rule=rule)
    state = algorithm.start(game, SEED)
    for expected in islice(recursions(algorithm, game, SEED), 20 * ITERATIONS):
        state = algorithm.advance(game, state, 1)
        ours = state.streams[0]
        np.testing.assert_array_equal(ours.counter, expected.counter)
        np.testing.assert_array_equal(ours.nodes, expected.nodes)
        for left, right in zip((*ours.tables, ours.memory), (*expected.tables, expected.memory), strict=True):
            for one, two in zip(left, right, strict=True):
                np.testing.assert_allclose(one, two, rtol=1e-12, atol=1e-12)
    assert any(table.average.any() for table in state.streams[0].tables)


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("sampler", ["external", "average", "outcome", "chance"])
def test_regret_matching_plus_as_a_function_samples_as_the_family(sampler, turns) -> None:
    game = tp.load("leduc")
    spec = f'mccfr-{sampler}(turns="{turns}",weight="linear"'
    own, family = tp.algorithm(f"{spec})", rule=PLUS), tp.algorithm(f'{spec},regret="plus")')
    one, two = own.advance(game, own.start(game, SEED), 5), family.advance(game, family.start(game, SEED), 5)
    np.testing.assert_array_equal(one.streams[0].counter, two.streams[0].counter)
    for left, right in zip(own.current(game, one), family.current(game, two), strict=True):
        np.testing.assert_allclose(left, right, atol=1e-9)


@pytest.mark.parametrize("sampler", ["mccfr-external(streams=2)", "mccfr-chance", "mccfr-outcome"])
def test_sampled_rules_come_close_to_an_equilibrium(sampler) -> None:
    solution = tp.solve("kuhn", tp.algorithm(sampler, rule=PLUS), iterations=100_000)
    assert solution.nash_conv < 0.05


# --- how it is said --------------------------------------------------------------------------------------------------


def test_a_name_without_a_rule_is_the_named_algorithm() -> None:
    assert tp.algorithm("mccfr-external(streams=2)").streams == 2


class Made:
    rule = PLUS


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        (" cfr-partial", "cfr-partial[plus]"),
        ('mccfr-external(weight="linear")', 'mccfr-external[plus](weight="linear")'),
    ],
)
def test_runs_carry_the_name_and_are_resumed_with_the_rule(spec, name, tmp_path) -> None:
    algorithm = tp.algorithm(spec, rule=Made())
    solution = tp.solve("kuhn", algorithm, iterations=10, out=tmp_path / "run")
    assert solution.algorithm == name
    with pytest.raises(ParameterError, match="rule of your own"):
        tp.resume(tmp_path / "run", iterations=20)
    resumed = tp.resume(tmp_path / "run", algorithm=algorithm, iterations=20)
    assert resumed.iterations == 20
    assert resumed.value == tp.solve("kuhn", algorithm, iterations=20).value


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("cfr-rbp", "need bounds"),
        ("cfr-nested-rbp", "need bounds"),
        ("cfr+-zero-reach-br", "need bounds"),
        ("hedge-dt", "need bounds"),
        ("pure-cfr", "have a rule of their own"),
        ("pure-mccfr", "have a rule of their own"),
        ('mccfr-external(regret="plus")', "regret=plus"),
        ('mccfr-chance(fallback="random")', "fallback=random"),
        ("egt", "no rule to replace"),
        ("cfr-hybrid", "no rule to replace"),
    ],
)
def test_what_has_no_rule_to_replace_says_so(spec, words) -> None:
    with pytest.raises(ParameterError, match=words) as caught:
        tp.algorithm(spec, rule=PLUS)
    assert str(caught.value).count(". ") == 0


def test_rules_are_made_by_minimizer() -> None:
    with pytest.raises(ParameterError, match="made by minimizer, got 'softmax'"):
        tp.algorithm("cfr-partial", rule="softmax")


# --- rules that fail -------------------------------------------------------------------------------------------------


def late(t: float, values: Any, strategy: Any, memory: Any) -> None:
    """Fails in iteration 3."""
    memory[int(t) // 3, 0] = 1.0
    strategy[:] = 1.0 / len(values)


def loud(t: float, values: Any, strategy: Any, memory: Any) -> None:
    """Raises in iteration 3."""
    if t == 3.0:
        raise ValueError("three")


def wrong(t: float, values: Any, strategy: Any, memory: Any) -> None:
    """No strategy."""
    strategy[:] = 1.0


def object_(t: float, values: Any, strategy: Any, memory: Any) -> None:
    """Numba has no such thing."""
    strategy[:] = [object() for _ in values]


@pytest.mark.parametrize(
    ("update", "words"),
    [
        (late, "index that is out of bounds in iterations 1 to 5"),
        (loud, "fails in iterations 1 to 5: ValueError: three"),
        (wrong, "must leave probabilities that add up to 1"),
        (object_, "not one that Numba can compile"),
    ],
)
@pytest.mark.parametrize("spec", ["cfr-partial", "mccfr-external", "mccfr-chance", "mccfr-outcome(turns=simultaneous)"])
def test_rules_that_fail_end_the_run_in_a_sentence(spec, update, words) -> None:
    game, algorithm = tp.load("leduc"), tp.algorithm(spec, rule=Rule(update.__name__, update))
    with pytest.raises(ParameterError, match=words):
        state = algorithm.advance(game, algorithm.start(game), 5)
        algorithm.report(game, state, "average")


def test_a_users_rule_is_tried_before_it_is_compiled() -> None:
    for spec in ("cfr-partial", "mccfr-external"):
        with pytest.raises(ParameterError, match="of a trial"):
            tp.algorithm(spec, rule=Rule("wrong", wrong, own=True)).start(tp.load("kuhn"))
