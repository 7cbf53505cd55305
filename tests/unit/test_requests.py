"""One schema of options for every door, one record that old folders still have, and logs by name."""

from __future__ import annotations

import json
from inspect import signature
from pathlib import Path
from typing import Any

import pytest
import typer.main

import treeplex as tp
from treeplex import api
from treeplex.cli.main import app
from treeplex.errors import ParameterError
from treeplex.games.holdem.spot import Spot, sizes_for
from treeplex.poker.sizes.problem import SizeOptions
from treeplex.poker.sizing import sizes
from treeplex.runs import log, schema
from treeplex.runs.batch.jobs import FIELDS
from treeplex.runs.folder import RunFolder
from treeplex.runs.log import LogRow, read_rows, written_rows
from treeplex.runs.requests import solving
from treeplex.runs.schema import BIG_BLIND, EXPLORE, GROW, RESUME, SIZES, SOLVE, Options
from treeplex.tensors import CHECKPOINT, mapped_tensors, write_tensors

RIVER = Spot("Ks 9h 6d 3c Jh", 100, 100, "AA,KQs", "QQ,AKs", sizes_for("a", ""))
LISTENERS = {"watch", "answer"}


def names(listed: Any) -> set[str]:
    return {each.name for each in listed}


# --- one schema ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("function", "listed", "own"),
    [
        (api.solve, SOLVE, {"game", "algorithm", "locks", "parameters"} | LISTENERS),
        (api.resume, RESUME, {"folder", "algorithm", "game"} | LISTENERS),
        (api.grow, GROW, {"game", "growth"} | LISTENERS),
        (api.explore, EXPLORE, {"game", "algorithm", "responses"} | LISTENERS),
        (sizes, SIZES, {"spots", *SizeOptions.__dataclass_fields__} | LISTENERS),
    ],
)
def test_signatures_have_the_options_of_the_schema(function, listed, own) -> None:
    """By name and by default, and each is in the docstring."""
    parameters = signature(function).parameters
    assert set(parameters) == names(listed) | own
    assert {each.name: parameters[each.name].default for each in listed} == {each.name: each.default for each in listed}
    assert all(f"        {name}: " in (function.__doc__ or "") for name in names(listed))


def test_commands_have_the_options_of_the_schema() -> None:
    group: Any = typer.main.get_command(app)
    extras = {
        "solve": (SOLVE, {"game", "algorithm", "traversal", "no_save", "show", "quiet", "as_json"}),
        "resume": (RESUME, {"folder", "show", "quiet", "as_json"}),
    }
    for name, (listed, own) in extras.items():
        made = group.get_command(None, name).make_context(name, ["--help"], resilient_parsing=True).command
        assert {each.name for each in made.params} - {"help"} == names((*listed, BIG_BLIND)) | own


def test_jobs_and_forms_have_the_options_of_the_schema() -> None:
    forms = pytest.importorskip("treeplex.web.schema.jobs")
    assert set(FIELDS) == {"id", "game", "spot", "algorithm"} | names(schema.JOB)
    assert names(schema.JOB) | {"threads"} <= set(forms.SolveJob.model_fields)
    assert names(schema.LIMITS) | {"threads", "run", "what"} == set(forms.ResumeJob.model_fields)


def test_every_option_says_what_it_is() -> None:
    for each in schema.OPTIONS:
        assert each.help.endswith(".")
        assert each.help[0].isupper()
    assert names(schema.OPTIONS) == set(Options.__dataclass_fields__) - LISTENERS - {"picture"}


# --- logs by name ----------------------------------------------------------------------------------------------------


def test_rows_of_a_log_are_by_name() -> None:
    rows = [LogRow(3, 40, 0.5, 0.25, -0.1, 0.2, 0.1, {"sizes": 2}), LogRow(5, 60, 1.0, 0.5, -0.1, float("nan"), 0.1)]
    about = json.loads(json.dumps(written_rows(rows)))
    assert read_rows(about)[0] == rows[0]
    assert str(read_rows(about)[1]) == str(rows[1])
    shuffled = {"columns": about["columns"][::-1], "rows": [row[::-1] for row in about["rows"]]}
    assert read_rows(shuffled)[0] == rows[0]


def test_rows_without_names_are_those_of_old_checkpoints() -> None:
    assert read_rows({"rows": [[3, 40, 0.5, 0.25, -0.1, None, 0.1, {"sizes": 2}]]})[0][:5] == (3, 40, 0.5, 0.25, -0.1)
    for damaged in ([[3]], [[3, 40, 0.5, 0.25, -0.1, "x", 0.1, {}]], [[-3, 40, 0.5, 0.25, -0.1, 0.0, 0.1, {}]]):
        with pytest.raises((ValueError, TypeError, LookupError)):
            read_rows({"rows": damaged})


@pytest.mark.parametrize("change", ["without names", "a column fewer", "a column more"])
def test_checkpoints_with_other_columns_are_continued(tmp_path, change) -> None:
    """Those of 0.2, which have no names; those of a version that had fewer columns; and of one that has more."""
    whole = tp.solve("kuhn", "cfr+", iterations=60)
    tp.solve("kuhn", "cfr+", iterations=25, out=tmp_path / "run")
    path = tmp_path / "run" / "checkpoint.safetensors"
    with mapped_tensors(path, CHECKPOINT) as (tensors, about):
        arrays = {name: array.copy() for name, array in tensors.items()}
    if change == "without names":
        assert about.pop("columns") == list(log.FIRST_COLUMNS)
    elif change == "a column fewer":
        k = about["columns"].index("evaluation_seconds")
        about["columns"].pop(k)
        about["rows"] = [[*row[:k], *row[k + 1 :]] for row in about["rows"]]
    else:
        about["columns"].insert(2, "temperature")
        about["rows"] = [[*row[:2], 21.5, *row[2:]] for row in about["rows"]]
    write_tensors(path, CHECKPOINT, arrays, about)
    solution = tp.resume(tmp_path / "run", iterations=60)
    assert [row[:2] for row in solution.rows] == [row[:2] for row in whole.rows]
    assert solution.evaluation == whole.evaluation


# --- the order of averaging ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", ["played", "next"])
def test_spots_reject_another_order(order) -> None:
    with pytest.raises(ParameterError, match=f"leave out order={order}"):
        solving(RIVER, f"dcfr(order={order})")
    assert f'order="{order}"' in solving("kuhn", f"dcfr(order={order})").choice.name


@pytest.mark.parametrize("algorithm", ["dcfr", "cfr+(order=faced)", "pcfr+"])
def test_spots_record_the_order_they_have(algorithm) -> None:
    request = solving(RIVER, algorithm)
    assert 'order="faced"' in request.choice.name
    assert request.choice.label == algorithm


def test_runs_of_spots_that_recorded_another_order_are_continued(tmp_path) -> None:
    """Version 0.2 recorded the default of compiled games in ``run.json`` and in the checkpoint."""
    whole = tp.solve(RIVER, "dcfr", iterations=30)
    tp.solve(RIVER, "dcfr", iterations=12, out=tmp_path / "run")
    as_in_0_2(tmp_path / "run")
    solution = tp.resume(tmp_path / "run", iterations=30)
    assert solution.evaluation == whole.evaluation
    assert 'order="faced"' in RunFolder.open(tmp_path / "run").record.algorithm
    as_in_0_2(tmp_path / "run")
    assert tp.solve(RIVER, "dcfr", iterations=30, out=tmp_path / "run").evaluation == whole.evaluation


def as_in_0_2(folder: Path) -> None:
    """Name the order in a folder as 0.2 did."""
    record = json.loads((folder / "run.json").read_text())
    record["algorithm"] = record["algorithm"].replace('order="faced"', 'order="played"')
    assert 'order="played"' in record["algorithm"]
    (folder / "run.json").write_text(json.dumps(record))
    path = folder / "checkpoint.safetensors"
    with mapped_tensors(path, CHECKPOINT) as (tensors, about):
        arrays = {name: array.copy() for name, array in tensors.items()}
    about["run"]["algorithm"] = record["algorithm"]
    write_tensors(path, CHECKPOINT, arrays, about)


# --- records ---------------------------------------------------------------------------------------------------------


def test_a_record_of_0_2_is_read_as_it_was(tmp_path) -> None:
    fields = {
        "format": "treeplex-run-2",
        "kind": "game",
        "game": "kuhn",
        "source": "kuhn",
        "fingerprint": tp.load("kuhn").fingerprint,
        "algorithm": 'cfr+(delay=0,turns="alternating",order="played")',
        "asked": "cfr+",
        "seed": 0,
        "storage": "float64",
        "iterate": "average",
        "options": {},
        "limits": {"nash_conv": None, "seconds": None, "iterations": 20, "nodes": None},
        "threads": 0,
        "backend": "cpu",
        "version": "0.2.0",
    }
    (tmp_path / "run.json").write_text(json.dumps(fields))
    assert tp.resume(tmp_path).iterations == 20
    assert tp.solve("kuhn", "cfr+", iterations=30, out=tmp_path).iterations == 30  # the very same run
    with pytest.raises(ParameterError, match="another algorithm"):
        tp.solve("kuhn", "cfr", iterations=30, out=tmp_path)


def test_a_further_option_of_the_identity_is_recorded_where_it_is_not_the_default(monkeypatch, tmp_path) -> None:
    """An option that a later version adds to the identity needs a line in the schema, and no field in ``run.json``."""
    monkeypatch.setattr("treeplex.runs.request.FURTHER", schema.named("checkpoint_seconds"))
    plain, other = solving("kuhn", "cfr+"), solving("kuhn", "cfr+", checkpoint_seconds=5.0)
    records = [request.recorded(request.choice.algorithm) for request in (plain, other)]
    assert [dict(record.options) for record in records] == [{}, {"checkpoint_seconds": 5.0}]
    assert records[0].identity != records[1].identity
    assert [record.chosen["checkpoint_seconds"] for record in records] == [30.0, 5.0]
    assert Options(**records[1].chosen).checkpoint_seconds == 5.0
