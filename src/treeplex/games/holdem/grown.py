"""A spot with one more size at one decision, with fewer, or with board classes: what a growing abstraction becomes.

Menus of single decisions stand in the ``line_sizes`` of the spot, so a grown spot is a spot like any other.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from typing import Any, NamedTuple

from treeplex.games.holdem.betting import (
    CHANCE,
    DECISION,
    Action,
    BettingNode,
    BettingState,
    act,
    below_card,
    card_word,
    card_words,
    chips_of,
    deal,
    menu_at,
    most_of,
    pot_after_call,
    sized_action,
    start,
)
from treeplex.games.holdem.classes import following
from treeplex.games.holdem.sizes import Size, text_of
from treeplex.games.holdem.spot import Spot
from treeplex.games.holdem.translation import rule_of
from treeplex.games.mapping import reading_shares

Line = tuple[Action, ...]
"""Actions from the start, and words for cards where the spot tells classes apart; amounts in the unit of the spot."""


class SpotWithSize(NamedTuple):
    """A spot with a new size, the action that it is, and the action whose menus it took over."""

    spot: Spot
    action: Action
    closest: Action | None  # None: nothing could be bet there


def line_text(line: Line) -> str:
    """As people write it."""
    return ", ".join(action.name for action in line)


def with_size(spot: Spot, root: BettingNode, line: Line, size: Size) -> SpotWithSize:
    """The spot in which a size may be bet at the decision that ``line`` leads to; ``root``: of its betting tree.

    What follows the new size has the menus of what follows the size that it is most likely read as.
    """
    node, moment = _walk(spot, line)
    source = decision_at(root, line)
    (chips,) = chips_of(spot, node, moment, (size,))
    new = sized_action(moment, chips, most_of(node, moment), size)
    sized = {spot.chips(action.amount): number for number, action in enumerate(source.actions) if action.amount}
    lines = dict(spot.line_sizes)
    menu = [rule_of(action) for action in source.actions if action.amount]
    lines[line_text(line)] = _texts([*menu, rule_of(new)])
    action = replace(new, amount=spot.amount(int(chips)))
    if not sized:
        return SpotWithSize(replace(spot, line_sizes=lines), action, None)
    shares = reading_shares(sorted(sized), chips, node.faced, pot_after_call(spot, node))
    closest = sized[int(max(shares, key=lambda one: one[1])[0])]
    if source.actions[closest].kind != "all-in":  # behind which nothing could be bet
        child, after = act(spot, node, moment, new)
        _take_over(replace(spot, line_sizes={}), source.children[closest], child, after, (*line, action), lines)
    return SpotWithSize(replace(spot, line_sizes=lines), action, source.actions[closest])


def without_sizes(spot: Spot, root: BettingNode, sizes: Iterable[tuple[Line, Action]]) -> Spot:
    """The spot in which sizes may not be bet at the decisions that their lines lead to, nor anything behind them."""
    lines = dict(spot.line_sizes)
    leaving: dict[Line, set[Action]] = {}
    for line, action in sizes:
        leaving.setdefault(line, set()).add(action)
    for line, actions in leaving.items():
        menu = decision_at(root, line).actions
        lines[line_text(line)] = _texts([rule_of(each) for each in menu if each.amount and each not in actions])
    gone = {line_text((*line, action)) for line, actions in leaving.items() for action in actions}
    behind = {text for text in lines if any(text == start or text.startswith(f"{start}, ") for start in gone)}
    return replace(spot, line_sizes={text: menu for text, menu in lines.items() if text not in behind})


def decision_at(root: BettingNode, line: Line) -> BettingNode:
    """The decision that a line leads to in a betting tree."""
    return path_to(root, line)[-1]


def path_to(root: BettingNode, line: Line) -> list[BettingNode]:
    """The nodes from the root to that decision; cards that a line does not tell apart do not matter."""
    way = [root]
    for action in line:
        way.append(way[-1].children[way[-1].actions.index(action)])
        while way[-1].kind == CHANCE and not way[-1].actions:
            way.append(way[-1].children[0])
    return way


def with_classes(spot: Spot) -> Spot:
    """The same game with board classes: sizes of single decisions hold behind cards of every class."""
    if spot.board_classes:
        return spot
    lines: dict[str, str] = {}
    for line, sizes in spot.line_sizes.items():
        found, checks = [((), ())], 0  # words, and the classes among them
        for word in filter(None, line.split(", ")):
            checks = checks + 1 if word == "check" else 0
            found = [((*words, word), dealt) for words, dealt in found]
            if word == "call" or checks == 2:
                checks = 0
                found = [
                    ((*words, card_word(name).name), (*dealt, name))
                    for words, dealt in found
                    for name in following(spot.cards, dealt)
                ]
        lines |= dict.fromkeys((", ".join(words) for words, _ in found), sizes)
    return replace(spot, line_sizes=lines, board_classes=True)


def _texts(menu: list[Size]) -> str:
    return ", ".join(dict.fromkeys(text_of(size) for size in menu))


def _take_over(
    spot: Spot, source: BettingNode, node: BettingNode, moment: BettingState, line: Line, lines: dict[str, Any]
) -> None:
    """Write into ``lines`` the menus below ``node`` that differ from those of the spot, as below ``source``."""
    waiting = [(source, node, moment, line)]
    while waiting:
        source, node, moment, line = waiting.pop()
        if node.kind == CHANCE:
            for word in card_words(spot, moment) or (None,):
                child, after = deal(spot, node, moment, word)
                below = below_card(source, word) if source.kind == CHANCE else source
                waiting.append((below, child, after, line if word is None else (*line, word)))
        elif node.kind == DECISION and source.kind == DECISION and not moment.all_in:
            menu = tuple(rule_of(action) for action in source.actions if action.amount)
            usual = menu_at(spot, node, moment)
            pairs = list(zip(source.actions, source.children, strict=True))
            by_size = {rule_of(action): (action, child) for action, child in pairs if action.amount}
            plain = {action.kind: child for action, child in pairs if not action.amount}
            if chips_of(spot, node, moment, menu) != chips_of(spot, node, moment, usual) and (menu or usual):
                lines[line_text(line)] = _texts(list(menu))
            amounts = chips_of(spot, node, moment, menu)
            first = [Action("fold"), Action("call")] if moment.raises else [Action("check")]
            sized = [(a, sized_action(moment, a, most_of(node, moment), amounts[a])) for a in sorted(amounts)]
            for action in first:
                child, after = act(spot, node, moment, action)
                waiting.append((plain.get(action.kind, source), child, after, (*line, action)))
            for chips, action in sized:
                child, after = act(spot, node, moment, action)
                told = replace(action, amount=spot.amount(int(chips)))
                known, below = by_size[amounts[chips]]
                if known.kind != "all-in" or action.kind == "all-in":
                    waiting.append((below, child, after, (*line, told)))


def _walk(spot: Spot, line: Line) -> tuple[BettingNode, BettingState]:
    """The decision that a line leads to, in chips."""
    node, moment = start(spot)
    for action in line:
        told = replace(action, amount=spot.chips(action.amount))
        node, moment = deal(spot, node, moment, action) if node.kind == CHANCE else act(spot, node, moment, told)
        while node.kind == CHANCE and not card_words(spot, moment):
            node, moment = deal(spot, node, moment)
    return node, moment
