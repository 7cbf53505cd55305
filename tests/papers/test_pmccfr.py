"""The reproductions of Ju et al. (2023), small: what they leave behind, and that every claim is measured."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms.cfr import cfr_plus
from treeplex.algorithms.samplers import pure_mccfr
from treeplex.games.leduc_pots import leduc_pots
from treeplex.papers import pmccfr_fig2, pmccfr_fig3, pmccfr_table1
from treeplex.papers.registry import REPRODUCTIONS
from treeplex.papers.seeded_curves import Point, band, crossing, curve, grid_of, reached


def quiet(line: str) -> None:
    assert line


def test_table_1_row_by_row() -> None:
    """The Leduc extension, two seeds of thirty: within a quarter of the paper's numbers, as the whole run must be."""
    game = tp.load(pmccfr_table1.GAMES["leduc"])
    for name, paper in pmccfr_table1.PAPER["leduc"].items():
        redraw = name in pmccfr_table1.REDRAWN
        seeds = 2 if "MC" not in name else 30
        nodes = pmccfr_table1.touched(game, pmccfr_table1.ALGORITHMS[name], seeds, redraw=redraw)
        ours = nodes.looked if name in pmccfr_table1.LOOKERS else nodes.entered
        assert 0.8 < ours / paper < 1.25, name


@pytest.mark.parametrize(
    ("name", "nodes"),
    [
        ("leduc_pots", 245_336),  # Table 1
        ("leduc_pots(folds=published)", 245_336),
        ("leduc_pots(ranks=14,bets=1,open_raise=true)", 207_887),  # Figure 2, by the authors' code
        ("kuhn_ext(cards=3,bets=20,raises=7)", 4_967_263),
    ],
)
def test_the_games_of_the_paper_have_its_nodes(name, nodes) -> None:
    assert tp.load(name).nodes == nodes


def test_folds_as_published_pay_who_folds_to_a_large_bet() -> None:
    """2 staked and 16 bet in the first round: 18 less the bet is 2; the authors' code takes back 32."""
    lost = {}
    for folds in ("matched", "published"):
        rules = leduc_pots(folds=folds)
        history = rules.root()
        for action in (rules.actions(history)[1], "bet16", "fold"):
            history = rules.child(history, action)
        lost[folds] = rules.payoff(history)
    assert lost == {"matched": 2.0, "published": -14.0}


def test_the_whole_of_table_1(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(pmccfr_table1, "SEEDS", 1)
    monkeypatch.setattr(pmccfr_table1, "GAMES", {"leduc": "leduc", "kuhn": "kuhn_ext(3,4,2)"})
    monkeypatch.setattr(pmccfr_table1, "OTHER", pmccfr_table1.GAMES)
    report = REPRODUCTIONS["pmccfr-table1"].run(tmp_path, quiet)
    assert len(report.claims) == 28
    ours = {claim.claim: claim.ours for claim in report.claims}
    for game in ("Leduc", "Kuhn"):
        looked = next(value for claim, value in ours.items() if claim.startswith(f"{game} extension, CFR: share"))
        assert ours[f"ours: {game} extension, CFR: the same by nodes that are entered, not only looked at"] < looked
    assert all(math.isfinite(claim.ours) for claim in report.claims)
    rows = list(csv.DictReader((tmp_path / "pmccfr-table1.csv").read_text().splitlines()))
    assert len(rows) == 2 * 6
    assert (tmp_path / "pmccfr-table1.png").stat().st_size > 10_000
    json.dumps(report.summary(), allow_nan=False)


def test_what_has_learnt_nothing_is_drawn_again_and_nothing_else() -> None:
    game, algorithm = tp.load("leduc"), pmccfr_table1.ALGORITHMS["PCFR"]
    state = algorithm.advance(game, algorithm.start(game, 3), 2)
    before = [(table.pick.copy(), table.regret.copy()) for table in state.streams[0].tables]
    pmccfr_table1._draw_again(game, state, np.random.default_rng(0))
    moved = 0
    for table, (pick, regret) in zip(state.streams[0].tables, before, strict=True):
        np.testing.assert_array_equal(table.regret, regret)
        for start in np.flatnonzero(table.pick != pick):
            moved += 1
            assert not regret[start : start + 2].any()  # every infoset of Leduc has two actions or more
    assert moved > 10


@pytest.mark.slow
def test_the_whole_of_figure_2(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(pmccfr_fig2, "SEEDS", 2)
    monkeypatch.setattr(pmccfr_fig2, "SECONDS", 0.05)
    small = {"leduc": "leduc", "kuhn": "kuhn_ext(3,3,2)", "pursuit": "princess_and_monster(horizon=1)"}
    monkeypatch.setattr(pmccfr_fig2, "GAMES", dict.fromkeys(pmccfr_fig2.GAMES, small))
    report = REPRODUCTIONS["pmccfr-fig2"].run(tmp_path, quiet)
    assert len(report.claims) == 20
    assert all(math.isfinite(claim.ours) and claim.ours > 0 for claim in report.claims)
    assert (tmp_path / "pmccfr-fig2.png").stat().st_size > 10_000
    json.dumps(report.summary(), allow_nan=False)


@pytest.mark.slow
def test_the_whole_of_figure_3(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(pmccfr_fig3, "SEEDS", 2)
    monkeypatch.setattr(pmccfr_fig3, "SECONDS", 0.3)
    monkeypatch.setattr(pmccfr_fig3, "DRAWN", {})
    report = REPRODUCTIONS["pmccfr-fig3"].run(tmp_path, quiet)
    measured = {claim.claim: claim.ours for claim in report.claims}
    assert all(math.isfinite(value) for value in measured.values())
    assert next(value for claim, value in measured.items() if "few of the 95" in claim) < 20
    assert (tmp_path / "pmccfr-fig3.csv").exists()
    json.dumps(report.summary(), allow_nan=False)


def test_curves_count_training_alone() -> None:
    points = curve(tp.load("kuhn"), pure_mccfr(), 0.05, seed=1)
    assert [point.seconds for point in points] == sorted(point.seconds for point in points)
    assert points[-1].seconds >= 0.05
    assert points[-1].nodes > points[0].nodes > 0


def test_a_curve_ends_at_its_goal() -> None:
    goal, seconds = 1e-4, 20.0  # CFR+ needs some hundredths of a second
    points = curve(tp.load("leduc"), cfr_plus(), seconds, goal=goal)
    assert points[-1].nash_conv <= goal < min(point.nash_conv for point in points[:-1])
    assert points[-1].seconds < seconds / 2.0


def test_medians_meet_where_they_should() -> None:
    """NashConv 1 / seconds against 1 / (4 seconds): four times as far, whatever the seed."""
    slow = [[Point(0, 0, t, factor / t) for t in (1.0, 2.0, 4.0, 8.0)] for factor in (0.9, 1.0, 1.1)]
    fast = [[point._replace(nash_conv=point.nash_conv / 4.0) for point in points] for points in slow]
    assert crossing(slow, fast, "seconds") == pytest.approx(4.0, rel=0.05)
    middle, low, high = band(slow, "seconds", grid_of(slow, "seconds"))
    assert (low <= middle).all()
    assert (middle <= high).all()
    assert reached(slow[1], 0.25, "seconds") == 4.0
    assert reached(slow[1], 0.01, "seconds") == float("inf")
