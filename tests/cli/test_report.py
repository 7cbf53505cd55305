"""``treeplex holdem report``: table, JSON, CSV, Parquet and the page tell the same."""

from __future__ import annotations

import csv
import io

import pytest
from pyarrow import parquet

from treeplex.holdem import Spot, report, sizes_for, solve

RANGES = (100, 120, "AA:0.5,KQs,77", "QQ,AKs,66", sizes_for("50%, a", "a"))


@pytest.fixture
def runs(tmp_path):
    for name, board in (("one", "Ks 9h 6d 3c 2c"), ("two", "Js Jh 4d 2d 2c")):
        solve(Spot(board, *RANGES), iterations=20, storage="float64", out=tmp_path / name)
    return [tmp_path / "one", tmp_path / "two"]


def test_tables_tell_the_same(runs, tmp_path, cli):
    files = {name: tmp_path / f"r.{name}" for name in ("csv", "parquet", "html")}
    options = [word for name, path in files.items() for word in (f"--{name}", path)]
    told = cli("holdem", "report", *runs, "--line", "", "--line", "x", *options, "--json").last
    found = report(runs, ["", "x"])
    assert told == found.summary()
    rows = parquet.read_table(files["parquet"]).to_pylist()
    assert [row["oop_ev"] for row in rows] == [row.ev[0] for row in found.rows]
    lines = list(csv.DictReader(io.StringIO(files["csv"].read_text())))
    assert [float(row["ip_equity"]) for row in lines] == [row.equity[1] for row in (*found.rows, *found.averages)]
    text = files["html"].read_text()
    assert text.count("<tr>") == 1 + len(found.rows) + len(found.averages)
    assert "http" not in text
    table = cli("holdem", "report", *runs, "--line", "x").out
    assert f"{found.rows[1].ev[0]:.2f}" in table
    assert cli("holdem", "report", *runs, "--csv", files["csv"]).code == 2
    assert cli("holdem", "report", *runs, "--html", "x.txt").code == 2
    assert "'only' parameter takes the words" in cli("holdem", "report", *runs, "--only", "wet").err
