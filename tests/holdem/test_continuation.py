"""The EV of an action is that of taking it and playing on well, whatever the storage, the run and the door."""

from __future__ import annotations

import json

import numpy as np
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

import treeplex as tp
from treeplex.games.holdem.betting import CHANCE, DECISION
from treeplex.games.holdem.cards import CARDS, card_name, hand_number, parse_card
from treeplex.holdem import Lock, Spot, sizes_for, solve
from treeplex.poker.browse.lines import extended, next_cards, word
from treeplex.poker.browse.opened import OpenedSpot
from treeplex.poker.views.continuation import RARE, action_values, answered, avoided, chips_put_in, waiting_values
from treeplex.poker.views.lines import follow

RANGES = "AA,KK,QQ,99,66,AKs,AQs,KQs,JTs,98s,76s,54s,AJo,KTo", "KK,JJ,TT,88,77,55,A5s,A9s,KJs,QTs,T9s,87s,65s,AQo"
CLASSES = [*RANGES[0].split(","), *RANGES[1].split(",")]
NEAR = {"float64": 1e-9, "float32": 2e-4, "int16": 2e-4}  # of the pot: rounding


def lines_of(game, cards=1):
    """Lines to every decision of the spot, below the first ``cards`` cards of each chance node."""
    waiting, found = [""], []
    while waiting:
        line = waiting.pop()
        place = follow(game, line)
        if place.node.kind == DECISION:
            found.append(line)
            waiting += [extended(line, word(game, place.node, k)) for k in range(len(place.node.actions))]
        elif place.node.kind == CHANCE:
            waiting += [extended(line, card_name(card)) for card in next_cards(place)[:cards]]
    return found


def check_view(view, node):
    """No action is worth less than giving up after it, and to fold is worth nothing."""
    for k, action in enumerate(node.actions if view.actions else []):
        known = view.ev[k][~np.isnan(view.ev[k])]
        assert (known >= -chips_put_in(node, action)).all(), (view.line, action.name, known.min())
        if action.kind == "fold":
            assert (known == 0.0).all()
    if not view.actions:
        assert (view.values[~np.isnan(view.values)] >= 0.0).all()


def check_spot(solution, storage, most=60):
    """Decisions of the spot, all or every so many, for both players, looked up and by passes of its own."""
    reader = solution.reader
    lines = lines_of(solution.game)
    lines = lines[:: 1 + len(lines) // most]
    alone = {line: reader.at(line) for line in lines[::10]}
    reader.keep()
    for line in lines:
        node = follow(solution.game, line).node
        for player in (0, 1):
            check_view(reader.at(line, player), node)
    for line, view in alone.items():
        place = follow(solution.game, line)
        check_view(view, place.node)
        if place.suits == (0, 1, 2, 3) and storage != "int16":  # else hands are other hands, or numbers other numbers
            known, weights = reader.at(line), solution.game.spot.weights(view.player)
            taken = np.divide(view.reach, weights, out=np.zeros_like(weights), where=weights > 0.0) * view.strategy
            differs = np.abs(view.ev - known.ev) > NEAR[storage] * view.pot
            assert not (differs & (np.abs(taken - RARE) > 1e-4)).any()


@settings(max_examples=8, deadline=None, derandomize=True, phases=[Phase.generate])
@given(
    board=st.lists(st.integers(0, CARDS - 1), min_size=3, max_size=4, unique=True),
    ranges=st.tuples(*2 * [st.lists(st.sampled_from(CLASSES), min_size=3, max_size=9, unique=True)]),
    stack=st.sampled_from([60, 150, 400]),
    bets=st.sampled_from(["50%", "33%, 120%", "75%, a"]),
    algorithm=st.sampled_from(["auto", "cfr+", "cfr", "pcfr+"]),
    storage=st.sampled_from(list(NEAR)),
    iterations=st.sampled_from([3, 20, 90]),
)
def test_no_call_is_worth_less_than_minus_its_price(board, ranges, stack, bets, algorithm, storage, iterations):
    """On flops and turns."""
    text = " ".join(card_name(card) for card in board)
    sizes = sizes_for(bets, "80%") if len(board) == 4 else sizes_for("75%", "")
    spot = Spot(text, 100, stack, ",".join(ranges[0]), ",".join(ranges[1]), sizes)
    if algorithm == "pcfr+" and storage == "int16":
        storage = "float32"
    try:
        solution = solve(spot, algorithm, iterations=iterations, storage=storage)
    except tp.TreeplexError as error:  # both ranges hold the same few cards
        assert "hand" in str(error)
        return
    check_spot(solution, storage)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("board", "storage"),
    [("Ks 7h 2d", "int16"), ("Qh 8h 5c", "float32"), ("9s 8s 7s", "int16"), ("Td Tc 4h", "float64")],
)
def test_no_call_on_a_solved_flop_is_worth_less_than_minus_its_price(board, storage):
    spot = Spot(board, 60, 240, *RANGES, sizes_for("33%, 100%", "70%"))
    check_spot(solve(spot, exploitability="0.5%pot", storage=storage), storage, most=300)


TURN = Spot("Qh 8h 5c Ts", 200, 800, *RANGES, sizes_for("50%, a", "a"))


@pytest.fixture(scope="module", params=list(NEAR))
def turn(request):
    """Solved as players do, in each storage."""
    return solve(TURN, exploitability="0.1%pot", storage=request.param)


def test_unplayed_actions_are_worth_what_a_better_solution_says(turn):
    """EVs of actions that a hand never takes are within a twentieth of the pot of those of a solution that is ten
    times as exact, where other hands take them (elsewhere the opponent's answer differs between solutions); playing
    on by the hand's own average is off by a fifth of the pot."""
    exact = solve(TURN, exploitability="0.01%pot", storage="float64")
    for line in ("x", "x/b100"):
        view, truth = turn.at(line), exact.at(line)
        rare = (view.reach * view.strategy < RARE) & ~np.isnan(view.ev) & ~np.isnan(truth.ev) & (view.reach > 0.5)
        rare &= np.array(list(truth.totals().values()))[:, None] > 0.05
        assert rare.sum() > 10
        assert np.abs(view.ev - truth.ev)[rare].max() < 0.05 * view.pot


def test_the_table_does_not_contradict_best_replies(turn):
    """The best reply's action is shown with the best reply's EV where the hand never takes it."""
    opened = OpenedSpot(turn.reader)
    for line in ("", "x", "x/b100", "x/b100/c/2s", "b100/a"):
        for row in opened.exploit(line)["hands"]:
            k = row["best"]
            if row["reach"] * row["strategy"][k] < RARE:
                assert row["ev"][k] == pytest.approx(row["best_ev"], abs=1e-9)
            assert row["ev"][k] <= row["best_ev"] + 1e-3


def test_the_trainer_does_not_call_a_free_call_a_mistake(turn):
    """Marked by the same EVs: no action loses more than its price beside folding."""
    opened, decisions = OpenedSpot(turn.reader), 0
    for number in range(30):
        question = opened.question("ip", 1, number)
        while "hand" in question and decisions < 400:
            actions = question["node"]["actions"]
            marks = [opened.mark(question, k) for k in range(len(actions))]
            for action, mark in zip(actions, marks, strict=True):
                if action["name"] == "call":
                    assert mark["ev"][mark["chosen"]] >= -question["node"]["to_call"] - 0.01
            decisions += 1
            question = marks[number % len(marks)]["next"]
    assert decisions > 40


LOCKS = (Lock("", {"QQ,KK": {"check": 1.0}}), Lock("x/b100", {"all": {"fold": 0.3, "call": 0.7}}))


def test_locks_do_not_make_untaken_actions_worthless():
    """Strong hands are locked to check, others bet. The opponent then gives bets more credit than they deserve, so
    a strong hand that bets and plays on well takes more, not less, than in the free solution."""
    free = solve(TURN, exploitability="0.05%pot")
    locked = solve(TURN, exploitability="0.05%pot", locks=LOCKS[:1])
    for hand in ("QsQd", "KhKd"):
        bet = free.at("")[hand].ev[1]
        assert locked.at("")[hand].ev[1] > bet - 0.01 * TURN.pot


def test_what_locks_rule_out_for_the_whole_range_is_unknown():
    """Nobody has learned an answer to an all-in that the whole range is locked away from."""
    solution = solve(TURN, iterations=100, locks=LOCKS[1:], storage="float64")
    view = solution.at("x/b100")
    names = [action.name for action in view.actions]
    allin = next(k for k, name in enumerate(names) if name.startswith("all-in"))
    assert np.isnan(view.ev[allin]).all()
    assert not np.isnan(view.ev[[k for k in range(len(names)) if k != allin]][:, view.share > 0]).any()
    assert not np.isnan(view.values[view.share > 0]).any()
    row = view[view.rows()[0].hand]
    assert row.ev[allin] is None
    assert np.isnan(solution.at(f"x/b100/{names[allin]}", "oop").values).all()
    opened = OpenedSpot(solution.reader)
    question = next(q for q in (opened.question("oop", 3, n) for n in range(200)) if q["line"] == "")
    after = opened.mark(question, 0)["next"]
    for number in range(200):
        if after.get("line") == "x/b100":
            break
        after = opened.mark(opened.question("oop", 3, number), 0)["next"]
    mark = opened.mark(after, allin)
    assert (mark["verdict"], mark["lost"], mark["ev"][allin]) == ("unknown", 0.0, None)
    assert opened.mark(after, 0)["best"] != allin


def test_locks_of_some_hands_leave_the_rest_known():
    """As long as one hand is free or takes it, an action has an answer."""
    strategy, reach = np.array([[1.0, 1.0, 0.5], [0.0, 0.0, 0.5]]), np.array([1.0, 1.0, 0.0])
    assert avoided(reach, strategy, np.array([True, True, False])).tolist() == [False, True]
    assert avoided(reach, strategy, np.array([True, False, False])).tolist() == [False, False]
    assert avoided(np.ones(3), strategy, np.ones(3, bool)).tolist() == [False, False]
    root = follow(solve(TURN, iterations=1).game, "").node
    assert answered(root, 1)
    assert not answered(follow(solve(TURN, iterations=1).game, "x/a/c").node, 0)


def test_whose_play_counts_after_an_action():
    """Own play if the action is taken often enough and that is no worse than giving up; else the best reply."""
    node = follow(solve(TURN, iterations=1).game, "b100").node
    assert [action.kind for action in node.actions] == ["fold", "call", "all-in"]
    taken = np.array([[0.5, 0.2, 0.98, 0.5], [0.5, 0.8, RARE / 2, 0.5], [0.0, 0.0, 0.0, 0.0]])
    played = np.array([[0.0] * 4, [30.0, -150.0, 30.0, np.nan], [-900.0] * 4])
    best = np.array([[0.0] * 4, [40.0, 20.0, 40.0, np.nan], [-800.5, 10.0, -20.0, np.nan]])
    expected = np.array([[0.0] * 4, [30.0, 20.0, 40.0, np.nan], [-800.0, 10.0, -20.0, np.nan]])
    assert np.array_equal(action_values(node, taken, played, best, free=True), expected, equal_nan=True)
    expected[2, 0] = -800.5  # what follows is locked: giving up may not be possible
    assert np.array_equal(action_values(node, taken, played, best, free=False), expected, equal_nan=True)
    reach, own, reply = np.array([1.0, 1.0, 0.001]), np.array([5.0, -3.0, 5.0]), np.array([6.0, -1e-9, 7.0])
    assert waiting_values(reach, own, reply, free=True).tolist() == [5.0, 0.0, 7.0]
    assert waiting_values(reach, own, reply, free=False).tolist() == [5.0, -1e-9, 7.0]


def test_price_of_actions():
    """Chips that an action costs at once: a raise costs what it adds."""
    node = follow(solve(TURN, iterations=1).game, "b100").node
    prices = {action.kind: chips_put_in(node, action) for action in node.actions}
    assert prices == {"fold": 0.0, "call": 100.0, "all-in": 800.0}
    again = follow(solve(Spot("Qh 8h 5c Ts", 200, 800, *RANGES, sizes_for("50%", "50%, a")), iterations=1).game, "b100")
    raised = again.node.children[2]
    assert {a.kind: chips_put_in(raised, a) for a in raised.actions}["all-in"] == 700.0


@pytest.mark.parametrize("storage", list(NEAR))
def test_every_door_shows_the_same(tmp_path, storage):
    """The command line, its CSV file, and UPI show what the view has."""
    from typer.testing import CliRunner  # noqa: PLC0415

    from treeplex.cli.main import app  # noqa: PLC0415
    from treeplex.poker.upi.nodes import NodeReader  # noqa: PLC0415

    folder = tmp_path / "run"
    solution = solve(TURN, exploitability="0.1%pot", storage=storage, out=folder)
    view = solution.at("x/b100")
    call = [action.kind for action in view.actions].index("call")
    result = CliRunner().invoke(app, ["holdem", "show", str(folder), "--line", "x/b100", "--json"])
    assert result.exit_code == 0
    for row in json.loads(result.stdout)["hands"]:
        hand = hand_number(parse_card(row["hand"][:2]), parse_card(row["hand"][2:]))
        assert row["ev"][call] == pytest.approx(view.ev[call, hand], abs=1e-6)
        assert row["ev"][call] >= -100.0 - 0.01
    table = view.table().to_pydict()
    evs = [ev for action, ev in zip(table["action"], table["ev"], strict=True) if action == "call"]
    assert min(evs) >= -100.0 - 0.01
    nodes = NodeReader(solution.game, solution.reader)
    for name in ("r:0:c:b100", "r:0:c:b100:c"):
        for player in ("OOP", "IP") if name.endswith("0") else ("OOP",):
            numbers = np.array([float(x) for x in nodes.ev(player, name)[0].split()])
            assert (numbers[~np.isnan(numbers)] >= -100.0 - 0.01).all()
