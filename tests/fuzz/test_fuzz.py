"""A small share of ``make fuzz``, the same inputs every time."""

from __future__ import annotations

import fuzzing
import pytest

INPUTS = {"command line": 25, "run folders": 25, "locks": 40, "upi": 50, "own rules": 40, "games": 60, "caches": 25}
INPUTS |= {"checkpoints": 40, "compiled games": 40, "run files": 15, "batches": 12, "jobs": 60}


@pytest.mark.parametrize("door", fuzzing.DOORS)
def test_whatever_enters_is_taken_or_refused_in_a_sentence(door) -> None:
    inputs = INPUTS.get(door, 120)
    counts, failures = fuzzing.fuzz(door, inputs, seed=1)
    assert failures == []
    assert counts[fuzzing.REFUSED] > inputs // 10
    assert counts[fuzzing.TAKEN] > 0
