"""Steps of a growing abstraction: a spot with one more size at one decision, with fewer sizes, or with board classes.

Menus of single decisions are in the ``line_sizes`` of the spot, so a grown spot is an ordinary spot.
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
"""Actions from the start, and classes of cards if the spot has them; amounts in the unit of the spot."""


class SpotWithSize(NamedTuple):
    """A spot with a new size, the action of this size, and the action whose menus it inherits."""

    spot: Spot
    action: Action
    closest: Action | None  # None: there were no bets


def line_text(line: Line) -> str:
    """Return a line as people write it, such as ``check, bet 50``."""
    return ", ".join(action.name for action in line)


def with_size(spot: Spot, root: BettingNode, line: Line, size: Size) -> SpotWithSize:
    """Add a size at the decision that ``line`` leads to; ``root``: root of the spot's betting tree.

    Decisions behind the new size inherit the menus behind its most probable translation.
    """
    node, state = _walk(spot, line)
    source = decision_at(root, line)
    (chips,) = chips_of(spot, node, state, (size,))
    new = sized_action(state, chips, most_of(node, state), size)
    sized = {spot.chips(action.amount): number for number, action in enumerate(source.actions) if action.amount}
    lines = dict(spot.line_sizes)
    menu = [rule_of(action) for action in source.actions if action.amount]
    lines[line_text(line)] = _texts([*menu, rule_of(new)])
    action = replace(new, amount=spot.amount(int(chips)))
    if not sized:
        return SpotWithSize(replace(spot, line_sizes=lines), action, None)
    shares = reading_shares(sorted(sized), chips, node.faced, pot_after_call(spot, node))
    closest = sized[int(max(shares, key=lambda one: one[1])[0])]
    if source.actions[closest].kind != "all-in":  # behind an all-in there are no bets
        child, after = act(spot, node, state, new)
        _take_over(replace(spot, line_sizes={}), source.children[closest], child, after, (*line, action), lines)
    return SpotWithSize(replace(spot, line_sizes=lines), action, source.actions[closest])


def without_sizes(spot: Spot, root: BettingNode, sizes: Iterable[tuple[Line, Action]]) -> Spot:
    """Remove sizes at the decisions that their lines lead to, and all menus behind them."""
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
    """Return the decision that a line leads to in a betting tree."""
    return path_to(root, line)[-1]


def path_to(root: BettingNode, line: Line) -> list[BettingNode]:
    """Return the nodes from the root to the decision of a line, through all cards that the line does not mention."""
    path = [root]
    for action in line:
        path.append(path[-1].children[path[-1].actions.index(action)])
        while path[-1].kind == CHANCE and not path[-1].actions:
            path.append(path[-1].children[0])
    return path


def with_classes(spot: Spot) -> Spot:
    """Add board classes to a spot; sizes of single decisions apply behind cards of every class."""
    if spot.board_classes:
        return spot
    lines: dict[str, str] = {}
    for line, sizes in spot.line_sizes.items():
        expanded, checks = [((), ())], 0  # words, and the classes among them
        for word in filter(None, line.split(", ")):
            checks = checks + 1 if word == "check" else 0
            expanded = [((*words, word), dealt) for words, dealt in expanded]
            if word == "call" or checks == 2:
                checks = 0
                expanded = [
                    ((*words, card_word(name).name), (*dealt, name))
                    for words, dealt in expanded
                    for name in following(spot.cards, dealt)
                ]
        lines |= dict.fromkeys((", ".join(words) for words, _ in expanded), sizes)
    return replace(spot, line_sizes=lines, board_classes=True)


def _texts(menu: list[Size]) -> str:
    return ", ".join(dict.fromkeys(text_of(size) for size in menu))


def _take_over(
    spot: Spot, source: BettingNode, node: BettingNode, state: BettingState, line: Line, lines: dict[str, Any]
) -> None:
    """Copy the menus below ``source`` to ``node``, writing those that differ from the spot's into ``lines``."""
    waiting = [(source, node, state, line)]
    while waiting:
        source, node, state, line = waiting.pop()
        if node.kind == CHANCE:
            for word in card_words(spot, state) or (None,):
                child, after = deal(spot, node, state, word)
                below = below_card(source, word) if source.kind == CHANCE else source
                waiting.append((below, child, after, line if word is None else (*line, word)))
        elif node.kind == DECISION and source.kind == DECISION and not state.all_in:
            menu = tuple(rule_of(action) for action in source.actions if action.amount)
            usual = menu_at(spot, node, state)
            pairs = list(zip(source.actions, source.children, strict=True))
            by_size = {rule_of(action): (action, child) for action, child in pairs if action.amount}
            plain = {action.kind: child for action, child in pairs if not action.amount}
            if chips_of(spot, node, state, menu) != chips_of(spot, node, state, usual) and (menu or usual):
                lines[line_text(line)] = _texts(list(menu))
            amounts = chips_of(spot, node, state, menu)
            first = [Action("fold"), Action("call")] if state.raises else [Action("check")]
            sized = [(a, sized_action(state, a, most_of(node, state), amounts[a])) for a in sorted(amounts)]
            for action in first:
                child, after = act(spot, node, state, action)
                waiting.append((plain.get(action.kind, source), child, after, (*line, action)))
            for chips, action in sized:
                child, after = act(spot, node, state, action)
                in_units = replace(action, amount=spot.amount(int(chips)))
                known, below = by_size[amounts[chips]]
                if known.kind != "all-in" or action.kind == "all-in":
                    waiting.append((below, child, after, (*line, in_units)))


def _walk(spot: Spot, line: Line) -> tuple[BettingNode, BettingState]:
    """Return the decision that a line leads to, in chips."""
    node, state = start(spot)
    for action in line:
        in_chips = replace(action, amount=spot.chips(action.amount))
        node, state = deal(spot, node, state, action) if node.kind == CHANCE else act(spot, node, state, in_chips)
        while node.kind == CHANCE and not card_words(spot, state):
            node, state = deal(spot, node, state)
    return node, state
