"""Policies: immutable, found by label, the same bits after a trip to disk, and refused when they do not fit."""

from __future__ import annotations

import json
import pickle
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import treeplex as tp
from treeplex.arrow import unpacked
from treeplex.compile import CompiledGame, compile_game
from treeplex.errors import FormatError, ParameterError, TreeplexError, quoted
from treeplex.evaluation import Policy
from treeplex.games.matrix import MatrixGame
from treeplex.games.random_tree import RandomTree

KUHN = tp.load("kuhn")
SUFFIXES = [".json", ".parquet"]


def behaviour_of(game: CompiledGame, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    first, second = (
        np.concatenate([np.ones(1), *(rng.dirichlet(np.ones(n)) for n in treeplex.actions.tolist())])
        for treeplex in game.treeplexes
    )
    return first, second


def random_policy(game: CompiledGame = KUHN, seed: int = 0) -> Policy:
    return Policy.of(game, behaviour_of(game, seed))


def rows_of(policy: Policy) -> list[tuple[int, str, str, float]]:
    return list(policy.rows())


def refusal(action: Any, kind: type[TreeplexError] | tuple[type[TreeplexError], ...]) -> str:
    with pytest.raises(kind) as error:
        action()
    text = str(error.value)
    assert "\n" not in text
    assert text.endswith(".")
    return text


# --- immutable -------------------------------------------------------------------------------------------------------


def test_a_policy_copies_the_arrays_it_is_given() -> None:
    behaviour = behaviour_of(KUHN, 1)
    policy = Policy.of(KUHN, behaviour)
    before = rows_of(policy)
    for array in behaviour:
        array[:] = 0.5
    assert rows_of(policy) == before


@pytest.mark.parametrize("made", [random_policy(), Policy.uniform(KUHN), Policy.from_rows(rows_of(random_policy()))])
def test_probabilities_are_read_only(made) -> None:
    for strategy in made.strategies:
        with pytest.raises(ValueError, match="read-only"):
            strategy.probability[1] = 0.0
    before = rows_of(made)
    for array in made.aligned(KUHN):
        if array.flags.writeable:  # then it must be a copy
            array[:] = 0.0
    assert rows_of(made) == before


@pytest.mark.parametrize("made", [random_policy(), Policy.from_rows(rows_of(random_policy()))], ids=["of", "from_rows"])
def test_every_array_of_a_policy_is_read_only(made) -> None:
    assert not any(strategy.first.flags.writeable for strategy in made.strategies)


def test_fields_cannot_be_replaced() -> None:
    policy = random_policy()
    with pytest.raises(AttributeError):
        policy.game = "other"
    with pytest.raises(AttributeError):
        policy.strategies[0].probability = np.ones(13)


def test_what_a_policy_hands_out_is_a_copy() -> None:
    policy = random_policy()
    before = policy["0pb"]
    policy["0pb"]["b"] = 7.0
    assert policy["0pb"] == before


def test_a_solution_is_not_changed_by_a_later_run() -> None:
    first = tp.solve("kuhn", "cfr", iterations=5)
    before = rows_of(first.policy)
    tp.solve(first.game, "cfr+", iterations=50)
    assert rows_of(first.policy) == before


# --- lookup ----------------------------------------------------------------------------------------------------------


def test_lookup_by_label_and_by_player() -> None:
    policy = random_policy()
    assert list(policy["0pb"]) == ["p", "b"]
    assert policy["0pb"] == policy[0, "0pb"]
    assert sum(policy[1, "2b"].values()) == pytest.approx(1, abs=1e-15)
    assert len(policy) == 12 == len(list(policy))
    assert dict(policy.items()) == {key: policy[key] for key in policy}
    assert repr(policy) == "Policy(kuhn: 6 + 6 infosets)"
    assert repr(Policy.from_rows([])) == "Policy(unnamed game: 0 + 0 infosets)"


def test_a_label_of_both_players_needs_the_player() -> None:
    policy = Policy.from_rows([(0, "x", "l", 1.0), (1, "x", "r", 1.0)])
    assert refusal(lambda: policy["x"], ParameterError) == (
        "Both players have an infoset 'x'; ask for policy[0, 'x'] or policy[1, ...]."
    )
    assert (policy[0, "x"], policy[1, "x"]) == ({"l": 1.0}, {"r": 1.0})


@pytest.mark.parametrize(
    ("key", "sentence"),
    [
        ("0pbb", "There is no infoset '0pbb'; the nearest are '0pb', '0p', '0b'."),
        ((1, "0pb"), "There is no infoset '0pb' for player 1; the nearest are '0p', '0b', '2p'."),
    ],
)
def test_an_unknown_label_names_the_nearest(key, sentence) -> None:
    found = refusal(lambda: random_policy()[key], ParameterError)
    assert found.partition(";")[0] == sentence.partition(";")[0]
    assert found.split()[-3].strip("',.") == sentence.split()[-3].strip("',.")  # the nearest comes first


def test_a_policy_without_infosets_has_no_nearest_label() -> None:
    assert "There is no infoset 'x'" in refusal(lambda: Policy.from_rows([])["x"], ParameterError)


@pytest.mark.parametrize("key", [(2, "0"), 0, (0, 1, "0"), None])
def test_keys_that_cannot_be_are_refused(key) -> None:
    sentence = refusal(lambda: random_policy()[key], ParameterError)
    assert "policy[" in sentence or "player" in sentence
    assert "nearest are ." not in sentence


# --- to disk and back ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_files_keep_every_bit(suffix, tmp_path) -> None:
    policy = random_policy(tp.load("leduc"), 5)
    path = tmp_path / f"policy{suffix}"
    policy.save(path)
    again = Policy.load(path)
    assert rows_of(again) == rows_of(policy)
    assert again.game == "leduc"
    for kept, returned in zip(policy.aligned(tp.load("leduc")), again.aligned(tp.load("leduc")), strict=True):
        assert kept.tobytes() == returned.tobytes()
    assert list(tmp_path.iterdir()) == [path]  # nothing half-written stays behind


labels = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\x1f"), max_size=6)


@st.composite
def tables(draw: Any) -> list[tuple[int, str, str, float]]:
    """Rows of a policy with any labels and any probabilities that add up to one."""
    rows = []
    for player in (0, 1):
        for infoset in draw(st.lists(labels, unique=True, max_size=4)):
            actions = draw(st.lists(labels, unique=True, min_size=1, max_size=4))
            weights = draw(
                st.lists(st.floats(0, 1, allow_subnormal=True), min_size=len(actions), max_size=len(actions)).filter(
                    lambda drawn: sum(drawn) > 1e-3
                )
            )
            rows += [(player, infoset, action, w / sum(weights)) for action, w in zip(actions, weights, strict=True)]
    return rows


@settings(max_examples=80)
@given(rows=tables())
def test_any_labels_and_probabilities_survive(rows, tmp_path_factory) -> None:
    folder = tmp_path_factory.mktemp("policy", numbered=True)
    policy = Policy.from_rows(rows, "any")
    assert rows_of(policy) == rows
    for suffix in SUFFIXES:
        policy.save(folder / f"p{suffix}")
        assert rows_of(Policy.load(folder / f"p{suffix}")) == rows


@settings(max_examples=40)
@given(st.integers(0, 2**31), st.randoms(use_true_random=False))
def test_rows_may_come_in_any_order(seed, rng) -> None:
    game = compile_game(RandomTree(seed=seed, depth=5))
    policy = random_policy(game, seed)
    rows = rows_of(policy)
    rng.shuffle(rows)
    for kept, shuffled in zip(policy.aligned(game), Policy.from_rows(rows).aligned(game), strict=True):
        assert kept.tobytes() == shuffled.tobytes()


def test_probabilities_a_little_off_are_put_right(tmp_path) -> None:
    policy = Policy.from_rows([(0, "a", "x", 0.3333333), (0, "a", "y", 0.6666666)])
    assert sum(policy["a"].values()) == pytest.approx(1, abs=1e-15)
    exact = [(0, "a", "x", 0.1 + 0.2), (0, "a", "y", 0.7)]  # off by rounding only: left alone
    assert rows_of(Policy.from_rows(exact)) == exact


def test_labels_with_odd_characters_are_kept_apart() -> None:
    """Infoset and action are never confused, whatever separates them inside."""
    for separator in ("", " ", "|", "\x00", "\x1e", "♠"):
        rows = [(0, "a", f"b{separator}c", 1.0), (0, f"a{separator}b", "c", 1.0)]
        assert rows_of(Policy.from_rows(rows)) == rows


def test_labels_with_the_unit_separator_are_kept_apart() -> None:
    rows = [(0, "a", "b\x1fc", 1.0), (0, "a\x1fb", "c", 1.0)]
    assert rows_of(Policy.from_rows(rows)) == rows


def test_a_table_is_what_people_expect() -> None:
    table = random_policy().table()
    assert table.column_names == ["player", "infoset", "action", "probability"]
    assert table.num_rows == 24
    assert table.schema.metadata[b"game"] == b"kuhn"


# --- policies for another game ---------------------------------------------------------------------------------------


def changed(change: Any) -> Policy:
    return Policy.from_rows(change(rows_of(random_policy())))


def test_a_missing_infoset_is_refused() -> None:
    policy = changed(lambda rows: [row for row in rows if row[1] != "1b"])
    assert refusal(lambda: policy.aligned(KUHN), ParameterError) == (
        "The policy is not one for kuhn: 1 of 6 infosets of player 1 are not in the policy, such as '1b'."
    )


def test_an_extra_infoset_is_refused() -> None:
    policy = changed(lambda rows: [*rows, (0, "9", "p", 1.0)])
    assert refusal(lambda: policy.aligned(KUHN), ParameterError) == (
        "The policy is not one for kuhn: 1 of 7 infosets of player 0 are not in the game, such as '9'."
    )


@pytest.mark.parametrize(
    "change",
    [
        lambda rows: [(p, i, a.upper(), q) for p, i, a, q in rows],
        lambda rows: [*rows, (0, "0", "x", 0.0)],
        lambda rows: [row if row[1] != "0" else (0, "0", "p", 1.0) for row in rows if row[1:3] != ("0", "b")],
    ],
    ids=["other names", "one more", "one less"],
)
def test_other_actions_are_refused(change) -> None:
    assert refusal(lambda: changed(change).aligned(KUHN), ParameterError) == (
        "The policy is not one for kuhn: some infosets of player 0 have the right labels but other actions."
    )


def test_a_policy_of_another_game_is_refused() -> None:
    sentence = refusal(lambda: tp.evaluate("leduc", random_policy()), ParameterError)
    assert sentence.startswith("The policy is not one for leduc: 144 of 144 infosets of player 0 are not in the policy")


def test_players_exchanged_are_refused() -> None:
    policy = changed(lambda rows: [(1 - p, i, a, q) for p, i, a, q in rows])
    assert "The policy is not one for kuhn" in refusal(lambda: policy.aligned(KUHN), ParameterError)


def test_alignment_is_by_label_not_by_place() -> None:
    """Two games with the same infosets in another order take the same policy to the same value."""
    by_deals, by_walk = tp.load("kuhn"), tp.load("openspiel:kuhn_poker")
    assert unpacked(by_deals.labels[0].infosets) != unpacked(by_walk.labels[0].infosets)
    rows = [(p, i, {"p": "Pass", "b": "Bet"}[a], q) for p, i, a, q in rows_of(random_policy())]
    assert tp.evaluate(by_walk, Policy.from_rows(rows)).value == pytest.approx(
        tp.evaluate(by_deals, random_policy()).value, abs=1e-15
    )


# --- what is no policy -----------------------------------------------------------------------------------------------

NO_DISTRIBUTIONS = [[-0.1, 1.1], [float("nan"), 1.0], [0.5, 0.4], [0.5, 0.500002], [float("inf"), 0.0], [0.0, 0.0]]


@pytest.mark.parametrize("shares", NO_DISTRIBUTIONS, ids=str)
@pytest.mark.parametrize("suffix", SUFFIXES)
def test_probabilities_that_are_no_distribution_are_refused_in_files(suffix, shares, tmp_path) -> None:
    path = tmp_path / f"p{suffix}"
    if suffix == ".json":
        path.write_text(json.dumps({"players": [{"inf": dict(zip("xy", shares, strict=True))}, {}]}))
    else:
        pq.write_table(
            pa.table({"player": [0, 0], "infoset": ["inf"] * 2, "action": ["x", "y"], "probability": shares}), path
        )
    sentence = refusal(lambda: Policy.load(path), FormatError)
    assert f"p{suffix}: not a policy" in sentence
    assert "at infoset 'inf' of player 0 the probabilities are not a distribution" in sentence


@pytest.mark.parametrize(
    "rows",
    [
        *([(0, "a", "x", x), (0, "a", "y", y)] for x, y in NO_DISTRIBUTIONS),
        [(2, "a", "x", 1.0)],
        [(300, "a", "x", 1.0)],
        [(0, "a", "x", 0.5), (0, "a", "x", 0.5)],
        [(0, "a", "x")],
        [(0, 7, "x", 1.0)],
    ],
    ids=str,
)
def test_rows_that_are_no_policy_are_refused(rows) -> None:
    refusal(lambda: Policy.from_rows(rows), (ParameterError, FormatError))


JSON_RUBBISH = [
    "",
    "nonsense",
    "[]",
    "3",
    "null",
    '"text"',
    '{"players": 3}',
    '{"players": [{}]}',
    '{"players": [{}, {}, {}]}',
    '{"players": ["ab", {}]}',
    '{"players": [{"a": 3}, {}]}',
    '{"players": [{"a": {"x": "y"}}, {}]}',
    '{"players": [{"a": {"x": null}}, {}]}',
    '{"players": [{"a": {"x": [1]}}, {}]}',
    '{"players": [{"a": {"x": NaN}}, {}]}',
    '{"players": [{"a": {"x": 1e999}}, {}]}',
    '{"players": [{"a": {"\\ud800": 1}}, {}]}',
    '{"players": [{"a": {"x": 1}}, {}]',
    "\x00" * 100,
]


@pytest.mark.parametrize("text", JSON_RUBBISH, ids=range(len(JSON_RUBBISH)))
def test_json_that_is_no_policy_is_refused(text, tmp_path) -> None:
    path = tmp_path / "p.json"
    path.write_text(text)
    assert "not a policy of treeplex, in Parquet or JSON" in refusal(lambda: Policy.load(path), FormatError)


@pytest.mark.parametrize(
    "text",
    ["{}", "[" * 100_000, '{"players": [{"a": {"x": 1' + "0" * 400 + "}}, {}]}"],
    ids=["KeyError", "RecursionError", "OverflowError"],
)
def test_more_json_that_is_no_policy_is_refused(text, tmp_path) -> None:
    path = tmp_path / "p.json"
    path.write_text(text)
    refusal(lambda: Policy.load(path), FormatError)


@pytest.mark.parametrize(
    "columns",
    [
        {"player": [0]},
        {"player": [0], "infoset": ["a"], "action": ["x"]},
        {"player": [0], "infoset": ["a"], "action": ["x"], "probability": ["one"]},
        {"player": [0], "infoset": ["a"], "action": ["x"], "probability": [None]},
        {"player": [2], "infoset": ["a"], "action": ["x"], "probability": [1.0]},
        {"player": [300], "infoset": ["a"], "action": ["x"], "probability": [1.0]},
        {"player": [0, 0], "infoset": ["a", "a"], "action": ["x", "x"], "probability": [0.5, 0.5]},
        {"player": [0], "infoset": [[1]], "action": ["x"], "probability": [1.0]},
    ],
    ids=range(8),
)
def test_parquet_that_is_no_policy_is_refused(columns, tmp_path) -> None:
    path = tmp_path / "p.parquet"
    pq.write_table(pa.table({**columns}), path)
    assert "not a policy of treeplex, in Parquet or JSON" in refusal(lambda: Policy.load(path), FormatError)


def test_columns_more_than_needed_do_no_harm(tmp_path) -> None:
    path = tmp_path / "p.parquet"
    table = random_policy().table()
    pq.write_table(table.append_column("note", [["hand-made"] * table.num_rows]), path)
    assert rows_of(Policy.load(path)) == rows_of(random_policy())


def test_a_missing_file_is_named(tmp_path) -> None:
    path = tmp_path / "none.parquet"
    assert refusal(lambda: Policy.load(path), ParameterError) == f"There is no policy file {quoted(path)}."


def test_a_folder_is_no_policy(tmp_path) -> None:
    refusal(lambda: Policy.load(tmp_path), (FormatError, ParameterError))


def test_pickles_are_not_read(tmp_path) -> None:
    """Nothing in a policy file can run."""

    class Trap:
        def __reduce__(self) -> Any:
            return Path.touch, (tmp_path / "sprung",)

    path = tmp_path / "p.parquet"
    path.write_bytes(pickle.dumps(Trap()))
    refusal(lambda: Policy.load(path), FormatError)
    assert not (tmp_path / "sprung").exists()


def mutated(data: bytes, rng: random.Random) -> bytes:
    """One of: cut short, a few bytes changed, a piece dropped, doubled or overwritten by zeros."""
    at, length = rng.randrange(len(data)), rng.randrange(1, 40)
    match rng.randrange(5):
        case 0:
            return data[:at]
        case 1:
            changed = bytearray(data)
            for _ in range(rng.randrange(1, 4)):
                changed[rng.randrange(len(data))] = rng.randrange(256)
            return bytes(changed)
        case 2:
            return data[:at] + data[at + length :]
        case 3:
            return data[:at] + data[at : at + length] + data[at:]
        case _:
            return data[:at] + bytes(length) + data[at + length :]


@pytest.mark.parametrize("suffix", SUFFIXES)
def test_damaged_files_are_refused_or_still_policies(suffix, tmp_path) -> None:
    """Three hundred of them: a sentence, or a policy whose numbers are distributions; never another exception."""
    path = tmp_path / f"p{suffix}"
    random_policy().save(path)
    whole = path.read_bytes()
    rng = random.Random(1)
    refused = 0
    for _ in range(300):
        damaged = mutated(whole, rng)
        if suffix == ".json" and b'"players"' not in damaged:
            continue  # a KeyError: see above
        path.write_bytes(damaged)
        try:
            policy = Policy.load(path)
        except (FormatError, ParameterError) as error:
            assert "not a policy of treeplex" in str(error)
            refused += 1
            continue
        for actions in map(policy.__getitem__, policy):
            assert sum(actions.values()) == pytest.approx(1, abs=1e-9)
            assert min(actions.values()) >= 0
        try:
            tp.evaluate(KUHN, policy)
        except ParameterError:
            refused += 1
    assert refused > 100


def test_damaged_files_are_refused_in_one_line(tmp_path) -> None:
    path = tmp_path / "p.parquet"
    random_policy().save(path)
    whole, refused = path.read_bytes(), 0
    for at in range(20, 200, 20):
        path.write_bytes(whole[:-at] + bytes(8) + whole[8 - at :])
        try:
            Policy.load(path)  # some bytes of the footer do not matter
        except FormatError as error:
            refused += 1
            assert "\n" not in str(error)
    assert refused > 0


def test_one_action_games_have_sure_policies() -> None:
    game = compile_game(MatrixGame([[5]]))
    assert Policy.uniform(game)["row"] == {"r0": 1.0}
