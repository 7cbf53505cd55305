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
from treeplex.engines.boards.arrays import Array, Offsets, Small

Words = npt.NDArray[np.uint32]


class DeviceBetting(NamedTuple):
    """One street's betting as a pass that updates one player (the learner, against its opponent) walks along it.

    Records are rows of words, one after the other. Rows and actions are counted from the unit's first.
    """

    root: Words  # [roots x ROOT_WORDS] street roots
    theirs: Words  # [. x THEIRS_WORDS] the opponent's decisions
    own: Words  # [. x OWN_WORDS] the learner's decisions
    group: Words  # [. x GROUP_WORDS] terminals that share a reach row
    item_start: Words  # [roots + slots + 1] items of the learner's street roots, then of its actions
    item: Words  # row of the unit
    chips: npt.NDArray[np.floating[Any]]  # of each item
    two: Words  # [roots + slots, 2] the rows of the first two items; NO_ROW if there is no second one
    two_chips: npt.NDArray[np.floating[Any]]  # [roots + slots, 2]


(
    ENTRY, FIRST_ROW, OPEN_ON, THEIRS, THEIRS_END, THEIR_SLOT, THEIR_SLOTS, OWN, OWN_END, ROOT_SLOT, ROOT_SLOTS,
    ROOT_WORDS,
) = range(12)  # fmt: skip
"""Of ``DeviceBetting.root``: the row that leads there, on the board above; its first row among all of the board; on
which boards it is open (one more than their texture, 0: on all); the opponent's decisions, its first action and how
many there are; the learner's."""

ABOVE, OUT, ACTIONS, SLOT, NUMBER, THEIRS_WORDS = range(6)
"""Of ``DeviceBetting.theirs``: the row above, the first row below, actions, the first action, the decision's number."""

REACHED, VALUE, OWN_ACTIONS, OWN_SLOT, OWN_NUMBER, ITEM, MARK, MORE, OWN_WORDS = range(9)
"""Of ``DeviceBetting.own``: the row of the opponent's reach, the row of its value, actions, the first action, the
decision's number, where ``item_start`` tells of its actions, the opponent's reach among all rows of the board, and
whether any of its actions has more than two items."""

NO_ROW = 2**32 - 1

ROW, KIND, EXTRA, TOP, GROUP_WORDS = range(5)
"""Of ``DeviceBetting.group``: reach row; do chips go by strength (SHOWS), by hands alone (FOLDS); the row for the
latter; the row of the street root among all of the board."""

SHOWS, FOLDS = 1, 2


class Cards(NamedTuple):
    """The boards of a street as one player learns."""

    board: Words  # [B x BOARD_WORDS]
    storage: Offsets  # [B x 2] first numbers of the opponent's and of the learner's actions
    shift: Offsets  # [B x 2] by how much further on they are in the whole game, where this is a part of one
    map: Small  # where the opponent's hands stand on the board above
    program: Words  # see ``matches``
    lookup: Words  # [sum H, 4]
    same: Small  # [sum H] where the opponent has the same hand


(
    BOARD_START, BOARD_WIDTH, BOARD_HANDS, BOARD_THEIRS, BOARD_THEIR_HANDS, BOARD_PROGRAM, BOARD_STEPS, BOARD_ROWS,
    BOARD_STRIDE, BOARD_MARKS, BOARD_DECISION, BOARD_THEIR_DECISION, BOARD_TEXTURE, BOARD_MAP, BOARD_OVER,
    BOARD_OVER_STRIDE, BOARD_OVER_MARKS, BOARD_WORDS,
) = range(18)  # fmt: skip
"""Of ``Cards.board``: the learner's hands on all boards before, on this one, and those that it may have; the opponent's
likewise; the program of sums over cards; where the board's rows begin and how far apart they are; its marks; the number
of each player's first decision; its texture and one; where ``map`` begins; rows, their distance and marks of the board
above."""

AGAIN = 1 << 15
"""In ``Cards.program``: a list of hands that have a card in common begins here."""


class Deals(NamedTuple):
    """What the boards of a street bring to the chance nodes above, as one player learns."""

    first: Offsets  # [boards above + 1] images of the boards below each
    image: Words  # [images x 4] where values begin, hands of the board, where ``back`` begins, nothing
    back: Small  # where a hand of the board above stands; a place without a hand if nowhere
    row: Ints  # [X] row of each chance node
    above: Offsets  # [boards above, 3] where its rows begin, how far apart they are, how many hands it has


class LearningPlayer(NamedTuple):
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


class RowSums(NamedTuple):
    """How rows are added up: sizes of shared memory, in numbers."""

    each: int  # hands of a row that a lane adds up: an odd number, so that lanes meet no bank twice
    size: int  # numbers of a warp
    warps: int  # of a block
    blocks: int  # of a board
