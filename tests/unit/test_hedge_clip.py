"""What Hedge's step size by variance is clipped to, and what another clip would change."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms import hedge as module
from treeplex.engines.history.paths import counterfactual_ranges
from treeplex.evaluation.exact import evaluate_strategies
from treeplex.updates.hedge import THEORY, VARIANCE


def test_the_clip_is_the_range_of_the_whole_game() -> None:
    """Footnote 1 of the paper asks for bounds and names none. For the rate by theory it is Delta(I)."""
    game = tp.load("leduc")
    for player, own in enumerate(counterfactual_ranges(game)):
        np.testing.assert_array_equal(module.payoff_ranges(game, VARIANCE)[player], 2.0 * game.largest_payoff)
        np.testing.assert_array_equal(module.payoff_ranges(game, THEORY)[player], own)
        assert own.max() < 2.0 * game.largest_payoff


@pytest.mark.parametrize(("name", "apart"), [("kuhn", 0.015), ("leduc", 0.23), ("liars_dice(sides=3)", 0.21)])
def test_clipping_at_every_infosets_own_range_would_change_this(name, apart, monkeypatch) -> None:
    """After 100 iterations: single probabilities by up to ``apart``, NashConv by less than a tenth."""
    game, algorithm = tp.load(name), module.hedge()
    ranges = module.payoff_ranges

    def run() -> tuple[Any, float]:
        average = algorithm.report(game, algorithm.advance(game, algorithm.start(game), 100), "average").arrays
        return average, evaluate_strategies(game, average).nash_conv

    (ours, quality), other = run(), None
    monkeypatch.setattr(module, "payoff_ranges", lambda game, rate: ranges(game, THEORY))
    other, tighter = run()
    moved = max(float(np.abs(a - b).max()) for a, b in zip(ours, other, strict=True))
    assert moved == pytest.approx(apart, rel=0.1)
    assert 0.9 < quality / tighter < 1.1
