"""The betting tree of a spot, which does not depend on the cards.

Chips are whole, and all rules count in chips. The finished tree has amounts in the unit of the spot. The pot that a
size refers to is the pot after calling the bet that is faced. Raises have no cap other than the stack.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Final

from treeplex.errors import GameError, ParameterError, quoted
from treeplex.games.holdem.classes import Classes, following
from treeplex.games.holdem.money import format_amount
from treeplex.games.holdem.sizes import ALL_IN, CHIPS, EVERY, GEOMETRIC, MINIMUM, MULTIPLE, POT, Size
from treeplex.games.holdem.spot import STREETS, Spot
from treeplex.system import available

NODE_BYTES: Final = 1000  # approximate memory of a node and its actions in Python
DECISION: Final = "decision"
CHANCE: Final = "chance"
FOLD: Final = "fold"
SHOWDOWN: Final = "showdown"
CARDS_IN_LINES: Final = ("without cards", 'with the class of each card: "[flush]", "[pair]", "[over]" or "[other]"')
NOTHING: Final = "nothing"
"""Kind of a terminal that pays nothing, in a part of a game from which the rest is left out."""


@dataclass(frozen=True)
class Action:
    """An action of a player. ``amount``: the total put in on this street, for bets and raises.

    ``size``: the rule that the amount comes from. Two actions of the same amount are equal, also if their rules differ.
    A chance node that distinguishes classes of cards has them as actions: ``[pair]``.
    """

    kind: str  # "fold", "check", "call", "bet", "raise", "all-in", or a card: "[flush]", "[pair]", "[over]", "[other]"
    amount: float = 0
    size: Size | None = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """The action as people write it, such as ``bet 50``."""
        return f"{self.kind} {format_amount(self.amount)}" if self.amount else self.kind


@dataclass
class BettingNode:
    """A public node. ``paid``: the chips that each player has put in since the start and the other has matched."""

    kind: str
    street: int  # 0 flop, 1 turn, 2 river
    paid: float
    player: int = -1  # player to act, or who has folded
    faced: float = 0  # chips that the bettor has put in on this street, if there is a bet to call
    to_call: float = 0  # cost of a call
    actions: list[Action] = field(default_factory=list[Action])
    children: list[BettingNode] = field(
        default_factory=list["BettingNode"]
    )  # one per action; one behind a chance node without actions


@dataclass(frozen=True)
class BettingState:
    """The parts of the history of a node that the rules depend on."""

    left: tuple[float, float]  # both stacks
    raises: int = 0  # bets and raises on this street
    opened: bool = False  # whether a player has acted on this street
    donk: bool = False  # whether the player out of position called the last bet of the previous street
    all_in: bool = False
    line: str = ""  # the actions so far, as people write them
    dealt: Classes = ()  # classes of the cards so far, if the spot distinguishes them


def betting_tree(spot: Spot, most: float = math.inf) -> BettingNode:
    """Build the tree of all lines of betting from the start of the spot.

    Raises GameError as soon as the tree has more than ``most`` nodes, or does not fit in memory.
    """
    root, first = start(spot)
    waiting, lines, nodes = [(root, first)], set(spot.line_sizes), 0
    most = min(most, available() // NODE_BYTES)
    while waiting:
        nodes += 1
        if nodes + len(waiting) > most:
            raise GameError(
                f"The betting of this spot has more than {most:,.0f} nodes, which is too many here; choose fewer or"
                " larger bet sizes."
            )
        node, state = waiting.pop()
        if node.kind == CHANCE:
            node.actions = card_words(spot, state)
            made = [deal(spot, node, state, word) for word in node.actions or (None,)]
            node.children = [child for child, _ in made]
            waiting.extend(made)
        elif node.kind == DECISION:
            lines.discard(state.line)
            node.actions = legal_actions(spot, node, state)
            made = [act(spot, node, state, action) for action in node.actions]
            node.children = [child for child, _ in made]
            waiting.extend(made)
    if lines:
        raise ParameterError(
            f"The 'line_sizes' of a spot name {quoted(min(lines))}, where no player acts; lines are actions in full,"
            f' such as "check, bet 50", {CARDS_IN_LINES[spot.board_classes]}.'
        )
    tell_in_units(spot, root)
    return root


def start(spot: Spot) -> tuple[BettingNode, BettingState]:
    """Return the first decision, before any action, in chips."""
    stack = spot.chips(spot.effective_stack)
    return BettingNode(DECISION, STREETS.index(spot.street), 0, player=0), BettingState((stack, stack))


def tell_in_units(spot: Spot, root: BettingNode) -> None:
    """Convert chips to amounts in the spot's unit, in place."""
    if spot.chip == 1:
        return
    waiting = [root]
    while waiting:
        node = waiting.pop()
        node.paid, node.faced, node.to_call = (spot.amount(int(n)) for n in (node.paid, node.faced, node.to_call))
        node.actions = [replace(action, amount=spot.amount(int(action.amount))) for action in node.actions]
        waiting += node.children


def card_words(spot: Spot, state: BettingState) -> list[Action]:
    """Return the classes of the next card at a chance node, if the spot has classes and a bet may follow."""
    if state.all_in or not spot.board_classes:
        return []
    return [card_word(name) for name in following(spot.cards, state.dealt)]


def card_word(name: str) -> Action:
    """Return the action of a chance node for a class of cards."""
    return Action(f"[{name}]")


def below_card(node: BettingNode, word: Action | None) -> BettingNode:
    """Return the child of a chance node for a class of cards, or its only child."""
    return node.children[node.actions.index(word) if node.actions and word is not None else 0]


def deal(
    spot: Spot, node: BettingNode, state: BettingState, word: Action | None = None
) -> tuple[BettingNode, BettingState]:
    """Return the first node of the next street, after a card of the class ``word`` if there is one.

    After an all-in there are no more decisions.
    """
    street = node.street + 1
    if not state.all_in:
        line, dealt = state.line, state.dealt
        if word is not None:
            line, dealt = _longer(spot, line, word) if spot.line_sizes else "", (*dealt, word.kind.strip("[]"))
        after = BettingState(state.left, donk=state.donk, line=line, dealt=dealt)
        return BettingNode(DECISION, street, node.paid, player=0), after
    kind = SHOWDOWN if street == STREETS.index("river") else CHANCE
    return BettingNode(kind, street, node.paid), state


def act(spot: Spot, node: BettingNode, state: BettingState, action: Action) -> tuple[BettingNode, BettingState]:
    """Return the node after an action, in chips, still without actions and children."""
    player, other, to_call = node.player, 1 - node.player, node.to_call
    closes = SHOWDOWN if STREETS[node.street] == "river" else CHANCE
    left = list(state.left)
    if action.kind == "fold":
        child, after = BettingNode(FOLD, node.street, node.paid, player=player), state
    elif action.kind == "check":
        kind = DECISION if player == 0 else closes
        child = BettingNode(kind, node.street, node.paid, player=other if kind == DECISION else -1)
        after = BettingState(state.left, opened=True)
    elif action.kind == "call":
        left[player] -= to_call
        child = BettingNode(closes, node.street, node.paid + to_call)
        after = BettingState((left[0], left[1]), opened=True, donk=player == 0, all_in=state.all_in)
    else:
        more = action.amount - node.faced
        left[player] -= to_call + more
        child = BettingNode(DECISION, node.street, node.paid + to_call, other, action.amount, more)
        all_in = action.kind == "all-in"
        after = BettingState((left[0], left[1]), state.raises + 1, opened=True, all_in=all_in)
    if not spot.line_sizes and not spot.board_classes:
        return child, after
    line = _longer(spot, state.line, action) if spot.line_sizes else ""
    return child, replace(after, line=line, dealt=state.dealt)


def legal_actions(
    spot: Spot, node: BettingNode, state: BettingState, bets: tuple[Size, ...] | None = None
) -> list[Action]:
    """Return the legal actions at a decision, smallest bet first, in chips; ``bets`` replaces the spot's first bets."""
    pot, most = pot_after_call(spot, node), most_of(node, state)
    plain = [Action("fold"), Action("call")] if state.raises else [Action("check")]
    sizes = bets if bets and not state.raises else menu_at(spot, node, state)
    amounts = chips_of(spot, node, state, sizes)
    if not state.all_in and most <= node.faced + _rounded(pot * spot.add_allin_threshold):
        amounts.setdefault(most, Size(ALL_IN))
    legal: dict[float, Size] = {}
    for amount, size in amounts.items():
        behind = _rounded((pot + 2 * (amount - node.faced)) * spot.force_allin_threshold)
        legal.setdefault(most if most <= amount + behind else amount, size)
    remaining = _merged(sorted(legal), pot, node.faced, spot.merging_threshold)
    return plain + [sized_action(state, amount, most, legal[amount]) for amount in remaining]


def sized_action(state: BettingState, amount: float, most: float, size: Size) -> Action:
    """Return a bet, a raise or, if it is the largest amount, all-in."""
    if amount == most:
        return Action("all-in", amount, Size(ALL_IN))
    return Action("raise" if state.raises else "bet", amount, size)


def menu_at(spot: Spot, node: BettingNode, state: BettingState) -> tuple[Size, ...]:
    """Return the sizes that a spot offers at a decision."""
    if state.all_in:
        return ()
    own = spot.at_line(state.line, raises=state.raises > 0)
    if own is not None:
        return own
    street, player = STREETS[node.street], node.player
    if state.raises:
        return spot.raises(street, player)
    donks = spot.donks(street) if state.donk and not state.opened else None
    return spot.bets(street, player) if donks is None else donks


def pot_after_call(spot: Spot, node: BettingNode) -> float:
    """Pot in chips after calling the bet that is faced; sizes are fractions of it."""
    return spot.chips(spot.pot) + 2 * (node.paid + node.to_call)


def most_of(node: BettingNode, state: BettingState) -> float:
    """Largest amount that may be put in on this street, which is all-in."""
    return state.left[1 - node.player] + node.faced


def chips_of(spot: Spot, node: BettingNode, state: BettingState, sizes: tuple[Size, ...]) -> dict[float, Size]:
    """Convert sizes to legal amounts at a decision; each amount has the first size that gives it."""
    pot, most, streets = pot_after_call(spot, node), most_of(node, state), len(STREETS) - node.street
    least = min(max(node.faced + node.to_call, 1), most)
    by_amount: dict[float, Size] = {}
    for size in sizes:
        if size.kind == EVERY:
            for amount in range(int(least), int(most)):
                by_amount.setdefault(amount, Size(CHIPS, spot.amount(int(amount - node.faced))))
            by_amount.setdefault(most, Size(ALL_IN))
            continue
        amount = _amount(spot, size, state, node.faced, pot, most, streets)
        by_amount.setdefault(min(max(amount, least), most), size)
    return by_amount


def _longer(spot: Spot, line: str, action: Action) -> str:
    """Return a line with one more action, in the unit of the spot."""
    name = replace(action, amount=spot.amount(int(action.amount))).name
    return f"{line}, {name}" if line else name


def first_bets(spot: Spot, player: int, sizes: tuple[Size, ...] | None = None) -> list[Action]:
    """Return the first bets of ``player`` on the first street, for the player in position after a check.

    The check itself is not included. ``sizes`` replaces the sizes of the spot.
    """
    stack = spot.chips(spot.effective_stack)
    node = BettingNode(DECISION, STREETS.index(spot.street), 0, player=player)
    actions = legal_actions(spot, node, BettingState((stack, stack), opened=player == 1), sizes)
    return [replace(action, amount=spot.amount(int(action.amount))) for action in actions if action.amount]


def _amount(spot: Spot, size: Size, state: BettingState, bet: float, pot: float, most: float, streets: int) -> float:
    """Amount of a bet or raise in chips, before it is limited to the legal range."""
    if size.kind == POT:
        return bet + _rounded(pot * size.amount)
    if size.kind == MULTIPLE:
        return _rounded(bet * size.amount)
    if size.kind == CHIPS:
        return bet + spot.chips(size.amount)
    if size.kind == GEOMETRIC:
        left = max((int(size.amount) or streets) - max(state.raises - 1, 0), 1)
        behind = (most - bet) / pot
        fraction = ((2.0 * behind + 1.0) ** (1.0 / left) - 1.0) / 2.0
        return bet + _rounded(pot * min(fraction, size.most))
    return (
        bet if size.kind == MINIMUM else most
    )  # ``bet`` is raised to the smallest legal amount later; ``most`` is all-in


def _merged(amounts: list[float], pot: float, bet: float, threshold: float) -> list[float]:
    """Drop, from the largest X down, every Y with (1 + X) / (1 + Y) < 1 + threshold, both as fractions of the pot."""
    remaining: list[float] = []
    for amount in reversed(amounts):
        fraction = (amount - bet) / pot
        if remaining:
            bound = ((remaining[-1] - bet) / pot - threshold) / (1.0 + threshold)
            if fraction >= bound * (1.0 - 1e-12):
                continue
        remaining.append(amount)
    return remaining[::-1]


def _rounded(x: float) -> int:
    """Round to the nearest whole chip, halves up."""
    return math.floor(x + 0.5)
