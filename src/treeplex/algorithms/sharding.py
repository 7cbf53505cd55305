"""What a worker makes of an order: a shard of a game that is cut."""

from __future__ import annotations

from typing import Any

from treeplex.algorithms.protocol import Execution
from treeplex.algorithms.registry import build
from treeplex.engines.sharded.shards import BOARDS, Order, Shard


def open_shard(order: Order) -> Shard:
    """A shard without anything learned; the algorithm of a spot is built anew from its name."""
    if order.kind == BOARDS:  # ``auto`` knows its rule once it knows the spot
        algorithm: Any = build(order.words["algorithm"])
        from treeplex.engines.sharded.board_shard import BoardShard  # noqa: PLC0415 - its kernels take time to load

        return BoardShard(order, lambda game: algorithm.open(game, Execution()).scheme)
    from treeplex.engines.sharded.sequence_shard import SequenceShard  # noqa: PLC0415

    return SequenceShard(order, order.scheme)
