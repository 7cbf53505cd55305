"""Names of games: how they are read, what is said of those that are not known, and what the catalog promises."""

from __future__ import annotations

import inspect
import re

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeplex as tp
from treeplex.compile import CompiledGame
from treeplex.errors import ParameterError, TreeplexError
from treeplex.games.catalog import CATALOG, known_value, make
from treeplex.games.matrix import MatrixGame
from treeplex.games.protocol import Game
from treeplex.spec import parse

ROWS = "matrix(rows=[[0,-1,1],[1,0,-1],[-1,1,0]])"
SMALL = {"matrix": ROWS, "rhode_island": "rhode_island(ranks=2,suits=2)"}
DEFAULTS = [SMALL.get(name, name) for name in CATALOG]
VARIANTS = [
    "kuhn_ext(4,2,2)",
    "leduc(suits=true)",
    "leduc(suits=false)",
    'leduc(sizes="dt")',
    'leduc5(sizes="dt")',
    "leduc_ext(3,2,1)",
    'continuous_leduc(sizes="branch-3")',
    'continuous_leduc(sizes={"*":[0.01,1],"check":[0.2]})',
    "one_card_poker(deck=5)",
    "liars_dice(sides=3)",
    "liars_dice(dice=2,sides=2)",
    "liars_dice(1,6)",
    'goofspiel(cards=3,order="random",imperfect=false,returns="point_difference")',
    'princess_and_monster(rows=2,columns=2,horizon=2,holes="a1",monster="random")',
    "gaussian_matrix(size=7,better=2,seed=3)",
    "random_tree(seed=3,depth=4,chance=0.5)",
]


def refusal(spec: str) -> str:
    with pytest.raises(ParameterError) as error:
        make(spec)
    text = str(error.value)
    assert "\n" not in text
    assert text.endswith(".")
    return text


def same(one: CompiledGame, other: CompiledGame) -> bool:
    ours, theirs = ([*game.tree, *game.payoffs.rows, *game.payoffs.columns] for game in (one, other))
    return one.name == other.name and all(np.array_equal(a, b) for a, b in zip(ours, theirs, strict=True))


# --- reading names ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "name", "values"),
    [
        ("kuhn", "kuhn", []),
        ("  kuhn  ", "kuhn", []),
        ("kuhn()", "kuhn", []),
        ("kuhn( )", "kuhn", []),
        ("g(1)", "g", [("", 1)]),
        ("g(1,2.5,-3)", "g", [("", 1), ("", 2.5), ("", -3)]),
        ("g( a = 1 , b=2 )", "g", [("a", 1), ("b", 2)]),
        ("g(1,b=2)", "g", [("", 1), ("b", 2)]),
        ("g(a=true,b=False,c=TRUE)", "g", [("a", True), ("b", False), ("c", True)]),
        ("g(a=null)", "g", [("a", None)]),
        ("g(a=word)", "g", [("a", "word")]),
        ('g(a="two words, and a comma")', "g", [("a", "two words, and a comma")]),
        ("g(a='single (quotes)')", "g", [("a", "single (quotes)")]),
        ('g(a="it\'s")', "g", [("a", "it's")]),
        ("g([[1,2],[3,4]],x=[5])", "g", [("", [[1, 2], [3, 4]]), ("x", [5])]),
        ('g(a="x=y")', "g", [("a", "x=y")]),
        ("g(a=1e3)", "g", [("a", 1000.0)]),
        ("g (1) ", "g", [("", 1)]),
        ("g(a=)x)", "g", [("a", ")x")]),
        ("g(a='')", "g", [("a", "")]),
        ("g(a=')", "g", [("a", "'")]),
    ],
)
def test_specs_are_read(spec, name, values) -> None:
    assert parse(spec) == (name, values)


@pytest.mark.parametrize("spec", ["g(", "g(a=1", "g(a=1)x"])
def test_a_missing_bracket_is_named(spec) -> None:
    with pytest.raises(ParameterError, match=re.escape(f"got {spec!r}: the last ')' is missing.")):
        parse(spec)


@pytest.mark.parametrize(
    ("spec", "part"), [("g(,)", ""), ("g(1,)", ""), ("g(=1)", "=1"), ("g(a=)", "a="), ("g(a b=1)", "a b=1")]
)
def test_arguments_that_are_none_are_named(spec, part) -> None:
    with pytest.raises(ParameterError, match=re.escape(f"got {spec!r}: {part!r} is not parameter=value.")):
        parse(spec)


@settings(max_examples=300)
@given(st.text(st.sampled_from(list("kuhn(),=[]\"' 12.e-tru{}\\\n♠")), max_size=25))
def test_no_text_breaks_the_reader(text) -> None:
    """Whatever is typed: a name with values, or a sentence."""
    try:
        name, values = parse(text)
    except ParameterError as error:
        assert str(error).endswith(".")
    else:
        assert isinstance(name, str)
        assert all(isinstance(key, str) for key, _ in values)


@settings(max_examples=200)
@given(st.text(max_size=30), st.sampled_from(["kuhn", "leduc", "goofspiel", "matrix", "openspiel:", ""]))
def test_no_text_breaks_the_catalog(text, start) -> None:
    try:
        game = make(f"{start}{text}" if start else text)
    except TreeplexError as error:
        assert str(error)
    else:
        assert isinstance(game, Game)


def test_a_thousand_brackets_are_refused() -> None:
    refusal("matrix(" + "[" * 100_000 + ")")


# --- unknown names and parameters ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("spec", "nearest"),
    [
        ("leduk", "leduc"),
        ("Kuhm", "kuhn"),
        ("liers-dice(sides=4)", "liars_dice"),
        ("goofspeil", "goofspiel"),
        ("leduc6", "leduc5"),
    ],
)
def test_unknown_games_name_the_nearest(spec, nearest) -> None:
    sentence = refusal(spec)
    assert sentence.startswith(f"There is no game '{spec.partition('(')[0]}'; the nearest are ")
    assert sentence.endswith(" (see: treeplex list).")
    assert nearest in sentence.split("the nearest are ")[1].split(" (see")[0].split(", ")


def test_far_names_have_no_nearest() -> None:
    assert refusal("zzzzzzzzzzz") == "There is no game 'zzzzzzzzzzz' (see: treeplex list)."


def test_the_nearest_are_at_most_three() -> None:
    assert refusal("l").count(",") <= 2


@pytest.mark.parametrize(
    ("spec", "name"),
    [
        ("Kuhn", "kuhn"),
        (" LEDUC ", "leduc"),
        ("liars-dice(sides=4)", "liars_dice(sides=4)"),
        ("Liars Dice", "liars_dice"),
        ("kuhn_poker", "kuhn"),
        ("Leduc-Poker", "leduc(suits=true)"),
        ("one_card_poker(1e2)", "one_card_poker(deck=100)"),
    ],
)
def test_spelling_does_not_matter_and_openspiels_names_are_aliases(spec, name) -> None:
    assert make(spec).name == name


def test_an_alias_has_no_parameters() -> None:
    assert "openspiel:leduc_poker(...)" in refusal("leduc_poker(players=2)")


@pytest.mark.parametrize(
    ("spec", "words"),
    [
        ("kuhn(cards=3)", ["The game 'kuhn' has ", "'cards'"]),
        ("kuhn(3)", ["The game 'kuhn' has ", "1 values"]),
        ("leduc(suit=true)", ["leduc(suits=false,sizes=\"rbp\")", "'suit'"]),
        ("kuhn_ext(1,2,3,4,5)", ["kuhn_ext(cards=3,bets=1,raises=1,sizes=\"steps\")", "5 values"]),
        ("kuhn_ext(3,cards=4)", ["The parameter 'cards' of 'kuhn_ext' is given twice."]),
        ("leduc(suits=true,suits=false)", ["'suits' of 'leduc' is given twice"]),
        ("matrix", ["The game 'matrix' needs the parameter 'rows': matrix(rows)."]),
        ("matrix()", ["needs the parameter 'rows'"]),
        ("matrix(name=x)", ["The game 'matrix' has the parameters matrix(rows), got 'name'."]),
        ("leduc(suits=yes)", ["The 'suits' parameter must be true or false, got 'yes'."]),
        ('kuhn_ext(cards="3")', ["The 'cards' parameter must be a whole number", "got '3'."]),
        ("kuhn_ext(cards=1)", ["The 'cards' parameter must be a whole number from 2 to ", "got 1."]),
        ("kuhn_ext(cards=2.0)", ["got 2.0."]),
        ("kuhn_ext(cards=true)", ["got True."]),
        ("leduc5(sizes=big)", ["The 'sizes' parameter must be one of \"rbp\", \"dt\", got 'big'."]),
        ("leduc5(sizes=[1])", ["got [1]."]),
        ("leduc5(sizes=null)", ["got None."]),
        ("liars_dice(sides=0)", ["The 'sides' parameter must be a whole number from 1 to "]),
        ("matrix([[1,2],[3]])", ["The 'rows' parameter must be rows of numbers"]),
        ("matrix(rows=abc)", ["The 'rows' parameter must be"]),
        ("matrix(rows=1)", ["got a single number."]),
        ("random_tree(seed=1e400)", ["The 'seed' parameter must be", "got inf."]),
        ("none.efg", ["There is no file 'none.efg'."]),
        ("openspiel:", ["OpenSpiel has no game ''"]),
        ("openspiel:nope", ["OpenSpiel has no game 'nope'"]),
        ("", ["There is no game ''"]),
    ],
)  # fmt: skip
def test_wrong_parameters_are_named(spec, words) -> None:
    sentence = refusal(spec)
    assert all(word in sentence for word in words), sentence


# --- what the catalog promises ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("spec", [*DEFAULTS, *VARIANTS])
def test_every_entry_builds_a_game(spec) -> None:
    game = make(spec)
    assert isinstance(game, Game)
    assert getattr(game, "name", "").startswith(spec.partition("(")[0])


@pytest.mark.parametrize("entry", CATALOG.values(), ids=CATALOG)
def test_every_entry_says_what_it_is_and_where_it_is_from(entry) -> None:
    assert len(entry.summary) > 15
    assert entry.source
    assert entry.name == "random_tree" or re.search(r"\b(19|20)\d\d\b", entry.source), "a citation has a year"
    assert entry.usage.startswith(entry.name)
    assert inspect.getdoc(entry.build)


@pytest.mark.parametrize(
    "spec",
    [pytest.param(spec) if spec == ROWS else spec for spec in [*DEFAULTS, *VARIANTS]],
)
def test_the_canonical_name_makes_the_same_game(spec) -> None:
    game = tp.load(spec)
    again = tp.load(game.name)
    assert same(game, again)
    assert again.known_value == game.known_value


@pytest.mark.parametrize("entry", CATALOG.values(), ids=CATALOG)
def test_the_usage_line_makes_the_default_game(entry) -> None:
    if entry.name == "matrix":
        assert entry.usage == "matrix(rows)"
        return
    assert make(entry.usage).name == make(entry.name).name  # pyright: ignore[reportAttributeAccessIssue]


@pytest.mark.parametrize(("name", "value"), [pair for entry in CATALOG.values() for pair in entry.values.items()])
def test_known_values_hold(name, value) -> None:
    game = tp.load(name)
    assert game.name == name
    assert game.known_value == value == known_value(name)
    assert tp.solve(game, "lp").value == pytest.approx(value, abs=1e-9)
    assert game.summary()["value"] == value


@pytest.mark.parametrize(
    "spec", ["liars_dice(1,6)", "liars_dice(dice=1)", "leduc(suits=false)", "goofspiel(cards=4)", " kuhn ", "kuhn()"]
)
def test_known_values_are_found_however_the_game_is_written(spec) -> None:
    assert tp.load(spec).known_value == known_value(spec.strip().partition("(")[0])


@pytest.mark.parametrize("spec", ["liars_dice(sides=3)", "goofspiel(cards=3)", "kuhn_ext", "random_tree", "leduc_ext"])
def test_values_nobody_knows_are_left_open(spec) -> None:
    assert tp.load(spec).known_value is None


# --- a game of one's own ---------------------------------------------------------------------------------------------


def test_a_users_game_of_the_same_name_has_no_known_value() -> None:
    game = tp.load(MatrixGame([[1, 2], [3, 4]], name="kuhn"))
    assert game.name == "kuhn"
    assert game.known_value is None


def test_rules_of_the_catalog_given_as_an_object_are_the_users_own() -> None:
    assert tp.load(make("kuhn")).known_value is None


EFG = 'EFG 2 R "kuhn" { "a" "b" }\nt "" 1 "" { 7 -7 }\n'


@pytest.mark.parametrize(
    "name",
    [
        "kuhn.efg",
        pytest.param("kuhn(1).efg"),
    ],
)
def test_a_file_of_the_same_name_has_no_known_value(name, tmp_path, monkeypatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / name).write_text(EFG)
    game = tp.load(name)
    assert game.name == name.removesuffix(".efg")
    assert game.known_value is None


def test_openspiels_games_have_no_known_value() -> None:
    pytest.importorskip("pyspiel")
    assert tp.load("openspiel:kuhn_poker").known_value is None
