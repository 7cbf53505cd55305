"""The verified sizes and values of shared/FACTS.md, from our own rule books and through OpenSpiel."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from math import comb
from typing import NamedTuple

import pytest

import treeplex as tp
from treeplex.api import load
from treeplex.compile import CompiledGame
from treeplex.errors import GameError
from treeplex.evaluation import Policy, evaluate_policy
from treeplex.games.catalog import make


class Fact(NamedTuple):
    nodes: int
    infosets: int  # of each player
    sequences: int  # of each player, with the empty one
    value: float
    uniform_nash_conv: float | None  # of the policy that plays every action equally often


KUHN = Fact(58, 6, 13, -1 / 18, 11 / 12)
LEDUC = Fact(9_457, 468, 1_093, -0.0856064240780005, 4.747222222)
LEDUC_BY_RANK = Fact(1_939, 144, 337, -0.0856064240780005, 4.747222222)
LIARS_DICE_4 = Fact(8_181, 512, 1_021, 1 / 16, 1.3101190476)
LIARS_DICE_6 = Fact(294_883, 12_288, 24_571, -0.02713178294573644, None)
GOOFSPIEL_4 = Fact(1_077, 81, 175, 0.0, 17 / 12)

GOOFSPIEL = "goofspiel(imp_info=true,num_cards=4,points_order=descending)"
FACTS = [
    pytest.param("kuhn", KUHN),
    pytest.param("leduc(suits=true)", LEDUC),
    pytest.param("leduc", LEDUC_BY_RANK),
    pytest.param("liars_dice(sides=4)", LIARS_DICE_4),
    pytest.param("liars_dice", LIARS_DICE_6),
    pytest.param("goofspiel", GOOFSPIEL_4),
    pytest.param("goofspiel(cards=4)", GOOFSPIEL_4),
    pytest.param("openspiel:kuhn_poker", KUHN),
    pytest.param("openspiel:leduc_poker", LEDUC),
    pytest.param("openspiel:leduc_poker(suit_isomorphism=true)", LEDUC_BY_RANK),
    pytest.param("openspiel:liars_dice(dice_sides=4)", LIARS_DICE_4),
    pytest.param("openspiel:liars_dice", LIARS_DICE_6),
    pytest.param(f"openspiel:{GOOFSPIEL}", GOOFSPIEL_4),
    pytest.param(f"openspiel:turn_based_simultaneous_game(game={GOOFSPIEL})", GOOFSPIEL_4),
]


@pytest.fixture(scope="module")
def loaded() -> Callable[[str], CompiledGame]:
    """Games, each compiled once."""

    def get(name: str) -> CompiledGame:
        if name.startswith("openspiel:"):
            pytest.importorskip("pyspiel")
        return load(name)

    return cache(get)


def sizes(game: CompiledGame) -> tuple[int, list[int], list[int]]:
    infosets = [treeplex.infosets for treeplex in game.treeplexes]
    return game.nodes, infosets, [treeplex.sequences for treeplex in game.treeplexes]


@pytest.mark.parametrize(("name", "fact"), FACTS)
def test_sizes(name, fact, loaded) -> None:
    game = loaded(name)
    assert sizes(game) == (fact.nodes, [fact.infosets] * 2, [fact.sequences] * 2)
    assert game.tree.nodes == fact.nodes


@pytest.mark.parametrize(("name", "fact"), FACTS)
def test_values(name, fact, loaded) -> None:
    evaluation = tp.solve(loaded(name), "lp").evaluation
    assert evaluation.value == pytest.approx(fact.value, abs=1e-9)
    assert evaluation.nash_conv == pytest.approx(0, abs=1e-9)


@pytest.mark.parametrize(("name", "fact"), [param for param in FACTS if param.values[1].uniform_nash_conv is not None])
def test_nash_conv_of_uniform_play(name, fact, loaded) -> None:
    game = loaded(name)
    evaluation = evaluate_policy(game, Policy.uniform(game))
    assert evaluation.nash_conv == pytest.approx(fact.uniform_nash_conv, abs=1e-9)
    assert evaluation.exploitability == evaluation.nash_conv / 2


def test_known_values_of_the_catalog_are_the_facts(loaded) -> None:
    for param in FACTS:
        name, fact = param.values
        expected = None if name.startswith("openspiel:") else fact.value
        assert loaded(name).known_value == expected


@pytest.mark.parametrize("sizes_of", ["rbp", "dt"])
def test_leduc5_sizes(sizes_of, loaded) -> None:
    """62 decision nodes per round and 61 ways on, by rank: 3·62 + 9·62·61 infosets."""
    game = loaded(f'leduc5(sizes="{sizes_of}")')
    _, infosets, sequences = sizes(game)
    assert sum(infosets) == 34_224 == 3 * 62 + 9 * 62 * 61
    assert sequences == [50_233, 50_233]
    assert game.terminals == 177_684


@pytest.mark.parametrize(
    ("sizes_of", "first", "second"),
    [("rbp", [0.5, 1, 2, 4, 8], [1, 2, 4, 8, 16]), ("dt", [1, 2, 4, 8, 16], [2, 4, 8, 16, 32])],
)
def test_leduc5_bets(sizes_of, first, second) -> None:
    game = make(f'leduc5(sizes="{sizes_of}")')
    history = game.root()
    for card in ("J", "Q"):
        history = game.child(history, card)
    assert game.actions(history) == ["check", *(f"bet{size:g}" for size in first)]
    for move in ("check", "check", "K"):
        history = game.child(history, move)
    assert game.actions(history) == ["check", *(f"bet{size:g}" for size in second)]


@pytest.mark.parametrize("cards", [2, 3, 4])
@pytest.mark.parametrize(("bets", "raises"), [(1, 1), (2, 1), (3, 2), (4, 4), (6, 3), (3, 9)])
def test_kuhn_extension_follows_its_formula(cards, bets, raises, count) -> None:
    """S rising sequences of at most z bet types make 6S - 3 betting nodes, once for each deal of two cards."""
    rising = sum(comb(bets, k) for k in range(raises + 1))
    nodes = 1 + cards * (cards - 1) * (6 * rising - 3)
    rules = make(f"kuhn_ext(cards={cards},bets={bets},raises={raises})")
    assert load(rules).nodes == load(rules).tree.nodes == nodes
    assert count(rules).nodes == nodes


@pytest.mark.slow
def test_kuhn_extension_of_the_paper() -> None:
    game = load("kuhn_ext(3,20,7)")
    assert game.nodes == 4_967_263 == 1 + 6 * (6 * sum(comb(20, k) for k in range(8)) - 3)
    assert game.summary()["nodes"] == 4_967_263


def test_our_leduc_extension_has_the_size_we_state() -> None:
    assert load("leduc_ext(5,5,1)").nodes == 44_391


def test_openspiels_goofspiel_with_open_bids_has_no_perfect_recall() -> None:
    pytest.importorskip("pyspiel")
    with pytest.raises(GameError, match="no perfect recall"):
        load("openspiel:goofspiel(imp_info=false,num_cards=4,points_order=descending)")
