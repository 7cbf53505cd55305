"""Plan of a hold'em spot that is cut: boards of each worker, their memory, and the bytes they exchange."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from treeplex.engines.boards.cut import BoardRun, board_work, part_of
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.streets import blocks_of
from treeplex.engines.boards.tables import numbers_beside
from treeplex.engines.protocol import Engine, Scheme
from treeplex.engines.sharded.session import PROCESS, Cutting, sized, split
from treeplex.engines.sharded.shards import BOARDS, Order
from treeplex.errors import ParameterError
from treeplex.kernels.vectors import LANES
from treeplex.updates.storage import STORAGES


def planned(game: HoldemGame, storage: str, beside: int, cutting: Cutting) -> list[BoardRun]:
    """Divide the boards among workers, so that the largest part is as small as possible.

    Raises ParameterError if the workers do not have the memory.
    """
    work, most = board_work(game), cutting.memory
    fewest = min(cutting.workers, len(work))
    for count in range(fewest, (fewest if most is None else len(work)) + 1):
        runs = [BoardRun(*each) for each in split(work, count)]
        need = max(shard_memory(game, storage, beside, run, cutting.threads) for run in runs)
        if most is None or need <= most:
            if len(runs) <= cutting.workers:
                return runs
            raise ParameterError(
                f"{game.name} with {storage} numbers takes {len(runs)} workers of {sized(most or 0)}, but there"
                f" {'is' if cutting.workers == 1 else 'are'} {cutting.workers}; give more workers, more worker_memory,"
                " or storage=int16."
            )
    each = [BoardRun(board, board + 1) for board in range(len(work))]
    need = max(shard_memory(game, storage, beside, run, cutting.threads) for run in each)
    raise ParameterError(
        f"One board of {game.name} with all boards below it takes a worker of {sized(need)}, but workers have"
        f" {sized(most or 0)}; give more worker_memory, or storage=int16."
    )


def ordered(game: HoldemGame, inner: Engine, scheme: Scheme, cutting: Cutting, runs: Sequence[BoardRun]) -> list[Order]:
    """Return the order for the shard of each worker."""
    common = {
        "spot": game.spot.summary(),
        "locks": [lock._asdict() for lock in game.locks],
        "storage": inner.storage,
        "threads": cutting.threads,
    }
    memory = [shard_memory(game, inner.storage, numbers_beside(scheme), run, cutting.threads) for run in runs]
    own = [{"part": list(run), "memory": need} for run, need in zip(runs, memory, strict=True)]
    return [Order(BOARDS, common | each, {}, scheme, inner.backend) for each in own]


def exchanged(game: HoldemGame, runs: Sequence[BoardRun], storage: str, player: int) -> int:
    """Bytes that a pass of ``player`` sends to all shards and receives: reach of roots, and values of boards.

    The reach goes to every shard, so each shard adds its size. Each value is received once, however many shards there
    are.
    """
    size, blocks, first = np.dtype(STORAGES[storage].work).itemsize, blocks_of(game.streets[1]), game.streets[0]
    wide = int(game.boards[0].hands[1 - player].start[-1])
    sent = size * blocks * wide * LANES + first.roots + first.slots(1 - player)
    widths = np.diff(game.boards[1].hands[player].start)
    return sum(sent + size * blocks * LANES * (end - begin) * int(widths[begin:end].max()) for begin, end in runs)


def device_exchange(game: HoldemGame, runs: Sequence[BoardRun], storage: str, player: int) -> int:
    """Bytes that a pass of ``player`` exchanges between GPUs.

    The reach of chance nodes goes to every shard, and each value is received once.
    """
    size, roots = np.dtype(STORAGES[storage].work).itemsize, game.streets[1].roots
    wide = int(game.boards[0].hands[1 - player].start[-1])
    return len(runs) * roots * (size * wide + 1) + size * roots * int(game.boards[1].hands[player].start[-1])


def shard_memory(game: HoldemGame, storage: str, beside: int, run: BoardRun, threads: int) -> int:
    """Bytes that a worker needs for a run of boards."""
    return PROCESS + part_of(game, run).memory(storage, beside, threads)
