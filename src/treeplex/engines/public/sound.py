"""Validation of public trees from files, because kernels trust every link and number of a tree."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from treeplex.arrays import Floats, Longs
from treeplex.engines.public.arrays import ARCHIVED, NONE, UNSIZED, Nodes
from treeplex.engines.public.build import Builder
from treeplex.engines.public.tree import DTYPES, Block
from treeplex.games.protocol import TERMINAL
from treeplex.tensors import MOST, checked

MOST_LIKELY: Final = 1.0 + 1e-9  # the largest probability, with rounding


class Ranges(NamedTuple):
    """Legal ranges of the numbers of a tree."""

    hands: int
    tables: int
    words: int
    bounds: Floats  # [key, 2] legal sizes
    deals: Longs  # [cards] number of pairs of hands that are possible

    @staticmethod
    def of(builder: Builder) -> Ranges:
        """Return the legal ranges of the numbers of a game."""
        deals = np.array([np.count_nonzero(joint) for joint in builder.joints], dtype=np.int64)
        return Ranges(builder.hands, builder.tables.shape[1], len(builder.words), builder.bounds, deals)


def check_block(block: Block, ranges: Ranges) -> None:
    """Raise ValueError unless ``block`` is a tree of this game, with regrets and averages that can occur."""
    nodes, rows = block
    count = len(nodes.parent)
    lows = dict.fromkeys(Nodes._fields, NONE) | {"mover": ARCHIVED, "size": UNSIZED, "fold_out": 0, "idle": 0}
    highs = dict.fromkeys(Nodes._fields, float(MOST)) | dict.fromkeys(("parent", "child", "sibling"), count - 1)
    highs |= {"mover": 1, "fold_out": 1, "table": ranges.tables - 1, "word": ranges.words - 1}
    highs |= {"key": len(ranges.bounds) - 1, "cards": len(ranges.deals) - 1}
    lows |= {"scale": 0.0, "amount": -np.inf, "cards": 0, "deals": 0}
    highs |= dict.fromkeys(("size", "scale", "amount"), np.inf)
    for key, array in nodes._asdict().items():
        checked(f"nodes.{key}", array, DTYPES[key], (count,), lows[key], highs[key])
    for key, array in rows._asdict().items():
        low = 0.0 if key in ("average", "strategy") else -np.inf
        high = MOST_LIKELY if key == "strategy" else np.inf
        checked(f"rows.{key}", array, np.float64, (count, ranges.hands), low, high)
    if not (count and _is_tree(nodes) and _is_played(nodes, ranges)):
        raise ValueError("nodes are not a tree of this game")


def _is_tree(nodes: Nodes) -> bool:
    """Return whether parents precede children, and each node except the root is in its parent's list exactly once."""
    parent, child, sibling = nodes.parent, nodes.child, nodes.sibling
    number = np.arange(len(parent))
    if parent[0] != NONE or np.any(parent[1:] < 0) or np.any(parent >= number):
        return False
    first, later = np.flatnonzero(child != NONE), np.flatnonzero(sibling != NONE)
    links = np.bincount(np.concatenate((child[first], sibling[later])), minlength=len(parent))
    if links[0] or np.any(links[1:] != 1):
        return False
    if np.any(parent[child[first]] != first) or np.any(parent[sibling[later]] != parent[later]):
        return False
    met, here = 0, child[first]
    while len(here):  # along all lists at once; they end, because no node is in two of them
        met += len(here)
        here = sibling[here]
        here = here[here != NONE]
    return met == len(parent) - 1


def _is_played(nodes: Nodes, ranges: Ranges) -> bool:
    """Return whether moves are legal: leaves end the game or are on disk, sizes are legal and rise, others differ."""
    parent, size, mover = nodes.parent, nodes.size, nodes.mover
    ends, leaf = mover == TERMINAL, nodes.child == NONE
    sized, plain = 1 + np.flatnonzero(size[1:] > 0.0), 1 + np.flatnonzero(size[1:] == UNSIZED)
    key = nodes.key[parent[sized]]
    before = sized[nodes.sibling[sized] != NONE]
    names = parent[plain].astype(np.int64) * ranges.words + nodes.word[plain]
    wrong = (
        (ends | (mover == ARCHIVED)) != leaf,
        nodes.table[ends] < 0,
        nodes.word[1:] < 0,
        nodes.scale <= 0.0,
        nodes.deals != ranges.deals[nodes.cards],
        (size <= 0.0) & (size != UNSIZED),
        (nodes.key >= 0) & (mover < 0) & ~leaf,
        key < 0,
        size[sized] < ranges.bounds[key, 0] if len(sized) else key < 0,
        size[sized] > ranges.bounds[key, 1] if len(sized) else key < 0,
        size[nodes.sibling[before]] <= size[before],
    )
    return not any(np.any(some) for some in wrong) and len(np.unique(names)) == len(names)
