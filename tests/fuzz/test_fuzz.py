"""A small share of ``make fuzz``, the same inputs every time."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import run

INPUTS = {"command line": 25, "run folders": 40, "locks": 40}


@pytest.mark.parametrize("door", run.DOORS)
def test_whatever_enters_is_taken_or_refused_in_a_sentence(door) -> None:
    inputs = INPUTS.get(door, 120)
    counts, failures = run.fuzz(door, inputs, seed=1)
    assert failures == []
    assert counts[run.REFUSED] > inputs // 10
    assert counts[run.TAKEN] > 0
