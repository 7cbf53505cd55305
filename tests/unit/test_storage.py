"""Compiled games on disk: identical after a trip, and never an index out of range from a damaged or hostile file."""

from __future__ import annotations

import json
import pickle
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from safetensors import safe_open
from safetensors.numpy import save_file

import treeplex as tp
from treeplex.arrow import unpacked
from treeplex.compile import CompiledGame, compile_game, load, save
from treeplex.errors import FormatError, ParameterError, quoted
from treeplex.evaluation import Policy
from treeplex.games.random_tree import RandomTree
from treeplex.tensors import checksum

GAMES = [
    "kuhn",
    "leduc",
    "liars_dice(sides=3)",
    "goofspiel",
    "random_tree",
    "gaussian_matrix(size=5)",
    "one_card_poker(70)",
]


class Unicode:
    """Labels in several scripts, some long, one empty."""

    name = "Spiel ♠ «ö» 牌"

    def root(self) -> str:
        return ""

    def mover(self, history: str) -> int:
        return {0: -1, 1: 0, 2: 1}.get(len(history), -2)

    def actions(self, history: str) -> tuple[str, ...]:
        return ("♥", "♠") if not history else ("ж", "")

    def probabilities(self, history: str) -> tuple[float, ...]:
        return (1 / 3, 2 / 3)

    def child(self, history: str, action: str) -> str:
        return history + (action or "-")

    def infoset(self, history: str) -> str:
        return {1: "", 2: "牌" * 50}[len(history)] + (history[0] if len(history) == 1 else "")

    def payoff(self, history: str) -> tuple[float, float]:
        return 0.1 * len(history.encode()), 2.5 - 0.1 * len(history.encode())


def arrays(game: CompiledGame) -> dict[str, Any]:
    """Every array of a game by name."""
    found = {f"tree.{name}": array for name, array in game.tree._asdict().items()}
    for player in (0, 1):
        found |= {f"{player}.{name}": array for name, array in game.treeplexes[player]._asdict().items()}
        found[f"{player}.actions"] = game.labels[player].actions
    for side, csr in game.payoffs._asdict().items():
        found |= {f"{side}.{name}": array for name, array in csr._asdict().items()}
    return found


def assert_inside(game: CompiledGame) -> None:
    """No index that a kernel or a label lookup follows points outside its array."""
    tree, nodes = game.tree, game.tree.nodes
    kinds = {"tree.probability", "tree.payoff", "rows.data", "columns.data"}
    for name, array in arrays(game).items():
        assert array.ndim == 1, name
        assert np.issubdtype(array.dtype, np.floating if name in kinds else np.integer), name
    assert all(len(array) == nodes > 0 for array in tree)
    node = np.arange(nodes)
    assert np.isin(tree.mover, (-2, -1, 0, 1)).all()
    assert (tree.size >= 1).all()
    assert (node + tree.size <= nodes).all()
    assert ((tree.parent[1:] >= 0) & (tree.parent[1:] < node[1:])).all()
    assert ((tree.action[1:] >= 0) & (tree.action[1:] < len(game.actions))).all()
    assert np.isfinite(tree.payoff).all()
    assert np.isfinite(tree.probability).all()
    sizes = []
    for player, (treeplex, labels) in enumerate(zip(game.treeplexes, game.labels, strict=True)):
        first, parent = treeplex
        assert len(first) == len(parent) + 1
        assert first[0] == 1
        assert (np.diff(first.astype(np.int64)) >= 1).all()
        assert ((parent >= 0) & (parent < first[:-1])).all()
        own = tree.infoset[tree.mover == player]
        assert ((own >= 0) & (own < len(parent))).all()
        assert len(labels.infosets) == len(parent)
        assert len(labels.actions) == first[-1]
        assert labels.actions[0] == -1
        assert ((labels.actions[1:] >= 0) & (labels.actions[1:] < len(game.actions))).all()
        sizes.append(int(first[-1]))
    for csr, rows, columns in ((game.payoffs.rows, *sizes), (game.payoffs.columns, *sizes[::-1])):
        assert len(csr.start) == rows + 1
        assert csr.start[0] == 0
        assert csr.start[-1] == len(csr.data) == len(csr.column)
        assert (np.diff(csr.start.astype(np.int64)) >= 0).all()
        assert ((csr.column >= 0) & (csr.column < columns)).all()
        assert np.isfinite(csr.data).all()


def store(tensors: dict[str, Any], path: Path, header: dict[str, str]) -> None:
    """Write a forged file whose checksum is right, so that only the checks behind it can refuse it."""
    tensors = {key: np.ascontiguousarray(array) for key, array in tensors.items()}
    save_file(tensors, path, header | {"checksum": checksum(tensors, header.get("about", ""))})


def read(path: Path) -> tuple[dict[str, Any], dict[str, str]]:
    with safe_open(path, framework="numpy") as file:
        return {key: file.get_tensor(key).copy() for key in file.keys()}, dict(file.metadata())  # noqa: SIM118


# --- there and back --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "source", [*GAMES, Unicode()], ids=lambda source: source if isinstance(source, str) else "unicode"
)
def test_a_saved_game_is_the_same_game(source, tmp_path, check_compiled) -> None:
    game = tp.load(source)
    path = tmp_path / "game.safetensors"
    save(game, path)
    again = load(path)
    for name, array in arrays(game).items():
        assert arrays(again)[name].dtype == array.dtype, name
        np.testing.assert_array_equal(arrays(again)[name], array, err_msg=name)
    assert again.actions == game.actions
    assert [unpacked(names.infosets) for names in again.labels] == [unpacked(names.infosets) for names in game.labels]
    for field in ("name", "constant", "known_value", "nodes", "terminals", "largest_payoff"):
        assert getattr(again, field) == getattr(game, field), field
    check_compiled(again)
    assert_inside(again)
    assert list(tmp_path.iterdir()) == [path]


def test_policies_of_a_saved_game_are_worth_the_same(tmp_path) -> None:
    game = tp.load("leduc")
    save(game, tmp_path / "leduc.safetensors")
    again = tp.load(tmp_path / "leduc.safetensors")
    solution = tp.solve(again, "cfr+", iterations=20)
    assert tp.evaluate(game, solution.policy).nash_conv == pytest.approx(solution.nash_conv, abs=1e-12)
    assert again.known_value == -0.0856064240780005


@settings(max_examples=30)
@given(st.integers(0, 2**40), st.integers(1, 6), st.sampled_from([0.0, 0.5]))
def test_random_trees_are_the_same_after_a_trip(tmp_path_factory, seed, depth, chance) -> None:
    game = compile_game(RandomTree(seed=seed, depth=depth, chance=chance))
    path = tmp_path_factory.getbasetemp() / "tree.safetensors"
    save(game, path)
    again = load(path)
    assert all(np.array_equal(array, arrays(again)[name]) for name, array in arrays(game).items())


def test_games_no_player_moves_in_can_be_saved(tmp_path) -> None:
    game = compile_game(RandomTree(seed=1, depth=2, chance=1.0))
    assert [treeplex.infosets for treeplex in game.treeplexes] == [0, 0]
    save(game, tmp_path / "g.safetensors")
    again = load(tmp_path / "g.safetensors")
    assert tp.evaluate(again, Policy.uniform(again)) == tp.evaluate(game, Policy.uniform(game))


# --- what is no game -------------------------------------------------------------------------------------------------


@pytest.fixture
def saved(tmp_path) -> Path:
    path = tmp_path / "kuhn.safetensors"
    save(tp.load("kuhn"), path)
    return path


def refusal(path: Path) -> str:
    with pytest.raises(FormatError) as error:
        load(path)
    text = str(error.value)
    assert text.startswith(f"{path}: not a whole compiled game of treeplex (")
    assert text.endswith("); compile it again.")
    return text


@pytest.mark.parametrize("content", [b"", b"x", b"\0" * 1000, b"PAR1", b"\xff" * 64, pickle.dumps({"a": 1})])
def test_other_files_are_refused(content, tmp_path) -> None:
    path = tmp_path / "g.safetensors"
    path.write_bytes(content)
    refusal(path)


@pytest.mark.parametrize("metadata", [None, {}, {"format": "treeplex-game-0"}, {"format": "pt"}])
def test_other_safetensors_are_refused(metadata, tmp_path) -> None:
    path = tmp_path / "g.safetensors"
    save_file({"a": np.zeros(3)}, path, metadata)
    assert "format is" in refusal(path)


@pytest.mark.parametrize("about", ["", "{", "[]", "{}", "3", '{"name": "x", "constant": "y", "known_value": null}'])
def test_rubbish_about_a_game_is_refused(about, saved) -> None:
    tensors, header = read(saved)
    store(tensors, saved, header | {"about": about})
    refusal(saved)


@pytest.mark.parametrize("number", ["1" + "0" * 400, "NaN", "Infinity", "1e999"], ids=["huge", "nan", "inf", "1e999"])
def test_numbers_about_a_game_are_finite(number, saved) -> None:
    tensors, header = read(saved)
    store(tensors, saved, header | {"about": f'{{"name": "x", "constant": {number}, "known_value": null}}'})
    refusal(saved)


def test_a_missing_file_is_named(tmp_path) -> None:
    with pytest.raises(ParameterError) as error:
        tp.load(str(tmp_path / "none.safetensors"))
    assert str(error.value) == f"There is no file {quoted(tmp_path / 'none.safetensors')}."


def test_every_array_of_the_file_is_needed(saved) -> None:
    tensors, header = read(saved)
    for name in tensors:
        store({key: array for key, array in tensors.items() if key != name}, saved, header)
        assert name in refusal(saved)


def test_every_array_must_have_its_length(saved) -> None:
    tensors, header = read(saved)
    for name, array in tensors.items():
        for changed in (array[:-1], np.append(array, array[-1:])):
            if name == "vocabulary.offsets" and len(changed) > len(array):
                continue  # a word more, empty and unused
            store({**tensors, name: changed}, saved, header)
            refusal(saved)


# --- damage ----------------------------------------------------------------------------------------------------------


def survives(path: Path) -> bool:
    """Refused in a sentence, or whole enough to be evaluated; nothing else."""
    try:
        game = load(path)
    except FormatError as error:
        assert str(error).startswith(f"{path}: not a whole compiled game of treeplex (")
        return False
    assert_inside(game)
    tp.evaluate(game, Policy.uniform(game))
    return True


def mutated(data: bytes, rng: random.Random) -> bytes:
    """One of: cut short, bits flipped, bytes changed, a piece dropped or doubled."""
    at, length = rng.randrange(len(data)), rng.randrange(1, 40)
    changed = bytearray(data)
    match rng.randrange(5):
        case 0:
            return data[:at]
        case 1:
            changed[at] ^= 1 << rng.randrange(8)
        case 2:
            for _ in range(rng.randrange(1, 4)):
                changed[rng.randrange(len(data))] = rng.randrange(256)
        case 3:
            del changed[at : at + length]
        case _:
            changed[at:at] = data[at : at + length]
    return bytes(changed)


def test_damaged_files_are_refused_or_still_games(saved) -> None:
    whole = saved.read_bytes()
    rng = random.Random(0)
    survivors, missed = 0, []
    for number in range(300):
        saved.write_bytes(mutated(whole, rng))
        try:
            survivors += survives(saved)
        except Exception as error:
            missed.append((number, repr(error)[:80]))
    assert survivors < 150
    assert not missed


def test_damaged_headers_are_refused_or_still_games(saved) -> None:
    """Every byte of the header in turn: names, types, shapes and offsets of the arrays."""
    whole = saved.read_bytes()
    length = 8 + int.from_bytes(whole[:8], "little")
    rng = random.Random(2)
    kept = 0
    for at in range(0, length, 7):
        damaged = bytearray(whole)
        damaged[at] ^= 1 << rng.randrange(8)
        saved.write_bytes(bytes(damaged))
        try:
            load(saved)
        except FormatError:
            continue
        kept += 1
    assert kept < length // 7 // 2


INDICES = {
    "tree.mover": [2, 7, -3, 127, -128],
    "tree.parent": [-1, -2, 10**6, 2**31 - 1, -(2**31)],
    "tree.size": [0, -1, 10**6, 2**31 - 1, -(2**31)],
    "tree.infoset": [6, 10**6, -2, 2**31 - 1, -(2**31)],
    "tree.action": [-1, 99, 2**31 - 1, -(2**31)],
    "0.first": [0, -1, 14, 10**6, 2**31 - 1, -(2**31)],
    "1.parent": [-1, 13, 10**6, 2**31 - 1, -(2**31)],
    "0.actions": [-1, 99, 2**31 - 1, -(2**31)],
    "payoffs.rows.start": [-1, -10, 31, 10**6, 2**31 - 1, -(2**31)],
    "payoffs.columns.column": [-1, 13, 10**6, 2**31 - 1, -(2**31)],
}


@pytest.mark.parametrize("name", INDICES)
def test_no_index_out_of_range_survives(name, saved) -> None:
    tensors, header = read(saved)
    survivors = tried = 0
    for at in range(len(tensors[name])):
        for value in [*INDICES[name], int(tensors[name][at]) + 1, int(tensors[name][at]) - 1]:
            array = tensors[name].copy()
            array[at] = np.clip(value, np.iinfo(array.dtype).min, np.iinfo(array.dtype).max)
            store({**tensors, name: array}, saved, header)
            survivors += survives(saved)
            tried += 1
    assert survivors < tried


def test_rows_that_start_before_the_data_are_refused(saved) -> None:
    tensors, header = read(saved)
    tensors["payoffs.rows.start"][0] = -7
    store(tensors, saved, header)
    refusal(saved)


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("0.first", lambda array: array.astype(np.float64)),
        ("tree.parent", lambda array: array.astype(np.float32)),
        ("tree.payoff", lambda array: array.astype(np.int64)),
        ("payoffs.rows.column", lambda array: array.astype(np.int64)),
        ("payoffs.rows.data", lambda array: array[:, None]),
        ("tree.size", lambda array: array.astype(np.uint64)),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_arrays_of_other_types_are_refused(name, change, saved) -> None:
    tensors, header = read(saved)
    store({**tensors, name: np.ascontiguousarray(change(tensors[name]))}, saved, header)
    refusal(saved)


@pytest.mark.parametrize("name", ["tree.payoff", "tree.probability", "payoffs.rows.data", "payoffs.columns.data"])
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_numbers_that_are_not_finite_are_refused(name, bad, saved) -> None:
    tensors, header = read(saved)
    tensors[name][-1] = bad
    store(tensors, saved, header)
    refusal(saved)


def test_orientations_that_disagree_are_refused(saved) -> None:
    tensors, header = read(saved)
    tensors["payoffs.rows.data"] *= 2
    store(tensors, saved, header)
    refusal(saved)


def test_labels_may_not_repeat_or_break(saved) -> None:
    tensors, header = read(saved)
    text = tensors["0.infosets.text"].copy()
    text[0] = 0xFF  # not UTF-8
    store({**tensors, "0.infosets.text": text}, saved, header)
    refusal(saved)


def test_labels_that_repeat_are_refused(saved) -> None:
    tensors, header = read(saved)
    tensors["0.infosets.text"][:] = tensors["0.infosets.text"][0]
    store(tensors, saved, header)
    refusal(saved)


def test_about_is_kept_as_json(saved) -> None:
    _, header = read(saved)
    about = json.loads(header["about"])
    assert about["name"] == "kuhn"
    assert about["known_value"] == pytest.approx(-1 / 18)
    game = replace(tp.load("kuhn"), known_value=None)
    save(game, saved)
    assert load(saved).known_value is None
