"""Add a subgame behind a new size while the game is being solved: by a recovery game, or by regret transfer.

Both act as if the subgame had been there all the time and its new move had never been chosen. What the opponent did in
it is ours to decide; the better that was, the less the mover regrets, and the less of the past must be discounted.
"""

from __future__ import annotations

import math
from typing import Final, NamedTuple

import numpy as np

from treeplex.arrays import Floats
from treeplex.engines.public.build import Guide
from treeplex.engines.public.cpu.growing import recover, rematch
from treeplex.engines.public.cpu.sizes import nearest, regrets
from treeplex.engines.public.game import GrowingGame, Sums
from treeplex.engines.public.tree import Block, fresh_scratch
from treeplex.games.mapping import most_likely
from treeplex.games.sized import sized_label
from treeplex.growth.discount import AddedRegret


class Added(NamedTuple):
    """What an addition has come to."""

    block: Block  # as it was added
    root: int  # its first node in the tree
    regret: Floats  # [H] of the new move
    histories: int
    iterations: int  # of the recovery game


def by_recovery(game: GrowingGame, node: int, size: float) -> Added:
    """Play the recovery game (section 3) and merge it.

    Chance deals the heads by equation (5); the mover takes the average counterfactual value of the head or enters; the
    game is played for T_S iterations. Then, with i the mover:

        regret of i inside         as in the recovery game
        regret of the opponent     0
        regret of the new move     sum over T_S of v_S(I, a)  -  sum over T of v(I)
        average of the opponent    as in the recovery game, times the reach of the head
        average of i               0

    Differs from the paper in: T_S is rounded up and an iteration weighs so much less, which keeps all sums. CFR+ plays
    the recovery game, where the paper plays CFR "or any other regret-minimization algorithm"; it leaves less regret
    after as many iterations. The paper does not say which actions a new subgame has; ours has the sizes that have been
    found behind the size it is most likely mapped to. With the two sizes of the start only, what had been learnt behind
    that size would be lost to whoever bets the new one, and exploitability would jump at every large addition.
    Rules that list their sizes say themselves what follows; sizes that were found are taken over where they are legal.
    """
    tree, mover = game.tree, int(game.tree.nodes.mover[node])
    block = (_built if game.states else _copied)(game, closest_move(game, node, size), size)
    for array in block.rows:
        array[:] = 0.0
    rematch(block.nodes, block.rows.regret, block.rows.strategy, 0, len(block.nodes.parent))
    heads = opponents_share(game, node)
    shares = game.builder.joint(int(tree.nodes.cards[node]))
    arriving = float((shares @ heads if mover == 0 else heads @ shares).sum())
    iterations = math.ceil(arriving / (game.weight * game.norm))  # T_S, as iterations count now
    alternative = tree.rows.earned[node].copy()
    if iterations:
        scratch = fresh_scratch(len(block.nodes.parent), tree.hands)
        recover(block.nodes, game.tables, block.rows, scratch, mover, heads, alternative, iterations)
    regret = (block.rows.value[0] - alternative) / game.norm
    return _merge(game, node, block, regret, iterations)


def by_transfer(game: GrowingGame, node: int, size: float) -> Added:
    """Repeat in the new subgame what was played in that of a neighbouring size (section 3.1), in one pass of copying.

    With scale what a size multiplies payoffs by, regrets of the mover behind the new size are those behind the old one
    times ``scale_new / scale_old``, and the new move earned ``fold_out + (value - fold_out) scale_new / scale_old``.
    Of the neighbours the one is copied that leaves less regret. Averages of the opponent are copied; the opponent's
    regrets are zero, since nobody ever chose the new move.
    """
    tree = game.tree
    source = min(neighbours(game, node, size), key=lambda child: _squares(transferred(game, node, child, size)))
    regret = transferred(game, node, source, size)
    ratio = game.builder.payoff_scale(size) / float(tree.nodes.scale[source])
    block = _copied(game, source, size)
    (nodes, rows), mover = block, int(tree.nodes.mover[node])
    rows.value[0] = rows.fold_out[0] + ratio * (rows.value[0] - rows.fold_out[0])
    inside = _chosen_by(block, mover)
    inside[0] = False
    for array in (rows.regret, rows.value, rows.fold_out):
        array[inside] *= ratio
    rows.earned[nodes.mover == mover] *= ratio
    return _merge(game, node, block, regret, 0)


def neighbours(game: GrowingGame, node: int, size: float) -> list[int]:
    """The moves at ``node`` of the nearest smaller and of the nearest larger size."""
    sizes = game.tree.nodes.size
    sized = [child for child in game.tree.children(node) if sizes[child] > 0.0]
    return [child for child in sized if sizes[child] < size][-1:] + [child for child in sized if sizes[child] > size][
        :1
    ]


def closest_move(game: GrowingGame, node: int, size: float) -> int:
    """The move at ``node`` that an opponent most likely maps ``size`` to."""
    near = neighbours(game, node, size)
    if game.states:
        sizes = game.tree.nodes.size
        like = most_likely([float(sizes[child]) for child in near], size, game.state(node).unit)
        return next(child for child in near if sizes[child] == like)
    return int(nearest(game.tree.nodes.size, near[0], near[-1], 1.0 + size)) if len(near) > 1 else near[0]


def _copied(game: GrowingGame, source: int, size: float) -> Block:
    """A copy of the subgame behind a size, as it would be behind another one; rows are those of the source."""
    game.archive.bring_back_below(game.tree, source)
    block = game.tree.copy_out(source)
    nodes, scale = block.nodes, game.builder.payoff_scale(size)
    ratio = scale / float(nodes.scale[0])
    at_once = (nodes.parent == 0) & (nodes.fold_out == 1)
    nodes.amount[:] *= np.where(at_once, 1.0, ratio)
    nodes.size[0], nodes.scale[0] = size, scale
    return block


def _built(game: GrowingGame, source: int, size: float) -> Block:
    """The subgame behind a size as the rules make it, with the sizes found behind ``source`` where they are legal."""
    game.archive.bring_back_below(game.tree, source)
    node, words = int(game.tree.nodes.parent[source]), game.builder.words
    state = game.state(node)
    line = (*game.line(node), sized_label(state.word, size))
    return game.builder.behind(state, size, line, Guide(game.tree, words, source))


def transferred(game: GrowingGame, node: int, child: int, size: float) -> Floats:
    """[H] the regret of a size at ``node`` had the opponent answered it as the size of ``child``."""
    nodes, rows = game.tree.nodes, game.tree.rows
    ratio = game.builder.payoff_scale(size) / float(nodes.scale[child])
    value = rows.fold_out[child] + ratio * (rows.value[child] - rows.fold_out[child])
    return (value - rows.earned[node]) / game.norm


METHODS: Final = {"recovery": by_recovery, "transfer": by_transfer}
"""Ways to add a subgame."""


def opponents_share(game: GrowingGame, node: int) -> Floats:
    """[H] the sum over iterations of the opponent's own reach of ``node`` (the paper's footnote 1).

    It stands in the opponent's average at the last of the opponent's moves on the way.
    """
    nodes, average = game.tree.nodes, game.tree.rows.average
    other = 1 - int(nodes.mover[node])
    at = node
    while at > 0 and nodes.mover[nodes.parent[at]] != other:
        at = int(nodes.parent[at])
    return average[at].copy()


def _merge(game: GrowingGame, node: int, block: Block, regret: Floats, iterations: int) -> Added:
    """Set the rows of a block as theorem 1 says, and put it into the tree."""
    nodes, rows = block
    mover = int(game.tree.nodes.mover[node])
    floor = 0.0 if game.rule.floor else -np.inf
    chosen_by_mover = _chosen_by(block, mover)
    rows.average[chosen_by_mover] = 0.0
    for name in ("regret", "value", "fold_out"):
        getattr(rows, name)[~chosen_by_mover] = 0.0
    rows.earned[nodes.mover != mover] = 0.0
    if iterations:  # sums over the recovery game, which transfer does not bring
        true = rows.value - rows.earned[nodes.parent]
        rows.regret[chosen_by_mover] = np.maximum(true[chosen_by_mover] / game.norm, floor)
    rows.regret[0] = np.maximum(regret, floor)
    rematch(nodes, rows.regret, rows.strategy, 0, len(nodes.parent))
    nodes.idle[:] = 0
    tree = game.tree
    root = tree.graft(block, node)
    rematch(tree.nodes, tree.rows.regret, tree.rows.strategy, node, node + 1)
    histories = int(nodes.deals.sum())
    game.touched += max(iterations, 1) * histories
    return Added(block, root, rows.regret[0].copy(), histories, iterations)


def extend(game: GrowingGame) -> None:
    """After an addition: the share of its sums that is to be discarded, that of the iterations that they stand for."""
    if game.mark is not None:
        share, known = float(game.mark.average[0, 0] / game.tree.rows.average[0, 0]), len(game.mark.average)
        new = (share * getattr(game.tree.rows, name)[known:] for name in Sums._fields)
        game.mark = Sums(*(np.concatenate(parts) for parts in zip(game.mark, new, strict=True)))


def summed(added: Added, player: int) -> AddedRegret:
    """Squared positive regrets inside what was added, and of the move to it."""
    largest, squares = np.zeros(2), np.zeros(2)
    regrets(added.block.nodes, added.block.rows.regret, largest, squares)
    positive = np.maximum(added.regret, 0.0)
    head = float((positive**2).sum())
    return AddedRegret(float(squares[player]), head, float(positive.sum()), added.histories, added.iterations)


def _chosen_by(block: Block, player: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """[P] moves chosen by ``player``, the move to the block's root being the player's."""
    chosen = block.nodes.mover[block.nodes.parent] == player
    chosen[0] = True
    return chosen


def _squares(regret: Floats) -> float:
    return float((np.maximum(regret, 0.0) ** 2).sum())
