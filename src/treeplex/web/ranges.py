"""Ranges in all forms: text, the 169 weights of a grid, weights of single hands."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from treeplex.arrays import Floats
from treeplex.errors import ParameterError, quoted
from treeplex.games.holdem.cards import HANDS, RANKS, hand_name
from treeplex.games.holdem.money import share
from treeplex.games.holdem.ranges import class_hands, format_range, parse_range
from treeplex.plots.grid import SIDE, class_name

CELLS = [class_name(row, column) for row in range(SIDE) for column in range(SIDE)]
"""The classes of a grid row by row, aces first."""

MEMBERS = [class_hands(RANKS.index(name[0]), RANKS.index(name[1]), name[2:]) for name in CELLS]


def range_of(text: str | None, weights: Sequence[Any] | None, hands: Mapping[str, Any] | None) -> Floats:
    """Return the weights [1326] of a range in one of three forms."""
    if sum(each is not None for each in (text, weights, hands)) != 1:
        raise ParameterError("A range needs exactly one of 'text', 'weights' and 'hands'.")
    if text is not None:
        return parse_range(text) if text.strip() else np.zeros(HANDS)
    return _of_classes(weights) if weights is not None else _of_hands(hands or {})


def forms(weights: Floats) -> dict[str, Any]:
    """Return a range in every form; the weight of a class is the mean over its hands."""
    some = np.flatnonzero(weights).tolist()
    return {
        "text": format_range(weights),
        "weights": [round(float(weights[hands].mean()), 12) for hands in MEMBERS],
        "hands": {hand_name(hand): float(weights[hand]) for hand in some},
        "combos": float(weights.sum()),
    }


def _of_classes(class_weights: Sequence[Any]) -> Floats:
    if len(class_weights) != len(CELLS):
        raise ParameterError(
            f"The 'weights' of a range must be {len(CELLS)} numbers from 0 to 1, got {len(class_weights)}."
        )
    by_hand = np.zeros(HANDS)
    for name, hands, weight in zip(CELLS, MEMBERS, class_weights, strict=True):
        by_hand[hands] = share(f"weight of {name}", weight)
    return by_hand


def _of_hands(hand_weights: Mapping[str, Any]) -> Floats:
    by_hand = np.zeros(HANDS)
    for name, weight in hand_weights.items():
        hands = np.flatnonzero(parse_range(name, "hands"))
        if len(hands) != 1:
            raise ParameterError(f"The 'hands' of a range must be single hands such as AsKs, got {quoted(name)}.")
        by_hand[hands] = share(f"weight of {name}"[:60], weight)
    return by_hand
