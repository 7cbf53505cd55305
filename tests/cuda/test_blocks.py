"""Averages in float32 are added up in blocks on a GPU, too: as on the CPU, and as in one sum where that is exact."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.compile.source import compiled
from treeplex.holdem import Lock, Spot, load_spot, sizes_for
from treeplex.kernels.cuda.device import SIMULATED, find_device
from treeplex.updates import blocks

pytestmark = pytest.mark.skipif(not SIMULATED and find_device() is None, reason="needs a GPU or NUMBA_ENABLE_CUDASIM=1")
RIVER = Spot("Ks 9h 4d 2c 2d", 100, 100, "AsAh,7s6s,QsQh", "QsQh,AsQs:0.5,7s6s,JdJh", sizes_for("a", "a"))
LOCKED = Lock("", {"AsAh": {"check": 0.25, "all-in 100": 0.75}})


def game_of(name: str) -> Any:
    if name == "locked":
        return load_spot(RIVER, locks=(LOCKED,))
    return load_spot(RIVER) if name == "river" else compiled(name)


def test_a_block_ends_as_on_the_cpu() -> None:
    from treeplex.kernels.cuda.memory import add, fetch, fold, send  # noqa: PLC0415 - not without numba.cuda

    draws = np.random.default_rng(1)
    total, block = (draws.random(70).astype(np.float32) * np.float32(size) for size in (1e6, 1e3))
    there, here = send(total), send(block)
    fold(there, here, blocks.BELOW, 0)
    blocks.fold(total, block)
    np.testing.assert_array_equal(fetch(there), total)
    np.testing.assert_array_equal(fetch(here), block)
    out = send(np.zeros_like(total))
    add(out, there, here, 0)
    np.testing.assert_array_equal(fetch(out), total + block)


def shorten(monkeypatch: pytest.MonkeyPatch) -> None:
    """Blocks of two iterations, from the first on."""
    monkeypatch.setattr(blocks, "BEGIN", 0)
    monkeypatch.setattr(blocks, "LENGTH", 2)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("name", "algorithm"),
    [
        ("kuhn", "cfr+"),
        ("kuhn", "hs-pcfr+(horizon=2)"),
        ("kuhn", "dcfr(turns=simultaneous)"),
        ("river", "hs-dcfr(horizon=2)"),
        ("river", "pcfr+"),
    ],
)
def test_averages_are_those_of_one_sum(name: str, algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """After a block and a half; the state is saved and restored in between."""
    game = game_of(name)
    gpu: Any = build(algorithm).open(game, Execution("cuda", "float32"))
    cpu: Any = build(algorithm).open(game, Execution("cpu", "float32", 1))
    plain = gpu.advance(game, gpu.start(game), 3)
    one, wanted = gpu.report(game, plain, "average").evaluate(), gpu.save(plain)
    shorten(monkeypatch)
    state = gpu.restore(game, gpu.save(gpu.advance(game, gpu.start(game), 2)))
    state = gpu.advance(game, state, 1)
    kept = gpu.save(state)
    for player in (0, 1):
        average = wanted[f"state.learners.{player}.average"]
        sums = kept[f"state.earlier.{player}"] + kept[f"state.learners.{player}.average"]
        np.testing.assert_allclose(sums, average, rtol=1e-6, atol=1e-6 * average.max())
    there = cpu.restore(game, kept)
    found = [gpu.report(game, state, "average").evaluate() for _ in range(2)]  # launched, and recorded
    found.append(gpu.report(game, state, "average").host().evaluate())
    found.append(cpu.report(game, there, "average").evaluate())
    assert [each.nash_conv for each in found] == pytest.approx([one.nash_conv] * 4, rel=1e-4)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "algorithm"), [("kuhn", "pdcfr+"), ("river", "dcfr"), ("locked", "cfr+")])
def test_a_run_in_pieces_has_the_bits_of_one(name: str, algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    shorten(monkeypatch)
    game = game_of(name)
    gpu: Any = build(algorithm).open(game, Execution("cuda", "float32"))
    whole = gpu.save(gpu.advance(game, gpu.start(game), 5))
    pieces = gpu.save(gpu.advance(game, gpu.advance(game, gpu.start(game), 3), 2))
    assert "state.earlier.0" in whole
    for key, array in whole.items():
        np.testing.assert_array_equal(pieces[key], array)
