"""A batch gives every job the bits that ``solve`` alone gives it; on one machine, and on a cluster of two."""

from __future__ import annotations

import json

import pyarrow.parquet as pq
import pytest

import treeplex as tp
from cluster_helpers import Inline, bits, rivers, spot, turns
from treeplex.cluster import batch, connect, tasks
from treeplex.runs.batch import planning
from treeplex.runs.batch.jobs import jobs_of

GAMES = [
    {"id": "kuhn", "game": "kuhn", "nash_conv": 1e-2},
    {"id": "leduc", "game": "leduc", "algorithm": "cfr+", "iterations": 30},
    {"id": "seeded", "game": "kuhn", "algorithm": "mccfr-external", "iterations": 200, "seed": 3},
]


@pytest.fixture
def inline(monkeypatch) -> None:
    """No time for other processes to start."""
    monkeypatch.setattr(batch, "Processes", Inline)


def alone(job, folder):
    """The same job by ``solve``."""
    options = {name: value for name, value in job.items() if name not in ("id", "game", "spot")}
    tp.solve(job.get("game") or job["spot"], **options, backend="cpu", out=folder)
    return bits(folder)


def check(jobs, found, tmp_path) -> None:
    assert [row.id for row in found.rows] == [job["id"] for job in jobs]
    assert [row.error for row in found.rows] == [None] * len(jobs)
    for job, row in zip(jobs, found.rows, strict=True):
        assert bits(found.folder / row.folder) == alone(job, tmp_path / "alone" / job["id"])
    table = pq.read_table(found.folder / "results").to_pylist()
    assert sorted(row["id"] for row in table) == sorted(job["id"] for job in jobs)
    kept = {row["id"]: row for row in table}
    for row in found.rows:
        result = json.loads((found.folder / row.folder / "result.json").read_text())
        assert {name: kept[row.id][name] for name in ("value", "nash_conv", "status", "seed", "game")} == {
            name: result[name] for name in ("value", "nash_conv", "status", "seed", "game")
        }


def test_on_this_machine(tmp_path) -> None:
    jobs = [*GAMES, *rivers(1)]
    found = tp.batch(jobs, out=tmp_path / "out")
    assert found.whole
    check(jobs, found, tmp_path)
    assert not list((tmp_path / "out" / "logs").iterdir())
    before = {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.parquet")}
    told = []
    assert tp.resume(tmp_path / "out").whole
    assert tp.batch(jobs, out=tmp_path / "out", answer=told.append).whole
    assert told == []
    assert before == {path: path.stat().st_mtime_ns for path in (tmp_path / "out").rglob("*.parquet")}


def test_on_a_cluster(cluster, tmp_path) -> None:
    jobs = [*GAMES, *rivers(2), *turns(1)]
    found = tp.batch(jobs, out=tmp_path / "out", cluster=cluster)
    check(jobs, found, tmp_path)
    assert found.whole
    again = tp.batch(jobs, out=tmp_path / "out", cluster=cluster)
    assert again.rows == found.rows


@pytest.mark.slow
def test_forty_rivers_and_six_turns(cluster, tmp_path) -> None:
    jobs = [*rivers(40), *turns(6)]
    check(jobs, tp.batch(jobs, out=tmp_path / "out", cluster=cluster), tmp_path)


def test_other_limits_go_on_and_other_games_are_refused(inline, tmp_path) -> None:
    job = {"id": "a", "game": "kuhn", "algorithm": "cfr", "iterations": 5}
    assert tp.batch([job], out=tmp_path).rows[0].iterations == 5
    more = job | {"iterations": 9}
    assert tp.batch([more], out=tmp_path).rows[0].iterations == 9
    assert bits(tmp_path / "runs" / "a") == alone(more, tmp_path / "alone")
    with pytest.raises(tp.TreeplexError, match="holds a job 'a' with another game"):
        tp.batch([job | {"algorithm": "cfr+"}], out=tmp_path)


def test_a_job_that_fails_stops_no_other(inline, tmp_path) -> None:
    """The folder of one is not its own: it is told of, logged, and tried again by the next call."""
    jobs = [GAMES[0], {"id": "bad", "game": "kuhn", "iterations": 3}]
    blocked = tmp_path / "out" / "runs" / "bad"
    tp.batch(jobs[:1], out=tmp_path / "out")
    blocked.mkdir()
    (blocked / "mine.txt").write_text("not a run")
    found = tp.batch(jobs, out=tmp_path / "out")
    assert (found.failed, found.whole, found.summary()["status"]) == (["bad"], False, "failed")
    assert "is not empty and holds no run" in found.rows[1].error
    assert "is not empty and holds no run" in (tmp_path / "out" / "logs" / "bad.log").read_text()
    (blocked / "mine.txt").unlink()
    assert tp.batch(jobs, out=tmp_path / "out").failed == []
    assert not (tmp_path / "out" / "logs" / "bad.log").exists()


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("{", "line 2: not JSON"),
        ("[]", "line 2: A job must be a JSON object"),
        ('{"id": "a", "game": "kuhn", "sede": 3}', "line 2: There is no field of a job 'sede'"),
        ('{"id": "first", "game": "kuhn"}', "line 2: The id 'first' is used twice"),
        ('{"id": "FIRST", "game": "kuhn"}', "line 2: The id 'FIRST' is used twice"),
        ('{"id": "../up", "game": "kuhn"}', "line 2: The 'id' of a job must be"),
        ('{"id": "nul", "game": "kuhn"}', "line 2: The 'id' of a job must be"),
        ('{"id": "a."}', "line 2: The 'id' of a job must be"),
        ('{"id": 3, "game": "kuhn"}', "line 2: The 'id' of a job must be"),
        ('{"game": "kuhn"}', "line 2: The 'id' of a job must be"),
        ('{"id": "a"}', "line 2: A job must have either a 'game' or a 'spot'"),
        ('{"id": "a", "game": "kuhn", "spot": {}}', "line 2: A job must have either"),
        ('{"id": "a", "game": "khun"}', "line 2: There is no game 'khun'"),
        ('{"id": "a", "game": 3}', "line 2: The 'game' of a job must be"),
        ('{"id": "a", "spot": {"board": "As"}}', "line 2: "),
        ('{"id": "a", "game": "kuhn", "algorithm": "cfr++"}', "line 2: There is no algorithm 'cfr++'"),
        ('{"id": "a", "game": "kuhn", "iterations": 0}', "line 2: The 'iterations' parameter"),
        ('{"id": "a", "game": "kuhn", "seed": -1}', "line 2: The 'seed' parameter"),
        ('{"id": "a", "game": "kuhn", "iterate": "last"}', "line 2: The 'iterate' parameter"),
        ('{"id": "a", "game": "kuhn", "exploitability": "1%pot"}', "line 2: The 'exploitability' parameter"),
    ],
)
def test_bad_jobs_are_refused_with_their_line(line, said, tmp_path) -> None:
    path = tmp_path / "jobs.jsonl"
    path.write_text(f'{{"id": "first", "game": "kuhn"}}\n{line}\n')
    with pytest.raises(tp.TreeplexError) as refused:
        jobs_of(path)
    assert said in str(refused.value)


@pytest.mark.parametrize(
    ("more", "said"),
    [
        ({"algorithm": "lp"}, "Hold'em spots are solved by"),
        ({"storage": "float8"}, "The 'storage' parameter must be one of"),
        ({"algorithm": "pcfr+", "storage": "int16"}, "predictive"),
    ],
)
def test_spots_that_cannot_be_solved_so_are_refused(more, said) -> None:
    with pytest.raises(tp.TreeplexError, match=said):
        jobs_of([rivers(1)[0] | more])


def test_what_a_game_refuses_is_said_before_anything_runs(tmp_path) -> None:
    jobs = [GAMES[0], {"id": "b", "game": "kuhn", "algorithm": "mccfr-outcome", "storage": "int16", "iterations": 2}]
    with pytest.raises(tp.TreeplexError, match="job 'b': The 'storage' parameter"):
        tp.batch(jobs, out=tmp_path / "out")
    assert not (tmp_path / "out").exists()


@pytest.mark.parametrize("board", ["Ks 9h 6d 3c Jh", "Kd 9c 6h 3h"])
def test_the_memory_that_is_declared_is_enough_and_not_far_off(board) -> None:
    """Isomorphism of suits can only save: the estimate counts every card that may be dealt."""
    wide = spot(board) | {"oop_range": "22+,A2s+,K9s+,QTs+", "ip_range": "22+,A2s+,KTs+,QJs"}
    (need,) = planning.needs(jobs_of([{"id": "a", "spot": wide}]))
    true = tp.load(wide).memory("float32", threads=1)
    assert true <= need.bytes - planning.PROCESS + 2**20 <= 3 * true + 2**21


def test_threads_fill_a_machine_that_memory_leaves_idle() -> None:
    need = planning.needs(jobs_of(rivers(1)))[0]
    large = need._replace(bytes=10 * 2**30)
    place = planning.Machine(16, 64.0 * 2**30)
    assert [task.threads for task in planning.tasks([need] * 40, place)] == [1] * 40
    assert {task.threads for task in planning.tasks([large] * 40, place)} == {3}  # six fit
    assert {task.threads for task in planning.tasks([need] * 4, place)} == {4}
    assert {task.threads for task in planning.tasks([need._replace(shares=False)] * 4, place)} == {1}


def test_a_task_that_fits_nowhere_is_refused(cluster) -> None:
    import ray  # noqa: PLC0415

    (job,) = jobs_of(rivers(1))
    with pytest.raises(connect.ClusterError, match="which no node has"):
        tasks.Tasks(ray, None).check([planning.Task(job, 2**60, 1)])


def test_a_worker_of_another_version_is_refused(cluster, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(connect, "__version__", "9.9")
    with pytest.raises(connect.ClusterError, match=r"has treeplex .*, not 9\.9; install the same version"):
        tp.batch(GAMES[:1], out=tmp_path, cluster=cluster)


def test_a_folder_that_not_all_nodes_see_is_refused(cluster, monkeypatch, tmp_path) -> None:
    monkeypatch.setattr(tasks, "on_every_node", lambda *_: {connect.ClusterNode("1", "far", 1.0, 1.0): False})
    with pytest.raises(connect.ClusterError, match="The node far does not see the folder"):
        tp.batch(GAMES[:1], out=tmp_path / "out", cluster=cluster)


def test_no_ray_no_cluster(monkeypatch) -> None:
    monkeypatch.setattr(connect.importlib.util, "find_spec", lambda _: None)
    with pytest.raises(tp.TreeplexError, match=r"pip install 'treeplex\[cluster\]'"):
        tp.solve("kuhn", "pure-mccfr(streams=2)", iterations=2, cluster="auto")


@pytest.mark.parametrize("address", ["here", "127.0.0.1:1", "ray://127.0.0.1:1", "", ":80", "a:b"])
def test_an_address_where_nobody_listens_is_refused_at_once(address) -> None:
    with pytest.raises(tp.TreeplexError, match=r"No Ray cluster answers|The 'cluster' parameter must be"):
        connect._reach(address)
