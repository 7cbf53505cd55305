"""Hold'em spots on a GPU agree with the CPU; under Numba's simulator on the smallest boards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.cuda.found import SIMULATED, found
from treeplex.holdem import Spot, load_spot, sizes_for

pytestmark = pytest.mark.skipif(not SIMULATED and found() is None, reason="needs a GPU, or NUMBA_ENABLE_CUDASIM=1")
REFERENCE = 1e-12
FIVE = sizes_for("50%, 75%, 100%, a", "60%")  # more actions than are looked at together
ONE = sizes_for("a", "a")
RIVER = Spot("Ks 9h 4d 2c 2d", 100, 200, "AA,76s:0.5", "QQ,K9s", FIVE)
SPOTS = {
    "tiny": Spot("Ks 9h 4d 2c 2d", 100, 100, "AsAh,7s6s", "QsQh,AsQs:0.5", ONE),
    "river": RIVER,
    "turn": Spot("Ks 9s 4s 2s", 100, 60, "AsKc,7s6s", "QsQd,AcKh", ONE),
    "flop": Spot("Ks 9s 4s", 100, 20, "AA", "QQ", ONE),
}


def both(spot: Spot, algorithm: str, storage: str, locks: Any = ()) -> tuple[Any, Any, Any]:
    game = load_spot(spot, locks=locks)
    cpu = build(algorithm).prepared(game, Execution("cpu", storage, 1))
    return game, cpu, build(algorithm).prepared(game, Execution("cuda", storage))


def close(ours: Any, theirs: Any) -> bool:
    if not len(theirs):
        return len(ours) == 0
    return bool(np.abs(ours.astype(np.float64) - theirs).max() <= REFERENCE * max(np.abs(theirs).max(), 1e-300))


def agree(game: Any, cpu: Any, gpu: Any, counts: tuple[int, ...] = (1, 2)) -> tuple[Any, Any]:
    state, device = cpu.start(game), gpu.start(game)
    for count in counts:
        state, device = cpu.advance(game, state, count), gpu.advance(game, device, count)
    tensors = gpu.save(device)
    assert tensors.keys() == cpu.save(state).keys()
    for name, theirs in cpu.save(state).items():
        assert close(tensors[name], theirs), name
    for iterate in ("average", "current"):
        ours = gpu.evaluate(game, gpu.strategies(game, device, iterate))
        theirs = cpu.evaluate(game, cpu.strategies(game, state, iterate))
        assert abs(ours.value - theirs.value) <= REFERENCE * game.spot.pot
        assert abs(ours.nash_conv - theirs.nash_conv) <= REFERENCE * game.spot.pot
    return state, device


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [
        ("tiny", "dcfr"),
        ("tiny", "hs-dcfr(horizon=2)"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (("river", "dcfr"), ("river", "pcfr+"), ("turn", "cfr+"))
        ),
    ],
)
def test_iterations_and_evaluations_are_those_of_the_cpu(name: str, algorithm: str) -> None:
    agree(*both(SPOTS[name], algorithm, "float64"))
