"""What GPU kernels of hold'em subgames are told and what they keep: NamedTuples of arrays, columns by name.

A *unit* is a street root on a board. Its rows have one number per hand, ``stride`` apart:

- reach rows of the opponent: the street root, then its actions. Where terminals are, the row is replaced by what the
  learner's hands meet, in place;
- second rows of that kind, for reach rows with showdowns and folds (``EXTRA``);
- the value of each of the learner's decisions;
- values of chance nodes, on streets before the last.

A value of one of the learner's actions is a sum of *items*: rows times chips, or times one. So values are gathered,
each hand by one thread, and no two threads ever add to the same number.

A reach row with a hand is *marked* with the number of the pass, so that nobody has to clear marks.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints
from treeplex.engines.boards.arrays import Offsets, Small

Array = npt.NDArray[Any]


class Betting(NamedTuple):
    """One street's betting as a pass that updates one player (the learner, against its opponent) walks along it."""

    root: Ints  # [roots, 9]
    theirs: Ints  # [., 4] the opponent's decisions: ABOVE, SLOT, ACTIONS, NUMBER
    own: Ints  # [., 5] the learner's decisions: REACHED, SLOT, ACTIONS, NUMBER, MARK
    group: Ints  # [., 5] terminals that share a reach row: ROW, SHOWS, FOLDS, EXTRA, TOP
    item_start: Ints  # [roots + slots + 1] items of the learner's street roots, then of its actions
    item: Ints  # row of the unit times four, plus the action's number modulo four
    chips: npt.NDArray[np.floating[Any]]  # of each item
    entry: Ints  # [roots] row of the board above from which the street root is reached


THEIRS, THEIRS_END, OWN, OWN_END, THEIR_SLOT, REACH, ROWS, FIRST_ROW, CHANCES = range(9)
"""Columns of ``Betting.root``: decisions of both; the opponent's first slot; reach rows; all rows; rows of the units
before it; chance nodes."""

ABOVE, SLOT, ACTIONS, NUMBER, MARK = range(5)
REACHED = 0
"""Columns of decisions: the row above, or of the opponent's reach; first slot; actions; number; the row among all of
the board."""

ROW, SHOWS, FOLDS, EXTRA, TOP = range(5)
"""Columns of ``Betting.group``: reach row; do chips go by strength, by hands alone; row for the second, -1: none; row
of the street root. Rows are counted among all of the board."""


class Cards(NamedTuple):
    """The boards of a street as one player learns."""

    board: Offsets  # [B, 19]
    map: Small  # where the opponent's hands stand on the board above
    program: Small  # see ``matches``
    look: npt.NDArray[np.uint32]  # [B: 4, H]
    same: Small  # [sum H] where the opponent has the same hand


(
    START, WIDTH, HELD, STORAGE, DECISION, THEIR_WIDTH, THEIR_HELD, THEIR_STORAGE, THEIR_DECISION, MAP, PROGRAM, STEPS,
    ABOVE_ROWS, ABOVE_STRIDE, ABOVE_ALIVE, BOARD_ROWS, STRIDE, ALIVE, FOUND,
) = range(19)  # fmt: skip
"""Columns of ``Cards.board``: the learner's hands, the opponent's hands, their map, the program of sums over cards;
rows and marks of the board above; where the board's own rows begin and how far apart they are; its marks; values."""

AGAIN = 1 << 15
"""In ``Cards.program``: a list of hands that have a card in common begins here."""


class Deals(NamedTuple):
    """What the boards of a street bring to the chance nodes above, as one player learns."""

    first: Offsets  # [boards above + 1] images of the boards below each
    image: Offsets  # [images, 3] where values begin, hands of the board, where ``back`` begins
    back: Small  # where a hand of the board above stands; a place without a hand if nowhere
    row: Ints  # [X] row of each chance node
    above: Offsets  # [boards above, 3] where its rows begin, how far apart they are, how many hands it has


class Learning(NamedTuple):
    """The player who learns."""

    source: Array
    regret: Array
    predicted: Array
    last: Ints
    scale: npt.NDArray[np.float32]
    where: Offsets
    locked: Array


class Facing(NamedTuple):
    """Its opponent, whose strategy is added to its average."""

    source: Array
    average: Array
    scale: npt.NDArray[np.float32]
    where: Offsets
    locked: Array


class Clock(NamedTuple):
    """Iteration and pass, kept on the GPU so that a recorded launch may be repeated; discounts and weights of all."""

    t: Ints  # [1]
    stamp: Ints  # [1] the number of the pass
    positive: Floats
    negative: Floats
    weight: Floats


class Sums(NamedTuple):
    """How rows are added up: sizes of shared memory, in numbers."""

    each: int  # hands of a row that a lane adds up: an odd number, so that lanes meet no bank twice
    size: int  # numbers of a warp
    warps: int  # of a block
    blocks: int  # of a board
