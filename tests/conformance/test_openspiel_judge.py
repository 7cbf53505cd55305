"""OpenSpiel as the judge: its own value and NashConv of our policies, exported to its tabular form and back."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pytest

from treeplex.api import evaluate, load
from treeplex.compile import CompiledGame
from treeplex.errors import ParameterError
from treeplex.evaluation import Policy, best_response
from treeplex.games.openspiel import from_tabular, to_tabular

pytest.importorskip("pyspiel")
exploitability = pytest.importorskip("open_spiel.python.algorithms.exploitability")
expected_game_score = pytest.importorskip("open_spiel.python.algorithms.expected_game_score")

GAMES = [
    "kuhn_poker",
    "leduc_poker(suit_isomorphism=true)",
    "liars_dice(numdice=1,dice_sides=3)",
    "goofspiel(imp_info=true,num_cards=4,points_order=descending)",
    "goofspiel(imp_info=true,num_cards=3,points_order=random,returns_type=point_difference)",
    "matrix_rps",
    "oshi_zumo(coins=3,size=1,horizon=4)",
    "dark_hex(num_rows=2,num_cols=2)",
    "battleship(board_width=2,board_height=2,ship_sizes=[1],ship_values=[1],num_shots=2)",
]


def random_policy(game: CompiledGame, rng: np.random.Generator) -> Policy:
    """Mixed, with about a third of the infosets pure, so that some of the tree is never reached."""
    behaviour = []
    for treeplex in game.treeplexes:
        shares = [np.ones(1)]
        for count in treeplex.actions.tolist():
            pure = np.eye(count)[rng.integers(count)]
            shares.append(pure if rng.random() < 0.3 else rng.dirichlet(np.ones(count)))
        behaviour.append(np.concatenate(shares))
    return Policy.of(game, (behaviour[0], behaviour[1]))


def judged(tabular: Any) -> tuple[float, float]:
    """OpenSpiel's value for player 0 and NashConv."""
    value = expected_game_score.policy_value(tabular.game.new_initial_state(), [tabular, tabular])
    return value[0], exploitability.nash_conv(tabular.game, tabular)


@pytest.mark.parametrize("name", GAMES)
def test_openspiel_agrees_on_random_policies(name) -> None:
    game = load(f"openspiel:{name}")
    rng = np.random.default_rng(20)
    for _ in range(20):
        policy = random_policy(game, rng)
        tabular = to_tabular(name, lambda player, infoset, policy=policy: policy[player, infoset])
        value, nash_conv = judged(tabular)
        ours = evaluate(game, policy)
        assert ours.value == pytest.approx(value, abs=1e-10)
        assert ours.nash_conv == pytest.approx(nash_conv, abs=1e-10)

        back = Policy.from_rows(from_tabular(tabular))
        for kept, returned in zip(policy.aligned(game), back.aligned(game), strict=True):
            np.testing.assert_array_equal(kept, returned)
        assert evaluate(game, back) == ours


@pytest.mark.parametrize("name", GAMES)
def test_openspiel_agrees_on_best_responses(name) -> None:
    """Against our best response to a policy, OpenSpiel finds the values we promised."""
    game = load(f"openspiel:{name}")
    policy = random_policy(game, np.random.default_rng(3))
    for player in (0, 1):
        promised, improved = best_response(game, policy, player)
        tabular = to_tabular(name, lambda p, i, improved=improved: improved[p, i])
        value, _ = judged(tabular)
        assert (value if player == 0 else game.constant - value) == pytest.approx(promised, abs=1e-10)


def in_openspiels_words(actions: Mapping[str, float]) -> dict[str, float]:
    return {"Pass": actions["p"], "Bet": actions["b"]}


def test_kuhn_has_openspiels_infosets_in_openspiels_order_of_actions() -> None:
    ours, theirs = load("kuhn"), load("openspiel:kuhn_poker")
    for player in (0, 1):
        assert ours.infoset_index[player].keys() == theirs.infoset_index[player].keys()
        for label, infoset in ours.infoset_index[player].items():
            assert ours.actions_at(player, infoset) == ["p", "b"], label
            assert theirs.actions_at(player, theirs.infoset_index[player][label]) == ["Pass", "Bet"], label


def test_policies_for_kuhn_transfer_to_openspiel() -> None:
    game = load("kuhn")
    rng = np.random.default_rng(1)
    for _ in range(20):
        policy = random_policy(game, rng)
        tabular = to_tabular("kuhn_poker", lambda p, i, policy=policy: in_openspiels_words(policy[p, i]))
        value, nash_conv = judged(tabular)
        ours = evaluate(game, policy)
        assert (ours.value, ours.nash_conv) == pytest.approx((value, nash_conv), abs=1e-10)


def test_a_policy_of_openspiel_is_refused_by_a_game_with_other_actions() -> None:
    tabular = to_tabular("kuhn_poker", lambda player, infoset: {"Pass": 0.5, "Bet": 0.5})
    with pytest.raises(ParameterError, match="other actions"):
        evaluate("kuhn", Policy.from_rows(from_tabular(tabular)))
