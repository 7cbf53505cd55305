"""``treeplex batch``: exit codes, JSON lines, refusals; the jobs themselves are in tests/cluster."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cluster_helpers import Inline, rivers
from treeplex.cluster import batch

JOBS = [{"id": "a", "game": "kuhn", "nash_conv": 0.1}, {"id": "b", "game": "kuhn", "algorithm": "cfr", "iterations": 4}]


@pytest.fixture(autouse=True)
def inline(monkeypatch) -> None:
    """In this process: others take seconds to start."""
    monkeypatch.setattr(batch, "Processes", Inline)


def written(*jobs: object) -> Path:
    path = Path("jobs.jsonl")
    path.write_text("".join(json.dumps(job) + "\n" for job in jobs))
    return path


def test_a_row_per_job_then_the_result(cli) -> None:
    told = cli("batch", written(*JOBS), "--out", "out", "--json")
    assert told.code == 0
    assert [line["id"] for line in told.lines[:-1]] == ["a", "b"]
    assert [line["status"] for line in told.lines[:-1]] == ["solved", "iterations"]
    assert told.last | {"seconds": 0} == {
        "jobs": 2,
        "ended": 2,
        "failed": [],
        "missed": [],
        "status": "done",
        "seconds": 0,
        "folder": str(Path("out").absolute()),
        "results": str(Path("out/results").absolute()),
    }
    again = cli("batch", "jobs.jsonl", "--out", "out")
    assert (again.code, again.out.startswith("2 of 2 jobs done")) == (0, True)
    resumed = cli("resume", "out", "--json")
    assert (resumed.code, resumed.last["ended"]) == (0, 2)
    assert "have their own limits" in cli("resume", "out", "--seconds", 3).sentence


def test_a_target_that_is_missed_is_exit_code_1(cli) -> None:
    told = cli("batch", written(JOBS[0] | {"nash_conv": 0, "iterations": 3}, JOBS[1]), "--out", "out", "--json")
    assert (told.code, told.last["missed"], told.last["failed"]) == (1, ["a"], [])


def test_a_job_that_fails_is_exit_code_1(cli) -> None:
    Path("out").mkdir()
    path = written(*JOBS)
    assert cli("batch", path, "--out", "out").code == 0
    (Path("out/runs/a/run.json")).write_text("{}")
    Path("out/results/a.parquet").unlink()
    told = cli("batch", path, "--out", "out")
    assert told.code == 1
    assert "not what treeplex writes" in told.out
    assert Path("out/logs/a.log").exists()


def test_what_it_would_take(cli) -> None:
    told = cli("batch", written(*JOBS, *rivers(1)), "--dry-run", "--json")
    assert told.code == 0
    assert [line["id"] for line in told.lines[:-1]] == ["a", "b", "river0"]
    assert [line["seconds_estimated"] is None for line in told.lines[:-1]] == [True, False, False]
    assert (told.last["jobs"], told.last["jobs_without_estimate"], told.last["seconds_estimated"]) == (3, 1, None)
    assert told.last["bytes_largest"] == max(line["bytes"] for line in told.lines[:-1])
    assert not Path("out").exists()
    assert "river0" in cli("batch", "jobs.jsonl", "--dry-run").out


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("batch", "none.jsonl", "--out", "out"), "cannot be read"),
        (("batch", "jobs.jsonl"), "give --out FOLDER"),
        (("batch", "jobs.jsonl", "--out", "out", "--retries", "-1"), "The 'retries' parameter"),
        (("batch", "jobs.jsonl", "--out", "out", "--workers", "-1"), "The 'workers' parameter"),
        (("batch", "jobs.jsonl", "--out", "out", "--cluster", "127.0.0.1:1"), "luster a"),
        (("batch", "jobs.jsonl", "--out", "."), "is not empty and holds no run"),
        (("batch", "empty.jsonl", "--out", "out"), "There are no jobs"),
        (("batch", "bad.jsonl", "--out", "out", "--json"), "bad.jsonl, line 2: There is no field"),
        (("solve", "kuhn", "--algorithm", "cfr+", "--cluster", "127.0.0.1:1", "--no-save"), "luster a"),
        (("compare", "kuhn", "cfr", "--cluster", "auto"), "--cluster is only for tables"),
    ],
)
def test_refusals(arguments, said, cli) -> None:
    """Of an address: "No Ray cluster answers", or "attached to the cluster at" where a test before has attached."""
    written(*JOBS)
    Path("empty.jsonl").write_text("\n")
    Path("bad.jsonl").write_text(f'{json.dumps(JOBS[0])}\n{{"id": "b", "gam": "kuhn"}}\n')
    assert said in cli(*arguments).sentence
    assert not Path("out").exists()
