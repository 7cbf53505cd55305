"""UP of the regret matching family, tile by tile: values of sequences, and learning; see ``kernels``."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

from treeplex.engines.sequence.cuda.arrays import Index, Number, Rates, RunArrays, Shape
from treeplex.engines.sequence.cuda.parts import dividing, lane_of, offsets_of, sizes_of, sums
from treeplex.kernels.cuda.kernels import callee, column_sum, real, rule, select
from treeplex.kernels.cuda.kernels import uint32 as u
from treeplex.updates import rules

decayed: Any = rule(rules.decayed, where=select)


class Ups(NamedTuple):
    """Parts of kernels, by the form of a tile: one step without children, one step, several steps, or any."""

    bottom: Any
    one: Any
    several: Any
    any: Any


@cache
def learner(storage: str, predict: bool) -> Any:
    """Return the part of kernels by which a sequence learns."""
    number = real(storage)
    zero = number(0.0)

    @callee
    def learn(learning: RunArrays, at: Index, old: Number, gain: Number, rates: Rates, predicted: Number) -> Any:
        """Update the regret of a sequence by its ``gain`` and return the weight with which it is played."""
        r = decayed(old + gain, rates[1], rates[2], zero) + zero
        if r != old:
            learning.regret[at] = r
        if predict:
            r = r + number(predicted) * gain
        q = select(r > zero, r, zero)
        if predict:
            learning.played[at] = q
        return q

    return learn


@cache
def up_of_one(storage: str, predict: bool, dealt: bool, children: bool, eager: bool) -> Any:
    """Return UP for a tile of one step; ``children``: whether it has any; ``eager``: as in ``parts.sums``."""
    number, (paid, below), learn = real(storage), sums(storage), learner(storage, predict)
    zero, inverse_of = number(0.0), dividing(storage)[1]

    @callee
    def up_one(shape: Shape, learning: RunArrays, w: Index, lane: Index, rates: Rates, predicted: Number) -> None:
        """Take a tile of one step up."""
        base, first, entry, slot = offsets_of(shape, w)
        n, form, length, below_each = sizes_of(shape, w)
        row, j, wide, _ = lane_of(form, lane)
        here, at = u(first + j), u(u(base << u(5)) + lane)
        inverse_sum, leave = learning.inverse_sum[here], shape.leave[here]
        some = inverse_sum > zero
        old, played, value = zero, zero, zero
        if row < n:
            old = learning.regret[at]
            played = learning.played[at] if predict else old
            value = learning.earned[at] if dealt else paid(shape, learning.plan, entry, length, lane, rates[0], eager)
            if children:
                value += below(learning.slot, slot, below_each, lane)
            if not predict:
                played = select(played > zero, played, zero)
        expected = column_sum(select(some, played * value, value), j, wide, n)
        expected *= select(some, inverse_sum, -inverse_sum)
        if row == u(0):
            learning.slot[leave] = expected
        q = zero
        if row < n:
            q = learn(learning, at, old, value - expected, rates, predicted)
        total = column_sum(q, j, wide, n)
        if row == u(0):
            learning.inverse_sum[here] = inverse_of(total, n)

    return up_one


@cache
def up_of_several(storage: str, predict: bool, dealt: bool, eager: bool) -> Any:
    """Return UP for a tile of several steps."""
    number, (paid, below), learn = real(storage), sums(storage), learner(storage, predict)
    zero, inverse_of = number(0.0), dividing(storage)[1]

    @callee
    def up_several(shape: Shape, learning: RunArrays, w: Index, lane: Index, rates: Rates, predicted: Number) -> None:
        """Take a tile of several steps up.

        Until its expected value is known, values of actions are stored in ``played``, or added to regrets.
        """
        base, first, entry, slot = offsets_of(shape, w)
        n, form, length, children = sizes_of(shape, w)
        row, j, wide, high = lane_of(form, lane)
        here, start = u(first + j), u(u(base << u(5)) + lane)
        inverse_sum, leave = learning.inverse_sum[here], shape.leave[here]
        some = inverse_sum > zero
        total = zero
        at = start
        a = select(row < high, row, n)  # lanes left over have no action
        while a < n:
            played = learning.played[at]
            value = learning.earned[at] if dealt else paid(shape, learning.plan, entry, length, lane, rates[0], eager)
            value += below(learning.slot, slot, children, lane)
            if predict:
                total += select(some, played * value, value)
                learning.played[at] = value
            else:
                total += select(some, select(played > zero, played, zero) * value, value)
                learning.regret[at] = played + value
            entry, slot, at, a = u(entry + length), u(slot + children), u(at + u(32)), u(a + high)
        expected = column_sum(total, j, wide, high)
        expected *= select(some, inverse_sum, -inverse_sum)
        if row == u(0):
            learning.slot[leave] = expected
        total = zero
        at = start
        a = select(row < high, row, n)
        while a < n:
            r = learning.regret[at]
            if predict:
                total += learn(learning, at, r, learning.played[at] - expected, rates, predicted)
            else:
                r = decayed(r - expected, rates[1], rates[2], zero) + zero
                learning.regret[at] = r
                total += select(r > zero, r, zero)
            at, a = u(at + u(32)), u(a + high)
        total = column_sum(total, j, wide, high)
        if row == u(0):
            learning.inverse_sum[here] = inverse_of(total, n)

    return up_several


@cache
def going_up(storage: str, predict: bool, dealt: bool) -> Ups:
    """Return UP for each form of a tile; ``dealt``: whether payoffs are computed beforehand."""
    same = storage, predict, dealt
    up_one, up_several = up_of_one(*same, True, True), up_of_several(*same, True)

    @callee
    def up_any(shape: Shape, learning: RunArrays, w: Index, lane: Index, rates: Rates, predicted: Number) -> None:
        n, form, _, _ = sizes_of(shape, w)
        if n > u(u(form >> u(6)) & u(63)):
            up_several(shape, learning, w, lane, rates, predicted)
        else:
            up_one(shape, learning, w, lane, rates, predicted)

    return Ups(up_of_one(*same, False, False), up_of_one(*same, True, False), up_of_several(*same, False), up_any)
