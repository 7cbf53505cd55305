"""Evaluation in tiles: value and best responses have the bits of walks."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeplex as tp
from treeplex.algorithms.cfr import CFR, cfr_plus, dcfr
from treeplex.algorithms.protocol import Execution
from treeplex.compile import CompiledGame, compile_game
from treeplex.engines.sequence import partition
from treeplex.engines.sequence import tiles as layout_module
from treeplex.engines.sequence.engine import TiledProfile, TiledTables
from treeplex.evaluation.exact import evaluate_strategies
from treeplex.games.random_tree import RandomTree

GAMES = ["kuhn", "leduc", "kuhn_ext(9,2,2)", "one_card_poker(20)", "rhode_island(ranks=3,suits=2)"]

trees = st.builds(
    RandomTree,
    seed=st.integers(0, 2**63 - 1),
    depth=st.integers(1, 6),
    width=st.integers(2, 4),
    chance=st.sampled_from([0.0, 0.2, 0.5]),
    visible=st.sampled_from([0.0, 0.3, 1.0]),
)


@pytest.fixture(autouse=True)
def _tiles_however_empty(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(layout_module, "FILLED", np.inf)


def by_blocks(name: str) -> CompiledGame:
    """A game with the operator that larger ones of its kind have."""
    game = replace(tp.load(name))
    if game.blocks is not None:
        game.__dict__["operator"] = game.blocks
    return game


def solved(rule: CFR, game: CompiledGame, iterations: int, threads: int = 1) -> tuple[Any, TiledTables]:
    algorithm: Any = rule.open(game, Execution(threads=threads))
    state = algorithm.advance(game, algorithm.start(game), iterations)
    assert isinstance(state, TiledTables)
    return algorithm, state


def compared(game: CompiledGame, rule: CFR, iterations: int) -> None:
    algorithm, state = solved(rule, game, iterations)
    for iterate in ("average", "current"):
        report = algorithm.report(game, state, iterate)
        assert isinstance(report.profile, TiledProfile)
        in_order, engine = report.arrays, algorithm.engine
        expected = engine.average(state) if iterate == "average" else engine.current(state)
        for mine, theirs in zip(in_order, expected, strict=True):
            assert mine.tobytes() == theirs.tobytes()
        assert report.evaluate() == evaluate_strategies(game, in_order)


@pytest.mark.parametrize("name", GAMES)
@pytest.mark.parametrize("iterations", [1, 20])
def test_every_operator_gives_the_numbers_of_walks(name, iterations) -> None:
    compared(by_blocks(name), dcfr(), iterations)


@settings(max_examples=25)
@given(trees, st.integers(1, 9))
def test_any_tree_gives_the_numbers_of_walks(tree, iterations) -> None:
    """Also one where a player, or nobody, moves before the game is over."""
    game = compile_game(tree)
    if sum(treeplex.infosets for treeplex in game.treeplexes):
        compared(game, cfr_plus(), iterations)


@pytest.mark.parametrize("name", ["leduc", "one_card_poker(40)", "rhode_island(ranks=3,suits=2)"])
def test_threads_give_the_bits_of_one(name, monkeypatch) -> None:
    monkeypatch.setattr(partition, "cores", lambda: 5)
    monkeypatch.setattr(partition, "PIECE", 1)
    monkeypatch.setattr(partition, "BARRIER", 0)
    monkeypatch.setattr(partition, "NUMBERS", 1)
    game, found = by_blocks(name), []
    for threads in (1, 2, 5):
        algorithm, state = solved(cfr_plus(), game, 8, threads)
        assert state.form.threads == threads
        found.append(algorithm.report(game, state, "average").evaluate())
    assert found[0] == found[1] == found[2]


def test_strategies_stay_what_they_were_when_the_run_goes_on() -> None:
    game = tp.load("leduc")
    algorithm, state = solved(dcfr(), game, 5)
    reports = {iterate: algorithm.report(game, state, iterate) for iterate in ("average", "current")}
    before = {iterate: report.evaluate() for iterate, report in reports.items()}
    algorithm.advance(game, state, 5)
    assert {iterate: report.evaluate() for iterate, report in reports.items()} == before


def test_a_restored_state_is_evaluated_to_the_same_bits() -> None:
    game = tp.load("leduc5")
    algorithm, state = solved(dcfr(), game, 7)
    restored = algorithm.restore(game, algorithm.save(state))
    for iterate in ("average", "current"):
        found = [algorithm.report(game, one, iterate).evaluate() for one in (state, restored)]
        assert found[0] == found[1]


def test_in_float32_evaluation_is_as_exact_as_ever() -> None:
    game = tp.load("leduc")
    algorithm: Any = dcfr().open(game, Execution(storage="float32", threads=1))
    state = algorithm.advance(game, algorithm.start(game), 20)
    report = algorithm.report(game, state, "average")
    assert report.evaluate() == evaluate_strategies(game, algorithm.engine.average(state))


def test_a_game_of_the_same_size_leaves_nothing_behind() -> None:
    """Scratch is kept from one evaluation to the next."""
    first, second = (compile_game(RandomTree(seed=seed, depth=3, width=2, chance=0.0)) for seed in (1, 2))
    expected = []
    for game in (first, second):
        algorithm, state = solved(dcfr(), game, 5)
        expected.append(algorithm.report(game, state, "average"))
    alone = [report.evaluate() for report in expected]
    assert [report.evaluate() for report in reversed(expected)] == alone[::-1]
