"""``compare``: what it took to come how close, by the logs of the runs; bands over seeds; what cannot be run."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import treeplex as tp
from treeplex.algorithms.registry import ALGORITHMS, build
from treeplex.arrow import table
from treeplex.errors import ParameterError
from treeplex.runs.comparison import Comparison, FinishedRun

SPOT: dict[str, Any] = {
    "board": "Ks 7d 2c 8h 3c",
    "pot": 20,
    "effective_stack": 30,
    "oop_range": "KK,QQ,72s",
    "ip_range": "AK,JJ,55",
}


def log(*rows: tuple[int, int, float, float]) -> Any:
    iteration, nodes, seconds, nash_conv = zip(*rows, strict=True)
    return table({"iteration": iteration, "nodes_touched": nodes, "seconds": seconds, "nash_conv": nash_conv}, {})


BY_HAND = Comparison(
    "game",
    2.0,
    (0.1, 0.01),
    (
        FinishedRun("steady", None, "solved", log((1, 10, 0.1, 1.0), (5, 50, 0.5, 0.2), (9, 90, 0.9, 0.02))),
        FinishedRun("random", 0, "seconds", log((1, 5, 0.1, 0.2), (2, 9, 0.2, 0.3))),
        FinishedRun("random", 1, "seconds", log((3, 15, 0.3, 0.1), (7, 20, 0.4, 0.01))),
        FinishedRun("random", 2, "seconds", log((4, 25, 0.4, 0.15), (7, 30, 0.5, 0.05))),
        FinishedRun("random", 3, "seconds", log((8, 40, 0.8, 0.5))),
    ),
    {"other": "It cannot."},
)


def test_a_row_is_the_first_evaluation_that_was_so_good() -> None:
    rows = {(row["algorithm"], row["seed"], row["accuracy"]): row for row in BY_HAND.table.to_pylist()}
    assert len(rows) == 10
    assert [rows["steady", None, 0.1][name] for name in ("iterations", "nodes_touched", "seconds")] == [5, 50, 0.5]
    assert rows["steady", None, 0.01]["iterations"] == 9
    assert rows["random", 0, 0.1]["nash_conv"] == 0.2
    assert rows["random", 0, 0.1]["iterations"] == 1  # later ones were worse again
    assert rows["random", 3, 0.1]["iterations"] is None


def test_bands_are_numbers_that_were_seen() -> None:
    assert BY_HAND.band("random", 0.1, "iterations") == (1, 3, 4)  # of 1, 3, 4, never
    assert BY_HAND.band("random", 0.01, "seconds") == (0.4, np.inf, np.inf)
    assert BY_HAND.band("steady", 0.01, "nodes_touched") == (90, 90, 90)
    assert BY_HAND.ranking == ["steady", "random"]
    head, rows = BY_HAND.words()
    assert head == ["algorithm", "nodes to 0.1", "seconds to 0.1", "nodes to 0.01", "seconds to 0.01"]
    assert rows == [
        ["steady", "50", "0.5", "90", "0.9"],
        ["random", "15 (5 to 25)", "0.3 (0.1 to 0.4)", "- (20 to -)", "- (0.4 to -)"],
    ]
    assert BY_HAND.summary()[-1]["iterations"] == [7, None, None]


def test_runs_are_those_of_solve(tmp_path) -> None:
    found = tp.compare(
        "leduc", ["cfr+", "mccfr-external"], accuracies=[0.3, 0.05], seeds=3, iterations=200, out=tmp_path / "c"
    )
    assert found.uniform == pytest.approx(tp.evaluate("leduc", tp.Policy.uniform("leduc")).nash_conv)
    assert [(run.algorithm, run.seed) for run in found.runs] == [
        ("cfr+", None),
        *(("mccfr-external", seed) for seed in range(3)),
    ]
    alone = tp.solve("leduc", "mccfr-external", nash_conv=0.05 * found.uniform, iterations=200, seed=2)
    assert found.runs[3].log["nash_conv"].to_pylist() == alone.log["nash_conv"].to_pylist()
    stored = pq.read_table(tmp_path / "c" / "comparison.parquet")
    assert stored.num_rows == 8
    assert stored.schema.metadata[b"game"] == b"leduc"
    assert (tmp_path / "c" / "comparison.png").stat().st_size > 1000
    assert (tmp_path / "c" / "mccfr-external, seed 1" / "run.json").exists()
    again = tp.compare(
        "leduc", ["cfr+", "mccfr-external"], accuracies=[0.3, 0.05], seeds=3, iterations=200, out=tmp_path / "c"
    )
    assert again.table.drop_columns("seconds").equals(found.table.drop_columns("seconds"))
    with pytest.raises(ParameterError, match="holds a comparison with another seeds"):
        tp.compare("leduc", ["cfr+", "mccfr-external"], accuracies=[0.3, 0.05], seeds=2, out=tmp_path / "c")


def test_what_cannot_be_run_is_told_with_the_reason() -> None:
    found = tp.compare(SPOT, ["dcfr", "lp", "cfr-rbp", "hs-dcfr"], accuracies=[0.2], iterations=20)
    assert {run.algorithm for run in found.runs} == {"dcfr", "hs-dcfr"}
    assert set(found.refused) == {"lp", "cfr-rbp"}
    assert found.refused["lp"].startswith("Hold'em spots are solved by auto, cfr, cfr+")


def test_all_algorithms_are_taken_if_none_is_named() -> None:
    seen: list[str] = []
    found = tp.compare(
        "matrix([[1,0],[0,2]])", accuracies=[0.5], iterations=1, watch=lambda label, _: seen.append(label)
    )
    assert {run.algorithm for run in found.runs} | set(found.refused) == set(ALGORITHMS)
    assert set(seen) >= {"cfr+", "mccfr-external"}
    assert "<table>" in found._repr_html_()


def test_seeds_are_for_what_is_random() -> None:
    random = {name for name in ALGORITHMS if build(name).random}
    assert random == {name for name in ALGORITHMS if name.startswith(("mccfr-", "gibson-", "pure-", "warm-start"))}


@pytest.mark.parametrize(
    ("given", "said"),
    [
        ({"accuracies": []}, "The 'accuracies' parameter must be a list of numbers, got []"),
        ({"accuracies": [2.0]}, "The 'accuracies' parameter must be a number above 0 and below 1, got 2.0"),
        ({"seeds": 0}, "The 'seeds' parameter must be a whole number from 1 to 1,000, got 0"),
        ({"seconds": -1}, "The 'seconds' parameter must be a number >= 0, got -1"),
    ],
)
def test_refusals(given, said) -> None:
    with pytest.raises(ParameterError) as refused:
        tp.compare("kuhn", ["cfr"], **given)
    assert str(refused.value).startswith(said)


def test_a_game_that_uniform_play_solves_is_refused() -> None:
    with pytest.raises(ParameterError, match="is an equilibrium, so there is nothing to compare"):
        tp.compare("matrix([[1,-1],[-1,1]])")
