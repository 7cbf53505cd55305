"""Rules that are called, on hold'em spots: each iterate against plain Python in the recursion of ``boards.reference``.

After every iteration the kernels go on from the reference's numbers, as in ``tests/holdem/test_reference.py``.
"""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import numba
import numpy as np
import pytest

from treeplex.algorithms.cfr import CFR
from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.engines.boards.reference import iterate, new_memory, normalise
from treeplex.engines.boards.tables import value_range
from treeplex.engines.protocol import FACED
from treeplex.errors import ParameterError
from treeplex.holdem import HoldemGame, Lock, Spot, load_spot, sizes_for
from treeplex.updates.adaptive import adaptive
from treeplex.updates.hedge import VARIANCE, hedge
from treeplex.updates.rule import Rule
from treeplex.updates.schedules import linear
from treeplex.updates.thresholds import thresholded
from treeplex.updates.turns import ALTERNATING, SIMULTANEOUS

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[1] / "holdem"))
from places import Rows, all_rows
from rules import FUNCTIONS, PLUS, SOFTMAX, TWO_ROWS, softmax
from twin import RIVER, TURN, columns_of, key_of, lines, numbers_of, rules_of


def started(actions: int, rows: int, constants: Any) -> Any:
    return np.arange(rows * actions, dtype=np.float64).reshape(rows, actions) * constants[0] * 100.0


def plain_softmax(t: float, values: Any, strategy: Any, memory: Any, constants: Any) -> None:
    total = 0.0
    for a in range(len(values)):
        memory[0, a] += values[a]
        strategy[a] = np.exp(memory[0, a] / constants[0])
        total += strategy[a] + memory[1, a]
    for a in range(len(values)):
        strategy[a] = (strategy[a] + memory[1, a]) / total


STARTED = Rule("started", plain_softmax, memory=2, constants=lambda size: (size, 1.0), start=started)
RULES = (*FUNCTIONS, STARTED, adaptive(5.0), hedge(VARIANCE, 0.5), thresholded(TWO_ROWS, 0.5))
SPOTS = {"river": RIVER, "turn": TURN}
STORAGES = {"float64": 1e-11, "float32": 1e-5}


def opened(rule: Any, game: HoldemGame, storage: str = "float64", threads: int = 1) -> Any:
    return CFR(rule, linear(), ALTERNATING, FACED).open(game, Execution(storage=storage, threads=threads))


def memory_of(rows: Rows, rule: Rule, regret: Any) -> Any:
    """[rows, actions, hands] a view of what a decision remembers."""
    actions, count = rows.numbers.shape
    begin, size = rule.memory * rows.start, rule.memory * actions * rows.width
    return regret[begin : begin + size].reshape(rule.memory, actions, rows.width)[:, :, :count]


def check(spot: Spot, rule: Rule, storage: str, iterations: int, locks: Any = ()) -> None:
    game = load_spot(spot, locks=locks)
    solver = opened(rule, game, storage)
    found, ways = solver.start(game), lines(game)
    sizes = value_range(game, 0), value_range(game, 1)
    first, second = (rule.constants_of(size) for size in sizes)
    rules = rules_of(spot, solver, rule=rule, constants=(first, second), storage=storage)
    if locks:
        rules = rules._replace(locked=locked_rows(spot, game, found, ways))
    memory, accuracy = new_memory(), STORAGES[storage]
    for t in range(1, iterations + 1):
        iterate(rules, memory, t)
        found = solver.advance(game, found, 1)
        compared = 0
        for kind in ("predicted", "average"):
            for rows in all_rows(game, [getattr(learner, kind) for learner in found.learners]):
                key = key_of(spot, rows, ways)
                kept, columns = getattr(memory, kind).get(key), columns_of(spot, rows)
                if kept is None:
                    continue
                free = ~held(rules, key)[columns]
                theirs, ours = kept.value[:, columns][:, free], rows.numbers[:, free]
                scale = max(np.abs(theirs).max(initial=0.0), 1.0)
                np.testing.assert_allclose(ours, theirs, rtol=0, atol=accuracy * scale, err_msg=f"{kind} {t}")
                rows.numbers[:, free] = theirs
                compared += theirs.size
                if kind == "predicted":
                    own = memory_of(rows, rule, found.learners[rows.decision.player].regret)
                    other = memory.regret[key].value[:, :, columns]
                    scale = max(np.abs(other).max(initial=0.0), spot.pot)
                    ours, wanted = own[:, :, free], other[:, :, free]
                    np.testing.assert_allclose(ours, wanted, rtol=0, atol=accuracy * scale, err_msg=f"memory {t}")
                    own[...] = other
                    compared += other.size
        assert compared > 100


def held(rules: Any, key: Any) -> Any:
    locked = rules.locked.get(key)
    return np.zeros(len(rules.hands[key[0]]), np.bool_) if locked is None else locked.sum(axis=0) > 0.0


def locked_rows(spot: Spot, game: HoldemGame, found: Any, ways: Any) -> Any:
    """What locks have written before the first iteration: strategies are zero elsewhere."""
    locked = {}
    for rows in all_rows(game, [learner.predicted.copy() for learner in found.learners]):
        if rows.numbers.any():
            table = np.zeros((len(rows.numbers), len(numbers_of(spot, rows.decision.player))))
            table[:, columns_of(spot, rows)] = rows.numbers
            locked[key_of(spot, rows, ways)] = table
    return locked


@pytest.mark.parametrize("storage", STORAGES)
@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.name)
@pytest.mark.parametrize("name", SPOTS)
def test_iterates_are_those_of_plain_python(name: str, rule: Rule, storage: str) -> None:
    check(SPOTS[name], rule, storage, 5 if name == "river" else 2)


@pytest.mark.parametrize("rule", [SOFTMAX, TWO_ROWS, STARTED], ids=lambda rule: rule.name)
def test_locked_hands_play_what_they_are_told(rule: Rule) -> None:
    """Some hands of one decision, all hands of another."""
    some = Lock("", {"AsAh": {"check": 0.25, "bet 50": 0.75}})
    check(RIVER, rule, "float64", 3, (some, Lock("x", {"all": {"check": 0.5, "bet 50": 0.5}})))


@pytest.mark.parametrize("storage", STORAGES)
def test_regret_matching_plus_as_a_function_is_that_of_the_family(storage: str) -> None:
    """Up to rounding: the family adds regrets in vectors and keeps them, not strategies. Averages tell most."""
    game = load_spot(RIVER)
    ours, theirs = opened(PLUS, game, storage), build("cfr+").open(game, Execution(storage=storage, threads=1))
    one, two = ours.advance(game, ours.start(game), 5), theirs.advance(game, theirs.start(game), 5)
    for iterate_name in ("average", "current"):
        first, second = (
            solver.report(game, state, iterate_name).profile.arrays for solver, state in ((ours, one), (theirs, two))
        )
        for a, b in zip(all_rows(game, first), all_rows(game, second), strict=True):
            accuracy = 1e5 * np.finfo(storage).eps
            np.testing.assert_allclose(
                normalise(a.numbers.astype(np.float64)), normalise(b.numbers.astype(np.float64)), rtol=0, atol=accuracy
            )


def bits(state: Any) -> list[bytes]:
    return [array.tobytes() for learner in state.learners for array in learner]


def test_threads_change_no_bit() -> None:
    game = load_spot(replace(TURN, oop_range="AA,KQs,77", ip_range="AK,QJs,88"))
    one, two = opened(TWO_ROWS, game, threads=1), opened(TWO_ROWS, game, threads=2)
    assert bits(one.advance(game, one.start(game), 4)) == bits(two.advance(game, two.start(game), 4))


def test_a_run_goes_on_as_if_it_had_not_been_saved() -> None:
    game = load_spot(RIVER)
    solver = opened(STARTED, game)
    straight = solver.advance(game, solver.start(game), 6)
    half = solver.save(solver.advance(game, solver.start(game), 3))
    assert bits(solver.advance(game, solver.restore(game, half), 3)) == bits(straight)
    report = solver.report(game, straight, "average")
    assert report.evaluate().nash_conv > 0.0
    assert sum(report.extras(report.evaluate()).root_strategy.values()) == pytest.approx(1.0)


def test_what_is_counted_is_what_is_allocated() -> None:
    game = load_spot(RIVER)
    solver = opened(TWO_ROWS, game)
    plain = build("cfr+").open(game, Execution(storage="float64", threads=1))
    more, less = (sum(a.nbytes for each in s.start(game).learners for a in each) for s in (solver, plain))
    assert solver.engine.memory(solver.scheme) - plain.engine.memory(plain.scheme) == more - less


def test_sixteen_bits_and_simultaneous_updates_are_refused() -> None:
    game = load_spot(RIVER)
    with pytest.raises(ParameterError, match=r"must be float64 or float32 with the rule 'softmax', got 'int16'"):
        opened(SOFTMAX, game, "int16")
    with pytest.raises(ParameterError, match="alternating"):
        CFR(SOFTMAX, linear(), SIMULTANEOUS, FACED).open(game, Execution())


def outside(t: float, values: Any, strategy: Any, memory: Any) -> None:
    softmax(t, values, strategy, memory)
    if t > 2.0:
        memory[1, 0] = 1.0


def broken(t: float, values: Any, strategy: Any, memory: Any) -> None:
    softmax(t, values, strategy, memory)
    if t > 2.0:
        strategy[0] += 0.5


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize(("update", "said"), [(outside, "out of bounds"), (broken, "add up to 1")])
def test_a_rule_that_fails_ends_the_run(update: Any, said: str, threads: int) -> None:
    inner = numba.njit(softmax)
    copy = type(update)(update.__code__, {**update.__globals__, "softmax": inner}, update.__name__)
    game = load_spot(Spot("Ks 9h 6d 3h", 60, 50, "AhQh,KcQc", "AsKd,QhJh", sizes_for("a", "")))
    solver = opened(Rule(update.__name__, copy), game, threads=threads)
    state = solver.advance(game, solver.start(game), 2)
    with pytest.raises(ParameterError, match=rf"{update.__name__}.*{said}.*") as error:
        solver.advance(game, state, 4)
    assert ("in iteration 3." if update is broken else "in iterations 3 to 6") in str(error.value)
