"""Iterates 1 to 5 of hold'em in every storage, three ways: compiled kernels, NumPy reference, and stored numbers.

Each iteration of the kernels starts from what the reference kept, so that rounding errors do not add up; whatever it
keeps itself is compared, on every board. The numbers of traces.json are strategies, averages and current ones, of the
reference; kernels that run by themselves are held against them as well. Write them again after a deliberate change with

    python tests/holdem/test_traces.py

and print one checksum per case, of every bit the kernels keep after iteration 5, with

    python tests/holdem/test_traces.py --bits
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pytest

from treeplex.algorithms.cfr import CFR
from treeplex.engines.boards.reference import Key, Memory, Rules, iterate, locked_hands, new_memory, normalise, strategy
from treeplex.engines.boards.tables import HandTables
from treeplex.games.holdem.cards import hand_name, parse_card
from treeplex.holdem import HoldemGame, Lock, Spot, load_spot
from treeplex.updates.storage import lattice

sys.path.insert(0, str(Path(__file__).parent))
from places import Rows, algorithm, all_rows
from twin import RIVER, TURN, columns_of, key_of, lines, numbers_of, remembered, rules_of

STORED = Path(__file__).with_name("traces.json")
ITERATIONS = 5
LARGEST = 32767.0  # what the largest number of a decision is kept as in 16 bits

RAKED = replace(RIVER, rake_rate=0.05, rake_cap=7.0)
LOCK = Lock("check, bet 50", {"all": {"fold": 1.0}, "AsAh": {"call": 0.75, "all-in 130": 0.25}, "9s8s": {"call": 1.0}})
PART = Lock("check, bet 50", {"AsAh": {"call": 0.75, "all-in 130": 0.25}, "9s8s": {"call": 1.0}})
SPOTS = {"river": RIVER, "turn": TURN, "river-raked": RAKED, "river-locked": RIVER, "river-part-locked": RIVER}
LOCKS = {"river-locked": (LOCK,), "river-part-locked": (PART,)}
WATCHED = ((), ("2c",), ("Qh",))  # cards dealt after the start, on boards whose strategies are stored

PLAIN = ("cfr", "cfr+", "cfr+(delay=2)", "lcfr", "dcfr", "dcfr(gamma=4)")
PREDICTIVE = ("pcfr+", "pdcfr+")  # not in 16 bits
CASES = [
    (spot, storage, name)
    for storage in ("float64", "float32", "int16")
    for spot, names in (
        ("river", PLAIN + PREDICTIVE),
        ("turn", PLAIN + PREDICTIVE if storage != "float32" else ("dcfr(gamma=4)", "pdcfr+")),
        ("river-raked", ("dcfr(gamma=4)",)),
        ("river-locked", ("dcfr(gamma=4)",)),
        ("river-part-locked", ("dcfr(gamma=4)", "pdcfr+")),
    )
    for name in names
    if storage != "int16" or name not in PREDICTIVE
]


class Case(NamedTuple):
    """A spot, how it is solved, and the reference's rules for both."""

    spot: Spot
    game: HoldemGame
    solver: CFR
    rules: Rules
    ways: dict[int, tuple[Any, ...]]

    def rows(self, arrays: Any) -> list[tuple[Key, Rows]]:
        """The kernels' rows of all decisions, without hands that are locked, with the reference's name for them."""
        found = [(key_of(self.spot, rows, self.ways), rows) for rows in all_rows(self.game, arrays)]
        return [
            (key, self.free(key, rows)) for key, rows in found if key not in self.rules.locked or not self.whole(key)
        ]

    def whole(self, key: Key) -> bool:
        """Are all hands of a decision locked?"""
        return bool(locked_hands(self.rules, key).all())

    def free(self, key: Key, rows: Rows) -> Rows:
        """The rows of hands that are not locked."""
        if key not in self.rules.locked:
            return rows
        first, second = np.flatnonzero(~locked_hands(self.rules, key)[columns_of(self.spot, rows)]).tolist()
        free = slice(first, second + 1, second - first)  # a view that can be written to
        return rows._replace(numbers=rows.numbers[:, free], hands=rows.hands[free])

    def watched(self, arrays: Any) -> list[tuple[Key, Rows]]:
        """Those whose strategies are stored."""
        dealt = [tuple(parse_card(card) for card in cards) for cards in WATCHED]
        return [(key, rows) for key, rows in self.rows(arrays) if rows.cards[len(self.spot.cards) :] in dealt]


def dither_of(spot: Spot, game: HoldemGame, ways: dict[int, tuple[Any, ...]]) -> Any:
    """What 16-bit numbers of the reference are rounded with: u of the place where the kernels keep them."""
    none = [np.zeros(sum(learner.regret.size for learner in algorithm("cfr", game).start(game).learners))] * 2
    kept = {key_of(spot, rows, ways): rows for rows in all_rows(game, none)}

    def dither(key: Key, t: int, array: int) -> Any:
        rows = kept[key]
        actions = len(rows.decision.node.actions)
        u = lattice(rows.start, t, array, actions * rows.width).reshape(actions, rows.width)
        placed = np.full((actions, len(numbers_of(spot, key[0]))), 0.5)
        placed[:, columns_of(spot, rows)] = u[:, : len(rows.hands)]
        return placed

    return dither


def make_case(which: str, storage: str, name: str) -> Case:
    """Locks and pruning are those of the kernels."""
    spot = SPOTS[which]
    locks = LOCKS.get(which, ())
    game = load_spot(spot, locks=locks)
    solver = algorithm(name, game, storage)
    rules = rules_of(spot, solver, storage=storage, prune=not solver.rule.predict)
    if locks:
        hands = [hand_name(int(hand)) for hand in numbers_of(spot, 0)]
        probabilities = {"AsAh": (0.0, 0.75, 0.25), "9s8s": (0.0, 1.0, 0.0)}  # fold, call, all-in
        rest = (1.0, 0.0, 0.0) if which == "river-locked" else (0.0, 0.0, 0.0)  # which stay free
        table = np.array([probabilities.get(hand, rest) for hand in hands]).T
        rules = rules._replace(locked={(0, spot.cards, (0, 1)): table})
    ways = lines(game)
    if storage == "int16":
        rules = rules._replace(dither=dither_of(spot, game, ways))
    return Case(spot, game, solver, rules, ways)


@pytest.fixture(scope="module", params=CASES, ids="-".join)
def case(request) -> Case:
    return make_case(*request.param)


@pytest.fixture(scope="module", autouse=True)
def quick_tables() -> Iterator[None]:
    """The reference is slow where it writes out a table of hands against hands for every terminal of every river."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("treeplex.engines.boards.reference.terminal", remembered)
        yield


# --- one iteration of the kernels from what the reference kept -----------------------------------------------------

# Kernels compute in float64, or in float32 with 24 bits. About 30 roundings go into a number; they are as large as the
# largest amount that is added up: the largest number of the decision and, for regrets, a pot, for averages, a weight.
ERROR = {"float64": 32 * 2.0**-53, "float32": 32 * 2.0**-24, "int16": 32 * 2.0**-24}
# 16-bit numbers computed with an error of about ten float32 roundings, 0.02 of a unit, round to the other side of a
# half in 4 of 100 cases. Cutting off instead of rounding changes every second one.
ROUNDED_OTHERWISE = 0.05


def test_kernels_follow_the_reference(case) -> None:
    memory, state, same = new_memory(), case.solver.start(case.game), []
    for t in range(1, ITERATIONS + 1):
        iterate(case.rules, memory, t)
        state = case.solver.advance(case.game, state, 1)
        for kind in ("regret", "average", "predicted") if case.rules.predict else ("regret", "average"):
            same += compare(case, memory, state, kind, t)
    if case.solver.storage == "int16":
        assert len(same) > 200
        assert np.mean(same) >= 1.0 - ROUNDED_OTHERWISE


def compare(case: Case, memory: Memory, state: HandTables, kind: str, t: int) -> list[bool]:
    """Hold the kernels' numbers against the reference's, then put the reference's in their place.

    Returns which 16-bit numbers are equal, of those that are neither 0 nor as large as can be.
    """
    same: list[bool] = []
    for key, rows in case.rows([getattr(learner, kind) for learner in state.learners]):
        learner = state.learners[rows.decision.player]
        if kind == "regret":
            assert learner.last[rows.place] == memory.last.get(key, 0), (t, key)
        kept = getattr(memory, kind).get(key)
        if kept is None:
            assert not rows.numbers.any(), (t, key)
            continue
        theirs = kept.numbers[:, columns_of(case.spot, rows)]
        top = float(np.abs(kept.value).max())
        error = ERROR[case.solver.storage] * max(top, case.rules.weight(t) if kind == "average" else case.spot.pot)
        if case.solver.storage != "int16":
            np.testing.assert_allclose(rows.numbers, theirs, rtol=0, atol=error, err_msg=f"{kind} {t} {key}")
        else:
            scales = getattr(learner, f"{kind}_scale")
            assert abs(float(scales[rows.place]) * LARGEST - top) <= error, (kind, t, key)
            if top > 100 * error:  # otherwise there is little but rounding errors
                away = np.abs(rows.numbers.astype(np.int64) - theirs)
                assert away.max() <= 1 + LARGEST * error / top, (kind, t, key)
                same += (away == 0)[(theirs != 0) & (np.abs(theirs) < LARGEST)].tolist()
            scales[rows.place] = kept.scale
        rows.numbers[...] = theirs
    return same


# --- strategies 1 to 5, stored -------------------------------------------------------------------------------------

Trace = list[dict[str, list[float]]]
"""For each iteration: average and current strategies, decision by decision, action by action, hands by number."""


def reference_trace(case: Case, rules: Rules | None = None) -> Trace:
    """By the reference alone."""
    memory, trace = new_memory(), []
    used = rules or case.rules
    for t in range(1, ITERATIONS + 1):
        iterate(used, memory, t)
        row: dict[str, list[float]] = {"average": [], "current": []}
        for key, rows in case.watched([learner.regret for learner in case.solver.start(case.game).learners]):
            columns = np.sort(columns_of(case.spot, rows))
            size = (len(rows.decision.node.actions), len(numbers_of(case.spot, rows.decision.player)))
            average = normalise(memory.average[key].value if key in memory.average else np.zeros(size))
            row["average"] += average[:, columns].ravel().tolist()
            row["current"] += strategy(used, memory, key, size)[:, columns].ravel().tolist()
        trace.append(row)
    return trace


def compiled_trace(case: Case) -> Trace:
    """As users get it: kernels that go on from their own numbers."""
    state, trace = case.solver.start(case.game), []
    for _ in range(ITERATIONS):
        state = case.solver.advance(case.game, state, 1)
        row: dict[str, list[float]] = {}
        for kind in ("average", "current"):
            arrays = case.solver.report(case.game, state, kind).arrays
            found = [
                normalise(rows.numbers[:, np.argsort(rows.hands)].astype(float)) for _, rows in case.watched(arrays)
            ]
            row[kind] = np.concatenate([x.ravel() for x in found]).tolist()
        trace.append(row)
    return trace


def flat(trace: Trace) -> Any:
    """[iteration, probability] of a trace."""
    return np.array([[*row["average"], *row["current"]] for row in trace])


def stored_trace(which: str, storage: str, name: str) -> Any:
    """float32 is not stored by itself: its strategies are those of float64 but for the last digits."""
    kept = json.loads(STORED.read_text(encoding="utf-8"))
    return flat(kept[which]["float64" if storage == "float32" else storage][name])


DIGITS = 8
MOVED = {"float64": 1e-10, "float32": 1e-4, "int16": 1e-4}
"""How far strategies may move if weights of hands change in the last digits of a computation. One unit of 32,767 in a
regret is 3e-5 of the largest; regrets of float32 that are small differences have lost as many digits."""


@pytest.mark.parametrize("which", CASES, ids="-".join)
def test_the_reference_has_not_changed(which) -> None:
    found, kept = flat(reference_trace(make_case(*which))), stored_trace(*which)
    error = MOVED["float32"] if which[1] == "float32" else 10.0**-DIGITS
    np.testing.assert_allclose(found, kept, rtol=0, atol=error)


COMPARED = [which for which in CASES if which[0] != "turn" or which[1] == "float64"]


@pytest.mark.parametrize("which", COMPARED, ids="-".join)
def test_kernels_by_themselves_give_the_stored_strategies(which) -> None:
    """On a turn only in float64: on some rivers two actions are worth the same, and float32 tells them apart."""
    found, kept = flat(compiled_trace(make_case(*which))), stored_trace(*which)
    np.testing.assert_allclose(found, kept, rtol=0, atol=MOVED[which[1]] + 10.0**-DIGITS)


def test_every_case_is_stored_and_all_differ() -> None:
    kept = json.loads(STORED.read_text(encoding="utf-8"))
    cases = {
        (which, storage, name) for which, storages in kept.items() for storage in storages for name in storages[storage]
    }
    assert cases == {case for case in CASES if case[1] != "float32"}
    traces = {case: stored_trace(*case) for case in cases}
    for which, storage, name in cases:
        for other in PLAIN + PREDICTIVE:
            if other != name and (which, storage, other) in cases:
                assert np.abs(traces[which, storage, name] - traces[which, storage, other]).max() > 1e-2
        if storage == "int16":  # what rounding to 16 bits does can be seen in the digits that are stored
            assert np.abs(traces[which, storage, name] - traces[which, "float64", name]).max() > 10 * 10.0**-DIGITS


# --- writing -------------------------------------------------------------------------------------------------------


def settled_trace(which: tuple[str, str, str]) -> Trace:
    """The reference's; refused if it depends on rounding: weights that differ in their last digits must not matter."""
    case, rng = make_case(*which), np.random.default_rng(0)
    trace = reference_trace(case)
    few = 5e-4 if which[1] == "int16" else 1e-4  # a unit up or down, where few are positive
    for size, moved in ((1e-12, MOVED["float64"]), (1e-6, few)):
        if size == 1e-6 and which not in COMPARED:
            continue  # no kernel computes these in float32 without the reference's numbers
        for _ in range(5):
            first, second = (w * (1.0 + size * rng.standard_normal(len(w))) for w in case.rules.weights)
            other = reference_trace(case, case.rules._replace(weights=(first, second)))
            if np.abs(flat(other) - flat(trace)).max() > moved:
                raise ValueError(f"rounding decides in {which}; choose other weights")
    return [{kind: [round(x, DIGITS) for x in row[kind]] for kind in row} for row in trace]


def checksum(which: tuple[str, str, str]) -> str:
    """Of everything the kernels keep."""
    case = make_case(*which)
    state = case.solver.advance(case.game, case.solver.start(case.game), ITERATIONS)
    arrays = [np.ascontiguousarray(array).tobytes() for learner in state.learners for array in learner]
    return hashlib.sha256(b"".join(arrays)).hexdigest()[:16]


if __name__ == "__main__":
    if sys.argv[1:] == ["--bits"]:
        for which in CASES:
            print(*which, checksum(which))
    else:
        traces: dict[str, dict[str, dict[str, Trace]]] = {}
        for which in CASES:
            if which[1] != "float32":
                traces.setdefault(which[0], {}).setdefault(which[1], {})[which[2]] = settled_trace(which)
        text = json.dumps(traces, separators=(",", ":")).replace('{"average"', '\n{"average"').replace(".0,", ",")
        STORED.write_text(text + "\n", encoding="utf-8")
