"""Where and when to add (section 5): proposition 1, with growth measured over the run so far."""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from treeplex.algorithms.growth.add import closest_move
from treeplex.arrays import Floats, Ints
from treeplex.engines.public.arrays import NONE
from treeplex.engines.public.cpu.growing import reach
from treeplex.engines.public.cpu.sizes import best_sizes, regrets, spans
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
    if game.states:
        return by_translation(game)
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


def by_translation(game: GrowingGame) -> list[Candidate]:
    """The same for rules that list their sizes: the best one of every decision, most regret per history first.

    What a size would have won is its value to a best response that leaves the menu once, against the average strategy
    as its player would apply it in the real state (``engines.public.translated``), times the iterations: an upper
    bound.
    """
    nodes, rows = game.tree.nodes, game.tree.rows
    span = game.archive.histories_by_node(game.tree.count)
    spans(nodes, span, np.empty(game.tree.count))
    numbers = game.numbers(game.tree, range(1, game.tree.count))
    found: list[Candidate] = []
    for player in (0, 1):
        translation = game.translation(player, 1, averages=True)
        arriving = np.ones((game.tree.count, game.tree.hands))
        reach(nodes, game.averages(), 1 - player, arriving)
        for node in np.flatnonzero((nodes.mover == player) & (nodes.key != NONE)).tolist():
            children, at = game.tree.children(node), numbers[node]
            base = np.maximum(rows.regret[children].max(axis=0), 0.0) + rows.earned[node] / game.norm
            best = Candidate(node, 0.0, 0.0, 0)
            for size in set(game.states[at].sized).difference(nodes.size[children].tolist()):
                won = rows.average[0, 0] * translation.value_of_size(node, at, size, arriving[node]) / game.norm
                gain = float(np.maximum(won - base, 0.0).sum())
                if (gain, -size) > (best.gain, -best.size):
                    best = best._replace(size=size, gain=gain)
            if best.gain > 0.0:
                found.append(best._replace(histories=int(span[closest_move(game, node, best.size)])))
        game.touched += translation.visited
    return sorted(found, key=lambda one: -one.gain / one.histories)


def _sizes(game: GrowingGame, value: Floats, fold_out: Floats, norm: float, thresholds: Floats) -> Sizes:
    nodes, rows = game.tree.nodes, game.tree.rows
    found = Sizes(np.zeros(game.tree.count), np.zeros(game.tree.count), np.zeros(game.tree.count, dtype=np.int32))
    best_sizes(
        nodes, rows.regret, value, fold_out, rows.earned, norm, game.bounds, game.payoff_scale, thresholds, *found
    )  # fmt: skip
    return found
