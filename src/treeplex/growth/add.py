"""Add a subgame behind a new size while the game is being solved: by a recovery game, or by regret transfer.

Both act as if the subgame had always existed and its new move had never been chosen. The opponent's play in it is ours
to decide. The better it was, the less the mover regrets, and the less of the past must be discounted.
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
    """An added subgame, with its regret and cost."""

    block: Block  # the subgame as added
    root: int  # index of its first node in the tree
    regret: Floats  # [H] of the new move
    histories: int
    iterations: int  # iterations of the recovery game


def by_recovery(game: GrowingGame, node: int, size: float) -> Added:
    """Play the recovery game (section 3) and merge it.

    Chance deals the heads by equation (5). The mover takes the average counterfactual value of the head or enters. The
    game is played for T_S iterations. Then, with i the mover:

        regret of i inside         as in the recovery game
        regret of the opponent     0
        regret of the new move     sum over T_S of v_S(I, a)  -  sum over T of v(I)
        average of the opponent    as in the recovery game, times the reach of the head
        average of i               0

    Differs from the paper in: T_S is rounded up, and an iteration weighs correspondingly less, which preserves all
    sums. CFR+ plays the recovery game, where the paper plays CFR "or any other regret-minimization algorithm"; it
    leaves less regret after the same number of iterations. The paper does not say which actions a new subgame has. Ours
    has the sizes found behind the size that it is most likely mapped to. With only the two initial sizes, everything
    learnt behind that size would be lost to a player who bets the new one, and exploitability would jump at every large
    addition. Rules that list their sizes define what follows; sizes found are copied where they are legal.
    """
    tree, mover = game.tree, int(game.tree.nodes.mover[node])
    block = (_built if game.states else _copied)(game, closest_move(game, node, size), size)
    for array in block.rows:
        array[:] = 0.0
    rematch(block.nodes, block.rows.regret, block.rows.strategy, 0, len(block.nodes.parent))
    head_reach = opponent_reach(game, node)
    joint = game.builder.joint(int(tree.nodes.cards[node]))
    reach = float((joint @ head_reach if mover == 0 else head_reach @ joint).sum())
    iterations = math.ceil(reach / (game.weight * game.norm))  # T_S, in present iterations
    alternative = tree.rows.earned[node].copy()
    if iterations:
        scratch = fresh_scratch(len(block.nodes.parent), tree.hands)
        recover(block.nodes, game.tables, block.rows, scratch, mover, head_reach, alternative, iterations)
    regret = (block.rows.value[0] - alternative) / game.norm
    return _merge(game, node, block, regret, iterations)


def by_transfer(game: GrowingGame, node: int, size: float) -> Added:
    """Repeat the past of a neighbouring size's subgame in the new one (section 3.1), in one pass of copying.

    Let the scale be the factor by which a size multiplies payoffs. The mover's regrets behind the new size are those
    behind the old one times ``scale_new / scale_old``. The new move earned ``fold_out + (value - fold_out) scale_new /
    scale_old``. The neighbour that leaves less regret is copied. Averages of the opponent are copied. The opponent's
    regrets are zero, since the new move was never chosen.
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
    """Return the moves at ``node`` of the nearest smaller and of the nearest larger size."""
    sizes = game.tree.nodes.size
    sized = [child for child in game.tree.children(node) if sizes[child] > 0.0]
    return [child for child in sized if sizes[child] < size][-1:] + [child for child in sized if sizes[child] > size][
        :1
    ]


def closest_move(game: GrowingGame, node: int, size: float) -> int:
    """Return the move at ``node`` that an opponent most likely maps ``size`` to."""
    near = neighbours(game, node, size)
    if game.states:
        sizes = game.tree.nodes.size
        like = most_likely([float(sizes[child]) for child in near], size, game.state(node).unit)
        return next(child for child in near if sizes[child] == like)
    return int(nearest(game.tree.nodes.size, near[0], near[-1], 1.0 + size)) if len(near) > 1 else near[0]


def _copied(game: GrowingGame, source: int, size: float) -> Block:
    """Copy the subgame behind a size, adapted to another size; rows are those of the source."""
    game.archive.bring_back_below(game.tree, source)
    block = game.tree.copy_out(source)
    nodes, scale = block.nodes, game.builder.payoff_scale(size)
    ratio = scale / float(nodes.scale[0])
    folds_at_once = (nodes.parent == 0) & (nodes.fold_out == 1)
    nodes.amount[:] *= np.where(folds_at_once, 1.0, ratio)
    nodes.size[0], nodes.scale[0] = size, scale
    return block


def _built(game: GrowingGame, source: int, size: float) -> Block:
    """Build the subgame behind a size from the rules, with the sizes found behind ``source`` where they are legal."""
    game.archive.bring_back_below(game.tree, source)
    node, words = int(game.tree.nodes.parent[source]), game.builder.words
    state = game.state(node)
    line = (*game.line(node), sized_label(state.word, size))
    return game.builder.behind(state, size, line, Guide(game.tree, words, source))


def transferred(game: GrowingGame, node: int, child: int, size: float) -> Floats:
    """[H] the regret of a size at ``node``, had the opponent answered it like the size of ``child``."""
    nodes, rows = game.tree.nodes, game.tree.rows
    ratio = game.builder.payoff_scale(size) / float(nodes.scale[child])
    value = rows.fold_out[child] + ratio * (rows.value[child] - rows.fold_out[child])
    return (value - rows.earned[node]) / game.norm


METHODS: Final = {"recovery": by_recovery, "transfer": by_transfer}
"""Methods to add a subgame."""


def opponent_reach(game: GrowingGame, node: int) -> Floats:
    """[H] the sum over iterations of the opponent's own reach of ``node`` (the paper's footnote 1).

    It is the opponent's average at the last of the opponent's moves on the path.
    """
    nodes, average = game.tree.nodes, game.tree.rows.average
    other = 1 - int(nodes.mover[node])
    at = node
    while at > 0 and nodes.mover[nodes.parent[at]] != other:
        at = int(nodes.parent[at])
    return average[at].copy()


def _merge(game: GrowingGame, node: int, block: Block, regret: Floats, iterations: int) -> Added:
    """Set the rows of a block by theorem 1, and insert it into the tree."""
    nodes, rows = block
    mover = int(game.tree.nodes.mover[node])
    floor = 0.0 if game.rule.floor else -np.inf
    chosen_by_mover = _chosen_by(block, mover)
    rows.average[chosen_by_mover] = 0.0
    for name in ("regret", "value", "fold_out"):
        getattr(rows, name)[~chosen_by_mover] = 0.0
    rows.earned[nodes.mover != mover] = 0.0
    if iterations:  # sums over the recovery game, which transfer does not have
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
    """Extend the sums to discard after an addition, by the discarded fraction of the iterations."""
    if game.mark is not None:
        fraction, known = float(game.mark.average[0, 0] / game.tree.rows.average[0, 0]), len(game.mark.average)
        new = (fraction * getattr(game.tree.rows, name)[known:] for name in Sums._fields)
        game.mark = Sums(*(np.concatenate(parts) for parts in zip(game.mark, new, strict=True)))


def summed(added: Added, player: int) -> AddedRegret:
    """Return squared positive regrets inside an added subgame, and of the move to it."""
    largest, squares = np.zeros(2), np.zeros(2)
    regrets(added.block.nodes, added.block.rows.regret, largest, squares)
    positive = np.maximum(added.regret, 0.0)
    head = float((positive**2).sum())
    return AddedRegret(float(squares[player]), head, float(positive.sum()), added.histories, added.iterations)


def _chosen_by(block: Block, player: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]]:
    """[P] whether ``player`` chooses a move; the move to the block's root counts as the player's."""
    chosen = block.nodes.mover[block.nodes.parent] == player
    chosen[0] = True
    return chosen


def _squares(regret: Floats) -> float:
    return float((np.maximum(regret, 0.0) ** 2).sum())
