"""Tables and passes of a spot on the CPU: of all of it, of its first street, or of a run of boards."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import cached_property
from typing import NamedTuple

from treeplex.arrays import Floats
from treeplex.compile.memory import GIB, available
from treeplex.engines.boards import arrays as layout
from treeplex.engines.boards.arrays import (
    Locked,
    PassRule,
    Playing,
    RuleCalls,
    Schedules,
    Sources,
    no_learner,
    plain_rule,
)
from treeplex.engines.boards.coded import decoded, decoded_rows, pack_tables
from treeplex.engines.boards.cut import PER_DECISION, BoardRun, carry, part_of, whole
from treeplex.engines.boards.engine import SubgameEngine, engine
from treeplex.engines.boards.game import HoldemGame, require_memory
from treeplex.engines.boards.locks import fix
from treeplex.engines.boards.tables import (
    AnyTables,
    Array,
    HandLearner,
    HandTables,
    Tables,
    bounded_weight,
    calls_of,
    check_calls,
    check_iterations,
    new_learners,
    numbers_beside,
    pass_rule,
    played_sources,
    rescale,
    saved_earlier,
    scaled_sums,
    schedules,
    sum_blocks,
)
from treeplex.engines.protocol import Scheme
from treeplex.errors import GameError
from treeplex.tensors import Tensors, restored
from treeplex.updates import blocks
from treeplex.updates.blocks import Earlier
from treeplex.updates.schedules import stretches, unit_before

AskShards = Callable[[Array, Array], list[tuple[int, int, Array]]]
"""Function of the opponent's reach of street roots and of the marks of rows with a hand.

It returns values of runs of boards: begin, end, [boards, ...]."""


class BoardPass(NamedTuple):
    """Arguments of one pass."""

    playing: Playing
    rule: PassRule
    step: tuple[int, int, int]  # player, mode, iteration
    schedules: Schedules | None = None  # for a pass that learns
    calls: RuleCalls | None = None  # for a pass that learns by a rule that is called

    def run(self, runner: SubgameEngine, phase: int) -> Floats:
        """Run one phase. After the last phase of a pass that does not learn, return [1, H] values at the root."""
        keep = self.schedules is None and phase == layout.UP
        learning, calls = self.schedules, self.calls
        return runner.run(self.playing, self.rule, [self.step], schedules=learning, calls=calls, keep=keep, phase=phase)


class BoardPart:
    """A run of boards of the second street with all boards below them, or the first street, or a whole spot."""

    def __init__(
        self, game: HoldemGame, storage: str, threads: int, scheme: Scheme, run: BoardRun | None = None
    ) -> None:
        self.whole, self.run, self.storage, self.threads, self.scheme = game, run, storage, threads, scheme
        self.game = game if run is None else part_of(game, run)
        self.weight = bounded_weight(scheme, storage)

    @cached_property
    def frozen(self) -> Locked:
        """The locked decisions of this part."""
        return fix(self.game, self.storage)

    def tables(self) -> Tables:
        """Return tables without anything learned yet, with locked decisions written."""
        return self.host_tables()

    def host_tables(self) -> HandTables:
        """Return ``tables`` as host arrays."""
        if self.run is None:
            require_memory(self.game, self.storage, numbers_beside(self.scheme), self.threads)
        learners = new_learners(self.game, self.storage, self.scheme)
        fix(self.game, self.storage, learners)
        return HandTables(learners, 0)

    def host(self, tables: Tables) -> HandTables:
        """Return the tables as host arrays."""
        return HandTables(*tables[:3])

    def send(self, tables: HandTables) -> Tables:
        """Return tables of the host in the memory that passes use."""
        return tables

    def rescale(self, tables: Tables, t: int) -> None:
        """Convert averages to the unit of the weights of iteration ``t``, in place."""
        self.fade(tables, stretches(self.weight, t - 1, 1)[0].fade)

    def fade(self, tables: Tables, factor: float) -> None:
        """Multiply the averages by a factor, in place."""
        rescale(tables.learners, factor, tables.earlier)

    def fold(self, tables: AnyTables) -> AnyTables:
        """Return the tables after an iteration, which may end a block of averages (``updates.blocks``)."""
        if not blocks.due(tables.iteration, self.storage):
            return tables
        return tables._replace(earlier=self.fold_blocks(tables))

    def fold_blocks(self, tables: Tables) -> Earlier:
        """Return the sums of blocks when a block ends; averages are modified in place."""
        averages = [learner.average for learner in tables.learners]
        if not tables.earlier:
            need, free = 2 * sum(average.nbytes for average in averages), available()
            if need > free:
                raise GameError(
                    f"Averages of more than {blocks.BEGIN:,} iterations take {need / GIB:,.1f} GiB more, but only"
                    f" {free / GIB:,.1f} GiB are free; limit the run to {blocks.BEGIN:,} iterations."
                )
        return blocks.folded(averages, tables.earlier)

    def sources(self, tables: Tables, iterate: str) -> Sources:
        """Return the numbers that strategies are normalised from. At a locked decision, the lock replaces sums."""
        if iterate == "current":
            return played_sources(tables.learners, self.scheme)
        return self.averages(tables)

    def averages(self, tables: Tables) -> Sources:
        """Return the numbers that average strategies are normalised from."""
        learners = sum_blocks(self.host(tables))
        if self.game.locks:
            fix(self.game, self.storage, learners)
        return Sources(learners[0].average, learners[1].average)

    def host_sources(self, tables: Tables, iterate: str) -> Sources:
        """Return ``sources`` as host arrays."""
        return self.sources(tables, iterate)

    def learning(self, tables: Tables, player: int, t: int) -> BoardPass:
        """Return the pass that is one player's half of iteration ``t``."""
        playing = Playing(tables.learners, played_sources(tables.learners, self.scheme), self.frozen)
        known = schedules(self.scheme, self.storage, t)
        calls = calls_of(self.game, self.scheme)
        return BoardPass(playing, pass_rule(self.scheme), (player, layout.UPDATE, t), known, calls)

    def check(self, step: BoardPass) -> None:
        """Reject a rule that failed in the pass that has just learned."""
        t = step.step[2]
        check_calls(step.calls, self.scheme, t, t)

    def playing(self, sources: Sources, player: int, mode: int) -> BoardPass:
        """Return the pass that computes a best response, or the value of strategies."""
        stub = no_learner(self.storage)
        return BoardPass(Playing((stub, stub), sources, self.frozen), plain_rule(), (player, mode, 0))

    def through(self, step: BoardPass, ask: AskShards) -> Floats:
        """Run a pass down the first street, through all shards at once, and up again: as ``BoardPass.run``."""
        runner, player = engine(self.whole, self.storage, 1), step.step[0]
        with runner.busy:
            step.run(runner, layout.DOWN)
            entry, alive = (array.copy() for array in runner.entering(player))
            values = runner.board_values(player)
            for begin, end, part_values in ask(entry, alive):
                values[begin:end, : part_values.shape[1]] = part_values
            return step.run(runner, layout.UP)

    def below(self, step: BoardPass, entry: Array, alive: Array) -> Array:
        """Return values of the part's boards to the learner, from the opponent's reach of every root above."""
        runner, player = engine(self.game, self.storage, self.threads), step.step[0]
        with runner.busy:
            for array, sent in zip(runner.entering(player), (entry, alive), strict=True):
                array[:] = sent
            step.run(runner, layout.BELOW)
            return runner.board_values(player).copy()

    def packed(self, tables: Tables, name: str = "state") -> Tensors:
        """Return the tables as named host arrays, which are coded if they are large."""
        return pack_tables(self.game, self.host(tables), name)

    def unpacked(self, tensors: Mapping[str, Array], name: str) -> HandTables:
        """Return the host tables that were packed under a name."""
        fresh = self.host_tables()
        fresh = fresh._replace(earlier=saved_earlier(fresh.learners, tensors, name))
        return restored(fresh, name, decoded(self.game, fresh, name, tensors))

    def restore(self, tables: HandTables) -> Tables:
        """Return a checkpoint's tables in the memory that passes use. Reject regrets newer than its iteration."""
        learners, iteration, _ = check_iterations(tables)
        rescale(learners, unit_before(self.weight, iteration, scaled_sums(learners)))
        return self.send(tables)


def carry_part(
    game: HoldemGame, tensors: Mapping[str, Array], of: BoardRun, target: HandTables, to: BoardRun
) -> HandTables:
    """Copy the arrays of the file of part ``of`` into ``target`` of part ``to``, in place."""
    earlier = target.earlier or saved_earlier(target.learners, tensors)
    source = game if of == whole(game) else part_of(game, of)
    for player, learner in enumerate(target.learners):
        arrays = {name: tensors[f"state.learners.{player}.{name}"] for name in HandLearner._fields}
        for name in arrays.keys() - set(PER_DECISION):
            arrays[name] = decoded_rows(source, player, arrays[name], getattr(learner, name), len(learner.average))
        carry(game, player, arrays, of, learner, to)
        if earlier:
            stored = tensors[f"state.earlier.{player}"]
            sums = {"average": decoded_rows(source, player, stored, earlier[player], len(learner.average))}
            carry(game, player, sums, of, learner._replace(average=earlier[player]), to)
    return target._replace(earlier=earlier)
