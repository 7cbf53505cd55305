"""Streams and comparisons on a cluster: the bits of one machine, whichever worker runs which."""

from __future__ import annotations

import pytest

import treeplex as tp
from cluster_helpers import bits
from treeplex.algorithms.registry import choose
from treeplex.cluster.sweep import swept

EIGHT = "pure-mccfr(streams=8)"


def test_eight_streams_on_two_workers(cluster, tmp_path) -> None:
    options = {"iterations": 3000, "seed": 5}
    tp.solve("leduc_ext", EIGHT, **options, out=tmp_path / "here")
    found = tp.solve("leduc_ext", EIGHT, **options, out=tmp_path / "there", cluster=cluster)
    assert bits(tmp_path / "there") == bits(tmp_path / "here")
    assert found.iterations == 3000
    found.save(tmp_path / "saved")  # nothing of the answer is left on the cluster
    assert bits(tmp_path / "saved")["tensors"] == bits(tmp_path / "here")["tensors"]


def test_a_run_begun_here_goes_on_there_and_comes_back(cluster, tmp_path) -> None:
    name = "mccfr-external(streams=3,average=recent)"
    tp.solve("kuhn", name, iterations=700, out=tmp_path / "whole")
    tp.solve("kuhn", name, iterations=100, out=tmp_path / "parts")
    tp.solve("kuhn", name, iterations=300, out=tmp_path / "parts", cluster=cluster)
    tp.resume(tmp_path / "parts", iterations=500, cluster=cluster)
    tp.resume(tmp_path / "parts", iterations=700)
    assert bits(tmp_path / "parts")["tensors"] == bits(tmp_path / "whole")["tensors"]
    assert bits(tmp_path / "parts")["policy"] == bits(tmp_path / "whole")["policy"]


def test_other_algorithms_are_refused(cluster) -> None:
    with pytest.raises(tp.TreeplexError, match="must have streams"):
        tp.solve("kuhn", "lp", cluster=cluster)


def test_a_comparison_over_seeds(cluster, tmp_path) -> None:
    names = ["cfr+", "mccfr-external", "pure-mccfr(weight=log)"]
    options = {"accuracies": [0.5, 0.1], "seeds": 2, "iterations": 200, "seconds": 60}
    here = tp.compare("kuhn", names, **options)
    there = tp.compare("kuhn", names, **options, cluster=cluster, out=tmp_path / "there")
    columns = [name for name in here.table.column_names if name != "seconds"]
    assert there.table.select(columns).to_pylist() == here.table.select(columns).to_pylist()
    assert [(run.algorithm, run.seed, run.status) for run in there.runs] == [
        (run.algorithm, run.seed, run.status) for run in here.runs
    ]
    assert {path.name for path in (tmp_path / "there").iterdir()} >= {"comparison.parquet", "mccfr-external, seed 1"}


def test_a_refusal_there_stands_in_the_place_of_an_answer(cluster) -> None:
    import ray  # noqa: PLC0415

    found = dict(swept(ray, choose, [("cfr+",), ("nope",), ("lp",)]))
    assert [found[0].name, found[2].name] == [choose("cfr+").name, choose("lp").name]
    assert isinstance(found[1], tp.TreeplexError)
