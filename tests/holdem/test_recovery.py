"""Recovery games on boards against the NumPy recursion; what is carried over when a spot grows."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treeplex.engines.boards.arrays import RECORD_VALUE, Sources
from treeplex.engines.boards.locks import no_locks
from treeplex.engines.boards.reference import new_memory
from treeplex.engines.boards.reference import recover as reference
from treeplex.engines.boards.rows import hand_rows, normalise
from treeplex.engines.boards.trees import decisions_by_line
from treeplex.games.holdem.candidates import offered
from treeplex.games.holdem.grown import path_to, with_size
from treeplex.games.holdem.sizes import Size
from treeplex.growth.check import Candidate, check
from treeplex.growth.spot_plans import pass_over
from treeplex.growth.spot_recovery import LEAVE, Head, recover, value_of
from treeplex.growth.spots import GrowingSpot
from treeplex.holdem import HoldemGame, Spot, load_spot, sizes_for
from treeplex.poker.views.reader import Reader

sys.path.insert(0, str(Path(__file__).parent))
from places import algorithm, all_rows, schedules
from twin import RIVER, columns_of, key_of, lines, numbers_of, rules_of

TURN = Spot(
    "Ks 9h 6d 3h", 60, 90, "AhQh:0.83,KcQc:0.37,7s7c:0.61", "AsKd:0.59,QhJh:0.93,8c7c:0.31", sizes_for("50%", "a")
)
CLASSED = replace(TURN, board_classes=True, line_sizes={"check, check, [over]": "33%, a"})
CASES = {
    "first to act": (RIVER, ()),
    "after a check": (RIVER, ("check",)),
    "a raise": (RIVER, ("check", "bet 50")),
    "turn": (TURN, ("check",)),
    "river after a bet": (TURN, ("bet 30", "call")),
    "river after two checks": (TURN, ("check", "check", "check")),
    "rivers that pair the board": (CLASSED, ("check", "check", "[pair]", "check")),
    "rivers with a flush": (CLASSED, ("bet 30", "call", "[flush]")),
}


def growing(spot: Spot, name: str = "dcfr(gamma=4)", storage: str = "float64", **candidates: str) -> GrowingSpot:
    game = load_spot(spot)
    solver = algorithm(name, game, storage)
    return GrowingSpot(solver, offered(spot, **candidates), game, solver.start(game))


def line_of(game: HoldemGame, names: tuple[str, ...]) -> Any:
    return next(line for line in decisions_by_line(game) if tuple(action.name for action in line) == names)


def rows_at(game: HoldemGame, player: int, line: Any) -> Any:
    depth, decision = decisions_by_line(game)[line]
    return hand_rows(game, player)[depth, decision.texture].actions(decision.slot, len(decision.node.actions))


@pytest.mark.parametrize("name", CASES)
def test_recovery_games_follow_the_reference(name: str) -> None:
    """Regrets, averages and values of the new action, on every board, after four iterations.

    After a fifth, two actions of the turn that are worth the same would be told apart by rounding.
    """
    spot, names = CASES[name]
    grown = growing(spot)
    grown.advance(6)
    old = grown.game
    line = line_of(old, names)
    depth, decision = decisions_by_line(old)[line]
    player = decision.player
    played = pass_over(old, grown.averages, player, RECORD_VALUE, "float64", 1).values
    staying = value_of(old, grown.averages, played, depth, decision)
    made = with_size(spot, grown.root, line, Size("%", 0.8))
    new = load_spot(made.spot, like=old)
    way = path_to(new.root, line)
    opponent = np.zeros(new.elements(1 - player))
    for each, (_, there) in decisions_by_line(old).items():
        if there.player != player:  # in place of what carrying over does
            opponent[rows_at(new, 1 - player, each)] = grown.averages[1 - player][rows_at(old, 1 - player, each)]
    found = recover(Head(new, way, way[-1].actions.index(made.action)), opponent, staying, 4, "float64", 1)

    made_of = found.game.streets[0].decisions[0].node
    for k, action in enumerate(line):  # on the way the opponent plays its average strategy
        if action.name.startswith("["):
            continue
        there = decisions_by_line(new)[line[:k]][1]
        while made_of.kind == "chance":
            made_of = made_of.children[0]
        if there.player != player:
            at = next(each for each in all_rows(found.game, [one.regret for one in found.learners])
                      if each.decision.node is made_of)  # fmt: skip
            played = normalise(opponent[rows_at(new, 1 - player, line[:k])])[there.node.actions.index(action)]
            np.testing.assert_allclose(at.numbers[0], played[: len(at.hands)], rtol=1e-12)
        made_of = made_of.children[0]

    ways = lines(found.game)
    rules = rules_of(spot, grown.solver)
    leaving, locked = {}, {}
    rows = hand_rows(found.game, player)[depth, decision.texture]
    gate = next(d for d in found.game.streets[depth].decisions if LEAVE in d.node.actions and d.player == player)
    for at in all_rows(found.game, found.learners[0][:1] + found.learners[1][:1]):
        columns, key = columns_of(spot, at), key_of(spot, at, ways)
        if at.decision is gate:
            where = np.flatnonzero((rows.decision + gate.number == at.place) & (rows.boards > 0.0))
            leaving[key] = np.zeros(len(numbers_of(spot, player)))
            leaving[key][columns] = staying[where]
        elif LEAVE in at.decision.node.actions:
            locked[key] = np.full((2, len(numbers_of(spot, 1 - player))), 0.5)
            locked[key][:, columns] = at.numbers
    rules = rules._replace(
        root=found.game.streets[0].decisions[0].node, leaving=leaving, locked=locked,
        positive=lambda t: 1.0, negative=lambda t: 0.0, weight=float,
    )  # fmt: skip
    memory = new_memory()
    reference(rules, memory, player, 4)
    compared = 0
    for kind in ("regret", "average"):
        for at in all_rows(found.game, [getattr(learner, kind) for learner in found.learners]):
            key = key_of(spot, at, ways)
            if LEAVE in at.decision.node.actions or key not in getattr(memory, kind):
                continue
            ours = np.maximum(at.numbers, 0.0)  # what is negative is forgotten, by the kernels when they next touch it
            theirs = np.maximum(getattr(memory, kind)[key].value[:, columns_of(spot, at)], 0.0)
            np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-9 * spot.pot, err_msg=f"{kind} {key}")
            compared += theirs.size
    assert compared > 20
    for at in all_rows(found.game, found.learners[0][:1] + found.learners[1][:1]):
        if at.decision is gate:
            where = np.flatnonzero((rows.decision + gate.number == at.place) & (rows.boards > 0.0))
            theirs = memory.entered[key_of(spot, at, ways)][columns_of(spot, at)] / 10.0
            np.testing.assert_allclose(found.value[where], theirs, rtol=0, atol=1e-9 * spot.pot)


@pytest.mark.parametrize("storage", ["float64", "float32"])
@pytest.mark.parametrize("name", ["dcfr(gamma=4)", "cfr+", "cfr"])
def test_nothing_but_the_head_and_the_subgame_changes(small_river: Spot, name: str, storage: str) -> None:
    """A size added where another action has positive regret leaves the next iterate as it was, hand by hand."""
    grown = growing(small_river, name, storage)
    grown.advance(30)
    old, before = grown.game, grown.state.learners
    kept = [[numbers.copy() for numbers in (learner.regret, learner.average)] for learner in before]
    line = line_of(old, ("check",))
    player = decisions_by_line(old)[line][1].player
    (added,) = grown.add([Candidate(line, player, Size("%", 0.8), 1.0, 1)])
    new, after = grown.game, grown.state.learners
    assert new.nodes == old.nodes + added.histories
    for who in (0, 1):
        for each, (_, decision) in decisions_by_line(old).items():
            if decision.player != who or each == line:
                continue
            for numbers, learner in zip(kept[who], (after[who].regret, after[who].average), strict=True):
                np.testing.assert_array_equal(learner[rows_at(new, who, each)], numbers[rows_at(old, who, each)])
    regret, was = after[player].regret[rows_at(new, player, line)], kept[player][0][rows_at(old, player, line)]
    actions = [action.name for action in decisions_by_line(new)[line][1].node.actions]
    fresh = actions.index("bet 80")
    silent = (regret[fresh] <= 0.0) & (was > 0.0).any(axis=0)
    assert silent.any()
    ours, theirs = normalise(np.delete(regret, fresh, axis=0)), normalise(was)
    np.testing.assert_allclose(ours[:, silent], theirs[:, silent], rtol=1e-6 if storage == "float32" else 1e-14)
    assert not after[player].average[rows_at(new, player, line)][fresh].any()


@pytest.mark.parametrize("name", ["dcfr(alpha=1.4,beta=0.5,gamma=4,rise=100)", "cfr+", "lcfr", "cfr"])
def test_the_new_action_regrets_what_it_would_have_regretted_all_the_time(name: str) -> None:
    """R <- d R + g for every iteration, and the past times w wherever it was weighed."""
    grown = growing(RIVER, name)
    share, last = 0.7, 9
    for t in range(1, last + 1):
        grown.advance(1)
        if t == 4:
            grown.discount(share)
    line = line_of(grown.game, ())
    depth, decision = decisions_by_line(grown.game)[line]
    rows = hand_rows(grown.game, 0)[depth, decision.texture]
    gained = np.where(np.arange(len(rows.boards)) % 2, 3.0, -2.0)
    known = schedules(grown.solver, last)
    expected = np.zeros(len(gained))
    for t in range(1, last + 1):
        expected *= np.where(expected > 0.0, known.positive[t - 1], known.negative[t - 1]) if t > 1 else 1.0
        expected = (expected + gained) * (share if t == 4 else 1.0)
    grown._regret(grown.state.learners[0], depth, decision, 1, gained)
    written = grown.state.learners[0].regret[rows_at(grown.game, 0, line)][1]
    np.testing.assert_allclose(written, np.where(rows.boards > 0.0, expected, 0.0), rtol=1e-12)


def test_the_gain_of_a_size_is_what_a_best_response_wins_more_by_it() -> None:
    """Where one decision alone has a candidate: in the units of the whole game, however hands are weighted."""
    hands = "22+:0.7,A8s+,K9s+,Q9s+,J9s+,T8s+:0.3,97s+", "JJ-22,A5s-A2s,K6s+:0.4,Q8s+,T7s+,86s+"
    spot = Spot("Ks 8h 4d 2c 7s", 50, 150, *hands, sizes_for("50%, a", "a"))
    grown = growing(spot, bets="20%, 50%, a", raises="a")
    grown.advance(5)
    reader = Reader(grown.game, grown.averages, no_locks(grown.game, "float64"), "float64", 1)
    found = {
        candidate.decision: candidate for candidate in grown.candidates(grown.balance(), 1.0) if not candidate.player
    }
    (line,) = found
    assert line == ()
    won = found[line].gain / grown.effective * spot.chip / grown.game.combinations
    assert won == pytest.approx(grown.response_values()[0] - reader.best_response_value(0), rel=1e-9)
    assert won > 0.01


def test_what_proposition_1_weighs_is_measured() -> None:
    """Overall regrets by best responses, and squared positive regrets as the definitions say."""
    grown = growing(TURN)
    grown.advance(6)
    grown.discount(0.5)
    state, found = grown.balance(), Reader(
        grown.game, grown.averages, no_locks(grown.game, "float64"), "float64", 1
    ).evaluation()  # fmt: skip
    values = (found.value, TURN.pot - found.value)
    known = schedules(grown.solver, 6)
    for player in (0, 1):
        overall = grown.effective * grown.game.combinations * (found.best_response_values[player] - values[player])
        assert state.largest[player] == pytest.approx(overall, rel=1e-9)
        squares = 0.0
        for at in all_rows(grown.game, [learner.regret for learner in grown.state.learners]):
            if at.decision.player == player:
                last = int(grown.state.learners[player].last[at.place])
                left = float(np.prod(known.positive[max(last, 1) : 6]))
                copies = 1
                for deals in grown.game.deals[1:]:
                    copies *= next((len(deal.images) for deal in deals if deal.cards == at.cards), 1)
                squares += copies * float(((np.maximum(at.numbers, 0.0) * left) ** 2).sum())
        assert state.squares[player] == pytest.approx(squares, rel=1e-9)


def inside(game: HoldemGame, averages: Sources) -> float:
    return Reader(game, averages, no_locks(game, "float64"), "float64", 1).evaluation().nash_conv


@pytest.mark.parametrize("name", ["dcfr(gamma=4)", "cfr+"])
@pytest.mark.parametrize("spot", [RIVER, TURN], ids=["river", "turn"])
def test_averages_after_growth_are_mixtures_of_the_past_and_what_came_since(spot: Spot, name: str) -> None:
    """NashConv is convex in both plans: that of all is at most that of the past and of the rest, by their weights.

    It holds only if what the opponent did behind the new size has the weight of the whole past.
    """
    grown = growing(spot, name)
    grown.advance(12)
    line = line_of(grown.game, ())
    grown.add([Candidate(line, 0, Size("%", 0.8), 1.0, 1)])
    then = Sources(*(numbers.copy() for numbers in grown.averages))
    weights = schedules(grown.solver, 60).weight
    past = inside(grown.game, then)
    for upto in (13, 16, 30, 60):
        grown.advance(upto - grown.iteration)
        since = Sources(*(now - before for now, before in zip(grown.averages, then, strict=True)))
        old, new = float(weights[1:13].sum()), float(weights[13 : upto + 1].sum())
        bound = (old * past + new * inside(grown.game, since)) / (old + new)
        assert inside(grown.game, grown.averages) <= bound + 1e-9 * spot.pot
    behind = rows_at(grown.game, 1, line_of(grown.game, ("bet 80" if spot is RIVER else "bet 48",)))
    held = grown.averages[1][behind].sum(axis=0)
    assert held.max() == pytest.approx(float(weights[1 : grown.iteration + 1].sum()) * spot.weights(1).max(), rel=1e-9)


def test_grown_spots_converge_in_the_real_game() -> None:
    """Also where every chip amount is a candidate."""
    hands = "AA,KQs,T9s,87s", "KK:0.5,QQ,AJs,T8s,76s"
    grown = growing(Spot("Ks 9h 6d 3c Jh", 6, 10, *hands, sizes_for("50%, a", "a")), bets="every", raises="every")
    found: list[float] = []
    for _ in range(12):
        grown.advance(30)
        check(grown, 1.0, "recommended", 1000)
        found.append(sum(grown.response_values()) - 6)
    assert found[-1] < 0.1 * found[0]
    assert len(grown.game.spot.line_sizes) > 2


def test_a_size_takes_over_the_menus_behind_the_one_it_is_most_likely_read_as() -> None:
    spot = Spot("Ks 9h 6d 3c", 100, 400, "AA", "QQ", sizes_for("50%, a", "a"))
    root = load_spot(spot).streets[0].decisions[0].node
    deeper = with_size(spot, root, line_of(load_spot(spot), ("bet 50", "call")), Size("%", 0.2))
    assert deeper.spot.line_sizes == {"bet 50, call": "50%, a, 20%"}
    game = load_spot(deeper.spot)
    near = with_size(deeper.spot, game.streets[0].decisions[0].node, (), Size("%", 0.3))
    assert near.closest.name == "bet 50"
    assert near.spot.line_sizes[""] == "50%, a, 30%"
    assert set(near.spot.line_sizes["bet 30, call"].split(", ")) == {"20%", "50%", "a"}
    far = with_size(deeper.spot, game.streets[0].decisions[0].node, (), Size("%", 2.5))
    assert far.closest.name == "all-in 400"
    assert set(far.spot.line_sizes) == {"", "bet 50, call"}  # behind all-in nothing could be bet
    names = [action.name for action in load_spot(far.spot).streets[0].decisions[0].node.actions]
    assert names == ["check", "bet 50", "bet 250", "all-in 400"]


def test_amounts_are_told_in_the_unit_of_the_spot() -> None:
    spot = Spot("Ks 9h 6d 3c Jh", 5.5, 20, "AA,KQs", "QQ,AJs", sizes_for("50%, a", "a"), chip=0.1)
    grown = growing(spot)
    grown.advance(10)
    check(grown, 1.0, "recommended", 1000)
    assert grown.game.spot.line_sizes
    assert load_spot(grown.game.spot).nodes == grown.game.nodes
    assert sum(grown.response_values()) >= 5.5 - 1e-9
