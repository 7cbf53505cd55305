"""16-bit regrets: the kernel against its NumPy twin, and how far rounding moves the strategies."""

from __future__ import annotations

import numpy as np
import pytest

import treeplex as tp
from treeplex.kernels import cpu, reference
from treeplex.kernels.cpu import cfr_compact as compiled
from treeplex.kernels.reference import cfr_compact as written
from treeplex.kernels.rules import ALTERNATING, LARGEST_16, SIMULTANEOUS, Steps
from treeplex.minimizers import Discounted, Minimizer, RegretMatching, RegretMatchingPlus
from treeplex.solvers.learners import compact_newborns, scratch

RULES: list[Minimizer] = [RegretMatching(), RegretMatchingPlus(), Discounted(1.5, 0.0)]


@pytest.mark.parametrize("turns", [ALTERNATING, SIMULTANEOUS])
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("name", ["random_tree(seed=3,depth=6)", "random_tree(seed=9,depth=7)", "leduc"])
def test_five_iterations_are_the_references(name, rule, turns) -> None:
    game = tp.load(name)
    t = np.arange(1.0, 6.0)
    steps = Steps(t, *rule.discounts(t))
    ours, theirs = compact_newborns(game), compact_newborns(game)
    compiled.compact_iterations(game.treeplexes, game.payoffs, ours, scratch(game), steps, turns)
    written.compact_iterations(game.treeplexes, game.payoffs, theirs, scratch(game), steps, turns)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine.average, other.average, atol=1e-12)
        np.testing.assert_allclose(mine.scale, other.scale, rtol=1e-6)
        assert np.abs(mine.regret.astype(int) - other.regret).max() <= 1  # a tie of rounding may fall either way
    assert compiled.__name__.startswith(cpu.__name__)
    assert written.__name__.startswith(reference.__name__)


def test_the_largest_regret_of_an_infoset_fills_16_bits() -> None:
    game = tp.load("leduc")
    from treeplex.solvers.cfr import cfr  # noqa: PLC0415

    algorithm = cfr(storage="int16")
    state = algorithm.advance(game, algorithm.start(game), 50)
    for treeplex, learner in zip(game.treeplexes, state.learners, strict=True):
        largest = np.maximum.reduceat(np.abs(learner.regret.astype(int)), treeplex.first[:-1])
        assert set(largest[learner.scale > 0].tolist()) <= {int(LARGEST_16)}
        assert learner.regret.dtype == np.int16


@pytest.mark.parametrize("algorithm", ["cfr", "cfr+", "dcfr"])
def test_16_bits_are_enough_for_a_good_answer(algorithm) -> None:
    """A regret is off by at most 1/65534 of the largest beside it; the answer must stay of the same order."""
    exact = tp.solve("leduc", algorithm, iterations=2000).nash_conv
    rounded = tp.solve("leduc", f"{algorithm}(storage=int16)", iterations=2000).nash_conv
    assert rounded < 2 * exact


def test_predictive_rules_and_threads_are_not_offered() -> None:
    with pytest.raises(tp.TreeplexError, match="'storage' parameter must be one of float64, float32"):
        tp.solve("kuhn", "pcfr+(storage=int16)", iterations=1)
    with pytest.raises(tp.TreeplexError, match="'threads' parameter must be 0 or 1 with storage int16"):
        tp.solve("kuhn", "cfr+(storage=int16,threads=2)", iterations=1)
