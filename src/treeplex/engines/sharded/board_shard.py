"""A shard of a hold'em spot that is cut: a run of boards of the second street with all boards below them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from treeplex.engines.boards import arrays as layout
from treeplex.engines.boards.cut import BoardRun
from treeplex.engines.boards.game import load_spot
from treeplex.engines.boards.part import BoardPart, carry_part
from treeplex.engines.open import open_engine
from treeplex.engines.protocol import Execution
from treeplex.engines.sharded.session import opened_part
from treeplex.engines.sharded.shards import BEST, Message, Order, Shard
from treeplex.games.holdem.locks import make_locks
from treeplex.games.holdem.spot import make_spot
from treeplex.tensors import Tensors, check


class BoardShard(Shard):
    """Learners of a run of boards and of all boards below, on a CPU or in the memory of a GPU."""

    def __init__(self, order: Order) -> None:
        words, scheme = order.words, order.scheme
        super().__init__(words["part"])
        game = load_spot(make_spot(words["spot"]), locks=make_locks(words["locks"]))
        self.run = BoardRun(*words["part"])
        execution = Execution(order.backend, words["storage"], words["threads"])
        engine: Any = open_engine(game, execution, scheme)
        self.part: BoardPart = engine.part(scheme, self.run)
        self.tables = self.part.tables()

    def start(self, message: Message) -> None:
        """As ``Shard``."""
        self.tables = self.part.tables()

    def tensors(self) -> Tensors:
        """As ``Shard``."""
        return self.part.packed(self.tables)

    def learn(self, player: int, t: int, message: Message) -> Message:
        """As ``Shard``."""
        part = self.part
        if player == 0:
            part.rescale(self.tables, t)
        step = part.learning(self.tables, player, t)
        values = part.below(step, message["entry"], message["alive"])
        part.check(step)
        if player == 1:
            self.tables = part.fold(self.tables._replace(iteration=t))
        return {"found": values}

    def answer(self, phase: str, player: int, message: Message) -> Message:
        """As ``Shard``: a best response, or the value of the strategies."""
        sources = self.part.sources(self.tables, message["iterate"])
        step = self.part.playing(sources, player, layout.BEST if phase == BEST else layout.VALUE)
        return {"found": self.part.below(step, message["entry"], message["alive"])}

    def restore(self, files: Sequence[Message]) -> None:
        """As ``Shard``."""
        tables = self.part.host_tables()._replace(iteration=self.iteration)
        for file in files:
            source = BoardRun(*file["part"])
            if source.begin < self.run.end and self.run.begin < source.end:
                with opened_part(file, self.iteration) as tensors:
                    tables = carry_part(self.part.whole, tensors, source, tables, self.run)
        check(tables, "state")
        self.tables = self.part.restore(tables)
