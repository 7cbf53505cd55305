"""Passes over all boards of a subgame, and iterations made of them.

A pass goes down the first street, through every board dealt on the next ones, and up again. Boards of the second
street are shared out among threads; what they find is added up in their order, in float64, so the number of threads
changes no bit.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from treeplex.kernels.cpu.holdem.street import ascend, descend, settle
from treeplex.kernels.cpu.holdem.threads import meet, take
from treeplex.kernels.cpu.jit import kernel
from treeplex.kernels.holdem import UPDATE, Betting, Boards, Errand, Hands, Level, Minds, Rule, Scratch, Team

Array = npt.NDArray[Any]


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
    betting: Betting, part: int, level: Level, board: int, player: int, chance: float, above: Betting, wide: int,
    before: Scratch, scratch: Scratch,
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
    level: Level, board: int, chance: float, above: Betting, wide: int, before: Scratch, minds: Minds, rule: Rule,
    errand: Errand, scratch: Scratch, out: Array,
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
    _clear(betting, 0, width, scratch)
    _leave(betting, width, scratch.gathered, scratch)
    settle(betting, 0, level.boards, board, player, scratch)
    ascend(betting, 0, mine, board, minds, rule, errand, scratch)


@kernel
def _width(hands: Hands, board: int) -> int:
    return hands.start[board + 1] - hands.start[board]


@kernel
def _middle_street(
    middle: Level, last: Level, board: int, chances: tuple[float, float], above: Betting, wide: int, before: Scratch,
    minds: Minds, rule: Rule, errand: Errand, scratch: Scratch, below: Scratch, out: Array,
) -> None:
    """The turn on one board with all its rivers; value rows of its entries into ``out``."""
    player = errand.player
    betting = middle.betting[player]
    theirs = middle.boards.hands[1 - player]
    width = _width(middle.boards.hands[player], board)
    _enter(betting, 0, middle, board, player, chances[0], above, wide, before, scratch)
    descend(betting, 0, theirs, board, minds, rule, errand, scratch)
    exits = len(betting.exit)
    scratch.gathered[: exits * width] = 0
    for river in range(middle.boards.child[board], middle.boards.child[board + 1]):
        _last_street(
            last, river, chances[1], betting, _width(theirs, board), scratch, minds, rule, errand, below, below.found
        )
        _gather(last.boards, river, player, exits, width, below.found, scratch.gathered)
    _finish(middle, board, minds, rule, errand, scratch)
    out[: betting.bunch[1, 0] * width] = scratch.value[: betting.bunch[1, 0] * width]


@kernel
def _branches(
    root: Betting, wide: int, middle: Level, last: Level, streets: int, chances: tuple[float, float], minds: Minds,
    rule: Rule, errand: Errand, top: Scratch, middling: Scratch, lasting: Scratch, found: Array, team: Team,
) -> None:
    """This thread's share of the boards of the second street; each leaves its values in its row of ``found``."""
    board = take(team.sync)
    while board < len(found):
        if streets == 2:
            _last_street(last, board, chances[1], root, wide, top, minds, rule, errand, lasting, found[board])
        else:
            _middle_street(
                middle, last, board, chances, root, wide, top, minds, rule, errand, middling, lasting, found[board]
            )
        board = take(team.sync)


@kernel
def one_pass(
    levels: tuple[Level, Level, Level], streets: int, chances: tuple[float, float], start: tuple[Array, Array],
    minds: Minds, rule: Rule, errand: Errand, scratches: tuple[Scratch, Scratch, Scratch], found: Array, team: Team,
) -> None:
    """One pass from the root; ``start``: both players' weights there. Levels that are not played are repeated.

    The values of the learner's hands are left in the first row of the first street's scratch array.
    """
    root, middle, last = levels
    player = errand.player
    betting, hands = root.betting[player], root.boards.hands
    mine, theirs = hands[player], hands[1 - player]
    wide = _width(theirs, 0)
    top = room(scratches[0], 0)
    if team.thread == 0:
        top.reach[:wide] = start[1 - player]
        top.alive[0] = True
        descend(betting, 0, theirs, 0, minds, rule, errand, top)
    if streets > 1:
        middling, lasting = room(scratches[1], team.thread), room(scratches[2], team.thread)
        meet(team.sync, team.threads)
        _branches(
            betting, wide, middle, last, streets, chances, minds, rule, errand, top, middling, lasting, found, team
        )
        meet(team.sync, team.threads)
    if team.thread == 0:
        width, exits = _width(mine, 0), len(betting.exit)
        top.gathered[: exits * width] = 0
        for board in range(len(found)):
            if streets == 2:
                _gather(last.boards, board, player, exits, width, found[board], top.gathered)
            else:
                _gather(middle.boards, board, player, exits, width, found[board], top.gathered)
        _finish(root, 0, minds, rule, errand, top)


@kernel
def holdem_iterations(
    levels: tuple[Level, Level, Level], streets: int, chances: tuple[float, float], start: tuple[Array, Array],
    minds: Minds, rule: Rule, first: int, stop: int, scratches: tuple[Scratch, Scratch, Scratch], found: Array,
    team: Team,
) -> None:
    """Iterations ``first`` to ``stop``, both players in turn; learners and scratch arrays are modified in place."""
    for t in range(first, stop):
        for player in range(2):
            errand = Errand(player, UPDATE, t)
            one_pass(levels, streets, chances, start, minds, rule, errand, scratches, found, team)
