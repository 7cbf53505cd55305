"""Games with some actions removed: smaller treeplexes and payoff matrix, and the mapping to the whole game."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from treeplex.arrays import Bytes, Ints
from treeplex.compile.game import CompiledGame
from treeplex.compile.payoffs import Payoffs
from treeplex.compile.treeplex import Treeplex

Mask = npt.NDArray[np.bool_]


class Reduced(NamedTuple):
    """The remaining part of a game. Sequences and infosets stay in order."""

    treeplexes: tuple[Treeplex, Treeplex]
    payoffs: Payoffs
    sequences: tuple[Ints, Ints]  # [remaining S] each player's sequences, as indices in the whole game
    unpaid: tuple[Mask, Mask]  # [I] infosets of the whole game without a payoff behind them: nothing was learnt there


def reduced(game: CompiledGame, retained: tuple[Bytes, Bytes]) -> Reduced:
    """Remove from ``game`` the sequences whose entry in ``retained`` [S] is 0, and everything behind them.

    Every infoset must have a retained action.
    """
    alive = [_alive(treeplex, mask) for treeplex, mask in zip(game.treeplexes, retained, strict=True)]
    number = [np.cumsum(mask) - 1 for mask in alive]
    rows = game.payoffs.rows
    row = np.repeat(np.arange(len(rows.start) - 1), np.diff(rows.start))
    left = alive[0][row] & alive[1][rows.column]
    row, column = row[left], rows.column[left]
    shape = (int(alive[0].sum()), int(alive[1].sum()))
    payoffs = Payoffs.gather(shape, number[0][row], number[1][column], rows.data[left])
    first, second = (_without(*parts) for parts in zip(game.treeplexes, alive, number, strict=True))
    unpaid = (_unpaid(game.treeplexes[0], alive[0], row), _unpaid(game.treeplexes[1], alive[1], column))
    sequences = tuple(np.flatnonzero(mask).astype(np.int32) for mask in alive)
    return Reduced((first, second), payoffs, (sequences[0], sequences[1]), unpaid)


def _alive(treeplex: Treeplex, retained: Bytes) -> Mask:
    """[S] sequences that are retained, with all sequences on their path."""
    alive = retained.astype(np.bool_)
    alive[0] = True
    while True:
        after = alive.copy()
        after[1:] &= np.repeat(alive[treeplex.parent], treeplex.actions)
        if np.array_equal(after, alive):
            return alive
        alive = after


def _without(treeplex: Treeplex, alive: Mask, number: npt.NDArray[Any]) -> Treeplex:
    counts = np.add.reduceat(alive, treeplex.first[:-1]) if treeplex.infosets else np.zeros(0, dtype=np.int64)
    stays = counts > 0
    first = np.concatenate(([1], 1 + np.cumsum(counts[stays]))).astype(np.int32)
    return Treeplex(first, number[treeplex.parent[stays]].astype(np.int32))


def _unpaid(treeplex: Treeplex, alive: Mask, paid: npt.NDArray[Any]) -> Mask:
    """[I] infosets that are removed, or without a payoff at or behind any of their sequences."""
    live = np.zeros(treeplex.sequences, dtype=np.bool_)
    live[paid] = True
    owner = np.repeat(np.arange(treeplex.infosets), treeplex.actions)
    while True:
        some = np.zeros(treeplex.infosets, dtype=np.bool_)
        some[owner[live[1:] & alive[1:]]] = True
        before = int(live.sum())
        live[treeplex.parent[some]] = True
        if int(live.sum()) == before:
            return ~some
