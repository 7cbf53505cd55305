"""A hold'em spot that is cut after its first street, into turn boards of a flop or river boards of a turn.

The trunk is the first street. A shard has a run of boards of the second street with all boards below them.
``engines.boards.cut`` explains why the bits are those of the whole spot.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.boards import arrays as layout
from treeplex.engines.boards.cut import FIRST_STREET, BoardRun, whole
from treeplex.engines.boards.evaluate import Passes
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.part import BoardPart, BoardPass, carry_part
from treeplex.engines.boards.solver import HoldemProfile, SpotEngine, SpotProfile
from treeplex.engines.boards.tables import Array, HandTables, Tables, new_learners, numbers_beside
from treeplex.engines.protocol import Profile, Scheme, Stop, never, packed
from treeplex.engines.sharded.board_plan import device_exchange, exchanged, ordered, planned
from treeplex.engines.sharded.session import MANIFEST, Cutting, ShardedEngine, ShardSession, files_of, opened_part
from treeplex.engines.sharded.shards import BEST, LEARN, VALUE
from treeplex.errors import ParameterError
from treeplex.tensors import Tensors, check, leaves


class ShardedSpotProfile(HoldemProfile):
    """Strategies of a spot that stay in the memory of the trunk and the shards."""

    def __init__(self, engine: ShardedBoards, tables: Tables, iterate: str) -> None:
        self.engine, self.tables, self.iterate, self.game = engine, tables, iterate, engine.game

    def values(self, passes: Passes) -> Floats:
        """As ``HoldemProfile``, by passes over all shards."""
        return self.engine.values(self.tables, self.iterate, passes)

    def host(self) -> Profile:
        """As ``Profile``: this profile itself, since strategies stay in the shards."""
        return self

    @property
    def trunk(self) -> SpotProfile:
        """Profile of the strategies of the first street."""
        engine = self.engine
        sources = engine.trunk.host_sources(self.tables, self.iterate)
        return SpotProfile(engine.game, sources, engine.trunk.frozen, engine.storage, 1)


@dataclass(frozen=True, eq=False)
class ShardedBoards(ShardedEngine):
    """The trunk of a spot that is cut; its tables have only the first street."""

    inner: SpotEngine
    scheme: Scheme
    runs: tuple[BoardRun, ...]  # boards of each shard

    name: ClassVar = "sharded boards"

    @property
    def game(self) -> HoldemGame:
        """The whole spot, trunk and shards."""
        return self.inner.game

    @property
    def backend(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Backend of the engine for one machine, which shards also use."""
        return self.inner.backend

    @cached_property
    def trunk(self) -> BoardPart:
        """The first street, on this machine's CPU or GPU."""
        return self.inner.part(self.scheme, FIRST_STREET)

    def memory(self, scheme: Scheme) -> int:
        """Bytes that solving the whole spot takes on one machine."""
        return self.inner.memory(scheme)

    def tables(self, scheme: Scheme) -> Tables:
        """As ``Engine``, and in all shards."""
        self.session.start()
        return self.trunk.tables()

    def iterate(self, tables: Tables, scheme: Scheme, iterations: int, stop: Stop = never) -> Tables:
        """As ``Engine``: two calls of all shards per iteration."""
        trunk = self.trunk
        for t in range(tables.iteration + 1, tables.iteration + iterations + 1):
            trunk.rescale(tables, t)
            for player in (0, 1):
                step = trunk.learning(tables, player, t)
                self._through(step, player, LEARN, {}, t)
                trunk.check(step)
            tables = trunk.fold(tables._replace(iteration=t))
            if stop():
                break
        return tables

    def values(self, tables: Tables, iterate: str, passes: Passes) -> Floats:
        """[passes, H] values of the hands of each pass's player at the root."""
        trunk, words = self.trunk, {"iterate": iterate}
        sources = trunk.sources(tables, iterate)
        values = np.zeros((len(passes), max(len(self.game.weights(player)) for player in (0, 1))))
        for row, (player, mode) in zip(values, passes, strict=True):
            phase = f"{BEST if mode == layout.BEST else VALUE} {iterate}"
            hand_values = self._through(trunk.playing(sources, player, mode), player, phase, words, tables.iteration)[0]
            row[: len(hand_values)] = hand_values
        return values

    def _through(self, step: BoardPass, player: int, phase: str, words: Mapping[str, Any], iteration: int) -> Floats:
        """Run a pass down the trunk, through all shards at once, and up again."""

        def ask(entry: Array, alive: Array) -> list[tuple[int, int, Array]]:
            sent = {"entry": entry, "alive": alive, **words}
            answers = self.session.ask(iteration, player, phase, [sent] * len(self.runs))
            return [(run.begin, run.end, answer["found"]) for run, answer in zip(self.runs, answers, strict=True)]

        return self.trunk.through(step, ask)

    def profile(self, tables: Tables, scheme: Scheme, iterate: str) -> ShardedSpotProfile:
        """As ``Engine``."""
        return ShardedSpotProfile(self, tables, iterate)

    def pack(self, tables: Tables, scheme: Scheme) -> Tensors:
        """As ``Engine``: first all shards write files of their own."""
        manifest = self.session.save(tables.iteration)
        return self.trunk.packed(tables, "trunk") | manifest

    def unpack(self, tensors: Mapping[str, Array], scheme: Scheme) -> Tables:
        """As ``Engine``, from the files of any number of shards, or from the checkpoint of one machine."""
        if MANIFEST in tensors:
            files = files_of(tensors, self.session.folder)
            tables = self.trunk.unpacked(tensors, "trunk")
        else:
            tables = self.trunk.host_tables()._replace(iteration=int(tensors["state.iteration"].item()))
            tables = carry_part(self.game, tensors, whole(self.game), tables, FIRST_STREET)
            check(tables, "state")
            files = [self.session.whole_file(list(whole(self.game)))]
        sent = self.trunk.restore(tables)
        self.session.restore(tables.iteration, files)
        return sent

    @property
    def parts(self) -> str:
        """Number of boards, as the beginning of a sentence that continues with the number of workers."""
        return f"{len(self.game.boards[1].texture)} {self.game.streets[1].name} boards over"

    @property
    def predicted_bytes(self) -> int:
        """Bytes sent and received per iteration, counted in advance."""
        count = device_exchange if self.backend == "cuda" else exchanged
        return sum(count(self.game, self.runs, self.storage, player) for player in (0, 1))

    @property
    def files(self) -> dict[str, str]:
        """Files that workers write into the run folder, with descriptions."""
        return {"shards/": "the strategies below the cut, one file per worker"}


def cut_spot(inner: SpotEngine, scheme: Scheme, cutting: Cutting, folder: Path | None) -> ShardedBoards:
    """Cut a spot into at most as many shards as there are workers; raise if they do not have the memory."""
    game = inner.game
    if len(game.streets) == 1:
        raise ParameterError("The option 'cluster' needs a flop or a turn: after the river there is nothing to cut.")
    runs = planned(game, inner.storage, numbers_beside(scheme), cutting)
    orders = ordered(game, inner, scheme, cutting, runs)
    session = ShardSession(cutting.shards, orders, cutting.run, folder)
    return ShardedBoards(inner, session, scheme, tuple(runs))


def join_spot(
    game: HoldemGame, storage: str, scheme: Scheme, tensors: Mapping[str, Array], folder: Path | None
) -> Tensors:
    """Convert the checkpoint of a spot that was cut to the checkpoint of one machine."""
    trunk = BoardPart(game, storage, 1, scheme, FIRST_STREET).unpacked(tensors, "trunk")
    tables = HandTables(new_learners(game, storage, scheme), trunk.iteration)
    for file in files_of(tensors, folder):
        with opened_part(file, trunk.iteration) as part:
            tables = carry_part(game, part, BoardRun(*file["part"]), tables, whole(game))
    tables = carry_part(game, dict(leaves(trunk, "state")), FIRST_STREET, tables, whole(game))
    return packed([*leaves(tables, "state")])
