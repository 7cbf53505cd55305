"""Hold'em spots on a GPU agree with the CPU; under Numba's simulator on the smallest boards."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.holdem import Lock, Spot, load_spot, sizes_for
from treeplex.kernels.cuda.device import SIMULATED, find_device

pytestmark = pytest.mark.skipif(not SIMULATED and find_device() is None, reason="needs a GPU or NUMBA_ENABLE_CUDASIM=1")
REFERENCE = 1e-12
FIVE = sizes_for("50%, 75%, 100%, a", "60%")  # more actions than are looked at together
ONE = sizes_for("a", "a")
RIVER = Spot("Ks 9h 4d 2c 2d", 100, 200, "AA,76s:0.5", "QQ,K9s", FIVE)
SPOTS = {
    "tiny": Spot(
        "Ks 9h 4d 2c 2d", 100, 100, "AsAh,7s6s,QsQh", "QsQh,AsQs:0.5,7s6s,JdJh", ONE
    ),  # equal hands, and five cards
    "river": RIVER,
    "classes": Spot("Ks 9s 4s 2s", 100, 20, "AsKc,7s6s", "QsQd,AcKh", ONE, board_classes=True),
    "turn": Spot("Ks 9s 4s 2s", 100, 60, "AsKc,7s6s", "QsQd,AcKh", ONE),
    "flop": Spot("Ks 9s 4s", 100, 20, "AA", "QQ", ONE),
}


def both(spot: Spot, algorithm: str, storage: str, locks: Any = ()) -> tuple[Any, Any, Any]:
    game = load_spot(spot, locks=locks)
    cpu = build(algorithm).open(game, Execution("cpu", storage, 1))
    return game, cpu, build(algorithm).open(game, Execution("cuda", storage))


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
        ours = gpu.report(game, device, iterate).evaluate()
        theirs = cpu.report(game, state, iterate).evaluate()
        assert abs(ours.value - theirs.value) <= REFERENCE * game.spot.pot
        assert abs(ours.nash_conv - theirs.nash_conv) <= REFERENCE * game.spot.pot
    return state, device


@pytest.mark.parametrize(
    ("name", "algorithm"),
    [
        ("tiny", "dcfr"),
        *(
            pytest.param(*case, marks=pytest.mark.slow)
            for case in (
                ("tiny", "hs-dcfr(horizon=2)"),
                ("river", "dcfr"),
                ("river", "pcfr+"),
                ("turn", "cfr+"),
                ("classes", "dcfr"),
            )
        ),
    ],
)
def test_iterations_and_evaluations_are_those_of_the_cpu(name: str, algorithm: str) -> None:
    agree(*both(SPOTS[name], algorithm, "float64"))


@pytest.mark.slow
@pytest.mark.parametrize("algorithm", ["dcfr", "pcfr+"])
def test_locked_hands_are_those_of_the_cpu(algorithm: str) -> None:
    """Some hands of one decision, all hands of another."""
    some = Lock("", {"AsAh": {"check": 0.25, "all-in 100": 0.75}})
    whole = Lock("x", {"all": {"check": 0.5, "all-in 100": 0.5}})
    game, cpu, gpu = both(SPOTS["tiny"], algorithm, "float64", (some, whole))
    state, _ = agree(game, cpu, gpu, (1, 3))
    free = cpu.open(load_spot(SPOTS["tiny"]), Execution("cpu", "float64", 1))
    plain = load_spot(SPOTS["tiny"])
    alone = free.advance(plain, free.start(plain), 4)
    assert not close(state.learners[0].average, alone.learners[0].average)


@pytest.mark.slow
@pytest.mark.parametrize("name", ["tiny", "turn"])
def test_sixteen_bits_are_those_of_the_cpu(name: str) -> None:
    """Dithers are the same; a number that rounding puts on the other side of a step is off by one."""
    game, cpu, gpu = both(SPOTS[name], "dcfr", "int16")
    state, device = cpu.start(game), gpu.start(game)
    for count in (1, 2):
        state, device = cpu.advance(game, state, count), gpu.advance(game, device, count)
    ours, theirs = gpu.save(device), cpu.save(state)
    assert ours.keys() == theirs.keys()
    for key, wanted in theirs.items():
        got = ours[key]
        if wanted.dtype == np.int16:
            apart = np.abs(got.astype(np.int64) - wanted)
            assert apart.max(initial=0) <= 1
            assert (apart > 0).sum() <= 0.02 * apart.size
        else:
            assert np.allclose(got, wanted, rtol=1e-5)
