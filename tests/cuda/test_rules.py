"""Rules that are called: a GPU gives the iterates of the CPU; under Numba's simulator on the smallest games."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from treeplex.algorithms.cfr import CFR
from treeplex.algorithms.protocol import Execution
from treeplex.compile.source import compiled
from treeplex.engines.protocol import FACED
from treeplex.errors import ParameterError
from treeplex.holdem import Lock, Spot, load_spot, sizes_for
from treeplex.kernels.cuda.device import SIMULATED, find_device
from treeplex.updates.hedge import THEORY, VARIANCE, hedge
from treeplex.updates.rule import Rule
from treeplex.updates.schedules import linear
from treeplex.updates.thresholds import thresholded
from treeplex.updates.turns import ALTERNATING, SIMULTANEOUS

sys.path.insert(0, str(Path(__file__).parents[1] / "conformance"))
from rules import PLUS, SOFTMAX, TWO_ROWS, softmax

pytestmark = pytest.mark.skipif(not SIMULATED and find_device() is None, reason="needs a GPU or NUMBA_ENABLE_CUDASIM=1")
REFERENCE = {"float64": 1e-11, "float32": 1e-5}
ONE = sizes_for("a", "a")
TINY = Spot("Ks 9h 4d 2c 2d", 100, 100, "AsAh:0.83,7s6s:0.37", "QsQh:0.59,7s6s:0.93", ONE)
TURN = Spot("Ks 9s 4s 2s", 100, 20, "AsKc:0.83", "QsQd:0.59", ONE)


def started(actions: int, rows: int, constants: Any) -> Any:
    return np.arange(rows * actions, dtype=np.float64).reshape(rows, actions) * constants[0]


STARTED = Rule("started", TWO_ROWS.update, memory=2, constants=lambda size: (0.25,), start=started)


def opened(rule: Rule, game: Any, backend: str, storage: str) -> Any:
    return CFR(rule, linear(), ALTERNATING, FACED).open(game, Execution(backend, storage, 1))


def agree(ours: Any, theirs: Any, accuracy: float) -> None:
    assert ours.keys() == theirs.keys()
    for name, wanted in theirs.items():
        size = max(np.abs(wanted).max(initial=0.0), 1e-300)
        np.testing.assert_allclose(ours[name], wanted, rtol=0, atol=accuracy * size, err_msg=name)


@pytest.mark.parametrize(
    ("name", "rule", "storage"),
    [
        ("tiny", TWO_ROWS, "float64"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                ("tiny", SOFTMAX, "float32"),
                ("tiny", PLUS, "float64"),
                ("turn", SOFTMAX, "float64"),
                ("tiny", STARTED, "float64"),
                ("tiny", hedge(VARIANCE, 0.5), "float64"),
                ("tiny", thresholded(TWO_ROWS, 0.5), "float64"),
            )
        ),
    ],
)
def test_hands_learn_as_on_the_cpu(name: str, rule: Rule, storage: str) -> None:
    spot = {"tiny": TINY, "turn": TURN}[name]
    game = load_spot(spot)
    cpu, gpu = opened(rule, game, "cpu", storage), opened(rule, game, "cuda", storage)
    state, device = cpu.start(game), gpu.start(game)
    for count in (1,) if name == "turn" else (1, 2):
        state, device = cpu.advance(game, state, count), gpu.advance(game, device, count)
    agree(gpu.save(device), cpu.save(state), REFERENCE[storage])
    for iterate in ("average", "current"):
        ours, theirs = (s.report(game, now, iterate).evaluate() for s, now in ((gpu, device), (cpu, state)))
        assert abs(ours.nash_conv - theirs.nash_conv) <= REFERENCE[storage] * spot.pot
    if name == "turn":  # under the simulator a pass takes a minute
        return
    back = gpu.advance(game, gpu.restore(game, cpu.save(state)), 1)
    agree(gpu.save(back), cpu.save(cpu.advance(game, state, 1)), REFERENCE[storage])


@pytest.mark.slow
def test_locked_hands_play_what_they_are_told() -> None:
    some = Lock("", {"AsAh": {"check": 0.25, "all-in 100": 0.75}})
    game = load_spot(TINY, locks=(some, Lock("x", {"all": {"check": 0.5, "all-in 100": 0.5}})))
    cpu, gpu = opened(TWO_ROWS, game, "cpu", "float64"), opened(TWO_ROWS, game, "cuda", "float64")
    agree(gpu.save(gpu.advance(game, gpu.start(game), 2)), cpu.save(cpu.advance(game, cpu.start(game), 2)), 1e-11)


def broken(t: float, values: Any, strategy: Any, memory: Any) -> None:
    softmax(t, values, strategy, memory)
    strategy[0] += 0.5


@pytest.mark.slow
def test_a_rule_that_leaves_no_strategy_ends_the_run() -> None:
    game = load_spot(TINY)
    gpu = opened(Rule("broken", broken), game, "cuda", "float64")
    with pytest.raises(ParameterError, match=r"'broken' must leave probabilities .* in iteration 1"):
        gpu.advance(game, gpu.start(game), 1)


FORMS: dict[str, dict[str, Any]] = {
    "one block": {},
    "phases": {"SMALL": 0, "CROWN": 2},
    "dealt": {"HANDS": 0, "LEAST": 0, "SMALL": 0, "CROWN": 2},
    "steps": {"SMALL": 0, "CROWN": 0, "width": lambda n, infosets: 32},
}


@pytest.mark.parametrize(
    ("name", "rule", "form", "storage"),
    [
        ("kuhn", TWO_ROWS, "phases", "float64"),
        ("kuhn", hedge(VARIANCE, 0.5), "one block", "float64"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                ("kuhn", SOFTMAX, "one block", "float64"),
                ("kuhn", hedge(THEORY), "phases", "float64"),
                ("kuhn", thresholded(TWO_ROWS, 0.5), "phases", "float64"),
                ("random_tree(seed=3,depth=3)", TWO_ROWS, "steps", "float64"),
                ("random_tree(seed=3,depth=3)", STARTED, "one block", "float32"),
                ("kuhn", STARTED, "steps", "float64"),
                ("one_card_poker(deck=17)", PLUS, "dealt", "float64"),
            )
        ),
    ],
)
@pytest.mark.parametrize("turns", [ALTERNATING, SIMULTANEOUS])
def test_infosets_learn_as_on_the_cpu(
    name: str, rule: Rule, form: str, storage: str, turns: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    from treeplex.engines.sequence.cuda import dealt, layout, plan  # noqa: PLC0415 - not without numba.cuda

    for key, value in FORMS[form].items():
        monkeypatch.setattr(next(room for room in (layout, plan, dealt) if hasattr(room, key)), key, value)
    game = compiled(name)
    cpu, gpu = (CFR(rule, linear(), turns).open(game, Execution(backend, storage, 1)) for backend in ("cpu", "cuda"))
    state, device = cpu.start(game), gpu.start(game)
    for count in (1, 2):
        state, device = cpu.advance(game, state, count), gpu.advance(game, device, count)
    agree(gpu.save(device), cpu.save(state), REFERENCE[storage])
    ours, theirs = (s.report(game, now, "average").evaluate() for s, now in ((gpu, device), (cpu, state)))
    assert abs(ours.nash_conv - theirs.nash_conv) <= 1e-5 * game.largest_payoff * game.unit
    back = gpu.advance(game, gpu.restore(game, cpu.save(state)), 1)
    agree(gpu.save(back), cpu.save(cpu.advance(game, state, 1)), REFERENCE[storage])
