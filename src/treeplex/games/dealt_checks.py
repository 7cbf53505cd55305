"""Checks of the values that dealt rules return: hands, deals, odds of public cards, payoff tables."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any, Final

import numpy as np

from treeplex.arrays import Floats
from treeplex.errors import GameError, quoted
from treeplex.games.dealt import DealtRules, Public
from treeplex.games.returned import checked_table, is_label, listed

TOLERANCE: Final = 1e-9  # of probabilities


def check_dealt(rules: DealtRules) -> None:
    """Raise GameError unless names, flags and hands are legal, with distinct labels of hands."""
    name: Any = rules.name
    if not is_label(name):
        raise GameError(f"The name of dealt rules must be text, got {quoted(name)}.")
    separator: Any = rules.separator
    if not is_label(separator):
        raise GameError(f"{name}: separator must be text, got {quoted(separator)}.")
    for attribute in ("together", "ranked"):
        value: object = getattr(rules, attribute)
        if not isinstance(value, bool | np.bool_):
            raise GameError(f"{name}: {attribute} must be True or False, got {quoted(value)}.")
    hands = listed(rules.hands())
    if hands is None or len(hands) != 2:
        raise GameError(f"{name}: hands returned {quoted(rules.hands())}; it must return two lists of labels.")
    for player, returned in enumerate(hands):
        labels = listed(returned)
        if not labels or not all(map(is_label, labels)) or len(set(labels)) != len(labels):
            raise GameError(f"{name} must give player {player} hands with labels that differ, at least one.")


def checked_deal(rules: DealtRules) -> Floats:
    """[H0, H1] checked probability distribution over pairs of hands."""
    first, second = (len(labels) for labels in rules.hands())
    deal = checked_table(rules.name, "deal", rules.deal(), lambda: "the start", (first, second))
    if not np.all(deal >= 0.0) or not abs(float(deal.sum()) - 1.0) <= TOLERANCE:
        raise GameError(f"{rules.name} has a deal() that is not a distribution: its entries add up to {deal.sum():g}.")
    return deal


def checked_odds(rules: DealtRules, public: Public, deal: Floats) -> Floats:
    """[A, H0, H1] checked probability distribution of public cards for every pair of hands that can be dealt."""
    shape = (len(rules.actions(public)), *deal.shape)
    odds = checked_table(rules.name, "odds", rules.odds(public), lambda: f"public state {quoted(public)}", shape)
    totals = odds.sum(axis=0)[deal > 0.0]
    if not np.all(odds >= 0.0) or not np.all(np.abs(totals - 1.0) <= TOLERANCE):
        wrong = totals[np.argmax(np.abs(totals - 1.0))]
        raise GameError(
            f"{rules.name} has odds() at public state {quoted(public)} that are not a distribution: for some hands they"
            f" add up to {wrong:g}."
        )
    return odds


def checked_outcome(rules: DealtRules, table: Hashable) -> Floats:
    """[H0, H1] checked payoff table that a settlement names."""
    first, second = (len(labels) for labels in rules.hands())
    return checked_table(rules.name, "outcome", rules.outcome(table), lambda: f"table {quoted(table)}", (first, second))
