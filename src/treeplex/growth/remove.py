"""Take sizes out of the abstraction again (section 6), so that iterations visit less.

In general that is not allowed, since averages have them. The paper names three cases in which it is:

    "current"    the current strategies are the answer, as CFR+'s may be: what nobody plays is not visited any more
    "discard"    early iterations are discarded, and what was chosen only in them is in no average any more
    archive      nobody reaches a subgame now: it is put aside as it is (``engines.public.archive``)

A size that was taken out is one that is missing: the heuristic may suggest it again, and a recovery game fills in the
iterations that it skipped. Nothing is changed at other moves: neither regrets nor averages.

Differs from the paper in: it does not say when to remove. "current" removes a size that its player has not chosen at
any hand for ``PATIENCE`` checks in a row, if proposition 1 would not suggest it were it missing: the opponent's answer
to it is lost, too. "discard" removes at the first check from 200, 2,000, 20,000, ... iterations on: it discards the
first half of them, and removes sizes that neither player's average of the other half reaches. Nothing that can be
reached changes then, and NashConv is the same before and after. A decision keeps one size at least: others are mapped
to it.
"""

from __future__ import annotations

from typing import Final, NamedTuple

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.public.cpu.growing import rematch
from treeplex.engines.public.game import GrowingGame, Sums
from treeplex.engines.public.tree import reached_by_both
from treeplex.growth.add import neighbours, opponents_share
from treeplex.growth.check import needed
from treeplex.growth.dealt import balance, loss_if_unknown

REMOVALS: Final = ("never", "current", "discard")
"""Ways to remove sizes."""

PATIENCE: Final = 200  # checks in a row
FIRST: Final = 100  # iterations that are discarded first
MORE: Final = 10  # and how many times as many each next time


class Removal(NamedTuple):
    """A size that was taken out: when, where, which, and what that saves."""

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
    """Remember the sums so far: they are to be discarded."""
    game.mark = Sums(*(getattr(game.tree.rows, name).copy() for name in Sums._fields))


def discard(game: GrowingGame) -> None:
    """Discard all iterations up to the mark, from averages and sums. Regrets stay, and so do the current strategies.

    What is discarded is finite, so each player's regret over the iterations that are kept is at most a constant more
    than its regret over all of them.
    """
    if game.mark is not None:
        for name, sums in game.mark._asdict().items():
            getattr(game.tree.rows, name)[:] -= sums
        game.mark = None


def remove(game: GrowingGame, how: str, every: int) -> list[Removal]:
    """What ``how`` removes at this check."""
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
    """Remove sized moves and all behind them, but for the last size of a decision."""
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
    place = tree.remove(tops)
    game.archive.renumber(place)
    for head in heads:
        at = int(place[head])
        rematch(tree.nodes, tree.rows.regret, tree.rows.strategy, at, at + 1)
    return removed


def _not_played(game: GrowingGame) -> list[int]:
    """Sized moves that no hand has chosen at the last checks and that would not be added now; counts this check."""
    tree, nodes = game.tree, game.tree.nodes
    nodes.idle[:] = np.where((nodes.size > 0.0) & ~_played(game).any(axis=1), nodes.idle + 1, 0)
    idle: list[int] = np.flatnonzero(nodes.idle >= PATIENCE).tolist()
    state, scale = balance(game), game.weight * game.effective
    found: list[int] = []
    for move in idle:
        head, histories = int(nodes.parent[move]), int(nodes.deals[tree.subtree(move)].sum())
        least = needed(state.largest[nodes.mover[head]], state.histories, histories, game.effective, 1.0)
        if neighbours(game, head, float(nodes.size[move])) and scale * loss_if_unknown(game, head, move) <= float(
            least
        ):
            found.append(move)
    return found


def _in_no_average(game: GrowingGame) -> list[int]:
    """Sized moves that neither player has reached in the iterations that are kept, nor would reach next."""
    tree, nodes = game.tree, game.tree.nodes
    now = reached_by_both(nodes, tree.rows.strategy).any(axis=(0, 2))
    unused = (nodes.size > 0.0) & ~now & ~tree.rows.average.any(axis=1)
    listed: list[int] = np.flatnonzero(unused).tolist()
    return [move for move in listed if not opponents_share(game, int(nodes.parent[move])).any()]


def _played(game: GrowingGame) -> Floats:
    """[P, H] the probability, by its player's own doing, of getting to a move and choosing it now."""
    nodes = game.tree.nodes
    arriving = reached_by_both(nodes, game.tree.rows.strategy)
    return arriving[np.maximum(nodes.mover[nodes.parent], 0), np.arange(game.tree.count)]


def _but_the_last_size(game: GrowingGame, moves: set[int]) -> set[int]:
    """Without the largest size of decisions that would have none left."""
    nodes = game.tree.nodes
    kept: set[int] = set()
    for head in {int(nodes.parent[move]) for move in moves}:
        sized = [child for child in game.tree.children(head) if nodes.size[child] > 0.0]
        if moves.issuperset(sized):
            kept.add(sized[-1])
    return moves - kept
