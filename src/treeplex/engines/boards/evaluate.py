"""Value and NashConv of strategies on a hold'em spot, computed by passes of any engine."""

from __future__ import annotations

from collections.abc import Callable

from treeplex.arrays import Floats
from treeplex.engines.boards.arrays import BEST, VALUE
from treeplex.engines.boards.game import HoldemGame
from treeplex.engines.evaluation import Evaluation

Passes = list[tuple[int, int]]
"""Player and mode (``BEST`` or ``VALUE``) of each pass."""

FindValues = Callable[[Passes], Floats]
"""Function that runs passes and returns [passes, H] the values at the root of the hands of each pass's player."""


def pot_shares(game: HoldemGame, passes: Passes, values: Floats) -> list[float]:
    """Average number of chips of the pot that the player of each pass wins."""
    weights = [game.weights(player) for player, _ in passes]
    totals = [float(row[: len(own)] @ own) for row, own in zip(values, weights, strict=True)]
    return [game.spot.pot / 2 + game.spot.chip * (total / game.combinations) for total in totals]


def evaluate_passes(game: HoldemGame, find: FindValues) -> Evaluation:
    """Return value and NashConv in chips.

    At a decision whose strategy is locked, a best response also plays that strategy. With rake, NashConv is still the
    sum of both gains, but the value is only the EV of player 0 under these two strategies.
    """
    passes = [(0, BEST), (1, BEST), (0, VALUE), (1, VALUE)]
    passes = passes[:3] if game.zero_sum else passes
    first, second, value, *rest = pot_shares(game, passes, find(passes))
    other = game.spot.pot - value if game.zero_sum else rest[0]
    return Evaluation(value, max(first + second - value - other, 0.0), (first, second))
