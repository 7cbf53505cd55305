"""What iterations learn on a hold'em spot, on the host: the layout of a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import aligned
from treeplex.compile.memory import GIB, available
from treeplex.engines.boards.arrays import HandLearner, Rule, Schedules, Sources
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.protocol import NEXT, Scheme
from treeplex.errors import GameError, ParameterError
from treeplex.updates import blocks
from treeplex.updates.blocks import Earlier
from treeplex.updates.schedules import Schedule, bounded, discounts_at, unit_before, weights_at
from treeplex.updates.storage import STORAGES
from treeplex.updates.turns import ALTERNATING

Array = npt.NDArray[Any]
HandLearners = tuple[HandLearner, HandLearner]

MOST_ITERATIONS: Final = 10**8  # of a checkpoint: discounts of all of them are kept in memory


class HandTables(NamedTuple):
    """What the next iteration needs."""

    learners: HandLearners
    iteration: int
    earlier: Earlier = ()

    @property
    def host(self) -> HandTables:
        """Itself: what a checkpoint has."""
        return self


def new_learners(game: HoldemGame, storage: str, predict: bool) -> HandLearners:
    """Both players before their first iteration."""
    first, second = (_new_learner(game, storage, predict, player) for player in (0, 1))
    return first, second


def _new_learner(game: HoldemGame, storage: str, predict: bool, player: int) -> HandLearner:
    size, decisions = game.elements(player), game.decisions(player)
    scales = decisions if STORAGES[storage].scaled else 0
    regret, average, predicted = (aligned(count, storage) for count in (size, size, size if predict else 0))
    last, scale, other = np.zeros(decisions, np.int32), np.zeros(scales, np.float32), np.zeros(scales, np.float32)
    return HandLearner(regret, average, predicted, last, scale, other)


def predicts(scheme: Scheme) -> bool:
    """Are there predicted regrets?"""
    return scheme.rule.predict > 0.0


def check_scheme(scheme: Scheme, storage: str) -> None:
    """Reject what hold'em passes do not do: one per player in turn, averages of the strategies that are faced."""
    if scheme.turns != ALTERNATING:
        raise ParameterError("Hold'em spots are solved with alternating updates; leave out turns=simultaneous.")
    if scheme.order == NEXT:
        raise ParameterError("On hold'em spots averages take the strategies that are faced; leave out order=next.")
    if predicts(scheme) and STORAGES[storage].scaled:
        raise ParameterError(
            f"The 'storage' parameter must be float64 or float32 with predictive rules, got {storage!r}."
        )


def pass_rule(scheme: Scheme, *, prune: bool = True) -> Rule:
    """What passes need beside discounts and weights. A prediction changes also where nothing is gained."""
    return Rule(scheme.rule.predict, prune and not predicts(scheme))


def bounded_weight(scheme: Scheme, storage: str) -> Schedule:
    """Averaging weights whose sums fit the precision of the computation."""
    return bounded(scheme.weight, np.dtype(STORAGES[storage].work).name)


def schedules(scheme: Scheme, storage: str, last: int) -> Schedules:
    """Discounts and weights of iterations 0 to ``last``."""
    t = np.arange(last + 1, dtype=np.float64)
    t[0] = 1.0  # there is no iteration 0; its numbers are never used
    return Schedules(*discounts_at(scheme.rule, t), weights_at(bounded_weight(scheme, storage), t))


def played_sources(learners: HandLearners, scheme: Scheme) -> Sources:
    """What the next strategies are normalised from."""
    first, second = (learner.predicted if predicts(scheme) else learner.regret for learner in learners)
    return Sources(first, second)


def check_iterations(tables: HandTables) -> HandTables:
    """Return the tables; raise ValueError if a regret is newer than the iteration, or there are too many iterations."""
    last = max(int(learner.last.max(initial=0)) for learner in tables.learners)
    if not last <= tables.iteration <= MOST_ITERATIONS:
        raise ValueError(f"its iteration is {tables.iteration:,}, and a regret is of iteration {last:,}")
    return tables


def rescale(learners: HandLearners, factor: float, earlier: Earlier = ()) -> None:
    """Convert averages to the unit of the next weights, in place; where numbers have a scale, it alone changes."""
    if factor != 1.0:
        for sums in (*_scaled(learners), *earlier):
            np.multiply(sums, factor, out=sums)


def _scaled(learners: HandLearners) -> list[Array]:
    return [each.average_scale if len(each.average_scale) else each.average for each in learners]


def rescale_to_units(tables: HandTables, weight: Schedule) -> HandTables:
    """Convert averages of a checkpoint to the unit of their weights, in place."""
    rescale(tables.learners, unit_before(weight, tables.iteration, _scaled(tables.learners)))
    return tables


def fold_blocks(learners: HandLearners, iteration: int, storage: str, earlier: Earlier) -> Earlier:
    """The sums of blocks after an iteration (``updates.blocks``); averages are modified in place."""
    if not blocks.due(iteration, storage):
        return earlier
    averages = [learner.average for learner in learners]
    if not earlier:
        need, free = 2 * sum(average.nbytes for average in averages), available()
        if need > free:
            raise GameError(
                f"Averages of more than {blocks.BEGIN:,} iterations take {need / GIB:,.1f} GiB more, but only"
                f" {free / GIB:,.1f} GiB are free; limit the run to {blocks.BEGIN:,} iterations."
            )
    return blocks.folded(averages, earlier)


def sum_blocks(tables: HandTables) -> HandLearners:
    """Learners with the sums over all iterations for averages."""
    first, second = tables.learners
    averages = blocks.summed((first.average, second.average), tables.earlier, first.average.dtype)
    return first._replace(average=averages[0]), second._replace(average=averages[1])


def saved_earlier(learners: HandLearners, tensors: Mapping[str, Array], name: str = "state") -> Earlier:
    """Room for the sums over earlier blocks, if a checkpoint has them."""
    return blocks.saved_room([learner.average for learner in learners], tensors, name)
