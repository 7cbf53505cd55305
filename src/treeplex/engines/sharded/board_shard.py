"""A shard of a spot that is cut: a run of boards of the second street with all below them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from treeplex.engines.boards import arrays as layout
from treeplex.engines.boards.cut import BoardRun
from treeplex.engines.boards.game import HoldemGame, load_spot
from treeplex.engines.boards.part import BoardPart, carry_part
from treeplex.engines.open import open_engine
from treeplex.engines.protocol import Execution, Scheme, packed
from treeplex.engines.sharded.session import opened_part, write_part
from treeplex.engines.sharded.shards import BEST, LEARN, RESTORE, SAVE, START, Given, Order, Stamp, in_step
from treeplex.games.holdem.locks import make_locks
from treeplex.games.holdem.spot import make_spot
from treeplex.tensors import check, leaves


class BoardShard:
    """Keeps what is learned on its boards and below, on a CPU or in the memory of a GPU."""

    def __init__(self, order: Order, scheme_of: Callable[[HoldemGame], Scheme]) -> None:
        words = order.words
        game = load_spot(make_spot(words["spot"]), locks=make_locks(words["locks"]))
        self.run = BoardRun(*words["part"])
        scheme, execution = scheme_of(game), Execution(order.backend, words["storage"], words["threads"])
        engine: Any = open_engine(game, execution, scheme)
        self.part: BoardPart = engine.part(scheme, self.run)
        self.turn = 0  # whose pass is next
        self.tables = self.part.tables()

    def do(self, stamp: Stamp, given: Given) -> Given:
        """As ``Shard``."""
        if stamp.phase == START:
            self.tables, self.turn = self.part.tables(), 0
        elif stamp.phase == RESTORE:
            self._restore(stamp, given["files"])
        elif stamp.phase == SAVE:
            tensors = packed([*leaves(self.part.host(self.tables), "state")])
            write_part(given["path"], stamp.run.partition("/")[0], self.tables.iteration, list(self.run), tensors)
        elif stamp.phase == LEARN:
            return self._learn(stamp, given)
        else:
            return self._play(stamp, given)
        return {}

    def _learn(self, stamp: Stamp, given: Given) -> Given:
        """One player's half of an iteration."""
        in_step(stamp, self.tables.iteration, self.turn)
        if stamp.player == 0:
            self.part.rescale(self.tables, stamp.iteration)
        step = self.part.learning(self.tables, stamp.player, stamp.iteration)
        values = self.part.below(step, given["entry"], given["alive"])
        self.turn = 1 - self.turn
        if self.turn == 0:
            self.tables = self.part.fold(self.tables._replace(iteration=stamp.iteration))
        return {"found": values}

    def _play(self, stamp: Stamp, given: Given) -> Given:
        """A best response, or the value of the strategies."""
        mode = layout.BEST if stamp.phase.startswith(BEST) else layout.VALUE
        sources = self.part.sources(self.tables, given["iterate"])
        return {
            "found": self.part.below(self.part.playing(sources, stamp.player, mode), given["entry"], given["alive"])
        }

    def _restore(self, stamp: Stamp, files: Sequence[Given]) -> None:
        part = self.part
        tables = part.host_tables()._replace(iteration=stamp.iteration)
        for file in files:
            source = BoardRun(*file["part"])
            if source.begin < self.run.end and self.run.begin < source.end:
                with opened_part(file, stamp.iteration) as tensors:
                    tables = carry_part(part.whole, tensors, source, tables, self.run)
        check(tables, "state")
        self.tables, self.turn = part.restore(tables), 0
