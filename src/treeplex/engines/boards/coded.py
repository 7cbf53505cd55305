"""Tables of a spot in checkpoints: large arrays are coded, without loss, along their rows of hands (``codec``).

A coded array has the name of the array, but is one of bytes. Checkpoints with plain arrays are read as before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

import numpy as np

from treeplex.codec.arrays import decode, encode
from treeplex.codec.coder import Layout
from treeplex.compile.memory import available
from treeplex.engines.boards.arrays import Array
from treeplex.engines.boards.boards import open_spans
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.streets import Span
from treeplex.engines.boards.tables import HandTables
from treeplex.engines.protocol import packed
from treeplex.tensors import Tensors, leaves

LEAST: Final = 2**20  # numbers of an array from which it is coded
ROWS: Final = ("regret", "average", "predicted")
"""Arrays of a ``HandLearner`` that are rows of hands."""


def row_segments(game: HoldemGame, player: int, count: int) -> Layout:
    """Return [., 2] the rows of each board, and their numbers, for an array of ``count`` numbers of ``player``.

    An array of a rule's memory has several numbers per action and hand, and so several times as many rows.
    """
    segments: list[Layout] = []
    for street, boards in zip(game.streets, game.boards, strict=True):
        slots = open_spans(street, player, boards.texture)[:, Span._fields.index("slots")]
        segments.append(np.stack((slots, np.diff(boards.hands[player].start)), axis=1))
    every = np.concatenate(segments)
    every[:, 0] *= count // max(int((every[:, 0] * every[:, 1]).sum()), 1)
    return every


def pack_tables(game: HoldemGame, tables: HandTables, name: str) -> Tensors:
    """Return the tables as named arrays, with large ones coded if there is memory for their streams."""
    tensors = packed([*leaves(tables, name)])
    arrays = [(key, player, tensors[key]) for key, player in _keys(name) if key in tensors]
    if sum(array.nbytes for *_, array in arrays) > available():
        return tensors
    for key, player, array in arrays:
        if len(array) >= LEAST:
            tensors[key] = encode(array, row_segments(game, player, len(array)))
    return tensors


def decoded(game: HoldemGame, fresh: HandTables, name: str, tensors: Mapping[str, Array]) -> Mapping[str, Array]:
    """Return tensors with plain arrays. Coded ones are decoded into the arrays of ``fresh``.

    So nothing is allocated for sizes that a file claims. Raises ValueError if a stream is damaged.
    """
    arrays, plain = dict(leaves(fresh, name)), dict(tensors)
    for key, player in _keys(name):
        if key in arrays and _is_coded(tensors.get(key)):
            out = arrays[key]
            try:
                decode(tensors[key], row_segments(game, player, len(out)), out)
            except ValueError as error:
                raise ValueError(f"{key} is damaged: {error}") from error
            plain[key] = out
    return plain


def decoded_rows(game: HoldemGame, player: int, stored: Array, like: Array, actions: int) -> Array:
    """Return an array of rows of a game as it is, or decoded. Raises ValueError if a stream is damaged.

    ``like``: the array of a part with ``actions`` actions times hands. A rule's memory has several numbers for each.
    """
    if not _is_coded(stored) or not len(like):
        return stored
    count = len(like) // max(actions, 1) * game.elements(player)
    out = np.empty(count, like.dtype)
    decode(stored, row_segments(game, player, count), out)
    return out


def _is_coded(array: Array | None) -> bool:
    """Whether an array of rows is a stream."""
    return array is not None and array.dtype == np.uint8 and array.ndim == 1


def _keys(name: str) -> Iterator[tuple[str, int]]:
    """Yield the names of arrays of rows, and their players."""
    for player in (0, 1):
        for field in ROWS:
            yield f"{name}.learners.{player}.{field}", player
        yield f"{name}.earlier.{player}", player
