"""Browsing a solved spot: what is looked up equals what single passes and best responses say; all views agree."""

from __future__ import annotations

import json
from dataclasses import fields
from functools import cache
from itertools import pairwise
from typing import NotRequired, get_origin, get_type_hints

import numpy as np
import pytest
from treys import Card, Evaluator

from treeplex.errors import ParameterError
from treeplex.games.holdem.betting import CHANCE, DECISION
from treeplex.games.holdem.cards import HAND_CARDS, hand_number, parse_card
from treeplex.games.holdem.spot import PLAYERS
from treeplex.holdem import Lock, Spot, sizes_for, solve
from treeplex.poker.browse import OpenedSpot, open_spot
from treeplex.poker.browse.lines import crumbs
from treeplex.poker.views.lines import follow
from treeplex.poker.views.node import Crumb, Hand, Node, NodeAction, Range, Row, Summary

TURN = Spot(
    "Ks 9h 6d 3c", 100, 120, "AA:0.5,KQs,98s,77,Ah5h", "QQ,AKs,T8s:0.75,66,Ad2d", sizes_for("50%, a", "a"), chip=0.5
)


def lines_of(game, limit=60):
    """Lines to decisions and chance nodes, with one card each."""
    waiting, found = [("", game.streets[0].decisions[0].node)], []
    while waiting and len(found) < limit:
        line, node = waiting.pop(0)
        if node.kind not in (CHANCE, DECISION):
            continue
        found.append((line, node))
        if node.kind == CHANCE:
            waiting.append((f"{line}, Qh", node.children[0]))
        else:
            waiting += [
                (f"{line}, {a.name}" if line else a.name, child)
                for a, child in zip(node.actions, node.children, strict=True)
            ]
    return found


@pytest.fixture(scope="module", params=["float64", "float32", "int16"])
def solution(request):
    return solve(TURN, iterations=60, storage=request.param)


@pytest.fixture(scope="module")
def locked():
    locks = (Lock("check", {"QQ": {"check": 0.25, "bet 50": 0.75}}),)
    return solve(TURN, iterations=60, storage="float64", locks=locks)


@pytest.fixture(scope="module")
def opened():
    return OpenedSpot(solve(TURN, iterations=60, storage="float64").policy)


def close(storage):
    return {"float64": 1e-9, "float32": 2e-3, "int16": 0.1}[storage]


def test_values_that_are_kept_are_those_of_single_passes(solution):
    browsed = OpenedSpot(solution.policy)
    single = solve(TURN, iterations=60, storage=solution.record.storage).policy
    decisions = [line for line, node in lines_of(solution.game) if node.kind == DECISION]
    assert len(decisions) > 20
    for line in decisions:
        for player in PLAYERS:
            ours, theirs = browsed.reader.at(line, player), single.at(line, player)
            assert np.array_equal(np.isnan(ours.values), np.isnan(theirs.values)), line
            for name in ("values", "ev", "reach", "strategy", "equity"):
                one, two = (np.nan_to_num(getattr(view, name)) for view in (ours, theirs))
                assert np.abs(one - two).max(initial=0.0) <= close(solution.record.storage), (line, player, name)


def conforms(shown, schema):
    """All required fields, and no others than those of the schema, at every depth."""
    hints = get_type_hints(schema, include_extras=True)
    required = {name for name, hint in hints.items() if get_origin(hint) is not NotRequired}
    assert required <= set(shown) <= set(hints), schema
    inside = {"actions": NodeAction, "crumbs": Crumb, "hands": Hand, "classes": Hand}
    for name, each in inside.items():
        for one in (one for one in shown.get(name, ()) if one is not None and not isinstance(one, str)):
            conforms(one, each)
    for each in shown.get("ranges", {}).values():
        conforms(each, Range)


def test_all_views_of_a_node_have_the_fields_of_one_schema(opened):
    for line, node in lines_of(opened.reader.game, 12):
        conforms(opened.node(line), Node)
        if node.kind == DECISION:
            conforms(opened.exploit(line, "ip"), Node)
            conforms(opened.reader.at(line).summary(), Summary)
    conforms(opened.node("check, bet 50, fold"), Node)
    conforms(opened.question("ip", 1)["node"], Node)
    summary = opened.reader.at("").summary()
    assert list(summary["hands"][0]) == [field.name for field in fields(Row)]
    seen = {hand["hand"]: hand for hand in opened.node("")["hands"]}
    assert all(hand == {name: seen[hand["hand"]][name] for name in hand} for hand in summary["hands"])
    assert summary["totals"] == pytest.approx([action["frequency"] for action in opened.node("")["actions"]])


@pytest.mark.parametrize("which", ["opened", "locked"])
def test_gains_of_best_responses_add_up_at_the_root(which, request):
    given = request.getfixturevalue(which)
    browsed = given if which == "opened" else OpenedSpot(given.policy)
    for player, name in enumerate(PLAYERS):
        gain = browsed.reader.best_response_value(player) - browsed.reader.value(player)
        assert browsed.exploit("", name)["gain"] == pytest.approx(gain, abs=1e-9)


def test_locked_hands_gain_nothing_where_they_are_locked(locked):
    browsed = OpenedSpot(locked.policy)
    told = browsed.exploit("check")
    assert told["locked"]
    for row in told["hands"]:
        if row["class"] == "QQ":
            assert (row["best"], row["best_ev"], row["gain"]) == (None, row["value"], 0.0)
    assert max(row["gain"] for row in told["hands"] if row["class"] != "QQ") > 0.0
    gains = {name: browsed.exploit("", name)["gain"] for name in PLAYERS}
    assert sum(gains.values()) == pytest.approx(locked.nash_conv, abs=1e-9)


def test_a_root_that_is_locked_gains_what_the_rest_gains():
    lock = Lock("", {"22+,A2s+,KQs,98s": {"check": 0.5, "bet 50": 0.5}})
    found = solve(TURN, iterations=30, storage="float64", locks=(lock,))
    browsed = OpenedSpot(found.policy)
    gain = browsed.reader.best_response_value(0) - browsed.reader.value(0)
    assert browsed.exploit("")["gain"] <= gain + 1e-9
    assert browsed.exploit("")["gain"] == pytest.approx(0.0, abs=1e-9)


def test_the_exploit_view_names_the_best_action(opened):
    told = opened.exploit("check, bet 50")
    for row in told["hands"]:
        assert row["best_ev"] >= row["value"] - 1e-9
        assert row["gain"] == pytest.approx(row["best_ev"] - row["value"], abs=1e-9)
        assert 0 <= row["best"] < len(told["actions"])


def test_cards_add_up_to_their_chance_node(opened):
    before, after = opened.node("check", "ip"), opened.node("check, check")
    check = before["actions"][0]
    assert check["short"] == "check"
    assert after["ranges"]["ip"]["ev"] == pytest.approx(check["ev"], abs=1e-6)
    assert sum(after["ranges"][name]["ev"] for name in PLAYERS) == pytest.approx(100.0, abs=1e-6)
    cards = opened.runouts("check, check")["cards"]
    assert len(cards) == len({card["card"] for card in cards}) == 48
    assert sum(card["often"] for card in cards) == pytest.approx(1.0)
    for card in cards[::7]:
        told = opened.node(card["line"])
        for k, name in enumerate(PLAYERS):
            assert card["ev"][k] == pytest.approx(told["ranges"][name]["ev"], abs=1e-9)
            assert card["equity"][k] == pytest.approx(told["ranges"][name]["equity"], abs=1e-9)
        assert card["frequencies"] == pytest.approx([action["frequency"] for action in told["actions"]], abs=1e-12)
    assert opened.runouts("check, check, Qh, check") == opened.runouts("check, check")


def test_equity_of_an_all_in_is_counted_by_hand(opened):
    """Against all rivers, one by one, by the strengths of seven cards."""
    line = "all-in, call"
    told = opened.node(line)
    place = follow(opened.reader.game, line)
    reach = [opened.reader.reach(place, player) for player in (0, 1)]
    won = total = 0.0
    for first in np.flatnonzero(reach[0]).tolist():
        for second in np.flatnonzero(reach[1]).tolist():
            held = {*HAND_CARDS[first].tolist(), *HAND_CARDS[second].tolist()}
            if len(held) < 4:
                continue
            weight = reach[0][first] * reach[1][second]
            rivers = [card for card in range(52) if card not in held and card not in place.cards]
            for river in rivers:
                ranks = [strength(hand, (*place.cards, river)) for hand in (first, second)]
                won += weight * (0.5 if ranks[0] == ranks[1] else float(ranks[0] < ranks[1]))
                total += weight
    assert told["kind"] == "chance"
    assert told["pot"] == 340
    assert told["ranges"]["oop"]["equity"] == pytest.approx(won / total, abs=1e-9)
    assert told["ranges"]["oop"]["ev"] == pytest.approx(340 * won / total, abs=1e-6)
    assert opened.node(f"{line}, 2c")["ranges"]["ip"]["equity"] is not None


JUDGE = Evaluator()


@cache
def strength(hand, board):
    """Lower is better, by another library."""
    cards = [*HAND_CARDS[hand].tolist(), *board]
    names = [Card.new("23456789TJQKA"[card // 4] + "cdhs"[card % 4]) for card in cards]
    return JUDGE.evaluate(names[:2], names[2:])


def test_links_lead_where_they_come_from(opened):
    game = opened.reader.game
    for line, node in lines_of(game):
        told = opened.node(line)
        assert follow(game, told["line"]).node is node
        assert opened.node(told["line"])["line"] == told["line"]
        assert json.loads(json.dumps(told, allow_nan=False)) is not None
        steps = crumbs(game, follow(game, line))[0]
        for one, two in pairwise(steps):
            after = one["actions"][one["taken"]]["line"] if one["kind"] == DECISION else f"{one['line']}/{one['card']}"
            assert two["line"] == after


def test_a_node_tells_money_classes_and_both_ranges(opened):
    told = opened.node("check, bet 50")
    assert told["line"] == "x/b50"
    assert (told["pot"], told["stacks"], told["to_call"]) == (150, [120, 70], 50)
    assert sum(told["ranges"][name]["ev"] for name in PLAYERS) == pytest.approx(150, abs=1e-6)
    assert sum(told["ranges"][name]["equity"] for name in PLAYERS) == pytest.approx(1.0)
    for name in PLAYERS:
        part = told["ranges"][name]
        assert part["realisation"] == pytest.approx(part["ev"] / (part["equity"] * 150))
    classes = [each for each in told["classes"] if each is not None]
    assert {each["class"] for each in classes} == {"AA", "KQs", "98s", "77", "A5s"}
    assert sum(each["share"] for each in classes) == pytest.approx(1.0)
    assert told["classes"][0]["class"] == "AA"
    other = opened.node("check, bet 50", "ip")
    assert [action["frequency"] for action in other["actions"]] == pytest.approx(
        [action["frequency"] for action in told["actions"]]
    )
    assert other["hands"][0]["strategy"] == ()
    for name in PLAYERS:
        assert other["ranges"][name] == pytest.approx(told["ranges"][name], abs=1e-9)
    assert opened.node("x/b50/f")["result"] == "oop folds"


def test_a_run_beside_itself_does_not_differ(opened):
    told = opened.compare(opened, "check")
    assert told["ev"][0] == told["ev"][1]
    assert {row["frequency_difference"] for row in told["rows"]} == {0.0}
    node = opened.node("check")
    ours = {row["hand"]: row for row in told["rows"]}
    for row in node["hands"]:
        assert ours[row["hand"]]["value"][0] == row["value"]
        assert ours[row["hand"]]["regret"][1] == pytest.approx(max(row["ev"]) - row["value"], abs=1e-9)


def test_every_decision_of_a_trained_hand_is_marked_by_its_evs(opened):
    ends = set()
    for seed in range(12):
        asked = opened.question("ip", seed)
        assert asked == opened.question("ip", seed)
        while "hand" in asked:
            node = opened.node(asked["line"])
            assert node["to_act"] == "ip"
            row = next((row for row in node["hands"] if row["hand"] == asked["hand"]), None)
            marked = opened.mark(asked, seed % len(node["actions"]))
            if row is not None:
                assert marked["ev"] == pytest.approx(list(row["ev"]))
                assert marked["lost"] == pytest.approx(max(row["ev"]) - row["ev"][marked["chosen"]], abs=1e-9)
            assert (marked["verdict"] == "best") == (marked["lost"] <= node["tolerance"])
            asked = marked["next"]
        ends.add(asked["result"])
        assert 0.0 <= asked["won"] <= asked["pot"]
        hands = [hand_number(parse_card(hand[:2]), parse_card(hand[2:])) for hand in asked["hands"].values()]
        assert len({*HAND_CARDS[hands].ravel().tolist()}) == 4
    assert {"showdown", "ip folds"} <= ends


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"hand": "AsAs"}, "two hands"),
        ({"hand": "zz"}, "two cards"),
        ({"opponent": "fffff"}, "two hands"),
        ({"opponent": "!"}, "two hands"),
        ({"player": "me"}, "oop or ip"),
        ({"line": "check, fly"}, "fly"),
        ({"line": ""}, "not lead to a decision of its player"),
        ({"hand": "KsKd"}, "share a card"),
    ],
)
def test_a_question_that_was_changed_is_refused(opened, change, words):
    asked = opened.question("ip", 1)
    with pytest.raises(ParameterError, match=words):
        opened.mark(asked | change, 0)


def test_what_cannot_be_shown_is_said(opened, tmp_path):
    with pytest.raises(ParameterError, match="from 0 to"):
        opened.mark(opened.question("oop", 1), 9)
    with pytest.raises(ParameterError, match="passes no card"):
        opened.runouts("check")
    with pytest.raises(ParameterError, match="does not lead to a decision"):
        opened.exploit("check, check")
    with pytest.raises(ParameterError, match=r"no run\.json"):
        open_spot(tmp_path)
