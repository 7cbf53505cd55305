"""Files from a stranger: right checksums, wrong numbers. Each is refused in a sentence before a kernel sees it."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import treeplex as tp
from treeplex import arrow
from treeplex.compile import load, save
from treeplex.compile.storage import FORMAT as GAME
from treeplex.errors import FormatError, TreeplexError
from treeplex.holdem import Spot, sizes_for
from treeplex.policies.strategy import TYPES
from treeplex.runs.batch.jobs import job_of
from treeplex.runs.batch.results import read_row, row_of, write_row
from treeplex.tensors import CHECKPOINT, checked, read_tensors, record_of, write_tensors
from treeplex.web.logs import rows_of

LEAST = -(2**31)
RIVER = Spot("Ks 9h 6d 3c Jh", 100, 200, "AA,KQs", "QQ,77", sizes_for("50%, a", "a"))


def change(path: Path, kind: str, name: str, edit: Callable[[Any], Any]) -> None:
    """Another array in the place of one; the checksum fits."""
    tensors, about = read_tensors(path, kind)
    write_tensors(path, kind, {**tensors, name: np.asarray(edit(tensors[name].copy()))}, about)


def fill(number: float) -> Callable[[Any], Any]:
    return lambda array: np.full_like(array, number)


def put(place: Any, number: float) -> Callable[[Any], Any]:
    def edit(array: Any) -> Any:
        array[place] = number
        return array

    return edit


def records(**fields: Any) -> Callable[[Any], Any]:
    """Other fields of JSON that is kept as bytes."""

    def edit(array: Any) -> Any:
        return np.frombuffer(json.dumps(json.loads(array.tobytes()) | fields).encode(), np.uint8)

    return edit


def run(algorithm: str, out: Path) -> None:
    if algorithm == "grow":
        tp.grow("continuous_leduc", iterations=20, out=out)
    elif algorithm == "grow a spot":
        tp.grow(RIVER, iterations=12, out=out)
    elif algorithm == "explore":
        tp.explore("kuhn", iterations=20, responses=20, out=out)
    elif algorithm == "explore external":
        tp.explore("kuhn", "mccfr-external", iterations=20, responses=20, out=out)
    elif algorithm == "holdem":
        tp.solve(RIVER, iterations=5, out=out)
    else:
        tp.solve("kuhn", algorithm, iterations=40 if algorithm == "auto" else 20, out=out)


WRONG = [
    ("pure-mccfr", "state.streams.0.tables.1.pick", fill(2**31 - 1)),  # wrote behind the end of an array
    ("pure-mccfr", "state.streams.0.tables.0.pick", fill(2)),  # just outside
    ("pure-mccfr", "state.streams.0.tables.0.pick", put(2, 1)),  # where no infoset begins
    ("mccfr-external", "state.streams.0.tables.0.regret", fill(np.nan)),
    ("warm-start(warmup=10)", "state.sampler.streams.0.tables.1.pick", fill(7)),
    ("warm-start(warmup=10)", "state.iteration", fill(LEAST)),
    ("warm-start(warmup=10)", "state.look", fill(3)),
    ("warm-start(warmup=10)", "state.kept.0", fill(0)),
    ("cfr-partial", "state.iteration", fill(LEAST)),
    ("cfr-rbp", "state.tables.0.pruned", fill(1)),
    ("cfr-rbp", "state.tables.0.infosets", fill(-1.0)),
    ("cfr-rbp", "state.tables.1.play", fill(0.5)),
    ("hedge-dt-rbp", "state.tables.0.infosets", put((0, 7), -21.0)),  # divided by zero
    ("hedge-dt-rbp", "state.tables.0.infosets", put((0, 6), -1.0)),
    ("cfr+-hybrid", "state.trial", fill(3)),
    ("cfr+-hybrid", "state.walk.tables.0.pruned", fill(1)),
    ("auto", "0.state.iteration", fill(LEAST)),
    ("auto", "race", put(2, 1)),
    ("auto", "0.rows", put((0, 2), np.inf)),
    ("auto", "0.rows", put((slice(None), 0), 3.0)),
    ("auto", "0.rows", put((0, 2), 5e-324)),
    ("egt", "state.pace.smoothing", fill(0.0)),
    ("egt", "state.gaps.0.plan", fill(-1.0)),
    ("egt", "state.gaps.0.gradient", put(0, np.inf)),
    ("mirror-prox", "state.rate.step", fill(-1.0)),
    ("cfr+-restarted", "restarts.gaps", fill(np.nan)),
    ("cfr+-restarted", "restarts.counts", fill(-1)),
    ("cfr+", "state.learners.0.average", put(1, -1.0)),
    ("cfr+", "state.learners.0.strategy", put(1, 1e30)),
    ("cfr+", "state.iteration", fill(2**60)),
    ("hedge", "state.learners.1.memory", fill(np.nan)),
    ("explore", "average.0", fill(-1.0)),
    ("explore", "regret.0", fill(np.inf)),
    ("explore", "pick.0", fill(9)),
    ("explore", "counts", fill(-1)),
    ("explore external", "regret.1", fill(np.nan)),
    ("explore", "infosets.0", lambda array: np.frombuffer(array.tobytes().replace(b'"b"', b'"x"'), np.uint8)),
    ("grow", "nodes.child", put(slice(0, 5), 10**9)),  # SIGSEGV
    ("grow", "nodes.sibling", put(1, 1)),  # a list without an end
    ("grow", "nodes.sibling", fill(-1)),
    ("grow", "nodes.parent", put(3, 4)),
    ("grow", "nodes.table", fill(10**6)),
    ("grow", "nodes.word", fill(10**6)),
    ("grow", "nodes.key", fill(10**6)),
    ("grow", "nodes.size", fill(0.0)),
    ("grow", "rows.strategy", fill(2.0)),
    ("grow", "rows.average", put(1, 1e9)),
    ("grow", "records", records(halves=-5)),
    ("grow", "records", records(weight="much")),
    ("grow", "records", records(additions=[[1]])),
    ("grow", "records", records(archive=[[0, [0, 1, ""], 1, [0.0, 0.0], [0.0, 0.0]]])),
    ("grow a spot", "records", records(cuts=[[-1, 0.5]])),
    ("grow a spot", "state.learners.0.last", fill(10**6)),
    ("holdem", "state.learners.0.last", fill(-1)),
    ("holdem", "state.learners.0.last", fill(2**31 - 1)),
    ("holdem", "state.iteration", fill(2**31 - 1)),
    ("holdem", "state.learners.1.regret", fill(np.nan)),
]


@pytest.fixture(scope="module")
def folders(tmp_path_factory) -> Callable[[str], Path]:
    """The checkpoint of a run of each kind, made once."""
    home = tmp_path_factory.mktemp("runs")
    made: dict[str, Path] = {}

    def folder(algorithm: str) -> Path:
        if algorithm not in made:
            made[algorithm] = home / str(len(made))
            run(algorithm, made[algorithm])
        return made[algorithm]

    return folder


@pytest.mark.parametrize(("algorithm", "name", "edit"), WRONG)
def test_a_checkpoint_with_wrong_numbers_is_refused(folders, algorithm, name, edit) -> None:
    path = folders(algorithm) / "checkpoint.safetensors"
    whole = path.read_bytes()
    try:
        change(path, CHECKPOINT, name, edit)
        with pytest.raises(FormatError, match="checkpoint"):
            tp.resume(path.parent, iterations=50)
    finally:
        path.write_bytes(whole)


@pytest.mark.parametrize(
    "words",
    [
        {"seconds": -1.0},
        {"seconds": float("inf")},
        {"rows": [[10**9, 1, 0.0, 0.0, 0.0, 0.0, 0.0, {}]]},
        {"rows": [[-1, 1, 0.0, 0.0, 0.0, 0.0, 0.0, {}]]},
        {"rows": [[1, 1, 0.0, 0.0, 0.0, 0.0, 0.0, {"x": "y"}]]},
        {"best": "good"},
    ],
)
def test_words_of_a_checkpoint_are_checked(folders, words) -> None:
    path = folders("cfr+") / "checkpoint.safetensors"
    whole = path.read_bytes()
    try:
        tensors, about = read_tensors(path, CHECKPOINT)
        write_tensors(path, CHECKPOINT, tensors, about | words)
        with pytest.raises(FormatError, match="not a complete checkpoint"):
            tp.resume(path.parent, iterations=50)
    finally:
        path.write_bytes(whole)


@pytest.mark.parametrize("rows", [[], [[1, 116, 0.0, 0.0, 0.0, 1.0, 0.5, {}]]])
def test_a_log_that_lags_behind_its_run_holds_nothing_up(folders, tmp_path, rows) -> None:
    path = shutil.copytree(folders("cfr+"), tmp_path / "run") / "checkpoint.safetensors"
    tensors, about = read_tensors(path, CHECKPOINT)
    write_tensors(path, CHECKPOINT, tensors, about | {"rows": rows})
    assert tp.resume(path.parent, iterations=50).iterations == 50


@pytest.mark.parametrize(
    ("algorithm", "old", "new"),
    [
        ("cfr+", '"source": "kuhn"', '"source": ' + "[" * 100_000 + "]" * 100_000),
        ("holdem", '"pot": 100', '"pot": 1' + "0" * 400),
        ("holdem", '"pot": 100', '"pot": 1' + "0" * 5000),
        ("grow", '"algorithm": "cfr", "archive"', '"algorithm": 5, "archive"'),
        ("cfr+", '"seed": 0', '"seed": 1' + "0" * 400),
    ],
)
def test_a_record_that_cannot_be_is_refused(folders, tmp_path, algorithm, old, new) -> None:
    text = json.dumps(json.loads((folders(algorithm) / "run.json").read_text()))
    assert old in text
    (tmp_path / "run.json").write_text(text.replace(old, new))
    with pytest.raises(TreeplexError):
        tp.resume(tmp_path, iterations=50)


def swap(first: int, second: int) -> Callable[[Any], Any]:
    def edit(array: Any) -> Any:
        array[[first, second]] = array[[second, first]]
        return array

    return edit


TREES = [
    ("tree.parent", lambda parent: np.where(parent < 0, parent, 0)),
    ("tree.parent", swap(5, 9)),
    ("tree.mover", fill(0)),
    ("tree.mover", swap(0, 2)),
    ("tree.mover", lambda mover: np.where(mover == 0, 1, np.where(mover == 1, 0, mover)).astype(np.int8)),
    ("tree.infoset", lambda infoset: np.where(infoset < 0, infoset, 0)),
    ("tree.infoset", swap(2, 9)),
    ("tree.size", swap(1, 2)),
    ("tree.action", lambda action: np.where(action < 0, action, 0)),
    ("tree.probability", lambda probability: probability / 2),
    ("tree.probability", put(3, 0.5)),
    ("tree.payoff", put(0, 1.0)),
    ("tree.payoff", lambda payoff: 1e300 * payoff),  # its square is no number
    ("0.parent", np.zeros_like),
    ("1.first", lambda first: np.sort(np.unique(np.append(first[:-1], first[-1] + 1)))),
    ("payoffs.rows.data", put(0, np.inf)),
]


@pytest.mark.parametrize(("name", "edit"), TREES)
def test_a_game_whose_tree_is_not_that_of_its_treeplexes_is_refused(tmp_path, name, edit) -> None:
    path = tmp_path / "game.safetensors"
    save(tp.load("kuhn"), path)
    load(path)
    change(path, GAME, name, edit)
    with pytest.raises(FormatError, match="not a whole compiled game"):
        load(path)


def peak(read: Callable[[], object]) -> int:
    """Bytes that Arrow takes while reading, at most."""
    pool = pa.system_memory_pool()  # one that no test has used: its maximum is of this alone
    before = pa.default_memory_pool()
    pa.set_memory_pool(pool)
    held = pool.max_memory()
    try:
        read()
    finally:
        pa.set_memory_pool(before)
    return pool.max_memory() - held


LOG = {name: [1] * 300 for name in ("iteration", "nodes_touched")} | {
    name: [0.5] * 300 for name in ("seconds", "evaluation_seconds", "value", "nash_conv", "exploitability")
}


def test_a_log_with_a_long_text_is_read_without_it(tmp_path) -> None:
    text = pa.DictionaryArray.from_arrays(pa.array([0] * 300, pa.int32()), pa.array(["x" * 100_000]))
    pq.write_table(pa.table({**LOG, "more": text.cast(pa.string())}), tmp_path / "log.parquet", compression="zstd")
    assert (tmp_path / "log.parquet").stat().st_size < 20_000
    assert peak(lambda: rows_of(tmp_path)) < 5_000_000  # and not 30 MB
    assert len(rows_of(tmp_path)) == 300
    pq.write_table(pa.table({**LOG, "nash_conv": text.cast(pa.string())}), tmp_path / "log.parquet", compression="zstd")
    assert peak(lambda: rows_of(tmp_path)) < 5_000_000
    assert rows_of(tmp_path) == []


@pytest.mark.parametrize(
    ("columns", "said"),
    [
        ({"player": pa.repeat(0, 2_000_000)}, "rows, but at most"),  # a few kilobytes
        ({"probability": ["x"] * 2}, "its column 'probability' is of type string"),
        ({"probability": [[1.0]] * 2}, "its column 'probability' is of type list"),
        ({"infoset": [1, 2]}, "its column 'infoset' is of type int64"),
        ({"infoset": None}, "it has no column 'infoset'"),
    ],
)
def test_tables_that_are_not_policies_are_refused_unread(tmp_path, columns, said) -> None:
    size = len(columns.get("player", [0, 0]))
    whole = {"player": pa.repeat(0, size), "infoset": pa.repeat("a", size), "action": pa.repeat("b", size)}
    whole |= {"probability": pa.repeat(1.0, size)} | columns
    path = tmp_path / "policy.parquet"
    pq.write_table(
        pa.table({name: column for name, column in whole.items() if column is not None}), path, compression="zstd"
    )
    with pytest.raises(ValueError, match=said):
        arrow.read_parquet(path, TYPES)
    with pytest.raises(FormatError):
        tp.Policy.load(path)


def test_a_result_of_a_batch_that_is_another_table_is_none(tmp_path) -> None:
    job = job_of({"id": "a", "game": "kuhn", "iterations": 3})
    write_row(tmp_path, row_of(job, None, "failed"))
    assert read_row(tmp_path, job) == row_of(job, None, "failed")
    pq.write_table(pa.table({"id": ["a"] * 10**5}), tmp_path / "results" / "a.parquet")
    assert read_row(tmp_path, job) is None


@pytest.mark.parametrize("array", [np.array([np.nan]), np.array([-np.inf, 0.0]), np.array([2.0]), np.array([-1.0])])
def test_numbers_are_finite_and_within_bounds(array) -> None:
    with pytest.raises(ValueError, match="x has numbers"):
        checked("x", array, np.float64, (len(array),), 0.0, 1.0)


@pytest.mark.parametrize("place", [[1.5, 1, ""], [True, 1, ""], [1, 1, 1], [-1, 1, ""], [1, 1], "1", [1, 2**60, ""]])
def test_records_from_a_file_have_the_types_they_declare(place) -> None:
    from treeplex.engines.public.archive import StoredSpan  # noqa: PLC0415

    with pytest.raises(ValueError, match="is not a"):
        record_of(StoredSpan, place)
