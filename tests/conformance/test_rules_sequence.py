"""Rules that are functions on compiled games: iterates 1 to 5 are those of plain Python, in walks, tiles and threads.

The family's rules are compared with their NumPy twins in ``golden/test_traces.py``; here ``PLUS``, regret matching+ as
a function, must have the bits of the family's own.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from conformance.rules import FUNCTIONS, PLUS, SOFTMAX, TWO_ROWS
from treeplex.algorithms.cfr import CFR, cfr_plus
from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.compile.game import CompiledGame
from treeplex.engines.protocol import FACED, NEXT, PLAYED
from treeplex.engines.sequence import engine as engines
from treeplex.engines.sequence.engine import TiledTables
from treeplex.engines.sequence.reference import iterations, learn
from treeplex.updates import PredictivePlus, RegretMatching, RegretMatchingPlus
from treeplex.updates.adaptive import adaptive
from treeplex.updates.family import as_function
from treeplex.updates.hedge import KNOWN, THEORY, VARIANCE, hedge
from treeplex.updates.rule import Rule
from treeplex.updates.schedules import linear, power
from treeplex.updates.smooth import smooth
from treeplex.updates.stable import stable
from treeplex.updates.thresholds import thresholded

FAMILY = {
    "cfr": as_function(RegretMatching(), "rm"),
    "cfr+": as_function(RegretMatchingPlus(), "rm+"),
    "pcfr+": as_function(PredictivePlus(), "prm+"),
}
AROUND = (thresholded(FAMILY["pcfr+"], 0.5), thresholded(smooth(0.05), 0.5), thresholded(SOFTMAX, 0.5))
RULES = {rule.name: rule for rule in (*FUNCTIONS, adaptive(5.0), stable(0.05), smooth(0.05), hedge(), *AROUND)} | {
    "hedge by theory": hedge(THEORY),
    "hedge for 50": hedge(KNOWN, 0.5, 50),
    "hedge with thresholds": hedge(VARIANCE, 2.0),
    "adaptive, low": adaptive(1.5),
}
BY_NOISE = ("hedge", "hedge with thresholds")
ITERATIONS = 5
GAMES = {"kuhn_ext": False, "leduc": True, "random_tree(seed=3,depth=6)": False, "goofspiel(cards=4)": True}
"""Games, and whether they are iterated in tiles."""
ROUNDING = {"float64": 1e-11, "float32": 3e-4}


def traced(rule: Any, game: CompiledGame, turns: str = "alternating", order: int = PLAYED, **how: Any) -> list[Any]:
    """[iteration, probability] average and current strategies, one iteration at a time; and the tables after them."""
    algorithm = CFR(rule, power(2.0), turns, order).open(game, Execution(**how))  # pyright: ignore[reportArgumentType]
    state, rows = algorithm.start(game), []
    for _ in range(ITERATIONS):
        state = algorithm.advance(game, state, 1)
        rows.append(
            np.concatenate(
                [*algorithm.report(game, state, "average").arrays, *algorithm.report(game, state, "current").arrays]
            )
        )
    return [np.array(rows), state]


def spelled(monkeypatch: pytest.MonkeyPatch, rule: Rule, game: CompiledGame, turns: str, order: int = PLAYED) -> Any:
    """The same with NumPy's twins of all kernels, and the rule as plain Python."""
    with monkeypatch.context() as patch:
        patch.setattr(engines, "tiled", lambda *_: None)
        patch.setattr(engines, "iterate", iterations.iterate)
        patch.setattr(engines, "rule_calls", learn.rule_calls)
        patch.setattr(engines, "hedge_rules", learn.rule_calls)
        return traced(rule, game, turns, order)[0]


@pytest.mark.parametrize("turns", ["alternating", "simultaneous"])
@pytest.mark.parametrize("name", RULES)
@pytest.mark.parametrize("source", GAMES)
def test_iterates_are_those_of_plain_python(monkeypatch, source, name, turns) -> None:
    if name in BY_NOISE and source.startswith("goofspiel") and turns == "simultaneous":
        pytest.skip("both players earn nothing but the last bits of this machine, by whose variance steps are divided")
    game, rule = tp.load(source), RULES[name]
    expected = spelled(monkeypatch, rule, game, turns)
    for storage, tolerance in ROUNDING.items():
        for threads in (1, 2):
            found, state = traced(rule, game, turns, storage=storage, threads=threads)
            apart = rule.form is not None and storage == "float64"  # Hedge, by a walk of its own
            assert isinstance(state, TiledTables) == (GAMES[source] and not apart)
            np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance)
    assert len({row.tobytes() for row in found}) == ITERATIONS  # the rule does something


@pytest.mark.parametrize("order", [FACED, NEXT])
def test_orders_of_averages(monkeypatch, order) -> None:
    game = tp.load("leduc")
    expected = spelled(monkeypatch, TWO_ROWS, game, "alternating", order)
    np.testing.assert_allclose(traced(TWO_ROWS, game, order=order)[0], expected, rtol=0, atol=1e-11)


@pytest.mark.parametrize("source", [*GAMES, "leduc_ext(9,2,2)"])
def test_regret_matching_as_a_function_has_the_bits_of_the_family(source) -> None:
    game = tp.load(source)
    ours, theirs = (
        algorithm.open(game, Execution(threads=2))
        for algorithm in (CFR(PLUS, linear(), "alternating"), cfr_plus())  # pyright: ignore[reportArgumentType]
    )
    one, other = (algorithm.advance(game, algorithm.start(game), 40) for algorithm in (ours, theirs))
    for iterate in ("average", "current"):
        for left, right in zip(
            ours.report(game, one, iterate).arrays, theirs.report(game, other, iterate).arrays, strict=True
        ):
            np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("name", FAMILY)
@pytest.mark.parametrize("source", ["kuhn_ext", "leduc"])
def test_the_family_as_functions_has_the_same_bits(source, name) -> None:
    game, family = tp.load(source), build(name)
    function = replace(family, rule=FAMILY[name])
    states = [algorithm.advance(game, algorithm.start(game), 40) for algorithm in (function, family)]
    for left, right in zip(
        function.report(game, states[0], "average").arrays,
        family.report(game, states[1], "average").arrays,
        strict=True,
    ):
        np.testing.assert_array_equal(left, right)


@pytest.mark.parametrize("name", ["hedge", "hedge by theory", "hedge with thresholds"])
@pytest.mark.parametrize("source", GAMES)
def test_the_walk_of_hedge_has_the_bits_of_calls(monkeypatch, source: str, name: str) -> None:
    """Which of them iterates depends on the number of threads."""
    game = tp.load(source)
    walked, _ = traced(RULES[name], game)
    monkeypatch.setattr(engines, "CALLING_THREADS", 0)
    called, _ = traced(RULES[name], game)
    np.testing.assert_array_equal(walked, called)


@pytest.mark.parametrize("storage", ["float64", "float32"])
@pytest.mark.parametrize("source", ["leduc", "kuhn_ext"])
def test_threads_and_pieces_change_no_bit(source, storage) -> None:
    """Any number of threads; a run that is saved and goes on; iterations one at a time or all at once."""
    game, rule = tp.load(source), TWO_ROWS
    whole, state = traced(rule, game, storage=storage, threads=1)
    algorithm = CFR(rule, power(2.0), "alternating").open(game, Execution(storage=storage, threads=3))  # pyright: ignore[reportArgumentType]
    early = algorithm.save(algorithm.advance(game, algorithm.start(game), 2))
    late = algorithm.save(algorithm.advance(game, algorithm.restore(game, early), 3))
    expected = algorithm.save(state)
    assert set(late) == set(expected)
    for name, array in expected.items():
        np.testing.assert_array_equal(late[name], array)
    assert late["state.learners.0.memory"].dtype == storage
    assert len(whole) == ITERATIONS
