"""The receiving end of calls to a shard of a cut game, in any process; ``cluster.shards`` sends them over Ray."""

from __future__ import annotations

from treeplex.engines.sharded.shards import (
    BOARDS,
    RESTORE,
    START,
    Message,
    Order,
    OutOfStepError,
    Shard,
    Stamp,
)
from treeplex.version import __version__


def open_shard(order: Order) -> Shard:
    """Open a shard that has not learned anything."""
    if order.kind == BOARDS:
        from treeplex.engines.sharded.board_shard import BoardShard  # noqa: PLC0415 - its kernels take time to load

        return BoardShard(order)
    from treeplex.engines.sharded.sequence_shard import SequenceShard  # noqa: PLC0415

    return SequenceShard(order)


class ShardProxy:
    """Executes each call of its shard exactly once."""

    def __init__(self, order: Order, version: str = __version__) -> None:
        if version != __version__:
            raise OutOfStepError(
                f"A worker has treeplex {__version__}, not {version}; install the same version on every machine."
            )
        self._shard = open_shard(order)
        self._last: Stamp | None = None
        self._answer: Message = {}

    def call(self, stamp: Stamp, message: Message) -> Message:
        """Return the answer to a call. A repeated call returns the same answer, and nothing is executed."""
        if stamp == self._last:
            return self._answer
        begins = stamp.phase in (START, RESTORE)
        if not begins and (self._last is None or stamp.run != self._last.run):
            raise OutOfStepError(f"A shard got a call of run {stamp.run}, which it has not begun.")
        self._last = None  # after a failure the shard must begin anew
        self._answer = self._shard.do(stamp, message)
        self._last = stamp
        return self._answer
