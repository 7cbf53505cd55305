"""Counterfactual regret minimization on a subgame: the same minimizers and weights as in every other game.

One iteration is one pass a player, in turn. The rival's strategy is added to its average while a pass goes down, as
in Algorithm 1 of Tammelin (2014): player 0's average starts with its second strategy, player 1's with its first.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.algorithms.cfr import CFR
from treeplex.algorithms.options import whole
from treeplex.algorithms.registry import build
from treeplex.engines.boards.arrays import BEST, UPDATE, VALUE, HandLearner, Minds, Rule
from treeplex.engines.boards.engine import engine
from treeplex.engines.boards.game import BYTES, HoldemGame, require_memory
from treeplex.engines.boards.locks import Lock, fix
from treeplex.engines.sequence.arrays import ALTERNATING
from treeplex.errors import ParameterError
from treeplex.evaluation.exact import Evaluation
from treeplex.updates import Minimizer
from treeplex.updates.schedules import Schedule

Array = npt.NDArray[Any]

DEFAULT: Final = "dcfr(gamma=4)"
"""To 0.1 % of the pot it takes the fewest iterations of all that were tried: docs/how-to/holdem.md."""


class State(NamedTuple):
    """What the next iteration needs."""

    learners: tuple[HandLearner, HandLearner]
    iteration: int


class Sources(NamedTuple):
    """What strategies are shares of: one number an action and hand, for both players."""

    first: Array
    second: Array


@dataclass(frozen=True)
class HoldemCFR:
    """CFR over public nodes with vectors of hands (Tammelin 2014, Algorithm 1)."""

    minimizer: Minimizer
    weight: Schedule
    storage: str = "float32"
    threads: int = 0
    prune: bool = True
    locks: tuple[Lock, ...] = ()

    def start(self, game: HoldemGame) -> State:
        """No regret yet, even strategies."""
        require_memory(game, self.storage)
        learners = (self._newborn(game, 0), self._newborn(game, 1))
        fix(game, self.locks, learners)
        return State(learners, 0)

    def advance(self, game: HoldemGame, state: State, iterations: int) -> State:
        """As ``Algorithm``; the arrays of ``state`` are modified in place and belong to the state returned."""
        last = state.iteration + iterations
        rule = self.rule(last)
        minds = self._minds(game, state.learners, self._playing(state))
        runner = engine(game, self.storage, self.threads)
        turns = range(state.iteration + 1, last + 1)
        runner.run(minds, rule, [(player, UPDATE, t) for t in turns for player in (0, 1)])
        return State(state.learners, last)

    def average(self, game: HoldemGame, state: State) -> Sources:
        """The sums of weighted strategies: the average strategies are their shares.

        Where a decision is locked, the locked strategy is put in place of the sums.
        """
        if self.locks:
            fix(game, self.locks, state.learners)
        return Sources(state.learners[0].average, state.learners[1].average)

    def current(self, game: HoldemGame, state: State) -> Sources:
        """The regrets, or hopes, that are played from next."""
        return self._playing(state)

    def nodes_touched(self, game: HoldemGame, state: State) -> int:
        """Public nodes, all of them in each of two passes; what pruning skips is counted all the same."""
        return 2 * state.iteration * game.nodes

    def evaluate(self, game: HoldemGame, sources: Sources) -> Evaluation:
        """Value and NashConv in chips. Both players share the pot: player 0's value is what it takes on average.

        At a decision whose strategy is locked, a best response plays that strategy, too.
        """
        runner = engine(game, self.storage, self.threads)
        minds = self._minds(game, (self._stub(), self._stub()), sources)
        passes = self._measured(game)
        worth = runner.run(minds, self.rule(0), [(player, mode, 0) for player, mode in passes], keep=True)
        found: dict[tuple[int, int], float] = {}
        for (player, mode), values in zip(passes, worth, strict=True):
            weights = game.weights(player)
            total = float(values[: len(weights)] @ weights)
            found[player, mode] = game.spot.pot / 2 + total / game.combinations
        value = found[0, VALUE]
        bests = (found[0, BEST], found[1, BEST])
        other = found[1, VALUE] if game.spot.rake_rate else game.spot.pot - value
        return Evaluation(value, max(sum(bests) - value - other, 0.0), bests)

    def rule(self, last: int) -> Rule:
        """Discounts and weights of iterations 0 to ``last``."""
        t = np.arange(last + 1, dtype=np.float64)
        t[0] = 1.0  # there is no iteration 0; its numbers are never used
        positive, negative = self.minimizer.discounts(t)
        predict = self.minimizer.predict
        prune = self.prune and not predict  # a prediction changes also where nothing is gained
        return Rule(positive, negative, self.weight(t), predict, prune, self.storage == "int16")

    def frozen(self, game: HoldemGame) -> tuple[npt.NDArray[np.bool_], npt.NDArray[np.bool_]]:
        """Which decisions of both players are locked."""
        return fix(game, self.locks)

    def _measured(self, game: HoldemGame) -> list[tuple[int, int]]:
        passes = [(0, BEST), (1, BEST), (0, VALUE)]
        return [*passes, (1, VALUE)] if game.spot.rake_rate else passes

    def _minds(self, game: HoldemGame, learners: tuple[HandLearner, HandLearner], sources: Sources) -> Minds:
        return Minds(learners, (sources.first, sources.second), self.frozen(game))

    def _playing(self, state: State) -> Sources:
        first, second = (learner.hope if self.minimizer.predict else learner.regret for learner in state.learners)
        return Sources(first, second)

    def _newborn(self, game: HoldemGame, player: int) -> HandLearner:
        size, decisions = game.elements(player), game.decisions(player)
        scales = decisions if self.storage == "int16" else 0
        hopes = size if self.minimizer.predict else 0
        return HandLearner(
            np.zeros(size, self.storage),
            np.zeros(size, self.storage),
            np.zeros(hopes, self.storage),
            np.zeros(decisions, np.int32),
            np.zeros(scales, np.float32),
            np.zeros(scales, np.float32),
        )

    def _stub(self) -> HandLearner:
        """A learner without room, for passes that do not learn."""
        none = np.zeros(0, self.storage)
        return HandLearner(none, none, none, np.zeros(0, np.int32), np.zeros(0, np.float32), np.zeros(0, np.float32))


def algorithm(spec: str, storage: str = "float32", threads: int = 0, locks: tuple[Lock, ...] = ()) -> HoldemCFR:
    """A member of the CFR family by the name it has in every other game.

    >>> algorithm("cfr+(delay=10)").minimizer
    RegretMatchingPlus(predict=0.0)
    """
    if storage not in BYTES:
        raise ParameterError(f"The 'storage' parameter must be one of {', '.join(BYTES)}, got {storage!r}.")
    workers = whole("threads", threads)
    member = build(spec)
    if not isinstance(member, CFR) or member.turns != ALTERNATING:
        raise ParameterError(
            "Hold'em subgames are solved by cfr, cfr+, lcfr, dcfr, pcfr+ or pdcfr+ with alternating turns,"
            f" got {spec!r}."
        )
    if member.minimizer.predict and storage == "int16":
        raise ParameterError(f"The 'storage' parameter must be float64 or float32 with {spec}, got {storage!r}.")
    return HoldemCFR(member.minimizer, member.weight, storage, workers, locks=locks)
