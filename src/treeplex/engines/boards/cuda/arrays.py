"""Inputs and state of the GPU kernels of hold'em subgames: NamedTuples of arrays, with names for their columns.

A *unit* is a street root on a board. Its rows have one number per hand, ``stride`` apart:

- reach rows of the opponent: the street root, then its actions. At terminals, the opponent's reach against each of the
  learner's hands replaces the row, in place.
- a second row of that kind for reach rows with both showdowns and folds (``EXTRA``).
- the value of each of the learner's decisions.
- values of chance nodes, on streets before the last.

The value of one of the learner's actions is a sum of *items*: rows times chips, or times one. So each hand's values are
gathered by one thread, and no two threads ever add to the same number.

A reach row with a hand is *marked* with the number of the pass, so marks are never cleared.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints
from treeplex.engines.boards.arrays import Array, Offsets, Small

Words = npt.NDArray[np.uint32]


class DeviceBetting(NamedTuple):
    """One street's betting, in the order of a pass that updates one player (the learner, against its opponent).

    Records are rows of words, one after the other. Rows and actions are counted from the unit's first.
    """

    root: Words  # [roots x ROOT_WORDS] street roots
    theirs: Words  # [. x THEIRS_WORDS] the opponent's decisions
    own: Words  # [. x OWN_WORDS] the learner's decisions
    group: Words  # [. x GROUP_WORDS] terminals that share a reach row
    item_start: Words  # [roots + slots + 1] items of the learner's street roots, then of its actions
    item: Words  # row of the unit
    chips: npt.NDArray[np.floating[Any]]  # of each item
    two: Words  # [roots + slots, 2] rows of the first two items; NO_ROW if there is no second item
    two_chips: npt.NDArray[np.floating[Any]]  # [roots + slots, 2]


(
    ENTRY, FIRST_ROW, OPEN_ON, THEIRS, THEIRS_END, THEIR_SLOT, THEIR_SLOTS, OWN, OWN_END, ROOT_SLOT, ROOT_SLOTS,
    ROOT_WORDS,
) = range(12)  # fmt: skip
"""Columns of ``DeviceBetting.root``.

``ENTRY``: the row above the root, on the board above. ``FIRST_ROW``: the root's first row among all rows of the board.
``OPEN_ON``: the boards on which it is open, as their texture plus one; 0: all boards. Then the range of the opponent's
decisions, its first action and number of actions; then those of the learner."""

ABOVE, OUT, ACTIONS, SLOT, NUMBER, THEIRS_WORDS = range(6)
"""Columns of ``DeviceBetting.theirs``: row above, first row below, number of actions, first action, decision."""

REACHED, VALUE, OWN_ACTIONS, OWN_SLOT, OWN_NUMBER, ITEM, MARK, MORE, OWN_WORDS = range(9)
"""Columns of ``DeviceBetting.own``.

- ``REACHED``, ``VALUE``: rows of the opponent's reach and of the decision's value.
- ``OWN_ACTIONS``, ``OWN_SLOT``, ``OWN_NUMBER``: number of actions, first action, and number of the decision.
- ``ITEM``: index of its actions in ``item_start``.
- ``MARK``: row of the opponent's reach among all rows of the board.
- ``MORE``: does any of its actions have more than two items?"""

NO_ROW = 2**32 - 1

ROW, KIND, EXTRA, TOP, GROUP_WORDS = range(5)
"""Columns of ``DeviceBetting.group``.

- ``ROW``: reach row.
- ``KIND``: flags whether chips are paid by strength (``SHOWS``) and by hands alone (``FOLDS``).
- ``EXTRA``: row for chips by hands alone.
- ``TOP``: row of the street root among all rows of the board."""

SHOWS, FOLDS = 1, 2


class Cards(NamedTuple):
    """The boards of a street when one player learns."""

    board: Words  # [B x BOARD_WORDS]
    storage: Offsets  # [B x 2] first numbers of the opponent's and of the learner's actions
    shift: Offsets  # [B x 2] in a part of a game: ``storage`` in the whole game less ``storage`` here
    map: Small  # positions of the opponent's hands on the board above
    program: Words  # see ``matches``
    lookup: Words  # [sum H, 4] see ``matches``
    same: Small  # [sum H] position of the opponent's same hand


(
    BOARD_START, BOARD_WIDTH, BOARD_HANDS, BOARD_THEIRS, BOARD_THEIR_HANDS, BOARD_PROGRAM, BOARD_STEPS, BOARD_ROWS,
    BOARD_STRIDE, BOARD_MARKS, BOARD_DECISION, BOARD_THEIR_DECISION, BOARD_TEXTURE, BOARD_MAP, BOARD_OVER,
    BOARD_OVER_STRIDE, BOARD_OVER_MARKS, BOARD_WORDS,
) = range(18)  # fmt: skip
"""Columns of ``Cards.board``.

- Learner's hands: positions on all boards before, positions on this one, and hands without padding.
- Opponent's hands: positions on this board, and hands without padding.
- Program of sums over cards, and its steps.
- Start of the board's rows, the distance between them, and the start of its marks.
- Number of the first decision of the learner, and of the opponent.
- Texture plus one.
- Start of ``map``.
- Of the board above: start of its rows, the distance between them, and the start of its marks."""

AGAIN = 1 << 15
"""Flag in ``Cards.program``: a list of hands with a common card begins here."""


class Deals(NamedTuple):
    """Values of a street's boards to the chance nodes above, when one player learns."""

    first: Offsets  # [boards above + 1] images of the boards below each
    image: Words  # [images x 4] start of values, positions of the board, start of ``back``, unused
    back: Small  # position of a hand of the board above; an empty position if it is not on the board
    row: Ints  # [X] row of each chance node
    above: Offsets  # [boards above, 3] start of its rows, distance between them, number of positions


class LearningPlayer(NamedTuple):
    """Arrays of the player who learns."""

    source: Array
    regret: Array
    predicted: Array
    last: Ints
    scale: npt.NDArray[np.float32]
    where: Offsets
    locked: Array


class Facing(NamedTuple):
    """Arrays of the learner's opponent, whose strategy is added to its average."""

    source: Array
    average: Array
    scale: npt.NDArray[np.float32]
    where: Offsets
    locked: Array


class Clock(NamedTuple):
    """Iteration and pass, in GPU memory so that recorded launches can be repeated, with discounts and weights."""

    t: Ints  # [1]
    stamp: Ints  # [1] the number of the pass
    positive: Floats
    negative: Floats
    weight: Floats


class RowSums(NamedTuple):
    """Layout of the sums over rows: sizes of shared memory, in numbers."""

    each: int  # hands of a row per lane: an odd number, so that lanes have no bank conflicts
    size: int  # numbers per warp
    warps: int  # warps per block
    blocks: int  # blocks per board
