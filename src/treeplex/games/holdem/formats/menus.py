"""Menus by line: what may be bet at every decision of a betting tree, read from a spot or written into one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import Final, NamedTuple

from treeplex.errors import ParameterError
from treeplex.games.holdem.betting import (
    CHANCE,
    DECISION,
    Action,
    BettingNode,
    BettingState,
    act,
    deal,
    legal_actions,
    most_of,
    sized_action,
    start,
)
from treeplex.games.holdem.grown import Line, line_text
from treeplex.games.holdem.money import format_amount
from treeplex.games.holdem.sizes import CHIPS, Size
from treeplex.games.holdem.spot import Spot

MOST_DECISIONS: Final = 300_000
"""Decisions of a betting tree that is written out by line; whole flops with rich menus have fewer."""


class MenuNode(NamedTuple):
    """A node of the betting, in chips, and how it was come to."""

    node: BettingNode
    moment: BettingState
    line: Line  # amounts in the unit of the spot
    path: tuple[int, ...]  # what each action brought its player's chips since the start to, folds left out

    @property
    def before(self) -> int:
        """What both players put in on earlier streets."""
        return int(self.node.paid + self.node.to_call - self.node.faced)


Menu = Callable[[MenuNode], Iterable[int]]
"""Amounts put in on the street, in chips, that a decision is to offer; none where the opponent is all-in."""


def usual(spot: Spot) -> Menu:
    """The menus of a spot without ``line_sizes``."""
    return lambda step: (int(a.amount) for a in legal_actions(spot, step.node, step.moment) if a.amount)


def walk(spot: Spot, menu: Menu) -> Iterator[tuple[MenuNode, list[int]]]:
    """All nodes after which nothing is dealt, with the amounts offered at each, smallest first; parents first."""
    if spot.board_classes and spot.line_sizes:
        raise ParameterError(
            "Sizes by class of cards (board_classes) have no words in other programs; --to treeplex keeps all of the"
            " spot."
        )
    plain = replace(spot, line_sizes={}, board_classes=False)
    root, first = start(plain)
    waiting, decisions = [MenuNode(root, first, (), ())], 0
    while waiting:
        step = waiting.pop()
        node, moment = step.node, step.moment
        while node.kind == CHANCE:
            node, moment = deal(plain, node, moment)
        step = step._replace(node=node, moment=moment)
        if node.kind != DECISION:
            yield step, []
            continue
        decisions += 1
        if decisions > MOST_DECISIONS:
            raise ParameterError(
                f"The betting tree has more than {MOST_DECISIONS:,} decisions, too many to be told line by line; give"
                " fewer sizes."
            )
        amounts = sorted(set(menu(step)))
        yield step, amounts
        waiting += reversed([_after(plain, step, action) for action in _actions(spot, step, amounts)])


def with_menus(spot: Spot, menu: Menu) -> Spot:
    """The spot with these menus: ``line_sizes`` wherever it would offer something else."""
    base = replace(spot, line_sizes={}, add_allin_threshold=0.0, force_allin_threshold=0.0, merging_threshold=0.0)
    offered, lines = usual(base), dict[str, str]()
    for step, amounts in walk(base, menu):
        if step.node.kind == DECISION and not step.moment.all_in and amounts != sorted(offered(step)):
            lines[line_text(step.line)] = _texts(base, step, amounts)
    return replace(base, line_sizes=lines)


def same_tree(first: Spot, second: Spot) -> bool:
    """Do two spots offer the same amounts at every decision?"""
    return list(menus(first)) == list(menus(second))


def menus(spot: Spot) -> Iterator[tuple[tuple[int, ...], list[int]]]:
    """Every decision of a spot by what its actions brought each player to, and the amounts that it offers."""
    for step, amounts in walk(spot, offers(spot)):
        if step.node.kind == DECISION:
            yield step.path, amounts


def offers(spot: Spot) -> Menu:
    """The menus of a spot, those of single lines too."""

    def menu(step: MenuNode) -> Iterable[int]:
        at = replace(step.moment, line=line_text(step.line))
        return (int(a.amount) for a in legal_actions(spot, step.node, at) if a.amount)

    return menu


def _actions(spot: Spot, step: MenuNode, amounts: list[int]) -> list[Action]:
    """Fold or check, call, and the sizes; in chips."""
    passive = [Action("fold"), Action("call")] if step.moment.raises else [Action("check")]
    most = most_of(step.node, step.moment)
    return passive + [sized_action(step.moment, amount, most, Size(CHIPS, amount)) for amount in amounts]


def _after(spot: Spot, step: MenuNode, action: Action) -> MenuNode:
    node, moment = act(spot, step.node, step.moment, action)
    line = (*step.line, replace(action, amount=spot.amount(int(action.amount))))
    if action.kind == "fold":
        return MenuNode(node, moment, line, step.path)
    total = step.before + int(action.amount or step.node.faced)
    return MenuNode(node, moment, line, (*step.path, total))


def _texts(spot: Spot, step: MenuNode, amounts: list[int]) -> str:
    """Sizes that come to these amounts: chips on top of what is faced, or all-in."""
    most = most_of(step.node, step.moment)
    return ", ".join(
        "a" if amount == most else f"{format_amount(spot.amount(int(amount - step.node.faced)))}c" for amount in amounts
    )
