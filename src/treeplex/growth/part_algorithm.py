"""Solve any compiled game by some of its actions, and add the others that pay during the solve.

Brown & Sandholm (2015), "Simultaneous Abstraction and Equilibrium Finding in Games". Its section 8 calls the approach
independent of the game: nothing here knows sizes, cards or payoffs.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, ClassVar, Final, NamedTuple

import numpy as np

from treeplex.algorithms.cfr import CFR, cfr, cfr_plus
from treeplex.algorithms.protocol import Array, Cost, Execution, plain_execution
from treeplex.arrays import pair
from treeplex.arrow import unpacked
from treeplex.compile.game import CompiledGame
from treeplex.compile.part import Masks, WholeGame
from treeplex.engines.sequence.engine import OVERHEAD, sweep
from treeplex.evaluation.exact import Evaluation
from treeplex.growth.check import Expansion, check
from treeplex.growth.options import Growth
from treeplex.growth.parts import GrowingPart
from treeplex.growth.rates import Rates
from treeplex.growth.run import FIRST_CHECK, GrowthAlgorithm, GrowthAnswer, GrowthRun, Kinds, Records
from treeplex.growth.start import masks_of
from treeplex.policies.policy import Policy
from treeplex.tensors import TINY, Tensors, checked, number_of

SOLVERS: Final[dict[str, CFR]] = {"cfr": cfr(turns="simultaneous"), "cfr+": cfr_plus(order="faced")}
"""Averages contain the strategies that opponents learnt against, so that values can be computed from them."""

ROUNDING: Final = 1.0 + 1e-6

READING: Final = "start"
"""Play outside of the part: uniform over the actions of the start."""


class ActionAdded(NamedTuple):
    """An added action: when, where, which, and why."""

    iteration: int
    player: int
    infoset: str
    action: str
    gain: float  # regret per iteration for not having it, in payoffs: the reason for adding it
    needed: float  # regret required by proposition 1
    regret: float  # regret per iteration of the new action once it was added
    histories: int  # histories that it added
    recovery: int  # iterations of the recovery game
    discount: float  # weight of the past since then
    seconds: float  # seconds that adding took


class ActionRemoved(NamedTuple):
    """A removed action. Compiled games keep all that they have."""

    iteration: int


PartRun = GrowthRun[GrowingPart]
"""A growing part with its additions, and the seconds spent on checks."""


@dataclass(frozen=True)
class GrowingActions(GrowthAlgorithm[CompiledGame, GrowingPart]):
    """CFR on a part of a compiled game, which grows by single actions."""

    threads: int = 1
    wholes: dict[int, tuple[WholeGame, Masks]] = field(default_factory=dict[Any, Any], repr=False, compare=False)

    kinds: ClassVar[Kinds] = ActionAdded, ActionRemoved

    def open(self, game: CompiledGame, execution: Execution) -> GrowingActions:
        """As ``Algorithm``."""
        plain_execution(execution, threads=True)
        return GrowingActions(self.growth, execution.threads, self.wholes)

    def start(self, game: CompiledGame, seed: int = 0) -> PartRun:
        """As ``Algorithm``: the actions of the start, nothing learnt yet."""
        whole, masks = self._whole(game)
        name, transfer = self.growth.algorithm, self.growth.method == "transfer"
        return PartRun(
            GrowingPart(whole, SOLVERS[name], masks, name == "cfr+", self.threads, transfer), self.growth.recent
        )

    def _due(self, state: PartRun) -> int:
        """As ``GrowthAlgorithm``; unless set, checks that add something are followed by another one soon.

        An infoset gets one action per check, so infosets of many actions would wait for most of them.
        """
        due, done = super()._due(state), state.game.iteration
        soon = state.additions[-1].iteration + FIRST_CHECK if state.additions else 0
        return min(due, soon) if not self.growth.every and soon > done else due

    def _add(self, tree: GrowingPart, rates: Rates) -> list[ActionAdded]:
        """Add up to ``per_check`` actions."""
        expansions = check(tree, self.growth.factor, self.growth.discount, self.growth.per_check, rates)
        return [_addition(tree, expansion) for expansion in expansions]

    def _remove(self, tree: GrowingPart) -> list[ActionRemoved]:
        """Remove nothing."""
        return []

    def _measure(self, tree: GrowingPart) -> Evaluation:
        """Evaluate in the whole game."""
        whole, inside = tree.measure()
        game = tree.part.game
        figures = {
            "nash_conv_in_abstraction": inside.nash_conv,
            "histories": game.nodes,
            "archived": 0,
            "weight": tree.weight,
            "bytes": game.bytes,
        }
        return whole._replace(extra=figures)

    def _policy(self, game: CompiledGame, state: PartRun) -> Policy:
        """Return strategies for the whole game."""
        return Policy.of(game, state.game.averages())

    def _extras(self, game: CompiledGame, state: PartRun, evaluation: Evaluation) -> PartExtras:
        """Return the actions found, with the frequency of each."""
        return PartExtras(state, self.growth, evaluation)

    def fingerprint(self, game: CompiledGame) -> str:
        """Return the hash of the whole game; its start is an option of the run."""
        return game.fingerprint

    def cost(self, game: CompiledGame) -> Cost:
        """As ``Algorithm``: the cost of the whole game; the part costs at most as much."""
        return Cost(sweep(game), 2.0 * (OVERHEAD + sweep(game)))

    def _whole(self, game: CompiledGame) -> tuple[WholeGame, Masks]:
        """Return the game with its histories and the actions of the start, built once per game."""
        if id(game) not in self.wholes:
            masks = masks_of(self.growth.actions, game)
            self.wholes[id(game)] = WholeGame(game), masks
        return self.wholes[id(game)]

    def _saved(self, tree: GrowingPart) -> tuple[Tensors, Records]:
        """Return the learnt tables and the masks."""
        tensors = tree.engine.pack(tree.tables, tree.solver.scheme)
        masks = {f"masks.{player}": mask.astype(np.int8) for player, mask in enumerate(tree.masks)}
        sums = {} if tree.transfers is None else tree.transfers.save()
        return tensors | masks | sums, {"weight": tree.weight, "total": tree.total}

    def _restore(self, game: CompiledGame, tree: GrowingPart, tensors: Mapping[str, Array], saved: Records) -> None:
        """As ``GrowthAlgorithm``."""
        tree.masks = pair(_mask(tensors[f"masks.{player}"], tree.start[player]) for player in (0, 1))
        tree.rebuild()
        tree.tables = tree.engine.unpack(tensors, tree.solver.scheme)
        if tree.transfers is not None:
            tree.transfers.restore(tensors)
        tree.weight, tree.total = number_of(saved["weight"]), number_of(saved["total"])
        if not TINY < tree.weight <= 1.0 or not 0.0 <= tree.total <= ROUNDING * (tree.iteration + 1.0) ** 2:
            raise ValueError("the weight of its past is impossible")


def _mask(saved: Array, start: Array) -> Any:
    """Return a saved mask, which must have the actions of the start."""
    mask = checked("masks", saved, np.int8, start.shape, 0, 1) == 1
    if (start & ~mask).any():
        raise ValueError("its actions are not those of this game")
    return mask


def _addition(part: GrowingPart, expansion: Expansion) -> ActionAdded:
    infoset, player, action, gain, histories = expansion.candidate
    game = part.whole.game
    unit = game.unit / part.effective
    return ActionAdded(
        iteration=part.iteration,
        player=player,
        infoset=unpacked(game.labels[player].infosets[infoset : infoset + 1])[0],
        action=game.actions[game.labels[player].actions[action]],
        gain=gain * unit,
        needed=expansion.needed * unit,
        regret=expansion.added.regret * unit,
        histories=histories,
        recovery=expansion.added.iterations,
        discount=expansion.weight,
        seconds=expansion.seconds,
    )


class UsedAction(NamedTuple):
    """An added action with its frequency."""

    addition: ActionAdded
    frequency: float  # probability at its infoset


class PartExtras(GrowthAnswer):
    """Fields of the solution beyond value and NashConv in the whole game."""

    kinds = ActionAdded, ActionRemoved

    def __init__(self, run: PartRun, growth: Growth, evaluation: Evaluation) -> None:
        self.run, self.growth, self.evaluation = run, growth, evaluation
        self.additions, self.removals = run.additions, run.removals

    reading: ClassVar[str] = READING

    @property
    def grown(self) -> CompiledGame:
        """The game by the actions that may be chosen now, for any solver."""
        return self.run.game.part.game

    @cached_property
    def found(self) -> list[UsedAction]:
        """Every action added, the most frequent first."""
        part = self.run.game
        game, averages = part.whole.game, part.averages()
        listed: list[UsedAction] = []
        additions: list[ActionAdded] = self.run.additions
        for addition in additions:
            infoset = game.infoset_index[addition.player][addition.infoset]
            at = game.actions_at(addition.player, infoset).index(addition.action)
            first = int(game.treeplexes[addition.player].first[infoset])
            listed.append(UsedAction(addition, float(averages[addition.player][first + at])))
        return sorted(listed, key=lambda one: -one.frequency)

    @cached_property
    def actions(self) -> dict[str, list[str]]:
        """Actions that may be chosen, by infoset, where some may not: ``Growth.actions`` of another run."""
        part, present = self.run.game, dict[str, list[str]]()
        for player, labels in enumerate(part.whole.game.labels):
            first = part.whole.game.treeplexes[player].first
            for infoset, label in enumerate(unpacked(labels.infosets)):
                mask = part.masks[player][first[infoset] : first[infoset + 1]]
                if not mask.all():
                    legal = part.whole.game.actions_at(player, infoset)
                    present[label] = [action for action, on in zip(legal, mask.tolist(), strict=True) if on]
        return present

    def summary(self) -> dict[str, Any]:
        """As ``Extras``."""
        histories = self.grown.nodes
        return self.growth_summary(READING, self.found, histories=histories, of_histories=self.run.game.whole.nodes)

    def documents(self) -> dict[str, Any]:
        """As ``Extras``."""
        return {"actions": self.actions}

    def files(self) -> dict[str, str]:
        """As ``Extras``."""
        return {
            "additions.parquet": "every action that was added: iteration, infoset, action, reasons, and seconds",
            "actions.json": "the actions of infosets that still have fewer than the rules allow",
        }
