from __future__ import annotations

import os
import subprocess
import sys
from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeplex.errors import ParameterError
from treeplex.games.protocol import CHANCE, TERMINAL, Game
from treeplex.games.random_tree import RandomTree

PRINT_TREE = """
from treeplex.games.random_tree import RandomTree
game = RandomTree(seed=7, depth=4)
stack = [game.root()]
while stack:
    node = stack.pop()
    mover = game.mover(node)
    print(node, game.payoff(node), game.probabilities(node) if mover == -1 else mover)
    if mover != -2:
        stack += [game.child(node, action) for action in game.actions(node)]
"""

trees = st.builds(
    RandomTree,
    seed=st.integers(0, 2**63 - 1),
    depth=st.integers(1, 6),
    width=st.integers(2, 4),
    chance=st.sampled_from([0.0, 0.2, 0.5]),
    visible=st.sampled_from([0.0, 0.3, 1.0]),
)


def test_is_a_game() -> None:
    assert isinstance(RandomTree(), Game)


@settings(max_examples=60)
@given(trees)
def test_rules_hold_and_recall_is_perfect(check_rules, game) -> None:
    check_rules(game)


def test_the_same_tree_everywhere(count, walk) -> None:
    """Pinned: a change here changes every result that names a random tree."""
    game = RandomTree()
    assert count(game) == (280, (38, 20), (93, 48))
    ends = [history for history, _ in walk(game) if game.mover(history) == TERMINAL]
    assert [round(game.payoff(end), 6) for end in ends[:3]] == [0.578013, -0.800818, -0.075319]


def test_the_same_tree_in_every_process() -> None:
    trees = [
        subprocess.run(
            [sys.executable, "-c", PRINT_TREE],
            env={**os.environ, "PYTHONHASHSEED": seed},
            capture_output=True,
            check=True,
        ).stdout
        for seed in ("0", "1")
    ]
    assert trees[0] == trees[1]
    assert trees[0]


def test_seeds_differ(count) -> None:
    assert len({count(RandomTree(seed=seed)) for seed in range(20)}) > 15


@pytest.mark.parametrize(("depth", "width", "low", "high"), [(3, 2, 5, 15), (6, 3, 30, 600), (9, 4, 3_000, 30_000)])
def test_sizes_follow_the_parameters(depth, width, low, high, count) -> None:
    assert low <= count(RandomTree(depth=depth, width=width)).nodes <= high


def test_infosets_merge_histories_and_depths(walk) -> None:
    """Most trees hide something from both players, sometimes even how many moves were made."""
    merged, mixed = [0, 0], 0
    for seed in range(30):
        game = RandomTree(seed=seed)
        histories: tuple[Counter[str], Counter[str]] = (Counter(), Counter())
        depths: dict[tuple[int, str], set[int]] = {}
        for history, depth in walk(game):
            if (mover := game.mover(history)) >= 0:
                histories[mover][game.infoset(history)] += 1
                depths.setdefault((mover, game.infoset(history)), set()).add(depth)
        for player in (0, 1):
            merged[player] += max(histories[player].values(), default=0) > 1
        mixed += any(len(found) > 1 for found in depths.values())
    assert min(merged) >= 25
    assert mixed >= 25


def test_numbers_of_actions_vary(walk) -> None:
    game = RandomTree(depth=8, width=4)
    widths = {(game.mover(h) == CHANCE, len(game.actions(h))) for h, _ in walk(game) if game.mover(h) != TERMINAL}
    assert widths == {(chance, width) for chance in (True, False) for width in (1, 2, 3, 4)}


def test_payoffs_fill_the_scale(walk) -> None:
    game, large = RandomTree(depth=8), RandomTree(depth=8, scale=10.0)
    payoffs = [game.payoff(history) for history, _ in walk(game) if game.mover(history) == TERMINAL]
    assert -1 <= min(payoffs) < -0.9
    assert 0.9 < max(payoffs) <= 1
    assert [large.payoff(h) for h, _ in walk(large) if large.mover(h) == TERMINAL] == [10 * p for p in payoffs]


def test_without_chance_all_moves_are_the_players(walk) -> None:
    game = RandomTree(chance=0)
    assert CHANCE not in {game.mover(history) for history, _ in walk(game)}


def test_all_visible_is_perfect_information(walk) -> None:
    game = RandomTree(visible=1.0)
    decisions = [(game.mover(h), game.infoset(h)) for h, _ in walk(game) if game.mover(h) >= 0]
    assert len(set(decisions)) == len(decisions)


def test_names() -> None:
    assert RandomTree().name == "random_tree"
    assert RandomTree(seed=3, chance=0.5).name == "random_tree(seed=3,chance=0.5)"


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"seed": -1}, "The 'seed' parameter must be a whole number from 0 to 9223372036854775807, got -1."),
        ({"depth": 0}, "The 'depth' parameter must be a whole number from 1 to 20, got 0."),
        ({"width": 1}, "The 'width' parameter must be a whole number from 2 to 9, got 1."),
        ({"chance": 2}, "The 'chance' parameter must be a number from 0 to 1, got 2."),
        ({"visible": "yes"}, "The 'visible' parameter must be a number from 0 to 1, got 'yes'."),
        ({"forced": -0.1}, "The 'forced' parameter must be a number from 0 to 1, got -0.1."),
        ({"stop": None}, "The 'stop' parameter must be a number from 0 to 1, got None."),
        ({"scale": float("nan")}, "The 'scale' parameter must be a number from 0 to 1e+09, got nan."),
    ],
)
def test_refusals(parameters, sentence) -> None:
    with pytest.raises(ParameterError) as refusal:
        RandomTree(**parameters)
    assert str(refusal.value) == sentence
