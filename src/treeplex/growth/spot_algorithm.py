"""Solve a hold'em spot while its menus grow: iterate, check what is missing, add it, evaluate in the real game.

Brown & Sandholm (2015), "Simultaneous Abstraction and Equilibrium Finding in Games", with stacks.
"""

from __future__ import annotations

import json
import time
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.algorithms.cfr import CFR
from treeplex.algorithms.protocol import Algorithm, Cost, Execution, LiveReport, Stop, Work, never
from treeplex.algorithms.registry import build
from treeplex.algorithms.spot_reports import HoldemExtras, reader_of
from treeplex.arrow import Table, records
from treeplex.engines.boards.game import HoldemGame, load_spot
from treeplex.engines.boards.locks import no_locks
from treeplex.engines.boards.solver import LEARNING, OVERHEAD, PASS, SpotProfile
from treeplex.engines.boards.tables import HandTables, check_iterations, new_learners, saved_earlier
from treeplex.engines.boards.trees import decisions_by_line, with_tree
from treeplex.engines.open import CPU
from treeplex.errors import ParameterError
from treeplex.evaluation.exact import Evaluation
from treeplex.games.holdem.candidates import offered
from treeplex.games.holdem.grown import line_text
from treeplex.games.holdem.sizes import text_of
from treeplex.games.holdem.translation import Translation
from treeplex.growth.check import Grew, check
from treeplex.growth.figures import GrowthFigures
from treeplex.growth.options import Growth, growth_fields
from treeplex.growth.spot_removal import SizeRemoved, frequencies, remove
from treeplex.growth.spots import GrowingSpot
from treeplex.poker.views.reader import Reader
from treeplex.tensors import TINY, Tensors, count_of, leaves, number_of, record_of, restored
from treeplex.updates.rule import Rule
from treeplex.updates.storage import STORAGES

RECORDS: Final = "records"  # the tensor that holds counts and lists as JSON text
TRANSLATING: Final = 8.0  # numbers read per action and hand by an evaluation: a plan in NumPy, and a best response
FIRST_CHECK: Final = 10  # iterations
LATER: Final = 5  # checks come after 1 / LATER more iterations each


class SizeAdded(NamedTuple):
    """A size that was added: when, where, which, and why."""

    iteration: int
    player: int
    street: str
    decision: str  # the line of actions that leads there, with classes of cards if menus differ by them
    action: str  # "bet 50"
    size: str  # "50%"
    gain: float  # per iteration for not having it, in per cent of the pot, over all hands of the player: why it came
    needed: float  # what proposition 1 asked for
    regret: float  # per iteration, of the new action once it was added
    nodes: int  # that it added
    recovery: int  # iterations of the recovery game
    discount: float  # weight of the past since then
    seconds: float  # that adding took


class GrowingRun:
    """A growing spot, what was added to it and taken out, and how long checks took; modified in place."""

    def __init__(self, game: GrowingSpot) -> None:
        self.game = game
        self.additions: list[SizeAdded] = []
        self.removals: list[SizeRemoved] = []
        self.growing = 0.0  # seconds


@dataclass(frozen=True)
class GrowingHoldem(Algorithm[HoldemGame, GrowingRun]):
    """CFR on a spot whose menus grow as ``growth`` says."""

    growth: Growth
    solver: CFR | None = None  # once it is known how to carry it out

    iterates: ClassVar[tuple[str, ...]] = ("average", "current")  # which of them, ``growth.remove`` decides

    @property
    def storage(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """As its solver."""
        return "float32" if self.solver is None else self.solver.storage

    def open(self, game: HoldemGame, execution: Execution) -> GrowingHoldem:
        """As ``Algorithm``."""
        if not game.zero_sum:
            raise ParameterError("A spot with rake has no value that sizes could add to; set its rake_rate to 0.")
        if game.locks:
            raise ParameterError("A spot with locked decisions cannot grow; leave out the locks.")
        if execution.storage is not None and execution.storage in STORAGES and STORAGES[execution.storage].scaled:
            raise ParameterError(
                f"The 'storage' parameter must be float64 or float32 where a spot grows, got {execution.storage!r}."
            )
        member = build(self.growth.algorithm)
        if not isinstance(member, CFR) or isinstance(member.rule, Rule) or member.rule.predict > 0.0:
            raise ParameterError(
                f"The 'algorithm' parameter of a spot that grows must be cfr, cfr+, lcfr or dcfr, got"
                f" {self.growth.algorithm!r}."
            )
        return replace(self, solver=member.open(game, execution._replace(backend=CPU)))

    def start(self, game: HoldemGame, seed: int = 0) -> GrowingRun:
        """The menus of the spot; nothing learnt."""
        solver, how = self._solver, self.growth
        candidates = offered(game.spot, how.bets, how.raises, how.street)
        return GrowingRun(GrowingSpot(solver, candidates, game, solver.start(game), how.remove == "current"))

    def advance(self, game: HoldemGame, state: GrowingRun, iterations: int, stop: Stop = never) -> GrowingRun:
        """As ``Algorithm``: checks for sizes come after 10 iterations, and then after a fifth more each."""
        spot = state.game
        last = spot.iteration + iterations
        while spot.iteration < last and not stop():
            due = next_check(spot.iteration, self.growth.every)
            spot.advance(min(due, last) - spot.iteration)
            if spot.iteration == due:
                self._check(state)
        return state

    def _check(self, state: GrowingRun) -> None:
        began, how = time.perf_counter(), self.growth
        if how.factor < np.inf:
            grown = check(state.game, how.factor, how.discount, how.per_check)
            state.additions += [_addition(state.game, one) for one in grown]
        if how.remove != "never":
            state.removals += remove(state.game)
        state.growing += time.perf_counter() - began

    def work(self, game: HoldemGame, state: GrowingRun) -> Work:
        """Public nodes of iterations, recovery games and checks."""
        return Work(state.game.iteration, state.game.touched, additions=state.additions)

    def report(self, game: HoldemGame, state: GrowingRun, iterate: str) -> LiveReport:
        """As ``Algorithm``: the sizes that were found, and the spot with them, browsed by line and hand."""
        return LiveReport(
            partial(self._evaluate, state), partial(self._reader, state.game), partial(self._extras, state)
        )

    def _extras(self, state: GrowingRun, evaluation: Evaluation) -> GrownSpot:
        """The sizes that were found, and how often each is bet."""
        return GrownSpot(state, self._profile(state.game), self.growth, self._solver.storage, evaluation)

    def _evaluate(self, strategies: GrowingRun) -> Evaluation:
        """In the real game, where every candidate may be bet; beside it, NashConv if only sizes on the menus might."""
        spot = strategies.game
        inside, taken = self._reader(spot).evaluation(), spot.taken()
        figures = GrowthFigures(
            growing_seconds=strategies.growing,
            nash_conv_in_abstraction=inside.nash_conv,
            histories=spot.game.nodes,
            archived=0,
            sizes=len(strategies.additions),
            removed=len(strategies.removals),
            weight=float(np.prod([share for _, share in spot.cuts])),
            bytes=spot.game.memory(self._solver.storage, threads=1),
        )
        return Evaluation(inside.value, max(sum(taken) - spot.game.spot.pot, 0.0), taken, figures._asdict())

    def fingerprint(self, game: HoldemGame) -> str:
        """Of the spot at the start; its candidates are options of the run."""
        return game.fingerprint

    def cost(self, game: HoldemGame) -> Cost:
        """As ``Algorithm``: of the tree at the start; both grow alike."""
        solver, how = self._solver, self.growth
        candidates, root = offered(game.spot, how.bets, how.raises, how.street), game.streets[0].decisions[0].node
        numbers = float(sum(game.elements(player) for player in (0, 1)))
        real = 0.0
        for player in (0, 1):
            tree = with_tree(game, Translation(game.spot, root, player, candidates).tree().node)
            real += sum(tree.elements(who) for who in (0, 1))
        return Cost(2.0 * (PASS + LEARNING * numbers), OVERHEAD + TRANSLATING * real + solver.cost(game).evaluation)

    def save(self, state: GrowingRun) -> Tensors:
        """As ``Algorithm``: what was learnt, the menus, and counts."""
        spot = state.game
        tensors = {name: np.ascontiguousarray(leaf) for name, leaf in leaves(spot.state, "state")}
        counts: dict[str, Any] = {
            "line_sizes": dict(spot.game.spot.line_sizes),
            "touched": spot.touched,
            "cuts": [list(cut) for cut in spot.cuts],
            "growing": state.growing,
            "additions": [list(addition) for addition in state.additions],
            "removals": [list(removal) for removal in state.removals],
            "idle": spot.idle,
        }
        return tensors | {RECORDS: np.frombuffer(json.dumps(counts).encode(), dtype=np.uint8)}

    def restore(self, game: HoldemGame, tensors: Mapping[str, npt.NDArray[Any]], seed: int = 0) -> GrowingRun:
        """As ``Algorithm``."""
        counts = json.loads(tensors[RECORDS].tobytes())
        state, solver = self.start(game, seed), self._solver
        spot = state.game
        spot.game = load_spot(replace(game.spot, line_sizes=counts["line_sizes"]), like=game)
        learners = new_learners(spot.game, solver.storage, solver.scheme)
        fresh = HandTables(learners, 0, saved_earlier(learners, tensors))
        spot.state = check_iterations(restored(fresh, "state", tensors))
        spot.touched, state.growing = count_of(counts["touched"]), number_of(counts["growing"])
        spot.cuts = [(count_of(iteration), number_of(share)) for iteration, share in counts["cuts"]]
        if any(iteration > spot.iteration or not TINY < share <= 1.0 for iteration, share in spot.cuts):
            raise ValueError("its past is weighed by what cannot be")
        state.additions = [record_of(SizeAdded, addition) for addition in counts["additions"]]
        state.removals = [record_of(SizeRemoved, removal) for removal in counts.get("removals", [])]
        spot.idle = {line: count_of(checks) for line, checks in counts.get("idle", {}).items()}
        return state

    @property
    def _solver(self) -> CFR:
        if self.solver is None:
            raise ValueError("Growth has not been prepared.")
        return self.solver

    def _profile(self, spot: GrowingSpot) -> SpotProfile:
        storage = self._solver.storage
        return SpotProfile(spot.game, spot.answer, no_locks(spot.game, storage), storage, spot.engine.threads)

    def _reader(self, spot: GrowingSpot) -> Reader:
        return reader_of(self._profile(spot))


def next_check(iteration: int, every: int) -> int:
    """The iteration of the next check after so many: a multiple of ``every``, or of 10, 20, ... and later a fifth more.

    >>> [next_check(k, 0) for k in (0, 9, 10, 100, 110, 1000)]
    [10, 10, 20, 103, 123, 1081]
    """
    if every:
        return (iteration // every + 1) * every
    due = FIRST_CHECK
    while due <= iteration:
        due += max(FIRST_CHECK, due // LATER)
    return due


def _addition(spot: GrowingSpot, one: Grew) -> SizeAdded:
    game, (line, player, size, gain, _) = spot.game, one.candidate
    depth, decision = decisions_by_line(game)[line]
    action = next(action for action in decision.node.actions if action.size == size)
    per_iteration = 100.0 * game.spot.chip / (game.combinations * game.spot.pot * spot.effective)
    return SizeAdded(
        iteration=spot.iteration,
        player=player,
        street=game.streets[depth].name,
        decision=line_text(line),
        action=action.name,
        size=text_of(size),
        gain=gain * per_iteration,
        needed=one.needed * per_iteration,
        regret=one.added.regret * per_iteration,
        nodes=one.added.histories,
        recovery=one.added.iterations,
        discount=one.share,
        seconds=one.seconds,
    )


class SizeFound(NamedTuple):
    """A size that was added, and how much it is used."""

    addition: SizeAdded
    frequency: float  # how often the player who gets to the decision chooses it, over all boards on which it is


class GrownSpot(HoldemExtras):
    """What the answer of a growing spot has beside value and NashConv in the real game."""

    def __init__(
        self, run: GrowingRun, profile: SpotProfile, growth: Growth, storage: str, evaluation: Evaluation
    ) -> None:
        super().__init__(profile, profile.game.memory(storage, threads=1), evaluation)
        self.run, self.growth, self.additions, self.removals = run, growth, run.additions, run.removals

    @property
    def spot(self) -> Any:
        """The spot with all sizes that were found: ``treeplex.load`` takes it."""
        return self.game.spot

    @cached_property
    def found(self) -> list[SizeFound]:
        """Every size that was added and is there, largest gain first."""
        known = {line_text(line): place for line, place in decisions_by_line(self.game).items()}
        often = {line_text(line): shares for line, shares in frequencies(self.run.game).items()}
        listed: list[SizeFound] = []
        last = {(addition.decision, addition.action): addition for addition in self.additions}  # it may have come back
        for (line, name), addition in last.items():
            actions = [action.name for action in known[line][1].node.actions] if line in known else []
            if name in actions:  # not taken out since
                listed.append(SizeFound(addition, float(often[line][actions.index(name)])))
        return sorted(listed, key=lambda one: -one.addition.gain)

    def summary(self) -> dict[str, Any]:
        """As ``Extras``."""
        figures = GrowthFigures.of(self.evaluation)
        return super().summary() | {
            "growth": growth_fields(self.growth),
            "nash_conv_in_abstraction": figures.nash_conv_in_abstraction,
            "reading": "secret",
            "removed": len(self.removals),
            "sizes": [one.addition._asdict() | {"frequency": one.frequency} for one in self.found],
        }

    def tables(self) -> dict[str, Table]:
        """As ``Extras``."""
        tables = {"additions": records(SizeAdded, self.additions)}
        return tables | ({"removals": records(SizeRemoved, self.removals)} if self.growth.remove != "never" else {})

    def documents(self) -> dict[str, Any]:
        """As ``Extras``."""
        return {"spot": self.spot.summary()}

    def files(self) -> dict[str, str]:
        """As ``Extras``."""
        return super().files() | {
            "additions.parquet": "every size that was added: iteration, decision, size, why, and what adding it took",
            "removals.parquet": "every size that was taken out again: iteration, decision, size",
            "spot.json": "the spot with the menus that were found, for `treeplex holdem solve`",
        }
