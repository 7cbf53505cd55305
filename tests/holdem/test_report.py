"""Reports: rows are nodes, averages are averages, and words for boards and hands mean what people mean by them."""

from __future__ import annotations

from collections import Counter
from itertools import combinations

import numpy as np
import pytest

from treeplex.errors import ParameterError
from treeplex.games.holdem.cards import hand_number, parse_board, parse_card
from treeplex.holdem import Spot, report, sizes_for, solve
from treeplex.poker.browse import open_spot
from treeplex.poker.report.page import page
from treeplex.poker.report.textures import CLASSES, TEXTURES, alike_boards, classes_on, textures

MONEY = (100, 120, "AA:0.5,KQs,98s,77,Ah5h", "QQ,AKs,T8s:0.75,66,Ad2d", sizes_for("50%, a", "a"))


@pytest.fixture(scope="module")
def runs(tmp_path_factory):
    folder = tmp_path_factory.mktemp("runs")
    for name, board in (("rainbow", "Ks 9h 6d 3c"), ("paired", "Js Jh 4d 2d")):
        solve(Spot(board, *MONEY), iterations=40, storage="float64", out=folder / name)
    return [folder / "rainbow", folder / "paired"]


def test_rows_are_nodes(runs):
    found = report(runs, ["", "check"])
    assert [(row.run, row.line) for row in found.rows] == [
        (name, line) for name in ("rainbow", "paired") for line in ("", "x")
    ]
    for row in found.rows:
        node = open_spot(runs[row.run == "paired"]).node(row.line)
        assert row.frequencies == pytest.approx([action["frequency"] for action in node["actions"]])
        assert row.action_ev == pytest.approx([action["ev"] for action in node["actions"]])
        for k, name in enumerate(("oop", "ip")):
            assert row.ev[k] == pytest.approx(node["ranges"][name]["ev"])
            assert row.equity[k] == pytest.approx(node["ranges"][name]["equity"])
    assert [row.often for row in found.rows[::2]] == [1.0, 1.0]
    assert found.rows[1].often == pytest.approx(found.rows[0].frequencies[0])


def test_averages_weigh_boards_and_how_often_a_line_is_played(runs):
    found = report(runs, ["check"])
    weights = [row.often * alike for row, alike in zip(found.rows, (24, 12), strict=True)]
    (mean,) = found.averages
    assert mean.ev[0] == pytest.approx(np.average([row.ev[0] for row in found.rows], weights=weights))
    assert mean.often == pytest.approx(sum(weights) / 36)
    for k in (0, 1):
        assert mean.realisation[k] == pytest.approx(mean.ev[k] / (mean.equity[k] * 100))
    played = [row.frequencies[1] * weight for row, weight in zip(found.rows, weights, strict=True)]
    assert mean.frequencies[1] == pytest.approx(sum(played) / sum(weights))
    assert mean.action_ev[1] == pytest.approx(np.average([row.action_ev[1] for row in found.rows], weights=played))


def test_a_star_is_every_card(runs):
    one = runs[:1]
    found, cards = report(one, ["x/x/*"]), open_spot(one[0]).runouts("x/x")
    assert [row.ev for row in report(one, ["check, check, *"]).rows] == [row.ev for row in found.rows]
    assert [row.ev for row in report(one, ["x/x"]).rows] == [row.ev for row in found.rows]
    assert [row.line for row in found.rows] == [card["line"] for card in cards["cards"]]
    (mean,) = found.averages
    assert mean.ev[1] == pytest.approx(cards["ranges"]["ip"]["ev"], abs=1e-6)
    before = report(one, ["x"]).rows[0]
    assert mean.often == pytest.approx(before.often * before.frequencies[0], abs=1e-9)
    assert mean.often == pytest.approx(sum(row.often for row in found.rows))


def test_classes_of_hands_add_up_to_all(runs):
    (whole,), parts = report(runs[:1], ["x"]).rows, report(runs[:1], ["x"], by_class=True).rows
    assert sum(row.share for row in parts) == pytest.approx(1.0)
    assert sum(row.share * row.ev[1] for row in parts) == pytest.approx(whole.ev[1])
    for k in range(len(whole.actions)):
        assert sum(row.share * row.frequencies[k] for row in parts) == pytest.approx(whole.frequencies[k])
    (some,) = report(runs[:1], ["x"], hands="66,QQ").rows
    node = open_spot(runs[0]).node("x")
    chosen = [row for row in node["hands"] if row["class"] in ("66", "QQ")]
    assert some.share == pytest.approx(sum(row["share"] for row in chosen))


def test_words_choose_boards(runs):
    assert [row.run for row in report(runs, only=["paired"]).rows] == ["paired"]
    assert [row.run for row in report(runs, without=["two-tone"]).rows] == ["rainbow"]
    assert not report(runs, only=["A-high"]).rows
    (mean,) = report([*runs, runs[1]], only=["paired"]).averages
    assert mean.often == pytest.approx(1.0)
    hearts = report(runs[:1], ["x/x/*"], only=["paired"]).rows
    assert {row.board.split()[-1][0] for row in hearts} == set("K963")


def test_a_name_is_no_formula(runs):
    row = report(runs[:1]).rows[0]
    odd = type(row)(**(row.__dict__ | {"run": "=1+1"}))
    assert type(report(runs[:1]))((odd,)).to_csv().splitlines()[1].startswith("'=1+1,")


def test_markup_in_names_stays_text(runs):
    row = report(runs[:1]).rows[0]
    odd = type(row)(**(row.__dict__ | {"run": "<script>alert(1)</script>"}))
    assert "<script>alert" not in page(type(report(runs[:1]))((odd,)), "<b>")


@pytest.mark.parametrize(
    ("given", "words"),
    [
        ({"lines": ["*"]}, "no card is dealt"),
        ({"lines": ["x/b50/f"]}, "fold node"),
        ({"only": ["wet"]}, "'only' parameter takes the words rainbow"),
        ({"hands": "AA", "by_class": True}, "not both"),
    ],
)
def test_what_makes_no_sense_is_refused(runs, given, words):
    with pytest.raises(ParameterError, match=words):
        report(runs[:1], **given)


def test_flops_that_are_the_same_but_for_suits_are_counted():
    """22,100 flops are 1,755 but for suits; 4 x 286 have one suit."""
    flops = list(combinations(range(52), 3))
    assert sum(1.0 / alike_boards(flop) for flop in flops) == pytest.approx(1755)
    words = Counter(word for flop in flops for word in textures(flop))
    assert set(words) <= set(TEXTURES)
    assert (words["three-suited"], words["trips"], words["paired"]) == (4 * 286, 52, 13 * 6 * 48)


@pytest.mark.parametrize(
    ("board", "hand", "name"),
    [
        ("Ks 9h 6d", "AsAh", "overpair"),
        ("Ks 9h 6d", "KdQc", "top pair"),
        ("Ks 9h 6d", "9sQc", "lower pair"),
        ("Ks 9h 6d", "QsQc", "lower pair"),
        ("Ks 9h 6d", "9s6c", "two pair"),
        ("Ks 9h 6d", "6s6c", "three of a kind"),
        ("Ks 9h 6d", "8s7c", "straight draw"),
        ("Ks 9h 6d", "QdJc", "straight draw"),
        ("Ks 9h 6d", "Qd8c", "nothing"),
        ("Ks 9s 6d", "As2s", "flush draw"),
        ("Ks 9h 6d", "Ac2d", "ace high"),
        ("Ks Kh 6d", "Qc2d", "board's pair"),
        ("Ks Kh 6d", "QcQd", "two pair"),
        ("Ks Kh 6d", "6cQd", "two pair"),
        ("5s 4h 3d 2c Kd", "Ac9d", "straight"),
        ("Ks 9s 6s 2s 3d", "As4d", "flush"),
        ("Ks 9h 6d 2s 3d", "As4d", "ace high"),
        ("5s 4h 2d", "Ac9d", "straight draw"),
        ("Qs Jh 2d", "Ac9d", "ace high"),
        ("Qs Jh 2d", "AcTd", "straight draw"),
    ],
)
def test_classes_of_hands(board, hand, name):
    found = classes_on(parse_board(board))
    assert CLASSES[found[hand_number(parse_card(hand[:2]), parse_card(hand[2:]))]] == name


@pytest.mark.parametrize(
    ("board", "words"),
    [
        ("Ks 8s 8d", ("two-tone", "paired", "disconnected", "K-high")),
        ("As 2h 3d", ("rainbow", "unpaired", "connected", "A-high")),
        ("7s 7h 7d 2s", ("two-tone", "trips", "disconnected", "7-high")),
        ("Ts 9s 6s 2s", ("four-suited", "unpaired", "connected", "T-high")),
    ],
)
def test_words_for_boards(board, words):
    assert textures(parse_board(board)) == words
