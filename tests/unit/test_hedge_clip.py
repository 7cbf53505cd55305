"""What Hedge's step size by variance is clipped to, and what another clip would change."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms.cfr import CFR
from treeplex.algorithms.hedge import hedge
from treeplex.engines.history.paths import counterfactual_ranges
from treeplex.engines.sequence.rules import hedge_rules, payoff_ranges, rule_memories
from treeplex.evaluation.exact import evaluate_strategies
from treeplex.updates import hedge as rules
from treeplex.updates.hedge import THEORY, VARIANCE, step_size, value_of, weigh
from treeplex.updates.rule import Rule
from treeplex.updates.schedules import uniform


def by_own_range(t: float, values: Any, strategy: Any, memory: Any) -> None:
    """Hedge whose step size by variance is clipped at Delta(I), the last row of memory."""
    expected = value_of(values, strategy)
    off = expected - memory[1, 0]
    memory[1, 0] += off / t
    memory[2, 0] += off * (expected - memory[1, 0])
    eta = step_size(VARIANCE, math.log(len(values)), memory[3, 0], memory[2, 0], t)
    weigh(values, strategy, memory[0], expected, eta, 0.0)


def test_the_clip_is_the_range_of_the_whole_game() -> None:
    """Footnote 1 of the paper asks for bounds and names none. For the rate by theory it is Delta(I)."""
    game = tp.load("leduc")
    memories = rule_memories(game, rules.hedge(THEORY))
    for player, own in enumerate(counterfactual_ranges(game)):
        treeplex = game.treeplexes[player]
        assert hedge_rules(game, rules.hedge(VARIANCE))[player].payoff_range == 2.0 * game.largest_payoff
        assert own.max() < 2.0 * game.largest_payoff
        np.testing.assert_array_equal(payoff_ranges(game)[player], own)
        np.testing.assert_array_equal(memories[player][2 * treeplex.first[:-1] + treeplex.actions], own)
    assert rules.hedge(VARIANCE).constants_of(26.0)[0] == 26.0


@pytest.mark.parametrize(("name", "apart"), [("kuhn", 0.015), ("leduc", 0.23), ("liars_dice(sides=3)", 0.21)])
def test_clipping_at_every_infosets_own_range_would_change_this(name: str, apart: float) -> None:
    """After 100 iterations: single probabilities by up to ``apart``, NashConv by less than a tenth."""
    game = tp.load(name)

    def run(algorithm: Any) -> tuple[Any, float]:
        average = algorithm.report(game, algorithm.advance(game, algorithm.start(game), 100), "average").arrays
        return average, evaluate_strategies(game, average).nash_conv

    own = CFR(Rule("own range", by_own_range, memory=4, ranged=True), uniform(), "alternating")  # pyright: ignore[reportArgumentType]
    (ours, quality), (other, tighter) = run(hedge()), run(own)
    moved = max(float(np.abs(a - b).max()) for a, b in zip(ours, other, strict=True))
    assert moved == pytest.approx(apart, rel=0.1)
    assert 0.9 < quality / tighter < 1.1
