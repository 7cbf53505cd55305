"""Inputs and state of the kernels of hold'em subgames: NamedTuples of arrays, with names for their columns.

Dimensions have these names:

- ``H``: hands of a player on a board. They are padded to whole vectors of 16, with at least one entry without a hand.
- ``B``: boards of a street.
- ``E``: roots of a street, one per path into it.
- ``X``: chance nodes at the end of a street.

Kernels get one table of addresses (``PassArrays``) and read from it the NamedTuples they need. ``cpu.addresses``
explains how and why, and lists the types and dimensions of all arrays.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints

NO_CARD: Final = 53  # the cards of an entry without a hand
ROWS_OF_SUMS: Final = 54  # one per card, and one for NO_CARD

UPDATE, BEST, VALUE, RECORD_BEST, RECORD_VALUE = range(5)
"""Modes of a pass at the learner's decisions: learn, choose the best action, or play its strategy.

The last two are ``BEST`` and ``VALUE``, and also write the value of every action into the learner's regrets."""

WHOLE, DOWN, BELOW, UP = range(4)
"""Phases of a pass: all of it, or one of three parts.

The parts are down the first street, through the boards below it, and up the first street again."""

Array = npt.NDArray[Any]
Offsets = npt.NDArray[np.int64]
Small = npt.NDArray[np.uint16]
Cards = npt.NDArray[np.uint8]
Whole = int | np.integer[Any]


class Betting(NamedTuple):
    """One street's betting, in the order of a pass that updates one player (the learner, against its opponent).

    Rows stand for sequences: street roots first, then actions. A tile is a run of roots with enough rows
    to fill vectors. Streets before the last have one tile.
    """

    tile: Ints  # [tiles + 1, 8] starts of its parts: ROOT, two SLOTs, two NODEs, GROUP, BLOCK; then BOARDS
    opponent_node: Ints  # [., 4] the opponent's decisions: ABOVE, SLOT, ACTIONS, NUMBER
    own_node: Ints  # [., 5] the learner's decisions: ABOVE, SLOT, ACTIONS, NUMBER, REACHED
    terminal_group: Ints  # [., 5] terminals that share a reach row: ROW, TERMINAL, END, SHOWS, FOLDS
    terminal: Ints  # [Z] value rows of terminals, group by group
    amount: npt.NDArray[np.floating[Any]]  # [Z, 2] chips BY_STRENGTH and BY_HANDS, in the precision of computations
    chance_node: Ints  # [X, 3] REACH_ROW, VALUE_ROW, TEXTURE: one per root of the next street


ROOT, OWN_SLOT, OPPONENT_SLOT, OPPONENT_NODE, OWN_NODE, GROUP, BLOCK, BOARDS = range(8)
"""Columns of ``Betting.tile``: first root, slot of either player, decision of either, terminal group, and block.

The last column is the texture of the boards on which the tile's roots are open; -1: roots of any texture.

A block is up to 16 roots of a tile. Between streets, the numbers of a block are contiguous for each hand:
[blocks, H, 16]."""

ABOVE, SLOT, ACTIONS, NUMBER, REACHED = range(5)
"""Columns of decisions: row of the owner's sequence above, first slot, actions, number, row of the opponent's reach."""

ROW, TERMINAL, END, SHOWS, FOLDS = range(5)
"""Columns of ``Betting.terminal_group``: reach row, first terminal, end, any chips BY_STRENGTH, any BY_HANDS."""

BY_STRENGTH, BY_HANDS = range(2)
"""Columns of ``Betting.amount``: chips times (weaker - stronger hands), chips times all hands."""

REACH_ROW, VALUE_ROW, TEXTURE = range(3)
"""Columns of ``Betting.chance_node``: rows above the chance node, and the texture of the boards of its root.

A root is open on boards of its texture. If the texture is negative, it is open on all boards of the chance node."""


class Hands(NamedTuple):
    """One player's hands on the boards of a street, flat, board after board, and by strength on the river."""

    start: Offsets  # [B + 1] where a board's hands start, including padding
    counts: Ints  # [B] number of hands, without padding
    number: Small  # [sum H] number of the hand among all 1,326; 1,326: no hand
    first: Cards  # [sum H] one card
    second: Cards  # [sum H] the other
    same: Small  # [sum H] position of the same hand of the other player on this board; an empty one if there is none
    storage: Offsets  # [B] start of a board's regrets in the player's arrays, as if all of the street were open
    decision: Offsets  # [B] likewise of its decisions in arrays over the player's decisions
    map_start: Offsets  # [images + 1] starts of the images' maps
    map: Small  # position on the board above of each hand of the board, or of an image (a change of suits)
    back: Small  # [images, H above] the inverse, on the second street only; an empty position if there is none
    shift: Offsets  # [B] in a part of a game: ``storage`` in the whole game less ``storage`` here


class Boards(NamedTuple):
    """The boards of a street. Children of one board are contiguous."""

    hands: tuple[Hands, Hands]
    image: Offsets  # [B + 1] each board's images: itself, and boards that differ from it only in suits
    child: Offsets  # [B + 1] each board's children on the next street
    group_start: Offsets  # [B + 1] each board's groups of equal strength, weakest first; only on the river
    group: Small  # [groups, 2] end of the group among each player's hands
    texture: Offsets  # [B] number of the classes of the cards dealt since the start


class BoardIndex(NamedTuple):
    """The arrays of ``Boards`` without its hands."""

    image: Offsets
    child: Offsets
    group_start: Offsets
    group: Small
    texture: Offsets


class HandLearner(NamedTuple):
    """State of CFR for one player between iterations; modified in place.

    Regrets are discounted when they are next updated; ``last`` is the iteration of the last update. In 16 bits, the
    numbers of a decision are ``scale`` times the stored ones.
    """

    regret: Array  # [S] float64, float32 or int16; or the memory of a rule that is called: see ``RuleCalls``
    average: Array  # [S] of the same type
    predicted: Array  # [S] predicted regrets, or the strategies of a rule that is called; else empty
    last: Ints  # [decisions] the iteration of the last update
    regret_scale: npt.NDArray[np.float32]  # [decisions], empty unless 16-bit
    average_scale: npt.NDArray[np.float32]


class StreetScratch(NamedTuple):
    """Scratch arrays for one street, flat, in the precision of the computation.

    Each thread has its own, except on the first street. There only the first thread writes, but all write to ``value``.
    """

    reach: Array  # rows times H
    value: Array  # rows times H
    node: Array  # actions times H
    total: Array  # H: value of a decision to each hand
    dealt: Array  # H times lanes: reach of the opponent's hands
    ahead: Array  # H times lanes: weaker hands plus hands that are not stronger
    square: Array  # two squares of 16 hands times lanes
    sums: Array  # cards times lanes
    root_values: Array  # [blocks, H, 16] values of street roots
    entry: Array  # [blocks, H, 16] reach of the next street's roots
    alive: npt.NDArray[np.bool_]  # reach rows with a nonzero number
    lanes: Offsets  # [4 x 16] terminal group of each lane; start of its reach row; its offset in a square; two counts
    terminal: Offsets  # [2, Z] starts of the value rows of terminals, BY_STRENGTH and BY_HANDS
    lane: Offsets  # [2, Z] starts of their lanes in a square
    chips: Array  # [2, Z] chips that they pay


class Level(NamedTuple):
    """One street: its betting when either player learns, and its boards."""

    betting: tuple[Betting, Betting]
    boards: Boards


class Sources(NamedTuple):
    """Numbers that strategies are normalised from: one per action and hand, for both players."""

    first: Array
    second: Array


FREE, ALL_LOCKED = -1, -2
"""Marks of decisions without a locked hand, and of decisions whose hands are all locked."""


class Locked(NamedTuple):
    """Decisions of both players at which hands play locked strategies."""

    where: tuple[Offsets, Offsets]  # [decisions] FREE, ALL_LOCKED, or the start of the rows of some locked hands
    rows: Sources  # strategies [actions, H] of locked hands, in the storage; zeros for free hands


class Playing(NamedTuple):
    """The strategies being played: both players' learners, the numbers they play from, and locked decisions."""

    learners: tuple[HandLearner, HandLearner]
    source: Sources  # [S] regrets, predicted ones or averages
    frozen: Locked


class PlayerArrays(NamedTuple):
    """One player's part of ``Playing`` as kernels see it, with its weights at the root."""

    regret: Array
    average: Array
    predicted: Array
    last: Ints
    regret_scale: npt.NDArray[np.float32]
    average_scale: npt.NDArray[np.float32]
    source: Array
    where: Offsets
    locked: Array
    start: Array  # [H] in the precision of the computation


def no_learner(storage: str) -> HandLearner:
    """Return a learner without arrays, for passes that do not learn."""
    none = np.zeros(0, storage)
    return HandLearner(none, none, none, np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros(0, np.float32))


class Schedules(NamedTuple):
    """Discounts and weights of iterations 0, 1, 2, ..."""

    positive: Floats  # factor of positive regrets after an iteration
    negative: Floats  # factor of negative regrets
    weight: Floats  # weight of an iteration's strategies in the average


class PassRule(NamedTuple):
    """Further parameters in which algorithms differ."""

    predict: float  # multiple of the last instantaneous regret that is predicted
    prune: bool  # are decisions skipped that the opponent never reaches?


def plain_rule() -> PassRule:
    """Return the rule of passes that do not learn."""
    return PassRule(0.0, True)


class RuleCalls(NamedTuple):
    """A rule that is called in place of the family's arithmetic (``updates.rule``), for every hand of a decision.

    Its memory is in ``HandLearner.regret`` [rows S]. If the numbers of a decision begin at ``start``, its memory
    [rows, actions, H] begins at ``rows * start``. ``HandLearner.predicted`` has its strategies, zeros before the first
    update.
    """

    code: Offsets  # [2] address of the rule, 0 if there is none; rows of memory
    constants: Floats  # [2, C] of either player
    failed: Offsets  # [3] player, iteration and actions of the first call that raised; -1: none raised
    astray: Offsets  # [1] first iteration in which a call did not leave probabilities; 0: there is none
    arguments: Floats  # [(2 + rows) A] of the call that raised, as the rule left them


def no_calls() -> RuleCalls:
    """Return calls without a rule."""
    return RuleCalls(np.zeros(2, np.int64), np.zeros((2, 0)), np.full(3, -1), np.zeros(1, np.int64), np.zeros(0))


class Pass(NamedTuple):
    """Task of one pass: learner, mode and iteration."""

    player: int  # the learner
    mode: int
    t: int  # the iteration, from 1


class PassArrays(NamedTuple):
    """All arrays of a subgame as one thread sees them, by address: see ``engines.boards.cpu.addresses``."""

    addresses: Offsets
    work: Array  # empty: the type of computations
    stored: Array  # empty: the type of regrets and averages


class Results(NamedTuple):
    """Arrays that passes write their results to, and what all threads share."""

    root_values: Array  # [B, blocks times H times 16] values of the second street's roots
    values: Floats  # [rows, H] values of the learner's hands at the root, for the first ``rows`` passes
    reach: Array  # of the snapshot: rows times H, of the opponent
    value: Array  # rows times H, of the learner
    part: Offsets  # [P, 5] parts of the second of three streets' boards: BOARD, RIVER, RIVER_END, FIRST, STOP
    sums: Array  # [P, blocks times H times 16] values that parts have summed at chance nodes
    entry: npt.NDArray[Any]  # [B, blocks times H times 16] reach of the third street's roots below each board
    board_reach: Array  # [B, rows times H] reach rows of the second street's boards
    alive: npt.NDArray[np.bool_]  # [B, rows] those with a nonzero number
    passes: Offsets  # [., 4] see ``Pass``; then its phase
    rule: Floats  # [2] see ``PassRule``
    chosen: Offsets  # [2] level and board of the snapshot; -1: none
    sync: Offsets  # see ``engines.boards.cpu.tasks``
    wake_flags: Offsets


BOARD, RIVER, RIVER_END, FIRST, STOP = range(5)
"""Columns of ``Results.part``: board, range of boards of the next street, and range of parts of the board."""


class BoardPath(NamedTuple):
    """A board, and the one above it. Levels 0, 1 and 2 are the first, middle and last street."""

    level: int
    board: int
    above: int  # the level above; -1: none
    parent: int  # the board above


class PassWorker(NamedTuple):
    """One of several threads that run the same kernel."""

    thread: int
    threads: int


class Snapshot(NamedTuple):
    """A copy of the rows of one board below the first street, made during a pass. ``board`` -1: no copy."""

    level: int
    board: int
    reach: Array  # rows times H, of the opponent
    value: Array  # rows times H, of the learner
