"""16-bit regrets: the kernel against its NumPy twin, and against float64 with rounding."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import treeplex as tp
from treeplex.algorithms.cfr import cfr
from treeplex.algorithms.protocol import Execution
from treeplex.engines.sequence import partition
from treeplex.engines.sequence.arrays import Learner, Matching, SequenceForm, Steps
from treeplex.engines.sequence.cpu import iterations as compiled
from treeplex.engines.sequence.learners import initial_learners_16, sequence_form
from treeplex.engines.sequence.reference import iterations as written
from treeplex.updates import Discounted, Minimizer, RegretMatching, RegretMatchingPlus
from treeplex.updates.storage import largest_of
from treeplex.updates.turns import ALTERNATING, SIMULTANEOUS

LARGEST = largest_of("int16")

MATCHING = (Matching(0.0), Matching(0.0))
RULES: list[Minimizer] = [RegretMatching(), RegretMatchingPlus(), Discounted(1.5, 0.0)]


def sparse(game: Any) -> SequenceForm:
    return sequence_form(game)._replace(operator=game.payoffs)


@pytest.mark.parametrize("turns", [ALTERNATING, SIMULTANEOUS])
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("name", ["random_tree(seed=3,depth=6)", "random_tree(seed=9,depth=7)", "leduc"])
def test_five_iterations_are_the_references(name, rule, turns) -> None:
    game = tp.load(name)
    t = np.arange(1.0, 6.0)
    steps = Steps(t, t, *rule.discounts(t))
    ours, theirs = initial_learners_16(game), initial_learners_16(game)
    compiled.iterate(sparse(game), ours, MATCHING, steps, turns, None)
    written.iterate(sparse(game), theirs, MATCHING, steps, turns)
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine.average, other.average, atol=1e-12)
        np.testing.assert_allclose(mine.scale, other.scale, rtol=1e-6)
        assert np.abs(mine.regret.astype(int) - other.regret).max() <= 1  # a tie of rounding may fall either way
    assert hasattr(compiled.iterate, "signatures")  # Numba's
    assert not hasattr(written.iterate, "signatures")


def test_the_largest_regret_of_an_infoset_fills_16_bits() -> None:
    game = tp.load("leduc")
    algorithm: Any = cfr().open(game, Execution(storage="int16"))
    state = algorithm.advance(game, algorithm.start(game), 50)
    for treeplex, learner in zip(game.treeplexes, state.learners, strict=True):
        largest = np.maximum.reduceat(np.abs(learner.regret.astype(int)), treeplex.first[:-1])
        assert set(largest[learner.scale > 0].tolist()) <= {int(LARGEST)}
        assert learner.regret.dtype == np.int16


@pytest.mark.parametrize("turns", [ALTERNATING, SIMULTANEOUS])
@pytest.mark.parametrize("rule", RULES, ids=str)
@pytest.mark.parametrize("name", ["leduc", "random_tree(seed=9,depth=7)"])
def test_an_iteration_is_that_of_float64_and_rounding_to_the_nearest(name, rule, turns) -> None:
    """From the regrets that 16 bits stand for, again and again: the same strategies and averages.

    The unit of an infoset is its largest new regret / 32,767; a regret is off by half a unit at most.
    """
    game, rounded, off = tp.load(name), initial_learners_16(tp.load(name)), 0.0
    for t in range(1, 41):
        now = np.array([float(t)])
        steps = Steps(now, now, *rule.discounts(now))
        exact = tuple(
            Learner(
                learner.regret * np.concatenate(([0.0], np.repeat(learner.scale.astype(float), treeplex.actions))),
                *(array.copy() for array in learner[2:]),
            )
            for learner, treeplex in zip(rounded, game.treeplexes, strict=True)
        )
        for learners in (exact, rounded):
            compiled.iterate(sparse(game), learners, MATCHING, steps, turns, None)
        for treeplex, mine, full in zip(game.treeplexes, rounded, exact, strict=True):
            np.testing.assert_allclose(mine.strategy[1:], full.strategy[1:], rtol=0, atol=1e-12)
            np.testing.assert_allclose(mine.average[1:], full.average[1:], rtol=1e-12, atol=0)
            unit = np.maximum.reduceat(np.abs(full.regret), treeplex.first[:-1]) / LARGEST
            np.testing.assert_allclose(mine.scale, unit, rtol=1e-6, atol=1e-300)
            units = np.repeat(unit, treeplex.actions)
            error = np.abs(mine.regret[1:] * units - full.regret[1:])
            assert (error <= (0.5 + 32767 * 1e-7) * units).all()  # the unit itself is a float32
            off = max(off, float((error[units > 0] / units[units > 0]).max(initial=0.0)))
    assert off > 0.25  # there was something to round


def test_predictive_rules_are_not_offered() -> None:
    with pytest.raises(tp.TreeplexError, match="'storage' parameter must be one of float64, float32"):
        tp.solve("kuhn", "pcfr+", storage="int16", iterations=1)


@pytest.mark.parametrize("turns", ["alternating", "simultaneous"])
@pytest.mark.parametrize("name", ["leduc", "random_tree(seed=9,depth=7)"])
def test_threads_do_not_change_a_bit(name, turns, monkeypatch) -> None:
    monkeypatch.setattr(partition, "cores", lambda: 3)
    monkeypatch.setattr(partition, "NUMBERS", 1)
    game, seen = tp.load(name), []
    for threads in (1, 2, 3):
        algorithm: Any = cfr(turns).open(game, Execution(storage="int16", threads=threads))
        assert sequence_form(game, threads, "int16").threads == threads
        state = algorithm.advance(game, algorithm.start(game), 20)
        seen.append([array.tobytes() for learner in state.learners for array in learner])
    assert seen[0] == seen[1] == seen[2]
    assert len(set(seen[0])) > 2
