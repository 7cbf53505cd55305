"""What people see at a node: EV of every action against counting by hand, both ranges, selections, and short words."""

from __future__ import annotations

import pickle
from dataclasses import replace

import numpy as np
import pyarrow as pa
import pytest

import treeplex as tp
from treeplex.errors import ParameterError
from treeplex.games.holdem.cards import hand_number, parse_card
from treeplex.holdem import Spot, load_spot, sizes_for, solve

POT, STACK = 100, 60
HANDS = (("AsAh", "QcQd", "7s7h"), ("KcKd", "AsAd", "JcJd", "QcQd"))  # some block each other, one is held by both
BOARD = "Ks 9h 6d 3c Th"
ORDER = ["7s7h", "JcJd", "QcQd", "AsAh", "AsAd", "KcKd"]  # weakest first; aces tie
STRENGTH = {hand: min(ORDER.index(hand), 3) if hand[0] == "A" else ORDER.index(hand) for hand in ORDER}
RIVER = Spot(BOARD, POT, STACK, "AsAh,QcQd:0.5,7s7h:0.8", "KcKd:0.6,AsAd,JcJd,QcQd:0.25", sizes_for("50%, a", "a"))


def number(hand):
    return hand_number(parse_card(hand[:2]), parse_card(hand[2:]))


def blocked(first, second):
    return bool({first[:2], first[2:]} & {second[:2], second[2:]})


def worth(spot, node, line, hand, weights, player, strategies, best):
    """Chips that a hand of ``player`` takes of the pot in the end, less what it puts in after the start, summed over
    the opponent's hands by weight; it plays its strategy, or its best reply."""
    half = spot.pot / 2 + node.paid
    rake, total = spot.rake(2 * half), sum(weights.values())
    if node.kind == "fold":
        return total * (spot.pot / 2 + (-half if node.player == player else half - rake))
    if node.kind == "showdown":
        shares = {1: half - rake, 0: -rake / 2, -1: -half}
        ahead = {h: int(np.sign(STRENGTH[hand] - STRENGTH[h])) for h in weights}
        return sum(weights[h] * (spot.pot / 2 + shares[ahead[h]]) for h in weights)
    found = []
    for k, (action, child) in enumerate(zip(node.actions, node.children, strict=True)):
        plays = strategies[line][k]
        left = weights if node.player == player else {h: w * plays[number(h)] for h, w in weights.items()}
        found.append(worth(spot, child, (*line, action.name), hand, left, player, strategies, best))
    if node.player != player:
        return sum(found)
    return max(found) if best else float(np.dot(strategies[line][:, number(hand)], found))


def put_in(node, action):
    """Chips that an action costs at once."""
    before = node.faced - node.to_call
    return {"fold": 0, "check": 0, "call": node.to_call}.get(action.kind, action.amount - before)


def all_views(solution):
    """By line, walked through the betting tree."""
    root = solution.game.streets[0].decisions[0].node
    found, waiting = {}, [(root, ())]
    while waiting:
        node, line = waiting.pop()
        if node.kind == "decision":
            found[line] = (node, solution.at(", ".join(line)))
            waiting += [(child, (*line, a.name)) for a, child in zip(node.actions, node.children, strict=True)]
    return root, found


@pytest.mark.parametrize("rake", [{}, {"rake_rate": 0.05, "rake_cap": 4.0}], ids=["free", "raked"])
@pytest.mark.parametrize("storage", ["float64", "float32", "int16"])
def test_ev_of_every_action_is_what_counting_all_deals_gives(storage, rake):
    spot = replace(RIVER, **rake)
    solution = solve(spot, iterations=7, storage=storage)  # far from equilibrium: nothing is alike by chance
    _, found = all_views(solution)
    strategies = {line: view.strategy for line, (_, view) in found.items()}
    assert len(found) == 8
    rules = set()
    near = 1e-9 if storage == "float64" else 2e-4
    for line, (node, view) in found.items():
        other = solution.at(", ".join(line), player=1 - view.player)
        for shown in (view, other):
            theirs = HANDS[1 - shown.player]
            paid = node.paid + (0 if shown is view else node.to_call)
            for hand in HANDS[shown.player]:
                weights = {h: shown.opponent[number(h)] for h in theirs if not blocked(hand, h)}
                total = sum(weights.values())
                if total < 1e-6:
                    continue

                weight, frequency = shown.reach[number(hand)] / spot.weights(shown.player)[number(hand)], 1.0

                def ev(after, way, best, hand=hand, weights=weights, total=total, paid=paid, shown=shown):
                    return worth(spot, after, way, hand, weights, shown.player, strategies, best) / total + paid

                for k, (action, child) in enumerate(zip(shown.actions, node.children, strict=bool(shown.actions))):
                    own, best = (ev(child, (*line, action.name), reply) for reply in (False, True))
                    frequency = weight * shown.strategy[k, number(hand)]
                    well = own if frequency >= 0.01 and own >= -put_in(node, action) - near else best
                    rules.add("own" if well == own else "best")
                    assert shown.ev[k, number(hand)] == pytest.approx(well, abs=near)
                    assert shown.ev[k, number(hand)] >= -put_in(node, action) - near
                own, best = (ev(node, line, reply) for reply in (False, True))
                if shown is view:
                    row = view[hand]
                    mixed = np.dot(row.strategy, row.ev)
                    assert row.value == pytest.approx(own if weight >= 0.01 else mixed, abs=near)
                    fold = [ev for action, ev in zip(view.actions, row.ev, strict=True) if action.kind == "fold"]
                    assert fold in ([], [0.0])
                else:
                    well = own if weight >= 0.01 and own >= -near else best
                    assert shown.values[number(hand)] == pytest.approx(well, abs=near)
                assert shown.played[number(hand)] == pytest.approx(own, abs=near)
        both = [shown.range_ev for shown in (view, other)]
        if rake:
            assert view.pot - 4.0 - near <= sum(both) < view.pot
        else:
            assert sum(both) == pytest.approx(view.pot, abs=near)
    assert rules == {"own", "best"}


def test_what_nobody_reaches_is_not_known(small_river):
    """Rows that a pass leaves alone keep what an earlier pass wrote there."""
    lock = tp.holdem.Lock("", {"all": {"check": 1.0}})
    solution = solve(small_river, iterations=5, storage="float64", locks=(lock,))
    for line in ("bet 50", "bet 50, raise", "bet 50, raise 170, all-in 300"):
        for before in ("ip", "oop"):
            solution.at("check, bet 50", before)
            view = solution.at(line, "ip")
            assert np.isnan(view.values).all()
            assert np.isnan(view.ev).all()
            assert view.rows() == []


def test_a_view_is_asked_by_hand_or_by_class(small_river):
    view = solve(small_river, iterations=50, storage="float64").at("check")
    kings = view["KhKd"]
    assert (kings.hand, kings.reach) == ("KhKd", 1.0)
    assert view["kdkh"] == kings
    suited = view["AKs"]
    assert suited.reach == pytest.approx(3.0)  # the king of spades lies on the board
    each = [view[hand] for hand in ("AhKh", "AdKd", "AcKc")]
    assert suited.share == pytest.approx(sum(row.share for row in each))
    assert suited.value == pytest.approx(sum(row.share * row.value for row in each) / suited.share)
    for name, words in (("72o", "No hand of '72o' is in ip's range"), ("KsKd", "No hand"), ("what", "parts such as")):
        with pytest.raises(ParameterError, match=words):
            view[name]
    with pytest.raises(ParameterError, match="must be text"):
        view[3]


def test_rows_are_sorted_and_summed_up(small_river):
    view = solve(small_river, iterations=50, storage="float64").at("")
    classes = [row.hand for row in view.rows(by_class=True)]
    assert classes == ["AA", "KQs", "QTs", "98s", "77"]
    assert [row.hand for row in view.rows("AA,KQs")][:7] == ["AsAh", "AsAd", "AsAc", "AhAd", "AhAc", "AdAc", "KhQh"]
    for sort, field in (("reach", "reach"), ("ev", "value"), ("equity", "equity")):
        numbers = [getattr(row, field) for row in view.rows(sort=sort)]
        assert numbers == sorted(numbers, reverse=True)
        assert len(set(numbers)) > 1
    for word in ("bet 50", "bet 50%", "BET  50", "bet", "bet 50 (50%)"):
        numbers = [row.strategy[1] for row in view.rows(sort=word)]
        assert numbers == sorted(numbers, reverse=True)
    with pytest.raises(ParameterError, match="ev, equity, check, bet 50, all-in 300; got 'fold'"):
        view.rows(sort="fold")
    assert sum(row.share for row in view.rows(by_class=True)) == pytest.approx(1)
    assert [row.hand for row in view.rows("AA", most=2)] == ["AsAh", "AsAd"]


def test_indifferent_hands_have_two_actions_within_a_thousandth_of_the_pot(small_river):
    view = solve(small_river, percent_of_pot=0.01, storage="float64").at("")
    assert view.tolerance == 0.1
    rows = view.rows()
    for row in rows:
        assert row.indifferent == (sorted(row.ev)[-2] >= max(row.ev) - 0.1)
    assert {row.indifferent for row in rows} == {True, False}


def test_one_selection_in_every_form(small_river):
    view = solve(small_river, iterations=20, storage="float64").at("check, bet 50")
    rows = view.rows("AA,77", "ev", 5)
    told, table = view.summary(rows), view.table(rows)
    assert [hand["hand"] for hand in told["hands"]] == [row.hand for row in rows]
    assert table["hand"].to_pylist() == [row.hand for row in rows for _ in view.actions]
    assert table["action"].to_pylist() == ["fold", "call", "raise 170", "all-in 300"] * 5
    assert table["ev"].to_pylist() == [ev for row in rows for ev in row.ev]
    assert table["value"].to_pylist()[::4] == [row.value for row in rows]
    assert told["totals"] == pytest.approx(list(view.totals().values()))  # of all hands
    other = solve(small_river, iterations=20, storage="float64").at("check, bet 50", "ip")
    assert (other.player, other.to_act, other.actions, other.totals()) == (1, 0, [], {})
    told, table = other.summary(), other.table()
    assert (told["player"], told["to_act"], told["actions"]) == ("ip", "oop", [])
    assert all(hand["strategy"] == hand["ev"] == () and hand["value"] is not None for hand in told["hands"])
    assert table.num_rows == len(told["hands"])
    assert table["ev"].null_count == table.num_rows
    assert table["action"].type == pa.string()


def test_players_have_two_names(small_river):
    solution = solve(small_river, iterations=2, storage="float64")
    assert [solution.at("", player).player for player in (None, 0, 1, "oop", "ip")] == [0, 0, 1, 0, 1]
    for wrong in (2, "button", True, 0.5):
        with pytest.raises(ParameterError, match="'player' parameter must be oop or ip"):
            solution.at("", wrong)


def test_words_are_short(known):
    solution = tp.solve(tp.holdem.make_spot(known["R"]), iterations=1)
    game = tp.load(solution.game.spot)
    for thing in (game, game.spot, solution, solution.policy, solution.at(""), solution.at("check", "oop")):
        assert 10 < len(repr(thing)) < 300, repr(thing)
    assert "33 nodes" in repr(load_spot(Spot(BOARD, 100, 300, "AA,77", "KK,QQ", sizes_for("50%, a", "60%, a"))))


@pytest.mark.parametrize("storage", ["float64", "float32", "int16"])
@pytest.mark.parametrize("shift", [-100, -1, 20])
def test_ranges_times_a_power_of_two_are_the_same_spot(storage, shift):
    """Weights are brought to order one before they are stored; chips may be in any unit."""
    spot = turn_of(lambda weight: weight)
    scaled = turn_of(lambda weight: weight * 2.0**shift) if shift < 0 else turn_of(lambda weight: weight, 2**shift)
    unit = 1 if shift < 0 else 2**shift
    ours, theirs = (solve(s, iterations=12, storage=storage) for s in (spot, scaled))
    assert ours.ev == tuple(ev / unit for ev in theirs.ev)
    assert ours.nash_conv == theirs.nash_conv / unit
    for name in ("check", "check, check, 2c"):
        first, second = ours.at(name), theirs.at(name)
        np.testing.assert_array_equal(first.strategy, second.strategy)
        np.testing.assert_array_equal(first.ev, second.ev / unit)
        np.testing.assert_array_equal(first.values, second.values / unit)
        np.testing.assert_array_equal(first.equity, second.equity)
        np.testing.assert_array_equal(first.share, second.share)


def turn_of(weight, unit=1):
    """A turn with weights and chips in some unit."""
    oop = f"AhQh:{weight(1.0)!r},KcQc:{weight(0.375)!r},7s7c:{weight(0.625)!r}"
    ip = f"AsKd:{weight(0.5)!r},QhJh:{weight(0.9375)!r},8c7c:{weight(0.25)!r},7s7c:{weight(0.4375)!r}"
    return Spot("Ks 9h 6d 3h", 60 * unit, 90 * unit, oop, ip, sizes_for("50%", "a"))


@pytest.mark.parametrize("weight", ["1e-30", "1e-40", "3e-300"])
def test_tiny_weights_are_learned_from(weight):
    board = ("Ks 9h 6d 3c Jh", 100, 300)
    ones = solve(Spot(*board, "AA,QQ", "KK,TT", sizes_for("50%,a", "a")), iterations=300)
    tiny = Spot(*board, f"AA:{weight},QQ:{weight}", f"KK:{weight},TT:{weight}", sizes_for("50%,a", "a"))
    found = solve(tiny, iterations=300)
    assert ones.percent_of_pot < 0.3
    assert found.percent_of_pot < 0.3
    assert found.equity == pytest.approx(ones.equity)


def test_a_solution_can_be_pickled():
    found = solve(Spot("Ks 9h 6d 3c Jh", 100, 200, "AA,KQs", "QQ,77", sizes_for("50%, a", "a")), iterations=5)
    again = pickle.loads(pickle.dumps(found))
    assert again.nash_conv == found.nash_conv
    assert again.at("check").totals() == found.at("check").totals()
