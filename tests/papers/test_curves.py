"""Curves and what is read off them; every reproduction of the pruning paper runs, on small budgets."""

from __future__ import annotations

import json
import math

import numpy as np
import pytest
from scipy.optimize import linprog

import treeplex as tp
from treeplex.errors import ParameterError
from treeplex.games.matrix import MatrixGame
from treeplex.papers import cfr_plus_fig1, curves, pmccfr_dominated, rbp_fig1, rbp_fig2, rbp_fig3, rbp_text
from treeplex.papers.curves import Curve, iterations, nodes, run_curve, seconds
from treeplex.papers.report import judge
from treeplex.runs import Limits
from treeplex.runs.log import LogRow
from treeplex.runs.status import INTERRUPTED
from treeplex.system import Interrupted


def curve(*points: tuple[int, int, float]) -> Curve:
    """(iteration, nodes, NashConv); each iteration takes two seconds, of which one is spent measuring."""
    rows = [LogRow(t, touched, 2.0 * t, 1.0 * t, 0.0, conv, conv / 2) for t, touched, conv in points]
    return Curve("game", "label", rows)


def test_costs_are_read_off_straight_lines_in_logarithms() -> None:
    line = curve((1, 100, 1.0), (10, 10_000, 0.1), (100, 40_000, 0.2), (200, 90_000, 0.01))
    assert line.best_so_far() == [1.0, 0.1, 0.1, 0.01]
    assert line.cost_of(1.0) == 100
    assert line.cost_of(10**-0.5) == pytest.approx(1000)
    assert line.cost_of(0.1) == pytest.approx(10_000)
    assert line.cost_of(0.1, iterations) == pytest.approx(10)
    assert line.cost_of(0.1, seconds) == pytest.approx(10)
    assert line.cost_of(10**-1.5) == pytest.approx(math.sqrt(40_000 * 90_000))
    assert math.isnan(line.cost_of(0.001))
    assert line.nodes_per_iteration() == [100.0, 1100.0, pytest.approx(30_000 / 90), 500.0]
    assert nodes(line.rows[0]) == 100


def test_a_curve_that_was_interrupted_is_judged_by_nobody(monkeypatch) -> None:
    """A signal ends a run with an answer, which is no reason to judge a paper by it."""
    whole = curves.run
    monkeypatch.setattr(curves, "run", lambda *given, **options: whole(*given, **options)._replace(status=INTERRUPTED))
    with pytest.raises(Interrupted):
        run_curve(tp.load("kuhn"), "", "cfr", Limits(iterations=5), lambda line: None)


def test_a_curve_is_a_run_with_rows_a_tenth_apart_and_tells_how_it_goes() -> None:
    heard: list[str] = []
    game = tp.load("kuhn")
    line = run_curve(game, "partial", "cfr-partial", Limits(iterations=50), heard.append)
    apart = [*range(1, 21), 22, 24, 26, 28, 30, 33, 36, 39, 42, 46, 50]  # 50 would be due, and is the limit
    assert [row.iteration for row in line.rows] == apart
    every = [tp.solve(game, "cfr-partial", iterations=t).nash_conv for t in apart]
    assert [row.nash_conv for row in line.rows] == every
    assert any("kuhn, partial: iteration 50" in each for each in heard)
    with pytest.raises(ParameterError, match="must name an algorithm that iterates, got 'lp'"):
        run_curve(game, "exact", "lp", Limits(iterations=5), heard.append)


@pytest.mark.parametrize("module", [rbp_fig1, rbp_fig2, rbp_fig3], ids=lambda module: module.ID)
def test_reproductions_run(module, tmp_path, monkeypatch) -> None:
    """Budgets too small for the paper's claims: only that each is measured, and that the files are there."""
    small = dict.fromkeys(module.NODES, 10**6)
    monkeypatch.setattr(module, "NODES", small)
    report = module.reproduce(tmp_path, lambda line: None)
    assert report.files
    for path in report.files:
        assert path.stat().st_size > 100
    assert all(math.isfinite(claim.ours) for claim in report.claims)
    header = report.files[0].read_text(encoding="utf-8").splitlines()[0]
    assert header == "game,algorithm,iteration,nodes_touched,seconds,nash_conv,best_so_far"
    assert json.loads(json.dumps(report.summary()))["id"] == module.ID


def test_a_claim_is_held_against_bounds_of_its_own() -> None:
    names = ["cfr_spread", "cfr_early", "cfr_late", "cfr_from_10_to_50"]
    measured = {name.replace("cfr", family, 1): 1.0 for name in names for family in ("cfr", "cfr+")}
    assert all(claim.holds for claim in judge("rbp-fig3", measured))
    assert not all(claim.holds for claim in judge("rbp-fig3", {**measured, "cfr_spread": 1.51}))


def test_claims_of_the_text_run(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(rbp_text, "ITERATIONS", 30)
    monkeypatch.setattr(rbp_text, "NODES", {"leduc": 10**6, "leduc5": 2 * 10**7})
    report = rbp_text.reproduce(tmp_path, lambda line: None)
    assert len(report.claims) == 16
    assert all(math.isfinite(claim.ours) for claim in report.claims)
    assert {path.name for path in report.files} == {"rbp-text.csv", "rbp-text.png"}


def test_added_strategies_are_dominated_and_change_no_value(tmp_path, monkeypatch) -> None:
    """Each is worse than the mixture it was made of, whatever the opponent plays, by a linear program."""
    rng = np.random.default_rng(3)
    core = rng.standard_normal((4, 4))
    matrix = pmccfr_dominated.with_dominated(core, rng, 9, 0.5)
    np.testing.assert_array_equal(matrix[:4, :4], core)
    for table in (matrix, -matrix.T):
        for worse in table[4:]:
            best = linprog(
                np.append(np.zeros(4), -1.0),
                A_ub=np.column_stack((-table[:4].T, np.ones(9))),
                b_ub=-worse,
                A_eq=[[1.0] * 4 + [0.0]],
                b_eq=[1.0],
                bounds=[(0.0, None)] * 4 + [(None, None)],
            )
            assert -best.fun >= 0.5 - 1e-9
    small, large = (tp.solve(MatrixGame(table), "lp").value for table in (core, matrix))
    assert small == pytest.approx(large, abs=1e-9)
    monkeypatch.setattr(pmccfr_dominated, "SEEDS", 1)
    monkeypatch.setattr(pmccfr_dominated, "SIZE", 15)
    report = pmccfr_dominated.reproduce(tmp_path, lambda line: None)
    assert all(math.isfinite(claim.ours) for claim in report.claims)


def test_ratios_from_four_cards_on_leave_three_out() -> None:
    plus = {**{f"cfr+_{order}": 10 for order in cfr_plus_fig1.ORDERS}, "cfr+_faced_delayed": 10, "cfr+_current": 100}
    rows = [
        {"deck": deck, **{f"cfr_{order}": cost for order in cfr_plus_fig1.ORDERS}, **plus}
        for deck, cost in ((3, 70), (4, 117), (6, 120), (100, 200))
    ]
    measured = cfr_plus_fig1.measure(rows)
    assert measured["smallest_ratio_faced_delayed"] == 7.0
    assert measured["smallest_ratio_from_four"] == 11.7


def test_cfr_on_leduc_runs_to_its_goal(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(rbp_fig1, "GAMES", ("leduc",))
    monkeypatch.setattr(rbp_fig1, "FAMILIES", {"cfr": "CFR"})
    monkeypatch.setattr(rbp_fig1, "NODES", {("leduc", "cfr"): 10**8})
    monkeypatch.setattr(rbp_fig1, "GOALS", {("leduc", "cfr"): 0.3})
    monkeypatch.setattr(rbp_fig1, "report_curves", lambda identity, folder, measured, curves, *rest: curves)
    partial, pruned = rbp_fig1.reproduce(tmp_path, lambda line: None)
    assert partial.rows[-1].nash_conv <= 0.3 < partial.rows[-2].nash_conv
    assert partial.rows[-1].nodes_touched < 10**8
    assert pruned.best <= partial.best
