"""The .efg adapter: grammar, numbers, errors with their place, round trips, the rules of a file, hostile input."""

from __future__ import annotations

import json
import random
import re
import time
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeplex.errors import FormatError, GameError, ParameterError
from treeplex.games.efg import EfgFile, EfgGame, EfgNode, NodeKind, load, parse, read, write
from treeplex.games.protocol import CHANCE, TERMINAL, Game

DATA = Path(__file__).resolve().parents[1] / "data" / "efg"
OWN = sorted(DATA.glob("*.efg"))
SHARED = Path(__file__).resolve().parents[3] / "shared" / "efg"
SAMPLES = sorted(SHARED.glob("*.efg"))
HEAD = 'EFG 2 R "x" { "a" "b" }\n'
half, third = Fraction(1, 2), Fraction(1, 3)


def round_trip(file: EfgFile) -> None:
    text = write(file)
    assert parse(text) == file
    assert write(parse(text)) == text


# --- grammar ---------------------------------------------------------------------------------------------------------


def test_every_part_of_a_file_is_read() -> None:
    file = parse(
        'EFG 2 R "title" { "one" "two" } "remark"\n'
        'c "root" 5 "deal" { "x" 1/4 "y" 3/4 } 0\n'
        'p "n" 2 9 "mine" { "go" } 3 "bonus" { 1, 2 }\n'
        't "end" 4 "last" { -1, 0.5 }\n'
        't "" 0\n'
    )
    assert file == EfgFile(
        title="title",
        players=("one", "two"),
        comment="remark",
        nodes=(
            EfgNode(NodeKind.CHANCE, "root", 0, 5, "deal", ("x", "y"), (Fraction(1, 4), Fraction(3, 4))),
            EfgNode(NodeKind.PLAYER, "n", 2, 9, "mine", ("go",), (), 3, "bonus", (Fraction(1), Fraction(2))),
            EfgNode(NodeKind.TERMINAL, "end", outcome=4, outcome_label="last", payoffs=(Fraction(-1), half)),
            EfgNode(NodeKind.TERMINAL),
        ),
    )


def test_space_does_not_matter() -> None:
    tight = parse('EFG 2 R""{"a""b"}p""1 1""{"l""r"}0 t""1""{1,-1}t""1')
    wide = parse(
        '\ufeff\r\n EFG\t2\r\nR\n""\n{\n"a"\n"b"\n}\n\n""\v\f\np\n""\n1\n1\n""\n{\n"l"\n"r"\n}\n0\n'
        't ""\n1 "" {\n1 -1 ,}\nt "" 1 "" { 1 , -1 }'
    )
    assert tight == wide


def test_the_letter_d_and_a_missing_comment_are_fine() -> None:
    assert parse('EFG 2 D "x" { "a" } t "" 0') == parse('EFG 2 R "x" { "a" } "" t "" 0')


def test_any_number_of_players() -> None:
    assert parse('EFG 2 R "" { "a" } t "" 1 "" { 7 }').nodes[0].payoffs == (7,)
    five = parse('EFG 2 R "" { "a" "b" "c" "d" "e" } p "" 5 1 "" { "x" } 0 t "" 1 "" { 1 2, 3 4, 5, }')
    assert five.nodes[0].player == 5
    assert five.nodes[1].payoffs == (1, 2, 3, 4, 5)


@pytest.mark.parametrize(
    ("written", "label"),
    [
        (r'"plain"', "plain"),
        (r'"say \"hi\""', 'say "hi"'),
        (r'"\""', '"'),
        (r'"a\b"', r"a\b"),
        (r'"a\\b"', r"a\\b"),
        (r'"a\\"b"', r"a\"b"),
        ('"two\nlines"', "two\nlines"),
        ('"two\r\nlines"', "two\r\nlines"),
        ('"{ , } 1/2 t"', "{ , } 1/2 t"),
        ('"é ♠ 牌"', "é ♠ 牌"),
        ('"# // /* */"', "# // /* */"),
    ],
)
def test_labels(written: str, label: str) -> None:
    file = parse(f"EFG 2 R {written} {{ {written} }} {written} t {written} 1 {written} {{ 0 }}")
    node = file.nodes[0]
    assert [file.title, *file.players, file.comment, node.label, node.outcome_label] == [label] * 5
    round_trip(file)


def test_descriptions_may_be_left_out_once_given() -> None:
    full = parse(
        HEAD + 'c "" 1 "c" { "x" 1/2 "y" 1/2 } 0\n'
        'c "" 1 "c" { "x" 1/2 "y" 1/2 } 1 "o" { 1 -1 }\n'
        'p "" 1 1 "i" { "l" "r" } 0 t "" 1 "o" { 1 -1 } t "" 1 "o" { 1 -1 }\n'
        'p "" 1 1 "i" { "l" "r" } 0 t "" 1 "o" { 1 -1 } t "" 1 "o" { 1 -1 }\n'
        'p "" 1 1 "i" { "l" "r" } 0 t "" 1 "o" { 1 -1 } t "" 1 "o" { 1 -1 }\n'
    )
    short = parse(
        HEAD + 'c "" 1 "c" { "x" 1/2 "y" 1/2 } 0\n'
        'c "" 1 1 "o" { 1 -1 }\n'
        'p "" 1 1 "i" { "l" "r" } 0 t "" 1 t "" 1 "o"\n'
        'p "" 1 1 0 t "" 1 { 1 -1 } t "" 1 "o" { 1.0 -2/2 }\n'
        'p "" 1 1 "i" 0 t "" 1 t "" 1\n'
    )
    assert full == short


def test_a_description_may_lack_its_label() -> None:
    file = parse(HEAD + 'p "" 1 1 { "l" } 1 { 1 -1 } p "" 1 1 "" { "l" } 1 "" t "" 0')
    assert (file.nodes[0].infoset_label, file.nodes[0].outcome_label) == ("", "")
    assert file.nodes[0] == file.nodes[1]


def test_numbers_tell_infosets_apart_and_labels_do_not() -> None:
    file = parse(
        HEAD + 'p "n" 1 1 "i" { "l" "r" } 0 p "n" 1 2 "i" { "s" } 0 t "" 1 "o" { 1 1 } p "n" 2 1 "i" { "z" } 0 '
        't "" 2 "o" { 2 2 }'
    )
    assert [(node.player, node.infoset, node.infoset_label) for node in file.nodes if node.actions] == [
        (1, 1, "i"),
        (1, 2, "i"),
        (2, 1, "i"),
    ]
    assert file.nodes[2].payoffs != file.nodes[4].payoffs


# --- numbers ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("written", "value"),
    [
        ("0", Fraction(0)),
        ("-0", Fraction(0)),
        ("+7", Fraction(7)),
        ("007", Fraction(7)),
        (".5", half),
        ("-.5", -half),
        ("+.5", half),
        ("5.", Fraction(5)),
        ("0.1", Fraction(1, 10)),
        ("-1.5e3", Fraction(-1500)),
        ("1E3", Fraction(1000)),
        ("1e+3", Fraction(1000)),
        ("25e-2", Fraction(1, 4)),
        (".25E1", Fraction(5, 2)),
        ("1/3", third),
        ("-2/6", -third),
        ("+4/2", Fraction(2)),
        ("0/5", Fraction(0)),
        ("1e300", Fraction(10**300)),
        ("1e-499", Fraction(1, 10**499)),
        ("9" * 300, Fraction(10**300 - 1)),
        ("0." + "0" * 400 + "1", Fraction(1, 10**401)),
    ],
)
def test_numbers_are_exact(written: str, value: Fraction) -> None:
    file = parse(f'EFG 2 R "" {{ "a" }} t "" 1 "" {{ {written} }}')
    assert file.nodes[0].payoffs == (value,)
    round_trip(file)


@pytest.mark.parametrize(
    "written",
    [
        "1/0", "1/-3", "1/", "/3", "1/2/3", "1.5/2", "1/2.5", "1 /2", "+", "-", ".", "-.", "+-1", "--1", "1-", "1e",
        "1e+", ".e5", "e5", "1.2.3", "1_000", "0x10", "1j", "nan", "inf", "-inf", "+nan", "Infinity", "1,5/", "½", "٣",
        "1e999999999", "1e-999999999", "1e" + "9" * 3000, "9" * 100_000, "1/" + "9" * 100_000, "1." + "1" * 100_000,
        "1e301", "1e-501", "1/" + "9" * 501, "0e9999",
    ],
)  # fmt: skip
def test_hostile_numbers_are_refused_at_once(written: str) -> None:
    start = time.process_time()
    with pytest.raises(FormatError) as error:
        parse(f'EFG 2 R "" {{ "a" }}\nt "" 1 "" {{ {written} }}')
    assert time.process_time() - start < 1
    assert (error.value.line, error.value.column) >= (2, 13)
    assert len(str(error.value)) < 300


def test_exact_sums_of_hostile_fractions_are_refused() -> None:
    numbers = [10**300 + 2 * k + 1 for k in range(2000)]
    chance = " ".join(f'"" 1/{number}' for number in numbers)
    with pytest.raises(FormatError, match="too intricate") as error:
        parse(HEAD + f'c "" 1 "" {{ {chance} }} 0')
    assert (error.value.line, error.value.column) == (2, 11)
    path = "".join(f'p "" 1 1 "" {{ "x" }} {k} "" {{ 1/{number} 0 }}\n' for k, number in enumerate(numbers, 1))
    with pytest.raises(GameError, match="too intricate"):
        EfgGame(parse(HEAD + path + 't "" 0'))


@pytest.mark.parametrize(
    "probabilities",
    ["1/2 1/2", "0.3333333333 0.3333333333 0.3333333333", "1/3 .6666666667", "0 1", "1.0 1/30000000000", "1e0 0.0"],
)
def test_probabilities_may_be_rounded_decimals(probabilities: str) -> None:
    words = probabilities.split()
    chance = " ".join(f'"{index}" {word}' for index, word in enumerate(words))
    file = parse(HEAD + f'c "" 1 "" {{ {chance} }} 0 ' + 't "" 0 ' * len(words))
    assert file.nodes[0].probabilities == tuple(Fraction(word) for word in words)
    round_trip(file)
    game = EfgGame(file)
    assert sum(game.probabilities(0)) == pytest.approx(1, abs=1e-15)


# --- errors ----------------------------------------------------------------------------------------------------------

BAD = [
    ("", 1, 1, "expected 'EFG' at the start, found the end of the file"),
    (" \n\n ", 1, 1, "expected 'EFG' at the start, found the end of the file"),
    ('NFG 1 R "x"', 1, 1, "expected 'EFG' at the start, found 'NFG'"),
    ('"EFG" 2', 1, 1, "expected 'EFG' at the start, found the label 'EFG'"),
    ('EFG 1 R "x"', 1, 5, "expected the version 2, found '1'"),
    ('EFG\n2 X "x"', 2, 3, "expected 'R' or 'D', found 'X'"),
    ("EFG 2 R x", 1, 9, "expected the title of the game in double quotes, found 'x'"),
    ('EFG 2 R "x', 1, 9, "the label that starts here has no closing quote"),
    ('EFG 2 R "x\\"', 1, 9, "the label that starts here has no closing quote"),
    ('EFG 2 R "x" "a"', 1, 13, "expected '{' before the players, found the label 'a'"),
    ('EFG 2 R "x" { }', 1, 15, "expected the name of a player in double quotes, found '}'"),
    ('EFG 2 R "x" { "a", "b" }', 1, 18, "expected the name of a player in double quotes, or '}', found ','"),
    ('EFG 2 R "x" { "a"', 1, 18, "found the end of the file"),
    (HEAD, 1, 24, "expected 1 more node, found the end of the file"),
    (HEAD + '// remark\nt "" 0', 2, 1, "expected a node: 'c', 'p' or 't', found '//'"),
    (HEAD + '# remark\nt "" 0', 2, 1, "expected a node: 'c', 'p' or 't', found '#'"),
    (HEAD + '"remark" "again" t "" 0', 2, 10, "expected a node: 'c', 'p' or 't', found the label 'again'"),
    (HEAD + 'q "" 0', 2, 1, "expected a node: 'c', 'p' or 't', found 'q'"),
    (HEAD + "t 0", 2, 3, "expected the label of the node in double quotes, found '0'"),
    (HEAD + 't "" {', 2, 6, "expected the number of the outcome (a whole number), found '{'"),
    (HEAD + 't "" -1 "" { 1 1 }', 2, 6, "expected the number of the outcome (a whole number), found '-1'"),
    (HEAD + 't "" 1.0 "" { 1 1 }', 2, 6, "expected the number of the outcome (a whole number), found '1.0'"),
    (HEAD + f't "" {"1" * 19}', 2, 6, "expected the number of the outcome (a whole number), found '1111111"),
    (HEAD + 't "" 1', 2, 6, "outcome 1 is new here; its label and payoffs must follow"),
    (HEAD + 't "" 1 "o" 3', 2, 12, "expected '{' before the payoffs of outcome 1, found '3'"),
    (HEAD + 't "" 0 "o" { 0 0 }', 2, 8, "outcome 0 has neither label nor payoffs"),
    (HEAD + 't "" 0 { 0 0 }', 2, 8, "outcome 0 has neither label nor payoffs"),
    (HEAD + 't "" 1 "o" { 1 }', 2, 16, "expected the payoff of player 2 in outcome 1, found '}'"),
    (HEAD + 't "" 1 "o" { }', 2, 14, "expected the payoff of player 1 in outcome 1, found '}'"),
    (HEAD + 't "" 1 "o" { 1, 2, 3 }', 2, 20, "expected '}' after the payoffs of all 2 players, found '3'"),
    (HEAD + 't "" 1 "o" { 1,, 2 }', 2, 16, "expected the payoff of player 2 in outcome 1, found ','"),
    (HEAD + 't "" 1 "o" { , 1 2 }', 2, 14, "expected the payoff of player 1 in outcome 1, found ','"),
    (HEAD + 't "" 1 "o" { 1 two }', 2, 16, "expected the payoff of player 2 in outcome 1, found 'two'"),
    (HEAD + 't "" 1 "o" { 1 2x }', 2, 16, "the number '2x' cannot be read"),
    (HEAD + 't "" 1 "o" { 1 2/0 }', 2, 16, "the number '2/0' divides by zero"),
    (HEAD + 't "" 1 "o" { 1 1e999999999 }', 2, 16, "the number '1e999999999' is out of range"),
    (HEAD + 'p "" 0 1 "" { "x" } 0 t "" 0', 2, 6, "the player must be from 1 to 2, found 0"),
    (HEAD + 'p "" 3 1 "" { "x" } 0 t "" 0', 2, 6, "the player must be from 1 to 2, found 3"),
    (HEAD + 'p "" 1 "" { "x" } 0', 2, 8, "expected the number of the infoset (a whole number), found the label ''"),
    (HEAD + 'p "" 1 1 0', 2, 8, "infoset 1 of player 1 is new here; its label and actions must follow"),
    (HEAD + 'c "" 8 0', 2, 6, "chance infoset 8 is new here; its label and actions must follow"),
    (HEAD + 'p "" 1 1 "i" 0', 2, 14, "expected '{' before the actions of infoset 1 of player 1, found '0'"),
    (HEAD + 'p "" 1 1 "i" { } 0', 2, 16, "expected an action of infoset 1 of player 1 in double quotes, found '}'"),
    (HEAD + 'p "" 1 1 "i" { "x" 1/2 } 0', 2, 20, "in double quotes, or '}', found '1/2'"),
    (HEAD + 'p "" 1 1 "i" { "x" "y" 0', 2, 24, "in double quotes, or '}', found '0'"),
    (HEAD + 'p "" 1 1 "i" { "x" "y" } 0\nt "" 0\n\n', 3, 7, "expected 1 more node, found the end of the file"),
    (HEAD + 'p "" 1 1 "i" { "x" "y" "z" } 0', 2, 31, "expected 3 more nodes, found the end of the file"),
    (HEAD + 't "" 0\nt "" 0', 3, 1, "expected the end of the file, as every branch of the tree has ended, found 't'"),
    (HEAD + 't "" 0 }', 2, 8, "expected the end of the file"),
    (
        HEAD + 'p "" 1 1 "i" { "x" "y" } 0\nt "" 0\np "" 1 1 "i" { "x" "z" } 0',
        4,
        14,
        "infoset 1 of player 1 has different actions here than before",
    ),
    (
        HEAD + 'p "" 1 1 "i" { "x" "y" } 0\nt "" 0\np "" 1 1 "i" { "x" } 0',
        4,
        14,
        "infoset 1 of player 1 has different actions here than before",
    ),
    (
        HEAD + 'p "" 1 1 "i" { "x" "y" } 0\nt "" 0\np "" 1 1 "j" { "x" "y" } 0',
        4,
        10,
        "infoset 1 of player 1 is labelled 'j' here and 'i' before",
    ),
    (
        HEAD + 'c "" 1 "i" { "x" .5 "y" .5 } 0\nt "" 0\nc "" 1 "i" { "x" .4 "y" .6 } 0',
        4,
        12,
        "chance infoset 1 has different actions here than before",
    ),
    (
        HEAD + 'p "" 1 1 "" { "x" "y" } 1 "o" { 1 -1 }\nt "" 1 "o" { 1 -2 }',
        3,
        12,
        "outcome 1 has different payoffs here than before",
    ),
    (
        HEAD + 'p "" 1 1 "" { "x" "y" } 1 "o" { 1 -1 }\nt "" 1 "q" { 1 -1 }',
        3,
        8,
        "outcome 1 is labelled 'q' here and 'o' before",
    ),
    (HEAD + 'c "" 1 "" { "x" "y" } 0', 2, 17, "expected the probability of 'x', found the label 'y'"),
    (HEAD + 'c "" 1 "" { }', 2, 13, "expected an action of chance infoset 1 in double quotes, found '}'"),
    (
        HEAD + 'c "" 1 "" { "x" 1/2 "y" 1/3 } 0',
        2,
        11,
        "the probabilities of chance infoset 1 add up to 5/6 instead of 1",
    ),
    (HEAD + 'c "" 1 "" { "x" .3333 "y" .6666 } 0', 2, 11, "add up to 9999/10000 instead of 1"),
    (HEAD + 'c "" 1 "" { "x" .33333333 "y" .66666666 } 0', 2, 11, "add up to 0.99999999 instead of 1"),
    (HEAD + 'c "" 1 "" { "x" 1/2 "y" 1/2 "z" 1/90000000000 } 0', 2, 11, "instead of 1"),
    (HEAD + 'c "" 1 "" { "x" 3/2 "y" -1/2 } 0', 2, 25, "a probability must not be negative, found '-1/2'"),
    (HEAD + 'c "" 1 "" { "x" nan "y" 1 } 0', 2, 17, "expected the probability of 'x', found 'nan'"),
    (HEAD + 't "" 0 \0', 2, 8, "found a NUL character: this is a binary file, not the text of a game"),
    ("\ufeffEFG 3", 1, 5, "expected the version 2, found '3'"),
    ("EFG\r\n2\r\n X", 3, 2, "expected 'R' or 'D', found 'X'"),
    ("EFG\r2\r X", 3, 2, "expected 'R' or 'D', found 'X'"),
    ('EFG 2 R "two\nlines" x', 2, 8, "expected '{' before the players, found 'x'"),
    ('EFG 2 R "' + "y" * 1000 + '" "' + "z" * 1000 + '"', 1, 1012, "found the label '" + "z" * 40 + "...'"),
]


@pytest.mark.parametrize(("text", "line", "column", "sentence"), BAD)
def test_errors_say_where_and_what(text: str, line: int, column: int, sentence: str) -> None:
    with pytest.raises(FormatError) as error:
        parse(text, "some.efg")
    assert sentence in str(error.value)
    assert (error.value.line, error.value.column) == (line, column)
    assert str(error.value).startswith(f"some.efg, line {line}, column {column}: ")
    assert str(error.value).endswith(".")


def test_files_that_are_no_text(tmp_path: Path) -> None:
    path = tmp_path / "game.efg"
    path.write_bytes('EFG 2 R "x"'.encode("utf-16"))
    with pytest.raises(FormatError, match="binary file") as error:
        read(path)
    assert str(path) in str(error.value)
    assert (error.value.line, error.value.column) == (1, 4)
    path.write_bytes(bytes(range(1, 256)))
    with pytest.raises(FormatError):
        read(path)


def test_encodings(tmp_path: Path) -> None:
    text = 'EFG 2 R "café" { "a" } t "" 0'
    for encoding in ("utf-8", "utf-8-sig", "latin-1"):
        path = tmp_path / f"{encoding}.efg"
        path.write_bytes(text.encode(encoding))
        assert read(path) == parse(text) == read(str(path))


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    for path in (tmp_path / "none.efg", tmp_path):
        with pytest.raises(ParameterError, match="cannot be read"):
            load(path)


def test_what_the_format_cannot_hold_is_not_written() -> None:
    def terminal(label: str = "", payoff: Fraction = half) -> EfgFile:
        return EfgFile("", ("a",), (EfgNode(NodeKind.TERMINAL, label, outcome=1, payoffs=(payoff,)),))

    for label in ("ends in \\", "has \0"):
        with pytest.raises(FormatError, match="cannot hold"):
            write(terminal(label))
    for payoff in (Fraction(10**301), Fraction(1, 10**501), Fraction(10**501, 10**501 + 1)):
        with pytest.raises(FormatError, match="cannot hold"):
            write(terminal(payoff=payoff))


def test_the_text_written() -> None:
    file = parse(
        'EFG 2 D "a \\"b\\"" { "one" "two" } c "" 4 { "x" 1/3 "y" 2/3 } 0 p "n" 2 1 "i" { "l" } 2 "o" { 5e-1 -1/7 } '
        't "" 0 t "" 2'
    )
    assert write(file) == (
        'EFG 2 R "a \\"b\\"" { "one" "two" }\n'
        '""\n'
        "\n"
        'c "" 4 "" { "x" 1/3 "y" 2/3 } 0\n'
        'p "n" 2 1 "i" { "l" } 2 "o" { 0.5, -1/7 }\n'
        't "" 0\n'
        't "" 2 "o" { 0.5, -1/7 }\n'
    )


# --- the rule book ---------------------------------------------------------------------------------------------------


def walk(game: EfgGame) -> list[int]:
    """All nodes, reached through the protocol alone."""
    found, todo = [], [game.root()]
    while todo:
        history = todo.pop()
        found.append(history)
        if game.mover(history) != TERMINAL:
            assert len(set(game.actions(history))) == len(game.actions(history))
            todo += [game.child(history, action) for action in reversed(game.actions(history))]
    return found


def test_payoffs_at_inner_nodes_add_up() -> None:
    game = load(DATA / "toll_road.efg")
    assert isinstance(game, Game)
    assert (game.name, game.file.title, game.players) == ("toll_road", 'The "toll" road', 2)
    assert walk(game) == list(range(len(game.file.nodes)))
    assert game.mover(0) == CHANCE
    assert game.actions(0) == ("dry", "wet", "snow")
    assert game.probabilities(0) == (1 / 3, 1 / 2, 1 / 6)
    dry, wet, snow = (game.child(0, action) for action in game.actions(0))
    assert [game.infoset(node) for node in (dry, wet, snow)] == ['sees "dry"', "20", "stay"]
    assert [game.mover(node) for node in (dry, game.child(dry, "high"))] == [0, 1]
    ends = [game.exact_payoff(node)[0] for node in walk(game) if game.mover(node) == TERMINAL]
    toll, through, stuck, flood = Fraction(-3, 2), Fraction(1, 4), Fraction(-5, 2), Fraction(-1, 4)
    assert ends == [
        toll + through,
        toll + stuck,
        toll + toll + through,
        toll + toll,
        toll + flood + through,
        toll + flood + stuck,
        toll + through,
        toll + stuck,
        0,
    ]
    assert game.payoff(game.child(game.child(dry, "low"), "open")) == (-2.75, 2.75)
    assert game.constant_sum == 0


def test_sums_are_exact_before_they_are_floats() -> None:
    steps = 'p "" 1 1 "" { "x" } 1 "" { .1 -.1 }\n' + 'p "" 1 1 1\n' * 9
    game = EfgGame(parse(HEAD + steps + 't "" 0'))
    assert game.payoff(10) == (1.0, -1.0)
    assert game.constant_sum == 0
    assert sum([0.1] * 10) != 1.0


def test_constant_sum_is_exact() -> None:
    text = HEAD + 'p "" 1 1 "" { "x" "y" } 0 t "" 1 "" { 1/3 2/3 } t "" 2 "" { 1e-40 '
    assert EfgGame(parse(text + "0." + "9" * 40 + " }")).constant_sum == 1
    assert EfgGame(parse(text + "1 }")).constant_sum is None


def test_three_players() -> None:
    game = load(DATA / "three_friends.efg")
    assert game.players == 3
    assert {game.mover(node) for node in walk(game)} == {0, 1, 2, TERMINAL}
    assert game.payoff(len(game.file.nodes) - 1) == (1 / 3, 1 / 3, 1 / 3)
    assert game.constant_sum is None


def test_other_games_of_our_own() -> None:
    umbrella = load(DATA / "shared_umbrella.efg")
    assert umbrella.constant_sum is None
    assert [umbrella.infoset(node) for node in walk(umbrella) if umbrella.mover(node) == 0] == [
        "looks out#1",
        "looks out#2",
    ]
    guard = load(DATA / "forgetful_guard.efg")
    assert guard.constant_sum == 0
    second = [node for node in walk(guard) if guard.mover(node) == 0 and guard.infoset(node) == "second door"]
    assert len(second) == 2


def test_infoset_labels_are_unique_per_player() -> None:
    numbers_and_labels = [(1, "1"), (2, "a"), (3, "a"), (4, ""), (5, "a#3"), (6, "4"), (7, "b")]
    nodes = "".join(f'p "" 1 {number} "{label}" {{ "x" }} 0\n' for number, label in numbers_and_labels)
    game = EfgGame(parse(HEAD + nodes + 'p "" 2 4 "" { "x" } 0 p "" 2 1 "a" { "x" } 0 t "" 0'))
    shown = [game.infoset(node) for node in range(9)]
    assert shown == ["1", "a#2", "a#3#3", "4#4", "a#3", "4", "b", "4", "a"]


@pytest.mark.parametrize(
    ("given_labels", "shown"),
    [
        (("a", "b"), ("a", "b")),
        (("a", "a", "a"), ("a", "a#2", "a#3")),
        (("", ""), ("#1", "#2")),
        (("",), ("#1",)),
        (("a", "a#2", "a"), ("a", "a#2", "a#3")),
        (("a", "a", "a#2", "a"), ("a", "a#3", "a#2", "a#4")),
        (("", "#1"), ("#2", "#1")),
    ],
)
def test_action_labels_are_unique(given_labels: tuple[str, ...], shown: tuple[str, ...]) -> None:
    listed = " ".join(f'"{label}"' for label in given_labels)
    payoffs = "".join(f't "" {index} "" {{ {index} 0 }}\n' for index in range(1, len(given_labels) + 1))
    game = EfgGame(parse(HEAD + f'p "" 1 1 "" {{ {listed} }} 0\n{payoffs}'))
    assert game.actions(0) == shown
    assert [game.payoff(game.child(0, action))[0] for action in shown] == list(range(1, len(shown) + 1))


def test_names(tmp_path: Path) -> None:
    path = tmp_path / "my_game.efg"
    path.write_text('EFG 2 R "" { "a" } t "" 0')
    assert load(path).name == "my_game"
    assert EfgGame(read(path)).name == "untitled game"
    path.write_text('EFG 2 R "Untitled Extensive Game" { "a" } t "" 0')
    assert load(path).name == "my_game"  # the file's own, whatever its title
    assert EfgGame(parse('EFG 2 R "  A\n game " { "a" } t "" 0')).name == "A game"


def test_a_terminal_alone_pays_nothing() -> None:
    game = EfgGame(parse(HEAD + 't "" 0'))
    assert game.mover(game.root()) == TERMINAL
    assert game.payoff(0) == (0.0, 0.0)
    assert game.constant_sum == 0


def test_models_that_are_no_tree_are_refused() -> None:
    end = EfgNode(NodeKind.TERMINAL)
    move = EfgNode(NodeKind.PLAYER, player=1, infoset=1, actions=("l", "r"))
    other = EfgNode(NodeKind.PLAYER, player=1, infoset=1, actions=("l", "q"))
    for nodes, sentence in (
        ((), "must form one tree, not 0"),
        ((move, end), "Node 0 has 2 actions but only 1 subtrees follow"),
        ((end, end), "must form one tree, not 2"),
        ((move, end, other, end, end), "Infoset 1 of player 1 has different actions"),
    ):
        with pytest.raises(GameError, match=sentence):
            EfgGame(EfgFile("", ("a",), nodes))


def test_deep_files() -> None:
    depth = 10_000
    text = HEAD + 'p "" 1 1 "" { "x" "y" } 1 "" { 1/3 -1/3 } t "" 0\n' + 'p "" 1 1 1 t "" 0\n' * (depth - 1) + 't "" 0'
    file = parse(text)
    round_trip(file)
    game = EfgGame(file)
    assert game.exact_payoff(2 * depth) == (Fraction(depth, 3), Fraction(-depth, 3))


# --- round trips -----------------------------------------------------------------------------------------------------

LABELS = (
    st.text(st.characters(exclude_categories=("Cs",), exclude_characters="\0"), max_size=6)
    | st.text('"\\ {},\r\n1a', max_size=8)
).filter(lambda text: not text.endswith("\\"))
NUMBERS = st.fractions() | st.decimals(-1000, 1000, places=3).map(Fraction) | st.floats(-1e299, 1e299).map(Fraction)


@st.composite
def files(draw: st.DrawFn) -> EfgFile:
    players = draw(st.lists(LABELS, min_size=1, max_size=4))
    nulls = [(0, "", ())]
    outcomes = nulls + [
        (number, draw(LABELS), tuple(draw(NUMBERS) for _ in players))
        for number in draw(st.lists(st.integers(1, 10**18 - 1), unique=True, max_size=4))
    ]
    moves = []
    for number in draw(st.lists(st.integers(0, 10**18 - 1), unique=True, max_size=5)):
        player = draw(st.integers(0, len(players)))
        actions = draw(st.lists(LABELS, min_size=1, max_size=3))
        weights = [draw(st.integers(0, 9)) for _ in actions[1:]] + [draw(st.integers(1, 9))]
        probabilities = () if player else tuple(Fraction(weight, sum(weights)) for weight in weights)
        moves.append((player, number, draw(LABELS), tuple(actions), probabilities))
    nodes: list[EfgNode] = []
    missing = 1
    while missing:
        outcome = draw(st.sampled_from(outcomes))
        label = draw(LABELS)
        if moves and len(nodes) < 12 and draw(st.booleans()):
            player, number, infoset_label, actions, probabilities = draw(st.sampled_from(moves))
            kind = NodeKind.PLAYER if player else NodeKind.CHANCE
            nodes.append(EfgNode(kind, label, player, number, infoset_label, actions, probabilities, *outcome))
        else:
            nodes.append(EfgNode(NodeKind.TERMINAL, label, 0, 0, "", (), (), *outcome))
        missing += len(nodes[-1].actions) - 1
    return EfgFile(draw(LABELS), tuple(players), tuple(nodes), draw(LABELS))


@settings(max_examples=300, derandomize=True, database=None)
@given(files())
def test_any_file_reads_back_as_written(file: EfgFile) -> None:
    round_trip(file)
    game = EfgGame(file)
    assert walk(game) == list(range(len(file.nodes)))
    shown = {(node.player, game.infoset(index)) for index, node in enumerate(file.nodes) if node.actions}
    assert len(shown) == len({(node.player, node.infoset) for node in file.nodes if node.actions})


@pytest.mark.parametrize("path", OWN, ids=lambda path: path.stem)
def test_own_files_read_back_as_written(path: Path) -> None:
    round_trip(read(path))


# --- Gambit's samples ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def values() -> dict[str, dict[str, object]]:
    if not SAMPLES:
        pytest.skip(f"Gambit's sample games are not in {SHARED}")
    return json.loads((SHARED / "values.json").read_text())


def test_samples(values: dict[str, dict[str, object]]) -> None:
    assert {path.name for path in SAMPLES} == set(values)
    for path in SAMPLES:
        game = load(path)
        round_trip(game.file)
        assert walk(game) == list(range(len(game.file.nodes)))
        known = values[path.name]
        if "error" in known:  # pygambit refuses labels that repeat; we do not
            continue
        infosets = [
            len({game.infoset(index) for index, node in enumerate(game.file.nodes) if node.player == player})
            for player in range(1, game.players + 1)
        ]
        assert (path.name, game.players, infosets) == (path.name, known["players"], known["infosets"])
        assert (path.name, game.constant_sum is not None) == (path.name, known["const_sum"])


# --- hostile files ---------------------------------------------------------------------------------------------------

WORDS = re.compile(rb'"(?:\\"|[^"])*"|[{},]|[^\s{},"]+')
NASTY = (
    b"0", b"-1", b"2", b"99", b"1/0", b"nan", b"inf", b"1e999999999", b"-1e-999999999", b"9" * 5000, b".", b"+", b"1/3",
    b"0.333333", b"\xff\xfe", b"\0", b'"', b"\\", b"{", b"}", b",", b"t", b"p", b"c", b"\r", b"\xe2\x99\xa0", b"1e300",
)  # fmt: skip


def mutated(data: bytes, rng: random.Random) -> bytes:
    """A copy with a few accidents: bytes or words lost, doubled, swapped or replaced, or the end cut off."""
    for _ in range(rng.randint(1, 4)):
        words = [match.span() for match in WORDS.finditer(data)] if rng.random() < 0.6 else []
        (start, end), (later, last) = sorted([span(data, words, rng), span(data, words, rng)])
        piece = data[start:end]
        match rng.randrange(7):
            case 0:
                data = data[:start] + data[end:]
            case 1:
                data = data[:end] + b" " * rng.randint(0, 1) + piece + data[end:]
            case 2:
                data = data[:start] + data[later:last] + data[end:later] + piece + data[last:]
            case 3:
                data = data[:start] + rng.choice(NASTY) + data[end:]
            case 4:
                data = data[:start] + bytes([rng.randrange(256)]) + data[end:]
            case 5:
                data = data[:start] + b" \n" + data[start:]
            case _:
                data = data[:later]
    return data


def span(data: bytes, words: list[tuple[int, int]], rng: random.Random) -> tuple[int, int]:
    """Where some word stands, or some bytes."""
    if words:
        return rng.choice(words)
    start = rng.randrange(len(data) + 1)
    return start, min(len(data), start + rng.randint(0, 3))


def test_two_thousand_accidents() -> None:
    rng = random.Random(20_241)
    sources = [path.read_bytes() for path in [*OWN, *SAMPLES[::4]]]
    fine = 0
    for _ in range(2000):
        data = mutated(rng.choice(sources), rng)
        start = time.process_time()
        try:
            file = parse(data, "mutant.efg")
        except FormatError as error:
            assert error.line >= 1
            assert error.column >= 1
            assert error.line <= 1 + len(re.findall(rb"\r\n|\r|\n", data))
        else:
            fine += 1
            round_trip(file)
            assert walk(EfgGame(file)) == list(range(len(file.nodes)))
        assert time.process_time() - start < 1
    assert 100 < fine < 1900
