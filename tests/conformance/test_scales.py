"""A game whose payoffs are multiplied is the same game: same strategies, in every algorithm and storage."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms.registry import ALGORITHMS
from treeplex.compile.payoffs import unit_of
from treeplex.games.catalog import make

ITERATIONS = 40
STORED = [("cfr+", "float32"), ("cfr+", "int16"), ("dcfr", "float32"), ("cfr", "float32")]


class Multiplied:
    """The rules of a game, every payoff times ``factor``."""

    def __init__(self, rules: Any, factor: float) -> None:
        self.rules, self.factor, self.name = rules, factor, "multiplied"

    def __getattr__(self, name: str) -> Any:
        return getattr(self.rules, name)

    def payoff(self, history: Any) -> float:
        return self.factor * float(self.rules.payoff(history))


def game(factor: float) -> Any:
    return tp.load(Multiplied(make("random_tree(seed=4,depth=7,width=3)"), factor))


def played(solution: tp.Solution) -> list[list[float]]:
    return [array.tolist() for array in solution.strategies]


@pytest.fixture(scope="module")
def games() -> dict[float, Any]:
    return {factor: game(factor) for factor in (1.0, 2.0**300, 2.0**-300, 1e100, 1e-100)}


@pytest.mark.parametrize("algorithm", sorted(set(ALGORITHMS) - {"lp"}))
def test_powers_of_two_change_no_bit(algorithm, games) -> None:
    asked = "warm-start(warmup=20)" if algorithm == "warm-start" else algorithm
    plain = tp.solve(games[1.0], asked, iterations=ITERATIONS)
    for factor in (2.0**300, 2.0**-300):
        scaled = tp.solve(games[factor], asked, iterations=ITERATIONS)
        assert played(scaled) == played(plain)
        assert [row.nash_conv / factor for row in scaled.rows] == [row.nash_conv for row in plain.rows]
        assert scaled.value / factor == plain.value


@pytest.mark.parametrize("factor", [1e100, 1e-100])
@pytest.mark.parametrize("algorithm", ["cfr", "cfr+", "dcfr", "pcfr+", "hedge", "lp"])
def test_powers_of_ten_change_nearly_nothing(algorithm, factor, games) -> None:
    iterations = None if algorithm == "lp" else ITERATIONS
    plain, scaled = (tp.solve(games[x], algorithm, iterations=iterations) for x in (1.0, factor))
    assert abs(scaled.nash_conv / factor - plain.nash_conv) < 1e-9
    assert abs(scaled.value / factor - plain.value) < 1e-9


@pytest.mark.parametrize("factor", [2.0**300, 2.0**-300, 1e100, 1e-100])
@pytest.mark.parametrize(("algorithm", "storage"), STORED)
def test_narrow_storages_learn_as_well(algorithm, storage, factor, games) -> None:
    plain, scaled = (tp.solve(games[x], algorithm, iterations=300, storage=storage) for x in (1.0, factor))
    assert scaled.nash_conv / factor == pytest.approx(
        plain.nash_conv, rel=0.0 if factor in (2.0**300, 2.0**-300) else 0.1
    )
    assert plain.nash_conv < 0.02


def test_what_is_told_is_in_the_payoffs_of_the_rules(games, tmp_path) -> None:
    plain, large = games[1.0], games[2.0**300]
    assert large.unit > 2.0**290
    assert large.fingerprint != plain.fingerprint
    uniform = tp.Policy.uniform(plain)
    assert np.array_equal(np.array(tp.evaluate(large, uniform)[:2]) / 2.0**300, tp.evaluate(plain, uniform)[:2])
    for player in (0, 1):
        one, other = (tp.best_response(game, uniform, player)[0] for game in (plain, large))
        assert other / 2.0**300 == one
    from treeplex.compile.efg import to_efg  # noqa: PLC0415
    from treeplex.compile.storage import load, save  # noqa: PLC0415
    from treeplex.games.efg import write  # noqa: PLC0415

    save(large, tmp_path / "large.safetensors")
    (tmp_path / "large.efg").write_text(write(to_efg(large)))
    for again in (load(tmp_path / "large.safetensors"), tp.load(tmp_path / "large.efg")):
        assert tp.evaluate(again, uniform) == tp.evaluate(large, uniform)
        assert again.unit == large.unit


@pytest.mark.parametrize(
    ("largest", "unit"), [(0.0, 1.0), (13.0, 1.0), (2.0**32, 1.0), (2.0**33, 2.0**33), (1e-300, 2.0**-997)]
)
def test_unit(largest, unit) -> None:
    assert unit_of(largest) == unit
    assert largest == 0.0 or unit == 1.0 or 1.0 <= largest / unit < 2.0


def test_units_at_the_ends_of_what_a_double_holds() -> None:
    for largest in (5e-324, 1.7e308):
        assert 1.0 <= largest / unit_of(largest) < 2.0


@pytest.mark.parametrize(("scale", "target"), [(1.0, 1e-3), (1e-6, 1e-9), (1e9, 1e3), (500.0, 1e-3)])
def test_the_default_target_fits_the_payoffs(scale, target) -> None:
    """1e-3, but between a millionth and a thousandth of the largest payoff."""
    solution = tp.solve(f"matrix(rows=[[{scale!r},{-scale!r}],[{-scale!r},{scale!r}]])")
    assert solution.request.limits.nash_conv == pytest.approx(target)
    assert solution.nash_conv <= target
