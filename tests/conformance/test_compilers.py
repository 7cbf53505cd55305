"""Both compilers give the same game, and whatever is compiled keeps the promises solvers rely on."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeplex.api import load
from treeplex.arrow import unpacked
from treeplex.compile import CompiledGame, compile_game
from treeplex.compile.walk import compile_walk
from treeplex.evaluation import Policy, evaluate_policy
from treeplex.games.catalog import CATALOG, make
from treeplex.games.random_tree import RandomTree

DEALT = [
    "kuhn",
    "kuhn_ext(2,1,1)",
    "kuhn_ext(3,3,3)",
    "kuhn_ext(5,2,1)",
    "kuhn_ext(3,3,2,sizes=doubled)",
    "one_card_poker(2)",
    "one_card_poker(5)",
    "one_card_poker(66)",  # enough cards to be compiled by rank
    "leduc",
    "leduc(suits=true)",
    'leduc(sizes="dt")',
    "leduc_ext(2,1,1)",
    "leduc_ext(3,2,2)",
    "leduc_pots(ranks=3,bets=2)",  # over before player 1 has moved if player 0 folds at once
    "leduc_pots(ranks=9,bets=1,open_raise=true)",  # the same by blocks of hands
    "leduc_pots(ranks=3,bets=2,folds=published)",
    "continuous_leduc(sizes=[[0.01,1],[0.5]])",
    "rhode_island(ranks=2,suits=2)",
    "rhode_island(ranks=2,suits=2,whole=true)",
    "liars_dice(sides=1)",
    "liars_dice(sides=4)",
    "liars_dice(dice=2,sides=2)",
]
WALKED = [
    "goofspiel",
    "goofspiel(cards=3,order=random,imperfect=false,returns=point_difference)",
    "princess_and_monster",
    "matrix([[1,-2],[0,3],[0,0]])",
    "gaussian_matrix(size=20)",
    "random_tree",
    "random_tree(seed=5,depth=8)",
]
LARGE = ["leduc5", 'leduc5(sizes="dt")', "liars_dice"]

trees = st.builds(
    RandomTree,
    seed=st.integers(0, 2**63 - 1),
    depth=st.integers(1, 7),
    width=st.integers(2, 4),
    chance=st.sampled_from([0.0, 0.2, 0.5]),
    visible=st.sampled_from([0.0, 0.3, 1.0]),
    forced=st.sampled_from([0.0, 0.3]),
    scale=st.sampled_from([1e-6, 1.0, 1e6]),
)


@pytest.fixture(scope="module")
def compiled() -> Any:
    """A dealt game compiled fast and by walking its histories, once for all tests."""
    kept: dict[str, tuple[CompiledGame, CompiledGame]] = {}

    def both(name: str) -> tuple[CompiledGame, CompiledGame]:
        if name not in kept:
            game: Any = make(name)
            kept[name] = compile_game(game), compile_walk(game)
        return kept[name]

    return both


def sequence_names(game: CompiledGame, player: int) -> list[tuple[str, ...]]:
    """(infoset, action) of every sequence; () for the empty one."""
    names: list[tuple[str, ...]] = [()]
    for infoset, label in enumerate(unpacked(game.labels[player].infosets)):
        names += [(label, action) for action in game.actions_at(player, infoset)]
    return names


def treeplex_by_label(game: CompiledGame, player: int) -> dict[str, Any]:
    """Infoset label -> (parent sequence by name, actions)."""
    names = sequence_names(game, player)
    labels = unpacked(game.labels[player].infosets)
    above: list[int] = game.treeplexes[player].parent.tolist()
    return {label: (names[above[i]], game.actions_at(player, i)) for i, label in enumerate(labels)}


def payoffs_by_label(game: CompiledGame) -> dict[Any, float]:
    """(sequence of player 0, sequence of player 1) by name -> entry of A."""
    start, column, data = game.payoffs.rows
    own, other = sequence_names(game, 0), sequence_names(game, 1)
    row = np.repeat(np.arange(len(start) - 1), np.diff(start))
    return {(own[r], other[c]): v for r, c, v in zip(row.tolist(), column.tolist(), data.tolist(), strict=True)}


def node_infosets(game: CompiledGame) -> list[str]:
    labels = [unpacked(names.infosets) for names in game.labels]
    movers: list[int] = game.tree.mover.tolist()
    return [labels[m][i] if m >= 0 else "" for m, i in zip(movers, game.tree.infoset.tolist(), strict=True)]


def node_actions(game: CompiledGame) -> list[str]:
    return [game.actions[code] if code >= 0 else "" for code in game.tree.action.tolist()]


@pytest.mark.parametrize("name", DEALT)
def test_both_compilers_list_the_same_histories(name, compiled) -> None:
    fast, slow = compiled(name)
    for array in ("mover", "parent", "size", "payoff"):
        np.testing.assert_array_equal(getattr(fast.tree, array), getattr(slow.tree, array), err_msg=array)
    np.testing.assert_allclose(fast.tree.probability, slow.tree.probability, rtol=1e-15, atol=0)
    assert node_actions(fast) == node_actions(slow)
    assert node_infosets(fast) == node_infosets(slow)
    sizes = ("nodes", "terminals", "infosets", "sequences", "entries", "constant")
    assert [fast.summary()[size] for size in sizes] == [slow.summary()[size] for size in sizes]
    assert fast.largest_payoff == slow.largest_payoff


@pytest.mark.parametrize("name", DEALT)
def test_both_compilers_give_isomorphic_treeplexes(name, compiled) -> None:
    fast, slow = compiled(name)
    for player in (0, 1):
        assert treeplex_by_label(fast, player) == treeplex_by_label(slow, player)


@pytest.mark.parametrize("name", DEALT)
def test_both_compilers_give_the_same_payoff_operator(name, compiled) -> None:
    fast, slow = (payoffs_by_label(game) for game in compiled(name))
    assert fast.keys() == slow.keys()
    for key, value in slow.items():
        assert fast[key] == pytest.approx(value, rel=4e-15), key


@pytest.mark.parametrize("name", DEALT)
def test_a_policy_is_worth_the_same_in_both(name, compiled) -> None:
    fast, slow = compiled(name)
    rng = np.random.default_rng(7)
    for _ in range(3):
        rows = [
            (player, label, action, share)
            for (player, label), actions in Policy.uniform(slow).items()
            for action, share in zip(actions, rng.dirichlet(np.ones(len(actions))).tolist(), strict=True)
        ]
        policy = Policy.from_rows(rows)
        ours, theirs = evaluate_policy(fast, policy), evaluate_policy(slow, policy)
        assert ours.value == pytest.approx(theirs.value, abs=1e-12)
        assert ours.nash_conv == pytest.approx(theirs.nash_conv, abs=1e-12)
        assert ours.best_response_values == pytest.approx(theirs.best_response_values, abs=1e-12)


@pytest.mark.parametrize("name", [*DEALT, *WALKED, *LARGE])
def test_compiled_games_keep_their_promises(name, check_compiled) -> None:
    game = load(name)
    check_compiled(game)
    assert game.summary()["entries"] == game.payoffs.entries


def test_no_kind_of_game_is_left_out() -> None:
    assert {name.partition("(")[0] for name in [*DEALT, *WALKED, *LARGE]} == set(CATALOG)


@settings(max_examples=150)
@given(trees)
def test_compiled_random_trees_keep_their_promises(check_compiled, tree) -> None:
    check_compiled(compile_game(tree))


@settings(max_examples=40)
@given(trees)
def test_random_trees_have_the_size_of_their_rules(count, tree) -> None:
    game, size = compile_game(tree), count(tree)
    assert (game.nodes, *(tuple(map(getter, game.treeplexes)) for getter in GETTERS)) == tuple(size)


GETTERS = (lambda treeplex: treeplex.infosets, lambda treeplex: treeplex.sequences)
