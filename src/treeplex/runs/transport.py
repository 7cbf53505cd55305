"""Local transport of calls to the shards of a cut game; ``cluster.shards`` is the one over Ray.

A ``ShardProxy`` stands in front of a shard, in any process, and makes sure that every call is executed once.
"""

from __future__ import annotations

from collections.abc import Sequence

from treeplex.engines.sharded.shards import (
    BOARDS,
    RESTORE,
    START,
    LostError,
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


class LocalShards:
    """All shards in this process, called one after the other."""

    def __init__(self) -> None:
        self._proxies: list[ShardProxy] = []

    def begin(self, orders: Sequence[Order]) -> None:
        """As ``Shards``."""
        self._proxies = self._proxies or [ShardProxy(order) for order in orders]

    def ask(self, stamp: Stamp, messages: Sequence[Message]) -> list[Message]:
        """As ``Shards``."""
        try:
            return [proxy.call(stamp, own) for proxy, own in zip(self._proxies, messages, strict=True)]
        except OutOfStepError as error:
            raise LostError(str(error)) from error

    def close(self) -> None:
        """As ``Shards``."""
        self._proxies = []
