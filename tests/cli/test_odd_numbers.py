"""Numbers and structures that no computer can work with: one sentence and exit code 2, whatever they came in."""

from __future__ import annotations

import json
from typing import Any

import pytest

import treeplex as tp
from treeplex.errors import ParameterError
from treeplex.files import parse_json
from treeplex.growth.options import Growth
from treeplex.limits import Limits
from treeplex.runs.log import LogRow
from treeplex.runs.loop import Progress
from treeplex.runs.progress import NotebookLine, progress_line, seconds_left

SPOT = {
    "board": "Ks 9h 6d 3c Jh",
    "pot": 100,
    "effective_stack": 300,
    "oop_range": "AA,KK",
    "ip_range": "QQ,AKs",
    "sizes": {"bet": "50%", "raise": "a"},
}
DIGITS = "9" * 400
MANY = "9" * 5000
DEEP = "[" * 100_000 + "]" * 100_000
DEEPER = "[" * 900 + "]" * 900  # read by Python, and then too much for what looks into it


# --- the one reader of JSON ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [DIGITS, MANY, f"-{DIGITS}", "1e400", "-1e400", "NaN", "Infinity", DEEP, DEEPER, "{"])
def test_json_that_cannot_be_worked_with_is_a_value_error(text) -> None:
    for written in (text, f'{{"a": [{text}]}}'):
        with pytest.raises(ValueError, match=r"."):
            parse_json(written)


@pytest.mark.parametrize("value", [0, -1.5, 10**300, 1e308, "text", None, True, [], {}, {"a": [1, {"b": [2.5]}]}])
def test_other_json_is_read_as_it_is(value) -> None:
    assert parse_json(json.dumps(value)) == value


# --- run folders -----------------------------------------------------------------------------------------------------


def changed(path: Any, name: str, text: str) -> None:
    """Put ``text`` in the place of a field of run.json, whatever it is."""
    record = json.loads((path / "run.json").read_text())
    *tables, key = name.split(".")
    table = record
    for part in tables:
        table = table[part]
    table[key] = "HERE"
    (path / "run.json").write_text(json.dumps(record).replace('"HERE"', text))


@pytest.mark.parametrize("text", [DIGITS, MANY, "1e400", "NaN", DEEP, DEEPER, '"x"', "[]", "{}", "true"])
@pytest.mark.parametrize("name", ["limits.nash_conv", "limits.seconds", "seed", "options.locks", "source.pot"])
def test_a_spots_run_with_odd_fields_is_refused(name, text, cli, tmp_path) -> None:
    tp.solve(SPOT, "cfr+", iterations=1, out=tmp_path / "run")
    if (name, text) == ("options.locks", "[]"):
        return  # that is legal
    changed(tmp_path / "run", name, text)
    assert "run.json" in cli("resume", "run", "--iterations", 2).sentence
    assert "run.json" in cli("holdem", "show", "run").sentence


@pytest.mark.parametrize("text", [DIGITS, "5", "null", "[]", "{}", '"x"'])
@pytest.mark.parametrize("name", ["options.algorithm", "options.factor", "algorithm"])
def test_a_growing_run_with_odd_options_is_refused(name, text, cli, tmp_path) -> None:
    tp.grow("continuous_leduc", iterations=2, out=tmp_path / "run")
    changed(tmp_path / "run", name, text)
    if (name, text) in {("options.factor", "5"), ("algorithm", '"x"')}:  # another run, or one that is not looked at
        return
    _ = cli("resume", "run", "--iterations", 3).sentence


@pytest.mark.parametrize("text", [DEEP, DEEPER, "[]", "5", "null", '"x"', MANY])
def test_a_record_that_is_none_is_refused(text, cli, tmp_path) -> None:
    tp.solve("kuhn", "cfr+", iterations=1, out=tmp_path / "run")
    (tmp_path / "run" / "run.json").write_text(text)
    assert "run.json" in cli("resume", "run", "--iterations", 2).sentence


# --- spots, jobs, sizes ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [DIGITS, MANY, "1e400", "NaN", "-1e400", DEEP, DEEPER, "[[1]]", "{}", "true", "null"])
@pytest.mark.parametrize("name", ["pot", "effective_stack", "rake_rate", "board", "sizes", "chip"])
def test_spots_with_odd_numbers_are_refused(name, text, cli, tmp_path) -> None:
    (tmp_path / "spot.json").write_text(json.dumps(SPOT | {name: "HERE"}).replace('"HERE"', text))
    if (name, text) == ("sizes", "{}"):
        return  # nothing but checks
    _ = cli("holdem", "solve", "spot.json", "--iterations", 1, "--no-save").sentence


@pytest.mark.parametrize("text", [DIGITS, MANY, "1e400", "NaN", DEEP, DEEPER, "[[1]]", "{}", "true"])
@pytest.mark.parametrize("name", ["nash_conv", "iterations", "seed", "seconds", "game", "id", "spot"])
def test_jobs_with_odd_numbers_are_refused(name, text, cli, tmp_path) -> None:
    job = {"id": "a", "game": "kuhn"} | {name: "HERE"}
    (tmp_path / "jobs.jsonl").write_text(json.dumps(job).replace('"HERE"', text) + "\n")
    assert "line 1" in cli("batch", "jobs.jsonl", "--out", "b").sentence


# --- the command line ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("text", [DIGITS, MANY, "1e400", "nan", "inf"])
@pytest.mark.parametrize(
    "option",
    ["--nash-conv", "--exploitability", "--seconds", "--iterations", "--nodes", "--seed", "--threads", "--device"],
)
def test_options_with_odd_numbers_are_refused(option, text, cli) -> None:
    assert len(cli("solve", "kuhn", "--algorithm", "cfr+", "--no-save", option, text).sentence) < 400


@pytest.mark.parametrize("text", [DIGITS, "1e400", "nan", "0", "-1"])
def test_a_big_blind_is_a_positive_number(text, cli, tmp_path) -> None:
    (tmp_path / "spot.json").write_text(json.dumps(SPOT))
    asked = cli("holdem", "solve", "spot.json", "--iterations", 1, "--no-save", "--big-blind", text)
    assert asked.sentence.startswith("The 'big_blind' parameter must be a number of chips > 0, got ")


@pytest.mark.parametrize("text", [DIGITS, MANY, "1e400", "NaN", DEEPER])
@pytest.mark.parametrize(
    ("game", "algorithm"),
    [
        ("leduc_ext({})", "cfr+"),
        ("random_tree(seed={})", "cfr+"),
        ("matrix([[{}]])", "lp"),
        ("kuhn", "dcfr(alpha={})"),
        ("kuhn", "cfr+(delay={})"),
        ("kuhn", "hs-dcfr(horizon={})"),
    ],
)
def test_names_with_odd_numbers_are_refused(game, algorithm, text, cli) -> None:
    asked = cli("solve", game.format(text), "--algorithm", algorithm.format(text), "--iterations", 1, "--no-save")
    assert len(asked.sentence) < 400


def test_an_algorithm_that_is_no_name_is_refused() -> None:
    with pytest.raises(ParameterError, match=r"Write name\(parameter=value,...\), got 5"):
        Growth(algorithm=5)  # pyright: ignore[reportArgumentType]


# --- progress --------------------------------------------------------------------------------------------------------


def falling(rows: int = 12, first: float = 1.0) -> list[LogRow]:
    """A log whose NashConv falls slowly."""
    return [LogRow(t, t, 0.1 * t, 0.0, 0.0, first / t**0.1, 0.5 * first / t**0.1) for t in range(1, rows + 1)]


@pytest.mark.parametrize("target", [0, 0.0, 5e-324, 1e-300, 1e-18])
def test_the_time_to_a_target_that_is_never_reached_is_not_told(target) -> None:
    moment = Progress(12, 1.3, falling())
    assert seconds_left(moment, Limits(target)) is None
    assert "left" not in progress_line("kuhn", moment, Limits(target))
    assert seconds_left(moment, Limits(target, seconds=5.0)) == pytest.approx(3.7)


def test_the_time_to_a_target_is_along_the_slope() -> None:
    rows = falling()
    left = seconds_left(Progress(12, 1.2, rows), Limits(rows[-1].nash_conv / 2**0.1))
    assert left == pytest.approx(1.2)  # twice the iterations


def test_a_target_of_zero_ends_with_an_answer(cli, monkeypatch) -> None:
    monkeypatch.setattr("treeplex.cli.progress.EVERY", 0.0)
    code, out, err = cli("solve", "kuhn", "--algorithm", "cfr", "--nash-conv", 0, "--iterations", 3000, "--json")
    assert (code, json.loads(out)["status"]) == (1, "iterations")
    assert "NashConv" in err


@pytest.mark.parametrize("name", ["treeplex.cli.progress.progress_line", "treeplex.runs.progress.seconds_left"])
def test_progress_that_cannot_be_shown_ends_no_run(name, cli, monkeypatch) -> None:
    def failing(*_: Any) -> str:
        raise OverflowError("math range error")

    monkeypatch.setattr("treeplex.cli.progress.EVERY", 0.0)
    monkeypatch.setattr(name, failing)
    assert cli("solve", "kuhn", "--algorithm", "cfr", "--iterations", 300, "--json").code == 0
    line = NotebookLine(object(), "kuhn", Limits(iterations=5))
    line._due = 0.0
    line.watch(Progress(3, 1.0, falling()))
