"""The betting tree of a spot: who may do what, whatever the cards are.

Chips are whole, and all rules count in chips; the tree tells amounts in the unit of the spot. The pot a size refers to
is the pot after calling the bet that is faced. Raises have no cap other than the stack.
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

NODE_BYTES: Final = 1000  # about what Python takes for a node and its actions
DECISION: Final = "decision"
CHANCE: Final = "chance"
FOLD: Final = "fold"
SHOWDOWN: Final = "showdown"
CARDS_IN_LINES: Final = ("without cards", 'with the class of each card: "[flush]", "[pair]", "[over]" or "[other]"')
NOTHING: Final = "nothing"
"""A terminal that pays nothing, where part of a game is played on its own and the rest is left out."""


@dataclass(frozen=True)
class Action:
    """What a player may do. ``amount``: put in on this street in total, for bets and raises.

    ``size``: the rule that the amount comes from; two actions of the same amount are the same whatever their rules.
    A chance node that tells classes of cards apart has their words for actions: ``[pair]``.
    """

    kind: str  # "fold", "check", "call", "bet", "raise", "all-in", or a card: "[flush]", "[pair]", "[over]", "[other]"
    amount: float = 0
    size: Size | None = field(default=None, compare=False, repr=False)

    @property
    def name(self) -> str:
        """As people write it."""
        return f"{self.kind} {format_amount(self.amount)}" if self.amount else self.kind


@dataclass
class BettingNode:
    """A public node. ``paid``: what each player has put in since the start and the other has matched."""

    kind: str
    street: int  # 0 flop, 1 turn, 2 river
    paid: float
    player: int = -1  # who decides, or who has folded
    faced: float = 0  # what the bettor has put in on this street, if there is a bet to call
    to_call: float = 0  # what a call costs
    actions: list[Action] = field(default_factory=list[Action])
    children: list[BettingNode] = field(
        default_factory=list["BettingNode"]
    )  # one per action; behind a chance node without any, one


@dataclass(frozen=True)
class BettingState:
    """What the rules need to know of the way to a node."""

    left: tuple[float, float]  # both stacks
    raises: int = 0  # bets and raises on this street
    opened: bool = False  # has anyone acted on this street?
    donk: bool = False  # did the player out of position call the last bet of the street before?
    all_in: bool = False
    line: str = ""  # the actions so far, as people write them
    dealt: Classes = ()  # of the cards so far, where the spot tells them apart


def betting_tree(spot: Spot, most: float = math.inf) -> BettingNode:
    """All lines of betting from the start of the spot.

    A tree of more than ``most`` nodes, or of more than memory holds, is refused while it grows.
    """
    root, first = start(spot)
    waiting, lines, nodes = [(root, first)], set(spot.line_sizes), 0
    most = min(most, available() // NODE_BYTES)
    while waiting:
        nodes += 1
        if nodes + len(waiting) > most:
            raise GameError(
                f"The betting of this spot has more than {most:,.0f} nodes, which is too much here; choose fewer or"
                " larger bet sizes."
            )
        node, moment = waiting.pop()
        if node.kind == CHANCE:
            node.actions = card_words(spot, moment)
            made = [deal(spot, node, moment, word) for word in node.actions or (None,)]
            node.children = [child for child, _ in made]
            waiting.extend(made)
        elif node.kind == DECISION:
            lines.discard(moment.line)
            node.actions = legal_actions(spot, node, moment)
            made = [act(spot, node, moment, action) for action in node.actions]
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
    """The first decision, before anybody has acted; in chips."""
    stack = spot.chips(spot.effective_stack)
    return BettingNode(DECISION, STREETS.index(spot.street), 0, player=0), BettingState((stack, stack))


def tell_in_units(spot: Spot, root: BettingNode) -> None:
    """From chips to amounts of the spot's unit, in place."""
    if spot.chip == 1:
        return
    waiting = [root]
    while waiting:
        node = waiting.pop()
        node.paid, node.faced, node.to_call = (spot.amount(int(n)) for n in (node.paid, node.faced, node.to_call))
        node.actions = [replace(action, amount=spot.amount(int(action.amount))) for action in node.actions]
        waiting += node.children


def card_words(spot: Spot, moment: BettingState) -> list[Action]:
    """What a chance node tells apart: classes that the card may be of, if the spot has them and a bet may follow."""
    if moment.all_in or not spot.board_classes:
        return []
    return [card_word(name) for name in following(spot.cards, moment.dealt)]


def card_word(name: str) -> Action:
    """A card of a class, as a line has it."""
    return Action(f"[{name}]")


def below_card(node: BettingNode, word: Action | None) -> BettingNode:
    """The child of a chance node behind a card of a class, or its only child."""
    return node.children[node.actions.index(word) if node.actions and word is not None else 0]


def deal(
    spot: Spot, node: BettingNode, moment: BettingState, word: Action | None = None
) -> tuple[BettingNode, BettingState]:
    """The next street's first node behind a card, of a class if ``word`` says so; nobody can bet after an all-in."""
    street = node.street + 1
    if not moment.all_in:
        line, dealt = moment.line, moment.dealt
        if word is not None:
            line, dealt = _longer(spot, line, word) if spot.line_sizes else "", (*dealt, word.kind.strip("[]"))
        after = BettingState(moment.left, donk=moment.donk, line=line, dealt=dealt)
        return BettingNode(DECISION, street, node.paid, player=0), after
    kind = SHOWDOWN if street == STREETS.index("river") else CHANCE
    return BettingNode(kind, street, node.paid), moment


def act(spot: Spot, node: BettingNode, moment: BettingState, action: Action) -> tuple[BettingNode, BettingState]:
    """The node after an action, in chips; it has neither actions nor children yet."""
    player, other, to_call = node.player, 1 - node.player, node.to_call
    closes = SHOWDOWN if STREETS[node.street] == "river" else CHANCE
    left = list(moment.left)
    if action.kind == "fold":
        child, after = BettingNode(FOLD, node.street, node.paid, player=player), moment
    elif action.kind == "check":
        kind = DECISION if player == 0 else closes
        child = BettingNode(kind, node.street, node.paid, player=other if kind == DECISION else -1)
        after = BettingState(moment.left, opened=True)
    elif action.kind == "call":
        left[player] -= to_call
        child = BettingNode(closes, node.street, node.paid + to_call)
        after = BettingState((left[0], left[1]), opened=True, donk=player == 0, all_in=moment.all_in)
    else:
        more = action.amount - node.faced
        left[player] -= to_call + more
        child = BettingNode(DECISION, node.street, node.paid + to_call, other, action.amount, more)
        all_in = action.kind == "all-in"
        after = BettingState((left[0], left[1]), moment.raises + 1, opened=True, all_in=all_in)
    if not spot.line_sizes and not spot.board_classes:
        return child, after
    line = _longer(spot, moment.line, action) if spot.line_sizes else ""
    return child, replace(after, line=line, dealt=moment.dealt)


def legal_actions(
    spot: Spot, node: BettingNode, moment: BettingState, bets: tuple[Size, ...] | None = None
) -> list[Action]:
    """What may be done here, smallest bet first, all in chips. ``bets``: other first bets than the spot has."""
    pot, most = pot_after_call(spot, node), most_of(node, moment)
    plain = [Action("fold"), Action("call")] if moment.raises else [Action("check")]
    sizes = bets if bets and not moment.raises else menu_at(spot, node, moment)
    amounts = chips_of(spot, node, moment, sizes)
    if not moment.all_in and most <= node.faced + _rounded(pot * spot.add_allin_threshold):
        amounts.setdefault(most, Size(ALL_IN))
    legal: dict[float, Size] = {}
    for amount, size in amounts.items():
        behind = _rounded((pot + 2 * (amount - node.faced)) * spot.force_allin_threshold)
        legal.setdefault(most if most <= amount + behind else amount, size)
    kept = _merged(sorted(legal), pot, node.faced, spot.merging_threshold)
    return plain + [sized_action(moment, amount, most, legal[amount]) for amount in kept]


def sized_action(moment: BettingState, amount: float, most: float, size: Size) -> Action:
    """A bet, a raise or, if it is all there is, all-in."""
    if amount == most:
        return Action("all-in", amount, Size(ALL_IN))
    return Action("raise" if moment.raises else "bet", amount, size)


def menu_at(spot: Spot, node: BettingNode, moment: BettingState) -> tuple[Size, ...]:
    """The sizes that a spot offers at a decision."""
    if moment.all_in:
        return ()
    own = spot.at_line(moment.line, raises=moment.raises > 0)
    if own is not None:
        return own
    street, player = STREETS[node.street], node.player
    if moment.raises:
        return spot.raises(street, player)
    donks = spot.donks(street) if moment.donk and not moment.opened else None
    return spot.bets(street, player) if donks is None else donks


def pot_after_call(spot: Spot, node: BettingNode) -> float:
    """The pot, in chips, once the bet that is faced has been called: what sizes are shares of."""
    return spot.chips(spot.pot) + 2 * (node.paid + node.to_call)


def most_of(node: BettingNode, moment: BettingState) -> float:
    """All-in: the largest amount that may be put in on this street."""
    return moment.left[1 - node.player] + node.faced


def chips_of(spot: Spot, node: BettingNode, moment: BettingState, sizes: tuple[Size, ...]) -> dict[float, Size]:
    """What sizes come to at a decision, brought into the legal range, each amount with the first size that gives it."""
    pot, most, streets = pot_after_call(spot, node), most_of(node, moment), len(STREETS) - node.street
    least = min(max(node.faced + node.to_call, 1), most)
    found: dict[float, Size] = {}
    for size in sizes:
        if size.kind == EVERY:
            for amount in range(int(least), int(most)):
                found.setdefault(amount, Size(CHIPS, spot.amount(int(amount - node.faced))))
            found.setdefault(most, Size(ALL_IN))
            continue
        amount = _amount(spot, size, moment, node.faced, pot, most, streets)
        found.setdefault(min(max(amount, least), most), size)
    return found


def _longer(spot: Spot, line: str, action: Action) -> str:
    """A line with one more action, in the unit of the spot."""
    name = replace(action, amount=spot.amount(int(action.amount))).name
    return f"{line}, {name}" if line else name


def first_bets(spot: Spot, player: int, sizes: tuple[Size, ...] | None = None) -> list[Action]:
    """What ``player`` may bet first on the first street, the player in position after a check; without the check.

    ``sizes``: instead of those of the spot.
    """
    stack = spot.chips(spot.effective_stack)
    node = BettingNode(DECISION, STREETS.index(spot.street), 0, player=player)
    actions = legal_actions(spot, node, BettingState((stack, stack), opened=player == 1), sizes)
    return [replace(action, amount=spot.amount(int(action.amount))) for action in actions if action.amount]


def _amount(spot: Spot, size: Size, moment: BettingState, bet: float, pot: float, most: float, streets: int) -> float:
    """The chips of a bet or raise, before it is brought into the legal range."""
    if size.kind == POT:
        return bet + _rounded(pot * size.amount)
    if size.kind == MULTIPLE:
        return _rounded(bet * size.amount)
    if size.kind == CHIPS:
        return bet + spot.chips(size.amount)
    if size.kind == GEOMETRIC:
        left = max((int(size.amount) or streets) - max(moment.raises - 1, 0), 1)
        behind = (most - bet) / pot
        fraction = ((2.0 * behind + 1.0) ** (1.0 / left) - 1.0) / 2.0
        return bet + _rounded(pot * min(fraction, size.most))
    return bet if size.kind == MINIMUM else most  # which is brought up to the least that is legal; all-in


def _merged(amounts: list[float], pot: float, bet: float, threshold: float) -> list[float]:
    """From the largest X down: drop every Y with (1 + X) / (1 + Y) < 1 + threshold, both as shares of the pot."""
    kept: list[float] = []
    for amount in reversed(amounts):
        share = (amount - bet) / pot
        if kept:
            bound = ((kept[-1] - bet) / pot - threshold) / (1.0 + threshold)
            if share >= bound * (1.0 - 1e-12):
                continue
        kept.append(amount)
    return kept[::-1]


def _rounded(x: float) -> int:
    """To the nearest whole chip, halves up."""
    return math.floor(x + 0.5)
