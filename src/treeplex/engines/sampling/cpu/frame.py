"""Common parts of samplers: packed nodes, the deal, strategies from regrets, logged regrets, and the order of walks.

Maths: ``engines.sampling.reference.sampling``. Float64; one thread per stream; no fastmath. A walk has its own stack,
because a recursive kernel would pass its arrays at every node. No kernel here counts references to its arrays: the two
atomic additions per array and call took four fifths of the time.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numba import types
from numba.extending import overload

from treeplex.arrays import Floats, Ints
from treeplex.engines.sampling.arrays import MATCH, PURE, DiscountLog, FunctionLog, RegretLog, SamplerArrays
from treeplex.engines.sampling.columns import CHILD, FIRST, NEXT, NODE, ONE, WIDTH, ZERO
from treeplex.engines.sampling.cpu.random import Counter, draw_move, uniform
from treeplex.engines.sampling.tree import ACTOR_BITS, WIDTH_BITS, Longs
from treeplex.kernels.calls import call_in_place
from treeplex.kernels.jit import INLINED_LOOP, Index, inlined, inlined_loop, kernel, specialised
from treeplex.updates.rules import floored, normalise_span, positive_sum
from treeplex.updates.turns import SIMULTANEOUS

TWO: Final = np.uint64(2)
ANY_ACTOR: Final = np.uint64(2**ACTOR_BITS - 1)
ANY_WIDTH: Final = np.uint64(2**WIDTH_BITS - 1)
TO_WIDTH: Final = np.uint64(ACTOR_BITS)
TO_CHILD: Final = np.uint64(ACTOR_BITS + WIDTH_BITS)


@inlined
def unpacked(packed: Longs, node: Index) -> tuple[Index, Index, Index]:
    """Return who moves at a packed node, the number of moves, and the first child or a terminal's table of outcomes."""
    here = np.uint64(packed[node, NODE])
    return here & ANY_ACTOR, (here >> TO_WIDTH) & ANY_WIDTH, here >> TO_CHILD


@inlined
def draw_deal(threshold: Floats, alias: Ints, deals: Index, counter: Counter) -> Index:
    """Draw the deal of a walk, if there is more than one."""
    return draw_move(threshold, alias, ZERO, deals, counter) if deals > ONE else ZERO


@kernel
def matched(regret: Floats, start: Index, width: Index, sigma: Floats, row: Index) -> float:
    """Apply regret matching, into ``sigma[row]``; return the sum of the positive regrets."""
    own = regret[start : start + width]
    total = positive_sum(own, ZERO, width, None)
    normalise_span(own, sigma[row], ZERO, width, None, total)
    return total


@inlined_loop
def push(stack: Longs, depth: Index, start: Index, width: Index, child: Index) -> None:
    """Push a node onto the stack; its first move is next."""
    stack[depth, FIRST], stack[depth, WIDTH], stack[depth, CHILD], stack[depth, NEXT] = start, width, child, 0


@inlined
def greatest(regret: Floats, start: Index, width: Index, counter: Counter) -> Index:
    """Return the action of the largest regret or value; ties are broken uniformly at random."""
    best, move, ties = regret[start], ZERO, 1.0
    for k in range(ONE, width):
        r = regret[start + k]
        if r > best:
            best, move, ties = r, k, 1.0
        elif r == best:
            ties += 1.0
            if uniform(counter) * ties < 1.0:
                move = k
    return move


def is_function(log: RegretLog) -> bool:
    """Return whether the rule is a function.

    This is known when a kernel is compiled, so the kernel contains no code of the other rules.
    """
    return isinstance(log, FunctionLog)


@overload(is_function, strict=False)
def _is_function(log: types.NamedTuple) -> Callable[[RegretLog], bool]:  # pyright: ignore[reportUnusedFunction]
    return (lambda log: True) if log.instance_class is FunctionLog else (lambda log: False)


def is_discounted(log: RegretLog) -> bool:
    """Return whether regrets are discounted, which is known when a kernel is compiled."""
    return isinstance(log, DiscountLog)


@overload(is_discounted, strict=False)
def _is_discounted(log: types.NamedTuple) -> Callable[[RegretLog], bool]:  # pyright: ignore[reportUnusedFunction]
    return (lambda log: True) if log.instance_class is DiscountLog else (lambda log: False)


def _discount(regret: Floats, start: Index, width: Index, log: DiscountLog) -> None:
    """Multiply the regrets of an infoset by the discounts of all iterations since its last update.

    The product of the discounts of iterations s, ..., t - 1 is exp(L(t) - L(s)), where L(t) is the sum of the
    logarithms of those before t. Signs do not change between updates, so neither does the discount that applies.
    """
    row, other = TWO * np.uint64(log.iteration[ZERO]), np.uint64(len(regret)) + start
    positive, negative = log.iteration[row - ONE], log.iteration[row]
    up, down = math.exp(positive - log.memory[start]), math.exp(negative - log.memory[other])
    for s in range(start, start + width):
        regret[s] *= up if regret[s] > 0.0 else down
    log.memory[start], log.memory[other] = positive, negative


@specialised("log", {DiscountLog: _discount}, jit_options=INLINED_LOOP)
def discount(regret: Floats, start: Index, width: Index, log: RegretLog) -> None:
    """Discount the regrets of an infoset before something is added; other logs have no discounts."""


@inlined
def observe(
    regret: Floats, start: Index, width: Index, util: Floats, row: Index, mass: float, level: float, plus: bool,
    later: bool, log: RegretLog,
) -> None:  # fmt: skip
    """Add regrets: R(a) <- R(a) + mass (v(a) - level), floored with ``plus``; with ``later``, add them to ``log``.

    A rule that is a function learns from mass v(a), now or later.
    """
    if is_function(log) and not later:
        for k in range(width):
            log.regret[start + k] = mass * util[row, k]
        learn(regret, start, width, log)
    elif later:
        if log.seen[start] == 0:
            log.seen[start] = 1
            position = np.uint64(log.filled[ZERO])
            log.visited[position, FIRST], log.visited[position, WIDTH] = start, width
            log.filled[ZERO] += 1
        for k in range(width):
            log.regret[start + k] += mass * (util[row, k] - (0.0 if is_function(log) else level))
    else:
        discount(regret, start, width, log)
        for k in range(width):
            regret[start + k] = floored(regret[start + k] + mass * (util[row, k] - level), plus)


@inlined_loop
def learn(strategy: Floats, start: Index, width: Index, log: RegretLog) -> None:
    """Call the rule with the values in ``log``, and clear them."""
    call_in_place(log.rule, log.iteration[ZERO], start, log.regret, strategy, start, log.memory, width)
    for s in range(start, start + width):
        log.regret[s] = 0.0


@kernel
def settle(
    regret: Floats, pick: Ints, rule: int, weight: float, plus: bool, log: RegretLog, counter: Counter,
    predict: float = 0.0,
) -> None:  # fmt: skip
    """Add logged regrets times ``weight``, pick pure actions if the rule plays them, and empty ``log``.

    ``predict``: fraction of the added numbers that a pure strategy expects to be added once more.
    """
    for i in range(np.uint64(log.filled[ZERO])):
        start, width = np.uint64(log.visited[i, FIRST]), np.uint64(log.visited[i, WIDTH])
        log.seen[start] = 0
        if is_function(log):
            for s in range(start, start + width):
                log.regret[s] *= weight
            learn(regret, start, width, log)
            continue
        discount(regret, start, width, log)
        for s in range(start, start + width):
            regret[s] = floored(regret[s] + weight * log.regret[s], plus)
            log.regret[s] = regret[s] + predict * (weight * log.regret[s])
        if rule == PURE:
            pick[start] = greatest(log.regret, start, width, counter)
        elif rule != MATCH and positive_sum(regret, start, start + width, None) <= 0.0:
            pick[start] = np.uint64(uniform(counter) * np.float64(width))
        for s in range(start, start + width):
            log.regret[s] = 0.0
    log.filled[ZERO] = 0


@inlined
def begin_iteration(logs: tuple[RegretLog, RegretLog]) -> bool:
    """Begin another iteration unless a rule has failed; return whether it begins."""
    if not is_function(logs[0]) and not is_discounted(logs[0]):
        return True
    logs[0].iteration[ZERO] += 1.0
    logs[1].iteration[ZERO] += 1.0
    return logs[0].rule.failed[ZERO] < 0 and logs[1].rule.failed[ZERO] < 0


@inlined
def iterations(walk: Callable[..., Any], options: tuple[float, ...], rule: int, batch: SamplerArrays) -> None:
    """Run one iteration per weight of ``batch``. ``options`` are the parameters of the walk.

    For each player in turn, a deal is drawn and one walk is run. With simultaneous updates regrets are logged until
    both walks are over. ``rule`` determines strategies from regrets.
    """
    tree, pre_deal, (first, second), weights, average_weights, plus, turns, logs, frames, counter, nodes = batch
    threshold, alias = tree.chances.threshold, tree.chances.alias
    deals, later = np.uint64(tree.hands.shape[1]), turns == SIMULTANEOUS
    entered = 0
    for t in range(len(weights)):
        if not begin_iteration(logs):
            break
        deal = draw_deal(threshold, alias, deals, counter)
        entered += pre_deal
        entered += walk(
            options, 0, deal, tree, first, second, weights[t], average_weights[t], plus, later, logs[0], frames, counter
        )
        deal = draw_deal(threshold, alias, deals, counter)
        entered += pre_deal
        entered += walk(
            options, 1, deal, tree, second, first, weights[t], average_weights[t], plus, later, logs[1], frames, counter
        )
        if later:
            settle(first.regret, first.pick, rule, 1.0, plus, logs[0], counter)
            settle(second.regret, second.pick, rule, 1.0, plus, logs[1], counter)
    nodes[ZERO] += entered
