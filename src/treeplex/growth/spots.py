"""A hold'em spot that is being solved and may grow: streets x boards x rows of hands.

Menus grow by betting line and player, alike on all boards of a street, or on all of one class of boards. What a missing
size is worth is found by a best response against an opponent who reads it as one of its neighbours; what happened
behind it, by a recovery game.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.algorithms.cfr import CFR
from treeplex.arrays import Floats
from treeplex.engines.boards.arrays import VALUE_KEPT, HandLearner, Sources
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
from treeplex.growth.check import Balance, Candidate
from treeplex.growth.discount import AddedRegret, Bounds
from treeplex.growth.spot_carry import carried
from treeplex.growth.spot_plans import RealPlan, best_response, pass_over, plan_of
from treeplex.growth.spot_recovery import Head, Recovered, recover, value_of

SIZED: Final = ("bet", "raise")
MOST_RECOVERY: Final = 200  # iterations of a recovery game


class DecisionGains(NamedTuple):
    """A decision of the abstraction in the real game, and what a best response would gain there by each action."""

    line: Line
    real: Real
    gains: Floats  # [actions] by how much each is better than all actions on the menu, summed over hands


class GrowingSpot:
    """A spot, the solver, and what it has learnt; modified in place."""

    def __init__(
        self, solver: CFR, candidates: Candidates, game: HoldemGame, state: HandTables, current: bool = False
    ) -> None:
        self.solver, self.offered, self.game, self.state = solver, candidates, game, state
        self.current = current  # whether the current strategies are the answer, not the average ones
        self.touched = 0  # public nodes, in every pass
        self.cuts: list[tuple[int, float]] = []  # iterations after which the past was weighed, and by how much
        self.idle: dict[str, int] = {}  # checks in a row at which a size was hardly bet, by line

    @property
    def engine(self) -> BoardsEngine:
        """The engine of the spot as it is now."""
        opened: Any = self.solver.engine
        return replace(opened, game=self.game)

    @property
    def iteration(self) -> int:
        """How many iterations have been done."""
        return self.state.iteration

    def profile(self, iterate: str) -> SpotProfile:
        """The "average" or "current" strategies."""
        return self.engine.profile(self.state, self.solver.scheme, iterate)

    @property
    def averages(self) -> Sources:
        """What the average strategies are shares of."""
        return self.profile("average").sources

    @property
    def answer(self) -> SpotProfile:
        """The strategies that are the answer."""
        return self.profile("current" if self.current else "average")

    @property
    def root(self) -> BettingNode:
        """Of the betting tree."""
        return self.game.streets[0].decisions[0].node

    def advance(self, iterations: int) -> None:
        """Iterate."""
        self.state = self.engine.iterate(self.state, self.solver.scheme, iterations)
        self.touched += 2 * iterations * self.game.nodes

    @property
    def effective(self) -> float:
        """As ``Growable``: those that positive regrets count for, which older iterations fade from."""
        return float(self._fading()[0][1:].sum())

    def balance(self) -> Balance:
        """As ``Growable``.

        Differs from the paper in: the regret of the abstraction is each player's overall regret (4), by a best
        response, of which the sum over infosets is only a bound. With thousands of hands and boards that bound is
        many times the regret, and sizes would be added late.
        """
        game, squares = self.game, np.zeros(2)
        left = self._fading(cuts=False)[0]
        for player in (0, 1):
            learner, rows = self.state.learners[player], hand_rows(game, player)
            for depth, decision in _decisions(game, player):
                here, actions = rows[depth, decision.texture], len(decision.node.actions)
                aged = left[learner.last[here.decision + decision.number]]
                squares[player] += regret_squares(
                    learner.regret, *here.places, here.boards, aged, decision.slot, actions
                )
        return Balance(self.regrets(), squares, game.nodes)

    def regrets(self) -> Floats:
        """[2] each player's overall regret in the abstraction, by a best response."""
        game, found = self.game, self.answer.evaluate()
        unit = self.effective * game.combinations / game.spot.chip
        self.touched += 3 * game.nodes
        taken = (found.value, game.spot.pot - found.value)
        pairs = zip(found.best_response_values, taken, strict=True)
        return unit * np.array([max(best - own, 0.0) for best, own in pairs])

    def candidates(self, state: Balance, factor: float) -> list[Candidate]:
        """As ``Growable``: of every decision the size that pays most per node.

        A best response bets one size off the menu on a line at most. What counts is by how much its value exceeds that
        of the best action in the abstraction, both played on as well as possible, if the player gets to the decision
        with every hand it starts with.
        """
        spans, count, found = nodes_behind(self.game), self.effective, list[Candidate]()
        for player in (0, 1):
            for look in self.looks(player):
                best: Candidate | None = None
                for k in np.flatnonzero(look.gains).tolist():
                    gain = float(look.gains[k])
                    nodes = spans[id(_taken_over(look.real.children[k], look.real))]
                    one = Candidate(look.line, player, rule_of(look.real.node.actions[k]), count * gain, nodes)
                    if best is None or one.gain * best.histories > best.gain * one.histories:
                        best = one
                found += [] if best is None else [best]
        return sorted(found, key=lambda one: -one.gain / one.histories)

    def add(self, candidates: list[Candidate]) -> list[AddedRegret]:
        """As ``Growable``: by recovery games as long as the run, in which chance deals the opponent's average reach.

        Differs from the paper in: the opponent's regrets behind the new size are those of the recovery game, not zero:
        with uniform strategies there the mover would rush in. Regrets of either player may start anywhere
        (docs/theory/abstraction.md). No more than ``MOST_RECOVERY`` iterations are played.
        """
        old = self.game
        known, lines, heads = decisions_by_line(old), dict(old.spot.line_sizes), list[tuple[Candidate, Action]]()
        for candidate in candidates:
            grown = with_size(old.spot, self.root, candidate.place, candidate.size)
            lines |= {
                line: text for line, text in grown.spot.line_sizes.items() if old.spot.line_sizes.get(line) != text
            }
            heads.append((candidate, grown.action))
        staying = self._staying([known[candidate.place] for candidate in candidates])
        new = load_spot(replace(old.spot, line_sizes=lines), like=old)
        self.game, self.state = new, self.carried_to(new)
        return [
            self._recover(candidate, action, pays, known[candidate.place][0])
            for (candidate, action), pays in zip(heads, staying, strict=True)
        ]

    def carried_to(self, new: HoldemGame) -> HandTables:
        """What was learnt, in a spot with more sizes or fewer; blocks of averages begin anew."""
        first, second = sum_blocks(self.state)
        return HandTables((carried(self.game, new, first, 0), carried(self.game, new, second, 1)), self.iteration)

    def _staying(self, heads: list[tuple[int, Decision]]) -> list[Floats]:
        """[N] each, the values of decisions to their players' hands, as the averages play."""
        game, averages, engine = self.game, self.averages, self.engine
        players = {decision.player for _, decision in heads}
        played = {
            player: pass_over(game, averages, player, VALUE_KEPT, engine.storage, engine.threads).values
            for player in players
        }
        self.touched += len(players) * game.nodes
        return [value_of(game, averages, played[decision.player], depth, decision) for depth, decision in heads]

    def _recover(self, candidate: Candidate, action: Action, staying: Floats, depth: int) -> AddedRegret:
        """Play the recovery game of one size, which is in the tree already, and write what it has come to."""
        game, player, learners = self.game, candidate.player, self.state.learners
        way = path_to(self.root, candidate.place)
        at = way[-1].actions.index(action)
        iterations = min(self.iteration, MOST_RECOVERY)
        storage, threads = self.solver.storage, self.engine.threads
        opponent = learners[1 - player].average
        recovered = recover(Head(game, way, at), opponent, staying, iterations, storage, threads)
        self.touched += 2 * iterations * recovered.game.nodes
        head = by_node(game)[id(way[-1])][1]
        regret = self._regret(learners[player], depth, head, at, recovered.value - staying)
        inside = self._merge(recovered, player)
        boards = hand_rows(game, player)[depth, head.texture].boards
        nodes = nodes_behind(game)[id(way[-1].children[at])]
        return AddedRegret(inside, float(regret**2 @ boards), float(regret @ boards), nodes, iterations)

    def discount(self, share: float) -> None:
        """As ``Growable``: regrets and averages times ``share``."""
        if share < 1.0:
            sums = [numbers for learner in self.state.learners for numbers in (learner.regret, learner.average)]
            for numbers in (*sums, *self.state.earlier):
                np.multiply(numbers, share, out=numbers)
            self.cuts.append((self.iteration, share))

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
        """What the strategy of ``player`` that is the answer does in the real game."""
        tree = Translation(self.game.spot, self.root, player, self.offered, deviations).tree()
        return tree, plan_of(self.game, self.answer.sources, player, tree)

    def taken(self) -> tuple[float, float]:
        """What best responses in the real game take of the pot, both players'; the readings are kept secret."""
        first, second = (best_response(self.plan(1 - player)[1], "float64", self.engine.threads) for player in (0, 1))
        return first.taken, second.taken

    def looks(self, player: int) -> Iterator[DecisionGains]:
        """Every decision of ``player`` in the abstraction, as a best response of one deviation sees it."""
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
                    held = here.boards * start_weights(self.game, player)[here.number]
                    excess(response.values, *here.places, held, decision.slot, _on_menu(real), gains)
                    yield DecisionGains(line, real, gains)

    def _fading(self, *, cuts: bool = True) -> tuple[Floats, Floats]:
        """[T + 1] what is left by now of a regret that was brought up to date at t, if positive and if negative.

        ``cuts``: also of what had been done by then when the past was weighed.
        """
        last = self.iteration
        known = schedules(self.solver.scheme, self.solver.storage, last)
        left: list[Floats] = []
        for each in (known.positive, known.negative):
            factors = np.append(each[:-1] if last else each[:0], 1.0)
            factors[0] = 1.0  # there is no iteration 0
            found: Floats = np.cumprod(factors[::-1], dtype=np.float64)[::-1]
            left.append(found * self._cut(last) if cuts else found)
        return left[0], left[1]

    def _cut(self, last: int) -> Floats:
        """[T + 1] the product of all weights that iteration t has been given."""
        factors = np.ones(last + 1)
        for iteration, share in self.cuts:
            factors[: iteration + 1] *= share
        return factors

    def _regret(self, learner: HandLearner, depth: int, head: Decision, action: int, gained: Floats) -> Floats:
        """Write the regret of a new action, as if it had never been chosen; returns its positive part.

        The other regrets of the head are brought up to date, since one number says how old all of them are.
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
        """What was learnt in the recovery game, into the new game; returns the mover's squared positive regrets.

        The mover has never been behind the new action: its average there is zero. The opponent's is that of the
        recovery game, with the weight of the whole run.
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
                if id(decision.node) not in known:  # on the way to the head
                    continue
                target = known[id(decision.node)][1]
                placed = to[depth, target.texture]
                there, here = _where(placed, target), _where(rows[depth, decision.texture], decision)
                positive = np.maximum(source.regret[here], 0.0)  # CFR+ forgets what is negative
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
    """[1327] how often the player has each hand at the start; never no hand."""
    weights, first = np.zeros(HANDS + 1), game.boards[0].hands[player]
    weights[first.number] = game.weights(player)
    weights[HANDS] = 0.0
    return weights


def _where(rows: HandRows, decision: Decision) -> Any:
    return rows.actions(decision.slot, len(decision.node.actions))


def _on_menu(real: Real) -> npt.NDArray[np.bool_]:
    """[actions] which actions of a decision of the abstraction are in it."""
    reading = real.readings[0].node
    known: set[Action] = set() if reading is None else set(reading.actions)
    return np.array([action in known for action in real.node.actions])


def _taken_over(child: Real, parent: Real) -> BettingNode:
    """The abstract node whose menus a new size takes over: what it is most likely read as.

    Nothing can be bet behind all-in, so a size that is read as that has the usual menus: as many nodes as the largest
    size on the menu. Where the menu has no size, the decision itself stands for them.
    """
    above = parent.readings[0].node
    if above is None:
        raise ValueError("Only decisions of the abstraction have candidates.")
    read = max(child.readings, key=lambda reading: reading.share).node
    sized = [below for action, below in zip(above.actions, above.children, strict=True) if action.kind in SIZED]
    return read if read is not None and any(read is node for node in sized) else sized[-1] if sized else above


def nodes_behind(game: HoldemGame) -> dict[int, int]:
    """Public nodes from each node of the betting tree on, over all boards on which it is, by identity."""
    found: dict[int, int] = {}
    for depth in range(len(game.streets) - 1, -1, -1):
        street, below = game.streets[depth], dict[int, int]()
        boards = {texture: game.boards_of(depth, texture) for texture in set(street.textures)}
        for way in street.chance_nodes:
            below[id(way.node)] = below.get(id(way.node), 0) + found[id(way.after)]
        roots = {id(way.node): way.root for way in street.chance_nodes}
        found |= {node: count + boards[street.textures[roots[node]]] for node, count in below.items()}
        found |= {id(end.node): boards[street.textures[end.root]] for end in street.terminals}
        for decision in reversed(street.decisions):  # in preorder
            after = sum(found[id(child)] for child in decision.node.children)
            found[id(decision.node)] = boards[decision.texture] + after
    return found
