"""Sizes that are taken out of the abstraction again: what stays, what the answer is, and that they may come back."""

from __future__ import annotations

import json
from typing import Any

import numpy as np
import pytest

from treeplex.api import grow, load, resume
from treeplex.engines.public.arrays import Rows
from treeplex.engines.public.game import RULES, GrowingGame
from treeplex.errors import ParameterError
from treeplex.evaluation import evaluate_policy
from treeplex.games.continuous import ContinuousPoker, continuous_leduc_rules, menu_of
from treeplex.games.poker import Card
from treeplex.games.sized import Abstraction, Menu
from treeplex.growth import add
from treeplex.growth.algorithm import Growing
from treeplex.growth.answer import abstraction, policy
from treeplex.growth.options import Growth, growth_fields
from treeplex.growth.remove import _in_no_average, discard, discards_at, mark, take_out

LEDUC = continuous_leduc_rules()
KUHN = ContinuousPoker("kuhn", tuple(Card(str(rank), rank, 1) for rank in range(3)), 1)
LATE, PLAIN = "treeplex.growth.remove.IDLE_CHECKS", ("iteration", "nash_conv", "nodes_touched")


def leduc(sizes: Any = "branch-3", rule: str = "cfr", rules: Any = LEDUC) -> GrowingGame:
    return GrowingGame(rules, menu_of(rules, sizes), RULES[rule])


def by_line(game: GrowingGame) -> dict[tuple[str, ...], int]:
    return {game.line(n): n for n in range(game.tree.count)}


def move(game: GrowingGame, line: str) -> int:
    return by_line(game)[tuple(line.split())]


@pytest.mark.parametrize("archived", [False, True])
def test_what_is_left_is_untouched(archived) -> None:
    game = leduc()
    game.advance(120)
    if archived:
        assert game.archive.check(game.tree, 1)
    before, places = Rows(*(array.copy() for array in game.tree.rows)), by_line(game)
    histories = game.tree.histories + game.archive.histories
    names = ["bet0.333333", "check bet1", "check bet1 raise0.01 call K bet0.333333"]  # the last lies behind the second
    removed = take_out(game, [move(game, name) for name in names])
    assert {(one.decision, one.word, one.size, one.player) for one in removed} == {
        ("check", "bet", 1.0, 1),
        ("", "bet", 0.333333, 0),
    }
    assert game.tree.histories + game.archive.histories == histories - sum(one.histories for one in removed)
    left = by_line(game)
    gone = [line for line in places if line[:1] == ("bet0.333333",) or line[:2] == ("check", "bet1")]
    assert not set(gone) & set(left)
    assert {line for line in places if line not in gone} == set(left) or archived
    for line, n in left.items():
        if line not in places:
            continue  # came back from disk
        for name, ours, old in zip(Rows._fields, game.tree.rows, before, strict=True):
            if name != "strategy" or line[:-1] not in ((), ("check",)):
                assert np.array_equal(ours[n], old[places[line]]), (name, line)
    heads = [(), ("check",)]
    for head in heads:
        total = sum(game.tree.rows.strategy[child] for child in game.tree.children(left[head]))
        np.testing.assert_allclose(total, 1.0)
    judged = evaluate_policy(load(abstraction(game, "less")), policy(game, "less"))
    assert judged.nash_conv == pytest.approx(game.measure(whole=False).nash_conv, abs=1e-12)
    game.advance(5)


def test_what_neither_average_reaches_is_removed_without_a_trace() -> None:
    game = leduc(rule="cfr+")
    game.advance(100)
    mark(game)
    game.advance(100)
    discard(game)
    before, histories = [game.measure(whole) for whole in (True, False)], game.tree.histories
    removed = take_out(game, _in_no_average(game))
    assert len(removed) > 5
    assert game.tree.histories == histories - sum(one.histories for one in removed)
    for one, other in zip(before, (game.measure(), game.measure(whole=False)), strict=True):
        assert other.best_response_values == pytest.approx(one.best_response_values, abs=1e-12)
        assert other.value == pytest.approx(one.value, abs=1e-12)


def test_a_decision_keeps_one_size() -> None:
    game = leduc("branch-2")
    game.advance(3)
    sized = np.flatnonzero(game.tree.nodes.size > 0.0).tolist()
    take_out(game, sized)
    assert {float(size) for size in game.tree.nodes.size if size > 0.0} == {1.0}
    assert take_out(game, np.flatnonzero(game.tree.nodes.size > 0.0).tolist()) == []
    assert game.measure().nash_conv > 0.0


@pytest.mark.parametrize("rule", ["cfr", "cfr+"])
def test_a_size_that_was_taken_out_can_come_back(rule) -> None:
    """By a recovery game, as if it had never been there."""
    game = leduc(rule=rule)
    game.advance(40)
    inside = game.tree.histories
    take_out(game, [move(game, "bet0.333333")])
    game.advance(10)
    added = add.by_recovery(game, 0, 0.333333)
    assert game.tree.histories == inside
    assert added.iterations > 0
    game.advance(200)
    assert game.measure(whole=False).nash_conv < 1.0


def test_iterations_are_discarded_at_checks() -> None:
    for every, marks in ((1, [100, 1000]), (5, [100, 1000]), (7, [105, 1001]), (300, [300, 1200])):
        assert [n for n in range(1, 1300) if discards_at(n, every)] == marks
    assert [n for n in range(1, 3000) if discards_at(n, 7, 2)] == [203, 2002]
    game = leduc("branch-2")
    game.advance(50)
    mark(game)
    later = GrowingGame(LEDUC, menu_of(LEDUC, "branch-2"), RULES["cfr"])  # only the later iterations
    for name in ("regret", "strategy"):
        getattr(later.tree.rows, name)[:] = getattr(game.tree.rows, name)
    for each in (game, later):
        each.advance(30)
    assert game.effective == 80.0
    discard(game)
    assert game.effective == 30.0
    for name, ours in game.tree.rows._asdict().items():
        np.testing.assert_allclose(ours, getattr(later.tree.rows, name), atol=1e-10, err_msg=name)
    assert np.array_equal(game.tree.rows.regret, later.tree.rows.regret)
    discard(game)  # nothing is marked
    assert game.effective == 30.0


@pytest.mark.parametrize("method", ["recovery", "transfer"])
def test_what_is_added_after_the_mark_loses_its_share(method) -> None:
    """As much of what fills in the past as belongs to the iterations that are discarded."""
    game = leduc("branch-2")
    game.advance(40)
    mark(game)
    game.advance(10)
    added = add.METHODS[method](game, 0, 0.4)
    add.extend(game)
    assert game.mark is not None
    assert len(game.mark.average) == game.tree.count
    kept = [array[added.root :].copy() for array in (game.tree.rows.average, game.tree.rows.value)]
    discard(game)
    for before, after in zip(kept, (game.tree.rows.average, game.tree.rows.value), strict=True):
        np.testing.assert_allclose(after[added.root :], 0.2 * before, atol=1e-12)
    game.advance(50)
    assert game.measure(whole=False).nash_conv < 3.0


def timeless(rows: list[Any]) -> list[Any]:
    return [[getattr(row, name) for name in PLAIN] for row in rows]


WAYS = [
    Growth(remove="discard"),
    Growth(remove="current", algorithm="cfr+"),
    pytest.param(Growth("transfer", remove="current", algorithm="cfr+"), marks=pytest.mark.slow),
    pytest.param(Growth(remove="discard", every=7), marks=pytest.mark.slow),
]


@pytest.mark.parametrize("growth", WAYS, ids=str)
@pytest.mark.parametrize("pause", [100, pytest.param(177, marks=pytest.mark.slow)])
def test_a_run_that_was_stopped_goes_on_to_the_same_bits(growth, pause, tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(LATE, 15)
    whole = grow("continuous_leduc", iterations=230, growth=growth)
    grow("continuous_leduc", iterations=pause, growth=growth, out=tmp_path / "run")
    resumed = resume(tmp_path / "run", iterations=230)
    assert timeless(resumed.rows) == timeless(whole.rows)
    assert resumed.removals == whole.removals
    assert whole.removals
    assert whole.iterate == resumed.iterate == ("current" if growth.remove == "current" else "average")
    judged = evaluate_policy(load(whole.abstraction), whole.policy)
    assert judged.nash_conv == pytest.approx(whole.rows[-1].extra["nash_conv_in_abstraction"], abs=1e-11)
    there = {(one.addition.decision, one.addition.size) for one in whole.found}
    gone = {(one.decision, one.size) for one in whole.removals}
    assert there <= {(one.decision, one.size) for one in whole.additions}
    assert there < there | gone
    assert (tmp_path / "run" / "removals.parquet").exists()
    assert json.loads((tmp_path / "run" / "result.json").read_text())["removed"] == len(whole.removals)


@pytest.mark.parametrize("growth", [Growth(remove="current", algorithm="cfr+"), Growth(remove="discard")], ids=str)
def test_runs_that_remove_converge_in_the_full_game(growth, monkeypatch) -> None:
    monkeypatch.setattr(LATE, 40)
    start = Abstraction(KUHN, Menu(everywhere=(0.01, 1.0)), "kuhn")
    solver = Growing(growth)
    state = solver.start(start)
    solver.advance(start, state, 20)
    first, seen = state.game.measure().nash_conv, []
    for _ in range(30):
        solver.advance(start, state, 150)
        seen.append(state.game.measure().nash_conv)
    assert state.removals or growth.remove == "discard"  # which finds nothing to remove in so small a game
    assert min(seen[20:]) < 0.1 * first


def test_sizes_that_were_removed_are_found_again(monkeypatch) -> None:
    """At some decisions a size is taken out and one is added later."""
    monkeypatch.setattr(LATE, 10)
    solution = grow("continuous_leduc", iterations=300, growth=Growth(remove="current", algorithm="cfr+"))
    left = {one.decision: one.iteration for one in reversed(solution.removals)}
    assert any(one.iteration > left.get(one.decision, 10**9) for one in solution.additions)


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        (
            {"remove": "sometimes"},
            """The 'remove' parameter must be one of "never", "current", "discard", got 'sometimes'.""",
        ),
        (
            {"remove": "current"},
            """The 'remove' parameter can be "current" only with algorithm "cfr+", whose current strategies converge,"""
            " got 'cfr'.",
        ),
        (
            {"remove": "current", "algorithm": "cfr+", "archive": 2},
            """The 'archive' parameter must be 0 where sizes are removed (here by "current"), got 2.""",
        ),
        ({"per_check": -1}, "The 'per_check' parameter must be a whole number from 0 up, got -1."),
    ],
)
def test_refusals(wrong, sentence) -> None:
    with pytest.raises(ParameterError) as error:
        Growth(**wrong)
    assert str(error.value) == sentence


def test_options_that_fit_the_algorithm() -> None:
    paper, plus = Growth(), Growth(algorithm="cfr+")
    assert (paper.factor, paper.discount, paper.per_check) == (1.01, "recommended", 1)
    assert (plus.factor, plus.discount) == (1.0, "root")
    assert plus.per_check > 1000
    assert Growth(algorithm="cfr+", factor=1.1, discount="bound", per_check=2).per_check == 2
    assert "remove" not in growth_fields(paper)  # as in runs that were made before
    assert "per_check" not in growth_fields(paper)
    assert growth_fields(plus)["per_check"] == plus.per_check
