"""What GPU kernels of hold'em subgames are told and what they keep: NamedTuples of arrays, columns by name.

A *tile* is a run of street roots whose betting one block of threads walks along on one board; a *unit* is a tile on a
board. Rows of a unit have one number per hand, ``stride`` apart:

- reach rows of the opponent: street roots, then its actions. Where terminals are, the row is replaced by what the
  learner's hands meet, in place;
- second rows of that kind, for reach rows with showdowns and folds (``EXTRA``);
- the value of each of the learner's decisions;
- values of chance nodes, on streets before the last.

A value of one of the learner's actions is a sum of *items*: rows times chips, or times one. So values are gathered,
each hand by one thread, and no two threads ever add to the same number.
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

    tile: Ints  # [tiles, 14]
    theirs: Ints  # [., 4] the opponent's decisions: ABOVE, SLOT, ACTIONS, NUMBER
    own: Ints  # [., 4] the learner's decisions: REACHED, SLOT, ACTIONS, NUMBER
    group: Ints  # [., 4] terminals that share a reach row: ROW, SHOWS, FOLDS, EXTRA
    item_start: Ints  # [roots + slots + 1] items of the learner's street roots, then of its actions
    item_row: Ints
    item_chips: npt.NDArray[np.floating[Any]]
    entry: Ints  # [roots] row of the board above from which the street root is reached


(
    ROOT, ROOTS, THEIRS, THEIRS_END, OWN, OWN_END, GROUP, GROUP_END, THEIR_SLOT, OWN_SLOT, REACH, ROWS, FIRST_ROW,
    CHANCES,
) = range(14)  # fmt: skip
"""Columns of ``Betting.tile``: first street root and how many; decisions of both; terminal groups; first slots; reach
rows; all rows; rows of the tiles before it; chance nodes."""

ABOVE, SLOT, ACTIONS, NUMBER = range(4)
REACHED = 0
"""Columns of decisions: the row above, or of the opponent's reach; first slot; actions; number."""

ROW, SHOWS, FOLDS, EXTRA = range(4)
"""Columns of ``Betting.group``: reach row; do chips go by strength, by hands alone; row for the second, -1: none."""


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
    """The iteration, kept on the GPU so that a recorded launch may be repeated; discounts and weights of all."""

    t: Ints  # [1]
    positive: Floats
    negative: Floats
    weight: Floats


class Shape(NamedTuple):
    """How large the parts of shared memory are, in numbers; and how rows are added up."""

    each: int  # hands of a row that a lane adds up: an odd number, so that lanes meet no bank twice
    scan: int  # numbers of a warp that adds up rows
    scanners: int  # such warps
    decisions: int  # of the learner in a tile, at most
    marks: int  # reach rows of a tile, at most
    rows: int  # numbers of a block's rows, where these are in memory
