"""Train against a solution: hands dealt from the ranges, the opponent's actions and cards sampled, decisions graded.

A question is a dictionary with the whole state of the hand, so the trainer stores nothing between calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

import numpy as np

from treeplex.errors import ParameterError, non_negative, quoted
from treeplex.games.holdem.betting import CHANCE, DECISION, FOLD
from treeplex.games.holdem.cards import HAND_CARDS, HANDS, card_name, hand_name, hand_number, parse_card
from treeplex.games.holdem.spot import PLAYERS
from treeplex.poker.browse.lines import actions_at, after_card, crumbs, extended, next_cards, pot_at, word
from treeplex.poker.browse.nodes import common_fields
from treeplex.poker.views.equity import compatible
from treeplex.poker.views.lines import Position, decision_at, follow
from treeplex.poker.views.reader import Reader, shares_of

FINE: Final = 0.005  # fraction of the pot: no action is better by more than this
INACCURATE: Final = 0.02
UNKNOWN: Final = "unknown"  # the verdict on an action to which the solution has no reply: it is not graded
FIELDS: Final = ("line", "hand", "opponent", "player", "seed", "number")


class QuestionDeal(NamedTuple):
    """The deal that a question encodes."""

    player: int
    hands: tuple[int, int]  # both players'
    seed: int
    number: int  # of hands dealt with this seed


def question(reader: Reader, player: str, seed: int, number: int) -> dict[str, Any]:
    """Deal a hand and play to the first decision of ``player``; deal again if there is none."""
    if player not in PLAYERS:
        raise ParameterError(f"The 'player' parameter must be oop or ip, got {quoted(player)}.")
    seed, number = non_negative("seed", seed), non_negative("number", number)
    for attempt in range(number, number + 1000):
        hands = _dealt(reader, np.random.default_rng([seed, attempt]))
        first = _advance(reader, QuestionDeal(PLAYERS.index(player), hands, seed, attempt), "")
        if "hand" in first:
            return first
    raise ParameterError(f"The player {player} never gets to act in this solution; choose the other player.")


def mark(reader: Reader, fields: Mapping[str, Any], action: int) -> dict[str, Any]:
    """Return the EV of the chosen action and of the others, a verdict, and the next question or result."""
    deal, line = _read(reader, fields)
    position = follow(reader.game, line)
    if position.node.kind != DECISION or position.node.player != deal.player:
        raise ParameterError(f"The 'line' {quoted(line)} of the question does not lead to a decision of its player.")
    if isinstance(action, bool) or not 0 <= action < len(position.node.actions):
        raise ParameterError(
            f"The 'action' parameter must be from 0 to {len(position.node.actions) - 1}, got {quoted(action)}."
        )
    view, hand = reader.at(line), deal.hands[deal.player]
    values, pot = view.ev[:, hand], pot_at(reader.game, position.node)
    known = ~np.isnan(values)
    lost = float(np.nanmax(values) - values[action]) if known[action] else 0.0
    after = extended(line, word(reader.game, position.node, action))
    return {
        "chosen": action,
        "ev": [float(x) if is_known else None for x, is_known in zip(values, known, strict=True)],
        "best": int(np.nanargmax(values)) if known.any() else None,
        "lost": lost,
        "lost_percent_of_pot": 100.0 * lost / pot,
        "frequencies": [float(x) for x in view.strategy[:, hand]],
        "verdict": verdict(lost / pot, reader.accuracy) if known[action] else UNKNOWN,
        "next": _advance(reader, deal, after),
    }


def verdict(lost: float, accuracy: float) -> str:
    """Return a word for the EV loss of an action, a fraction of the pot."""
    if lost <= accuracy:
        return "best"
    return "fine" if lost <= FINE else "inaccurate" if lost <= INACCURATE else "mistake"


def _dealt(reader: Reader, chance: np.random.Generator) -> tuple[int, int]:
    """Draw both hands by weight, without a shared card."""
    first, second = (reader.game.spot.weights(player) for player in (0, 1))
    joint = first * compatible(second)
    ours = int(chance.choice(HANDS, p=joint / joint.sum()))
    theirs = np.where(np.isin(HAND_CARDS, HAND_CARDS[ours]).any(axis=1), 0.0, second)
    return ours, int(chance.choice(HANDS, p=theirs / theirs.sum()))


def _advance(reader: Reader, deal: QuestionDeal, line: str) -> dict[str, Any]:
    """Play the opponent's actions and deal cards until the player acts or the hand is over."""
    game, dealt = reader.game, [int(card) for hand in deal.hands for card in HAND_CARDS[hand]]
    position = follow(game, line)
    while True:
        kind = position.node.kind
        if kind == DECISION and position.node.player == deal.player:
            return _question(reader, position, deal)
        steps, line = crumbs(game, position)
        chance = np.random.default_rng([deal.seed, deal.number, len(steps) + 1])
        if kind == DECISION:
            decision, other = decision_at(game, position), 1 - deal.player
            shares = reader.expand(reader.strategy(decision, position), position, other)[:, deal.hands[other]]
            action = int(chance.choice(len(shares), p=shares / shares.sum()))
            line = extended(line, word(game, position.node, action))
            position = follow(game, line)
        elif kind == CHANCE:
            line, position = after_card(game, line, int(chance.choice(next_cards(position, dealt))))
        else:
            return _over(reader, position, deal, line)


def _question(reader: Reader, position: Position, deal: QuestionDeal) -> dict[str, Any]:
    node = common_fields(reader.game, position)
    node["actions"] = actions_at(reader.game, position.node, node["line"])
    return {
        "line": node["line"],
        "hand": hand_name(deal.hands[deal.player]),
        "opponent": f"{deal.hands[1 - deal.player]:x}",
        "player": PLAYERS[deal.player],
        "seed": deal.seed,
        "number": deal.number,
        "node": node,
    }


def _over(reader: Reader, position: Position, deal: QuestionDeal, line: str) -> dict[str, Any]:
    """Return the end of a hand: its result and the chips that the player wins from the pot."""
    game, node, spot = reader.game, position.node, reader.game.spot
    pot = pot_at(game, node)
    if node.kind == FOLD:
        won, how = (0.0 if node.player == deal.player else 1.0), f"{PLAYERS[node.player]} folds"
    else:
        reach = [np.zeros(HANDS), np.zeros(HANDS)]
        for player in (0, 1):
            reach[player][deal.hands[player]] = 1.0
        mine, theirs = reach[deal.player], reach[1 - deal.player]
        equity = reader.equities.at(position, deal.player, mine, theirs)
        won = float(np.nansum(shares_of(mine, theirs) * equity))
        how = "showdown"
    return {
        "result": how,
        "line": line,
        "board": [card_name(card) for card in position.cards],
        "hands": {name: hand_name(hand) for name, hand in zip(PLAYERS, deal.hands, strict=True)},
        "won": won * (pot - spot.rake(pot)),
        "pot": pot,
    }


def _read(reader: Reader, fields: Mapping[str, Any]) -> tuple[QuestionDeal, str]:
    """Validate a question that comes back; return its deal and line."""
    missing = next((name for name in FIELDS if name not in fields), None)
    if missing is not None:
        raise ParameterError(f"The field '{missing}' of the question is missing.")
    name, text, player = fields["hand"], fields["opponent"], fields["player"]
    if player not in PLAYERS:
        raise ParameterError(f"The 'player' of the question must be oop or ip, got {quoted(player)}.")
    if not isinstance(name, str) or len(name) != 4:
        raise ParameterError(f"The 'hand' of the question must be two cards such as AsKh, got {quoted(name)}.")
    first, second = parse_card(name[:2]), parse_card(name[2:])
    try:
        opponent = int(str(text)[:8], 16)
    except ValueError:
        opponent = -1
    if first == second or not 0 <= opponent < HANDS:
        raise ParameterError("The question does not name two hands; request a new question.")
    mine, who = hand_number(first, second), PLAYERS.index(player)
    hands = (mine, opponent) if who == 0 else (opponent, mine)
    position = follow(reader.game, fields["line"])
    cards = [*HAND_CARDS[mine].tolist(), *HAND_CARDS[opponent].tolist(), *position.cards]
    if len(set(cards)) < len(cards):
        raise ParameterError("The hands of the question share a card with each other or with the board.")
    seed, number = (non_negative(key, fields[key]) for key in ("seed", "number"))
    return QuestionDeal(who, hands, seed, number), fields["line"]
