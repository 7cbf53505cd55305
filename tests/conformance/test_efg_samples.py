"""Gambit's sample games: solved to Gambit's values or refused in a sentence; and our games as .efg files, read back."""

from __future__ import annotations

import json
from fractions import Fraction
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeplex as tp
from treeplex.arrow import unpacked
from treeplex.compile import CompiledGame, compile_game
from treeplex.compile.efg import to_efg
from treeplex.errors import GameError
from treeplex.games.efg import EfgGame, load, parse, write
from treeplex.games.protocol import CHANCE, TERMINAL, Game
from treeplex.games.random_tree import RandomTree

SHARED = Path(__file__).resolve().parents[3] / "shared" / "efg"
VALUES: dict[str, Any] = json.loads((SHARED / "values.json").read_text()) if SHARED.is_dir() else {}
SAMPLES = sorted(SHARED.glob("*.efg"))

# pygambit now refuses these, for labels that repeat. Our own values, where the games are two-player and constant-sum:
# two card games, proved by their NashConv of 0, and games of perfect information.
REJECTED_BY_GAMBIT = {
    "4cards.efg": 23 / 24,
    "caro2.efg": 17 / 18,
    "coord2ts.efg": None,
    "e10.efg": 1.0,
    "e10a.efg": -1.0,
    "holdout.efg": None,
    "nim.efg": -1.0,
    "nim7.efg": -1.0,
}

needs_samples = pytest.mark.skipif(not SAMPLES, reason=f"there are no sample games in {SHARED}")


def recalls(game: Game) -> bool:
    """Perfect recall, by the definition: one way for the mover to come to each of its infosets."""
    known: dict[tuple[int, str], Any] = {}
    stack: list[tuple[Any, tuple[Any, ...]]] = [(game.root(), ((), (), (), ()))]
    while stack:
        history, recalled = stack.pop()
        mover = game.mover(history)
        if mover == TERMINAL:
            continue
        key = (mover, game.infoset(history)) if mover != CHANCE else None
        if key and known.setdefault(key, recalled[mover]) != recalled[mover]:
            return False
        for action in game.actions(history):
            after = list(recalled)
            if key:
                after[mover] = (*recalled[mover], (key, action))
            stack.append((game.child(history, action), tuple(after)))
    return True


def backward_induction(game: EfgGame, history: int = 0) -> Fraction:
    """Player 0's value of a game of perfect information."""
    mover = game.mover(history)
    if mover == TERMINAL:
        return game.exact_payoff(history)[0]
    values = [backward_induction(game, game.child(history, action)) for action in game.actions(history)]
    return max(values) if mover == 0 else min(values)


def solvable(name: str) -> bool:
    """Is it one of Gambit's two-player constant-sum games with perfect recall?"""
    told = VALUES[name]
    if "error" in told:
        return REJECTED_BY_GAMBIT[name] is not None
    return told["players"] == 2 and told["const_sum"] and told["perfect_recall"]


@needs_samples
def test_there_is_a_value_or_a_reason_for_every_sample() -> None:
    assert {path.name for path in SAMPLES} == set(VALUES)
    assert {name for name, told in VALUES.items() if "error" in told} == set(REJECTED_BY_GAMBIT)
    assert sum(solvable(path.name) for path in SAMPLES) == 11


@needs_samples
@pytest.mark.parametrize("path", [p for p in SAMPLES if solvable(p.name)], ids=lambda path: path.name)
def test_samples_are_solved_to_gambits_values(path) -> None:
    """To 1e-12 of the largest payoff: the programs are small, and Gambit's own values are off by 1e-14."""
    game = tp.load(path)
    evaluation = tp.solve(game, "lp").evaluation
    told, tolerance = VALUES[path.name], 1e-12 * max(1.0, game.largest_payoff)
    value = told.get("value0", REJECTED_BY_GAMBIT.get(path.name))
    assert evaluation.value == pytest.approx(value, abs=tolerance)
    assert game.constant - evaluation.value == pytest.approx(told.get("value1", game.constant - value), abs=tolerance)
    assert evaluation.nash_conv <= tolerance
    if "infosets" in told:
        assert [treeplex.infosets for treeplex in game.treeplexes] == told["infosets"]


@needs_samples
@pytest.mark.parametrize("name", ["e10.efg", "e10a.efg", "nim.efg", "nim7.efg"])
def test_our_values_of_games_of_perfect_information_follow_from_backward_induction(name) -> None:
    game = load(SHARED / name)
    compiled = compile_game(game)
    players = [int((compiled.tree.mover == player).sum()) for player in (0, 1)]
    if [treeplex.infosets for treeplex in compiled.treeplexes] != players:
        pytest.skip(f"{name} hides something")
    assert float(backward_induction(game)) == REJECTED_BY_GAMBIT[name]


@needs_samples
@pytest.mark.parametrize("path", [p for p in SAMPLES if not solvable(p.name)], ids=lambda path: path.name)
def test_other_samples_are_refused_for_the_right_reason(path) -> None:
    rules = load(path)
    with pytest.raises(GameError) as error:
        tp.load(path)
    sentence = str(error.value)
    assert sentence.startswith(rules.name)
    assert "\n" not in sentence
    assert sentence.endswith(".")
    if rules.players != 2:
        assert sentence == f"{rules.name} has {rules.players} players; treeplex solves games of two."
    elif "no perfect recall" in sentence:
        assert not recalls(rules)
    else:
        assert rules.constant_sum is None
        assert " is not zero-sum nor constant-sum: the players' payoffs add up to " in sentence
    if "error" not in VALUES[path.name]:
        assert rules.players == VALUES[path.name]["players"]
        assert recalls(rules) == VALUES[path.name]["perfect_recall"]


@needs_samples
@pytest.mark.parametrize("path", [p for p in SAMPLES if solvable(p.name)], ids=lambda path: path.name)
def test_solvable_samples_survive_being_compiled_and_written(path) -> None:
    game = tp.load(path)
    assert_same_game(read_back(game), game)


# --- our games as .efg files -----------------------------------------------------------------------------------------


def read_back(game: CompiledGame) -> CompiledGame:
    return compile_game(EfgGame(parse(write(to_efg(game)))))


def assert_same_game(again: CompiledGame, game: CompiledGame, ulps: int = 0) -> None:
    """The same tree with the same numbers: payoffs to the bit, probabilities to ``ulps`` units in the last place."""
    for name in ("mover", "parent", "size", "payoff"):
        np.testing.assert_array_equal(getattr(again.tree, name), getattr(game.tree, name), err_msg=name)
    apart = np.abs(again.tree.probability - game.tree.probability) / np.spacing(game.tree.probability)
    assert apart.max() <= ulps
    assert again.constant == pytest.approx(game.constant, rel=1e-15)
    assert again.summary()["infosets"] == game.summary()["infosets"]
    assert again.summary()["sequences"] == game.summary()["sequences"]
    for player in (0, 1):
        ours, theirs = (unpacked(g.labels[player].infosets) for g in (game, again))
        assert sorted(ours) == sorted(theirs)
    own = [game.actions[code] for code in game.tree.action[1:]]
    assert [again.actions[code] for code in again.tree.action[1:]] == own


EXPORTED = [
    "kuhn",
    "leduc",
    "leduc(suits=true)",
    "kuhn_ext(4,3,2)",
    "one_card_poker(7)",
    "liars_dice(sides=4)",
    "liars_dice(dice=2,sides=2)",
    "goofspiel",
    "goofspiel(cards=3,order=random,returns=point_difference)",
    "matrix([[0.1,-2.5e-7],[3e10,0]])",
    "gaussian_matrix(size=8)",
    "princess_and_monster(rows=2,columns=2,horizon=2,monster=random)",
]


@pytest.mark.parametrize("name", EXPORTED)
def test_exported_games_are_the_same_when_read_back(name) -> None:
    """Thirds and sixths are written as fractions and come back to the bit, unless compiling had rounded them twice."""
    game = tp.load(name)
    again = read_back(game)
    assert_same_game(again, game, ulps=1 if name == "leduc" else 0)
    values = [tp.solve(g, "lp").value for g in (game, again)]
    assert values[1] == pytest.approx(values[0], abs=1e-9 * max(1.0, game.largest_payoff))


@settings(max_examples=50)
@given(st.integers(0, 2**63 - 1), st.integers(1, 6), st.sampled_from([0.2, 0.6]), st.sampled_from([1e-9, 1.0, 1e9]))
def test_random_trees_are_the_same_when_read_back(seed, depth, chance, scale) -> None:
    """Their probabilities are any doubles that sum to one but for rounding: the largest of a move makes up for that."""
    game = compile_game(RandomTree(seed=seed, depth=depth, chance=chance, scale=scale))
    assert_same_game(read_back(game), game, ulps=4)


@pytest.mark.parametrize("name", ["kuhn", "leduc", "liars_dice(sides=3)"])
def test_exported_probabilities_are_simple_fractions_that_sum_to_one(name) -> None:
    for node in to_efg(tp.load(name)).nodes:
        if node.probabilities:
            assert sum(node.probabilities) == 1
            assert max(share.denominator for share in node.probabilities) < 1000


@pytest.mark.parametrize("constant", [0.0, 0.1, -7.0, 1e6])
def test_constant_sums_are_exported_with_both_payoffs(constant) -> None:
    class Shared:
        name = "shared"
        root = staticmethod(lambda: "")
        mover = staticmethod(lambda history: 0 if not history else TERMINAL)
        actions = staticmethod(lambda history: ("l", "r"))
        probabilities = staticmethod(lambda history: ())
        child = staticmethod(lambda history, action: action)
        infoset = staticmethod(lambda history: "only")
        payoff = staticmethod(lambda history: (0.3, constant - 0.3) if history == "l" else (2.0, constant - 2.0))

    game = tp.load(Shared())
    file = to_efg(game)
    assert [sum(node.payoffs) for node in file.nodes if node.payoffs] == [Fraction(repr(game.constant))] * 2
    again = read_back(game)
    assert again.constant == pytest.approx(constant, rel=1e-12)
    assert tp.solve(again, "lp").evaluation == tp.solve(game, "lp").evaluation


def test_titles_and_labels_with_quotes_are_kept() -> None:
    class Quoted:
        name = 'say "hi" ♠'
        root = staticmethod(lambda: "")
        mover = staticmethod(lambda history: 0 if not history else TERMINAL)
        actions = staticmethod(lambda history: ('"', "a b"))
        probabilities = staticmethod(lambda history: ())
        child = staticmethod(lambda history, action: action)
        infoset = staticmethod(lambda history: 'who says "what"?\nnobody')
        payoff = staticmethod(lambda history: float(len(history)))

    game = tp.load(Quoted())
    again = read_back(game)
    assert again.name == game.name
    assert_same_game(again, game)
