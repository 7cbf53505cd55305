"""Menus by line: the bets at every decision of a betting tree, read from a spot or written into one."""

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
"""Largest number of decisions of a tree that is written by line; whole flops with rich menus have fewer."""


class MenuNode(NamedTuple):
    """A node of the betting, in chips, with the line that leads to it."""

    node: BettingNode
    state: BettingState
    line: Line  # amounts in the unit of the spot
    path: tuple[int, ...]  # chips of the player since the start, after each action but folds

    @property
    def before(self) -> int:
        """Chips that each player put in on earlier streets."""
        return int(self.node.paid + self.node.to_call - self.node.faced)


Menu = Callable[[MenuNode], Iterable[int]]
"""Function from a decision to its amounts put in on the street, in chips; none if the opponent is all-in."""


def usual(spot: Spot) -> Menu:
    """Return the menus of a spot without ``line_sizes``."""
    return lambda step: (int(a.amount) for a in legal_actions(spot, step.node, step.state) if a.amount)


def walk(spot: Spot, menu: Menu) -> Iterator[tuple[MenuNode, list[int]]]:
    """Yield all nodes but chance nodes, with the amounts offered at each, smallest first; parents come first."""
    if spot.board_classes and spot.line_sizes:
        raise ParameterError(
            "Sizes by class of cards (board_classes) cannot be written in other programs' formats; --to treeplex keeps"
            " all of the spot."
        )
    plain = replace(spot, line_sizes={}, board_classes=False)
    root, first = start(plain)
    waiting, decisions = [MenuNode(root, first, (), ())], 0
    while waiting:
        step = waiting.pop()
        node, state = step.node, step.state
        while node.kind == CHANCE:
            node, state = deal(plain, node, state)
        step = step._replace(node=node, state=state)
        if node.kind != DECISION:
            yield step, []
            continue
        decisions += 1
        if decisions > MOST_DECISIONS:
            raise ParameterError(
                f"The betting tree has more than {MOST_DECISIONS:,} decisions, too many to write line by line; give"
                " fewer sizes."
            )
        amounts = sorted(set(menu(step)))
        yield step, amounts
        waiting += reversed([_after(plain, step, action) for action in _actions(spot, step, amounts)])


def with_menus(spot: Spot, menu: Menu) -> Spot:
    """Return the spot with these menus, with ``line_sizes`` where its own menus differ."""
    base = replace(spot, line_sizes={}, add_allin_threshold=0.0, force_allin_threshold=0.0, merging_threshold=0.0)
    offered, lines = usual(base), dict[str, str]()
    for step, amounts in walk(base, menu):
        if step.node.kind == DECISION and not step.state.all_in and amounts != sorted(offered(step)):
            lines[line_text(step.line)] = _texts(base, step, amounts)
    return replace(base, line_sizes=lines)


def same_tree(first: Spot, second: Spot) -> bool:
    """Whether two spots offer the same amounts at every decision."""
    return list(menus(first)) == list(menus(second))


def menus(spot: Spot) -> Iterator[tuple[tuple[int, ...], list[int]]]:
    """Yield the path and the offered amounts of every decision of a spot."""
    for step, amounts in walk(spot, offers(spot)):
        if step.node.kind == DECISION:
            yield step.path, amounts


def offers(spot: Spot) -> Menu:
    """Return the menus of a spot, including those of single lines."""

    def menu(step: MenuNode) -> Iterable[int]:
        at = replace(step.state, line=line_text(step.line))
        return (int(a.amount) for a in legal_actions(spot, step.node, at) if a.amount)

    return menu


def _actions(spot: Spot, step: MenuNode, amounts: list[int]) -> list[Action]:
    """Return fold and call, or check, and the sizes, in chips."""
    passive = [Action("fold"), Action("call")] if step.state.raises else [Action("check")]
    most = most_of(step.node, step.state)
    return passive + [sized_action(step.state, amount, most, Size(CHIPS, amount)) for amount in amounts]


def _after(spot: Spot, step: MenuNode, action: Action) -> MenuNode:
    node, state = act(spot, step.node, step.state, action)
    line = (*step.line, replace(action, amount=spot.amount(int(action.amount))))
    if action.kind == "fold":
        return MenuNode(node, state, line, step.path)
    total = step.before + int(action.amount or step.node.faced)
    return MenuNode(node, state, line, (*step.path, total))


def _texts(spot: Spot, step: MenuNode, amounts: list[int]) -> str:
    """Return the text of sizes for these amounts: chips on top of the bet that is faced, or all-in."""
    most = most_of(step.node, step.state)
    return ", ".join(
        "a" if amount == most else f"{format_amount(spot.amount(int(amount - step.node.faced)))}c" for amount in amounts
    )
