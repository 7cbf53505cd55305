"""Remove sizes from the abstraction (section 6), so that iterations visit less.

In general that is not allowed, since averages contain them. The paper names three cases in which it is:

    "current"    the current strategies are the solution, as CFR+'s may be: unplayed sizes are not visited any more
    "discard"    early iterations are discarded, and sizes chosen only in them are in no average any more
    archive      no player reaches a subgame now: it is moved to disk unchanged (``engines.public.archive``)

A removed size is a missing size. The heuristic may suggest it again, and a recovery game then fills in the iterations
that it skipped. Nothing changes at other moves: neither regrets nor averages.

Differs from the paper in: it does not say when to remove. "current" removes a size that its player has not chosen with
any hand for ``IDLE_CHECKS`` checks in a row, if proposition 1 would not suggest it were it missing, since the
opponent's answer to it is also lost. "discard" removes at the first check from 200, 2,000, 20,000, ... iterations on.
It discards the first half of them, and removes sizes that neither player's average of the other half reaches. Nothing
that can be reached changes then, and NashConv is the same before and after. A decision keeps at least one size, since
others are mapped to it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.public.cpu.growing import rematch
from treeplex.engines.public.game import GrowingGame, Sums
from treeplex.engines.public.tree import reached_by_both
from treeplex.growth.add import neighbours, opponent_reach
from treeplex.growth.check import needed
from treeplex.growth.dealt import balance, loss_if_unknown

REMOVALS: Final = ("never", "current", "discard")
"""Options for the removal of sizes."""

IDLE_CHECKS: Final = 200  # checks in a row without a choice of the size
FIRST: Final = 100  # iterations in the first discard
MORE: Final = 10  # factor of the iterations in each next discard


class Removal(NamedTuple):
    """A removed size: when, where, which, and the histories saved."""

    iteration: int
    player: int
    decision: str  # the line of public moves
    word: str
    size: float
    histories: int


def discards_at(iteration: int, every: int, times: int = 1) -> bool:
    """Whether this is the first check from ``times`` 100, 1,000, 10,000, ... iterations on."""
    mark = times * FIRST
    while mark <= iteration - every:
        mark *= MORE
    return iteration % every == 0 and mark <= iteration


def mark(game: GrowingGame) -> None:
    """Remember the sums so far, to be discarded later."""
    game.mark = Sums(*(getattr(game.tree.rows, name).copy() for name in Sums._fields))


def discard(game: GrowingGame) -> None:
    """Discard all iterations up to the mark, from averages and sums. Regrets and current strategies stay.

    The discarded part is finite. Each player's regret over the remaining iterations is therefore at most a constant
    more than its regret over all of them.
    """
    if game.mark is not None:
        for name, sums in game.mark._asdict().items():
            getattr(game.tree.rows, name)[:] -= sums
        game.mark = None


def remove(game: GrowingGame, how: str, every: int) -> list[Removal]:
    """Remove sizes at this check by the rule ``how``, and return them."""
    removed: list[Removal] = []
    if how == "current":
        removed = take_out(game, _not_played(game))
    if how == "discard":
        if discards_at(game.iteration, every, 2):
            discard(game)
            removed = take_out(game, _in_no_average(game))
        if discards_at(game.iteration, every):
            mark(game)
    return removed


def take_out(game: GrowingGame, moves: list[int]) -> list[Removal]:
    """Remove sized moves and everything behind them, except the last size of a decision."""
    for move in moves:
        game.archive.bring_back_below(game.tree, move)
    tree, nodes = game.tree, game.tree.nodes
    leaving = _but_the_last_size(game, set(moves))
    tops = [move for move in leaving if not leaving.intersection(tree.path(int(nodes.parent[move])))]
    if not tops:
        return []
    removed = [
        Removal(
            game.iteration,
            int(nodes.mover[nodes.parent[move]]),
            game.rules.separator.join(game.line(int(nodes.parent[move]))),
            game.builder.words[int(nodes.word[move])],
            float(nodes.size[move]),
            int(nodes.deals[tree.subtree(move)].sum()),
        )
        for move in sorted(tops)
    ]
    heads = {int(nodes.parent[move]) for move in tops}
    new_index = tree.remove(tops)
    game.archive.renumber(new_index)
    for head in heads:
        at = int(new_index[head])
        rematch(tree.nodes, tree.rows.regret, tree.rows.strategy, at, at + 1)
    return removed


def _not_played(game: GrowingGame) -> list[int]:
    """Return sized moves that no hand chose at the last checks and that would not be added now; count this check."""
    tree, nodes = game.tree, game.tree.nodes
    nodes.idle[:] = np.where((nodes.size > 0.0) & ~_played(game).any(axis=1), nodes.idle + 1, 0)
    idle: list[int] = np.flatnonzero(nodes.idle >= IDLE_CHECKS).tolist()
    state, scale = balance(game), game.weight * game.effective
    unplayed: list[int] = []
    for move in idle:
        head, histories = int(nodes.parent[move]), int(nodes.deals[tree.subtree(move)].sum())
        least = needed(state.largest[nodes.mover[head]], state.histories, histories, game.effective, 1.0)
        if neighbours(game, head, float(nodes.size[move])) and scale * loss_if_unknown(game, head, move) <= float(
            least
        ):
            unplayed.append(move)
    return unplayed


def _in_no_average(game: GrowingGame) -> list[int]:
    """Return sized moves that neither player reached in the remaining iterations, nor would reach next."""
    tree, nodes = game.tree, game.tree.nodes
    now = reached_by_both(nodes, tree.rows.strategy).any(axis=(0, 2))
    unused = (nodes.size > 0.0) & ~now & ~tree.rows.average.any(axis=1)
    listed: list[int] = np.flatnonzero(unused).tolist()
    return [move for move in listed if not opponent_reach(game, int(nodes.parent[move])).any()]


def _played(game: GrowingGame) -> Floats:
    """[P, H] the probability of a move by its player's own actions: of reaching it and choosing it now."""
    nodes = game.tree.nodes
    reach = reached_by_both(nodes, game.tree.rows.strategy)
    return reach[np.maximum(nodes.mover[nodes.parent], 0), np.arange(game.tree.count)]


def _but_the_last_size(game: GrowingGame, moves: set[int]) -> set[int]:
    """Return the moves without the largest size of decisions that would have none left."""
    nodes = game.tree.nodes
    staying: set[int] = set()
    for head in {int(nodes.parent[move]) for move in moves}:
        sized = [child for child in game.tree.children(head) if nodes.size[child] > 0.0]
        if moves.issuperset(sized):
            staying.add(sized[-1])
    return moves - staying
