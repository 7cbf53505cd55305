"""What the kernels of hold'em subgames are told and what they keep: NamedTuples of arrays, columns by name.

``H`` hands of a player on a board, padded to whole vectors of 16 with at least one that stands for no hand; ``B``
boards of a street; ``E`` roots of a street (ways into it); ``X`` chance nodes at its end.

Kernels get one table of addresses (``PassArrays``) and read from it the NamedTuples they need: ``cpu.addresses`` says
how and why, and has types and dimensions of all arrays.
"""

from __future__ import annotations

from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats, Ints

NO_CARD: Final = 53  # stands in for the cards of no hand
ROWS_OF_SUMS: Final = 54  # per card, and for NO_CARD

UPDATE, BEST, VALUE, RECORD_BEST, RECORD_VALUE = range(5)
"""What a pass does at the learner's decisions: learn, choose the best action, or play its strategy.

The last two are ``BEST`` and ``VALUE`` with the value of every action written where the learner's regrets are kept."""

WHOLE, DOWN, BELOW, UP = range(4)
"""Phases of a pass: all of it; or down the first street, through the boards below it, and up the first street again."""

Array = npt.NDArray[Any]
Offsets = npt.NDArray[np.int64]
Small = npt.NDArray[np.uint16]
Cards = npt.NDArray[np.uint8]
Whole = int | np.integer[Any]


class Betting(NamedTuple):
    """One street's betting as a pass that updates one player (the learner, against its opponent) walks along it.

    Rows stand for sequences: street roots first, then actions. A tile is a run of roots with enough rows
    to fill vectors; streets before the last have one.
    """

    tile: Ints  # [tiles + 1, 8] where its parts begin: ROOT, two SLOTs, two NODEs, GROUP, BLOCK; and BOARDS
    opponent_node: Ints  # [., 4] the opponent's decisions: ABOVE, SLOT, ACTIONS, NUMBER
    own_node: Ints  # [., 5] the learner's decisions: ABOVE, SLOT, ACTIONS, NUMBER, REACHED
    terminal_group: Ints  # [., 5] terminals that share a reach row: ROW, TERMINAL, END, SHOWS, FOLDS
    terminal: Ints  # [Z] value rows of the terminals, group by group
    amount: npt.NDArray[np.floating[Any]]  # [Z, 2] chips BY_STRENGTH and BY_HANDS, in the precision of computations
    chance_node: Ints  # [X, 3] REACH_ROW, VALUE_ROW, TEXTURE: one per root of the next street


ROOT, OWN_SLOT, OPPONENT_SLOT, OPPONENT_NODE, OWN_NODE, GROUP, BLOCK, BOARDS = range(8)
"""Columns of ``Betting.tile``: first root, slot of either player, decision of either, terminal group, and block; the
texture of the boards on which its roots are open, -1: roots of any.

A block is up to 16 roots of a tile. Between streets their numbers lie side by side for each hand: [blocks, H, 16]."""

ABOVE, SLOT, ACTIONS, NUMBER, REACHED = range(5)
"""Columns of decisions: row of the owner's sequence above, first slot, actions, number, row of the opponent's reach."""

ROW, TERMINAL, END, SHOWS, FOLDS = range(5)
"""Columns of ``Betting.terminal_group``: reach row, first terminal, end, do chips go BY_STRENGTH, do any BY_HANDS?"""

BY_STRENGTH, BY_HANDS = range(2)
"""Columns of ``Betting.amount``: chips times (weaker - stronger hands), chips times all hands."""

REACH_ROW, VALUE_ROW, TEXTURE = range(3)
"""Columns of ``Betting.chance_node``: rows above the chance node, and the texture of the boards on which its root is
open; negative: of all that the chance node is on."""


class Hands(NamedTuple):
    """One player's hands on the boards of a street, flat, board after board; on the river by strength."""

    start: Offsets  # [B + 1] where a board's hands start, padding included
    counts: Ints  # [B] hands without padding
    number: Small  # [sum H] of the 1,326 hands; 1,326: none
    first: Cards  # [sum H] one card
    second: Cards  # [sum H] the other
    same: Small  # [sum H] where the other player has the same hand on this board; a place without a hand if nowhere
    storage: Offsets  # [B] where a board's regrets would start in the player's arrays if all of the street were open
    decision: Offsets  # [B] the same for its decisions in arrays of the player's decisions
    map_start: Offsets  # [images + 1] where an image's map starts
    map: Small  # where a hand of the board, or of its image under a change of suits, stands on the board above
    back: Small  # [images, H above] the other way round, on the second street alone; a place without a hand if nowhere
    shift: Offsets  # [B] by how much further on ``storage`` is in the whole game, where this is a part of one


class Boards(NamedTuple):
    """The boards of a street, children of one board side by side."""

    hands: tuple[Hands, Hands]
    image: Offsets  # [B + 1] each board's images: itself, and boards that differ from it in suits alone
    child: Offsets  # [B + 1] each board's children on the next street
    group_start: Offsets  # [B + 1] each board's groups of equal strength, weakest first; only on the river
    group: Small  # [groups, 2] where the group ends among each player's hands
    texture: Offsets  # [B] a number for the classes of the cards dealt since the start


class BoardIndex(NamedTuple):
    """The arrays of ``Boards`` beside its hands."""

    image: Offsets
    child: Offsets
    group_start: Offsets
    group: Small
    texture: Offsets


class HandLearner(NamedTuple):
    """What CFR keeps for one player between iterations; modified in place.

    Regrets are discounted when they are next touched: ``last`` says when that was. In 16 bits, the numbers of a
    decision are ``scale`` times what is stored.
    """

    regret: Array  # [S] float64, float32 or int16; of a rule that is called, its memory: see ``RuleCalls``
    average: Array  # [S] of the same type
    predicted: Array  # [S] what is played where that is not regrets: predicted ones, or a rule's strategies
    last: Ints  # [decisions] the iteration of the last update
    regret_scale: npt.NDArray[np.float32]  # [decisions], empty unless 16-bit
    average_scale: npt.NDArray[np.float32]


class StreetScratch(NamedTuple):
    """Scratch arrays for one street, flat, in the precision of the computation.

    Each thread has its own, but for the first street: there the first thread writes, and all to ``value``.
    """

    reach: Array  # rows times H
    value: Array  # rows times H
    node: Array  # actions times H
    total: Array  # H: the value of a decision to each hand
    dealt: Array  # H times lanes: what the opponent holds
    ahead: Array  # H times lanes: weaker hands, and those that are not stronger
    square: Array  # two squares of 16 hands times lanes
    sums: Array  # cards times lanes
    root_values: Array  # [blocks, H, 16] values of street roots
    entry: Array  # [blocks, H, 16] reach of the next street's roots
    alive: npt.NDArray[np.bool_]  # reach rows that are not all zero
    lanes: Offsets  # [4 x 16] terminal group of each lane; start of its reach row; its place in a square; two counts
    terminal: Offsets  # [2, Z] where value rows of terminals start, BY_STRENGTH and BY_HANDS
    lane: Offsets  # [2, Z] where their lanes start in a square
    chips: Array  # [2, Z] what they pay


class Level(NamedTuple):
    """One street: its betting as either player learns, and its boards."""

    betting: tuple[Betting, Betting]
    boards: Boards


class Sources(NamedTuple):
    """What strategies are shares of: one number per action and hand, for both players."""

    first: Array
    second: Array


FREE, ALL_LOCKED = -1, -2
"""Decisions without a locked hand, and those with locked hands alone."""


class Locked(NamedTuple):
    """Decisions of both players at which hands play what they are told."""

    where: tuple[Offsets, Offsets]  # [decisions] FREE, ALL_LOCKED, or where the rows of some locked hands start
    rows: Sources  # strategies [actions, H] of locked hands, in the storage; zeros stand for hands that are free


class Playing(NamedTuple):
    """The strategies being played: both players' learners, what they play from, and decisions that are locked."""

    learners: tuple[HandLearner, HandLearner]
    source: Sources  # [S] regrets, predicted ones or averages
    frozen: Locked


class PlayerArrays(NamedTuple):
    """One player's part of ``Playing``, and its weights at the root: what kernels see of it."""

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
    """A learner without arrays, for passes that do not learn."""
    none = np.zeros(0, storage)
    return HandLearner(none, none, none, np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros(0, np.float32))


class Schedules(NamedTuple):
    """Discounts and weights of iterations 0, 1, 2, ..."""

    positive: Floats  # what positive regret is multiplied by after an iteration
    negative: Floats  # what negative regret is multiplied by
    weight: Floats  # of an iteration's strategies in the average


class PassRule(NamedTuple):
    """What else differs between algorithms."""

    predict: float  # how much of the last instantaneous regret is expected again
    prune: bool  # is what the opponent never reaches left alone?


def plain_rule() -> PassRule:
    """For passes that do not learn."""
    return PassRule(0.0, True)


class RuleCalls(NamedTuple):
    """A rule that is called in place of the family's arithmetic (``updates.rule``), for every hand of a decision.

    Its memory is kept in ``HandLearner.regret`` [rows S], where that of a decision whose numbers begin at ``start``
    begins at ``rows * start``: [rows, actions, H]. ``HandLearner.predicted`` has its strategies, zeros before the first
    update.
    """

    code: Offsets  # [2] the address of the rule, 0 if there is none; rows of memory
    constants: Floats  # [2, C] of either player
    failed: Offsets  # [3] player, iteration and actions of the first call that raised; -1: none did
    astray: Offsets  # [1] the first iteration in which a call left no probabilities; 0: none did
    arguments: Floats  # [(2 + rows) A] of that call, as the rule has left them, if it has raised


def no_calls() -> RuleCalls:
    """No rule is called."""
    return RuleCalls(np.zeros(2, np.int64), np.zeros((2, 0)), np.full(3, -1), np.zeros(1, np.int64), np.zeros(0))


class Pass(NamedTuple):
    """What one pass is to do."""

    player: int  # who learns
    mode: int
    t: int  # the iteration, from 1


class PassArrays(NamedTuple):
    """All arrays of a subgame as one thread sees them, by address: see ``engines.boards.cpu.addresses``."""

    addresses: Offsets
    work: Array  # empty: the type of computations
    stored: Array  # empty: the type of regrets and averages


class Results(NamedTuple):
    """Where passes leave what they find."""

    root_values: Array  # [B, blocks times H times 16] values of the second street's roots
    values: Floats  # [passes, H] values of the learner's hands at the root, of as many passes as there are rows
    reach: Array  # a snapshot: rows times H, of the opponent
    value: Array  # rows times H, of the learner
    part: Offsets  # [P, 5] parts of the second of three streets' boards: BOARD, RIVER, RIVER_END, FIRST, STOP
    sums: Array  # [P, blocks times H times 16] what parts have found at chance nodes
    entry: npt.NDArray[
        Any
    ]  # [B, blocks times H times 16] reach of the third street's roots below a board of the second
    board_reach: Array  # [B, rows times H] reach rows of the second street's boards
    alive: npt.NDArray[np.bool_]  # [B, rows] those that are not all zero
    passes: Offsets  # [., 4] what to do: see ``Pass``, and which phases of it
    rule: Floats  # [2] see ``PassRule``
    chosen: Offsets  # [2] level and board of the snapshot; -1: none
    sync: Offsets  # see ``engines.boards.cpu.tasks``
    mail: Offsets


BOARD, RIVER, RIVER_END, FIRST, STOP = range(5)
"""Columns of ``Results.part``: board, from and to which board of the next street, and from and to which part."""


class BoardPath(NamedTuple):
    """A board, and the one above it; levels are 0, 1, 2 for first, middle and last street."""

    level: int
    board: int
    above: int  # the level above; -1: none
    parent: int  # the board above


class PassWorker(NamedTuple):
    """One of several threads that run the same kernel."""

    thread: int
    threads: int


class Snapshot(NamedTuple):
    """A copy of the rows of one board below the first street, taken on the way; ``board`` -1: of none."""

    level: int
    board: int
    reach: Array  # rows times H, of the opponent
    value: Array  # rows times H, of the learner
