"""Threads of a run: they change no bit, do not wait for who never comes, and keep nothing alive."""

from __future__ import annotations

import gc
import multiprocessing
import sys
import threading
import time
import weakref
from pathlib import Path

import numpy as np
import pytest

from treeplex.engines.boards import engine
from treeplex.holdem import Spot, load_spot, sizes_for, solve
from treeplex.kernels.threads import helpers

sys.path.insert(0, str(Path(__file__).parent))
from places import algorithm

NARROW = ("AA:0.83,KQs:0.37,QTs:0.5,98s:0.71,77:0.61,AJo:0.3", "KK:0.59,QQ:0.93,AKs:0.47,T8s:0.25,77:0.67,JTs:0.89")


def turn() -> Spot:
    return Spot("Ks 9h 6s 3h", 60, 90, *NARROW, sizes_for("50%", "a"))


@pytest.mark.parametrize("storage", ["float32", "int16"])
@pytest.mark.parametrize("street", ["turn", "flop"])
def test_threads_change_no_bit(storage, street, small_flop):
    states = []
    for threads in (1, 2, 3, 7):
        game = load_spot(turn() if street == "turn" else small_flop)
        solver = algorithm("dcfr(gamma=4)", game, storage, threads)
        states.append(solver.advance(game, solver.start(game), 12 if street == "turn" else 3))
    for state in states[1:]:
        for ours, theirs in zip(states[0].learners, state.learners, strict=True):
            for first, second in zip(ours, theirs, strict=True):
                np.testing.assert_array_equal(first, second)


def nash_conv_of_two_threads(spot: Spot) -> float:
    return solve(spot, iterations=6, threads=2).nash_conv


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_runs_side_by_side_and_in_child_processes_do_not_wait_for_each_others_threads():
    spot, found = turn(), []
    alone = nash_conv_of_two_threads(spot)
    users = [threading.Thread(target=lambda: found.append(nash_conv_of_two_threads(spot))) for _ in range(3)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    if "fork" in multiprocessing.get_all_start_methods():
        with multiprocessing.get_context("fork").Pool(1) as pool:
            found.append(pool.apply(nash_conv_of_two_threads, (spot,)))
    assert found == [alone] * len(found)
    assert len(found) >= 3


@pytest.mark.parametrize("polls", [0, 10**7])
def test_threads_that_are_called_again_change_no_bit(polls, monkeypatch):
    """Without polls every run wakes them; with many they still wait for the next one."""
    game, called = load_spot(turn()), []
    alone = algorithm("dcfr(gamma=4)", game, "float32")
    expected = alone.advance(game, alone.start(game), 9)

    def noted(wake_flags, threads):
        call(wake_flags, threads)
        called.append(bool(threads[1]))

    call = helpers.call
    monkeypatch.setattr(helpers, "call", noted)
    monkeypatch.setattr(engine, "LINGER_POLLS", polls)
    monkeypatch.setattr(engine, "cores", lambda: 2)
    solver = algorithm("dcfr(gamma=4)", game, "float32", 2)
    state = solver.start(game)
    for _ in range(9):
        state = solver.advance(game, state, 1)
    assert any(called) == (polls > 0)
    for ours, theirs in zip(expected.learners, state.learners, strict=True):
        for first, second in zip(ours, theirs, strict=True):
            np.testing.assert_array_equal(first, second)


@pytest.mark.skipif("fork" not in multiprocessing.get_all_start_methods(), reason="no fork here")
@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_a_child_does_not_call_threads_that_wait_in_its_parent(monkeypatch):
    monkeypatch.setattr(engine, "LINGER_POLLS", 10**7)
    monkeypatch.setattr(engine, "cores", lambda: 2)
    game = load_spot(turn())
    solver = algorithm("dcfr(gamma=4)", game, "float32", 2)
    state = solver.advance(game, solver.start(game), 1)
    expected = solver.report(game, state, "average").evaluate().nash_conv
    context = multiprocessing.get_context("fork")
    found = context.Queue()

    def evaluated():
        found.put(solver.report(game, state, "average").evaluate().nash_conv)

    child = context.Process(target=evaluated)
    child.start()
    try:
        assert found.get(timeout=30) == expected
    finally:
        child.kill()
        child.join()
    state = solver.advance(game, state, 1)  # whoever still waits is called, and leaves soon


def test_runs_of_one_game_at_the_same_time_change_no_bit():
    game, found = load_spot(turn()), []
    solver = algorithm("dcfr(gamma=4)", game, "float32")

    def solved():
        state = solver.advance(game, solver.start(game), 40)
        found.append(solver.report(game, state, "average").evaluate().nash_conv)

    solved()
    users = [threading.Thread(target=solved) for _ in range(3)]
    for user in users:
        user.start()
    for user in users:
        user.join()
    assert found == [found[0]] * 4


def test_arrays_of_an_engine_are_freed_with_its_game():
    game = load_spot(turn())
    solver = algorithm("dcfr(gamma=4)", game, "float32", 2)
    solver.advance(game, solver.start(game), 1)
    runner = weakref.ref(engine.engine(game, "float32", 2))
    assert runner() is not None
    del game, solver
    deadline = time.monotonic() + 10.0  # a thread may still wait to be called again
    while runner() is not None and time.monotonic() < deadline:
        gc.collect()
        time.sleep(0.01)
    assert runner() is None


@pytest.mark.parametrize("failing", [0, 1])
def test_a_thread_that_fails_is_not_waited_for(failing, monkeypatch):
    spot, kernel = turn(), engine.run_passes
    alone = nash_conv_of_two_threads(spot)

    def fail(*given):
        if given[-1] == (failing, 2):
            raise MemoryError("no more")
        kernel(*given)

    monkeypatch.setattr(engine, "run_passes", fail)
    with pytest.raises(MemoryError):
        nash_conv_of_two_threads(spot)
    monkeypatch.undo()
    assert nash_conv_of_two_threads(spot) == alone
