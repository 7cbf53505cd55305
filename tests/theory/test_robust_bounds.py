"""What holds of APCFR+, stable and smooth PCFR+ at every iteration. ``test_bounds.py`` has w(T) Q(T) for all three."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from theory.test_bounds import ROUNDING, TREES, game, largest, payoff_range, squares, strategies, watch  # noqa: F401
from treeplex.algorithms.registry import build
from treeplex.updates.schedules import uniform


@pytest.mark.parametrize("most", [5.0, 0.5])
def test_adaptive_cfr_at_once(most, game) -> None:  # noqa: F811 - a fixture
    """Predictive regret matching+ has regret at most sqrt(sum_t |r_t - m_t|²), here with m_t = r_{t-1} / (1 + alpha).

    As ``test_predictive_cfr_plus_at_once``, for predictions of any kind; alpha is computed here from the gains alone.
    """
    algorithm: Any = replace(build(f"apcfr+(most={most},turns=simultaneous)"), weight=uniform())  # pyright: ignore[reportArgumentType]
    zero = [np.zeros(t.sequences) for t in game.treeplexes]
    error, move, surprise = ([np.zeros(t.infosets) for t in game.treeplexes] for _ in range(3))
    summed, last, q = ([own.copy() for own in zero] for _ in range(3))
    expected = [own.copy() for own in zero]
    for t, _, gained, _, nash_conv in watch(game, algorithm, "simultaneous"):
        for player, treeplex in enumerate(game.treeplexes):
            r, new = gained[player], np.maximum(q[player] + gained[player], 0.0)
            surprise[player] += squares(game, player, r - expected[player])
            error[player] += squares(game, player, r - last[player])
            move[player] += squares(game, player, new - q[player])
            summed[player] += r
            last[player], q[player] = r, new
            bound = np.sqrt(surprise[player]) * (1 + ROUNDING) + 1e-12 * payoff_range(game)
            assert (largest(game, player, summed[player]) <= bound).all()
            ratio = np.sqrt(error[player] / np.where(move[player] > 0.0, move[player], 1.0))
            alpha = np.where(move[player] > 0.0, np.minimum(ratio, most), most)
            expected[player] = np.append(0.0, np.repeat(1.0 / (1.0 + alpha), treeplex.actions)) * r
        assert nash_conv * t <= sum(np.sqrt(own).sum() for own in surprise) * (1 + ROUNDING)


@pytest.mark.parametrize("floor", [1.0, 0.03])
def test_smooth_cfr_at_once(floor, game) -> None:  # noqa: F811
    """It is optimistic mirror descent over y >= 0, sum of y >= z, from Q(0) = z / |A|: for every c >= z and action,

    c sum_t r_t(a) <= |c e_a - Q(0)|² / 2 + sum_t |r_t - m_t|² / 2,   m_t = r_{t-1},   as <sigma, r> = 0.
    """
    algorithm: Any = build(f"smooth-pcfr+(floor={floor},turns=simultaneous)")
    z = floor * 2.0 * game.largest_payoff
    surprise = [np.zeros(t.infosets) for t in game.treeplexes]
    summed = [np.zeros(t.sequences) for t in game.treeplexes]
    last = [np.zeros(t.sequences) for t in game.treeplexes]
    for _, _, gained, _, _ in watch(game, algorithm, "simultaneous"):
        for player, treeplex in enumerate(game.treeplexes):
            surprise[player] += squares(game, player, gained[player] - last[player])
            summed[player] += gained[player]
            last[player] = gained[player]
            most, width = largest(game, player, summed[player]), treeplex.actions
            for c in (z, 2.0 * z, np.maximum(z, np.sqrt(surprise[player]))):
                away = (c - z / width) ** 2 + (width - 1) * (z / width) ** 2
                assert (c * most <= (away + surprise[player]) / 2 * (1 + ROUNDING)).all()


@pytest.mark.parametrize("turns", ["alternating", "simultaneous"])
@pytest.mark.parametrize("floor", [1.0, 0.03])
@pytest.mark.parametrize("kind", ["stable", "smooth"])
def test_regrets_stay_away_from_zero(kind, floor, turns, game) -> None:  # noqa: F811
    """Stable: some regret is at least z. Smooth: they add up to at least z. No regret is negative."""
    z = floor * 2.0 * game.largest_payoff
    for step in watch(game, build(f"{kind}-pcfr+(floor={floor},turns={turns})"), turns, 40):
        for treeplex, learner in zip(game.treeplexes, step.state.learners, strict=True):
            regret, start = learner.memory, treeplex.first[:-1]
            assert (regret >= 0.0).all()
            away = (np.maximum if kind == "stable" else np.add).reduceat(regret, start)
            assert (away >= z * (1 - 1e-12)).all()


@pytest.mark.parametrize("kind", ["stable", "smooth"])
def test_a_floor_in_units_of_payoffs_would_depend_on_their_scale(kind) -> None:
    """Payoffs times 4 at the same z, which is a quarter of the floor, give other strategies; at the same floor, none.

    ``test_scaling_payoffs_by_a_power_of_two_changes_no_bit`` has the latter for every tree.
    """
    one, four = (tp.load(replace(TREES[1], scale=scale)) for scale in (1.0, 4.0))
    plain = np.concatenate(strategies(one, f"{kind}-pcfr+(floor=0.4)", 20))
    same_floor = np.concatenate(strategies(four, f"{kind}-pcfr+(floor=0.4)", 20))
    same_z = np.concatenate(strategies(four, f"{kind}-pcfr+(floor=0.1)", 20))
    np.testing.assert_array_equal(plain, same_floor)
    assert np.abs(plain - same_z).max() > 1e-3


@pytest.mark.parametrize("turns", ["alternating", "simultaneous"])
@pytest.mark.parametrize("algorithm", ["stable-pcfr+(floor=0", "smooth-pcfr+(floor=0", "apcfr+(most=0"])
def test_at_zero_all_are_pcfr_plus(algorithm, turns, game) -> None:  # noqa: F811
    ours, theirs = (strategies(game, f"{spec}turns={turns})", 40) for spec in (f"{algorithm},", "pcfr+("))
    for left, right in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(left, right, rtol=0, atol=1e-9)
