"""A spot whose numbers stay coded in memory: boards are decoded, iterated and coded again.

The spot is cut after its first street (``engines.boards.cut``), which is kept as it is. Boards of the second street,
with all boards below them, are cut into runs. Regrets and averages of a run are streams of 16-bit numbers (``codec``).
A pass decodes both players' regrets and the opponent's average of a run. It codes what it has changed: the learner's
regrets, and that average. Threads work on different runs. The iterates have the bits of ``storage="int16"``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, NamedTuple, TypeVar

import numpy as np

from treeplex.arrays import Floats, aligned, pair
from treeplex.codec.arrays import Stream, decode, encode
from treeplex.compile.memory import GIB, available
from treeplex.engines.boards import arrays as layout
from treeplex.engines.boards.arrays import HandLearner, Playing, Sources
from treeplex.engines.boards.coded import decoded_rows, pack_tables, row_segments
from treeplex.engines.boards.cut import FIRST_STREET, PER_DECISION, BoardRun, board_work, carry, whole
from treeplex.engines.boards.evaluate import Passes
from treeplex.engines.boards.game import threads_for
from treeplex.engines.boards.part import BoardPart, BoardPass
from treeplex.engines.boards.solver import HoldemProfile, SpotEngine, SpotProfile
from treeplex.engines.boards.tables import Array, HandLearners, HandTables, check_scheme, played_sources
from treeplex.engines.protocol import Scheme, Stop, never
from treeplex.errors import GameError, ParameterError
from treeplex.tensors import Tensors, check
from treeplex.updates.storage import COMPRESSED, number_type

NUMBERS: Final = number_type(COMPRESSED)
"""Storage whose numbers are coded."""

SHARE: Final = 0.7
"""Fraction of the bytes of ``NUMBERS`` that is reported as memory: `docs/theory/cfr-plus.md` has measurements."""

RUN: Final = 2**20
"""Numbers stored for both players in an array from which boards are a run of their own."""

FIELDS: Final = ("regret", "average")
NOTHING: Final = np.zeros(0, NUMBERS)
Result = TypeVar("Result")


class CodedLearner(NamedTuple):
    """A ``HandLearner`` of some boards with coded regrets and averages."""

    regret: Stream
    average: Stream
    last: Array
    regret_scale: Array
    average_scale: Array


CodedLearners = tuple[CodedLearner, CodedLearner]


class CodedTables(NamedTuple):
    """State that the next iteration needs: the first street, and the learners of each run of boards."""

    trunk: HandTables
    boards: list[CodedLearners]
    iteration: int


class CodedRun:
    """A run of boards of the second street with all boards below them."""

    def __init__(self, part: BoardPart) -> None:
        self.part = part
        self.sizes = pair(part.game.elements(player) for player in (0, 1))
        self.segments = pair(row_segments(part.game, player, self.sizes[player]) for player in (0, 1))

    def coded(self, learners: HandLearners) -> CodedLearners:
        """Return learners with coded arrays."""
        return pair(
            CodedLearner(
                *(encode(getattr(learner, field), self.segments[player], 1) for field in FIELDS),
                *(getattr(learner, field) for field in PER_DECISION),
            )
            for player, learner in enumerate(learners)
        )

    def opened(self, learners: CodedLearners, *fields: tuple[int, str]) -> HandLearners:
        """Return learners with the arrays of some players and fields; the others are zeros. Scales are shared."""
        return pair(self._opened(player, learners[player], {name for who, name in fields if who == player})
                    for player in (0, 1))  # fmt: skip

    def _opened(self, player: int, learner: CodedLearner, fields: set[str]) -> HandLearner:
        arrays = [aligned(self.sizes[player], NUMBERS) for _ in FIELDS]
        for field, array in zip(FIELDS, arrays, strict=True):
            if field in fields:
                decode(getattr(learner, field), self.segments[player], array, 1)
        return HandLearner(arrays[0], arrays[1], NOTHING, *_rest(learner))

    def learn(
        self, learners: CodedLearners, trunk: BoardPass, entry: Array, alive: Array
    ) -> tuple[CodedLearners, Array]:
        """Run the trunk's pass on these boards. Return the learners after it, and the boards' values."""
        part, player = self.part, trunk.step[0]
        other = 1 - player
        now = self.opened(learners, (player, "regret"), (other, "regret"), (other, "average"))
        playing = Playing(now, played_sources(now, part.scheme), part.frozen)
        values = part.below(trunk._replace(playing=playing), entry, alive)
        after = list(learners)
        after[player] = after[player]._replace(regret=encode(now[player].regret, self.segments[player], 1))
        after[other] = after[other]._replace(average=encode(now[other].average, self.segments[other], 1))
        return pair(after), values

    def sources(self, learners: CodedLearners, iterate: str) -> Sources:
        """Return the numbers that strategies are normalised from."""
        field = "regret" if iterate == "current" else "average"
        return self.part.sources(HandTables(self.opened(learners, (0, field), (1, field)), 0), iterate)

    def values(self, sources: Sources, step: tuple[int, int], entry: Array, alive: Array) -> Array:
        """Return the boards' values of a best response, or of the strategies; ``step``: player and mode."""
        return self.part.below(self.part.playing(sources, *step), entry, alive)


@dataclass(frozen=True, eq=False)
class CompressedEngine(SpotEngine):
    """A hold'em spot with coded tables, on the CPU."""

    storage: str = COMPRESSED
    threads: int = 0

    def check(self, scheme: Scheme) -> None:
        """As ``Engine``."""
        check_scheme(scheme, NUMBERS)
        if len(self.game.streets) == 1:
            raise ParameterError(
                "The 'storage' parameter must be float64, float32 or int16 on a river, got 'compressed': after the"
                " river there are no boards to decode one by one."
            )

    def part(self, scheme: Scheme, run: BoardRun | None = None) -> BoardPart:
        """As ``SpotEngine``: a pass over a part has one thread, since threads work on different boards."""
        return BoardPart(self.game, NUMBERS, 1, scheme, run)

    def memory(self, scheme: Scheme) -> int:
        """As ``Engine``, as far as it can be known before numbers are coded."""
        return int(SHARE * self.game.memory(NUMBERS, 0, self.threads))

    @cached_property
    def runs(self) -> list[BoardRun]:
        """Runs of boards of the second street, each as short as possible with at least ``RUN`` numbers."""
        work, runs, begin = board_work(self.game), list[BoardRun](), 0
        for board in range(len(work)):
            if work[begin : board + 1].sum() >= RUN or board + 1 == len(work):
                runs.append(BoardRun(begin, board + 1))
                begin = board + 1
        return runs

    def tables(self, scheme: Scheme) -> Any:
        """As ``Engine``; GameError if there is not enough memory."""
        need, free = self.memory(scheme), available()
        if need > free:
            raise GameError(
                f"Solving {self.game.name} with compressed numbers takes about {need / GIB:,.1f} GiB, but only"
                f" {free / GIB:,.1f} GiB are free; choose fewer or larger bet sizes, or narrower ranges."
            )
        coded = self._each(lambda board: board.coded(board.part.host_tables().learners), self._runs(scheme))
        return CodedTables(self._trunk(scheme).host_tables(), coded, 0)

    def iterate(self, tables: CodedTables, scheme: Scheme, iterations: int, stop: Stop = never) -> CodedTables:
        """As ``Engine``."""
        trunk, boards, now = self._trunk(scheme), self._runs(scheme), tables
        for t in range(tables.iteration + 1, tables.iteration + iterations + 1):
            trunk.rescale(now.trunk, t)
            for board, learners in zip(boards, now.boards, strict=True):
                board.part.rescale(_scales(learners), t)
            for player in (0, 1):
                now = now._replace(boards=self._learn(trunk, boards, now, player, t))
            now = CodedTables(now.trunk._replace(iteration=t), now.boards, t)
            if stop():
                break
        return now

    def _learn(
        self, trunk: BoardPart, boards: list[CodedRun], now: CodedTables, player: int, t: int
    ) -> list[CodedLearners]:
        """Return the learners of the boards after one player's half of an iteration."""
        step, after = trunk.learning(now.trunk, player, t), list(now.boards)

        def ask(entry: Array, alive: Array) -> list[tuple[int, int, Array]]:
            def one(k: int) -> tuple[int, int, Array]:
                after[k], values = boards[k].learn(now.boards[k], step, entry, alive)
                return self.runs[k].begin, self.runs[k].end, values

            return self._each(one, range(len(boards)))

        trunk.through(step, ask)
        return after

    def values(self, tables: CodedTables, scheme: Scheme, iterate: str, passes: Passes) -> Floats:
        """[passes, H] values of the hands of each pass's player at the root."""
        trunk, boards = self._trunk(scheme), self._runs(scheme)
        sources = trunk.sources(tables.trunk, iterate)
        values = np.zeros((len(passes), max(len(self.game.weights(player)) for player in (0, 1))))
        for row, (player, mode) in zip(values, passes, strict=True):
            kind = player, layout.BEST if mode == layout.BEST else layout.VALUE

            def ask(entry: Array, alive: Array, kind: tuple[int, int] = kind) -> list[tuple[int, int, Array]]:
                def one(k: int) -> tuple[int, int, Array]:
                    own = boards[k].sources(tables.boards[k], iterate)
                    values = boards[k].values(own, kind, entry, alive)
                    return self.runs[k].begin, self.runs[k].end, values

                return self._each(one, range(len(boards)))

            hand_values = trunk.through(trunk.playing(sources, player, mode), ask)[0]
            row[: len(hand_values)] = hand_values
        return values

    def profile(self, tables: CodedTables, scheme: Scheme, iterate: str) -> CodedProfile:
        """As ``Engine``."""
        return CodedProfile(self, tables, scheme, iterate)

    def plain(self, tables: CodedTables, scheme: Scheme, fields: tuple[str, ...] = FIELDS) -> HandTables:
        """Return the tables of ``NUMBERS``, with the arrays of some fields, and zeros for the others."""
        game, boards = self.game, self._runs(scheme)
        learners: list[HandLearner] = []
        for player in (0, 1):
            count, size = game.decisions(player), game.elements(player)
            arrays = [aligned(size, NUMBERS) for _ in FIELDS]
            scales = [np.zeros(count, np.float32) for _ in range(2)]
            target = HandLearner(arrays[0], arrays[1], NOTHING, np.zeros(count, np.int32), scales[0], scales[1])
            names = (*fields, *PER_DECISION)
            for run, board, coded in zip(self.runs, boards, tables.boards, strict=True):
                opened = board.opened(coded, *((player, field) for field in fields))[player]
                carry(game, player, {name: getattr(opened, name) for name in names}, run, target, whole(game))
            first = {name: getattr(tables.trunk.learners[player], name) for name in names}
            carry(game, player, first, FIRST_STREET, target, whole(game))  # last: boards have zeros in its place
            learners.append(target)
        return HandTables(pair(learners), tables.iteration)

    def pack(self, tables: CodedTables, scheme: Scheme) -> Tensors:
        """As ``Engine``: the tensors of ``NUMBERS``."""
        return pack_tables(self.game, self.plain(tables, scheme), "state")

    def unpack(self, tensors: Mapping[str, Array], scheme: Scheme) -> CodedTables:
        """As ``Engine``, from checkpoints of ``NUMBERS`` too."""
        trunk, iteration = self._trunk(scheme), int(tensors["state.iteration"].item())
        sources = [self._saved(tensors, player) for player in (0, 1)]

        def one(board: CodedRun) -> CodedLearners:
            tables = self._cut(board.part, sources, iteration)
            return board.coded(board.part.restore(tables).learners)

        first = trunk.restore(self._cut(trunk, sources, iteration))
        return CodedTables(HandTables(*first[:2]), [one(board) for board in self._runs(scheme)], iteration)

    def _saved(self, tensors: Mapping[str, Array], player: int) -> dict[str, Array]:
        """Return one player's arrays of a checkpoint, decoded."""
        arrays = {name: tensors[f"state.learners.{player}.{name}"] for name in HandLearner._fields}
        for name in FIELDS:
            arrays[name] = decoded_rows(self.game, player, arrays[name], np.zeros(1, NUMBERS), 1)
        return arrays

    def _cut(self, part: BoardPart, sources: list[dict[str, Array]], iteration: int) -> HandTables:
        """Return the host tables of a part of a checkpoint; ValueError if they are not legal."""
        tables = part.host_tables()._replace(iteration=iteration)
        for player, arrays in enumerate(sources):
            carry(self.game, player, arrays, whole(self.game), tables.learners[player], part.run or whole(self.game))
        check(tables, "state")
        return tables

    def _trunk(self, scheme: Scheme) -> BoardPart:
        return self.part(scheme, FIRST_STREET)

    def _runs(self, scheme: Scheme) -> list[CodedRun]:
        """Return the runs of boards. They are made once per scheme, with scratch arrays of their own."""
        known = self._made
        if known.get("scheme") is not scheme:
            known.update(scheme=scheme, runs=[CodedRun(self.part(scheme, run)) for run in self.runs])
        return known["runs"]

    @cached_property
    def _made(self) -> dict[str, Any]:
        return {}

    def _each(self, task: Callable[[Any], Result], items: Any) -> list[Result]:
        """Apply a function to all items, on several threads."""
        with ThreadPoolExecutor(threads_for(self.game, self.threads)) as helpers:
            return list(helpers.map(task, items))


class CodedProfile(HoldemProfile):
    """Strategies of a spot whose tables are coded. They are decoded board by board when they are evaluated."""

    def __init__(self, engine: CompressedEngine, tables: CodedTables, scheme: Scheme, iterate: str) -> None:
        self.engine, self.tables, self.scheme, self.iterate, self.game = engine, tables, scheme, iterate, engine.game

    def values(self, passes: Passes) -> Floats:
        """As ``HoldemProfile``."""
        return self.engine.values(self.tables, self.scheme, self.iterate, passes)

    def host(self) -> SpotProfile:
        """As ``Profile``: all strategies, decoded."""
        part = self.engine.part(self.scheme)
        fields = ("regret",) if self.iterate == "current" else ("average",)
        tables = self.engine.plain(self.tables, self.scheme, fields)
        return SpotProfile(self.game, part.sources(tables, self.iterate), part.frozen, NUMBERS, self.engine.threads)

    @property
    def trunk(self) -> SpotProfile:
        """As ``HoldemProfile``: strategies of the first street."""
        trunk = self.engine.part(self.scheme, FIRST_STREET)
        sources = trunk.sources(self.tables.trunk, self.iterate)
        return SpotProfile(self.game, sources, trunk.frozen, NUMBERS, 1)


def _rest(learner: CodedLearner) -> tuple[Any, Any, Any]:
    """Return the arrays of a learner that are not coded."""
    return learner.last, learner.regret_scale, learner.average_scale


def _scales(learners: CodedLearners) -> HandTables:
    """Return tables with the scales of learners alone."""
    return HandTables(pair(HandLearner(NOTHING, NOTHING, NOTHING, *_rest(each)) for each in learners), 0)
