"""The compiled kernels against their NumPy twins, step by step, on random trees and on every form of operator."""

from __future__ import annotations

import inspect
from importlib import import_module
from types import ModuleType, SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeplex.compile import CompiledGame, Csr, compile_game
from treeplex.compile.blocks import BlockRows, RankedRows, expand
from treeplex.compile.dealt import compile_dealt
from treeplex.engines.sequence.arrays import (
    Learner,
    Matching,
    MatchingAgainstBestResponse,
    Responder,
    SequenceForm,
    Steps,
)
from treeplex.games.catalog import make
from treeplex.games.random_tree import RandomTree
from treeplex.updates import Discounted, PredictivePlus, RegretMatching, RegretMatchingPlus
from treeplex.updates.turns import ALTERNATING, SIMULTANEOUS

MODULES = ["treeplex", "operators", "iterations"]
cpu, reference = (
    SimpleNamespace(**{name: import_module(f"treeplex.engines.sequence.{kind}.{name}") for name in MODULES})
    for kind in ("cpu", "reference")
)
PAIRS = [(getattr(cpu, name), getattr(reference, name)) for name in MODULES]
RULES = [
    RegretMatching(),
    RegretMatchingPlus(),
    Discounted(1.5, 0.0),
    Discounted(1.0, 1.0),
    PredictivePlus(),
    PredictivePlus(2.3),
]
TURNS = [ALTERNATING, SIMULTANEOUS]
ALONE = (None, None)  # one thread; nothing to tell a player
DEALT = ["kuhn", "kuhn_ext(4,2,2)", "leduc", "leduc(suits=true)", "liars_dice(sides=3)", "liars_dice(dice=2,sides=2)"]
RANKED = ["kuhn", "kuhn_ext(4,2,2)", "one_card_poker(2)", "one_card_poker(9)"]

trees = st.builds(
    RandomTree,
    seed=st.integers(0, 2**63 - 1),
    depth=st.integers(1, 7),
    width=st.integers(2, 4),
    chance=st.sampled_from([0.0, 0.2, 0.5]),
    visible=st.sampled_from([0.0, 0.3, 1.0]),
)
seeds = st.integers(0, 2**32 - 1)


def close(ours: Any, theirs: Any) -> None:
    scale = max(1.0, float(np.abs(theirs).max(initial=0.0)))
    np.testing.assert_allclose(ours, theirs, rtol=1e-13, atol=1e-13 * scale)


def without_ties(operator: Any, seed: int) -> Any:
    """Blocks with payoffs a little off, so that rounding decides nothing."""
    if not isinstance(operator.rows, BlockRows):
        return operator
    noise = 1 + 0.1 * np.random.default_rng(seed).standard_normal(operator.columns.tables.shape)
    own = np.ascontiguousarray(operator.rows.tables * noise.transpose(0, 2, 1))
    return operator._replace(
        rows=operator.rows._replace(tables=own),
        columns=operator.columns._replace(tables=operator.columns.tables * noise),
    )


def games() -> list[Any]:
    """Dealt games with blocks of hands and, where no card is public, with sums over ranks."""
    blocks = [pytest.param(compile_dealt(rules(name), ranked_from=10**9), id=f"blocks {name}") for name in DEALT]
    return blocks + [pytest.param(compile_dealt(rules(name), ranked_from=2), id=f"ranked {name}") for name in RANKED]


def rules(name: str) -> Any:
    return make(name).rules  # pyright: ignore[reportAttributeAccessIssue]


def behaviours(game: CompiledGame, rng: np.random.Generator) -> tuple[Any, Any]:
    first, second = (
        np.concatenate([np.ones(1), *(rng.dirichlet(np.ones(n)) for n in treeplex.actions.tolist())])
        for treeplex in game.treeplexes
    )
    return first, second


def sequence_form(game: CompiledGame, pair: tuple[Any, Any]) -> tuple[Any, Any]:
    weights = tuple(np.empty_like(own) for own in pair)
    for treeplex, own, out in zip(game.treeplexes, pair, weights, strict=True):
        reference.treeplex.realization_plan(treeplex, own, out)
    return weights[0], weights[1]


def learners(game: CompiledGame, seed: int) -> tuple[Learner, Learner]:
    """In the middle of a run: random regrets, averages and strategies, so that nothing ties."""
    rng = np.random.default_rng(seed)
    played = behaviours(game, rng)
    weights = sequence_form(game, played)
    first, second = (
        Learner(rng.standard_normal(len(own)) * 0.1, rng.random(len(own)), own.copy(), weights[player].copy())
        for player, own in enumerate(played)
    )
    return first, second


def scratch(game: CompiledGame) -> tuple[Any, Any]:
    first, second = (np.full(treeplex.sequences, np.nan) for treeplex in game.treeplexes)
    return first, second


def advance(module: Any, game: CompiledGame, operator: Any, seed: int, rule: Any, turns: int) -> list[Any]:
    """Both learners' arrays after each of five iterations."""
    state, values, seen = learners(game, seed), scratch(game), []
    for t in range(1, 6):
        now = np.array([float(t)])
        steps = Steps(now, now**1.5, *rule.discounts(now))
        rules = Matching(rule.predict), Matching(rule.predict)
        module.iterate(SequenceForm(game.treeplexes, operator, ALONE, values), state, rules, steps, turns, None)
        seen += [array.copy() for learner in state for array in learner]
    return seen


# --- walks over one treeplex -----------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(trees, seeds)
def test_walks_over_treeplexes_are_the_references(tree, seed) -> None:
    game, rng = compile_game(tree), np.random.default_rng(seed)
    for treeplex in game.treeplexes:
        size = treeplex.sequences
        given = {
            "realization_plan": rng.random(size),
            "normalise": rng.random(size) * (rng.random(size) < 0.6),  # some infosets all zero
        }
        for name, array in given.items():
            ours, theirs = np.full(size, np.nan), np.full(size, np.nan)
            getattr(cpu.treeplex, name)(treeplex, array, ours)
            getattr(reference.treeplex, name)(treeplex, array, theirs)
            close(ours, theirs)
        values = rng.standard_normal(size).round(1)  # rounded: with ties
        ours, theirs = (values.copy(), np.full(size, np.nan)), (values.copy(), np.full(size, np.nan))
        cpu.treeplex.best_response(treeplex, *ours)
        reference.treeplex.best_response(treeplex, *theirs)
        np.testing.assert_array_equal(ours[1], theirs[1])
        close(ours[0], theirs[0])


def test_normalise_is_uniform_where_nothing_is_played() -> None:
    treeplex = compile_game(RandomTree()).treeplexes[0]
    behaviour = np.full(treeplex.sequences, np.nan)
    cpu.treeplex.normalise(treeplex, np.zeros(treeplex.sequences), behaviour)
    np.testing.assert_array_equal(behaviour[1:], np.repeat(1 / treeplex.actions, treeplex.actions))
    assert behaviour[0] == 1


# --- the payoff operator ---------------------------------------------------------------------------------------------


@settings(max_examples=60)
@given(trees, seeds)
def test_earnings_on_random_trees_are_the_references(tree, seed) -> None:
    game = compile_game(tree)
    check_earnings(game, game.payoffs, seed)


@pytest.mark.parametrize("game", games())
def test_earnings_of_dealt_games_are_the_references(game) -> None:
    for seed in range(5):
        check_earnings(game, game.blocks, seed)
        check_earnings(game, game.payoffs, seed)


def check_earnings(game: CompiledGame, operator: Any, seed: int) -> None:
    """Against strategies and, because CFR's averages are not, against any weights; some of them zero."""
    rng = np.random.default_rng(seed)
    weights = sequence_form(game, behaviours(game, rng))
    for player in (0, 1):
        any_weights = rng.standard_normal(len(weights[1 - player])) * (rng.random(len(weights[1 - player])) < 0.7)
        for opponent in (weights[1 - player], any_weights):
            for sign in (1.0, -1.0):
                ours, theirs = scratch(game)[player], scratch(game)[player]
                cpu.operators.gradient(operator[player], sign, opponent, ours)
                reference.operators.gradient(operator[player], sign, opponent, theirs)
                close(ours, theirs)


@pytest.mark.parametrize("game", games())
def test_all_forms_of_an_operator_earn_the_same(game) -> None:
    """Blocks and sparse matrix to the bit, as promised; sums over ranks add up in another order."""
    kinds = {BlockRows: 0.0, RankedRows: 1e-14}
    weights = sequence_form(game, behaviours(game, np.random.default_rng(1)))
    for player in (0, 1):
        sparse, dealt = scratch(game)[player], scratch(game)[player]
        assert isinstance(game.payoffs[player], Csr)
        cpu.operators.gradient(game.payoffs[player], 1.0, weights[1 - player], sparse)
        cpu.operators.gradient(game.blocks[player], 1.0, weights[1 - player], dealt)
        np.testing.assert_allclose(dealt, sparse, rtol=0, atol=kinds[type(game.blocks[player])])


@pytest.mark.parametrize("game", games())
def test_the_two_orientations_agree(game) -> None:
    """x'(Ay) = (A'x)'y."""
    x, y = sequence_form(game, behaviours(game, np.random.default_rng(2)))
    earned, other = scratch(game)
    cpu.operators.gradient(game.blocks.rows, 1.0, y, earned)
    cpu.operators.gradient(game.blocks.columns, 1.0, x, other)
    assert x @ earned == pytest.approx(other @ y, abs=1e-14)


# --- iterations ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_five_iterations_on_random_trees_are_the_references(rule, turns) -> None:
    for seed in range(12):
        game = compile_game(RandomTree(seed=seed, depth=2 + seed % 5, width=2 + seed % 3))
        ours, theirs = (advance(m.iterations, game, game.payoffs, seed, rule, turns) for m in (cpu, reference))
        for mine, other in zip(ours, theirs, strict=True):
            close(mine, other)


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("game", games())
def test_five_iterations_of_dealt_games_are_the_references(game, turns) -> None:
    blocks = without_ties(game.blocks, 5)
    for rule in (RegretMatching(), RegretMatchingPlus()):
        for operator in (blocks, expand(blocks)):
            ours, theirs = (advance(m.iterations, game, operator, 3, rule, turns) for m in (cpu, reference))
            for mine, other in zip(ours, theirs, strict=True):
                close(mine, other)


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("rule", RULES, ids=str)
def test_many_iterations_at_once_are_one_after_the_other(rule, turns) -> None:
    game = compile_game(RandomTree(seed=4, depth=6))
    apart = advance(cpu.iterations, game, game.operator, 9, rule, turns)[-8:]
    state, t = learners(game, 9), np.arange(1.0, 6.0)
    steps = Steps(t, t**1.5, *rule.discounts(t))
    rules = Matching(rule.predict), Matching(rule.predict)
    form = SequenceForm(game.treeplexes, game.operator, ALONE, scratch(game))
    cpu.iterations.iterate(form, state, rules, steps, turns, None)
    for one, other in zip([array for learner in state for array in learner], apart, strict=True):
        assert one.tobytes() == other.tobytes()


@pytest.mark.parametrize("turns", TURNS)
def test_fictitious_play_is_the_references(turns) -> None:
    for seed in range(12):
        game = compile_game(RandomTree(seed=seed, depth=2 + seed % 5))
        ends = []
        for module in (cpu, reference):
            averages = sequence_form(game, behaviours(game, np.random.default_rng(seed)))
            t = np.arange(1.0, 6.0)
            steps = Steps(t, 1 / (t + 1), *RegretMatching().discounts(t))
            players = tuple(Responder(*pair) for pair in zip(averages, scratch(game), strict=True))
            form = SequenceForm(game.treeplexes, game.operator, ALONE, scratch(game))
            module.iterations.iterate(form, players, ALONE, steps, turns, None)
            ends.append(averages)
        for ours, theirs in zip(*ends, strict=True):
            close(ours, theirs)


def test_cfr_br_is_the_references() -> None:
    for seed in range(12):
        game = compile_game(RandomTree(seed=seed, depth=2 + seed % 5))
        ends = []
        for module in (cpu, reference):
            state, t = learners(game, seed), np.arange(1.0, 6.0)
            steps = Steps(t, t, *RegretMatchingPlus().discounts(t))
            rules = tuple(MatchingAgainstBestResponse(0.0, response) for response in scratch(game))
            form = SequenceForm(game.treeplexes, game.operator, ALONE, scratch(game))
            module.iterations.iterate(form, state, rules, steps, ALTERNATING, None)
            ends.append([array for learner in state for array in learner])
        for ours, theirs in zip(*ends, strict=True):
            close(ours, theirs)


# --- form ------------------------------------------------------------------------------------------------------------


def functions(module: ModuleType) -> dict[str, Any]:
    """Public functions a module defines itself; of kernels, the Python below."""
    plain = {name: getattr(value, "py_func", value) for name, value in vars(module).items() if not name.startswith("_")}
    return {name: f for name, f in plain.items() if inspect.isfunction(f) and f.__module__ == module.__name__}


@pytest.mark.parametrize(("compiled", "twin"), PAIRS, ids=[pair[0].__name__ for pair in PAIRS])
def test_everything_in_the_reference_is_compiled_with_the_same_arguments(compiled, twin) -> None:
    ours, theirs = functions(compiled), functions(twin)
    assert theirs
    assert theirs.keys() <= ours.keys()
    for name, function in theirs.items():
        assert list(inspect.signature(ours[name]).parameters) == list(inspect.signature(function).parameters)


@pytest.mark.parametrize("module", [pair[0] for pair in PAIRS], ids=lambda module: module.__name__)
def test_kernels_are_cached_release_the_lock_and_keep_the_order_of_sums(module) -> None:
    cached = 0
    for name in functions(module):
        kernel = getattr(module, name)
        if not hasattr(kernel, "targetoptions"):  # its code is chosen by type when a kernel that calls it is compiled
            continue
        assert kernel.targetoptions["nogil"]
        assert not kernel.targetoptions.get("fastmath", False)
        on_disk = kernel._cache.__class__.__name__ == "KernelCache"
        assert on_disk or kernel.targetoptions.get("inline") == "always", name
        cached += on_disk
    assert cached
