"""A hold'em spot that is being solved and may grow: streets x boards x rows of hands.

Menus grow by betting line and player, alike on all boards of a street, or on all of one class of boards. The value of a
missing size is found by a best response against an opponent who reads it as one of its neighbours. The play behind it
is filled in by a recovery game.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.algorithms.cfr import CFR
from treeplex.arrays import Floats
from treeplex.engines.boards.arrays import RECORD_VALUE, HandLearner, Sources
from treeplex.engines.boards.cpu.sums import excess, regret_squares
from treeplex.engines.boards.game import HoldemGame, load_spot
from treeplex.engines.boards.rows import HandRows, hand_rows
from treeplex.engines.boards.solver import BoardsEngine, SpotProfile
from treeplex.engines.boards.streets import Decision
from treeplex.engines.boards.tables import HandTables, schedules, sum_blocks
from treeplex.engines.boards.trees import by_node, decisions_by_line
from treeplex.games.holdem.betting import CHANCE, DECISION, Action, BettingNode
from treeplex.games.holdem.cards import HANDS
from treeplex.games.holdem.grown import Line, path_to, with_size
from treeplex.games.holdem.translation import Candidates, Real, Translation, rule_of
from treeplex.growth.check import Candidate
from treeplex.growth.discount import AddedRegret, Bounds
from treeplex.growth.rates import Balance
from treeplex.growth.spot_carry import carried
from treeplex.growth.spot_plans import RealPlan, best_response, pass_over, plan_of
from treeplex.growth.spot_recovery import Head, Recovered, recover, value_of

SIZED: Final = ("bet", "raise")
MOST_RECOVERY: Final = 200  # most iterations of a recovery game


class DecisionGains(NamedTuple):
    """A decision of the abstraction in the real game, and a best response's gain there by each action."""

    line: Line
    real: Real
    gains: Floats  # [actions] excess of each over all actions on the menu, summed over hands


class GrowingSpot:
    """A spot, its solver, and the learnt tables; modified in place."""

    def __init__(
        self, solver: CFR, candidates: Candidates, game: HoldemGame, state: HandTables, current: bool = False
    ) -> None:
        self.solver, self.offered, self.game, self.state = solver, candidates, game, state
        self.current = current  # True: the current strategies are the solution, not the average ones
        self.touched = 0  # public nodes, summed over all passes
        self.cuts: list[tuple[int, float]] = []  # iterations after which the past was weighted, and the weights
        self.idle: dict[str, int] = {}  # checks in a row at which a size was hardly bet, by line

    @property
    def engine(self) -> BoardsEngine:
        """The engine of the spot in its present form."""
        opened: Any = self.solver.engine
        return replace(opened, game=self.game)

    @property
    def iteration(self) -> int:
        """Number of iterations done so far."""
        return self.state.iteration

    def profile(self, iterate: str) -> SpotProfile:
        """Return the "average" or "current" strategies."""
        return self.engine.profile(self.state, self.solver.scheme, iterate)

    @property
    def averages(self) -> Sources:
        """Sums that give the average strategies after normalising."""
        return self.profile("average").sources

    @property
    def answer(self) -> SpotProfile:
        """The strategies that are the solution."""
        return self.profile("current" if self.current else "average")

    @property
    def root(self) -> BettingNode:
        """Root of the betting tree."""
        return self.game.streets[0].decisions[0].node

    def advance(self, iterations: int) -> None:
        """As ``RunningTree``: run iterations in place."""
        self.state = self.engine.iterate(self.state, self.solver.scheme, iterations)
        self.touched += 2 * iterations * self.game.nodes

    @property
    def effective(self) -> float:
        """As ``Growable``: the iterations that positive regrets count for; older ones have faded."""
        return float(self._fading()[0][1:].sum())

    def balance(self) -> Balance:
        """As ``Growable``.

        Differs from the paper in: the regret of the abstraction is each player's overall regret (4), by a best
        response. The sum over infosets is only a bound on it. With thousands of hands and boards that bound is many
        times the regret, and sizes would be added late.
        """
        game, squares = self.game, np.zeros(2)
        left = self._fading(cuts=False)[0]
        for player in (0, 1):
            learner, rows = self.state.learners[player], hand_rows(game, player)
            for depth, decision in _decisions(game, player):
                here, actions = rows[depth, decision.texture], len(decision.node.actions)
                aged = left[learner.last[here.decision + decision.number]]
                squares[player] += regret_squares(
                    learner.regret, *here.first_and_width, here.boards, aged, decision.slot, actions
                )
        return Balance(self.regrets(), squares, game.nodes)

    def regrets(self) -> Floats:
        """[2] each player's overall regret in the abstraction, by a best response."""
        game, evaluation = self.game, self.answer.evaluate()
        unit = self.effective * game.combinations / game.spot.chip
        self.touched += 3 * game.nodes
        values = (evaluation.value, game.spot.pot - evaluation.value)
        pairs = zip(evaluation.best_response_values, values, strict=True)
        return unit * np.array([max(best - own, 0.0) for best, own in pairs])

    def candidates(self, state: Balance, factor: float) -> list[Candidate]:
        """As ``Growable``: the size of every decision that pays most per node.

        A best response bets at most one size off the menu on a line. The gain is the excess of its value over that of
        the best action in the abstraction, both followed by best play, if the player reaches the decision with every
        initial hand.
        """
        spans, count, best_sizes = nodes_behind(self.game), self.effective, list[Candidate]()
        for player in (0, 1):
            for decision in self.decision_gains(player):
                best: Candidate | None = None
                for k in np.flatnonzero(decision.gains).tolist():
                    gain = float(decision.gains[k])
                    nodes = spans[id(_inherited_node(decision.real.children[k], decision.real))]
                    one = Candidate(decision.line, player, rule_of(decision.real.node.actions[k]), count * gain, nodes)
                    if best is None or one.gain * best.histories > best.gain * one.histories:
                        best = one
                best_sizes += [] if best is None else [best]
        return sorted(best_sizes, key=lambda size: -size.gain / size.histories)

    def add(self, candidates: list[Candidate]) -> list[AddedRegret]:
        """As ``Growable``: by recovery games as long as the run, in which chance deals the opponent's average reach.

        Differs from the paper in: the opponent's regrets behind the new size are those of the recovery game, not zero.
        With uniform strategies there the mover would rush in. Regrets of either player may start anywhere
        (docs/theory/abstraction.md). At most ``MOST_RECOVERY`` iterations are played.
        """
        old = self.game
        known, lines, heads = decisions_by_line(old), dict(old.spot.line_sizes), list[tuple[Candidate, Action]]()
        for candidate in candidates:
            grown = with_size(old.spot, self.root, candidate.decision, candidate.size)
            lines |= {
                line: text for line, text in grown.spot.line_sizes.items() if old.spot.line_sizes.get(line) != text
            }
            heads.append((candidate, grown.action))
        staying = self._staying([known[candidate.decision] for candidate in candidates])
        new = load_spot(replace(old.spot, line_sizes=lines), like=old)
        self.game, self.state = new, self.carried_to(new)
        return [
            self._recover(candidate, action, pays, known[candidate.decision][0])
            for (candidate, action), pays in zip(heads, staying, strict=True)
        ]

    def carried_to(self, new: HoldemGame) -> HandTables:
        """Return the learnt tables in a spot with more or fewer sizes; blocks of averages start anew."""
        first, second = sum_blocks(self.state)
        return HandTables((carried(self.game, new, first, 0), carried(self.game, new, second, 1)), self.iteration)

    def _staying(self, heads: list[tuple[int, Decision]]) -> list[Floats]:
        """Return [N] arrays: the values of decisions to their players' hands under the average strategies."""
        game, averages, engine = self.game, self.averages, self.engine
        players = {decision.player for _, decision in heads}
        played = {
            player: pass_over(game, averages, player, RECORD_VALUE, engine.storage, engine.threads).values
            for player in players
        }
        self.touched += len(players) * game.nodes
        return [value_of(game, averages, played[decision.player], depth, decision) for depth, decision in heads]

    def _recover(self, candidate: Candidate, action: Action, staying: Floats, depth: int) -> AddedRegret:
        """Play the recovery game of one size already in the tree, and store its result."""
        game, player, learners = self.game, candidate.player, self.state.learners
        path = path_to(self.root, candidate.decision)
        at = path[-1].actions.index(action)
        iterations = min(self.iteration, MOST_RECOVERY)
        storage, threads = self.solver.storage, self.engine.threads
        opponent = learners[1 - player].average
        recovered = recover(Head(game, path, at), opponent, staying, iterations, storage, threads)
        self.touched += 2 * iterations * recovered.game.nodes
        head = by_node(game)[id(path[-1])][1]
        regret = self._regret(learners[player], depth, head, at, recovered.value - staying)
        inside = self._merge(recovered, player)
        boards = hand_rows(game, player)[depth, head.texture].boards
        nodes = nodes_behind(game)[id(path[-1].children[at])]
        return AddedRegret(inside, float(regret**2 @ boards), float(regret @ boards), nodes, iterations)

    def discount(self, weight: float) -> None:
        """As ``Growable``: multiply regrets and averages by ``weight``."""
        if weight < 1.0:
            sums = [numbers for learner in self.state.learners for numbers in (learner.regret, learner.average)]
            for numbers in (*sums, *self.state.earlier):
                np.multiply(numbers, weight, out=numbers)
            self.cuts.append((self.iteration, weight))

    def bounds(self, player: int) -> Bounds:
        """As ``Growable``."""
        rows = hand_rows(self.game, player)
        infosets = sum(
            int(rows[depth, decision.texture].boards.sum()) for depth, decision in _decisions(self.game, player)
        )
        actions = max(len(decision.node.actions) for _, decision in _decisions(self.game, player))
        spot = self.game.spot
        spread = (spot.pot + 2 * spot.effective_stack) / spot.chip * float(self.game.weights(1 - player).sum())
        return Bounds(infosets, spread, actions, self.effective)

    def plan(self, player: int, deviations: float = np.inf) -> tuple[Real, RealPlan]:
        """Return the real game, and the plan in it of ``player``'s strategy in the solution."""
        tree = Translation(self.game.spot, self.root, player, self.offered, deviations).tree()
        return tree, plan_of(self.game, self.answer.sources, player, tree)

    def response_values(self) -> tuple[float, float]:
        """Return both players' values of best responses in the real game, in which readings stay secret."""
        first, second = (best_response(self.plan(1 - player)[1], "float64", self.engine.threads) for player in (0, 1))
        return first.value, second.value

    def decision_gains(self, player: int) -> Iterator[DecisionGains]:
        """Yield every decision of ``player`` in the abstraction, as a best response of one deviation sees it."""
        tree, plan = self.plan(1 - player, 1)
        response = best_response(plan, self.solver.storage, self.engine.threads)
        self.touched += 2 * plan.game.nodes  # one pass for the plan, one for the response
        rows, known = hand_rows(plan.game, player), by_node(plan.game)
        waiting: list[tuple[Real, Line]] = [(tree, ())]
        while waiting:
            real, line = waiting.pop()
            if real.node.kind == CHANCE and not real.node.actions:
                waiting.append((real.children[0], line))
            elif real.node.kind in (CHANCE, DECISION) and real.exact:
                waiting += [(real.children[k], (*line, action)) for k, action in enumerate(real.node.actions)]
                if real.node.kind == DECISION and real.node.player == player:
                    depth, decision = known[id(real.node)]
                    here, gains = rows[depth, decision.texture], np.zeros(len(real.node.actions))
                    weights = here.boards * start_weights(self.game, player)[here.number]
                    excess(response.values, *here.first_and_width, weights, decision.slot, _on_menu(real), gains)
                    yield DecisionGains(line, real, gains)

    def _fading(self, *, cuts: bool = True) -> tuple[Floats, Floats]:
        """[T + 1] the remaining fraction of a regret that was updated at t, if positive and if negative.

        ``cuts``: include the weights applied to the past.
        """
        last = self.iteration
        known = schedules(self.solver.scheme, self.solver.storage, last)
        left: list[Floats] = []
        for factors_of_sign in (known.positive, known.negative):
            factors = np.append(factors_of_sign[:-1] if last else factors_of_sign[:0], 1.0)
            factors[0] = 1.0  # there is no iteration 0
            products: Floats = np.cumprod(factors[::-1], dtype=np.float64)[::-1]
            left.append(products * self._cut(last) if cuts else products)
        return left[0], left[1]

    def _cut(self, last: int) -> Floats:
        """[T + 1] the product of all weights applied to iteration t."""
        factors = np.ones(last + 1)
        for iteration, weight in self.cuts:
            factors[: iteration + 1] *= weight
        return factors

    def _regret(self, learner: HandLearner, depth: int, head: Decision, action: int, gained: Floats) -> Floats:
        """Write the regret of a new action, as if it had never been chosen; return its positive part.

        The other regrets of the head are updated to the present iteration, since all of them share one age.
        """
        rows = hand_rows(self.game, head.player)[depth, head.texture]
        up, down = self._fading(cuts=False)
        where, numbers = _where(rows, head), rows.decision + head.number
        before = learner.regret[where].astype(np.float64)
        before *= np.where(before > 0.0, up[learner.last[numbers]], down[learner.last[numbers]])
        counted = [float(fading[1:].sum()) for fading in self._fading()]
        before[action] = np.where(rows.boards > 0.0, np.where(gained > 0.0, counted[0], counted[1]) * gained, 0.0)
        learner.regret[where] = before
        learner.last[numbers] = self.iteration
        return np.maximum(before[action], 0.0)

    def _merge(self, recovered: Recovered, player: int) -> float:
        """Copy the tables of the recovery game into the new game; return the mover's squared positive regrets.

        The mover has never been behind the new action, so its average there is zero. The opponent's average is that of
        the recovery game, with the weight of the whole run.
        """
        known, squares = by_node(self.game), 0.0
        weights = (
            schedules(self.solver.scheme, self.solver.storage, self.iteration).weight[1:]
            * self._cut(self.iteration)[1:]
        )
        scale = float(weights.sum()) / recovered.weight
        for who in (0, 1):
            learner, source = self.state.learners[who], recovered.learners[who]
            to, rows = hand_rows(self.game, who), hand_rows(recovered.game, who)
            for depth, decision in _decisions(recovered.game, who):
                if id(decision.node) not in known:  # on the path to the head
                    continue
                target = known[id(decision.node)][1]
                placed = to[depth, target.texture]
                there, here = _where(placed, target), _where(rows[depth, decision.texture], decision)
                positive = np.maximum(source.regret[here], 0.0)  # CFR+ forgets negative regret
                learner.regret[there] = positive
                learner.last[placed.decision + target.number] = self.iteration
                if who != player:
                    learner.average[there] = scale * source.average[here]
                else:
                    squares += float((positive.astype(np.float64) ** 2).sum(axis=0) @ placed.boards)
        return squares


def _decisions(game: HoldemGame, player: int) -> Iterator[tuple[int, Decision]]:
    for depth, street in enumerate(game.streets):
        for decision in street.decisions:
            if decision.player == player:
                yield depth, decision


def start_weights(game: HoldemGame, player: int) -> Floats:
    """[1327] frequency of each of the player's initial hands; 0 for no hand."""
    weights, first = np.zeros(HANDS + 1), game.boards[0].hands[player]
    weights[first.number] = game.weights(player)
    weights[HANDS] = 0.0
    return weights


def _where(rows: HandRows, decision: Decision) -> Any:
    return rows.actions(decision.slot, len(decision.node.actions))


def _on_menu(real: Real) -> npt.NDArray[np.bool_]:
    """[actions] whether an action of a real decision is in the abstraction's menu."""
    reading = real.readings[0].node
    known: set[Action] = set() if reading is None else set(reading.actions)
    return np.array([action in known for action in real.node.actions])


def _inherited_node(child: Real, parent: Real) -> BettingNode:
    """Return the abstract node whose menus a new size inherits: the one it is most likely read as.

    Nothing can be bet behind all-in. A size read as all-in therefore has the usual menus, and as many nodes as the
    largest size on the menu. Where the menu has no size, the decision itself is used.
    """
    above = parent.readings[0].node
    if above is None:
        raise ValueError("Only decisions of the abstraction have candidates.")
    read = max(child.readings, key=lambda reading: reading.share).node
    sized = [below for action, below in zip(above.actions, above.children, strict=True) if action.kind in SIZED]
    return read if read is not None and any(read is node for node in sized) else sized[-1] if sized else above


def nodes_behind(game: HoldemGame) -> dict[int, int]:
    """Return the number of public nodes behind each betting node and including it, over all its boards, by identity."""
    counts: dict[int, int] = {}
    for depth in range(len(game.streets) - 1, -1, -1):
        street, below = game.streets[depth], dict[int, int]()
        boards = {texture: game.boards_of(depth, texture) for texture in set(street.textures)}
        for chance in street.chance_nodes:
            below[id(chance.node)] = below.get(id(chance.node), 0) + counts[id(chance.after)]
        roots = {id(chance.node): chance.root for chance in street.chance_nodes}
        counts |= {node: count + boards[street.textures[roots[node]]] for node, count in below.items()}
        counts |= {id(end.node): boards[street.textures[end.root]] for end in street.terminals}
        for decision in reversed(street.decisions):  # in preorder
            after = sum(counts[id(child)] for child in decision.node.children)
            counts[id(decision.node)] = boards[decision.texture] + after
    return counts
