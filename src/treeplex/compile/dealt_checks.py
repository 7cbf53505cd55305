"""Refusals of dealt rules that are no rules of a game."""

from __future__ import annotations

import numpy as np

from treeplex.arrays import Floats
from treeplex.errors import GameError
from treeplex.games.dealt import DealtRules, Public

TOLERANCE = 1e-9


def check_labels(rules: DealtRules) -> None:
    """Every hand has a label of its own."""
    for player, labels in enumerate(rules.hands()):
        if len(set(labels)) != len(labels) or not labels:
            raise GameError(f"{rules.name} must give player {player} hands with labels that differ, at least one.")


def check_deal(rules: DealtRules, deal: Floats) -> None:
    """The deal is a probability distribution over pairs of hands."""
    first, second = (len(labels) for labels in rules.hands())
    if deal.shape != (first, second):
        raise GameError(f"{rules.name} must give deal() the shape {first} x {second} of its hands, got {deal.shape}.")
    if not np.all(deal >= 0.0) or not abs(float(deal.sum()) - 1.0) <= TOLERANCE:
        raise GameError(f"{rules.name} has a deal() that is not a distribution: its entries add up to {deal.sum():g}.")


def check_odds(rules: DealtRules, public: Public, odds: Floats, deal: Floats) -> None:
    """The public cards are a probability distribution for every pair of hands that can be dealt."""
    cards = len(rules.actions(public))
    if odds.shape != (cards, *deal.shape):
        raise GameError(
            f"{rules.name} must give odds() the shape {(cards, *deal.shape)} at {public}, got {odds.shape}."
        )
    totals = odds.sum(axis=0)[deal > 0.0]
    if not np.all(odds >= 0.0) or not np.all(np.abs(totals - 1.0) <= TOLERANCE):
        wrong = totals[np.argmax(np.abs(totals - 1.0))]
        raise GameError(
            f"{rules.name} has odds() at {public} that are no distribution: for some hands they add up to {wrong:g}."
        )
