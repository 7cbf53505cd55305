"""The CFR family and evaluations on a GPU agree with the CPU; under Numba's simulator in the smallest games."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.compile.source import compiled
from treeplex.kernels.cuda.device import SIMULATED, find_device

pytestmark = pytest.mark.skipif(not SIMULATED and find_device() is None, reason="needs a GPU or NUMBA_ENABLE_CUDASIM=1")
REFERENCE = 1e-12
FORMS: dict[str, dict[str, Any]] = {
    "one block": {},
    "phases": {"SMALL": 0, "CROWN": 2},
    "bundles": {"SMALL": 0, "CROWN": 0, "BUNDLE": 4, "TOGETHER": 2, "APART": 0},
    "dealt": {"HANDS": 0, "LEAST": 0, "SMALL": 0, "CROWN": 2},
    "steps": {"SMALL": 0, "CROWN": 0, "APART": 0, "width": lambda n, infosets: 32},
}
CASES = [
    pytest.param("kuhn", "cfr+", "one block", marks=pytest.mark.slow),
    ("kuhn", "dcfr(turns=simultaneous)", "phases"),
    ("kuhn", "pcfr+", "bundles"),
    ("kuhn", "pdcfr+(turns=simultaneous)", "steps"),
    pytest.param("one_card_poker(deck=17)", "cfr+(turns=simultaneous)", "dealt", marks=pytest.mark.slow),
    ("gaussian_matrix(size=5)", "hs-dcfr", "one block"),  # the third iteration has weights in another unit
    pytest.param("gaussian_matrix(size=40)", "cfr", "one block", marks=pytest.mark.slow),
    pytest.param("kuhn", "hs-pcfr+(horizon=2,discount=before)", "phases", marks=pytest.mark.slow),
    pytest.param("kuhn", "sapcfr+(order=faced)", "one block", marks=pytest.mark.slow),
    pytest.param("random_tree(seed=3,depth=3)", "pdcfr+(turns=simultaneous)", "steps", marks=pytest.mark.slow),
    pytest.param("kuhn", "lcfr", "steps", marks=pytest.mark.slow),
]
if not SIMULATED:
    CASES += [
        (game, f"{algorithm}(turns=simultaneous)", form)
        for game in ("leduc", "leduc5", "liars_dice", "goofspiel(cards=5)", "princess_and_monster")
        for algorithm in ("cfr+", "pdcfr+")
        for form in ("one block", "phases")
    ] + [("rhode_island(ranks=5)", f"{algorithm}(turns=simultaneous)", "dealt") for algorithm in ("cfr+", "pdcfr+")]


def arranged(form: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Force a small game into a form that is meant for larger ones."""
    from treeplex.engines.sequence.cuda import dealt, layout, plan  # noqa: PLC0415 - not without numba.cuda

    for key, value in FORMS[form].items():
        monkeypatch.setattr(next(room for room in (layout, plan, dealt) if hasattr(room, key)), key, value)


def close(got: Any, wanted: Any) -> bool:
    return bool(np.abs(got[1:] - wanted[1:]).max() <= REFERENCE * np.abs(wanted[1:]).max())


@pytest.mark.parametrize(("name", "algorithm", "form"), CASES)
def test_iterations_and_evaluations_are_those_of_the_cpu(
    name: str, algorithm: str, form: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    arranged(form, monkeypatch)
    game = compiled(name)
    cpu = build(algorithm).open(game, Execution("cpu", threads=1))
    gpu = build(algorithm).open(game, Execution("cuda"))
    state, device = cpu.start(game), gpu.start(game)
    for count in (1, 2 if algorithm.startswith("hs") else 1):
        if not SIMULATED:  # from the same state: regrets that cancel on one backend alone lead elsewhere
            device = gpu.restore(game, cpu.save(state))
        state, device = cpu.advance(game, state, count), gpu.advance(game, device, count)
    for ours, theirs in zip(device.learners, state.learners, strict=True):
        assert close(ours.regret, theirs.regret)
        assert close(ours.average, theirs.average)
        assert close(ours.plan, theirs.plan)
    for iterate in ("average", "current"):
        ours = gpu.report(game, device, iterate).evaluate()
        theirs = cpu.report(game, state, iterate).evaluate()
        size = game.largest_payoff * game.unit
        assert ours.value == pytest.approx(theirs.value, abs=REFERENCE * size)
        assert ours.best_response_values == pytest.approx(theirs.best_response_values, abs=REFERENCE * size)
        assert ours.nash_conv == pytest.approx(theirs.nash_conv, abs=REFERENCE * size)


@pytest.mark.parametrize("name", ["one_card_poker(deck=20)", "rhode_island(ranks=2,suits=2)"])
@pytest.mark.parametrize("player", [0, 1])
def test_sums_over_hands_are_those_of_the_cpu(name: str, player: int) -> None:
    from treeplex.engines.sequence.cpu.operators import gradient  # noqa: PLC0415
    from treeplex.engines.sequence.cuda.dealt import deal_kernel, rows_of  # noqa: PLC0415
    from treeplex.kernels.cuda.memory import fetch, send, sent  # noqa: PLC0415 - not without numba.cuda

    game, draws = compiled(name), np.random.default_rng(player)
    place = [draws.permutation(treeplex.sequences).astype(np.int32) for treeplex in game.treeplexes]
    plan = draws.random(game.treeplexes[1 - player].sequences)
    wanted, earned = np.zeros(len(place[player])), np.full(len(place[player]), np.nan)
    gradient(game.blocks[player], 1.0 - 2.0 * player, plan, wanted)
    moved = np.empty_like(plan)
    moved[place[1 - player]] = plan
    rows = rows_of(game.blocks, (place[0], place[1]))[player]
    if SIMULATED:  # the last rows alone
        begin = int(rows.own_start[rows.row[-min(len(rows.row), 200)]])
        starts = np.maximum(rows.own_start.astype(np.int64) - begin, 0).astype(np.uint32)
        rows = rows._replace(row=rows.row[begin:], own=rows.own[begin:], own_start=starts)
    count = len(rows.own)
    received = send(earned)
    deal_kernel("float64")[-(-count // 128), 128](sent(rows), send(moved), received)
    found = fetch(received)[place[player]]
    assert np.isfinite(found).sum() == count
    assert np.abs(found - wanted)[np.isfinite(found)].max() <= REFERENCE * np.abs(wanted).max()


def test_a_run_goes_on_with_the_other_backend() -> None:
    game = compiled("kuhn")
    cpu = build("pcfr+").open(game, Execution("cpu", threads=1))
    gpu = build("pcfr+").open(game, Execution("cuda"))
    straight = cpu.advance(game, cpu.start(game), 2)
    there = cpu.restore(game, gpu.save(gpu.advance(game, gpu.start(game), 1)))
    back = gpu.restore(game, cpu.save(cpu.advance(game, cpu.start(game), 1)))
    for ended in (cpu.advance(game, there, 1), gpu.advance(game, back, 1)):
        for ours, theirs in zip(ended.learners, straight.learners, strict=True):
            assert close(ours.regret, theirs.regret)
            assert close(ours.average, theirs.average)


def test_numbers_are_added_up_over_all_blocks() -> None:
    from treeplex.engines.sequence.cuda import evaluate  # noqa: PLC0415
    from treeplex.kernels.cuda.memory import fetch, send  # noqa: PLC0415 - not without numba.cuda

    numbers = np.random.default_rng(1).normal(size=500)
    sums = send(np.zeros(evaluate.SUMS * evaluate.PARTS))
    evaluate._run_sum[evaluate.PARTS, evaluate.BLOCK](send(numbers), 3, 497, sums, 1)
    places = np.arange(0, 500, 3, dtype=np.uint32)
    weights = np.cos(places)
    evaluate._picked_sum[evaluate.PARTS, evaluate.BLOCK](send(numbers), send(places), send(weights), 150, sums, 2)
    found = fetch(sums).reshape(evaluate.SUMS, evaluate.PARTS).sum(axis=1)
    assert found[1] == pytest.approx(numbers[3:497].sum(), abs=1e-12)
    assert found[2] == pytest.approx((numbers[places] * weights)[:150].sum(), abs=1e-12)
    assert found[0] == found[3] == found[4] == 0.0
