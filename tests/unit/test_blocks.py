"""Averages in float32 are added up in blocks: long runs do not get worse, and no bit depends on how they are cut."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from cut_games import LocalShards, alone, over, same
from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.games.holdem.locks import Lock
from treeplex.games.holdem.spot import Spot, sizes_for
from treeplex.growth.options import Growth, fitted_to_spot
from treeplex.growth.spot_algorithm import GrowingHoldem
from treeplex.updates import blocks
from treeplex.updates.schedules import Bounded, bounded, power, stretches, uniform

RIVER = Spot("2s 2h 2d 7c 8c", 100, 100, "AA,QQ", "KK", sizes_for("a", "a"))
TURN = Spot("Ks 9h 4d 2c", 100, 60, "AA,76s:0.5", "QQ,KQs", sizes_for("a", "a"))
LOCK = Lock("", {"AA": {"check": 0.25, "all-in": 0.75}})


@pytest.fixture
def short(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of four iterations after the eighth."""
    monkeypatch.setattr(blocks, "BEGIN", 8)
    monkeypatch.setattr(blocks, "LENGTH", 4)


def prepared(game: Any, algorithm: str, storage: str = "float32", threads: int = 1) -> Any:
    return build(algorithm).open(game, Execution("cpu", storage, threads))


def nash_convs(name: str, algorithm: str, storage: str, *counts: int) -> list[float]:
    """After so many iterations each."""
    game = tp.load(name)
    solver, found = prepared(game, algorithm, storage), list[float]()
    state = solver.start(game)
    for before, count in pairwise((0, *counts)):
        state = solver.advance(game, state, count - before)
        found.append(solver.report(game, state, "average").evaluate().nash_conv)
    return found


# --- how long runs end ------------------------------------------------------------------------------------------------


def test_a_long_run_gets_better() -> None:
    """In one plain sum NashConv is 1.4e-4 after 500,000 iterations."""
    (found,) = nash_convs("kuhn", "cfr", "float32", 500_000)
    assert found <= 4e-5


@pytest.mark.slow
def test_leduc_after_five_million_iterations() -> None:
    """In one plain sum 7.0e-6, 2.9e-4 and 1.05e-2; in float64 the last is 1.3e-7. The largest payoff is 13."""
    soon, late, last = nash_convs("leduc", "cfr+", "float32", 100_000, 1_000_000, 5_000_000)
    assert soon <= 1e-5
    assert late <= 1e-6
    assert last <= 5e-7


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["cfr", "lcfr", "dcfr", "pcfr+", "pdcfr+", "hs-dcfr", "hs-pcfr+", "sapcfr+"])
def test_more_iterations_are_no_worse(algorithm: str) -> None:
    soon, late = nash_convs("leduc", algorithm, "float32", 100_000, 1_000_000)
    assert late <= max(soon, 1e-6)


@pytest.mark.slow
def test_kuhn_after_twenty_million_iterations() -> None:
    """In one plain sum 8.8e-3."""
    (found,) = nash_convs("kuhn", "cfr", "float32", 20_000_000)
    assert found <= 2e-6


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["cfr", "cfr+", "dcfr"])
def test_a_river_after_a_million_iterations(algorithm: str) -> None:
    """The pot is 100."""
    soon, late = (alone(RIVER, algorithm, count, storage="float32").nash_conv for count in (100_000, 1_000_000))
    assert late <= min(soon, 1e-3)


def test_weights_that_float32_cannot_hold() -> None:
    """The sum of t^20 leaves float32 at t = 77, and NashConv was not a number from there on."""
    (found,), (exact,) = (nash_convs("kuhn", "dcfr(gamma=20)", storage, 2_000) for storage in ("float32", "float64"))
    assert found == pytest.approx(exact, rel=0.5)


@pytest.mark.parametrize("storage", ["float32", "int16"])
def test_weights_that_averages_of_hands_cannot_hold(storage: str) -> None:
    """The same on a spot: float32, the default, ended in an error, and int16 with uniform strategies."""
    found, exact = (alone(RIVER, "dcfr(gamma=20)", 1_000, storage=kind).nash_conv for kind in (storage, "float64"))
    assert found <= 20.0 * exact


# --- one equation -----------------------------------------------------------------------------------------------------


def test_nothing_is_lost_when_a_block_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(blocks, "CHUNK", 10)
    draws = np.random.default_rng(1)
    total, block = (draws.random(37).astype(np.float32) * size for size in (1e6, 1e3))
    wanted = total.astype(np.float64) + block
    blocks.fold(total, block)
    np.testing.assert_allclose(total.astype(np.float64) + block, wanted, rtol=2.0**-46)
    assert (block >= 0.0).all()  # a checkpoint with a negative sum would be refused
    assert (block <= wanted * 2.0**-22).all()


def test_blocks_end_where_they_end() -> None:
    ends = [t for t in range(60_000, 70_000) if blocks.due(t, "float32")]
    assert ends == [66_560, 67_584, 68_608, 69_632]
    for cut in (65_536, 66_559, 66_560, 66_561, 69_632):
        counts = [blocks.pieces(60_000, cut - 60_000, "float32"), blocks.pieces(cut, 70_000 - cut, "float32")]
        found = np.cumsum([60_000, *counts[0], *counts[1]]).tolist()
        assert found == sorted({60_000, *ends, cut, 70_000})
    for storage in ("float64", "int16"):
        assert not any(blocks.due(t, storage) for t in range(60_000, 70_000))
        assert blocks.pieces(60_000, 10_000, storage) == [10_000]
    assert stretches(uniform(), 66_000, 1_000, "float32") == [(560, 1.0), (440, 1.0)]


def test_large_weights_have_units() -> None:
    plain, t = power(20.0), np.arange(1.0, 200)
    scaled = bounded(plain, "float32")
    assert isinstance(scaled, Bounded)
    np.testing.assert_array_equal(scaled(t) * np.exp2(scaled.unit(t)), plain(t))
    assert scaled(t).max() < 2.0**96
    assert set(scaled.unit(t).tolist()) == {0.0, 96.0, 128.0}
    assert bounded(plain, "float64") is plain
    square = power(2.0)
    assert bounded(square, "float32") is square
    assert [stretch.fade for stretch in stretches(scaled, 0, 199)] == [1.0, 2.0**-96, 2.0**-32]


# --- runs -------------------------------------------------------------------------------------------------------------

GAMES = [
    ("kuhn", "cfr"),
    ("kuhn", "cfr+(order=next)"),
    ("leduc", "pcfr+"),
    ("leduc", "hs-dcfr(horizon=20)"),
    ("leduc", "dcfr(gamma=20,order=faced)"),
    (RIVER, "dcfr(gamma=20)"),
    (TURN, "pcfr+"),
    (TURN, "hs-dcfr(horizon=20)"),
]


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(("name", "algorithm"), GAMES)
def test_a_run_in_pieces_has_the_bits_of_one(name: Any, algorithm: str) -> None:
    game = tp.load(name)
    solver = prepared(game, algorithm)
    whole = solver.advance(game, solver.start(game), 40)
    state = solver.start(game)
    for before, end in pairwise((0, 7, 8, 9, 12, 13, 16, 31, 40)):
        if before in (9, 16, 31):  # one of them has no sum of blocks yet
            state = solver.restore(game, solver.save(state))
        state = solver.advance(game, state, end - before)
    wanted, found = solver.save(whole), solver.save(state)
    assert wanted.keys() == found.keys()
    assert "state.earlier.1" in wanted
    for key, array in wanted.items():
        np.testing.assert_array_equal(found[key], array)
    assert wanted["state.earlier.0"].dtype == np.float32
    one, other = (solver.report(game, each, "average").evaluate() for each in (whole, state))
    assert one == other


@pytest.mark.parametrize(("name", "algorithm"), [*GAMES, (TURN, "cfr+")])
def test_averages_are_those_of_one_sum(name: Any, algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    game = tp.load(name)
    solver = prepared(game, algorithm)
    plain = solver.advance(game, solver.start(game), 40)
    monkeypatch.setattr(blocks, "BEGIN", 8)
    monkeypatch.setattr(blocks, "LENGTH", 4)
    state = solver.advance(game, solver.start(game), 39)  # the last block is not at its end
    late = solver.advance(game, state, 1)
    wanted, found = solver.save(plain), solver.save(late)
    for player in (0, 1):
        np.testing.assert_array_equal(
            found[f"state.learners.{player}.regret"], wanted[f"state.learners.{player}.regret"]
        )
        sums = found[f"state.earlier.{player}"] + found[f"state.learners.{player}.average"]
        np.testing.assert_allclose(sums, wanted[f"state.learners.{player}.average"], rtol=2e-6)
    one, other = (solver.report(game, each, "average").evaluate() for each in (plain, late))
    assert other.nash_conv == pytest.approx(one.nash_conv, rel=1e-3)


@pytest.mark.usefixtures("short")
def test_threads_change_no_bit() -> None:
    for game, algorithm in ((tp.load("leduc5"), "cfr+"), (tp.load(TURN), "dcfr")):
        one, two = (prepared(game, algorithm, threads=threads) for threads in (1, 2))
        wanted, found = (solver.save(solver.advance(game, solver.start(game), 21)) for solver in (one, two))
        assert "state.earlier.0" in wanted
        for key, array in wanted.items():
            np.testing.assert_array_equal(found[key], array)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize("name", ["kuhn", RIVER])
def test_checkpoints_without_blocks_are_resumed(name: Any) -> None:
    """Those of version 0.2 have the whole sum in one array, and weights without units."""
    game = tp.load(name)
    solver = prepared(game, "dcfr(gamma=20)")
    state = solver.advance(game, solver.start(game), 39)
    factor = 2.0 ** float(bounded(solver.weight, "float32").unit(np.array([39.0]))[0])
    assert factor == 2.0**96
    older = {key: array for key, array in solver.save(state).items() if ".earlier." not in key}
    for player in (0, 1):
        key = f"state.learners.{player}.average"
        older[key] = (solver.save(state)[f"state.earlier.{player}"] + older[key]) * np.float32(factor)
    ended = [solver.advance(game, each, 30) for each in (state, solver.restore(game, older))]
    one, other = (solver.report(game, each, "average").evaluate() for each in ended)
    assert other.nash_conv == pytest.approx(one.nash_conv, rel=1e-3)


@pytest.mark.usefixtures("short")
def test_locked_hands_stay_locked() -> None:
    root = tp.solve(RIVER, "dcfr", iterations=30, storage="float32", locks=[LOCK]).policy.at("")
    aces = [root.strategy[:, hand] for hand in np.flatnonzero(root.reach) if root.reach[hand] > 0.0]
    assert any(np.allclose(one, (0.25, 0.75), atol=1e-6) for one in aces)


@pytest.mark.usefixtures("short")
@pytest.mark.parametrize(
    ("game", "algorithm"), [("leduc", "dcfr"), ("leduc", "hs-pcfr+(horizon=20)"), (TURN, "hs-dcfr(horizon=20)")]
)
def test_shards_have_the_bits_of_one_machine(game: Any, algorithm: str, tmp_path: Path) -> None:
    one = alone(game, algorithm, 23, storage="float32")
    assert one.state.earlier
    over(LocalShards(), game, algorithm, 14, tmp_path / "a", storage="float32")
    cut = over(LocalShards(), game, algorithm, 23, tmp_path / "a", storage="float32", workers=2)
    same(one, cut, tmp_path / "a")


@pytest.mark.usefixtures("short")
def test_restarts_begin_without_blocks() -> None:
    (found,), (exact,) = (nash_convs("kuhn", "cfr+-restarted", storage, 500) for storage in ("float32", "float64"))
    assert found == pytest.approx(exact, abs=1e-5)


def test_a_spot_that_grows(monkeypatch: pytest.MonkeyPatch) -> None:
    """Sizes come after iterations 18 and 27, when there are sums of blocks."""
    game = tp.load(Spot("Ks 9h 4d 2c 2d", 100, 200, "AA,76s:0.5,QJs", "QQ,K9s,AKs", sizes_for("a", "a")))
    growth = fitted_to_spot(Growth(bets="20%,50%,75%", algorithm="dcfr", every=9, per_check=1, remove="discard"))
    found: list[Any] = []
    for begin in (10**9, 8):
        monkeypatch.setattr(blocks, "BEGIN", begin)
        monkeypatch.setattr(blocks, "LENGTH", 4)
        solver = GrowingHoldem(growth).open(game, Execution("cpu", "float32", 1))
        run = solver.advance(game, solver.start(game), 57)
        assert len(run.game.state.earlier) == (2 if begin == 8 else 0)
        assert [addition.iteration for addition in run.additions] == [9, 18, 27]
        found.append(solver.report(game, run, "average").evaluate().nash_conv)
        again = solver.restore(game, solver.save(solver.advance(game, solver.start(game), 33)))
        ended = solver.advance(game, again, 24)
        assert solver.report(game, ended, "average").evaluate().nash_conv == found[-1]
    assert found[0] == pytest.approx(found[1], rel=0.05)  # rounding grows while strategies are far from settled


@pytest.mark.usefixtures("short")
def test_no_room_for_blocks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("treeplex.engines.boards.part.available", lambda: 10)
    game = tp.load(RIVER)
    solver = prepared(game, "dcfr")
    state = solver.advance(game, solver.start(game), 11)
    with pytest.raises(tp.TreeplexError, match=r"more than 8 iterations take .* limit the run to 8 iterations"):
        solver.advance(game, state, 1)
