"""Sizes that are taken out of a hold'em spot again: what stays as it was, what may not go, and that they come back."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.engines.boards.locks import no_locks
from treeplex.engines.boards.rows import hand_rows
from treeplex.engines.boards.trees import decisions_by_line
from treeplex.games.holdem.candidates import offered
from treeplex.games.holdem.grown import line_text, without_sizes
from treeplex.growth import spot_removal
from treeplex.growth.check import check
from treeplex.growth.spot_removal import Unused, frequencies, remove, tops, unused, without
from treeplex.growth.spots import GrowingSpot, nodes_behind
from treeplex.holdem import Spot, load_spot, sizes_for
from treeplex.poker.views.reader import Reader

sys.path.insert(0, str(Path(__file__).parent))
from places import algorithm

RIVER = Spot("Ks 9h 6d 3c Jh", 100, 300, "AA,KQs,T9s,87s", "KK:0.5,QQ,AJs,T8s,76s", sizes_for("50%, 100%, a", "60%, a"))
TURN = Spot("Ks 9h 6d 3h", 60, 90, "AhQh:0.83,KcQc:0.37,7s7c:0.61", "AsKd:0.59,QhJh:0.93", sizes_for("50%, a", "a"))
APART = replace(RIVER, oop_range="AA:0.7,8d7d", ip_range="KK,QQ,T5s:0.5")  # no hand takes a card of the opponent's
CLASSED = replace(TURN, board_classes=True)


def growing(spot: Spot, name: str = "dcfr(gamma=4)", *, current: bool = False, **candidates: str) -> GrowingSpot:
    game = load_spot(spot)
    solver = algorithm(name, game, "float64")
    return GrowingSpot(solver, offered(spot, **candidates), game, solver.start(game), current)


def sized(spot: GrowingSpot) -> dict[str, Unused]:
    """Every size of the abstraction, as if nobody bet it."""
    behind, found = nodes_behind(spot.game), dict[str, Unused]()
    for line, (_, decision) in decisions_by_line(spot.game).items():
        for action, child in zip(decision.node.actions, decision.node.children, strict=True):
            if action.amount:
                one = Unused(line, action, decision.player, 0.0, behind[id(child)])
                found[one.text] = one
    return found


def stored(spot: GrowingSpot) -> dict[tuple[str, str, int, str], Any]:
    """Regrets and averages of every action on all boards, by line and action."""
    found: dict[tuple[str, str, int, str], Any] = {}
    for line, (depth, decision) in decisions_by_line(spot.game).items():
        rows = hand_rows(spot.game, decision.player)[depth, decision.texture]
        for k, action in enumerate(decision.node.actions):
            for kind in ("regret", "average"):
                numbers = getattr(spot.state.learners[decision.player], kind)[rows.at(decision.slot + k)]
                found[line_text(line), action.name, decision.player, kind] = numbers
    return found


@pytest.mark.parametrize(
    ("spot", "names"),
    [
        (RIVER, ["bet 50", "check, bet 100", "check, bet 100, raise 280"]),
        (TURN, ["check, bet 30", "bet 30, call, check, all-in 60"]),
        (CLASSED, ["check, check, [pair], bet 30", "bet 30, call, [flush], all-in 60"]),
    ],
    ids=["river", "turn", "classes"],
)
def test_what_is_left_is_untouched(spot: Spot, names: list[str]) -> None:
    grown = growing(spot)
    grown.advance(7)
    before, all_sizes = stored(grown), sized(grown)
    leaving = tops([all_sizes[name] for name in names])
    less = without(grown, leaving)
    after = stored(less)
    gone = [one.text for one in leaving]
    assert less.game.nodes == grown.game.nodes - sum(one.nodes for one in leaving)
    assert not set(gone) & set(sized(less))

    def left(key: tuple[str, str, int, str]) -> bool:
        line = f"{key[0]}, {key[1]}".removeprefix(", ")
        return not any(line == start or line.startswith(f"{start}, ") for start in gone)

    assert set(after) == {key for key in before if left(key)}
    for key, numbers in after.items():
        assert np.array_equal(numbers, before[key]), key
    assert less.effective == grown.effective
    less.advance(3)
    assert less.iteration == grown.iteration + 3
    again = load_spot(less.game.spot)  # what is told is a spot like any other
    assert again.nodes == less.game.nodes


def test_a_menu_that_is_written_out_is_replaced() -> None:
    """Also where sizes behind the one that goes have menus of their own."""
    spot = replace(RIVER, line_sizes={"check": "25%, 50%", "check, bet 50": "a", "check, bet 25": "50%"})
    game = load_spot(spot)
    line = next(line for line in decisions_by_line(game) if line_text(line) == "check")
    (action,) = [one for one in decisions_by_line(game)[line][1].node.actions if one.name == "bet 50"]
    fewer = without_sizes(spot, game.streets[0].decisions[0].node, [(line, action)])
    assert fewer.line_sizes == {"check": "25%", "check, bet 25": "50%"}


@pytest.mark.parametrize("current", [False, True])
def test_frequencies_are_those_of_the_answer(current: bool) -> None:
    """In averages and in current strategies, where the opponent's cards do not matter: as the reader tells them."""
    grown = growing(APART, "cfr+", current=current)
    grown.advance(40)
    reader = Reader(grown.game, grown.answer.sources, no_locks(grown.game, "float64"), "float64", 1)
    found = frequencies(grown)
    assert len(found) > 5
    for line, shares in found.items():
        if not any(reader.frequencies(line_text(line))):  # the opponent does not let anyone get there
            continue
        np.testing.assert_allclose(shares, reader.frequencies(line_text(line)), atol=1e-12, err_msg=line_text(line))
    assert any(0.0 < share < 1.0 for shares in found.values() for share in shares)


def test_sizes_go_after_so_many_checks(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spot_removal, "LEAST", 0.02)
    monkeypatch.setattr(spot_removal, "RISE", 1.0)
    monkeypatch.setattr(spot_removal, "_missed", lambda trial, leaving: set())
    grown = growing(RIVER)
    grown.advance(100)
    for number in range(1, 3):
        assert remove(grown) == []
        assert set(grown.idle.values()) == {number}
    rare, nodes = unused(grown), grown.game.nodes
    grown.idle = {name: count - 1 for name, count in grown.idle.items()}
    removed = remove(grown)
    assert removed
    assert {(one.decision, one.action) for one in removed} <= {(line_text(one.line), one.action.name) for one in rare}
    assert all(one.frequency <= 0.02 and one.iteration == 100 and one.street == "river" for one in removed)
    assert grown.game.nodes == nodes - sum(one.nodes for one in removed)


def test_what_would_be_added_at_once_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    """A size is not bet since the opponent knows the answer: without that it pays, and nothing is removed."""
    monkeypatch.setattr(spot_removal, "IDLE_CHECKS", 1)
    monkeypatch.setattr(spot_removal, "LEAST", 1.0)
    monkeypatch.setattr(spot_removal, "RISE", 1e9)
    grown = growing(RIVER, bets="50%, 100%, a", raises="60%, a")
    grown.advance(300)
    free = growing(RIVER, bets="50%, 100%, a", raises="60%, a")
    free.advance(300)
    gone = {f"{one.decision}, {one.action}".removeprefix(", ") for one in remove(grown)}
    with monkeypatch.context() as careless:
        careless.setattr(spot_removal, "_missed", lambda trial, leaving: set())
        more = {f"{one.decision}, {one.action}".removeprefix(", ") for one in remove(free)}
    assert gone < more
    suggested = {(line_text(one.decision), one.size) for one in free.candidates(free.balance(), 1.0) if one.gain > 0.0}
    assert suggested
    assert sum(free.response_values()) > sum(grown.response_values())  # what best responses take in the real game


def test_nothing_goes_if_regrets_rise(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spot_removal, "IDLE_CHECKS", 1)
    monkeypatch.setattr(spot_removal, "LEAST", 1.0)
    monkeypatch.setattr(spot_removal, "_missed", lambda trial, leaving: set())
    grown = growing(RIVER)
    grown.advance(300)
    before = float(grown.regrets().sum())
    removed = remove(grown)
    assert float(grown.regrets().sum()) <= 1.01 * before
    free = growing(RIVER)
    free.advance(300)
    monkeypatch.setattr(spot_removal, "RISE", 1e9)
    assert len(remove(free)) > len(removed)
    assert float(free.regrets().sum()) > 1.01 * before


def test_a_decision_keeps_one_size_and_what_is_no_candidate(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spot_removal, "IDLE_CHECKS", 1)
    monkeypatch.setattr(spot_removal, "LEAST", 1.0)
    monkeypatch.setattr(spot_removal, "RISE", 1e9)
    monkeypatch.setattr(spot_removal, "needed", lambda *_: np.float64(np.inf))
    grown = growing(RIVER, bets="100%, a", raises="a")  # half the pot could never come back
    grown.advance(20)
    remove(grown)
    left = sized(grown)
    assert {"bet 50", "check, bet 50"} <= set(left)
    assert "bet 100" not in left
    grown = growing(RIVER, bets="50%, 100%, a", raises="60%, a")
    grown.advance(20)
    before = sized(grown)
    assert len(remove(grown)) > 2
    left = sized(grown)
    assert set(left) < set(before)
    there = {line_text(line) for line in decisions_by_line(grown.game)}
    for decision in {line_text(one.line) for one in before.values()} & there:
        assert [name for name, one in left.items() if line_text(one.line) == decision] == [
            [name for name, one in before.items() if line_text(one.line) == decision][-1]
        ]


def test_a_size_that_was_taken_out_is_found_again() -> None:
    grown = growing(RIVER, bets="50%, 100%, a", raises="60%, a")
    grown.advance(60)
    nodes = grown.game.nodes
    name = "check, bet 50"
    less = without(grown, [sized(grown)[name]])
    assert less.game.nodes < nodes
    less.advance(20)
    added = check(less, 1.0, "recommended", 100)
    assert "check, bet 50" in {line_text((*one.candidate.decision, *_action(less, one))) for one in added}
    assert name in sized(less)
    less.advance(300)
    assert float(less.regrets().sum()) < float(grown.regrets().sum())


def _action(spot: GrowingSpot, one: Any) -> tuple[Any]:
    _, decision = decisions_by_line(spot.game)[one.candidate.decision]
    return (next(action for action in decision.node.actions if action.size == one.candidate.size),)


@pytest.mark.parametrize(
    "growth",
    [tp.Growth(algorithm="dcfr(gamma=4)", remove="discard"), tp.Growth(algorithm="cfr+", remove="current")],
    ids=["discard", "current"],
)
def test_a_run_that_was_stopped_goes_on_to_the_same_bits(growth, tmp_path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spot_removal, "IDLE_CHECKS", 2)
    monkeypatch.setattr(spot_removal, "LEAST", 0.02)
    monkeypatch.setattr(spot_removal, "RISE", 0.5)
    if growth.remove == "current":
        monkeypatch.setattr(spot_removal, "_missed", lambda trial, leaving: set())
    spot = replace(RIVER, sizes=sizes_for("50%, a", "a"))
    whole = tp.grow(spot, iterations=160, growth=growth, threads=1)
    tp.grow(spot, iterations=75, growth=growth, threads=1, out=tmp_path / "run")
    resumed = tp.resume(tmp_path / "run", iterations=160, threads=1)
    assert whole.removals
    assert resumed.removals == whole.removals
    assert [row.nash_conv for row in resumed.rows] == [row.nash_conv for row in whole.rows]
    assert whole.iterate == resumed.iterate == ("current" if growth.remove == "current" else "average")
    assert whole.rows[-1].extra["removed"] == len(whole.removals)
    assert (tmp_path / "run" / "removals.parquet").exists()
    there = {(one.addition.decision, one.addition.action) for one in whole.found}
    assert there <= {(one.decision, one.action) for one in whole.additions}
