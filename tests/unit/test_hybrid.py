"""Arrays first, then walks: the hand-over changes nothing, and happens by counted work alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms import hybrid
from treeplex.algorithms.registry import build
from treeplex.engines.history import arrays as layout
from treeplex.engines.history.cpu.sums import complete_sums
from treeplex.engines.history.paths import paths

GAME = "random_tree(seed=5,depth=8)"
TURNS = ("simultaneous", "alternating")
NAMES = ("cfr-hybrid", "cfr+-hybrid", "hedge-dt-hybrid")


@pytest.fixture
def cheap_walks(monkeypatch) -> None:
    """Hand over at the first trial."""
    for name, value in (
        ("NODE", 1e-6),
        ("RESPONSE_NODE", 1e-6),
        ("VISIT", 1e-6),
        ("ITERATION", 1e-6),
        ("SHARE", 1.0),
        ("FIRST_TRIAL", 20),
    ):
        monkeypatch.setattr(hybrid, name, value)


@pytest.fixture
def dear_walks(monkeypatch) -> None:
    """Try, and never hand over."""
    for name, value in (("NODE", 1e9), ("SHARE", 1.0), ("FIRST_TRIAL", 20)):
        monkeypatch.setattr(hybrid, name, value)


def apart(left: Any, right: Any) -> float:
    return max(float(abs(a - b).max()) for a, b in zip(left, right, strict=True))


@pytest.mark.parametrize("turns", TURNS)
def test_books_at_the_hand_over_are_those_of_a_walk(turns) -> None:
    """Of all that is not pruned; the threshold leaves only prunings that nothing would ever end."""
    game, parameters = tp.load(GAME), f"(threshold=1000000,turns={turns})"
    algorithm, walk = build(f"cfr-hybrid{parameters}"), build(f"cfr-nested-rbp{parameters}")
    ours = algorithm.handed_over(game, algorithm.arrays.advance(game, algorithm.arrays.start(game), 60))
    theirs = walk.advance(game, walk.start(game), 60)
    assert ours.iteration == 60
    for side, treeplex, left, right in zip(paths(game).sides, game.treeplexes, ours.tables, theirs.tables, strict=True):
        complete_sums(treeplex, right.play, right.sequences, right.infosets)
        current = np.ones(treeplex.infosets, dtype=bool)  # not below anything that is pruned
        for infoset, above in enumerate(treeplex.parent.tolist()):
            current[infoset] = above == 0 or (current[side.owner[above]] and not right.pruned[above])
        open_ = np.append(False, np.repeat(current, treeplex.actions)) & (right.pruned == 0)
        assert open_.sum() > 50
        for column in (layout.REGRET, layout.OWN):
            np.testing.assert_allclose(left.sequences[open_, column], right.sequences[open_, column], atol=1e-10)
        for column in (layout.SUM, layout.PLAYED):
            np.testing.assert_allclose(left.sequences[:, column], right.sequences[:, column], atol=1e-10)
        for column in (layout.TOTAL_REACH, layout.TOTAL_VALUE):
            np.testing.assert_allclose(left.infosets[current, column], right.infosets[current, column], atol=1e-10)
        for column in (layout.PASSED, layout.PASSED_PLAYED):
            np.testing.assert_allclose(left.infosets[:, column], right.infosets[:, column], atol=1e-10)
        np.testing.assert_allclose(left.play[1:], right.play[1:], atol=1e-10)


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("name", NAMES)
def test_a_hand_over_changes_no_average_and_the_run_still_converges(name, turns, cheap_walks) -> None:
    game, algorithm = tp.load("leduc"), build(f"{name}(turns={turns})")
    before = algorithm.advance(game, algorithm.start(game), 20)
    after = before._replace(walk=algorithm.handed_over(game, before.arrays), handed_over_at=20)
    assert before.handed_over_at == 0
    assert (
        apart(algorithm.report(game, before, "average").arrays, algorithm.report(game, after, "average").arrays) < 1e-12
    )
    assert (
        apart(algorithm.report(game, before, "current").arrays, algorithm.report(game, after, "current").arrays) < 1e-12
    )
    solution = tp.solve(game, algorithm, iterations=4000, iterate="best")
    assert solution.nash_conv < (0.01 if name == "cfr+-hybrid" else 0.1)
    assert abs(solution.value - tp.solve(game, "lp").value) <= solution.nash_conv


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("name", NAMES)
def test_pieces_give_the_bits_of_the_whole(name, turns, cheap_walks) -> None:
    """However a run is cut, saved and restored, before, at and after the hand-over."""
    game, algorithm = tp.load(GAME), build(f"{name}(turns={turns})")
    whole, parts = algorithm.advance(game, algorithm.start(game), 90), algorithm.start(game)
    for count in (7, 13, 1, 40, 29):
        parts = algorithm.restore(game, algorithm.save(algorithm.advance(game, parts, count)))
    assert whole.handed_over_at == parts.handed_over_at == 20
    for (key, left), right in zip(algorithm.save(whole).items(), algorithm.save(parts).values(), strict=True):
        np.testing.assert_array_equal(left, right, err_msg=key)


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("name", NAMES)
def test_a_run_goes_on_from_where_the_trial_began(name, turns, cheap_walks) -> None:
    """Not from where it ended: the bits of a hand-over by hand, and one walk."""
    game, algorithm = tp.load(GAME), build(f"{name}(turns={turns})")
    ours = algorithm.advance(game, algorithm.start(game), 21)
    arrays = algorithm.arrays.advance(game, algorithm.arrays.start(game), 20)
    theirs = algorithm.walk.advance(game, algorithm.handed_over(game, arrays), 1)
    assert (ours.handed_over_at, ours.walk.iteration, ours.walk.nodes) == (20, 21, theirs.nodes)
    for left, right in zip(ours.walk.tables, theirs.tables, strict=True):
        for one, two in zip(left, right, strict=True):
            np.testing.assert_array_equal(one, two)


@pytest.mark.parametrize("turns", TURNS)
@pytest.mark.parametrize("name", ["cfr", "cfr+"])
def test_where_walks_are_dear_it_is_the_array_engine(name, turns, dear_walks) -> None:
    """Trials leave no trace."""
    game = tp.load(GAME)
    ours, theirs = (tp.solve(game, f"{each}(turns={turns})", iterations=150) for each in (f"{name}-hybrid", name))
    assert ours.nodes_touched == theirs.nodes_touched
    assert ours.log.column("handed_over_at").to_pylist()[-1] == 0
    for left, right in zip(ours.policy.aligned(game), theirs.policy.aligned(game), strict=True):
        np.testing.assert_array_equal(left, right)


def test_the_log_tells_of_the_hand_over_and_nodes_are_those_of_both(cheap_walks) -> None:
    game = tp.load("leduc")
    rows = tp.solve(game, "cfr-hybrid", iterations=200).log.to_pylist()
    for row in rows:
        assert row["handed_over_at"] == (0 if row["iteration"] <= 20 else 20)
        whole = 2 * min(row["iteration"], 20) * game.nodes
        assert row["nodes_touched"] == whole if row["iteration"] <= 20 else row["nodes_touched"] > whole
        assert 0 <= row["response_nodes"] <= row["nodes_touched"] - whole
    assert rows[-1]["response_nodes"] > 0
    assert rows[-1]["nodes_touched"] < 2 * 200 * game.nodes


def test_response_nodes_are_logged_apart() -> None:
    rows = tp.solve("leduc", "cfr-nested-rbp", iterations=500).log.to_pylist()
    assert 0 < rows[-1]["response_nodes"] < rows[-1]["nodes_touched"]
    assert "response_nodes" not in tp.solve("leduc", "cfr-partial", iterations=5).log.column_names
