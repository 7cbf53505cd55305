from __future__ import annotations

import pytest

from treeplex.errors import ParameterError
from treeplex.games.princess_and_monster import PrincessAndMonster, Trails
from treeplex.games.protocol import CHANCE, TERMINAL, Game


def test_is_a_game() -> None:
    assert isinstance(PrincessAndMonster(), Game)


@pytest.mark.parametrize(
    ("game", "nodes", "infosets", "sequences"),
    [
        (PrincessAndMonster(), 16_919, 1 + 9 + 33, 1 + 9 + 33 + 125),
        (PrincessAndMonster(holes="a1 c1"), 6_637, 1 + 7 + 23, 1 + 7 + 23 + 81),
        (PrincessAndMonster(monster="random", princess="random"), 16_919, 9 + 33, 1 + 33 + 125),
        (PrincessAndMonster(monster="a1", princess="c3", horizon=1), 1 + 3 + 9, 1, 1 + 3),
        (PrincessAndMonster(rows=1, columns=2, horizon=0), 1 + 2 + 4, 1, 1 + 2),
    ],
    ids=lambda value: value.name if isinstance(value, PrincessAndMonster) else "",
)
def test_sizes(game, nodes, infosets, sequences, count) -> None:
    assert count(game) == (nodes, (infosets, infosets), (sequences, sequences))


@pytest.mark.parametrize("monster", ["chosen", "random", "a1"])
@pytest.mark.parametrize("princess", ["chosen", "random", "b2"])
def test_rules_hold(monster, princess, check_rules) -> None:
    check_rules(PrincessAndMonster(rows=2, columns=2, horizon=2, monster=monster, princess=princess))


def test_a_pursuit_by_hand() -> None:
    game = PrincessAndMonster(rows=1, columns=3)
    paths = game.root()
    for cell in ("a1", "b1"):
        paths = game.child(paths, cell)
    assert game.infoset(paths) == "a1"
    assert game.actions(paths) == ("a1", "b1")
    paths = game.child(paths, "b1")
    assert game.infoset(paths) == "b1"
    assert game.actions(paths) == ("b1", "a1", "c1")
    swapped = game.child(paths, "a1")
    assert game.mover(swapped) == 0  # passing each other is not a capture
    caught = game.child(paths, "b1")
    assert game.mover(caught) == TERMINAL
    assert game.payoff(caught) == -1.0


def test_capture_times() -> None:
    game = PrincessAndMonster(horizon=1)
    assert game.payoff(Trails(("a1",), ("a1",))) == 0.0
    assert game.payoff(Trails(("a1", "b1"), ("b2", "b1"))) == -1.0
    assert game.payoff(Trails(("a1", "b1"), ("b2", "b2"))) == -2.0


def test_holes_are_no_cells() -> None:
    game = PrincessAndMonster(holes="a1 c1")
    assert game.actions(game.root()) == ("b1", "a2", "b2", "c2", "a3", "b3", "c3")
    assert game.actions(Trails(("b1",), ("c3",))) == ("b1", "b2")


def test_random_starts() -> None:
    game = PrincessAndMonster(rows=1, columns=2, monster="random", princess="b1")
    assert game.mover(game.root()) == CHANCE
    assert game.probabilities(game.root()) == [0.5, 0.5]


@pytest.mark.parametrize("horizon", [0, 1, 2, 3])
def test_value_of_two_cells(horizon, uniform_nash_conv, walk) -> None:
    """On two joined cells both may be anywhere at any time, so drawing the cell afresh each time is optimal.

    The princess is then free at times 0..t with probability 2^-(t+1): the value is the sum of these.
    """
    game = PrincessAndMonster(rows=1, columns=2, horizon=horizon)
    assert uniform_nash_conv(game) == pytest.approx(0, abs=1e-12)
    ends = [(history, depth) for history, depth in walk(game) if game.mover(history) == TERMINAL]
    value = sum(0.5**depth * game.payoff(history) for history, depth in ends)
    assert value == pytest.approx(-sum(0.5 ** (t + 1) for t in range(horizon + 1)))


def test_names() -> None:
    assert PrincessAndMonster().name == "princess_and_monster"
    game = PrincessAndMonster(horizon=3, holes="a1 c1")
    assert game.name == 'princess_and_monster(horizon=3,holes="a1 c1")'


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"rows": 0}, "The 'rows' parameter must be a whole number from 1 to 26, got 0."),
        ({"columns": 27}, "The 'columns' parameter must be a whole number from 1 to 26, got 27."),
        ({"horizon": -1}, "The 'horizon' parameter must be a whole number from 0 to 100, got -1."),
        ({"holes": "d1"}, "The 'holes' parameter must be cells from a1 to c3, separated by spaces, got 'd1'."),
        (
            {"rows": 1, "columns": 2, "holes": "a1"},
            "The 'holes' parameter must leave at least two cells, got 'a1'.",
        ),
        (
            {"monster": "a1", "holes": "a1"},
            'The \'monster\' parameter must be "chosen", "random" or one of the cells from a1 to c3 that is not a hole,'
            " got 'a1'.",
        ),
        (
            {"monster": "a1", "princess": "a1"},
            "The 'princess' parameter must not be the monster's cell, got 'a1'.",
        ),
    ],
)
def test_refusals(parameters, sentence) -> None:
    with pytest.raises(ParameterError) as refusal:
        PrincessAndMonster(**parameters)
    assert str(refusal.value) == sentence
