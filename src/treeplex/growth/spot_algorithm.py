"""Solve a hold'em spot while its menus grow: iterate, check for missing sizes, add them, evaluate in the real game.

Brown & Sandholm (2015), "Simultaneous Abstraction and Equilibrium Finding in Games", with stacks.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from treeplex.algorithms.cfr import CFR
from treeplex.algorithms.protocol import Array, Cost, Execution
from treeplex.algorithms.registry import build
from treeplex.algorithms.spot_reports import HoldemExtras, reader_of
from treeplex.engines.boards.game import HoldemGame, load_spot
from treeplex.engines.boards.solver import LEARNING, OVERHEAD, PASS, SpotProfile
from treeplex.engines.boards.trees import decisions_by_line, with_tree
from treeplex.engines.open import CPU
from treeplex.errors import ParameterError
from treeplex.evaluation.exact import Evaluation
from treeplex.games.holdem.candidates import offered
from treeplex.games.holdem.grown import line_text
from treeplex.games.holdem.sizes import text_of
from treeplex.games.holdem.translation import Translation
from treeplex.growth.check import Expansion, check
from treeplex.growth.options import Growth
from treeplex.growth.rates import Rates
from treeplex.growth.run import GrowthAlgorithm, GrowthAnswer, GrowthRun, Kinds, Records
from treeplex.growth.spot_removal import SizeRemoved, frequencies, remove
from treeplex.growth.spots import GrowingSpot
from treeplex.poker.views.reader import Reader
from treeplex.tensors import TINY, Tensors, count_of, number_of
from treeplex.updates.rule import Rule
from treeplex.updates.storage import STORAGES

TRANSLATING: Final = 8.0  # numbers read per action and hand by an evaluation: a plan in NumPy, and a best response


class SizeAdded(NamedTuple):
    """An added size: when, where, which, and why."""

    iteration: int
    player: int
    street: str
    decision: str  # the line of actions that leads there, with classes of cards if menus differ by them
    action: str  # "bet 50"
    size: str  # "50%"
    gain: float  # regret per iteration for not having it, in per cent of the pot, over all hands of the player
    needed: float  # regret required by proposition 1
    regret: float  # regret per iteration of the new action once it was added
    nodes: int  # nodes that it added
    recovery: int  # iterations of the recovery game
    discount: float  # weight of the past since then
    seconds: float  # seconds that adding took


GrowingRun = GrowthRun[GrowingSpot]
"""A growing spot with its additions and removals, and the seconds spent on checks."""


@dataclass(frozen=True)
class GrowingHoldem(GrowthAlgorithm[HoldemGame, GrowingSpot]):
    """CFR on a spot whose menus grow as ``growth`` specifies."""

    solver: CFR | None = None  # set when the algorithm is opened

    kinds: ClassVar[Kinds] = SizeAdded, SizeRemoved

    @property
    def storage(self) -> str:  # pyright: ignore[reportIncompatibleVariableOverride]
        """Storage type of the solver."""
        return "float32" if self.solver is None else self.solver.storage

    def open(self, game: HoldemGame, execution: Execution) -> GrowingHoldem:
        """As ``Algorithm``."""
        if not game.zero_sum:
            raise ParameterError("A spot with rake cannot grow, because it has no game value; set its rake_rate to 0.")
        if game.locks:
            raise ParameterError("A spot with locked decisions cannot grow; leave out the locks.")
        if execution.storage is not None and execution.storage in STORAGES and STORAGES[execution.storage].scaled:
            raise ParameterError(
                f"The 'storage' parameter must be float64 or float32 for a growing spot, got {execution.storage!r}."
            )
        member = build(self.growth.algorithm)
        if not isinstance(member, CFR) or isinstance(member.rule, Rule) or member.rule.predict > 0.0:
            raise ParameterError(
                f"The 'algorithm' parameter of a growing spot must be cfr, cfr+, lcfr or dcfr, got"
                f" {self.growth.algorithm!r}."
            )
        return replace(self, solver=member.open(game, execution._replace(backend=CPU)))

    def start(self, game: HoldemGame, seed: int = 0) -> GrowingRun:
        """As ``Algorithm``: the menus of the spot, nothing learnt yet."""
        solver, how = self._solver, self.growth
        candidates = offered(game.spot, how.bets, how.raises, how.street)
        spot = GrowingSpot(solver, candidates, game, solver.start(game), how.remove == "current")
        return GrowingRun(spot, how.recent)

    def _add(self, tree: GrowingSpot, rates: Rates) -> list[SizeAdded]:
        """Add up to ``per_check`` sizes at once."""
        expansions = check(tree, self.growth.factor, self.growth.discount, self.growth.per_check, rates)
        return [_addition(tree, expansion) for expansion in expansions]

    def _remove(self, tree: GrowingSpot) -> list[SizeRemoved]:
        """Remove sizes that are hardly bet."""
        return [] if self.growth.remove == "never" else remove(tree)

    def _policy(self, game: HoldemGame, state: GrowingRun) -> Reader:
        """Return the spot with its sizes, browsed by line and hand."""
        return reader_of(state.game.answer)

    def _extras(self, game: HoldemGame, state: GrowingRun, evaluation: Evaluation) -> SpotGrowthExtras:
        """Return the sizes found, with the frequency of each."""
        return SpotGrowthExtras(state, state.game.answer, self.growth, self._solver.storage, evaluation)

    def _measure(self, tree: GrowingSpot) -> Evaluation:
        """Evaluate in the real game, where every candidate may be bet."""
        inside, values = tree.answer.evaluate(), tree.response_values()
        figures = {
            "nash_conv_in_abstraction": inside.nash_conv,
            "histories": tree.game.nodes,
            "archived": 0,
            "weight": float(np.prod([weight for _, weight in tree.cuts])),
            "bytes": tree.game.memory(self._solver.storage, threads=1),
        }
        return Evaluation(inside.value, max(sum(values) - tree.game.spot.pot, 0.0), values, figures)

    def fingerprint(self, game: HoldemGame) -> str:
        """Return the hash of the initial spot; its candidates are options of the run."""
        return game.fingerprint

    def cost(self, game: HoldemGame) -> Cost:
        """As ``Algorithm``: the cost of the initial tree; both costs grow alike."""
        solver, how = self._solver, self.growth
        candidates, root = offered(game.spot, how.bets, how.raises, how.street), game.streets[0].decisions[0].node
        numbers = float(sum(game.elements(player) for player in (0, 1)))
        real = 0.0
        for player in (0, 1):
            tree = with_tree(game, Translation(game.spot, root, player, candidates).tree().node)
            real += sum(tree.elements(who) for who in (0, 1))
        return Cost(2.0 * (PASS + LEARNING * numbers), OVERHEAD + TRANSLATING * real + solver.cost(game).evaluation)

    def _saved(self, tree: GrowingSpot) -> tuple[Tensors, Records]:
        """Return the learnt tables, and the menus."""
        return tree.engine.pack(tree.state, tree.solver.scheme), {
            "line_sizes": dict(tree.game.spot.line_sizes),
            "cuts": [list(cut) for cut in tree.cuts],
            "idle": tree.idle,
        }

    def _restore(self, game: HoldemGame, tree: GrowingSpot, tensors: Mapping[str, Array], saved: Records) -> None:
        """As ``GrowthAlgorithm``."""
        tree.game = load_spot(replace(game.spot, line_sizes=saved["line_sizes"]), like=game)
        tree.state = tree.engine.unpack(tensors, tree.solver.scheme)
        tree.cuts = [(count_of(iteration), number_of(weight)) for iteration, weight in saved["cuts"]]
        if any(iteration > tree.iteration or not TINY < weight <= 1.0 for iteration, weight in tree.cuts):
            raise ValueError("the weights of its past are impossible")
        tree.idle = {line: count_of(checks) for line, checks in saved["idle"].items()}

    @property
    def _solver(self) -> CFR:
        if self.solver is None:
            raise ValueError("The algorithm must be opened before it starts.")
        return self.solver


def _addition(spot: GrowingSpot, expansion: Expansion) -> SizeAdded:
    game, (line, player, size, gain, _) = spot.game, expansion.candidate
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
        needed=expansion.needed * per_iteration,
        regret=expansion.added.regret * per_iteration,
        nodes=expansion.added.histories,
        recovery=expansion.added.iterations,
        discount=expansion.weight,
        seconds=expansion.seconds,
    )


class UsedSize(NamedTuple):
    """An added size with its frequency."""

    addition: SizeAdded
    frequency: float  # frequency with which the player at the decision chooses it, over all its boards


class SpotGrowthExtras(GrowthAnswer, HoldemExtras):
    """Fields of a growing spot's solution beyond value and NashConv in the real game."""

    kinds = SizeAdded, SizeRemoved

    def __init__(
        self, run: GrowingRun, profile: SpotProfile, growth: Growth, storage: str, evaluation: Evaluation
    ) -> None:
        super().__init__(profile, profile.game.memory(storage, threads=1), evaluation)
        self.run, self.growth, self.additions, self.removals = run, growth, run.additions, run.removals

    @property
    def spot(self) -> Any:
        """The spot with all sizes found, for ``treeplex.load``."""
        return self.game.spot

    @cached_property
    def found(self) -> list[UsedSize]:
        """Every size added and not removed, largest gain first."""
        known = {line_text(line): position for line, position in decisions_by_line(self.game).items()}
        frequencies_by_line = {line_text(line): numbers for line, numbers in frequencies(self.run.game).items()}
        listed: list[UsedSize] = []
        last = {(addition.decision, addition.action): addition for addition in self.additions}  # it may have returned
        for (line, name), addition in last.items():
            actions = [action.name for action in known[line][1].node.actions] if line in known else []
            if name in actions:  # not removed since
                listed.append(UsedSize(addition, float(frequencies_by_line[line][actions.index(name)])))
        return sorted(listed, key=lambda size: -size.addition.gain)

    def summary(self) -> dict[str, Any]:
        """As ``Extras``."""
        return super().summary() | self.growth_summary("secret", self.found)

    def documents(self) -> dict[str, Any]:
        """As ``Extras``."""
        return {"spot": self.spot.summary()}

    def files(self) -> dict[str, str]:
        """As ``Extras``."""
        return super().files() | {"spot.json": "the spot with the menus found, for `treeplex holdem solve`"}
