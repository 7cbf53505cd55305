from __future__ import annotations

import numpy as np
import pytest

from treeplex.errors import ParameterError
from treeplex.games.matrix import MatrixGame, gaussian_matrix
from treeplex.games.protocol import TERMINAL, Game


def test_is_a_game(check_rules, count) -> None:
    game = MatrixGame([[1, 2, 3], [4, 5, 6]])
    assert isinstance(game, Game)
    check_rules(game)
    assert count(game) == (1 + 2 + 6, (1, 1), (3, 4))
    assert game.name == "matrix(rows=[[1,2,3],[4,5,6]])"


def test_entries(walk) -> None:
    table = np.arange(6.0).reshape(2, 3)
    game = MatrixGame(table)
    assert [game.payoff(pair) for pair, _ in walk(game) if game.mover(pair) == TERMINAL] == table.ravel().tolist()
    row = game.child(game.root(), "r1")
    assert game.infoset(game.root()) == "row"
    assert game.infoset(row) == "column"
    assert game.actions(row) == ("c0", "c1", "c2")
    assert game.payoff(game.child(row, "c2")) == table[1, 2]


def test_keeps_its_own_copy() -> None:
    table = np.zeros((2, 2))
    game = MatrixGame(table)
    table[0, 0] = 1
    assert game.payoff((0, 0)) == 0
    assert game == MatrixGame([[0, 0], [0, 0]])


def test_uniform_play(uniform_nash_conv) -> None:
    assert uniform_nash_conv(MatrixGame([[0, -1, 1], [1, 0, -1], [-1, 1, 0]])) == pytest.approx(0)
    assert uniform_nash_conv(MatrixGame([[2, 0], [0, 0]])) == pytest.approx(1 + 0)


def test_gaussian_matrix() -> None:
    game = gaussian_matrix()
    table = np.array(game.rows)
    noise = np.random.default_rng(0).standard_normal((100, 100))
    shift = table - noise
    assert np.allclose(shift[:5, :5], 0)
    assert np.allclose(shift[:5, 5:], 2)
    assert np.allclose(shift[5:, :5], -2)
    assert np.allclose(shift[5:, 5:], 0)
    assert game == gaussian_matrix(seed=0)
    assert game != gaussian_matrix(seed=1)


def test_names() -> None:
    assert gaussian_matrix().name == "gaussian_matrix"
    assert gaussian_matrix(size=10, seed=3).name == "gaussian_matrix(size=10,seed=3)"
    assert MatrixGame([[0]], name="nothing").name == "nothing"


@pytest.mark.parametrize(
    ("rows", "sentence"),
    [
        (3, "The 'rows' parameter must be a table with at least one row and one column, got a single number."),
        ([1, 2], "The 'rows' parameter must be a table with at least one row and one column, got 2."),
        ([[]], "The 'rows' parameter must be a table with at least one row and one column, got 1 × 0."),
        ([[[1]]], "The 'rows' parameter must be a table with at least one row and one column, got 1 × 1 × 1."),
        ([[1, 2], [3]], "The 'rows' parameter must be rows of numbers, all of one length."),
        ([["a"]], "The 'rows' parameter must be rows of numbers, all of one length."),
        ([[0, 1], [2, np.nan]], "The 'rows' parameter must hold finite numbers, got nan in row 1, column 1."),
        ([[-np.inf]], "The 'rows' parameter must hold finite numbers, got -inf in row 0, column 0."),
    ],
)
def test_refusals(rows, sentence) -> None:
    with pytest.raises(ParameterError) as refusal:
        MatrixGame(rows)
    assert str(refusal.value) == sentence


@pytest.mark.parametrize("parameters", [{"size": 0}, {"size": 3, "better": 4}, {"seed": -1}, {"seed": 0.5}])
def test_gaussian_refusals(parameters) -> None:
    with pytest.raises(ParameterError, match=f"The '{list(parameters)[-1]}' parameter must be a whole number from"):
        gaussian_matrix(**parameters)
