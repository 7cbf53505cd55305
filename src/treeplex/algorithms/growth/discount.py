"""How much of the past to keep after an addition (theorem 2): the weight of all earlier iterations.

Instead of multiplying the past by w, every later iteration weighs 1 / w times as much. Strategies are the same, and no
array is touched.
"""

from __future__ import annotations

from typing import Final

import numpy as np

from treeplex.algorithms.growth.add import Added
from treeplex.algorithms.growth.where import Balance
from treeplex.engines.public.cpu.sizes import regrets
from treeplex.engines.public.game import GrowingGame
from treeplex.games.protocol import TERMINAL


def recommended(game: GrowingGame, before: Balance, added: Added, player: int) -> float:
    """Equation (22): squared positive regrets with the head's as before the addition, over those after it."""
    inside, head = _squares(added, player)
    rest = float(before.squares[player]) + inside
    return rest / (rest + head) if head > 0.0 else 1.0


def root(game: GrowingGame, before: Balance, added: Added, player: int) -> float:
    """The square root of (22), for regrets that stay about as large as they are, as those of CFR+ do.

    Weighing the past by w multiplies regrets by w and the iterations that they come from by w. With regrets that grow
    with T^a, they are as large for so many iterations as before the addition if

        w^2 after = w^(2a) before,        w = (before / after)^(1 / (2 - 2a))

    before and after being squared regrets. CFR's grow with the square root of T: a = 1/2 is (22), and a = 0 its root.
    """
    return recommended(game, before, added, player) ** 0.5


def bound(game: GrowingGame, before: Balance, added: Added, player: int) -> float:
    """Equation (8): the largest weight that the theorem allows, min(1, |I| Delta^2 |A| T / sum of squared regrets)."""
    nodes = game.tree.nodes
    decisions = np.flatnonzero(nodes.mover == player)
    children = np.bincount(nodes.parent[1:], minlength=game.tree.count)
    ends = nodes.mover == TERMINAL
    spread = 2.0 * float(np.abs(nodes.amount[ends]).max())
    inside, head = _squares(added, player)
    squares = (float(before.squares[player]) + inside + head) / game.weight**2
    infosets = len(decisions) * game.tree.hands
    allowed = infosets * spread**2 * float(children[decisions].max()) * game.effective
    return min(1.0, allowed / squares) if squares > 0.0 else 1.0


def _squares(added: Added, player: int) -> tuple[float, float]:
    """Squared positive regrets inside what was added, and of the move to it."""
    largest, squares = np.zeros(2), np.zeros(2)
    regrets(added.block.nodes, added.block.rows.regret, largest, squares)
    return float(squares[player]), float((np.maximum(added.regret, 0.0) ** 2).sum())


DISCOUNTS: Final = {"recommended": recommended, "root": root, "bound": bound}
"""Ways to choose the weight."""
