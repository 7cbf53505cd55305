"""A compiled game that is being solved by some of its actions, and may grow by the others.

The whole game is compiled once. A mask per player holds the actions that may be chosen, and the part of the game that
they leave is a game like any other: ``compile.part``. An addition sets a mask, builds the part anew and carries what
was learnt. Proposition 1 is asked of every missing action of every infoset in the part.
"""

from __future__ import annotations

import math
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex.algorithms.cfr import CFR
from treeplex.arrays import Floats, pair
from treeplex.compile.part import Behind, Masks, WholeGame
from treeplex.engines.evaluation import Evaluation
from treeplex.engines.sequence.arrays import Learner
from treeplex.engines.sequence.cpu.treeplex import best_response, realization_plan
from treeplex.engines.sequence.engine import SequenceEngine, SequenceTables
from treeplex.engines.sequence.evaluate import evaluate_strategies, gradient
from treeplex.engines.sequence.learners import Strategies, normalised
from treeplex.engines.sequence.rules import payoff_range
from treeplex.growth.check import Candidate
from treeplex.growth.discount import AddedRegret, Bounds
from treeplex.growth.part_recovery import Inside, RecoverySums, recover
from treeplex.growth.part_transfer import Layers, Transfers
from treeplex.growth.rates import Balance
from treeplex.growth.twins import Sequence, Twin

MOST_RECOVERY: Final = 1000  # most iterations of a recovery game


class Pasts(NamedTuple):
    """Sums over the run in the order of the whole game; zero where an action is missing. Modified in place."""

    regret: Strategies  # [S] of each player
    average: Strategies  # [S] summed realization plans


class GrowingPart:
    """A part of a compiled game, and the state of the solver on it; modified in place."""

    def __init__(
        self, whole: WholeGame, solver: CFR, masks: Masks, floor: bool, threads: int = 1, transfer: bool = False
    ) -> None:
        self.whole, self.solver, self.threads = whole, solver, threads
        self.floor = floor  # regrets are cut off at zero, and iteration t weighs t in averages: CFR+
        self.start, self.masks = masks, pair(mask.copy() for mask in masks)
        self.touched = 0  # histories entered
        self.weight = 1.0  # product of all weights of the past
        self.total = 0.0  # weight of all iterations in the averages
        self.rebuild()
        self.tables = self.engine.tables(solver.scheme)
        self.transfers = Transfers(whole, self.masks, self.behind) if transfer else None

    def rebuild(self) -> None:
        """Build the part that the masks leave."""
        whole = self.whole
        self.behind: Behind = whole.behind(self.masks)
        self.part = whole.part(self.masks, self.behind, f"{whole.game.name}, grown")
        self.engine = SequenceEngine(self.part.game, "float64", self.threads)

    @property
    def iteration(self) -> int:
        """Number of iterations done."""
        return self.tables.iteration

    @property
    def norm(self) -> float:
        """Divisor that turns sums into regrets: the number of the iteration if the average is linear."""
        return float(max(self.iteration, 1)) if self.floor else 1.0

    @property
    def effective(self) -> float:
        """As ``Growable``."""
        return self.total / self.norm

    def advance(self, iterations: int) -> None:
        """As ``RunningTree``: run iterations in place."""
        if self.transfers is not None and self.transfers.all:
            for _ in range(iterations):
                self._advance_with_transfers(self.transfers)
        else:
            self._advance(iterations)

    def _advance(self, iterations: int) -> None:
        begin, end = self.iteration, self.iteration + iterations
        self.total += (end * (end + 1) - begin * (begin + 1)) / 2.0 if self.floor else float(iterations)
        self.tables = self.engine.iterate(self.tables, self.solver.scheme, iterations)
        self.touched += self.engine.nodes(self.solver.scheme, iterations)

    def _advance_with_transfers(self, transfers: Transfers) -> None:
        """Run an iteration, and add it to the sums of transfers: strategies as each player faces them."""
        weight = float(self.iteration + 1) if self.floor else 1.0
        before, plans = self._played()
        self.touched += transfers.add((0,) if self.floor else (0, 1), before, plans, weight)
        self._advance(1)
        if self.floor:  # player 1 learns against player 0's new strategy
            self.touched += transfers.add((1,), before, self._played()[1], weight)

    def _played(self) -> tuple[Strategies, Strategies]:
        """Return the current strategies and realization plans in the order of the whole game."""
        current = self.engine.current(self.tables)
        strategies = pair(self._spread(player, current[player]) for player in (0, 1))
        plans = pair(np.empty_like(strategy) for strategy in strategies)
        for player in (0, 1):
            realization_plan(self.whole.game.treeplexes[player], strategies[player], plans[player])
        return strategies, plans

    def pasts(self) -> Pasts:
        """Return what was learnt, in the order of the whole game."""
        learners: Any = self.tables.host.learners
        regret = pair(self._spread(player, learners[player].regret) for player in (0, 1))
        average = pair(self._spread(player, learners[player].average) for player in (0, 1))
        for plan in average:
            plan[0] = self.total
        return Pasts(regret, average)

    def earned(self, player: int, past: Pasts) -> Floats:
        """[I] the counterfactual value of every infoset of the whole game, summed over the run.

        The value of an action is known from the opponent's summed plan and from the infosets behind the action. So

            sum of v(I)  =  sum of v(I, a) - R(I, a)

        for every action a that may be chosen. With regrets that are cut off at zero, R is a bound, and so is the
        largest of the right sides: infosets earned at least that. Infosets outside of the part have earned nothing.
        """
        treeplex = self.whole.game.treeplexes[player]
        values = gradient(self.whole.game, player, past.average[1 - player]) - self.norm * past.regret[player]
        values[~self.masks[player]] = -np.inf
        best_response(treeplex, values, np.empty_like(values))
        return np.maximum.reduceat(values, treeplex.first[:-1]) if treeplex.infosets else np.zeros(0)

    def balance(self) -> Balance:
        """As ``Growable``: sums over infosets, as in proposition 1."""
        largest, squares = np.zeros(2), np.zeros(2)
        learners: Any = self.tables.host.learners
        for player, learner in enumerate(learners):
            positive: Floats = np.maximum(learner.regret, 0.0)
            treeplex = self.part.game.treeplexes[player]
            if treeplex.infosets:
                largest[player] = np.maximum.reduceat(positive, treeplex.first[:-1]).sum()
            squares[player] = float(positive @ positive)
        return Balance(largest, squares, self.part.game.nodes)

    def candidates(self, state: Balance, factor: float) -> list[Candidate]:
        """As ``Growable``: the missing action of every infoset that pays most per history.

        The value of an action is that of a best response in the whole game to the opponent's average. It is an upper
        bound on what the action could have earned (section 5). Behind it the best response may choose anything, so an
        action is also found if only another missing one makes it good.
        """
        past, averages, listed = self.pasts(), self.averages(), list[Candidate]()
        for player in (0, 1):
            treeplex, masks = self.whole.game.treeplexes[player], self.masks[player]
            if not treeplex.infosets:
                continue
            plan = np.empty_like(averages[1 - player])
            realization_plan(self.whole.game.treeplexes[1 - player], averages[1 - player], plan)
            values = self.total * gradient(self.whole.game, player, plan)
            best_response(treeplex, values, np.empty_like(values))
            known = np.maximum.reduceat(np.maximum(past.regret[player], 0.0), treeplex.first[:-1])
            level = self.earned(player, past) + self.norm * known
            owner = self.whole.owner[player]
            gain = (values[1:] - level[owner]) / self.norm
            histories = self.behind.counts(player, treeplex.sequences)[1:]
            frontier = ~masks[1:] & self.behind.infosets[player][owner] & (gain > 0.0)
            best: dict[int, Candidate] = {}
            for s in np.flatnonzero(frontier).tolist():
                one = Candidate(int(owner[s]), player, s + 1, float(gain[s]), int(histories[s]))
                other = best.get(one.decision)
                if other is None or one.gain * other.histories > other.gain * one.histories:
                    best[one.decision] = one
            listed += best.values()
        self.touched += 2 * self.whole.nodes
        return sorted(listed, key=lambda one: -one.gain / one.histories)

    def add(self, candidates: list[Candidate]) -> list[AddedRegret]:
        """As ``Growable``: by recovery games, one after the other. Nothing changes outside of what is added."""
        past = self.pasts()
        added = [self._insert(one.player, one.size, past) for one in candidates]
        self.rebuild()
        self._carry(past)
        return added

    def _insert(self, player: int, action: int, past: Pasts) -> AddedRegret:
        """Add an action, with all that follows it by the actions of the start, and fill in its past (theorem 1)."""
        whole, behind = self.whole, self.behind_now()
        inside = Inside.of(whole, self.masks, behind, player, action)
        infoset = int(whole.owner[player][action - 1])
        opponent = past.average[1 - player]
        heads = np.flatnonzero(behind.present & (whole.tree.mover == player) & (whole.tree.infoset == infoset))
        reach = float(whole.chance[heads] @ opponent[whole.sequence[1 - player][heads]])
        iterations = min(math.ceil(reach / self.norm), MOST_RECOVERY)
        staying = float(self.earned(player, past)[infoset])
        if self.transfers is not None:
            sources = self.transfers.of(player, infoset, action, behind)
            if sources:
                return self._transfer(player, staying, self.transfers, sources, past)
            self.transfers.grown(inside.nodes)
        self.masks[player][action] = True
        if not iterations:  # (5) is undefined: nothing in S or its head has regret
            return AddedRegret(0.0, 0.0, 0.0, len(inside.nodes), 0)
        recovered = recover(whole, inside, player, action, staying, opponent, iterations)
        self.touched += 2 * iterations * len(inside.nodes)
        return self._merge(player, action, inside, recovered, past, iterations)

    def _merge(
        self, player: int, action: int, inside: Inside, recovered: RecoverySums, past: Pasts, iterations: int
    ) -> AddedRegret:
        """Write the sums of a recovery game into those of the run."""
        least = 0.0 if self.floor else -np.inf
        head = max(recovered.head / self.norm, least)
        regret = np.maximum(recovered.regret / self.norm, least)
        past.regret[player][action] = head
        past.regret[player][inside.actions] = regret
        past.average[1 - player][inside.answers] = recovered.average
        positive, excess = np.maximum(regret, 0.0), max(head, 0.0)
        return AddedRegret(float(positive @ positive), excess**2, excess, len(inside.nodes), iterations)

    def _transfer(
        self,
        player: int,
        staying: float,
        transfers: Transfers,
        sources: list[tuple[Layers, Twin, Floats]],
        past: Pasts,
    ) -> AddedRegret:
        """Repeat the past of a neighbour behind a new action (section 3.1), and add what only the new one has.

        The neighbour that leaves least regret is repeated. Actions of the start that the neighbour lacks are added
        afterwards, by transfer or by a recovery game, as if each had never been chosen.
        """
        least = 0.0 if self.floor else -np.inf
        layers, twin, theta = min(sources, key=lambda one: float(one[2] @ one[0].value))
        action = twin.action.number
        before = self.behind_now()
        for sequence in twin.extra:
            self.masks[sequence.player][sequence.number] = False
        for sequence in twin.like:
            self.masks[sequence.player][sequence.number] = True
        regrets = theta @ layers.regret / self.norm
        for sequence, source in twin.like.items():
            owner, other = int(self.whole.owner[sequence.player][sequence.number - 1]), sequence.player != player
            if not other:
                past.regret[player][sequence.number] = max(float(regrets[layers.place[source.number]]), least)
            elif not before.infosets[sequence.player][owner]:
                past.average[sequence.player][sequence.number] = past.average[sequence.player][source.number]
        head = max((float(theta @ layers.value) - staying) / self.norm, least)
        past.regret[player][action] = head
        now = self.behind_now()
        new = np.flatnonzero(now.present & ~before.present)
        transfers.grown(new)
        self.touched += len(new)
        extra = self._insert_all(sorted(twin.extra), past)
        inside = past.regret[player][[s.number for s in twin.like if s.player == player and s.number != action]]
        positive, excess = np.maximum(inside, 0.0), max(head, 0.0)
        squares = float(positive @ positive) + sum(one.inside + one.head for mover, one in extra if mover == player)
        histories = len(new) + sum(one.histories for _, one in extra)
        return AddedRegret(squares, excess**2, excess, histories, max([0, *(one.iterations for _, one in extra)]))

    def _insert_all(self, sequences: list[Sequence], past: Pasts) -> list[tuple[int, AddedRegret]]:
        """Add actions of infosets in the part until none is left; others wait for the actions that lead to them."""
        added: list[tuple[int, AddedRegret]] = []
        for player, action in sequences:
            infoset = self.whole.owner[player][action - 1]
            if self.behind_now().infosets[player][infoset]:
                added.append((player, self._insert(player, action, past)))
            else:
                self.masks[player][action] = True
        return added

    def behind_now(self) -> Behind:
        """Return the histories as the present masks divide them."""
        return self.whole.behind(self.masks)

    def _carry(self, past: Pasts) -> None:
        """Set the tables of the part to what was learnt."""
        game, sequences = self.part.game, self.part.sequences
        regrets = pair(past.regret[player][sequences[player]] for player in (0, 1))
        strategies = normalised(game, pair(np.maximum(regret, 0.0) for regret in regrets))
        learners: list[Learner] = []
        for player, strategy in enumerate(strategies):
            plan = np.empty_like(strategy)
            realization_plan(game.treeplexes[player], strategy, plan)
            learners.append(Learner(regrets[player], past.average[player][sequences[player]], strategy, plan))
        self.tables = SequenceTables(pair(learners), self.iteration)

    def discount(self, weight: float) -> None:
        """As ``Growable``: multiply regrets and averages by ``weight``."""
        if weight < 1.0:
            self.tables = self.tables.host
            learners: Any = self.tables.learners
            for learner in learners:
                for numbers in (learner.regret, learner.average):
                    np.multiply(numbers, weight, out=numbers)
            self.weight *= weight
            self.total *= weight
            if self.transfers is not None:
                self.transfers.discount(weight)

    def bounds(self, player: int) -> Bounds:
        """As ``Growable``."""
        treeplex = self.part.game.treeplexes[player]
        most = int(treeplex.actions.max(initial=1))
        return Bounds(treeplex.infosets, payoff_range(self.whole.game), most, self.effective)

    def averages(self) -> Strategies:
        """Return strategies for the whole game: the averages in the part, and uniform ones of the start elsewhere."""
        whole, own = self.whole.game, self.engine.average(self.tables)
        out = normalised(whole, pair(mask.astype(float) for mask in self.start))
        for player, (strategy, into) in enumerate(zip(own, out, strict=True)):
            owners = self.whole.owner[player]
            into[1:][self.behind.infosets[player][owners]] = 0.0
            into[self.part.sequences[player]] = strategy
        return out

    def measure(self) -> tuple[Evaluation, Evaluation]:
        """Evaluate the averages in the whole game, and in the part."""
        inside = self.engine.profile(self.tables, self.solver.scheme, "average").evaluate()
        return evaluate_strategies(self.whole.game, self.averages(), 1), inside

    def _spread(self, player: int, numbers: Floats) -> Floats:
        """Return numbers of the part in the order of the whole game."""
        out = np.zeros(self.whole.game.treeplexes[player].sequences)
        out[self.part.sequences[player]] = numbers
        return out
