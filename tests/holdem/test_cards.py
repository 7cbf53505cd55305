"""Cards, ranges and hand strength."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from treeplex.engines.boards.strength import strengths
from treeplex.errors import ParameterError
from treeplex.games.holdem.cards import (
    HAND_CARDS,
    HANDS,
    RANKS,
    SUITS,
    card_name,
    hand_name,
    hand_number,
    hand_numbers,
    parse_board,
    parse_card,
)
from treeplex.games.holdem.ranges import parse_range


def strength(cards):
    return strengths(np.asarray(cards, dtype=np.uint8))


def one(text):
    return int(strength([[parse_card(text[k : k + 2]) for k in range(0, len(text), 2)]])[0])


def test_every_card_and_hand_has_one_number():
    assert [parse_card(card_name(card)) for card in range(52)] == list(range(52))
    assert {hand_number(*cards) for cards in combinations(range(52), 2)} == set(range(HANDS))
    assert all(hand_number(*HAND_CARDS[hand]) == hand for hand in range(HANDS))
    np.testing.assert_array_equal(hand_numbers(HAND_CARDS[:, ::-1]), np.arange(HANDS))
    assert hand_name(hand_number(parse_card("2c"), parse_card("As"))) == "As2c"


@pytest.mark.parametrize(
    ("board", "words"),
    [
        ("Ks 9h", "3, 4 or 5 cards, got 2"),
        ("Ks 9h 6d 3c Jh 2s", "got 6"),
        ("Ks 9h Ks", "Ks twice"),
        ("Ks 9h 6x", "6x"),
        (7, "must be text"),
    ],
)
def test_impossible_boards(board, words):
    with pytest.raises(ParameterError, match=words):
        parse_board(board)


@pytest.mark.parametrize(
    ("text", "combinations_"),
    [
        ("AA", 6),
        ("AKs", 4),
        ("AKo", 12),
        ("AK", 16),
        ("22+", 78),
        ("JJ-22", 60),
        ("22-JJ", 60),
        ("A5s-A2s", 16),
        ("K2s+", 44),
        ("T8o+", 24),
        ("JTs-54s", 28),
        ("AsKs", 1),
        ("AhKh,AKs", 4),
        ("AA, KK ,QQ", 18),
        ("aks,AhQd", 5),
        ("22+,A2s+,K2s+,Q2s+,J2s+,T2s+,92s+,82s+,72s+,62s+,52s+,42s+,32s", 78 + 78 * 4),
    ],
)
def test_ranges(text, combinations_):
    assert parse_range(text).sum() == combinations_


def test_weights_of_ranges():
    weights = parse_range("KQs:0.5,AA,KQs:0.25,QQ:0")
    assert sorted(set(weights[weights > 0])) == [0.25, 1.0]
    assert weights.sum() == 6 + 4 * 0.25


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "no hand"),
        ("AA:0", "no hand"),
        ("AYs", "'ays'"),
        ("AA:1.5", "from 0 to 1"),
        ("AA:x", "from 0 to 1"),
        ("AAs", "neither suited"),
        ("A5s-K2s", "dash"),
        ("A5s-A2o", "dash"),
        ("AA-KQs", "dash"),
        ("AsAs", "two different cards"),
        (3, "must be text"),
    ],
)
def test_impossible_ranges(text, words):
    with pytest.raises(ParameterError, match=words):
        parse_range(text, "oop_range")


@given(st.dictionaries(st.integers(0, HANDS - 1), st.floats(0.01, 1.0), min_size=1, max_size=30))
def test_ranges_of_single_hands(weights):
    text = ",".join(f"{hand_name(hand)}:{weight!r}" for hand, weight in weights.items())
    expected = np.zeros(HANDS)
    expected[list(weights)] = list(weights.values())
    np.testing.assert_array_equal(parse_range(text), expected)


def test_all_five_card_hands():
    """Frequencies of the nine categories and the number of distinct strengths, as every book has them."""
    hands = np.array(list(combinations(range(52), 5)), dtype=np.uint8)
    assert len(hands) == 2_598_960
    found = strength(hands)
    assert np.bincount(found >> 26).tolist() == [1302540, 1098240, 123552, 54912, 10200, 5108, 3744, 624, 40]
    distinct = np.unique(found)
    assert len(distinct) == 7462
    assert np.bincount(distinct >> 26).tolist() == [1277, 2860, 858, 858, 10, 1277, 156, 156, 10]


def test_order_of_hands():
    ladder = [
        "7s5h4d3c2s",
        "AsKhQdJc9s",
        "2s2h5d4c3s",
        "AsAhKdQcJs",
        "3s3h2d2cAs",
        "AsAhKdKcQs",
        "2s2h2d4c3s",
        "AsAhAdKcQs",
        "As2h3d4c5s",
        "2s3h4d5c6s",
        "TsJhQdKcAs",
        "2s3s4s5s7s",
        "AsKsQsJs9s",
        "2s2h2d3c3s",
        "AsAhAdKcKs",
        "2s2h2d2c3s",
        "AsAhAdAcKs",
        "As2s3s4s5s",
        "TsJsQsKsAs",
    ]
    values = [one(hand) for hand in ladder]
    assert values == sorted(values)
    assert len(set(values)) == len(values)
    assert one("AsKhQdJc9s2h3d") == one("AcKdQhJs9c4h3s")  # only five cards count
    assert one("AsAhKdKcQsQh2d") == one("AsAhKdKcQs3h2d")  # the third pair does not
    assert one("2s3s4s5s7s8s9s") == one("4s5s7s8s9s")


def test_seven_card_hands_against_another_evaluator():
    treys = pytest.importorskip("treys")
    rng = np.random.default_rng(8)
    hands = np.argsort(rng.random((100_000, 52)), axis=1)[:, :7].astype(np.uint8)
    ours = strength(hands)
    cards = [treys.Card.new(RANKS[card // 4] + SUITS[card % 4]) for card in range(52)]
    judge = treys.Evaluator()
    theirs = np.array([judge.evaluate([cards[c] for c in hand[:2]], [cards[c] for c in hand[2:]]) for hand in hands])
    pairs = np.unique(np.stack([ours, theirs], axis=1), axis=0)
    assert len(pairs) == len(np.unique(ours)) == len(np.unique(theirs))  # the same classes
    assert (np.diff(pairs[np.argsort(pairs[:, 0]), 1]) < 0).all()  # in the same order; there, 1 is the best
