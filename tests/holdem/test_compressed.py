"""Coded tables of hold'em: in checkpoints of every storage, and in memory with ``storage="compressed"``."""

from __future__ import annotations

import json

import numpy as np
import pytest

import treeplex as tp
from cut_games import FLOP, LocalShards, alone, over, same
from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.api import DEFAULT_SPOT_ALGORITHM
from treeplex.engines.boards import coded, compressed
from treeplex.errors import FormatError, GameError, ParameterError
from treeplex.holdem import Lock, load_spot, open_run, solve
from treeplex.tensors import CHECKPOINT, read_tensors, write_tensors

ROWS = tuple(f"state.learners.{player}.{field}" for player in (0, 1) for field in ("regret", "average"))


@pytest.fixture(autouse=True)
def small(monkeypatch):
    """Spots of tests are large enough to be coded, in several runs of boards."""
    monkeypatch.setattr(coded, "LEAST", 1)
    monkeypatch.setattr(compressed, "RUN", 3000)


def opened(game, storage, algorithm=DEFAULT_SPOT_ALGORITHM, threads=1):
    return build(algorithm).open(game, Execution(storage=storage, threads=threads))


def tensors_of(game, storage, iterations, algorithm=DEFAULT_SPOT_ALGORITHM, threads=1):
    solver = opened(game, storage, algorithm, threads)
    return solver.save(solver.advance(game, solver.start(game), iterations))


def assert_equal(one, other) -> None:
    assert one.keys() == other.keys()
    for name, array in one.items():
        assert (array.dtype, array.shape, array.tobytes()) == (
            other[name].dtype,
            other[name].shape,
            other[name].tobytes(),
        ), name


@pytest.mark.parametrize("storage", ["float64", "float32", "int16"])
def test_a_coded_checkpoint_is_restored_to_the_same_bits(small_turn, storage, monkeypatch) -> None:
    game = load_spot(small_turn)
    solver = opened(game, storage)
    state = solver.advance(game, solver.start(game), 7)
    tensors = solver.save(state)
    assert all(tensors[name].dtype == np.uint8 for name in ROWS)
    again = solver.restore(game, tensors)
    monkeypatch.setattr(coded, "LEAST", 2**60)
    plain = solver.save(state)
    assert all(plain[name].dtype == storage for name in ROWS)
    assert_equal(plain, solver.save(again))
    assert_equal(plain, solver.save(solver.restore(game, plain)))  # as versions up to 0.2 write it


def test_arrays_of_predictions_and_of_rules_are_coded_too(small_turn, monkeypatch) -> None:
    game = load_spot(small_turn)
    for algorithm in ("pcfr+", "apcfr+"):
        solver = opened(game, "float32", algorithm)
        state = solver.advance(game, solver.start(game), 4)
        tensors = solver.save(state)
        assert all(tensors[f"state.learners.{player}.predicted"].dtype == np.uint8 for player in (0, 1))
        again = solver.restore(game, tensors)
        with monkeypatch.context() as patch:
            patch.setattr(coded, "LEAST", 2**60)
            assert_equal(solver.save(state), solver.save(again))


def test_a_run_resumed_from_a_coded_checkpoint_has_the_bits_of_one_that_was_not(small_turn, tmp_path) -> None:
    whole = solve(small_turn, iterations=30, storage="int16", out=tmp_path / "whole")
    solve(small_turn, iterations=11, storage="int16", out=tmp_path / "part")
    tensors, _ = read_tensors(tmp_path / "part" / "checkpoint.safetensors", CHECKPOINT)
    assert all(tensors[name].dtype == np.uint8 for name in ROWS)
    resumed = tp.resume(tmp_path / "part", iterations=30)
    assert (resumed.nash_conv, resumed.ev) == (whole.nash_conv, whole.ev)
    assert_equal(
        *(read_tensors(tmp_path / name / "checkpoint.safetensors", CHECKPOINT)[0] for name in ("whole", "part"))
    )
    np.testing.assert_array_equal(open_run(tmp_path / "part").at("check").strategy, whole.at("check").strategy)


def test_without_memory_for_streams_arrays_are_plain(small_turn, monkeypatch) -> None:
    monkeypatch.setattr(coded, "available", lambda: 1000)
    assert tensors_of(load_spot(small_turn), "int16", 2)[ROWS[0]].dtype == np.int16


@pytest.mark.parametrize(
    "edit",
    [
        lambda stream: stream[:-4],
        lambda stream: stream[:7],
        lambda stream: np.append(stream, stream[:4]),
        lambda stream: np.concatenate((stream[:-8], 255 - stream[-8:])),
        np.zeros_like,
        lambda stream: np.zeros(0, np.uint8),
        lambda stream: stream.view(np.int8),
        lambda stream: stream.reshape(1, -1),
    ],
)
def test_damaged_streams_are_rejected(small_turn, tmp_path, edit) -> None:
    """The checksum fits; the file is one that a stranger wrote."""
    solve(small_turn, iterations=3, storage="int16", out=tmp_path / "run")
    path = tmp_path / "run" / "checkpoint.safetensors"
    tensors, about = read_tensors(path, CHECKPOINT)
    write_tensors(path, CHECKPOINT, {**tensors, ROWS[2]: edit(tensors[ROWS[2]])}, about)
    with pytest.raises(FormatError, match="not a complete checkpoint"):
        tp.resume(tmp_path / "run", iterations=5)


def test_numbers_of_streams_are_checked(small_turn, tmp_path) -> None:
    """A stream of negative averages is a right stream of wrong numbers."""
    solve(small_turn, iterations=3, storage="int16", out=tmp_path / "run")
    path, game = tmp_path / "run" / "checkpoint.safetensors", load_spot(small_turn)
    tensors, about = read_tensors(path, CHECKPOINT)
    wrong = np.full(game.elements(0), -1, np.int16)
    stream = coded.encode(wrong, coded.row_segments(game, 0, len(wrong)))
    write_tensors(path, CHECKPOINT, {**tensors, ROWS[1]: stream}, about)
    with pytest.raises(FormatError, match=r"state\.learners\.0\.average has numbers from -1"):
        tp.resume(tmp_path / "run", iterations=5)


@pytest.mark.parametrize("storage", ["float32", "int16"])
def test_shards_write_and_read_coded_arrays(tmp_path, storage) -> None:
    one, game = alone(FLOP, DEFAULT_SPOT_ALGORITHM, 4, storage=storage), load_spot(FLOP)
    cut = over(LocalShards(), FLOP, DEFAULT_SPOT_ALGORITHM, 4, tmp_path / "a", storage=storage)
    same(one, cut, tmp_path / "a")
    alone(FLOP, DEFAULT_SPOT_ALGORITHM, 2, storage=storage, out=tmp_path / "b")
    cut = over(LocalShards(), game, DEFAULT_SPOT_ALGORITHM, 4, tmp_path / "b", storage=storage)
    same(one, cut, tmp_path / "b")


@pytest.mark.parametrize("algorithm", [DEFAULT_SPOT_ALGORITHM, "cfr+", "cfr"])
@pytest.mark.parametrize("name", ["small_turn", "alike_turn", "small_flop"])
def test_compressed_iterates_have_the_bits_of_int16(request, name, algorithm) -> None:
    game = load_spot(request.getfixturevalue(name))
    assert len(compressed.CompressedEngine(game).runs) > 1
    expected = tensors_of(game, "int16", 6, algorithm)
    assert_equal(expected, tensors_of(game, "compressed", 6, algorithm, threads=3))


def test_weights_that_leave_the_range_of_float32(small_turn) -> None:
    """The unit of the weights t^20 changes in iteration 28."""
    game = load_spot(small_turn)
    expected = tensors_of(game, "int16", 30, "dcfr(gamma=20)")
    assert_equal(expected, tensors_of(game, "compressed", 30, "dcfr(gamma=20)"))


def test_compressed_iterations_do_not_depend_on_how_they_are_divided(small_flop) -> None:
    game = load_spot(small_flop)
    solver = opened(game, "compressed")
    state = solver.advance(game, solver.start(game), 2)
    again = solver.restore(game, solver.save(state))
    for each in (solver.advance(game, state, 3), solver.advance(game, again, 3)):
        assert_equal(solver.save(each), tensors_of(game, "int16", 5))


@pytest.mark.parametrize("iterate", ["average", "current"])
def test_evaluations_of_compressed_tables_are_those_of_int16(small_turn, iterate) -> None:
    game = load_spot(small_turn)
    found = []
    for storage in ("int16", "compressed"):
        solver = opened(game, storage)
        report = solver.report(game, solver.advance(game, solver.start(game), 9), iterate)
        host = report.host()
        strategies = [host.policy().at(line).strategy for line in ("", "check", "check, check, 2c")]
        found.append((report.evaluate(), host.evaluate(), [each.tobytes() for each in strategies]))
    assert found[0] == found[1]


@pytest.mark.parametrize("iterate", ["average", "best"])
def test_compressed_runs_are_saved_and_resumed(small_turn, tmp_path, iterate) -> None:
    locks = (Lock("check", {"QhJh": {"check": 0.25, "bet 30": 0.75}}), Lock("", {"all": {"check": 1.0}}))
    asked = {"iterate": iterate, "locks": locks}
    whole = solve(small_turn, iterations=30, storage="int16", **asked)
    solve(small_turn, iterations=12, storage="compressed", out=tmp_path / "run", **asked)
    assert json.loads((tmp_path / "run" / "run.json").read_text())["storage"] == "compressed"
    resumed = tp.resume(tmp_path / "run", iterations=30)
    assert (resumed.nash_conv, resumed.ev) == (whole.nash_conv, whole.ev)
    np.testing.assert_array_equal(open_run(tmp_path / "run").at("check").strategy, whole.at("check").strategy)


def test_spots_that_do_not_fit_are_rejected_before_they_are_allocated(small_flop, monkeypatch) -> None:
    game = load_spot(small_flop)
    solver = opened(game, "compressed")
    monkeypatch.setattr(compressed, "available", lambda: game.memory("int16") // 3)
    with pytest.raises(GameError, match="with compressed numbers takes about"):
        solver.start(game)


def test_where_there_is_nothing_to_compress(small_river) -> None:
    with pytest.raises(ParameterError, match="int16 on a river, got 'compressed'"):
        solve(small_river, iterations=1, storage="compressed")
    with pytest.raises(ParameterError, match="float64 or float32 with"):
        opened(load_spot(FLOP), "compressed", "pcfr+")
    with pytest.raises(ParameterError, match="float64, float32, int16, got 'compressed'"):
        tp.solve("kuhn", "cfr+", iterations=1, storage="compressed")
    with pytest.raises(ParameterError, match="on GPUs and clusters, got 'compressed'"):
        over(LocalShards(), FLOP, DEFAULT_SPOT_ALGORITHM, 1, storage="compressed")
