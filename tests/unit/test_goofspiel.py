from __future__ import annotations

import pytest

from treeplex.errors import ParameterError
from treeplex.games.goofspiel import Goofspiel, OpenCards
from treeplex.games.protocol import CHANCE, TERMINAL, Game

ORDERS = ("descending", "ascending", "random")


def test_is_a_game() -> None:
    assert isinstance(Goofspiel(), Game)


@pytest.mark.parametrize(
    ("game", "nodes", "infosets", "sequences"),
    [
        (Goofspiel(), 1077, 81, 175),  # FACTS.md
        (Goofspiel(order="ascending"), 1077, 81, 175),
        (Goofspiel(cards=5), 26931, 1062, 2284),
        (Goofspiel(cards=3, order="random"), 418, 45, 94),
        (Goofspiel(imperfect=False), 1077, 1 + 16 + 16 * 9, 1 + 4 + 16 * 3 + 144 * 2),
        (Goofspiel(cards=2), 7, 1, 3),
    ],
    ids=lambda value: value.name if isinstance(value, Goofspiel) else "",
)
def test_sizes(game, nodes, infosets, sequences, count) -> None:
    assert count(game) == (nodes, (infosets, infosets), (sequences, sequences))


@pytest.mark.parametrize("imperfect", [True, False])
@pytest.mark.parametrize("order", ORDERS)
def test_rules_hold(order, imperfect, check_rules) -> None:
    check_rules(Goofspiel(cards=3, order=order, imperfect=imperfect))


def test_uniform_play(uniform_nash_conv) -> None:
    assert uniform_nash_conv(Goofspiel()) == pytest.approx(1.4166667, abs=1e-7)  # FACTS.md


@pytest.mark.parametrize("returns", ["win_loss", "point_difference"])
def test_seats_are_symmetric(returns, walk) -> None:
    game = Goofspiel(order="random", cards=3, returns=returns)
    ends = [history for history, _ in walk(game) if game.mover(history) == TERMINAL]
    assert len(ends) == 216
    for prizes, first, second in ends:
        assert game.payoff(OpenCards(prizes, first, second)) == -game.payoff(OpenCards(prizes, second, first))


def test_a_game_by_hand() -> None:
    game = Goofspiel(cards=3)
    table = game.root()
    for bid in ("1", "3", "3", "1"):  # prize 3 goes to player 1, prize 2 to player 0, prize 1 is bid for with 2 and 2
        table = game.child(table, bid)
    assert game.mover(table) == TERMINAL
    assert game.payoff(table) == -1.0
    assert Goofspiel(cards=3, returns="point_difference").payoff(table) == (2 - 3) / 2


def test_what_players_see() -> None:
    table = OpenCards((4, 3, 2, 1), (2, 1), (2, 4))
    assert Goofspiel().infoset(table) == "4:2d 3:1l 2:"
    assert Goofspiel(imperfect=False).infoset(table) == "4:2-2 3:1-4 2:"
    reply = OpenCards((4, 3, 2, 1), (2, 1, 4), (2, 4))
    assert Goofspiel().infoset(reply) == "4:2d 3:4w 2:"
    assert Goofspiel().actions(reply) == ["1", "3"]


def test_chance_turns_up_prizes() -> None:
    game = Goofspiel(cards=3, order="random")
    assert game.mover(game.root()) == CHANCE
    table = OpenCards((2,), (3,), (1,))
    assert game.mover(table) == CHANCE
    assert game.actions(table) == ["1", "3"]
    assert game.probabilities(table) == [0.5, 0.5]


@pytest.mark.parametrize("returns", ["win_loss", "point_difference"])
@pytest.mark.parametrize("order", ORDERS)
def test_is_openspiels_game(order, returns) -> None:
    pyspiel = pytest.importorskip("pyspiel")
    rules = {"num_cards": 3, "imp_info": True, "points_order": order, "returns_type": returns}
    theirs = pyspiel.convert_to_turn_based(pyspiel.load_game("goofspiel", rules))
    ours = Goofspiel(cards=3, order=order, returns=returns)
    labels: set[tuple[int, str, str]] = set()
    stack = [(ours.root(), theirs.new_initial_state())]
    while stack:
        table, state = stack.pop()
        mover = ours.mover(table)
        if mover == TERMINAL:
            assert state.is_terminal()
            assert ours.payoff(table) == state.returns()[0]
            continue
        assert mover == state.current_player()
        if mover != CHANCE:
            labels.add((mover, ours.infoset(table), state.information_state_string()))
        actions = ours.actions(table)
        assert [int(action) - 1 for action in actions] == state.legal_actions()
        stack += [(ours.child(table, action), state.child(int(action) - 1)) for action in actions]
    assert len({(mover, mine) for mover, mine, _ in labels}) == len(labels)  # infosets correspond one to one
    assert len({(mover, their) for mover, _, their in labels}) == len(labels)


def test_names() -> None:
    assert Goofspiel().name == "goofspiel"
    assert (
        Goofspiel(cards=5, order="random", imperfect=False).name == 'goofspiel(cards=5,order="random",imperfect=false)'
    )


@pytest.mark.parametrize(
    ("parameters", "sentence"),
    [
        ({"cards": 1}, "The 'cards' parameter must be a whole number from 2 to 13, got 1."),
        ({"order": "up"}, 'The \'order\' parameter must be one of "descending", "ascending", "random", got \'up\'.'),
        ({"imperfect": 1}, "The 'imperfect' parameter must be true or false, got 1."),
        ({"returns": 0}, 'The \'returns\' parameter must be one of "win_loss", "point_difference", got 0.'),
    ],
)
def test_refusals(parameters, sentence) -> None:
    with pytest.raises(ParameterError) as refusal:
        Goofspiel(**parameters)
    assert str(refusal.value) == sentence
