"""Arrays of a growing public tree, the arguments of its kernels.

A row belongs to a public node and to the move that leads to it. Rows are appended, never inserted, so a child has a
larger number than its parent. The children of a node form a linked list: actions without a size first, then sizes in
increasing order.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from treeplex.arrays import Bytes, Floats, Ints

ARCHIVED: Final = -3
"""The mover of a node whose subtree is on disk. No player reaches it, so its value is zero."""

NONE: Final = -1
"""Stands for a node, table or interval that does not exist."""

UNSIZED: Final = -1.0
"""Stands for the size of a move without a size."""


class Nodes(NamedTuple):
    """The nodes of a tree and their links."""

    parent: Ints  # [P] NONE at the root
    child: Ints  # [P] the first child, or NONE
    sibling: Ints  # [P] the next sibling, or NONE
    mover: Bytes  # [P] 0, 1, CHANCE, TERMINAL or ARCHIVED
    fold_out: Bytes  # [P] 1 at a terminal whose payoff does not depend on the size of the move before the last
    size: Floats  # [P] size of the move that leads here, or UNSIZED
    scale: Floats  # [P] payoff scale: the factor of payoffs that belongs to that size
    amount: Floats  # [P] factor of the payoff table at a terminal
    table: Ints  # [P] number of the payoff table, or NONE
    deals: Ints  # [P] number of pairs of hands possible here, which are the histories of the node
    word: Ints  # [P] number of the name of the move
    key: Ints  # [P] number of the interval of legal sizes; NONE if moves have no sizes
    cards: Ints  # [P] number of the public cards dealt so far
    idle: Ints  # [P] number of consecutive checks at which no player reached the node


class Rows(NamedTuple):
    """Regrets, averages and sums: one row per node, one column per hand of the player who chose the move to the node.

    ``value`` and ``fold_out`` are sums of counterfactual values of the move for that player: the whole value, and the
    part that does not depend on the size of the move. ``earned`` is the sum of values of the node for the player who
    moves there. All sums have the weights of the average.
    """

    regret: Floats  # [P, H]
    average: Floats  # [P, H] sum of the own probability of playing to the move
    strategy: Floats  # [P, H] probability of the move in the next iteration
    value: Floats  # [P, H]
    fold_out: Floats  # [P, H]
    earned: Floats  # [P, H]


class Scratch(NamedTuple):
    """Arrays that an iteration overwrites."""

    reach: Floats  # [2, P, H] each player's own probability of reaching a node; row 0 is set by the caller
    values: Floats  # [P, H]
    lanes: tuple[
        int, ...
    ]  # [H] zeros if there are few hands: the compiler knows the length and unrolls loops over hands


class GrowingStep(NamedTuple):
    """Weights of an iteration, for regrets and for averages and sums; and whether regrets are cut off at zero."""

    regret: float
    average: float
    floor: bool
