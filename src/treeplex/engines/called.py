"""Rules that are functions, for engines that gather the numbers of one infoset at a time."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from treeplex.arrays import Floats, Ints, Longs
from treeplex.kernels.calls import call_rule
from treeplex.kernels.jit import Index, inlined_loop
from treeplex.updates.rule import Rule


class Call(NamedTuple):
    """How kernels call one player's rule; all but the address and the constants is modified in place."""

    address: np.uint64  # of the rule's C function
    rows: int  # of memory
    memory: Floats  # [rows * S] an infoset's numbers stand together, at ``rows`` times its first sequence
    constants: Floats  # [C]
    values: Floats  # [A] scratch
    strategy: Floats  # [A] scratch
    iteration: Floats  # [1]
    failed: Longs  # [1] the first sequence of the infoset whose call has raised; -1: none has


@inlined_loop
def update(call: Call, values: Floats, at: Index, strategy: Floats, place: Index, first: Index, width: Index) -> None:
    """Let the rule learn at the infoset of ``first`` from ``values[at:]`` and change ``strategy[place:]``.

    Nothing is called any more once a call has failed.
    """
    zero, rows = np.uint64(0), np.uint64(call.rows)
    if call.failed[zero] < 0 and call_rule(
        call.address, call.iteration[zero], values, at, strategy, place, call.memory, rows * first, call.constants,
        rows, width,
    ) != 0:  # fmt: skip
        call.failed[zero] = first


def initial_memory(rule: Rule, first: Ints, actions: Ints, sequences: int, constants: Floats) -> Floats:
    """[rows * S] The memory before the first iteration, of infosets that begin at ``first`` and have ``actions``."""
    memory = np.zeros(rule.memory * sequences)
    for width in np.unique(actions).tolist():
        numbers = rule.initial(width, constants).reshape(-1)
        if numbers.any():  # pages that are never touched take no memory
            begin = rule.memory * first[actions == width].astype(np.int64)
            memory[begin[:, None] + np.arange(len(numbers))] = numbers
    return memory


def calls(rule: Rule, memory: tuple[Floats, Floats], constants: Floats, widest: int, done: int) -> tuple[Call, Call]:
    """How both players' rule is called after ``done`` iterations; ``widest``: the most actions of an infoset."""
    address = np.uint64(rule.entry.address)  # ``compile_update`` keeps the function alive
    first, second = (
        Call(
            address, rule.memory, own, constants, np.empty(widest), np.empty(widest), np.array([float(done)]),
            np.full(1, -1, dtype=np.int64),
        )
        for own in memory
    )  # fmt: skip
    return first, second
