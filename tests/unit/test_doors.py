"""Whatever enters from outside is taken or refused in one sentence: own rules, names, policies, arguments."""

from __future__ import annotations

import json
import math
import pickle
import random
import string
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import treeplex as tp
from treeplex import arrow
from treeplex.algorithms.registry import ALGORITHMS, build, choose
from treeplex.compile import endless
from treeplex.engines.sampling import on_the_fly
from treeplex.errors import (
    FormatError,
    GameError,
    MissingExtraError,
    ParameterError,
    TreeplexError,
    quoted,
)
from treeplex.evaluation import Policy
from treeplex.games.catalog import CATALOG, make
from treeplex.games.dealt import Settlement
from treeplex.games.protocol import CHANCE, TERMINAL
from treeplex.spec import folded


def refused(action: Any, kind: type[TreeplexError] = TreeplexError) -> str:
    """The sentence of a refusal: one line, not too long."""
    with pytest.raises(kind) as error:
        action()
    text = str(error.value)
    assert text
    assert "\n" not in text
    assert len(text) <= 300
    return text


# --- sentences -------------------------------------------------------------------------------------------------------


def test_a_quotation_is_one_short_line() -> None:
    for value in ("x" * 10**6, "a\nb", b"x" * 999, list(range(999)), 10**5000, np.arange(10**4)):
        assert len(quoted(value)) <= 80
        assert "\n" not in quoted(value)


def test_a_long_sentence_keeps_its_beginning_and_its_end() -> None:
    text = str(ParameterError("begin " + "x\n" * 1000 + "end."))
    assert len(text) == 300
    assert text.startswith("begin")
    assert text.endswith("end.")


@pytest.mark.parametrize("error", [FormatError("bad.", path="f", line=2), MissingExtraError("a", "b", "c")])
def test_refusals_can_be_pickled(error) -> None:
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), vars(again)) == (type(error), str(error), vars(error))


# --- own rules -------------------------------------------------------------------------------------------------------


class Coins:
    """Chance tosses a coin that only player 0 sees; both say heads or tails."""

    name = "coins"

    def root(self) -> Any:
        return ()

    def mover(self, history: Any) -> Any:
        return (CHANCE, 0, 1, TERMINAL)[len(history)]

    def actions(self, history: Any) -> Any:
        return ("h", "t")

    def probabilities(self, history: Any) -> Any:
        return (0.5, 0.5)

    def child(self, history: Any, action: Any) -> Any:
        return (*history, action)

    def infoset(self, history: Any) -> Any:
        return "sees " + history[0] if len(history) == 1 else "blind"

    def payoff(self, history: Any) -> Any:
        return 1.0 if history[1] == history[2] else -1.0


class Odd:
    """An object with nothing of what rules return."""


BROKEN: dict[str, list[Any]] = {
    "mover": ["x", None, (), 1.0, Odd(), [0], math.nan, np.float64(1), 2, -3, 10**30],
    "actions": [5, None, {"h", "t"}, {"h": 1, "t": 2}, "ht", b"ht", (), [], (1, 2), ("h", "h"), (["h"],), ("h", None),
                ("\ud800", "t"), iter(("h", "t")), np.array([["h", "t"]])],
    "probabilities": [5, None, {"h": 0.5, "t": 0.5}, ("a", "b"), ("0.5", "0.5"), "ab", (0.5,), (0.5, 0.6), (1.5, -0.5),
                      (math.nan, 1.0), (math.inf, 0.0), (None, 1.0), {0.5}, (0.5, 10**400)],
    "infoset": [5, None, ("a",), ["a"], {}, b"a", "\ud800", Odd()],
    "payoff": [None, "1.0", ("1", "-1"), (1.0,), (1, 2, 3), math.nan, (1.0, math.inf), {}, {1.0}, Odd(), 10**400, 1j],
}  # fmt: skip


def broken(method: str, value: Any) -> Any:
    """The game with one method that always returns this."""
    return type("Broken", (Coins,), {method: lambda self, *_: value})()


@pytest.mark.parametrize(
    ("method", "which"), [(name, i) for name, values in BROKEN.items() for i in range(len(values))]
)
@pytest.mark.parametrize("asked", ["compiled", "explored"])
def test_what_rules_return_is_checked(asked, method, which) -> None:
    game = broken(method, BROKEN[method][which])
    sentence = refused(lambda: tp.load(game) if asked == "compiled" else tp.explore(game, iterations=3), GameError)
    assert sentence.startswith("coins")


@pytest.mark.parametrize(
    ("method", "value", "law"),
    [
        ("mover", "x", "coins: mover at the root returned 'x'; it must return 0, 1, CHANCE or TERMINAL."),
        ("actions", 5, "coins: actions at the root returned 5; it must return a list or tuple of labels (str)"),
        ("probabilities", ("a", "b"), "coins: probabilities at the root returned ('a', 'b'); it must return a list"),
        ("infoset", 7, "coins: infoset at 'h' returned 7; it must return a label (str)"),
        ("payoff", "1.0", "coins: payoff at 'h h h' returned '1.0'; it must return a number, or one per player."),
    ],
)
def test_the_sentence_names_method_place_and_value(method, value, law) -> None:
    assert refused(lambda: tp.load(broken(method, value))).startswith(law)


def test_exploring_names_the_history() -> None:
    sentence = refused(lambda: tp.explore(broken("infoset", 7), iterations=1))
    assert sentence.startswith("coins: infoset at history ('")


@pytest.mark.parametrize(
    ("method", "value"),
    [
        ("actions", ["h", "t"]),
        ("actions", np.array(["h", "t"])),
        ("probabilities", [np.float32(0.5), np.float64(0.5)]),
        ("probabilities", np.array([0.5, 0.5])),
        ("probabilities", (1, 0)),
        ("infoset", np.str_("seen")),
        ("payoff", np.float32(1.0)),
        ("payoff", (1, -1)),
        ("payoff", np.array([1.0, -1.0])),
    ],
)
def test_kindred_types_are_taken(method, value) -> None:
    game = broken(method, value)
    assert tp.load(game).nodes == 15
    tp.explore(game, iterations=3, responses=2)


@pytest.mark.parametrize("asked", ["compiled", "explored"])
@pytest.mark.parametrize("method", ["mover", "actions", "probabilities", "child", "infoset", "payoff"])
def test_exceptions_of_the_rules_pass_through_with_a_note(method, asked) -> None:
    game = type("Raising", (Coins,), {method: _named(method)})()
    with pytest.raises(ZeroDivisionError, match="mine") as error:
        _ = tp.load(game) if asked == "compiled" else tp.explore(game, iterations=3)
    notes = error.value.__notes__
    assert len(notes) == 1
    assert f"in {method}() of the rules, at " in notes[0]


def _named(method: str) -> Any:
    """A method of that name which raises."""
    space: dict[str, Any] = {}
    exec(f"def {method}(self, *_):\n    raise ZeroDivisionError('mine')", space)
    return space[method]


def test_a_child_that_is_its_parent_is_refused() -> None:
    class Mutating(Coins):
        def root(self) -> Any:
            return []

        def child(self, history: Any, action: Any) -> Any:
            history.append(action)
            return history

    assert "child must leave that one alone" in refused(lambda: tp.load(Mutating()), GameError)


class Endless(Coins):
    """Never over; histories grow as tuples or strings, or are numbers."""

    name = "endless"

    def __init__(self, start: Any, width: int) -> None:
        self.start, self.width = start, width

    def root(self) -> Any:
        return self.start

    def _moves(self, history: Any) -> int:
        return history if isinstance(history, int) else len(history)

    def mover(self, history: Any) -> int:
        return self._moves(history) % 2

    def actions(self, history: Any) -> Any:
        return ("l", "r")[: self.width]

    def child(self, history: Any, action: str) -> Any:
        if isinstance(history, int):
            return history + 1
        return history + action if isinstance(history, str) else (*history, action)

    def infoset(self, history: Any) -> str:
        return str(history) if isinstance(history, int) else f"{len(history)}{''.join(history[-20:])}"


@pytest.mark.parametrize("width", [1, 2])
@pytest.mark.parametrize("start", [0, (), ""], ids=["int", "tuple", "str"])
@pytest.mark.parametrize("asked", ["compiled", "explored"])
def test_games_without_an_end_are_refused(asked, start, width, monkeypatch) -> None:
    """By depth and bytes: smaller bounds than the real ones, so that the test is quick."""
    monkeypatch.setattr(on_the_fly, "DEEPEST", 20_000)
    monkeypatch.setattr(endless.Watch.check_line, "__defaults__", (20_000,))
    monkeypatch.setattr(endless, "LONGEST_LINE", 2**24)
    monkeypatch.setattr(endless, "ALLOWANCE", 2**24)
    game = Endless(start, width)
    sentence = refused(lambda: tp.load(game) if asked == "compiled" else tp.explore(game, iterations=1), GameError)
    assert sentence.startswith("endless has ")
    assert "goes on after" in sentence or "cautious estimate" in sentence


class Dealt:
    """One card of two each, one bet."""

    name, together, separator, ranked = "dealt", False, " ", False

    def hands(self) -> Any:
        return ("A", "K"), ("A", "K")

    def deal(self) -> Any:
        return np.full((2, 2), 0.25)

    def start(self) -> Any:
        return "open"

    def mover(self, public: Any) -> Any:
        return {"open": 0, "bet": 1}.get(public, TERMINAL)

    def actions(self, public: Any) -> Any:
        return ("check", "bet") if public == "open" else ("fold", "call")

    def next(self, public: Any, action: Any) -> Any:
        return action

    def odds(self, public: Any) -> Any:
        return np.empty((0, 2, 2))

    def settle(self, public: Any) -> Any:
        return Settlement(1.0, "showdown")

    def outcome(self, table: Any) -> Any:
        return np.array([[0.0, -1.0], [1.0, 0.0]])


@pytest.mark.parametrize(
    ("method", "value"),
    [
        *[("hands", value) for value in (None, 5, ("A",), (("A", "A"), ("K",)), ((1, 2), (1, 2)), ((), ()))],
        *[("deal", value) for value in (None, [[0.25] * 2] * 2, np.ones((2, 2)), np.full((3, 2), 0.1), "x")],
        *[("start", value) for value in ([], {})],
        *[("mover", value) for value in (None, "x", 2, 1.0)],
        *[("actions", value) for value in (None, {"a"}, "ab", (), ("a", "a"), (1, 2))],
        *[("next", value) for value in ([], "open")],
        *[("settle", value) for value in (None, 1.0, ("1", "showdown"), (math.nan, "showdown"), (1.0, []))],
        *[
            ("outcome", value)
            for value in (None, np.ones(2), np.full((2, 2), math.nan), [[1]], np.array([["a"] * 2] * 2))
        ],
    ],
)
def test_what_dealt_rules_return_is_checked(method, value) -> None:
    game = type("Broken", (Dealt,), {method: lambda self, *_: value})()
    assert tp.load(Dealt()).nodes > 10
    assert refused(lambda: tp.load(game), GameError).startswith("dealt")


@pytest.mark.parametrize("name", ["together", "separator", "ranked", "name"])
def test_attributes_of_dealt_rules_are_checked(name) -> None:
    refused(lambda: tp.load(type("Broken", (Dealt,), {name: 5})()), GameError)


def test_dealt_rules_without_an_end_are_refused() -> None:
    class Going(Dealt):
        def start(self) -> Any:
            return 0

        def mover(self, public: Any) -> int:
            return public % 2

        def actions(self, public: Any) -> Any:
            return ("on",)

        def next(self, public: Any, action: Any) -> Any:
            return public + 1

    assert "goes on after" in refused(lambda: tp.load(Going()), GameError)


# --- names -----------------------------------------------------------------------------------------------------------


def test_folded_names_differ() -> None:
    for known in (ALGORITHMS, CATALOG):
        assert len({folded(name) for name in known}) == len(known)


@pytest.mark.parametrize("name", ["CFR+", "cfrplus", "cfr_plus", "Cfr Plus", " cfr+ "])
def test_algorithms_are_found_however_they_are_spelt(name) -> None:
    assert choose(name).name == choose("cfr+").name


def test_a_family_of_algorithms_is_listed() -> None:
    assert refused(lambda: build("mccfr")) == (
        "There is no algorithm 'mccfr' by itself; choose one of mccfr-external, mccfr-outcome, mccfr-average,"
        " mccfr-chance, mccfr-public."
    )


def test_parameters_may_be_keywords() -> None:
    assert tp.solve("kuhn", "dcfr", alpha=2, iterations=3).algorithm == "dcfr(alpha=2)"
    assert tp.solve("kuhn", "dcfr(alpha=2)", gamma=np.float64(3), turns="simultaneous", iterations=3).iterations == 3
    assert "did you mean 'iterations'" in refused(lambda: tp.solve("kuhn", "cfr", iteration=3))
    assert "cfr+(delay=0" in refused(lambda: tp.solve("kuhn", "cfr+", alpha=3))
    assert "name the algorithm" in refused(lambda: tp.solve("kuhn", zzz=3))


def test_bounds_that_are_divided_by_are_open() -> None:
    assert "'beta' parameter" in refused(lambda: tp.solve("kuhn", "mccfr-average(beta=0)", iterations=5))


def mutated(text: str, draw: random.Random) -> str:
    """A few letters changed, left out, put in, or repeated very often."""
    letters = list(text)
    for _ in range(draw.randint(1, 4)):
        at = draw.randrange(len(letters) + 1)
        match draw.randrange(4):
            case 0:
                letters[at:at] = draw.choice(["(", ")", "=", ",", '"', "'", "[", "]", "\n", "\0", "é", "\ud800", "1e9"])
            case 1:
                letters[at : at + 1] = []
            case 2:
                letters[at : at + 1] = draw.choice(string.printable)
            case _:
                letters[at:at] = letters[:at] * draw.choice([1, 1, 50])
    return "".join(letters)


SPECS = ["leduc(suits=true)", "kuhn_ext(3,1,1)", "matrix([[1,-1],[-1,1]])", "goofspiel(cards=3,order=random)", "kuhn"]
ASSEMBLED = ["dcfr(alpha=2,beta=0.5)", "mccfr-outcome(epsilon=0.3)", "cfr+(delay=3)", "warm-start(warmup=5)", "lp"]


@pytest.mark.parametrize("first", range(0, 300, 30))
@pytest.mark.parametrize(("door", "specs"), [(make, SPECS), (build, ASSEMBLED)], ids=["game", "algorithm"])
def test_any_name_is_taken_or_refused(door, specs, first) -> None:
    for seed in range(first, first + 30):
        draw = random.Random(seed)
        spec = mutated(draw.choice(specs), draw)
        try:
            door(spec)
        except TreeplexError:
            refused(lambda spec=spec: door(spec))


# --- policies --------------------------------------------------------------------------------------------------------


def kuhn() -> Policy:
    return Policy.uniform("kuhn")


def test_policies_are_asked_like_dictionaries() -> None:
    policy = kuhn()
    assert "0" in policy
    assert (1, "0p") in policy
    assert (0, "0p") not in policy
    assert 5 not in policy
    assert policy.get("0") == policy["0"]
    assert policy.get("nope", 3) == 3


def test_equal_policies_are_equal() -> None:
    policy = kuhn()
    shuffled = Policy.from_rows(list(policy.rows())[::-1], "other name")
    assert policy == shuffled
    assert hash(policy) == hash(shuffled)
    assert policy != policy.replace({"0": {"p": 1.0}})
    assert policy != Policy.uniform("leduc")
    assert policy != 5


def test_a_policy_is_edited_and_the_old_one_stays() -> None:
    policy = kuhn()
    always = policy.replace({"0pb": {"b": 1.0}, (1, "2b"): {"b": 0.75, "p": 0.25}})
    assert always["0pb"] == {"p": 0.0, "b": 1.0}
    assert always[1, "2b"] == {"p": 0.25, "b": 0.75}
    assert policy["0pb"] == {"p": 0.5, "b": 0.5}
    assert tp.evaluate("kuhn", always).value != tp.evaluate("kuhn", policy).value
    for wrong in ({"0pb": {"call": 1.0}}, {"0pb": {"b": 0.5}}, {"nope": {"b": 1.0}}, {"0pb": 5}, {"0pb": {}},
                  {"0pb": {"b": 1.5, "p": -0.5}}, {"0pb": {"b": "1"}}):  # fmt: skip
        refused(lambda wrong=wrong: policy.replace(wrong), ParameterError)


def test_a_policy_comes_from_a_dictionary() -> None:
    policy = kuhn().replace({"0": {"b": 1.0}})
    assert Policy.from_dict(dict(policy.items())) == policy
    plain = {label: actions for (_, label), actions in policy.items()}
    assert tp.evaluate("kuhn", plain) == tp.evaluate("kuhn", policy)
    assert Policy.from_dict({**plain, "0": {"b": 1.0}}, "kuhn") == policy  # what is left out is 0
    assert "name the game" in refused(lambda: Policy.from_dict(plain), ParameterError)
    assert "no such infoset" in refused(lambda: Policy.from_dict({"nope": {"b": 1.0}}, "kuhn"), ParameterError)


@pytest.mark.parametrize("source", [5, None, object(), ["a"], b"x", {"0": 5}, {5: {}}, {"0": {"p": "1"}}])
def test_what_is_no_policy_is_refused(source) -> None:
    refused(lambda: tp.evaluate("kuhn", source), ParameterError)


@pytest.mark.parametrize("seed", range(120))
def test_broken_policy_files_are_taken_or_refused(seed, tmp_path) -> None:
    draw = random.Random(seed)
    path = tmp_path / "p.json"
    kuhn().save(path)
    path.write_text(mutated(path.read_text(), draw).replace("\ud800", "?"))
    try:
        tp.evaluate("kuhn", path)
    except TreeplexError:
        refused(lambda: tp.evaluate("kuhn", path))


@pytest.mark.parametrize("seed", range(60))
def test_broken_parquet_files_are_taken_or_refused(seed, tmp_path) -> None:
    draw = random.Random(seed)
    path = tmp_path / "p.parquet"
    kuhn().save(path)
    data = bytearray(path.read_bytes())
    for _ in range(draw.randint(1, 8)):
        data[draw.randrange(4, len(data))] = draw.randrange(256)
    path.write_bytes(data[: len(data) - draw.choice([0, 0, 1, 100])])
    try:
        tp.evaluate("kuhn", path)
    except TreeplexError:
        refused(lambda: tp.evaluate("kuhn", path))


def test_a_parquet_file_of_too_many_rows_is_refused_from_its_footer(tmp_path, monkeypatch) -> None:
    path = tmp_path / "bomb.parquet"
    rows = 100_000
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(rows, dtype=np.int32)), ["x"])
    numbers = {"player": np.zeros(rows, dtype=np.int8), "probability": np.ones(rows)}
    pq.write_table(pa.table({"infoset": column, "action": column, **numbers}), path)
    monkeypatch.setattr(pq, "read_table", None)  # the footer alone is read
    assert "it has 100,000 rows, but at most 24 are possible" in refused(lambda: tp.evaluate("kuhn", path), FormatError)
    monkeypatch.setattr(arrow, "LARGEST_ROWS", 1000)
    assert "it has 100,000 rows" in refused(lambda: Policy.load(path), FormatError)


def test_a_parquet_file_of_one_long_text_is_refused(tmp_path, monkeypatch) -> None:
    path = tmp_path / "bomb.parquet"
    column = pa.DictionaryArray.from_arrays(pa.array(np.zeros(20, dtype=np.int32)), ["x" * 1000])
    numbers = {"player": np.zeros(20, dtype=np.int8), "probability": np.ones(20)}
    pq.write_table(pa.table({"infoset": column, "action": column, **numbers}), path)
    monkeypatch.setattr(arrow, "LARGEST_TEXT", 10_000)
    assert "labels would take more" in refused(lambda: Policy.load(path), FormatError)


@pytest.mark.parametrize("error", [MemoryError("no room"), pa.ArrowMemoryError("malloc failed")])
def test_no_memory_for_a_policy_is_a_sentence(error, tmp_path, monkeypatch) -> None:
    path = tmp_path / "p.parquet"
    kuhn().save(path)

    def fail(*_: object, **__: object) -> None:
        raise error

    monkeypatch.setattr(pq, "ParquetFile", fail)
    refused(lambda: Policy.load(path), FormatError)


def test_notebooks_get_short_escaped_tables() -> None:
    game = tp.load("leduc")
    odd = Policy.from_rows([(0, "<b>", "<i>", 1.0)], "<game>")
    for shown in (game._repr_html_(), Policy.uniform(game)._repr_html_(), odd._repr_html_(),
                  tp.evaluate(game, Policy.uniform(game))._repr_html_()):  # fmt: skip
        assert shown.startswith("<table>")
        assert len(shown) < 5000
        assert "<b>" not in shown
        assert "<game>" not in shown
    assert "&lt;b&gt;" in odd._repr_html_()


def test_pandas_is_an_extra(monkeypatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, "pandas", None)
    for action in (kuhn().to_pandas, tp.load("kuhn").to_pandas, tp.evaluate("kuhn", kuhn()).to_pandas):
        assert "treeplex[pandas]" in refused(action, MissingExtraError)


def test_tables_become_data_frames() -> None:
    pytest.importorskip("pandas")
    assert list(kuhn().to_pandas().columns) == ["player", "infoset", "action", "probability"]
    assert len(tp.load("kuhn").to_pandas()) == 24
    assert len(tp.evaluate("kuhn", kuhn()).to_pandas()) == 1


# --- games -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("rows", [[[1, -1], [-1, 1]], ((1, -1), (-1, 1)), np.array([[1, -1], [-1, 1]])])
def test_matrices_are_games(rows) -> None:
    assert tp.solve(rows, "lp").value == 0.0


@pytest.mark.parametrize("name", ["kuhn", "leduc", "goofspiel", "one_card_poker(20)", "continuous_leduc"])
def test_games_can_be_pickled(name) -> None:
    game = tp.load(name)
    again = pickle.loads(pickle.dumps(game))
    assert again.fingerprint == game.fingerprint
    assert again.tree.nodes == game.nodes


@pytest.mark.parametrize("algorithm", ["cfr", "cfr+", "dcfr", "lp", "mccfr-external", "hedge", "cfr-rbp", "egt"])
def test_solutions_can_be_pickled(algorithm) -> None:
    solution = tp.solve("kuhn", algorithm, **({} if algorithm == "lp" else {"iterations": 5}))
    again = pickle.loads(pickle.dumps(solution))
    assert again.policy == solution.policy
    assert again.summary() == solution.summary()


def test_explorations_and_growth_can_be_pickled() -> None:
    for solution in (tp.explore("kuhn", iterations=5, responses=2), tp.grow("continuous_leduc", iterations=5)):
        assert pickle.loads(pickle.dumps(solution)).policy == solution.policy


@pytest.mark.parametrize("suffix", [".efg", ".safetensors"])
def test_games_are_saved_by_their_suffix(suffix, tmp_path) -> None:
    path = tmp_path / f"mine{suffix}"
    tp.load("kuhn").save(path)
    tp.load("kuhn").save(path)  # in place of the old one
    assert tp.solve(path, "lp").value == pytest.approx(-1 / 18)
    assert list(tmp_path.iterdir()) == [path]
    refused(lambda: tp.load("kuhn").save(tmp_path / "mine.txt"), ParameterError)
    refused(lambda: tp.load("kuhn").save(tmp_path / "none" / f"mine{suffix}"), ParameterError)


# --- arguments -------------------------------------------------------------------------------------------------------


def test_numbers_of_numpy_and_whole_floats_are_counts() -> None:
    plain = tp.solve("kuhn", "mccfr-external", iterations=20, seed=3)
    for iterations, seed in ((np.int64(20), np.int32(3)), (20.0, 3.0), (np.float64(2e1), np.uint8(3))):
        solution = tp.solve("kuhn", "mccfr-external", iterations=iterations, seed=seed)
        assert solution.policy == plain.policy
        json.dumps(solution.summary())
    assert tp.solve("kuhn", "mccfr-external(streams=2e0)", nodes=np.int64(500)).nodes_touched >= 500
    assert tp.solve("kuhn", nash_conv=np.float32(0.01), seconds=np.int64(60)).status == "solved"
    assert choose("mccfr-external(streams=2e0)").name == choose("mccfr-external(streams=2)").name


@pytest.mark.parametrize(
    "wrong",
    [
        {"nash_conv": 10**400},
        {"nash_conv": "1"},
        {"seconds": math.nan},
        {"iterations": 1.5},
        {"iterations": True},
        {"out": 5},
        {"out": b"x"},
        {"out": "x\0y"},
        {"out": ""},
        {"watch": 5},
        {"answer": "x"},
        {"seed": -1},
        {"seed": 1.5},
        {"threads": "two"},
        {"checkpoint_seconds": -1},
        {"algorithm": "cfr++"},
        {"algorithm": 5},
    ],
)
def test_wrong_arguments_are_refused_before_the_game_is_loaded(wrong) -> None:
    class Unloadable:
        root = mover = actions = probabilities = child = infoset = payoff = None

    given = {"iterations": 5} | wrong
    name = next(iter(wrong))
    assert (
        f"'{name}' parameter" in refused(lambda: tp.solve(Unloadable(), **given), ParameterError) or name == "algorithm"
    )


@pytest.mark.parametrize("wrong", [10**400, "much", "9" * 1000, math.inf, math.nan, -1, b"1", [1]], ids=range(8))
def test_a_wrong_exploitability_is_refused(wrong) -> None:
    assert "'exploitability' parameter" in refused(lambda: tp.solve("kuhn", exploitability=wrong), ParameterError)


@pytest.mark.parametrize("limit", ["iterations", "nodes"])
def test_a_limit_that_cannot_be_heeded_is_refused(limit) -> None:
    sentence = refused(lambda: tp.solve("kuhn", "lp", **{limit: 10}), ParameterError)
    assert sentence.startswith(f"The '{limit}' parameter is not supported by 'lp'")
    assert tp.solve("kuhn", "lp", seconds=60, nash_conv=1e-6).status == "solved"
