"""Solving spots: known values, invariances, storages, threads, pruning, locks, rake, runs."""

from __future__ import annotations

import itertools
import json
import sys
import time
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

import treeplex as tp
from treeplex.engines.boards import engine
from treeplex.engines.boards.arrays import UPDATE, Playing, plain_rule
from treeplex.engines.boards.locks import fix
from treeplex.errors import FormatError, ParameterError
from treeplex.games.holdem.cards import HAND_CARDS, SUITS, card_name, hand_name, hand_numbers
from treeplex.holdem import Lock, Spot, load_spot, make_spot, open_run, sizes_for, solve

sys.path.insert(0, str(Path(__file__).parent))
from places import algorithm, all_rows, discounted, schedules, undiscounted

NARROW = ("AA:0.83,KQs:0.37,QTs:0.5,98s:0.71,77:0.61,AJo:0.3", "KK:0.59,QQ:0.93,AKs:0.47,T8s:0.25,77:0.67,JTs:0.89")


def turn(**changed):
    spot = Spot("Ks 9h 6s 3h", 60, 90, *NARROW, sizes_for("50%", "a"))
    return replace(spot, **changed)


@pytest.mark.parametrize("storage", ["float32", "int16"])
@pytest.mark.parametrize("name", ["R", "TB"])
def test_known_values(known, name, storage):
    """EVs within 0.05 % of the pot, equities, and our own best response says 0.1 %."""
    spot, tree = make_spot(known[name]), known[name]["tree"]
    found = solve(spot, percent_of_pot=0.1, storage=storage, iterations=2000)
    assert found.status == "solved"
    assert found.percent_of_pot <= 0.1
    np.testing.assert_allclose(found.ev, tree["ev"], atol=0.0005 * spot.pot)
    np.testing.assert_allclose(found.reader.equity(), tree["equity"], atol=2e-5)
    assert sum(found.ev) == pytest.approx(spot.pot, abs=1e-4 * spot.pot)
    assert found.reader.value(1) == pytest.approx(found.ev[1], abs=1e-4 * spot.pot)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "storage"), [("T", "float32"), ("T", "int16"), ("F1", "int16")])
def test_known_values_of_large_spots(known, name, storage):
    spot, tree = make_spot(known[name]), known[name]["tree"]
    found = solve(spot, percent_of_pot=0.1, storage=storage)
    assert found.percent_of_pot <= 0.1
    np.testing.assert_allclose(found.ev, tree["ev"], atol=0.0005 * spot.pot)
    assert found.reader.value(1) == pytest.approx(found.ev[1], abs=1e-4 * spot.pot)


def test_ev_of_reader_is_that_of_evaluation(small_river):
    found = solve(small_river, percent_of_pot=0.5, storage="float64")
    view = found.reader.at("")
    values = np.array([view.value(hand) for hand in range(1326)])
    assert np.nansum(view.share * values) == pytest.approx(found.ev[0], abs=1e-9)
    after = found.reader.at("check")
    values = np.array([after.value(hand) for hand in range(1326)])
    assert after.player == 1
    checked = view.share * view.strategy[0]
    kept = np.nansum(checked * view.ev[0]) / checked.sum()  # what a check is worth to those who check
    assert np.nansum(after.share * values) == pytest.approx(small_river.pot - kept, abs=1e-9)
    assert after.share.sum() == pytest.approx(1.0)
    np.testing.assert_allclose(after.strategy[:, after.share > 0].sum(axis=0), 1.0)


def test_ev_below_the_first_street():
    """EVs of a decision on the river, averaged over all cards, are the EV of the action that leads there."""
    found = solve(load_spot(turn(), isomorphic=False), percent_of_pot=0.5, storage="float64")
    reader, spot = found.reader, found.game.spot
    above = reader.at("bet, all-in")  # oop decides; a call leads to the river without further betting
    hand = above.hands()[0]
    call = [action.kind for action in above.actions].index("call")
    half = spot.pot / 2 + 90
    expected = 2 * half * above.equity[hand] - half + spot.pot / 2 + follow_paid(found.game, "bet, all-in")
    assert above.ev[call, hand] == pytest.approx(expected, abs=1e-6)
    above = reader.at("check")
    checked = [action.kind for action in above.actions].index("check")
    hand = int(np.argmax(above.reach * above.strategy[checked]))  # one that plays on by its own strategy
    total = met_above = 0.0
    for card in range(52):
        if card in spot.cards or card in HAND_CARDS[hand]:
            continue
        below = reader.at(f"check, check, {card_name(card)}, check")  # ip decides again on the river
        assert [action.name for action in below.actions] == ["check", "bet 30"]
        river_first = reader.at(f"check, check, {card_name(card)}")
        held = [h for h in range(1326) if not set(HAND_CARDS[h]) & {*HAND_CARDS[hand].tolist(), card}]
        bets = {action.name: k for k, action in enumerate(river_first.actions)}
        opponent = river_first.reach
        total += sum(opponent[h] * river_first.strategy[bets["check"], h] for h in held) * below.played[hand]
        for name, k in bets.items():
            if name == "check":
                continue
            answer = reader.at(f"check, check, {card_name(card)}, {name}")
            total += sum(opponent[h] * river_first.strategy[k, h] for h in held) * answer.played[hand]
        met_above += sum(opponent[h] for h in held)
    assert total / met_above == pytest.approx(above.ev[checked, hand], abs=1e-6)


def follow_paid(game, line):
    from treeplex.poker.views.lines import follow  # noqa: PLC0415

    return follow(game, line).node.paid


def test_suits_do_not_matter():
    """Permuting the suits of the whole spot permutes the answer."""
    order = [2, 0, 3, 1]
    change = str.maketrans(SUITS, "".join(SUITS[k] for k in order))
    spot = replace(
        turn(), oop_range="AhQh:0.83,KcQc:0.37,7s7c:0.61,AsQs:0.77", ip_range="AsKd:0.59,QhJh,8c7c:0.31,7s7c:0.47"
    )
    moved = Spot(
        spot.board.translate(change),
        spot.pot,
        spot.effective_stack,
        spot.oop_range.translate(change),
        spot.ip_range.translate(change),
        spot.sizes,
    )
    first, second = (solve(s, percent_of_pot=0.02, storage="float64") for s in (spot, moved))
    assert first.ev[0] == pytest.approx(second.ev[0], abs=first.nash_conv + second.nash_conv)
    ours, theirs = (solve(s, iterations=2, storage="float64") for s in (spot, moved))  # before rounding decides ties
    assert ours.ev == pytest.approx(theirs.ev, abs=1e-9)
    stored = hand_numbers(HAND_CARDS // 4 * 4 + np.array(order)[HAND_CARDS % 4])
    for line in ("", "check", "check, check, 2d"):
        first = ours.reader.at(line)
        second = theirs.reader.at(line.replace("2d", "2" + "d".translate(change)))
        np.testing.assert_allclose(first.reach, second.reach[stored], atol=1e-9)
        np.testing.assert_allclose(first.strategy, second.strategy[:, stored], atol=1e-6)


def test_isomorphism_changes_nothing():
    spot = turn()
    games = [load_spot(spot, isomorphic) for isomorphic in (True, False)]
    assert len(games[0].deals[1]) < len(games[1].deals[1])
    close = [solve(game, percent_of_pot=0.02, storage="float64") for game in games]
    assert close[0].ev[0] == pytest.approx(close[1].ev[0], abs=close[0].nash_conv + close[1].nash_conv)
    found = [solve(game, iterations=2, storage="float64") for game in games]  # before rounding decides ties
    assert found[0].ev == pytest.approx(found[1].ev, abs=1e-9)
    assert found[0].nash_conv == pytest.approx(found[1].nash_conv, abs=1e-8)
    for line in ("check, check, 2c", "check, check, 2d", "bet, call, Ac"):
        first, second = (solution.reader.at(line) for solution in found)
        np.testing.assert_allclose(first.strategy, second.strategy, atol=1e-6)
        np.testing.assert_allclose(first.ev, second.ev, atol=1e-6)


def test_monotone_flop_with_three_suits_alike():
    spot = Spot("Ts 9s 6s", 60, 40, "AA:0.83,KQs:0.37,77:0.61", "KK:0.59,AKs:0.93,87s:0.31", sizes_for("a", ""))
    found = [solve(load_spot(spot, alike), iterations=2, storage="float64") for alike in (True, False)]
    assert found[0].ev == pytest.approx(found[1].ev, abs=1e-9)
    assert found[0].nash_conv == pytest.approx(found[1].nash_conv, abs=1e-8)
    # Hearts stand for clubs, then clubs for diamonds: two exchanges in a row are not their own inverse.
    for line in ("check, check, Ah, check, check, 2d", "check, check, Ah, check, check, 2c"):
        first, second = (solution.reader.at(line) for solution in found)
        np.testing.assert_allclose(first.strategy, second.strategy, atol=1e-6)
        np.testing.assert_allclose(first.reach, second.reach, atol=1e-9)


CYCLE = "AhKd:0.83,AdKc:0.83,AcKh:0.83,QQ:0.37,7h7d:0.61,7d7c:0.61,7h7c:0.61"


@pytest.mark.parametrize(
    ("board", "oop", "ip", "turns"),
    [
        ("Ts 9s 6s", CYCLE, "KK:0.59,AKs:0.93,87s:0.31", 10 + 13),  # a cycle of three suits, and no exchange of two
        ("Ts Th Td", "AsKh:0.7,AhKd:0.7,AdKs:0.7,88:0.41", "99:0.53,AcKc:0.9", 12 + 13),
        ("Ts Th 6d", "AsKd:0.83,AhKd:0.83,77:0.61", "KK:0.59,AKs:0.93", 12 + 12 + 13),  # paired: an exchange
        ("Ts Th 6s", "AsKd:0.83,AdKc:0.3", "KK:0.59", 49),  # nothing
        ("Th Ts Td Tc", "AsKh:0.7,AhKs:0.7,AdKc:0.7,AcKd:0.7,88:0.4", "99:0.5", 12),  # two exchanges at once
    ],
)
def test_cycles_of_suits(board, oop, ip, turns):
    spot = Spot(board, 60, 40, oop, ip, sizes_for("a", ""))
    games = [load_spot(spot, alike) for alike in (True, False)]
    assert len(games[0].deals[1]) == turns
    found = [solve(game, iterations=2, storage="float64") for game in games]
    assert found[0].ev == pytest.approx(found[1].ev, abs=1e-9)
    assert found[0].nash_conv == pytest.approx(found[1].nash_conv, abs=1e-8)
    rivers = [", check, check, 2d", ", check, check, 2c", ", check, check, 2h"] if len(spot.cards) == 3 else [""]
    for turn_card in ("Ah", "Ad", "5c", "5h"):
        for river in rivers:
            first, second = (solution.reader.at(f"check, check, {turn_card}{river}") for solution in found)
            np.testing.assert_allclose(first.strategy, second.strategy, atol=1e-6)
            np.testing.assert_allclose(first.reach, second.reach, atol=1e-9)
            np.testing.assert_allclose(first.ev, second.ev, atol=1e-6)


def test_passes_that_learn_need_schedules():
    game = load_spot(turn())
    solver = algorithm("dcfr", game)
    state = solver.start(game)
    playing = Playing(state.learners, solver.report(game, state, "current").arrays, fix(game, "float64"))
    with pytest.raises(ValueError, match="discounts and weights"):
        engine.engine(game, "float64", 1).run(playing, plain_rule(), [(0, UPDATE, 1)])


@pytest.mark.parametrize("name", ["cfr+", "dcfr(gamma=4)", "cfr"])
def test_pruning_changes_nothing(name):
    """Regrets and averages of every iteration, from the same numbers each: rounding would decide between equal actions.

    What is left alone is discounted later, so regrets are compared as they stand after the iteration.
    """
    game = load_spot(turn())
    solver = algorithm(name, game)
    solvers = [replace(solver, engine=replace(solver.engine, prune=prune)) for prune in (True, False)]
    pruned, whole = (solver.start(game) for solver in solvers)
    skipped = 0
    for t in range(1, 13):
        pruned, whole = solvers[0].advance(game, pruned, 1), solvers[1].advance(game, whole, 1)
        rule = schedules(solvers[0], t)
        for kind in ("average", "regret"):
            ours, theirs = (all_rows(game, [getattr(x, kind) for x in s.learners]) for s in (pruned, whole))
            for rows, others in zip(ours, theirs, strict=True):
                last = [int(s.learners[rows.decision.player].last[rows.place]) for s in (pruned, whole)]
                assert last[1] == t
                if kind == "average":
                    np.testing.assert_allclose(rows.numbers, others.numbers, rtol=0, atol=1e-12 * rule.weight[t])
                    continue
                skipped += last[0] < t
                now = discounted(others.numbers, rule, t, t)
                error = 1e-12 * max(np.abs(now).max(initial=0.0), game.spot.pot)
                np.testing.assert_allclose(discounted(rows.numbers, rule, max(last[0], 1), t), now, rtol=0, atol=error)
                rows.numbers[...] = undiscounted(now, rule, max(last[0], 1), t)
                others.numbers[...] = undiscounted(now, rule, t, t)
    assert skipped > 100


def test_advancing_in_pieces_gives_the_same_bits(small_river):
    game = load_spot(small_river)
    solver = algorithm("dcfr(gamma=4)", game, "float32")
    whole = solver.advance(game, solver.start(game), 23)
    parts = solver.start(game)
    for count in (1, 4, 18):
        parts = solver.advance(game, parts, count)
    for ours, theirs in zip(whole.learners, parts.learners, strict=True):
        for first, second in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(first, second)


def test_rake():
    spot = turn(rake_rate=0.05, rake_cap=3.0)
    found = solve(spot, percent_of_pot=0.5, storage="float64")
    paid = spot.pot - sum(found.ev)
    assert 0.0 < paid <= 3.0
    free = solve(turn(rake_rate=0.0, rake_cap=0.0), percent_of_pot=0.5, storage="float64")
    assert sum(free.ev) == pytest.approx(spot.pot, abs=1e-4 * spot.pot)


def test_locked_decision(small_river):
    """A player who always folds to a bet is bet at; the lock holds in current, average and best response."""
    facing = "check, bet 50"
    lock = Lock(facing, {"all": {"fold": 1.0}, "AA": {"call": 0.5, "fold": 0.5}})
    for storage in ("float64", "int16"):
        free = solve(small_river, percent_of_pot=0.5, storage=storage)
        held = solve(small_river, percent_of_pot=0.5, storage=storage, locks=(lock,))
        assert held.status == "solved"
        view = held.reader.at(facing)
        for hand in range(1326):
            if small_river.weights(0)[hand] > 0:
                expected = 0.5 if hand_name(hand)[0] == hand_name(hand)[2] == "A" else 1.0
                assert view.strategy[0, hand] == pytest.approx(expected, abs=1e-3)
        assert held.ev[1] > free.ev[1] + 0.01 * small_river.pot
        assert held.reader.at("check").totals()["bet 50"] > free.reader.at("check").totals()["bet 50"]


@pytest.mark.parametrize(
    ("lock", "words"),
    [
        (Lock("check, bet 50", {"all": {"jump": 1.0}}), "'jump'"),
        (Lock("check, bet 50", {"A4s": {"fold": 1.0}}), "names no hand that oop may hold"),
        (Lock("check, bet 50", {"all": {"fold": 0.4}}), "sum to 1"),
        (Lock("check, bet 50", {"all": {"fold": 0.4, "f": 0.6}}), "names an action twice"),
        (Lock("check, bet 50", {"all": {"fold": 2.0}}), "from 0 to 1"),
        (Lock("check, check", {"all": {"fold": 1.0}}), "no player acts"),
    ],
)
def test_impossible_locks(small_river, lock, words):
    with pytest.raises(ParameterError, match=words):
        solve(small_river, iterations=1, storage="float64", locks=(lock,))


def test_runs_are_kept_resumed_and_browsed(tmp_path, small_river, pictures):
    whole = solve(small_river, iterations=60, storage="float32", out=tmp_path / "whole")
    solve(small_river, iterations=25, storage="float32", out=tmp_path / "part")
    resumed = tp.resume(tmp_path / "part", iterations=60)
    assert resumed.nash_conv == whole.nash_conv
    assert resumed.iterations == 60
    for name in ("result.json", "log.parquet", "convergence.png", "README.md", "checkpoint.safetensors"):
        assert (tmp_path / "whole" / name).exists()
    reader = open_run(tmp_path / "whole")
    np.testing.assert_array_equal(reader.at("check").strategy, whole.reader.at("check").strategy)
    assert json.loads((tmp_path / "whole" / "result.json").read_text())["iterations"] == 60
    again = solve(small_river, iterations=60, storage="float32", out=tmp_path / "part")  # the same run: its answer
    assert (again.iterations, again.nash_conv) == (60, whole.nash_conv)
    with pytest.raises(ParameterError, match="holds a run with another storage"):
        solve(small_river, iterations=60, storage="float64", out=tmp_path / "part")
    with pytest.raises(ParameterError, match=r"no run\.json"):
        open_run(tmp_path)
    (tmp_path / "whole" / "run.json").write_text("{}")
    with pytest.raises(FormatError, match="not what treeplex writes"):
        open_run(tmp_path / "whole")


@pytest.mark.parametrize("storage", ["float64", "float32", "int16"])
def test_the_best_strategies_so_far(tmp_path, small_river, storage):
    """Reported, kept, resumed and browsed alike; iteration 20 is not one that is evaluated on the way to 60."""
    asked = {"iterate": "best", "storage": storage}
    whole = solve(small_river, iterations=60, out=tmp_path / "whole", **asked)
    part = solve(small_river, iterations=20, out=tmp_path / "part", **asked)
    assert part.nash_conv <= min(row.nash_conv for row in part.rows)
    shown = open_run(tmp_path / "part").at("")
    np.testing.assert_array_equal(shown.strategy, part.at("").strategy)
    resumed = tp.resume(tmp_path / "part", iterations=60)
    assert (resumed.nash_conv, resumed.ev) == (whole.nash_conv, whole.ev)
    np.testing.assert_array_equal(open_run(tmp_path / "part").at("check").strategy, whole.at("check").strategy)
    again = tp.resume(tmp_path / "part", iterations=60)
    assert again.nash_conv == whole.nash_conv


def test_spots_go_the_way_of_every_game(tmp_path, small_river):
    """``tp.solve`` and ``tp.resume`` take a spot as they take Leduc: as an object, as its fields, from a file."""
    fields = small_river.summary()
    (tmp_path / "spot.json").write_text(json.dumps(fields))
    asked = {"iterations": 40, "storage": "float32"}
    answers = [
        tp.solve(spot, **asked) for spot in (small_river, fields, tmp_path / "spot.json", load_spot(small_river))
    ]
    poker = solve(small_river, **asked)
    assert {answer.nash_conv for answer in answers} == {poker.nash_conv}
    assert {answer.ev for answer in answers} == {poker.ev}
    tp.solve(tmp_path / "spot.json", iterations=15, storage="float32", out=tmp_path / "run")
    (tmp_path / "spot.json").unlink()  # the run knows its spot
    resumed = tp.resume(tmp_path / "run", iterations=40)
    assert (resumed.iterations, resumed.nash_conv, resumed.ev) == (40, poker.nash_conv, poker.ev)
    assert [row[:2] + row[4:] for row in resumed.rows] == [row[:2] + row[4:] for row in poker.rows]  # but for the clock
    close = tp.solve(small_river, exploitability="0.5%pot")
    assert close.status == "solved"
    assert close.percent_of_pot == pytest.approx(100 * close.exploitability / small_river.pot)
    assert close.percent_of_pot <= 0.5


@pytest.mark.slow
def test_seconds_of_a_resumed_run_are_those_left(tmp_path, small_river, monkeypatch):
    """By a clock on which a twentieth of a second passes whenever somebody looks."""
    ticks = itertools.count(1)
    solve(small_river, iterations=1)  # kernels are there
    monkeypatch.setattr(time, "perf_counter", lambda: next(ticks) / 20)
    first = solve(small_river, seconds=6.0, out=tmp_path / "run")
    assert first.status == "seconds"
    again = tp.resume(tmp_path / "run")  # none are left
    assert (again.status, again.iterations) == ("seconds", first.iterations)
    assert solve(small_river, seconds=6.0, out=tmp_path / "run").iterations == first.iterations
    more = tp.resume(tmp_path / "run", seconds=3.0)  # these count from now
    assert more.iterations > first.iterations
    assert 3.0 <= more.seconds - again.seconds < 6.0
    longer = solve(small_river, seconds=more.seconds + 3.0, out=tmp_path / "run")  # of which the run has spent most
    assert longer.iterations > more.iterations
    assert 3.0 <= longer.seconds - more.seconds < 6.0


def test_rows_of_the_log():
    """1, 2, 3, 5, 8, ..., half as many again; after 50 iterations evaluations are at most 6 % of the counted work."""
    game = load_spot(turn())
    cost = algorithm("dcfr(gamma=4)", game).cost(game)
    rows = [row.iteration for row in solve(game, iterations=1000, storage="float64").rows]
    early = [row for row in rows if row <= 50]
    assert early == [1, 2, 3, 5, 8, 12, 18, 27, 41]
    late = rows[len(early) :]
    assert late[-1] == 1000
    assert len(late) > 5
    for count, row in enumerate(late[:-1], 1):  # the last one is due because the run ends
        measuring, solving = count * cost.evaluation, (row - 50) * cost.iteration
        assert measuring <= 0.06 * (measuring + solving) * (1 + 1e-9)


def test_a_run_of_another_kind_is_left_alone(tmp_path, small_river):
    tp.solve("kuhn", iterations=3, out=tmp_path / "kuhn")
    before = {path.name: path.read_bytes() for path in (tmp_path / "kuhn").iterdir()}
    with pytest.raises(ParameterError, match="holds a run with another kind of game"):
        solve(small_river, iterations=1, out=tmp_path / "kuhn")
    assert {path.name: path.read_bytes() for path in (tmp_path / "kuhn").iterdir()} == before


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"algorithm": "lp"}, "Hold'em spots are solved by"),
        ({"algorithm": "cfr(turns=simultaneous)"}, "alternating"),
        ({"algorithm": "nope"}, "no algorithm 'nope'"),
        ({"algorithm": "pcfr+", "storage": "int16"}, "'storage'"),
        ({"storage": "float16"}, "'storage'"),
        ({"threads": -1}, "'threads'"),
        ({"percent_of_pot": 0.0}, "'percent_of_pot'"),
        ({"iterate": "worst"}, "'iterate'"),
    ],
)
def test_impossible_options(small_river, options, words):
    with pytest.raises(ParameterError, match=words):
        solve(small_river, **({"iterations": 1} | options))
