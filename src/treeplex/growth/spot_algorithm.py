"""Solve a hold'em spot while its menus grow: iterate, check what is missing, add it, evaluate in the real game.

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
from treeplex.growth.check import Grew, check
from treeplex.growth.options import Growth
from treeplex.growth.run import GrowthAlgorithm, GrowthAnswer, GrowthRun, Kinds, Records
from treeplex.growth.spot_removal import SizeRemoved, frequencies, remove
from treeplex.growth.spots import GrowingSpot
from treeplex.poker.views.reader import Reader
from treeplex.tensors import TINY, Tensors, count_of, number_of
from treeplex.updates.rule import Rule
from treeplex.updates.storage import STORAGES

TRANSLATING: Final = 8.0  # numbers read per action and hand by an evaluation: a plan in NumPy, and a best response


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


GrowingRun = GrowthRun[GrowingSpot]
"""A growing spot, what was added to it and taken out, and how long checks took."""


@dataclass(frozen=True)
class GrowingHoldem(GrowthAlgorithm[HoldemGame, GrowingSpot]):
    """CFR on a spot whose menus grow as ``growth`` says."""

    solver: CFR | None = None  # once it is known how to carry it out

    kinds: ClassVar[Kinds] = SizeAdded, SizeRemoved

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

    def _add(self, tree: GrowingSpot) -> list[SizeAdded]:
        """Up to ``per_check`` sizes at once."""
        grown = check(tree, self.growth.factor, self.growth.discount, self.growth.per_check)
        return [_addition(tree, one) for one in grown]

    def _remove(self, tree: GrowingSpot) -> list[SizeRemoved]:
        """Sizes that are hardly bet."""
        return [] if self.growth.remove == "never" else remove(tree)

    def _policy(self, game: HoldemGame, state: GrowingRun) -> Reader:
        """The spot with its sizes, browsed by line and hand."""
        return reader_of(state.game.answer)

    def _extras(self, game: HoldemGame, state: GrowingRun, evaluation: Evaluation) -> GrownSpot:
        """The sizes that were found, and how often each is bet."""
        return GrownSpot(state, state.game.answer, self.growth, self._solver.storage, evaluation)

    def _measure(self, tree: GrowingSpot) -> Evaluation:
        """In the real game, where every candidate may be bet."""
        inside, taken = tree.answer.evaluate(), tree.taken()
        figures = {
            "nash_conv_in_abstraction": inside.nash_conv,
            "histories": tree.game.nodes,
            "archived": 0,
            "weight": float(np.prod([share for _, share in tree.cuts])),
            "bytes": tree.game.memory(self._solver.storage, threads=1),
        }
        return Evaluation(inside.value, max(sum(taken) - tree.game.spot.pot, 0.0), taken, figures)

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

    def _saved(self, tree: GrowingSpot) -> tuple[Tensors, Records]:
        """What was learnt, and the menus."""
        return tree.engine.pack(tree.state, tree.solver.scheme), {
            "line_sizes": dict(tree.game.spot.line_sizes),
            "cuts": [list(cut) for cut in tree.cuts],
            "idle": tree.idle,
        }

    def _restore(self, game: HoldemGame, tree: GrowingSpot, tensors: Mapping[str, Array], saved: Records) -> None:
        """As ``GrowthAlgorithm``."""
        tree.game = load_spot(replace(game.spot, line_sizes=saved["line_sizes"]), like=game)
        tree.state = tree.engine.unpack(tensors, tree.solver.scheme)
        tree.cuts = [(count_of(iteration), number_of(share)) for iteration, share in saved["cuts"]]
        if any(iteration > tree.iteration or not TINY < share <= 1.0 for iteration, share in tree.cuts):
            raise ValueError("its past is weighed by what cannot be")
        tree.idle = {line: count_of(checks) for line, checks in saved["idle"].items()}

    @property
    def _solver(self) -> CFR:
        if self.solver is None:
            raise ValueError("Growth has not been prepared.")
        return self.solver


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


class GrownSpot(GrowthAnswer, HoldemExtras):
    """What the answer of a growing spot has beside value and NashConv in the real game."""

    kinds = SizeAdded, SizeRemoved

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
        return super().summary() | self.growth_summary("secret", self.found)

    def documents(self) -> dict[str, Any]:
        """As ``Extras``."""
        return {"spot": self.spot.summary()}

    def files(self) -> dict[str, str]:
        """As ``Extras``."""
        return super().files() | {"spot.json": "the spot with the menus that were found, for `treeplex holdem solve`"}
