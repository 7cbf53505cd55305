"""``auto``: what it decides and why, and that no call, limit, checkpoint or thread changes it."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms import auto as module
from treeplex.algorithms import portfolio, race
from treeplex.algorithms.auto_report import LED
from treeplex.algorithms.lp_session import LPSession
from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.race import MemberRow
from treeplex.algorithms.registry import build
from treeplex.errors import ParameterError
from treeplex.limits import Limits

GAME = tp.load("leduc")
STEADY = "auto(members='dcfr')"  # one member, no linear program


def prepared(
    name: str = "auto", game: Any = GAME, *, nash_conv: float | None = None, counted: bool = False, **more: Any
) -> Any:
    limits = Limits(nash_conv, iterations=10**9 if counted else None)
    return build(name).open(game, Execution(threads=1, limits=limits, **more))


def bits(solver: Any, state: Any) -> dict[str, bytes]:
    return {name: np.asarray(array).tobytes() for name, array in solver.save(state).items()}


def power(first: float, slope: float, iterations: list[int], price: float = 1.0) -> list[MemberRow]:
    """Rows of someone whose NashConv falls along a power."""
    return [MemberRow(t, price * t, first * t**-slope) for t in iterations]


# --- decisions, as functions of rows ----------------------------------------------------------------------------------


@pytest.mark.parametrize("slope", [1.0, 1.5, 2.0])
@pytest.mark.parametrize("price", [1.0, 7.0])
def test_a_forecast_is_exact_for_a_power(slope, price) -> None:
    rows = power(3.0, slope, [10, 20, 40, 80], price)
    assert race.forecast(rows, 3.0 * 1000.0**-slope) == pytest.approx(1000.0 * price)
    assert race.forecast(rows, 1.0) == rows[-1].work  # there already


def test_a_slope_is_that_of_the_last_rows_and_bounded() -> None:
    early = power(100.0, 4.0, [1, 2, 4, 8])
    bent = [*early, *(MemberRow(t, float(t), early[-1].nash_conv * (8 / t)) for t in (16, 48, 96))]
    assert race.forecast(bent, bent[-1].nash_conv / 10) == pytest.approx(960.0)  # from 16 on: at most a third of 96
    flat = power(1.0, 0.01, [10, 100])
    assert race.forecast(flat, flat[-1].nash_conv / 10) == pytest.approx(1000.0)  # never flatter than 1 / t
    steep = power(1.0, 60.0, [10, 100])
    assert race.forecast(steep, steep[-1].nash_conv / 1024) == pytest.approx(200.0)  # never steeper than 1 / t^10


def test_nothing_is_forecast_from_one_row_or_for_a_target_of_zero() -> None:
    assert race.forecast([], 1.0) == race.forecast(power(1.0, 1.0, [10]), 1e-3) == math.inf
    assert race.forecast(power(1.0, 1.0, [10, 20]), 0.0) == math.inf


def test_decisions_are_where_they_are() -> None:
    due, seen = race.FIRST, []
    while due < 1000:
        seen.append(due)
        due = race.later(due)
    assert seen == [14, 20, 28, 40, 56, 79, 111, 156, 219, 307, 430, 602, 843]


def test_others_follow_with_shares_of_the_work_and_in_strides() -> None:
    names = ["hs-pcfr+", "dcfr", "sapcfr+", "cfr+-restarted", "pcfr+"]
    assert [portfolio.share(name, distant=False) for name in names] == [0.1, 1.0, 0.1, 0.3, 0.3]
    assert [portfolio.share(name, distant=True) for name in names] == [1.0, 0.0, 0.0, 0.7, 0.3]
    assert [race.next_row(done) for done in (0, 1, 8, 12, 100)] == [8, 8, 16, 24, 200]


def test_a_target_is_distant_by_what_the_first_had_at_first() -> None:
    rows = [[MemberRow(14, 1.0, 0.5), MemberRow(20, 2.0, 1e-3)], [MemberRow(8, 1.0, 1e-9)]]
    assert race.is_distant(4.9e-7, rows)
    assert not race.is_distant(5.1e-7, rows)
    assert not race.is_distant(None, rows)
    assert not race.is_distant(1e-9, [[], []])


def test_what_was_done_is_lost_whoever_leads() -> None:
    """At 1,000 of 1,250 the leader is not left by someone who needs 1,100 in all and has done 100."""
    leader, other = power(1.0, 1.0, [500, 1000]), power(0.88, 1.0, [50, 100])
    assert race.forecast(other, 8e-4) < race.forecast(leader, 8e-4) == pytest.approx(1250.0)
    assert race.still_needed(leader, 8e-4) == pytest.approx(250.0)
    assert race.still_needed(other, 8e-4) == pytest.approx(1000.0)
    assert race.still_needed([], 8e-4) == math.inf


def test_who_seems_to_need_less_is_the_challenger() -> None:
    assert race.challenger([10.0, 9.9], 0) == 1
    assert race.challenger([10.0, 10.0], 0) is None
    assert race.challenger([10.0, 10.0], 1) is None  # whoever is as good does not lead
    assert race.challenger([10.0, 7.9], 1) is None
    assert race.challenger([math.inf, math.inf], 0) is None


def test_the_linear_program_gets_a_share_of_the_work_and_a_part_of_what_is_left() -> None:
    assert race.allowance(602, 100.0, 1000.0, 1e9) == pytest.approx(50.0)
    assert race.allowance(602, 100.0, 1e6, 1e9) == pytest.approx(400.0)  # far
    assert race.allowance(602, 100.0, 20.0, 1e9) == pytest.approx(6.0)
    assert race.allowance(599, 100.0, 1000.0, 1e9) == 0.0


def test_a_linear_program_that_should_be_short_gets_what_it_takes_at_once() -> None:
    assert race.allowance(219, 100.0, 1e5, 4999.0) == pytest.approx(4 * 4999.0)
    assert race.allowance(219, 100.0, 1e5, 5001.0) == 0.0  # too long beside the work so far
    assert race.allowance(219, 100.0, 1e4, 501.0) == 0.0  # and beside what the leader needs
    assert race.allowance(199, 100.0, 1e5, 10.0) == 0.0
    assert race.allowance(602, 100.0, 1e6, 10.0) == pytest.approx(400.0)  # the larger of the two


@pytest.mark.parametrize("game", ["kuhn", "leduc", "gaussian_matrix", "liars_dice(sides=4)"])
def test_iterations_of_the_linear_program_are_the_most_that_work_pays_for(game) -> None:
    price = portfolio.prices(tp.load(game))
    for work in (price.program(1), 1e6, 1e8, 1e10):
        calls = price.calls(work)
        assert price.program(calls) <= work < price.program(calls + 1) or (calls == 0 and work < price.program(1))


def test_checks_for_restarts_are_work() -> None:
    member = build("cfr+-restarted").open(GAME, Execution())
    price = portfolio.prices(GAME)
    state = member.advance(GAME, member.start(GAME), 64)
    assert portfolio.spent(member, price, GAME, state) == 64 * price.iteration + 2 * 2 * price.evaluation


# --- decisions in games -----------------------------------------------------------------------------------------------


def share(game: Any) -> float:
    """NashConv of the uniform policy, of which targets are shares."""
    return tp.evaluate(game, tp.Policy.uniform(game)).nash_conv


@pytest.mark.parametrize(
    ("game", "target", "by"),
    [
        ("leduc", 1e-3, "dcfr"),  # hs-pcfr+ is slow in poker
        ("leduc", 1e-8, "lp"),
        ("liars_dice(sides=4)", 1e-5, "cfr+-restarted"),  # fast here, and dcfr slow
        ("kuhn", 1e-5, "hs-pcfr+"),
    ],
)
def test_who_wins(game, target, by) -> None:
    game = tp.load(game)
    solution = tp.solve(game, nash_conv=target * share(game), threads=1)
    assert (solution.status, solution.solved_by) == ("solved", by)
    assert solution.nash_conv <= target * share(game)
    assert tp.evaluate(game, solution.policy).nash_conv == pytest.approx(solution.nash_conv, abs=1e-13)
    assert solution.summary()["note"].startswith(f"the answer is {by}'s, after {solution.iterations:,} iterations")
    assert sum(solution.summary()["share_of_work"].values()) == pytest.approx(1.0, abs=1e-3)


def test_what_is_decided_is_told() -> None:
    """The first is alone until 20; there the second is found to be faster, catches up and leads."""
    solver = prepared(nash_conv=1e-3, counted=True)
    state = solver.advance(GAME, solver.start(GAME), 20)
    assert (state.leader, state.due, state.entrants[1].iteration) == (0, 20, 0)  # decided by the next call
    state = solver.advance(GAME, state, 20)
    assert (state.leader, [own.iteration for own in state.entrants]) == (1, [20, 40, 0, 8])
    state = solver.advance(GAME, state, 1)
    assert [(one.kind, one.member, one.iteration) for one in state.events] == [(LED, 1, 20)]
    assert [own.iteration for own in state.entrants] == [20, 41, 0, 8]
    assert [[row.iteration for row in rows] for rows in state.rows] == [[14, 20], [8, 16, 20, 28, 40], [], [8]]


def test_a_distant_target_is_for_others() -> None:
    """Who has no share then never begins."""
    solver = prepared(nash_conv=1e-12, counted=True)
    state = solver.advance(GAME, solver.start(GAME), 600)
    assert [bool(own.iteration) for own in state.entrants] == [True, False, False, True]
    assert {one.member for one in state.events} == {0, 3}


def test_who_follows_takes_no_more_than_its_share() -> None:
    solver = prepared(nash_conv=1e-3, counted=True)
    state = solver.advance(GAME, solver.start(GAME), 600)
    leader, price = solver._spent(GAME, state, state.leader), portfolio.prices(GAME, "cpu")
    assert state.leader == 1
    for place in (2, 3):
        rows, most = state.rows[place], portfolio.share(solver.names[place], distant=False)
        assert [row.iteration for row in rows] == [8 * 2**k for k in range(len(rows))]
        assert 0.0 < rows[-1].work + len(rows) * price.evaluation <= most * leader
        assert 2.0 * rows[-1].work + (len(rows) + 1) * price.evaluation > most * leader / 1.5  # as soon as it may


def test_nobody_passes_the_leader(monkeypatch) -> None:
    monkeypatch.setitem(portfolio.SHARES, "sapcfr+", (50.0, 50.0))
    solver = prepared(nash_conv=1e-3, counted=True)
    state = solver.start(GAME)
    for _ in range(20):
        state = solver.advance(GAME, state, 10)
        assert max(own.iteration for own in state.entrants) <= state.due
    assert [row.iteration for row in state.rows[2]] == [8, 16, 32, 64, 128]


def test_no_slope_from_a_row_that_was_exact() -> None:
    rows = [MemberRow(10, 10.0, 0.0), MemberRow(40, 40.0, 1e-9)]
    assert race.forecast(rows, 1e-10) == pytest.approx(400.0)  # as 1 / t


def test_rows_are_what_members_alone_would_have() -> None:
    solver = prepared(nash_conv=1e-12, counted=True)
    state = solver.advance(GAME, solver.start(GAME), 320)
    for name, rows in zip(solver.names, state.rows, strict=True):
        for row in rows:
            alone = f"{name}(horizon=1000)" if name.startswith("hs-") else name  # which else is the limit
            assert row.nash_conv == tp.solve(GAME, alone, iterations=row.iteration).nash_conv


def test_an_answer_is_the_leaders() -> None:
    solution = tp.solve("leduc", iterations=200)
    alone = tp.solve("leduc", "dcfr", iterations=200)
    assert solution.solved_by == "dcfr"
    for one, two in zip(solution.policy.aligned(GAME), alone.policy.aligned(GAME), strict=True):
        np.testing.assert_array_equal(one, two)


def test_who_is_good_enough_while_catching_up_is_the_answer() -> None:
    """At an iteration that the leader has long passed; and it goes on from there to another target."""
    game = tp.load("kuhn")
    solver = prepared("auto(members='cfr;hs-pcfr+')", game=game, nash_conv=1e-3 * share(game), counted=True)
    state = solver.advance(game, solver.start(game), 10_000)
    assert solver.work(GAME, state).finished
    assert solver.work(GAME, state).resumable
    assert state.iteration == state.rows[state.leader][-1].iteration < max(own.iteration for own in state.entrants)
    further = prepared("auto(members='cfr;hs-pcfr+')", game=game, nash_conv=1e-6 * share(game), counted=True)
    state = further.advance(game, further.restore(game, solver.save(state)), 10_000)
    assert further.work(GAME, state).finished
    assert state.rows[state.leader][-1].nash_conv <= 1e-6 * share(game)


@pytest.mark.parametrize("iterate", ["average", "current", "best"])
def test_members_are_measured_by_what_is_reported(iterate) -> None:
    solver = prepared(iterate=iterate, counted=True)
    state = solver.advance(GAME, solver.start(GAME), 100)
    member = solver.members[1]
    kinds = ("average", "current") if iterate == "best" else (iterate,)
    for row in state.rows[1]:
        own = member.advance(GAME, member.start(GAME), row.iteration)
        found = [member.report(GAME, own, kind).evaluate().nash_conv for kind in kinds]
        assert row.nash_conv == min(found)


# --- the same bits ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("parts", [[1] * 130, [39, 1, 1, 89], [40, 90], [41, 89], [56, 74], [129, 1], [20, 20, 90]])
def test_n_and_then_m_iterations_are_n_plus_m(parts) -> None:
    solver = prepared(nash_conv=1e-9, counted=True)
    whole = solver.advance(GAME, solver.start(GAME), sum(parts))
    state = solver.start(GAME)
    for part in parts:
        state = solver.advance(GAME, state, part)
    assert bits(solver, state) == bits(solver, whole)


class After:
    """Says stop at the nth question, and ever after."""

    def __init__(self, count: int) -> None:
        self.left = count

    def __call__(self) -> bool:
        self.left -= 1
        return self.left < 0


@pytest.mark.parametrize("count", [0, 1, 2, 3, 5, 8, 13])
def test_whatever_cuts_a_decision_short_it_goes_on_to_the_same_bits(count, monkeypatch) -> None:
    """With a checkpoint at every cut; bursts of an iteration, so that there are many."""
    monkeypatch.setattr(module, "BURST", 1.0)
    solver = prepared(nash_conv=1e-9, counted=True)
    whole = solver.advance(GAME, solver.start(GAME), 120)
    state = solver.start(GAME)
    for _ in range(2000):
        if state.iteration == 120:
            break
        state = solver.advance(GAME, state, 120 - state.iteration, After(count))
        state = solver.restore(GAME, solver.save(state))
    assert bits(solver, state) == bits(solver, whole)


def test_the_number_of_threads_changes_nothing() -> None:
    one, two = (tp.solve("leduc5", iterations=60, threads=threads) for threads in (1, 2))
    for left, right in zip(one.policy.aligned(one.game), two.policy.aligned(one.game), strict=True):
        np.testing.assert_array_equal(left, right)
    assert one.nodes_touched == two.nodes_touched


def test_killed_and_resumed_it_has_the_same_answer(tmp_path) -> None:
    for folder, limits in (("whole", [300]), ("parts", [37, 40, 41, 130, 300])):
        tp.solve("leduc", iterations=limits[0], out=tmp_path / folder)
        for limit in limits[1:]:
            tp.resume(tmp_path / folder, iterations=limit)
    policies = [(tmp_path / folder / "policy.parquet").read_bytes() for folder in ("whole", "parts")]
    assert policies[0] == policies[1]
    results = [json.loads((tmp_path / folder / "result.json").read_text()) for folder in ("whole", "parts")]
    assert results[0] | {"seconds": 0} == results[1] | {"seconds": 0}


# --- the linear program -----------------------------------------------------------------------------------------------


def test_a_session_takes_the_iterations_of_one_go() -> None:
    whole = build("lp").advance(GAME, build("lp").start(GAME), 1)
    session, calls = LPSession(GAME), 0
    while not session.ended:
        calls += 50
        assert session.upto(calls, lambda: False)
    assert session.result is not None
    assert session.result.iteration == whole.iteration
    for one, two in zip(session.result.strategies, whole.strategies, strict=True):
        np.testing.assert_array_equal(one, two)


def test_a_session_takes_no_more_than_it_is_granted() -> None:
    session = LPSession(GAME)
    assert session.upto(100, lambda: False)
    assert (session._worker.calls, session.ended) == (100, False)
    assert session.upto(100, lambda: False)
    assert session._worker.calls == 100


def test_a_session_that_is_given_up_ends_its_thread() -> None:
    session = LPSession(GAME)
    session.upto(10, lambda: False)
    thread = session._worker._thread
    assert thread.is_alive()
    del session
    thread.join(20)
    assert not thread.is_alive()


def test_the_linear_program_is_granted_as_decided() -> None:
    """Nothing before 200 iterations; then, as it should be short beside what the leader needs, all that it takes."""
    solver = prepared(nash_conv=1e-12)
    state = solver.advance(GAME, solver.start(GAME), 219)
    assert (state.due, state.program.calls) == (219, 0)
    state = solver.advance(GAME, state, 1)
    price = portfolio.prices(GAME)
    assert solver.work(GAME, state).finished
    assert 0.0 < price.program(state.program.calls) <= race.GENEROUS * price.typical


@pytest.mark.parametrize("pause", [0, 1, 2])
def test_cut_in_the_middle_of_the_linear_program_it_goes_on_to_the_same_bits(pause, monkeypatch) -> None:
    """The session is lost with the process: it begins again and is given all it had."""
    monkeypatch.setattr(race, "FAR_SHARE", 2.0)
    whole = prepared(nash_conv=1e-12)
    last = whole.advance(GAME, whole.start(GAME), 10_000)
    assert last.program.status == module.SOLVED
    solver = prepared(nash_conv=1e-12)
    state, cuts = solver.start(GAME), 0
    upto = LPSession.upto

    def cut(self: LPSession, calls: int, stop: Any) -> bool:
        nonlocal cuts
        cuts += 1
        if cuts % 2:  # half way
            upto(self, max(calls - 20 * (pause + 1), 1), lambda: False)
            return False
        return upto(self, calls, stop)

    monkeypatch.setattr(LPSession, "upto", cut)
    for _ in range(200):
        if solver.work(GAME, state).finished:
            break
        state = solver.advance(GAME, state, 10_000)
        if not solver.work(GAME, state).finished:
            state = solver.restore(GAME, solver.save(state))
    assert cuts > 1
    assert (state.due, state.program.iterations) == (last.due, last.program.iterations)
    for one, two in zip(state.program.strategies, last.program.strategies, strict=True):
        np.testing.assert_array_equal(one, two)


def test_a_linear_program_that_fails_is_told_and_the_race_goes_on(monkeypatch) -> None:
    monkeypatch.setattr(module, "LPSession", Failing)
    solution = tp.solve("leduc", nash_conv=1e-5, threads=1)
    without = tp.solve("leduc", "auto(members='hs-pcfr+;dcfr;sapcfr+;cfr+-restarted')", nash_conv=1e-5, threads=1)
    assert (solution.status, solution.solved_by) == ("solved", without.solved_by)
    assert solution.iterations == without.iterations
    assert "lp took" in solution.summary()["note"]
    assert solution.summary()["note"].endswith("and failed")


class Failing:
    """A linear program without an answer."""

    ended, result = True, None

    def __init__(self, game: Any, target: float | None) -> None:
        pass

    def upto(self, calls: int, stop: Any) -> bool:
        return True


# --- limits -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("count", [1, 20, 34, 40, 41, 155, 1000])
def test_a_limit_on_iterations(count) -> None:
    solution = tp.solve("kuhn", iterations=count)
    assert (solution.status, solution.iterations) == ("iterations", count)
    assert "lp" not in solution.summary()["share_of_work"]  # which cannot heed it


@pytest.mark.parametrize("limit", [1, 116, 5_000, 10_000, 20_000, 123_456, 1_000_000])
def test_a_limit_on_nodes_is_missed_by_less_than_an_iteration_and_a_check(limit) -> None:
    """All members' nodes count; an iteration touches 58 nodes twice, a check of restarts four times."""
    solution = tp.solve("kuhn", nodes=limit)
    assert solution.status == "nodes"
    assert limit <= solution.nodes_touched < limit + 6 * 58


def test_a_limit_on_nodes_leaves_no_trace(tmp_path) -> None:
    for folder, limits in (("whole", [400_000]), ("parts", [9_000, 10_000, 11_000, 123_456, 400_000])):
        tp.solve("kuhn", nodes=limits[0], out=tmp_path / folder)
        for limit in limits[1:]:
            tp.resume(tmp_path / folder, nodes=limit)
    policies = [(tmp_path / folder / "policy.parquet").read_bytes() for folder in ("whole", "parts")]
    assert policies[0] == policies[1]


def test_a_limit_on_seconds_ends_it_or_it_is_solved() -> None:
    assert tp.solve("leduc5", seconds=0.3).status == "seconds"
    assert tp.solve("kuhn", seconds=20.0).status == "solved"  # by the linear program


# --- members ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("members", ["", "lp", "dcfr;dcfr", "auto", "dcfr;auto", "dcfr;;lp"])
def test_wrong_members_are_refused(members) -> None:
    with pytest.raises(ParameterError, match=r"members|algorithm"):
        build(f"auto(members='{members}')")


def test_one_member_is_that_algorithm() -> None:
    one, two = tp.solve("leduc", STEADY, iterations=100), tp.solve("leduc", "dcfr", iterations=100)
    assert one.nash_conv == two.nash_conv


def test_members_that_cannot_heed_what_is_asked_stay_out() -> None:
    """Restarts set regrets, which 16 bits cannot."""
    solution = tp.solve("leduc", iterations=100, storage="int16")
    assert list(solution.summary()["share_of_work"]) == ["dcfr"]


def test_a_checkpoint_of_other_members_is_refused() -> None:
    solver, other = prepared(counted=True), prepared(STEADY)
    with pytest.raises((ValueError, KeyError)):
        other.restore(GAME, solver.save(solver.advance(GAME, solver.start(GAME), 10)))


def test_costs_are_positive_and_from_the_file() -> None:
    stored = json.loads(Path(portfolio.FILE).read_text())["nanoseconds"]
    assert portfolio.costs()._asdict() == stored
    assert all(number > 0.0 for number in stored.values())


def test_a_ratio_that_was_infinite_does_not_spoil_a_checkpoint() -> None:
    """Forecasts are infinite where too little was measured; where members, places or times cannot be, it is refused."""
    saved = np.array([[0.0, 1.0, 5.0, np.inf], [0.0, 0.0, 6.0, np.nan]])
    assert [event.iteration for event in module._events(saved, 3)] == [5, 6]
    for place, number in ((1, 9.0), (2, -1.0), (0, np.nan)):
        with pytest.raises(ValueError, match="events"):
            module._events(np.where(np.arange(4) == place, number, saved), 3)
