"""A dealt game that is being solved and may grow: public nodes x rows of hands."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from treeplex.engines.public.cpu.sizes import regrets
from treeplex.engines.public.game import GrowingGame
from treeplex.games.protocol import TERMINAL
from treeplex.growth import add
from treeplex.growth.check import Balance, Candidate
from treeplex.growth.discount import AddedRegret, Bounds
from treeplex.growth.remove import extend
from treeplex.growth.where import balance, candidates


@dataclass(frozen=True)
class GrowingDealt:
    """As ``Growable``: a growing tree, how regrets of missing sizes are estimated, and how sizes are added."""

    game: GrowingGame
    estimate: str
    method: str

    @property
    def effective(self) -> float:
        """As ``Growable``."""
        return self.game.effective

    def balance(self) -> Balance:
        """As ``Growable``."""
        return balance(self.game)

    def candidates(self, state: Balance, factor: float) -> list[Candidate]:
        """As ``Growable``, without sizes that are there."""
        game = self.game
        game.touched += int(game.tree.nodes.deals[game.tree.nodes.key >= 0].sum())
        listed = candidates(game, state, self.estimate, factor)
        return [one for one in listed if one.size not in game.tree.nodes.size[game.tree.children(one.place)]]

    def add(self, candidates: list[Candidate]) -> list[AddedRegret]:
        """As ``Growable``: one at a time, since what others are worth changes with every one."""
        (candidate,) = candidates
        added = add.METHODS[self.method](self.game, candidate.place, candidate.size)
        extend(self.game)
        return [summed(added, candidate.player)]

    def discount(self, share: float) -> None:
        """As ``Growable``: later iterations weigh so much more, and no array is touched."""
        self.game.discount(share)

    def bounds(self, player: int) -> Bounds:
        """As ``Growable``."""
        game, nodes = self.game, self.game.tree.nodes
        decisions = np.flatnonzero(nodes.mover == player)
        children = np.bincount(nodes.parent[1:], minlength=game.tree.count)
        spread = 2.0 * float(np.abs(nodes.amount[nodes.mover == TERMINAL]).max())
        infosets = len(decisions) * game.tree.hands
        return Bounds(infosets, game.weight * spread, int(children[decisions].max()), game.effective)


def summed(added: add.Added, player: int) -> AddedRegret:
    """Squared positive regrets inside what was added, and of the move to it."""
    largest, squares = np.zeros(2), np.zeros(2)
    regrets(added.block.nodes, added.block.rows.regret, largest, squares)
    positive = np.maximum(added.regret, 0.0)
    head = float((positive**2).sum())
    return AddedRegret(float(squares[player]), head, float(positive.sum()), added.histories, added.iterations)
