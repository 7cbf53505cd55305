"""Play an abstract strategy in the real game: action translation with stacks (Brown & Sandholm 2015, section 4).

One player, the *translator*, knows the betting tree of an abstraction alone. The opponent, who responds, may bet any
candidate. The translator reads a bet that is not on the abstract menu as one of its two neighbours, at random by the
pseudo-harmonic mapping (Ganzfried & Sandholm 2013), and goes on as the abstract strategy does there:

- neighbours are the abstract sizes as they come out at the real pot and stack: as a rule (share of the pot, multiple,
  all-in), not in chips; beyond the smallest or the largest one the nearest is taken; a size that comes to all the chips
  of the abstraction is all-in, whatever it is called;
- its own raise is the rule of the abstract raise at the real pot and stack; a call, where no raise is legal;
- where the abstraction has no decision left but chips remain, it checks and calls.

What is built here is the tree of the real game that can be reached: all candidates at decisions of the responder, what
the translator may do at its own. Every node has its *readings*: the abstract nodes that the translator may take it for.
Readings are the translator's secret: ``growth.spot_plans`` adds them up.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final, NamedTuple

from treeplex.errors import GameError
from treeplex.games.holdem.betting import (
    CHANCE,
    DECISION,
    Action,
    BettingNode,
    BettingState,
    act,
    below_card,
    card_words,
    chips_of,
    deal,
    most_of,
    pot_after_call,
    sized_action,
    start,
    tell_in_units,
)
from treeplex.games.holdem.sizes import ALL_IN, Size
from treeplex.games.holdem.spot import Spot
from treeplex.games.mapping import reading_shares

MOST_NODES: Final = 500_000  # of betting, whatever the cards are

Candidates = Callable[[int, int, bool], tuple[Size, ...]]
"""By street, player and whether there is a bet to raise: the sizes that may be bet in the real game."""


class Reading(NamedTuple):
    """What a real node may be taken for, given a reading of the node before."""

    node: BettingNode | None  # of the abstraction; None: it has no decision left here
    before: int  # which reading of the real node before
    action: int  # of the abstract node before, which the translator's strategy chooses; -1: chosen by others, or forced
    share: float  # probability of this reading of the opponent's bet


@dataclass
class Real:
    """A node of the real game and its readings."""

    node: BettingNode
    readings: list[Reading]
    exact: bool  # the way here is one of the abstraction
    children: list[Real] = field(default_factory=list["Real"])


@dataclass(frozen=True)
class Translation:
    """How ``translator`` plays an abstraction in the real game; see the module."""

    spot: Spot
    abstract: BettingNode  # the root of the abstraction's betting tree
    translator: int
    candidates: Candidates
    deviations: float = math.inf  # how many sizes off the menu the responder may bet on one line

    def tree(self) -> Real:
        """The real game as far as it can be reached."""
        node, moment = start(self.spot)
        root = Real(node, [Reading(self.abstract, 0, -1, 1.0)], exact=True)
        waiting, count = [(root, moment, self.deviations)], 0
        while waiting:
            real, at, left = waiting.pop()
            count += 1
            if count > MOST_NODES:
                raise GameError(
                    f"The betting with all candidates has more than {MOST_NODES:,} nodes; choose fewer candidates, or"
                    " one street."
                )
            if real.node.kind == CHANCE:
                waiting += [(child, after, left) for child, after in self._dealt(real, at)]
            elif real.node.kind == DECISION:
                waiting += self._translated(real, at, left) if real.node.player == self.translator else (
                    self._answered(real, at, left)
                )  # fmt: skip
        tell_in_units(self.spot, node)
        return root

    def _dealt(self, real: Real, moment: BettingState) -> list[tuple[Real, BettingState]]:
        """What follows a card, by class where the spot tells classes apart: the translator sees it as it is."""
        real.node.actions = card_words(self.spot, moment)
        made: list[tuple[Real, BettingState]] = []
        for word in real.node.actions or (None,):
            node, after = deal(self.spot, real.node, moment, word)
            below: list[Reading] = []
            for k, one in enumerate(real.readings):
                dealt = below_card(one.node, word) if one.node is not None and one.node.kind == CHANCE else None
                below.append(Reading(_at_decision(dealt, node), k, -1, 1.0))
            made.append((_child(real, node, below, real.exact), after))
        return made

    def _translated(self, real: Real, moment: BettingState, left: float) -> list[tuple[Real, BettingState, float]]:
        """The translator's own decision: the union of what its readings would do."""
        node, most = real.node, most_of(real.node, moment)
        chosen: dict[Action, list[Reading]] = {}
        for k, one in enumerate(real.readings):
            if one.node is None:
                chosen.setdefault(Action("call" if moment.raises else "check"), []).append(Reading(None, k, -1, 1.0))
                continue
            for number, (action, child) in enumerate(zip(one.node.actions, one.node.children, strict=True)):
                done = action
                if action.amount:
                    (amount,) = chips_of(self.spot, node, moment, (rule_of(action),))
                    done = Action("call") if moment.all_in else sized_action(moment, amount, most, rule_of(action))
                chosen.setdefault(Action(done.kind, done.amount), []).append(Reading(child, k, number, 1.0))
        return self._act(real, moment, chosen, lambda action: left)

    def _answered(self, real: Real, moment: BettingState, left: float) -> list[tuple[Real, BettingState, float]]:
        """The responder's decision: all candidates, and what the abstraction has; the translator reads each."""
        node, most = real.node, most_of(real.node, moment)
        menus = [self._menu(real.node, moment, one.node) for one in real.readings]
        offered: tuple[Size, ...] = tuple(size for menu in menus for _, size in menu.values())
        if left >= 1 and not moment.all_in:
            offered += self.candidates(node.street, node.player, moment.raises > 0)
        plain = [Action("fold"), Action("call")] if moment.raises else [Action("check")]
        amounts = {} if moment.all_in else chips_of(self.spot, node, moment, offered)
        sized = [sized_action(moment, amount, most, amounts[amount]) for amount in sorted(amounts)]
        chosen: dict[Action, list[Reading]] = {}
        pot = pot_after_call(self.spot, node)
        for action in (*plain, *sized):
            read = chosen.setdefault(action, [])
            for k, (one, menu) in enumerate(zip(real.readings, menus, strict=True)):
                if not action.amount:
                    read.append(Reading(_after(one.node, action.kind), k, -1, 1.0))
                elif one.node is None or not menu:
                    read.append(Reading(None, k, -1, 1.0))
                else:
                    shares = reading_shares(sorted(menu), action.amount, node.faced, pot)
                    read += [Reading(one.node.children[menu[to][0]], k, -1, share) for to, share in shares]
        known = {amount for menu in menus for amount in menu}
        return self._act(real, moment, chosen, lambda a: left - (a.amount > 0 and a.amount not in known))

    def _menu(
        self, node: BettingNode, moment: BettingState, abstract: BettingNode | None
    ) -> dict[float, tuple[int, Size]]:
        """What the sizes of an abstract decision come to here: the number of the action and its rule, by amount.

        Of several that come to the same amount, all-in counts first, then the smallest.
        """
        if abstract is None or moment.all_in:
            return {}
        found: dict[float, tuple[int, Size]] = {}
        sized = [(number, rule_of(action)) for number, action in enumerate(abstract.actions) if action.amount]
        for number, size in sorted(sized, key=lambda one: one[1].kind != ALL_IN):
            (amount,) = chips_of(self.spot, node, moment, (size,))
            found.setdefault(amount, (number, size))
        return found

    def _act(
        self, real: Real, moment: BettingState, chosen: dict[Action, list[Reading]], left: Callable[[Action], float]
    ) -> list[tuple[Real, BettingState, float]]:
        order = sorted(chosen, key=lambda action: (action.amount, action.kind != "fold"))
        made: list[tuple[Real, BettingState, float]] = []
        for action in order:
            node, after = act(self.spot, real.node, moment, action)
            below = [one._replace(node=_at_decision(one.node, node)) for one in chosen[action]]
            exact = real.exact and _is_abstract(self.spot, real.readings[0].node, action)
            real.node.actions.append(action)
            made.append((_child(real, node, below, exact), after, left(action)))
        return made


def _child(real: Real, node: BettingNode, readings: list[Reading], exact: bool) -> Real:
    child = Real(node, readings, exact)
    real.children.append(child)
    real.node.children.append(node)
    return child


def _at_decision(abstract: BettingNode | None, node: BettingNode) -> BettingNode | None:
    """A reading of a node at which a player decides must be a decision, too; elsewhere it does not matter."""
    return None if abstract is not None and node.kind == DECISION and abstract.kind != DECISION else abstract


def _after(abstract: BettingNode | None, kind: str) -> BettingNode | None:
    """The abstract node after an action without a size."""
    if abstract is None:
        return None
    found = [child for action, child in zip(abstract.actions, abstract.children, strict=True) if action.kind == kind]
    return found[0] if found else None


def _is_abstract(spot: Spot, abstract: BettingNode | None, action: Action) -> bool:
    """Is an action, in chips, one of the abstract decision?"""
    return abstract is not None and any(
        (known.kind, spot.chips(known.amount)) == (action.kind, action.amount) for known in abstract.actions
    )


def rule_of(action: Action) -> Size:
    """The rule of a bet or raise of a betting tree."""
    if action.size is None:
        raise ValueError(f"{action.name} has no size.")
    return action.size
