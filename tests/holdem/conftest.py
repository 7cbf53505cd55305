"""Spots that several tests share: those whose results are known, and small ones that can be written out in full."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from treeplex.holdem import Spot, sizes_for

KNOWN = json.loads((Path(__file__).parent / "spots.json").read_text(encoding="utf-8"))["spots"]


@pytest.fixture(scope="session")
def known() -> dict[str, Any]:
    return KNOWN


@pytest.fixture(scope="session")
def small_river() -> Spot:
    """Ties, blockers, weights, a hand both players can hold, raises."""
    return Spot(
        "Ks 9h 6d 3c Jh", 100, 300, "AA,KQs,QTs:0.5,98s,77", "KK,QQ,AKs,T8s:0.25,77", sizes_for("50%, a", "60%, a")
    )


@pytest.fixture(scope="session")
def small_turn() -> Spot:
    """Two tones, so that a flush comes in some suits only; an all-in before the river.

    Weights are odd, so that no two actions are worth the same but for rounding, which would decide between them.
    """
    sizes = sizes_for("50%", "a")
    return Spot(
        "Ks 9h 6d 3h", 60, 90, "AhQh:0.83,KcQc:0.37,7s7c:0.61", "AsKd:0.59,QhJh:0.93,8c7c:0.31,7s7c:0.47", sizes
    )


@pytest.fixture(scope="session")
def alike_turn() -> Spot:
    """Clubs and diamonds are alike: the board has neither, and the ranges treat them alike."""
    sizes = sizes_for("a", "")
    return Spot("Ks 9h 6s 3h", 60, 50, "AA:0.83,KQs:0.37,77:0.61", "AKs:0.59,QJs:0.93,77:0.47", sizes)


@pytest.fixture(scope="session")
def small_flop() -> Spot:
    """Two players with three hands each and one bet per street."""
    return Spot("Ks 9h 6s", 60, 50, "AhQh:0.83,KcQc:0.37,7d7c:0.61", "AsKd:0.59,QhJh:0.93", sizes_for("a", ""))
