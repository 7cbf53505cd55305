"""A dealt game that is being solved and may grow: public nodes x rows of hands.

Section 5 decides where and when to add: proposition 1, with growth measured over the run so far.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.public.arrays import NONE
from treeplex.engines.public.cpu.sizes import Known, best_sizes, curve, regrets, spans
from treeplex.engines.public.game import GrowingGame
from treeplex.engines.public.tree import reached
from treeplex.games.protocol import TERMINAL
from treeplex.games.sized import rounded
from treeplex.growth.add import METHODS, closest_move, extend, neighbours, summed
from treeplex.growth.check import Candidate, needed
from treeplex.growth.discount import AddedRegret, Bounds
from treeplex.growth.rates import Balance


def balance(game: GrowingGame) -> Balance:
    """Return the present balance. Subtrees on disk keep their regret but cost no visits."""
    largest, squares = np.zeros(2), np.zeros(2)
    regrets(game.tree.nodes, game.tree.rows.regret, largest, squares)
    archived = game.archive.sums()
    return Balance(largest + archived[0], squares + archived[1], game.tree.histories)


def by_transfer_estimate(game: GrowingGame) -> tuple[Floats, Floats]:
    """Return the values of known sizes, as functions of the size: no further pass is needed."""
    return game.tree.rows.value, game.tree.rows.fold_out


def by_best_response(game: GrowingGame) -> tuple[Floats, Floats]:
    """Return values by a best response to the average behind the new move, times the iterations.

    They are upper bounds on the regret, and cost a pass over the tree per player.
    """
    strategy = game.averages()
    value, fold_out = np.empty_like(strategy), np.empty_like(strategy)
    nodes = game.tree.nodes
    total = game.tree.rows.average[0, 0]
    chooser = nodes.mover[nodes.parent]
    for player in (0, 1):
        response = game.respond(player, whole=True, strategy=strategy)
        own = chooser == player
        value[own], fold_out[own] = total * response.values[own], total * response.fold_out[own]
        game.touched += game.tree.histories
    return value, fold_out


ESTIMATES: Final = {"transfer": by_transfer_estimate, "best-response": by_best_response}
"""Methods to estimate the values of moves, and the part that does not depend on the size: [P, H] both."""


def candidates(game: GrowingGame, state: Balance, estimate: str, factor: float) -> list[Candidate]:
    """Return the sizes that proposition 1 would add now, most regret per history first."""
    if game.states:
        return by_translation(game)
    nodes = game.tree.nodes
    span, smallest = game.archive.histories_by_node(game.tree.count), np.empty(game.tree.count)
    spans(nodes, span, smallest)
    thresholds = needed(state.largest[np.maximum(nodes.mover, 0)], state.histories, smallest, game.effective, factor)
    size, gain, closest = np.zeros(len(span)), np.zeros(len(span)), np.zeros(len(span), dtype=np.int32)
    rows, (value, fold_out) = game.tree.rows, ESTIMATES[estimate](game)
    best_sizes(
        nodes, rows.regret, value, fold_out, rows.earned, game.norm, game.bounds, game.payoff_scale, thresholds,
        size, gain, closest,
    )  # fmt: skip
    positions = np.flatnonzero(gain > 0.0)
    histories = span[closest[positions]]
    order = np.argsort(-gain[positions] / histories, kind="stable")
    columns = (positions[order], size[positions][order], gain[positions][order], histories[order])
    listed = zip(*(column.tolist() for column in columns), strict=True)
    return [Candidate(n, int(nodes.mover[n]), rounded(x), most, int(added)) for n, x, most, added in listed]


def loss_if_unknown(game: GrowingGame, node: int, child: int) -> float:
    """Return the gain per iteration of a size in the abstraction, had the opponent mapped it to its neighbours.

    Computed as for a candidate: by how much it exceeds the largest regret of another action, summed over hands.
    """
    nodes, rows = game.tree.nodes, game.tree.rows
    if game.states:
        return _loss_by_translation(game, node, child)
    near = neighbours(game, node, float(nodes.size[child]))
    lower = next((c for c in near if nodes.size[c] < nodes.size[child]), NONE)
    upper = next((c for c in near if nodes.size[c] > nodes.size[child]), NONE)
    others = [c for c in game.tree.children(node) if c != child]
    base = np.maximum(rows.regret[others].max(axis=0), 0.0)
    known = Known(nodes.size, nodes.scale, rows.value, rows.fold_out, game.payoff_scale)
    u, total = 1.0 + float(nodes.size[child]), 0.0
    for h in range(game.tree.hands):
        rise, level, fall = curve(known, lower, upper, h)
        won = (rise * u + level + fall / u - float(rows.earned[node, h])) / game.norm
        total += max(won - float(base[h]), 0.0)
    return total / (game.weight * game.effective)


def _loss_by_translation(game: GrowingGame, node: int, child: int) -> float:
    """Return ``loss_if_unknown`` for rules that list their sizes, by a best response behind the size."""
    nodes, rows = game.tree.nodes, game.tree.rows
    player, size = int(nodes.mover[node]), float(nodes.size[child])
    others = [c for c in game.tree.children(node) if c != child]
    if not (nodes.size[others] > 0.0).any():
        return 0.0  # there is no size to map it to
    reach = reached(nodes, game.averages(), 1 - player)
    at = game.numbers(game.tree, game.tree.path(node))[node]
    translation = game.translation(player, 1, child, averages=True)
    won = rows.average[0, 0] * translation.value_of_size(node, at, size, reach[node]) / game.norm
    base = np.maximum(rows.regret[others].max(axis=0), 0.0) + rows.earned[node] / game.norm
    return float(np.maximum(won - base, 0.0).sum()) / (game.weight * game.effective)


def by_translation(game: GrowingGame) -> list[Candidate]:
    """Return the best candidate of every decision for rules that list their sizes, most regret per history first.

    The value of a size is that of a best response that leaves the menu once, against the average strategy as its player
    would apply it in the real state (``engines.public.translated``). Times the iterations, it is an upper bound.
    """
    nodes, rows = game.tree.nodes, game.tree.rows
    span = game.archive.histories_by_node(game.tree.count)
    spans(nodes, span, np.empty(game.tree.count))
    numbers = game.numbers(game.tree, range(1, game.tree.count))
    best_candidates: list[Candidate] = []
    for player in (0, 1):
        translation = game.translation(player, 1, averages=True)
        reach = reached(nodes, game.averages(), 1 - player)
        for node in np.flatnonzero((nodes.mover == player) & (nodes.key != NONE)).tolist():
            children, at = game.tree.children(node), numbers[node]
            base = np.maximum(rows.regret[children].max(axis=0), 0.0) + rows.earned[node] / game.norm
            best = Candidate(node, player, 0.0, 0.0, 0)
            for size in set(game.states[at].sized).difference(nodes.size[children].tolist()):
                won = rows.average[0, 0] * translation.value_of_size(node, at, size, reach[node]) / game.norm
                gain = float(np.maximum(won - base, 0.0).sum())
                if (gain, -size) > (best.gain, -best.size):
                    best = best._replace(size=size, gain=gain)
            if best.gain > 0.0:
                best_candidates.append(best._replace(histories=int(span[closest_move(game, node, best.size)])))
        game.touched += translation.visited
    return sorted(best_candidates, key=lambda one: -one.gain / one.histories)


@dataclass(frozen=True)
class GrowingDealt:
    """As ``Growable``: a growing tree, an estimate of missing sizes' regrets, and a method to add sizes."""

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
        """As ``Growable``, without sizes already in the abstraction."""
        game = self.game
        game.touched += int(game.tree.nodes.deals[game.tree.nodes.key >= 0].sum())
        listed = candidates(game, state, self.estimate, factor)
        return [one for one in listed if one.size not in game.tree.nodes.size[game.tree.children(one.decision)]]

    def add(self, candidates: list[Candidate]) -> list[AddedRegret]:
        """As ``Growable``: one at a time, since each addition changes the value of others."""
        (candidate,) = candidates
        added = METHODS[self.method](self.game, candidate.decision, candidate.size)
        extend(self.game)
        return [summed(added, candidate.player)]

    def discount(self, weight: float) -> None:
        """As ``Growable``: later iterations weigh correspondingly more, and no array is touched."""
        self.game.discount(weight)

    def bounds(self, player: int) -> Bounds:
        """As ``Growable``."""
        game, nodes = self.game, self.game.tree.nodes
        decisions = np.flatnonzero(nodes.mover == player)
        children = np.bincount(nodes.parent[1:], minlength=game.tree.count)
        spread = 2.0 * float(np.abs(nodes.amount[nodes.mover == TERMINAL]).max())
        infosets = len(decisions) * game.tree.hands
        return Bounds(infosets, game.weight * spread, int(children[decisions].max()), game.effective)
