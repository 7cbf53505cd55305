"""Abstract strategies in the real game: action translation with stacks (Brown & Sandholm 2015, section 4).

One player, the *translator*, knows only the betting tree of an abstraction. The opponent, the *responder*, may bet any
candidate. The translator translates a bet that is not on the abstract menu to one of its two neighbours, at random by
the pseudo-harmonic mapping (Ganzfried & Sandholm 2013), and continues with the abstract strategy there:

- Neighbours are the abstract sizes at the real pot and stack: the rule (fraction of the pot, multiple, all-in), not
  chips. Beyond the smallest or the largest one, the nearest applies. A size that is all the chips of the abstraction is
  all-in, independently of its name.
- Its own raise is the rule of the abstract raise at the real pot and stack, or a call if no raise is legal.
- If the abstraction has no decision left but chips remain, it checks and calls.

This module builds the reachable tree of the real game, with all candidates at decisions of the responder, and the
possible actions of the translator at its own. Every node has *readings*: the abstract nodes that the translator may
translate it to. Only the translator knows the reading: ``growth.spot_plans`` adds them up.
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

MOST_NODES: Final = 500_000  # largest number of betting nodes, not counting cards

Candidates = Callable[[int, int, bool], tuple[Size, ...]]
"""Function from street, player and whether there is a bet to raise, to the sizes of the real game."""


class Reading(NamedTuple):
    """An abstract node that a real node may be translated to, given a reading of the previous node."""

    node: BettingNode | None  # node of the abstraction; None: it has no decision left here
    before: int  # index of the reading of the previous real node
    action: int  # of the previous abstract node, if the translator's strategy chooses it; -1: any other action
    share: float  # probability of this reading of the opponent's bet


@dataclass
class Real:
    """A node of the real game and its readings."""

    node: BettingNode
    readings: list[Reading]
    exact: bool  # whether the line to this node is in the abstraction
    children: list[Real] = field(default_factory=list["Real"])


@dataclass(frozen=True)
class Translation:
    """Translation of an abstraction to the real game, where ``translator`` plays it; see the module."""

    spot: Spot
    abstract: BettingNode  # the root of the abstraction's betting tree
    translator: int
    candidates: Candidates
    deviations: float = math.inf  # largest number of off-menu sizes that the responder may bet on one line

    def tree(self) -> Real:
        """Build the reachable tree of the real game."""
        node, state = start(self.spot)
        root = Real(node, [Reading(self.abstract, 0, -1, 1.0)], exact=True)
        waiting, count = [(root, state, self.deviations)], 0
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

    def _dealt(self, real: Real, state: BettingState) -> list[tuple[Real, BettingState]]:
        """Build the children of a chance node, by class if the spot has classes; cards are not translated."""
        real.node.actions = card_words(self.spot, state)
        made: list[tuple[Real, BettingState]] = []
        for word in real.node.actions or (None,):
            node, after = deal(self.spot, real.node, state, word)
            below: list[Reading] = []
            for k, one in enumerate(real.readings):
                dealt = below_card(one.node, word) if one.node is not None and one.node.kind == CHANCE else None
                below.append(Reading(_at_decision(dealt, node), k, -1, 1.0))
            made.append((_child(real, node, below, real.exact), after))
        return made

    def _translated(self, real: Real, state: BettingState, left: float) -> list[tuple[Real, BettingState, float]]:
        """Build the children of the translator's decision: the union of its readings' actions."""
        node, most = real.node, most_of(real.node, state)
        chosen: dict[Action, list[Reading]] = {}
        for k, one in enumerate(real.readings):
            if one.node is None:
                chosen.setdefault(Action("call" if state.raises else "check"), []).append(Reading(None, k, -1, 1.0))
                continue
            for number, (action, child) in enumerate(zip(one.node.actions, one.node.children, strict=True)):
                done = action
                if action.amount:
                    (amount,) = chips_of(self.spot, node, state, (rule_of(action),))
                    done = Action("call") if state.all_in else sized_action(state, amount, most, rule_of(action))
                chosen.setdefault(Action(done.kind, done.amount), []).append(Reading(child, k, number, 1.0))
        return self._act(real, state, chosen, lambda action: left)

    def _answered(self, real: Real, state: BettingState, left: float) -> list[tuple[Real, BettingState, float]]:
        """Build the children of the responder's decision: all candidates and abstract sizes, each with its readings."""
        node, most = real.node, most_of(real.node, state)
        menus = [self._menu(real.node, state, one.node) for one in real.readings]
        offered: tuple[Size, ...] = tuple(size for menu in menus for _, size in menu.values())
        if left >= 1 and not state.all_in:
            offered += self.candidates(node.street, node.player, state.raises > 0)
        plain = [Action("fold"), Action("call")] if state.raises else [Action("check")]
        amounts = {} if state.all_in else chips_of(self.spot, node, state, offered)
        sized = [sized_action(state, amount, most, amounts[amount]) for amount in sorted(amounts)]
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
        return self._act(real, state, chosen, lambda a: left - (a.amount > 0 and a.amount not in known))

    def _menu(
        self, node: BettingNode, state: BettingState, abstract: BettingNode | None
    ) -> dict[float, tuple[int, Size]]:
        """Convert the sizes of an abstract decision to real amounts: action number and rule, by amount.

        If several sizes give the same amount, all-in has priority, then the smallest.
        """
        if abstract is None or state.all_in:
            return {}
        by_amount: dict[float, tuple[int, Size]] = {}
        sized = [(number, rule_of(action)) for number, action in enumerate(abstract.actions) if action.amount]
        for number, size in sorted(sized, key=lambda one: one[1].kind != ALL_IN):
            (amount,) = chips_of(self.spot, node, state, (size,))
            by_amount.setdefault(amount, (number, size))
        return by_amount

    def _act(
        self, real: Real, state: BettingState, chosen: dict[Action, list[Reading]], left: Callable[[Action], float]
    ) -> list[tuple[Real, BettingState, float]]:
        order = sorted(chosen, key=lambda action: (action.amount, action.kind != "fold"))
        made: list[tuple[Real, BettingState, float]] = []
        for action in order:
            node, after = act(self.spot, real.node, state, action)
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
    """Return None instead of a reading that is not a decision, if ``node`` is a decision."""
    return None if abstract is not None and node.kind == DECISION and abstract.kind != DECISION else abstract


def _after(abstract: BettingNode | None, kind: str) -> BettingNode | None:
    """Return the abstract node after an action without a size."""
    if abstract is None:
        return None
    matching = [child for action, child in zip(abstract.actions, abstract.children, strict=True) if action.kind == kind]
    return matching[0] if matching else None


def _is_abstract(spot: Spot, abstract: BettingNode | None, action: Action) -> bool:
    """Whether an action, in chips, is one of the abstract decision."""
    return abstract is not None and any(
        (known.kind, spot.chips(known.amount)) == (action.kind, action.amount) for known in abstract.actions
    )


def rule_of(action: Action) -> Size:
    """Return the rule of a bet or raise of a betting tree."""
    if action.size is None:
        raise ValueError(f"{action.name} has no size.")
    return action.size
