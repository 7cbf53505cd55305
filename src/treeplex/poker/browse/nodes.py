"""A node as the page shows it: the way there, what every hand and class does and is worth, and both ranges."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.boards.arrays import FREE
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.boards.lines import Place, decision_at, follow
from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.betting import CHANCE, DECISION, FOLD
from treeplex.games.holdem.cards import card_name, hand_number, parse_card
from treeplex.games.holdem.ranges import class_hands
from treeplex.games.holdem.spot import PLAYERS, STREETS
from treeplex.plots.grid import RANKS, SIDE, class_name
from treeplex.poker.browse.lines import actions_at, crumbs, extended, next_cards, pot_at, stacks_of
from treeplex.poker.views.reader import Reader, shares_of
from treeplex.poker.views.view import Row, View, average, class_of

Runouts = Callable[[str], dict[str, Any]]


def node(reader: Reader, line: str, player: str | None, runouts: Runouts) -> dict[str, Any]:
    """The node that a line leads to."""
    game, place = reader.game, follow(reader.game, line)
    told = _common(game, place)
    if place.node.kind == DECISION:
        return told | _decision(reader, place, told["line"], player)[0]
    if place.node.kind == CHANCE:
        cards = [{"card": card_name(c), "line": extended(told["line"], card_name(c))} for c in next_cards(place)]
        return told | {"cards": cards, "ranges": runouts(told["line"])["ranges"]}
    if place.node.kind == FOLD:
        return told | {"result": f"{PLAYERS[place.node.player]} folds"}
    return told | {"result": "showdown", "ranges": shown_down(reader, place)}


def exploit(reader: Reader, line: str, player: str | None) -> dict[str, Any]:
    """The node, and the best response from there on, hand by hand."""
    game, place = reader.game, follow(reader.game, line)
    if place.node.kind != DECISION:
        raise ParameterError(f"The 'line' {quoted(line)} leads to no decision; choose one where a player acts.")
    told = _common(game, place)
    found, view = _decision(reader, place, told["line"], player)
    decision = decision_at(game, place)
    values = reader.ev(place, decision, view.player, view.opponent, best=True)
    known = np.where(np.isnan(values) | np.isnan(view.values), -np.inf, values)
    best, choice = known.max(axis=0), known.argmax(axis=0)
    free = np.ones(len(best), np.bool_)
    if view.actions:  # a locked hand plays what it is told, in a best response, too
        free = ~reader.locked(place, decision)
        best = np.where(free, best, np.where(np.isnan(view.played), -np.inf, view.played))
    gain = np.where(np.isfinite(best), np.maximum(best - view.played, 0.0), np.nan)
    for row in found["hands"]:
        hand = _number(row["hand"])
        row |= {
            "best": int(choice[hand]) if view.actions and free[hand] and np.isfinite(best[hand]) else None,
            "best_ev": _number_or_none(best[hand]),
            "gain": _number_or_none(gain[hand]),
        }
    return told | found | {"gain": float(np.nansum(gain * view.share))}


def _common(game: HoldemGame, place: Place) -> dict[str, Any]:
    steps, line = crumbs(game, place)
    kind = place.node.kind
    return {
        "kind": kind if kind in (DECISION, CHANCE) else "terminal",
        "line": line,
        "board": [card_name(card) for card in place.cards],
        "street": STREETS[len(place.cards) - 3],
        "pot": pot_at(game, place.node),
        "stacks": stacks_of(game, place.node),
        "to_call": place.node.to_call,
        "crumbs": steps,
    }


def _decision(reader: Reader, place: Place, line: str, player: str | None) -> tuple[dict[str, Any], View]:
    """What is told of a decision, and the view it comes from."""
    game, decision = reader.game, decision_at(reader.game, place)
    view = reader.at(line, player)
    mine, theirs = view.player, 1 - view.player
    other = reader.ev(place, decision, theirs, view.reach)
    if view.actions:
        strategy, share, opponent = view.strategy, view.share, other[0]
        ev = reader.ev(place, decision, mine, view.opponent)
    else:
        strategy = reader.expand(reader.strategy(decision, place), place, theirs)
        ev, share = other, shares_of(view.opponent, view.reach)
        opponent = (strategy * other).sum(axis=0)
    actions = actions_at(game, place.node, line)
    for k, action in enumerate(actions):
        weight = share * strategy[k]
        action |= {"frequency": float(np.nansum(weight)), "ev": average(ev[k], weight)}
    where = game.boards[place.depth].hands[decision.player].decision[place.board] + decision.number
    equity = average(view.equity, view.share)
    both = {
        mine: _range(view.reach, view.range_ev, equity, view.pot),
        theirs: _range(
            view.opponent,
            average(opponent, shares_of(view.opponent, view.reach)),
            None if equity is None else 1.0 - equity,
            view.pot,
        ),
    }
    told = {
        "to_act": PLAYERS[decision.player],
        "player": PLAYERS[mine],
        "actions": actions,
        "tolerance": view.tolerance,
        "hands": [_hand(row, view.pot) for row in view.rows()],
        "classes": _classes(view, game.spot.weights(mine)),
        "ranges": {name: both[k] for k, name in enumerate(PLAYERS)},
        "locked": bool(reader.keep().playing.frozen.where[decision.player][where] != FREE),
    }
    return told, view


def shown_down(reader: Reader, place: Place) -> dict[str, Any]:
    """Both ranges at a node after which nobody bets any more."""
    reach = [reader.reach(place, player) for player in (0, 1)]
    equity = average(reader.equities.at(place, 0, reach[0], reach[1]), shares_of(reach[0], reach[1]))
    pot = pot_at(reader.game, place.node)
    left = pot - reader.game.spot.rake(pot)
    parts = [None, None] if equity is None else [equity, 1.0 - equity]
    return {
        name: _range(reach[k], None if part is None else part * left, part, pot)
        for k, (name, part) in enumerate(zip(PLAYERS, parts, strict=True))
    }


def _range(reach: Floats, ev: float | None, equity: float | None, pot: float) -> dict[str, Any]:
    return {
        "combos": float(reach.sum()),
        "ev": ev,
        "equity": equity,
        "realisation": realisation(ev, equity, pot),
    }


def realisation(ev: float | None, equity: float | None, pot: float) -> float | None:
    """EV as a share of what equity would take of the pot."""
    return None if ev is None or not equity else ev / (equity * pot)


def _hand(row: Row, pot: float) -> dict[str, Any]:
    return _told(row, pot) | {"hand": row.hand, "class": class_of(_number(row.hand))}


def _told(row: Row, pot: float) -> dict[str, Any]:
    return {
        "reach": row.reach,
        "share": row.share,
        "strategy": row.strategy,
        "ev": row.ev,
        "value": row.value,
        "equity": row.equity,
        "realisation": realisation(row.value, row.equity, pot),
        "indifferent": row.indifferent,
    }


def _classes(view: View, weights: Floats) -> list[dict[str, Any] | None]:
    """Row by row, aces first; None where no hand of a class gets here."""
    rows = {row.hand: row for row in view.rows(by_class=True)}
    found: list[dict[str, Any] | None] = []
    for row, column in np.ndindex(SIDE, SIDE):
        name = class_name(row, column)
        if name not in rows:
            found.append(None)
            continue
        hands = class_hands(RANKS.index(name[0]), RANKS.index(name[1]), name[2:])
        start = float(weights[hands].sum())
        full = rows[name].reach / start if start > 0.0 else 0.0
        found.append({"class": name, "full": full} | _told(rows[name], view.pot))
    return found


@cache
def _number(name: str) -> int:
    return hand_number(parse_card(name[:2]), parse_card(name[2:]))


def _number_or_none(x: float) -> float | None:
    return float(x) if np.isfinite(x) else None
