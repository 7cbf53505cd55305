"""Kernels against the recursion of Algorithm 1, iterate by iterate.

After every iteration the kernels go on from the reference's numbers. Otherwise two actions that are worth the same
would be told apart by rounding, and the two sides would part ways.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from treeplex.engines.boards.arrays import BLOCK
from treeplex.engines.boards.reference import discounted as reference_discounted
from treeplex.engines.boards.reference import iterate, new_memory
from treeplex.engines.boards.tables import schedules
from treeplex.holdem import Spot, load_spot, sizes_for
from treeplex.kernels.vectors import LANES

sys.path.insert(0, str(Path(__file__).parent))
from places import algorithm, all_rows, discounted, undiscounted
from twin import columns_of, key_of, lines, rules_of

ALGORITHMS = ("cfr", "cfr+(delay=2)", "lcfr", "dcfr(gamma=4)", "pcfr+", "pdcfr+")


def check(spot, name, iterations, isomorphic=True):
    """The reference skips nothing here: pruning in the kernels must not change a regret."""
    game = load_spot(spot, isomorphic)
    solver = algorithm(name, game)
    rules, memory, state = rules_of(spot, solver), new_memory(), solver.start(game)
    ways = lines(game)
    for t in range(1, iterations + 1):
        iterate(rules, memory, t)
        state = solver.advance(game, state, 1)
        rule = schedules(solver.scheme, solver.storage, t)
        compared = 0
        for kind in ("regret", "predicted", "average"):
            if kind == "predicted" and not solver.rule.predict:
                continue
            for rows in all_rows(game, [getattr(learner, kind) for learner in state.learners]):
                key = key_of(spot, rows, ways)
                kept = getattr(memory, kind).get(key)
                if kept is None:
                    continue
                theirs = reference_discounted(rules, kept.value, t, t) if kind == "regret" else kept.value
                theirs = theirs[:, columns_of(spot, rows)]
                last = max(int(state.learners[rows.decision.player].last[rows.place]), 1)
                ours = discounted(rows.numbers, rule, last, t) if kind == "regret" else rows.numbers
                scale = max(np.abs(theirs).max(initial=0.0), spot.pot)
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-11 * scale, err_msg=f"{kind} {t} {key}")
                compared += theirs.size
                if kind != "average":
                    rows.numbers[...] = undiscounted(theirs, rule, last, t) if kind == "regret" else theirs
        assert compared > 100


@pytest.mark.parametrize("name", ALGORITHMS)
def test_river_iterates(small_river, name):
    check(small_river, name, 7)


def test_river_with_rake(small_river):
    check(replace(small_river, rake_rate=0.05, rake_cap=8.0), "dcfr(gamma=4)", 5)


@pytest.mark.parametrize("name", ["cfr+", "dcfr(gamma=4)"])
def test_turn_iterates(small_turn, name):
    check(small_turn, name, 4)


def test_turn_iterates_with_suits_alike(alike_turn):
    """Cards in suits that are alike are dealt once by the kernels and one by one by the reference."""
    assert len(load_spot(alike_turn).deals[1]) < 48
    check(alike_turn, "dcfr(gamma=4)", 3)


def test_turn_iterates_with_many_ways_into_the_river():
    """More than the kernels compute side by side, in tiles of which some have more than one block."""
    sizes = sizes_for("20%, 33%, 50%, 75%, 100%, 150%, a", "a") | {"river": sizes_for("a", "a")["river"]}
    spot = Spot("Ks 9h 6d 2c", 10, 200, "AsKh,7s8s", "QcQd,6s5s", sizes)
    game = load_spot(spot)
    blocks = [np.diff(betting.tile[:, BLOCK]).max() for betting in game.levels[2].betting]
    assert len(game.streets[0].chance_nodes) > LANES
    assert min(blocks) > 1
    check(spot, "dcfr(gamma=4)", 3)


@pytest.mark.slow
def test_flop_iterates(small_flop):
    check(small_flop, "dcfr(gamma=4)", 2)
