"""Curves and what is read off them; every reproduction of the pruning paper runs, on small budgets."""

from __future__ import annotations

import json
import math

import pytest

import treeplex as tp
from treeplex.errors import ParameterError
from treeplex.papers import cfr_plus_fig1, curves, rbp_fig1, rbp_fig2, rbp_fig3
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
