"""Weights with units of their own, and the horizon of a schedule: resolved once, part of the run, kept on resume."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build, family, settled
from treeplex.errors import ParameterError
from treeplex.updates.schedules import Falling, ahead, falling, linear, power, stretches

SPOT: dict[str, Any] = {
    "board": "Ks 7d 2c 8h 3c",
    "pot": 20,
    "effective_stack": 30,
    "oop_range": "KK,QQ,72s,98s",
    "ip_range": "AK,JJ,55,T9s",
}


def by_product(start: float, horizon: int, count: int) -> Any:
    """log2 of w_t, by multiplying: w_{t+1} = w_t ((t + 1) / t)^gamma_t."""
    logs = [0.0]
    for t in range(1, count):
        logs.append(logs[-1] + (start - 5.0 * min(t / horizon, 1.0)) * np.log2((t + 1) / t))
    return np.array(logs)


@pytest.mark.parametrize(("start", "horizon"), [(30.0, 1000), (15.0, 1000), (30.0, 1), (30.0, 7), (100.0, 300)])
def test_weights_are_the_product_of_what_averages_are_multiplied_by(start, horizon) -> None:
    t, schedule = np.arange(1.0, 3001), falling(start, horizon)
    assert isinstance(schedule, Falling)
    found = np.log2(schedule(t)) + schedule.unit(t)
    np.testing.assert_allclose(found, by_product(start, horizon, 3000), rtol=1e-12, atol=1e-12)
    assert schedule(t).min() >= 1.0
    assert schedule(t).max() < 2.0**32
    later = ahead(schedule)
    np.testing.assert_array_equal(later(t), schedule(t + 1.0))


def fades(schedule: Any, *cuts: int) -> Any:
    """What averages are multiplied by before iterations 1, 2, ..., of a run in pieces that end at ``cuts``."""
    found, done = [], 0
    for cut in cuts:
        for size, fade in stretches(schedule, done, cut - done):
            found += [fade, *[1.0] * (size - 1)]
        done = cut
    return np.array(found)


def test_powers_that_move_are_no_products() -> None:
    """Near the horizon t^gamma_t even falls: gamma / t is less than (5 / n) ln t."""
    t = np.arange(1.0, 1500)
    schedule = falling(30.0, 1000, power=True)
    assert isinstance(schedule, Falling)
    found = np.log2(schedule(t)) + schedule.unit(t)
    np.testing.assert_allclose(found, (30.0 - 5.0 * np.minimum(t / 1000, 1.0)) * np.log2(t), rtol=1e-12, atol=1e-12)
    assert found[999] < found[799]


@pytest.mark.parametrize(
    "schedule",
    [falling(30.0, 1000), falling(15.0, 20), ahead(falling(30.0, 50)), falling(60.0, 250, power=True)],
)
def test_stretches_do_not_depend_on_how_a_run_is_cut(schedule) -> None:
    whole = fades(schedule, 300)
    unit = schedule.unit(np.arange(1.0, 301))
    np.testing.assert_array_equal(whole, np.append(1.0, np.exp2(unit[:-1] - unit[1:])))
    assert (whole != 1.0).sum() >= 3
    for cut in range(1, 300):
        np.testing.assert_array_equal(fades(schedule, cut, 300), whole)


def test_other_weights_are_one_stretch() -> None:
    for schedule in (linear(), power(20.0), ahead(power(2.0))):
        assert stretches(schedule, 10, 100) == [(100, 1.0)]


@pytest.mark.parametrize("algorithm", ["hs-dcfr", "hs-dcfr(gamma=100)", "hs-pcfr+"])
def test_single_precision_has_room_for_any_number_of_iterations(algorithm) -> None:
    """2,000^30 is 1e99; float32 ends at 3e38."""
    game = tp.load("kuhn")
    one, two = (tp.solve(game, algorithm, iterations=2000, storage=storage) for storage in ("float32", "float64"))
    assert one.nash_conv < 3.0 * two.nash_conv + 1e-6
    assert all(np.isfinite(strategy).all() for strategy in one.strategies)


@pytest.mark.parametrize("storage", ["float64", "float32", "int16"])
def test_hold_em_spots_have_the_same_weights(storage) -> None:
    """As the average of 200 iterations, and in pieces as in one go."""
    game = tp.load(SPOT)
    algorithm: Any = build("hs-dcfr(horizon=150)").open(game, Execution(storage=storage))
    whole = algorithm.advance(game, algorithm.start(game), 200)
    pieces = algorithm.start(game)
    for count in (1, 1, 60, 138):
        pieces = algorithm.advance(game, pieces, count)
    for one, two in zip(whole.learners, pieces.learners, strict=True):
        for left, right in zip(one, two, strict=True):
            np.testing.assert_array_equal(left, right)
    found = algorithm.report(game, whole, "average").evaluate().nash_conv
    assert 0.0 <= found < 0.02 * SPOT["pot"]


def test_units_do_not_change_the_averages_of_a_spot() -> None:
    """40^30 fits into float64: the same weights without units, every number of the averages."""
    game = tp.load(SPOT)
    ours: Any = build("hs-dcfr(horizon=30)").open(game, Execution(storage="float64"))
    schedule = ours.weight
    plain = replace(ours, weight=lambda t: schedule(t) * np.exp2(schedule.unit(t)))
    one, two = (each.advance(game, each.start(game), 40) for each in (ours, plain))
    unit = np.exp2(schedule.unit(np.array([40.0])))[0]
    for left, right in zip(one.learners, two.learners, strict=True):
        np.testing.assert_allclose(unit * left.average, right.average, rtol=1e-12, atol=0)
        np.testing.assert_array_equal(left.regret, right.regret)


# --- horizon ---------------------------------------------------------------------------------------------------------


def horizon_of(folder: Any) -> str:
    return json.loads((folder / "run.json").read_text())["algorithm"]


def test_the_horizon_is_the_iteration_limit_else_a_thousand() -> None:
    assert "horizon=70," in tp.solve("kuhn", "hs-dcfr", iterations=70).record.algorithm
    assert "horizon=1000," in tp.solve("kuhn", "hs-dcfr", nash_conv=0.1).record.algorithm
    assert "horizon=5," in tp.solve("kuhn", "hs-pcfr+(horizon=5)", iterations=70).record.algorithm
    assert "horizon=9," in tp.solve("kuhn", "hs-dcfr", iterations=70, horizon=9).record.algorithm
    assert settled("cfr+(delay=3)", 70) == "cfr+(delay=3)"
    assert settled("hs-dcfr", 10**12) == "hs-dcfr(horizon=1000000000)"


def test_the_horizon_is_kept_whatever_the_limits_of_those_who_go_on(tmp_path) -> None:
    folder = tmp_path / "run"
    tp.solve("leduc", "hs-dcfr", iterations=50, out=folder)
    stored = horizon_of(folder)
    assert "horizon=50," in stored
    resumed = tp.resume(folder, iterations=80)
    again = tp.solve("leduc", "hs-dcfr", iterations=90, out=folder)
    assert horizon_of(folder) == stored
    whole = tp.solve("leduc", "hs-dcfr(horizon=50)", iterations=90)
    assert (resumed.iterations, again.iterations) == (80, 90)
    for left, right in zip(again.strategies, whole.strategies, strict=True):
        np.testing.assert_array_equal(left, right)


def test_another_horizon_is_another_run(tmp_path) -> None:
    tp.solve("kuhn", "hs-dcfr", iterations=50, out=tmp_path / "run")
    with pytest.raises(ParameterError, match="another algorithm"):
        tp.solve("kuhn", "hs-dcfr(horizon=60)", iterations=50, out=tmp_path / "run")
    with pytest.raises(ParameterError, match="another algorithm"):
        tp.solve("kuhn", "hs-dcfr(gamma=15)", iterations=50, out=tmp_path / "run")


@pytest.mark.parametrize(
    ("algorithm", "said"),
    [
        ("hs-dcfr(horizon=-1)", "The 'horizon' parameter must be a whole number from 0 to 1,000,000,000, got -1"),
        ("hs-dcfr(gamma=3)", "The 'gamma' parameter must be a number from 5 to 100, got 3"),
        ("dcfr(discount=never)", "The 'discount' parameter must be one of after, before, got 'never'"),
        ("pcfr+(order=last)", "The 'order' parameter must be one of played, faced, next, got 'last'"),
        ("hs-dcfr(weight=linear)", "The 'weight' parameter must be one of product, power, got 'linear'"),
        ("sapcfr+(predict=-1)", "The 'predict' parameter must be a number from 0 to 10, got -1"),
    ],
)
def test_refusals_name_the_parameter(algorithm, said) -> None:
    with pytest.raises(ParameterError) as refused:
        build(algorithm)
    assert str(refused.value).startswith(said)


def test_the_family_is_told_in_words() -> None:
    assert family() == (
        "cfr, cfr+, lcfr, dcfr, pcfr+, pdcfr+, hs-dcfr, hs-pcfr+, sapcfr+, apcfr+, stable-pcfr+, smooth-pcfr+ and hedge"
    )
