"""Hold'em subgames as in Algorithm 1 of Tammelin (2014): the specification of ``boards.cpu``.

A recursion over public nodes with a vector of hands for each player. Terminals are tables of hands against hands, and
all turn and river cards are dealt in all suits. Everything is computed in float64. Numbers of a decision are then
rounded to the storage, and later iterations play and update the rounded numbers:

- float64, float32: the number itself.
- int16: integers and one float32 scale per decision, for all its actions and hands (``updates.storage``). The dither
  added before numbers are rounded down (``Rules.dither``) depends on the kernels' layout of numbers.

With ``Rules.rule``, a rule is called for every hand that is not locked (``updates.rule``). It gets counterfactual
values in chips, times the opponent's weights and the chance of the cards that were dealt.

Regrets are stored as they were after the last update, and discounted when they are next updated: R <- D R + r. Here r
is the instantaneous regret, and D is the product of the discounts of all iterations since. In floating point this
equals discounting after every iteration. In 16 bits it decides which numbers are rounded.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import Any, Final, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Floats
from treeplex.games.holdem.betting import BettingNode
from treeplex.updates.reference import matched
from treeplex.updates.rule import Rule
from treeplex.updates.storage import AVERAGE, REGRET, STORAGES, packed

Strength = Callable[[tuple[int, ...], npt.NDArray[np.int64]], npt.NDArray[np.int64]]
Key = tuple[Any, ...]
"""A decision on a board: its player, the board, and the line that leads to it."""

NONE: Final[Floats] = np.zeros(0)
TINY: Final = 1e-30  # sums of regrets or averages up to here count as zero


def first_child(node: BettingNode, board: tuple[int, ...], card: int) -> BettingNode:
    """Return the child of a chance node at which the class of the card does not matter."""
    return node.children[0]


class Rules(NamedTuple):
    """Input of the recursion. Nodes have ``kind``, ``player``, ``actions``, ``children`` and ``paid``.

    A chance node has one child, or one per class of the card: ``child`` returns the right one.
    """

    root: BettingNode
    board: tuple[int, ...]
    hands: tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]  # [H, 2] cards
    weights: tuple[Floats, Floats]  # [H]
    pot: float
    rake: Callable[[float], float]
    strength: Strength  # strengths of hands [H, 2] on a board of five cards
    positive: Callable[[int], float]  # discounts after an iteration
    negative: Callable[[int], float]
    weight: Callable[[int], float]  # weight of an iteration in the average
    predict: float = 0.0
    storage: str = "float64"
    dither: Callable[[Key, int, int], Floats | float] = lambda key, t, array: 0.5  # [actions, H] before rounding down
    prune: bool = False  # are nodes skipped that the opponent never reaches?
    rule: Rule | None = None  # called in place of all arithmetic on regrets
    constants: tuple[Floats, Floats] = (NONE, NONE)  # constants of that rule, for either player
    locked: Mapping[Key, Floats] = MappingProxyType({})  # [actions, H] fixed strategies; zeros: free hands
    leaving: Mapping[Key, Floats] = MappingProxyType({})  # [H] payoff of a recovery game for leaving it: action 0
    # child of a chance node, by the card; None: skip the card
    child: Callable[[BettingNode, tuple[int, ...], int], BettingNode | None] = first_child


class ScaledNumbers(NamedTuple):
    """Numbers [actions, H] in the storage of a decision: ``scale`` times ``numbers``."""

    numbers: npt.NDArray[Any]  # float64, float32 or int16
    scale: np.float32

    @property
    def value(self) -> Floats:
        """The values that the stored numbers represent."""
        return self.numbers * np.float64(self.scale)


class Memory(NamedTuple):
    """State of CFR between iterations, by decision."""

    regret: dict[Key, ScaledNumbers]  # as they were after the last update; or the memory of a rule that is called
    last: dict[Key, int]  # the iteration of the last update
    predicted: dict[Key, ScaledNumbers]  # predicted regrets; or the strategies of a rule that is called
    average: dict[Key, ScaledNumbers]  # sums of weight times reach times strategy
    entered: dict[Key, Floats]  # [H] in a recovery game: sums of weight times the value of entering, action 1


def new_memory() -> Memory:
    """Return a memory in which nothing is learned yet."""
    return Memory({}, {}, {}, {}, {})


def store(numbers: Floats, storage: str, dither: Floats | float = 0.5) -> ScaledNumbers:
    """Round to the storage. In 16 bits, ``dither`` is added first."""
    return (
        ScaledNumbers(*packed(numbers, dither, storage))
        if STORAGES[storage].scaled
        else ScaledNumbers(numbers.astype(storage), np.float32(1.0))
    )


def normalise(numbers: Floats) -> Floats:
    """Regret matching: sigma(a) ~ max(R(a), 0), uniform where no number is positive."""
    return matched(numbers, TINY)


def strategy(rules: Rules, memory: Memory, key: Key, size: tuple[int, int]) -> Floats:
    """Return the strategy [actions, H] at a decision, from regrets or predicted ones; uniform before an update."""
    stored = (memory.predicted if rules.predict or rules.rule else memory.regret).get(key)
    free = normalise(np.zeros(size) if stored is None else stored.numbers.astype(np.float64))
    if key not in rules.locked:
        return free
    fixed = normalise(store(rules.locked[key], rules.storage).numbers.astype(np.float64))
    return np.where(locked_hands(rules, key), fixed, free)


def locked_hands(rules: Rules, key: Key) -> npt.NDArray[np.bool_]:
    """Return [H] whether each hand is locked at a decision."""
    return rules.locked[key].sum(axis=0) > 0.0


def discounted(rules: Rules, regret: Floats, since: int, until: int) -> Floats:
    """Return regrets times the discounts of iterations ``since`` to ``until``. A discount does not change a sign."""
    iterations = range(max(since, 1), until + 1)
    up = float(np.prod([rules.positive(k) for k in iterations]))
    down = float(np.prod([rules.negative(k) for k in iterations]))
    return np.where(regret > 0.0, regret * up, regret * down)


def iterate(rules: Rules, memory: Memory, t: int) -> None:
    """Run one iteration: one pass per player, in turn. ``memory`` is modified in place."""
    for player in (0, 1):
        _pass(rules, memory, t, player, rules.root, rules.board, (), rules.weights[1 - player], True)


def recover(rules: Rules, memory: Memory, player: int, iterations: int) -> None:
    """Solve the recovery game (Brown & Sandholm 2015, section 3) of ``player``. The opponent learns first.

    ``rules.root`` has one path to the decisions of ``rules.leaving``. There the player leaves, for the payoff stored
    there, or enters. ``rules.locked`` has the opponent's average strategies on the path.
    """
    for t in range(1, iterations + 1):
        for learner in (1 - player, player):
            _pass(rules, memory, t, learner, rules.root, rules.board, (), rules.weights[1 - learner], True)


def _pass(
    rules: Rules, memory: Memory, t: int, player: int, node: BettingNode, board: tuple[int, ...], line: tuple[Any, ...],
    reach: Floats, alive: bool,
) -> Floats:  # fmt: skip
    """Return counterfactual values [H] of ``player``; ``reach`` [H'] is the opponent's (lines 4 to 42 of Algorithm 1).

    ``alive``: did each of the opponent's actions on the path have reach with some hand? With ``prune``, nothing is read
    or stored if not.
    """
    if rules.prune and not alive:
        return np.zeros(len(rules.hands[player]))
    if node.kind == "nothing":
        return np.zeros(len(rules.hands[player]))
    if node.kind in ("fold", "showdown"):
        return terminal(rules, node, board, player) @ reach
    if node.kind == "chance":
        left = 52 - len(board) - 4  # cards that are in neither hand
        total = np.zeros(len(rules.hands[player]))
        for card in range(52):
            if card in board:
                continue
            free = [(hands != card).all(axis=1) for hands in rules.hands]
            child = rules.child(node, board, card)
            if child is None:
                continue
            deeper = _pass(
                rules, memory, t, player, child, (*board, card), (*line, card),
                reach * free[1 - player] / left, alive,
            )  # fmt: skip
            total += deeper * free[player]
        return total
    key = (node.player, board, line)
    owner: int = node.player
    sigma = strategy(rules, memory, key, (len(node.children), len(rules.hands[owner])))
    children = [(child, (*line, action)) for action, child in enumerate(node.children)]
    if owner == player:
        values = np.array(
            [_pass(rules, memory, t, player, child, board, path, reach, alive) for child, path in children]
        )
        if key in rules.leaving:
            values[0] = rules.leaving[key]
            memory.entered[key] = memory.entered.get(key, 0.0) + rules.weight(t) * values[1]
        expected = (sigma * values).sum(axis=0)
        if key not in rules.locked or not locked_hands(rules, key).all():
            if rules.rule is None:
                _learn(rules, memory, t, key, values - expected)
            else:
                _call(rules, rules.rule, memory, t, key, values, sigma)
        return expected
    played = sigma * reach
    _remember(rules, memory, t, key, played)
    return np.sum(
        [
            _pass(rules, memory, t, player, child, board, path, played[a], bool(played[a].any()))
            for a, (child, path) in enumerate(children)
        ],
        axis=0,
    )


def _learn(rules: Rules, memory: Memory, t: int, key: Key, instantaneous: Floats) -> None:
    """Update R <- D R + r and, with a prediction m > 0, the predicted regrets d_t R + m r; r: ``instantaneous``."""
    before = memory.regret[key].value if key in memory.regret else np.zeros(instantaneous.shape)
    regret = discounted(rules, before, memory.last.get(key, 0), t - 1) + instantaneous
    if key in rules.locked:  # locked hands do not learn, and do not affect the scale of 16-bit numbers
        regret, instantaneous = (np.where(locked_hands(rules, key), 0.0, x) for x in (regret, instantaneous))
    memory.regret[key] = store(regret, rules.storage, rules.dither(key, t, REGRET))
    memory.last[key] = t
    if rules.predict:
        memory.predicted[key] = store(discounted(rules, regret, t, t) + rules.predict * instantaneous, rules.storage)


def _call(rules: Rules, rule: Rule, memory: Memory, t: int, key: Key, values: Floats, sigma: Floats) -> None:
    """Update each hand's strategy and memory by ``rule`` in plain Python; ``sigma``: the strategies just played."""
    actions, hands = values.shape
    who: int = key[0]
    constants: Floats = rules.constants[who]
    if key in memory.regret:
        numbers = memory.regret[key].value.reshape(rule.memory, actions, hands)
    else:
        numbers: Floats = np.repeat(rule.initial(actions, constants)[:, :, None], hands, axis=2)
    after = sigma.copy()
    for h in np.flatnonzero(~locked_hands(rules, key) if key in rules.locked else np.ones(hands, np.bool_)).tolist():
        played, own = sigma[:, h].copy(), np.ascontiguousarray(numbers[:, :, h])
        rule.apply(float(t), np.ascontiguousarray(values[:, h]), played, own, constants)
        after[:, h], numbers[:, :, h] = played, own
    memory.predicted[key], memory.regret[key] = store(after, rules.storage), store(numbers, rules.storage)


def _remember(rules: Rules, memory: Memory, t: int, key: Key, played: Floats) -> None:
    """Update S <- S + w_t times the reach of the actions. The average is weighted by reach in every storage."""
    before = memory.average[key].value if key in memory.average else np.zeros(played.shape)
    after = before + rules.weight(t) * played
    if key in rules.locked and not locked_hands(rules, key).all():
        after = np.where(locked_hands(rules, key), 0.0, after)
    if rules.weight(t) > 0.0:
        memory.average[key] = store(after, rules.storage, rules.dither(key, t, AVERAGE))


def terminal(rules: Rules, node: BettingNode, board: tuple[int, ...], player: int) -> Floats:
    """Payoff [H, H'] of each hand of ``player`` against each of the opponent's, less half the pot at the start."""
    ours, theirs = rules.hands[player], rules.hands[1 - player]
    shared: Any = ours[:, None, :, None] == theirs[None, :, None, :]
    possible: Any = ~shared.any(axis=(2, 3))
    for hands, axis in ((ours, 1), (theirs, 0)):
        dead: Any = np.isin(hands, board).any(axis=1)
        possible &= np.expand_dims(~dead, axis)
    half = rules.pot / 2 + node.paid
    rake = rules.rake(2 * half)
    if node.kind == "fold":
        return np.where(possible, -half if node.player == player else half - rake, 0.0)
    first, second = rules.strength(board, ours)[:, None], rules.strength(board, theirs)[None, :]
    won = np.where(first > second, half - rake, np.where(first < second, -half, -rake / 2))
    return np.where(possible, won, 0.0)
