from __future__ import annotations

import copy
import pickle
import sys

import pytest

import treeplex as tp
from treeplex.errors import GameError, MissingExtraError, ParameterError, TreeplexError
from treeplex.games.openspiel import OpenSpielGame, SpielMove, from_tabular, to_tabular
from treeplex.games.protocol import CHANCE, TERMINAL, Game

pyspiel = pytest.importorskip("pyspiel")

GOOFSPIEL = "goofspiel(imp_info=True,num_cards=4,points_order=descending)"


@pytest.mark.parametrize(
    ("name", "nodes", "infosets", "sequences"),
    [
        ("kuhn_poker", 58, 6, 13),
        ("leduc_poker", 9_457, 468, 1093),
        ("leduc_poker(suit_isomorphism=True)", 1_939, 144, 337),
        ("liars_dice(dice_sides=4)", 8_181, 512, 1021),
        (GOOFSPIEL, 1_077, 81, 175),
        (f"turn_based_simultaneous_game(game={GOOFSPIEL})", 1_077, 81, 175),
    ],
)
def test_sizes(name, nodes, infosets, sequences, count) -> None:
    assert count(OpenSpielGame(name)) == (nodes, (infosets, infosets), (sequences, sequences))


@pytest.mark.parametrize("name", ["kuhn_poker", "leduc_poker", GOOFSPIEL, "matrix_rps", "python_kuhn_poker"])
def test_rules_hold(name, check_rules) -> None:
    game = OpenSpielGame(name)
    assert isinstance(game, Game)
    check_rules(game)


@pytest.mark.parametrize(
    ("name", "nash_conv"),
    [
        ("kuhn_poker", 11 / 12),
        ("leduc_poker", 4.747222222),
        ("liars_dice(dice_sides=4)", 1.3101190476),
        (GOOFSPIEL, 17 / 12),
    ],
)
def test_uniform_play(name, nash_conv, uniform_nash_conv) -> None:
    assert uniform_nash_conv(OpenSpielGame(name)) == pytest.approx(nash_conv, abs=1e-9)  # FACTS.md


def test_takes_game_objects() -> None:
    assert OpenSpielGame(pyspiel.load_game("kuhn_poker")).name == "openspiel:kuhn_poker"


@pytest.mark.parametrize("name", ["kuhn_poker", "liars_dice(dice_sides=4)", GOOFSPIEL])
def test_names_load_again(name) -> None:
    game = OpenSpielGame(name)
    assert game.name == f"openspiel:{name}"
    assert OpenSpielGame(game.name).name == game.name


def test_history_of_kuhn() -> None:
    game = OpenSpielGame("kuhn_poker")
    state = game.root()
    assert game.mover(state) == CHANCE
    assert game.probabilities(state) == pytest.approx([1 / 3] * 3)
    for action in game.actions(state)[0], "Deal:2", "Bet", "Bet":  # a Move, or its text
        state = game.child(state, action)
    assert game.mover(state) == TERMINAL
    assert game.payoff(state) == -2.0


def test_a_constant_sum_pays_both() -> None:
    game = OpenSpielGame(pyspiel.create_matrix_game([[1, 0], [0, 1]], [[0, 1], [1, 0]]))
    state = game.root()
    for _ in range(2):
        state = game.child(state, game.actions(state)[0])
    assert game.payoff(state) == [1.0, 0.0]


def test_equal_labels_are_told_apart() -> None:
    twins = pyspiel.create_matrix_game("t", "t", ["a", "a", "b"], ["c"], [[1], [2], [3]], [[-1], [-2], [-3]])
    game = OpenSpielGame(twins)
    assert game.actions(game.root()) == ["a #0", "a #1", "b #2"]
    assert game.payoff(game.child(game.child(game.root(), "a #1"), "c")) == 2.0


def test_moves_copy_and_pickle_as_text() -> None:
    move = SpielMove("Bet", 1)
    assert move == "Bet"
    assert copy.deepcopy(move) == "Bet"
    assert pickle.loads(pickle.dumps(move)) == "Bet"


@pytest.mark.parametrize("name", ["kuhn_poker", GOOFSPIEL])
def test_policies_go_and_come_back(name) -> None:
    game = OpenSpielGame(name)
    policy = to_tabular(name, _last_action_twice_as_likely(game))
    table: dict[tuple[int, str], dict[str, float]] = {}
    for player, infoset, action, probability in from_tabular(policy):
        table.setdefault((player, infoset), {})[action] = probability
    decisions = _decisions(game)
    assert {key: list(actions) for key, actions in table.items()} == decisions
    again = to_tabular(pyspiel.load_game(name), lambda player, infoset: table[player, infoset])
    assert (again.action_probability_array == policy.action_probability_array).all()


def test_a_policy_is_put_where_it_belongs() -> None:
    exploitability = pytest.importorskip("open_spiel.python.algorithms.exploitability")
    third = 1 / 3  # Kuhn's equilibrium: player 0 bluffs with the jack a third as often as it bets the king
    bets = [
        {"0": third, "1": 0, "2": 1, "0pb": 0, "1pb": third + third, "2pb": 1},
        {"0p": third, "1p": 0, "2p": 1, "0b": 0, "1b": third, "2b": 1},
    ]

    def play(player: int, infoset: str) -> dict[str, float]:
        return {"Bet": bets[player][infoset], "Pass": 1 - bets[player][infoset]}

    game = pyspiel.load_game("kuhn_poker")
    assert exploitability.nash_conv(game, to_tabular(game, play)) == pytest.approx(0, abs=1e-12)


@pytest.mark.parametrize(
    ("given", "shown"),
    [({"Bet": 0.5}, "{'Bet': 0.5}"), ({"Raise": 1.0}, "{'Raise': 1.0}"), ({}, "{}")],
)
def test_policy_refusals(given, shown) -> None:
    with pytest.raises(ParameterError) as refusal:
        to_tabular("kuhn_poker", lambda player, infoset: given)
    assert str(refusal.value) == (
        "The policy at player 0's infoset '0' must give the actions Pass, Bet probabilities that sum to 1, "
        f"got {shown}."
    )


def test_a_policy_for_simultaneous_moves_is_refused() -> None:
    policy = pytest.importorskip("open_spiel.python.policy")
    with pytest.raises(GameError) as refusal:
        from_tabular(policy.TabularPolicy(pyspiel.load_game("matrix_rps")))
    assert str(refusal.value) == (
        "The policy is for the simultaneous moves of 'matrix_rps'; make it for the turn-based game, "
        "pyspiel.convert_to_turn_based(game)."
    )


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("kuhn_poker(players=3)", "has 3 player(s); choose a game, or its version, with two."),
        ("matrix_pd", "has general-sum payoffs; choose a game whose payoffs sum to a constant."),
        ("tiny_hanabi", "has identical payoffs; choose a game whose payoffs sum to a constant."),
        ("mfg_crowd_modelling", "is a mean-field game; choose a game of two players."),
        ("negotiation", "samples chance without its probabilities; choose a game with explicit chance."),
        ("pig", "has no information states; choose a game that provides information state strings."),
    ],
)
def test_unsolvable_games_are_refused(name, sentence) -> None:
    with pytest.raises(GameError) as refusal:
        OpenSpielGame(name)
    assert str(refusal.value) == f"'openspiel:{name}' {sentence}"


@pytest.mark.parametrize(
    ("game", "sentence"),
    [
        ("leduc_pokr", "OpenSpiel has no game 'leduc_pokr'; the nearest names are 'leduc_poker'"),
        ("zzzzzz", "OpenSpiel has no game 'zzzzzz'; pyspiel.registered_names() lists them."),
        ("kuhn_poker(cards=3)", "OpenSpiel does not load 'kuhn_poker(cards=3)': Unknown parameter 'cards'"),
        (3, "The 'game' parameter must be a pyspiel.Game or the name of one, got 3."),
    ],
)
def test_unknown_games_are_refused(game, sentence) -> None:
    with pytest.raises(ParameterError) as refusal:
        OpenSpielGame(game)
    assert str(refusal.value).startswith(sentence)
    assert "\n" not in str(refusal.value)


def test_an_unknown_action_is_refused() -> None:
    game = OpenSpielGame("kuhn_poker")
    with pytest.raises(ParameterError) as refusal:
        game.child(game.root(), "Deal:9")
    assert str(refusal.value) == "The 'action' parameter must be one of Deal:0, Deal:1, Deal:2, got 'Deal:9'."


def test_a_missing_extra_is_named(monkeypatch) -> None:
    monkeypatch.setitem(sys.modules, "pyspiel", None)
    with pytest.raises(MissingExtraError) as refusal:
        OpenSpielGame("kuhn_poker")
    assert str(refusal.value) == (
        "Playing OpenSpiel's games needs the package 'open_spiel'; install it with: pip install 'treeplex[openspiel]'"
    )


def _decisions(game: OpenSpielGame) -> dict[tuple[int, str], list[str]]:
    """The actions at each player's infosets."""
    found: dict[tuple[int, str], list[str]] = {}
    stack = [game.root()]
    while stack:
        state = stack.pop()
        if (mover := game.mover(state)) == TERMINAL:
            continue
        if mover >= 0:
            found[mover, game.infoset(state)] = list(game.actions(state))
        stack += [game.child(state, action) for action in game.actions(state)]
    return found


def _last_action_twice_as_likely(game: OpenSpielGame):
    decisions = _decisions(game)

    def play(player: int, infoset: str) -> dict[str, float]:
        *others, last = decisions[player, infoset]
        share = 1 / (len(others) + 2)
        return {**dict.fromkeys(others, share), last: 2 * share}

    return play


def test_a_policy_goes_to_openspiel_and_back() -> None:
    """Solved by us, judged by OpenSpiel, and the same bits when it comes back."""
    exploitability = pytest.importorskip("open_spiel.python.algorithms.exploitability")
    solution = tp.solve("openspiel:leduc_poker", "cfr+", iterations=50)
    table = solution.policy.to_openspiel("leduc_poker")
    assert exploitability.nash_conv(table.game, table) == pytest.approx(solution.nash_conv, abs=1e-10)
    back = tp.Policy.from_openspiel(table)
    assert dict(back.items()) == dict(solution.policy.items())
    assert tp.evaluate(solution.game, back).nash_conv == pytest.approx(solution.nash_conv, abs=1e-12)


# --- what OpenSpiel throws, and its other policies -------------------------------------------------------------------


@pytest.mark.parametrize("name", ["blotto(coins=-5)", "liars_dice(numdice=-1)", "oshi_zumo(coins=-1)"])
def test_what_openspiel_throws_is_a_sentence(name) -> None:
    for action in (tp.load, lambda game: tp.explore(game, iterations=1)):
        with pytest.raises(TreeplexError) as error:
            action(f"openspiel:{name}")
        assert "OpenSpiel" in str(error.value)
        assert len(str(error.value)) <= 300


def test_a_state_is_no_game() -> None:
    with pytest.raises(ParameterError, match=r"got a state; pass state\.get_game\(\)\."):
        tp.load(pyspiel.load_game("kuhn_poker").new_initial_state())


@pytest.mark.parametrize(("ours", "theirs"), [("kuhn", "kuhn_poker"), ("leduc(suits=true)", "leduc_poker")])
def test_policies_of_our_games_go_to_openspiels(ours, theirs) -> None:
    """Other labels, the same game: OpenSpiel finds the same NashConv. The game need not be named."""
    exploitability = pytest.importorskip("open_spiel.python.algorithms.exploitability")
    solution = tp.solve(ours, "cfr+", iterations=20)
    for table in (solution.policy.to_openspiel(), solution.policy.to_openspiel(theirs)):
        assert exploitability.nash_conv(pyspiel.load_game(theirs), table) == pytest.approx(solution.nash_conv, abs=1e-9)


def test_a_policy_for_another_game_is_refused() -> None:
    with pytest.raises(ParameterError, match="which is another game than 'openspiel:leduc_poker'"):
        tp.Policy.uniform("kuhn").to_openspiel("leduc_poker")
    with pytest.raises(ParameterError, match="Pass the game of OpenSpiel"):
        tp.Policy.uniform("leduc").to_openspiel()


def test_any_policy_of_openspiel_is_taken() -> None:
    policy = pytest.importorskip("open_spiel.python.policy")
    game = pyspiel.load_game("leduc_poker")
    uniform = tp.evaluate(game, tp.Policy.uniform(game))
    assert uniform.nash_conv == pytest.approx(4.747222, abs=1e-6)
    for theirs in (policy.TabularPolicy(game), policy.UniformRandomPolicy(game), pyspiel.UniformRandomPolicy(game)):
        assert tp.evaluate(game, theirs).nash_conv == pytest.approx(uniform.nash_conv, abs=1e-9)
    assert tp.Policy.from_openspiel(policy.UniformRandomPolicy(game)) == tp.Policy.uniform(game)
    with pytest.raises(ParameterError, match="from_openspiel"):
        tp.Policy.from_openspiel(5)
