"""Value and NashConv of strategies on a hold'em spot, from passes of any engine."""

from __future__ import annotations

from collections.abc import Callable

from treeplex.arrays import Floats
from treeplex.engines.boards.arrays import BEST, VALUE
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.evaluation import Evaluation

Passes = list[tuple[int, int]]
"""Player and mode (``BEST`` or ``VALUE``) of each pass."""

FindValues = Callable[[Passes], Floats]
"""Runs passes: [passes, H] values of the hands of each pass's player at the root."""


def pot_shares(game: HoldemGame, passes: Passes, values: Floats) -> list[float]:
    """Chips that the player of each pass takes of the pot on average."""
    weights = [game.weights(player) for player, _ in passes]
    totals = [float(row[: len(own)] @ own) for row, own in zip(values, weights, strict=True)]
    return [game.spot.pot / 2 + game.spot.chip * (total / game.combinations) for total in totals]


def evaluate_passes(game: HoldemGame, find: FindValues) -> Evaluation:
    """Value and NashConv in chips.

    At a decision whose strategy is locked, a best response plays that strategy, too. With rake, NashConv is still the
    sum of both gains, but the value is only what these two strategies give to player 0.
    """
    passes = [(0, BEST), (1, BEST), (0, VALUE), (1, VALUE)]
    passes = passes[:3] if game.zero_sum else passes
    first, second, value, *rest = pot_shares(game, passes, find(passes))
    other = game.spot.pot - value if game.zero_sum else rest[0]
    return Evaluation(value, max(first + second - value - other, 0.0), (first, second))
