"""Arrays of a public tree that grows: what the kernels of growth are handed.

A row belongs to a public node and to the move that leads to it. Rows are appended, never inserted: a child has a larger
number than its parent, and children of a node form a linked list, actions without a size first, then rising sizes.
"""

from __future__ import annotations

from typing import Final, NamedTuple

from treeplex.arrays import Bytes, Floats, Ints

ARCHIVED: Final = -3
"""The mover of a node whose subtree is on disk: nobody reaches it, so its value is zero."""

NONE: Final = -1
"""No such node."""

UNSIZED: Final = -1.0
"""The size of a move that has none."""


class Nodes(NamedTuple):
    """The tree."""

    parent: Ints  # [P] NONE at the root
    child: Ints  # [P] the first one, or NONE
    sibling: Ints  # [P] the next one, or NONE
    mover: Bytes  # [P] 0, 1, CHANCE, TERMINAL or ARCHIVED
    fold_out: Bytes  # [P] 1 at a terminal that pays the same whatever the size of the move before the last
    size: Floats  # [P] of the move that leads here, or UNSIZED
    scale: Floats  # [P] payoff scale: what that size multiplies payoffs by
    amount: Floats  # [P] factor of the payoff table at a terminal
    table: Ints  # [P] number of that table, or NONE
    deals: Ints  # [P] pairs of hands possible here: how many histories the node stands for
    word: Ints  # [P] what the move is called, as a number
    key: Ints  # [P] where moves have sizes, the number of the interval of legal ones; NONE elsewhere
    cards: Ints  # [P] the public cards so far, as a number
    idle: Ints  # [P] how many checks in a row have found that nobody gets here


class Rows(NamedTuple):
    """What is learnt: one row per node, one column per hand of the player who chose the move to the node.

    ``value`` and ``fold_out`` add up counterfactual values of the move for that player: all of it, and the part that
    does not depend on its size. ``earned`` adds up the value of the node for the player who moves there. All sums carry
    the weights of the average.
    """

    regret: Floats  # [P, H]
    average: Floats  # [P, H] sum of the own probability of playing up to the move
    strategy: Floats  # [P, H] probability of the move, to be played next
    value: Floats  # [P, H]
    fold_out: Floats  # [P, H]
    earned: Floats  # [P, H]


class Scratch(NamedTuple):
    """What an iteration writes over."""

    reach: Floats  # [2, P, H] each player's own probability of getting to a node; row 0 is set by the caller
    values: Floats  # [P, H]
    lanes: tuple[int, ...]  # [H] zeros if there are few hands: a length that compilers see unrolls loops over hands


class GrowingStep(NamedTuple):
    """How an iteration counts: for regrets, for averages and sums; whether regrets are cut off at zero."""

    regret: float
    average: float
    floor: bool
