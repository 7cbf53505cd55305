"""APCFR+, stable and smooth PCFR+: numbers by hand, the projection, parameters."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from treeplex.algorithms.registry import build
from treeplex.errors import ParameterError
from treeplex.updates.adaptive import trust
from treeplex.updates.reference import projected
from treeplex.updates.smooth import lift

tied = st.sampled_from([-1.0, -0.3, -0.1, -1e-17, 0.0, 1e-17, 0.1, 0.2, 0.3, 0.7])
numbers = st.lists(st.one_of(tied, st.floats(-3.0, 3.0)), min_size=1, max_size=9)


def test_trust_by_hand() -> None:
    """r = (2, -2), then (-1, 3): E = 8 and M = 4, then E = 8 + 34 and M = 4 + 10."""
    assert trust(8.0, 4.0, 5.0) == pytest.approx(1 / (1 + math.sqrt(2)))
    assert trust(42.0, 14.0, 5.0) == pytest.approx(1 / (1 + math.sqrt(3)))
    assert trust(1000.0, 1.0, 5.0) == trust(3.0, 0.0, 5.0) == 1 / 6


@pytest.mark.parametrize(
    ("x", "z", "expected"),
    [
        ([0.4, 0.0], 1.0, [0.7, 0.3]),
        ([0.4, -5.0], 1.0, [1.0, 0.0]),  # max(x, 0) + 0.3 would be (0.7, 0.3), which is farther away
        ([-1.0, -1.0, -3.0], 1.0, [0.5, 0.5, 0.0]),
        ([-0.6, -0.6, -0.3, -2.2], 0.3, [0.0, 0.0, 0.3, 0.0]),  # rounding lets numbers fall out and come back
        ([2.0, -1.0], 1.0, [2.0, 0.0]),
        ([-1.0, -2.0], 0.0, [0.0, 0.0]),
    ],
)
def test_the_nearest_point_by_hand(x, z, expected) -> None:
    ours: Any = np.array(x)
    assert lift(ours, z) == pytest.approx(sum(expected))
    np.testing.assert_allclose(ours, expected, rtol=0, atol=1e-15)


@settings(max_examples=400)
@given(numbers, st.sampled_from([0.0, 1e-20, 1e-3, 0.1, 0.3, 1.0, 100.0]))
def test_the_nearest_point_is_that_found_by_sorting(x, z) -> None:
    """Also with ties, where rounding lets numbers fall out and come back."""
    ours: Any = np.array(x)
    assert lift(ours, z) == pytest.approx(ours.sum())
    np.testing.assert_allclose(ours, projected(np.array(x), z), rtol=0, atol=1e-13)


@pytest.mark.parametrize(
    ("algorithm", "said"),
    [
        ("apcfr+(most=-1)", "The 'most' parameter must be a number from 0 to 1e+06, got -1"),
        ("stable-pcfr+(floor=-1)", "The 'floor' parameter must be a number from 0 to 1e+06, got -1"),
        ("smooth-pcfr+(floor=nan)", "The 'floor' parameter must be a number from 0 to 1e+06, got"),
    ],
)
def test_refusals_name_the_parameter(algorithm, said) -> None:
    with pytest.raises(ParameterError) as refused:
        build(algorithm)
    assert str(refused.value).startswith(said)
