"""Where and when to add (section 5): proposition 1, with growth measured over the run so far."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from treeplex.arrays import Floats, Ints
from treeplex.engines.public.cpu.sizes import best_sizes, regrets, spans
from treeplex.engines.public.game import GrowingGame
from treeplex.games.sized import rounded


class Candidate(NamedTuple):
    """A size that is not offered, and by how much it is regretted more than what is."""

    node: int
    size: float
    gain: float  # summed over hands
    histories: int  # that a subgame behind it adds: those behind the size it is most likely read as


class Sizes(NamedTuple):
    """For every node, the best size that is not offered."""

    size: Floats  # [P]
    gain: Floats  # [P] 0 where none is worth it
    like: Ints  # [P] the move whose size it is most likely read as


class Balance(NamedTuple):
    """What proposition 1 weighs: regret that the game has, and the histories that an iteration visits."""

    largest: Floats  # [2] each player's sum over infosets of the largest positive regret
    squares: Floats  # [2] sum of all squared positive regrets
    histories: int


def balance(game: GrowingGame) -> Balance:
    """As things stand; what is on disk keeps its regret but costs no visit."""
    largest, squares = np.zeros(2), np.zeros(2)
    regrets(game.tree.nodes, game.tree.rows.regret, largest, squares)
    kept = game.archive.sums()
    return Balance(largest + kept[0], squares + kept[1], game.tree.histories)


def needed(largest: Floats | float, inside: int, added: Floats | float, effective: float, factor: float) -> Floats:
    """The regret from which on it pays to add: proposition 1, solved for the regret R(S) of what is outside.

        factor sum R(G) / |G|  <  (sum R(G) + 2 R(S) - R(S) / T) / (|G| + |S|)

    The left side falls with histories visited if only G is played, the right side if S is played too. Regrets inside
    grow with the square root of T, those outside with T; both are measured by what they have come to.

    Differs from the paper in: R(S) is by how much a new move is regretted *more* than the best offered one, summed over
    the head's infosets. The paper sums over infosets of S and does not say how the head's own regret counts; taken at
    face value, a size next to an offered one would look as urgent as the offered one.
    """
    relief = factor * (1.0 + np.asarray(added) / inside) - 1.0
    return np.asarray(largest) * relief / (2.0 - 1.0 / max(effective, 1.0))


def by_transfer_estimate(game: GrowingGame, thresholds: Floats) -> Sizes:
    """At once: what offered sizes have been worth, as functions of the size."""
    rows = game.tree.rows
    return _sizes(game, rows.worth, rows.loose, game.norm, thresholds)


def by_best_response(game: GrowingGame, thresholds: Floats) -> Sizes:
    """By a best response to the average behind the new move, times the iterations.

    An upper bound on the regret, at the cost of a pass over the tree for each player.
    """
    behaviour = game.averages()
    worth, loose = np.empty_like(behaviour), np.empty_like(behaviour)
    nodes = game.tree.nodes
    total = game.tree.rows.average[0, 0]
    chooser = nodes.mover[nodes.parent]
    for player in (0, 1):
        response = game.respond(player, whole=True, behaviour=behaviour)
        own = chooser == player
        worth[own], loose[own] = total * response.values[own], total * response.loose[own]
        game.touched += game.tree.histories
    return _sizes(game, worth, loose, game.norm, thresholds)


ESTIMATES: Final = {"transfer": by_transfer_estimate, "best-response": by_best_response}
"""Ways to tell the regret of sizes that are not offered."""


def candidates(game: GrowingGame, state: Balance, estimate: str, factor: float) -> list[Candidate]:
    """What proposition 1 would add now, most regret a history first."""
    nodes = game.tree.nodes
    span, smallest = game.archive.histories_by_node(game.tree.count), np.empty(game.tree.count)
    spans(nodes, span, smallest)
    thresholds = needed(state.largest[np.maximum(nodes.mover, 0)], state.histories, smallest, game.effective, factor)
    size, gain, like = ESTIMATES[estimate](game, thresholds)
    found = np.flatnonzero(gain > 0.0)
    histories = span[like[found]]
    order = np.argsort(-gain[found] / histories, kind="stable")
    columns = (found[order], size[found][order], gain[found][order], histories[order])
    listed = zip(*(column.tolist() for column in columns), strict=True)
    return [Candidate(n, rounded(chosen), most, int(added)) for n, chosen, most, added in listed]


def _sizes(game: GrowingGame, worth: Floats, loose: Floats, norm: float, thresholds: Floats) -> Sizes:
    nodes, rows = game.tree.nodes, game.tree.rows
    found = Sizes(np.zeros(game.tree.count), np.zeros(game.tree.count), np.zeros(game.tree.count, dtype=np.int32))
    best_sizes(
        nodes, rows.regret, worth, loose, rows.earned, norm, game.bounds, game.rules.stretch, thresholds, *found
    )  # fmt: skip
    return found
