"""Passes over all boards of a subgame, and iterations made of them.

A pass goes down the first street, through every board dealt on the next ones, and up again. Boards of the second
street are shared out among threads; what they find is added up in their order, in float64, so the number of threads
changes no bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.engines.boards.arrays import (
    Betting,
    Boards,
    Errand,
    Hands,
    Level,
    Minds,
    Offsets,
    Rule,
    Scratch,
    Snapshot,
    Team,
)
from treeplex.engines.boards.cpu.street import ascend, descend, settle
from treeplex.engines.boards.cpu.threads import meet, take
from treeplex.jit import kernel

Array = npt.NDArray[Any]

ONLY = 0  # the only board of the first street; the only bunch of a street that is not the last


@kernel
def room(scratch: Scratch, thread: int) -> Scratch:
    """One thread's part of scratch arrays that have a row for each."""
    return Scratch(
        scratch.reach[thread],
        scratch.value[thread],
        scratch.alive[thread],
        scratch.node[thread],
        scratch.total[thread],
        scratch.dealt[thread],
        scratch.ahead[thread],
        scratch.everyone[thread],
        scratch.rows[thread],
        scratch.sums[thread],
        scratch.found[thread],
        scratch.gathered[thread],
    )


@kernel
def _enter(
    betting: Betting,
    part: int,
    level: Level,
    board: int,
    player: int,
    chance: float,
    above: Betting,
    wide: int,
    before: Scratch,
    scratch: Scratch,
) -> None:
    """Reach rows of a bunch's entries from the exits of the street before, times the chance of the card."""
    theirs = level.boards.hands[1 - player]
    width = theirs.start[board + 1] - theirs.start[board]
    image = theirs.map_start[level.boards.image[board]]
    places = theirs.map[image : image + width]
    factor = scratch.reach.dtype.type(chance)
    first = betting.bunch[part, 0]
    for entry in range(first, betting.bunch[part + 1, 0]):
        at = np.int64(above.exit[entry, 0])
        scratch.alive[entry - first] = before.alive[at]
        if before.alive[at]:
            source = before.reach[at * wide : (at + 1) * wide]
            target = scratch.reach[(entry - first) * width : (entry - first + 1) * width]
            for h in range(width):
                target[h] = factor * source[places[h]]


@kernel
def _clear(betting: Betting, part: int, width: int, scratch: Scratch) -> None:
    """No value yet in the value rows of a bunch."""
    entries = betting.bunch[part + 1, 0] - betting.bunch[part, 0]
    rows = entries + betting.bunch[part + 1, 1] - betting.bunch[part, 1]
    scratch.value[: rows * width] = 0


@kernel
def _last_street(
    level: Level,
    board: int,
    chance: float,
    above: Betting,
    wide: int,
    before: Scratch,
    minds: Minds,
    rule: Rule,
    errand: Errand,
    scratch: Scratch,
    out: Array,
    snapshot: Snapshot,
) -> None:
    """The river on one board; value rows of its entries into ``out``."""
    player = errand.player
    betting = level.betting[player]
    mine, theirs = level.boards.hands[player], level.boards.hands[1 - player]
    width = mine.start[board + 1] - mine.start[board]
    for part in range(len(betting.bunch) - 1):
        _enter(betting, part, level, board, player, chance, above, wide, before, scratch)
        descend(betting, part, theirs, board, minds, rule, errand, scratch)
        _clear(betting, part, width, scratch)
        settle(betting, part, level.boards, board, player, scratch)
        ascend(betting, part, mine, board, minds, rule, errand, scratch)
        first, stop = betting.bunch[part, 0], betting.bunch[part + 1, 0]
        out[first * width : stop * width] = scratch.value[: (stop - first) * width]
        if snapshot.last and snapshot.board == board:
            _copy(level, part, board, player, scratch, snapshot)


@kernel
def _gather(boards: Boards, board: int, player: int, exits: int, wide: int, found: Array, gathered: Array) -> None:
    """Add the values a card brings, and those of its images, to the exits of the street above."""
    mine = boards.hands[player]
    width = mine.start[board + 1] - mine.start[board]
    for image in range(boards.image[board], boards.image[board + 1]):
        places = mine.map[mine.map_start[image] : mine.map_start[image] + width]
        for x in range(exits):
            target = gathered[x * wide : (x + 1) * wide]
            row = found[x * width : (x + 1) * width]
            for h in range(width):
                target[places[h]] += row[h]


@kernel
def _leave(betting: Betting, width: int, gathered: Array, scratch: Scratch) -> None:
    """Put what the next street is worth into the value rows of the exits."""
    for x in range(len(betting.exit)):
        at = np.int64(betting.exit[x, 1])
        value = scratch.value[at * width : (at + 1) * width]
        row = gathered[x * width : (x + 1) * width]
        for h in range(width):
            value[h] += row[h]


@kernel
def _finish(level: Level, board: int, minds: Minds, rule: Rule, errand: Errand, scratch: Scratch) -> None:
    """From the exits' values, in ``scratch.gathered``, up to the entries of a street that is not the last."""
    player = errand.player
    betting = level.betting[player]
    mine = level.boards.hands[player]
    width = mine.start[board + 1] - mine.start[board]
    part: Any = np.int64(ONLY)
    _clear(betting, part, width, scratch)
    _leave(betting, width, scratch.gathered, scratch)
    settle(betting, part, level.boards, board, player, scratch)
    ascend(betting, part, mine, board, minds, rule, errand, scratch)


@kernel
def _copy(level: Level, part: int, board: int, player: int, scratch: Scratch, snapshot: Snapshot) -> None:
    """Keep the rows of a bunch, those of earlier bunches before them."""
    betting = level.betting[player]
    width, wide = _width(level.boards.hands[player], board), _width(level.boards.hands[1 - player], board)
    entries = betting.bunch[part + 1, 0] - betting.bunch[part, 0]
    for k in range(2):
        row = betting.bunch[part, 0] + betting.bunch[part, 1 + k]
        rows = entries + betting.bunch[part + 1, 1 + k] - betting.bunch[part, 1 + k]
        if k == 0:
            snapshot.value[row * width : (row + rows) * width] = scratch.value[: rows * width]
        else:
            snapshot.reach[row * wide : (row + rows) * wide] = scratch.reach[: rows * wide]


@kernel
def _width(hands: Hands, board: int) -> int:
    return hands.start[board + 1] - hands.start[board]


@kernel
def _middle_street(
    middle: Level,
    last: Level,
    board: int,
    chances: tuple[float, float],
    above: Betting,
    wide: int,
    before: Scratch,
    minds: Minds,
    rule: Rule,
    errand: Errand,
    scratch: Scratch,
    below: Scratch,
    out: Array,
    snapshot: Snapshot,
) -> None:
    """The turn on one board with all its rivers; value rows of its entries into ``out``."""
    player = errand.player
    betting = middle.betting[player]
    theirs = middle.boards.hands[1 - player]
    width = _width(middle.boards.hands[player], board)
    part: Any = np.int64(ONLY)
    _enter(betting, part, middle, board, player, chances[0], above, wide, before, scratch)
    descend(betting, part, theirs, board, minds, rule, errand, scratch)
    exits = len(betting.exit)
    scratch.gathered[: exits * width] = 0
    for river in range(middle.boards.child[board], middle.boards.child[board + 1]):
        _last_street(
            last,
            river,
            chances[1],
            betting,
            _width(theirs, board),
            scratch,
            minds,
            rule,
            errand,
            below,
            below.found,
            snapshot,
        )
        _gather(last.boards, river, player, exits, width, below.found, scratch.gathered)
    _finish(middle, board, minds, rule, errand, scratch)
    out[: betting.bunch[1, 0] * width] = scratch.value[: betting.bunch[1, 0] * width]
    if not snapshot.last and snapshot.board == board:
        _copy(middle, part, board, player, scratch, snapshot)


@kernel
def run_errands(
    levels: tuple[Level, Level, Level],
    streets: int,
    chances: tuple[float, float],
    start: tuple[Array, Array],
    minds: Minds,
    rule: Rule,
    errands: Offsets,
    scratches: tuple[Scratch, Scratch, Scratch],
    found: Array,
    team: Team,
    snapshot: Snapshot,
    worth: Floats,
) -> None:
    """Passes from the root, one for each of ``errands`` [., 3]: who learns, mode, iteration.

    ``start``: both players' weights at the root. Levels that are not played are repeated. Learners and scratch arrays
    are modified in place; ``worth`` [., H] gets the values of the learner's hands at the root, as many as it has room
    for. One function, because Numba optimises the whole again for every function around it.
    """
    root, middle, last = levels
    only: Any = np.int64(ONLY)  # a literal would compile everything below a second time
    top = room(scratches[0], only)
    middling, lasting = room(scratches[1], team.thread), room(scratches[2], team.thread)
    for e in range(len(errands)):
        errand = Errand(errands[e, 0], errands[e, 1], errands[e, 2])
        player = errand.player
        betting, hands = root.betting[player], root.boards.hands
        mine, theirs = hands[player], hands[1 - player]
        wide = _width(theirs, only)
        if team.thread == 0:
            top.reach[:wide] = start[1 - player]
            top.alive[0] = True
            descend(betting, only, theirs, only, minds, rule, errand, top)
        meet(team.sync, team.threads)
        board = take(team.sync)
        while board < len(found):
            if streets == 2:
                _last_street(
                    last, board, chances[1], betting, wide, top, minds, rule, errand, lasting, found[board], snapshot
                )
            else:
                _middle_street(
                    middle,
                    last,
                    board,
                    chances,
                    betting,
                    wide,
                    top,
                    minds,
                    rule,
                    errand,
                    middling,
                    lasting,
                    found[board],
                    snapshot,
                )
            board = take(team.sync)
        meet(team.sync, team.threads)
        if team.thread == 0:
            width, exits = _width(mine, only), len(betting.exit)
            top.gathered[: exits * width] = 0
            boards = middle.boards if streets == 3 else last.boards
            for child in range(len(found)):
                _gather(boards, child, player, exits, width, found[child], top.gathered)
            _finish(root, only, minds, rule, errand, top)
            if e < len(worth):
                worth[e, :width] = top.value[:width]
