"""State of iterations on a hold'em spot, on the host: the layout of a checkpoint."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple, TypeVar

import numpy as np

from treeplex.arrays import Floats, aligned
from treeplex.engines.boards.arrays import Array, HandLearner, PassRule, RuleCalls, Schedules, Sources
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.rows import hand_rows
from treeplex.engines.protocol import NEXT, Scheme
from treeplex.errors import ParameterError
from treeplex.kernels.calls import RuleCall
from treeplex.updates import blocks
from treeplex.updates.blocks import Earlier
from treeplex.updates.rule import Rule, zero_memory
from treeplex.updates.schedules import Schedule, bounded, discounts_at, weights_at
from treeplex.updates.storage import STORAGES
from treeplex.updates.turns import ALTERNATING

if TYPE_CHECKING:
    from treeplex.engines.boards.cuda.part import CudaBoardPart

HandLearners = tuple[HandLearner, HandLearner]

MOST_ITERATIONS: Final = 10**8  # limit for checkpoints, since memory holds the discounts of all iterations


class HandTables(NamedTuple):
    """State that the next iteration needs."""

    learners: HandLearners
    iteration: int
    earlier: Earlier = ()


class DeviceHandTables(NamedTuple):
    """State on a GPU, with the part that iterates it there."""

    learners: HandLearners
    iteration: int
    earlier: Earlier
    part: CudaBoardPart


Tables = HandTables | DeviceHandTables
AnyTables = TypeVar("AnyTables", bound=Tables)


def new_learners(game: HoldemGame, storage: str, scheme: Scheme) -> HandLearners:
    """Allocate both players' learners before the first iteration."""
    first, second = (_new_learner(game, storage, scheme, player) for player in (0, 1))
    return first, second


def _new_learner(game: HoldemGame, storage: str, scheme: Scheme, player: int) -> HandLearner:
    rule, size, decisions = scheme.rule, game.elements(player), game.decisions(player)
    scales = decisions if STORAGES[storage].scaled else 0
    regret, average, predicted = (aligned(count * size, storage) for count in array_counts(scheme))
    if isinstance(rule, Rule) and rule.start is not zero_memory:
        _start(game, player, rule, regret)
    last, scale, other = np.zeros(decisions, np.int32), np.zeros(scales, np.float32), np.zeros(scales, np.float32)
    return HandLearner(regret, average, predicted, last, scale, other)


def _start(game: HoldemGame, player: int, rule: Rule, memory: Array) -> None:
    """Write the memory of a rule before its first iteration: see ``RuleCalls`` for its layout."""
    constants, known = rule.constants_of(value_range(game, player)), hand_rows(game, player)
    for depth, street in enumerate(game.streets):
        storage = game.boards[depth].hands[player].storage
        for decision in street.decisions:
            if decision.player == player:
                hands, actions = known[depth, decision.texture], len(decision.node.actions)
                number = hands.first - storage[hands.board]
                starts = rule.memory * (hands.at(decision.slot) - number) + number
                numbers = rule.initial(actions, constants).reshape(-1, 1)
                memory[starts + np.arange(len(numbers))[:, None] * hands.width] = numbers


def value_range(game: HoldemGame, player: int) -> float:
    """Largest difference of counterfactual values of ``player``: both stacks and the pot, times all opponents' hands.

    It is in chips of the spot's unit, with weights of order one, as passes compute values.
    """
    spot = game.spot
    return float(game.weights(1 - player).sum() * (spot.pot + 2.0 * spot.effective_stack) / spot.chip)


def plays_apart(scheme: Scheme) -> bool:
    """Return whether play is stored apart from regrets: predicted regrets, or the strategies of a called rule."""
    return isinstance(scheme.rule, Rule) or scheme.rule.predict > 0.0


def array_counts(scheme: Scheme) -> tuple[int, int, int]:
    """Count of numbers per action and hand in ``HandLearner.regret``, ``average`` and ``predicted``."""
    rows = scheme.rule.memory if isinstance(scheme.rule, Rule) else 1
    return rows, 1, int(plays_apart(scheme))


def numbers_beside(scheme: Scheme) -> int:
    """Count of numbers stored per action and hand besides a regret and a sum of strategies."""
    return sum(array_counts(scheme)) - 2


def constants_of(game: HoldemGame, rule: Rule) -> tuple[Floats, Floats]:
    """Return the constants [C] of a rule for either player."""
    return rule.constants_of(value_range(game, 0)), rule.constants_of(value_range(game, 1))


def calls_of(game: HoldemGame, scheme: Scheme) -> RuleCalls | None:
    """Return the arrays of a rule that is called, for passes, or None if the rule is not called."""
    rule = scheme.rule
    if not isinstance(rule, Rule):
        return None
    constants = np.stack(constants_of(game, rule))
    code = np.array((rule.entry.address, rule.memory), dtype=np.int64)
    return RuleCalls(
        code, constants, np.full(3, -1), np.zeros(1, np.int64), np.zeros((2 + rule.memory) * game.action_counts[-1])
    )


def astray(rule: Rule, iteration: int) -> ParameterError:
    """Return the error for a rule whose strategies are not probabilities."""
    return ParameterError(
        f"The rule '{rule.name}' must leave probabilities that add up to 1 in 'strategy': at some hand it does not, in"
        f" iteration {iteration:,}."
    )


def check_calls(calls: RuleCalls | None, scheme: Scheme, first: int, last: int) -> None:
    """Raise if a rule has raised in iterations ``first`` to ``last``, or its strategies are not probabilities."""
    rule = scheme.rule
    if calls is None or not isinstance(rule, Rule):
        return
    if calls.astray[0] > 0:
        raise astray(rule, int(calls.astray[0]))
    if calls.failed[0] >= 0:
        constants = calls.constants[calls.failed[0]]
        call = RuleCall(
            np.uint64(calls.code[0]),
            np.uint64(calls.code[1]),
            constants,
            calls.failed,
            calls.arguments,
            np.zeros((0, 0)),
        )
        raise rule.failure(call, f"in iterations {first:,} to {last:,}")


def check_scheme(scheme: Scheme, storage: str) -> None:
    """Reject schemes that passes do not support: they alternate, and average the strategies that are faced."""
    if isinstance(scheme.rule, Rule):
        scheme.rule.without_ranges("hold'em spots")
    if scheme.turns != ALTERNATING:
        raise ParameterError("Hold'em spots are solved with alternating updates; leave out turns=simultaneous.")
    if scheme.order == NEXT:
        raise ParameterError("On hold'em spots averages take the strategies that are faced; leave out order=next.")
    if plays_apart(scheme) and STORAGES[storage].scaled:
        kind = f"the rule '{scheme.rule.name}'" if isinstance(scheme.rule, Rule) else "predictive rules"
        raise ParameterError(f"The 'storage' parameter must be float64 or float32 with {kind}, got {storage!r}.")


def pass_rule(scheme: Scheme, *, prune: bool = True) -> PassRule:
    """Return the parameters of passes other than discounts and weights.

    Predictions and rules that are called change even if regrets do not. So every hand of every free decision is
    updated in every iteration, including hands that are never reached.
    """
    predict = 0.0 if isinstance(scheme.rule, Rule) else scheme.rule.predict
    return PassRule(predict, prune and not plays_apart(scheme))


def bounded_weight(scheme: Scheme, storage: str) -> Schedule:
    """Return averaging weights whose sums fit the precision of the computation."""
    return bounded(scheme.weight, np.dtype(STORAGES[storage].work).name)


def schedules(scheme: Scheme, storage: str, last: int) -> Schedules:
    """Return discounts and weights of iterations 0 to ``last``."""
    t = np.arange(last + 1, dtype=np.float64)
    t[0] = 1.0  # there is no iteration 0; its numbers are never used
    one = np.ones_like(t)
    discounts = (one, one) if isinstance(scheme.rule, Rule) else discounts_at(scheme.rule, t)
    return Schedules(*discounts, weights_at(bounded_weight(scheme, storage), t))


def played_sources(learners: HandLearners, scheme: Scheme) -> Sources:
    """Return the numbers that the next strategies are normalised from."""
    first, second = (learner.predicted if plays_apart(scheme) else learner.regret for learner in learners)
    return Sources(first, second)


def check_iterations(tables: HandTables) -> HandTables:
    """Return the tables. Raise ValueError if a regret is newer than the iteration, or the iteration is too large."""
    last = max(int(learner.last.max(initial=0)) for learner in tables.learners)
    if not last <= tables.iteration <= MOST_ITERATIONS:
        raise ValueError(f"its iteration is {tables.iteration:,}, and a regret is of iteration {last:,}")
    return tables


def rescale(learners: HandLearners, factor: float, earlier: Earlier = ()) -> None:
    """Convert averages to the unit of the next weights, in place. If numbers have scales, only these change."""
    if factor != 1.0:
        for sums in (*scaled_sums(learners), *earlier):
            np.multiply(sums, factor, out=sums)


def scaled_sums(learners: HandLearners) -> list[Array]:
    """Return the arrays to multiply to rescale averages: the averages, or the scales of their decisions."""
    return [each.average_scale if len(each.average_scale) else each.average for each in learners]


def sum_blocks(tables: HandTables) -> HandLearners:
    """Return learners whose averages are the sums over all iterations."""
    first, second = tables.learners
    averages = blocks.summed((first.average, second.average), tables.earlier, first.average.dtype)
    return first._replace(average=averages[0]), second._replace(average=averages[1])


def saved_earlier(learners: HandLearners, tensors: Mapping[str, Array], name: str = "state") -> Earlier:
    """Allocate arrays for the sums over earlier blocks, if a checkpoint has them."""
    return blocks.saved_room([learner.average for learner in learners], tensors, name)
