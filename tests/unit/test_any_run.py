"""Runs of every kind by the same rules: whose folder it is, what goes on in it, and to which bits."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import pytest

import treeplex as tp
from treeplex import Growth
from treeplex.algorithms.explore import exploring
from treeplex.algorithms.registry import build
from treeplex.compile.source import rules_of
from treeplex.errors import ParameterError, TreeplexError
from treeplex.games.catalog import make
from treeplex.games.random_tree import RandomTree
from treeplex.growth.algorithm import Growing
from treeplex.growth.run import RECORDS
from treeplex.problems.loading import sized_game

CLOCKS = {"seconds", "evaluation_seconds", "growing_seconds"}
GROWTH = Growth(factor=1.0)
TREE = "random_tree(seed=10,depth=7)"


class KilledError(Exception):
    """Stands for a kill: nothing is written after it."""


def solving(algorithm: str, game: str = TREE, **fixed: Any) -> Callable[..., Any]:
    return lambda **options: tp.solve(game, algorithm, **(fixed | options))


# Each starts a run; the numbers are iterations at which it is cut, the last of the whole run.
KINDS: dict[str, tuple[Callable[..., Any], tuple[int, ...]]] = {
    "arrays": (solving("dcfr"), (17, 60, 230)),
    "arrays, 16 bits": (solving("cfr+", storage="int16"), (17, 60, 230)),
    "arrays, best": (solving("cfr", iterate="best"), (17, 60, 230)),
    "walks": (solving("cfr+-rbp"), (17, 60, 230)),
    "thresholds": (solving("hedge-dt-rbp"), (17, 60, 230)),
    "first order": (solving("egt-dt"), (17, 60, 230)),
    "sampling": (solving("mccfr-outcome(streams=2)", seed=4), (17, 60, 230)),
    "warm start": (solving("warm-start(warmup=40)", seed=4), (17, 60, 230)),
    "growth": (lambda **options: tp.grow("continuous_leduc", growth=GROWTH, **options), (17, 60, 130)),
    "growth, archive": (
        lambda **options: tp.grow("continuous_leduc", growth=Growth(archive=1), **options),
        (230, 410, 500),
    ),
    "growth, actions": (
        lambda **options: tp.grow(TREE, growth=Growth("transfer", actions="first", recent=3), **options),
        (17, 60, 130),
    ),
    "explore, pure": (lambda **options: tp.explore("leduc", responses=9, seed=5, **options), (17, 60, 230)),
    "explore, outcome": (
        lambda **options: tp.explore("leduc", "mccfr-outcome", responses=9, seed=5, **options),
        (17, 60, 230),
    ),
}


@pytest.fixture(params=KINDS)
def kind(request) -> tuple[Callable[..., Any], tuple[int, ...]]:
    return KINDS[request.param]


def contents(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}


def same_answer(one: Path, two: Path) -> None:
    """Policies equal byte by byte; logs, additions and results equal but for the clock."""
    assert (one / "policy.parquet").read_bytes() == (two / "policy.parquet").read_bytes()
    for name in ("log.parquet", "additions.parquet"):
        tables = [pq.read_table(folder / name) for folder in (one, two) if (folder / name).exists()]
        kept = [table.drop_columns([key for key in table.column_names if key in CLOCKS]) for table in tables]
        assert len(kept) in ((2,) if name == "log.parquet" else (0, 2))
        assert len({json.dumps(table.to_pylist()) for table in kept}) <= 1
    results = [timeless(json.loads((folder / "result.json").read_text())) for folder in (one, two)]
    assert results[0] == results[1]


def timeless(found: Any) -> Any:
    if isinstance(found, dict):
        return {key: timeless(part) for key, part in found.items() if key not in CLOCKS}
    return [timeless(part) for part in found] if isinstance(found, list) else found


# --- going on --------------------------------------------------------------------------------------------------------


def test_a_run_that_was_stopped_goes_on_to_the_same_bits(kind, tmp_path) -> None:
    start, (first, second, last) = kind
    start(out=tmp_path / "whole", iterations=last)
    start(out=tmp_path / "parts", iterations=first)
    tp.resume(tmp_path / "parts", iterations=second)
    solution = tp.resume(tmp_path / "parts", iterations=last)
    assert (solution.status, solution.iterations) == ("iterations", last)
    same_answer(tmp_path / "whole", tmp_path / "parts")


def test_a_killed_run_goes_on_to_the_same_bits(kind, tmp_path) -> None:
    """With a checkpoint whenever the loop looks up, and the kill soon after one of them."""
    start, (first, _, last) = kind

    def watch(moment: Any) -> None:
        if moment.iteration >= first:
            raise KilledError

    start(out=tmp_path / "whole", iterations=last)
    with pytest.raises(KilledError):
        start(out=tmp_path / "killed", iterations=last, checkpoint_seconds=0.0, watch=watch)
    assert "result.json" not in contents(tmp_path / "killed")
    assert tp.resume(tmp_path / "killed").iterations == last  # to the limits it had
    same_answer(tmp_path / "whole", tmp_path / "killed")


def test_the_same_request_goes_on_in_its_folder(kind, tmp_path) -> None:
    """Asked for again with other limits, a run is continued as by ``resume``; asked for less, it tells what it has."""
    start, (first, _, last) = kind
    start(out=tmp_path / "whole", iterations=last)
    start(out=tmp_path / "parts", iterations=first)
    assert start(out=tmp_path / "parts", iterations=last).iterations == last
    same_answer(tmp_path / "whole", tmp_path / "parts")
    assert start(out=tmp_path / "parts", iterations=first).iterations == last
    assert (tmp_path / "whole" / "policy.parquet").read_bytes() == (tmp_path / "parts" / "policy.parquet").read_bytes()


def test_a_solution_in_memory_can_be_saved_and_gone_on_with(kind, tmp_path) -> None:
    start, (first, _, last) = kind
    start(out=tmp_path / "whole", iterations=last)
    start(iterations=first).save(tmp_path / "parts")
    tp.resume(tmp_path / "parts", iterations=last)
    same_answer(tmp_path / "whole", tmp_path / "parts")


def saved(algorithm: Any, state: Any) -> dict[str, Any]:
    """What a checkpoint would hold, without clocks."""
    tensors = dict(algorithm.save(state))
    if RECORDS in tensors:
        records = json.loads(tensors.pop(RECORDS).tobytes())
        records["additions"] = [addition[:-1] for addition in records["additions"]]  # the last number is seconds
        tensors[RECORDS] = {key: part for key, part in records.items() if key != "growing"}
    return tensors


ON_ARRAYS = ("cfr+", "hedge", "apcfr+", "stable-pcfr+(floor=0.01)", "smooth-pcfr+(floor=0.01)")
MEASURED: dict[str, tuple[Any, Callable[[], Any]]] = {
    **{
        name: (build(name), lambda: tp.load("leduc"))
        for name in (*ON_ARRAYS, "cfr-rbp", "cfr+-partial", "rm-dt", "egt", "mccfr-external", "pure-mccfr")
    },
    "warm-start": (build("warm-start(warmup=30)"), lambda: tp.load("leduc")),
    "growth": (Growing(GROWTH), lambda: sized_game("continuous_leduc")),
    "explore": (exploring("mccfr-external", 7), lambda: rules_of("leduc")),
}


@pytest.mark.parametrize("name", MEASURED)
def test_runs_that_are_measured_go_on_as_if_they_had_not_been(name) -> None:
    """Neither evaluating nor reading strategies or policies changes a bit of what follows."""
    algorithm, load = MEASURED[name]
    game = load()
    plain = algorithm.advance(game, algorithm.start(game, 3), 70)
    state = algorithm.start(game, 3)
    for _ in range(7):
        state = algorithm.advance(game, state, 10)
        for iterate in algorithm.iterates[:2]:
            report = algorithm.report(game, state, iterate)
            report.evaluate()
            report.policy()
        algorithm.save(state)
    done, alone = (algorithm.work(game, each)._replace(additions=()) for each in (state, plain))  # those have seconds
    assert done == alone
    assert algorithm.work(game, state).iterations == 70
    one, two = saved(algorithm, state), saved(algorithm, plain)
    assert one.keys() == two.keys()
    for key, tensor in one.items():
        if key == RECORDS:
            assert tensor == two[key]
        else:
            np.testing.assert_array_equal(tensor, two[key], err_msg=key)


@pytest.mark.parametrize("name", MEASURED)
def test_what_is_saved_is_all_that_the_next_iteration_needs(name) -> None:
    algorithm, load = MEASURED[name]
    game = load()
    state = algorithm.advance(game, algorithm.start(game, 3), 45)
    again = algorithm.restore(game, algorithm.save(state), 8)  # the seed has been spent
    assert algorithm.work(game, again) == algorithm.work(game, state)
    one, two = (saved(algorithm, algorithm.advance(game, each, 20)) for each in (state, again))
    for key, tensor in one.items():
        if key == RECORDS:
            assert tensor == two[key]
        else:
            np.testing.assert_array_equal(tensor, two[key], err_msg=key)


# --- whose folder it is ----------------------------------------------------------------------------------------------

TREE = "random_tree(seed=10,depth=7)"


def solve(folder: Path, **options: Any) -> Any:
    fixed: dict[str, Any] = {"game": TREE, "algorithm": "cfr", "iterations": 9}
    return tp.solve(out=folder, **(fixed | options))


def grow(folder: Path, **options: Any) -> Any:
    fixed: dict[str, Any] = {"game": "continuous_leduc", "growth": GROWTH, "iterations": 9}
    return tp.grow(out=folder, **(fixed | options))


def explore(folder: Path, **options: Any) -> Any:
    fixed: dict[str, Any] = {"game": "kuhn", "algorithm": "pure-mccfr", "iterations": 9, "responses": 5}
    return tp.explore(out=folder, **(fixed | options))


STARTS: dict[str, Callable[..., Any]] = {"solve": solve, "grow": grow, "explore": explore}

OTHERS: list[tuple[str, dict[str, Any], str]] = [
    ("solve", {"algorithm": "cfr+"}, "algorithm"),
    ("solve", {"algorithm": "cfr(turns=simultaneous)"}, "algorithm"),
    ("solve", {"algorithm": "dcfr"}, "algorithm"),
    ("solve", {"game": "random_tree(seed=11,depth=7)"}, "game"),
    ("solve", {"game": RandomTree(seed=10, depth=6)}, "game"),
    ("solve", {"seed": 1}, "seed"),
    ("solve", {"storage": "float32"}, "storage"),
    ("solve", {"storage": "int16"}, "storage"),
    ("solve", {"iterate": "best"}, "iterate"),
    ("grow", {"growth": Growth()}, "set of options"),
    ("grow", {"growth": Growth(factor=1.0, algorithm="cfr+")}, "algorithm"),
    ("grow", {"growth": Growth("transfer", factor=1.0)}, "set of options"),
    ("grow", {"game": "continuous_leduc(sizes=branch-3)"}, "game"),
    ("explore", {"algorithm": "mccfr-external"}, "algorithm"),
    ("explore", {"seed": 1}, "seed"),
    ("explore", {"responses": 6}, "set of options"),
    ("explore", {"game": "leduc"}, "game"),
]


@pytest.mark.parametrize(("how", "options", "said"), OTHERS, ids=str)
def test_a_folder_with_another_run_is_refused_and_left_alone(how, options, said, tmp_path) -> None:
    folder = tmp_path / "run"
    STARTS[how](folder)
    before = contents(folder)
    with pytest.raises(ParameterError) as error:
        STARTS[how](folder, **options)
    text = str(error.value)
    assert text.startswith(f"The folder {folder} holds a run with another {said} (")
    assert text.endswith("; choose another folder.")
    assert contents(folder) == before


@pytest.mark.parametrize("how", STARTS)
@pytest.mark.parametrize("other", STARTS)
def test_kinds_of_runs_do_not_mix(how, other, tmp_path) -> None:
    if how == other:
        return
    STARTS[how](tmp_path / "run")
    before = contents(tmp_path / "run")
    with pytest.raises(ParameterError, match="holds a run with another kind"):
        STARTS[other](tmp_path / "run")
    assert contents(tmp_path / "run") == before


@pytest.mark.parametrize("options", [{"iterations": 30}, {"nodes": 10**5}, {"threads": 1}, {"backend": "cpu"}], ids=str)
def test_limits_threads_and_backend_are_not_part_of_a_run(options, tmp_path) -> None:
    solve(tmp_path / "run")
    solution = solve(tmp_path / "run", **({"iterations": 30} | options))
    assert solution.iterations > 9


def test_a_name_and_its_parameters_written_out_are_one_run(tmp_path) -> None:
    solve(tmp_path / "run", algorithm="cfr+")
    assert solve(tmp_path / "run", algorithm="cfr+(turns=alternating,delay=0)", iterations=30).iterations == 30


@pytest.mark.parametrize("how", STARTS)
def test_what_is_not_ours_is_never_touched(how, tmp_path) -> None:
    """A folder with somebody's files in it, and a file where the folder should be."""
    folder = tmp_path / "letters"
    (folder / "old").mkdir(parents=True)
    (folder / "result.json").write_text("mine")
    with pytest.raises(ParameterError, match=r"is not empty and holds no run; choose another\."):
        STARTS[how](folder)
    assert (folder / "result.json").read_text() == "mine"
    assert {path.name for path in folder.iterdir()} == {"old", "result.json"}
    with pytest.raises(ParameterError, match=r"must be a folder, but .* is a file; choose another\."):
        STARTS[how](folder / "result.json")
    assert (folder / "result.json").read_text() == "mine"
    (folder / "run.json").write_text('{"format": "somebody\'s"}')
    with pytest.raises(TreeplexError, match=r"run\.json: not what treeplex writes"):
        STARTS[how](folder)
    assert (folder / "run.json").read_text() == '{"format": "somebody\'s"}'


def test_a_note_beside_a_run_stays(tmp_path) -> None:
    solve(tmp_path / "run")
    (tmp_path / "run" / "note.txt").write_text("good one")
    tp.resume(tmp_path / "run", iterations=30)
    solve(tmp_path / "run", iterations=40)
    assert (tmp_path / "run" / "note.txt").read_text() == "good one"


OLD = {
    "run.json": '{"format": "treeplex-run-1", "game": "kuhn", "algorithm": "cfr+", "limits": {"iterations": 5}}',
    "run.json of growth": '{"format": "treeplex-growing-run-1", "game": "continuous_leduc"}',
    "holdem.json": '{"format": "treeplex-holdem-1"}',
}


@pytest.mark.parametrize("old", OLD)
@pytest.mark.parametrize("how", [*STARTS, "resume"])
def test_folders_of_the_first_version_are_refused_in_a_sentence(how, old, tmp_path) -> None:
    (tmp_path / old.split()[0]).write_text(OLD[old])
    (tmp_path / "checkpoint.safetensors").write_bytes(b"old")
    before = contents(tmp_path)
    with pytest.raises(ParameterError) as error:
        (STARTS | {"resume": tp.resume})[how](tmp_path)
    text = str(error.value)
    assert "was made by treeplex 0.1, whose checkpoints cannot be resumed" in text
    assert text.endswith("Start a new run in another folder.")
    assert "\n" not in text
    assert contents(tmp_path) == before


# --- whose checkpoint it is ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "other", "said"),
    [
        ({"algorithm": "dcfr"}, {"algorithm": "cfr"}, 'its algorithm is \'cfr(turns="alternating",'),
        ({"algorithm": "dcfr"}, {"algorithm": "dcfr(alpha=2)"}, "its algorithm is "),
        ({"algorithm": "mccfr-external"}, {"algorithm": "mccfr-external", "seed": 2}, "its seed is 2, not 0"),
        ({}, {"game": "random_tree(seed=11,depth=7)"}, "its game is 'random_tree(seed=11,depth=7)', not "),
        ({}, {"storage": "float32"}, "its storage is 'float32', not 'float64'"),
        ({}, {"iterate": "best"}, "its iterate is 'best', not 'average'"),
    ],
    ids=str,
)
def test_a_checkpoint_fits_no_other_run(own, other, said, tmp_path) -> None:
    """States of CFR and DCFR have the same shape: one would go on with the other's regrets and nobody would see."""
    solve(tmp_path / "own", **own)
    solve(tmp_path / "other", **other)
    path = tmp_path / "own" / "checkpoint.safetensors"
    path.write_bytes((tmp_path / "other" / "checkpoint.safetensors").read_bytes())
    before = contents(tmp_path / "own")
    for attempt in (lambda: tp.resume(tmp_path / "own", iterations=30), lambda: solve(tmp_path / "own", **own)):
        with pytest.raises(TreeplexError) as error:
            attempt()
        assert str(error.value).startswith(f"{path}: not a complete checkpoint of this run ({said}")
    assert {name: data for name, data in contents(tmp_path / "own").items() if name != "run.json"} == {
        name: data for name, data in before.items() if name != "run.json"
    }


@pytest.mark.parametrize("how", STARTS)
@pytest.mark.parametrize("other", STARTS)
def test_a_checkpoint_of_another_kind_is_refused(how, other, tmp_path) -> None:
    if how == other:
        return
    for name in (how, other):
        STARTS[name](tmp_path / name)
    path = tmp_path / how / "checkpoint.safetensors"
    path.write_bytes((tmp_path / other / "checkpoint.safetensors").read_bytes())
    with pytest.raises(TreeplexError, match=r"not a complete checkpoint of this run \(its kind is"):
        tp.resume(tmp_path / how, iterations=30)


def test_what_a_checkpoint_says_of_itself_is_inside_its_checksum(tmp_path) -> None:
    """The words about the run cannot be exchanged without being noticed."""
    solve(tmp_path / "run", algorithm="dcfr")
    solve(tmp_path / "other", algorithm="cfr")
    path = tmp_path / "other" / "checkpoint.safetensors"
    data = path.read_bytes()
    words, wanted = (
        canonical.encode() for canonical in ('cfr(turns=\\\\\\"alternating', 'cfr(turns=\\\\\\"alternatinG')
    )
    assert data.count(words) == 1
    path.write_bytes(data.replace(words, wanted))
    with pytest.raises(TreeplexError, match=r"its checksum is wrong"):
        tp.resume(tmp_path / "other", iterations=30)


@pytest.mark.parametrize("old", ["treeplex-checkpoint-1", "treeplex-growing-checkpoint-1"])
def test_checkpoints_of_the_first_version_are_refused(old, tmp_path) -> None:
    solve(tmp_path / "run")
    path = tmp_path / "run" / "checkpoint.safetensors"
    path.write_bytes(path.read_bytes().replace(b"treeplex-checkpoint-2", old.encode()[:21].ljust(21, b"-")))
    with pytest.raises(TreeplexError, match="not a complete checkpoint of this run"):
        tp.resume(tmp_path / "run", iterations=30)


def test_games_of_ones_own_are_given_again_to_go_on(tmp_path) -> None:
    """Growth and exploration keep no game in their folders; another one is refused."""
    rules: Any = make("continuous_leduc(sizes=branch-3)")
    own = RandomTree(seed=3)
    tp.explore(own, iterations=20, responses=5, out=tmp_path / "explored")
    with pytest.raises(ParameterError, match=r"pass it as game=\.$"):
        tp.resume(tmp_path / "explored", iterations=30)
    assert tp.resume(tmp_path / "explored", iterations=30, game=own).iterations == 30
    with pytest.raises(ParameterError, match="of this version; start a new run"):
        tp.resume(tmp_path / "explored", iterations=40, game=RandomTree(seed=4))
    tp.grow(rules, iterations=20, out=tmp_path / "grown")
    with pytest.raises(ParameterError, match="of this version; start a new run"):
        tp.resume(tmp_path / "grown", iterations=30, game="continuous_leduc")
    assert tp.resume(tmp_path / "grown", iterations=30, game=rules).iterations == 30
