"""Compare a node of two runs by the EV of each hand and by the EV that its strategy loses.

Correct solutions may differ in the frequencies of hands that are indifferent, so frequencies decide nothing.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from treeplex.arrays import Floats
from treeplex.games.holdem.cards import hand_name
from treeplex.games.holdem.spot import PLAYERS
from treeplex.poker.views.reader import Reader
from treeplex.poker.views.view import View, average, known_or_none


def compared(first: Reader, second: Reader, line: str, player: str | None) -> dict[str, Any]:
    """Compare hand by hand; regret is a strategy's EV loss against the hand's best action, by the run's own EVs."""
    views = [reader.at(line, player) for reader in (first, second)]
    regrets = [_regret(view) for view in views]
    hands = sorted({hand for view in views for hand in view.hands()}, reverse=True)
    rows = [
        {
            "hand": hand_name(hand),
            "share": [float(view.share[hand]) for view in views],
            "value": [known_or_none(view.values[hand]) for view in views],
            "strategy": [[float(p) for p in view.strategy[:, hand]] for view in views],
            "regret": [known_or_none(regret[hand]) for regret in regrets],
            "frequency_difference": _difference(views, hand),
        }
        for hand in hands
    ]
    return {
        "line": line,
        "player": PLAYERS[views[0].player],
        "pot": [view.pot for view in views],
        "actions": [[action.name for action in view.actions] for view in views],
        "totals": [list(view.totals().values()) for view in views],
        "ev": [view.range_ev for view in views],
        "regret": [average(regret, view.share) for regret, view in zip(regrets, views, strict=True)],
        "tolerance": max(view.tolerance for view in views),
        "rows": rows,
    }


def _regret(view: View) -> Floats:
    """Return the EV loss [1326] of each hand's strategy; zero for the waiting player."""
    if not view.actions:
        return np.where(np.isnan(view.values), np.nan, 0.0)
    best = np.where(np.isnan(view.ev), -np.inf, view.ev).max(axis=0)
    return np.where(np.isfinite(best), best - view.values, np.nan)


def _difference(views: list[View], hand: int) -> float | None:
    """Return half the sum of absolute differences in frequency, or None if the actions differ."""
    if views[0].actions != views[1].actions or not views[0].actions:
        return None
    return float(np.abs(views[0].strategy[:, hand] - views[1].strategy[:, hand]).sum() / 2.0)
