"""What poker people type: ranges, boards, bet sizes, lines, amounts, locks, files; refusals in one short sentence."""

from __future__ import annotations

import json
import random
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeplex.engines.boards.strength import strengths
from treeplex.errors import ParameterError, TreeplexError
from treeplex.games.holdem.cards import HANDS, RANKS, hand_name, parse_board
from treeplex.games.holdem.locks import make_locks
from treeplex.games.holdem.order import ORDER
from treeplex.games.holdem.ranges import CLASSES, class_hands, format_range, parse_range
from treeplex.games.holdem.sizes import parse_sizes
from treeplex.games.holdem.spot import DEFAULT_BETS, DEFAULT_RAISES, changed_sizes
from treeplex.holdem import Lock, Spot, load_spot, make_spot, read_spot, sizes_for, solve
from treeplex.poker.views.lines import follow

RIVER = Spot(
    "Ks 9h 6d 3c Jh", 1000, 3000, "AA,KQs,QTs:0.5,98s,77", "KK,QQ,AKs,T8s:0.25,77", sizes_for("33%, 75%, a", "a")
)
FIELDS = {"board": "Ks 9h 6d", "pot": 100, "effective_stack": 300, "oop_range": "AA", "ip_range": "KK"}


def refusal(call, *arguments, **options):
    """The sentence of a refusal: one line of at most 300 characters."""
    with pytest.raises(TreeplexError) as caught:
        call(*arguments, **options)
    sentence = str(caught.value)
    assert len(sentence) <= 300, sentence
    assert "\n" not in sentence
    return sentence


# --- ranges --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("random", "22+,A2+,K2+,Q2+,J2+,T2+,92+,82+,72+,62+,52+,42+,32"),
        ("100%", "random"),
        ("AA:50%", "AA:0.5"),
        ("AA@50", "AA:0.5"),
        ("AA @ 50%", "AA:0.5"),
        ("[50]AA,KK[/50],QQ", "AA:0.5,KK:0.5,QQ"),
        ("[67.5]75s 65s[/67.5]", "75s:0.675,65s:0.675"),
        ("AA KK", "AA,KK"),
        ("AA\n22 - 44 ; AKs : 0.5", "AA,44-22,AKs:0.5"),
        ("Ax", "AA,A2+"),
        ("A*", "Ax"),
        ("Axs", "A2s+"),
        ("Axo", "A2o+"),
        ("5xs", "A5s,K5s,Q5s,J5s,T5s,95s,85s,75s,65s,52s+"),
        ("A♠K♥", "AsKh"),
        ("10h9h,1010,A10s", "Th9h,TT,ATs"),
        ("22+,!33", "22,44+"),
        ("22+ ! 33", "22,44+"),
        ("22-55,!3s3h,33:0.5", "22,44,55,33:0.5"),
        ("aKS,aa", "AKs,AA"),
        ("T9s,T9s:0.5", "T9s:0.5"),
        ("T9s:0.5,T9s", "T9s"),
        ("A5s–A2s", "A5s-A2s"),
    ],
)
def test_ranges_as_people_write_them(text, same):
    np.testing.assert_array_equal(parse_range(text), parse_range(same))


def test_tiny_weights_are_legal():
    assert parse_range("AA:1e-30").max() == 1e-30


def test_the_best_hands_by_equity():
    """Whole classes until so many per cent are reached."""
    assert sorted(ORDER) == sorted(CLASSES)
    assert len(ORDER) == 169
    np.testing.assert_array_equal(parse_range("0.1%"), parse_range("AA"))
    np.testing.assert_array_equal(parse_range("1%"), parse_range("AA,KK,QQ"))
    for percent in (5, 15, 33.3, 99.9):
        held = parse_range(f"{percent}%").sum()
        assert percent / 100 * HANDS <= held < percent / 100 * HANDS + 12


def test_the_order_of_hands_is_that_of_a_sample():
    """All-in equity against a random hand, by 40,000 deals per class: neighbours may swap, no more."""
    rng = np.random.default_rng(7)
    equity = []
    for name in ORDER[::12]:
        hand = class_hands(RANKS.index(name[0]), RANKS.index(name[1]), name[2:])[0]
        first = [4 * RANKS.index(hand_name(hand)[k]) + "cdhs".index(hand_name(hand)[k + 1]) for k in (0, 2)]
        others = np.array([card for card in range(52) if card not in first])
        deals = others[np.argsort(rng.random((40_000, 50)), axis=1)[:, :7]]
        ours = np.concatenate([np.tile(first, (len(deals), 1)), deals[:, 2:]], axis=1).astype(np.uint8)
        mine, theirs = strengths(ours), strengths(deals)
        equity.append(float(np.mean((mine > theirs) + 0.5 * (mine == theirs))))
    assert (np.diff(equity) < 0.01).all()  # three standard errors of a difference
    assert equity[0] == pytest.approx(0.852, abs=0.008)
    assert equity[-1] == pytest.approx(0.323, abs=0.008)


@given(
    st.dictionaries(st.integers(0, HANDS - 1), st.floats(0.0, 1.0), min_size=1, max_size=40), st.sampled_from(CLASSES)
)
def test_ranges_survive_being_written(weights, name):
    expected = np.zeros(HANDS)
    expected[class_hands(RANKS.index(name[0]), RANKS.index(name[1]), name[2:])] = 0.25
    expected[list(weights)] = list(weights.values())
    if expected.any():
        np.testing.assert_array_equal(parse_range(format_range(expected)), expected)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("22+,-33", "write !33"),
        ("22+ -33", "write !33"),
        ("AA:50", "AA:0.5, AA:50% or AA@50"),
        ("AA@0.5", "AA:0.5, AA:50% or AA@50"),
        ("AA:nan", "from 0 to 1"),
        ("AA:inf", "from 0 to 1"),
        ("[50]AA", "[50]AA,KK[/50]"),
        ("[50]AA[/60]", "without nesting"),
        ("[50][50]AA[/50][/50]", "without nesting"),
        ("[50]AA:0.5[/50]", "one weight at most"),
        ("!AA:0.5", "one weight at most"),
        ("0%", "above 0%"),
        ("101%", "at most 100%"),
        ("AA]", "Brackets"),
        ("Ah Kh", "separated by commas or blanks"),
        ("x" * 100_000, "xxx"),
        ("AA,\n" * 3 + "?\n?", "'?'"),
        (" " * 100_000, "no hand"),
    ],
)
def test_refused_ranges(text, words):
    assert words in refusal(parse_range, text, "oop_range")


# --- boards --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "board", ["10s9h6d", "T♠ 9♥ 6♦", "Ts-9h-6d", "Ts,9h,6d", "ts 9H 6d", ["10s", "9h", "6♦️"], ("Ts", "9h", "6d")]
)
def test_boards_as_people_write_them(board):
    assert parse_board(board) == parse_board("Ts 9h 6d")
    assert Spot(board, 100, 300, "AA", "KK").board == "Ts 9h 6d"


@pytest.mark.parametrize(
    "board", ["Ks" * 50_000, "Ks 9h 6", [51, 3, 4], ["Ks", None, "9h"], None, "", [], {"a": 1}, "Ks\n9x 6d"]
)
def test_refused_boards(board):
    refusal(parse_board, board)


# --- sizes ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "same"),
    [
        ("33", "33%"),
        ("allin", "a"),
        ("all-in, All In, jam, shove", "a, a, a, a"),
        ("pot", "100%"),
        ("1/2 3/4", "50%, 75%"),
        ("50% 75%", "50%, 75%"),
        ("50 % , 120 c", "50%, 120c"),
        ("e200", "e200%"),
        ("3E200%", "3e200%"),
        ("33;75", "33%, 75%"),
    ],
)
def test_sizes_as_people_write_them(text, same):
    assert parse_sizes(text, "bet", raises=False) == parse_sizes(same, "bet", raises=False)


@pytest.mark.parametrize(
    ("text", "raises", "words"),
    [
        ("0.33", False, "write 33% for that multiple of the pot, 0.33% for per cent of it, or 0.33c for chips"),
        ("2.5", True, "2.5x for a multiple of the bet"),
        ("2x", False, "write 200% for twice the pot"),
        ("50% pot", False, "write '50%pot' for one size, '50%, pot' for two"),
        ("e 200%", False, "'e200%' for one size, 'e, 200%' for two"),
        ("1/0", False, "out of range"),
        ("9" * 5000 + "%", False, "out of range"),
        ("20c3r", True, "must be of the forms"),
        ("-5%", False, "must be of the forms"),
        ("x" * 100_000, False, "must be of the forms"),
        (["33%"], False, "must be text"),
    ],
)
def test_refused_sizes(text, raises, words):
    assert words in refusal(parse_sizes, text, "river oop bet", raises=raises)


def names(spot, line=""):
    return [action.name for action in follow(load_spot(spot), line).node.actions]


def test_the_least_bet_and_raise():
    spot = replace(RIVER, sizes=sizes_for("min, 330c", "min"))
    assert names(spot) == ["check", "bet 1", "bet 330"]
    assert names(spot, "bet 330") == ["fold", "call", "raise 660"]


# --- lines ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "same"),
    [
        ("x/b75/c", "check, bet 75%, call"),
        ("x-b750", "check, bet 750"),
        ("check bet 750", "check, bet 750"),
        ("k, bet 750 (75%), f", "check, bet 750, fold"),
        ("X|B33|F", "check, bet 330, fold"),
        ("b75", "bet 750"),
        ("b0.75", "bet 750"),
        ("bet 0.33", "bet 330"),
        ("bet to 750", "bet 750"),
        ("all in", "all-in"),
        ("x, jam, c", "check, all-in, call"),
        ("shove", "all-in"),
        ("a3000", "all-in"),
        ("b33/r", "bet 330, all-in"),
        ("c", "check"),
        ("r:0:c:b750:f", "check, bet 750, fold"),
    ],
)
def test_lines_as_people_write_them(line, same):
    game = load_spot(RIVER)
    assert follow(game, line).node is follow(game, same).node


def test_lines_with_cards_and_cumulative_bets():
    """PioSOLVER's node names count what a player has put in since the start of the hand."""
    game = load_spot(Spot("Ks 9h 6d 2c", 100, 900, "AA,QQ", "KK,JJ", sizes_for("50%", "2x")))
    known = follow(game, "bet 50, raise 100, call, 8h, check, bet 150")
    assert follow(game, "r:0:b50:b100:c:8h:c:b250").node is known.node
    assert follow(game, "b50%/r 2x/c/turn 8♥/x/b50%").node is known.node
    assert follow(game, "bet, raise, call, 10h").cards[-1] == follow(game, "bet, raise, call, Th").cards[-1]


def test_an_amount_that_is_also_a_per_cent_is_refused():
    spot = replace(RIVER, pot=50, effective_stack=300, sizes=sizes_for("50%, 100%", ""))
    game = load_spot(spot)
    assert names(spot) == ["check", "bet 25", "bet 50"]
    assert "bet 25 (50%), bet 50 (100%)" in refusal(follow, game, "b50")
    assert follow(game, "bet 50").node is follow(game, "bet 100%").node  # the name the program gives it
    assert follow(game, "b50%").node is follow(game, "bet 25").node


@pytest.mark.parametrize(
    "line", ["check, bet 99", "x/x/x", "zzz", "q" * 100_000, "1,2,3", "x\ny", "b" * 50_000, None, 5]
)
def test_refused_lines(line):
    sizes = ", ".join(f"{size}c" for size in range(100, 3000, 100))
    sentence = refusal(follow, load_spot(replace(RIVER, sizes=sizes_for(sizes, ""))), line)
    if isinstance(line, str) and line[:5] == "check":
        assert "Word 2 of the line, 'bet 99'," in sentence
        assert sentence.count("bet ") == 6  # one of the line, and no more than five bets beside the check
        assert "separated by commas, slashes or blanks" in sentence


# --- money ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("storage", ["float32", "int16"])
def test_chips_of_another_size_are_the_same_game(storage):
    """Strategies bit for bit, with rake and a size in chips; amounts are told in the unit of the spot."""
    large = replace(
        RIVER, pot=550, effective_stack=1700, rake_rate=0.05, rake_cap=29, sizes=sizes_for("33%, 129c", "a")
    )
    small = replace(large, pot=5.5, effective_stack=17, rake_cap=0.29, sizes=sizes_for("33%, 1.29c", "a"), chip=0.01)
    first, second = (solve(spot, iterations=30, storage=storage) for spot in (large, small))
    for line, same in (("", ""), ("check, bet 182", "check, bet 1.82"), ("bet 129, all-in", "bet 1.29, all-in 17")):
        ours, theirs = first.policy.at(line), second.policy.at(same)
        np.testing.assert_array_equal(ours.strategy, theirs.strategy)
        np.testing.assert_allclose(theirs.ev, ours.ev / 100, rtol=0, atol=1e-12)
        assert theirs.pot == ours.pot / 100
        assert [action.amount for action in theirs.actions] == [action.amount / 100 for action in ours.actions]
    np.testing.assert_allclose(second.ev, np.array(first.ev) / 100, rtol=0, atol=1e-12)
    assert second.exploitability == pytest.approx(first.exploitability / 100, rel=1e-9)
    assert second.percent_of_pot == pytest.approx(first.percent_of_pot, rel=1e-9)


def test_amounts_are_rounded_to_chips():
    spot = replace(RIVER, pot=5.5, effective_stack=20, chip=0.5, sizes=sizes_for("33%, 75%, min", "2.5x"))
    assert names(spot) == ["check", "bet 0.5", "bet 2", "bet 4"]
    assert names(spot, "bet 33%") == ["fold", "call", "raise 5"]
    assert names(replace(spot, chip=0.1), "bet 75%") == ["fold", "call", "raise 10.3"]


def test_money_of_spots():
    dead = replace(RIVER, pot=5, dead_money=1.5, effective_stack=20, chip=0.5)
    assert (dead.pot, dead.summary()["pot"], "dead_money" in dead.summary()) == (6.5, 6.5, False)
    assert make_spot(dead.summary()) == replace(dead) == dead
    assert replace(RIVER, rake_rate="5%", rake_cap=3).rake_rate == 0.05
    assert replace(RIVER, rake_rate=0.05, rake_cap=None).rake(1000) == 50.0  # no cap
    assert replace(RIVER, pot=np.int64(1000), effective_stack=3000.0) == RIVER
    for changed, words in (
        ({"pot": 5.5}, "multiple of the chip of 1, got 5.5; give a smaller chip, such as 0.1"),
        ({"chip": 0}, "'chip'"),
        ({"chip": -1}, "'chip'"),
        ({"chip": float("nan")}, "'chip'"),
        ({"chip": float("inf")}, "'chip'"),
        ({"chip": "1"}, "'chip'"),
        ({"pot": float("nan")}, "'pot'"),
        ({"pot": 10**400}, "'pot'"),
        ({"pot": True}, "'pot'"),
        ({"effective_stack": 0.5}, "'effective_stack'"),
        ({"dead_money": -1}, "'dead_money'"),
        ({"rake_rate": 5}, 'write 0.05, or "5%"'),
        ({"rake_rate": "105%"}, "'rake_rate'"),
        ({"rake_cap": float("inf")}, "'rake_cap'"),
        ({"sizes": sizes_for("1.5c", "")}, "multiple of the chip"),
    ):
        assert words in refusal(replace, RIVER, **changed)


# --- menus ---------------------------------------------------------------------------------------------------------


def test_without_sizes_there_is_a_default_menu():
    given = make_spot(FIELDS)
    assert given.has_default_sizes
    assert given == Spot(*FIELDS.values()) == Spot(*FIELDS.values(), sizes_for(DEFAULT_BETS, DEFAULT_RAISES))
    for none in ({}, {"bet": "", "raise": ""}):  # on purpose
        spot = make_spot(FIELDS | {"board": "Ks 9h 6d 2c 2d", "sizes": none})
        assert not spot.has_default_sizes
        assert names(spot) == ["check"]


def test_changed_sizes_keep_the_rest():
    sizes = {"flop": {"oop": {"bet": "50%", "raise": "2x"}}, "turn": {"bet": "75%", "raise": "3x"}}
    bets = changed_sizes(sizes, "33%", None)
    assert bets["flop"] == {"oop": {"bet": "33%", "raise": "2x"}, "ip": {"bet": "33%"}}
    assert bets["turn"]["ip"] == {"bet": "33%", "raise": "3x"}
    assert bets["river"]["ip"] == {"bet": "33%"}
    assert changed_sizes(sizes, None, "")["turn"]["oop"] == {"bet": "75%", "raise": ""}


# --- files, and fields of the wrong type ---------------------------------------------------------------------------

WRONG = (None, 5, "1", True, [], {}, [[]], {"a": 5}, 1.5, "x" * 10_000)


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("a.json", "[" * 100_000),
        ("b.json", '{"a":' * 100_000),
        ("c.json", "5"),
        ("d.json", "null"),
        ("e.json", '{"spots": {"A": 5}}'),
        ("f.json", '{"spots": 5}'),
        ("g.json", '{"spots": {}}'),
        ("h.json", json.dumps(FIELDS).replace("100", "NaN")),
        ("i.json", json.dumps(FIELDS).replace("100", "Infinity")),
        ("j.json", json.dumps(FIELDS).replace("100", "9" * 5000)),
        ("k.toml", "pot = "),
        ("l.toml", "a = [" * 10_000),
        ("m.json", b"\xff\xfe\x00"),
        ("n.toml", b'board = "\xff"'),
        ("o.json", ""),
    ],
)
def test_spot_files_that_hold_no_spot(tmp_path, name, content):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    part = "#A" if name in ("e.json", "g.json") else ""
    sentence = refusal(read_spot, f"{path}{part}")
    if name == "e.json":
        assert "must be an object" in sentence


@pytest.mark.parametrize(
    "field", [*FIELDS, "sizes", "donk_sizes", "rake_rate", "rake_cap", "merging_threshold", "chip"]
)
@pytest.mark.parametrize("wrong", WRONG, ids=lambda wrong: repr(wrong)[:12])
def test_fields_of_the_wrong_type(field, wrong):
    try:
        make_spot(FIELDS | {field: wrong})
    except ParameterError as error:
        assert len(str(error)) <= 300
        assert "\n" not in str(error)
    else:
        assert wrong in (5, 1.5, {}) or (field, wrong) in [("rake_cap", None), ("sizes", {}), ("donk_sizes", {})]


def test_fields_that_are_not_known():
    assert "the nearest is 'rake_rate'" in refusal(make_spot, FIELDS | {"rake_ratio": 1})
    refusal(make_spot, FIELDS | {"y" * 10_000: 1})
    refusal(make_spot, FIELDS | {5: 1})
    refusal(make_spot, 5)


@pytest.mark.parametrize(
    "records",
    [
        *(wrong for wrong in WRONG if wrong != []),
        [{"line": "", "strategy": {"all": {"check": None}}}],
        [{"line": "", "strategy": {"all": {"check": "1"}}}],
        [{"line": "", "strategy": {"all": {"check": float("nan")}}}],
        [{"line": "", "strategy": {"all": {"check": True}}}],
        [{"line": "", "strategy": []}],
        [{"line": "", "strategy": {"all": 5}}],
        [{"line": "", "strategy": {"a" * 500: {"b" * 500: 7}}}],
        [{"line": None, "strategy": {"all": {"check": 1}}}],
        [{"line": ""}],
        [{"line": "", "strategy": {"all": {"check": 1}}, "more": 1}],
        [{"line": "", "strategy": {"all": {}}}],
    ],
    ids=lambda records: repr(records)[:40],
)
def test_locks_of_the_wrong_type(records):
    sentence = refusal(make_locks, records)
    assert sentence.startswith(("Lock 1", "Locks are", "The 'Lock 1"))


# --- locks of a part of a range ------------------------------------------------------------------------------------


@pytest.mark.parametrize("storage", ["float64", "float32", "int16"])
def test_a_part_of_a_range_is_locked_and_the_rest_is_free(storage):
    """The others find what is best for them: the best response gains little, though the lock is a blunder."""
    spot = replace(RIVER, sizes=sizes_for("75%", ""))
    free = solve(spot, percent_of_pot=0.2, storage=storage)
    lock = Lock("x", {"KK": {"b75": "25%", "x": "75%"}})
    found = solve(spot, percent_of_pot=0.2, iterations=2000, storage=storage, locks=[lock])
    assert found.status == "solved"
    view = found.policy.at("check")
    kings = [hand for hand in view.hands() if hand_name(hand)[::2] == "KK"]
    np.testing.assert_allclose(view.strategy[1, kings], 0.25, atol=1e-4)
    assert free.policy.at("check").strategy[1, kings].min() > 0.9  # what they would do if they could
    others = [hand for hand in view.hands() if hand not in kings]
    assert np.abs(view.strategy[1, others] - free.policy.at("check").strategy[1, others]).max() > 0.01
    assert found.ev[1] < free.ev[1]


def test_best_responses_of_free_hands():
    """Locked hands gain nothing, free ones what their best action is worth more than their strategy."""
    spot = replace(RIVER, sizes=sizes_for("75%", ""))
    found = solve(spot, iterations=5, storage="float64", locks=[Lock("x", {"KK,QQ": {"check": 1.0}})])
    lines, gain = found.policy.at("").totals(), 0.0
    for line, probability in lines.items():
        view = found.policy.at(line)
        for hand in view.hands():
            if line != "check" or hand_name(hand)[::2] not in ("KK", "QQ"):
                gain += probability * view.share[hand] * (np.nanmax(view.ev[:, hand]) - view.value(hand))
    evaluation = found.policy.evaluation()
    assert gain > 1.0
    assert evaluation.best_response_values[1] - (spot.pot - evaluation.value) == pytest.approx(gain, abs=1e-6)


def test_a_lock_of_everything_but_named_by_parts_is_the_same_as_one_of_all():
    whole = Lock("check", {"all": {"check": 1.0}, "KK": {"bet 75%": 1.0}})
    parts = [Lock("check", {"QQ,AKs,T8s,77": {"x": 1.0}}), Lock("x", {"KK": {"b750": 1.0}})]
    first, second = (solve(RIVER, iterations=20, storage="float32", locks=locks) for locks in ([whole], parts))
    np.testing.assert_array_equal(first.policy.at("check").strategy, second.policy.at("check").strategy)
    assert first.nash_conv == second.nash_conv


def test_locks_may_not_tell_suits_apart_that_are_dealt_as_one():
    spot = Spot("Ks 9h 6s 3h", 60, 50, "AA,KQs,77", "AKs,QJs,77", sizes_for("a", ""))  # clubs and diamonds are alike
    sentence = refusal(solve, spot, iterations=1, locks=[Lock("", {"KcQc": {"check": 1}})])
    assert "distinguishes suits" in sentence
    assert solve(spot, iterations=1, locks=[Lock("", {"KcQc,KdQd": {"check": 1}})]).iterations == 1


# --- nonsense ------------------------------------------------------------------------------------------------------


ALPHABET = "AKQJT98765432cdhsxo*+-:@%![]/.,; 01e5abrkfin♠\n\\'"


@pytest.mark.parametrize("seed", range(4))
def test_parsers_refuse_nonsense_in_a_sentence(seed):
    rng = random.Random(seed)
    game = load_spot(RIVER)
    good = [
        "22+,A5s-A2s,KQo:0.5",
        "[50]AA,KK[/50]",
        "Ks 9h 6d",
        "33%, 75%, a",
        "3e200% 2.5x",
        "check, bet 75%, call",
        "r:0:c:b750",
    ]
    parsers = [
        parse_range,
        parse_board,
        lambda text: parse_sizes(text, "bet", raises=True),
        lambda text: follow(game, text),
        lambda text: make_locks([{"line": text, "strategy": {text: {text: text}}}]),
        lambda text: replace(RIVER, rake_rate=text),
    ]
    for _ in range(400):
        text = list(rng.choice(good))
        for _ in range(rng.randrange(1, 6)):
            text[rng.randrange(len(text)) :][:1] = []
            text.insert(rng.randrange(len(text) + 1), rng.choice(ALPHABET))
        for parse in parsers:
            try:
                parse("".join(text))
            except TreeplexError as error:
                assert len(str(error)) <= 300
                assert "\n" not in str(error)


@settings(max_examples=200)
@given(st.text(max_size=30))
def test_any_text_is_read_or_refused(text):
    for parse in (parse_range, parse_board, lambda text: parse_sizes(text, "bet", raises=True)):
        try:
            parse(text)
        except TreeplexError as error:
            assert len(str(error)) <= 300
            assert "\n" not in str(error)
