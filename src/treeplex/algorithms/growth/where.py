"""Where and when to add (section 5): proposition 1, with growth measured over the run so far."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from treeplex.algorithms.growth.add import neighbours
from treeplex.arrays import Floats, Ints
from treeplex.engines.public.arrays import NONE
from treeplex.engines.public.cpu.sizes import Known, best_sizes, curve, regrets, spans
from treeplex.engines.public.game import GrowingGame
from treeplex.games.sized import rounded


class Candidate(NamedTuple):
    """A size outside the abstraction, and by how much it is regretted more than the actions in it."""

    node: int
    size: float
    gain: float  # summed over hands
    histories: int  # that a subgame behind it adds: those behind the size it is most likely mapped to


class Sizes(NamedTuple):
    """For every node, the best size outside the abstraction."""

    size: Floats  # [P]
    gain: Floats  # [P] 0 where none pays
    closest: Ints  # [P] the move whose size it is most likely mapped to


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

    Differs from the paper in: R(S) is by how much a new move is regretted *more* than the best known one, summed over
    the head's infosets. The paper sums over infosets of S and does not say how the head's own regret counts; taken at
    face value, a size next to a known one would look as urgent as the known one.
    """
    relief = factor * (1.0 + np.asarray(added) / inside) - 1.0
    return np.asarray(largest) * relief / (2.0 - 1.0 / max(effective, 1.0))


def by_transfer_estimate(game: GrowingGame, thresholds: Floats) -> Sizes:
    """At once: the values of known sizes, as functions of the size."""
    rows = game.tree.rows
    return _sizes(game, rows.value, rows.fold_out, game.norm, thresholds)


def by_best_response(game: GrowingGame, thresholds: Floats) -> Sizes:
    """By a best response to the average behind the new move, times the iterations.

    An upper bound on the regret, at the cost of a pass over the tree for each player.
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
    return _sizes(game, value, fold_out, game.norm, thresholds)


ESTIMATES: Final = {"transfer": by_transfer_estimate, "best-response": by_best_response}
"""Ways to estimate the regret of sizes outside the abstraction."""


def candidates(game: GrowingGame, state: Balance, estimate: str, factor: float) -> list[Candidate]:
    """What proposition 1 would add now, most regret per history first."""
    nodes = game.tree.nodes
    span, smallest = game.archive.histories_by_node(game.tree.count), np.empty(game.tree.count)
    spans(nodes, span, smallest)
    thresholds = needed(state.largest[np.maximum(nodes.mover, 0)], state.histories, smallest, game.effective, factor)
    size, gain, closest = ESTIMATES[estimate](game, thresholds)
    found = np.flatnonzero(gain > 0.0)
    histories = span[closest[found]]
    order = np.argsort(-gain[found] / histories, kind="stable")
    columns = (found[order], size[found][order], gain[found][order], histories[order])
    listed = zip(*(column.tolist() for column in columns), strict=True)
    return [Candidate(n, rounded(chosen), most, int(added)) for n, chosen, most, added in listed]


def loss_if_unknown(game: GrowingGame, node: int, child: int) -> float:
    """What a size in the abstraction would have won per iteration, had the opponent mapped it to its neighbours.

    As when a size is considered: by how much it exceeds the largest regret of another action, summed over
    hands.
    """
    nodes, rows = game.tree.nodes, game.tree.rows
    near = neighbours(game, node, float(nodes.size[child]))
    lower = next((c for c in near if nodes.size[c] < nodes.size[child]), NONE)
    upper = next((c for c in near if nodes.size[c] > nodes.size[child]), NONE)
    others = [c for c in game.tree.children(node) if c != child]
    base = np.maximum(rows.regret[others].max(axis=0), 0.0)
    known = Known(nodes.size, nodes.scale, rows.value, rows.fold_out, game.rules.payoff_scale)
    u, total = 1.0 + float(nodes.size[child]), 0.0
    for h in range(game.tree.hands):
        rise, level, fall = curve(known, lower, upper, h)
        won = (rise * u + level + fall / u - float(rows.earned[node, h])) / game.norm
        total += max(won - float(base[h]), 0.0)
    return total / (game.weight * game.effective)


def _sizes(game: GrowingGame, value: Floats, fold_out: Floats, norm: float, thresholds: Floats) -> Sizes:
    nodes, rows = game.tree.nodes, game.tree.rows
    found = Sizes(np.zeros(game.tree.count), np.zeros(game.tree.count), np.zeros(game.tree.count, dtype=np.int32))
    best_sizes(
        nodes, rows.regret, value, fold_out, rows.earned, norm, game.bounds, game.rules.payoff_scale, thresholds, *found
    )  # fmt: skip
    return found
