"""Monte Carlo walks as recursions, sampler by sampler: the specification of the sampling kernels.

All random numbers come from ``draws``, so that a test can substitute every possible outcome. Sums and random draws have
the order of the kernels: with one stream both give the same bits.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.sampling.arrays import BOTH, MATCH, PURE, LearnerTable
from treeplex.engines.sampling.columns import FACTOR, NODE, START
from treeplex.engines.sampling.reference.discount import Discount
from treeplex.engines.sampling.reference.random import Draws
from treeplex.engines.sampling.tree import ACTOR_BITS, CHANCE_NODE, TERMINAL_NODE, WIDTH_BITS, SampleTree
from treeplex.updates.reference import matched_numbers
from treeplex.updates.rule import Rule


class SampleNode(NamedTuple):
    """A node of a sample tree, unpacked for one deal."""

    actor: int
    moves: list[int]  # children
    start: int  # first sequence, or index in the chances
    payoff: float  # payoff of player 0 at a terminal


def unpack(tree: SampleTree, node: int, deal: int) -> SampleNode:
    """Unpack a node for one deal."""
    here = int(tree.packed[node, NODE])
    actor, width = here % 2**ACTOR_BITS, (here >> ACTOR_BITS) % 2**WIDTH_BITS
    child = here >> (ACTOR_BITS + WIDTH_BITS)
    if actor == TERMINAL_NODE:
        deals = tree.hands.shape[1]
        return SampleNode(actor, [], 0, float(tree.payoff_factor[node, FACTOR] * tree.outcome[child * deals + deal]))
    block = deal if actor == CHANCE_NODE else int(tree.hands[actor, deal])
    return SampleNode(actor, [child + k for k in range(width)], int(tree.packed[node, START]) + block * width, 0.0)


@dataclass
class Function:
    """A rule that is a function, its memory by infoset and its iteration; one per player."""

    rule: Rule
    memory: dict[int, Floats]  # [rows, A] by the infoset's first sequence
    constants: Floats
    iteration: int = 0

    def learn(self, table: LearnerTable, start: int, values: list[float]) -> None:
        """Update the strategy of an infoset, which is stored in ``table.regret``."""
        strategy = table.regret[start : start + len(values)].copy()
        self.rule.apply(float(self.iteration), np.array(values), strategy, self.memory[start], self.constants)
        table.regret[start : start + len(values)] = strategy


@dataclass
class SampleWalk:
    """Arguments of a walk, and its counts of nodes."""

    tree: SampleTree
    deal: int
    tables: tuple[LearnerTable, LearnerTable]
    weight: float
    plus: bool
    draws: Draws
    nodes: int = 0
    skipped: int = 0
    later: list[tuple[int, int, list[float]]] | None = None  # additions to apply later: player, first sequence, regrets
    regrets: dict[tuple[int, int], list[float]] = field(default_factory=dict[tuple[int, int], list[float]])
    average_weight: float | None = None  # weight in the averages, if it differs from ``weight``
    functions: tuple[Function, Function] | None = None  # rules instead of regret matching
    discounts: tuple[Discount, Discount] | None = None  # of regrets, before they are added to
    predict: float = 0.0  # fraction of the last numbers that a pure strategy expects to be added once more

    @property
    def averaging_weight(self) -> float:
        """The weight of the walk in the averages."""
        return self.weight if self.average_weight is None else self.average_weight

    def enter(self, node: int) -> SampleNode:
        """Count a node, and return it unpacked."""
        self.nodes += 1
        return unpack(self.tree, node, self.deal)

    def learn(self, player: int, start: int, mass: float, values: list[float], level: float) -> None:
        """Add instantaneous regrets mass (v(a) - level), now or later; a function learns from mass v(a)."""
        level = 0.0 if self.functions else level
        numbers = [mass * (value - level) for value in values]
        if self.later is not None:
            self.later.append((player, start, numbers))
        else:
            self.add(player, start, numbers)

    def add(self, player: int, start: int, numbers: list[float]) -> None:
        """Learn from instantaneous regrets, or from values if the rule is a function."""
        if self.functions:
            self.functions[player].learn(self.tables[player], start, numbers)
        else:
            if self.discounts:
                self.discounts[player].apply(self.tables[player], start, len(numbers))
            add(self.tables[player], start, numbers, self.plus)

    def level(self, value: float) -> float:
        """Return what pure strategies subtract from values: nothing, unless they need instantaneous regrets."""
        return value if self.plus or self.discounts else 0.0

    def pick(self, player: int, start: int, numbers: list[float]) -> None:
        """Let an infoset play its best action, after ``numbers`` were added."""
        table, width = self.tables[player], len(numbers)
        sums = [float(table.regret[start + k]) + self.predict * numbers[k] for k in range(width)]
        table.pick[start] = best(sums, self.draws)


def add(table: LearnerTable, start: int, regrets: list[float], plus: bool) -> None:
    """Add regrets in place: R(a) <- R(a) + r(a), floored at zero with ``plus``."""
    for k, instantaneous in enumerate(regrets):
        r = float(table.regret[start + k]) + instantaneous
        table.regret[start + k] = r if r > 0.0 or not plus else 0.0


def regrets_of(table: LearnerTable, start: int, width: int) -> list[float]:
    """Return the regrets R of an infoset."""
    return [float(r) for r in table.regret[start : start + width]]


def positive(table: LearnerTable, start: int, width: int) -> list[float]:
    """Return max(R, 0) of an infoset."""
    return [max(r, 0.0) for r in regrets_of(table, start, width)]


def total(numbers: list[float]) -> float:
    """Return a sum from left to right (``sum`` of newer Pythons compensates for rounding)."""
    result = 0.0
    for number in numbers:
        result += number
    return result


def mean(weights: list[float], values: list[float]) -> float:
    """Return the mean of values, weighted by positive regrets, or uniformly without positive regret."""
    norm = total(weights)
    if norm > 0.0:
        return total([w * v for w, v in zip(weights, values, strict=True) if w > 0.0]) / norm
    return total(values) / len(values)


def external(
    walk: SampleWalk, player: int, least: float, bonus: float, prior: float, node: int = 0, scale: float = 1.0,
    rule: int = MATCH,
) -> float:  # fmt: skip
    """Run external or average-strategy sampling; return the estimate of the player's value below ``node``.

    v(z) = u(z) / q;  v(h) at chance nodes and the opponent's is that of one sampled move;  v(I) = sum_a sigma(a) v(a)
    over the sampled moves, the others count 0;  r(a) = v(a) - v(I). Lanctot et al. (2009) with q = 1; Gibson et al.
    (2012), Algorithm 1, with q the product of the sampling probabilities. ``rule`` determines the strategy without
    positive regret.
    """
    here = walk.enter(node)
    mine, theirs = walk.tables[player], walk.tables[1 - player]
    width = len(here.moves)
    if here.actor == TERMINAL_NODE:
        return (1.0 if player == 0 else -1.0) * scale * here.payoff
    if here.actor == CHANCE_NODE:
        move = walk.draws.chance(walk.tree.chances, here.start, width)
        return external(walk, player, least, bonus, prior, here.moves[move], scale, rule)
    if here.actor != player:
        weights = positive(theirs, here.start, width)
        norm, weight = total(weights), walk.averaging_weight * scale
        if norm <= 0.0 and rule != MATCH:
            move = int(theirs.pick[here.start])
            theirs.average[here.start + move] += weight
            return external(walk, player, least, bonus, prior, here.moves[move], scale, rule)
        for k in range(width):
            theirs.average[here.start + k] += weight / norm * weights[k] if norm > 0.0 else weight / width
        return external(walk, player, least, bonus, prior, here.moves[walk.draws.move(weights)], scale, rule)
    values: list[float] = []
    norm = prior
    for k in range(width):
        norm += float(mine.average[here.start + k])
    for k, child in enumerate(here.moves):
        odds = 1.0
        if least < 1.0:
            odds = max(least, (prior + bonus * float(mine.average[here.start + k])) / norm)
        if odds >= 1.0:
            values.append(external(walk, player, least, bonus, prior, child, scale, rule))
        elif walk.draws.coin(odds):
            values.append(external(walk, player, least, bonus, prior, child, scale / odds, rule))
        else:
            values.append(0.0)
    weights = positive(mine, here.start, width)
    expected = values[int(mine.pick[here.start])] if rule != MATCH and not any(weights) else mean(weights, values)
    walk.learn(player, here.start, walk.weight, values, expected)
    if rule != MATCH and walk.later is None and not any(positive(mine, here.start, width)):
        mine.pick[here.start] = walk.draws.any_of(width)
    return expected


def pure(walk: SampleWalk, player: int, node: int = 0) -> float:
    """Run external sampling with pure strategies: Q(a) <- Q(a) + w v(a), then play argmax Q. Ju et al., (20), (21)."""
    here = walk.enter(node)
    mine, theirs = walk.tables[player], walk.tables[1 - player]
    width = len(here.moves)
    if here.actor == TERMINAL_NODE:
        return (1.0 if player == 0 else -1.0) * here.payoff
    if here.actor == CHANCE_NODE:
        return pure(walk, player, here.moves[walk.draws.chance(walk.tree.chances, here.start, width)])
    if here.actor != player:
        move = int(theirs.pick[here.start])
        theirs.average[here.start + move] += walk.averaging_weight
        return pure(walk, player, here.moves[move])
    values = [pure(walk, player, child) for child in here.moves]
    played = values[int(mine.pick[here.start])]
    level = walk.level(played)
    numbers = [walk.weight * (value - level) for value in values]
    walk.add(player, here.start, numbers)
    walk.pick(player, here.start, numbers)
    return played


def best(sums: list[float], draws: Draws) -> int:
    """Return the action of the largest sum; ties are broken uniformly at random."""
    move, ties = 0, 1
    for k in range(1, len(sums)):
        if sums[k] > sums[move]:
            move, ties = k, 1
        elif sums[k] == sums[move]:
            ties += 1
            if draws.one_of(ties):
                move = k
    return move


def outcome(walk: SampleWalk, player: int, epsilon: float, rate: float, node: int = 0, scale: float = 1.0) -> float:
    """Run outcome sampling with baselines; return the estimate of player 0's value below ``node``.

    v(a) = b(a) + [a was drawn] (v(below) - b(a)) / xi(a);  v(I) = sum_a sigma(a) v(a);  r(a) = (v(a) - v(I)) / xi(I),
    where xi(I) is the player's factor of the probability of the path: the others play the moves drawn. Schmid et al.
    (2019).
    """
    here = walk.enter(node)
    width = len(here.moves)
    if here.actor == TERMINAL_NODE:
        return here.payoff
    if here.actor == CHANCE_NODE:
        move = walk.draws.chance(walk.tree.chances, here.start, width)
        return outcome(walk, player, epsilon, rate, here.moves[move], scale)
    own, table = here.actor == player, walk.tables[here.actor]
    sigma = matched_numbers(regrets_of(table, here.start, width))
    xi = [epsilon / width + (1.0 - epsilon) * p if own else p for p in sigma]
    if not own:
        for k in range(width):
            table.average[here.start + k] += walk.averaging_weight * scale * sigma[k]
    move = walk.draws.odds(xi)
    below = outcome(walk, player, epsilon, rate, here.moves[move], scale / xi[move] if own else scale)
    values = [float(table.baseline[here.start + k]) if rate > 0.0 else 0.0 for k in range(width)]
    values[move] += (below - values[move]) / xi[move]
    expected = total([p * v for p, v in zip(sigma, values, strict=True)])
    if rate > 0.0:
        table.baseline[here.start + move] += rate * (below - table.baseline[here.start + move])
    if own:
        mass = walk.weight * scale * (1.0 if player == 0 else -1.0)
        walk.learn(player, here.start, mass, values, expected)
    return expected


def joint(
    walk: SampleWalk, who: int, rule: int, sampled: bool, node: int = 0, reach: tuple[float, float] = (1.0, 1.0),
    chance: float = 1.0,
) -> float:  # fmt: skip
    """Walk all moves that a player reaches whose opponent learns; return player 0's value below ``node``.

    r(a) = chance * reach of the opponent * (v(a) - v(I)), summed over the histories of an infoset; without v(I) for
    pure strategies. Zinkevich et al. (2007), (7); Ju et al., (20).
    """
    here = walk.enter(node)
    width = len(here.moves)
    if here.actor == TERMINAL_NODE:
        return here.payoff
    if here.actor == CHANCE_NODE:
        if sampled:
            move = walk.draws.chance(walk.tree.chances, here.start, width)
            return joint(walk, who, rule, sampled, here.moves[move], reach, chance)
        odds = [float(p) for p in walk.tree.chances.probability[here.start : here.start + width]]
        below = [
            joint(walk, who, rule, sampled, child, reach, chance * p) if p > 0.0 else 0.0
            for child, p in zip(here.moves, odds, strict=True)
        ]
        return total([p * v for p, v in zip(odds, below, strict=True)])
    table, actor = walk.tables[here.actor], here.actor
    sigma = played(table, here.start, width, rule)
    if reach[actor] > 0.0 and who != actor:
        for k in range(width):
            table.average[here.start + k] += walk.averaging_weight * chance * reach[actor] * sigma[k]
    values: list[float] = []
    for child, p in zip(here.moves, sigma, strict=True):
        after = (reach[0] * p, reach[1]) if actor == 0 else (reach[0], reach[1] * p)
        if (after[0] > 0.0 and who != 0) or (after[1] > 0.0 and who != 1):
            values.append(joint(walk, who, rule, sampled, child, after, chance))
        else:
            walk.skipped += 1
            values.append(0.0)
    value = total([p * v for p, v in zip(sigma, values, strict=True)])
    if reach[1 - actor] > 0.0 and who in (BOTH, actor):
        mass = chance * reach[1 - actor] * (1.0 if actor == 0 else -1.0)
        level = 0.0 if walk.functions else walk.level(value) if rule == PURE else value
        regrets = walk.regrets.setdefault((actor, here.start), [0.0] * width)
        for k in range(width):
            regrets[k] += mass * (values[k] - level)
    return value


def played(table: LearnerTable, start: int, width: int, rule: int) -> list[float]:
    """Return the strategy of a rule at an infoset."""
    if rule == MATCH or (rule != PURE and any(positive(table, start, width))):
        return matched_numbers(regrets_of(table, start, width))
    return [1.0 if k == int(table.pick[start]) else 0.0 for k in range(width)]


def settle(walk: SampleWalk, player: int, rule: int) -> None:
    """Add the regrets of a joint walk, in the order in which infosets were visited, and pick the next actions."""
    table = walk.tables[player]
    for (owner, start), regrets in walk.regrets.items():
        if owner != player:
            continue
        walk.add(player, start, [walk.weight * r for r in regrets])
        if rule == PURE:
            walk.pick(player, start, [walk.weight * r for r in regrets])
        elif rule != MATCH and not any(positive(table, start, len(regrets))):
            table.pick[start] = walk.draws.any_of(len(regrets))


def scatter(
    tree: SampleTree, tables: tuple[LearnerTable, LearnerTable], hand_counts: tuple[int, int], draws: Draws
) -> None:
    """Give every infoset a random initial action."""
    for node in range(len(tree.packed)):
        here = unpack(tree, node, 0)
        if here.actor < CHANCE_NODE:
            width, first = len(here.moves), int(tree.packed[node, START])
            for hand in range(hand_counts[here.actor]):
                tables[here.actor].pick[first + hand * width] = draws.any_of(width)


def deal(tree: SampleTree, draws: Draws) -> int:
    """Return a random deal; 0 if there is only one."""
    deals: Any = tree.hands.shape[1]
    return draws.chance(tree.chances, 0, deals) if deals > 1 else 0


def copied(tables: tuple[LearnerTable, LearnerTable]) -> tuple[LearnerTable, LearnerTable]:
    """Return copies of tables, which can be modified."""
    first, second = (LearnerTable._make(array.copy() for array in table) for table in tables)
    return first, second
