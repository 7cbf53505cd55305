"""A subgame cut after its first street: the street itself, and parts of the tree below it.

A part is a run of boards of the second street with all boards below them. A pass sends it the opponent's reach of its
street roots (``SubgameEngine.entering``), and gets back the values of its boards to the learner's hands
(``SubgameEngine.board_values``). Nothing else is exchanged. Boards are processed one by one and added in their order.
So a subgame that was cut gives the same bits as the whole one, wherever its parts are.

Arrays of a part have numbers of the first street, which are not used, then those of its own boards, street by street.
The first street alone is the part without boards, and the whole subgame is the part with all of them.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final, NamedTuple

import numpy as np

from treeplex.engines.boards.arrays import Array, Boards, HandLearner, Hands, Offsets
from treeplex.engines.boards.boards import lay_out_storage, open_spans
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.hands import starts
from treeplex.engines.boards.streets import Span

ELEMENTS, DECISIONS = range(2)
PER_DECISION: Final = ("last", "regret_scale", "average_scale")
"""Arrays of a ``HandLearner`` that have one number per decision; the others have one per action and hand."""


class BoardRun(NamedTuple):
    """A run of boards of the second street, from ``begin`` to ``end``."""

    begin: int
    end: int


FIRST_STREET = BoardRun(0, 0)


class Piece(NamedTuple):
    """Numbers that two parts have in common: their start in either, and their count."""

    source: int
    target: int
    size: int


def whole(game: HoldemGame) -> BoardRun:
    """Return the run of all boards."""
    return BoardRun(0, len(game.boards[1].texture))


def part_of(game: HoldemGame, run: BoardRun) -> HoldemGame:
    """Return the subgame with only some of its boards. A board stores the same numbers, at other offsets."""
    boards, deals, above = [game.boards[0]], [game.deals[0]], 0
    for depth, (begin, end) in enumerate(_ranges(game, run), 1):
        boards.append(_slice_boards(game.boards[depth], begin, end))
        deals.append([deal._replace(parent=deal.parent - above) for deal in game.deals[depth][begin:end]])
        above = begin
    local = lay_out_storage(game.streets, boards)
    for depth, (begin, end) in enumerate(_ranges(game, run), 1):
        first, second = (
            hands._replace(shift=above.storage[begin:end] - hands.storage)
            for hands, above in zip(local[depth].hands, game.boards[depth].hands, strict=True)
        )
        local[depth] = local[depth]._replace(hands=(first, second))
    return replace(game, boards=local, deals=deals)


def pieces(game: HoldemGame, player: int, kind: int, source: BoardRun, target: BoardRun) -> Iterator[Piece]:
    """Yield the ELEMENTS or DECISIONS that two parts of a subgame have in common, including the first street's."""
    common = BoardRun(max(source.begin, target.begin), min(source.end, target.end))
    edges = _edges(game, player)[kind]
    top = int(edges[0][-1])
    yield Piece(0, 0, top)
    if common.begin >= common.end:
        return
    at = [top, top]
    for depth, edge in enumerate(edges[1:]):
        begin, end = _ranges(game, common)[depth]
        spans = [_ranges(game, run)[depth] for run in (source, target)]
        before = [int(edge[begin] - edge[first]) for first, _ in spans]
        yield Piece(at[0] + before[0], at[1] + before[1], int(edge[end] - edge[begin]))
        at = [position + int(edge[last] - edge[first]) for position, (first, last) in zip(at, spans, strict=True)]


def carry(
    game: HoldemGame, player: int, source: dict[str, Array], of: BoardRun, target: HandLearner, to: BoardRun
) -> None:
    """Copy the numbers that two parts have in common into ``target``, in place.

    Raises ValueError if the arrays do not belong to part ``of``.
    """
    rows = len(target.regret) // max(len(target.average), 1)  # of a rule's memory
    for name, stored in source.items():
        array: Array = getattr(target, name)
        kind, each = DECISIONS if name in PER_DECISION else ELEMENTS, rows if name == "regret" else 1
        if not len(array) and not len(stored):
            continue
        overlaps = [Piece(*(each * number for number in piece)) for piece in pieces(game, player, kind, of, to)]
        if stored.dtype != array.dtype or max(piece.source + piece.size for piece in overlaps) > len(stored):
            raise ValueError(
                f"Array {name} must be {array.dtype} of boards {of}, got {stored.dtype}{list(stored.shape)}."
            )
        for piece in overlaps:
            array[piece.target : piece.target + piece.size] = stored[piece.source : piece.source + piece.size]


def board_work(game: HoldemGame) -> Offsets:
    """Return [B] the count of numbers stored for both players below each board of the second street."""
    total = np.zeros(len(game.boards[1].texture), dtype=np.int64)
    for player in (0, 1):
        edges = _edges(game, player)[ELEMENTS]
        total += np.diff(edges[1])
        if len(edges) > 2:
            total += np.diff(edges[2][game.boards[1].child])
    return total


def _ranges(game: HoldemGame, run: BoardRun) -> list[tuple[int, int]]:
    """Boards of the second street and of the third, as ranges."""
    child = game.boards[1].child
    below = [(int(child[run.begin]), int(child[run.end]))] if len(game.streets) > 2 else []
    return [(run.begin, run.end), *below]


def _edges(game: HoldemGame, player: int) -> tuple[list[Offsets], list[Offsets]]:
    """Starts of the elements and the decisions of each board, street by street: [B + 1] each."""
    elements: list[Offsets] = []
    decisions: list[Offsets] = []
    at = [0, 0]
    slots, numbers = Span._fields.index("slots"), Span._fields.index("numbers")
    for street, level in zip(game.streets, game.boards, strict=True):
        spans = open_spans(street, player, level.texture)
        elements.append(at[0] + starts(np.diff(level.hands[player].start) * spans[:, slots]))
        decisions.append(at[1] + starts(spans[:, numbers]))
        at = [int(elements[-1][-1]), int(decisions[-1][-1])]
    return elements, decisions


def _slice_boards(boards: Boards, begin: int, end: int) -> Boards:
    """Return some boards of a street, with indices that start at zero."""
    image = boards.image[begin : end + 1]
    group = boards.group_start[begin : end + 1]
    pair = [_slice_hands(hands, begin, end, int(image[0]), int(image[-1])) for hands in boards.hands]
    return Boards(
        (pair[0], pair[1]),
        image - image[0],
        boards.child[begin : end + 1] - boards.child[begin],
        group - group[0],
        boards.group[group[0] : group[-1]],
        boards.texture[begin:end],
    )


def _slice_hands(hands: Hands, begin: int, end: int, first: int, last: int) -> Hands:
    low, high = int(hands.start[begin]), int(hands.start[end])
    maps = hands.map_start[first : last + 1]
    wide = len(hands.back) // (len(hands.map_start) - 1)  # 0 except on the second street
    per_hand = {name: getattr(hands, name)[low:high] for name in ("number", "first", "second", "same")}
    per_board = {name: getattr(hands, name)[begin:end] for name in ("counts", "storage", "decision", "shift")}
    return hands._replace(
        start=hands.start[begin : end + 1] - low,
        map_start=maps - maps[0],
        map=hands.map[maps[0] : maps[-1]],
        back=hands.back[first * wide : last * wide],
        **per_hand,
        **per_board,
    )
