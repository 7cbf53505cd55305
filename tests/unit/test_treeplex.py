"""Levels of a treeplex, and what is computed by levels before the first iteration."""

from __future__ import annotations

import numpy as np
import pytest

import treeplex as tp
from treeplex.compile.treeplex import ranges
from treeplex.engines.sequence.learners import uniform_strategies
from treeplex.engines.sequence.reference import treeplex as reference

GAMES = ["kuhn", "leduc", "goofspiel(cards=3)", "random_tree(seed=3)", "matrix([[1, 2], [3, 1]])"]


@pytest.mark.parametrize("name", GAMES)
def test_every_infoset_is_in_one_level_right_below_its_parent(name) -> None:
    for treeplex in tp.load(name).treeplexes:
        depth, levels = np.full(treeplex.infosets, -1), list(treeplex.levels())
        for number, level in enumerate(levels):
            assert (depth[level] == -1).all()
            depth[level] = number
        owner = np.repeat(np.arange(-1, treeplex.infosets), np.append(1, treeplex.actions))
        for infoset, above in enumerate(treeplex.parent.tolist()):
            assert depth[infoset] == (0 if above == 0 else depth[owner[above]] + 1)


@pytest.mark.parametrize("name", GAMES)
def test_uniform_strategies_and_their_plans_have_the_bits_of_the_reference(name) -> None:
    game = tp.load(name)
    for treeplex, strategy, plan in zip(game.treeplexes, *uniform_strategies(game), strict=True):
        expected, above = np.empty(treeplex.sequences), np.empty(treeplex.sequences)
        reference.normalise(treeplex, np.zeros(treeplex.sequences), expected)
        expected[0] = 1.0
        reference.realization_plan(treeplex, expected, above)
        np.testing.assert_array_equal(strategy, expected)
        np.testing.assert_array_equal(plan, above)


def test_ranges_are_joined_and_may_be_empty() -> None:
    assert ranges(np.array([5, 2, 9]), np.array([7, 2, 12])).tolist() == [5, 6, 9, 10, 11]
    assert ranges(np.zeros(0, np.int64), np.zeros(0, np.int64)).tolist() == []
