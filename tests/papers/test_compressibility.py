"""What is measured of stored regrets: zeros, entropy, and sizes with the scales that belong to them."""

from __future__ import annotations

import numpy as np
import pytest

from treeplex.papers import cfr_plus_compressibility as module
from treeplex.papers.cfr_plus_compressibility import StoredRegrets, measure
from treeplex.papers.registry import REPRODUCTIONS


def test_entropy_and_zeros_are_those_of_the_definition() -> None:
    """Half zeros, a quarter each of two numbers: 1.5 bits; 64 groups of 16 numbers: 2 bits of scale per number."""
    regret = np.tile(np.array([0, 0, 5, -7], np.int16), 256)
    found = measure(StoredRegrets(regret, np.arange(64, dtype=np.float32)))
    assert found.zeros == 0.5
    assert found.entropy == pytest.approx(1.5)
    assert found.scales == 2.0
    assert found.compressed < found.entropy  # a pattern that zstd sees and the entropy of single numbers does not
    assert found.total == found.compressed + found.scales_compressed


def test_scales_that_say_nothing_cost_nothing_and_random_ones_all_they_have() -> None:
    rng = np.random.default_rng(0)
    regret = rng.integers(-32767, 32768, 40_000).astype(np.int16)
    same = measure(StoredRegrets(regret, np.ones(10_000, np.float32)))
    other = measure(StoredRegrets(regret, rng.integers(0, 2**31 - 2**24, 10_000).astype(np.int32).view(np.float32)))
    assert same.compressed == other.compressed > 15.9
    assert same.scales == other.scales == 8.0
    assert same.scales_compressed < 0.1 < 7.9 < other.scales_compressed
    assert other.total - same.total == pytest.approx(other.scales_compressed - same.scales_compressed)


def test_what_is_measured_is_what_the_run_has_stored(monkeypatch) -> None:
    monkeypatch.setattr(module, "CHECKPOINTS", {"leduc": (2, 7)})
    (_, early), (iteration, late) = module.states("leduc", "cfr+")
    assert iteration == 7
    assert len(late.regret) == 2 * 337  # both players' sequences
    assert len(late.scale) == 2 * 144  # one per infoset
    assert (late.regret >= 0).all()
    assert not np.array_equal(early.regret, late.regret)
    assert any((stored.regret < 0).any() for _, stored in module.states("leduc", "cfr"))


@pytest.mark.slow
def test_the_whole_of_it(tmp_path, monkeypatch) -> None:
    monkeypatch.setattr(module, "CHECKPOINTS", {module.GAME: (1, 3), module.FLOP: (1, 3)})
    report = REPRODUCTIONS[module.ID].run(tmp_path, lambda line: None)
    assert len(report.claims) == 10
    assert all(claim.ours >= 0.0 for claim in report.claims)
