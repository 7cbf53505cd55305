"""A part of a spot on the CPU, the first street or a run of boards: its tables, and passes over it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

from treeplex.arrays import Floats
from treeplex.engines.boards import arrays as layout
from treeplex.engines.boards.arrays import PassRule, Playing, Schedules, Sources, no_learner, plain_rule
from treeplex.engines.boards.cut import BoardRun, carry, locked_part, part_of
from treeplex.engines.boards.engine import engine
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.tables import (
    Array,
    HandLearner,
    HandTables,
    bounded_weight,
    check_iterations,
    fold_blocks,
    new_learners,
    pass_rule,
    played_sources,
    rescale,
    rescale_to_units,
    saved_earlier,
    schedules,
    sum_blocks,
)
from treeplex.engines.protocol import Scheme
from treeplex.tensors import check
from treeplex.updates.blocks import Earlier
from treeplex.updates.schedules import stretches

AskShards = Callable[[Array, Array], list[tuple[int, int, Array]]]
"""The opponent's reach of street roots and which rows have a hand -> values of boards: begin, end, [boards, ...]."""


class BoardPass(NamedTuple):
    """What one pass works with."""

    player: int
    playing: Playing
    rule: PassRule
    step: tuple[int, int, int]
    schedules: Schedules | None


class BoardPart:
    """A run of boards of the second street with all below them, or without boards the first street."""

    def __init__(self, game: HoldemGame, run: BoardRun, storage: str, threads: int, scheme: Scheme) -> None:
        self.whole, self.run, self.storage, self.threads, self.scheme = game, run, storage, threads, scheme
        self.game = part_of(game, run)
        self.weight = bounded_weight(scheme, storage)
        self.frozen = locked_part(game, storage, run)

    def tables(self) -> Any:
        """Nothing learned yet; locked decisions as they are locked."""
        return self.host_tables()

    def host_tables(self) -> HandTables:
        """The same as host arrays."""
        learners = new_learners(self.game, self.storage, self.scheme)
        locked_part(self.whole, self.storage, self.run, learners)
        return HandTables(learners, 0)

    def host(self, tables: HandTables) -> HandTables:
        """The tables as host arrays."""
        return tables

    def send(self, tables: HandTables) -> Any:
        """Tables of the host, where passes have them."""
        return tables

    def rescale(self, tables: Any, t: int) -> None:
        """Convert averages to the unit of the weights of iteration ``t``, in place."""
        rescale(tables.learners, stretches(self.weight, t - 1, 1)[0].fade, tables.earlier)

    def fold(self, tables: Any, t: int) -> Earlier:
        """Sums over blocks after iteration ``t``."""
        return fold_blocks(tables.learners, t, self.storage, tables.earlier)

    def sources(self, tables: Any, iterate: str) -> Sources:
        """What strategies of the part are normalised from."""
        if iterate == "current":
            return played_sources(tables.learners, self.scheme)
        learners = sum_blocks(tables)
        locked_part(self.whole, self.storage, self.run, learners)
        return Sources(learners[0].average, learners[1].average)

    def host_sources(self, tables: Any, iterate: str) -> Sources:
        """The same as host arrays."""
        return self.sources(tables, iterate)

    def learning(self, tables: Any, player: int, t: int) -> BoardPass:
        """One player's half of iteration ``t``."""
        playing = Playing(tables.learners, played_sources(tables.learners, self.scheme), self.frozen)
        known = schedules(self.scheme, self.storage, t)
        return BoardPass(player, playing, pass_rule(self.scheme), (player, layout.UPDATE, t), known)

    def playing(self, sources: Sources, player: int, mode: int) -> BoardPass:
        """A best response, or the value of strategies."""
        stub = no_learner(self.storage)
        return BoardPass(player, Playing((stub, stub), sources, self.frozen), plain_rule(), (player, mode, 0), None)

    def through(self, step: BoardPass, ask: AskShards) -> Floats:
        """Down the first street, through all shards at once, and up again: [1, H] values at the root."""
        runner, player = engine(self.whole, self.storage, 1), step.player
        learns = step.schedules is not None
        with runner.busy:
            runner.run(step.playing, step.rule, [step.step], schedules=step.schedules, phase=layout.DOWN)
            entry, alive = (array.copy() for array in runner.entering(player))
            values = runner.found(player)
            for begin, end, worth in ask(entry, alive):
                values[begin:end, : worth.shape[1]] = worth
            return runner.run(
                step.playing, step.rule, [step.step], schedules=step.schedules, keep=not learns, phase=layout.UP
            )

    def below(self, step: BoardPass, entry: Array, alive: Array) -> Array:
        """Values of the part's boards to the learner, after the opponent's reach of every root above."""
        runner, player = engine(self.game, self.storage, self.threads), step.player
        with runner.busy:
            for array, sent in zip(runner.entering(player), (entry, alive), strict=True):
                array[:] = sent
            runner.run(step.playing, step.rule, [step.step], schedules=step.schedules, phase=layout.BELOW)
            return runner.found(player).copy()

    def restore(self, tables: HandTables) -> Any:
        """Check tables that were carried from checkpoints; where passes have them."""
        check(check_iterations(tables), "state")
        return self.send(rescale_to_units(tables, self.weight))


def carry_part(
    game: HoldemGame, tensors: Mapping[str, Array], of: BoardRun, target: HandTables, to: BoardRun
) -> HandTables:
    """Copy the arrays of a part's file into ``target``, which is modified in place."""
    earlier = target.earlier or saved_earlier(target.learners, tensors)
    for player, learner in enumerate(target.learners):
        arrays = {name: tensors[f"state.learners.{player}.{name}"] for name in HandLearner._fields}
        carry(game, player, arrays, of, learner, to)
        if earlier:
            sums = {"average": tensors[f"state.earlier.{player}"]}
            carry(game, player, sums, of, learner._replace(average=earlier[player]), to)
    return target._replace(earlier=earlier)
