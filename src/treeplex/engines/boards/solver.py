"""Hold'em spots on the CPU: streets times boards times rows of hands.

One iteration is one pass per player, in turn. On its way down, a pass adds the opponent's strategy to its average,
as in Algorithm 1 of Tammelin (2014). So player 0's average starts with its second strategy, player 1's with its first.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Final

from treeplex.arrays import Floats
from treeplex.engines.boards.arrays import UPDATE, Locked, Playing, Sources, no_learner, plain_rule
from treeplex.engines.boards.cut import BoardRun
from treeplex.engines.boards.engine import engine
from treeplex.engines.boards.evaluate import Passes, evaluate_passes, pot_shares
from treeplex.engines.boards.game import HoldemGame, threads_for
from treeplex.engines.boards.part import BoardPart
from treeplex.engines.boards.tables import (
    Array,
    HandTables,
    Tables,
    calls_of,
    check_calls,
    check_scheme,
    numbers_beside,
    pass_rule,
    played_sources,
    schedules,
)
from treeplex.engines.evaluation import Evaluation
from treeplex.engines.protocol import Cost, Engine, Profile, Scheme, Stop, never
from treeplex.tensors import Tensors
from treeplex.updates.schedules import stretches

LEARNING, PLAYING = 2.5, 1.75  # numbers read per action and hand by a pass that learns, and by a pass that does not
PASS: Final = 13_000.0  # fixed cost of a pass, in numbers read
OVERHEAD: Final = 350_000.0  # fixed cost of one evaluation, in numbers read
RATE: Final = 2.0e9  # numbers read per second and core; 1.5e9 on large flops to 2.8e9 on rivers
ITERATIONS: Final = {"0.5%pot": 90, "0.1%pot": 200}  # iterations of the default algorithm, on flops, turns and rivers


def board_cost(game: HoldemGame) -> Cost:
    """Cost of two passes per iteration, and of three passes per evaluation, or four with rake."""
    numbers = float(sum(game.elements(player) for player in (0, 1)))
    passes = 3.0 if game.zero_sum else 4.0
    return Cost(2.0 * (PASS + LEARNING * numbers), OVERHEAD + passes * (PASS + PLAYING * numbers))


def seconds_to_solve(game: HoldemGame) -> dict[str, float]:
    """Estimate the seconds of a solve by exploitability, within a factor of three as measured on one processor."""
    numbers = float(sum(game.elements(player) for player in (0, 1)))
    each = seconds_per_iteration(numbers) / threads_for(game, 0)
    return {target: count * each for target, count in ITERATIONS.items()}


def seconds_per_iteration(numbers: float) -> float:
    """Seconds of an iteration on one thread; ``numbers`` is actions times hands over all decisions."""
    return 2.0 * (PASS + LEARNING * numbers) / RATE


class HoldemProfile(Profile):
    """Both players' strategies on a spot. Passes evaluate them in the memory where they are."""

    game: HoldemGame

    def evaluate(self, threads: int = 0) -> Evaluation:
        """As ``Profile``, in chips."""
        return evaluate_passes(self.game, self.values)

    def value(self, player: int, mode: int) -> float:
        """Average number of chips of the pot that ``player`` wins, by its strategy or by its best response."""
        return pot_shares(self.game, [(player, mode)], self.values([(player, mode)]))[0]

    @abstractmethod
    def values(self, passes: Passes) -> Floats:
        """Return values [passes, H] at the root of the hands of each pass's player."""

    @property
    @abstractmethod
    def trunk(self) -> SpotProfile:
        """Strategies on the host, at least those of the first street."""


class SpotProfile(HoldemProfile):
    """The arrays that strategies are normalised from, on the host."""

    def __init__(self, game: HoldemGame, sources: Sources, frozen: Locked, storage: str, threads: int) -> None:
        self.game, self.sources, self.frozen, self.storage, self.threads = game, sources, frozen, storage, threads

    @property
    def arrays(self) -> Sources:
        """As ``Profile``."""
        return self.sources

    def values(self, passes: Passes) -> Floats:
        """As ``HoldemProfile``."""
        stub = no_learner(self.storage)
        playing = Playing((stub, stub), self.sources, self.frozen)
        runner = engine(self.game, self.storage, self.threads)
        return runner.run(playing, plain_rule(), [(player, mode, 0) for player, mode in passes], keep=True)

    def host(self) -> SpotProfile:
        """As ``Profile``."""
        return self

    @property
    def trunk(self) -> SpotProfile:
        """As ``HoldemProfile``: the whole profile."""
        return self

    def replace(self, arrays: Sources) -> SpotProfile:
        """As ``Profile``."""
        return SpotProfile(self.game, Sources(*arrays), self.frozen, self.storage, self.threads)


@dataclass(frozen=True, eq=False)
class SpotEngine(Engine):
    """A hold'em spot (Tammelin 2014, Algorithm 1, with vectors of hands), on any backend."""

    game: HoldemGame
    storage: str = "float32"

    name: ClassVar = "boards"
    threads = 0

    @abstractmethod
    def part(self, scheme: Scheme, run: BoardRun | None = None) -> BoardPart:
        """Return the tables and passes of the spot, or of a part of it."""

    @property
    def cost(self) -> Cost:
        """As ``Engine``."""
        return board_cost(self.game)

    def memory(self, scheme: Scheme) -> int:
        """Bytes that a solve takes."""
        return self.game.memory(self.storage, numbers_beside(scheme), self.threads)

    def check(self, scheme: Scheme) -> None:
        """As ``Engine``."""
        check_scheme(scheme, self.storage)

    def tables(self, scheme: Scheme) -> Tables:
        """As ``Engine``, with locked decisions written."""
        return self.part(scheme).tables()

    def nodes(self, scheme: Scheme, iterations: int) -> int:
        """As ``Engine``: public nodes, all of them in each of two passes, including what pruning skips."""
        return 2 * iterations * self.game.nodes

    def unpack(self, tensors: Mapping[str, Array], scheme: Scheme) -> Any:
        """As ``Engine``, from either backend."""
        part = self.part(scheme)
        return part.restore(part.unpacked(tensors, "state"))


@dataclass(frozen=True, eq=False)
class BoardsEngine(SpotEngine):
    """A hold'em spot on the CPU."""

    threads: int = 0
    prune: bool = True

    def part(self, scheme: Scheme, run: BoardRun | None = None) -> BoardPart:
        """As ``SpotEngine``."""
        return BoardPart(self.game, self.storage, self.threads, scheme, run)

    def iterate(self, tables: HandTables, scheme: Scheme, iterations: int, stop: Stop = never) -> HandTables:
        """As ``Engine``."""
        now, part, last = tables, self.part(scheme), tables.iteration + iterations
        playing = Playing(now.learners, played_sources(now.learners, scheme), part.frozen)
        runner, rule = engine(self.game, self.storage, self.threads), pass_rule(scheme, prune=self.prune)
        known, calls = schedules(scheme, self.storage, last), calls_of(self.game, scheme)
        for count, fade in stretches(part.weight, now.iteration, iterations, self.storage):
            part.fade(now, fade)
            first, done = now.iteration + 1, now.iteration + count
            passes = [(player, UPDATE, t) for t in range(first, done + 1) for player in (0, 1)]
            runner.run(playing, rule, passes, schedules=known, calls=calls)
            check_calls(calls, scheme, first, done)
            now = part.fold(now._replace(iteration=done))
        return now

    def profile(self, tables: HandTables, scheme: Scheme, iterate: str) -> SpotProfile:
        """As ``Engine``."""
        part = self.part(scheme)
        return SpotProfile(self.game, part.sources(tables, iterate), part.frozen, self.storage, self.threads)

    def pack(self, tables: HandTables, scheme: Scheme) -> Tensors:
        """As ``Engine``."""
        return self.part(scheme).packed(tables)
